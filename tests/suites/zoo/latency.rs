//! What a beast does to the latency of a good bolt that it shares nothing with: a figure, not a test.
//!
//! In: a beast. Out: a line with the p99 of the good bolt's own messages beside the beast, without it, and their ratio,
//! each the median of three alternating runs. A message's time counts from the moment at which it was due, so that a
//! spout that was held up hides nothing. Invariant: nothing is asserted of times.
//!
//! `ANCHORBOLT_ZOO_P99=1 cargo test --workspace --test suites zoo -- --nocapture --test-threads 1 | grep p99`

use super::Beast;
use anchorbolt_core::failure::Failure;
use anchorbolt_core::ids::MessageId;
use anchorbolt_core::port::{Declaration, Next, Replay, Spout, SpoutContext, SpoutError, SpoutOutput};
use anchorbolt_tests::native::string_row;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Messages a second of the good bolt's spout, and of the one that the beast takes from.
const RATES: (u32, u32) = (2000, 20);
const SECONDS: u32 = 2;
const ROUNDS: usize = 3;

/// Whether the figure is asked for in place of the test.
pub(super) fn is_asked_for() -> bool {
    std::env::var_os("ANCHORBOLT_ZOO_P99").is_some()
}

/// Prints the beast's line.
pub(super) fn print(beast: &Beast) {
    let (mut beside, mut without) = (vec![], vec![]);
    for _ in 0..ROUNDS {
        without.push(p99(beast, false));
        beside.push(p99(beast, true));
    }
    let middle = |times: &mut Vec<Duration>| {
        times.sort_unstable();
        times[ROUNDS / 2]
    };
    let (beside, without) = (middle(&mut beside), middle(&mut without));
    let ratio = beside.as_secs_f64() / without.as_secs_f64();
    println!("p99 {ratio:5.2}x {:24} beside {beside:>9.1?} without {without:>9.1?}", beast.guest);
}

fn p99(beast: &Beast, with: bool) -> Duration {
    let (mut topology, _, _) = beast.topology(with);
    let times = Times::default();
    let kept = times.clone();
    topology = topology
        .spout("own", Declaration::fields(["line"]), move |_| Paced::new(RATES.0, 0, kept.clone()))
        .spout("feed", Declaration::fields(["line"]), |_| Paced::new(RATES.1, 2, Times::default()));
    beast.run(&mut topology);
    let mut times = times.0.lock().expect("no writer panics").clone();
    assert_eq!(times.len() as u32, RATES.0 * SECONDS);
    times.sort_unstable();
    times[times.len() * 99 / 100]
}

/// From due to acked, of each message.
#[derive(Clone, Default)]
struct Times(Arc<Mutex<Vec<Duration>>>);

/// A spout of a fixed rate; each so many-th message is bad, if any is.
struct Paced {
    rate: u32,
    bad_every: u32,
    began: Option<Instant>,
    emitted: u32,
    times: Times,
}

impl Paced {
    fn new(rate: u32, bad_every: u32, times: Times) -> Paced {
        Paced { rate, bad_every, began: None, emitted: 0, times }
    }

    /// When a message is due, after the begin.
    fn due(&self, message: u32) -> Duration {
        Duration::from_secs(message.into()) / self.rate
    }
}

impl Spout for Paced {
    fn open(&mut self, _: SpoutContext) -> Result<(), SpoutError> {
        Ok(())
    }

    fn next(&mut self, out: &mut SpoutOutput, budget: usize) -> Result<Next, SpoutError> {
        let running = self.began.get_or_insert_with(Instant::now).elapsed();
        for _ in 0..budget {
            if self.emitted == self.rate * SECONDS {
                return Ok(Next::Done);
            }
            if let early @ 1.. = self.due(self.emitted).saturating_sub(running).as_micros() {
                return Ok(Next::Idle(Some(Duration::from_micros(early as u64))));
            }
            let n = self.emitted;
            let is_bad = self.bad_every > 0 && n.is_multiple_of(self.bad_every);
            let row = string_row(&if is_bad { format!("bad {n}") } else { format!("row-{n}") });
            out.emit(MessageId::pair(0, n.into()), 0, &row);
            self.emitted += 1;
        }
        Ok(Next::More)
    }

    fn ack(&mut self, ids: &[MessageId]) {
        let Some(running) = self.began.map(|began| began.elapsed()) else { return };
        let mut times = self.times.0.lock().expect("no writer panics");
        times.extend(ids.iter().map(|id| running.saturating_sub(self.due(id.low() as u32))));
    }

    fn fail(&mut self, _: MessageId, _: &Failure) -> Replay {
        Replay::Host
    }

    fn give_up(&mut self, _: MessageId) {}

    fn deactivate(&mut self) {}

    fn close(&mut self) {}

    fn unique_ids(&self) -> bool {
        true
    }

    fn finite(&self) -> bool {
        true
    }
}
