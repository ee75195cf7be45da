//! Guests that talk to the host without the SDK, and so can break every rule that it keeps.
//!
//! In: the contract's own types. Out: the same. Invariant: nothing here checks anything.

#![allow(missing_docs, unsafe_code, unreachable_pub, reason = "the bindings are generated")]
#![allow(unused_qualifications, elided_lifetimes_in_paths, reason = "the bindings are generated")]
#![allow(clippy::all, reason = "the bindings are generated")]

use std::cell::RefCell;
use std::marker::PhantomData;

use anchorbolt_sdk::{Row, serde_json::Value};

pub use self::anchorbolt::bolt::types::{Emissions, Failure, Failures, Tuples};
pub use self::anchorbolt::bolt::{collector, logging};
pub use self::exports::anchorbolt::bolt::guest::{Context, Declaration, Encoding, Guest, OutputStream};

wit_bindgen::generate!({
    path: "../../wit",
    world: "bolt",
    pub_export_macro: true,
    export_macro_name: "__export_raw",
    default_bindings_module: "anchorbolt_test_guests::raw",
    // The SDK is linked, too: two sections of one name would become one that is damaged.
    type_section_suffix: "raw",
});

/// A guest that sees batches as the host sends them.
pub trait RawBolt: 'static {
    /// Declares stream `default` with field `value`, unless said otherwise.
    fn declare(config: &Value) -> Result<Declaration, String> {
        _ = config;
        Ok(declaration(vec![stream("default", &["value"])]))
    }

    /// One call.
    fn execute(config: &Value, batch: Tuples) -> Result<(), String>;
}

/// Fills the contract's exports.
#[derive(Debug)]
pub struct Adapter<B>(PhantomData<B>);

thread_local! {
    static CONFIG: RefCell<Value> = const { RefCell::new(Value::Null) };
}

impl<B: RawBolt> Guest for Adapter<B> {
    fn declare(config: String) -> Result<Declaration, String> {
        B::declare(&crate::parse(&config))
    }

    fn prepare(context: Context) -> Result<(), String> {
        CONFIG.set(crate::parse(&context.config));
        Ok(())
    }

    fn execute(batch: Tuples) -> Result<(), String> {
        CONFIG.with_borrow(|config| B::execute(config, batch))
    }

    fn tick() -> Result<(), String> {
        Ok(())
    }

    fn flush() -> Result<(), String> {
        Ok(())
    }

    fn cleanup() -> Result<(), String> {
        Ok(())
    }
}

/// Makes a type the guest of its component.
#[macro_export]
macro_rules! export_raw {
    ($bolt:ty) => {
        #[cfg(target_family = "wasm")]
        #[allow(unsafe_code, reason = "the exports of a component are generated")]
        const _: () = {
            type Exported = $crate::raw::Adapter<$bolt>;
    $crate::raw::__export_raw!(Exported with_types_in $crate::raw);
        };
    };
}

/// Compiles if the type is a guest; natively that is all that exporting it does.
pub const fn assert_bolt<B: RawBolt>() {}

/// A declaration of these streams.
pub fn declaration(outputs: Vec<OutputStream>) -> Declaration {
    Declaration { outputs, encoding: Encoding::Msgpack, stateless: true }
}

/// A grouped stream.
pub fn stream(name: &str, fields: &[&str]) -> OutputStream {
    OutputStream {
        name: name.into(),
        fields: fields.iter().map(|&field| field.into()).collect(),
        direct: false,
    }
}

/// The setting `how`.
pub fn how(config: &Value) -> &str {
    config.get("how").and_then(Value::as_str).unwrap_or_default()
}

/// Does the string in field 0 contain setting `on`?
pub fn is_on(config: &Value, default: &str, row: &[u8]) -> bool {
    let text = config.get("on").and_then(Value::as_str).unwrap_or(default);
    Row::new(row).str(0).is_some_and(|field| field.contains(text))
}

/// Handles and rows.
pub fn tuples(batch: &Tuples) -> impl Iterator<Item = (u32, &[u8])> {
    batch
        .ids
        .iter()
        .zip(batch.offsets.windows(2))
        .map(|(&id, place)| (id, &batch.data[place[0] as usize..place[1] as usize]))
}

/// One emission on the first stream.
pub fn emission(anchors: &[u32], row: &[u8]) -> Emissions {
    Emissions {
        streams: vec![0],
        targets: vec![],
        anchor_offsets: vec![0, anchors.len() as u32],
        anchors: anchors.into(),
        offsets: vec![0, row.len() as u32],
        data: row.into(),
    }
}

/// Emissions of no row.
pub fn nothing() -> Emissions {
    Emissions {
        streams: vec![],
        targets: vec![],
        anchor_offsets: vec![0],
        anchors: vec![],
        offsets: vec![0],
        data: vec![],
    }
}

/// Passes all on as it should be done.
pub fn pass(batch: &Tuples) {
    tuples(batch).for_each(|(id, row)| collector::emit(&emission(&[id], row)));
    collector::ack(&batch.ids);
}
