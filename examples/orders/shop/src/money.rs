//! Money in whole cents.
//!
//! In: JSON numbers such as 12.5, and texts such as `12,50`. Out: [`Cents`], which add up exactly. Invariant: an
//! amount is not negative and below [`Cents::MAX`].

use serde_json::Value;
use std::fmt;
use std::iter::Sum;
use std::ops::AddAssign;

/// An amount of money.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cents(pub u64);

impl Cents {
    /// No amount is this large.
    pub const MAX: Cents = Cents(100_000_000_000);

    /// The amount of an order or a charge: a number, or a text with a comma or a point.
    pub fn read(value: &Value) -> Option<Cents> {
        let amount = match value {
            Value::String(text) => text.replace(',', ".").parse().ok()?,
            other => other.as_f64()?,
        };
        let cents = (amount * 100.0).round();
        (0.0..Cents::MAX.0 as f64).contains(&cents).then_some(Cents(cents as u64))
    }

    /// As a JSON number.
    pub fn number(self) -> f64 {
        self.0 as f64 / 100.0
    }
}

impl AddAssign for Cents {
    fn add_assign(&mut self, other: Cents) {
        self.0 = self.0.saturating_add(other.0);
    }
}

impl Sum for Cents {
    fn sum<I: Iterator<Item = Cents>>(all: I) -> Cents {
        all.fold(Cents(0), |mut sum, cents| {
            sum += cents;
            sum
        })
    }
}

impl fmt::Display for Cents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}.{:02}", self.0 / 100, self.0 % 100))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn numbers_and_texts_are_amounts() {
        for (value, cents) in [(json!(12.5), 1250), (json!("12,50"), 1250), (json!("3"), 300), (json!(0), 0)]
        {
            assert_eq!(Cents::read(&value), Some(Cents(cents)), "{value}");
        }
        for value in [json!(-1), json!("much"), json!("NaN"), json!(null), json!(1e12)] {
            assert_eq!(Cents::read(&value), None, "{value}");
        }
    }

    #[test]
    fn every_amount_is_the_same_after_a_round_trip() {
        for cents in (0..100_000).map(Cents) {
            assert_eq!(Cents::read(&json!(cents.number())), Some(cents));
        }
        assert_eq!(Cents(5).to_string(), "0.05");
    }
}
