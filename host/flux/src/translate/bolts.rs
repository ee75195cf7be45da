//! Bolts: those that only show or store become native sinks, others plugins that are to be written.
//!
//! In: a bolt of Flux. Out: its table. Invariant: what set the Java object up is the plugin's `config`.

use super::beans::{Beans, texts};
use super::fields;
use super::graph::{Graph, stream_id};
use super::settings::{self, Own, Shared};
use super::{Notes, component_table, counts, dangling, loads, streams};
use crate::model::{Bean, Vertex};
use crate::write::{Table, one_line};
use anchorbolt_core::manifest::names::quote;
use serde_json::{Map, Value, json};

/// Bolts that show what they get.
const SHOWS: &[&str] = &[
    "org.apache.storm.flux.wrappers.bolts.LogInfoBolt",
    "org.apache.storm.flux.examples.TestPrintBolt",
    "org.apache.storm.starter.bolt.PrinterBolt",
];
/// Bolts that write to somewhere, with where that is.
const WRITES: &[(&str, &str)] =
    &[("org.apache.storm.hdfs.bolt.", "HDFS"), ("org.apache.storm.kafka.bolt.", "Kafka")];
/// Methods whose calls are told otherwise.
const TOLD: &[&str] = &["addComponentConfig", "setDefaultStream", "setNamedStream"];

/// The table of a bolt.
pub(super) fn bolt<'a>(
    bolt: &'a Vertex,
    graph: &Graph<'a>,
    shared: &Shared,
    beans: &mut Beans<'a>,
    notes: &mut Notes<'_, '_>,
) -> Table {
    let id = &bolt.bean.id;
    if graph.inputs(&id.value).is_empty() {
        let mut table = Table::default();
        let message = format!(
            "the bolt {} is left out: no stream leads to it, and Storm does not run it either",
            quote(&id.value)
        );
        notes.differs(&mut table, id.span, message);
        return table;
    }
    let mut table = component_table("bolts", bolt, graph, notes);
    let own = settings::own(bolt, shared, beans, &mut table, notes);
    let class = bolt.bean.class();
    // A sink has no streams.
    let ends = graph.outputs(&id.value).is_empty();
    let writes = WRITES.iter().find(|(package, _)| class.starts_with(package)).map(|(_, place)| *place);
    let single = match writes {
        _ if ends && SHOWS.contains(&&*class) => shows(&mut table, bolt, &own, notes),
        Some(place) if ends => stored(&mut table, bolt, place, graph, beans, notes),
        _ => plugin(&mut table, bolt, graph, notes),
    };
    counts(&mut table, bolt, &own, single, notes);
    streams::inputs(&mut table, bolt, graph, beans, notes);
    if !single {
        plugin_settings(&mut table, &bolt.bean, own, beans);
    }
    loads(&mut table, bolt, notes);
    dangling(&mut table, bolt, beans, notes);
    table
}

fn shows(table: &mut Table, bolt: &Vertex, own: &Own, notes: &mut Notes<'_, '_>) -> bool {
    notes.differs(
        table,
        bolt.bean.class.span,
        "what the bolt logged is written to standard output, as JSON lines",
    );
    if !own.rest.is_empty() {
        let message = "the bolt's own configuration has no place in a native kind";
        notes.hand(
            table,
            bolt.bean.id.span,
            message,
            "see what it was for; it stands at the end of the table",
        );
        table.later.extend(own.rest.iter().map(|(key, value)| one_line(key, value)));
    }
    table.set("kind", "stdout");
    true
}

