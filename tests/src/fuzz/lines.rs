//! The target `lines`: bytes of a source, up to its messages.
//!
//! In: a format, a limit, how the bytes arrive, and the bytes. Out: an error if the messages depend on how the bytes
//! arrived, or differ from those of slow code that splits all of it at once. Invariant: a line is one message, emitted
//! or refused.

use super::bytes::Bytes;
use super::model::{Model, row as slow};
use super::{Shape, Target, ensure, kind, mutate as plain, shape, size};
use anchorbolt_core::failure::Class;
use anchorbolt_core::manifest::LineFormat;
use anchorbolt_core::port::{Context, Next, Spout, SpoutContext, SpoutOutput, Waker};
use anchorbolt_host::spouts::StdinSpout;
use fastrand::Rng;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::io::{self, Read};
use std::sync::mpsc::channel;
use std::time::Duration;

pub(super) const TARGET: Target = Target {
    name: "lines",
    bytes_max: 6000,
    wall: Duration::from_secs(10),
    memory_max: 16 << 20,
    seeds,
    mutate,
    check,
};

/// The fields of both formats that have some.
const FIELDS: [&str; 3] = ["a", "b", "é"];
/// No line is longer; the last is beyond any input.
const LIMITS: [u64; 6] = [0, 1, 5, 60, 300, 1 << 20];

fn seeds() -> Vec<Vec<u8>> {
    let texts: [&[u8]; 4] = [
        b"one\ntwo\r\n\n\r\n three \r\r\nno end",
        b"\xff\xfe\nvalid\n\xc3\xa9\xc3\n\r",
        b"\xef\xbb\xbf{\"a\":1,\"b\":[true,{\"k\":-2.5}],\"\xc3\xa9\":null}\r\n{\"b\":\"x\"}\n{}\n[]\n{\"a\":1,\"a\":2}\n",
        b"\xef\xbb\xbf1,two,3\n\"a,b\",\"say \"\"x\"\"\",\n,,\n\"open,1,2\n\"x\"y,1,2\n1,2\n1,2,3,4\r\n",
    ];
    let all = |text: &[u8]| (0..18).map(|i| [&[i % 3, i / 3, i][..], text].concat()).collect::<Vec<_>>();
    texts.iter().flat_map(|text| all(text)).collect()
}

fn mutate(rng: &mut Rng, input: &mut Vec<u8>) {
    let at = rng.usize(input.len().min(3)..=input.len());
    match rng.u8(..6) {
        0 => drop(input.splice(..input.len().min(3), [rng.u8(..3), rng.u8(..6), rng.u8(..)])),
        1 => plain::decimal(rng, input),
        2 => {
            let n = *rng.choice(&[0, 1, 5, 6, 59, 60, 61, 62, 299, 300, 301, 302, 2000]).unwrap_or(&1);
            input.splice(at..at, std::iter::repeat_n(rng.choice(b"\raz\"".iter()).map_or(b'a', |b| *b), n));
        }
        _ => {
            let parts: [&[u8]; 12] = [
                b"\n",
                b"\r\n",
                b"\r",
                b"\"",
                b",",
                b"\"\"",
                b"\xef\xbb\xbf",
                b"\xff",
                b"{\"a\":",
                b"}\n",
                b"1,2,3\n",
                "é".as_bytes(),
            ];
            input.splice(at..at, rng.choice(parts).unwrap_or(b"\n").iter().copied());
        }
    }
}

/// The row of a line, or the class of its refusal.
type Told = Result<Vec<u8>, Class>;

