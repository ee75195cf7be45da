//! The router of one task: rows in, batches for other tasks out.
//!
//! Rows are checked once (structure and arity, in the same pass that hashes the fields of a grouping) and
//! copied once, into the batch of each receiver. Batches stay here until [`Router::take`]; a call that dies
//! is undone by [`Router::discard`].

use super::choices::Choices;
use super::fault::RowFault;
use super::outgoing::{Outgoing, Source};
use super::route::{Picked, Route};
use crate::batch::Batch;
use crate::ids::{Edge, Paths, TaskId};
use crate::plan::Plan;
use anchorbolt_row::{RowError, check_row, key_hash};

struct Stream {
    name: String,
    arity: usize,
    direct: bool,
    /// How many of its routes a plugin chooses for.
    custom: u32,
    routes: Vec<Route>,
}

/// The router of one task.
pub struct Router {
    streams: Vec<Stream>,
    tuple_bytes_max: u64,
    out: Outgoing,
    turns: Vec<u32>,
    /// What custom groupings chose for the emissions in hand.
    choices: Choices,
    /// The number of the emission in hand among the choices.
    number: u32,
    /// The hash that each route of the row in hand needs; as long as the most routes of a stream.
    hashes: Vec<u64>,
}

impl Router {
    /// The router of task `index` of a component.
    pub fn new(plan: &Plan, component: usize, index: u32, tuple_bytes_max: u64) -> Router {
        let me = &plan.components[component];
        let streams = me.outputs.iter().map(|output| {
            let route = |e: &usize| {
                let edge = &plan.edges[*e];
                Route::new(&edge.grouping, plan.components[edge.to].tasks.clone(), edge.input, index)
            };
            let mut routes: Vec<Route> = output.consumers.iter().map(route).collect();
            let custom = routes.iter_mut().fold(0, |next, route| route.place(next));
            Stream {
                name: output.name.clone(),
                arity: output.fields.len(),
                direct: output.direct,
                custom,
                routes,
            }
        });
        Router {
            hashes: vec![0; me.outputs.iter().map(|o| o.consumers.len()).max().unwrap_or(0)],
            streams: streams.collect(),
            tuple_bytes_max,
            out: Outgoing::new(me.tasks.start + index, plan.tasks_end(), plan.topology.queue_tuples),
            turns: vec![],
            choices: Choices::default(),
            number: 0,
        }
    }

    /// From now on tuples carry their paths: some bolt of the topology may ask for identities.
    pub fn keep_paths(&mut self) {
        self.out.keep_paths();
    }

    /// Whether they do.
    #[inline]
    pub fn keeps_paths(&self) -> bool {
        self.out.keeps_paths()
    }

    /// Says what the emission that comes next descends from.
    #[inline]
    pub fn descend(&mut self, paths: Paths) {
        self.out.descend(paths);
    }

    /// Says which of the emissions, as they were numbered when custom groupings were asked, comes next.
    #[inline]
    pub fn number(&mut self, number: u32) {
        self.number = number;
    }

    /// Exchanges what custom groupings chose for the emissions in hand: given before they are routed, taken back after.
    pub fn exchange(&mut self, choices: &mut Choices) {
        std::mem::swap(&mut self.choices, choices);
    }

    /// Whether the emitter names the receivers on this stream.
    #[inline]
    pub fn direct(&self, stream: u32) -> bool {
        self.streams.get(stream as usize).is_some_and(|s| s.direct)
    }

    /// Routes a row to its receivers. Returns the XOR of the edges of its copies when the source is one
    /// tree, and how many copies there are.
    ///
    /// # Errors
    /// When the row is not one of the stream; nothing is routed then.
    #[inline]
    pub fn route(
        &mut self,
        stream: u32,
        target: TaskId,
        row: &[u8],
        attempt: u32,
        mut source: Source<'_, '_>,
        draw: &mut impl FnMut() -> Edge,
    ) -> Result<(u64, u32), RowFault> {
        let custom = self.check(stream, target, row)?;
        if custom {
            self.check_chosen(stream)?;
        }
        let routes = self.streams.get(stream as usize).map_or(0, |s| s.routes.len());
        let (mut xor, mut copies) = (0, 0);
        for r in 0..routes {
            let route = &mut self.streams[stream as usize].routes[r];
            let (input, tasks, hash) = (route.input, route.tasks(), self.hashes[r]);
            match route.pick(hash, target) {
                Picked::One(i) => {
                    xor ^= self.out.copy(tasks.start + i, input, row, attempt, &mut source, draw);
                    copies += 1;
                }
                Picked::All => {
                    copies += tasks.len() as u32;
                    for task in tasks {
                        xor ^= self.out.copy(task, input, row, attempt, &mut source, draw);
                    }
                }
                Picked::Nobody => {}
            }
        }
        if custom {
            let (x, n) = self.route_chosen(stream, row, attempt, &mut source, draw);
            (xor, copies) = (xor ^ x, copies + n);
        }
        Ok((xor, copies))
    }

    /// The part of [`Router::route`] that is over edges whose tasks a plugin chose.
    #[cold]
    fn route_chosen(
        &mut self,
        stream: u32,
        row: &[u8],
        attempt: u32,
        source: &mut Source<'_, '_>,
        draw: &mut impl FnMut() -> Edge,
    ) -> (u64, u32) {
        let (mut xor, mut copies) = (0, 0);
        for r in 0..self.streams[stream as usize].routes.len() {
            let route = &self.streams[stream as usize].routes[r];
            let (input, Some(place)) = (route.input, route.custom()) else { continue };
            for &task in self.choices.tasks(self.number, place) {
                xor ^= self.out.copy(task, input, row, attempt, source, draw);
                copies += 1;
            }
        }
        (xor, copies)
    }

