//! Flux's model of a topology: what its files can say, before anything is translated.
//!
//! Names are Flux's. A value that only means something to a Java class stays a [`Node`].

use crate::yaml::Node;
use anchorbolt_core::manifest::{Span, Spanned};

/// A topology.
#[derive(Debug, Default)]
pub(crate) struct Definition {
    pub(crate) name: Option<Spanned<String>>,
    pub(crate) config: Vec<Setting>,
    pub(crate) components: Vec<Bean>,
    pub(crate) spouts: Vec<Vertex>,
    pub(crate) bolts: Vec<Vertex>,
    pub(crate) streams: Vec<Stream>,
    pub(crate) includes: Vec<Include>,
    pub(crate) topology_source: Option<Bean>,
    pub(crate) worker_hooks: Vec<Bean>,
}

/// A key of a `config`.
#[derive(Clone, Debug)]
pub(crate) struct Setting {
    pub(crate) key: Spanned<String>,
    pub(crate) value: Node,
}

/// A Java object: its class, how it is made and set up.
#[derive(Clone, Debug)]
pub(crate) struct Bean {
    /// Empty where Flux asks for none.
    pub(crate) id: Spanned<String>,
    pub(crate) class: Spanned<String>,
    pub(crate) constructor_args: Vec<Node>,
    pub(crate) factory: Option<String>,
    pub(crate) factory_args: Vec<Node>,
    pub(crate) properties: Vec<Property>,
    pub(crate) methods: Vec<Method>,
}

/// A property that is set.
#[derive(Clone, Debug)]
pub(crate) struct Property {
    pub(crate) name: String,
    /// None: `reference` names it.
    pub(crate) value: Option<Node>,
    pub(crate) reference: Option<Spanned<String>>,
}

/// A method that is called.
#[derive(Clone, Debug)]
pub(crate) struct Method {
    pub(crate) name: String,
    pub(crate) args: Vec<Node>,
}

/// A spout or bolt.
#[derive(Debug)]
pub(crate) struct Vertex {
    pub(crate) bean: Bean,
    pub(crate) parallelism: Option<Spanned<i64>>,
    pub(crate) num_tasks: Option<Spanned<i64>>,
    pub(crate) config: Vec<Setting>,
    /// Hints to Storm's scheduler: the keys that are there.
    pub(crate) loads: Vec<Spanned<&'static str>>,
}

/// Who takes from whom.
#[derive(Debug)]
pub(crate) struct Stream {
    pub(crate) span: Span,
    pub(crate) from: Spanned<String>,
    pub(crate) to: Spanned<String>,
    pub(crate) grouping: Grouping,
}

/// How.
#[derive(Debug)]
pub(crate) struct Grouping {
    pub(crate) kind: Spanned<Kind>,
    /// None: Storm's default stream.
    pub(crate) stream: Option<Spanned<String>>,
    pub(crate) args: Vec<Spanned<String>>,
    pub(crate) custom: Option<Bean>,
}

/// `type` of a grouping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    All,
    Custom,
    Direct,
    Shuffle,
    LocalOrShuffle,
    Fields,
    Global,
    None,
}

/// Another file whose contents belong to this one.
#[derive(Debug)]
pub(crate) struct Include {
    pub(crate) file: Spanned<String>,
    /// It is looked for where classes are, not among files.
    pub(crate) resource: bool,
    /// It wins where both say something.
    pub(crate) replaces: bool,
}

impl Bean {
    /// Its class, with the package names that Storm has had since 1.0.
    pub(crate) fn class(&self) -> String {
        for (old, new) in [("backtype.storm.", "org.apache.storm."), ("storm.", "org.apache.storm.")] {
            if let Some(rest) = self.class.value.strip_prefix(old) {
                return format!("{new}{rest}");
            }
        }
        self.class.value.clone()
    }

    /// The arguments of a method, when it is called.
    pub(crate) fn method(&self, name: &str) -> Option<&[Node]> {
        self.methods.iter().find(|method| method.name == name).map(|method| &*method.args)
    }
}
