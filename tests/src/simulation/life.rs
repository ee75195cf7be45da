//! One life of the process: from a start to a kill, a stop or its own end.
//!
//! In: what the disk has, a plan for the life. Out: how it ended, or what was wrong. The real executors take steps in an
//! order that the seed gives; only those that a thread would let run, apart from a few that wake for no reason.
//!
//! Invariant: time moves by the seed's will, and when all wait, to the next moment that one of them waits for.

use super::bolt::Factory;
use super::graph::Source as From;
use super::oracle::Rules;
use super::orders::Orders;
use super::schedule::Scheduler;
use super::source::{Kind, Spec};
use super::spout::SimSpout;
use super::world::{Shared, World, checkpoints_path, letters_path};
use anchorbolt_core::ids::Time;
use anchorbolt_core::manifest::Ackers;
use anchorbolt_core::port::{Declaration, InstanceFactory, Waker};
use anchorbolt_host::durable::{Checkpoints, DeadLetters};
use anchorbolt_host::runtime::{Ended, How, Keep, ManualClock, Parts, SpoutFactory, Stepped, Stepping};
use fastrand::Rng;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// A life in which nothing goes wrong ends so many steps after the last message has ended and the last tuple was made.
const STILL_STEPS: u64 = 50_000;

/// So many steps after a stop the scheduler becomes fair.
const PATIENCE: u64 = 2_000;
/// So many steps after `drain-timeout` a stop is over; and it never takes a hundred times as many.
const STOP_STEPS: u64 = 10_000;

/// How a life ends, if it does not end by itself before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// `power`: the disk loses what was not made durable.
    Kill {
        power: bool,
    },
    Stop,
    /// A kill so many steps after a stop.
    StopThenKill(u64),
    /// Nothing goes wrong, and all is read.
    Calm,
}

/// What is to happen in a life.
#[derive(Clone, Debug)]
pub(super) struct LifePlan {
    pub(super) seed: u64,
    /// After so many steps comes the end.
    pub(super) steps: u64,
    pub(super) end: End,
    pub(super) how: How,
    /// Time moves in so many of 1000 steps.
    pub(super) haste: u32,
    /// The disk fails now and then.
    pub(super) disk: bool,
    pub(super) letters_bytes_max: u64,
    /// Some wake for no reason, in 1000 steps.
    pub(super) restless: u32,
}

/// A life in progress.
pub(super) struct Life<'a> {
    pub(super) world: &'a Shared,
    pub(super) plan: &'a LifePlan,
    rng: Rng,
    pub(super) stepped: Stepped,
    scheduler: Scheduler,
    pub(super) orders: Orders,
    pub(super) queue_tuples: usize,
    /// How far a limit may be passed.
    pub(super) slack: u64,
    pub(super) steps: u64,
    /// Since this step it is to end.
    pub(super) ending: Option<u64>,
    /// When it was told to stop.
    stopped: Option<Time>,
    /// Ends and tuples so far, and the step at which there was one more.
    progress: (u64, u64),
    /// The last step at which its drain had time.
    in_time: u64,
    broken: bool,
    /// How often each has waited for a moment that was over, at this moment.
    spins: Vec<(u32, Time)>,
}

