//! One bolt under test.
//!
//! In: a setup and rows. Out: accessors over the record. Invariant: a call goes the same way as in WebAssembly, from
//! the columns of a batch to the columns of its emissions; only the crossing is missing.

use std::fmt;
use std::marker::PhantomData;

use serde::Serialize;

use super::record::{Emission, Failed, OwnedRow};
use super::stand_in::Host;
use crate::bindings::anchorbolt::bolt::types::Tuples;
use crate::bindings::exports::anchorbolt::bolt::guest as wit;
use crate::guest::{Call, Instance};
use crate::log::Level;
use crate::{Bolt, Config, Consumer, Error, Failure, Input, IntoRow, Output};

/// What a bolt under test finds: its settings, inputs and consumers.
#[derive(Debug)]
#[must_use]
pub struct Setup<B> {
    context: wit::Context,
    consumers: Vec<(String, Consumer)>,
    bolt: PhantomData<B>,
}

impl<B: Bolt> Setup<B> {
    /// Adds an input.
    pub fn input<F: Into<String>>(
        mut self,
        component: &str,
        stream: &str,
        fields: impl IntoIterator<Item = F>,
    ) -> Self {
        let (component, stream) = (component.into(), stream.into());
        let fields = fields.into_iter().map(Into::into).collect();
        let tasks = vec![self.context.inputs.len() as u32 + 1];
        self.context.inputs.push(Input { component, stream, fields, tasks });
        self
    }

    /// Sets the settings: a JSON object, as [`json!`](crate::json) makes it.
    ///
    /// # Panics
    /// If it can't be written as JSON.
    pub fn config(mut self, config: impl Serialize) -> Self {
        self.context.config = serde_json::to_string(&config).expect("the settings can be written as JSON");
        self
    }

    /// Adds a consumer of an output stream.
    pub fn consumer(mut self, stream: &str, component: &str, tasks: impl Into<Vec<u32>>) -> Self {
        let consumer = Consumer { component: component.into(), tasks: tasks.into() };
        self.consumers.push((stream.into(), consumer));
        self
    }

    /// Says which of how many tasks this is; 0 of 1 unless said.
    pub fn task(mut self, index: u32, count: u32) -> Self {
        (self.context.task_index, self.context.task_count) = (index, count);
        self
    }

    /// Declares and prepares the bolt.
    ///
    /// # Errors
    /// The bolt's own.
    pub fn start(self) -> Result<Harness<B>, Error> {
        let Self { mut context, consumers, .. } = self;
        let declaration = B::declare(&Config::new(context.config.clone()))?.into_wit();
        for stream in &declaration.outputs {
            let takes = consumers.iter().filter(|(name, _)| *name == stream.name);
            let consumers = takes.map(|(_, consumer)| consumer.clone()).collect();
            context.outputs.push(Output { stream: stream.name.clone(), consumers });
        }
        let mut host = Host { streams: declaration.outputs, attempt: 1, ..Host::default() };
        host.outputs.clone_from(&context.outputs);
        let instance = host.during(|| Instance::prepare(context))?;
        Ok(Harness { instance, host, handles: 0, stride: 0 })
    }
}

/// Runs one bolt natively.
///
/// ```
/// use anchorbolt_sdk::prelude::*;
/// use anchorbolt_sdk::testing::Harness;
/// # struct Checked;
/// # impl BasicBolt for Checked {
/// #     fn declare(_: &Config) -> Result<Declaration, Error> { Ok(Declaration::new().output(["n"])) }
/// #     fn prepare(_: &Context) -> Result<Self, Error> { Ok(Self) }
/// #     fn execute(&mut self, t: &Tuple<'_>, out: &mut BasicCollector<'_>) -> Result<(), Error> {
/// #         out.emit([t.str("n")?.parse::<u64>().or_reject()?]);
/// #         Ok(())
/// #     }
/// # }
///
/// let mut bolt = Harness::<Checked>::new(["n"])?;
/// let good = bolt.feed(["7"]);
/// let bad = bolt.feed(["seven"]);
/// assert_eq!(bolt.rows("default"), [[7]]);
/// assert_eq!(bolt.acked(), [good]);
/// assert_eq!((bolt.failed()[0].handle, bolt.failed()[0].kind), (bad, anchorbolt_sdk::Failure::Reject));
/// # Ok::<(), Error>(())
/// ```
pub struct Harness<B> {
    instance: Instance<B>,
    host: Host,
    handles: u32,
    stride: u32,
}

impl<B: Bolt> Harness<B> {
    /// Starts a bolt with one input: stream `default` of component `input`, with these fields.
    ///
    /// # Errors
    /// The bolt's own.
    pub fn new<F: Into<String>>(fields: impl IntoIterator<Item = F>) -> Result<Self, Error> {
        Self::setup().input("input", "default", fields).start()
    }

    /// A bolt named `bolt` in topology `test`, without inputs so far.
    pub fn setup() -> Setup<B> {
        let context = wit::Context {
            topology: "test".into(),
            component: "bolt".into(),
            task_index: 0,
            task_id: 1,
            task_count: 1,
            inputs: Vec::new(),
            outputs: Vec::new(),
            config: "{}".into(),
        };
        Setup { context, consumers: Vec::new(), bolt: PhantomData }
    }

