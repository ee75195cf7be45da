//! Random trees through the real handles, router and ledger, compared with an explicit tree of tuples.
//!
//! A spout emits to a bolt that also takes from itself. The bolt holds tuples over calls, emits rows anchored
//! to none, one or several of them (the same twice included), and acks in any order. The oracle keeps for
//! each root the set of open tuples; the ledger must say "acked" at exactly the step at which it is empty.

#![allow(clippy::unwrap_used, reason = "a test that fails here has found something")]

mod rules;
mod world;

use world::World;

const SEEDS: u64 = 300;
const STEPS: usize = 400;

#[test]
fn a_tree_is_acked_exactly_when_no_tuple_of_it_is_open() {
    for seed in 0..SEEDS {
        let mut world = World::new(seed);
        for step in 0..STEPS {
            world.step();
            if let Err(text) = world.compare() {
                panic!("seed {seed}, step {step}: {text}");
            }
        }
        if let Err(text) = world.finish() {
            panic!("seed {seed}, at the end: {text}");
        }
    }
}
