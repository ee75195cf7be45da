//! What a bolt does with tuples: emit, ack, fail, and ask.
//!
//! In: the author's calls. Out: columns, sent when the call ends. Invariant: settling consumes the tuple, emitting
//! borrows it; the compiler knows each tuple's end.

use std::rc::Rc;

use serde::Serialize;

use crate::bindings::anchorbolt::bolt::types::{Failure, TupleInfo};
use crate::columns::{Columns, Unanchored};
use crate::context::Task;
use crate::host;
use crate::{Anchors, Context, Error, IntoRow, Open, Tuple};

/// Emits and settles. What a call does takes effect when the call returns; if it dies, nothing of it happened.
#[derive(Debug)]
pub struct Collector {
    task: Rc<Task>,
    columns: Columns,
    default: Option<u32>,
}

impl Collector {
    pub(crate) fn new(task: Rc<Task>) -> Self {
        let default = task.context.outputs().iter().position(|o| o.stream == "default");
        Self { task, columns: Columns::new(), default: default.map(|index| index as u32) }
    }

    /// Emits a row on stream `default`, anchored to one tuple or several: if it fails downstream, they do.
    ///
    /// ```
    /// # use anchorbolt_sdk::{Collector, Error, Held, RowWriter, Tuple};
    /// # fn execute(tuple: Tuple<'_>, held: Vec<Held>, out: &mut Collector) -> Result<(), Error> {
    /// out.emit(&tuple, ("cat", 3));
    /// out.emit((&tuple, &held), [tuple.str(0)?]);
    /// out.emit(&tuple, tuple.row());
    /// out.emit(&tuple, |row: &mut RowWriter<'_>| {
    ///     row.str("cat").array(|list| {
    ///         list.uint(1).uint(2);
    ///     });
    /// });
    /// # out.ack(tuple);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Panics
    /// If the bolt does not declare stream `default`.
    #[inline]
    pub fn emit(&mut self, anchors: impl Anchors, row: impl IntoRow) {
        let stream = self.default_index();
        self.columns.emit(stream, anchors, row);
    }

    /// Emits a row on stream `default` outside every tree: if it fails downstream, nobody learns of it.
    ///
    /// # Panics
    /// If the bolt does not declare stream `default`.
    #[inline]
    pub fn emit_unanchored(&mut self, row: impl IntoRow) {
        self.emit(Unanchored, row);
    }

    /// Emits a value of serde's as a row: a struct becomes its fields in order.
    ///
    /// # Errors
    /// When it can't be written as one array.
    ///
    /// # Panics
    /// If the bolt does not declare stream `default`.
    pub fn emit_struct(&mut self, anchors: impl Anchors, row: &impl Serialize) -> Result<(), Error> {
        self.default_stream().emit_struct(anchors, row)
    }

    /// As [`emit`](Self::emit), and answers the tasks it went to. A host call for each, so only where they matter.
    ///
    /// # Panics
    /// If the bolt does not declare stream `default`.
    pub fn emit_placed(&mut self, anchors: impl Anchors, row: impl IntoRow) -> Vec<u32> {
        self.default_stream().emit_placed(anchors, row)
    }

    /// Another stream than `default`, by name or by a [`StreamRef`].
    ///
    /// ```
    /// # use anchorbolt_sdk::{Collector, Error, Tuple};
    /// # fn execute(tuple: &Tuple<'_>, out: &mut Collector) -> Result<(), Error> {
    /// out.to("rejected")?.emit(tuple, ("order-7", "too dear"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the bolt does not declare it.
    #[inline]
    pub fn to(&mut self, stream: impl StreamName) -> Result<Stream<'_>, Error> {
        let StreamRef(index) = stream.find(&self.task.context)?;
        Ok(Stream { columns: &mut self.columns, index })
    }

    /// The tuple is done.
    #[inline]
    pub fn ack(&mut self, tuple: impl Open) {
        self.columns.ack(tuple.settle());
    }

    /// The tuple failed by its own fault: its message is tried again a bounded number of times.
    pub fn fail(&mut self, tuple: impl Open, reason: impl Into<String>) {
        self.columns.fail(tuple.settle(), Failure::Fail, reason.into());
    }

    /// Something outside is down: the tuple's message is tried again for a bounded time.
    pub fn retry(&mut self, tuple: impl Open, reason: impl Into<String>) {
        self.columns.fail(tuple.settle(), Failure::Retry, reason.into());
    }

    /// The tuple's message is never tried again and goes to the dead letters at once.
    pub fn reject(&mut self, tuple: impl Open, reason: impl Into<String>) {
        self.columns.fail(tuple.settle(), Failure::Reject, reason.into());
    }

    /// Fails the tuple with the error's text, by the error's kind.
    pub fn fail_with(&mut self, tuple: impl Open, error: Error) {
        self.columns.fail(tuple.settle(), error.kind(), error.into_reason());
    }

    /// Works on one tuple of a batch. If that is an error, the tuple fails with it; if the tuple was settled or held
    /// before, the error is only reported.
    #[inline]
    pub fn attempt<'call>(
        &mut self,
        tuple: Tuple<'call>,
        work: impl FnOnce(Tuple<'call>, &mut Self) -> Result<(), Error>,
    ) {
        let handle = tuple.handle();
        if let Err(error) = work(tuple, self) {
            self.blame(handle, error);
        }
    }

    /// Restarts the message timeout of the trees of this tuple.
    pub fn reset_timeout(&mut self, tuple: &impl Open) {
        host::collector::reset_timeout(&[tuple.id()]);
    }

    /// Shows an error in the report without failing a tuple.
    pub fn report_error(&mut self, message: impl AsRef<str>) {
        host::collector::report_error(message.as_ref());
    }

    /// What the tracking core knows of a tuple: its message, the attempt, its age, and its identity, which is the same at
    /// each attempt. A host call.
    pub fn describe(&self, tuple: &impl Open) -> TupleInfo {
        let none =
            || TupleInfo { source_task: 0, message_id: None, attempt: 1, age_us: 0, identity: String::new() };
        host::collector::describe(&[tuple.id()]).pop().unwrap_or_else(none)
    }

    /// Sends all that the call did, and fails what was dropped in it or since the last one.
    pub(crate) fn send(&mut self) {
        for dropped in self.task.take_drops() {
            self.columns.fail(dropped.handle, Failure::Fail, dropped.reason);
        }
        self.columns.send();
    }

    #[cold]
    fn blame(&mut self, handle: u32, error: Error) {
        if self.task.forget_drop(handle) {
            self.columns.fail(handle, error.kind(), error.into_reason());
        } else {
            self.report_error(error.reason());
        }
    }

    fn default_stream(&mut self) -> Stream<'_> {
        let index = self.default_index();
        Stream { columns: &mut self.columns, index }
    }

    #[inline]
    fn default_index(&self) -> u32 {
        self.default.expect("the bolt emits on stream `default`, which it does not declare")
    }
}

