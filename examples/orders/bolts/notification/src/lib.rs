//! Tells the customer what became of an order.
//!
//! In: tuples with fields `order_id` and `payment_result`, from the payment or straight from the fraud check. Out: `order_id`
//! and `fate`, once the server took the notification. When it does not, the tuple fails as `retry`, and its order comes
//! again from the start. Invariant: no fate leaves before its customer is told.

use anchorbolt_sdk::json;
use anchorbolt_sdk::prelude::*;
use orders_http::{CallError, Client};
use std::time::Duration;

/// The bolt.
#[derive(Debug)]
pub struct Notification {
    server: Client,
}

impl BasicBolt for Notification {
    fn declare(_: &Config) -> Result<Declaration, Error> {
        Ok(Declaration::new().output(["order_id", "fate"]).stateless())
    }

    fn prepare(context: &Context) -> Result<Self, Error> {
        let config = context.config();
        let timeout = Duration::from_millis(config.get_or("timeout-ms", 1000)?);
        Ok(Self { server: Client::new(&config.require::<String>("server")?, timeout)? })
    }

    fn execute(&mut self, result: &Tuple<'_>, out: &mut BasicCollector<'_>) -> Result<(), Error> {
        let (id, fate) = (result.str("order_id")?, result.str("payment_result")?);
        let body = json!({ "order_id": id, "fate": fate }).to_string();
        let answer = self.server.post("/notify", &[], &body).map_err(failed)?;
        match answer.status {
            200..300 => out.emit((id, fate)),
            status => return Err(Error::retry(format!("the notification server answers {status}"))),
        }
        Ok(())
    }
}

fn failed(error: CallError) -> Error {
    Error::retry(format!("notification server: {error}"))
}

anchorbolt_sdk::export!(Notification);

#[cfg(test)]
mod tests {
    use super::*;
    use anchorbolt_sdk::Failure;
    use anchorbolt_sdk::testing::Harness;
    use orders_shop::server::{Server, Settings};

    #[test]
    fn a_fate_leaves_when_its_customer_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let server = Server::start(Settings::default(), &folder.path().join("charges.jsonl")).unwrap();
        let fields = ["order_id", "payment_result"];
        let setup = Harness::<Notification>::setup().config(json!({ "server": server.address() }));
        let setup = setup.input("payment", "default", fields).input("fraud", "rejected", fields);
        let mut notification = setup.start().unwrap();
        notification.feed_from(0, ("o-1", "SUCCESS"));
        notification.feed_from(1, ("o-2", "REJECTED"));
        assert_eq!(notification.rows("default"), [("o-1", "SUCCESS"), ("o-2", "REJECTED")]);
        assert_eq!(server.counts().notifications, 2);

        server.stop();
        notification.clear();
        notification.feed(("o-3", "SUCCESS"));
        assert!(notification.emitted().is_empty());
        assert_eq!(notification.failed()[0].kind, Failure::Retry);
        assert!(notification.failed()[0].reason.starts_with("notification server: "));
    }

    #[test]
    fn it_needs_a_server() {
        let error = Harness::<Notification>::new(["order_id", "payment_result"]).err().unwrap();
        assert_eq!(error.reason(), "config lacks `server`");
    }
}
