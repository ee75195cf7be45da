//! The live line of `run` on a terminal: rate, pending, acked, failed.

use crate::logs::LIVE;
use anchorbolt_host::runtime::{Progress, Watch};
use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// How often the line is drawn.
const PERIOD: Duration = Duration::from_millis(200);

/// A line that is drawn until it is dropped.
pub(crate) struct Live(Option<(Arc<AtomicBool>, std::thread::JoinHandle<()>)>);

impl Live {
    /// Starts drawing, if standard error is a terminal.
    pub(crate) fn start(watch: Watch) -> Live {
        if !std::io::stderr().is_terminal() {
            return Live(None);
        }
        let bar = LIVE.get_or_init(indicatif::ProgressBar::new_spinner).clone();
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let draw = move || {
            let (mut last, mut at) = (Progress::default(), Instant::now());
            while !stopped.load(Relaxed) {
                std::thread::park_timeout(PERIOD);
                let (now, passed) = (watch.progress(), at.elapsed());
                bar.set_message(line(&now, &last, passed));
                bar.tick();
                (last, at) = (now, Instant::now());
            }
            bar.finish_and_clear();
        };
        match std::thread::Builder::new().name("live".to_owned()).spawn(draw) {
            Ok(thread) => Live(Some((stop, thread))),
            Err(_) => Live(None),
        }
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        if let Some((stop, thread)) = self.0.take() {
            stop.store(true, Relaxed);
            thread.thread().unpark();
            if thread.join().is_err() {
                tell!("warning: the live line broke");
            }
        }
    }
}

fn line(now: &Progress, last: &Progress, passed: Duration) -> String {
    let rate = (now.completed.saturating_sub(last.completed)) as f64 / passed.as_secs_f64().max(0.001);
    format!(
        "{:>9.0} messages/s   pending {}   completed {}   failed trees {}",
        rate, now.pending, now.completed, now.failed
    )
}
