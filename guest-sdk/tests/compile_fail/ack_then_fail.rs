//! A tuple is acked, then failed.

use anchorbolt_sdk::{Collector, Tuple};

fn execute(tuple: Tuple<'_>, out: &mut Collector) {
    out.ack(tuple);
    out.fail(tuple, "too late");
}

fn main() {}
