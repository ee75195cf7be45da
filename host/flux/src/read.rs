//! A YAML tree to Flux's model.
//!
//! In: the tree of one file. Out: a [`Definition`], with all that is wrong reported at once. Invariant: what is wrong is
//! left out, and nothing of it is reported twice.

use crate::model::{Bean, Definition, Grouping, Include, Kind, Method, Property, Setting, Stream, Vertex};
use crate::reader::Fields;
use crate::yaml::Node;
use anchorbolt_core::manifest::names::quote;
use anchorbolt_core::manifest::{Diagnostic, Spanned, codes, suggest};

/// Whatever Flux takes more than this is a slip.
const COUNT_MAX: i64 = 1 << 24;
const TOP: &[&str] = &[
    "name",
    "config",
    "components",
    "spouts",
    "bolts",
    "streams",
    "includes",
    "topologySource",
    "workerHooks",
];
const BEAN: &[&str] =
    &["id", "className", "constructorArgs", "factory", "factoryArgs", "properties", "configMethods"];
const LOADS: &[&str] = &["onHeapMemoryLoad", "offHeapMemoryLoad", "cpuLoad"];
const KINDS: &[(&str, Kind)] = &[
    ("SHUFFLE", Kind::Shuffle),
    ("FIELDS", Kind::Fields),
    ("ALL", Kind::All),
    ("GLOBAL", Kind::Global),
    ("NONE", Kind::None),
    ("DIRECT", Kind::Direct),
    ("LOCAL_OR_SHUFFLE", Kind::LocalOrShuffle),
    ("CUSTOM", Kind::Custom),
];

/// Reads a whole file.
pub(crate) fn definition(root: &Node, out: &mut Vec<Diagnostic>) -> Definition {
    let Some(top) = Fields::open(root, "a topology", TOP, out) else { return Definition::default() };
    let list = |key: &str, out: &mut Vec<Diagnostic>| top.list(key, out);
    Definition {
        name: top.text("name", out),
        config: settings(top.map("config", out)),
        components: list("components", out).iter().filter_map(|n| bean(n, "a component", &[], out)).collect(),
        spouts: list("spouts", out).iter().filter_map(|n| vertex(n, "a spout", out)).collect(),
        bolts: list("bolts", out).iter().filter_map(|n| vertex(n, "a bolt", out)).collect(),
        streams: list("streams", out).iter().filter_map(|n| stream(n, out)).collect(),
        includes: list("includes", out).iter().filter_map(|n| include(n, out)).collect(),
        topology_source: top
            .get("topologySource")
            .and_then(|node| nameless_bean(node, "`topologySource`", &["methodName"], out)),
        worker_hooks: list("workerHooks", out)
            .iter()
            .filter_map(|n| bean(n, "a worker hook", &[], out))
            .collect(),
    }
}

fn settings(entries: &[(Node, Node)]) -> Vec<Setting> {
    let setting = |(key, value): &(Node, Node)| {
        let text = key.text()?.to_owned();
        Some(Setting { key: Spanned::at(text, key.span), value: value.clone() })
    };
    entries.iter().filter_map(setting).collect()
}

fn open_bean<'n>(
    node: &'n Node,
    what: &str,
    more: &[&'static str],
    out: &mut Vec<Diagnostic>,
) -> Option<Fields<'n>> {
    Fields::open(node, what, &[BEAN, more].concat(), out)
}

