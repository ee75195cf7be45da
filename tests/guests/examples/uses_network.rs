//! Uses the network on tuples that contain config `on`, as config `how` says: `listen`, `connect` (to config `to`), `udp`. Fails
//! them with what the system says, or says that it works.

use std::net::{TcpListener, TcpStream, UdpSocket};

use anchorbolt_sdk::prelude::*;
use anchorbolt_test_guests::{Misbehave, On};

struct Uses {
    how: String,
    to: String,
}

impl Misbehave for Uses {
    const TEXT: &'static str = "bad";

    fn prepare(context: &Context) -> Result<Self, Error> {
        let config = context.config();
        Ok(Self {
            how: config.get_or("how", String::new())?,
            to: config.get_or("to", "0.0.0.0:0".to_owned())?,
        })
    }

    fn act(&mut self, tuple: &Tuple<'_>) -> Result<(), Error> {
        _ = tuple;
        let used = match self.how.as_str() {
            "listen" => TcpListener::bind(&self.to).map(|_| ()),
            "udp" => UdpSocket::bind(&self.to).map(|_| ()),
            _ => TcpStream::connect(&self.to).map(|_| ()),
        };
        match used {
            Ok(()) => Err(Error::reject("the network works")),
            Err(error) => Err(Error::reject(format!("no network: {error}"))),
        }
    }
}

anchorbolt_sdk::export!(On<Uses>);
