//! Storm's configuration.
//!
//! In: the `config` of the topology and of components. Out: the table `[topology]`, and what components take over from it
//! ([`Shared`], [`Own`]). Invariant: each key of a `config` ends in the manifest, or in a note.

use super::Notes;
use super::beans::Beans;
use crate::model::{Definition, Setting, Vertex};
use crate::names;
use crate::reader::{boolean, integer};
use crate::write::{Table, one_line};
use crate::yaml::{Node, Value};
use anchorbolt_core::manifest::Spanned;
use anchorbolt_core::manifest::names::quote;
use serde_json::{Map, Value as Json};

/// The most that a manifest allows.
const PENDING_MAX: i64 = 1 << 26;
const ACKERS_MAX: i64 = 256;
const QUEUE_MAX: i64 = 1 << 24;
/// So many variables are copied to each bolt.
const VARIABLES_MAX: usize = 64;
/// A year.
const SECONDS_MAX: i64 = 365 * 24 * 3600;

/// What the topology's configuration says for all components.
#[derive(Default)]
pub(super) struct Shared {
    max_tasks: Option<i64>,
    tasks: Option<i64>,
    tick: Option<i64>,
    environment: Map<String, Json>,
}

/// What holds for one component.
#[derive(Default)]
pub(super) struct Own {
    /// `topology.max.task.parallelism`
    pub(super) max_tasks: Option<i64>,
    /// `topology.tasks`
    pub(super) tasks: Option<i64>,
    /// Seconds between ticks.
    pub(super) tick: Option<i64>,
    /// `topology.max.spout.pending`
    pub(super) max_pending: Option<i64>,
    /// `topology.environment`
    pub(super) environment: Map<String, Json>,
    /// Keys that are the component's own.
    pub(super) rest: Map<String, Json>,
}

/// Keys that ask for nothing here, with why.
const NEEDLESS: &[(&str, &str)] = &[
    ("topology.workers", "everything runs in one process; `executors` says how many threads"),
    ("topology.debug", "no tuples are logged; `--log-level debug` says more of the host"),
    ("topology.transfer.", "there is no queue between workers"),
    ("topology.executor.send.buffer.size", "there is no queue for sending"),
    ("topology.producer.batch.", "batches are as large as the load makes them"),
    ("topology.batch.flush.", "no tuple waits for a batch to fill"),
    ("topology.disruptor.", "queues are bounded by `queue-tuples` and `queue-bytes`"),
    ("topology.backpressure.", "back-pressure comes from bounded queues, always"),
    ("topology.spout.wait.", "a spout with nothing to emit sleeps until it is woken"),
    ("topology.sleep.spout.wait.", "a spout with nothing to emit sleeps until it is woken"),
    ("topology.bolt.wait.", "a bolt with nothing to do sleeps until it is woken"),
    ("topology.spout.recvq.skips", "acks never wait behind data"),
    ("topology.worker.", "there are no worker processes, and no JVM"),
    ("topology.classpath", "there is no JVM"),
    ("topology.component.resources.", "there is no scheduler; `limits` bounds a plugin"),
    ("topology.component.cpu.", "there is no scheduler; `limits` bounds a plugin"),
    ("topology.acker.resources.", "there is no scheduler"),
    ("topology.acker.cpu.", "there is no scheduler"),
    ("topology.priority", "there is no scheduler"),
    ("topology.scheduler.", "there is no scheduler"),
    ("topology.ras.", "there is no scheduler"),
    ("topology.isolate.machines", "there is one machine"),
    ("topology.spread.components", "there is one machine"),
    ("topology.kryo.", "tuples are MessagePack; nothing is to be registered"),
    ("topology.fall.back.on.java.serialization", "tuples are MessagePack"),
    ("topology.skip.missing.kryo.registrations", "tuples are MessagePack"),
    ("topology.tuple.", "tuples are MessagePack, and not compressed"),
    ("topology.testing.", "tuples always pass as bytes"),
    ("topology.stats.", "counts are exact, none is sampled"),
    ("topology.builtin.metrics.", "the report has the figures"),
    ("topology.error.throttle.", "errors are counted by their text, not throttled"),
    ("topology.max.error.report.", "errors are counted by their text, not throttled"),
    ("topology.eventlogger.", "there is no event logger"),
    ("topology.event.logger.", "there is no event logger"),
    ("topology.disable.loadaware.messaging", "shuffling takes the tasks in turn"),
    ("topology.localityaware.", "there is one machine"),
    ("topology.subprocess.timeout.secs", "a plugin is no process; `limits.deadline` bounds a call"),
    ("topology.shellbolt.max.pending", "a plugin is no process; a call takes what its bolt's queue has"),
    ("topology.multilang.", "plugins speak one contract, whatever their language"),
    ("topology.submitter.", "whoever starts the host runs it"),
    ("topology.users", "whoever starts the host runs it"),
    ("topology.groups", "whoever starts the host runs it"),
    ("topology.min.replication.", "nothing is copied to other machines"),
    ("topology.max.replication.", "nothing is copied to other machines"),
];

