//! The tracking protocol, checked in all its runs at small sizes, and the real ledger and table of messages
//! driven through random runs of it.

mod lockstep;
mod protocol;
mod world;

use protocol::Protocol;
use stateright::{Checker, Model};

fn check(protocol: Protocol) {
    protocol.checker().threads(1).spawn_bfs().join().assert_properties();
}

#[test]
fn two_rows_of_one_message_with_a_chain() {
    check(Protocol { rows: vec![2], chain: 2, attempts: 2, faults: 2, spout_acts: false });
}

#[test]
fn two_messages_side_by_side() {
    check(Protocol { rows: vec![1, 1], chain: 2, attempts: 2, faults: 2, spout_acts: false });
}

#[test]
fn one_message_that_is_handed_back_or_replayed_by_its_spout() {
    check(Protocol { rows: vec![2], chain: 1, attempts: 2, faults: 2, spout_acts: true });
}
