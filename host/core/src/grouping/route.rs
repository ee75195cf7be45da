//! One edge as its emitting task sees it: who may receive, and whose turn it is.

use super::partial::PartialKey;
use crate::ids::TaskId;
use crate::plan::Grouping;
use std::ops::Range;

/// How an edge picks receivers.
#[derive(Clone, Debug)]
enum Pick {
    /// Round robin: each producer's counts differ by at most one (Storm's ShuffleGrouping draws from a
    /// shuffled list for the same promise).
    Turn(u32),
    /// By the canonical hash of the key, floor modulo.
    Key,
    /// Every task.
    All,
    /// The lowest task id.
    First,
    /// The task that the emitter names.
    Direct,
    /// The less used one of two candidates by the hash of the key.
    Partial(Box<PartialKey>),
    /// Those that a plugin chose; its place among those of the stream.
    Custom(u32),
}

/// The receivers of one row on one edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Picked {
    /// This one, counted from the first task of the consumer.
    One(u32),
    /// Every task of the consumer.
    All,
    /// Nobody: the emission names no receiver, or one that is not the consumer's. So it is where a plugin chooses, too:
    /// those who it chose come from the router's choices.
    Nobody,
}

/// One edge from a task to the tasks of a consumer.
#[derive(Clone, Debug)]
pub struct Route {
    pick: Pick,
    /// The fields whose hash is asked for.
    key: Option<Vec<usize>>,
    tasks: Range<TaskId>,
    /// The index in the consumer's inputs.
    pub input: u32,
}

impl Route {
    /// A route; `turn` is where round robin starts, so that producers don't all begin with one task.
    pub fn new(grouping: &Grouping, tasks: Range<TaskId>, input: u32, turn: u32) -> Route {
        let pick = match grouping {
            Grouping::Fields(_) => Pick::Key,
            Grouping::All => Pick::All,
            Grouping::Global => Pick::First,
            Grouping::Direct => Pick::Direct,
            Grouping::PartialKey(_) => Pick::Partial(Box::new(PartialKey::new(tasks.end - tasks.start))),
            Grouping::Plugin { .. } => Pick::Custom(0),
            // One process: local-or-shuffle is shuffle.
            Grouping::Shuffle | Grouping::None | Grouping::LocalOrShuffle => {
                Pick::Turn(turn % (tasks.end - tasks.start).max(1))
            }
        };
        let key = match grouping {
            Grouping::Fields(fields) | Grouping::PartialKey(fields) => Some(fields.clone()),
            _ => None,
        };
        Route { pick, key, tasks, input }
    }

    /// Gives a custom grouping its place among those of its stream; the next one's comes back.
    pub(super) fn place(&mut self, next: u32) -> u32 {
        match &mut self.pick {
            Pick::Custom(place) => {
                *place = next;
                next + 1
            }
            _ => next,
        }
    }

    /// The fields whose hash picks the receiver.
    #[inline]
    pub fn key(&self) -> Option<&[usize]> {
        self.key.as_deref()
    }

    /// Whether the emitter names the receiver.
    #[inline]
    pub fn direct(&self) -> bool {
        matches!(self.pick, Pick::Direct)
    }

    /// The place of a custom grouping among those of its stream.
    #[inline]
    pub(super) fn custom(&self) -> Option<u32> {
        match self.pick {
            Pick::Custom(place) => Some(place),
            _ => None,
        }
    }

    /// Whether every task of the consumer receives.
    #[inline]
    pub fn to_all(&self) -> bool {
        matches!(self.pick, Pick::All)
    }

    /// The consumer's tasks.
    #[inline]
    pub fn tasks(&self) -> Range<TaskId> {
        self.tasks.clone()
    }

    /// Picks the receivers of a row. `hash` is that of [`Route::key`]; `target` the emission's own.
    #[inline]
    pub fn pick(&mut self, hash: u64, target: TaskId) -> Picked {
        let n = self.tasks.end - self.tasks.start;
        match &mut self.pick {
            Pick::Turn(turn) => {
                let now = *turn;
                *turn = if now + 1 >= n { 0 } else { now + 1 };
                Picked::One(now)
            }
            Pick::Key if n == 1 => Picked::One(0),
            Pick::Key => Picked::One((hash % u64::from(n)) as u32),
            Pick::All => Picked::All,
            Pick::First => Picked::One(0),
            Pick::Direct if self.tasks.contains(&target) => Picked::One(target - self.tasks.start),
            Pick::Partial(counts) => Picked::One(counts.pick(hash)),
            Pick::Direct | Pick::Custom(_) => Picked::Nobody,
        }
    }

    /// Remembers the state that a discarded call must give back; whose turn it is comes out.
    pub fn mark(&mut self) -> u32 {
        match &mut self.pick {
            Pick::Turn(turn) => *turn,
            Pick::Partial(counts) => {
                counts.mark();
                0
            }
            _ => 0,
        }
    }

    /// Gives the state back that it had at the mark.
    pub fn discard(&mut self, turn: u32) {
        match &mut self.pick {
            Pick::Turn(t) => *t = turn,
            Pick::Partial(counts) => counts.discard(),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shuffle_counts_differ_by_at_most_one_over_1001_tasks() {
        let mut route = Route::new(&Grouping::Shuffle, 1..1002, 0, 77);
        let mut counts = vec![0u32; 1001];
        for _ in 0..12_345 {
            let Picked::One(i) = route.pick(0, 0) else { panic!("one receiver") };
            counts[i as usize] += 1;
        }
        let (min, max) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
        assert!(max - min <= 1, "{min} {max}");
    }

    #[test]
    fn global_takes_the_lowest_task_and_fields_one_task_for_a_key() {
        assert_eq!(Route::new(&Grouping::Global, 5..9, 0, 3).pick(7, 0), Picked::One(0));
        let mut fields = Route::new(&Grouping::Fields(vec![0]), 5..9, 0, 3);
        assert_eq!(fields.pick(u64::MAX, 0), fields.pick(u64::MAX, 0));
        assert_eq!(fields.pick(6, 0), Picked::One(2));
    }
}