/// `[topology]`, and what components take over.
pub(super) fn topology(definition: &Definition, notes: &mut Notes<'_, '_>) -> (Table, Shared) {
    let mut table = Table::new("topology");
    let mut shared = Shared::default();
    if let Some(name) = &definition.name {
        let mended = names::topology(&name.value);
        if mended != name.value {
            notes.differs(&mut table, name.span, format!("{} is called `{mended}` here", quote(&name.value)));
        }
        table.set("name", mended);
    }
    for setting in definition.config.iter().filter(|setting| !setting.value.is_null()) {
        topology_key(setting, &mut table, &mut shared, notes);
    }
    for hook in &definition.worker_hooks {
        let message =
            format!("the worker hook {} ({}) has no counterpart", quote(&hook.id.value), hook.class.value);
        notes.hand(
            &mut table,
            hook.id.span,
            message,
            "do before and after the run what it did, or in the bolts' `prepare` and `cleanup`",
        );
    }
    (table, shared)
}

fn topology_key(setting: &Setting, table: &mut Table, shared: &mut Shared, notes: &mut Notes<'_, '_>) {
    match &*setting.key.value {
        "topology.message.timeout.secs" => {
            let seconds = number(setting, 1, SECONDS_MAX, table, notes);
            seconds.into_iter().for_each(|n| table.set("message-timeout", format!("{n}s")));
        }
        "topology.max.spout.pending" => {
            let pending = number(setting, 1, PENDING_MAX, table, notes);
            pending.into_iter().for_each(|n| table.set("max-spout-pending", n));
        }
        "topology.acker.executors" => {
            number(setting, 0, ACKERS_MAX, table, notes).into_iter().for_each(|n| table.set("ackers", n));
        }
        "topology.executor.receive.buffer.size" => {
            number(setting, 1, QUEUE_MAX, table, notes)
                .into_iter()
                .for_each(|n| table.set("queue-tuples", n));
        }
        "topology.enable.message.timeouts" if boolean(&setting.value) == Some(false) => {
            let help = "set `message-timeout` longer than anything takes; a year is the most";
            notes.hand(table, setting.key.span, "messages always have a timeout here", help);
        }
        "topology.enable.message.timeouts" => {}
        "topology.tick.tuple.freq.secs" => shared.tick = tick(setting, table, notes),
        "topology.max.task.parallelism" => shared.max_tasks = number(setting, 1, i64::MAX, table, notes),
        "topology.tasks" => shared.tasks = number(setting, 1, i64::MAX, table, notes),
        "topology.environment" => shared.environment = environment(setting, table, notes),
        key => other(key, setting, "in `config` of each bolt that reads it", table, notes),
    }
}

