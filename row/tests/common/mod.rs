//! A slow, obvious model of MessagePack values: the oracle of the property tests.
//!
//! In: random choices. Out: values, any legal encoding of them, and what a reader must say of some bytes.

use proptest::prelude::*;

/// A value as the specification describes it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Model {
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

pub(crate) fn model() -> impl Strategy<Value = Model> {
    let leaf = prop_oneof![
        Just(Model::Nil),
        any::<bool>().prop_map(Model::Bool),
        (-200i64..200).prop_map(|v| Model::Int(v.into())),
        any::<i64>().prop_map(|v| Model::Int(v.into())),
        any::<u64>().prop_map(|v| Model::Int(v.into())),
        (-200i64..200).prop_map(|v| Model::Float(v as f64)),
        any::<i64>().prop_map(|v| Model::Float(v as f64)),
        any::<u64>().prop_map(|v| Model::Float(f64::from_bits(v))),
        any::<f32>().prop_map(|v| Model::Float(v.into())),
        prop_oneof![Just(0.0), Just(-0.0), Just(f64::NAN), Just(-f64::NAN), Just(f64::INFINITY)]
            .prop_map(Model::Float),
        ".{0,40}".prop_map(Model::Str),
        "[a-z]{0,3}".prop_map(Model::Str),
        "[a-z]{250,260}".prop_map(Model::Str),
        prop::collection::vec(any::<u8>(), 0..40).prop_map(Model::Bin),
        (any::<i64>(), 0u32..1_000_000_000).prop_map(|(s, n)| Model::Timestamp(s, n)),
        (0i64..1 << 34, 0u32..1_000_000_000).prop_map(|(s, n)| Model::Timestamp(s, n)),
        (0i64..1 << 32).prop_map(|s| Model::Timestamp(s, 0)),
        (0i8..3, prop::collection::vec(any::<u8>(), 0..20)).prop_map(|(k, b)| Model::Ext(k, b)),
    ];
    leaf.prop_recursive(4, 40, 18, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..18).prop_map(Model::Array),
            prop::collection::vec((inner.clone(), inner), 0..5).prop_map(Model::Map),
        ]
    })
}

/// Do they mean the same, by the rules that `hash.rs` states?
pub(crate) fn same(a: &Model, b: &Model) -> bool {
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
                    found.map(|i| left.remove(i)).is_some()
                })
        }
        (a, b) => a == b,
    }
}

/// Encodes a value in one of its legal forms, picked by `choices`.
pub(crate) struct Encoder<'c> {
    pub(crate) out: Vec<u8>,
    choices: &'c [u8],
    next: usize,
}

impl<'c> Encoder<'c> {
    pub(crate) fn new(choices: &'c [u8]) -> Self {
        Self { out: Vec::new(), choices, next: 0 }
    }

    fn choose(&mut self, n: usize) -> usize {
        self.next += 1;
        self.choices.get(self.next % self.choices.len().max(1)).map_or(0, |&c| usize::from(c) % n)
    }

    /// A row of these fields.
    pub(crate) fn row(choices: &[u8], fields: &[Model]) -> Vec<u8> {
        let mut e = Encoder::new(choices);
        e.header(fields.len(), Some((0x90, 15)), &[0xdc, 0xdd], 2);
        fields.iter().for_each(|f| e.value(f));
        e.out
    }

    pub(crate) fn value(&mut self, v: &Model) {
        match v {
            Model::Nil => self.out.push(0xc0),
            Model::Bool(b) => self.out.push(0xc2 + u8::from(*b)),
            Model::Int(i) => self.int(*i),
            Model::Float(f) => self.float(*f),
            Model::Str(s) => {
                self.header(s.len(), Some((0xa0, 31)), &[0xd9, 0xda, 0xdb], 1);
                self.out.extend(s.as_bytes());
            }
            Model::Bin(b) => {
                self.header(b.len(), None, &[0xc4, 0xc5, 0xc6], 1);
                self.out.extend(b);
            }
            Model::Array(a) => {
                self.header(a.len(), Some((0x90, 15)), &[0xdc, 0xdd], 2);
                a.iter().for_each(|v| self.value(v));
            }
            Model::Map(m) => self.map(m),
            Model::Timestamp(s, n) => self.timestamp(*s, *n),
            Model::Ext(kind, body) => self.ext(*kind, body),
        }
    }

    /// A header with a length, in a form that holds it.
    fn header(&mut self, len: usize, fixed: Option<(u8, usize)>, wide: &[u8], first_width: usize) {
        let mut forms = Vec::new();
        if let Some((base, _)) = fixed.filter(|&(_, max)| len <= max) {
            forms.push(vec![base | len as u8]);
        }
        for (i, &marker) in wide.iter().enumerate() {
            let width = first_width << i;
            if (len as u64) < 1 << (8 * width) {
                forms.push([&[marker], &(len as u32).to_be_bytes()[4 - width..]].concat());
            }
        }
        let form = self.choose(forms.len());
        self.out.extend(&forms[form]);
    }

