//! `[bolts.X]`: from its table to [`Bolt`].

use super::allow;
use super::bounds;
use super::codes;
use super::diagnostic::{Diagnostic, Spanned};
use super::document::Entry;
use super::inputs;
use super::kinds::{LATER_SINK_KINDS, SPOUT_KINDS, SinkKind};
use super::model::{Bolt, Code, Inputs};
use super::names::{self, quote};
use super::options::{self, SinkWord};
use super::reader::{Field, Parsed, Reader};
use super::spout::{Kinds, ReadKind, executors_and_tasks, one_task};
use super::topology::{ANY_SIZE, Shared};
use super::units::show_size;
use super::values::{boolean, config, duration, integer, path, size, spanned_text, text};

const BATCH_MAX: u32 = 65_536;
const WORDS: &[(&str, SinkWord)] =
    &[("jsonl", SinkWord::Jsonl), ("stdout", SinkWord::Stdout), ("null", SinkWord::Null)];
/// What only a plugin can have.
const PLUGIN_KEYS: &[&str] = &["source", "sha256", "stateless", "recycle-at", "config", "allow"];

/// Reads the table; none only when it is not one.
pub(super) fn read(
    entry: &Entry,
    field: Field<'_>,
    shared: &Shared,
    out: &mut Vec<Diagnostic>,
) -> Option<Bolt> {
    names::report("a bolt", &entry.key, entry.key_span, out);
    let mut t = Reader::open(field, "write `[bolts.name]` and its keys below it", out)?;
    let (executors, tasks) = executors_and_tasks(&mut t);
    let code = code(&mut t, executors, tasks);
    let limits = t.field("limits");
    let allow = t.field("allow");
    let restart = t.field("restart");
    let inputs = t.field("inputs");
    let bolt = Bolt {
        name: Spanned::at(entry.key.clone(), entry.key_span),
        code,
        source: t.read("source", spanned_text),
        executors,
        tasks,
        inputs: inputs.map_or_else(Inputs::default, |field| inputs::inputs(&field, t.out)),
        tick: t.read("tick", duration),
        stateless: t.read("stateless", boolean),
        recycle_at: t.read("recycle-at", |field| Ok(field.spanned(size(ANY_SIZE)(field)?))),
        batch: t.read("batch", integer(1..=BATCH_MAX)),
        config: t.read("config", config).unwrap_or_else(|| serde_json::Value::Object(serde_json::Map::new())),
        limits: bounds::limits(limits, shared, t.out),
        allow: allow::allow(allow, t.out),
        restart: bounds::restart(restart, t.out),
    };
    check_recycle(&mut t, &bolt);
    t.finish();
    Some(bolt)
}

/// Reads `plugin` or `kind`, and the keys that go with it.
fn code(t: &mut Reader<'_, '_>, executors: u32, tasks: u32) -> Option<Spanned<Code>> {
    let plugin = t.peek("plugin");
    let kind = t.peek("kind");
    match (plugin, kind) {
        (Some(plugin), Some(kind)) => {
            let message = format!("`{}` has both `plugin` and `kind`", t.path());
            let mistake = Diagnostic::error(codes::PLUGIN_OR_KIND, kind.key_span, message);
            let help = "keep `plugin` to run your own code, or `kind` for a sink of the host";
            t.out.push(mistake.help(help).related(plugin.key_span, "the plugin"));
            t.know(&["plugin", "kind", "sha256"]);
            t.know(options::SINK_KEYS);
            None
        }
        (None, None) => {
            let message = format!("`{}` has neither `plugin` nor `kind`", t.path());
            let help =
                format!("add `plugin = \"plugins/{}.wasm\"`, or a sink: `kind = \"jsonl\"`", own_name(t));
            t.out.push(Diagnostic::error(codes::PLUGIN_OR_KIND, t.span(), message).help(help));
            t.know(&["plugin", "kind", "sha256"]);
            t.know(options::SINK_KEYS);
            None
        }
        (Some(field), None) => {
            t.hide(&["kind"]);
            let code = plugin_code(t);
            code.map(|code| field.spanned(code))
        }
        (None, Some(field)) => {
            let sink = native(t, executors, tasks);
            sink.map(|sink| field.spanned(Code::Native(sink)))
        }
    }
}

fn own_name<'t>(t: &'t Reader<'_, '_>) -> &'t str {
    t.path().rsplit('.').next().unwrap_or_default()
}

fn plugin_code(t: &mut Reader<'_, '_>) -> Option<Code> {
    let path = t.read("plugin", path);
    let given = t.peek("sha256").is_some();
    let sha256 = t.read("sha256", sha256);
    for key in options::SINK_KEYS {
        t.misplaced(key, |field| {
            let message = format!("`{}` goes only with `kind = \"jsonl\"`", field.path);
            Diagnostic::error(codes::KEY_MISPLACED, field.key_span, message)
                .help(format!("a plugin's own settings go into `config = {{ {key} = .. }}`"))
        });
    }
    if given && sha256.is_none() {
        return None;
    }
    path.map(|path| Code::Plugin { path, sha256 })
}

fn native(t: &mut Reader<'_, '_>, executors: u32, tasks: u32) -> Option<SinkKind> {
    let kinds = Kinds { here: WORDS, later: LATER_SINK_KINDS, elsewhere: SPOUT_KINDS, is: "sink" };
    let sink = match kinds.read(t) {
        ReadKind::Known(word) => options::sink(word, t),
        ReadKind::Unknown => {
            t.know(options::SINK_KEYS);
            None
        }
        ReadKind::Later => {
            t.know_all();
            return None;
        }
    };
    t.hide(&["plugin"]);
    for key in PLUGIN_KEYS {
        t.misplaced(key, |field| {
            let message = format!("`{}` goes only with a `plugin`", field.path);
            Diagnostic::error(codes::KEY_MISPLACED, field.key_span, message)
                .help("remove it: a sink of the host has its own keys only")
        });
    }
    t.hide(PLUGIN_KEYS);
    if sink.as_ref().is_some_and(SinkKind::single) {
        one_task(t, "jsonl", executors, tasks, "the lines of a file have one writer");
    }
    sink
}

/// 64 hex digits, in lower case; `sha256:` before them, as reports write it, is taken off.
fn sha256(field: &Field<'_>) -> Parsed<String> {
    let text = text(field)?;
    let digits = text.strip_prefix("sha256:").unwrap_or(&text);
    if digits.len() == 64 && digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        return Ok(digits.to_ascii_lowercase());
    }
    let message = format!("{} is not a sha256", quote(&text));
    let help = "write its 64 hexadecimal digits, as `sha256sum` prints them";
    Err(Some(Box::new(field.error(codes::BAD_SHA256, message).help(help))))
}

/// An instance that is recycled at its limit dies there before it is recycled.
fn check_recycle(t: &mut Reader<'_, '_>, bolt: &Bolt) {
    let (Some(at), Some(field)) = (&bolt.recycle_at, t.peek("recycle-at")) else {
        return;
    };
    if at.value < bolt.limits.memory_bytes {
        return;
    }
    let (at, limit) = (show_size(at.value), show_size(bolt.limits.memory_bytes));
    let message = format!("`{}` ({at}) is not below the memory limit ({limit})", field.path);
    let help = format!("make it smaller than \"{limit}\", or `limits.memory` larger than \"{at}\"");
    t.out.push(field.error(codes::CONTRADICTION, message).help(help));
}
