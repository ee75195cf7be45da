//! Each way to die has its class and its words.

use crate::support::*;
use anchorbolt_core::failure::Class;
use anchorbolt_core::port::{Call, InstanceFactory};

#[test]
fn a_panic_says_where_and_why() {
    let death = Probe::new().dies("panic boom");
    assert_eq!(death.class, Class::Trap);
    assert!(death.reason.starts_with("panicked at src/lib.rs:"), "{}", death.reason);
    assert!(death.reason.ends_with(": boom"), "{}", death.reason);
    assert!(death.output.contains("boom"));
}

#[test]
fn last_words_are_those_of_the_call_and_end_with_the_last() {
    let mut probe = Probe::new();
    probe.run("print before").unwrap();
    let death = probe.dies("panic now");
    assert!(!death.output.contains("before"), "{}", death.output);
    let mut probe = Probe::new();
    probe.prepare("prepare:print ready").unwrap();
    probe.run("print-flood 100").unwrap();
    probe.run("eprint half a line").unwrap();
    let death = probe.dies("panic \u{1b}[31mred");
    assert!(death.output.len() <= 4096 && death.output.contains("red") && !death.output.contains('\u{1b}'));
}

#[test]
fn a_trap_without_words_is_named() {
    let mut probe = Probe::new();
    assert_death(&probe.dies("null"), Class::Trap, "out of bounds memory access");
    let death = probe.dies("recurse");
    assert_eq!(death.class, Class::Trap, "{death:?}");
}

#[test]
fn exit_is_a_death_of_its_own() {
    let mut probe = Probe::new();
    assert_death(&probe.dies("exit 0"), Class::Exit, "called exit(0)");
    assert_death(&probe.dies("exit 3"), Class::Exit, "called exit with a code that is not 0");
}

#[test]
fn a_death_takes_the_whole_call_with_it() {
    let mut probe = Probe::new();
    assert_death(&probe.dies("emit-then-panic"), Class::Trap, "half-way");
    assert_eq!(probe.run("emit").unwrap().len(), 1, "a fresh instance works");
}

#[test]
fn a_dead_instance_stays_dead() {
    let mut probe = Probe::new();
    drop(died(probe.run("panic x")));
    assert_death(&died(probe.run("emit")), Class::Host, "dead instance");
    assert_eq!(probe.instance.memory_bytes(), 0);
}

#[test]
fn broken_rules_are_protocol_deaths() {
    let mut probe = Probe::new();
    assert_death(&probe.dies("bad-utf8"), Class::Protocol, "not UTF-8");
    assert_death(&probe.dies("bad-fail"), Class::Protocol, "fail with 1 handles, 0 reasons and 0 kinds");
    let death = died(probe.batch("describe", 13));
    assert_death(&death, Class::Protocol, "handle 13 is not live");
}

#[test]
fn effects_outside_of_calls_that_take_them_are_refused() {
    let mut probe = Probe::new();
    let death = died(probe.prepare("prepare:emit"));
    assert_death(&death, Class::Protocol, "emit was called in prepare");
    let mut settings = settings();
    settings.config_json = "declare:emit".into();
    assert_death(&died(plugin().declare(&settings)), Class::Protocol, "declare");
    probe.fresh();
    probe.prepare("tick:placed").unwrap();
    let death = died(probe.instance.tick(&mut Call::default()));
    assert_death(&death, Class::Protocol, "not available");
    probe.fresh();
    probe.prepare("cleanup:panic at the end").unwrap();
    assert_death(&died(probe.instance.cleanup()), Class::Trap, "at the end");
}

#[test]
fn a_missing_folder_is_the_hosts_fault() {
    let dir = tempfile::tempdir().unwrap();
    let probe = Probe::with(|s| {
        let host = dir.path().display().to_string();
        s.allow.dirs.push(anchorbolt_core::manifest::Dir { host, guest: "/data".into(), write: false });
    });
    drop(dir);
    let death = died(probe.factory.create().map(|_| ()));
    assert_death(&death, Class::Host, "folder");
}
