//! A case: everything that a seed stands for, over all lives of the process.
//!
//! In: a seed, limits to make it smaller. Out: what was done, or a [`Violation`] with the way to see it again.
//! Invariant: nothing but the seed and the limits decides what happens.

use super::graph::Graph;
use super::life::{End, Life, LifePlan, end_disk};
use super::oracle::Check;
use super::source::{Kind, Source};
use super::trace::Trace;
use super::world::{Shared, World};
use anchorbolt_core::retry::OnExhausted;
use anchorbolt_host::runtime::{Ended, How};
use fastrand::Rng;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Limits that make a case smaller, and whether all of it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Every step is printed.
    pub trace: bool,
    /// About the most messages.
    pub messages: usize,
    /// The most lives in which something goes wrong.
    pub lives: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options { trace: false, messages: usize::MAX, lives: usize::MAX }
    }
}

/// What a case came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// Steps of executors.
    pub steps: u64,
    /// Lives of the process.
    pub lives: u64,
    /// Messages of the sources.
    pub messages: u64,
    /// Attempts that failed and were made again.
    pub failures: u64,
    /// Instances of bolts that died.
    pub deaths: u64,
    /// Messages that have a dead letter at the end.
    pub letters: u64,
    /// Messages that were read more than once.
    pub again: u64,
    /// Of every line of the trace.
    pub hash: u64,
}

impl Done {
    /// Adds another's figures.
    pub fn add(&mut self, other: Done) {
        self.steps += other.steps;
        self.lives += other.lives;
        self.messages += other.messages;
        self.failures += other.failures;
        self.deaths += other.deaths;
        self.letters += other.letters;
        self.again += other.again;
    }
}

/// Something that must never be.
#[derive(Clone, Debug)]
pub struct Violation {
    /// The seed.
    pub seed: u64,
    /// What makes it smaller.
    pub options: Options,
    /// In which life, from 1.
    pub life: usize,
    /// At which step of it.
    pub step: u64,
    /// What.
    pub text: String,
    /// The last lines of the trace.
    pub trace: Vec<String>,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Violation { seed, options, life, step, text, trace } = self;
        writeln!(f, "{}", trace.join("\n"))?;
        writeln!(f, "seed {seed}, life {life}, step {step}: {text}")?;
        write!(f, "again: cargo xtask simulate --seed {seed}")?;
        if options.messages < usize::MAX {
            write!(f, " --messages {}", options.messages)?;
        }
        if options.lives < usize::MAX {
            write!(f, " --lives {}", options.lives)?;
        }
        write!(f, " [--trace]")
    }
}

/// Runs a case.
///
/// # Errors
/// At the first violation.
pub fn run(seed: u64, options: Options) -> Result<Done, Box<Violation>> {
    let mut case = Case::new(seed, options);
    let caught = catch_unwind(AssertUnwindSafe(|| case.run()));
    let result = caught
        .unwrap_or_else(|panic| Err(format!("a panic: {}", anchorbolt_host::runtime::panic_text(&*panic))));
    match result {
        Ok(()) => Ok(case.done),
        Err(text) => Err(Box::new(Violation {
            seed,
            options,
            life: case.done.lives as usize,
            step: case.step,
            text,
            trace: case.world.lock().trace.take(),
        })),
    }
}

struct Case {
    world: Shared,
    lives: Vec<LifePlan>,
    rng: Rng,
    step: u64,
    done: Done,
}

impl Case {
    fn new(seed: u64, options: Options) -> Case {
        let mut rng = Rng::with_seed(seed);
        let graph = Graph::random(&mut rng);
        let mut source = Source::random(&mut rng, &graph, options.messages);
        for spec in &mut source.messages {
            // A run that stops at such a message would never come further.
            let stops = graph.spouts[spec.spout].retry.on_exhausted == OnExhausted::Stop;
            if stops && spec.kind == Kind::Refused {
                spec.kind = Kind::Tracked;
            }
        }
        let messages = source.messages.len() as u64;
        let mut lives: Vec<LifePlan> =
            (0..rng.usize(0..4)).map(|_| LifePlan::random(&mut rng, messages)).collect();
        lives.truncate(options.lives);
        lives.push(LifePlan::calm(&mut rng));
        let trace = Trace::new(options.trace);
        let world = Shared::new(rng.u64(..), source, graph, trace);
        world.describe();
        let done = Done { messages, ..Done::default() };
        Case { world, lives, rng, step: 0, done }
    }

