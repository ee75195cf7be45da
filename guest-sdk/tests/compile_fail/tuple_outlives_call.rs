//! A tuple is kept beyond its call without being held.

use anchorbolt_sdk::{Collector, Tuple};

struct Keeps {
    tuples: Vec<Tuple<'static>>,
}

impl Keeps {
    fn execute(&mut self, tuple: Tuple<'_>, _: &mut Collector) {
        self.tuples.push(tuple);
    }
}

fn main() {}
