//! Tuples as values that can be settled once.
//!
//! In: the columns of one call. Out: [`Tuple`]s that borrow them, and [`Held`] ones that outlive the call.
//! Invariant: each is consumed when it is settled, and one that is dropped before is recorded as failed.

use std::mem;
use std::ops::Deref;
use std::rc::Rc;

use crate::bindings::anchorbolt::bolt::types::Tuples;
use crate::context::Task;
use crate::host::collector;
use crate::{Fields, Row};

/// One tuple of the running call. Read it as [`Fields`]; settle it, [`hold`](Self::hold) it, or it fails.
#[derive(Debug)]
#[must_use = "a tuple that is dropped without ack or fail fails at once"]
pub struct Tuple<'call> {
    handle: u32,
    input: u32,
    fields: Fields<'call>,
    task: &'call Rc<Task>,
}

impl Tuple<'_> {
    /// The number by which the host knows this tuple, until it is settled.
    pub fn handle(&self) -> u32 {
        self.handle
    }

    /// Which of [`Context::inputs`](crate::Context::inputs) it came from.
    pub fn input_index(&self) -> usize {
        self.input as usize
    }

    /// Copies the row, so that the tuple can be settled in a later call.
    pub fn hold(self) -> Held {
        let held = Held {
            handle: self.handle,
            input: self.input,
            row: self.fields.row().as_bytes().into(),
            task: Some(Rc::clone(self.task)),
        };
        mem::forget(self);
        held
    }
}

impl<'call> Deref for Tuple<'call> {
    type Target = Fields<'call>;

    #[inline]
    fn deref(&self) -> &Self::Target {
        &self.fields
    }
}

impl Drop for Tuple<'_> {
    fn drop(&mut self) {
        self.task.record_drop(self.handle, self.fields.input());
    }
}

/// A tuple that is kept across calls. Settle it, or it fails as it is dropped.
#[derive(Debug)]
#[must_use = "a tuple that is dropped without ack or fail fails at once"]
pub struct Held {
    handle: u32,
    input: u32,
    row: Box<[u8]>,
    /// None once it is settled.
    task: Option<Rc<Task>>,
}

impl Held {
    /// The number by which the host knows this tuple, until it is settled.
    pub fn handle(&self) -> u32 {
        self.handle
    }

    /// Which of [`Context::inputs`](crate::Context::inputs) it came from.
    pub fn input_index(&self) -> usize {
        self.input as usize
    }

    /// Its fields.
    pub fn fields(&self) -> Fields<'_> {
        let inputs = self.task.as_ref().map_or(&[][..], |task| task.context.inputs());
        Fields::new(Row::new(&self.row), inputs.get(self.input as usize))
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if let Some(task) = self.task.take() {
            task.record_drop(self.handle, task.context.inputs().get(self.input as usize));
        }
    }
}

/// A tuple that is not settled yet: a [`Tuple`] or a [`Held`] one.
pub trait Open: sealed::Settle {}

impl Open for Tuple<'_> {}
impl Open for Held {}

pub(crate) mod sealed {
    /// Only the collector settles.
    pub trait Settle: Sized {
        fn id(&self) -> u32;
        fn settle(self) -> u32;
    }
}

impl sealed::Settle for Tuple<'_> {
    #[inline]
    fn id(&self) -> u32 {
        self.handle
    }

    #[inline]
    fn settle(self) -> u32 {
        let handle = self.handle;
        mem::forget(self);
        handle
    }
}

impl sealed::Settle for Held {
    fn id(&self) -> u32 {
        self.handle
    }

    fn settle(mut self) -> u32 {
        self.task = None;
        self.handle
    }
}

/// The tuples an emission descends from: `&tuple`, a slice of them, an array of references, or a pair of such.
pub trait Anchors {
    /// Appends their handles.
    #[doc(hidden)]
    fn append_to(self, handles: &mut Vec<u32>);
}

impl<T: Open> Anchors for &T {
    #[inline]
    fn append_to(self, handles: &mut Vec<u32>) {
        handles.push(self.id());
    }
}

impl<T: Open> Anchors for &[T] {
    fn append_to(self, handles: &mut Vec<u32>) {
        handles.extend(self.iter().map(T::id));
    }
}

impl<T: Open> Anchors for &Vec<T> {
    fn append_to(self, handles: &mut Vec<u32>) {
        self.as_slice().append_to(handles);
    }
}

impl<T: Open, const N: usize> Anchors for [&T; N] {
    fn append_to(self, handles: &mut Vec<u32>) {
        handles.extend(self.into_iter().map(T::id));
    }
}

impl<A: Anchors, B: Anchors> Anchors for (A, B) {
    fn append_to(self, handles: &mut Vec<u32>) {
        self.0.append_to(handles);
        self.1.append_to(handles);
    }
}

/// The tuples of one call, in order. Those that are not taken from it fail.
#[derive(Debug)]
pub struct Batch<'call> {
    tuples: &'call Tuples,
    task: &'call Rc<Task>,
    next: usize,
}

impl<'call> Batch<'call> {
    pub(crate) fn new(tuples: &'call Tuples, task: &'call Rc<Task>) -> Self {
        Self { tuples, task, next: 0 }
    }

    #[inline]
    fn get(&self, index: usize) -> Option<Tuple<'call>> {
        let Tuples { ids, inputs, offsets, data, .. } = self.tuples;
        let (handle, input) = (*ids.get(index)?, *inputs.get(index)?);
        let place = *offsets.get(index)? as usize..*offsets.get(index + 1)? as usize;
        let row = Row::new(data.get(place)?);
        let fields = Fields::new(row, self.task.context.inputs().get(input as usize));
        Some(Tuple { handle, input, fields, task: self.task })
    }
}

impl<'call> Iterator for Batch<'call> {
    type Item = Tuple<'call>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let tuple = self.get(self.next)?;
        if self.tuples.stride != 0 {
            collector::progress(self.next as u32);
        }
        self.next += 1;
        Some(tuple)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.tuples.ids.len() - self.next;
        (left, Some(left))
    }
}

impl ExactSizeIterator for Batch<'_> {}

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        while let Some(tuple) = self.get(self.next) {
            self.next += 1;
            drop(tuple);
        }
    }
}
