//! The real thing and the oracle, driven through the same random operations, with a restart now and then.

use crate::oracle::Oracle;
use anchorbolt_core::offsets::{Known, Spans};

/// A source: messages in order, with gaps here and there, which a restart reads again.
struct Source {
    messages: Vec<(u64, u64)>,
    next: usize,
}

impl Source {
    fn new(rng: &mut fastrand::Rng, count: usize) -> Source {
        let (mut messages, mut at, gaps) = (Vec::new(), rng.u64(0..3), rng.bool());
        for _ in 0..count {
            let end = at + rng.u64(1..9);
            messages.push((at, end));
            at = end + if gaps { rng.u64(0..3) } else { 0 };
        }
        Source { messages, next: 0 }
    }

    fn seek(&mut self, low: u64) {
        self.next = self.messages.partition_point(|(start, _)| *start < low);
    }
}

struct Driver {
    rng: fastrand::Rng,
    ranges_max: usize,
    source: Source,
    spans: Spans,
    oracle: Oracle,
    durable: Known,
    /// Emitted at some time, done at some time.
    emitted: Vec<u64>,
}

impl Driver {
    fn new(seed: u64) -> Driver {
        let mut rng = fastrand::Rng::with_seed(seed);
        let ranges_max = [1, 3, 20, 1000][rng.usize(0..4)];
        let source = Source::new(&mut rng, 400);
        let spans = Spans::new(ranges_max);
        let (oracle, durable, emitted) = (Oracle::default(), Known::default(), Vec::new());
        Driver { rng, ranges_max, source, spans, oracle, durable, emitted }
    }

    fn step(&mut self) {
        match self.rng.u32(0..100) {
            0..45 => self.read(),
            45..85 => self.done(),
            85..92 => self.nonsense(),
            92..97 => self.checkpoint(),
            97 => self.restart(),
            _ => self.reach(),
        }
        self.compare();
    }

    /// Reads as a spout does: what is done is passed over.
    fn read(&mut self) {
        for _ in 0..self.rng.usize(0..4) {
            let Some(&(start, end)) = self.source.messages.get(self.source.next) else { return };
            self.source.next += 1;
            let done = self.spans.is_done(start);
            assert_eq!(done, self.oracle.is_done(start), "is {start} done?");
            let taken = self.spans.read(start, end);
            assert_eq!(taken, !done, "reading {start}");
            assert_eq!(self.oracle.read(start, end), taken);
            self.emitted.push(start);
        }
    }

    fn done(&mut self) {
        // Mostly the first few, as messages end about as they began.
        let number = if self.rng.u32(0..4) == 0 { self.rng.usize(..) } else { self.rng.usize(0..6) };
        if let Some(start) = self.oracle.pick(number) {
            assert!(self.spans.done(start), "{start} is open");
            assert!(self.oracle.done(start));
        }
    }

    /// Late, unknown, repeated and impossible.
    fn nonsense(&mut self) {
        let place = self.rng.u64(0..2500);
        assert_eq!(self.spans.done(place), self.oracle.done(place), "done {place}");
        let back = self.oracle.low().saturating_sub(self.rng.u64(1..50));
        assert!(!self.spans.read(back, back), "no length");
        if back < self.oracle.low() {
            assert!(!self.spans.read(back, back + 1), "below what was read");
        }
    }

    fn reach(&mut self) {
        let next = self.source.messages.get(self.source.next).or(self.source.messages.last());
        let at = next.map_or(0, |message| message.0);
        self.spans.reached(at);
        self.oracle.reached(at);
    }

    fn checkpoint(&mut self) {
        let (snapshot, known) = self.spans.snapshot();
        let ranges = self.oracle.done_above();
        let kept = ranges.len().min(self.ranges_max);
        assert_eq!((snapshot.low, &snapshot.ranges[..]), (self.oracle.low(), &ranges[..kept]));
        assert_eq!(known.0, self.oracle.known_by(snapshot.low, &snapshot.ranges));
        assert_eq!(self.spans.outstanding(known), self.oracle.messages() - known.0);
        assert!(known >= self.durable || kept < ranges.len(), "a later snapshot knows more");
        self.durable = known;
    }

    fn restart(&mut self) {
        let (snapshot, _) = self.spans.snapshot();
        let before = self.oracle.clone();
        self.spans = Spans::restore(snapshot.clone(), self.ranges_max).expect("it is a snapshot");
        self.oracle = Oracle::restore(snapshot.low, &snapshot.ranges);
        self.durable = Known::default();
        self.source.seek(snapshot.low);
        for &(start, _) in &self.source.messages[self.source.next..] {
            let done = self.spans.is_done(start);
            assert_eq!(done, snapshot.is_done(start));
            assert!(!done || before.is_done(start), "{start} is passed over and was never done");
        }
        for &start in &self.emitted {
            let lost = start < self.source.messages.get(self.source.next).map_or(u64::MAX, |m| m.0);
            assert!(!lost || before.is_done(start), "{start} is lost");
        }
    }

    fn compare(&self) {
        assert_eq!(self.spans.low(), self.oracle.low());
        assert_eq!(self.spans.done_above(), self.oracle.done_above());
        assert_eq!(self.spans.ranges(), self.oracle.done_above().len());
        assert_eq!((self.spans.open(), self.spans.messages()), (self.oracle.open(), self.oracle.messages()));
        let crowded = self.oracle.open() > 0 && self.spans.ranges() >= self.ranges_max;
        assert_eq!(self.spans.is_crowded(), crowded);
    }

    /// Whatever happened, in the end all is done and nothing is left above.
    fn finish(mut self) {
        while self.source.next < self.source.messages.len() {
            self.read();
        }
        while let Some(start) = self.oracle.pick(0) {
            assert!(self.spans.done(start) && self.oracle.done(start));
        }
        let end = self.source.messages.last().map_or(0, |message| message.1);
        self.spans.reached(end);
        assert_eq!((self.spans.low(), self.spans.ranges(), self.spans.entries()), (end, 0, 0));
        let (_, known) = self.spans.snapshot();
        assert_eq!(self.spans.outstanding(known), 0, "a snapshot of all knows all");
    }
}

#[test]
#[allow(clippy::disallowed_methods, reason = "a person names the seed that failed")]
fn random_orders_agree_with_the_oracle() {
    let seeds = std::env::var("SEED").ok().and_then(|seed| seed.parse().ok());
    let seeds = seeds.map_or(0..400, |seed: u64| seed..seed + 1);
    for seed in seeds {
        let run = std::panic::catch_unwind(|| {
            let mut driver = Driver::new(seed);
            for _ in 0..900 {
                driver.step();
            }
            driver.finish();
        });
        assert!(run.is_ok(), "SEED={seed} repeats it");
    }
}
