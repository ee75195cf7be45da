//! An emission is anchored to a settled tuple.

use anchorbolt_sdk::{Collector, Tuple};

fn execute(tuple: Tuple<'_>, out: &mut Collector) {
    out.ack(tuple);
    out.emit(&tuple, ["late"]);
}

fn main() {}
