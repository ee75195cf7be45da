//! A basic bolt, which is acked by the SDK, acks by itself.

use anchorbolt_sdk::{BasicCollector, Tuple};

fn execute(tuple: &Tuple<'_>, out: &mut BasicCollector<'_>) {
    out.ack(tuple);
}

fn main() {}
