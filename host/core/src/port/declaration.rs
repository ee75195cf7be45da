//! What a component says of itself, and where a task finds itself.
//!
//! In: a component's streams. Out: the context that the plan makes of all of them. Plain data; the plan checks it.

use crate::ids::TaskId;

/// The stream that is meant when none is named.
pub const DEFAULT_STREAM: &str = "default";

/// One output stream that a component declares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamDeclaration {
    /// Its name.
    pub name: String,
    /// Its fields, in the order of the row.
    pub fields: Vec<String>,
    /// The emitter names the receiving task of each tuple.
    pub direct: bool,
}

/// What a component says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Declaration {
    /// Output streams, in the order that emissions index them.
    pub outputs: Vec<StreamDeclaration>,
    /// It keeps nothing between calls that a fresh instance would miss.
    pub stateless: bool,
}

impl Declaration {
    /// A declaration of one stream, `default`, with these fields.
    pub fn fields<S: Into<String>>(fields: impl IntoIterator<Item = S>) -> Declaration {
        Declaration { outputs: vec![], stateless: false }.stream(DEFAULT_STREAM, fields)
    }

    /// Adds a stream.
    #[must_use]
    pub fn stream<S: Into<String>>(self, name: &str, fields: impl IntoIterator<Item = S>) -> Declaration {
        self.add(name, fields, false)
    }

    /// Adds a stream whose emissions each name the task they go to.
    #[must_use]
    pub fn direct_stream<S: Into<String>>(
        self,
        name: &str,
        fields: impl IntoIterator<Item = S>,
    ) -> Declaration {
        self.add(name, fields, true)
    }

    fn add<S: Into<String>>(
        mut self,
        name: &str,
        fields: impl IntoIterator<Item = S>,
        direct: bool,
    ) -> Declaration {
        let fields = fields.into_iter().map(Into::into).collect();
        self.outputs.push(StreamDeclaration { name: name.to_owned(), fields, direct });
        self
    }
}

/// One input of a bolt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextInput {
    /// The component that emits it.
    pub component: String,
    /// The stream of that component.
    pub stream: String,
    /// Its fields, in the order of the row.
    pub fields: Vec<String>,
    /// The ids of the component's tasks.
    pub tasks: Vec<TaskId>,
}

/// One output of a component with those who take it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextOutput {
    /// Its name.
    pub stream: String,
    /// Name and task ids of each consumer.
    pub consumers: Vec<(String, Vec<TaskId>)>,
}

/// Where a task finds itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Context {
    /// The topology's name.
    pub topology: String,
    /// The component's name.
    pub component: String,
    /// This task's place among the component's tasks, from 0.
    pub task_index: u32,
    /// This task's id in the topology, from 1.
    pub task: TaskId,
    /// How many tasks the component has.
    pub task_count: u32,
    /// What it takes; none for a spout.
    pub inputs: Vec<ContextInput>,
    /// What it emits.
    pub outputs: Vec<ContextOutput>,
    /// `config` of the manifest, as a JSON object.
    pub config: String,
}
