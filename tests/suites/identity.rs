//! The identity of a tuple: the same at each attempt of its message however calls were filled, another for each of a
//! message's tuples, so that a bolt can use it as the key of an effect that must happen once.

use anchorbolt_core::port::Declaration;
use anchorbolt_row::Row;
use anchorbolt_tests::{Feed, Journal, Seen, Topology, Witness, plain};
use std::collections::{BTreeMap, BTreeSet};

const MESSAGES: u64 = 300;

/// The string in field 1.
fn identity(seen: &Seen) -> String {
    Row::new(&seen.row).str(1).expect("field 1 is a string").to_owned()
}

/// `first` makes three of each, `second` two of each by two tasks that die, and `last` has these keys.
fn run(seed: u64, fail: bool, keys: &str) -> Witness {
    let one_in = if fail { 7 } else { 0 };
    let text = format!(
        r#"
        [topology]
        name = "identity"
        [spouts.feed]
        kind = "generate"
        retry = {{ max-faults = "none", backoff = "1ms", max-backoff = "2ms" }}
        [bolts.first]
        plugin = "guest:tells_identity"
        config = {{ children = 3, one_in = {one_in}, seed = {seed} }}
        inputs = [{{ from = "feed", grouping = "shuffle" }}]
        [bolts.second]
        plugin = "guest:tells_identity"
        tasks = 2
        executors = 1
        config = {{ children = 2, dies = true, one_in = {one_in}, seed = {seed} }}
        restart = {{ budget = 1000000 }}
        inputs = [{{ from = "first", grouping = {{ fields = ["child"] }} }}]
        [bolts.last]
        plugin = "guest:tells_identity"
        config = {{ one_in = {one_in}, seed = {seed} }}
        {keys}
        [bolts.seen]
        kind = "null"
        inputs = [{{ from = "last", grouping = "shuffle" }}, {{ from = "first", grouping = "shuffle" }}]
        "#
    );
    let (journal, witness) = (Journal::default(), Witness::default());
    let (written, relay, rows) = (journal.clone(), witness.bolt(), Feed::strings(plain(MESSAGES as usize)));
    let mut topology = Topology::new(&text)
        .spout("feed", Feed::declaration(), move |_| Feed::new(rows.clone(), written.clone()))
        .bolt("seen", Declaration::default(), move || relay.clone());
    let ended = topology.run();
    journal.check_acked(0..MESSAGES);
    assert_eq!(ended.report.totals().replayed > 0, fail, "seed {seed}");
    witness
}

/// The identities that a bolt was told, each with the values of its messages; `input` says of which bolt.
fn told(witness: &Witness, input: u32) -> BTreeMap<String, BTreeSet<String>> {
    let mut told: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for seen in witness.seen().iter().filter(|seen| seen.input == input) {
        told.entry(identity(seen)).or_default().insert(seen.text().to_owned());
    }
    told
}

#[test]
fn an_identity_is_the_same_at_each_attempt_and_another_for_each_tuple() {
    let keys =
        "inputs = [{ from = \"second\", grouping = \"shuffle\" }, { from = \"second\", grouping = \"all\" }]";
    let calm = run(1, false, keys);
    // One for each message, and six for each, over two inputs.
    for (input, count) in [(1, MESSAGES), (0, MESSAGES * 12)] {
        let calm = told(&calm, input);
        assert_eq!(calm.len() as u64, count);
        assert!(calm.values().all(|of| of.len() == 1), "no two messages share one");
        for (identity, of) in &calm {
            let (message, path) = identity.split_once('/').expect("the message's id and a path");
            let number = of.first().unwrap().strip_prefix("row-").unwrap();
            assert_eq!(message, format!("feed@{number}"));
            assert!(path.len() == 16 && path.bytes().all(|b| b.is_ascii_hexdigit()), "{identity}");
        }
    }
    // Seeds fail other tuples, in calls that were filled in other ways: nobody is ever told another identity.
    for seed in [2, 3] {
        let failing = run(seed, true, keys);
        for input in [0, 1] {
            assert!(told(&failing, input) == told(&calm, input), "input {input}, seed {seed}");
        }
    }
}

/// A tuple anchored to two has the path of both; one that is held has its own until it is settled.
#[test]
fn a_joined_tuple_has_one_identity_for_its_pair() {
    let text = r#"
        [topology]
        name = "joined"
        [spouts.feed]
        kind = "generate"
        [bolts.pair]
        plugin = "guest:tells_identity"
        config = { pair = true, children = 2 }
        inputs = [{ from = "feed", grouping = "shuffle" }]
        [bolts.last]
        plugin = "guest:tells_identity"
        inputs = [{ from = "pair", grouping = "shuffle" }]
        [bolts.seen]
        kind = "null"
        inputs = [{ from = "last", grouping = "shuffle" }]
        "#;
    let run = |batch: &str| {
        let text = text.replace("config = { pair", &format!("{batch}config = {{ pair"));
        let (witness, rows) = (Witness::default(), Feed::strings(plain(100)));
        let relay = witness.bolt();
        let ended = Topology::new(&text)
            .spout("feed", Feed::declaration(), move |_| Feed::new(rows.clone(), Journal::default()))
            .bolt("seen", Declaration::default(), move || relay.clone())
            .run();
        anchorbolt_tests::check_flawless(&ended, 100);
        told(&witness, 0)
    };
    let joined = run("");
    assert_eq!(joined.len(), 100, "two of each pair");
    let pairs: BTreeSet<&str> = joined.keys().map(|identity| identity.split_once('/').unwrap().0).collect();
    assert_eq!(pairs.len(), 50, "each under the message of its first anchor");
    assert!(run("batch = 1\n") == joined, "one tuple a call, so that each first one is held over calls");
}
