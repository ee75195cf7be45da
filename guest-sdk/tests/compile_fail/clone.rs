//! A held tuple is cloned to be settled twice.

use anchorbolt_sdk::{Collector, Held};

fn execute(held: Held, out: &mut Collector) {
    out.ack(held.clone());
    out.ack(held);
}

fn main() {}
