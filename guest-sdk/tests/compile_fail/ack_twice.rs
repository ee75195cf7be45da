//! A tuple is acked twice.

use anchorbolt_sdk::{Collector, Tuple};

fn execute(tuple: Tuple<'_>, out: &mut Collector) {
    out.ack(tuple);
    out.ack(tuple);
}

fn main() {}