fn bean(node: &Node, what: &str, more: &[&'static str], out: &mut Vec<Diagnostic>) -> Option<Bean> {
    let fields = open_bean(node, what, more, out)?;
    let id = fields.required("id", out);
    let bean = fill(&fields, out);
    Some(Bean { id: id?, ..bean? })
}

fn nameless_bean(node: &Node, what: &str, more: &[&'static str], out: &mut Vec<Diagnostic>) -> Option<Bean> {
    let fields = open_bean(node, what, more, out)?;
    fill(&fields, out)
}

fn fill(fields: &Fields<'_>, out: &mut Vec<Diagnostic>) -> Option<Bean> {
    let class = fields.required("className", out);
    let properties = fields.list("properties", out).iter().filter_map(|node| property(node, out)).collect();
    let methods = fields.list("configMethods", out).iter().filter_map(|node| method(node, out)).collect();
    Some(Bean {
        id: Spanned::bare(String::new()),
        class: class?,
        constructor_args: fields.list("constructorArgs", out).to_vec(),
        factory: fields.text("factory", out).map(|text| text.value),
        factory_args: fields.list("factoryArgs", out).to_vec(),
        properties,
        methods,
    })
}

fn property(node: &Node, out: &mut Vec<Diagnostic>) -> Option<Property> {
    let fields = Fields::open(node, "a property", &["name", "value", "ref"], out)?;
    let name = fields.required("name", out)?.value;
    Some(Property { name, value: fields.get("value").cloned(), reference: fields.text("ref", out) })
}

fn method(node: &Node, out: &mut Vec<Diagnostic>) -> Option<Method> {
    let fields = Fields::open(node, "a configuration method", &["name", "args"], out)?;
    Some(Method { name: fields.required("name", out)?.value, args: fields.list("args", out).to_vec() })
}

fn vertex(node: &Node, what: &str, out: &mut Vec<Diagnostic>) -> Option<Vertex> {
    let more = [&["parallelism", "numTasks", "config"], LOADS].concat();
    let bean = bean(node, what, &more, out);
    // Keys were checked with the bean's.
    let mut seen = Vec::new();
    let fields = Fields::open(node, what, &[BEAN, &more].concat(), &mut seen)?;
    let num_tasks = fields.integer("numTasks", -1..=COUNT_MAX, out).filter(|tasks| tasks.value != -1);
    let loads = LOADS.iter().filter_map(|key| Some(Spanned::at(*key, fields.get(key)?.span)));
    Some(Vertex {
        bean: bean?,
        parallelism: fields.integer("parallelism", 1..=COUNT_MAX, out),
        num_tasks,
        config: settings(fields.map("config", out)),
        loads: loads.collect(),
    })
}

fn stream(node: &Node, out: &mut Vec<Diagnostic>) -> Option<Stream> {
    let fields = Fields::open(node, "a stream", &["name", "from", "to", "grouping"], out)?;
    let (from, to) = (fields.required("from", out), fields.required("to", out));
    let Some(grouping_node) = fields.get("grouping") else {
        let message = "a stream lacks the key `grouping`";
        out.push(
            Diagnostic::error(codes::MISSING_KEY, fields.span(), message)
                .help("add `grouping: {type: SHUFFLE}`"),
        );
        return None;
    };
    let grouping = grouping(grouping_node, out);
    Some(Stream { span: from.as_ref()?.span.unwrap_or(node.span), from: from?, to: to?, grouping: grouping? })
}

fn grouping(node: &Node, out: &mut Vec<Diagnostic>) -> Option<Grouping> {
    let fields = Fields::open(node, "a grouping", &["type", "streamId", "args", "customClass"], out)?;
    let word = fields.required("type", out)?;
    let Some((_, kind)) = KINDS.iter().find(|(name, _)| *name == word.value) else {
        let message = format!("there is no grouping {}", quote(&word.value));
        let help = suggest::help(&word.value, "groupings", KINDS.iter().map(|(name, _)| *name));
        out.push(Diagnostic::error(codes::UNKNOWN_WORD, word.span, message).help(help));
        return None;
    };
    let args = fields.list("args", out);
    let args: Vec<Spanned<String>> =
        args.iter().filter_map(|arg| Some(Spanned::at(arg.text()?.to_owned(), arg.span))).collect();
    let custom =
        fields.get("customClass").and_then(|node| nameless_bean(node, "`customClass`", &["id"], out));
    let missing = match kind {
        Kind::Fields if args.is_empty() => Some("args: [\"field\"]"),
        Kind::Custom if fields.get("customClass").is_none() => Some("customClass: {className: \"..\"}"),
        _ => None,
    };
    if let Some(example) = missing {
        let message = format!(
            "a grouping of type {} lacks `{}`",
            word.value,
            example.split(':').next().unwrap_or_default()
        );
        out.push(Diagnostic::error(codes::MISSING_KEY, word.span, message).help(format!("add `{example}`")));
        return None;
    }
    let kind = Spanned { value: *kind, span: word.span };
    Some(Grouping { kind, stream: fields.text("streamId", out), args, custom })
}

fn include(node: &Node, out: &mut Vec<Diagnostic>) -> Option<Include> {
    let fields = Fields::open(node, "an include", &["file", "resource", "override"], out)?;
    let file = fields.required("file", out)?;
    let resource = fields.boolean("resource", out).unwrap_or(false);
    Some(Include { file, resource, replaces: fields.boolean("override", out).unwrap_or(false) })
}
