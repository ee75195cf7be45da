//! `[spouts.X]`: from its table to [`Spout`]. And what spouts and bolts have in common: tasks and kinds.

use super::bounds;
use super::codes;
use super::diagnostic::{Diagnostic, Spanned};
use super::document::Entry;
use super::kinds::{LATER_SPOUT_KINDS, SINK_KINDS, SPOUT_KINDS, SpoutKind};
use super::model::Spout;
use super::names::{self, quote};
use super::options::{self, SpoutWord};
use super::reader::{Field, Parsed, Reader};
use super::suggest;
use super::topology::{Shared, max_pending};
use super::values::{integer, text};

const EXECUTORS_MAX: u32 = 1024;
const TASKS_MAX: u32 = 65_536;
const WORDS: &[(&str, SpoutWord)] =
    &[("lines", SpoutWord::Lines), ("generate", SpoutWord::Generate), ("stdin", SpoutWord::Stdin)];

/// Reads the table; none only when it is not one.
pub(super) fn read(
    entry: &Entry,
    field: Field<'_>,
    shared: &Shared,
    out: &mut Vec<Diagnostic>,
) -> Option<Spout> {
    names::report("a spout", &entry.key, entry.key_span, out);
    let mut t = Reader::open(field, "write `[spouts.name]` and its keys below it", out)?;
    bolts_keys(&mut t);
    let (executors, tasks) = executors_and_tasks(&mut t);
    let kind = Kinds { here: WORDS, later: LATER_SPOUT_KINDS, elsewhere: SINK_KINDS, is: "spout" };
    let kind = match t.peek("plugin") {
        // Without a kind there is nothing to say that was not said.
        Some(_) if t.peek("kind").is_none() => ReadKind::Unknown,
        _ => kind.read(&mut t),
    };
    let kind = match kind {
        ReadKind::Known(word) => options::spout(word, &mut t),
        ReadKind::Unknown => {
            t.know(options::SPOUT_KEYS);
            None
        }
        ReadKind::Later => {
            t.know_all();
            None
        }
    };
    if kind.as_ref().is_some_and(SpoutKind::single) {
        one_task(&mut t, "stdin", executors, tasks, "there is one standard input");
    }
    let retry = t.field("retry");
    let limits = t.field("limits");
    let spout = Spout {
        name: Spanned::at(entry.key.clone(), entry.key_span),
        kind,
        executors,
        tasks,
        max_pending: t.read("max-spout-pending", max_pending).unwrap_or(shared.max_pending),
        retry: bounds::retry(retry, t.out),
        tuple_bytes_max: bounds::spout_limits(limits, t.out),
    };
    t.finish();
    Some(spout)
}

/// Reports keys that only a bolt has.
fn bolts_keys(t: &mut Reader<'_, '_>) {
    t.misplaced("inputs", |field| {
        let message = format!("`{}`: a spout takes no inputs", field.path);
        Diagnostic::error(codes::SPOUT_INPUT, field.key_span, message)
            .help("remove it; a component that takes tuples is a bolt: `[bolts.name]`")
    });
    t.misplaced("plugin", |field| {
        let message = format!("`{}`: a spout has no plugin", field.path);
        Diagnostic::error(codes::KEY_MISPLACED, field.key_span, message).help(format!(
            "name a native `kind`: {}; plugins are bolts",
            suggest::list(SPOUT_KINDS.iter().copied())
        ))
    });
}

/// Reads `executors` and `tasks`.
pub(super) fn executors_and_tasks(t: &mut Reader<'_, '_>) -> (u32, u32) {
    let executors = t.read("executors", integer(1..=EXECUTORS_MAX)).unwrap_or(1);
    let Some(tasks) = t.read("tasks", integer(1..=TASKS_MAX)) else {
        return (executors, executors);
    };
    if let (true, Some(field)) = (tasks < executors, t.peek("tasks")) {
        let message = format!("`{}` has more executors ({executors}) than tasks ({tasks})", t.path());
        let help =
            format!("a thread without a task does nothing: at least {executors} tasks, or fewer executors");
        let other = t.peek("executors").map(|field| field.node.span);
        t.out.push(field.error(codes::TOO_FEW_TASKS, message).help(help).related(other, "the executors"));
        return (executors, executors);
    }
    (executors, tasks)
}

/// Reports more than one executor or task of a kind that can have only one.
pub(super) fn one_task(t: &mut Reader<'_, '_>, kind: &str, executors: u32, tasks: u32, why: &str) {
    let key = if executors > 1 { "executors" } else { "tasks" };
    if let (true, Some(field)) = (executors > 1 || tasks > 1, t.peek(key)) {
        let message = format!("`{}`: `{kind}` runs as one executor with one task", field.path);
        t.out.push(field.error(codes::ONE_TASK_ONLY, message).help(format!("remove `{key}`: {why}")));
    }
}

/// The words for `kind` in one place of the manifest.
pub(super) struct Kinds<T: 'static> {
    /// Those that mean something here.
    pub(super) here: &'static [(&'static str, T)],
    /// Those that a later version brings.
    pub(super) later: &'static [&'static str],
    /// Those of the other role.
    pub(super) elsewhere: &'static [&'static str],
    /// `spout` or `sink`.
    pub(super) is: &'static str,
}

/// What `kind` says.
pub(super) enum ReadKind<T> {
    /// A kind of this version.
    Known(T),
    /// A kind whose keys this version does not know.
    Later,
    /// Anything else.
    Unknown,
}

impl<T: Copy> Kinds<T> {
    /// Reads `kind`.
    pub(super) fn read(&self, t: &mut Reader<'_, '_>) -> ReadKind<T> {
        let example = format!("kind = \"{}\"", self.here.first().map_or("", |(word, _)| *word));
        let mut later = false;
        let read = t.require("kind", &example, |field| {
            let word = text(field)?;
            later = self.later.contains(&&*word);
            self.find(field, &word)
        });
        match read {
            Some(kind) => ReadKind::Known(kind),
            None if later => ReadKind::Later,
            None => ReadKind::Unknown,
        }
    }

    fn find(&self, field: &Field<'_>, word: &str) -> Parsed<T> {
        if let Some((_, kind)) = self.here.iter().find(|(name, _)| *name == word) {
            return Ok(*kind);
        }
        let here = self.here.iter().map(|(name, _)| *name);
        let kinds = format!("kinds of {}", self.is);
        let other = if self.is == "spout" { "sink" } else { "spout" };
        let mistake = if self.later.contains(&word) {
            field
                .error(codes::LATER_KIND, format!("this version has no {} `{word}` yet", self.is))
                .help(format!("{kinds}: {}", suggest::list(here)))
        } else if self.elsewhere.contains(&word) {
            let place = if other == "spout" { "spouts" } else { "bolts" };
            field
                .error(codes::KIND_MISPLACED, format!("`{word}` is a kind of {other}, not of {}", self.is))
                .help(format!("write it under `[{place}.name]`; {kinds}: {}", suggest::list(here)))
        } else {
            field
                .error(codes::UNKNOWN_KIND, format!("there is no kind of {} called {}", self.is, quote(word)))
                .help(match suggest::nearest(word, here.clone().chain(self.later.iter().copied())) {
                    Some(meant) => format!("did you mean `{meant}`?"),
                    None => format!("{kinds}: {}", suggest::list(here)),
                })
        };
        Err(Some(Box::new(mistake)))
    }
}
