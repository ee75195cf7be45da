//! What needs a process of its own: the compiling child (this program itself), what ten thousand dead
//! instances leave behind, and measurements of calls (`--test alone -- bench`). Not for: behaviour of calls.
#![allow(clippy::unwrap_used, clippy::print_stdout, unreachable_pub, dead_code, reason = "a test may")]

mod bench;
mod child;
mod lifetimes;
#[path = "../all/support.rs"]
mod support;

fn main() {
    let has = |word: &str| std::env::args().any(|arg| arg == word);
    if has("compile-child") {
        std::process::exit(anchorbolt_wasm::compile_child_main());
    }
    if has("bench") {
        return bench::run();
    }
    child::the_code_is_the_same();
    child::what_is_invalid_is_refused_with_the_compilers_text();
    child::a_bomb_dies_alone();
    lifetimes::ten_thousand_deaths_leave_nothing();
    lifetimes::an_idle_engine_sleeps();
    lifetimes::descriptors_are_kept_for_the_host();
}
