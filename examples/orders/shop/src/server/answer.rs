//! What a request gets, and when it goes wrong on purpose.
//!
//! In: requests. Out: an [`Answer`], or none: then the connection is to be closed without one. Invariant: nothing in a
//! request can stop the server.

use super::till::{Charged, Till};
use super::{Counts, Settings};
use crate::money::Cents;
use fastrand::Rng;
use orders_http::Message;
use serde_json::Value;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// Answers requests.
#[derive(Debug)]
pub(super) struct Answers {
    fail_rate: f64,
    slow_rate: f64,
    slow: Duration,
    rng: Mutex<Rng>,
    till: Mutex<Till>,
    counts: Mutex<Counts>,
}

/// A status line, without the version, and a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) status: &'static str,
    pub(super) body: String,
}

/// How a request goes wrong.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mishap {
    None,
    /// The server is too busy to do it.
    Refused,
    /// It is done, and the answer gets lost.
    AnswerLost,
}

impl Answers {
    pub(super) fn new(settings: &Settings, till: Till) -> Answers {
        let Settings { fail_rate, slow_rate, slow, seed, .. } = *settings;
        let rng = Mutex::new(Rng::with_seed(seed));
        Answers { fail_rate, slow_rate, slow, rng, till: Mutex::new(till), counts: Mutex::default() }
    }

    /// What was done so far.
    pub(super) fn counts(&self) -> Counts {
        *lock(&self.counts)
    }

    /// Does what is asked.
    pub(super) fn answer(&self, request: &Message) -> Option<Answer> {
        lock(&self.counts).requests += 1;
        let (slow, mishap) = self.luck();
        if slow {
            thread::sleep(self.slow);
        }
        if mishap != Mishap::None {
            lock(&self.counts).failed += 1;
        }
        match mishap {
            Mishap::None => Some(self.work(request)),
            Mishap::Refused => Some(Answer::new("503 Service Unavailable", "too busy")),
            Mishap::AnswerLost => {
                self.work(request);
                None
            }
        }
    }

    fn luck(&self) -> (bool, Mishap) {
        let mut rng = lock(&self.rng);
        let slow = rng.f64() < self.slow_rate;
        let mishap = match rng.f64() < self.fail_rate {
            false => Mishap::None,
            true if rng.bool() => Mishap::Refused,
            true => Mishap::AnswerLost,
        };
        (slow, mishap)
    }

    fn work(&self, request: &Message) -> Answer {
        let mut words = request.start.split(' ');
        match (words.next(), words.next()) {
            (Some("POST"), Some("/charge")) => self.charge(request),
            (Some("POST"), Some("/notify")) => self.notify(request),
            _ => Answer::new("404 Not Found", "there are POST /charge and POST /notify"),
        }
    }

    fn charge(&self, request: &Message) -> Answer {
        let Some((order, amount)) = order(&request.body) else {
            return Answer::new("400 Bad Request", "a charge needs `order_id` and `amount`");
        };
        let charged = lock(&self.till).charge(&order, amount, request.header("idempotency-key"));
        let mut counts = lock(&self.counts);
        match charged {
            Ok(Charged::Now) => counts.charges += 1,
            Ok(Charged::Before) => counts.known_keys += 1,
            Ok(Charged::Declined | Charged::OtherAmount) | Err(_) => {}
        }
        match charged {
            Ok(Charged::Now | Charged::Before) => Answer::new("200 OK", "charged"),
            Ok(Charged::Declined) => Answer::new("402 Payment Required", "declined"),
            Ok(Charged::OtherAmount) => Answer::new("422 Unprocessable Content", "a key of another charge"),
            Err(error) => Answer { status: "500 Internal Server Error", body: error.to_string() },
        }
    }

    fn notify(&self, request: &Message) -> Answer {
        let told: Option<Value> = serde_json::from_slice(&request.body).ok();
        if !told.is_some_and(|told| told["order_id"].is_string() && told["fate"].is_string()) {
            return Answer::new("400 Bad Request", "a notification needs `order_id` and `fate`");
        }
        lock(&self.counts).notifications += 1;
        Answer::new("200 OK", "told")
    }
}

impl Answer {
    pub(super) fn new(status: &'static str, body: &str) -> Answer {
        Answer { status, body: body.to_owned() }
    }
}

fn order(body: &[u8]) -> Option<(String, Cents)> {
    let charge: Value = serde_json::from_slice(body).ok()?;
    Some((charge["order_id"].as_str()?.to_owned(), Cents::read(&charge["amount"])?))
}

/// A thread that panicked left a whole value behind: each is changed in one step.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
