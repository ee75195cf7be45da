//! What a bolt says of itself before it runs.
//!
//! In: the author's builder calls. Out: the contract's `declaration`. Invariant: names are the host's to judge; it
//! shows its verdict together with the manifest's other mistakes.

use crate::bindings::exports::anchorbolt::bolt::guest as wit;

/// The output streams of a bolt, and whether it keeps state.
///
/// ```
/// use anchorbolt_sdk::Declaration;
///
/// let sink = Declaration::new().stateless();
/// let router = Declaration::new().output(["order", "amount"]).stream("rejected", ["order", "reason"]);
/// ```
#[derive(Debug)]
#[must_use]
pub struct Declaration(wit::Declaration);

impl Declaration {
    /// A bolt without outputs, that keeps state.
    pub fn new() -> Self {
        Self(wit::Declaration { outputs: Vec::new(), encoding: wit::Encoding::Msgpack, stateless: false })
    }

    /// Adds the stream `default` with these fields.
    pub fn output(self, fields: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.stream("default", fields)
    }

    /// Adds a stream with these fields.
    pub fn stream(
        self,
        name: impl Into<String>,
        fields: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        self.add(name.into(), fields, false)
    }

    /// Adds a stream whose emissions each name the task they go to.
    pub fn direct_stream(
        self,
        name: impl Into<String>,
        fields: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        self.add(name.into(), fields, true)
    }

    /// Says that the bolt keeps nothing between calls that a fresh instance would miss.
    pub fn stateless(mut self) -> Self {
        self.0.stateless = true;
        self
    }

    fn add(
        mut self,
        name: String,
        fields: impl IntoIterator<Item = impl Into<String>>,
        direct: bool,
    ) -> Self {
        let fields = fields.into_iter().map(Into::into).collect();
        self.0.outputs.push(wit::OutputStream { name, fields, direct });
        self
    }

    pub(crate) fn into_wit(self) -> wit::Declaration {
        self.0
    }
}

impl Default for Declaration {
    fn default() -> Self {
        Self::new()
    }
}
