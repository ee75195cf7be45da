//! A bolt's inputs.
//!
//! In: the streams that lead to a bolt. Out: its `inputs`. Invariant: one input for each stream, in their order.

use super::Notes;
use super::beans::Beans;
use super::fields::{self, declared, short_class};
use super::graph::{Graph, stream_id};
use crate::model::{Bean, Kind, Stream, Vertex};
use crate::write::Table;
use anchorbolt_core::manifest::names::quote;
use anchorbolt_core::port::DEFAULT_STREAM;
use serde_json::{Map, Value, json};

/// Sets `inputs`.
pub(super) fn inputs<'a>(
    table: &mut Table,
    bolt: &'a Vertex,
    graph: &Graph<'a>,
    beans: &mut Beans<'a>,
    notes: &mut Notes<'_, '_>,
) {
    let id = &bolt.bean.id.value;
    for stream in graph.replaced(id) {
        let from = quote(&stream.from.value);
        let message = format!("a later stream from {from} takes the place of this one, as in Storm");
        notes.differs(table, Some(stream.span), message);
    }
    let list: Vec<Value> =
        graph.inputs(id).iter().map(|stream| input(table, stream, graph, beans, notes)).collect();
    table.set("inputs", list);
}

fn input<'a>(
    table: &mut Table,
    stream: &'a Stream,
    graph: &Graph<'a>,
    beans: &mut Beans<'a>,
    notes: &mut Notes<'_, '_>,
) -> Value {
    let from = &stream.from.value;
    let mut input = Map::new();
    input.insert("from".to_owned(), json!(graph.names.get(from)));
    let id = stream_id(stream);
    let span = stream.grouping.stream.as_ref().and_then(|id| id.span);
    let of_spout = graph.spout(from).is_some();
    if of_spout && id != DEFAULT_STREAM {
        let message = format!("a spout has only the stream `default` here, not {}", quote(id));
        notes.hand(table, span, message, "put a bolt behind the spout that parts its messages into streams");
    } else if id != DEFAULT_STREAM {
        let name = graph.stream_name(from, id);
        if name != id {
            let message = format!("the stream {} is called `{name}` here", quote(id));
            notes.hand(table, span, message, "let the bolt that emits it declare it under this name");
        }
        input.insert("stream".to_owned(), json!(name));
    }
    let mut grouping = grouping(table, stream, graph, beans, notes);
    if of_spout && grouping == json!("direct") {
        let message = "a spout names no tasks here: the grouping is shuffle instead of direct";
        notes.hand(
            table,
            stream.grouping.kind.span,
            message,
            "let a bolt behind the spout emit to tasks of its choice",
        );
        grouping = json!("shuffle");
    }
    input.insert("grouping".to_owned(), grouping);
    Value::Object(input)
}

fn grouping<'a>(
    table: &mut Table,
    stream: &'a Stream,
    graph: &Graph<'a>,
    beans: &mut Beans<'a>,
    notes: &mut Notes<'_, '_>,
) -> Value {
    match stream.grouping.kind.value {
        Kind::Shuffle => json!("shuffle"),
        Kind::All => json!("all"),
        Kind::Global => json!("global"),
        Kind::None => json!("none"),
        Kind::Direct => json!("direct"),
        Kind::LocalOrShuffle => json!("local-or-shuffle"),
        Kind::Fields => {
            let mut names: Vec<String> = Vec::new();
            for field in &stream.grouping.args {
                let name = fields::name(&field.value);
                if name != field.value {
                    let message =
                        format!("the field {} is called {} here", quote(&field.value), quote(&name));
                    notes.hand(
                        table,
                        field.span,
                        message,
                        "let the component that emits it declare it under this name",
                    );
                }
                if !names.contains(&name) {
                    names.push(name);
                }
            }
            json!({ "fields": names })
        }
        Kind::Custom => match &stream.grouping.custom {
            Some(bean) => custom(table, bean, stream, graph, beans, notes),
            None => json!("shuffle"),
        },
    }
}

/// A grouping of a class of its own.
fn custom<'a>(
    table: &mut Table,
    bean: &'a Bean,
    stream: &'a Stream,
    graph: &Graph<'a>,
    beans: &mut Beans<'a>,
    notes: &mut Notes<'_, '_>,
) -> Value {
    match &*short_class(bean) {
        "PartialKeyGrouping" => partial_key(table, bean, stream, graph, beans, notes),
        "ShuffleGrouping" | "LoadAwareShuffleGrouping" => json!("shuffle"),
        class => {
            let name = format!("{}-grouping", graph.names.get(&stream.to.value));
            let path = format!("plugins/{name}.wasm");
            let message =
                format!("the grouping {} is Java: it has to be written anew as a plugin", quote(class));
            let help = format!("build a component of the world `grouping` and put it at {path}");
            notes.hand(table, bean.class.span, message, &help);
            let mut grouping = Map::from_iter([("plugin".to_owned(), json!(path))]);
            let setup = beans.setup(bean, |_| false);
            if !setup.is_empty() {
                grouping.insert("config".to_owned(), Value::Object(setup));
            }
            Value::Object(grouping)
        }
    }
}

fn partial_key<'a>(
    table: &mut Table,
    bean: &'a Bean,
    stream: &'a Stream,
    graph: &Graph<'a>,
    beans: &mut Beans<'a>,
    notes: &mut Notes<'_, '_>,
) -> Value {
    // `new PartialKeyGrouping(new Fields("word"))`; without fields the first one counts.
    let fields = beans.find(bean, &|class| class == "org.apache.storm.tuple.Fields");
    let named = fields.map(|fields| super::beans::texts(fields.constructor_args.first())).unwrap_or_default();
    let named: Vec<String> = named.iter().map(|field| fields::name(field)).collect();
    if !named.is_empty() {
        return json!({ "partial-key": named });
    }
    let first =
        graph.vertex(&stream.from.value).and_then(declared).and_then(|fields| fields.into_iter().next());
    let field = first.unwrap_or_else(|| {
        let message = "the grouping by partial key takes the first field, whose name the file does not say";
        notes.hand(
            table,
            bean.class.span,
            message,
            "write the name of the first field in the place of \"key\"",
        );
        "key".to_owned()
    });
    json!({ "partial-key": [field] })
}