impl<'a> Life<'a> {
    /// Starts it from what the disk has.
    pub(super) fn start(world: &'a Shared, plan: &'a LifePlan) -> Result<Life<'a>, String> {
        let mut rng = Rng::with_seed(plan.seed);
        let (graph, clock) = {
            let mut world = world.lock();
            world.clock = ManualClock::new();
            (world.running, world.cut_short) = (false, false);
            world.sleepers.clear();
            (world.graph.clone(), world.clock.clone())
        };
        let calm = plan.end == End::Calm;
        let topology = graph.plan(&mut rng, calm);
        let rules = Rules {
            tracked: topology.topology.ackers != Ackers::Off,
            timeout: topology.topology.message_timeout,
            overflows: !calm
                && (graph.cycle.is_some() || graph.bolts.iter().any(|bolt| bolt.held_max < 1000)),
            calm,
            own_ledgers: topology.topology.ackers == Ackers::PerSpout,
        };
        {
            let mut world = world.lock();
            world.oracle.begin(rules);
            world.use_plan(&topology);
        }
        let queue_tuples = topology.topology.queue_tuples as usize;
        let parts = parts(world, plan, clock)?;
        let stepped = anchorbolt_host::runtime::launch_stepped(topology, parts);
        let stepped = stepped.map_err(|error| format!("it does not start: {error}"))?;
        let scheduler = Scheduler::random(&mut rng, stepped.executors() + 1, rules.calm);
        let slack = {
            let mut world = world.lock();
            world.running = true;
            // A row outside every tree is a message of its own to the host; and whoever replays messages itself may
            // read others when it is asked for those.
            let extra =
                |spec: &Spec| if spec.kind == Kind::Untracked { spec.rows.len() as u64 - 1 } else { 0 };
            let own = graph.spouts.iter().any(|spout| spout.own_replay);
            if own { u64::MAX / 2 } else { world.source.messages.iter().map(extra).sum() }
        };
        let orders = Orders::new(plan.seed, &stepped, graph.spouts.len(), graph.bolts.len(), calm);
        let spins = vec![(0, Time(0)); stepped.executors() + 1];
        let (steps, ending, stopped, broken) = (0, None, None, false);
        Ok(Life {
            world,
            plan,
            rng,
            stepped,
            scheduler,
            orders,
            queue_tuples,
            slack,
            steps,
            ending,
            stopped,
            progress: (0, 0),
            in_time: 0,
            broken,
            spins,
        })
    }

    /// Lives. None: it was killed. With the end, whether the drain may have run out of time.
    pub(super) fn live(mut self, steps: &mut u64) -> Result<Option<(Ended, bool)>, String> {
        loop {
            *steps = self.steps;
            if self.is_time_to_end()? {
                return Ok(None);
            }
            self.surroundings();
            self.order()?;
            let n = self.stepped.executors();
            let awake: Vec<usize> = (0..=n).filter(|i| self.stepped.is_awake(*i)).collect();
            let who = if self.rng.u32(..1000) < self.plan.restless {
                self.rng.usize(..n)
            } else if awake.is_empty() {
                if self.all_wait()? {
                    return Ok(None);
                }
                continue;
            } else if self.ending.is_some_and(|since| self.steps > since + PATIENCE) {
                // No machine starves a thread for ever.
                awake[self.rng.usize(..awake.len())]
            } else {
                self.scheduler.pick(&mut self.rng, &awake)
            };
            if self.step(who) == Stepping::Closed && who == n {
                break;
            }
            self.check()?;
        }
        let late = self.is_late();
        let ended = self.stepped.close();
        match self.world.lock().violation.take() {
            Some(text) => Err(text),
            None => Ok(Some((ended, late))),
        }
    }

    /// Whether it is over now.
    fn is_time_to_end(&mut self) -> Result<bool, String> {
        match (self.plan.end, self.ending) {
            (End::Calm, _) if self.is_still() => Err(self.stuck("nothing goes wrong, and it does not end")),
            (End::Calm, _) => Ok(false),
            (End::StopThenKill(after), Some(since)) if self.steps > since + after => Ok(true),
            (_, Some(since)) if self.is_overdue(since) => Err(self.stuck("it does not stop")),
            (end, None) if self.steps >= self.plan.steps => {
                self.ending = Some(self.steps);
                if matches!(end, End::Kill { .. }) {
                    return Ok(true);
                }
                self.stepped.stop();
                self.stopped = Some(self.now());
                Ok(false)
            }
            _ => Ok(false),
        }
    }

    /// Whether nothing has come of all steps for long.
    fn is_still(&mut self) -> bool {
        let (told, made) = {
            let world = self.world.lock();
            (world.oracle.told(), world.oracle.tuples.len() as u64)
        };
        let progress = told.0 + told.1 + made;
        if progress > self.progress.0 {
            self.progress = (progress, self.steps);
        }
        self.steps > self.progress.1 + STILL_STEPS
    }

    /// Whether the stop that began at this step should be over.
    fn is_overdue(&mut self, since: u64) -> bool {
        if !self.is_late() {
            self.in_time = self.steps;
        }
        self.steps > self.in_time.max(since + PATIENCE) + STOP_STEPS || self.steps > since + 100 * STOP_STEPS
    }

    /// Whether the drain may have run out of time.
    fn is_late(&self) -> bool {
        let drain_timeout = self.world.lock().graph.topology.drain_timeout;
        self.stopped.is_some_and(|at| at.after(drain_timeout) <= self.now())
    }

    /// Time, the disk and those who wake spouts.
    fn surroundings(&mut self) {
        if self.plan.end == End::Calm {
            return;
        }
        let mut world = self.world.lock();
        if self.rng.u32(..1000) < self.plan.haste {
            let most = if self.rng.bool() { 5 } else { 500 };
            let by = Duration::from_micros(self.rng.u64(1..most * 1000));
            world.clock.advance(by);
        }
        if self.plan.disk && self.rng.u8(..150) == 0 {
            self.broken = !self.broken;
            let (full, room) = (self.rng.bool(), self.rng.usize(..600));
            match (self.broken, full) {
                (true, true) => world.disk.room(Some(room)),
                (true, false) => world.disk.fail_in(1 + room as u64 % 12, self.rng.bool()),
                (false, _) => {
                    world.disk.room(None);
                    world.disk.mend();
                }
            }
            let broken = self.broken;
            world.note(format!("  the disk fails: {broken}"));
        }
        if !world.sleepers.is_empty() && self.rng.u8(..20) == 0 {
            let sleepers = std::mem::take(&mut world.sleepers);
            drop(world);
            sleepers.iter().for_each(Waker::wake);
        }
    }

    /// What a user says.
    fn order(&mut self) -> Result<(), String> {
        if let Some(order) = self.orders.perhaps() {
            self.world.lock().note(format!("  {order:?}"));
        }
        self.orders.answers()
    }

    fn step(&mut self, who: usize) -> Stepping {
        self.steps += 1;
        let executors = self.stepped.executors();
        let woken = self.stepped.is_awake(who) && self.stepped.due(who).is_none_or(|due| due > self.now());
        let stepping = self.stepped.step(who);
        self.note(who, stepping);
        if self.stepped.executors() != executors {
            // Others have other numbers now.
            self.spins = vec![(0, Time(0)); self.stepped.executors() + 1];
            return stepping;
        }
        let late = matches!(stepping, Stepping::Waits(Some(due)) if due <= self.now());
        let now = self.now();
        let (times, since) = self.spins[who];
        self.spins[who] =
            if !late || woken { (0, now) } else { (if since == now { times + 1 } else { 1 }, now) };
        if self.spins[who].0 > 2 {
            let text =
                format!("{}/{who} waits for a moment that is over, again and again", self.stepped.name(who));
            self.world.lock().check(Err(text));
        }
        stepping
    }

    pub(super) fn note(&self, who: usize, stepping: Stepping) {
        let line = format!("{} {:?} {}/{who} {stepping:?}", self.steps, self.now(), self.stepped.name(who));
        self.world.lock().note(line);
    }

    pub(super) fn now(&self) -> Time {
        self.world.lock().now()
    }
}

