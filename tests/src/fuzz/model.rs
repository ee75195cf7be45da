//! MessagePack the slow way: values as the specification describes them.
//!
//! In: bytes. Out: the values of a row, or nothing if it is none; any legal encoding of a value, as random numbers
//! choose. Nothing here is the code of the crate `row`. Invariant: nothing is allocated for what is not there.

use fastrand::Rng;

/// How deep a row may be nested, itself counted; what the reference says.
const DEPTH_MAX: usize = 64;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Model {
    Nil,
    Bool(bool),
    Int(i128),
    Float(f64),
    Str(String),
    Bin(Vec<u8>),
    Array(Vec<Model>),
    Map(Vec<(Model, Model)>),
    Timestamp(i64, u32),
    Ext(i8, Vec<u8>),
}

/// The fields of a row, each with the bytes that it takes; none if the bytes are no row of this arity.
pub(super) fn row(data: &[u8], arity: usize) -> Option<Vec<(Model, std::ops::Range<usize>)>> {
    let mut reader = Reader { data, at: 0 };
    let count = match reader.byte()? {
        m @ 0x90..=0x9f => usize::from(m & 15),
        0xdc => reader.number(2)? as usize,
        0xdd => reader.number(4)? as usize,
        _ => return None,
    };
    if count != arity {
        return None;
    }
    let mut fields = vec![];
    for _ in 0..count {
        let from = reader.at;
        fields.push((reader.value(1)?, from..reader.at));
    }
    (reader.at == data.len()).then_some(fields)
}

struct Reader<'a> {
    data: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn byte(&mut self) -> Option<u8> {
        self.at += 1;
        self.data.get(self.at - 1).copied()
    }

    fn number(&mut self, bytes: usize) -> Option<u64> {
        (0..bytes).try_fold(0, |n, _| Some(n << 8 | u64::from(self.byte()?)))
    }

    fn signed(&mut self, bytes: usize) -> Option<i128> {
        let n = i128::from(self.number(bytes)?);
        let half = 1i128 << (8 * bytes - 1);
        Some(if n >= half { n - 2 * half } else { n })
    }

    fn part(&mut self, bytes: u64) -> Option<Vec<u8>> {
        let part = self.data.get(self.at..)?.get(..bytes as usize)?.to_vec();
        self.at += part.len();
        Some(part)
    }

    fn string(&mut self, bytes: u64) -> Option<Model> {
        String::from_utf8(self.part(bytes)?).ok().map(Model::Str)
    }

    fn list(&mut self, count: u64, depth: usize) -> Option<Vec<Model>> {
        let mut list = vec![];
        for _ in 0..count {
            list.push(self.value(depth + 1)?);
        }
        Some(list)
    }

    /// An array or map at this depth is refused where it begins.
    fn array(&mut self, count: u64, depth: usize) -> Option<Model> {
        if depth >= DEPTH_MAX { None } else { self.list(count, depth).map(Model::Array) }
    }

    fn map(&mut self, count: u64, depth: usize) -> Option<Model> {
        if depth >= DEPTH_MAX {
            return None;
        }
        let mut list = self.list(2 * count, depth)?.into_iter();
        let mut map = vec![];
        while let (Some(key), Some(value)) = (list.next(), list.next()) {
            map.push((key, value));
        }
        Some(Model::Map(map))
    }

    fn extension(&mut self, bytes: u64) -> Option<Model> {
        let kind = self.byte()? as i8;
        let body = self.part(bytes)?;
        Some(if kind == -1 { timestamp(&body) } else { None }.unwrap_or(Model::Ext(kind, body)))
    }

    fn value(&mut self, depth: usize) -> Option<Model> {
        Some(match self.byte()? {
            m @ 0x00..=0x7f => Model::Int(m.into()),
            m @ 0xe0..=0xff => Model::Int(i128::from(m) - 256),
            m @ 0x80..=0x8f => self.map(u64::from(m & 15), depth)?,
            m @ 0x90..=0x9f => self.array(u64::from(m & 15), depth)?,
            m @ 0xa0..=0xbf => self.string(u64::from(m & 31))?,
            0xc0 => Model::Nil,
            0xc1 => return None,
            m @ 0xc2..=0xc3 => Model::Bool(m == 0xc3),
            m @ 0xc4..=0xc6 => {
                let n = self.number(1 << (m - 0xc4))?;
                Model::Bin(self.part(n)?)
            }
            m @ 0xc7..=0xc9 => {
                let n = self.number(1 << (m - 0xc7))?;
                self.extension(n)?
            }
            0xca => Model::Float(f32::from_bits(self.number(4)? as u32).into()),
            0xcb => Model::Float(f64::from_bits(self.number(8)?)),
            m @ 0xcc..=0xcf => Model::Int(self.number(1 << (m - 0xcc))?.into()),
            m @ 0xd0..=0xd3 => Model::Int(self.signed(1 << (m - 0xd0))?),
            m @ 0xd4..=0xd8 => self.extension(1 << (m - 0xd4))?,
            m @ 0xd9..=0xdb => {
                let n = self.number(1 << (m - 0xd9))?;
                self.string(n)?
            }
            m @ 0xdc..=0xdd => {
                let n = self.number(2 << (m - 0xdc))?;
                self.array(n, depth)?
            }
            m @ 0xde..=0xdf => {
                let n = self.number(2 << (m - 0xde))?;
                self.map(n, depth)?
            }
        })
    }
}

