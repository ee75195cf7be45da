//! An embedder's own spouts and bolts, and time that the test moves itself.

use anchorbolt_core::failure::{Class, Failure};
use anchorbolt_core::ids::MessageId;
use anchorbolt_core::port::{
    Bolt, Collector, Declaration, FailKind, InstanceFactory, Next, Replay, Spout, SpoutContext, SpoutError,
    SpoutOutput, Tuples, Waker,
};
use anchorbolt_host::runtime::{
    How, ManualClock, NativeFactory, Parts, Running, SpoutFactory, Watch, launch,
};
use anchorbolt_row::{Row, write_row};
use anchorbolt_tests::{
    Feed, Journal, Pipeline, Setup, Sink, Topology, bolt, check_flawless, error, plain, text, wait, with,
};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::{Duration, Instant};

const SENTENCES: [&str; 5] = [
    "my dog has fleas",
    "i like cold beverages",
    "the dog ate my homework",
    "do not have a cow man",
    "i do not think i like fleas",
];

/// Storm's spout of five sentences, with a table of its own: what fails it emits again itself.
struct FiveSentences {
    left: u64,
    next_id: u64,
    pending: HashMap<MessageId, &'static str>,
    again: VecDeque<MessageId>,
    waker: Option<Waker>,
    failed: Arc<AtomicU64>,
}

impl FiveSentences {
    fn new(rounds: u64, failed: Arc<AtomicU64>) -> FiveSentences {
        let (pending, again) = (HashMap::new(), VecDeque::new());
        FiveSentences { left: 5 * rounds, next_id: 0, pending, again, waker: None, failed }
    }

    fn take(&mut self) -> Option<(MessageId, &'static str)> {
        if let Some(id) = self.again.pop_front() {
            return self.pending.get(&id).map(|sentence| (id, *sentence));
        }
        self.left = self.left.checked_sub(1)?;
        let (id, sentence) = (MessageId(self.next_id.into()), SENTENCES[self.next_id as usize % 5]);
        self.next_id += 1;
        self.pending.insert(id, sentence);
        Some((id, sentence))
    }
}

impl Spout for FiveSentences {
    fn open(&mut self, context: SpoutContext) -> Result<(), SpoutError> {
        self.waker = Some(context.waker);
        Ok(())
    }

    fn next(&mut self, out: &mut SpoutOutput, budget: usize) -> Result<Next, SpoutError> {
        while out.len() < budget {
            match self.take() {
                Some((id, sentence)) => out.emit_with(id, 0, |data| {
                    write_row(data, |row| {
                        row.str(sentence);
                    });
                }),
                None => return Ok(if out.is_empty() { Next::Done } else { Next::More }),
            }
        }
        Ok(Next::More)
    }

    fn ack(&mut self, ids: &[MessageId]) {
        ids.iter().for_each(|id| assert!(self.pending.remove(id).is_some(), "{id:?} was acked twice"));
    }

    fn fail(&mut self, id: MessageId, _: &Failure) -> Replay {
        self.failed.fetch_add(1, SeqCst);
        self.again.push_back(id);
        if let Some(waker) = &self.waker {
            waker.wake();
        }
        Replay::Spout
    }

    fn finite(&self) -> bool {
        true
    }
}

#[test]
fn five_sentences_with_a_table_of_their_own_are_counted() {
    let (sink, failed) = (Sink::default(), Arc::<AtomicU64>::default());
    let (out, seen) = (sink.clone(), failed.clone());
    let mut topology = Topology::new(
        r#"
        [topology]
        name = "five"
        max-spout-pending = 20
        [spouts.five]
        kind = "generate"
        retry = { max-faults = "none", backoff = "1ms" }
        [bolts.flaky]
        plugin = "guest:identity"
        inputs = [{ from = "five", grouping = "shuffle" }]
        [bolts.split]
        plugin = "guest:split"
        executors = 2
        inputs = [{ from = "flaky", grouping = "shuffle" }]
        [bolts.sink]
        kind = "null"
        inputs = [{ from = "split", grouping = "global" }]
        "#,
    )
    .spout("five", Feed::declaration(), move |_| FiveSentences::new(40, seen.clone()))
    // Every third call fails all that it gets.
    .bolt("flaky", Declaration::fields(["value"]), || Flaky(0))
    .bolt("sink", Declaration::default(), move || out.clone());
    let ended = topology.run();
    let t = ended.report.totals();
    assert_eq!(
        (t.read, t.completed, t.dropped, t.pending),
        (200, 200, 0, 0),
        "its own emissions again are no new reads"
    );
    assert_eq!(t.trees_failed, failed.load(SeqCst));
    assert!(t.trees_failed > 0);
    let expected = text::word_counts(&SENTENCES.join(" "));
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    sink.texts().into_iter().for_each(|word| *counts.entry(word).or_default() += 1);
    assert!(counts.iter().all(|(word, n)| *n == 40 * expected[word]), "{counts:?}");
    assert_eq!(counts.len(), expected.len());
}

