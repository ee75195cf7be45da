//! A replayable spout over the parts of a source, each dealt to one of its tasks.
//!
//! In: the port's calls. Out: messages, and what the oracle is told of them. Invariant: what it saves is what the host
//! said is done, and what it saved before of parts that other tasks read now.

use super::graph::{Source as From, SpoutShape};
use super::reading::Reading;
use super::rows::{Name, Tag};
use super::source::{Kind, Saved, decode, encode};
use super::world::{Shared, World, checkpoints_path};
use anchorbolt_core::failure::{Class, Cost, Failure};
use anchorbolt_core::ids::MessageId;
use anchorbolt_core::offsets::{Known, Snapshot};
use anchorbolt_core::port::{Next, Replay, Spout, SpoutContext, SpoutError, SpoutOutput, Waker};
use anchorbolt_core::retry::OnExhausted;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::time::Duration;

/// How many times `max-spout-pending` messages may lie above the last durable checkpoint.
const SPAN: u64 = 16;

/// One task.
pub(super) struct SimSpout {
    world: Shared,
    spout: usize,
    task: u32,
    shape: SpoutShape,
    parts: Vec<Reading>,
    restored: Saved,
    /// It was activated before.
    was_active: bool,
    /// What this task had saved of parts that it does not read now.
    carried: Vec<(usize, Snapshot)>,
    again: VecDeque<usize>,
    pending: usize,
    read: u64,
    /// The last snapshot, and how much it knows; how much the last durable one knew.
    last: Vec<(usize, Snapshot)>,
    last_knows: u64,
    durable: u64,
    waker: Option<Waker>,
}

impl SimSpout {
    pub(super) fn new(world: Shared, spout: usize, task: u32) -> SimSpout {
        let shape = world.lock().graph.spouts[spout].clone();
        SimSpout {
            world,
            spout,
            task,
            shape,
            parts: vec![],
            restored: Saved::new(),
            was_active: false,
            carried: vec![],
            again: VecDeque::new(),
            pending: 0,
            read: 0,
            last: vec![],
            last_knows: 0,
            durable: 0,
            waker: None,
        }
    }

    /// The next message to read, and the part it is in.
    fn next_new(&mut self, world: &mut World) -> Option<usize> {
        let open: Vec<usize> = (0..self.parts.len()).filter(|i| !self.parts[*i].is_over()).collect();
        if open.is_empty() {
            return None;
        }
        let reading = &mut self.parts[open[world.rng.usize(..open.len())]];
        reading.next().or_else(|| self.next_new(world))
    }

    fn emit(&self, world: &World, out: &mut SpoutOutput, id: usize) {
        let source = world.source.clone();
        let spec = &source.messages[id];
        for (row, stream) in spec.rows.iter().enumerate() {
            let name = Name::Root { message: id, row };
            let row = Tag { key: spec.key, name, hops: 0, width: spec.rows.len() as u64 }.row();
            match spec.kind {
                Kind::Untracked => out.emit_untracked(*stream, &row),
                _ => out.emit(MessageId::pair(spec.part as u64, spec.place), *stream, &row),
            }
        }
    }

    fn emit_new(&mut self, world: &mut World, out: &mut SpoutOutput, id: usize) {
        let source = world.source.clone();
        let spec = &source.messages[id];
        let (now, message) = (world.now(), MessageId::pair(spec.part as u64, spec.place));
        let mut rows = spec.rows.iter();
        // Untracked rows are messages of their own to the host.
        let copies: Vec<u32> = rows.by_ref().map(|s| world.copies(From::Spout(self.spout), *s)).collect();
        let copies = if spec.kind == Kind::Refused { vec![] } else { copies };
        let read = world.oracle.read(id, spec.kind, &copies, now);
        world.check(read);
        world.note(format!("  {} reads {id} {:?} ({}:{})", self.name(), spec.kind, spec.part, spec.place));
        self.read += 1;
        self.pending += usize::from(world.oracle.messages[id].pending);
        match spec.kind {
            Kind::Refused => out.refuse(message, refusal()),
            _ => self.emit(world, out, id),
        }
        if spec.kind == Kind::Untracked {
            self.done(world, message, "untracked");
        }
    }

    fn name(&self) -> String {
        format!("s{}#{}", self.spout, self.task)
    }

