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
    let text = TEMPLATE.replace("MODULE", &module).replace("BESIDE", beside);
    wat::parse_str(text).unwrap_or_else(|e| panic!("{name}: {e}"))
}

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
    (type $u32s (list u32))
    (type $tuples' (record (field "ids" $u32s) (field "inputs" $u32s) (field "offsets" $u32s)
        (field "data" (list u8)) (field "stride" u32)))
    (export $tuples "tuples" (type $tuples'))
    (type $encoding' (enum "msgpack"))
    (export $encoding "encoding" (type $encoding'))
    (type $stream' (record (field "name" string) (field "fields" (list string)) (field "direct" bool)))
    (export $stream "stream" (type $stream'))
    (type $declaration' (record (field "outputs" (list $stream)) (field "encoding" $encoding)
        (field "stateless" bool)))
    (export $declaration "declaration" (type $declaration'))
    (type $input' (record (field "component" string) (field "stream" string) (field "fields" (list string))
        (field "tasks" $u32s)))
    (export $input "input" (type $input'))
    (type $consumer' (record (field "component" string) (field "tasks" $u32s)))
    (export $consumer "consumer" (type $consumer'))
    (type $output' (record (field "stream" string) (field "consumers" (list $consumer))))
    (export $output "output" (type $output'))
    (type $context' (record (field "topology" string) (field "component" string) (field "task-index" u32)
        (field "task-id" u32) (field "task-count" u32) (field "inputs" (list $input))
        (field "outputs" (list $output)) (field "config" string)))
    (export $context "context" (type $context'))
    (func $declare (param "config" string) (result (result $declaration (error string)))
        (canon lift (core func $i "declare") (memory $memory) (realloc $realloc)))
    (func $prepare (param "context" $context) (result (result (error string)))
        (canon lift (core func $i "prepare") (memory $memory) (realloc $realloc)))
    (func $execute (param "batch" $tuples) (result (result (error string)))
        (canon lift (core func $i "execute") (memory $memory) (realloc $realloc)))
    (func $none (result (result (error string))) (canon lift (core func $i "none") (memory $memory)))
    (instance $guest (export "declare" (func $declare)) (export "prepare" (func $prepare))
        (export "execute" (func $execute)) (export "tick" (func $none)) (export "flush" (func $none))
        (export "cleanup" (func $none)))
    (export "anchorbolt:bolt/guest@0.1.0" (instance $guest)))"#;
