//! The limits that the runtime itself keeps, one below, at and above: `held-tuples` and `tuple-bytes`. The limits on an
//! instance are tested beside it, in `host/wasm`.

use anchorbolt_core::failure::Class;
use anchorbolt_host::runtime::Ended;
use anchorbolt_tests::{Pipeline, Setup, error, plain};

const RETRY: &str = "retry = { max-faults = 1 }";

fn run(guest: &str, bolt: &str, texts: Vec<String>) -> (Pipeline, Ended) {
    let mut p = Setup { guest, spout: RETRY, bolt, ..Setup::default() }.over(texts);
    let ended = p.run();
    (p, ended)
}

#[test]
fn held_tuples_end_at_their_limit_and_only_the_one_beyond_it_fails() {
    let bolt = "limits = { held-tuples = 10 }\nconfig = { n = 1000, flush = true }";
    for n in [9, 10] {
        let (p, ended) = run("hold_all", bolt, plain(n));
        anchorbolt_tests::check_flawless(&ended, n as u64);
        assert_eq!(p.sink.numbers(), [n as i64]);
    }
    let (p, ended) = run("hold_all", bolt, plain(11));
    let t = ended.report.totals();
    assert_eq!((t.completed, t.dropped), (10, 1));
    assert_eq!(p.sink.numbers(), [11], "the bolt is not told, and settles what is gone, which is ignored");
    let said = error(&ended.report, Class::Overflow);
    assert_eq!(said.message, "held-tuples limit reached: 11 held by the task, at most 10");
    assert_eq!(said.count, 1);
}

#[test]
fn a_row_ends_at_its_limit_and_a_longer_one_fails_what_it_is_anchored_to() {
    let bolt = |n: usize| format!("limits = {{ tuple-bytes = \"1MiB\" }}\nconfig = {{ bytes = {n} }}");
    const LIMIT: usize = 1 << 20;
    for n in [LIMIT - 1, LIMIT] {
        let (p, ended) = run("huge_rows", &bolt(n), vec!["bad".into(), "row".into()]);
        anchorbolt_tests::check_flawless(&ended, 2);
        assert_eq!(p.sink.rows().iter().map(Vec::len).max(), Some(n));
    }
    let (p, ended) = run("huge_rows", &bolt(LIMIT + 1), vec!["bad".into(), "row".into()]);
    let t = ended.report.totals();
    assert_eq!((t.completed, t.dropped), (1, 1));
    p.sink.check_texts(["row"]);
    let said = error(&ended.report, Class::Size);
    let text = "row on stream `default` has 1048577 bytes, more than tuple-bytes = 1048576";
    assert_eq!((said.message.as_str(), said.count), (text, 1));
}
