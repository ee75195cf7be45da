//! However a bolt dies, lies or refuses: the tuple that is to blame pays, its neighbours complete once.

use anchorbolt_core::failure::{Class, Cost};
use anchorbolt_core::port::{Bolt, Collector, Context, Tuples};
use anchorbolt_host::runtime::{Ended, How};
use anchorbolt_row::Row;
use anchorbolt_tests::{Feed, Pipeline, Setup, Topology, bolt, check_flawless, error, plain, wait, with};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::{Duration, Instant};

const ROWS: usize = 60;
const BAD: usize = 30;
const RETRY: &str = r#"retry = { max-faults = 2, backoff = "1ms" }"#;

fn pipeline(guest: &str, bolt: &str, on: &str) -> Pipeline {
    Setup { guest, spout: RETRY, bolt, ..Setup::default() }.over(with(ROWS, &[BAD], on))
}

/// Only the bad row was given up, after two faults of its own; each other completed once and came through once.
fn check_one_bad(p: &Pipeline, ended: &Ended, class: Class, says: &[&str]) {
    p.journal.check_acked((0..ROWS).filter(|i| *i != BAD).map(|i| i as u64));
    p.sink.check_texts((0..ROWS).filter(|i| *i != BAD).map(|i| format!("row-{i}")));
    let t = ended.report.totals();
    assert_eq!((t.completed, t.dropped, t.pending, t.trees_timed_out), (ROWS as u64 - 1, 1, 0, 0));
    let failure = error(&ended.report, class);
    assert_eq!((failure.component.as_str(), failure.count), ("bolt", 2), "{failure:?}");
    for text in says {
        assert!(failure.message.contains(text), "`{text}` is not in {failure:?}");
    }
    let (_, failed) = p.journal.failures(BAD as u64).swap_remove(0);
    assert_eq!((failed.class, failed.cost), (class, Cost::Fault));
    assert_eq!(ended.exit_code(), 1);
}

/// As [`check_one_bad`], and the row killed the instance: once in company perhaps, twice alone.
fn check_one_deadly(p: &Pipeline, ended: &Ended, class: Class, says: &[&str]) {
    check_one_bad(p, ended, class, says);
    let b = bolt(&ended.report, "bolt");
    let place = [Class::Trap, Class::Deadline, Class::Memory, Class::Exit, Class::Protocol]
        .iter()
        .position(|c| *c == class);
    let mut faults = [0; 5];
    faults[place.expect("a class of death")] = 2;
    assert_eq!(b.faults, faults);
    assert!((2..=3).contains(&b.deaths), "{b:?}");
    assert_eq!(b.emitted, ROWS as u64 - 1);
}

#[test]
fn a_panic_is_a_trap_with_its_text() {
    let mut p = pipeline("poison", "", "poison");
    let ended = p.run();
    check_one_deadly(&p, &ended, Class::Trap, &["panicked at", "can't stomach"]);
}

