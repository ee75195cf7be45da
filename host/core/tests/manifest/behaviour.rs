//! What golden files do not show: defaults that depend on each other, order, places, contexts, programs.

use crate::surround::check;
use anchorbolt_core::manifest::{
    Bolt, Code, Diagnostic, Grouping, Input, Manifest, SinkKind, Sources, Span, Spout, SpoutKind, Text,
    Topology, parse,
};
use anchorbolt_core::plan::{self, BoltPlan, Plan, Role, plan};
use anchorbolt_core::port::{ContextInput, ContextOutput, Declaration};
use std::collections::BTreeMap;
use std::time::Duration;

const REST: &str = r#"
[spouts.lines]
kind = "lines"
path = "a.txt"

[bolts.split]
plugin = "split.wasm"
inputs = [{ from = "lines", grouping = "shuffle" }]
"#;

fn planned(head: &str, tail: &str) -> Plan {
    let text = format!("[topology]\nname = \"t\"\n{head}\n{REST}{tail}");
    let (_, diagnostics, plan) = check("t.toml", &text);
    assert!(diagnostics.is_empty(), "{diagnostics:#?}");
    plan.expect("a plan")
}

fn bolt<'p>(plan: &'p Plan, name: &str) -> &'p BoltPlan {
    match &plan.component(name).expect("the bolt").1.role {
        Role::Bolt(bolt) => bolt,
        Role::Spout(_) => panic!("{name} is a spout"),
    }
}

#[test]
fn defaults_follow_the_message_timeout() {
    for (timeout, deadline) in [("30s", 1000), ("2s", 1000), ("1999ms", 999), ("500ms", 250), ("1ms", 0)] {
        let plan = planned(&format!("message-timeout = \"{timeout}\""), "");
        let t = &plan.topology;
        assert_eq!(t.max_tree_age, t.message_timeout * 10, "{timeout}");
        assert_eq!(t.drain_timeout, t.message_timeout, "{timeout}");
        let limits = &bolt(&plan, "split").limits;
        assert_eq!(limits.deadline.as_millis(), deadline, "{timeout}");
        assert!(limits.deadline < t.message_timeout, "{timeout}");
    }
}

#[test]
fn a_spout_takes_the_topologys_pending_unless_it_sets_its_own() {
    let pending = |plan: &Plan, name: &str| match &plan.component(name).unwrap().1.role {
        Role::Spout(spout) => spout.max_pending,
        Role::Bolt(_) => 0,
    };
    let own = "\n[spouts.own]\nkind = \"generate\"\nmax-spout-pending = 3\n";
    let plan = planned("max-spout-pending = 5", own);
    assert_eq!((pending(&plan, "lines"), pending(&plan, "own")), (5, 3));
    assert_eq!(pending(&planned("", ""), "lines"), 2048);
}

#[test]
fn a_call_with_outside_effects_takes_one_tuple_unless_set() {
    for (keys, batch) in [
        ("", None),
        ("batch = 7", Some(7)),
        ("allow = { net = [\"db:1\"] }", Some(1)),
        ("allow = { net = [\"db:1\"] }\nbatch = 7", Some(7)),
        ("allow = { dirs = [{ host = \"d\", guest = \"d\" }] }", None),
        ("allow = { dirs = [{ host = \"d\", guest = \"d\", access = \"read-write\" }] }", Some(1)),
        ("allow = { env = { A = \"b\" } }", None),
    ] {
        assert_eq!(bolt(&planned("", keys), "split").batch, batch, "{keys}");
    }
}

#[test]
fn stateless_is_as_declared_unless_set() {
    assert!(bolt(&planned("", ""), "split").stateless);
    assert!(!bolt(&planned("", "stateless = false"), "split").stateless);
    let count =
        "\n[bolts.count]\nplugin = \"count.wasm\"\ninputs = [{ from = \"split\", grouping = \"all\" }]\n";
    assert!(!bolt(&planned("", count), "count").stateless);
    assert!(bolt(&planned("", &format!("{count}stateless = true")), "count").stateless);
}

#[test]
fn more_tasks_than_executors_and_task_ids_in_name_order() {
    let tail = "executors = 2\ntasks = 5\n\n[bolts.a]\nkind = \"null\"\nexecutors = 3\n\
                inputs = [{ from = \"split\", grouping = { fields = [\"word\"] } }]\n";
    let plan = planned("", tail);
    let tasks: Vec<_> = plan.components.iter().map(|c| (&*c.name, c.tasks.clone(), c.executors)).collect();
    assert_eq!(tasks, [("a", 1..4, 3), ("lines", 4..5, 1), ("split", 5..10, 2)]);
    assert_eq!(plan.component_of(0), None);
    assert_eq!(plan.component_of(3), Some(0));
    assert_eq!(plan.component_of(9), Some(2));
    assert_eq!(plan.component_of(10), None);
}

