//! What is said of a component once it is there. Storm's `BoltDeclarer` and `SpoutDeclarer`.
//!
//! In: calls in a chain. Out: keys of the component. Invariant: an input is added, any other call overwrites what an
//! earlier one set.

use super::calls::{Calls, duration, quoted};
use serde_json::{Value, json};
use std::time::Duration;

/// Where an input comes from, Storm's class of this name: `"split"` is the default stream, `("split", "late")` another one.
#[derive(Clone, Copy, Debug)]
pub struct GlobalStreamId<'a> {
    component: &'a str,
    stream: Option<&'a str>,
}

impl<'a> From<&'a str> for GlobalStreamId<'a> {
    fn from(component: &'a str) -> GlobalStreamId<'a> {
        GlobalStreamId { component, stream: None }
    }
}

impl<'a> From<(&'a str, &'a str)> for GlobalStreamId<'a> {
    fn from((component, stream): (&'a str, &'a str)) -> GlobalStreamId<'a> {
        GlobalStreamId { component, stream: Some(stream) }
    }
}

/// A spout that is being declared.
pub struct SpoutDeclarer<'b> {
    id: String,
    calls: &'b mut Calls,
}

impl<'b> SpoutDeclarer<'b> {
    pub(super) fn new(id: &str, calls: &'b mut Calls) -> SpoutDeclarer<'b> {
        SpoutDeclarer { id: id.to_owned(), calls }
    }

    /// `tasks`: at least as many as executors.
    pub fn set_num_tasks(self, tasks: u32) -> SpoutDeclarer<'b> {
        self.key(".set_num_tasks", &["tasks"], tasks)
    }

    /// `max-spout-pending` of each task.
    pub fn set_max_spout_pending(self, messages: u32) -> SpoutDeclarer<'b> {
        self.key(".set_max_spout_pending", &["max-spout-pending"], messages)
    }

    /// Any key of `[spouts.ID]`; dots lead into tables: `retry.max-faults`.
    pub fn set(self, key: &str, value: impl Into<Value>) -> SpoutDeclarer<'b> {
        self.calls.set_any(Some("    ."), &["spouts", &self.id], key, value.into());
        self
    }

    fn key(self, call: &str, keys: &[&str], value: impl Into<Value>) -> SpoutDeclarer<'b> {
        set(self.calls, &["spouts", &self.id], call, keys, value.into());
        self
    }
}

/// A bolt that is being declared.
pub struct BoltDeclarer<'b> {
    id: String,
    inputs: usize,
    calls: &'b mut Calls,
}

