//! Plugins that do not load: one mistake each, with its code, its place in the manifest and the cure.

use crate::run::{Folder, pipeline};
use anchorbolt_tests::guest;
use serde_json::Value;

/// The only diagnostic about a plugin file with these bytes.
fn diagnostic(bytes: &[u8], bolt: &str) -> Value {
    let folder = Folder::new("");
    let path = folder.write("plugin.wasm", bytes);
    let good = guest("identity").display().to_string();
    let text = pipeline("identity", "", bolt).replace(&good, &path.display().to_string());
    folder.write("topology.toml", text);
    let json = folder.run(&["check", "--json"]).code(2).json();
    let list = json["diagnostics"].as_array().unwrap();
    assert_eq!(list.len(), 1, "{json:#}");
    list[0].clone()
}

/// Code, and words of the message.
fn is(d: &Value, code: &str, words: &[&str]) {
    assert_eq!(d["code"], code, "{d:#}");
    let text = d["message"].as_str().unwrap();
    words.iter().for_each(|w| assert!(text.contains(w), "`{w}` is not in {text}"));
    assert!(!d["help"].as_str().unwrap().is_empty());
    assert!(d["line"].as_u64().unwrap() > 1);
}

fn identity() -> Vec<u8> {
    std::fs::read(guest("identity")).unwrap()
}

#[test]
fn files_that_are_no_components() {
    is(&diagnostic(b"", ""), "AB402", &["empty"]);
    is(&diagnostic(b"#!/bin/sh\n", ""), "AB404", &["not WebAssembly"]);
    is(&diagnostic(b"\0asm\x01\0\0\0", ""), "AB403", &["core module", "wasm32-wasip2"]);
    let whole = identity();
    is(&diagnostic(&whole[..whole.len() / 2], ""), "AB404", &["truncated"]);
    is(&diagnostic(b"\0asm\x0d\0\x01\0", ""), "AB407", &["not a bolt"]);
}

#[test]
fn a_missing_file_does_not_hide_other_mistakes() {
    let good = guest("identity").display().to_string();
    let text = pipeline("identity", "", "tick = 7").replace(&good, "nowhere.wasm");
    let folder = Folder::new(&text.replace("from = \"work\"", "from = \"wrok\""));
    let json = folder.run(&["check", "--json"]).code(2).json();
    let codes: Vec<&str> =
        json["diagnostics"].as_array().unwrap().iter().map(|d| d["code"].as_str().unwrap()).collect();
    assert!(codes.contains(&"AB401") && codes.contains(&"AB301") && codes.contains(&"AB105"), "{codes:?}");
}

/// The version stands in the names of imports and exports.
#[test]
fn another_version_names_both() {
    let mut bytes = identity();
    let (old, new) = (b"anchorbolt:bolt/guest@0.1.0", b"anchorbolt:bolt/guest@0.9.0");
    let places: Vec<usize> = (0..bytes.len() - old.len()).filter(|&i| bytes[i..].starts_with(old)).collect();
    assert!(!places.is_empty());
    places.into_iter().for_each(|i| bytes[i..i + new.len()].copy_from_slice(new));
    is(&diagnostic(&bytes, ""), "AB405", &["0.9.0", "0.1.0"]);
}

#[test]
fn a_wrong_hash_is_refused_and_the_right_one_passes() {
    let d = diagnostic(&identity(), &format!("sha256 = \"{}\"", "0".repeat(64)));
    is(&d, "AB408", &["sha256"]);
    let text = d["message"].as_str().unwrap();
    let right = text.split("sha256 is ").nth(1).unwrap().split(',').next().unwrap();
    let folder = Folder::new(&pipeline("identity", "", &format!("sha256 = \"{right}\"")));
    folder.run(&["check"]).code(0);
}

#[test]
fn declarations_that_break_the_rules_are_refused_before_the_run() {
    for how in ["stream-empty", "stream-twice", "stream-reserved", "stream-space", "stream-control"] {
        let config = format!(r#"config = {{ how = "{how}" }}"#);
        let ran = Folder::new(&pipeline("raw_declare_bad", "", &config)).run(&["check"]);
        ran.code(2).says(&["error[AB3"]);
        assert!(!ran.err.contains('\u{1b}'), "control characters pass: {:?}", ran.err);
    }
    let config = r#"config = { how = "error" }"#;
    let ran = Folder::new(&pipeline("raw_declare_bad", "", config)).run(&["check"]);
    ran.code(2).says(&["AB409", "declare was told to fail"]);
}