/// The disk is whole again, and has what it has after such an end.
pub(super) fn end_disk(world: &World, rng: &mut Rng, power: bool) {
    world.disk.mend();
    world.disk.room(None);
    if power {
        world.disk.lose_power(rng);
    }
}

fn parts(world: &Shared, plan: &LifePlan, clock: Arc<ManualClock>) -> Result<Parts, String> {
    let mut bolts: BTreeMap<String, Arc<dyn InstanceFactory>> = BTreeMap::new();
    let mut spouts: BTreeMap<String, SpoutFactory> = BTreeMap::new();
    let graph = world.lock().graph.clone();
    for bolt in 0..graph.bolts.len() {
        let factory = Factory { world: world.clone(), bolt, declaration: Declaration::default() };
        bolts.insert(From::Bolt(bolt).name(), Arc::new(factory));
    }
    for spout in 0..graph.spouts.len() {
        let world = world.clone();
        let make: SpoutFactory = Box::new(move |task| Box::new(SimSpout::new(world.clone(), spout, task)));
        spouts.insert(From::Spout(spout).name(), make);
    }
    let disk = Arc::new(world.lock().disk.clone());
    let letters = DeadLetters::open(disk.clone(), &letters_path(), plan.letters_bytes_max);
    let letters = letters.map_err(|error| format!("the dead letters can't be opened: {error}"))?;
    world.lock().find_letters();
    let checkpoints = Checkpoints::new(disk, checkpoints_path());
    let began = time::OffsetDateTime::UNIX_EPOCH;
    let keep = Keep::over(Some(checkpoints), Arc::new(Mutex::new(letters)), began);
    Ok(Parts { bolts, spouts, keep: Some(keep), seed: Some(plan.seed), ..Parts::new(plan.how, clock) })
}