/// A file in the place of another system.
fn stored<'a>(
    table: &mut Table,
    bolt: &'a Vertex,
    place: &str,
    graph: &Graph<'a>,
    beans: &mut Beans<'a>,
    notes: &mut Notes<'_, '_>,
) -> bool {
    let message =
        format!("the bolt `{}` writes to {place}, which this version does not", bolt.bean.class.value);
    let help = "until then it writes JSON lines to a file; how it was set up stands at the end of the table";
    notes.hand(table, bolt.bean.class.span, message, help);
    table.set("kind", "jsonl");
    table.set("path", format!("out/{}.jsonl", graph.names.get(&bolt.bean.id.value)));
    let setup = beans.setup(&bolt.bean, |_| false);
    table.later.extend(setup.iter().flat_map(|(key, value)| setup_lines(key, value)));
    true
}

/// How an object was set up, for a reader: a line for each call.
fn setup_lines(key: &str, value: &Value) -> Vec<String> {
    let Value::Array(items) = value else { return vec![one_line(key, value)] };
    let lines = items.iter().map(|item| match (item.get("name").and_then(Value::as_str), item.get("args")) {
        (Some(name), Some(args)) => one_line(name, args),
        _ => one_line(key, item),
    });
    lines.collect()
}

fn plugin(table: &mut Table, bolt: &Vertex, graph: &Graph<'_>, notes: &mut Notes<'_, '_>) -> bool {
    let id = &bolt.bean.id.value;
    let path = format!("plugins/{}.wasm", graph.names.get(id));
    let class = bolt.bean.class();
    let streams = outputs(bolt, graph);
    let emits = if streams.is_empty() {
        String::new()
    } else {
        format!(" and let it declare {}", streams.join(", "))
    };
    if class == "org.apache.storm.flux.wrappers.bolts.FluxShellBolt" {
        let command = texts(bolt.bean.constructor_args.first()).join(" ");
        let message = format!("the bolt runs the command `{command}`: it has to be written anew as a plugin");
        notes.hand(table, bolt.bean.class.span, message, &format!("put it at {path}{emits}"));
    } else {
        let message = format!("the bolt `{class}` is Java: it has to be written anew as a plugin");
        notes.hand(table, bolt.bean.class.span, message, &format!("put it at {path}{emits}"));
    }
    table.set("plugin", path);
    false
}

/// The streams that the plugin has to declare: what the file says of them, and what others take.
fn outputs(bolt: &Vertex, graph: &Graph<'_>) -> Vec<String> {
    let id = &bolt.bean.id.value;
    let mut streams = fields::shell_streams_of(bolt);
    if let (true, Some(fields)) = (streams.is_empty(), fields::declared(bolt)) {
        streams.push((anchorbolt_core::port::DEFAULT_STREAM.to_owned(), fields));
    }
    for stream in graph.outputs(id) {
        let (name, wanted) =
            (stream_id(stream), stream.grouping.args.iter().map(|field| fields::name(&field.value)));
        match streams.iter_mut().find(|(known, _)| known == name) {
            Some((_, fields)) => {
                let missing: Vec<String> = wanted.filter(|field| !fields.contains(field)).collect();
                fields.extend(missing);
            }
            None => streams.push((name.to_owned(), wanted.collect())),
        }
    }
    let shown = streams.iter().map(|(name, fields)| match &fields[..] {
        [] => format!("the stream `{}`", graph.stream_name(id, name)),
        fields => {
            format!("the stream `{}` with the fields {}", graph.stream_name(id, name), fields.join(", "))
        }
    });
    shown.collect()
}

/// What only a plugin can have.
fn plugin_settings<'a>(table: &mut Table, bean: &'a Bean, own: Own, beans: &mut Beans<'a>) {
    if let Some(seconds) = own.tick {
        table.set("tick", format!("{seconds}s"));
    }
    if !own.environment.is_empty() {
        table.set("allow", json!({ "env": own.environment }));
    }
    let shell = fields::is_shell(bean);
    let mut config = Map::new();
    let mut setup = beans.setup(bean, |name| TOLD.contains(&name));
    if shell {
        // The command and the fields, which were told.
        setup.remove("constructor-args");
    }
    config.extend(setup);
    config.extend(own.rest);
    if !config.is_empty() {
        table.set("config", config);
    }
}
