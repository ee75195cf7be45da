//! The zoo: each hostile guest in one topology with two good bolts. One has a spout of its own, and its trees do not
//! notice; one takes from the same spout as the guest, and its tuples complete. The guest's own messages complete, or
//! become dead letters of the right class and text, and the process goes on.
//!
//! `ANCHORBOLT_ZOO=100000` sets how many messages each spout has. `ANCHORBOLT_ZOO_P99` asks for another figure: see
//! [`latency`].

mod collector;
mod complete;
mod latency;
mod outside;
mod rules;
mod stops;
mod wat;

use anchorbolt_core::failure::Class;
use anchorbolt_core::port::Declaration;
use anchorbolt_host::assemble::RunOptions;
use anchorbolt_host::runtime::{Ended, How};
use anchorbolt_tests::{Sink, Topology, wait};
use serde_json::Value;
use std::collections::BTreeSet;

/// A hostile guest, and where it lives.
struct Beast {
    /// A guest of `guests/examples/`, or with `.wat` one of `guests/wat/`.
    guest: &'static str,
    /// Further keys of `[topology]`.
    topology: &'static str,
    /// Further keys of its bolt.
    bolt: String,
    /// Further inputs of its bolt, each after a comma.
    inputs: &'static str,
    /// The grouping and further keys of the bolt that takes what it emits.
    out: &'static str,
    /// How many of the lines have `bad` in them.
    bad: usize,
    /// Files in the folder `data`, which `allow = { dirs = .. }` may grant.
    files: usize,
    /// What the report has to tell besides.
    told: &'static str,
    end: End,
}