impl<'b> BoltDeclarer<'b> {
    pub(super) fn new(id: &str, calls: &'b mut Calls) -> BoltDeclarer<'b> {
        BoltDeclarer { id: id.to_owned(), inputs: 0, calls }
    }

    /// To the tasks in turn.
    pub fn shuffle_grouping<'a>(self, from: impl Into<GlobalStreamId<'a>>) -> BoltDeclarer<'b> {
        self.input("shuffle_grouping", from.into(), None, json!("shuffle"))
    }

    /// To the task that the values of these fields hash to.
    pub fn fields_grouping<'a>(
        self,
        from: impl Into<GlobalStreamId<'a>>,
        fields: impl IntoIterator<Item = &'a str>,
    ) -> BoltDeclarer<'b> {
        let fields: Vec<&str> = fields.into_iter().collect();
        self.input("fields_grouping", from.into(), Some(format!("{fields:?}")), json!({ "fields": fields }))
    }

    /// To the less used of two tasks that the values of these fields choose.
    pub fn partial_key_grouping<'a>(
        self,
        from: impl Into<GlobalStreamId<'a>>,
        fields: impl IntoIterator<Item = &'a str>,
    ) -> BoltDeclarer<'b> {
        let fields: Vec<&str> = fields.into_iter().collect();
        let shown = Some(format!("{fields:?}"));
        self.input("partial_key_grouping", from.into(), shown, json!({ "partial-key": fields }))
    }

    /// To every task.
    pub fn all_grouping<'a>(self, from: impl Into<GlobalStreamId<'a>>) -> BoltDeclarer<'b> {
        self.input("all_grouping", from.into(), None, json!("all"))
    }

    /// To the task with the lowest id.
    pub fn global_grouping<'a>(self, from: impl Into<GlobalStreamId<'a>>) -> BoltDeclarer<'b> {
        self.input("global_grouping", from.into(), None, json!("global"))
    }

    /// As shuffling.
    pub fn none_grouping<'a>(self, from: impl Into<GlobalStreamId<'a>>) -> BoltDeclarer<'b> {
        self.input("none_grouping", from.into(), None, json!("none"))
    }

    /// To the task that the emitter names.
    pub fn direct_grouping<'a>(self, from: impl Into<GlobalStreamId<'a>>) -> BoltDeclarer<'b> {
        self.input("direct_grouping", from.into(), None, json!("direct"))
    }

    /// As shuffling: there is one process.
    pub fn local_or_shuffle_grouping<'a>(self, from: impl Into<GlobalStreamId<'a>>) -> BoltDeclarer<'b> {
        self.input("local_or_shuffle_grouping", from.into(), None, json!("local-or-shuffle"))
    }

    /// To the tasks that a plugin chooses.
    pub fn custom_grouping<'a>(self, from: impl Into<GlobalStreamId<'a>>, plugin: &str) -> BoltDeclarer<'b> {
        self.input("custom_grouping", from.into(), Some(quoted(plugin)), json!({ "plugin": plugin }))
    }

    /// `tasks`: at least as many as executors.
    pub fn set_num_tasks(self, tasks: u32) -> BoltDeclarer<'b> {
        self.key(".set_num_tasks", &["tasks"], tasks)
    }

    /// `limits.memory` of a plugin's instance: `"64MiB"`.
    pub fn set_memory_limit(self, size: &str) -> BoltDeclarer<'b> {
        self.key(".set_memory_limit", &["limits", "memory"], size)
    }

    /// `limits.deadline` of a tuple; whole milliseconds.
    pub fn set_deadline(self, deadline: Duration) -> BoltDeclarer<'b> {
        self.key(".set_deadline", &["limits", "deadline"], duration(deadline))
    }

    /// `tick`; whole milliseconds.
    pub fn set_tick(self, interval: Duration) -> BoltDeclarer<'b> {
        self.key(".set_tick", &["tick"], duration(interval))
    }

    /// A key of the plugin's `config`.
    pub fn add_configuration(self, key: &str, value: impl Into<Value>) -> BoltDeclarer<'b> {
        let value = value.into();
        let [_, at] = self.calls.call("    .add_configuration", [quoted(key), value.to_string()]);
        self.calls.set(&["bolts", &self.id, "config", key], value, at);
        self
    }

    /// Any key of `[bolts.ID]`; dots lead into tables: `limits.held-tuples`.
    pub fn set(self, key: &str, value: impl Into<Value>) -> BoltDeclarer<'b> {
        self.calls.set_any(Some("    ."), &["bolts", &self.id], key, value.into());
        self
    }

    fn key(self, call: &str, keys: &[&str], value: impl Into<Value>) -> BoltDeclarer<'b> {
        set(self.calls, &["bolts", &self.id], call, keys, value.into());
        self
    }

    /// One more input; `shown` is the second argument of the call, if it has one.
    fn input(
        mut self,
        call: &str,
        from: GlobalStreamId<'_>,
        shown: Option<String>,
        grouping: Value,
    ) -> BoltDeclarer<'b> {
        let name = format!("    .{call}");
        let source = match from.stream {
            None => quoted(from.component),
            Some(stream) => format!("({:?}, {stream:?})", from.component),
        };
        let [from_at, grouping_at] = match shown {
            Some(shown) => self.calls.call(&name, [source, shown]),
            None => {
                let [at] = self.calls.call(&name, [source]);
                [at.clone(), at]
            }
        };
        let place = self.inputs.to_string();
        let inputs = ["bolts", &self.id, "inputs"];
        if self.inputs == 0 {
            self.calls.set(&inputs, json!([]), from_at.clone());
        }
        let path = |key| [inputs[0], inputs[1], inputs[2], &place, key];
        self.calls.set(&path("from"), json!(from.component), from_at.clone());
        if let Some(stream) = from.stream {
            self.calls.set(&path("stream"), json!(stream), from_at);
        }
        self.calls.set(&path("grouping"), grouping, grouping_at);
        self.inputs += 1;
        self
    }
}

fn set(calls: &mut Calls, component: &[&str], call: &str, keys: &[&str], value: Value) {
    let [at] = calls.call(&format!("    {call}"), [value.to_string()]);
    calls.set(&[component, keys].concat(), value, at);
}
