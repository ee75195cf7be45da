//! An order, and the fate that it should have.
//!
//! In: a line of the orders' file. Out: an [`Order`]. Invariant: [`Order::fate`] follows from the order alone, as long
//! as the bolts and the server have their limits of old.

use crate::money::Cents;
use serde_json::{Value, json};
use std::fmt;

/// A card pays no more than 900.00 at once: the server declines.
pub const CARD_LIMIT: Cents = Cents(90_000);
/// An order with a higher risk, in percent, is rejected: what `risk-limit` of the fraud check has by default.
pub const RISK_LIMIT_PERCENT: u32 = 90;

/// One order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// Its id.
    pub id: String,
    /// Who ordered.
    pub user: String,
    /// What it costs.
    pub amount: Cents,
    /// How likely it is fraud.
    pub risk_percent: u32,
    /// Whether its amount is written as a text, which the fraud check does not expect.
    pub poison: bool,
}

/// What becomes of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fate {
    /// It is paid.
    Success,
    /// The card was declined.
    Failed,
    /// There was nothing to pay.
    Skipped,
    /// The fraud check refused it.
    Rejected,
}

impl Order {
    /// Reads a line.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(line: &str) -> Result<Order, String> {
        let order: Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
        let text = |key: &str| order[key].as_str().map(str::to_owned).ok_or(format!("`{key}` is no text"));
        let amount = Cents::read(&order["amount"]).ok_or("`amount` is no amount")?;
        let risk = order["risk_score"].as_f64().filter(|risk| (0.0..=1.0).contains(risk));
        let risk = risk.ok_or("`risk_score` is not from 0 to 1")?;
        Ok(Order {
            id: text("order_id")?,
            user: text("user_id")?,
            amount,
            risk_percent: (risk * 100.0).round() as u32,
            poison: order["amount"].is_string(),
        })
    }

    /// As a line, without its end.
    pub fn line(&self) -> String {
        let Cents(cents) = self.amount;
        let amount = match self.poison {
            true => json!(format!("{},{:02}", cents / 100, cents % 100)),
            false => json!(self.amount.number()),
        };
        let risk = f64::from(self.risk_percent) / 100.0;
        json!({ "order_id": self.id, "user_id": self.user, "amount": amount, "risk_score": risk }).to_string()
    }

    /// The fate it should have.
    pub fn fate(&self) -> Fate {
        match self.amount {
            _ if self.risk_percent > RISK_LIMIT_PERCENT => Fate::Rejected,
            Cents(0) => Fate::Skipped,
            amount if amount > CARD_LIMIT => Fate::Failed,
            _ => Fate::Success,
        }
    }
}

impl Fate {
    /// All of them, in the order of a report.
    pub const ALL: [Fate; 4] = [Fate::Success, Fate::Failed, Fate::Skipped, Fate::Rejected];

    /// As the pipeline writes it.
    pub fn as_str(self) -> &'static str {
        match self {
            Fate::Success => "SUCCESS",
            Fate::Failed => "FAILED",
            Fate::Skipped => "SKIPPED",
            Fate::Rejected => "REJECTED",
        }
    }

    /// The fate of this name.
    pub fn parse(text: &str) -> Option<Fate> {
        Fate::ALL.into_iter().find(|fate| fate.as_str() == text)
    }
}

impl fmt::Display for Fate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(cents: u64, risk_percent: u32, poison: bool) -> Order {
        Order { id: "o-1".into(), user: "u-1".into(), amount: Cents(cents), risk_percent, poison }
    }

    #[test]
    fn a_line_is_read_as_it_was_written() {
        for order in [order(1250, 7, false), order(1250, 7, true), order(0, 100, false)] {
            assert_eq!(Order::parse(&order.line()), Ok(order));
        }
        let line = order(1250, 7, true).line();
        assert_eq!(line, r#"{"order_id":"o-1","user_id":"u-1","amount":"12,50","risk_score":0.07}"#);
    }

    #[test]
    fn the_limits_decide_the_fate() {
        let fate = |cents, risk| order(cents, risk, false).fate();
        assert_eq!((fate(90_000, 90), fate(90_001, 90)), (Fate::Success, Fate::Failed));
        assert_eq!((fate(0, 90), fate(0, 91)), (Fate::Skipped, Fate::Rejected));
        assert!(Fate::ALL.into_iter().all(|fate| Fate::parse(&fate.to_string()) == Some(fate)));
    }

    #[test]
    fn what_is_no_order_is_said() {
        for (line, wanted) in [
            ("[]", "`amount` is no amount"),
            (r#"{"amount":1,"risk_score":2}"#, "`risk_score` is not from 0 to 1"),
            (r#"{"amount":1,"risk_score":0}"#, "`order_id` is no text"),
        ] {
            assert_eq!(Order::parse(line), Err(wanted.to_owned()));
        }
        assert!(Order::parse("{").is_err());
    }
}
