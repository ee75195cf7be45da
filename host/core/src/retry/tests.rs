use super::*;
use crate::failure::Class;

/// The jitter that leaves a pause whole.
const WHOLE: u64 = u64::MAX;

fn failure(cost: Cost) -> Failure {
    let class = match cost {
        Cost::Fault | Cost::Patience => Class::Failed,
        Cost::Free => Class::Host,
        Cost::Final => Class::Rejected,
    };
    let (component, reason, output) = ("split".to_owned(), "no".to_owned(), String::new());
    Failure { class, cost, component, task: 1, reason, output, input: None }
}

/// Fails a message at once whenever it is emitted; how often it is emitted, and when the last time.
fn emissions(policy: &RetryPolicy, cost: Cost, at_most: u32) -> (u32, Time) {
    let (mut state, mut now) = (RetryState::default(), Time(0));
    for emission in 1..=at_most {
        match decide(policy, &mut state, &failure(cost), now, WHOLE) {
            Verdict::ReplayAt(at) => now = at,
            Verdict::Exhausted => return (emission, now),
        }
    }
    (at_most + 1, now)
}

#[test]
fn the_fifth_fault_exhausts_by_default() {
    let (emitted, last) = emissions(&RetryPolicy::default(), Cost::Fault, 100);
    assert_eq!(emitted, 5);
    assert_eq!(last, Time(0).after(Duration::from_millis(100 + 200 + 400 + 800)));
}

/// STORM-2352: the spout retried for ever with `maxRetries = 5`, which is `max_faults = 6` here.
#[test]
fn six_faults_are_six_emissions() {
    let policy = RetryPolicy { max_faults: Some(6), ..RetryPolicy::default() };
    assert_eq!(emissions(&policy, Cost::Fault, 100).0, 6);
}

#[test]
fn one_fault_is_one_emission_and_none_is_for_ever() {
    let mut policy = RetryPolicy { max_faults: Some(1), ..RetryPolicy::default() };
    assert_eq!(emissions(&policy, Cost::Fault, 100).0, 1);
    policy.max_faults = None;
    assert_eq!(emissions(&policy, Cost::Fault, 100_000).0, 100_001);
}

#[test]
fn pauses_double_up_to_the_longest() {
    let policy = RetryPolicy { max_faults: None, ..RetryPolicy::default() };
    let (mut state, mut pauses) = (RetryState::default(), vec![]);
    for _ in 0..40 {
        let Verdict::ReplayAt(at) = decide(&policy, &mut state, &failure(Cost::Fault), Time(0), WHOLE) else {
            panic!("exhausted")
        };
        pauses.push(at.since(Time(0)).as_millis());
    }
    assert_eq!(pauses[..9], [100, 200, 400, 800, 1600, 3200, 6400, 10_000, 10_000]);
    assert_eq!(pauses[39], 10_000);
}

#[test]
fn the_pauses_of_an_outage_and_of_others_deaths_double_too() {
    let policy = RetryPolicy { give_up_after: None, ..RetryPolicy::default() };
    for (cost, expected) in [
        (Cost::Patience, [100, 200, 400, 800, 1600, 3200, 6400, 10_000]),
        (Cost::Free, [0, 0, 0, 1, 2, 4, 8, 16]),
    ] {
        let mut state = RetryState::default();
        for milliseconds in expected {
            let at = Time(5).after(Duration::from_millis(milliseconds));
            let verdict = decide(&policy, &mut state, &failure(cost), Time(5), WHOLE);
            assert_eq!(verdict, Verdict::ReplayAt(at), "{cost:?}");
        }
    }
}