    /// Draws the receivers of a row now and routes nothing: their task ids, in the order of the routes.
    ///
    /// # Errors
    /// As [`Router::route`].
    pub fn place(&mut self, stream: u32, target: TaskId, row: &[u8]) -> Result<Vec<TaskId>, RowFault> {
        if self.check(stream, target, row)? {
            return Err(RowFault::Placed { stream: self.streams[stream as usize].name.clone() });
        }
        let mut out = vec![];
        let hashes = &self.hashes;
        for (r, route) in self.streams[stream as usize].routes.iter_mut().enumerate() {
            match route.pick(hashes[r], target) {
                Picked::One(i) => out.push(route.tasks().start + i),
                Picked::All => out.extend(route.tasks()),
                Picked::Nobody => {}
            }
        }
        Ok(out)
    }

    /// Routes a row to receivers that [`Router::place`] drew.
    ///
    /// # Errors
    /// As [`Router::route`].
    pub fn route_placed(
        &mut self,
        stream: u32,
        placed: &[TaskId],
        row: &[u8],
        attempt: u32,
        mut source: Source<'_, '_>,
        draw: &mut impl FnMut() -> Edge,
    ) -> Result<u32, RowFault> {
        // Receivers that a grouping picked are not targets that the emitter named.
        let target = if self.direct(stream) { placed.first().copied().unwrap_or(0) } else { 0 };
        self.check(stream, target, row)?;
        let mut rest = placed;
        for r in 0..self.streams[stream as usize].routes.len() {
            let route = &self.streams[stream as usize].routes[r];
            let (input, tasks) = (route.input, route.tasks());
            let many = if route.to_all() { tasks.len() } else { 1 };
            // A direct consumer that was not named got nothing; the one that was has its task here.
            let many =
                if route.direct() && !rest.first().is_some_and(|t| tasks.contains(t)) { 0 } else { many };
            let (mine, others) = rest.split_at(many.min(rest.len()));
            rest = others;
            for &task in mine {
                self.out.copy(task, input, row, attempt, &mut source, draw);
            }
        }
        Ok(placed.len() as u32)
    }

    /// Everything routed since the last call of this, in order of each receiver.
    pub fn take(&mut self, out: &mut Vec<Batch>) {
        self.out.take(out);
    }

    /// To how many trees the tuples belong that were routed since [`Router::mark`] and belong to several, in all.
    #[inline]
    pub fn trees(&self) -> u64 {
        self.out.trees
    }

    /// Remembers whose turn it is, before a call.
    pub fn mark(&mut self) {
        self.out.trees = 0;
        self.turns.clear();
        self.turns.extend(self.streams.iter_mut().flat_map(|s| s.routes.iter_mut().map(Route::mark)));
    }

    /// Forgets what was routed since [`Router::mark`], turns and counts included.
    pub fn discard(&mut self) {
        let mut gone = vec![];
        self.take(&mut gone);
        self.out.lend(&mut gone);
        let routes = self.streams.iter_mut().flat_map(|s| s.routes.iter_mut());
        for (route, &turn) in routes.zip(&self.turns) {
            route.discard(turn);
        }
    }

    /// Lends empty batches whose buffers can be used again.
    pub fn lend(&mut self, spare: &mut Vec<Batch>) {
        self.out.lend(spare);
    }

    /// How many spare batches there are.
    pub fn spare(&self) -> usize {
        self.out.spare()
    }

    /// Checks the row and fills in its hashes. Whether a plugin chooses for the stream comes out.
    #[inline]
    fn check(&mut self, stream: u32, target: TaskId, row: &[u8]) -> Result<bool, RowFault> {
        let Some(s) = self.streams.get(stream as usize) else {
            return Err(RowFault::Stream { index: stream, declared: self.streams.len() });
        };
        if row.len() as u64 > self.tuple_bytes_max {
            let (bytes, limit) = (row.len(), self.tuple_bytes_max);
            return Err(RowFault::Size { stream: s.name.clone(), bytes, limit });
        }
        if (s.direct || target != 0) && !s.routes.iter().any(|r| r.direct() && r.tasks().contains(&target)) {
            return Err(no_such_target(&s.name, target));
        }
        match hash_keys(s, row, &mut self.hashes) {
            Ok(()) => Ok(s.custom > 0),
            Err(error) => Err(RowFault::Row { stream: s.name.clone(), error }),
        }
    }

    /// Whether a custom grouping failed on the emission.
    #[cold]
    fn check_chosen(&self, stream: u32) -> Result<(), RowFault> {
        let custom = self.streams.get(stream as usize).map_or(0, |s| s.custom);
        match self.choices.fault(self.number, custom) {
            Some(fault) => Err(RowFault::Custom(Box::new(fault.clone()))),
            None => Ok(()),
        }
    }
}

#[cold]
fn no_such_target(stream: &str, task: TaskId) -> RowFault {
    let stream = stream.to_owned();
    if task == 0 { RowFault::NoTarget { stream } } else { RowFault::Target { stream, task } }
}

/// Checks the row and fills in the hash that each route needs.
#[inline]
fn hash_keys(stream: &Stream, row: &[u8], hashes: &mut [u64]) -> Result<(), RowError> {
    let mut checked = false;
    for (route, hash) in stream.routes.iter().zip(hashes) {
        if let (Some(fields), true) = (route.key(), route.tasks().len() > 1) {
            checked = true;
            *hash = key_hash(row, stream.arity, fields)?;
        }
    }
    if checked { Ok(()) } else { check_row(row, stream.arity) }
}
