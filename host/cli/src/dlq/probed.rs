//! What a bolt did with one tuple, for a person and for a script.
//!
//! In: a [`Probed`]. Out: text, or JSON as the reference has it. Invariant: the text's first word of a result is how the
//! tuple ended, and JSON has the same in `end`.

use crate::safe;
use anchorbolt_host::assemble::{Figure, Probed, Said, Way};
use anchorbolt_host::core::failure::Cost;
use anchorbolt_host::durable::Letter;
use anchorbolt_host::json::row_values;
use anchorbolt_host::probe::{Emission, End, Tuple};
use anchorbolt_host::wasm::{Level, Printed};
use serde_json::{Map, Value, json};
use std::time::Duration;

/// So many emissions and lines are shown, and so many characters of a value.
const LISTED: usize = 100;
const VALUE_CHARS: usize = 1000;

/// For a person.
pub(super) fn text(letter: &Letter, tuple: &Tuple, probed: &Probed, all: bool) -> String {
    let o = &probed.outcome;
    let mut out = format!(
        "bolt `{}` (task {}), attempt {} of {}\n",
        o.context.component,
        o.context.task,
        tuple.attempt,
        safe::line(&letter.id)
    );
    let (stream, fields) = input(probed, tuple);
    out += &format!("input from {stream}\n  {}\n\n{}", value(&fields, all), end(&o.end));
    if let Some(error) = o.error.as_ref().filter(|_| o.end == End::Acked) {
        out += &format!("the call returned an error all the same: {}\n", safe::line(error));
    }
    if o.reset_timeout {
        out += "it restarted the message's timeout\n";
    }
    let said: Vec<String> =
        probed.said.iter().map(|said| format!("{:<6}  {}", way(said.way), safe::line(&said.text))).collect();
    let emitted: Vec<String> = o.emitted.iter().map(|one| emission(one, all)).collect();
    let reported: Vec<String> = o.reported.iter().map(|text| safe::line(text)).collect();
    let metrics: Vec<String> =
        probed.metrics.iter().map(|(name, f)| format!("{}  {}", safe::line(name), figure(*f))).collect();
    section("emitted", &emitted, all, &mut out);
    section("reported", &reported, all, &mut out);
    section("logged and printed", &said, all, &mut out);
    section("metrics", &metrics, all, &mut out);
    out += &format!("\nprepared in {}, ran for {}", took(o.prepared_in), took(o.took));
    if o.memory_bytes > 0 {
        out += &format!(", {} KiB of memory", o.memory_bytes / 1024);
    }
    out + "\n"
}

/// The stream that the tuple came by, and its values by field.
fn input(probed: &Probed, tuple: &Tuple) -> (String, Value) {
    let Some(input) = probed.outcome.context.inputs.get(tuple.input as usize) else {
        return (String::new(), Value::Null);
    };
    let values = row_values(&tuple.row).unwrap_or_default();
    (format!("{}/{}", input.component, input.stream), object(&input.fields, &values))
}

fn object(fields: &[String], values: &[Value]) -> Value {
    let entries = fields.iter().cloned().zip(values.iter().cloned());
    Value::Object(entries.collect::<Map<_, _>>())
}

fn value(value: &Value, all: bool) -> String {
    let text = safe::json(&value.to_string());
    if all { text } else { safe::clip(&text, VALUE_CHARS) }
}

fn end(end: &End) -> String {
    match end {
        End::Acked => "acked\n".to_owned(),
        End::Held => {
            "held: the call neither acked nor failed it; it is left for a later call, a tick or a flush\n"
                .to_owned()
        }
        End::Failed { class, cost, reason } => {
            let kind = kind(*cost).map(|kind| format!(", {kind}")).unwrap_or_default();
            format!("failed: {class}{kind}\n{}", indented(reason))
        }
        End::Died(death) => {
            let mut out = format!(
                "died: {}; nothing that it emitted or settled counts\n{}",
                death.class,
                indented(&death.reason)
            );
            if !death.output.trim().is_empty() {
                out += &format!("last words\n{}", indented(&death.output));
            }
            out
        }
    }
}

/// What the bolt asked for with a failure.
fn kind(cost: Cost) -> Option<&'static str> {
    match cost {
        Cost::Fault => Some("its own fault"),
        Cost::Patience => Some("to be retried"),
        Cost::Final => Some("never again"),
        Cost::Free => None,
    }
}

fn indented(text: &str) -> String {
    safe::lines(text).lines().map(|line| format!("  {line}\n")).collect()
}

