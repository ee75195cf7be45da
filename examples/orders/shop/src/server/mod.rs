//! The payment server: it charges cards and sends notifications, and fails as such servers do.
//!
//! In: [`Settings`] and HTTP requests. Out: answers, and a file of charges. `till` charges, `answer` says what a request
//! gets and when it goes wrong, `connections` accepts and closes. Invariant: a charge is in the file before it
//! is answered; whether the answer arrives is another matter.

mod answer;
mod connections;
mod till;

use answer::Answers;
use connections::Door;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;
use till::Till;

/// How the server behaves.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Its port on the loopback address; 0: any that is free.
    pub port: u16,
    /// The share of requests that fail: half of them with 503 and no effect, half with the effect and no answer.
    pub fail_rate: f64,
    /// The share of requests that are slow.
    pub slow_rate: f64,
    /// How slow.
    pub slow: Duration,
    /// When it is down.
    pub outage: Option<Outage>,
    /// Which requests fail or are slow.
    pub seed: u64,
}

/// A time in which the server is down: it closes its connections and refuses new ones.
#[derive(Clone, Copy, Debug)]
pub struct Outage {
    /// How long after its start.
    pub after: Duration,
    /// How long.
    pub length: Duration,
}

/// What the server did so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Connections that it accepted.
    pub connections: u64,
    /// Requests that it read.
    pub requests: u64,
    /// Charges that it made.
    pub charges: u64,
    /// Notifications that it sent.
    pub notifications: u64,
    /// Requests that it failed as its settings say.
    pub failed: u64,
    /// Requests that asked for a charge that was made before, and were answered from the table of keys.
    pub known_keys: u64,
}

/// A running server, on threads of this process. It stops when it is dropped.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    answers: Arc<Answers>,
    door: Arc<Door>,
    listening: Option<JoinHandle<Result<(), String>>>,
}

impl Server {
    /// Starts a server that appends its charges to a file. Keys that are in the file are known from the start.
    ///
    /// # Errors
    /// When the port is taken, or the file can't be used.
    pub fn start(settings: Settings, charges: &Path) -> Result<Server, String> {
        let till = Till::open(charges)?;
        let wanted = SocketAddr::from((Ipv4Addr::LOCALHOST, settings.port));
        let refuse = |error| format!("can't listen on {wanted}: {error}");
        let listener = TcpListener::bind(wanted).map_err(refuse)?;
        let address = listener.local_addr().map_err(refuse)?;
        let door = Arc::new(Door::new(address));
        let answers = Arc::new(Answers::new(&settings, till));
        if let Some(outage) = settings.outage {
            connections::schedule(&door, outage);
        }
        let listening = connections::listen(listener, &door, &answers);
        Ok(Server { address, answers, door, listening: Some(listening) })
    }

    /// Where it listens: an IP address and a port.
    pub fn address(&self) -> String {
        self.address.to_string()
    }

    /// Its port.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// What it did so far.
    pub fn counts(&self) -> Counts {
        Counts { connections: self.door.accepted(), ..self.answers.counts() }
    }

    /// Is down from now on, for this long.
    pub fn outage(&self, length: Duration) {
        self.door.begin_outage(length);
    }

    /// Closes all connections and takes no more.
    pub fn stop(&self) {
        self.door.stop();
    }

    /// Waits for its end, which comes by [`stop`](Self::stop) or an error.
    ///
    /// # Errors
    /// When it could not go on listening.
    pub fn wait(mut self) -> Result<(), String> {
        let listening = self.listening.take();
        listening
            .map_or(Ok(()), |thread| thread.join().unwrap_or_else(|_| Err("the server panicked".to_owned())))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
        if let Some(listening) = self.listening.take() {
            listening.join().ok();
        }
    }
}

#[cfg(test)]
mod tests;
