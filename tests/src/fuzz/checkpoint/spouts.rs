//! Spouts that are restored from texts which nobody saved.
//!
//! In: how many tasks there are now, and the text of each task that saved. Out: an error if a message is passed over that
//! none of the texts says is done, or comes twice. Invariant: who is asked is the real spout, through its port.

use super::super::{Shape, ensure, kind, shape, size};
use anchorbolt_core::manifest::{Generate, LineFormat, Lines};
use anchorbolt_core::port::{Context, Next, Spout, SpoutContext, SpoutError, SpoutOutput, Waker};
use anchorbolt_host::spouts::{GenerateSpout, LinesSpout};
use serde_json::Value;
use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::mpsc::channel;
use std::time::Duration;

/// So many messages `generate` makes.
const COUNT: u64 = 60;
/// What a text has in the place of what differs from machine to machine.
const DEVICE: &str = "\"device\":0";
const INODE: &str = "\"inode\":0";

/// Which tasks there are, and what each had saved.
fn layout(input: &[u8]) -> (u32, u8, Vec<&[u8]>) {
    let (first, rest) = input.split_first().unwrap_or((&0, &[]));
    (u32::from(first % 3) + 1, first / 3, rest.split(|byte| *byte == 0).take(4).collect())
}

/// Opens a task, restores it and takes all that it emits, up to `most`; acks every third. None: it refuses the texts.
fn run(
    spout: &mut dyn Spout,
    (task, tasks): (u32, u32),
    saved: &[(u32, Vec<u8>)],
    most: usize,
) -> Result<Result<Vec<u64>, String>, String> {
    let (wake, woken) = channel();
    let waker = Waker::new(move || _ = wake.send(()));
    let context =
        Context { component: "source".to_owned(), task_index: task, task_count: tasks, ..Context::default() };
    spout.open(SpoutContext { context, waker }).map_err(|error| format!("it does not open: {error:?}"))?;
    let refused = |error| match error {
        SpoutError::Input(text) | SpoutError::Environment(text) => text,
    };
    if let Err(error) = spout.restore(saved).and_then(|()| spout.activate()) {
        return Ok(Err(refused(error)));
    }
    let mut emitted = vec![];
    while emitted.len() < most {
        let mut out = SpoutOutput::new();
        let next = match spout.next(&mut out, 16) {
            Ok(next) => next,
            Err(error) => return Ok(Err(refused(error))),
        };
        let ids: Vec<_> = out.ids.iter().flatten().copied().collect();
        emitted.extend(ids.iter().map(|id| id.low()));
        spout.ack(&ids.iter().copied().filter(|id| id.low() % 3 == 0).collect::<Vec<_>>());
        match next {
            Next::Done => break,
            Next::Idle(_) => {
                woken.recv_timeout(Duration::from_secs(8)).map_err(|_| "it does not wake".to_owned())?
            }
            Next::More => {}
        }
    }
    Ok(Ok(emitted))
}

fn generate_spout(count: Option<u64>) -> GenerateSpout {
    GenerateSpout::new(Generate { count, rate: None, seed: 7, fields: None, keys: None })
}

/// What `generate` saves, after some of its messages.
pub(super) fn generated() -> Vec<Vec<u8>> {
    let text = |tasks: u32, most: usize| -> Option<Vec<u8>> {
        let texts: Option<Vec<Vec<u8>>> = (0..tasks)
            .map(|task| {
                let mut spout = generate_spout(Some(COUNT));
                run(&mut spout, (task, tasks), &[], most).ok()?.ok()?;
                spout.snapshot()
            })
            .collect();
        Some([vec![(tasks - 1) as u8], texts?.join(&0)].concat())
    };
    [(1, 0), (1, 20), (1, 60), (2, 20), (3, 10)]
        .iter()
        .filter_map(|(tasks, most)| text(*tasks, *most))
        .map(|t| t.to_vec())
        .collect()
}

pub(super) fn generate(input: &[u8]) -> Result<Shape, String> {
    let (tasks, more, texts) = layout(input);
    let saved: Vec<(u32, Vec<u8>)> = (0..).zip(texts.iter().map(|text| text.to_vec())).collect();
    let endless = more % 4 == 3;
    let mut emitted = vec![];
    for task in 0..tasks {
        let mut spout = generate_spout((!endless).then_some(COUNT));
        match run(&mut spout, (task, tasks), &saved, 2 * COUNT as usize)? {
            Ok(ids) => emitted.extend(ids),
            Err(text) => return Ok(shape((4, kind(&text)))),
        }
        spout.snapshot();
    }
    let all: BTreeSet<u64> = emitted.iter().copied().collect();
    ensure(all.len() == emitted.len(), || format!("a message came twice: {emitted:?}"))?;
    let said = |seq: u64| texts.iter().any(|text| generate_said(text, seq));
    let lost: Vec<u64> = (0..COUNT).filter(|seq| !all.contains(seq) && !said(*seq)).collect();
    ensure(lost.is_empty(), || format!("passed over, and not said to be done: {lost:?}"))?;
    Ok(shape((5, tasks, texts.len(), size(all.len()), endless)))
}