fn check(input: &[u8]) -> Result<Shape, String> {
    let mut bytes = Bytes(input);
    let format = match bytes.below(3) {
        0 => LineFormat::Line,
        1 => LineFormat::Json { fields: FIELDS.map(str::to_owned).to_vec() },
        _ => LineFormat::Csv { fields: FIELDS.map(str::to_owned).to_vec() },
    };
    let limit = LIMITS[bytes.below(LIMITS.len())];
    let seed = bytes.u8();
    let expected = slow_messages(&format, bytes.0, limit);
    let pieces = Pieces {
        rest: bytes.0.to_vec(),
        rng: Rng::with_seed(seed.into()),
        most: [1, 3, 40, 100_000][usize::from(seed % 4)],
    };
    let got = messages(pieces, &format, limit)?;
    let rows = expected.iter().filter(|told| told.is_ok()).count();
    ensure(got.len() == expected.len(), || {
        format!("{} messages came of {} lines", got.len(), expected.len())
    })?;
    for (line, (got, expected)) in got.iter().zip(&expected).enumerate() {
        ensure(got == expected, || format!("line {}: {got:x?}, it should be {expected:x?}", line + 1))?;
    }
    let fields = |row: &Vec<u8>| {
        let fields = slow(row, anchorbolt_row::Row::new(row).len()).unwrap_or_default();
        fields.iter().map(|(value, _)| outline(value)).collect::<Vec<_>>()
    };
    let seen: Vec<_> = got
        .iter()
        .take(6)
        .map(|told| told.as_ref().map(fields).map_err(|class| kind(&class.to_string())))
        .collect();
    Ok(shape((std::mem::discriminant(&format), limit, size(got.len()), size(rows), seen)))
}

/// The messages of the real spout, by their numbers.
fn messages(source: Pieces, format: &LineFormat, limit: u64) -> Result<Vec<Told>, String> {
    let mut spout = StdinSpout::over(source, limit).of_format(format.clone());
    let (wake, woken) = channel();
    let waker = Waker::new(move || _ = wake.send(()));
    let wrong = |error| format!("the spout: {error:?}");
    spout.open(SpoutContext { context: Context::default(), waker }).map_err(wrong)?;
    spout.activate().map_err(wrong)?;
    let mut got = BTreeMap::new();
    loop {
        let mut out = SpoutOutput::new();
        let next = spout.next(&mut out, 7).map_err(wrong)?;
        let rows =
            out.ids.iter().enumerate().map(|(i, id)| (id.map_or(0, |id| id.low()), Ok(out.row(i).to_vec())));
        let refused = out.refused.iter().map(|(id, failure)| (id.low(), Err(failure.class)));
        for (number, told) in rows.chain(refused) {
            ensure(got.insert(number, told).is_none(), || format!("message {number} came twice"))?;
        }
        match next {
            Next::Done => break,
            Next::Idle(_) => {
                woken.recv_timeout(Duration::from_secs(8)).map_err(|_| "it does not wake".to_owned())?
            }
            Next::More => {}
        }
    }
    spout.close();
    let numbers = got.keys().copied().eq(1..=got.len() as u64);
    ensure(numbers, || format!("the messages are numbered {:?}", got.keys()))?;
    Ok(got.into_values().collect())
}

/// Gives bytes in pieces of random sizes.
struct Pieces {
    rest: Vec<u8>,
    rng: Rng,
    most: usize,
}

impl Read for Pieces {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.rng.u8(..16) == 0 {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let n = self.rng.usize(1..=self.most).min(self.rest.len()).min(buffer.len());
        buffer[..n].copy_from_slice(&self.rest[..n]);
        self.rest.drain(..n);
        Ok(n)
    }
}

/// All lines at once.
fn slow_messages(format: &LineFormat, content: &[u8], limit: u64) -> Vec<Told> {
    let mut lines: Vec<&[u8]> = content.split(|byte| *byte == b'\n').collect();
    let last = lines.pop().filter(|last| !last.is_empty());
    let ended = lines.iter().map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let all: Vec<&[u8]> = ended.chain(last).collect();
    let told = |(i, line): (usize, &&[u8])| {
        if line.len() as u64 > limit {
            return Err(Class::Size);
        }
        let marked = i == 0 && std::str::from_utf8(line).is_ok();
        let plain = if marked { line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line) } else { line };
        match format {
            LineFormat::Line => Ok(row(&[text(line)])),
            LineFormat::Json { .. } => object(plain).ok_or(Class::Rejected),
            LineFormat::Csv { .. } => record(plain).map(|fields| row(&fields)).ok_or(Class::Rejected),
        }
    };
    all.iter().enumerate().map(told).collect()
}

fn object(line: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(line).ok()?;
    let object: Map<String, Value> = serde_json::from_str(text).ok()?;
    let values: Vec<Model> =
        FIELDS.iter().map(|field| object.get(*field).map_or(Model::Nil, model)).collect();
    // The row is a level, too.
    if values.iter().any(|value| depth(value) > 63) {
        return None;
    }
    Some(row(&values))
}

