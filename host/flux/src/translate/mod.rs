//! Flux's model to the tables of a manifest.
//!
//! In: a [`Definition`] that was read without errors. Out: tables with comments, and diagnostics: what is wrong with how
//! the parts fit together; what [needs a hand](codes::NEEDS_HAND), which is a comment `TODO` at its place, too; what
//! is [done otherwise](codes::DIFFERS), a comment as well.
//!
//! `settings` knows Storm's keys, `spouts` and `bolts` its classes, `kafka` how its spouts are put together, `streams` the
//! groupings, `beans` what is left of Java objects. Invariant: whatever was in the file is in the manifest, in a
//! comment of it, or in a diagnostic.

mod beans;
mod bolts;
mod fields;
mod graph;
mod kafka;
mod settings;
mod spouts;
mod streams;

use crate::codes;
use crate::model::{Definition, Vertex};
use crate::write::{Table, key};
use anchorbolt_core::manifest::names::quote;
use anchorbolt_core::manifest::{Diagnostic, Sources, Span, Spanned, codes as manifest_codes};
use beans::Beans;
use graph::Graph;

/// So many executors a component may have here.
const EXECUTORS_MAX: i64 = 1024;
/// So many tasks.
const TASKS_MAX: i64 = 65_536;

/// Translates a topology; without tables when it is wrong.
pub(crate) fn translate(definition: &Definition, sources: &Sources, out: &mut Vec<Diagnostic>) -> Vec<Table> {
    if let Some(source) = &definition.topology_source {
        out.push(made_by_java(&source.class));
        return vec![];
    }
    check_whole(definition, out);
    let Some(graph) = Graph::new(definition, out) else { return vec![] };
    let mut notes = Notes { sources, out };
    let mut beans = Beans::new(definition);
    let mut tables = vec![head(sources)];
    let (topology, shared) = settings::topology(definition, &mut notes);
    tables.push(topology);
    for spout in &definition.spouts {
        tables.push(spouts::spout(spout, &graph, &shared, &mut beans, &mut notes));
    }
    for bolt in &definition.bolts {
        tables.push(bolts::bolt(bolt, &graph, &shared, &mut beans, &mut notes));
    }
    tables
}

fn made_by_java(class: &Spanned<String>) -> Diagnostic {
    let message = format!(
        "the topology is made by the Java class {}: this file does not say what is in it",
        quote(&class.value)
    );
    Diagnostic::error(codes::MADE_BY_JAVA, class.span, message).help(
        "write its spouts, bolts and streams into this file as Flux does, or write a manifest by hand from the Java code",
    )
}

fn check_whole(definition: &Definition, out: &mut Vec<Diagnostic>) {
    let start = Span::new(0, 0..0);
    if definition.name.is_none() {
        let message = "the topology lacks the key `name`";
        out.push(
            Diagnostic::error(manifest_codes::MISSING_KEY, start, message)
                .help("add `name: \"my-topology\"`"),
        );
    }
    if definition.spouts.is_empty() {
        let message = "the topology has no spout: nothing would ever flow";
        out.push(Diagnostic::error(manifest_codes::NO_SPOUT, start, message).help("add a list `spouts`"));
    }
}

fn head(sources: &Sources) -> Table {
    let name = sources.get(0).map_or("", |(name, _)| name);
    let mut table = Table::default();
    table.comments.push(format!("From the Storm topology {name}. What says TODO needs a hand;"));
    table.comments.push("`anchorbolt check` says what is still missing.".to_owned());
    table
}

/// Where notes go: into the list, and as comments into a table.
struct Notes<'s, 'o> {
    sources: &'s Sources,
    out: &'o mut Vec<Diagnostic>,
}

impl Notes<'_, '_> {
    /// Something needs a hand.
    fn hand(&mut self, table: &mut Table, span: Option<Span>, message: impl Into<String>, help: &str) {
        let note = Diagnostic::warning(codes::NEEDS_HAND, span, message).help(help);
        table.comments.push(format!("TODO {}{}", self.place(span), note.message));
        table.comments.extend(note.help.iter().map(|help| format!("     {help}")));
        self.out.push(note);
    }

