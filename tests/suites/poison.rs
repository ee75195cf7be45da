//! A line that kills the bolt costs that line, and nothing else.

use anchorbolt_core::failure::Class;
use anchorbolt_host::runtime::Ended;
use anchorbolt_tests::{Entry, Pipeline, Setup, bolt, error, with};

const LINES: usize = 10_000;
const TRAP: usize = 0;
const QUICK: &str = r#"retry = { backoff = "1ms", max-backoff = "4ms", max-faults = 3 }"#;

fn pipeline(lines: usize, poison: &[usize], bolt: &str) -> Pipeline {
    let setup = Setup { guest: "poison", spout: QUICK, bolt, ..Setup::default() };
    setup.over(with(lines, poison, "poison"))
}

/// Each neighbour completed exactly once and came through once; each poison one was given up, as dropped.
fn check(pipeline: &Pipeline, ended: &Ended, lines: usize, poison: &[usize]) {
    let good = |i: &usize| !poison.contains(i);
    pipeline.journal.check_acked((0..lines).filter(good).map(|i| i as u64));
    pipeline.sink.check_texts((0..lines).filter(good).map(|i| format!("row-{i}")));
    let t = ended.report.totals();
    let (n, bad) = (lines as u64, poison.len() as u64);
    assert_eq!((t.read, t.completed, t.dropped, t.pending), (n, n - bad, bad, 0));
    assert_eq!((t.trees_timed_out, t.trees_pending), (0, 0));
    let given_up: Vec<u64> = pipeline
        .journal
        .entries()
        .into_iter()
        .filter_map(|(_, e)| match e {
            Entry::GaveUp(id) => Some(id),
            _ => None,
        })
        .collect();
    assert_eq!(given_up.len(), poison.len());
    assert!(given_up.iter().all(|id| poison.contains(&(*id as usize))), "{given_up:?}");
    let b = bolt(&ended.report, "bolt");
    assert_eq!(b.faults, [3 * bad, 0, 0, 0, 0], "each poison line has max-faults faults");
    assert_eq!((b.emitted, b.transferred, b.acked), (n - bad, n - bad, n - bad));
    assert_eq!(ended.exit_code(), 1);
}

/// The first calls are small, and a bolt that takes 4 at most takes 4 from the first: what it costs is known.
#[test]
fn a_poison_line_costs_the_call_and_its_own_attempts() {
    for place in [0, 1, 2, 3, 4, 12, 15, 248, 255] {
        let mut p = pipeline(LINES, &[place], "batch = 4");
        let ended = p.run();
        check(&p, &ended, LINES, &[place]);
        let b = bolt(&ended.report, "bolt");
        // The call of 4 dies, then the line alone; its two retries are alone from the start.
        assert_eq!((b.deaths, b.restarts, b.state_lost), (4, 4, 0), "place {place}");
        assert_eq!(b.executed, (LINES + 4 + 2) as u64, "place {place}");
        assert_eq!(ended.report.totals().trees_failed, 3);
        assert_eq!(ended.report.totals().replayed, 2);
    }
}

/// By then calls have 256 lines.
const LARGE: std::ops::Range<usize> = 1600..1856;

#[test]
fn a_poison_line_at_each_place_of_a_batch_of_256_costs_only_itself() {
    for place in LARGE {
        let mut p = pipeline(2000, &[place], "batch = 256");
        let ended = p.run();
        check(&p, &ended, 2000, &[place]);
        // How large its call was, in company: the whole call ran again.
        let again = bolt(&ended.report, "bolt").executed - 2000 - 2;
        assert!(again <= 256, "place {place}: {again}");
    }
}

#[test]
fn several_poison_lines_in_a_batch_of_256_cost_only_themselves() {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut rng = fastrand::Rng::with_seed(seed);
    for n in [2, 3, 10, 40, 100, 255, 256] {
        let mut places = rng.choose_multiple(LARGE, n);
        places.sort_unstable();
        let bolt = "batch = 256\nrestart = { budget = 1000, backoff = \"1ms\" }";
        let mut p = pipeline(2000, &places, bolt);
        let ended = p.run();
        check(&p, &ended, 2000, &places);
    }
}

