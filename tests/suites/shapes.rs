//! Trees of every shape: long, wide, joined, and round in circles.
//!
//! In: topologies of real guests. Out: each message completes once, whatever its tree looks like. `ANCHORBOLT_JOINED`
//! sets how many tuples are acked by the joins, 300,000 unless it is set.

use anchorbolt_tests::{Feed, Journal, Topology, bolt, check_flawless, plain};

#[test]
fn a_chain_of_a_hundred_bolts_completes() {
    let mut text = "[topology]\nname = \"chain\"\n[spouts.feed]\nkind = \"generate\"\n".to_owned();
    for i in 0..100 {
        let from = if i == 0 { "feed".to_owned() } else { format!("b{:03}", i - 1) };
        let input = format!("inputs = [{{ from = \"{from}\", grouping = \"shuffle\" }}]");
        text += &format!("[bolts.b{i:03}]\nplugin = \"guest:identity\"\n{input}\n");
    }
    let rows = Feed::strings(plain(500));
    let ended = Topology::new(&text)
        .spout("feed", Feed::declaration(), move |_| Feed::new(rows.clone(), Journal::default()))
        .run();
    check_flawless(&ended, 500);
    assert_eq!(bolt(&ended.report, "b099").acked, 500);
}

#[test]
fn a_tree_of_a_million_tuples_is_one_message() {
    let rows = Feed::strings(["root"]);
    let ended = Topology::new(
        r#"
        [topology]
        name = "million"
        message-timeout = "80s"
        [spouts.feed]
        kind = "generate"
        [bolts.wide]
        plugin = "guest:fanout"
        config = { n = 1000 }
        inputs = [{ from = "feed", grouping = "shuffle" }]
        [bolts.wider]
        plugin = "guest:fanout"
        config = { n = 1000 }
        executors = 2
        inputs = [{ from = "wide", grouping = "shuffle" }]
        [bolts.sink]
        kind = "null"
        inputs = [{ from = "wider", grouping = "shuffle" }]
        "#,
    )
    .spout("feed", Feed::declaration(), move |_| Feed::new(rows.clone(), Journal::default()))
    .run();
    check_flawless(&ended, 1);
    assert_eq!(bolt(&ended.report, "sink").acked, 1_000_000);
}

/// Ten executors ack what joins made of tuples from several roots; with the ledgers in the spouts, and on threads.
#[test]
fn ten_executors_ack_tuples_of_several_roots_and_none_is_lost() {
    let acks: usize = std::env::var("ANCHORBOLT_JOINED").map_or(300_000, |n| n.parse().unwrap());
    // Each message becomes five tuples of three roots each.
    let n = acks / 5 / 3;
    for ackers in ["", "ackers = 3"] {
        let rows = Feed::strings(plain(n));
        let ended = Topology::new(&format!(
            r#"
            [topology]
            name = "joined"
            {ackers}
            [spouts.feed]
            kind = "generate"
            executors = 3
            [bolts.join]
            plugin = "guest:hold_all"
            config = {{ n = 3, flush = true }}
            inputs = [{{ from = "feed", grouping = "shuffle" }}]
            [bolts.wide]
            plugin = "guest:fanout"
            config = {{ n = 15 }}
            inputs = [{{ from = "join", grouping = "shuffle" }}]
            [bolts.sink]
            kind = "null"
            executors = 10
            inputs = [{{ from = "wide", grouping = "shuffle" }}]
            "#
        ))
        .spout("feed", Feed::declaration(), move |_| Feed::new(rows.clone(), Journal::default()))
        .run();
        check_flawless(&ended, 3 * n as u64);
        assert_eq!(bolt(&ended.report, "sink").acked, 15 * n as u64);
    }
}

/// A queue of one batch, a slow bolt, and a tuple goes round until its number is 0.
#[test]
fn a_cycle_with_queues_of_one_batch_and_a_slow_bolt_makes_progress() {
    let rows = Feed::strings((0..200).map(|i| format!("{}", i % 7)));
    let ended = Topology::new(
        r#"
        [topology]
        name = "cycle"
        queue-tuples = 1
        max-spout-pending = 16
        [spouts.feed]
        kind = "generate"
        [bolts.down]
        plugin = "guest:countdown"
        inputs = [{ from = "feed", grouping = "shuffle" }, { from = "slow", grouping = "shuffle" }]
        [bolts.slow]
        plugin = "guest:slow"
        config = { us = 500 }
        inputs = [{ from = "down", grouping = "shuffle" }]
        "#,
    )
    .spout("feed", Feed::declaration(), move |_| Feed::new(rows.clone(), Journal::default()))
    .run();
    check_flawless(&ended, 200);
    let rounds: u64 = (0..200).map(|i| i % 7).sum();
    assert_eq!(bolt(&ended.report, "slow").executed, rounds);
}