    /// A message has come to its end.
    fn done(&mut self, world: &mut World, id: MessageId, how: &str) -> Option<usize> {
        let number = world.source.find(self.spout, id.high() as usize, id.low());
        world.note(format!("  {} is told: {number:?} {how}", self.name()));
        let reading = self.parts.iter_mut().find(|reading| reading.number as u64 == id.high());
        if number.is_none() || !reading.is_some_and(|reading| reading.spans.done(id.low())) {
            world.check(Err(format!("{}: {id:?} was not open and is {how}", self.name())));
        }
        number
    }

    /// What a host can know as done at this moment, it may.
    fn check_restored(&self, world: &mut World) {
        for (part, done) in &self.restored {
            for place in &world.source.clone().parts[self.spout][*part].places {
                let id = world.source.find(self.spout, *part, *place).unwrap_or_default();
                if done.is_done(*place) && !world.oracle.messages[id].has_ended() {
                    let state = format!("{:?}", world.oracle.messages[id]);
                    world.check(Err(format!("a checkpoint calls message {id} done: {state}")));
                }
            }
        }
    }
}

impl Spout for SimSpout {
    fn open(&mut self, context: SpoutContext) -> Result<(), SpoutError> {
        self.waker = Some(context.waker);
        let (index, tasks) = (context.context.task_index as usize, context.context.task_count as usize);
        let world = self.world.lock();
        let parts = world.source.parts[self.spout].iter().enumerate();
        let mine = parts.filter(|(number, _)| number % tasks == index);
        let ranges_max = self.shape.ranges_max;
        self.parts = mine.map(|(number, part)| Reading::new(number, part, ranges_max)).collect();
        Ok(())
    }

    fn restore(&mut self, saved: &[(u32, Vec<u8>)]) -> Result<(), SpoutError> {
        for (task, text) in saved {
            for (part, done) in decode(text).map_err(SpoutError::Input)? {
                if *task == self.task && !self.parts.iter().any(|reading| reading.number == part) {
                    self.carried.push((part, done.clone()));
                }
                let known = self.restored.entry(part).or_default();
                *known = std::mem::take(known).union(done);
            }
        }
        let world = self.world.clone();
        self.check_restored(&mut world.lock());
        Ok(())
    }

    fn pass_over(&mut self, position: &Value, _: &[u8]) {
        let number = |key: &str| position[key].as_u64().unwrap_or(u64::MAX);
        let (part, place) = (number("part"), number("place"));
        let known = self.restored.entry(part as usize).or_default();
        let ranges = std::iter::once(place..place + 1).collect();
        *known = std::mem::take(known).union(Snapshot { low: 0, ranges });
    }

    fn activate(&mut self) -> Result<(), SpoutError> {
        // A second time it goes on where it is.
        if std::mem::replace(&mut self.was_active, true) {
            return Ok(());
        }
        for reading in &mut self.parts {
            let known = self.restored.get(&reading.number).cloned().unwrap_or_default();
            reading.restore(known, self.shape.ranges_max).map_err(SpoutError::Input)?;
        }
        Ok(())
    }

    fn next(&mut self, out: &mut SpoutOutput, budget: usize) -> Result<Next, SpoutError> {
        let world = self.world.clone();
        let world = &mut *world.lock();
        let most = self.shape.max_pending as usize;
        if !self.shape.own_replay && world.oracle.rules.tracked && budget + self.pending > most {
            let (name, pending) = (self.name(), self.pending);
            world.check(Err(format!(
                "{name} is asked for {budget} with {pending} pending, the most is {most}"
            )));
        }
        if !world.calm() && world.rng.u32(..16) < self.shape.idles {
            if world.rng.bool() {
                return Ok(Next::Idle(Some(Duration::from_millis(world.rng.u64(1..20)))));
            }
            world.sleepers.extend(self.waker.clone());
            return Ok(Next::Idle(None));
        }
        let wanted = if world.rng.bool() { budget } else { world.rng.usize(1..=budget) };
        for _ in 0..wanted {
            if let Some(id) = self.again.pop_front() {
                world.note(format!("  {} emits {id} again", self.name()));
                self.emit(world, out, id);
            } else if let Some(id) = self.next_new(world) {
                self.emit_new(world, out, id);
            } else {
                return Ok(if out.is_empty() { Next::Done } else { Next::More });
            }
        }
        let (above, span) = (self.outstanding(), SPAN * u64::from(self.shape.max_pending));
        if above > span {
            world.check(Err(format!(
                "{above} messages of {} lie above the checkpoint, more than {span}",
                self.name()
            )));
        }
        Ok(Next::More)
    }

