//! The topology that most suites need: a spout that keeps a journal, one bolt under test, a sink that keeps all.
//!
//! In: settings, a guest's name, rows. Out: a [`Pipeline`]. Invariant: the bolt is called `bolt`, the spout
//! `feed`, the sink `sink`, and tuples go through them in this order.

use crate::native::{Feed, Journal, Sink};
use crate::topology::Topology;
use anchorbolt_core::port::{Bolt, Declaration};
use anchorbolt_host::runtime::Ended;
use std::sync::Arc;

/// Keys of a manifest, by table.
#[derive(Clone, Copy, Debug, Default)]
pub struct Setup<'a> {
    /// The plugin of the bolt under test.
    pub guest: &'a str,
    /// Further keys of `[topology]`.
    pub topology: &'a str,
    /// Further keys of `[spouts.feed]`.
    pub spout: &'a str,
    /// Further keys of `[bolts.bolt]`.
    pub bolt: &'a str,
    /// Further keys of `[bolts.sink]`.
    pub sink: &'a str,
}

/// A topology with its witnesses.
pub struct Pipeline {
    /// The topology.
    pub topology: Topology,
    /// What the spout saw.
    pub journal: Journal,
    /// What came through.
    pub sink: Sink,
}

impl Setup<'_> {
    /// A pipeline over rows of one string.
    pub fn over<S: AsRef<str>>(&self, texts: impl IntoIterator<Item = S>) -> Pipeline {
        self.over_rows(Feed::strings(texts))
    }

    /// A pipeline over these rows.
    pub fn over_rows(&self, rows: Arc<Vec<Vec<u8>>>) -> Pipeline {
        Pipeline::of(&self.text(&format!("plugin = \"guest:{}\"", self.guest)), rows)
    }

    /// A pipeline whose bolt is native.
    pub fn native<B: Bolt + 'static>(
        &self,
        rows: Arc<Vec<Vec<u8>>>,
        make: impl Fn() -> B + Send + Sync + 'static,
    ) -> Pipeline {
        let mut pipeline = Pipeline::of(&self.text("kind = \"null\""), rows);
        pipeline.topology = pipeline.topology.bolt("bolt", Declaration::fields(["value"]), make);
        pipeline
    }

    fn text(&self, code: &str) -> String {
        let Setup { topology, spout, bolt, sink, .. } = self;
        format!(
            r#"
            [topology]
            name = "test"
            {topology}
            [spouts.feed]
            kind = "generate"
            {spout}
            [bolts.bolt]
            {code}
            inputs = [{{ from = "feed", grouping = "shuffle" }}]
            {bolt}
            [bolts.sink]
            kind = "null"
            inputs = [{{ from = "bolt", grouping = "shuffle" }}]
            {sink}
            "#
        )
    }
}

impl Pipeline {
    fn of(text: &str, rows: Arc<Vec<Vec<u8>>>) -> Pipeline {
        let (journal, sink) = (Journal::default(), Sink::default());
        let (spout, bolt) = (journal.clone(), sink.clone());
        let topology = Topology::new(text)
            .spout("feed", Feed::declaration(), move |_| Feed::new(rows.clone(), spout.clone()))
            .bolt("sink", Declaration::default(), move || bolt.clone());
        Pipeline { topology, journal, sink }
    }

    /// Runs it until it is drained.
    pub fn run(&mut self) -> Ended {
        self.topology.run()
    }
}

/// `n` texts `row-0`, `row-1`, and so on.
pub fn plain(n: usize) -> Vec<String> {
    (0..n).map(|i| format!("row-{i}")).collect()
}

/// As [`plain`], with `text` in some places.
pub fn with(n: usize, places: &[usize], text: &str) -> Vec<String> {
    (0..n).map(|i| if places.contains(&i) { format!("{text} {i}") } else { format!("row-{i}") }).collect()
}