fn model(value: &Value) -> Model {
    match value {
        Value::Null => Model::Nil,
        Value::Bool(b) => Model::Bool(*b),
        Value::Number(n) => match (n.as_u64(), n.as_i64()) {
            (Some(n), _) => Model::Int(n.into()),
            (None, Some(n)) => Model::Int(n.into()),
            _ => Model::Float(n.as_f64().unwrap_or(f64::NAN)),
        },
        Value::String(s) => Model::Str(s.clone()),
        Value::Array(list) => Model::Array(list.iter().map(model).collect()),
        Value::Object(map) => {
            Model::Map(map.iter().map(|(k, v)| (Model::Str(k.clone()), model(v))).collect())
        }
    }
}

fn depth(value: &Model) -> usize {
    match value {
        Model::Array(list) => 1 + list.iter().map(depth).max().unwrap_or(0),
        Model::Map(map) => 1 + map.iter().map(|(_, value)| depth(value)).max().unwrap_or(0),
        _ => 0,
    }
}

/// A record, letter by letter; none if it is no record of so many columns.
fn record(line: &[u8]) -> Option<Vec<Model>> {
    let mut columns = vec![vec![]];
    let (mut quoted, mut at) = (line.first() == Some(&b'"'), usize::from(line.first() == Some(&b'"')));
    loop {
        match (line.get(at), quoted) {
            (None, false) => break,
            (None, true) => return None,
            (Some(b'"'), true) => match line.get(at + 1) {
                Some(b'"') => {
                    columns.last_mut()?.push(b'"');
                    at += 1;
                }
                None | Some(b',') => quoted = false,
                Some(_) => return None,
            },
            (Some(b','), false) => {
                columns.push(vec![]);
                quoted = line.get(at + 1) == Some(&b'"');
                at += usize::from(quoted);
            }
            (Some(byte), _) => columns.last_mut()?.push(*byte),
        }
        at += 1;
    }
    (columns.len() == FIELDS.len()).then(|| columns.iter().map(|column| text(column)).collect())
}

fn text(bytes: &[u8]) -> Model {
    std::str::from_utf8(bytes).map_or_else(|_| Model::Bin(bytes.to_vec()), |text| Model::Str(text.to_owned()))
}

/// The shortest encoding, by the SDK's own writer: its bytes are looked at by the target `routing`.
fn row(values: &[Model]) -> Vec<u8> {
    let mut out = vec![];
    anchorbolt_row::write_row(&mut out, |row| values.iter().for_each(|value| write(value, row)));
    out
}

fn write(value: &Model, row: &mut anchorbolt_row::RowWriter<'_>) {
    match value {
        Model::Bool(b) => _ = row.bool(*b),
        Model::Int(i) => match u64::try_from(*i) {
            Ok(n) => _ = row.uint(n),
            Err(_) => _ = row.int(*i as i64),
        },
        Model::Float(f) => _ = row.f64(*f),
        Model::Str(s) => _ = row.str(s),
        Model::Bin(b) => _ = row.bin(b),
        Model::Array(list) => _ = row.array(|row| list.iter().for_each(|value| write(value, row))),
        Model::Map(map) => {
            _ = row.map(|entries| {
                for (key, value) in map {
                    let mut encoded = vec![];
                    anchorbolt_row::write_row(&mut encoded, |row| write(value, row));
                    if let Model::Str(key) = key {
                        entries.entry(key, anchorbolt_row::Raw(&encoded[1..]));
                    }
                }
            })
        }
        _ => _ = row.nil(),
    }
}

fn outline(value: &Model) -> (u8, u32) {
    match value {
        Model::Nil => (0, 0),
        Model::Bool(_) => (1, 0),
        Model::Int(_) => (2, 0),
        Model::Float(_) => (3, 0),
        Model::Str(s) => (4, size(s.len())),
        Model::Bin(b) => (5, size(b.len())),
        Model::Array(list) => (6, size(list.len())),
        Model::Map(map) => (7, size(map.len())),
        _ => (8, 0),
    }
}
