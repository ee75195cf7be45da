use super::*;

fn at(ms: u64) -> Time {
    Time(ms * 1_000_000)
}

/// Lets it die again as soon as it is there again; the restarts before the circuit opens, and when it does.
fn die_for_ever(policy: RestartPolicy, blame: Blame) -> (u32, Time) {
    let (mut supervisor, mut now) = (Supervisor::new(policy), Time(0));
    for restarts in 0..1000 {
        match supervisor.on_death(blame, now) {
            Action::RestartNow => {}
            Action::RestartAt(time) => now = time,
            Action::OpenCircuit => return (restarts, now),
        }
    }
    (1000, now)
}

#[test]
fn deaths_without_a_culprit_open_the_circuit_after_the_budget() {
    let (restarts, when) = die_for_ever(RestartPolicy::default(), Blame::Nobody);
    assert_eq!(restarts, 10);
    assert!(when < at(60_000), "within one window: {when:?}");
}

#[test]
fn tuples_in_a_row_that_all_kill_open_it_too_and_as_many_as_the_budget_are_free() {
    assert_eq!(die_for_ever(RestartPolicy::default(), Blame::OneTuple).0, 20);
}

#[test]
fn a_call_of_many_is_not_charged_before_it_is_known_who_killed() {
    assert_eq!(die_for_ever(RestartPolicy::default(), Blame::Unknown).0, 1000);
}

#[test]
fn poison_among_good_tuples_costs_the_bolt_nothing() {
    let mut supervisor = Supervisor::new(RestartPolicy::default());
    for time in 0..10_000 {
        assert_eq!(supervisor.on_death(Blame::OneTuple, at(time)), Action::RestartNow);
        supervisor.on_success();
    }
}

#[test]
fn successes_do_not_forgive_deaths_without_a_culprit() {
    let mut supervisor = Supervisor::new(RestartPolicy::default());
    let deaths = (0..20).filter(|&n| {
        supervisor.on_success();
        supervisor.on_death(Blame::Nobody, at(n * 1000)) != Action::OpenCircuit
    });
    assert_eq!(deaths.count(), 10);
}

#[test]
fn a_window_that_passes_forgives() {
    let mut supervisor = Supervisor::new(RestartPolicy::default());
    for n in 0..100 {
        let now = at(n * 6_000);
        assert!(matches!(supervisor.on_death(Blame::Nobody, now), Action::RestartAt(_)), "death {n}");
    }
}

#[test]
fn pauses_double_from_the_backoff() {
    let mut supervisor = Supervisor::new(RestartPolicy::default());
    let pauses: Vec<u128> = (0..7)
        .map(|_| match supervisor.on_death(Blame::Nobody, at(5)) {
            Action::RestartAt(time) => time.since(at(5)).as_millis(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(pauses, [100, 200, 400, 800, 1600, 3000, 3000]);
}

#[test]
fn an_open_circuit_stays_open_until_it_is_closed() {
    let mut supervisor = Supervisor::new(RestartPolicy { budget: 0, ..RestartPolicy::default() });
    assert_eq!(supervisor.on_death(Blame::Nobody, at(0)), Action::OpenCircuit);
    assert_eq!(supervisor.on_death(Blame::OneTuple, at(1_000_000)), Action::OpenCircuit);
    assert!(supervisor.is_open());
    supervisor.close_circuit();
    assert!(!supervisor.is_open());
    assert_eq!(supervisor.on_death(Blame::OneTuple, at(1_000_001)), Action::RestartNow);
}
