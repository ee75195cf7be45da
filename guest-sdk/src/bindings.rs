//! What `wit/bolt.wit` becomes in Rust. Generated; nothing here is for authors.
//!
//! Invariant: the only module of the SDK with unsafe code, all of it the generator's.

#![allow(missing_docs, unsafe_code, unreachable_pub, reason = "the code is generated")]
#![allow(unused_qualifications, elided_lifetimes_in_paths, reason = "the code is generated")]
#![allow(clippy::all, reason = "the code is generated")]

wit_bindgen::generate!({
    path: "wit",
    world: "bolt",
    pub_export_macro: true,
    export_macro_name: "__export_bolt",
    default_bindings_module: "anchorbolt_sdk::bindings",
});

/// World `grouping`. It logs as bolts do.
pub mod grouping {
    wit_bindgen::generate!({
        path: "wit",
        world: "grouping",
        with: { "anchorbolt:bolt/logging@0.1.0": crate::bindings::anchorbolt::bolt::logging },
        pub_export_macro: true,
        export_macro_name: "__export_grouping",
        default_bindings_module: "anchorbolt_sdk::bindings::grouping",
    });
}
