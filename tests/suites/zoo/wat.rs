//! Guests that no compiler makes: what a bolt has to export, round the few lines that a file of `guests/wat/` has.
//!
//! In: a name. Out: a component. Invariant: what the file does not define is harmless, and settles nothing.

use std::path::PathBuf;

/// The folder of these guests.
pub(super) fn folder() -> PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("guests/wat")
}

/// The component of a file: functions of the core module, and after `;; beside` what goes beside it.
pub(super) fn component(name: &str) -> Vec<u8> {
    let text = std::fs::read_to_string(folder().join(format!("{name}.wat"))).unwrap();
    let (mut module, beside) = match text.split_once(";; beside") {
        Some((module, beside)) => (module.to_owned(), beside),
        None => (text, ""),
    };
    if !module.contains("$realloc") {
        module += "(func $realloc (param i32 i32 i32 i32) (result i32) (i32.const 1024))";
    }
    if !module.contains("$execute") {
        module += "(func $execute)";
    }
    let text = TEMPLATE.replace("MODULE", &module).replace("BESIDE", beside).replace("INTERFACE", INTERFACE);
    wat::parse_str(text).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// How a component exports the guest's interface from its core instance `$i`, with `$memory` and `$realloc`.
const INTERFACE: &str = include_str!("../../guests/interface.wat");

/// Results lie at 64: all zeroes are a good result, and a declaration without streams.
const TEMPLATE: &str = r#"(component
    (import "anchorbolt:bolt/metrics@0.1.0" (instance $metrics
        (export "counter-add" (func (param "name" string) (param "delta" u64)))))
    BESIDE
    (core module $store (memory (export "memory") 16) (data (i32.const 0) "a\ffb"))
    (core instance $stored (instantiate $store))
    (alias core export $stored "memory" (core memory $memory))
    (core func $count (canon lower (func $metrics "counter-add") (memory $memory)))
    (core instance $host (export "memory" (memory $memory)) (export "count" (func $count)))
    (core module $m
        (import "host" "memory" (memory 16))
        (import "host" "count" (func $count (param i32 i32 i64)))
        (export "realloc" (func $realloc))
        (func (export "declare") (param i32 i32) (result i32) (i32.const 64))
        (func (export "prepare") (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32) (result i32)
            (i32.const 64))
        (func (export "execute") (param i32 i32 i32 i32 i32 i32 i32 i32 i32) (result i32)
            (call $execute) (i32.const 64))
        (func (export "none") (result i32) (i32.const 64))
        MODULE)
    (core instance $i (instantiate $m (with "host" (instance $host))))
    (alias core export $i "realloc" (core func $realloc))
    INTERFACE)"#;
