//! A tuple that is only borrowed is acked.

use anchorbolt_sdk::{Collector, Tuple};

fn execute(tuple: &Tuple<'_>, out: &mut Collector) {
    out.ack(*tuple);
}

fn main() {}
