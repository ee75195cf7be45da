//! `anchorbolt inspect`: what a plugin is.

use crate::args::InspectArgs;
use crate::{Exit, INPUT, host, safe, say};
use anchorbolt_host::core::port::{CallError, Declaration};
use anchorbolt_host::wasm::{Inspection, Kind};
use serde_json::json;
use std::path::Path;

/// Shows a plugin.
pub(crate) fn inspect(args: &InspectArgs) -> Exit {
    if !serde_json::from_str::<serde_json::Value>(&args.config).is_ok_and(|v| v.is_object()) {
        tell!("error: --config is not a JSON object: {}", args.config);
        return INPUT;
    }
    let host = match host() {
        Ok(host) => host,
        Err(exit) => return exit,
    };
    match host.inspect(&args.plugin, &args.config) {
        Err(error) => {
            tell!("error: {}: {error}", args.plugin.display());
            INPUT
        }
        Ok(found) => show(args, &found),
    }
}

fn show(args: &InspectArgs, found: &Inspection) -> Exit {
    // Names are the plugin's own: whoever inspects one has not decided to trust it.
    let text_of = match args.json {
        true => safe::json(&format!("{:#}\n", as_json(found))),
        false => as_text(&args.plugin, found),
    };
    let said = say(&text_of);
    let Kind::Bolt(Err(error)) = &found.kind else { return said };
    if !args.json {
        tell!("error: the plugin does not declare itself with this configuration: {}", text(error));
        tell!("help: give the configuration that the manifest gives it: --config '{{\"key\": ..}}'");
    }
    INPUT
}

fn text(error: &CallError) -> String {
    match error {
        CallError::Declared(text) => text.clone(),
        CallError::Died(death) => format!("{} ({})", death.reason, death.class),
    }
}

fn as_json(found: &Inspection) -> serde_json::Value {
    let declaration = match &found.kind {
        Kind::Grouping => serde_json::Value::Null,
        Kind::Bolt(Ok(d)) => json!({
            "outputs": d.outputs.iter().map(|o| json!({"name": o.name, "fields": o.fields, "direct": o.direct})).collect::<Vec<_>>(),
            "stateless": d.stateless,
        }),
        Kind::Bolt(Err(error)) => json!({ "error": text(error) }),
    };
    let kind = if matches!(found.kind, Kind::Grouping) { "grouping" } else { "bolt" };
    let list = |items: &[(String, Vec<String>)]| {
        items.iter().map(|(name, f)| (name.clone(), json!(f))).collect::<serde_json::Map<_, _>>()
    };
    json!({
        "kind": kind, "bytes": found.bytes, "sha256": found.sha256, "declaration": declaration,
        "imports": list(&found.imports), "exports": list(&found.exports),
    })
}

fn as_text(path: &Path, found: &Inspection) -> String {
    let mut out = format!("{}\n  {} bytes, sha256 {}\n", path.display(), found.bytes, found.sha256);
    match &found.kind {
        Kind::Bolt(Ok(declaration)) => out += &declared(declaration),
        Kind::Bolt(Err(_)) => {}
        Kind::Grouping => {
            out += "  a grouping, for `grouping = { plugin = \"..\" }` in the inputs of a bolt\n"
        }
    }
    for (what, items) in [("imports", &found.imports), ("exports", &found.exports)] {
        out += &format!("  {what}\n");
        for (name, functions) in items {
            out += &safe::line(&format!("    {name}: {}", functions.join(", ")));
            out.push('\n');
        }
    }
    out
}

fn declared(declaration: &Declaration) -> String {
    let mut out = String::new();
    for output in &declaration.outputs {
        let direct = if output.direct { ", direct" } else { "" };
        out += &safe::line(&format!("  stream {} [{}]{direct}", output.name, output.fields.join(", ")));
        out.push('\n');
    }
    if declaration.outputs.is_empty() {
        out += "  no output streams\n";
    }
    out + if declaration.stateless { "  stateless\n" } else { "  keeps state\n" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anchorbolt_host::core::port::StreamDeclaration;

    #[test]
    fn names_of_a_plugin_do_nothing_to_the_terminal() {
        let evil = "a\u{1b}]0;title\u{7}\u{1b}[2J\n\u{202e}b";
        let stream = StreamDeclaration { name: evil.into(), fields: vec![evil.into()], direct: false };
        let declaration = Declaration { outputs: vec![stream], ..Declaration::default() };
        let found = Inspection {
            bytes: 1,
            sha256: String::new(),
            kind: Kind::Bolt(Ok(declaration)),
            imports: vec![(evil.into(), vec![evil.into()])],
            exports: vec![],
        };
        let json = safe::json(&format!("{:#}\n", as_json(&found)));
        for shown in [as_text(Path::new("p.wasm"), &found), json] {
            let bad = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
            assert!(!shown.contains(bad), "{shown:?}");
        }
        assert_eq!(as_text(Path::new("p.wasm"), &found).lines().count(), 7);
    }
}
