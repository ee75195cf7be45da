//! Why an instance died: from wasmtime's errors to a class and a text for a person.
//!
//! An error and what the store recorded come in, a [`Death`] goes out. Each class has one source, so a
//! limit is never taken for a panic, nor a panic for a deadline.

use crate::state::State;
use crate::text;
use anchorbolt_core::failure::Class;
use anchorbolt_core::port::Death;
use wasmtime::{Trap, WasmBacktrace};
use wasmtime_wasi::{I32Exit, ResourceTableError};

/// The error with which this crate itself ends a call.
#[derive(Debug, thiserror::Error)]
#[error("{reason}")]
pub(crate) struct Stop {
    class: Class,
    reason: String,
    crowded: bool,
}

impl Stop {
    /// The guest broke the contract.
    pub(crate) fn protocol(reason: impl Into<String>) -> Stop {
        Stop { class: Class::Protocol, reason: reason.into(), crowded: false }
    }

    /// The call has more of something than any call may have. One of fewer tuples may have less.
    pub(crate) fn crowded(reason: impl Into<String>) -> Stop {
        Stop { crowded: true, ..Stop::protocol(reason) }
    }

    /// The epoch callback found the deadline passed.
    pub(crate) fn deadline() -> Stop {
        Stop { class: Class::Deadline, reason: String::new(), crowded: false }
    }
}

/// The death that this error is. The store is only read: it goes next.
pub(crate) fn of_error(error: &wasmtime::Error, state: &State) -> Death {
    let output = state.output.last_words();
    let (class, reason) = classify(error, state, &output);
    let crowded = error.downcast_ref::<Stop>().is_some_and(|stop| stop.crowded);
    Death { output, reached: state.call.reached, crowded, ..Death::new(class, reason) }
}

/// The death at the deadline.
pub(crate) fn of_deadline(state: &State) -> Death {
    let (output, reached) = (state.output.last_words(), state.call.reached);
    Death { output, reached, ..Death::new(Class::Deadline, deadline_text(state)) }
}

fn classify(error: &wasmtime::Error, state: &State, output: &str) -> (Class, String) {
    if let Some(stop) = error.downcast_ref::<Stop>() {
        return match stop.class {
            Class::Deadline => (Class::Deadline, deadline_text(state)),
            class => (class, stop.reason.clone()),
        };
    }
    let exit = error.downcast_ref::<I32Exit>().map(|exit| exit.0);
    // A runtime that is out of memory traps, or says so and exits.
    if let Some(hit) = state.limiter.hit().filter(|_| exit != Some(0)) {
        return (Class::Memory, hit.to_owned());
    }
    if let Some(code) = exit {
        return (Class::Exit, exit_text(code));
    }
    if let Some(trap) = error.downcast_ref::<Trap>() {
        return (Class::Trap, trap_text(*trap, error, output));
    }
    if error.downcast_ref::<std::str::Utf8Error>().is_some() {
        return (Class::Protocol, format!("a string that is not UTF-8: {}", root_text(error)));
    }
    if error.downcast_ref::<ResourceTableError>().is_some() {
        let reason =
            format!("more than {} files, sockets and streams open at once", crate::wasi::HANDLES_MAX);
        return (Class::Protocol, reason);
    }
    // What is left are the component model's own checks of what the guest passes.
    (Class::Protocol, root_text(error))
}

fn deadline_text(state: &State) -> String {
    let limit = text::duration(state.bolt.settings.limits.deadline);
    match state.call.reached {
        Some(index) => format!("{} ran past its deadline of {limit} at tuple {index}", state.call.name),
        None => format!("{} ran past its deadline of {limit}", state.call.name),
    }
}

fn exit_text(code: i32) -> String {
    match code {
        0 => "called exit(0)".into(),
        // Most languages pass on only whether it was 0.
        1 => "called exit with a code that is not 0".into(),
        code => format!("called exit({code})"),
    }
}

/// The panic's own text first; else the trap, where it was, and the last line that the guest printed.
fn trap_text(trap: Trap, error: &wasmtime::Error, output: &str) -> String {
    if let Some(panic) = panic_text(output) {
        return panic;
    }
    let what = match trap {
        Trap::StackOverflow => "call stack exhausted: recursion too deep".into(),
        Trap::UnreachableCodeReached => "stopped itself (abort or unreachable)".into(),
        trap => trap.to_string().trim_start_matches("wasm trap: ").to_owned(),
    };
    let frames = error.downcast_ref::<WasmBacktrace>().map(WasmBacktrace::frames).unwrap_or_default();
    let place = frames.iter().find_map(|f| f.func_name()).map(|name| text::clean_to(name, 120));
    let mut reason = what;
    if let Some(place) = place {
        reason.push_str(&format!(" in {place}"));
    }
    if let Some(line) = output.lines().rev().find(|line| !line.trim().is_empty()) {
        reason.push_str(&format!(": {}", line.trim()));
    }
    reason
}

/// `panicked at src/lib.rs:11:18: boom`, out of what Rust's standard library prints.
fn panic_text(output: &str) -> Option<String> {
    let panic = &output[output.rfind("panicked at ")?..];
    let mut lines = panic.lines();
    let mut text = lines.next()?.trim_end().to_owned();
    for line in lines {
        if line.starts_with("note: run with") || line.starts_with("stack backtrace:") {
            break;
        }
        if !line.trim().is_empty() {
            text.push(' ');
            text.push_str(line.trim());
        }
    }
    Some(text)
}

/// The innermost error: what is round it names wasmtime's layers.
fn root_text(error: &wasmtime::Error) -> String {
    text::clean(&error.root_cause().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_one_line() {
        let output = "hello\n\nthread 'main' (1) panicked at src/lib.rs:11:18:\nboom\nand more\n\
                      note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n";
        assert_eq!(panic_text(output).as_deref(), Some("panicked at src/lib.rs:11:18: boom and more"));
        assert_eq!(panic_text("nothing"), None);
    }
}
