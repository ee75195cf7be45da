//! Random values and rows for targets to begin with and to put in.
//!
//! In: random numbers. Out: values with the edges of their types, and rows of them. Invariant: each is legal.

use super::model::{Encoder, Model};
use fastrand::Rng;

/// A value, nested up to `deep` levels.
pub(super) fn value(rng: &mut Rng, deep: usize) -> Model {
    match rng.u8(..if deep == 0 { 10 } else { 13 }) {
        0 => Model::Nil,
        1 => Model::Bool(rng.bool()),
        2 | 3 => Model::Int(i128::from(rng.i64(..) >> rng.u32(..64))),
        4 => Model::Int(i128::from(rng.u64(..) >> rng.u32(..64))),
        5 => Model::Float(match rng.u8(..5) {
            0 => f64::from_bits(rng.u64(..)),
            1 => f64::from(f32::from_bits(rng.u32(..))),
            2 => *rng.choice(&[0.0, -0.0, f64::NAN, f64::INFINITY, 1e300, -1.5]).unwrap_or(&0.0),
            _ => f64::from(rng.i16(..)),
        }),
        6 | 7 => Model::Str(text(rng)),
        8 => Model::Bin((0..rng.usize(..20)).map(|_| rng.u8(..)).collect()),
        9 if rng.bool() => Model::Timestamp(rng.i64(..) >> rng.u32(..60), rng.u32(..1_000_000_000)),
        9 => Model::Ext(rng.i8(0..), (0..rng.usize(..18)).map(|_| rng.u8(..)).collect()),
        10 | 11 => Model::Array((0..rng.usize(..6)).map(|_| value(rng, deep - 1)).collect()),
        _ => Model::Map((0..rng.usize(..5)).map(|_| (value(rng, deep - 1), value(rng, deep - 1))).collect()),
    }
}

fn text(rng: &mut Rng) -> String {
    let most = *rng.choice(&[2, 8, 40, 300]).unwrap_or(&2);
    (0..rng.usize(..most)).map(|_| if rng.u8(..8) == 0 { rng.char(..) } else { rng.alphanumeric() }).collect()
}

/// A row of so many fields.
pub(super) fn row(rng: &mut Rng, fields: usize) -> Vec<u8> {
    let fields: Vec<Model> = (0..fields).map(|_| value(rng, 3)).collect();
    Encoder::row(rng, &fields)
}
