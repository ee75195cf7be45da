//! Checks orders for fraud.
//!
//! In: orders with fields `order_id`, `user_id`, `amount` and `risk_score`. Out: on stream `approved` the order with
//! `is_approved`, or on stream `rejected` its id with a `payment_result` of `REJECTED`: two streams, since their rows
//! differ in length. Invariant: each order leaves on exactly one of them.
//!
//! An amount that is a text, such as `"12,50"`, kills it, as a bug would: with `config = { text-amounts = true }` it
//! is mended and reads them.

use anchorbolt_sdk::prelude::*;

/// The bolt.
#[derive(Debug)]
pub struct Fraud {
    text_amounts: bool,
    risk_limit: f64,
}

impl Fraud {
    fn amount(&self, order: &Tuple<'_>) -> Result<f64, Error> {
        if !self.text_amounts {
            // The bug: whoever wrote this had only seen orders whose amount is a number.
            return Ok(order.f64("amount").expect("the amount of an order is a number"));
        }
        match order.str("amount") {
            Ok(text) => Ok(text.replace(',', ".").parse().or_reject()?),
            Err(_) => order.f64("amount").or_reject(),
        }
    }
}

impl BasicBolt for Fraud {
    fn declare(_: &Config) -> Result<Declaration, Error> {
        Ok(Declaration::new()
            .stream("approved", ["order_id", "user_id", "amount", "is_approved"])
            .stream("rejected", ["order_id", "payment_result"])
            .stateless())
    }

    fn prepare(context: &Context) -> Result<Self, Error> {
        let config = context.config();
        let text_amounts = config.get_or("text-amounts", false)?;
        Ok(Self { text_amounts, risk_limit: config.get_or("risk-limit", 0.9)? })
    }

    fn execute(&mut self, order: &Tuple<'_>, out: &mut BasicCollector<'_>) -> Result<(), Error> {
        let id = order.str("order_id").or_reject()?;
        let amount = self.amount(order)?;
        if !(0.0..1e9).contains(&amount) {
            return Err(Error::reject(format!("order {id} has an amount of {amount}")));
        }
        if order.f64("risk_score").or_reject()? > self.risk_limit {
            out.emit_to("rejected", (id, "REJECTED"))
        } else {
            out.emit_to("approved", (id, order.str("user_id").or_reject()?, amount, true))
        }
    }
}

anchorbolt_sdk::export!(Fraud);

#[cfg(test)]
mod tests {
    use super::*;
    use anchorbolt_sdk::testing::Harness;
    use anchorbolt_sdk::{Failure, json};

    fn fraud(config: anchorbolt_sdk::serde_json::Value) -> Harness<Fraud> {
        let fields = ["order_id", "user_id", "amount", "risk_score"];
        Harness::setup().input("orders", "default", fields).config(config).start().unwrap()
    }

    #[test]
    fn an_order_leaves_on_one_of_two_streams() {
        let mut fraud = fraud(json!({}));
        let orders = fraud.feed_batch(0, [("o-1", "u-1", 12.5, 0.1), ("o-2", "u-2", 7.0, 0.95)]);
        assert_eq!(fraud.rows("approved"), [("o-1", "u-1", 12.5, true)]);
        assert_eq!(fraud.rows("rejected"), [("o-2", "REJECTED")]);
        assert_eq!(fraud.acked(), orders);
    }

    #[test]
    fn whole_amounts_are_amounts_and_the_limit_is_set() {
        let mut fraud = fraud(json!({ "risk-limit": 0.5 }));
        fraud.feed(("o-1", "u-1", 12, 0.5));
        fraud.feed(("o-2", "u-1", 12, 0.51));
        assert_eq!((fraud.rows("approved").len(), fraud.rows("rejected").len()), (1, 1));
    }

    #[test]
    #[should_panic(
        expected = "the amount of an order is a number: Failure::Fail: field 2 (`amount`) is a string"
    )]
    fn an_amount_as_text_kills_it() {
        fraud(json!({})).feed(("o-1", "u-1", "12,50", 0.1));
    }

    #[test]
    fn mended_it_reads_amounts_as_text() {
        let mut fraud = fraud(json!({ "text-amounts": true }));
        fraud.feed(("o-1", "u-1", "12,50", 0.1));
        fraud.feed(("o-2", "u-1", 3, 0.1));
        assert_eq!(fraud.rows("approved"), [("o-1", "u-1", 12.5, true), ("o-2", "u-1", 3.0, true)]);
    }

    #[test]
    fn what_can_never_be_an_order_is_rejected_for_good() {
        let mut fraud = fraud(json!({ "text-amounts": true }));
        fraud.feed(("o-1", "u-1", "much", 0.1));
        fraud.feed(("o-2", "u-1", -1, 0.1));
        fraud.feed((7, "u-1", 1, 0.1));
        fraud.feed(("o-4", "u-1", f64::NAN, 0.1));
        assert!(fraud.failed().iter().all(|failed| failed.kind == Failure::Reject));
        let reasons: Vec<String> = fraud.failed().into_iter().map(|failed| failed.reason).collect();
        let wanted = [
            "invalid float literal",
            "order o-2 has an amount of -1",
            "field 0 (`order_id`) is an integer where a string is wanted",
            "order o-4 has an amount of NaN",
        ];
        assert_eq!(reasons, wanted);
    }
}
