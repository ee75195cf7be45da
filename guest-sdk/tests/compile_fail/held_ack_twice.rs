//! A held tuple is acked twice.

use anchorbolt_sdk::{Collector, Held};

fn execute(held: Held, out: &mut Collector) {
    out.ack(held);
    out.ack(held);
}

fn main() {}
