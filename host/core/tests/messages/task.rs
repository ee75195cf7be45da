//! A spout task with its own ledger, as the runtime drives it.

use anchorbolt_core::ack::{Generations, Ledger, LedgerSettings};
use anchorbolt_core::failure::{Class, Cost, Failure};
use anchorbolt_core::ids::{MessageId, RootId, Time};
use anchorbolt_core::messages::{Counts, MessageEvent, MessageSlot, Messages, MessagesSettings, TreeEnd};
use anchorbolt_core::retry::RetryPolicy;
use std::sync::Arc;
use std::time::Duration;

/// A spout task with its own ledger; each row goes to one tuple, whose edge is 1.
pub(crate) struct Task {
    pub(crate) messages: Messages,
    pub(crate) ledger: Ledger,
    pub(crate) generations: Arc<Generations>,
    pub(crate) now: Time,
    /// Whether everything is walked through after each event.
    pub(crate) check: bool,
    events: Vec<MessageEvent>,
}

impl Task {
    pub(crate) fn new(max_pending: u32, retry: RetryPolicy, unique_ids: bool) -> Task {
        Task::with_timeout(Duration::from_secs(30), max_pending, retry, unique_ids)
    }

    pub(crate) fn with_timeout(
        timeout: Duration,
        max_pending: u32,
        retry: RetryPolicy,
        unique_ids: bool,
    ) -> Task {
        let generations = Arc::new(Generations::new());
        let max_tree_age = timeout * 10;
        let ledger = LedgerSettings { owner: 0, shard: 0, shards: 1, timeout, max_tree_age };
        let settings = MessagesSettings { owner: 0, max_pending, retry, unique_ids };
        Task {
            ledger: Ledger::new(ledger, Arc::clone(&generations)),
            messages: Messages::new(settings, Arc::clone(&generations)),
            generations,
            now: Time(0),
            check: true,
            events: vec![],
        }
    }

    pub(crate) fn standard() -> Task {
        Task::new(2048, RetryPolicy::default(), false)
    }

    pub(crate) fn emit(&mut self, id: u64, row: &[u8]) -> (MessageSlot, Option<RootId>) {
        let slot = self.messages.begin(MessageId::pair(0, id), self.now).expect("room");
        self.messages.keep_row(slot, 0, row);
        (slot, self.open(slot))
    }

    pub(crate) fn open(&mut self, slot: MessageSlot) -> Option<RootId> {
        let root = self.messages.open_tree(slot, self.now);
        if let Some(root) = root {
            self.ledger.register(root, 1, self.now);
        }
        root
    }

    /// Emits all that is due; the roots of each message.
    pub(crate) fn replay(&mut self) -> Vec<(MessageSlot, Vec<RootId>)> {
        let mut replayed = vec![];
        while let Some(slot) = self.messages.take_due(self.now) {
            let rows = self.messages.rows(slot).count();
            replayed.push((slot, (0..rows).filter_map(|_| self.open(slot)).collect()));
        }
        replayed
    }

    pub(crate) fn ack(&mut self, root: RootId) -> Vec<MessageEvent> {
        self.ledger.ack(root, 1, self.now);
        self.turn()
    }

    pub(crate) fn fail(&mut self, root: RootId, cost: Cost) -> Vec<MessageEvent> {
        self.ledger.fail(root, failure(Class::Failed, cost));
        self.turn()
    }

    pub(crate) fn wait(&mut self, d: Duration) {
        self.now = self.now.after(d);
    }

    /// Ends, cancellations and ends again, until it is quiet. A tree that times out was in a queue.
    pub(crate) fn turn(&mut self) -> Vec<MessageEvent> {
        loop {
            let (mut ends, mut cancels) = (vec![], vec![]);
            self.ledger.drain(&mut ends);
            for end in ends {
                let (root, end) = TreeEnd::of(end, |_, _| failure(Class::Timeout, Cost::Free));
                self.messages.tree_event(root, end, self.now, u64::MAX);
                if self.check {
                    self.messages.self_check().expect("sound");
                }
            }
            self.messages.drain_cancels(&mut cancels);
            if cancels.is_empty() {
                break;
            }
            cancels.iter().for_each(|&root| self.ledger.cancel(root));
        }
        self.messages.drain_events(&mut self.events);
        std::mem::take(&mut self.events)
    }

    pub(crate) fn counts(&self) -> Counts {
        self.messages.counts()
    }
}

pub(crate) fn failure(class: Class, cost: Cost) -> Failure {
    let (component, reason, output) = ("bolt".to_owned(), "why".to_owned(), String::new());
    Failure { class, cost, component, task: 2, reason, output, input: None }
}

pub(crate) fn retry_at(events: &[MessageEvent]) -> Time {
    match events {
        [MessageEvent::Failed { retry_at, .. }] => *retry_at,
        other => panic!("one failed attempt, not {other:?}"),
    }
}
