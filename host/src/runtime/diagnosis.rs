//! Why a tree timed out: a bolt held one of its tuples, or they were waiting in queues.
//!
//! XOR can't tell, so the tasks are asked what they hold. With both, held wins.

use super::env::Env;
use anchorbolt_core::failure::{Class, Cost, Failure};
use anchorbolt_core::ids::{RootId, TaskId, Time};
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

/// Who holds a tree's tuple, since when.
type Holders = HashMap<RootId, (String, TaskId, Time)>;

/// The failures of trees that timed out together.
pub(crate) fn timeouts(env: &Env, roots: &[RootId], timeout: Duration, now: Time) -> Vec<Failure> {
    let mut holders: Holders = HashMap::new();
    let wanted: std::collections::HashSet<RootId> = roots.iter().copied().collect();
    for task in &env.holders {
        let (name, id) = task.name();
        task.for_each_held(&mut |root, since| {
            if wanted.contains(&root) {
                let entry = holders.entry(root).or_insert_with(|| (name.to_owned(), id, since));
                if since < entry.2 {
                    *entry = (name.to_owned(), id, since);
                }
            }
        });
    }
    roots.iter().map(|root| failure(holders.get(root), timeout, now)).collect()
}

fn failure(holder: Option<&(String, TaskId, Time)>, timeout: Duration, now: Time) -> Failure {
    let output = String::new();
    // Held for the lesser part of the time: it had waited in queues before, and the load is to blame.
    match holder.filter(|(_, _, since)| now.since(*since) >= timeout / 2) {
        Some((component, task, since)) => Failure {
            class: Class::Timeout,
            cost: Cost::Patience,
            component: component.clone(),
            task: *task,
            // Coarse, so that the like of them are counted together.
            reason: format!(
                "message-timeout of {timeout:?} passed while the bolt held the tuple, neither acked nor failed, for {:?}",
                coarse(now.since(*since))
            ),
            output,
            input: None,
        },
        None => Failure {
            class: Class::Timeout,
            cost: Cost::Free,
            component: String::new(),
            task: 0,
            reason: format!("message-timeout of {timeout:?} passed while its tuples waited in queues"),
            output,
            input: None,
        },
    }
}

/// For a tree whose end nobody can explain, which would be a fault of the host.
pub(crate) fn unexplained(spout: &str) -> Failure {
    let (component, reason) = (spout.to_owned(), "the tree timed out".to_owned());
    let (class, cost) = (Class::Timeout, Cost::Free);
    Failure { class, cost, component, task: 0, reason, output: String::new(), input: None }
}

/// To a tenth of a second, below that to a millisecond.
fn coarse(d: Duration) -> Duration {
    let ms = d.as_millis() as u64;
    Duration::from_millis(if ms < 100 { ms.max(1) } else { (ms + 50) / 100 * 100 })
}

/// When all that may be pending is held and no queue has anything: the bolt that holds most, and how many
/// trees. It can never get more than it has.
pub(crate) fn stalled(env: &Env) -> Option<(String, usize)> {
    if !env.bolt_inboxes.read().iter().all(|inbox| inbox.is_idle()) {
        return None;
    }
    let held = |task: &std::sync::Arc<dyn super::env::Holder>| {
        let mut n = 0;
        task.for_each_held(&mut |_, _| n += 1);
        (task.name().0.to_owned(), n)
    };
    let mut by_bolt: BTreeMap<String, usize> = BTreeMap::new();
    for (name, n) in env.holders.iter().map(held) {
        *by_bolt.entry(name).or_default() += n;
    }
    by_bolt.into_iter().max_by_key(|(_, n)| *n).filter(|(_, n)| *n > 0)
}
