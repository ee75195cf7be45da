//! Guests that stop, never stop, or take all that there is.
//!
//! In: their tuples. Out: dead letters of the right class. Invariant: a beast that can't be made is refused at load.

use super::beast;
use anchorbolt_core::failure::Class;

const ON: &str = r#"config = { on = "bad" }"#;
const QUICK: &str = r#"limits = { deadline = "200ms" }"#;

#[test]
fn one_panics() {
    beast("poison", r#"config = { poison = "bad" }"#).loses_the_bad(Class::Trap, "panicked at");
}

#[test]
fn one_exits() {
    beast("exit_on", ON).loses_the_bad(Class::Exit, "called exit");
}

#[test]
fn one_calls_itself_without_end() {
    beast("recurses_on", ON).loses_the_bad(Class::Trap, "recursion too deep");
}

#[test]
fn one_loops() {
    beast("loop_on", format!("{ON}\n{QUICK}")).loses_the_bad(Class::Deadline, "deadline of 200 ms");
}

#[test]
fn one_sleeps() {
    let bolt = format!("config = {{ on = \"bad\", sleep_ms = 5000 }}\n{QUICK}");
    beast("sleep_on", bolt).loses_the_bad(Class::Deadline, "deadline of 200 ms");
}

#[test]
fn one_prints_without_end() {
    beast("prints_forever", format!("{ON}\n{QUICK}")).loses_the_bad(Class::Deadline, "deadline of 200 ms");
}

#[test]
fn one_takes_memory_without_end() {
    let bolt = format!("{ON}\nlimits = {{ memory = \"8MiB\" }}");
    beast("alloc_on", bolt).loses_the_bad(Class::Memory, "memory limit 8 MiB reached: asked for");
}

#[test]
fn one_grows_page_by_page() {
    beast("grows_forever.wat", "")
        .loses_all(Class::Memory, "memory limit 64 MiB reached: asked for 64.06 MiB");
}

#[test]
fn one_has_many_small_memories() {
    beast("many_memories.wat", "").does_not_load("AB410", "declares 10 memories, at most 8 are allowed");
}

#[test]
fn one_never_starts() {
    let text = "instantiation ran past its deadline of 200 ms";
    beast("start_loops.wat", QUICK).does_not_load("AB410", text);
}

#[test]
fn one_waits_on_its_memory() {
    beast("atomics.wat", "").does_not_load("AB404", "");
}

#[test]
fn one_thinks_about_memory_without_end() {
    beast("loops_in_memory.wat", QUICK).does_not_load("AB410", "declare ran past its deadline of 200 ms");
}