    /// Something is otherwise here.
    fn differs(&mut self, table: &mut Table, span: Option<Span>, message: impl Into<String>) {
        let note = Diagnostic::warning(codes::DIFFERS, span, message);
        table.comments.push(format!("{}{}", self.place(span), note.message));
        self.out.push(note);
    }

    fn place(&self, span: Option<Span>) -> String {
        let location = span.and_then(|span| self.sources.locate(span));
        location.map_or_else(String::new, |at| format!("{}:{}: ", at.file, at.line))
    }
}

/// The table of a component, with `executors` and `tasks` unless it can have only one.
fn component_table(section: &str, vertex: &Vertex, graph: &Graph<'_>, notes: &mut Notes<'_, '_>) -> Table {
    let id = &vertex.bean.id;
    let name = graph.names.get(&id.value);
    let mut table = Table::new(format!("{section}.{}", key(name)));
    if name != id.value {
        notes.differs(&mut table, id.span, format!("{} is called `{name}` here", quote(&id.value)));
    }
    table
}

/// How many tasks and executors Storm gives a component.
struct Tasks {
    /// What was asked for.
    wanted: i64,
    /// What `topology.max.task.parallelism` leaves of them.
    tasks: i64,
    executors: i64,
}

impl Tasks {
    fn of(vertex: &Vertex, settings: &settings::Own) -> Tasks {
        let parallelism = vertex.parallelism.as_ref().map_or(1, |n| n.value);
        let wanted = vertex.num_tasks.as_ref().map(|n| n.value).or(settings.tasks).unwrap_or(parallelism);
        let tasks = wanted.min(settings.max_tasks.unwrap_or(i64::MAX)).max(1);
        Tasks { wanted, tasks, executors: parallelism.min(tasks) }
    }
}

/// Sets `executors` and `tasks`; `single`: the kind runs as one task.
fn counts(
    table: &mut Table,
    vertex: &Vertex,
    settings: &settings::Own,
    single: bool,
    notes: &mut Notes<'_, '_>,
) {
    let Tasks { wanted, mut tasks, mut executors } = Tasks::of(vertex, settings);
    let span = vertex.parallelism.as_ref().or(vertex.num_tasks.as_ref()).and_then(|n| n.span);
    let span = span.or(vertex.bean.id.span);
    if tasks < wanted {
        notes.differs(
            table,
            span,
            format!("{wanted} tasks are {tasks}, as `topology.max.task.parallelism` says"),
        );
    }
    if single {
        if tasks > 1 {
            notes.differs(table, span, format!("one task does what {tasks} did: this kind has no more"));
        }
        return;
    }
    let mut cut = |count: &mut i64, most: i64, what: &str| {
        if *count > most {
            let message = format!("{count} {what} are too many: it has {most}");
            notes.hand(table, span, message, "see whether that is enough");
            *count = most;
        }
    };
    cut(&mut tasks, TASKS_MAX, "tasks");
    cut(&mut executors, EXECUTORS_MAX, "executors");
    if executors > 1 {
        table.set("executors", executors);
    }
    if tasks != executors {
        table.set("tasks", tasks);
    }
}

/// Hints to Storm's scheduler.
fn loads(table: &mut Table, vertex: &Vertex, notes: &mut Notes<'_, '_>) {
    for load in &vertex.loads {
        let what =
            format!("`{}` was a hint to Storm's scheduler; here `limits.memory` bounds a plugin", load.value);
        notes.differs(table, load.span, what);
    }
}

/// References of a bean to components that are not there.
fn dangling(table: &mut Table, vertex: &Vertex, beans: &Beans<'_>, notes: &mut Notes<'_, '_>) {
    for node in beans.dangling(&vertex.bean) {
        let id = quote(node.text().unwrap_or_default());
        notes.hand(
            table,
            Some(node.span),
            format!("there is no component {id}: Storm passes null"),
            "see what it should have been",
        );
    }
}
