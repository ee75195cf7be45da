//! The `jsonl` sink: one JSON object a line, appended to a file.
//!
//! In: tuples. Out: lines, keyed by the field names of the stream each tuple came by. With `fsync = "batch"` a
//! batch is durable before its acks leave. With an interval a thread makes the file durable that often and the acks
//! do not wait for it: a power failure may cost what the interval holds, a killed process costs nothing.
//!
//! Invariant: a batch whose write fails, for example on a full disk, leaves no part of a line behind, and each of
//! its tuples fails as `retry` with the system's own text.

use super::append::{AppendFile, Opened};
use super::batch::Batch;
use anchorbolt_core::manifest::kinds::Fsync;
use anchorbolt_core::port::{Bolt, Collector, Context, Tuples};
use parking_lot::{Condvar, Mutex};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// The sink.
pub struct JsonlSink {
    path: PathBuf,
    shown: String,
    fsync: Fsync,
    batch: Batch,
    file: Option<AppendFile>,
    syncer: Option<Syncer>,
}

impl JsonlSink {
    /// A sink to the file at `path`, which messages call `shown`.
    pub fn new(path: &Path, shown: &str, fsync: Fsync) -> JsonlSink {
        JsonlSink {
            path: path.to_owned(),
            shown: shown.to_owned(),
            fsync,
            batch: Batch::default(),
            file: None,
            syncer: None,
        }
    }

    fn open(&mut self) -> io::Result<()> {
        self.syncer = None;
        self.file = None;
        let Opened { file, mended } = AppendFile::open(&self.path)?;
        if mended > 0 {
            tracing::warn!(
                file = self.shown,
                bytes = mended,
                "the last line was torn by a crash and was cut off; its tuple was never acked"
            );
        }
        if self.fsync != Fsync::Never {
            file.sync_folder()?;
        }
        if let (Fsync::Interval(interval), Some(handle)) = (self.fsync, file.second_handle()?) {
            self.syncer = Some(Syncer::start(handle, interval)?);
        }
        self.file = Some(file);
        Ok(())
    }

    fn append(&mut self) -> io::Result<()> {
        if self.file.as_ref().is_none_or(AppendFile::deleted) {
            tracing::warn!(file = self.shown, "the file was deleted; it is made anew");
            self.open()?;
        }
        let Some(file) = &mut self.file else { return Ok(()) };
        file.append(self.batch.text(), self.fsync == Fsync::Batch)?;
        if let Some(syncer) = &self.syncer {
            syncer.written();
        }
        Ok(())
    }

    fn sync(&self) -> Result<(), String> {
        match &self.file {
            Some(file) if self.fsync != Fsync::Never => {
                file.sync().map_err(|e| format!("can't make `{}` durable: {e}", self.shown))
            }
            _ => Ok(()),
        }
    }
}

impl Bolt for JsonlSink {
    fn prepare(&mut self, context: &Context) -> Result<(), String> {
        self.batch = Batch::new(context);
        self.open().map_err(|e| format!("can't write to `{}`: {e}", self.shown))
    }

    fn execute(&mut self, tuples: &Tuples, out: &mut Collector<'_>) -> Result<(), String> {
        self.batch.encode(tuples, out);
        match self.append() {
            Ok(()) => self.batch.ack(out),
            Err(error) => self.batch.retry(&format!("can't write to `{}`: {error}", self.shown), out),
        }
        if let Some(error) = self.syncer.as_ref().and_then(Syncer::error) {
            out.report_error(format!("can't make `{}` durable: {error}", self.shown));
        }
        Ok(())
    }

    fn flush(&mut self, _out: &mut Collector<'_>) -> Result<(), String> {
        self.sync()
    }

    fn cleanup(&mut self) -> Result<(), String> {
        let end = self.sync();
        self.syncer = None;
        self.file = None;
        end
    }
}

/// A thread that makes the file durable at an interval, while there is something new.
struct Syncer {
    shared: Arc<(Mutex<SyncState>, Condvar)>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct SyncState {
    written: bool,
    stop: bool,
    error: Option<io::Error>,
}

impl Syncer {
    fn start(file: File, interval: Duration) -> io::Result<Syncer> {
        let shared = Arc::<(Mutex<SyncState>, Condvar)>::default();
        let theirs = shared.clone();
        let run = move || sync_each(&file, interval, &theirs);
        let thread = thread::Builder::new().name("jsonl-sync".to_owned()).spawn(run)?;
        Ok(Syncer { shared, thread: Some(thread) })
    }

    fn written(&self) {
        let (state, changed) = &*self.shared;
        if !std::mem::replace(&mut state.lock().written, true) {
            changed.notify_one();
        }
    }

    fn error(&self) -> Option<io::Error> {
        self.shared.0.lock().error.take()
    }
}

impl Drop for Syncer {
    fn drop(&mut self) {
        self.shared.0.lock().stop = true;
        self.shared.1.notify_one();
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has nothing left to say: each sync reports its own error.
            drop(thread.join());
        }
    }
}

fn sync_each(file: &File, interval: Duration, (state, changed): &(Mutex<SyncState>, Condvar)) {
    let mut guard = state.lock();
    while !guard.stop {
        if !guard.written {
            changed.wait(&mut guard);
            continue;
        }
        changed.wait_for(&mut guard, interval);
        if guard.stop {
            return;
        }
        guard.written = false;
        drop(guard);
        let synced = file.sync_data();
        guard = state.lock();
        if let Err(error) = synced {
            guard.written = true;
            guard.error = Some(error);
        }
    }
}