/// Whether a text of `generate` says that this message is done.
fn generate_said(text: &[u8], seq: u64) -> bool {
    let Ok(value) = serde_json::from_slice::<Value>(text) else { return false };
    let carried = value["carried"].as_array().into_iter().flatten();
    std::iter::once(&value["own"]).chain(carried).any(|own| {
        let number = |key: &str| own[key].as_u64().unwrap_or(u64::MAX);
        let (task, tasks) = (number("task"), number("tasks").max(1));
        seq % tasks == task && is_done(own, seq / tasks)
    })
}

/// Whether `low` and `done` of a part cover a place.
fn is_done(part: &Value, at: u64) -> bool {
    let covers = |range: &Value| {
        (range[0].as_u64().is_some_and(|from| from <= at)) && range[1].as_u64().is_some_and(|to| at < to)
    };
    part["low"].as_u64().is_some_and(|low| at < low)
        || part["done"].as_array().into_iter().flatten().any(covers)
}

/// The file that is read, the same in each process.
struct Sample {
    folder: tempfile::TempDir,
    identity: (String, String),
    /// Where its lines begin.
    lines: Vec<u64>,
}

fn sample() -> &'static Sample {
    static SAMPLE: OnceLock<Sample> = OnceLock::new();
    SAMPLE.get_or_init(|| {
        let mut text = String::new();
        for i in 0..40 {
            text += ["first\n", "second line\r\n", "\n", "é and more\n"][i % 4];
        }
        text += "no end";
        let folder = tempfile::tempdir().expect("a folder for a file");
        let path = folder.path().join("in.txt");
        std::fs::write(&path, &text).expect("a file");
        let meta = std::fs::metadata(&path).expect("the file is there");
        let identity = (format!("\"device\":{}", meta.dev()), format!("\"inode\":{}", meta.ino()));
        let ends = text.match_indices('\n').map(|(at, _)| at as u64 + 1);
        Sample { folder, identity, lines: std::iter::once(0).chain(ends).collect() }
    })
}

fn lines_spout(folder: &Path) -> LinesSpout {
    let options = Lines { path: vec!["in.txt".to_owned()], format: LineFormat::Line, follow: false };
    LinesSpout::new(options, folder, 1 << 20)
}

/// What `lines` saves, after some of its messages.
pub(super) fn lined() -> Vec<Vec<u8>> {
    let sample = sample();
    let text = |most: usize| {
        let mut spout = lines_spout(sample.folder.path());
        let emitted = run(&mut spout, (0, 1), &[], most).ok()?.ok()?;
        if most > 50 {
            spout.ack(
                &emitted.iter().map(|at| anchorbolt_core::ids::MessageId::pair(0, *at)).collect::<Vec<_>>(),
            );
        }
        let text = String::from_utf8(spout.snapshot()?).ok()?;
        let (device, inode) = &sample.identity;
        Some([vec![0], text.replace(device, DEVICE).replace(inode, INODE).into_bytes()].concat())
    };
    [16, 40, 100].iter().filter_map(|most| text(*most)).collect()
}

pub(super) fn lines(input: &[u8]) -> Result<Shape, String> {
    let (_, _, texts) = layout(input);
    let sample = sample();
    let (device, inode) = &sample.identity;
    let text = |text: &&[u8]| {
        String::from_utf8_lossy(text).replace(DEVICE, device).replace(INODE, inode).into_bytes()
    };
    let saved: Vec<(u32, Vec<u8>)> = (0..).zip(texts.iter().map(text)).collect();
    let mut spout = lines_spout(sample.folder.path());
    let emitted = match run(&mut spout, (0, 1), &saved, 1000)? {
        Ok(emitted) => emitted,
        Err(text) => {
            ensure(!text.contains("panic"), || text.clone())?;
            return Ok(shape((6, kind(&text))));
        }
    };
    spout.snapshot();
    let all: BTreeSet<u64> = emitted.iter().copied().collect();
    ensure(all.len() == emitted.len(), || format!("a line came twice: {emitted:?}"))?;
    ensure(all.iter().all(|at| sample.lines.contains(at)), || format!("no line begins at one of {all:?}"))?;
    let lost: Vec<u64> = sample
        .lines
        .iter()
        .copied()
        .filter(|at| !all.contains(at) && !saved.iter().any(|(_, t)| lines_said(t, *at)))
        .collect();
    ensure(lost.is_empty(), || format!("passed over, and not said to be done: {lost:?}"))?;
    Ok(shape((7, texts.len(), size(all.len()), all.first().copied())))
}

/// Whether a text of `lines` says that the line at this place is done.
fn lines_said(text: &[u8], at: u64) -> bool {
    let Ok(value) = serde_json::from_slice::<Value>(text) else { return false };
    let mut files = value["files"].as_array().into_iter().flatten();
    files.any(|file| file["path"] == "in.txt" && is_done(file, at))
}
