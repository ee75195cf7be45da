//! A tuple is settled that is held.

use anchorbolt_sdk::{Collector, Tuple};

fn execute(tuple: Tuple<'_>, out: &mut Collector) {
    let held = tuple.hold();
    out.ack(tuple);
    out.ack(held);
}

fn main() {}
