//! Guests for the tests of the host: one component a behaviour, each an example of this package.
//!
//! ```text
//! cargo build --profile guest-test -p anchorbolt-test-guests --examples --target wasm32-wasip2
//! ```
//!
//! In: the `config` that a test's manifest gives. Out: components under `target/wasm32-wasip2/guest-test/examples/`.
//! A guest that is not told to misbehave passes its row on: it emits it on stream `default`, whose fields are those
//! of config `fields` (`["value"]` unless set), anchored, and acks. Those that misbehave on some tuples do so where
//! the string in field 0 contains config `on`. Invariant: a guest's name says what it does.

pub mod raw;

use anchorbolt_sdk::prelude::*;
use anchorbolt_sdk::{Fields, json, serde_json};

/// Declares stream `default` with the fields that the config names.
///
/// # Errors
/// When `fields` is no list of strings.
pub fn declaration(config: &Config) -> Result<Declaration, Error> {
    Ok(Declaration::new().output(config.get_or("fields", vec!["value".to_owned()])?).stateless())
}

/// Passes the tuple's row on, and acks.
pub fn pass(tuple: Tuple<'_>, out: &mut Collector) {
    out.emit(&tuple, tuple.row());
    out.ack(tuple);
}

/// The string in field 0; empty if it is none.
pub fn text<'a>(fields: &Fields<'a>) -> &'a str {
    fields.row().str(0).unwrap_or_default()
}

/// A misbehaviour on some tuples.
pub trait Misbehave: Sized + 'static {
    /// The name of the setting that holds the text to look for.
    const KEY: &'static str = "on";
    /// The text, unless set.
    const TEXT: &'static str;

    /// Reads further settings.
    ///
    /// # Errors
    /// When they make no sense.
    fn prepare(context: &Context) -> Result<Self, Error>;

    /// Misbehaves on a tuple that contains the text.
    ///
    /// # Errors
    /// They fail the tuple.
    fn act(&mut self, tuple: &Tuple<'_>) -> Result<(), Error>;
}

/// Misbehaves on the tuples that contain a text; then, if it still can, and for the others, passes the row on.
#[derive(Debug)]
pub struct On<M> {
    text: String,
    act: M,
}

impl<M: Misbehave> Bolt for On<M> {
    fn declare(config: &Config) -> Result<Declaration, Error> {
        declaration(config)
    }

    fn prepare(context: &Context) -> Result<Self, Error> {
        let text = context.config().get_or(M::KEY, M::TEXT.to_owned())?;
        Ok(Self { text, act: M::prepare(context)? })
    }

    fn execute(&mut self, tuple: Tuple<'_>, out: &mut Collector) -> Result<(), Error> {
        if text(&tuple).contains(&self.text) {
            self.act.act(&tuple)?;
        }
        pass(tuple, out);
        Ok(())
    }
}

/// The settings as JSON, for guests that read them without the SDK; an empty object if they are none.
pub fn parse(config: &str) -> serde_json::Value {
    serde_json::from_str(config).unwrap_or_else(|_| json!({}))
}
