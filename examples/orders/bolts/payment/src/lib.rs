//! Charges approved orders at the payment server.
//!
//! In: tuples with fields `order_id`, `user_id` and `amount`. Out: `order_id` with a `payment_result` of `SUCCESS`, `FAILED`
//! (the card was declined) or `SKIPPED` (there is nothing to pay). These are results, and flow on. Only when nobody
//! can say whether the order was paid (no connection, no answer, status 5xx) does its tuple fail, as `retry`.
//!
//! A retry may ask for a charge that was made: the answer to it was lost, or a bolt further on failed. With
//! `idempotency-key = true` each request carries the order's id as its key, and the server charges a key once.
//!
//! Invariant: it keeps a connection and nothing else, so a fresh instance misses nothing.

use anchorbolt_sdk::json;
use anchorbolt_sdk::prelude::*;
use orders_http::{CallError, Client};
use std::time::Duration;

/// The bolt.
#[derive(Debug)]
pub struct Payment {
    server: Client,
    idempotency_key: bool,
}

impl Payment {
    fn charge(&mut self, id: &str, user: &str, amount: f64) -> Result<&'static str, Error> {
        let body = json!({ "order_id": id, "user_id": user, "amount": amount }).to_string();
        let key = [("Idempotency-Key", id)];
        let headers = if self.idempotency_key { &key[..] } else { &[] };
        let answer = self.server.post("/charge", headers, &body).map_err(failed)?;
        match answer.status {
            200 => Ok("SUCCESS"),
            402 => Ok("FAILED"),
            status @ (408 | 429 | 500..) => Err(Error::retry(format!("the payment server answers {status}"))),
            status => {
                let said = String::from_utf8_lossy(&answer.body);
                Err(Error::reject(format!("the payment server refuses order {id}: {status} {said}")))
            }
        }
    }
}

impl BasicBolt for Payment {
    fn declare(_: &Config) -> Result<Declaration, Error> {
        Ok(Declaration::new().output(["order_id", "payment_result"]).stateless())
    }

    fn prepare(context: &Context) -> Result<Self, Error> {
        let config = context.config();
        let timeout = Duration::from_millis(config.get_or("timeout-ms", 1000)?);
        let server = Client::new(&config.require::<String>("server")?, timeout)?;
        Ok(Self { server, idempotency_key: config.get_or("idempotency-key", true)? })
    }

    fn execute(&mut self, order: &Tuple<'_>, out: &mut BasicCollector<'_>) -> Result<(), Error> {
        let (id, amount) = (order.str("order_id")?, order.f64("amount")?);
        let result = if amount == 0.0 { "SKIPPED" } else { self.charge(id, order.str("user_id")?, amount)? };
        out.emit((id, result));
        Ok(())
    }
}

/// Most often something outside is down; a request that is wrong will never be right.
fn failed(error: CallError) -> Error {
    let text = format!("payment server: {error}");
    if matches!(error, CallError::Request(_)) { Error::reject(text) } else { Error::retry(text) }
}

anchorbolt_sdk::export!(Payment);

#[cfg(test)]
mod tests {
    use super::*;
    use anchorbolt_sdk::Failure;
    use anchorbolt_sdk::testing::Harness;
    use orders_shop::server::{Server, Settings};
    use tempfile::TempDir;

    /// The bolt and its server, whose file of charges is in the folder.
    fn payment(settings: Settings, key: bool) -> (Harness<Payment>, Server, TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let server = Server::start(settings, &folder.path().join("charges.jsonl")).unwrap();
        let config = json!({ "server": server.address(), "idempotency-key": key, "timeout-ms": 500 });
        let fields = ["order_id", "user_id", "amount", "is_approved"];
        let payment = Harness::setup().input("fraud", "approved", fields).config(config).start().unwrap();
        (payment, server, folder)
    }

    #[test]
    fn results_flow_and_are_no_failures() {
        let (mut payment, server, _folder) = payment(Settings::default(), true);
        let rows = [("o-1", "u-1", 12.5, true), ("o-2", "u-1", 950.0, true), ("o-3", "u-1", 0.0, true)];
        let orders = payment.feed_batch(0, rows);
        assert_eq!(payment.rows("default"), [("o-1", "SUCCESS"), ("o-2", "FAILED"), ("o-3", "SKIPPED")]);
        assert_eq!(payment.acked(), orders);
        assert_eq!(server.counts().charges, 1);
        assert_eq!(server.counts().connections, 1, "it is kept");
    }

    #[test]
    fn a_second_request_charges_again_unless_it_has_a_key() {
        for (key, charges) in [(true, 1), (false, 2)] {
            let (mut payment, server, _folder) = payment(Settings::default(), key);
            payment.feed(("o-1", "u-1", 12.5, true));
            payment.feed(("o-1", "u-1", 12.5, true));
            assert_eq!(payment.rows("default"), [("o-1", "SUCCESS"), ("o-1", "SUCCESS")]);
            assert_eq!(server.counts().charges, charges);
        }
    }

    #[test]
    fn a_server_that_fails_or_is_down_is_a_matter_of_time() {
        let (mut payment, server, _folder) =
            payment(Settings { fail_rate: 1.0, ..Settings::default() }, true);
        for id in ["o-1", "o-2", "o-3", "o-4"] {
            payment.feed((id, "u-1", 12.5, true));
        }
        server.stop();
        payment.feed(("o-5", "u-1", 12.5, true));
        let failed = payment.failed();
        assert_eq!(failed.len(), 5);
        assert!(failed.iter().all(|failed| failed.kind == Failure::Retry), "{failed:?}");
        assert!(failed[4].reason.starts_with("payment server: "), "{failed:?}");
    }

    #[test]
    fn an_answer_that_takes_too_long_is_a_matter_of_time() {
        let slow = Settings { slow_rate: 1.0, slow: Duration::from_secs(2), ..Settings::default() };
        let (mut payment, _server, _folder) = payment(slow, true);
        payment.feed(("o-1", "u-1", 12.5, true));
        let failed = &payment.failed()[0];
        assert_eq!(
            (failed.kind, failed.reason.as_str()),
            (Failure::Retry, "payment server: no answer in time")
        );
    }

    #[test]
    fn what_the_server_will_never_take_is_rejected_for_good() {
        let (mut payment, _server, _folder) = payment(Settings::default(), true);
        payment.feed(("o-1\r\nx: y", "u-1", 12.5, true));
        payment.feed(("o-2", "u-1", -1.0, true));
        let failed = payment.failed();
        assert!(failed.iter().all(|failed| failed.kind == Failure::Reject), "{failed:?}");
        assert!(failed[1].reason.starts_with("the payment server refuses order o-2: 400 "), "{failed:?}");
    }
}
