//! What a guest may take and give, with both figures where it ends.

use crate::support::*;
use anchorbolt_core::failure::Class;
use anchorbolt_core::port::Op;

#[test]
fn memory_ends_at_its_limit() {
    let mut probe = Probe::new();
    let before = probe.instance.memory_bytes();
    assert!(before > 0 && before < 8 << 20, "{before}");
    probe.run("alloc 20").unwrap();
    assert!(probe.instance.memory_bytes() >= 20 << 20);
    let death = probe.dies("alloc 65");
    assert_death(&death, Class::Memory, "memory limit 64 MiB reached: asked for ");
    assert!(death.output.contains("memory allocation of"), "{}", death.output);
}

/// The page below the limit, the last one, and the one beyond it.
#[test]
fn memory_ends_exactly_at_its_limit() {
    const PAGE: u64 = 64 << 10;
    for (limit, beyond) in [(8 << 20, "8.06 MiB"), (16 << 20, "16.06 MiB")] {
        let fresh = || Probe::with(|s| s.limits.memory_bytes = limit);
        let pages = (limit - fresh().instance.memory_bytes()) / PAGE;
        for n in [pages - 1, pages] {
            let mut probe = fresh();
            probe.run(&format!("grow {n}")).unwrap();
            assert_eq!(probe.instance.memory_bytes(), limit - (pages - n) * PAGE);
        }
        let death = fresh().dies(&format!("grow {}", pages + 1));
        let limit = limit >> 20;
        let text = format!("memory limit {limit} MiB reached: asked for {beyond}");
        assert_death(&death, Class::Memory, &text);
    }
}

#[test]
fn a_refusal_that_is_survived_is_forgotten() {
    let mut probe = Probe::new();
    assert_eq!(probe.ask("try-alloc 100"), "false");
    assert_death(&probe.dies("panic later"), Class::Trap, "later");
}

#[test]
fn memory_that_is_too_small_to_start_in_is_said() {
    let mut settings = settings();
    settings.limits.memory_bytes = 128 << 10;
    let death = died(plugin().declare(&settings));
    assert_death(&death, Class::Memory, "memory limit 128 KiB reached: asked for");
}

#[test]
fn emissions_are_counted_over_the_call() {
    let mut probe = Probe::with(|s| s.limits.emissions_per_tuple = 100);
    assert_eq!(probe.run("emit 99").unwrap().len(), 99);
    assert_eq!(probe.run("emit 100").unwrap().len(), 100);
    assert_death(
        &probe.dies("emit 101"),
        Class::Protocol,
        "emissions-per-tuple limit reached: 101 in a call of 1, at most 100 a tuple",
    );
    assert_eq!(probe.batch("emit 200", 2).unwrap().len(), 200, "a call's budget is its tuples' together");
}

#[test]
fn emitted_bytes_are_counted_over_the_call() {
    let mut probe = Probe::with(|s| s.limits.emitted_bytes_per_tuple = 2 << 20);
    assert_eq!(probe.run("flood 2").unwrap().len(), 2);
    let death = probe.dies("flood 500");
    assert_death(
        &death,
        Class::Protocol,
        "emitted-bytes-per-tuple limit reached: 3 MiB in a call of 1, at most 2 MiB",
    );
    let death = probe.dies("emit-bytes 5000000");
    assert_eq!(death.class, Class::Protocol, "{death:?}");
    for n in [(2 << 20) - 1, 2 << 20] {
        assert_eq!(probe.run(&format!("emit-bytes {n}")).unwrap().len(), 1);
    }
    let death = probe.dies(&format!("emit-bytes {}", (2 << 20) + 1));
    let text =
        "emitted-bytes-per-tuple limit reached: 2097153 bytes in a call of 1, at most 2097152 bytes a tuple";
    assert_death(&death, Class::Protocol, text);
}

#[test]
fn anchors_are_counted() {
    let mut probe = Probe::with(|s| s.limits.anchors_per_tuple = 10);
    probe.run("anchors 9").unwrap();
    probe.run("anchors 10").unwrap();
    let text = "anchors-per-tuple limit reached: 11 in a call of 1, at most 10 a tuple";
    assert_death(&probe.dies("anchors 11"), Class::Protocol, text);
}

/// The answers are made in the host: a small list of handles must not become gigabytes there.
#[test]
fn descriptions_are_counted() {
    let mut probe = Probe::new();
    probe.run("describe-many 65535").unwrap();
    probe.run("describe-many 65536").unwrap();
    let text = "65537 handles described at once, at most 65536";
    assert_death(&probe.dies("describe-many 65537"), Class::Protocol, text);
    assert_death(&probe.dies("describe-many 4000000"), Class::Protocol, "handles described at once");
}

/// A call of many tuples has the limit of each of them, but lies in the host as a whole.
#[test]
fn a_call_of_many_tuples_has_an_end_too() {
    let mut probe = Probe::with(|s| s.limits.deadline = std::time::Duration::from_secs(20));
    assert_eq!(probe.batch("flood 256", 100).unwrap().len(), 256);
    let death = died(probe.batch("flood 257", 100));
    let text = "emitted-bytes-per-tuple limit reached: 257 MiB in a call of 100, at most 256 MiB in any call";
    assert_death(&death, Class::Protocol, text);
}

#[test]
fn texts_are_cut_and_bounded() {
    let log = Probe::new().run("big-reasons 100").unwrap();
    let kept: usize = log.iter().map(|op| if let Op::ReportError(t) = op { t.len() } else { panic!() }).sum();
    assert!(kept <= 100 * 4096, "{kept}");
}

#[test]
fn open_files_are_capped() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("f"), "x").unwrap();
    let mut probe = Probe::with(|s| {
        let host = dir.path().display().to_string();
        s.allow.dirs.push(anchorbolt_core::manifest::Dir { host, guest: "/data".into(), write: false });
    });
    let death = (0..100).find_map(|_| probe.run("open /data/f").err());
    assert_death(&died(Err::<(), _>(death.unwrap())), Class::Protocol, "more than 64 files");
}

#[test]
fn the_log_of_a_call_has_an_end() {
    let mut probe = Probe::with(|s| {
        s.limits.deadline = std::time::Duration::from_secs(60);
        s.limits.emissions_per_tuple = 100_000_000;
    });
    assert_death(&probe.dies("emit 1000000"), Class::Protocol, "262145 entries in the log of a call");
    assert_eq!(probe.run("emit-empty 1000000").unwrap(), []);
}