#[test]
fn jitter_takes_at_most_half_of_a_pause() {
    for jitter in [0, 1, u64::MAX / 2, u64::MAX] {
        let pause = jittered(Duration::from_millis(100), jitter).as_micros();
        assert!((50_000..=100_000).contains(&pause), "{jitter} gives {pause}");
    }
    assert_eq!(jittered(Duration::from_millis(100), 0), Duration::from_millis(50));
    assert_eq!(jittered(Duration::from_millis(100), WHOLE), Duration::from_millis(100));
    assert_eq!(jittered(Duration::ZERO, WHOLE), Duration::ZERO);
    assert_eq!(jittered(Duration::MAX, WHOLE), Duration::from_nanos(u64::MAX));
}

#[test]
fn an_outage_is_waited_for_until_exactly_its_end() {
    let patience = Duration::from_secs(60);
    let policy = RetryPolicy { give_up_after: Some(patience), ..RetryPolicy::default() };
    let (emitted, last) = emissions(&policy, Cost::Patience, 1000);
    assert_eq!(last, Time(0).after(patience), "the last try is at the end of the patience");
    assert!(emitted > 10, "an outage is not counted as faults: {emitted}");
    let never = RetryPolicy { give_up_after: None, ..RetryPolicy::default() };
    assert_eq!(emissions(&never, Cost::Patience, 100_000).0, 100_001);
}

#[test]
fn patience_runs_from_the_first_failure_of_its_kind() {
    let policy = RetryPolicy::default();
    let mut state = RetryState::default();
    let start = Time(0).after(Duration::from_secs(3600));
    assert!(matches!(decide(&policy, &mut state, &failure(Cost::Fault), start, 0), Verdict::ReplayAt(_)));
    let first = start.after(Duration::from_secs(100));
    decide(&policy, &mut state, &failure(Cost::Patience), first, 0);
    let just = first.after(Duration::from_secs(15 * 60) - Duration::from_nanos(1));
    assert!(matches!(decide(&policy, &mut state, &failure(Cost::Patience), just, 0), Verdict::ReplayAt(_)));
    let end = first.after(Duration::from_secs(15 * 60));
    assert_eq!(decide(&policy, &mut state, &failure(Cost::Patience), end, 0), Verdict::Exhausted);
    assert_eq!((state.failures, state.faults, state.waits), (4, 1, 3));
}

#[test]
fn what_others_caused_spends_nothing_and_is_at_once() {
    let policy = RetryPolicy::default();
    let mut state = RetryState::default();
    for _ in 0..FREE_AT_ONCE {
        let verdict = decide(&policy, &mut state, &failure(Cost::Free), Time(7), WHOLE);
        assert_eq!(verdict, Verdict::ReplayAt(Time(7)));
    }
    assert_eq!((state.faults, state.waits), (0, 0));
}

#[test]
fn free_replays_never_make_a_loop_without_a_pause() {
    let policy = RetryPolicy::default();
    let (emitted, last) = emissions(&policy, Cost::Free, 10_000);
    assert_eq!(emitted, 10_001, "it is never exhausted by others' deaths");
    assert!(last > Time(0).after(Duration::from_secs(9000 * 10)), "but hardly busy: {last:?}");
    // A failure of another kind ends the row.
    let mut state = RetryState { free_in_a_row: 50, ..RetryState::default() };
    decide(&policy, &mut state, &failure(Cost::Fault), Time(0), 0);
    let verdict = decide(&policy, &mut state, &failure(Cost::Free), Time(9), 0);
    assert_eq!(verdict, Verdict::ReplayAt(Time(9)));
}

#[test]
fn never_again_means_at_once_and_attempts_bound_all_kinds() {
    assert_eq!(emissions(&RetryPolicy::default(), Cost::Final, 10).0, 1);
    let policy = RetryPolicy { max_attempts: Some(3), max_faults: None, ..RetryPolicy::default() };
    for cost in [Cost::Fault, Cost::Patience, Cost::Free] {
        assert_eq!(emissions(&policy, cost, 10).0, 3, "{cost:?}");
    }
}

#[test]
fn the_state_of_a_message_is_small() {
    assert_eq!(size_of::<RetryState>(), 24);
}
