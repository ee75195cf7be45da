//! Spouts: known ones become native kinds, for others stands a file of messages.
//!
//! In: a spout of Flux. Out: its table. Invariant: each spout emits all fields that others group by, so that the rest of the
//! topology can be tried at once.

use super::beans::Beans;
use super::fields;
use super::graph::Graph;
use super::kafka::{self, Kafka};
use super::settings::{self, Own, Shared};
use super::{Notes, Tasks, component_table, counts, dangling, loads};
use crate::model::Vertex;
use crate::write::{Table, one_line};
use serde_json::{Map, Value, json};

/// The table of a spout.
pub(super) fn spout<'a>(
    spout: &'a Vertex,
    graph: &Graph<'a>,
    shared: &Shared,
    beans: &mut Beans<'a>,
    notes: &mut Notes<'_, '_>,
) -> Table {
    let mut table = component_table("spouts", spout, graph, notes);
    let own = settings::own(spout, shared, beans, &mut table, notes);
    let class = spout.bean.class();
    match &*class {
        "org.apache.storm.testing.TestWordSpout" => test_words(&mut table, spout, &own, notes),
        "org.apache.storm.flux.wrappers.spouts.FluxShellSpout" => {
            let command = super::beans::texts(spout.bean.constructor_args.first()).join(" ");
            let message = format!("the spout runs the command `{command}`, which no spout does here");
            let help = "let it write its messages to a file, or pipe them in with `kind = \"stdin\"`";
            notes.hand(&mut table, spout.bean.class.span, message, help);
            stand_in(&mut table, spout, graph, None);
        }
        class if kafka::is_spout(class) => of_kafka(&mut table, spout, graph, beans, notes),
        class => {
            let message = format!("the spout `{class}` is Java, and spouts are native here");
            let help =
                "read what it reads with a kind of the host, or embed the host and write the spout in Rust";
            notes.hand(&mut table, spout.bean.class.span, message, help);
            let setup = beans.setup(&spout.bean, |name| name == "addComponentConfig");
            said(&mut table, setup);
            stand_in(&mut table, spout, graph, None);
        }
    }
    if !own.rest.is_empty() {
        let message = "the spout's own configuration has no place in a native kind";
        notes.hand(
            &mut table,
            spout.bean.id.span,
            message,
            "see what it was for; it stands at the end of the table",
        );
        said(&mut table, own.rest.clone());
    }
    counts(&mut table, spout, &own, false, notes);
    own.max_pending.into_iter().for_each(|n| table.set("max-spout-pending", n));
    loads(&mut table, spout, notes);
    dangling(&mut table, spout, beans, notes);
    table
}

/// Storm's spout of five names, one every 100 ms from each task.
fn test_words(table: &mut Table, spout: &Vertex, own: &Own, notes: &mut Notes<'_, '_>) {
    let message = "the words are other ones, as often: five in all; each is tracked, which Storm's are not";
    notes.differs(table, spout.bean.class.span, message);
    table.set("kind", "generate");
    table.set("fields", json!({ "word": "string" }));
    table.set("keys", 5);
    table.set("rate", Tasks::of(spout, own).tasks.saturating_mul(10));
}

fn of_kafka<'a>(
    table: &mut Table,
    spout: &'a Vertex,
    graph: &Graph<'a>,
    beans: &mut Beans<'a>,
    notes: &mut Notes<'_, '_>,
) {
    let Kafka { found, fields, zookeeper } = kafka::kafka(spout, beans);
    let message = "the spout reads Kafka, which this version does not";
    let help =
        "what was found stands at the end of the table; until then messages come from a file of JSON lines";
    notes.hand(table, spout.bean.class.span, message, help);
    if zookeeper {
        let message = "the spout keeps its offsets in ZooKeeper";
        notes.hand(
            table,
            spout.bean.class.span,
            message,
            "they have to be carried over before the first run, or it reads from its beginning",
        );
    }
    stand_in(table, spout, graph, fields);
    table.later.push("kind = \"kafka\"".to_owned());
    table.later.extend(found.iter().map(|(key, value)| one_line(key, value)));
}

/// A file of messages in the place of a spout.
fn stand_in(table: &mut Table, spout: &Vertex, graph: &Graph<'_>, known: Option<Vec<String>>) {
    let name = graph.names.get(&spout.bean.id.value);
    table.set("kind", "lines");
    table.set("path", format!("input/{name}.jsonl"));
    table.set("format", "json");
    table.set("fields", Value::from(fields::for_stand_in(spout, graph, known)));
}

/// Keys that are kept for the reader.
fn said(table: &mut Table, entries: Map<String, Value>) {
    table.later.extend(entries.iter().map(|(key, value)| one_line(key, value)));
}
