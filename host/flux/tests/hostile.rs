//! Files that nobody means well with: large, deep, full of references, or changed at random.

#![allow(clippy::print_stdout, reason = "a test says which seed it has")]
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

use anchorbolt_core::manifest::{Text, parse};
use anchorbolt_flux::{Files, Flux, Imported, TEXT_BYTES_MAX, codes, import};
use std::fmt::Write;
use std::path::Path;
use std::time::{Duration, Instant};

/// Each file that is included is this text.
struct Same<'a>(&'a str);

impl Files for Same<'_> {
    fn read(&mut self, file: &str, _: bool) -> Result<(String, String), String> {
        Ok((file.to_owned(), self.0.to_owned()))
    }
}

fn imported(text: &str, files: &mut dyn Files) -> Imported {
    let flux = Flux { name: "flux.yaml", text, properties: Some(("p", "a=1\nb=[x, y]")), environment: None };
    let imported = import(&flux, files);
    let wrong = imported.diagnostics.iter().any(|d| d.is_error());
    assert!(imported.manifest.is_some() != wrong, "{:.2000}", text);
    if let Some(manifest) = &imported.manifest {
        let lookup = |name: &str| panic!("{name} is looked up");
        let parsed = parse(&Text { name: "t", text: manifest, sets: &[], lookup: &lookup });
        assert!(parsed.diagnostics.is_empty(), "{text}\n{manifest}\n{:?}", parsed.diagnostics);
    }
    imported
}

fn too_large(text: &str) {
    let imported = imported(text, &mut Same(text));
    assert_eq!(
        imported.diagnostics.first().map(|d| d.code),
        Some(codes::TOO_LARGE),
        "{:?}",
        imported.diagnostics
    );
}

/// A topology of one spout, with more below it.
fn topology(more: &str) -> String {
    format!("name: x\nspouts:\n  - {{id: s, className: org.example.S}}\n{more}")
}

#[test]
fn what_is_too_large_is_said_to_be() {
    too_large(&"#".repeat(TEXT_BYTES_MAX + 1));
    too_large(&topology(&format!("config:\n{}", "  ${a}: 1\n".repeat(110_000))));
    too_large(&topology(&format!("config: {{a: {}}}", "[".repeat(60))));
    let many: String = (0..30_000).fold("config:\n".to_owned(), |out, i| out + &format!("  k{i}: 1\n"));
    too_large(&topology(&many));
    let includes: String =
        (0..100).fold("includes:\n".to_owned(), |out, i| out + &format!("  - {{file: f{i}}}\n"));
    let imported = imported(&topology(&includes), &mut Same("config: {}"));
    assert_eq!(imported.diagnostics.iter().map(|d| d.code).collect::<Vec<_>>(), [codes::TOO_LARGE]);
}

#[test]
fn a_file_that_includes_itself_is_read_once_more() {
    let text = topology("includes: [{file: flux.yaml, override: true}]");
    let imported = imported(&text, &mut Same(&text));
    assert!(imported.manifest.is_some());
}

#[test]
fn beans_that_refer_to_each_other_do_not_grow_without_end() {
    let mut components = "components:\n".to_owned();
    for i in 0..60 {
        let refs = format!("ref: c{}", (i + 1) % 60);
        writeln!(components, "  - {{id: c{i}, className: C, constructorArgs: [{{{refs}}}, {{{refs}}}, {{{refs}}}, {{{refs}}}, {{{refs}}}]}}").unwrap();
    }
    let mut text = topology(&components);
    text += "bolts:\n";
    for i in 0..500 {
        writeln!(text, "  - {{id: b{i}, className: B, constructorArgs: [{{ref: c0}}]}}").unwrap();
    }
    text += "streams:\n";
    for i in 0..500 {
        writeln!(text, "  - {{from: s, to: b{i}, grouping: {{type: SHUFFLE}}}}").unwrap();
    }
    let manifest = imported(&text, &mut Same("")).manifest.unwrap();
    assert!(manifest.len() < 8 << 20, "{}", manifest.len());
}

