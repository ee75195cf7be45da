//! A settled tuple is read.

use anchorbolt_sdk::{Collector, Tuple};

fn execute(tuple: Tuple<'_>, out: &mut Collector) {
    out.ack(tuple);
    tuple.str(0).ok();
}

fn main() {}
