//! What every spout must keep to, as a check that can be run: for the host's own kinds and for yours.
//!
//! In: a function that makes a spout, and what is known of it ([`Expected`]). Out: nothing, or a panic whose text
//! says which rule was broken. [`check_spout`] drives it as the runtime does, several times over, each time with a
//! fresh one. The spout must come to an end ([`Next::Done`]) by itself and give the same messages each time.
//!
//! ```
//! use anchorbolt_core::manifest::kinds::{Generate, SpoutKind};
//! use anchorbolt_host::spouts::{self, contract::{Expected, check_spout}};
//!
//! let options = Generate { count: Some(100), rate: None, seed: 1, fields: None, keys: None };
//! let kind = SpoutKind::Generate(options);
//! check_spout(|| spouts::open(&kind, ".".as_ref(), 1 << 20), &Expected::messages(100));
//! ```
//!
//! Invariant: it asks nothing of a spout that the documentation of [`Spout`] does not ask.

use anchorbolt_core::failure::{Class, Cost, Failure};
use anchorbolt_core::ids::MessageId;
use anchorbolt_core::port::{Context, Next, Replay, Spout, SpoutContext, SpoutError, SpoutOutput, Waker};
use anchorbolt_row::{Row, check_row};
use std::collections::{HashMap, HashSet};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// A call of `next` that takes longer has blocked.
const CALL_MAX: Duration = Duration::from_secs(1);
/// A spout that says `Idle` and is not heard of for so long is stuck.
const IDLE_MAX: Duration = Duration::from_secs(10);
/// An id that no message has.
const UNKNOWN: MessageId = MessageId(u128::MAX - 12_345);

/// What is known of the spout that is checked.
#[derive(Clone, Debug)]
pub struct Expected {
    messages: usize,
    refused: usize,
    replay: Replay,
    same_again: bool,
    rows: Option<Vec<Vec<u8>>>,
}

impl Expected {
    /// It emits so many messages and is done; the host replays them; a new one emits the same.
    pub fn messages(messages: usize) -> Expected {
        Expected { messages, refused: 0, replay: Replay::Host, same_again: true, rows: None }
    }

    /// It also refuses so many.
    #[must_use]
    pub fn refused(mut self, refused: usize) -> Expected {
        self.refused = refused;
        self
    }

    /// What it answers to `fail`.
    #[must_use]
    pub fn replay(mut self, replay: Replay) -> Expected {
        self.replay = replay;
        self
    }

    /// Its ids mean nothing to a later run.
    #[must_use]
    pub fn not_restartable(mut self) -> Expected {
        self.same_again = false;
        self
    }

    /// The rows it emits, in order.
    #[must_use]
    pub fn rows(mut self, rows: Vec<Vec<u8>>) -> Expected {
        self.rows = Some(rows);
        self
    }
}

/// Checks a spout; `make` makes a fresh one over the same source.
///
/// # Panics
/// If it breaks a rule of the port, or is not as expected.
pub fn check_spout(make: impl Fn() -> Box<dyn Spout>, expected: &Expected) {
    let first = complete_run(make(), expected, usize::MAX);
    for budget in [1, 7, 1000] {
        let again = complete_run(make(), expected, budget);
        if expected.same_again {
            assert!(first.ids == again.ids, "a later run has other message ids, or another order");
            assert!(first.rows == again.rows, "a later run has other rows for the same messages");
            assert!(first.positions == again.positions, "a later run has other positions");
        }
    }
    if let Some(rows) = &expected.rows {
        assert!(*rows == first.rows, "the rows are not those expected: {:?}", first.shown());
    }
    failing_run(make(), expected);
    abandoned(make());
}

/// What one run of a spout gave.
#[derive(Default)]
struct Run {
    ids: Vec<Option<MessageId>>,
    rows: Vec<Vec<u8>>,
    refused: Vec<MessageId>,
    positions: Vec<String>,
}

impl Run {
    fn shown(&self) -> Vec<Row<'_>> {
        self.rows.iter().map(|row| Row::new(row)).collect()
    }
}

/// A spout with what the runtime would hold for it.
struct Driver {
    spout: Box<dyn Spout>,
    woken: Receiver<()>,
    out: SpoutOutput,
}