#[test]
fn a_context_names_what_goes_in_and_out() {
    let tail = "tasks = 2\n\n[bolts.out]\nkind = \"null\"\n\
                inputs = [{ from = \"split\", grouping = \"all\" }, { from = \"split\", grouping = \"shuffle\" }]\n";
    let plan = planned("", tail);
    let (split, _) = plan.component("split").unwrap();
    let context = plan.context(split, 1).unwrap();
    assert_eq!((context.task, context.task_index, context.task_count), (4, 1, 2));
    assert_eq!((&*context.topology, &*context.component, &*context.config), ("t", "split", "{}"));
    let line = ContextInput {
        component: "lines".into(),
        stream: "default".into(),
        fields: vec!["line".into()],
        tasks: vec![1],
    };
    assert_eq!(context.inputs, [line]);
    let consumers = vec![("out".to_owned(), vec![2]), ("out".to_owned(), vec![2])];
    assert_eq!(context.outputs, [ContextOutput { stream: "default".into(), consumers }]);
    assert_eq!(plan.context(split, 2), None);
    assert_eq!(plan.context(99, 0), None);
    let (out, component) = plan.component("out").unwrap();
    assert_eq!(plan.context(out, 0).unwrap().inputs.len(), 2);
    let groupings: Vec<_> = component.inputs.iter().map(|e| &plan.edges[*e].grouping).collect();
    assert_eq!(groupings, [&plan::Grouping::All, &plan::Grouping::Shuffle]);
}

#[test]
fn overrides_win_and_are_read_as_toml_or_text() {
    let sets = [
        "topology.name=renamed",
        "bolts.split.config.top=20",
        "bolts.split.config.who = Ada Lovelace",
        "bolts.split.config.\"a.b\"=[1, \"=\"]",
        "bolts.split.config.empty=",
        "bolts.split.limits.deadline=250ms",
        "spouts.lines.path=[\"x\", \"y\"]",
        "bolts.split.executors=1",
        "bolts.split.executors=2",
    ];
    let set: String = sets.iter().map(|set| format!("#set {set}\n")).collect();
    let plan = planned(&set, "executors = 9");
    let split = bolt(&plan, "split");
    let expected = r#"{"top":20,"who":" Ada Lovelace","a.b":[1,"="],"empty":""}"#;
    assert_eq!(split.config.to_string(), expected);
    assert_eq!(split.limits.deadline, Duration::from_millis(250));
    assert_eq!(plan.topology.name, "renamed");
    assert_eq!(plan.component("split").unwrap().1.executors, 2);
}

#[test]
fn a_missing_declaration_hides_no_other_mistake_and_gives_no_plan() {
    let text = format!("[topology]\nname = \"t\"\n{}", REST.replace("split.wasm", "broken.wasm"));
    let (_, diagnostics, plan) = check("t.toml", &text);
    assert!(diagnostics.is_empty());
    assert!(plan.is_none());
}

#[test]
fn json_has_the_contracts_keys_and_places_count_characters() {
    let text = "# ä\nä = 1\n[topology]\nname = \"t\"\n";
    let parsed = parse(&Text { name: "m.toml", text, sets: &[], lookup: &|_| None });
    let json = parsed.sources.json(&parsed.diagnostics[0]);
    let keys: Vec<_> = json.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(keys, ["code", "severity", "file", "line", "column", "message", "help"]);
    assert_eq!((json["file"].as_str(), json["line"].as_u64()), (Some("m.toml"), Some(2)));
    let place = |text: &str, byte| {
        let sources = Sources::new("m", text, &[]);
        sources.locate(Span::new(0, byte..byte)).map(|l| (l.line, l.column))
    };
    assert_eq!(place("ää\nöx", 7), Some((2, 2)));
    assert_eq!(place("ä", 1), Some((1, 1)), "within a character");
    assert_eq!(place("a\n", 99), Some((2, 1)), "beyond the end");
    assert_eq!(place("", 0), Some((1, 1)));
}

#[test]
fn lines_may_end_with_carriage_returns() {
    let text = format!("[topology]\nname = \"t\"\n{REST}").replace('\n', "\r\n");
    let (_, diagnostics, plan) = check("t.toml", &text);
    assert!(diagnostics.is_empty() && plan.is_some(), "{diagnostics:?}");
}

#[test]
fn a_program_builds_a_plan_without_text() {
    let lines = SpoutKind::Stdin;
    let topology = Topology::new("built", Duration::from_secs(5));
    let mut out = Bolt::new("out", Code::Native(SinkKind::Null), topology.message_timeout);
    out.inputs.list.push(Input::new("in", Grouping::Global));
    let manifest = Manifest {
        topology,
        spouts: vec![Spout::new("in", lines)],
        bolts: vec![out.clone()],
        ..Manifest::default()
    };
    let good = plan(&manifest, &BTreeMap::new());
    assert!(good.diagnostics.is_empty());
    assert_eq!(good.plan.unwrap().stages, [vec![0], vec![1]]);

    out.inputs.list.push(Input::new("im", Grouping::Global));
    let bad = plan(&Manifest { bolts: vec![out.clone(), out], ..manifest }, &BTreeMap::new());
    let found: Vec<_> = bad.diagnostics.iter().map(|d: &Diagnostic| (d.code, d.span)).collect();
    assert_eq!(found, [("AB201", None), ("AB301", None)]);
    assert!(bad.plan.is_none());
}

#[test]
fn a_given_declaration_is_preferred_to_that_of_a_native_kind() {
    let manifest = Manifest { spouts: vec![Spout::new("in", SpoutKind::Stdin)], ..Manifest::default() };
    let own = BTreeMap::from([("in".to_owned(), Declaration::fields(["key", "value"]))]);
    let plan = plan(&manifest, &own).plan.unwrap();
    assert_eq!(plan.components[0].outputs[0].fields, ["key", "value"]);
}
