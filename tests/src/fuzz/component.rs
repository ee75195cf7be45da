//! The target `component`: the bytes of a plugin, up to what it declares.
//!
//! In: a component, changed. Out: an error if loading it or asking it panics, has no end, takes more memory than the
//! compiling child has, or if a refusal has no text. A changed component that loads is fine. Invariant: it is compiled in
//! this process, so that a panic of the compiler is seen.

use super::{Shape, Target, ensure, shape};
use anchorbolt_core::manifest::{Allow, Limits};
use anchorbolt_core::port::CallError;
use anchorbolt_host::wasm::{Engine, EngineOptions, InProcess, Plugin, Settings};
use fastrand::Rng;
use std::ops::Range;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

pub(super) const TARGET: Target = Target {
    name: "component",
    bytes_max: 12_000,
    wall: Duration::from_secs(20),
    memory_max: 2 << 30,
    seeds,
    mutate,
    check,
};

/// Begins a component and a module, each with its version.
const HEADERS: [[u8; 8]; 2] = [*b"\0asm\x0d\0\x01\0", *b"\0asm\x01\0\0\0"];

/// The corpus has a small bolt; these are what is refused at the door.
fn seeds() -> Vec<Vec<u8>> {
    vec![vec![], HEADERS[0].to_vec(), HEADERS[1].to_vec(), b"\x7fELF".to_vec(), b"(component)".to_vec()]
}

/// A section: where its id stands, and its content.
struct Section {
    at: usize,
    content: Range<usize>,
}

impl Section {
    fn all(&self) -> Range<usize> {
        self.at..self.content.end
    }
}

/// The sections of a component or module that begins here.
fn sections(bytes: &[u8], from: usize, to: usize) -> Vec<Section> {
    let (mut sections, mut at) = (vec![], from + 8);
    while at < to {
        let Some((length, width)) = number(&bytes[at + 1..to]) else { break };
        let start = at + 1 + width;
        let end = start.saturating_add(length as usize);
        if end > to {
            break;
        }
        sections.push(Section { at, content: start..end });
        at = end;
    }
    sections
}

fn number(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut value = 0;
    for (i, byte) in bytes.iter().take(5).enumerate() {
        value |= u64::from(byte & 0x7f) << (7 * i);
        if byte & 0x80 == 0 {
            return Some((value, i + 1));
        }
    }
    None
}

fn encoded(mut n: usize) -> Vec<u8> {
    let mut out = vec![];
    while n >= 0x80 {
        out.push(n as u8 | 0x80);
        n >>= 7;
    }
    out.push(n as u8);
    out
}

/// Changes a section as a whole, or something in one; what encloses it gets the right length again.
fn mutate(rng: &mut Rng, input: &mut Vec<u8>) {
    if !HEADERS.iter().any(|header| input.starts_with(header)) {
        input.splice(..input.len().min(8), HEADERS[0]);
    }
    *input = changed(rng, input);
}

fn changed(rng: &mut Rng, input: &[u8]) -> Vec<u8> {
    let sections = sections(input, 0, input.len());
    let Some(one) = rng.choice(&sections) else { return [input, &custom(rng)].concat() };
    let (before, after) = (&input[..one.at], &input[one.content.end..]);
    let all = &input[one.all()];
    let id = input[one.at];
    let content = &input[one.content.clone()];
    let inner = match rng.u8(..12) {
        0 => return [before, all, all, after].concat(),
        1 => return [before, after].concat(),
        2 => return [before, &custom(rng), all, after].concat(),
        3 => {
            // A length that lies.
            let lie = rng
                .choice([0, 1, content.len().saturating_sub(1), content.len() + 1, 0x7fff_ffff])
                .unwrap_or(0);
            return [before, &[id], &encoded(lie), content, after].concat();
        }
        4 => {
            let other = rng.choice(&sections).map_or(&[][..], |other| &input[other.all()]);
            return [before, other, after].concat();
        }
        5 => return [before, &[rng.u8(..13)], &encoded(content.len()), content, after].concat(),
        _ if HEADERS.iter().any(|header| content.starts_with(header)) => changed(rng, content),
        _ => inside(rng, content),
    };
    [before, &[id], &encoded(inner.len()), &inner, after].concat()
}

/// Names that a bolt has, and some that are nearly such.
const NAMES: [&str; 12] = [
    "anchorbolt:bolt/guest@0.1.0",
    "anchorbolt:bolt/guest@0.2.0",
    "anchorbolt:bolt/guest",
    "anchorbolt:bolt/grouping-guest@0.1.0",
    "anchorbolt:bolt/collector@0.1.7",
    "anchorbolt:bolt/metrics",
    "wasi:cli/run@0.2.6",
    "wasi:clocks/wall-clock@0.2.0",
    "declare",
    "emit",
    "a",
    "",
];

