//! Guests that no compiler makes: written by hand, with the exports of a bolt round a core module.

use crate::support::*;
use anchorbolt_core::failure::Class;
use anchorbolt_wasm::{LoadError, Plugin};
use std::time::Duration;

/// A component that exports what a bolt has to. `module` goes into the core module, `more` beside it.
pub fn bolt(module: &str, more: &str) -> Vec<u8> {
    let interface = include_str!("../../../../tests/guests/interface.wat");
    let text = format!(
        r#"(component
        {more}
        (core module $m
            (memory (export "memory") 1)
            (func (export "realloc") (param i32 i32 i32 i32) (result i32) i32.const 1024)
            (func (export "declare") (param i32 i32) (result i32) unreachable)
            (func (export "prepare") (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32) (result i32)
                i32.const 64)
            (func (export "execute") (param i32 i32 i32 i32 i32 i32 i32 i32 i32) (result i32) i32.const 64)
            (func (export "none") (result i32) i32.const 64)
            {module})
        (core instance $i (instantiate $m))
        (alias core export $i "memory" (core memory $memory))
        (alias core export $i "realloc" (core func $realloc))
        {interface})"#
    );
    wat::parse_str(text).unwrap()
}

fn declare(wasm: &[u8], deadline: Duration) -> anchorbolt_core::port::Death {
    let plugin = Plugin::from_bytes(engine(), wasm).unwrap();
    let mut settings = settings();
    settings.limits.deadline = deadline;
    died(plugin.declare(&settings))
}

#[test]
fn a_looping_start_is_cut() {
    let death = declare(&bolt("(func $s (loop (br 0))) (start $s)", ""), Duration::from_millis(100));
    assert_death(&death, Class::Deadline, "instantiation ran past its deadline of 100 ms");
}

#[test]
fn a_trap_without_an_output_is_named() {
    let death = declare(&bolt("", ""), Duration::from_secs(1));
    assert_death(&death, Class::Trap, "stopped itself (abort or unreachable)");
    let recursive = "(func $deep (call $deep)) (start $deep)";
    assert_death(
        &declare(&bolt(recursive, ""), Duration::from_secs(1)),
        Class::Trap,
        "recursion too deep in deep",
    );
}

/// Each memory alone is within the limit.
#[test]
fn all_memories_together_have_one_limit() {
    let memory = |i| format!("(core module $n{i} (memory 400)) (core instance (instantiate $n{i}))");
    let three: String = (0..3).map(memory).collect();
    let death = declare(&bolt("", &three), Duration::from_secs(1));
    assert_death(&death, Class::Memory, "memory limit 64 MiB reached: asked for 75 MiB");
}

#[test]
fn memories_tables_and_instances_are_counted() {
    let many = |n, what: &str| -> String {
        let module = |i| format!("(core module $n{i} {what}) (core instance (instantiate $n{i}))");
        (0..n).map(module).collect()
    };
    let refused = |wasm: Vec<u8>| Plugin::from_bytes(engine(), &wasm).err();
    let memories = refused(bolt("", &many(8, "(memory 0)")));
    assert_eq!(memories, Some(LoadError::TooMany { what: "memories", count: 9, max: 8 }));
    let tables = refused(bolt("", &many(17, "(table 1 funcref)")));
    assert_eq!(tables, Some(LoadError::TooMany { what: "tables", count: 17, max: 16 }));
    let death = declare(&bolt("", &many(64, "")), Duration::from_secs(1));
    assert_death(&death, Class::Protocol, "instance count too high at 65");
}

/// Wasmtime asks nobody for them.
#[test]
fn what_an_instance_takes_beside_its_memories_is_counted() {
    let globals = |n: u64| {
        let globals = "(global i32 (i32.const 0))".repeat(usize::try_from(n).unwrap() / 16);
        let many = "(core instance (instantiate $wide))".repeat(16);
        bolt("", &format!("(core module $wide {globals}) {many}"))
    };
    // The bolt itself has a few.
    assert!(Plugin::from_bytes(engine(), &globals(520_000)).is_ok());
    match Plugin::from_bytes(engine(), &globals(525_000)).err() {
        Some(LoadError::TooWide(bytes)) => assert!(bytes > 16 << 20, "{bytes}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn table_elements_have_one_limit() {
    let tables = |n: u32| {
        declare(&bolt(&format!("(table 60000 funcref) (table {n} funcref)"), ""), Duration::from_secs(1))
    };
    // Within the limit it gets as far as its `unreachable`.
    for n in [39_999, 40_000] {
        assert_death(&tables(n), Class::Trap, "stopped itself");
    }
    assert_death(&tables(40_001), Class::Memory, "table limit 100000 elements reached: asked for 100001");
    assert_death(&tables(60_000), Class::Memory, "table limit 100000 elements reached: asked for 120000");
}

/// Absurd requests fail in wasmtime before the limiter is asked; they must not give anything back.
#[test]
fn failing_to_grow_gains_nothing() {
    let greedy = "(func $s (local i32)
        (loop $l
            (drop (memory.grow (i32.const 64)))
            (drop (memory.grow (i32.const -1)))
            (local.set 0 (i32.add (local.get 0) (i32.const 1)))
            (br_if $l (i32.lt_u (local.get 0) (i32.const 1000))))
        (if (i32.gt_u (memory.size) (i32.const 1024)) (then (loop (br 0)))))
        (start $s)";
    let death = declare(&bolt(greedy, ""), Duration::from_secs(5));
    assert_death(&death, Class::Trap, "stopped itself");
}
