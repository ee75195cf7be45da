//! Java objects as plain values, for whoever writes the bolt anew.
//!
//! In: beans, with references to others. Out: JSON that names classes and arguments, or single values that are asked for
//! by class. Invariant: references are followed as deep as [`DEPTH_MAX`] and as often as [`VALUES_MAX`] in one value.

use crate::model::{Bean, Definition};
use crate::reader::{boolean, integer};
use crate::yaml::{Node, Value};
use serde_json::{Map, Value as Json, json};
use std::collections::HashMap;

/// How deep beans may refer to each other.
const DEPTH_MAX: usize = 8;
/// So many values may come out; a long text counts as several.
const WEIGHT_MAX: usize = 50_000;
/// Bytes of a text that count as one value.
const TEXT_UNIT: usize = 64;

/// Follows references.
pub(super) struct Beans<'a> {
    components: HashMap<&'a str, &'a Bean>,
    left: usize,
}

impl<'a> Beans<'a> {
    /// Of a topology.
    pub(super) fn new(definition: &'a Definition) -> Beans<'a> {
        let components = definition.components.iter().map(|bean| (&*bean.id.value, bean)).collect();
        Beans { components, left: WEIGHT_MAX }
    }

    /// How an object is made and set up: `constructor-args`, `properties`, `config-methods`, `factory`. Methods that
    /// `but` accepts are left out.
    pub(super) fn setup(&mut self, bean: &Bean, but: impl Fn(&str) -> bool) -> Map<String, Json> {
        self.setup_at(bean, 0, &but)
    }

    fn setup_at(&mut self, bean: &Bean, depth: usize, but: &dyn Fn(&str) -> bool) -> Map<String, Json> {
        let mut out = Map::new();
        if !bean.constructor_args.is_empty() {
            out.insert("constructor-args".to_owned(), self.list(&bean.constructor_args, depth));
        }
        if let Some(factory) = &bean.factory {
            out.insert("factory".to_owned(), json!(factory));
        }
        if !bean.factory_args.is_empty() {
            out.insert("factory-args".to_owned(), self.list(&bean.factory_args, depth));
        }
        let mut properties = Map::new();
        for property in &bean.properties {
            let value = match (&property.value, &property.reference) {
                (_, Some(id)) => self.reference(&id.value, depth),
                (Some(node), None) => self.value(node, depth),
                (None, None) => continue,
            };
            properties.insert(property.name.clone(), value);
        }
        if !properties.is_empty() {
            out.insert("properties".to_owned(), Json::Object(properties));
        }
        let methods = bean.methods.iter().filter(|method| !but(&method.name));
        let methods: Vec<Json> = methods
            .map(|method| json!({ "name": method.name, "args": self.list(&method.args, depth) }))
            .collect();
        if !methods.is_empty() {
            out.insert("config-methods".to_owned(), Json::Array(methods));
        }
        out
    }

    fn list(&mut self, nodes: &[Node], depth: usize) -> Json {
        Json::Array(nodes.iter().map(|node| self.value(node, depth)).collect())
    }

    /// A value; null is an empty text.
    pub(super) fn value(&mut self, node: &Node, depth: usize) -> Json {
        if self.left == 0 {
            return json!("..");
        }
        let length = node.text().map_or(0, str::len);
        self.left = self.left.saturating_sub(1 + length / TEXT_UNIT);
        match &node.value {
            Value::Scalar { .. } => scalar(node),
            Value::List(items) => self.list(items, depth),
            Value::Map(entries) => match &entries[..] {
                [(key, to)] if key.text() == Some("ref") => {
                    self.reference(to.text().unwrap_or_default(), depth)
                }
                [(key, to)] if key.text() == Some("reflist") => {
                    let ids = to.items().unwrap_or_default().iter().filter_map(Node::text);
                    Json::Array(ids.map(|id| self.reference(id, depth)).collect())
                }
                _ => {
                    let pair = |(key, value): &(Node, Node)| {
                        Some((key.text()?.to_owned(), self.value(value, depth)))
                    };
                    Json::Object(entries.iter().filter_map(pair).collect())
                }
            },
        }
    }

    fn reference(&mut self, id: &str, depth: usize) -> Json {
        let known = self.components.get(id).copied().filter(|_| depth < DEPTH_MAX && self.left > 0);
        self.left = self.left.saturating_sub(1);
        let Some(bean) = known else { return json!({ "ref": id }) };
        let mut out = Map::from_iter([("class".to_owned(), json!(bean.class.value))]);
        out.extend(self.setup_at(bean, depth + 1, &|_| false));
        Json::Object(out)
    }

    /// The bean itself or the first that it refers to, however indirectly, whose class `is` accepts.
    pub(super) fn find(&mut self, bean: &'a Bean, is: &dyn Fn(&str) -> bool) -> Option<&'a Bean> {
        self.find_at(bean, is, 0)
    }

    fn find_at(&mut self, bean: &'a Bean, is: &dyn Fn(&str) -> bool, depth: usize) -> Option<&'a Bean> {
        if is(&bean.class()) {
            return Some(bean);
        }
        if depth == DEPTH_MAX || self.left == 0 {
            return None;
        }
        self.left -= 1;
        let mut ids: Vec<&'a str> = Vec::new();
        let args = bean.methods.iter().flat_map(|method| &method.args);
        let args = bean.constructor_args.iter().chain(&bean.factory_args).chain(args);
        for node in args {
            ids.extend(node.get("ref").and_then(Node::text));
            ids.extend(
                node.get("reflist").and_then(Node::items).unwrap_or_default().iter().filter_map(Node::text),
            );
        }
        ids.extend(bean.properties.iter().filter_map(|p| p.reference.as_ref()).map(|id| &*id.value));
        ids.into_iter().find_map(|id| self.find_at(self.components.get(id).copied()?, is, depth + 1))
    }

    /// References that lead nowhere, among a bean's own values.
    pub(super) fn dangling<'b>(&self, bean: &'b Bean) -> Vec<&'b Node> {
        let mut found = Vec::new();
        let args = bean.methods.iter().flat_map(|method| &method.args);
        for node in bean.constructor_args.iter().chain(&bean.factory_args).chain(args) {
            let list = node.get("reflist").and_then(Node::items).unwrap_or_default();
            let ids = node.get("ref").into_iter().chain(list);
            found.extend(ids.filter(|id| id.text().is_some_and(|id| !self.components.contains_key(id))));
        }
        found
    }
}

/// A scalar as YAML 1.1 types it; null, and what is no scalar, is an empty text.
pub(super) fn scalar(node: &Node) -> Json {
    let (text, plain) = match &node.value {
        Value::Scalar { text, plain } => (text, *plain),
        _ => return json!(""),
    };
    if node.is_null() {
        return json!("");
    }
    if !plain {
        return json!(text);
    }
    if let Some(number) = integer(node) {
        return json!(number);
    }
    if let Some(truth) = boolean(node) {
        return json!(truth);
    }
    let number =
        text.parse::<f64>().ok().filter(|n| n.is_finite() && text.starts_with(|c: char| !c.is_alphabetic()));
    number.map_or_else(|| json!(text), |number| json!(number))
}

/// Texts of a list, or one text.
pub(super) fn texts(node: Option<&Node>) -> Vec<String> {
    let Some(node) = node else { return vec![] };
    match &node.value {
        Value::List(items) => items.iter().filter_map(Node::text).map(str::to_owned).collect(),
        _ => node.text().map(str::to_owned).into_iter().collect(),
    }
}
