//! What a guest may call: the host's side of `collector`, `logging` and `metrics`.
//!
//! Lifted arguments come in and go to the call's log in order, unread but for their lengths: no work is
//! done for each tuple here. A broken rule ends the call with a typed error.

use crate::bindings::{self, collector, logging, metrics, types};
use crate::death::Stop;
use crate::events::{Level, Metric};
use crate::state::State;
use crate::text;
use anchorbolt_core::port::{Emissions, Op};
use wasmtime::Result;

impl State {
    fn take_emissions(&mut self, import: &str, rows: types::Emissions) -> Result<Emissions> {
        self.call.effects(import)?;
        let rows = bindings::emissions(rows);
        self.call.budget.emit(&rows, &self.bolt.settings.limits)?;
        Ok(rows)
    }

    fn take_handles(&mut self, import: &str, ids: &[u32]) -> Result<()> {
        self.call.effects(import)?;
        Ok(self.call.budget.handles(ids.len())?)
    }

    fn push(&mut self, op: Op) -> Result<()> {
        self.call.budget.entry()?;
        self.call.log.push(op);
        Ok(())
    }

    /// A cleaned text, as long as the call's texts are within their budget.
    fn take_text(&mut self, text: &str) -> String {
        let text = text::clean(text);
        if self.call.budget.text(text.len()) { text } else { String::new() }
    }
}

impl types::Host for State {}

impl collector::Host for State {
    fn emit(&mut self, rows: types::Emissions) -> Result<()> {
        let rows = self.take_emissions("emit", rows)?;
        if rows.streams.is_empty() && rows.anchors.is_empty() && rows.data.is_empty() {
            return Ok(());
        }
        self.push(Op::Emit(rows))
    }

    fn emit_placed(&mut self, rows: types::Emissions) -> Result<Vec<Vec<u32>>> {
        let rows = self.take_emissions("emit-placed", rows)?;
        let Some(services) = self.call.services.as_mut() else {
            return Err(Stop::protocol("emit-placed is not available in this call").into());
        };
        let targets = services.place(&rows).map_err(Stop::protocol)?;
        self.push(Op::EmitPlaced(rows, targets.clone()))?;
        Ok(targets)
    }

    fn ack(&mut self, ids: Vec<u32>) -> Result<()> {
        self.take_handles("ack", &ids)?;
        if ids.is_empty() {
            return Ok(());
        }
        self.push(Op::Ack(ids))
    }

    fn fail(&mut self, failed: types::Failures) -> Result<()> {
        self.take_handles("fail", &failed.ids)?;
        let (n, reasons, kinds) = (failed.ids.len(), failed.reasons.len(), failed.kinds.len());
        if n != reasons || n != kinds {
            let reason = format!("fail with {n} handles, {reasons} reasons and {kinds} kinds");
            return Err(Stop::protocol(reason).into());
        }
        if n == 0 {
            return Ok(());
        }
        let entries = failed.ids.into_iter().zip(failed.kinds).zip(failed.reasons);
        let op = entries.map(|((id, kind), reason)| (id, bindings::fail_kind(kind), self.take_text(&reason)));
        let op = Op::Fail(op.collect());
        self.push(op)
    }

    fn reset_timeout(&mut self, ids: Vec<u32>) -> Result<()> {
        self.take_handles("reset-timeout", &ids)?;
        if ids.is_empty() {
            return Ok(());
        }
        self.push(Op::ResetTimeout(ids))
    }

    fn report_error(&mut self, message: String) -> Result<()> {
        self.call.effects("report-error")?;
        let message = self.take_text(&message);
        if message.is_empty() {
            return Ok(());
        }
        self.push(Op::ReportError(message))
    }

    fn describe(&mut self, ids: Vec<u32>) -> Result<Vec<types::TupleInfo>> {
        self.take_handles("describe", &ids)?;
        self.call.budget.describe(ids.len())?;
        let Some(services) = self.call.services.as_mut() else {
            return Err(Stop::protocol("describe is not available in this call").into());
        };
        let infos = services.describe(&ids).map_err(Stop::protocol)?;
        Ok(infos.into_iter().map(bindings::tuple_info).collect())
    }

    fn progress(&mut self, index: u32) -> Result<()> {
        self.call.advance(index)?;
        self.deadline.arm(self.bolt.settings.limits.deadline);
        if let Some(services) = self.call.services.as_mut() {
            services.progress(index);
        }
        Ok(())
    }
}

impl logging::Host for State {
    fn log(&mut self, level: logging::Level, message: String) -> Result<()> {
        let level = match level {
            logging::Level::Trace => Level::Trace,
            logging::Level::Debug => Level::Debug,
            logging::Level::Info => Level::Info,
            logging::Level::Warn => Level::Warn,
            logging::Level::Error => Level::Error,
        };
        let text = self.bolt.events.log_text(level, &message);
        self.output.note(text);
        Ok(())
    }
}

impl metrics::Host for State {
    fn counter_add(&mut self, name: String, delta: u64) -> Result<()> {
        self.bolt.events.metric(&name, Metric::Counter(delta));
        Ok(())
    }

    fn gauge_set(&mut self, name: String, value: f64) -> Result<()> {
        self.bolt.events.metric(&name, Metric::Gauge(value));
        Ok(())
    }

    fn histogram_record(&mut self, name: String, value: f64) -> Result<()> {
        self.bolt.events.metric(&name, Metric::Histogram(value));
        Ok(())
    }
}
