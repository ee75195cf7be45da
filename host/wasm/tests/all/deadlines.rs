//! The deadline holds in guest code, in host calls, in every export, and again in the next call.

use crate::support::*;
use anchorbolt_core::failure::Class;
use anchorbolt_core::port::{Call, CallError};
use std::time::{Duration, Instant};

const LIMIT: Duration = Duration::from_millis(200);

fn quick() -> Probe {
    Probe::with(|s| s.limits.deadline = LIMIT)
}

/// The death at the deadline, and that it came in time.
fn cut<T: std::fmt::Debug>(run: impl FnOnce() -> Result<T, CallError>) -> anchorbolt_core::port::Death {
    let start = Instant::now();
    let death = died(run());
    let took = start.elapsed();
    assert_death(&death, Class::Deadline, "ran past its deadline of 200 ms");
    assert!(took >= LIMIT && took < LIMIT * 5, "cut after {took:?}");
    death
}

#[test]
fn three_endless_loops_in_a_row_are_cut() {
    let mut probe = quick();
    for _ in 0..3 {
        cut(|| probe.run("loop"));
        probe.fresh();
    }
    assert_eq!(probe.run("emit").unwrap().len(), 1);
}

#[test]
fn waiting_in_the_host_is_cut() {
    let mut probe = quick();
    cut(|| probe.run("sleep 5000"));
    probe.fresh();
    cut(|| probe.run("naps 50"));
    probe.fresh();
    // The deadline is one of each call.
    (0..3).for_each(|_| drop(probe.run("sleep 100").unwrap()));
}

#[test]
fn a_silent_socket_is_cut() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let mut probe = Probe::with(|s| {
        s.limits.deadline = LIMIT;
        s.allow.net.push(address.clone());
    });
    cut(|| probe.run(&format!("connect {address}")));
}

#[test]
fn every_export_has_a_deadline() {
    let mut probe = quick();
    cut(|| probe.prepare("prepare:loop"));
    for call in ["tick", "flush", "cleanup"] {
        probe.fresh();
        probe.prepare(&format!("{call}:loop")).unwrap();
        cut(|| match call {
            "tick" => probe.instance.tick(&mut Call::default()),
            "flush" => probe.instance.flush(&mut Call::default()),
            _ => probe.instance.cleanup(),
        });
    }
    let mut settings = settings();
    settings.limits.deadline = LIMIT;
    settings.config_json = "declare:loop".into();
    cut(|| plugin().declare(&settings));
}

#[test]
fn progress_makes_the_deadline_one_of_each_tuple() {
    let mut probe = quick();
    probe.batch("steps 90", 5).unwrap();
    let death = died(probe.batch("hang-at 3", 5));
    assert_death(&death, Class::Deadline, "at tuple 3");
    assert_eq!(death.reached, Some(3));
}

#[test]
fn progress_must_rise_within_the_batch() {
    let mut probe = quick();
    let death = died(probe.batch("progress 0,1,1", 3));
    assert_death(&death, Class::Protocol, "progress(1) after progress(1)");
    probe.fresh();
    let death = died(probe.batch("progress 0,3", 3));
    assert_death(&death, Class::Protocol, "progress(3) in execute of 3 tuples");
    probe.fresh();
    probe.prepare("tick:progress 0").unwrap();
    let death = died(probe.instance.tick(&mut Call::default()));
    assert_death(&death, Class::Protocol, "progress(0) in tick");
}
