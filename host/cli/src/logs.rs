//! Log lines on standard error, past the live line when there is one.

use crate::args::{LogArgs, LogFormat};
use std::io::{self, IsTerminal, Write};
use std::sync::OnceLock;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// The live line, which steps aside while a log line is written.
pub(crate) static LIVE: OnceLock<indicatif::ProgressBar> = OnceLock::new();

/// Starts logging.
pub(crate) fn start(args: &LogArgs) {
    let ours = Targets::new()
        .with_target("anchorbolt", args.log_level)
        .with_target("guest", args.log_level)
        .with_target("wasmtime", tracing::level_filters::LevelFilter::WARN.min(args.log_level));
    let ansi = io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty());
    let registry = tracing_subscriber::registry().with(ours);
    let layer = tracing_subscriber::fmt::layer().with_writer(|| Stderr).with_ansi(ansi);
    let started = match args.log_format {
        LogFormat::Text => registry.with(layer.with_target(false)).try_init(),
        LogFormat::Json => registry.with(layer.json()).try_init(),
    };
    if let Err(error) = started {
        tell!("warning: no log: {error}");
    }
}

/// Standard error.
struct Stderr;

impl Write for Stderr {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let write = || io::stderr().lock().write_all(line);
        match LIVE.get() {
            Some(bar) => bar.suspend(write)?,
            None => write()?,
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
