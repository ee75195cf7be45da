//! The calls that a program made, as a text, and what they set.
//!
//! In: calls. Out: one line for each, and [`Setting`]s whose places are arguments in that text.

use anchorbolt_core::manifest::Setting;
use serde_json::Value;
use std::ops::Range;
use std::time::Duration;

/// Calls so far.
#[derive(Default)]
pub(super) struct Calls {
    text: String,
    settings: Vec<Setting>,
}

impl Calls {
    /// Writes a call down; where its arguments are.
    pub(super) fn call<const N: usize>(&mut self, name: &str, arguments: [String; N]) -> [Range<usize>; N] {
        self.text += name;
        let mut before = "(";
        let places = arguments.map(|argument| {
            self.text += before;
            before = ", ";
            let start = self.text.len();
            self.text += &argument;
            start..self.text.len()
        });
        if N == 0 {
            self.text.push('(');
        }
        self.text += ")\n";
        places
    }

    /// Notes what a call set.
    pub(super) fn set(&mut self, path: &[&str], value: Value, at: Range<usize>) {
        let path = path.iter().map(|key| (*key).to_owned()).collect();
        self.settings.push(Setting { path, value, at });
    }

    /// The call `set` with a dotted key; `dot` begins one that goes on with the call before.
    pub(super) fn set_any(&mut self, dot: Option<&str>, path: &[&str], key: &str, value: Value) {
        let name = format!("{}set", dot.unwrap_or_default());
        let [_, at] = self.call(&name, [quoted(key), value.to_string()]);
        let path: Vec<&str> = path.iter().copied().chain(key.split('.')).collect();
        self.set(&path, value, at);
    }

    /// The text and the settings.
    pub(super) fn into_parts(self) -> (String, Vec<Setting>) {
        (self.text, self.settings)
    }
}

/// A text as an argument.
pub(super) fn quoted(text: &str) -> String {
    format!("{text:?}")
}

/// A duration as a manifest writes it.
pub(super) fn duration(duration: Duration) -> String {
    format!("{}ms", duration.as_millis())
}