    fn int(&mut self, i: i128) {
        let mut forms: Vec<Vec<u8>> = Vec::new();
        if (-32..128).contains(&i) {
            forms.push(vec![i as u8]);
        }
        for (log, width) in [1usize, 2, 4, 8].into_iter().enumerate() {
            let bits = 8 * width as u32;
            let tail = &i.to_be_bytes()[16 - width..];
            if (0..1i128 << bits).contains(&i) {
                forms.push([&[0xcc + log as u8], tail].concat());
            }
            if (-(1i128 << (bits - 1))..1i128 << (bits - 1)).contains(&i) {
                forms.push([&[0xd0 + log as u8], tail].concat());
            }
        }
        if (i as f64) as i128 == i {
            forms.push([&[0xcb][..], &(i as f64).to_be_bytes()].concat());
        }
        let form = self.choose(forms.len());
        self.out.extend(&forms[form]);
    }

    fn float(&mut self, f: f64) {
        let narrow = f as f32;
        if f64::from(narrow).to_bits() == f.to_bits() && self.choose(2) == 0 {
            self.out.push(0xca);
            self.out.extend(narrow.to_be_bytes());
        } else {
            self.out.push(0xcb);
            self.out.extend(f.to_be_bytes());
        }
    }

    fn map(&mut self, entries: &[(Model, Model)]) {
        self.header(entries.len(), Some((0x80, 15)), &[0xde, 0xdf], 2);
        let mut entries = entries.to_vec();
        while !entries.is_empty() {
            let (k, v) = entries.swap_remove(self.choose(entries.len()));
            self.value(&k);
            self.value(&v);
        }
    }

    fn timestamp(&mut self, seconds: i64, nanos: u32) {
        let mut forms = vec![[nanos.to_be_bytes().as_slice(), &seconds.to_be_bytes()].concat()];
        if (0..1i64 << 34).contains(&seconds) {
            forms.push((u64::from(nanos) << 34 | seconds as u64).to_be_bytes().to_vec());
        }
        if let (Ok(s), 0) = (u32::try_from(seconds), nanos) {
            forms.push(s.to_be_bytes().to_vec());
        }
        let form = self.choose(forms.len());
        self.ext(-1, &forms[form]);
    }

    fn ext(&mut self, kind: i8, body: &[u8]) {
        let fixed = [1, 2, 4, 8, 16].iter().position(|&n| n == body.len());
        match fixed {
            Some(log) if self.choose(2) == 0 => self.out.push(0xd4 + log as u8),
            _ => self.header(body.len(), None, &[0xc7, 0xc8, 0xc9], 1),
        }
        self.out.push(kind as u8);
        self.out.extend(body);
    }
}

/// Reads one value the plain way: recursively, by the tables of the specification. The rest on success.
pub(crate) fn oracle(data: &[u8], depth: usize) -> Option<&[u8]> {
    let (&m, rest) = data.split_first()?;
    let be = |n: usize| -> Option<(usize, &[u8])> {
        let (len, rest) = rest.split_at_checked(n)?;
        Some((len.iter().fold(0, |v, &b| v << 8 | usize::from(b)), rest))
    };
    let text = |(n, rest): (usize, _)| {
        let (s, rest): (&[u8], &[u8]) = <[u8]>::split_at_checked(rest, n)?;
        std::str::from_utf8(s).ok().map(|_| rest)
    };
    let plain = |(n, rest): (usize, _)| <[u8]>::split_at_checked(rest, n).map(|(_, rest)| rest);
    let nested = |(n, rest): (usize, _)| {
        (depth < anchorbolt_row::MAX_DEPTH).then_some(())?;
        (0..n).try_fold(rest, |rest, _| oracle(rest, depth + 1))
    };
    match m {
        0x00..=0x7f | 0xe0..=0xff | 0xc0 | 0xc2 | 0xc3 => Some(rest),
        0x80..=0x8f => nested((2 * usize::from(m & 15), rest)),
        0x90..=0x9f => nested((usize::from(m & 15), rest)),
        0xa0..=0xbf => text((usize::from(m & 31), rest)),
        0xc1 => None,
        0xc4..=0xc6 => plain(be(1 << (m - 0xc4))?),
        0xc7..=0xc9 => be(1 << (m - 0xc7)).and_then(|(n, rest)| plain((n + 1, rest))),
        0xca | 0xce | 0xd2 => plain((4, rest)),
        0xcb | 0xcf | 0xd3 => plain((8, rest)),
        0xcc | 0xd0 => plain((1, rest)),
        0xcd | 0xd1 => plain((2, rest)),
        0xd4..=0xd8 => plain((1 + (1 << (m - 0xd4)), rest)),
        0xd9..=0xdb => text(be(1 << (m - 0xd9))?),
        0xdc | 0xdd => nested(be(2 << (m - 0xdc))?),
        0xde | 0xdf => be(2 << (m - 0xde)).and_then(|(n, rest)| nested((2 * n, rest))),
    }
}

/// Is it one row of this arity, by the oracle?
pub(crate) fn is_row(data: &[u8], arity: usize) -> bool {
    let len = match data {
        [m @ 0x90..=0x9f, ..] => usize::from(m & 15),
        [0xdc, a, b, ..] => usize::from(u16::from_be_bytes([*a, *b])),
        [0xdd, a, b, c, d, ..] => u32::from_be_bytes([*a, *b, *c, *d]) as usize,
        _ => return false,
    };
    len == arity && oracle(data, 0).is_some_and(<[u8]>::is_empty)
}