impl Driver {
    fn start(mut spout: Box<dyn Spout>) -> Driver {
        let (wake, woken) = channel();
        let waker = Waker::new(move || {
            // If nobody listens any more, nobody needs to be woken.
            wake.send(()).ok();
        });
        let context = Context {
            topology: "contract".to_owned(),
            component: "spout".to_owned(),
            task: 1,
            task_count: 1,
            ..Context::default()
        };
        expect(spout.open(SpoutContext { context, waker }), "open");
        expect(spout.activate(), "activate");
        Driver { spout, woken, out: SpoutOutput::new() }
    }

    /// One call of `next`, checked by itself; waits as it is told.
    fn next(&mut self, budget: usize) -> Next {
        self.out.clear();
        let start = Instant::now();
        let next = expect(self.spout.next(&mut self.out, budget), "next");
        assert!(start.elapsed() < CALL_MAX, "next took {:?}: it must not block", start.elapsed());
        check_columns(&self.out);
        let messages = distinct(&self.out);
        assert!(messages <= budget, "next gave {messages} messages, its budget was {budget}");
        if let (Next::Idle(wait), true) = (next, self.out.is_empty()) {
            self.idle(wait);
        }
        next
    }

    fn idle(&self, wait: Option<Duration>) {
        let time = wait.unwrap_or(IDLE_MAX).min(IDLE_MAX);
        let woken = self.woken.recv_timeout(time);
        assert!(
            wait.is_some() || woken.is_ok(),
            "it said Idle without a time, and did not wake for {IDLE_MAX:?} or has let go of its waker"
        );
        if woken == Err(RecvTimeoutError::Disconnected) {
            // It needs no waker, and the time still has to pass.
            sleep(time);
        }
    }

    /// Stopping twice must do no harm.
    fn stop(mut self) {
        self.spout.deactivate();
        self.spout.deactivate();
        self.spout.close();
        self.spout.close();
        self.spout.ack(&[UNKNOWN]);
    }
}

fn expect<T>(result: Result<T, SpoutError>, call: &str) -> T {
    match result {
        Ok(value) => value,
        Err(error) => panic!("{call} failed: {error:?}"),
    }
}

fn check_columns(out: &SpoutOutput) {
    let rows = out.len();
    assert!(out.streams.len() == rows, "{} streams for {rows} rows", out.streams.len());
    assert!(out.offsets.len() == rows + 1, "{} offsets for {rows} rows", out.offsets.len());
    assert!(out.offsets.first() == Some(&0), "the first offset is not 0");
    assert!(out.offsets.is_sorted(), "offsets go back");
    assert!(
        out.offsets.last().is_some_and(|&end| end as usize == out.data.len()),
        "the last offset is not the end of the data"
    );
    for i in 0..rows {
        let arity = Row::new(out.row(i)).len();
        if let Err(error) = check_row(out.row(i), arity) {
            panic!("row {i} is not a row: {error}");
        }
    }
}

/// How many messages there are: rows next to each other with one id are one.
fn distinct(out: &SpoutOutput) -> usize {
    let same = out.ids.windows(2).filter(|pair| pair[0].is_some() && pair[0] == pair[1]).count();
    out.len() - same + out.refused.len()
}

/// Everything is acked; the end is the end.
fn complete_run(spout: Box<dyn Spout>, expected: &Expected, budget: usize) -> Run {
    let mut driver = Driver::start(spout);
    driver.spout.ack(&[UNKNOWN]);
    driver.spout.give_up(UNKNOWN);
    driver.next(0);
    assert!(driver.out.is_empty(), "next gave something although its budget was 0");
    expect(driver.spout.activate(), "a second activate");
    let mut run = Run::default();
    loop {
        let next = driver.next(budget);
        run.rows.extend((0..driver.out.len()).map(|i| driver.out.row(i).to_vec()));
        run.refused.extend(driver.out.refused.iter().map(|(id, _)| *id));
        let ids: Vec<MessageId> = driver.out.ids.iter().flatten().copied().collect();
        run.positions.extend(ids.iter().map(|id| driver.spout.position(*id).to_string()));
        driver.spout.ack(&ids);
        run.ids.append(&mut driver.out.ids);
        if next == Next::Done {
            break;
        }
    }
    assert!(driver.spout.finite(), "it is done, and finite() says that it never is");
    check_ids(&run, driver.spout.unique_ids());
    check_counts(&run, expected);
    let last: Vec<MessageId> = run.ids.iter().flatten().copied().collect();
    driver.spout.ack(&last);
    assert!(driver.next(budget) == Next::Done, "it was done, and went on although nothing had failed");
    assert!(driver.out.is_empty(), "it was done, and gave more although nothing had failed");
    driver.stop();
    run
}

