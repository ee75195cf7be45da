//! Guests that misuse what every bolt may do: emit, settle, hold, report, count.
//!
//! In: their tuples. Out: dead letters of the right class, or none. Invariant: what one does costs its own messages.

use super::beast;
use anchorbolt_core::failure::Class;

#[test]
fn one_fails_everything() {
    beast("fails_all", "").loses_all(Class::Failed, "no: ");
}

#[test]
fn one_fails_what_is_bad_with_control_characters() {
    beast("error_call", r#"config = { on = "bad" }"#).loses_the_bad(Class::Failed, "the call ends at");
}

#[test]
fn one_never_settles() {
    let mut beast = beast("raw_never_settle", r#"config = { on = "bad" }"#);
    beast.topology = "message-timeout = \"1s\"";
    beast.loses_the_bad(Class::Timeout, "while the bolt held the tuple");
}

#[test]
fn one_resets_its_timeouts_for_ever() {
    let mut beast = beast("resets_timeouts", "tick = \"50ms\"");
    beast.topology = "message-timeout = \"1s\"\nmax-tree-age = \"1500ms\"";
    beast.loses_the_bad(Class::Timeout, "while the bolt held the tuple");
}

#[test]
fn one_emits_outside_of_every_tree() {
    beast("unanchored", "").completes();
}

#[test]
fn one_talks() {
    let mut beast = beast("chatty", "config = { bytes = 1000 }");
    beast.told = "report row-";
    beast.completes();
}

#[test]
fn one_counts_a_million_figures() {
    let mut beast = beast("many_metrics", "config = { on = \"bad\" }\nlimits = { deadline = \"20s\" }");
    (beast.topology, beast.bad) = ("message-timeout = \"60s\"", 1);
    beast.completes();
}

/// Each of these is counted.
#[test]
fn one_does_a_thing_without_end_until_there_were_too_many() {
    let log = "262145 entries in the log of a call";
    for (how, text) in
        [("emit", "emissions-per-tuple limit reached: 100001"), ("report", log), ("reset", log)]
    {
        println!("{how}");
        let bolt = format!("config = {{ how = \"{how}\" }}\nlimits = {{ deadline = \"10s\" }}");
        let mut beast = beast("raw_forever", bolt);
        beast.bad = 1;
        beast.loses_the_bad(Class::Protocol, text);
    }
}

/// These cost nothing but time.
#[test]
fn one_does_a_thing_without_end_until_its_deadline() {
    for how in ["emit-empty", "log", "describe"] {
        println!("{how}");
        let bolt = format!("config = {{ how = \"{how}\" }}\nlimits = {{ deadline = \"300ms\" }}");
        let mut beast = beast("raw_forever", bolt);
        beast.bad = 1;
        beast.loses_the_bad(Class::Deadline, "deadline of 300 ms");
    }
}

#[test]
fn one_anchors_60_000_times() {
    for how in ["one", "rows"] {
        println!("{how}");
        beast("raw_anchors", format!("config = {{ how = \"{how}\" }}")).completes();
    }
}

#[test]
fn one_anchors_60_000_emissions_60_000_times_each() {
    let beast = beast("raw_anchors", "config = { how = \"square\" }");
    beast.loses_the_bad(
        Class::Protocol,
        "anchors-per-tuple limit reached: 120000 in a call of 1, at most 100000",
    );
}

#[test]
fn one_emits_a_row_that_is_too_large() {
    let text = "has 16777217 bytes, more than tuple-bytes = 16777216";
    beast("huge_rows", "").loses_the_bad(Class::Size, text);
}

#[test]
fn one_emits_huge_rows_to_all_tasks() {
    let mut beast = beast("huge_rows", "config = { bytes = 4194304 }");
    (beast.topology, beast.out) = ("queue-bytes = \"8MiB\"", "grouping = \"all\" }]\nexecutors = 4");
    beast.completes();
}

#[test]
fn one_doubles_in_a_cycle() {
    let mut beast = beast("doubles", "");
    beast.topology = "cycle-bytes = \"64KiB\"";
    beast.inputs = ", { from = \"bad\", stream = \"again\", grouping = \"shuffle\" }";
    beast.loses_the_bad(Class::Overflow, "closes a cycle and is over cycle-bytes");
}