struct Flaky(u64);

impl Bolt for Flaky {
    fn execute(&mut self, tuples: &Tuples, out: &mut Collector<'_>) -> Result<(), String> {
        self.0 += 1;
        for (i, id) in tuples.ids.iter().enumerate() {
            if self.0.is_multiple_of(3) {
                out.fail(*id, FailKind::Fail, "the third call");
            } else {
                out.emit(0, &[*id], tuples.row(i));
                out.ack(&[*id]);
            }
        }
        Ok(())
    }
}

/// A record that is several tuples: each id three times.
struct Triple(Feed);

impl Spout for Triple {
    fn open(&mut self, context: SpoutContext) -> Result<(), SpoutError> {
        self.0.open(context)
    }

    fn next(&mut self, out: &mut SpoutOutput, budget: usize) -> Result<Next, SpoutError> {
        let mut once = SpoutOutput::new();
        let next = self.0.next(&mut once, budget)?;
        for (i, id) in once.ids.iter().enumerate() {
            (0..3).for_each(|_| out.emit(id.expect("the feed is reliable"), 0, once.row(i)));
        }
        Ok(next)
    }

    fn ack(&mut self, ids: &[MessageId]) {
        self.0.ack(ids);
    }

    fn fail(&mut self, id: MessageId, failure: &Failure) -> Replay {
        self.0.fail(id, failure)
    }

    fn give_up(&mut self, id: MessageId) {
        self.0.give_up(id);
    }
}

fn triple(p: Pipeline, texts: Vec<String>) -> Pipeline {
    let (journal, rows) = (p.journal.clone(), Feed::strings(texts));
    let make = move |_| Triple(Feed::new(rows.clone(), journal.clone()));
    Pipeline { topology: p.topology.spout("feed", Feed::declaration(), make), ..p }
}

#[test]
fn one_id_emitted_three_times_is_one_message_of_three_trees() {
    let mut p = triple(
        Setup { guest: "identity", bolt: "executors = 2", ..Setup::default() }.over([""]),
        plain(1_000),
    );
    let ended = p.run();
    let t = check_flawless(&ended, 1_000);
    assert_eq!((t.trees_emitted, t.trees_acked), (3_000, 3_000));
    p.journal.check_acked(0..1_000);
    assert_eq!(p.sink.len(), 3_000);
}

#[test]
fn one_failure_replays_the_whole_message_and_no_old_ack_completes_it() {
    let setup = Setup {
        guest: "fail_some",
        spout: r#"retry = { backoff = "1ms", max-faults = 9 }"#,
        bolt: "config = { until = 1 }\nexecutors = 3",
        ..Setup::default()
    };
    let mut p = triple(setup.over([""]), with(300, &[0, 7, 150, 299], "fail:"));
    let ended = p.run();
    let t = ended.report.totals();
    assert_eq!((t.read, t.completed, t.dropped, t.pending), (300, 300, 0, 0));
    assert_eq!((t.trees_emitted, t.replayed), (900 + 12, 12));
    assert_eq!(t.trees_acked + t.trees_failed, 912);
    assert!(t.trees_failed >= 4, "{t:?}");
    p.journal.check_acked(0..300);
}

