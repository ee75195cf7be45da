//! Groupings in whole topologies: which task of which consumer gets a tuple over which input, with more tasks than
//! executors.

mod direct;
mod plugins;
mod shapes;

use anchorbolt_core::port::Declaration;
use anchorbolt_tests::{Feed, Journal, Topology, Witness};
use std::sync::Arc;

/// A topology over these rows, with a spout `feed` that replays once, and nothing else yet.
fn fed(bolts: &str, topology: &str, rows: Arc<Vec<Vec<u8>>>) -> (Topology, Journal) {
    let journal = Journal::default();
    let written = journal.clone();
    let text = format!(
        "[topology]\nname = \"grouped\"\n{topology}\n\
         [spouts.feed]\nkind = \"generate\"\nretry = {{ max-faults = 2, backoff = \"1ms\" }}\n{bolts}"
    );
    let topology = Topology::new(&text)
        .spout("feed", Feed::declaration(), move |_| Feed::new(rows.clone(), written.clone()));
    (topology, journal)
}

/// Puts witnesses in the place of these bolts; they emit nothing.
fn watched(mut topology: Topology, bolts: &[&str], witness: &Witness) -> Topology {
    for bolt in bolts {
        let relay = witness.bolt();
        topology = topology.bolt(bolt, Declaration::default(), move || relay.clone());
    }
    topology
}
