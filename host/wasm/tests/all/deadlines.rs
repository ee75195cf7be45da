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
    println!("cut after {took:?}");
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
fn waiting_in_the_host_is_cut_each_time() {
    let mut probe = quick();
    for command in ["sleep 5000", "naps 50"] {
        three_in_a_row(&mut probe, command);
    }
    // The deadline is one of each call.
    (0..3).for_each(|_| drop(probe.run("sleep 100").unwrap()));
}

/// The same wait, in three calls one after the other.
fn three_in_a_row(probe: &mut Probe, command: &str) {
    for _ in 0..3 {
        cut(|| probe.run(command));
        probe.fresh();
    }
}

#[test]
fn a_silent_socket_is_cut_each_time() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let mut probe = Probe::with(|s| {
        s.limits.deadline = LIMIT;
        s.allow.net.push(address.clone());
    });
    three_in_a_row(&mut probe, &format!("connect {address}"));
}

/// A listener that takes no more: the system answers no further connect.
#[test]
fn a_connect_that_nobody_answers_is_cut_each_time() {
    use rustix::net::{AddressFamily, SocketType, bind, getsockname, listen, socket};
    let hole = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    bind(&hole, &std::net::SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
    listen(&hole, 0).unwrap();
    let address = std::net::SocketAddr::try_from(getsockname(&hole).unwrap()).unwrap();
    let fill = || std::net::TcpStream::connect_timeout(&address, Duration::from_millis(100));
    let mut filled: Vec<_> = (0..3).map(|_| fill()).collect();
    assert!(filled.pop().unwrap().is_err(), "it still answers");
    let mut probe = Probe::with(|s| {
        s.limits.deadline = LIMIT;
        s.allow.net.push(address.to_string());
    });
    three_in_a_row(&mut probe, &format!("connect {address}"));
}

/// Just below the deadline is not late.
#[test]
fn nine_tenths_of_the_deadline_is_in_time_and_more_than_all_of_it_is_not() {
    let mut probe = Probe::with(|s| s.limits.deadline = Duration::from_secs(1));
    (0..3).for_each(|_| drop(probe.run("sleep 900").unwrap()));
    assert_death(&probe.dies("sleep 1100"), Class::Deadline, "execute ran past its deadline of 1 s");
}

#[test]
fn every_export_has_a_deadline_each_time() {
    let mut probe = quick();
    for how in ["loop", "sleep 5000"] {
        for call in ["prepare", "tick", "flush", "cleanup"].repeat(2) {
            probe.fresh();
            cut(|| match call {
                "prepare" => probe.prepare(&format!("prepare:{how}")),
                "tick" => called(&mut probe, call, how, |p| p.instance.tick(&mut Call::default())),
                "flush" => called(&mut probe, call, how, |p| p.instance.flush(&mut Call::default())),
                _ => called(&mut probe, call, how, |p| p.instance.cleanup()),
            });
        }
        let mut settings = settings();
        settings.limits.deadline = LIMIT;
        settings.config_json = format!("declare:{how}");
        (0..2).for_each(|_| drop(cut(|| plugin().declare(&settings))));
    }
}

fn called(
    probe: &mut Probe,
    call: &str,
    how: &str,
    f: impl FnOnce(&mut Probe) -> Result<(), CallError>,
) -> Result<(), CallError> {
    probe.prepare(&format!("{call}:{how}")).unwrap();
    f(probe)
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