#[test]
fn the_error_holds_the_text_of_the_panic_and_the_failed_row() {
    let mut p = pipeline(100, &[40], "");
    let ended = p.run();
    let failure = error(&ended.report, Class::Trap);
    assert_eq!((failure.component.as_str(), failure.count), ("bolt", 3));
    assert!(failure.message.contains("panicked at "), "{failure:?}");
    assert!(failure.message.contains(r#"can't stomach ["poison 40"]"#), "{failure:?}");
    let (_, failed) = p.journal.failures(40).swap_remove(0);
    assert_eq!((failed.component.as_str(), failed.class), ("bolt", Class::Trap));
    let input = failed.input.expect("the row that it failed on");
    assert_eq!(
        (input.stream.as_str(), input.row),
        ("feed/default", anchorbolt_tests::native::string_row("poison 40"))
    );
}

#[test]
fn a_poison_line_in_the_middle_of_a_long_run_costs_only_itself() {
    for place in [5_000, LINES - 1] {
        let mut p = pipeline(LINES, &[place], "");
        let ended = p.run();
        check(&p, &ended, LINES, &[place]);
        let b = bolt(&ended.report, "bolt");
        // Alone in its first call, or not.
        assert!((3..=4).contains(&b.deaths), "{b:?}");
        assert_eq!(b.deaths, b.restarts + u64::from(b.deaths > b.restarts));
    }
}

#[test]
fn several_poison_lines_in_one_batch_and_in_several_cost_only_themselves() {
    let places = [0, 1, 2, 7, 9, 100, 4_000, 4_001, 9_999];
    let mut p = pipeline(LINES, &places, "batch = 8");
    let ended = p.run();
    check(&p, &ended, LINES, &places);
}

#[test]
fn nothing_but_poison_is_given_up_line_by_line_or_opens_the_circuit() {
    let places: Vec<usize> = (0..40).collect();
    let mut p = pipeline(40, &places, "restart = { budget = 1000, backoff = \"1ms\" }");
    let ended = p.run();
    check(&p, &ended, 40, &places);
}

#[test]
fn poison_costs_only_itself_with_two_executors() {
    let places = [17, 300, 5_001];
    let mut p = pipeline(LINES, &places, "executors = 2");
    let ended = p.run();
    check(&p, &ended, LINES, &places);
}

#[test]
fn poison_costs_only_itself_with_ledgers_on_threads_of_their_own() {
    let places = [0, 4_000];
    let setup = Setup { guest: "poison", topology: "ackers = 2", spout: QUICK, ..Setup::default() };
    let mut p = setup.over(with(LINES, &places, "poison"));
    let ended = p.run();
    check(&p, &ended, LINES, &places);
}

#[test]
fn a_poison_line_that_is_alone_is_given_up_after_max_faults() {
    let mut p = pipeline(1, &[0], "");
    let ended = p.run();
    check(&p, &ended, 1, &[0]);
    assert_eq!(bolt(&ended.report, "bolt").faults[TRAP], 3);
    assert_eq!(bolt(&ended.report, "bolt").executed, 3);
}

/// What the dead instance held pays nothing, however often it dies.
#[test]
fn a_thousand_held_tuples_next_to_a_poison_message_complete() {
    for place in [0, 500, 999, 1_000] {
        let setup = Setup {
            guest: "hold_all",
            bolt: "config = { n = 1000, poison = \"poison\" }",
            spout: r#"retry = { backoff = "5ms", max-faults = 5 }"#,
            ..Setup::default()
        };
        let mut p = setup.over(with(1_001, &[place], "poison"));
        let ended = p.run();
        let t = ended.report.totals();
        assert_eq!((t.read, t.completed, t.dropped), (1_001, 1_000, 1), "poison at {place}");
        p.journal.check_acked((0..1_001).filter(|i| *i != place as u64));
        let b = bolt(&ended.report, "bolt");
        assert_eq!(b.faults[TRAP], 5, "the poison alone has faults");
        assert!(p.journal.failures(place as u64).iter().all(|(_, f)| f.class == Class::Trap));
        assert_eq!(b.emitted, 1, "one aggregate of a thousand");
    }
}