fn emission(one: &Emission, all: bool) -> String {
    let mut out = match &one.values {
        Ok(values) => format!("{}  {}", safe::line(&one.stream), value(&object(&one.fields, values), all)),
        Err(problem) => format!("{}  not a row: {}", safe::line(&one.stream), safe::line(problem)),
    };
    if one.anchors.is_empty() {
        out += "  unanchored";
    }
    if !one.tasks.is_empty() {
        let tasks: Vec<String> = one.tasks.iter().map(u32::to_string).collect();
        out += &format!("  to task {}", tasks.join(", "));
    }
    out
}

fn section(name: &str, lines: &[String], all: bool, out: &mut String) {
    if lines.is_empty() {
        return;
    }
    *out += &format!("\n{name} ({})\n", lines.len());
    let most = if all { lines.len() } else { LISTED };
    lines.iter().take(most).for_each(|line| *out += &format!("  {line}\n"));
    if lines.len() > most {
        *out += &format!("  and {} more; --all shows them\n", lines.len() - most);
    }
}

fn figure(figure: Figure) -> String {
    match figure {
        Figure::Counter(sum) => format!("counter {sum}"),
        Figure::Gauge(v) => format!("gauge {v}"),
        Figure::Histogram { count, min, max, sum } => {
            format!("histogram of {count}: min {min}, max {max}, sum {sum}")
        }
    }
}

fn took(time: Duration) -> String {
    format!("{:.3} ms", time.as_secs_f64() * 1e3)
}

fn way(way: Way) -> &'static str {
    match way {
        Way::Print(Printed::Out) => "stdout",
        Way::Print(Printed::Err) => "stderr",
        Way::Log(Level::Trace) => "trace",
        Way::Log(Level::Debug) => "debug",
        Way::Log(Level::Info) => "info",
        Way::Log(Level::Warn) => "warn",
        Way::Log(Level::Error) => "error",
    }
}

/// For a script.
pub(super) fn json(letter: &Letter, tuple: &Tuple, probed: &Probed) -> String {
    let o = &probed.outcome;
    let (stream, fields) = input(probed, tuple);
    let (class, reason, output) = match &o.end {
        End::Failed { class, reason, .. } => (Some(class.as_str()), Some(&reason[..]), None),
        End::Died(death) => (Some(death.class.as_str()), Some(&death.reason[..]), Some(&death.output[..])),
        End::Acked | End::Held => (None, None, None),
    };
    let (end, kind) = match &o.end {
        End::Acked => ("acked", None),
        End::Held => ("held", None),
        End::Died(_) => ("died", None),
        End::Failed { cost: Cost::Patience, .. } => ("failed", Some("retry")),
        End::Failed { cost: Cost::Final, .. } => ("failed", Some("reject")),
        End::Failed { .. } => ("failed", Some("fail")),
    };
    let metrics: Map<String, Value> =
        probed.metrics.iter().map(|(name, figure)| (name.clone(), figure_json(*figure))).collect();
    let value = json!({
        "id": letter.id, "bolt": o.context.component, "task": o.context.task, "attempt": tuple.attempt,
        "input": { "stream": stream, "fields": fields },
        "end": end, "class": class, "kind": kind, "reason": reason, "output": output, "error": o.error,
        "emitted": o.emitted.iter().map(emission_json).collect::<Vec<_>>(),
        "reported": o.reported,
        "said": probed.said.iter().map(said_json).collect::<Vec<_>>(),
        "metrics": metrics, "reset_timeout": o.reset_timeout,
        "prepared_us": micros(o.prepared_in), "took_us": micros(o.took), "memory_bytes": o.memory_bytes,
    });
    safe::json(&format!("{value:#}\n"))
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

fn said_json(said: &Said) -> Value {
    json!({ "as": way(said.way), "text": said.text })
}

fn emission_json(one: &Emission) -> Value {
    let fields = one.values.as_ref().ok().map(|values| object(&one.fields, values));
    json!({
        "stream": one.stream, "anchors": one.anchors, "tasks": one.tasks,
        "fields": fields, "problem": one.values.as_ref().err(),
    })
}

fn figure_json(figure: Figure) -> Value {
    match figure {
        Figure::Counter(sum) => json!({ "counter": sum }),
        Figure::Gauge(v) => json!({ "gauge": v }),
        Figure::Histogram { count, min, max, sum } => {
            json!({ "histogram": { "count": count, "min": min, "max": max, "sum": sum } })
        }
    }
}
