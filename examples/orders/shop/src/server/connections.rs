//! Accepts connections, serves them on a thread each, and closes them all for an outage.
//!
//! In: a listener. Out: requests to [`Answers`], answers to the network. Invariant: while the server is down nobody
//! listens on its port and no connection is open.

use super::Outage;
use super::answer::{Answer, Answers, lock};
use orders_http::{ReadError, message};
use std::collections::HashMap;
use std::io::{self, BufReader};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The most connections at a time; more are closed at once.
const CONNECTIONS_MAX: usize = 256;
/// A connection that is silent for longer is closed.
const SILENCE_MAX: Duration = Duration::from_secs(60);
/// How long the port is tried after an outage.
const BIND_PATIENCE: Duration = Duration::from_secs(10);

/// Whether the server is open, and who is inside.
#[derive(Debug)]
pub(super) struct Door {
    address: SocketAddr,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    phase: Phase,
    accepted: u64,
    inside: HashMap<u64, TcpStream>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Up,
    Down(Instant),
    Stopped,
}

impl Door {
    pub(super) fn new(address: SocketAddr) -> Door {
        let state = State { phase: Phase::Up, accepted: 0, inside: HashMap::new() };
        Door { address, state: Mutex::new(state), changed: Condvar::new() }
    }

    /// How many connections were accepted so far.
    pub(super) fn accepted(&self) -> u64 {
        lock(&self.state).accepted
    }

    pub(super) fn begin_outage(&self, length: Duration) {
        self.change(Phase::Down(Instant::now() + length));
    }

    pub(super) fn stop(&self) {
        self.change(Phase::Stopped);
    }

    /// A server that has stopped stays so.
    fn change(&self, phase: Phase) {
        {
            let mut state = lock(&self.state);
            if state.phase == Phase::Stopped {
                return;
            }
            state.phase = phase;
            state.inside.drain().for_each(|(_, connection)| close(&connection));
        }
        self.changed.notify_all();
        // The listener waits for a connection, so it gets one. If there is no listener, nobody waits.
        drop(TcpStream::connect_timeout(&self.address, Duration::from_secs(1)));
    }

    /// Lets a connection in; none if the server is not open, or full.
    fn enter(&self, connection: &TcpStream) -> io::Result<Option<u64>> {
        let mut state = lock(&self.state);
        if state.phase != Phase::Up || state.inside.len() >= CONNECTIONS_MAX {
            return Ok(None);
        }
        state.accepted += 1;
        let number = state.accepted;
        state.inside.insert(number, connection.try_clone()?);
        Ok(Some(number))
    }

    fn leave(&self, number: u64) {
        lock(&self.state).inside.remove(&number);
    }

    /// Waits until a time, or until the server stops.
    fn wait_until(&self, time: Instant) {
        let state = lock(&self.state);
        let left = time.saturating_duration_since(Instant::now());
        let waiting = |state: &mut State| state.phase != Phase::Stopped;
        drop(self.changed.wait_timeout_while(state, left, waiting).unwrap_or_else(PoisonError::into_inner));
    }

    fn phase(&self) -> Phase {
        lock(&self.state).phase
    }

    fn reopen(&self, time: Instant) {
        let mut state = lock(&self.state);
        if state.phase == Phase::Down(time) {
            state.phase = Phase::Up;
        }
    }
}

/// Begins an outage after a time, on a thread of its own.
pub(super) fn schedule(door: &Arc<Door>, outage: Outage) {
    let door = door.clone();
    let begin = Instant::now() + outage.after;
    thread::spawn(move || {
        door.wait_until(begin);
        door.begin_outage(outage.length);
    });
}

/// Accepts connections, on a thread of its own, until the server stops.
pub(super) fn listen(
    listener: TcpListener,
    door: &Arc<Door>,
    answers: &Arc<Answers>,
) -> JoinHandle<Result<(), String>> {
    let (door, answers) = (door.clone(), answers.clone());
    thread::spawn(move || {
        let mut listener = listener;
        loop {
            match door.phase() {
                Phase::Stopped => return Ok(()),
                Phase::Down(until) => {
                    drop(listener);
                    door.wait_until(until);
                    listener = bind_again(door.address)?;
                    door.reopen(until);
                }
                Phase::Up => accept(&listener, &door, &answers),
            }
        }
    })
}

/// A listener on the port that was the server's. Someone may have it for a moment.
fn bind_again(address: SocketAddr) -> Result<TcpListener, String> {
    let began = Instant::now();
    loop {
        match TcpListener::bind(address) {
            Ok(listener) => return Ok(listener),
            Err(error) if began.elapsed() > BIND_PATIENCE => {
                return Err(format!("can't listen on {address} again: {error}"));
            }
            Err(_) => thread::sleep(Duration::from_millis(20)),
        }
    }
}

fn accept(listener: &TcpListener, door: &Arc<Door>, answers: &Arc<Answers>) {
    let Ok((connection, _)) = listener.accept() else {
        // No descriptors left, most likely: others will be closed.
        thread::sleep(Duration::from_millis(10));
        return;
    };
    let Ok(Some(number)) = door.enter(&connection) else { return };
    let (door, answers) = (door.clone(), answers.clone());
    thread::spawn(move || {
        // An error here is the client's: it went, or sent what is no request.
        serve(&connection, &answers).ok();
        close(&connection);
        door.leave(number);
    });
}

fn serve(connection: &TcpStream, answers: &Answers) -> io::Result<()> {
    connection.set_nodelay(true)?;
    connection.set_read_timeout(Some(SILENCE_MAX))?;
    connection.set_write_timeout(Some(SILENCE_MAX))?;
    let mut requests = BufReader::new(connection);
    loop {
        match message::read(&mut requests) {
            Ok(Some(request)) => {
                let Some(answer) = answers.answer(&request) else { return Ok(()) };
                let keep = request.keeps_alive();
                send(connection, &answer, keep)?;
                if !keep {
                    return Ok(());
                }
            }
            Err(ReadError::Malformed(what)) => {
                return send(connection, &Answer::new("400 Bad Request", what), false);
            }
            Ok(None) | Err(_) => return Ok(()),
        }
    }
}

fn send(mut connection: &TcpStream, answer: &Answer, keep: bool) -> io::Result<()> {
    let last = [("connection", "close")];
    let headers = if keep { &[][..] } else { &last };
    message::write(&mut connection, &format!("HTTP/1.1 {}", answer.status), headers, &answer.body)
}

/// Ends both directions, whoever else has the connection open. One that is closed already is no error.
fn close(connection: &TcpStream) {
    connection.shutdown(Shutdown::Both).ok();
}
