//! An emission is anchored to a held tuple that is settled.

use anchorbolt_sdk::{Collector, Held};

fn execute(held: Held, out: &mut Collector) {
    out.ack(held);
    out.emit(&held, ["late"]);
}

fn main() {}
