//! Scenarios that Storm's users know from its own integration tests, and faults in the literature's examples, on real
//! guests and in virtual time.
//!
//! In: tuples that are fed one at a time. Out: which of them are acked or failed by then, exactly. Invariant: a question is
//! asked only when nobody has anything to do, so "not yet" means "not without more".

mod faults;
mod fed;
mod shapes;
mod steps;
mod trees;

use fed::Fed;

/// A topology of feeders `a`, `b`, `c` (those that are named) and these bolts.
fn topology(settings: &str, feeders: &[&str], bolts: &[(&str, &str, &[&str])]) -> String {
    let mut text = format!("[topology]\nname = \"storm\"\n{settings}\n");
    for feeder in feeders {
        text += &format!(
            // What fails comes again long after the end of a test.
            "[spouts.{feeder}]\nkind = \"generate\"\nretry = {{ backoff = \"10h\", max-backoff = \"10h\", give-up-after = \"never\" }}\n"
        );
    }
    for (name, keys, from) in bolts {
        let inputs: Vec<String> =
            from.iter().map(|from| format!("{{ from = \"{from}\", grouping = \"shuffle\" }}")).collect();
        text += &format!("[bolts.{name}]\n{keys}\ninputs = [{}]\n", inputs.join(", "));
    }
    text
}

/// A bolt of a guest with this configuration.
fn guest(name: &str, config: &str) -> String {
    format!("plugin = \"guest:{name}\"\nconfig = {{ {config} }}")
}

const ACK: &str = "kind = \"null\"";

#[test]
fn acks_follow_the_tuples_through_branches_and_aggregates() {
    let (two, four, one) = (guest("fanout", "n = 2"), guest("fanout", "n = 4"), guest("fanout", "n = 1"));
    let three = guest("hold_all", "n = 3");
    let mut fed = Fed::start(
        &topology(
            "",
            &["a", "b", "c"],
            &[
                ("branch2", &two, &["a"]),
                ("branch4", &four, &["b"]),
                ("branch1", &one, &["c"]),
                ("aggregate", &three, &["branch2", "branch4", "branch1"]),
                ("branch", &two, &["aggregate"]),
                ("ack", ACK, &["branch"]),
            ],
        ),
        |topology| topology,
    );
    fed.feed("a");
    assert_eq!(fed.acked(), ["a 0", "b 0", "c 0"], "two of three wait");
    fed.feed("b");
    assert_eq!(fed.acked(), ["a 1", "b 1", "c 0"], "two aggregates of three");
    fed.feed("a");
    assert_eq!(fed.acked(), ["a 1", "b 1", "c 0"]);
    fed.feed("a");
    assert_eq!(fed.acked(), ["a 2", "b 1", "c 0"], "one of the second is left over");
    fed.feed("c");
    assert_eq!(fed.acked(), ["a 2", "b 1", "c 0"], "two wait again");
    fed.feed("b");
    assert_eq!(fed.acked(), ["a 3", "b 2", "c 1"]);
}

#[test]
fn both_branches_of_a_tuple_meet_again_before_it_is_acked() {
    let (same, four) = (guest("identity", ""), guest("hold_all", "n = 4"));
    let bolts = [
        ("left", &*same, &["a"][..]),
        ("right", &*same, &["a"]),
        ("aggregate", &*four, &["left", "right"]),
        ("ack", ACK, &["aggregate"]),
    ];
    let mut fed = Fed::start(&topology("", &["a"], &bolts), |topology| topology);
    fed.feed("a");
    assert_eq!(fed.acked(), ["a 0"]);
    fed.feed("a");
    assert_eq!(fed.acked(), ["a 2"]);
}

#[test]
fn submitted_inactive_it_emits_nothing_until_it_is_activated() {
    let same = guest("identity", "");
    let bolts = [("same", &*same, &["a"][..]), ("ack", ACK, &["same"])];
    let mut fed = Fed::start_inactive(&topology("", &["a"], &bolts), |topology| topology);
    fed.feed("a");
    fed.pass(std::time::Duration::from_secs(60));
    assert_eq!((fed.acked(), fed.read()), (vec!["a 0".to_owned()], 0));
    fed.activate();
    assert_eq!((fed.acked(), fed.read()), (vec!["a 1".to_owned()], 1));
}