/// Another name in the place of one; names stand behind their length.
fn rename(rng: &mut Rng, content: &mut Vec<u8>) {
    let is_name = |at: &usize| {
        let name = content.get(at + 1..at + 1 + usize::from(content[*at]));
        content[*at] > 2 && name.is_some_and(|name| name.iter().all(u8::is_ascii_graphic))
    };
    let places: Vec<usize> = (0..content.len()).filter(is_name).collect();
    let Some(&at) = rng.choice(&places) else { return };
    let old = content[at + 1..=at + usize::from(content[at])].to_vec();
    let new = match rng.u8(..3) {
        0 => old[..rng.usize(..old.len())].to_vec(),
        1 => old.split(|byte| *byte == b'@').next().unwrap_or_default().to_vec(),
        _ => rng.choice(NAMES).unwrap_or_default().into(),
    };
    content.splice(at..=at + old.len(), [vec![new.len() as u8], new].concat());
}

/// A few bytes of a section.
fn inside(rng: &mut Rng, content: &[u8]) -> Vec<u8> {
    let mut content = content.to_vec();
    if rng.u8(..4) == 0 {
        rename(rng, &mut content);
        return content;
    }
    for _ in 0..rng.usize(1..3) {
        if content.is_empty() {
            return vec![rng.u8(..)];
        }
        let at = rng.usize(..content.len());
        match rng.u8(..7) {
            0 => content[at] = rng.u8(..),
            1 => content[at] = content[at].wrapping_add(rng.u8(..3)).wrapping_sub(1),
            2 => drop(content.splice(at..=at, [0xff, 0xff, 0xff, 0xff, 0x0f])),
            3 => drop(content.splice(at..at, encoded(1 << rng.u8(..31)))),
            4 => drop(content.remove(at)),
            5 => {
                let part = content[at..(at + rng.usize(1..12)).min(content.len())].to_vec();
                let to = rng.usize(..=content.len());
                content.splice(to..to, part);
            }
            _ => {
                let words: [&[u8]; 6] =
                    [b"\x7f", b"\x73", b"\x70\x79", b"\x00\x0b", b"\x03\x40\x0c\x00\x0b", b"\x40\x00"];
                content.splice(at..at, rng.choice(words).unwrap_or(b"").iter().copied());
            }
        }
    }
    content
}

fn custom(rng: &mut Rng) -> Vec<u8> {
    let size = *rng.choice(&[0, 1, 5, 4000]).unwrap_or(&1);
    let name = [4, b'n', b'a', b'm', b'e'];
    [vec![0], encoded(5 + size), name.to_vec(), vec![rng.u8(..); size]].concat()
}

/// The first words of a text: what comes later is often out of the input.
fn words(text: &str) -> Vec<&str> {
    let text = text.split(['`', '"', '(', '=']).next().unwrap_or(text);
    text.split_whitespace().filter(|word| word.chars().all(|c| c.is_ascii_alphabetic())).take(14).collect()
}

fn engine() -> &'static Engine {
    static ENGINE: OnceLock<Engine> = OnceLock::new();
    ENGINE.get_or_init(|| {
        let options = EngineOptions { compiler: Arc::new(InProcess), cache_dir: None };
        Engine::new(options).expect("an engine starts")
    })
}

fn settings() -> Settings {
    let limits = Limits {
        memory_bytes: 16 << 20,
        deadline: Duration::from_millis(200),
        table_elements: 10_000,
        emissions_per_tuple: 100,
        emitted_bytes_per_tuple: 1 << 20,
        anchors_per_tuple: 100,
        held_tuples: 100,
        tuple_bytes: 1 << 20,
        log_bytes_per_second: 1 << 10,
        log_lines_per_second: 10,
    };
    let (allow, config_json) = (Allow::default(), "{}".to_owned());
    Settings { component: "fuzzed".to_owned(), limits, allow, config_json, base: std::env::temp_dir() }
}

fn check(input: &[u8]) -> Result<Shape, String> {
    let plugin = match Plugin::from_bytes(engine(), input) {
        Ok(plugin) => plugin,
        Err(error) => {
            let text = error.to_string();
            let shown = !text.is_empty()
                && text.len() < 4000
                && !text.contains(|c: char| c.is_control() && !['\n', '\t'].contains(&c));
            ensure(shown, || format!("the text of a refusal: {text:?}"))?;
            return Ok(shape(words(&text)));
        }
    };
    let seen = match plugin.declare(&settings()) {
        Ok(declaration) => format!("{} streams", declaration.outputs.len().min(3)),
        Err(CallError::Declared(_)) => "an error".to_owned(),
        Err(CallError::Died(death)) => {
            ensure(!death.reason.is_empty(), || format!("a death without a reason: {death:?}"))?;
            format!("{:?} {:?}", death.class, words(&death.reason))
        }
    };
    Ok(shape((1, seen)))
}
