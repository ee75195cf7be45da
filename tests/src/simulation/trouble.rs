//! What a bolt does with a tuple, drawn anew each time.
//!
//! In: a bolt's manner, what is wrong with the message. Out: a [`Deed`]. Invariant: in a calm life everything is acked
//! at once.

use super::source::Poison;
use fastrand::Rng;

/// What a bolt does with one tuple.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Deed {
    /// Emits and acks.
    Good,
    /// Emits nothing anchored, and acks.
    Unanchored,
    /// Holds it, and does what is to be done some calls later.
    Late,
    /// Holds it together with others, and emits one tuple anchored to all.
    Join,
    /// Holds it for ever.
    Never,
    Fail,
    Retry,
    Reject,
    /// Emits, then fails.
    EmitThenFail,
    /// Acks it twice, or what was acked before, and emits anchored to it and another.
    Twice,
    /// Emits a row of the wrong length.
    BadRow,
    /// The call dies.
    Kill,
    /// The call acks a handle that was never given out, and so dies.
    Forge,
    /// The call returns an error.
    Error,
    /// Takes its time.
    Slow,
    /// Holds it, and starts its timeout again now and then.
    Reset,
}

const BAD: [Deed; 15] = [
    Deed::Unanchored,
    Deed::Late,
    Deed::Join,
    Deed::Never,
    Deed::Fail,
    Deed::Retry,
    Deed::Reject,
    Deed::EmitThenFail,
    Deed::Twice,
    Deed::BadRow,
    Deed::Kill,
    Deed::Forge,
    Deed::Error,
    Deed::Slow,
    Deed::Reset,
];

/// How a bolt behaves.
#[derive(Clone, Debug)]
pub(super) struct Manner {
    /// What it does that is not just good, each so often in 1000.
    deeds: Vec<(Deed, u32)>,
    /// Ticks and flushes that die, prepares that fail, in 1000.
    pub(super) rotten: u32,
    /// Emissions for each output stream of a tuple: up to this.
    pub(super) children: u32,
    /// How many a join waits for.
    pub(super) join: usize,
}

impl Manner {
    pub(super) fn random(rng: &mut Rng) -> Manner {
        let kinds = if rng.u8(..4) == 0 { 0 } else { rng.usize(1..4) };
        let mut deeds: Vec<(Deed, u32)> = vec![];
        for _ in 0..kinds {
            let often = [3, 20, 100, 400][rng.usize(..4)];
            deeds.push((BAD[rng.usize(..BAD.len())], often));
        }
        Manner {
            deeds,
            rotten: if rng.u8(..5) == 0 { rng.u32(1..200) } else { 0 },
            children: rng.u32(0..3),
            join: rng.usize(2..6),
        }
    }

    /// For a tuple of a message with this poison.
    pub(super) fn deed(&self, rng: &mut Rng, poison: Poison) -> Deed {
        match poison {
            Poison::None => {}
            Poison::Fails => return Deed::Fail,
            Poison::Kills => return Deed::Kill,
            Poison::IsRejected => return Deed::Reject,
        }
        let mut draw = rng.u32(..1000);
        for (deed, often) in &self.deeds {
            match draw.checked_sub(*often) {
                None => return *deed,
                Some(rest) => draw = rest,
            }
        }
        Deed::Good
    }
}
