//! A client that keeps its connection.
//!
//! In: a path, headers and a body. Out: a [`Response`], or why there is none. Invariant: a connection on which
//! anything went wrong is never used again, so an answer always belongs to its request.

use crate::message::{self, ReadError};
use std::fmt;
use std::io::{self, BufReader};
use std::net::{AddrParseError, SocketAddr, TcpStream};
use std::time::Duration;

/// A client of one server.
#[derive(Debug)]
pub struct Client {
    address: SocketAddr,
    timeout: Duration,
    connection: Option<BufReader<TcpStream>>,
}

/// What the server answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    /// The status, such as 200.
    pub status: u16,
    /// The body.
    pub body: Vec<u8>,
}

/// Why there is no answer.
#[derive(Debug)]
pub enum CallError {
    /// The request can't be written as HTTP: it is wrong, and always will be.
    Request(io::Error),
    /// There is no connection.
    Connect(io::Error),
    /// The request could not be sent, or only in part.
    Send(io::Error),
    /// The server closed the connection instead of answering. It may have done what was asked.
    NoAnswer,
    /// Something else came than an answer. The server may have done what was asked.
    Answer(ReadError),
}

impl Client {
    /// A client of the server at `address`, an IP address and a port. Connecting, sending and each wait for bytes
    /// may take as long as `timeout`.
    ///
    /// # Errors
    /// When the address is none.
    pub fn new(address: &str, timeout: Duration) -> Result<Client, AddrParseError> {
        Ok(Client { address: address.parse()?, timeout, connection: None })
    }

    /// Sends a request and waits for its answer.
    ///
    /// # Errors
    /// When there is no answer, for whatever reason. The next call makes a new connection.
    pub fn post(&mut self, path: &str, headers: &[(&str, &str)], body: &str) -> Result<Response, CallError> {
        // Taken: it is put back only if all went well.
        let mut connection = match self.connection.take() {
            Some(kept) => kept,
            None => BufReader::new(self.connect().map_err(CallError::Connect)?),
        };
        let start = format!("POST {path} HTTP/1.1");
        message::write(connection.get_mut(), &start, headers, body).map_err(not_sent)?;
        let answer = message::read(&mut connection).map_err(CallError::Answer)?.ok_or(CallError::NoAnswer)?;
        let status = status(&answer.start).ok_or(CallError::Answer(ReadError::Malformed("no status")))?;
        if answer.keeps_alive() {
            self.connection = Some(connection);
        }
        Ok(Response { status, body: answer.body })
    }

    fn connect(&self) -> io::Result<TcpStream> {
        let connection = TcpStream::connect_timeout(&self.address, self.timeout)?;
        // In WebAssembly a connection that was refused may look made until it is used.
        connection.peer_addr()?;
        connection.set_read_timeout(Some(self.timeout))?;
        connection.set_write_timeout(Some(self.timeout))?;
        Ok(connection)
    }
}

fn not_sent(error: io::Error) -> CallError {
    if error.kind() == io::ErrorKind::InvalidInput {
        CallError::Request(error)
    } else {
        CallError::Send(error)
    }
}

/// The status of `HTTP/1.1 200 OK`.
fn status(start: &str) -> Option<u16> {
    let mut words = start.split(' ');
    words.next().filter(|version| version.starts_with("HTTP/1."))?;
    words.next()?.parse().ok()
}

/// Which of the two it is depends on the system.
fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Request(error) => write!(f, "this can't be asked: {error}"),
            Self::Connect(error) => write!(f, "no connection: {error}"),
            Self::Send(error) => write!(f, "the request was not sent: {error}"),
            Self::NoAnswer => f.write_str("the connection was closed without an answer"),
            Self::Answer(ReadError::Io(error)) if is_timeout(error) => f.write_str("no answer in time"),
            Self::Answer(error) => write!(f, "no answer: {error}"),
        }
    }
}

impl std::error::Error for CallError {}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::net::TcpListener;
    use std::thread;

    const PATIENCE: Duration = Duration::from_millis(200);

    /// A server that gives each connection these answers, in order, and then closes it.
    fn server(connections: Vec<Vec<&'static str>>) -> Client {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        thread::spawn(move || {
            for answers in connections {
                let mut connection = BufReader::new(listener.accept().unwrap().0);
                for answer in answers {
                    message::read(&mut connection).unwrap();
                    connection.get_mut().write_all(answer.as_bytes()).unwrap();
                }
            }
        });
        Client::new(&address, PATIENCE).unwrap()
    }

    fn ask(client: &mut Client) -> Result<u16, String> {
        let answer = client.post("/", &[], "x");
        answer.map(|response| response.status).map_err(|error| error.to_string())
    }

    #[test]
    fn a_connection_is_kept_until_the_server_closes_it() {
        let ok = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi";
        let mut client = server(vec![vec![ok, ok], vec![ok]]);
        assert_eq!((ask(&mut client), ask(&mut client)), (Ok(200), Ok(200)));
        // The third request meets a closed connection, which shows as one of these two.
        assert!(ask(&mut client).is_err());
        assert_eq!(ask(&mut client), Ok(200));
    }

    #[test]
    fn a_connection_that_the_server_gives_up_is_not_used_again() {
        let last = "HTTP/1.1 503 Busy\r\nConnection: close\r\n\r\n";
        let mut client = server(vec![vec![last], vec!["HTTP/1.1 200 OK\r\n\r\n"]]);
        assert_eq!((ask(&mut client), ask(&mut client)), (Ok(503), Ok(200)));
    }

    #[test]
    fn silence_ends_at_the_timeout() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = Client::new(&listener.local_addr().unwrap().to_string(), PATIENCE).unwrap();
        assert_eq!(ask(&mut client), Err("no answer in time".to_owned()));
    }

    #[test]
    fn what_goes_wrong_is_said() {
        let mut client = server(vec![vec!["SMTP ready\r\n\r\n"], vec![""]]);
        assert_eq!(ask(&mut client), Err("no answer: no status".to_owned()));
        assert_eq!(ask(&mut client), Err("the connection was closed without an answer".to_owned()));
        // The listener is gone with its thread, or goes soon; either way there is no answer.
        let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
        let text = ask(&mut Client::new(&closed, PATIENCE).unwrap()).unwrap_err();
        assert!(text.starts_with("no connection: "), "{text}");
        assert!(Client::new("localhost:80", PATIENCE).is_err(), "a bolt can't look names up");
    }
}
