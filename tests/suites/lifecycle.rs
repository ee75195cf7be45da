//! Orders to a running topology: inactive starts, activate, deactivate, rebalance, kill.
//!
//! In: topologies under load, and orders from another thread. Out: nothing lost, nothing overtaken, state kept. The
//! simulation gives such orders at every moment; here are real threads, real guests and what an embedder calls.

mod stages;

use anchorbolt_core::ids::MessageId;
use anchorbolt_core::port::{
    Bolt, Collector, Declaration, Next, Spout, SpoutContext, SpoutError, SpoutOutput, Tuples,
};
use anchorbolt_host::assemble::RunOptions;
use anchorbolt_host::runtime::{Control, Ended, How, Order, OrderError, Running, Watch};
use anchorbolt_row::{Row, write_row};
use anchorbolt_tests::{Feed, Journal, Setup, Topology, bolt, check_flawless, plain, wait};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

const END: How = How { until_drained: true, limit: None };
const SPOUTS: u64 = 3;

/// Waits for a run on another thread, so that its orders are carried out.
fn led(running: Running, how: How) -> (Control, Watch, JoinHandle<Ended>) {
    let (control, watch) = (running.control(), running.watch());
    (control, watch, std::thread::spawn(move || wait(running, how)))
}

fn until(watch: &Watch, what: &str, is: impl Fn(&Watch) -> bool) {
    let began = Instant::now();
    while !is(watch) {
        assert!(began.elapsed() < Duration::from_secs(30), "not {what}: {:#}", watch.report().json());
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Moves the tasks of these components again and again until the run is over; says how often.
fn stir(control: &Control, components: &[&str], tasks: u32) -> u32 {
    let mut moves = 0;
    loop {
        for component in components {
            match control.rebalance(component, 1 + (moves * 7 + 2) % tasks) {
                Ok(()) => moves += 1,
                Err(OrderError::Over) => return moves,
                Err(error) => panic!("{error}"),
            }
        }
    }
}

/// What came of each key, in order.
#[derive(Clone, Default)]
struct ByKey(Arc<Mutex<BTreeMap<String, Vec<i64>>>>);

impl Bolt for ByKey {
    fn execute(&mut self, tuples: &Tuples, out: &mut Collector<'_>) -> Result<(), String> {
        let mut keys = self.0.lock().unwrap();
        for i in 0..tuples.len() {
            let row = Row::new(tuples.row(i));
            keys.entry(row.str(0).unwrap().to_owned()).or_default().push(row.i64(1).unwrap());
        }
        out.ack(&tuples.ids);
        Ok(())
    }
}

/// Rows of a key and a number that rises, for each task of the spout; the keys of tasks differ.
fn rows(task: u64, n: u64) -> Arc<Vec<Vec<u8>>> {
    let row = |i: u64| {
        let mut row = vec![];
        write_row(&mut row, |row| {
            row.str(&format!("{task}-{}", i % 16)).int(i as i64);
        });
        row
    };
    Arc::new((0..n).map(row).collect())
}

/// Spouts of rising numbers, a guest, and a sink, each with several tasks; keys keep to a task.
fn keyed(topology: &str, n: u64) -> (Topology, ByKey) {
    let (seen, all) = (ByKey::default(), (0..SPOUTS).map(|task| rows(task, n)).collect::<Vec<_>>());
    let sink = seen.clone();
    let topology = Topology::new(&format!(
        r#"
        [topology]
        name = "keyed"
        {topology}
        [spouts.feed]
        kind = "generate"
        tasks = {SPOUTS}
        [bolts.middle]
        plugin = "guest:identity"
        tasks = 4
        config = {{ fields = ["key", "n"] }}
        inputs = [{{ from = "feed", grouping = {{ fields = ["key"] }} }}]
        [bolts.sink]
        kind = "null"
        tasks = 4
        inputs = [{{ from = "middle", grouping = {{ fields = ["key"] }} }}]
        "#
    ))
    .spout("feed", Declaration::fields(["key", "n"]), move |task| {
        Feed::new(all[task as usize].clone(), Journal::default())
    })
    .bolt("sink", Declaration::default(), move || sink.clone());
    (topology, seen)
}

#[test]
fn tasks_move_under_full_load_and_nothing_is_lost_or_overtaken() {
    for topology in ["", "ackers = 2", "queue-tuples = 8\nmax-spout-pending = 64"] {
        let n = if topology.contains("queue") { 20_000 } else { 60_000 };
        let (mut topology, seen) = keyed(topology, n);
        let (control, _, ended) = led(topology.start(END), END);
        let moves = stir(&control, &["middle", "sink", "feed"], 3);
        let ended = ended.join().unwrap();
        check_flawless(&ended, SPOUTS * n);
        assert!(moves >= 10, "only {moves} moves");
        let keys = seen.0.lock().unwrap();
        assert_eq!(keys.values().map(Vec::len).sum::<usize>() as u64, SPOUTS * n);
        for (key, numbers) in &*keys {
            assert!(numbers.is_sorted(), "{key} was overtaken");
        }
    }
}

#[test]
fn what_instances_know_moves_with_their_tasks() {
    let (totals, n) = (ByKey::default(), 30_000);
    let sink = totals.clone();
    let sentences = Feed::strings((0..n).map(|i| format!("word-{} word-{} the cow jumped", i % 97, i % 13)));
    let mut topology = Topology::new(
        r#"
        [topology]
        name = "counts"
        [spouts.feed]
        kind = "generate"
        tasks = 2
        [bolts.split]
        plugin = "guest:split"
        tasks = 3
        inputs = [{ from = "feed", grouping = "shuffle" }]
        [bolts.count]
        plugin = "guest:count"
        tasks = 4
        inputs = [{ from = "split", grouping = { fields = ["word"] } }]
        [bolts.sink]
        kind = "null"
        inputs = [{ from = "count", grouping = "global" }]
        "#,
    )
    .spout("feed", Feed::declaration(), move |_| Feed::new(sentences.clone(), Journal::default()))
    .bolt("sink", Declaration::default(), move || sink.clone());
    let (control, _, ended) = led(topology.start(END), END);
    let moves = stir(&control, &["split", "count", "feed"], 2);
    let ended = ended.join().unwrap();
    check_flawless(&ended, 2 * n);
    assert!(moves >= 10, "only {moves} moves");
    assert_eq!(bolt(&ended.report, "count").state_lost, 0);
    let totals = totals.0.lock().unwrap();
    for (word, counts) in &*totals {
        assert!(counts.iter().copied().eq(1..=counts.len() as i64), "{word}: a count was lost or overtaken");
    }
    let words: usize = totals.values().map(Vec::len).sum();
    assert_eq!(words as u64, 2 * n * 5);
}

#[test]
fn a_topology_that_starts_inactive_reads_when_it_is_told_to() {
    let (mut topology, seen) = keyed("", 1000);
    let loaded = topology.load();
    let options = RunOptions { how: END, inactive: true, ..RunOptions::default() };
    let (control, watch, ended) = led(loaded.start(options).unwrap(), END);
    // By now spouts would have read.
    control.rebalance("feed", 3).unwrap();
    control.rebalance("feed", 1).unwrap();
    control.deactivate().unwrap();
    assert!(!watch.is_active() && watch.progress().read == 0);
    control.activate().unwrap();
    assert!(watch.is_active());
    check_flawless(&ended.join().unwrap(), SPOUTS * 1000);
    assert_eq!(seen.0.lock().unwrap().values().map(Vec::len).sum::<usize>(), 3000);
}

#[test]
fn spouts_rest_and_go_on_and_what_is_in_flight_comes_to_its_end() {
    let (mut topology, _) = keyed("", 100_000);
    let (control, watch, ended) = led(topology.start(END), END);
    for _ in 0..5 {
        let before = watch.progress().read;
        until(&watch, "reading", |watch| watch.progress().read > before);
        control.deactivate().unwrap();
        let rests = watch.progress().read;
        until(&watch, "done with what is in flight", |watch| watch.progress().pending == 0);
        control.rebalance("feed", 2).unwrap();
        control.rebalance("feed", 3).unwrap();
        assert!(watch.progress().read == rests && rests < SPOUTS * 100_000, "{rests}");
        control.activate().unwrap();
    }
    check_flawless(&ended.join().unwrap(), SPOUTS * 100_000);
}

#[test]
fn orders_that_can_not_be_say_why() {
    let (mut topology, _) = keyed("", 1);
    let (control, watch, ended) = led(topology.start(How::default()), How::default());
    let text = |result: Result<(), OrderError>| result.unwrap_err().to_string();
    assert_eq!(text(control.rebalance("nobody", 1)), "there is no component `nobody`");
    let no = "it has 4 tasks, so 1 to 4; the number of tasks is fixed when a topology starts";
    assert_eq!(text(control.rebalance("sink", 0)), format!("`sink` can't have 0 executors: {no}"));
    assert_eq!(text(control.rebalance("sink", 5)), format!("`sink` can't have 5 executors: {no}"));
    control.activate().unwrap();
    control.deactivate().unwrap();
    control.deactivate().unwrap();
    control.drain();
    let ended = ended.join().unwrap();
    assert!(!ended.unfinished && watch.progress().pending == 0);
    assert_eq!(control.activate(), Err(OrderError::Over));
    assert_eq!(control.rebalance("sink", 2), Err(OrderError::Over));
    assert_eq!(control.kill(Duration::ZERO), Err(OrderError::Over));
}

/// Orders that wait in line before anybody leads the run: each has its turn, and the last one holds.
#[test]
fn orders_are_carried_out_one_by_one_in_their_order() {
    let (mut topology, _) = keyed("", 20_000);
    let running = topology.start(END);
    let control = running.control();
    let moves = |executors| Order::Rebalance { component: "middle".to_owned(), executors };
    let orders = [moves(3), moves(1), Order::Deactivate, moves(2), Order::Activate];
    let given = orders.map(|order| control.order(order));
    let (_, watch, ended) = led(running, END);
    for ordered in given {
        assert_eq!(ordered.wait(), Ok(()));
    }
    assert!(watch.is_active());
    check_flawless(&ended.join().unwrap(), SPOUTS * 20_000);
}

/// A spout that has nothing to read, and what it was told and asked.
#[derive(Clone, Default)]
struct Still {
    calls: Arc<Mutex<Vec<&'static str>>>,
    refuses: bool,
}

impl Still {
    fn write(&self, call: &'static str) {
        self.calls.lock().unwrap().push(call);
    }

    fn count(&self, call: &str) -> usize {
        self.calls.lock().unwrap().iter().filter(|known| **known == call).count()
    }
}

impl Spout for Still {
    fn open(&mut self, _: SpoutContext) -> Result<(), SpoutError> {
        Ok(())
    }

    fn activate(&mut self) -> Result<(), SpoutError> {
        self.write("activate");
        let again = self.refuses && self.count("activate") > 1;
        if again { Err(SpoutError::Environment("not again".to_owned())) } else { Ok(()) }
    }

    fn next(&mut self, _: &mut SpoutOutput, _: usize) -> Result<Next, SpoutError> {
        self.write("next");
        Ok(Next::Idle(None))
    }

    fn ack(&mut self, _: &[MessageId]) {}

    fn deactivate(&mut self) {
        self.write("deactivate");
    }
}

fn still(refuses: bool) -> (Still, Control, Watch, JoinHandle<Ended>) {
    let spout = Still { refuses, ..Still::default() };
    let made = spout.clone();
    let mut topology = Topology::new(
        r#"
        [topology]
        name = "still"
        [spouts.still]
        kind = "generate"
        [bolts.sink]
        kind = "null"
        inputs = [{ from = "still", grouping = "shuffle" }]
        "#,
    )
    .spout("still", Declaration::fields(["x"]), move |_| made.clone())
    .bolt("sink", Declaration::default(), ByKey::default);
    let (control, watch, ended) = led(topology.start(How::default()), How::default());
    (spout, control, watch, ended)
}

#[test]
fn a_spout_is_told_once_each_time_and_asked_again_after_its_rest() {
    let (spout, control, watch, ended) = still(false);
    until(&watch, "asked", |_| spout.count("next") > 0);
    control.deactivate().unwrap();
    control.deactivate().unwrap();
    let asked = spout.count("next");
    control.activate().unwrap();
    control.activate().unwrap();
    until(&watch, "asked again", |_| spout.count("next") > asked);
    control.drain();
    assert!(!ended.join().unwrap().unfinished);
    let told: Vec<_> = spout.calls.lock().unwrap().iter().copied().filter(|call| *call != "next").collect();
    assert_eq!(told, ["activate", "deactivate", "activate", "deactivate"]);
}

#[test]
fn a_spout_that_can_not_go_on_ends_the_run() {
    let (_, control, _, ended) = still(true);
    control.deactivate().unwrap();
    control.activate().unwrap();
    assert!(ended.join().unwrap().spout_error.is_some());
}

/// A bolt that never settles holds its tuples; nothing but time ends that.
fn held() -> (Control, Watch, JoinHandle<Ended>) {
    let topology = "message-timeout = \"10m\"\ndrain-timeout = \"10m\"";
    let bolt_keys = "config = { n = 1000 }";
    let setup = Setup { guest: "hold_all", topology, bolt: bolt_keys, ..Setup::default() };
    let mut p = setup.over(plain(10));
    let (control, watch, ended) = led(p.topology.start(END), END);
    until(&watch, "held", |watch| bolt(&watch.report(), "bolt").held == 10);
    (control, watch, ended)
}

/// A thousand tuples, each of which takes a tenth of a second.
#[test]
fn a_kill_waits_no_longer_than_it_says_and_leaves_what_it_could_not_finish() {
    let topology = "message-timeout = \"10m\"\ndrain-timeout = \"10m\"";
    let bolt_keys = "batch = 1\ntasks = 2\nconfig = { us = 100000 }";
    let setup = Setup { guest: "slow", topology, bolt: bolt_keys, ..Setup::default() };
    let mut p = setup.over(plain(1000));
    let (control, watch, ended) = led(p.topology.start(How::default()), How::default());
    until(&watch, "at work", |watch| watch.progress().completed > 0);
    let began = Instant::now();
    control.drain();
    control.rebalance("bolt", 2).unwrap();
    assert_eq!(control.activate(), Err(OrderError::Ending));
    control.kill(Duration::from_millis(200)).unwrap();
    // One that comes later makes it no longer.
    assert!(matches!(control.kill(Duration::from_secs(600)), Ok(()) | Err(OrderError::Over)));
    let ended = ended.join().unwrap();
    assert!(began.elapsed() < Duration::from_secs(45), "the drain would have taken more than a minute");
    assert!(ended.unfinished && watch.progress().pending > 0);
    assert_eq!(ended.exit_code(), 1);
}

/// No ledger knows of them: the end of a drain looks into the queues of the executors that there are now.
#[test]
fn tuples_outside_every_tree_that_are_left_after_a_move_are_told_of() {
    let bolt_keys = "batch = 1\ntasks = 2\nconfig = { us = 100000 }";
    let setup = Setup { guest: "slow", topology: "ackers = 0", bolt: bolt_keys, ..Setup::default() };
    let mut p = setup.over(plain(1000));
    let (control, watch, ended) = led(p.topology.start(How::default()), How::default());
    until(&watch, "at work", |watch| bolt(&watch.report(), "bolt").executed > 0);
    control.rebalance("bolt", 2).unwrap();
    control.kill(Duration::ZERO).unwrap();
    assert!(ended.join().unwrap().unfinished);
}

#[test]
fn held_tuples_and_those_before_a_paused_circuit_move_too() {
    let (control, watch, ended) = held();
    control.rebalance("bolt", 1).unwrap();
    control.rebalance("feed", 1).unwrap();
    // All is read, and what waits for its end may still have to be sent again.
    control.deactivate().unwrap();
    control.activate().unwrap();
    assert_eq!(bolt(&watch.report(), "bolt").held, 10);
    control.kill(Duration::ZERO).unwrap();
    assert!(ended.join().unwrap().unfinished);

    let restart = "tasks = 2\nrestart = { budget = 1, backoff = \"1ms\" }\nconfig = { poison = \"bad\" }";
    let setup = Setup {
        guest: "poison",
        bolt: restart,
        spout: "retry = { max-faults = \"none\" }",
        ..Setup::default()
    };
    let mut p = setup.over((0..100).map(|i| format!("bad {i}")));
    let (control, watch, ended) = led(p.topology.start(How::default()), How::default());
    until(&watch, "paused", |watch| watch.report().json().to_string().contains("the bolt is paused"));
    for executors in [2, 1, 2] {
        control.rebalance("bolt", executors).unwrap();
        control.rebalance("feed", 1).unwrap();
    }
    assert_eq!(watch.progress().pending, 100, "nothing is lost and nothing is done");
    control.kill(Duration::ZERO).unwrap();
    ended.join().unwrap();
}