#[test]
fn many_of_everything_take_no_square_of_time() {
    let mut text = "name: x\nspouts:\n".to_owned();
    let each = |text: &mut String, line: &dyn Fn(usize) -> String| {
        (0..1500).for_each(|i| writeln!(text, "{}", line(i)).unwrap());
    };
    each(&mut text, &|i| format!("  - {{id: S.{i}, className: S}}"));
    text += "bolts:\n";
    each(&mut text, &|i| format!("  - {{id: s-{i}.B, className: B}}"));
    text += "streams:\n";
    each(&mut text, &|i| format!("  - {{from: S.{i}, to: s-{i}.B, grouping: {{type: FIELDS, args: [a]}}}}"));
    assert!(imported(&text, &mut Same("")).manifest.is_some());
}

#[test]
fn a_megabyte_of_the_same_takes_no_square_of_time() {
    let start = Instant::now();
    for part in ["${", "${a", "\"", "[a, ", "- ", "? ", "a: b\n", "&a b\n", "'a\n", "a: |\n  x\n"] {
        let text = part.repeat((TEXT_BYTES_MAX / part.len()) - 100);
        imported(&text, &mut Same(""));
    }
    // A wide bound: with a square it would be minutes for each.
    assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
}

#[test]
fn whatever_becomes_of_a_sample_is_a_manifest_or_a_mistake() {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples");
    let samples: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "yaml"))
        .map(|path| std::fs::read_to_string(path).unwrap())
        .collect();
    let lines: Vec<&str> = samples.iter().flat_map(|text| text.lines()).collect();
    let (mut fine, mut wrong) = (0, 0);
    for _ in 0..1500 {
        let mut text: Vec<String> = random.choice(&samples).unwrap().lines().map(str::to_owned).collect();
        for _ in 0..random.usize(1..4) {
            let at = random.usize(..text.len());
            change(&mut text, at, &lines, &mut random);
        }
        let text = text.join("\n");
        match imported(&text, &mut Same(random.choice(&samples).unwrap())).manifest {
            Some(_) => fine += 1,
            None => wrong += 1,
        }
    }
    assert!(fine > 50 && wrong > 50, "seed {seed}: {fine} fine, {wrong} wrong");
}

/// Changes a line.
fn change(text: &mut Vec<String>, at: usize, lines: &[&str], random: &mut fastrand::Rng) {
    const VALUES: &[&str] = &[
        "\"\"",
        "~",
        "-1",
        "0",
        "99999999999999999999",
        "1e400",
        ".nan",
        "[]",
        "{}",
        "[[{a: ~}]]",
        "\"${HOME}\"",
        "'$$'",
        "\"\\u0000\\n\\e\"",
        "\u{202e}é",
        "__x",
        "NONE",
        "ALL",
        "DIRECT",
        "{ref: part}",
        "!!int x",
        "*a",
        "&a b",
        "true",
    ];
    let line = text[at].clone();
    match random.u8(..5) {
        0 => drop(text.remove(at)),
        1 => text.insert(at, (*random.choice(lines).unwrap()).to_owned()),
        2 => {
            // Another value for a key.
            let keys: Vec<usize> = line.match_indices(": ").map(|(i, _)| i + 2).collect();
            if let Some(start) = random.choice(&keys) {
                let rest = &line[*start..];
                let end = rest.find([',', '}', ']']).unwrap_or(rest.len());
                text[at] = line[..*start].to_owned() + random.choice(VALUES).unwrap() + &rest[end..];
            }
        }
        3 => text[at] = line.replacen("  ", " ", 1),
        _ => {
            let mut bytes = line.into_bytes();
            if !bytes.is_empty() {
                let i = random.usize(..bytes.len());
                bytes[i] = *random.choice(b"\"'{}[]:,-#&*!| \t%@`x0A").unwrap();
            }
            text[at] = String::from_utf8_lossy(&bytes).into_owned();
        }
    }
    if text.is_empty() {
        text.push(String::new());
    }
}