/// What becomes of the messages that the guest shares with a good bolt.
#[derive(Clone, Copy)]
enum End {
    /// All complete.
    Completes,
    /// Those with `bad` in them are dead letters of this class, with this text in the reason.
    Bad(Class, &'static str),
    /// All are, or of class `circuit` once the circuit is open.
    All(Class, &'static str),
}

/// A beast with these keys of its bolt.
fn beast(guest: &'static str, bolt: impl Into<String>) -> Beast {
    let (bolt, out, end) = (bolt.into(), "grouping = \"shuffle\" }]", End::Completes);
    Beast { guest, topology: "", bolt, inputs: "", out, bad: 2, files: 1, told: "", end }
}

fn messages() -> usize {
    std::env::var("ANCHORBOLT_ZOO").map_or(1000, |n| n.parse().unwrap())
}

impl Beast {
    /// The lines of the shared spout. The bad ones are spread, and say more than a terminal should see.
    fn lines(&self) -> Vec<String> {
        let n = messages();
        let every = n / self.bad.max(1);
        let bad = |i: usize| self.bad > 0 && i % every == every / 2;
        (0..n).map(|i| if bad(i) { format!("bad {i} \u{1b}[31mred") } else { format!("row-{i}") }).collect()
    }

    /// `with`: with the beast itself.
    fn manifest(&self, plugin: &str, with: bool) -> String {
        let Beast { topology, .. } = self;
        let bad = if with { self.bolts(plugin) } else { String::new() };
        format!(
            r#"
            [topology]
            name = "zoo"
            {topology}
            [spouts.own]
            kind = "lines"
            path = "own.txt"
            [spouts.feed]
            kind = "lines"
            path = "feed.txt"
            retry = {{ max-faults = 1, backoff = "1ms", give-up-after = "1ms" }}
            [bolts.good]
            plugin = "guest:identity"
            inputs = [{{ from = "own", grouping = "shuffle" }}]
            [bolts.good_out]
            kind = "null"
            inputs = [{{ from = "good", grouping = "shuffle" }}]
            [bolts.beside]
            plugin = "guest:identity"
            inputs = [{{ from = "feed", grouping = "shuffle" }}]
            [bolts.beside_out]
            kind = "null"
            inputs = [{{ from = "beside", grouping = "shuffle" }}]
            {bad}
            "#
        )
    }

    /// The beast, and what takes from it.
    fn bolts(&self, plugin: &str) -> String {
        let Beast { bolt, inputs, out, .. } = self;
        let out = if plugin.starts_with("guest:") {
            format!("[bolts.bad_out]\nkind = \"null\"\ninputs = [{{ from = \"bad\", {out}")
        } else {
            String::new() // these declare no streams
        };
        format!(
            r#"
            [bolts.bad]
            plugin = "{plugin}"
            inputs = [{{ from = "feed", grouping = "shuffle" }}{inputs}]
            restart = {{ on-circuit-open = "dead-letter", budget = 3, backoff = "1ms" }}
            {bolt}
            {out}
            "#
        )
    }

    /// Its topology, with or without it, and what the two good bolts pass on.
    fn topology(&self, with: bool) -> (Topology, Sink, Sink) {
        let plugin = match self.guest.strip_suffix(".wat") {
            Some(_) => "bad.wasm".to_owned(),
            None => format!("guest:{}", self.guest),
        };
        let (good, beside) = (Sink::default(), Sink::default());
        let (a, b) = (good.clone(), beside.clone());
        let topology = Topology::new(&self.manifest(&plugin, with))
            .bolt("good_out", Declaration::default(), move || a.clone())
            .bolt("beside_out", Declaration::default(), move || b.clone());
        if let Some(name) = self.guest.strip_suffix(".wat") {
            topology.file("bad.wasm", wat::component(name));
        }
        topology.file("feed.txt", self.lines().join("\n") + "\n");
        topology.file("own.txt", own().join("\n") + "\n");
        let data = topology.dir().join("data");
        std::fs::create_dir(&data).unwrap();
        (0..self.files).for_each(|i| std::fs::write(data.join(format!("f{i}")), "x").unwrap());
        std::fs::rename(data.join("f0"), data.join("f")).unwrap();
        let fifo = std::process::Command::new("mkfifo").arg(data.join("fifo")).status();
        assert!(fifo.unwrap().success());
        (topology, good, beside)
    }
}

fn own() -> Vec<String> {
    (0..messages()).map(|i| format!("own-{i}")).collect()
}

impl Beast {
    /// It does no harm.
    fn completes(self) {
        self.meets(End::Completes);
    }

    /// The bad messages are given up, and no other.
    fn loses_the_bad(self, class: Class, text: &'static str) {
        self.meets(End::Bad(class, text));
    }

    /// All messages are given up.
    fn loses_all(mut self, class: Class, text: &'static str) {
        self.bad = 0;
        self.meets(End::All(class, text));
    }

    /// The topology is not even started.
    fn does_not_load(self, code: &str, text: &str) {
        let loaded = self.topology(true).0.load();
        let told: Vec<_> = loaded.diagnostics.iter().map(|d| (d.code, &d.message)).collect();
        assert!(told.iter().any(|(c, t)| *c == code && t.contains(text)), "{told:#?}");
    }

    /// Puts the guest among the good ones and looks at all of them.
    fn meets(mut self, end: End) {
        self.end = end;
        if latency::is_asked_for() {
            return latency::print(&self);
        }
        let (mut topology, good, beside) = self.topology(true);
        let ended = self.run(&mut topology);
        check_good(&ended, &good);
        check_beside(&self, &ended, &beside);
        check_letters(&self, &ended, &letters(&topology.dir().join("kept")));
        let told =
            |text| ended.report.errors.iter().any(|e| e.component == "bad" && e.message.contains(text));
        assert!(self.told.is_empty() || told(self.told), "{:#?}", ended.report.errors);
    }
}

impl Beast {
    fn run(&self, topology: &mut Topology) -> Ended {
        let loaded = topology.load();
        assert!(loaded.is_ok(), "{:#?}", loaded.diagnostics);
        let how = How { until_drained: true, limit: None };
        let data_dir = Some(topology.dir().join("kept"));
        let options = RunOptions { how, data_dir, ..RunOptions::default() };
        wait(loaded.start(options).unwrap_or_else(|e| panic!("it did not start: {e}")), how)
    }
}

/// The bolt with a spout of its own did not notice anything.
fn check_good(ended: &Ended, good: &Sink) {
    let n = messages() as u64;
    let own = ended.report.spouts.iter().find(|(name, _)| name == "own").unwrap().1;
    assert_eq!((own.read, own.completed, own.trees_emitted, own.trees_acked), (n, n, n, n), "{own:?}");
    good.check_texts(self::own());
    let figures = anchorbolt_tests::bolt(&ended.report, "good");
    assert_eq!((figures.deaths, figures.failed, figures.stale, figures.held), (0, 0, 0, 0), "{figures:?}");
}

/// The bolt beside it got each message that was not given up, whatever else came again.
fn check_beside(beast: &Beast, ended: &Ended, beside: &Sink) {
    let figures = anchorbolt_tests::bolt(&ended.report, "beside");
    assert_eq!((figures.deaths, figures.failed, figures.held), (0, 0, 0), "{figures:?}");
    assert_eq!(figures.acked, figures.emitted, "{figures:?}");
    let seen: BTreeSet<String> = beside.texts().into_iter().collect();
    let lost = |line: &&String| !line.starts_with("bad") && !seen.contains(*line);
    let lines = beast.lines();
    // Of a message that is given up at once, the copy beside may be stale before it is taken.
    if !matches!(beast.end, End::All(..)) {
        assert_eq!(lines.iter().find(lost), None);
    }
}

fn check_letters(beast: &Beast, ended: &Ended, letters: &[Value]) {
    let all = beast.lines();
    let (n, mut lines) = (all.len() as u64, all.clone());
    let (class, text) = match beast.end {
        End::Completes => {
            lines.clear();
            (Class::Host, "")
        }
        End::Bad(class, text) => {
            lines.retain(|line| line.starts_with("bad"));
            (class, text)
        }
        End::All(class, text) => (class, text),
    };
    let mut found: Vec<&str> =
        letters.iter().map(|letter| letter["fields"]["line"].as_str().unwrap()).collect();
    found.sort_unstable();
    lines.sort_unstable();
    assert_eq!(found, lines, "{:#}", ended.report.json());
    let feed = ended.report.spouts.iter().find(|(name, _)| name == "feed").unwrap().1;
    let given_up = lines.len() as u64;
    assert_eq!((feed.read, feed.completed, feed.dead_lettered), (n, n - given_up, given_up), "{feed:?}");
    assert_eq!(ended.exit_code(), u8::from(given_up > 0));
    for letter in letters {
        check_letter(beast, letter, class, text);
    }
    let first = letters.iter().filter(|letter| last(letter)["class"] == class.as_str()).count();
    assert!(letters.is_empty() || first > 0, "none is of class {class}");
}

fn last(letter: &Value) -> &Value {
    letter["attempts"].as_array().unwrap().last().unwrap()
}

fn check_letter(beast: &Beast, letter: &Value, class: Class, text: &str) {
    let last = last(letter);
    let is_class = last["class"] == class.as_str() && last["reason"].as_str().unwrap().contains(text);
    let of_circuit = matches!(beast.end, End::All(..)) && last["class"] == "circuit";
    assert!(is_class || of_circuit, "not {class} with {text:?}: {letter:#}");
    assert_eq!(last["component"], "bad", "{letter:#}");
    for said in ["reason", "output"] {
        let said = last[said].as_str().unwrap();
        assert!(!said.contains(|c: char| c.is_control() && c != '\n' && c != '\t'), "{said:?}");
    }
}

fn letters(data_dir: &std::path::Path) -> Vec<Value> {
    let text = std::fs::read_to_string(data_dir.join("dead-letters.jsonl")).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}