/// One declared stream of a bolt, ready to be emitted on.
#[derive(Debug)]
pub struct Stream<'c> {
    columns: &'c mut Columns,
    index: u32,
}

impl Stream<'_> {
    /// Emits a row, anchored to one tuple or several.
    #[inline]
    pub fn emit(&mut self, anchors: impl Anchors, row: impl IntoRow) {
        self.columns.emit(self.index, anchors, row);
    }

    /// Emits a row outside every tree.
    pub fn emit_unanchored(&mut self, row: impl IntoRow) {
        self.columns.emit(self.index, Unanchored, row);
    }

    /// Emits a row on a direct stream, to one task of a consumer: [`Context::outputs`] names them. Any other task fails
    /// what the row is anchored to.
    pub fn emit_direct(&mut self, task: u32, anchors: impl Anchors, row: impl IntoRow) {
        self.columns.emit_direct(self.index, task, anchors, row);
    }

    /// Emits a row and answers the tasks it went to.
    pub fn emit_placed(&mut self, anchors: impl Anchors, row: impl IntoRow) -> Vec<u32> {
        self.columns.emit_placed(self.index, anchors, row)
    }

    /// Emits a value of serde's as a row.
    ///
    /// # Errors
    /// When it can't be written as one array.
    pub fn emit_struct(&mut self, anchors: impl Anchors, row: &impl Serialize) -> Result<(), Error> {
        let data = self.columns.data();
        let start = data.len();
        let written = rmp_serde::encode::write(data, row);
        let is_array = matches!(data.get(start), Some(0x90..=0x9f | 0xdc | 0xdd));
        if written.is_ok() && is_array {
            self.columns.close_row(self.index, anchors);
            return Ok(());
        }
        data.truncate(start);
        written?;
        Err(Error::fail("a row must be a struct, a tuple or a list"))
    }
}

/// A declared stream, found once: see [`Context::stream`](crate::Context::stream).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamRef(pub(crate) u32);

/// How to say which stream: by its name, or by a [`StreamRef`].
pub trait StreamName {
    #[doc(hidden)]
    fn find(self, context: &Context) -> Result<StreamRef, Error>;
}

impl StreamName for &str {
    fn find(self, context: &Context) -> Result<StreamRef, Error> {
        context.stream(self)
    }
}

impl StreamName for StreamRef {
    #[inline]
    fn find(self, _: &Context) -> Result<StreamRef, Error> {
        Ok(self)
    }
}

/// The collector of a [`BasicBolt`](crate::BasicBolt): anchors each emission to the tuple at hand.
#[derive(Debug)]
pub struct BasicCollector<'c> {
    out: &'c mut Collector,
    tuple: &'c Tuple<'c>,
}

impl<'c> BasicCollector<'c> {
    #[inline]
    pub(crate) fn new(out: &'c mut Collector, tuple: &'c Tuple<'c>) -> Self {
        Self { out, tuple }
    }

    /// Emits a row on stream `default`.
    ///
    /// # Panics
    /// If the bolt does not declare stream `default`.
    #[inline]
    pub fn emit(&mut self, row: impl IntoRow) {
        self.out.emit(self.tuple, row);
    }

    /// Emits a value of serde's as a row on stream `default`.
    ///
    /// # Errors
    /// When it can't be written as one array.
    ///
    /// # Panics
    /// If the bolt does not declare stream `default`.
    pub fn emit_struct(&mut self, row: &impl Serialize) -> Result<(), Error> {
        self.out.emit_struct(self.tuple, row)
    }

    /// Emits a row on another stream.
    ///
    /// # Errors
    /// When the bolt does not declare it.
    #[inline]
    pub fn emit_to(&mut self, stream: impl StreamName, row: impl IntoRow) -> Result<(), Error> {
        self.out.to(stream)?.emit(self.tuple, row);
        Ok(())
    }

    /// Restarts the message timeout of the trees of the tuple at hand.
    pub fn reset_timeout(&mut self) {
        self.out.reset_timeout(self.tuple);
    }

    /// Shows an error in the report without failing the tuple.
    pub fn report_error(&mut self, message: impl AsRef<str>) {
        self.out.report_error(message);
    }

    /// What the tracking core knows of the tuple at hand. A host call.
    pub fn describe(&self) -> TupleInfo {
        self.out.describe(self.tuple)
    }
}