    /// Lets the host ask for progress before each tuple, as it does of slow bolts.
    pub fn ask_for_progress(&mut self) {
        self.stride = 1;
    }

    /// Sets the attempt that the tuples to come are said to be of.
    pub fn set_attempt(&mut self, attempt: u32) {
        self.host.attempt = attempt;
    }

    /// Executes a row from the first input in a call of its own; answers its handle.
    pub fn feed(&mut self, row: impl IntoRow) -> u32 {
        self.feed_from(0, row)
    }

    /// Executes a row from another input in a call of its own; answers its handle.
    pub fn feed_from(&mut self, input: usize, row: impl IntoRow) -> u32 {
        self.feed_batch(input, [row])[0]
    }

    /// Executes several rows in one call; answers their handles.
    ///
    /// # Panics
    /// If a row has another number of fields than the input.
    pub fn feed_batch<R: IntoRow>(&mut self, input: usize, rows: impl IntoIterator<Item = R>) -> Vec<u32> {
        let mut batch = Tuples {
            ids: Vec::new(),
            inputs: Vec::new(),
            offsets: vec![0],
            data: Vec::new(),
            stride: self.stride,
        };
        let arity = self.instance.task.context.inputs()[input].fields.len();
        for row in rows {
            let start = batch.data.len();
            row.append_to(&mut batch.data);
            if let Err(e) = anchorbolt_row::check_row(&batch.data[start..], arity) {
                panic!("a row fed to input {input} is refused: {e}");
            }
            self.handles += 1;
            batch.ids.push(self.handles);
            batch.inputs.push(input as u32);
            batch.offsets.push(batch.data.len() as u32);
        }
        self.execute(&batch);
        batch.ids
    }

    /// Calls the bolt's tick.
    ///
    /// # Errors
    /// The bolt's own.
    pub fn tick(&mut self) -> Result<(), Error> {
        self.call(Call::Tick)
    }

    /// Calls the bolt's flush.
    ///
    /// # Errors
    /// The bolt's own.
    pub fn flush(&mut self) -> Result<(), Error> {
        self.call(Call::Flush)
    }

    /// Calls the bolt's cleanup and drops it.
    ///
    /// # Errors
    /// The bolt's own.
    pub fn cleanup(&mut self) -> Result<(), Error> {
        self.call(Call::Cleanup)
    }

    /// All emissions so far.
    pub fn emitted(&self) -> &[Emission] {
        &self.host.record.emitted
    }

    /// The rows emitted on one stream so far.
    pub fn rows(&self, stream: &str) -> Vec<OwnedRow> {
        self.emitted().iter().filter(|e| e.stream == stream).map(|e| e.row.clone()).collect()
    }

    /// Forgets the emissions and settlements so far.
    pub fn clear(&mut self) {
        let record = &mut self.host.record;
        record.emitted.clear();
        record.acked.clear();
        record.failed.clear();
    }

    /// The handles acked so far.
    pub fn acked(&self) -> &[u32] {
        &self.host.record.acked
    }

    /// The tuples failed so far, those dropped outside a call included.
    pub fn failed(&self) -> Vec<Failed> {
        let dropped = self.instance.task.drops().into_iter().map(|d| Failed {
            handle: d.handle,
            kind: Failure::Fail,
            reason: d.reason,
        });
        self.host.record.failed.iter().cloned().chain(dropped).collect()
    }

    /// The handles that are neither acked nor failed, in order.
    pub fn held(&self) -> Vec<u32> {
        let mut held = self.host.live.clone();
        held.sort_unstable();
        held
    }

    /// The errors reported so far.
    pub fn errors(&self) -> &[String] {
        &self.host.record.errors
    }

    /// The handles whose timeouts were reset so far.
    pub fn timeouts_reset(&self) -> &[u32] {
        &self.host.record.timeouts_reset
    }

    /// The indexes reported by progress so far.
    pub fn progress(&self) -> &[u32] {
        &self.host.record.progress
    }

    /// The log so far.
    pub fn logs(&self) -> &[(Level, String)] {
        &self.host.record.logs
    }

    /// The value of a counter.
    pub fn counter(&self, name: &str) -> u64 {
        self.host.record.counters.get(name).copied().unwrap_or_default()
    }

    /// The value of a gauge.
    pub fn gauge(&self, name: &str) -> Option<f64> {
        self.host.record.gauges.get(name).copied()
    }

    /// The values of a histogram.
    pub fn histogram(&self, name: &str) -> &[f64] {
        self.host.record.histograms.get(name).map_or(&[], Vec::as_slice)
    }

    fn call(&mut self, call: Call<'_>) -> Result<(), Error> {
        let Self { instance, host, .. } = self;
        host.during(|| instance.call(call))
    }

    /// As the host does: an error fails what the call left unsettled.
    fn execute(&mut self, batch: &Tuples) {
        self.host.live.extend(&batch.ids);
        let Err(error) = self.call(Call::Execute(batch)) else {
            return;
        };
        let Host { live, record, .. } = &mut self.host;
        for &handle in &batch.ids {
            if let Some(index) = live.iter().position(|&l| l == handle) {
                live.swap_remove(index);
                record.failed.push(Failed { handle, kind: error.kind(), reason: error.reason().into() });
            }
        }
    }
}

impl<B> fmt::Debug for Harness<B> {
    /// What the bolt did; the bolt itself need not be `Debug`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.host.record.fmt(f)
    }
}