#[test]
fn a_loop_ends_at_its_deadline() {
    let mut p = pipeline("loop_on", r#"limits = { deadline = "200ms" }"#, "loop");
    let began = Instant::now();
    let ended = p.run();
    check_one_deadly(&p, &ended, Class::Deadline, &["deadline of 200 ms"]);
    assert!(began.elapsed() < Duration::from_secs(10));
}

#[test]
fn a_sleep_ends_at_its_deadline() {
    let mut p =
        pipeline("sleep_on", "limits = { deadline = \"200ms\" }\nconfig = { sleep_ms = 30000 }", "sleep");
    let began = Instant::now();
    let ended = p.run();
    check_one_deadly(&p, &ended, Class::Deadline, &["deadline of 200 ms"]);
    assert!(began.elapsed() < Duration::from_secs(10));
}

#[test]
fn memory_without_end_is_cut_off_with_both_figures() {
    let mut p = pipeline("alloc_on", r#"limits = { memory = "8MiB" }"#, "alloc");
    let ended = p.run();
    check_one_deadly(&p, &ended, Class::Memory, &["8 MiB"]);
    let text = &error(&ended.report, Class::Memory).message;
    assert!(text.matches("MiB").count() >= 2, "the limit and what was wanted: {text}");
}

#[test]
fn an_exit_ends_the_instance_and_not_the_host() {
    let mut p = pipeline("exit_on", "", "exit");
    let ended = p.run();
    check_one_deadly(&p, &ended, Class::Exit, &["exit"]);
}

#[test]
fn deadlines_are_armed_again_for_each_call() {
    let texts = with(ROWS, &[5, 25, 45], "loop");
    let bolt = "limits = { deadline = \"150ms\" }\nrestart = { budget = 100, backoff = \"1ms\" }";
    let mut p = Setup { guest: "loop_on", spout: RETRY, bolt, ..Setup::default() }.over(texts);
    let ended = p.run();
    let t = ended.report.totals();
    assert_eq!((t.completed, t.dropped), (ROWS as u64 - 3, 3));
    assert_eq!(self::bolt(&ended.report, "bolt").faults[1], 6);
}

/// What a bad row is called: those that can be blamed on their anchors fail without a death.
#[test]
fn rows_that_are_no_rows_cost_only_the_tuple_they_are_anchored_to() {
    let kinds = [
        "arity",
        "empty",
        "not-msgpack",
        "not-array",
        "lying-length",
        "utf8",
        "trailing",
        "nested",
        "stream",
    ];
    for how in kinds {
        println!("{how}");
        let mut p = pipeline("raw_bad_rows", &format!("config = {{ how = \"{how}\" }}"), "bad");
        let ended = p.run();
        check_one_bad(&p, &ended, Class::Protocol, &["stream"]);
        let b = bolt(&ended.report, "bolt");
        assert_eq!((b.faults, b.deaths, b.failed), ([0, 0, 0, 0, 2], 0, 2), "{how}");
    }
}

#[test]
fn columns_that_disagree_are_the_death_of_the_call_and_cost_only_the_tuple_to_blame() {
    let kinds = [
        "offsets-beyond",
        "offsets-descend",
        "offsets-short",
        "offsets-none",
        "offsets-from-one",
        "offsets-before-end",
        "anchor-offsets-beyond",
        "anchor-offsets-descend",
        "anchor-offsets-none",
        "streams-more",
        "target",
        "target-unknown",
        "targets-more",
    ];
    for how in kinds {
        println!("{how}");
        let mut p = pipeline("raw_bad_rows", &format!("config = {{ how = \"{how}\" }}"), "bad");
        let ended = p.run();
        check_one_bad(&p, &ended, Class::Protocol, &[]);
        assert_eq!(bolt(&ended.report, "bolt").faults, [0, 0, 0, 0, 2], "{how}");
    }
}

/// Handles that were never given kill each call, so all tuples pay in the end; nothing else is harmed.
#[test]
fn forged_handles_reach_nothing() {
    for how in ["ack", "fail", "failures", "anchor", "reset", "describe", "progress"] {
        println!("{how}");
        let bolt_settings =
            format!("config = {{ how = \"{how}\" }}\nrestart = {{ budget = 1000, backoff = \"1ms\" }}");
        let setup = Setup { guest: "raw_forged", spout: RETRY, bolt: &bolt_settings, ..Setup::default() };
        let mut p = setup.over(plain(5));
        let ended = p.run();
        let t = ended.report.totals();
        assert_eq!((t.completed, t.dropped, t.pending, t.trees_failed), (0, 5, 0, 10), "{how}");
        let b = bolt(&ended.report, "bolt");
        assert_eq!((b.faults[4], b.emitted, b.acked), (10, 0, 0), "{how}");
        assert!(p.sink.is_empty() && p.journal.acks().is_empty(), "{how}");
    }
}

#[test]
fn stale_handles_are_ignored_and_counted() {
    let setup =
        Setup { guest: "raw_forged", bolt: "config = { how = \"stale\" }\nbatch = 10", ..Setup::default() };
    let mut p = setup.over(plain(100));
    let ended = p.run();
    check_flawless(&ended, 100);
    let repeated = bolt(&ended.report, "bolt").repeated;
    assert!((90..100).contains(&repeated), "each call but the last is acked again: {repeated}");
    p.journal.check_acked(0..100);
}

#[test]
fn settling_twice_is_ignored_and_counted_and_the_tree_is_unharmed() {
    for how in ["twice", "together", "fail"] {
        println!("{how}");
        let bolt_settings = format!("config = {{ how = \"{how}\" }}");
        let mut p =
            Setup { guest: "raw_double_ack", bolt: &bolt_settings, ..Setup::default() }.over(plain(200));
        let ended = p.run();
        check_flawless(&ended, 200);
        let b = bolt(&ended.report, "bolt");
        assert_eq!((b.repeated, b.acked, b.failed), (200, 200, 0), "{how}");
        p.journal.check_acked(0..200);
        p.sink.check_texts(plain(200));
    }
}

/// An ack, an emission anchored to the acked tuple, an ack: the emission can't be attributed to anything live.
#[test]
fn an_emission_anchored_to_an_acked_tuple_only_is_a_breach_that_its_tuple_pays_for() {
    let bolt_settings = "config = { how = \"emit\" }\nrestart = { budget = 1000, backoff = \"1ms\" }";
    let mut p = Setup { guest: "raw_double_ack", spout: RETRY, bolt: bolt_settings, ..Setup::default() }
        .over(plain(5));
    let ended = p.run();
    assert_eq!((ended.report.totals().dropped, ended.report.totals().completed), (5, 0));
    assert!(p.sink.is_empty());
    let said = ended.report.errors.iter().find(|e| e.class == Class::Protocol).expect("a protocol fault");
    assert!(said.message.contains("settled before"), "{said:?}");
}

#[test]
fn a_call_that_ends_in_an_error_keeps_what_it_settled_and_the_rest_runs_again() {
    for batch in ["", "batch = 8", "batch = 1"] {
        let mut p = pipeline("error_call", batch, "error");
        let ended = p.run();
        p.journal.check_acked((0..ROWS).filter(|i| *i != BAD).map(|i| i as u64));
        p.sink.check_texts((0..ROWS).filter(|i| *i != BAD).map(|i| format!("row-{i}")));
        let t = ended.report.totals();
        assert_eq!((t.completed, t.dropped), (ROWS as u64 - 1, 1));
        assert_eq!(bolt(&ended.report, "bolt").deaths, 0);
        assert!(error(&ended.report, Class::Failed).message.contains("the call ends at `error 30`"));
        let charged = |id: u64| p.journal.failures(id).iter().filter(|(_, f)| f.cost != Cost::Free).count();
        assert_eq!(
            (0..ROWS as u64).map(charged).sum::<usize>(),
            1,
            "one fault is told, the other gives it up"
        );
    }
}

/// Holds all it gets and dies of a word: what it held from earlier calls comes again and pays nothing.
#[test]
fn what_a_dead_instance_held_is_replayed_at_once_and_for_nothing() {
    struct Hoarder(Vec<u32>);
    impl Bolt for Hoarder {
        fn execute(&mut self, tuples: &Tuples, out: &mut Collector<'_>) -> Result<(), String> {
            for i in 0..tuples.len() {
                let row = tuples.row(i);
                assert!(Row::new(row).str(0) != Some("bang 50"), "bang");
                out.emit(0, &[tuples.ids[i]], row);
                self.0.push(tuples.ids[i]);
            }
            Ok(())
        }

        fn tick(&mut self, out: &mut Collector<'_>) -> Result<(), String> {
            out.ack(&std::mem::take(&mut self.0));
            Ok(())
        }
    }
    let setup = Setup {
        topology: "message-timeout = \"60s\"",
        spout: r#"retry = { max-faults = 1 }"#,
        bolt: "tick = \"300ms\"\nbatch = 10",
        ..Setup::default()
    };
    let mut p = setup.native(Feed::strings(with(100, &[50], "bang")), || Hoarder(vec![]));
    let began = Instant::now();
    let ended = p.run();
    assert!(began.elapsed() < Duration::from_secs(20), "at once, not at the timeout");
    p.journal.check_acked((0..100).filter(|i| *i != 50));
    let t = ended.report.totals();
    assert_eq!((t.completed, t.dropped, t.trees_timed_out), (99, 1, 0));
    assert!((0..50).all(|id| p.journal.failures(id).iter().all(|(_, f)| f.cost == Cost::Free)));
    assert!((0..50).any(|id| !p.journal.failures(id).is_empty()), "those that were held did come again");
    assert_eq!(ended.exit_code(), 1);
}

/// Its first instance works and dies of a word; no other can be prepared.
struct Once {
    instances: Arc<AtomicU32>,
}

impl Bolt for Once {
    fn prepare(&mut self, _: &Context) -> Result<(), String> {
        match self.instances.fetch_add(1, SeqCst) {
            0 => Ok(()),
            n => Err(format!("instance {n} can't be prepared")),
        }
    }

    fn execute(&mut self, tuples: &Tuples, out: &mut Collector<'_>) -> Result<(), String> {
        for i in 0..tuples.len() {
            assert!(Row::new(tuples.row(i)).str(0) != Some("bang 20"), "bang");
            out.emit(0, &[tuples.ids[i]], tuples.row(i));
        }
        out.ack(&tuples.ids);
        Ok(())
    }
}

fn circuit(what: &str) -> (Pipeline, Arc<AtomicU32>) {
    let bolt =
        format!("batch = 4\nrestart = {{ budget = 3, backoff = \"1ms\", on-circuit-open = \"{what}\" }}");
    let setup =
        Setup { topology: "drain-timeout = \"500ms\"", spout: RETRY, bolt: &bolt, ..Setup::default() };
    let instances: Arc<AtomicU32> = Arc::default();
    let made = instances.clone();
    let p = setup.native(Feed::strings(with(100, &[20], "bang")), move || Once { instances: made.clone() });
    (p, instances)
}

#[test]
fn an_open_circuit_that_pauses_loses_nothing_and_ends_a_finite_run_after_the_drain_timeout() {
    let (mut p, instances) = circuit("pause");
    let began = Instant::now();
    let ended = p.run();
    let took = began.elapsed();
    assert!(
        ended.unfinished && took >= Duration::from_millis(500) && took < Duration::from_secs(20),
        "{took:?}"
    );
    let t = ended.report.totals();
    assert_eq!((t.completed, t.pending, t.dropped, t.trees_failed), (20, 80, 0, 0));
    p.journal.check_acked(0..20);
    assert_eq!(instances.load(SeqCst), 5, "the first, and the budget's three, and the one that opened it");
    let said = error(&ended.report, Class::Circuit);
    assert!(said.message.contains("paused") && said.message.contains("can't be prepared"), "{said:?}");
    assert_eq!(ended.exit_code(), 1);
}

/// The clocks of trees stand still: what waits for the paused bolt must not be replayed to wait for it again.
#[test]
fn nothing_times_out_while_a_circuit_pauses_with_the_ledgers_anywhere() {
    for ackers in ["", "ackers = 2\n"] {
        let topology = format!("{ackers}drain-timeout = \"1500ms\"\nmessage-timeout = \"400ms\"");
        let bolt = "batch = 4\nrestart = { budget = 3, backoff = \"1ms\" }";
        let setup = Setup { topology: &topology, spout: RETRY, bolt, ..Setup::default() };
        let instances: Arc<AtomicU32> = Arc::default();
        let mut p = setup
            .native(Feed::strings(with(100, &[20], "bang")), move || Once { instances: instances.clone() });
        let ended = p.run();
        let t = ended.report.totals();
        assert_eq!((t.completed, t.pending, t.trees_timed_out, t.replayed), (20, 80, 0, 0), "{ackers}");
        assert!(ended.unfinished);
    }
}

#[test]
fn an_open_circuit_that_gives_up_gives_all_up_that_comes() {
    let (mut p, _) = circuit("dead-letter");
    let ended = p.run();
    let t = ended.report.totals();
    assert_eq!((t.completed, t.dropped, t.pending), (20, 80, 0));
    p.journal.check_acked(0..20);
    let lost: u64 = ended.report.errors.iter().filter(|e| e.class == Class::Circuit).map(|e| e.count).sum();
    assert!(lost >= 80, "{:?}", ended.report.errors);
    assert_eq!(ended.exit_code(), 1);
}

#[test]
fn an_open_circuit_that_stops_ends_the_run() {
    let (mut p, _) = circuit("stop");
    let how = How::default();
    let ended = wait(p.topology.start(how), how);
    let said = ended.stopped.as_deref().expect("it was stopped");
    assert!(said.contains("bolt") && said.contains("can't be prepared"), "{said}");
    assert_eq!((ended.report.totals().completed, ended.report.totals().dropped), (20, 0));
    assert_eq!(ended.exit_code(), 1);
}

#[test]
fn a_bolt_that_can_not_be_prepared_does_not_start() {
    for (how, says) in [("error", "prepare was told to fail"), ("panic", "prepare was told to panic")] {
        for task in ["", ", task = 1"] {
            let bolt = format!("executors = 2\nconfig = {{ prepare = \"{how}\"{task} }}");
            let mut p = Setup { guest: "flaky_prepare", bolt: &bolt, ..Setup::default() }.over(["a"]);
            let error = p.topology.try_start(How::default()).err().expect("it must not start").to_string();
            assert!(error.contains("bolt `bolt`") && error.contains(says), "{error}");
            assert!(p.journal.entries().is_empty(), "nothing was read");
        }
    }
}

#[test]
fn a_bolt_that_declares_what_can_not_be_is_refused_at_load() {
    let kinds = [
        "error",
        "stream-empty",
        "stream-twice",
        "stream-reserved",
        "stream-space",
        "stream-control",
        "stream-long",
        "streams-many",
        "field-empty",
        "field-twice",
        "field-control",
        "field-long",
        "fields-many",
    ];
    for how in kinds {
        let mut topology = Topology::new(&format!(
            "[topology]\nname = \"bad\"\n[spouts.feed]\nkind = \"generate\"\n[bolts.bolt]\nplugin = \"guest:raw_declare_bad\"\n\
             config = {{ how = \"{how}\" }}\ninputs = [{{ from = \"feed\", grouping = \"shuffle\" }}]"
        ));
        let loaded = topology.load();
        assert!(!loaded.is_ok(), "{how} was let through");
        let codes: Vec<_> = loaded.diagnostics.iter().filter(|d| d.is_error()).map(|d| d.code).collect();
        assert!(
            codes.iter().all(|c| ["AB309", "AB310", "AB311", "AB312", "AB409"].contains(c)),
            "{how}: {codes:?}"
        );
        for d in &loaded.diagnostics {
            let text = format!("{} {:?}", d.message, d.help);
            assert!(
                text.len() < 2_000 && !text.contains('\u{1b}'),
                "{how}: a name is shown shortened and escaped"
            );
        }
    }
}

#[test]
fn output_and_errors_of_a_guest_are_bounded_and_harmless() {
    let mut p = Setup { guest: "chatty", ..Setup::default() }.over(plain(20));
    let ended = p.run();
    let t = ended.report.totals();
    assert_eq!((t.completed, t.trees_failed), (20, 0));
    let reports: u64 =
        ended.report.errors.iter().filter(|e| e.message.starts_with("report row-")).map(|e| e.count).sum();
    assert_eq!(reports, 20);
    assert_eq!(ended.exit_code(), 0);
    p.sink.check_texts(plain(20));
}

#[test]
fn unanchored_rows_are_outside_every_tree() {
    let mut p = Setup { guest: "unanchored", ..Setup::default() }.over(plain(500));
    check_flawless(&p.run(), 500);
    p.sink.check_texts(plain(500));
}

#[test]
fn a_stop_under_a_paused_circuit_ends_without_loss() {
    let (mut p, _) = circuit("pause");
    let running = p.topology.start(How::default());
    let (watch, began) = (running.watch(), Instant::now());
    while !watch.report().errors.iter().any(|e| e.class == Class::Circuit) {
        assert!(began.elapsed() < Duration::from_secs(20), "{:#}", watch.report().json());
        std::thread::sleep(Duration::from_millis(5));
    }
    running.stopper().stop();
    let ended = wait(running, How::default());
    assert!(began.elapsed() < Duration::from_secs(20));
    let t = ended.report.totals();
    assert_eq!((t.completed, t.pending, t.dropped), (20, 80, 0));
    assert!(ended.unfinished && ended.exit_code() == 1);
}