#[test]
fn a_native_bolt_that_panics_dies_as_a_guest_does() {
    struct Panics;
    impl Bolt for Panics {
        fn execute(&mut self, tuples: &Tuples, out: &mut Collector<'_>) -> Result<(), String> {
            for (i, id) in tuples.ids.iter().enumerate() {
                assert!(Row::new(tuples.row(i)).str(0) != Some("bang 30"), "native bang");
                out.emit(0, &[*id], tuples.row(i));
            }
            out.ack(&tuples.ids);
            Ok(())
        }
    }
    let setup = Setup { spout: r#"retry = { max-faults = 2, backoff = "1ms" }"#, ..Setup::default() };
    let mut p = setup.native(Feed::strings(with(100, &[30], "bang")), || Panics);
    let ended = p.run();
    p.journal.check_acked((0..100).filter(|i| *i != 30));
    p.sink.check_texts((0..100).filter(|i| *i != 30).map(|i| format!("row-{i}")));
    let failure = error(&ended.report, Class::Trap);
    assert!(failure.message.contains("panicked: native bang") && failure.count == 2, "{failure:?}");
    assert_eq!(bolt(&ended.report, "bolt").faults, [2, 0, 0, 0, 0]);
}

#[test]
fn a_spout_that_can_not_open_or_go_on_ends_the_run_with_its_text() {
    struct Broken(bool);
    impl Spout for Broken {
        fn open(&mut self, _: SpoutContext) -> Result<(), SpoutError> {
            if self.0 { Err(SpoutError::Input("no such thing".to_owned())) } else { Ok(()) }
        }
        fn next(&mut self, _: &mut SpoutOutput, _: usize) -> Result<Next, SpoutError> {
            Err(SpoutError::Environment("the line went dead".to_owned()))
        }
        fn ack(&mut self, _: &[MessageId]) {}
    }
    let start = |at_open| {
        let p = Setup { guest: "identity", ..Setup::default() }.over([""]);
        let mut topology = p.topology.spout("feed", Feed::declaration(), move |_| Broken(at_open));
        topology.try_start(How::default())
    };
    let error = start(true).err().expect("it must not start").to_string();
    assert!(error.contains("spout `feed`") && error.contains("no such thing"), "{error}");
    let ended = wait(start(false).unwrap_or_else(|e| panic!("{e}")), How::default());
    assert_eq!(ended.spout_error, Some(SpoutError::Environment("the line went dead".to_owned())));
    assert_eq!(ended.exit_code(), 3);
}

/// Holds what it gets until told; may restart the timeouts at each tick.
struct Holder {
    ids: Vec<u32>,
    resets: bool,
}

impl Bolt for Holder {
    fn execute(&mut self, tuples: &Tuples, _: &mut Collector<'_>) -> Result<(), String> {
        self.ids.extend(&tuples.ids);
        Ok(())
    }

    fn tick(&mut self, out: &mut Collector<'_>) -> Result<(), String> {
        if self.resets {
            out.reset_timeout(&self.ids);
        }
        Ok(())
    }
}

/// A holder over ten messages, on a clock that stands still.
fn on_manual_clock(
    topology: &str,
    ackers: &str,
    tick: &str,
    resets: bool,
) -> (Running, Arc<ManualClock>, Journal) {
    let journal = Journal::default();
    let spout = journal.clone();
    let mut text = Topology::new(&format!(
        r#"
        [topology]
        name = "manual"
        {topology}
        {ackers}
        [spouts.feed]
        kind = "generate"
        retry = {{ max-attempts = 1 }}
        [bolts.holder]
        kind = "null"
        {tick}
        inputs = [{{ from = "feed", grouping = "shuffle" }}]
        "#
    ))
    .spout("feed", Feed::declaration(), |_| Feed::new(Arc::default(), Journal::default()));
    let loaded = text.load();
    assert!(loaded.is_ok(), "{:#?}", loaded.diagnostics);
    let make = move || Box::new(Holder { ids: vec![], resets }) as Box<dyn Bolt>;
    let factory: Arc<dyn InstanceFactory> = Arc::new(NativeFactory::new(Declaration::default(), make));
    let feed: SpoutFactory = Box::new(move |_| Box::new(Feed::new(Feed::strings(plain(10)), spout.clone())));
    let clock = ManualClock::new();
    let parts = Parts {
        bolts: BTreeMap::from([("holder".to_owned(), factory)]),
        spouts: BTreeMap::from([("feed".to_owned(), feed)]),
        ..Parts::new(How::default(), clock.clone())
    };
    let running = launch(loaded.plan.expect("a plan"), parts).expect("it starts");
    (running, clock, journal)
}

fn until(watch: &Watch, what: &str, is: impl Fn(&Watch) -> bool) {
    let began = Instant::now();
    while !is(watch) {
        assert!(
            began.elapsed() < Duration::from_secs(20),
            "{what} did not happen: {:#}",
            watch.report().json()
        );
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn held(watch: &Watch) -> u64 {
    bolt(&watch.report(), "holder").held
}

#[test]
fn a_held_tuple_times_out_at_the_very_moment_and_not_before() {
    for ackers in ["", "ackers = 1", "ackers = 3"] {
        let (running, clock, _) = on_manual_clock("message-timeout = \"30s\"", ackers, "", false);
        let watch = running.watch();
        until(&watch, "all are held", |w| held(w) == 10);
        clock.advance(Duration::from_secs(30) - Duration::from_nanos(1));
        std::thread::sleep(Duration::from_millis(100));
        assert_eq!(watch.report().totals().trees_timed_out, 0, "{ackers}");
        clock.advance(Duration::from_nanos(1));
        until(&watch, "the timeout", |w| w.report().totals().trees_timed_out == 10);
        let report = watch.report();
        let said = error(&report, Class::Timeout);
        assert_eq!((said.component.as_str(), said.count), ("holder", 10));
        assert!(said.message.contains("30s"), "{said:?}");
        running.stopper().stop();
        let ended = wait(running, How::default());
        assert_eq!((ended.report.totals().dropped, ended.report.totals().pending), (10, 0));
    }
}

#[test]
fn a_reset_restarts_the_timeout_up_to_an_age() {
    let topology = "message-timeout = \"10s\"\nmax-tree-age = \"25s\"";
    let (running, clock, journal) = on_manual_clock(topology, "", "tick = \"4s\"", true);
    let watch = running.watch();
    until(&watch, "all are held", |w| held(w) == 10);
    for second in 0..24 {
        clock.advance(Duration::from_secs(1));
        std::thread::sleep(Duration::from_millis(20));
        assert_eq!(watch.report().totals().trees_timed_out, 0, "after {} s", second + 1);
    }
    clock.advance(Duration::from_secs(1));
    until(&watch, "the end of their age", |w| w.report().totals().trees_timed_out == 10);
    assert!(journal.acks().is_empty());
    running.stopper().stop();
    assert_eq!(wait(running, How::default()).report.totals().dropped, 10);
}

#[test]
fn without_resets_ticks_change_nothing() {
    let (running, clock, _) = on_manual_clock("message-timeout = \"10s\"", "", "tick = \"4s\"", false);
    let watch = running.watch();
    until(&watch, "all are held", |w| held(w) == 10);
    for _ in 0..10 {
        clock.advance(Duration::from_secs(1));
        std::thread::sleep(Duration::from_millis(5));
    }
    until(&watch, "the timeout", |w| w.report().totals().trees_timed_out == 10);
    running.stopper().stop();
    assert_eq!(wait(running, How::default()).report.totals().dropped, 10);
}

/// Messages that nobody tracks are neither limited nor acked.
#[test]
fn untracked_messages_of_a_spout_are_counted_and_not_limited() {
    struct Loose(u64);
    impl Spout for Loose {
        fn open(&mut self, _: SpoutContext) -> Result<(), SpoutError> {
            Ok(())
        }
        fn next(&mut self, out: &mut SpoutOutput, budget: usize) -> Result<Next, SpoutError> {
            let row = anchorbolt_tests::native::string_row("loose");
            let n = self.0.min(budget as u64);
            (0..n).for_each(|_| out.emit_untracked(0, &row));
            self.0 -= n;
            Ok(if self.0 == 0 { Next::Done } else { Next::More })
        }
        fn ack(&mut self, ids: &[MessageId]) {
            assert!(ids.is_empty());
        }
    }
    let p = Setup { guest: "identity", topology: "max-spout-pending = 2", ..Setup::default() }.over([""]);
    let mut topology = p.topology.spout("feed", Feed::declaration(), |_| Loose(1_000));
    let ended = topology.run();
    let t = ended.report.totals();
    assert_eq!((t.read, t.untracked, t.completed, t.trees_emitted), (1_000, 1_000, 0, 0));
    assert_eq!(p.sink.len(), 1_000);
}