fn timestamp(body: &[u8]) -> Option<Model> {
    let number = |part: &[u8]| part.iter().fold(0u64, |n, byte| n << 8 | u64::from(*byte));
    let (seconds, nanos) = match body.len() {
        4 => (number(body) as i64, 0),
        8 => ((number(body) & ((1 << 34) - 1)) as i64, number(body) >> 34),
        12 => (number(&body[4..]) as i64, number(&body[..4])),
        _ => return None,
    };
    (nanos < 1_000_000_000).then_some(Model::Timestamp(seconds, nanos as u32))
}

/// Whether two values mean the same.
pub(super) fn same(a: &Model, b: &Model) -> bool {
    match (a, b) {
        (Model::Float(a), Model::Float(b)) => a == b || (a.is_nan() && b.is_nan()),
        (Model::Int(i), Model::Float(f)) | (Model::Float(f), Model::Int(i)) => {
            f.fract() == 0.0 && f.abs() < 1e30 && *f as i128 == *i
        }
        (Model::Array(a), Model::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Model::Map(a), Model::Map(b)) => {
            let mut left = b.clone();
            a.len() == b.len()
                && a.iter().all(|(k, v)| {
                    let found = left.iter().position(|(k2, v2)| same(k, k2) && same(v, v2));
                    found.map(|i| left.swap_remove(i)).is_some()
                })
        }
        (a, b) => a == b,
    }
}

/// Encodes values in forms that random numbers choose.
pub(super) struct Encoder<'a> {
    pub(super) rng: &'a mut Rng,
    pub(super) out: Vec<u8>,
}

impl Encoder<'_> {
    pub(super) fn row(rng: &mut Rng, fields: &[Model]) -> Vec<u8> {
        let mut encoder = Encoder { rng, out: vec![] };
        encoder.value(&Model::Array(fields.to_vec()));
        encoder.out
    }

    fn value(&mut self, value: &Model) {
        match value {
            Model::Nil => self.out.push(0xc0),
            Model::Bool(b) => self.out.push(0xc2 + u8::from(*b)),
            Model::Int(i) => self.int(*i),
            Model::Float(f) => self.float(*f),
            Model::Str(s) => {
                self.head(s.len(), (0xa0, 31), &[(0xd9, 1), (0xda, 2), (0xdb, 4)]);
                self.out.extend(s.as_bytes());
            }
            Model::Bin(b) => {
                self.head(b.len(), (0, 0), &[(0xc4, 1), (0xc5, 2), (0xc6, 4)]);
                self.out.extend(b);
            }
            Model::Array(list) => {
                self.head(list.len(), (0x90, 15), &[(0xdc, 2), (0xdd, 4)]);
                list.iter().for_each(|v| self.value(v));
            }
            Model::Map(map) => {
                self.head(map.len(), (0x80, 15), &[(0xde, 2), (0xdf, 4)]);
                let mut entries: Vec<_> = map.iter().collect();
                self.rng.shuffle(&mut entries);
                for (key, value) in entries {
                    self.value(key);
                    self.value(value);
                }
            }
            Model::Timestamp(seconds, nanos) => {
                let body = [nanos.to_be_bytes().as_slice(), &seconds.to_be_bytes()].concat();
                self.ext(-1, &body);
            }
            Model::Ext(kind, body) => self.ext(*kind, body),
        }
    }

    /// `short` is its base and the most it holds; a base of 0 is none.
    fn head(&mut self, n: usize, short: (u8, usize), wide: &[(u8, usize)]) {
        let fits: Vec<_> = wide.iter().filter(|(_, bytes)| *bytes == 4 || n < 1 << (8 * bytes)).collect();
        if short.0 != 0 && n <= short.1 && self.rng.bool() {
            self.out.push(short.0 | n as u8);
        } else if let Some((marker, bytes)) = self.rng.choice(fits) {
            self.out.push(*marker);
            self.out.extend(&(n as u32).to_be_bytes()[4 - bytes..]);
        }
    }

    fn int(&mut self, i: i128) {
        let mut forms: Vec<Vec<u8>> = vec![];
        if (-32..128).contains(&i) {
            forms.push(vec![i as u8]);
        }
        for log in 0..4u8 {
            let (bytes, bits) = (1usize << log, 8u32 << log);
            let tail = || i.to_be_bytes()[16 - bytes..].to_vec();
            if (0..1 << bits).contains(&i) {
                forms.push([vec![0xcc + log], tail()].concat());
            }
            if (-(1 << (bits - 1))..1 << (bits - 1)).contains(&i) {
                forms.push([vec![0xd0 + log], tail()].concat());
            }
        }
        let whole = i as f64;
        if whole as i128 == i && i.unsigned_abs() < 1 << 62 {
            forms.push([&[0xcb][..], &whole.to_be_bytes()].concat());
        }
        self.out.extend(self.rng.choice(forms).unwrap_or_default());
    }

    fn float(&mut self, f: f64) {
        let narrow = f as f32;
        if (f64::from(narrow) == f || f.is_nan()) && self.rng.bool() {
            self.out.push(0xca);
            self.out.extend(narrow.to_be_bytes());
        } else {
            self.out.push(0xcb);
            self.out.extend(f.to_be_bytes());
        }
    }

    fn ext(&mut self, kind: i8, body: &[u8]) {
        match [1, 2, 4, 8, 16].iter().position(|&n| n == body.len()) {
            Some(log) if self.rng.bool() => self.out.push(0xd4 + log as u8),
            _ => self.head(body.len(), (0, 0), &[(0xc7, 1), (0xc8, 2), (0xc9, 4)]),
        }
        self.out.push(kind as u8);
        self.out.extend(body);
    }
}