    fn snapshot(&mut self) -> Option<Vec<u8>> {
        let mut all = self.carried.clone();
        let mut knows = 0;
        let mut cut_short = false;
        for reading in &self.parts {
            let (done, Known(known)) = reading.spans.snapshot();
            cut_short |= reading.spans.ranges() > self.shape.ranges_max;
            knows += known;
            all.push((reading.number, done));
        }
        let text = encode(&all);
        (self.last, self.last_knows) = (all, knows);
        let world = &mut *self.world.lock();
        world.note(format!(
            "  {} snapshot: {}",
            self.name(),
            String::from_utf8_lossy(&text).replace('\n', "; ")
        ));
        if cut_short {
            // What was saved before may be left out now.
            world.cut_short = true;
            world.oracle.seal(false);
        }
        Some(text)
    }

    fn saved(&mut self) {
        self.durable = self.last_knows;
        let path = checkpoints_path().join(format!("s{}.{}.checkpoint", self.spout, self.task));
        let world = &mut *self.world.lock();
        let file = world.disk.durable(&path).unwrap_or_default();
        world.note(format!("  {} is told: saved", self.name()));
        if !file.ends_with(&encode(&self.last)) {
            world.check(Err(format!("{} is told that its snapshot is durable, and it is not", self.name())));
        }
        if world.cut_short {
            return;
        }
        let source = world.source.clone();
        for (part, done) in &self.last {
            let part = &source.parts[self.spout][*part];
            let places = part.places.iter().enumerate().filter(|(_, place)| done.is_done(**place));
            places.for_each(|(at, _)| world.oracle.messages[part.first + at].sealed = true);
        }
    }

    fn outstanding(&self) -> u64 {
        self.read.saturating_sub(self.durable)
    }

    fn is_crowded(&self) -> bool {
        self.parts.iter().any(|reading| reading.spans.is_crowded())
    }

    fn source_bytes(&self, id: MessageId, _: &[(u32, &[u8])]) -> Vec<u8> {
        format!("{id:?}").into_bytes()
    }

    fn ack(&mut self, ids: &[MessageId]) {
        let world = self.world.clone();
        let world = &mut *world.lock();
        for id in ids {
            let Some(number) = self.done(world, *id, "completed") else { continue };
            self.pending = self.pending.saturating_sub(usize::from(world.oracle.messages[number].pending));
            let check = world.oracle.completed(number);
            world.check(check);
        }
    }

    fn fail(&mut self, id: MessageId, failure: &Failure) -> Replay {
        let world = self.world.clone();
        let world = &mut *world.lock();
        let Some(number) = world.source.find(self.spout, id.high() as usize, id.low()) else {
            world.check(Err(format!("{} has no {id:?}", self.name())));
            return Replay::Host;
        };
        world.note(format!("  {} is told: {number} failed, {failure}", self.name()));
        let now = world.now();
        let check = world.oracle.attempt_failed(number, failure, now);
        world.check(check);
        if !self.shape.own_replay || world.rng.bool() {
            return Replay::Host;
        }
        self.again.push_back(number);
        Replay::Spout
    }

    fn give_up(&mut self, id: MessageId) {
        let world = self.world.clone();
        let world = &mut *world.lock();
        let Some(number) = self.done(world, id, "given up") else { return };
        self.pending = self.pending.saturating_sub(1);
        let drops = self.shape.retry.on_exhausted == OnExhausted::Drop;
        let letter = !drops && world.letters().contains(&world.source.letter(number));
        let check = world.oracle.gave_up(number, letter, drops);
        world.check(check);
    }

    fn position(&self, id: MessageId) -> Value {
        json!({ "part": id.high(), "place": id.low() })
    }

    fn unique_ids(&self) -> bool {
        self.shape.unique_ids
    }

    fn finite(&self) -> bool {
        true
    }
}

fn refusal() -> Failure {
    Failure {
        class: Class::Size,
        cost: Cost::Final,
        component: String::new(),
        task: 0,
        reason: "it can't be emitted".to_owned(),
        output: String::new(),
        input: None,
    }
}