    fn run(&mut self) -> Check {
        for plan in std::mem::take(&mut self.lives) {
            self.done.lives += 1;
            self.world.lock().note(format!("life {}: {plan:?}", self.done.lives));
            let ended = Life::start(&self.world, &plan)?.live(&mut self.step)?;
            self.done.steps += self.step;
            let world = &mut *self.world.lock();
            match &ended {
                Some((ended, late)) => check_end(world, ended, *late, &plan)?,
                None if world.cut_short => world.oracle.seal(false),
                None => {}
            }
            let power = matches!(plan.end, End::Kill { power: true }) || self.rng.bool();
            end_disk(world, &mut self.rng, power);
        }
        let world = self.world.lock();
        let letters = world.letters();
        for (id, message) in world.oracle.messages.iter().enumerate() {
            let buried = letters.contains(&world.source.letter(id));
            if !message.has_ended() || (message.buried && !buried) {
                return Err(format!("message {id} ended in silence (a letter: {buried}): {message:?}"));
            }
        }
        let again = world.oracle.messages.iter().filter(|message| message.reads > 1).count();
        self.done = Done {
            failures: world.oracle.failures,
            deaths: world.deaths.1,
            letters: letters.len() as u64,
            again: again as u64,
            hash: world.trace.hash(),
            ..self.done
        };
        Ok(())
    }
}

/// After a life that came to its end.
fn check_end(world: &mut World, ended: &Ended, late: bool, plan: &LifePlan) -> Check {
    let totals = ended.report.totals();
    world
        .note(format!("ended: {totals:?}, unfinished {}, unwritten {:?}", ended.unfinished, ended.unwritten));
    if let Some(text) = &ended.broken {
        return Err(format!("the host broke: {text}"));
    }
    if totals.pending > 0 && !ended.unfinished && ended.stopped.is_none() {
        return Err(format!("messages are pending, and the run says that it has finished: {totals:?}"));
    }
    let lossy = late || world.oracle.rules.overflows || ended.report.bolts.iter().any(|(_, b)| b.deaths > 0);
    if !ended.unfinished && ended.stopped.is_none() && !lossy {
        world.oracle.check_untracked()?;
    }
    let all =
        plan.how.until_drained && !ended.unfinished && ended.stopped.is_none() && plan.steps == u64::MAX;
    let open = world.oracle.messages.iter().position(|message| !message.has_ended());
    if let (true, Some(open)) = (all, open) {
        return Err(format!(
            "the run is drained and message {open} is open: {:?}",
            world.oracle.messages[open]
        ));
    }
    if plan.end == End::Calm && (ended.unfinished || ended.stopped.is_some() || ended.unwritten.is_some()) {
        return Err(format!("nothing went wrong, and the run ended so: {ended:?}"));
    }
    let sealed = ended.unwritten.is_none() && !world.cut_short;
    world.oracle.seal(sealed);
    Ok(())
}

impl LifePlan {
    fn random(rng: &mut Rng, messages: u64) -> LifePlan {
        let end = match rng.u8(..8) {
            0..4 => End::Kill { power: rng.bool() },
            4..7 => End::Stop,
            _ => End::StopThenKill(rng.u64(..300)),
        };
        let limit = (rng.u8(..8) == 0).then(|| rng.u64(1..=messages.max(1)));
        LifePlan {
            seed: rng.u64(..),
            steps: 1 << rng.u64(3..13),
            end,
            how: How { until_drained: rng.bool(), limit },
            haste: [0, 0, 2, 20, 200][rng.usize(..5)],
            disk: rng.u8(..3) == 0,
            letters_bytes_max: if rng.u8(..8) == 0 { rng.u64(300..5000) } else { 1 << 30 },
            restless: if rng.u8(..4) == 0 { 30 } else { 0 },
        }
    }

    fn calm(rng: &mut Rng) -> LifePlan {
        LifePlan {
            seed: rng.u64(..),
            steps: u64::MAX,
            end: End::Calm,
            how: How { until_drained: true, limit: None },
            haste: 0,
            disk: false,
            letters_bytes_max: 1 << 30,
            restless: 0,
        }
    }
}