/// An id names one message; only rows next to each other may share it.
fn check_ids(run: &Run, unique: bool) {
    let (mut seen, mut places) = (HashMap::new(), HashSet::new());
    let mut last = None;
    for (i, id) in run.ids.iter().enumerate() {
        let Some(id) = id else { continue };
        let before = seen.insert(*id, i);
        let next_to = before.is_none() || last == Some(*id);
        assert!(!unique || next_to, "unique_ids() is true, and {id:?} came twice");
        last = Some(*id);
    }
    assert!(run.refused.iter().all(|id| !seen.contains_key(id)), "a message was emitted and refused");
    for (id, position) in run.ids.iter().flatten().zip(&run.positions) {
        places.insert((position, *id));
    }
    let positions: HashSet<_> = places.iter().map(|(position, _)| position).collect();
    assert!(positions.len() == seen.len(), "two messages have one position");
}

fn check_counts(run: &Run, expected: &Expected) {
    let tracked: HashSet<_> = run.ids.iter().flatten().collect();
    let untracked = run.ids.iter().filter(|id| id.is_none()).count();
    let (messages, refused) = (tracked.len() + untracked, run.refused.len());
    assert!(messages == expected.messages, "{messages} messages, {} were expected", expected.messages);
    assert!(refused == expected.refused, "{refused} refused, {} were expected", expected.refused);
}

/// Everything fails twice before it is acked.
fn failing_run(spout: Box<dyn Spout>, expected: &Expected) {
    let mut driver = Driver::start(spout);
    let failure = Failure {
        class: Class::Failed,
        cost: Cost::Fault,
        component: "bolt".to_owned(),
        task: 2,
        reason: "the contract fails each message twice".to_owned(),
        output: String::new(),
        input: None,
    };
    let mut emitted: HashMap<MessageId, (usize, Vec<Vec<u8>>)> = HashMap::new();
    loop {
        let next = driver.next(100);
        let mut given: Vec<(MessageId, Vec<Vec<u8>>)> = Vec::new();
        for i in 0..driver.out.len() {
            let Some(Some(id)) = driver.out.ids.get(i) else { continue };
            let row = driver.out.row(i).to_vec();
            match given.last_mut() {
                Some((last, rows)) if last == id => rows.push(row),
                _ => given.push((*id, vec![row])),
            }
        }
        let failed = given.into_iter().map(|one| settle(&mut driver, one, &mut emitted, &failure, expected));
        let failed = failed.filter(|again| *again).count();
        if next == Next::Done && failed == 0 {
            break;
        }
    }
    if expected.replay == Replay::Spout {
        let enough = emitted.values().all(|(times, _)| *times == 3);
        assert!(enough, "a message that failed twice was not emitted three times in all");
    }
    driver.stop();
}

/// Fails a message, or acks it the third time; answers whether the spout is to emit it again.
fn settle(
    driver: &mut Driver,
    (id, rows): (MessageId, Vec<Vec<u8>>),
    emitted: &mut HashMap<MessageId, (usize, Vec<Vec<u8>>)>,
    failure: &Failure,
    expected: &Expected,
) -> bool {
    let (times, first) = emitted.entry(id).or_insert_with(|| (0, rows.clone()));
    *times += 1;
    assert!(*first == rows, "{id:?} was emitted again with other rows");
    assert!(*times <= 3, "{id:?} was emitted again after it was acked");
    if *times == 3 {
        driver.spout.ack(&[id]);
        return false;
    }
    let replay = driver.spout.fail(id, failure);
    assert!(replay == expected.replay, "fail answered {replay:?} for {id:?}");
    if replay == Replay::Host {
        // The host replays it from the rows it kept; the spout hears of the end alone.
        let replay = driver.spout.fail(id, failure);
        assert!(replay == Replay::Host, "the second fail answered {replay:?} for {id:?}");
        driver.spout.ack(&[id]);
    }
    replay == Replay::Spout
}

/// Stopped in the middle, stopped before it began, and dropped without a word.
fn abandoned(spout: Box<dyn Spout>) {
    let mut driver = Driver::start(spout);
    driver.next(1);
    driver.spout.deactivate();
    expect(driver.spout.activate(), "activate after deactivate");
    driver.next(1);
    driver.stop();
}