/// What holds for a component: its own `config`, `addComponentConfig`, and what is shared.
pub(super) fn own(
    vertex: &Vertex,
    shared: &Shared,
    beans: &mut Beans<'_>,
    table: &mut Table,
    notes: &mut Notes<'_, '_>,
) -> Own {
    let mut own = Own {
        max_tasks: shared.max_tasks,
        tasks: shared.tasks,
        tick: shared.tick,
        environment: shared.environment.clone(),
        ..Own::default()
    };
    let called = vertex.bean.methods.iter().filter(|method| method.name == "addComponentConfig");
    let called = called.filter_map(|method| match &method.args[..] {
        [key, value, ..] => {
            let key = Spanned::at(key.text()?.to_owned(), key.span);
            Some(Setting { key, value: value.clone() })
        }
        _ => None,
    });
    for setting in vertex.config.iter().cloned().chain(called).filter(|setting| !setting.value.is_null()) {
        match &*setting.key.value {
            "topology.tick.tuple.freq.secs" => own.tick = tick(&setting, table, notes),
            "topology.max.task.parallelism" => own.max_tasks = number(&setting, 1, i64::MAX, table, notes),
            "topology.tasks" => own.tasks = number(&setting, 1, i64::MAX, table, notes),
            "topology.max.spout.pending" => own.max_pending = number(&setting, 1, PENDING_MAX, table, notes),
            "topology.environment" => own.environment.extend(environment(&setting, table, notes)),
            key if key.starts_with("topology.") => {
                other(key, &setting, "for the whole topology", table, notes)
            }
            key => drop(own.rest.insert(key.to_owned(), beans.value(&setting.value, 0))),
        }
    }
    own
}

/// A whole number within the manifest's range; cut to it with a note.
fn number(
    setting: &Setting,
    least: i64,
    most: i64,
    table: &mut Table,
    notes: &mut Notes<'_, '_>,
) -> Option<i64> {
    let key = &setting.key.value;
    let Some(number) = integer(&setting.value) else {
        let message = format!("`{key}` is no whole number");
        notes.hand(table, Some(setting.value.span), message, "Storm refuses that: see what was meant");
        return None;
    };
    let cut = number.clamp(least, most);
    if cut != number {
        let message = format!("`{key}` is {number}, which a manifest does not allow: it is {cut} now");
        notes.hand(table, Some(setting.value.span), message, "see whether that is right");
    }
    Some(cut)
}

/// 0 seconds are no ticks.
fn tick(setting: &Setting, table: &mut Table, notes: &mut Notes<'_, '_>) -> Option<i64> {
    number(setting, 0, SECONDS_MAX, table, notes).filter(|seconds| *seconds > 0)
}

fn environment(setting: &Setting, table: &mut Table, notes: &mut Notes<'_, '_>) -> Map<String, Json> {
    let Value::Map(entries) = &setting.value.value else {
        let message = "`topology.environment` is no map of variables";
        notes.hand(table, Some(setting.value.span), message, "Storm refuses that: see what was meant");
        return Map::new();
    };
    if entries.len() > VARIABLES_MAX {
        let message = format!("`topology.environment` has more than {VARIABLES_MAX} variables");
        notes.hand(
            table,
            Some(setting.value.span),
            message,
            "write `allow.env` for each bolt that needs some",
        );
        return Map::new();
    }
    let pair = |(key, value): &(Node, Node)| Some((key.text()?.to_owned(), Json::from(value.text()?)));
    entries.iter().filter_map(pair).filter(|(name, _)| !name.contains(['=', '\0'])).collect()
}

fn other(key: &str, setting: &Setting, place: &str, table: &mut Table, notes: &mut Notes<'_, '_>) {
    let matches = |known: &str| key == known || (known.ends_with('.') && key.starts_with(known));
    if let Some((_, why)) = NEEDLESS.iter().find(|(known, _)| matches(known)) {
        notes.differs(table, setting.key.span, format!("`{key}` is not needed: {why}"));
    } else if key.starts_with("topology.") {
        let message = format!("`{key}` has no counterpart that is known");
        notes.hand(table, setting.key.span, message, "see what it was for");
    } else {
        let empty = Definition::default();
        let value = Beans::new(&empty).value(&setting.value, 0);
        let message = format!("{} was for the components themselves", quote(key));
        let help = format!("write it {place}: {}", one_line(key, &value));
        notes.hand(table, setting.key.span, message, &help);
    }
}
