//! What a component emits, as far as the file tells.
//!
//! In: a component. Out: the fields of its default stream, from its class, its set-up, or from the groupings of those who
//! take from it. Invariant: each name is one that a manifest allows, and none is there twice.

use super::graph::{Graph, stream_id};
use crate::model::{Bean, Kind, Vertex};
use crate::translate::beans::texts;
use anchorbolt_core::manifest::FIELDS_MAX;
use anchorbolt_core::manifest::names::check_field;
use anchorbolt_core::port::DEFAULT_STREAM;

/// The field of a stand-in of which nothing is known.
const UNKNOWN: &str = "value";

/// The fields that the file or the class declare.
pub(super) fn declared(vertex: &Vertex) -> Option<Vec<String>> {
    let fields = |list: &[&str]| Some(list.iter().map(|field| (*field).to_owned()).collect());
    match short_class(&vertex.bean).as_str() {
        "TestWordSpout" => fields(&["word"]),
        "TestWordCounter" => fields(&["word", "count"]),
        _ => {
            shell_streams_of(vertex).into_iter().find(|(s, _)| s == DEFAULT_STREAM).map(|(_, fields)| fields)
        }
    }
}

/// The last part of a class's name.
pub(super) fn short_class(bean: &Bean) -> String {
    let class = bean.class();
    class.rsplit('.').next().unwrap_or_default().to_owned()
}

/// Whether it is a command that Flux runs.
pub(super) fn is_shell(bean: &Bean) -> bool {
    matches!(&*short_class(bean), "FluxShellSpout" | "FluxShellBolt")
}

/// The streams of a component that is a command.
pub(super) fn shell_streams_of(vertex: &Vertex) -> Vec<(String, Vec<String>)> {
    if is_shell(&vertex.bean) { shell_streams(&vertex.bean) } else { vec![] }
}

fn shell_streams(bean: &Bean) -> Vec<(String, Vec<String>)> {
    let mut streams = Vec::new();
    if let Some(node) = bean.constructor_args.get(1) {
        streams.push((DEFAULT_STREAM.to_owned(), texts(Some(node))));
    }
    for method in &bean.methods {
        match &*method.name {
            "setDefaultStream" => streams.push((DEFAULT_STREAM.to_owned(), texts(method.args.first()))),
            "setNamedStream" => {
                let name = texts(method.args.first()).into_iter().next().unwrap_or_default();
                streams.push((name, texts(method.args.get(1))));
            }
            _ => {}
        }
    }
    streams
}

/// Fields for a stand-in of a spout: these, else what others group by; never empty.
pub(super) fn for_stand_in(vertex: &Vertex, graph: &Graph<'_>, known: Option<Vec<String>>) -> Vec<String> {
    let mut fields = known.or_else(|| declared(vertex)).unwrap_or_default();
    for stream in graph.outputs(&vertex.bean.id.value) {
        if stream.grouping.kind.value == Kind::Fields && stream_id(stream) == DEFAULT_STREAM {
            fields.extend(stream.grouping.args.iter().map(|field| field.value.clone()));
        }
    }
    allowed(fields)
}

fn allowed(fields: Vec<String>) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for field in fields.into_iter().map(|field| name(&field)) {
        if !out.contains(&field) && out.len() < FIELDS_MAX {
            out.push(field);
        }
    }
    if out.is_empty() { vec![UNKNOWN.to_owned()] } else { out }
}

/// A field's name as a manifest allows it.
pub(super) fn name(field: &str) -> String {
    if check_field(field).is_ok() {
        return field.to_owned();
    }
    let plain: String = field.trim_start_matches('_').chars().filter(|c| !c.is_control()).take(32).collect();
    if plain.is_empty() { UNKNOWN.to_owned() } else { plain }
}
