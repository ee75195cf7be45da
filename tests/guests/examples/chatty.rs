//! On each tuple logs a line of each level with its field 0, counts (`seen`, `last`, `length`), reports an error, and
//! writes config `bytes` bytes (1,048,576 unless set) to stderr; then passes it on.

use std::io::Write;

use anchorbolt_sdk::prelude::*;
use anchorbolt_sdk::{debug, error, info, metrics, trace, warn};
use anchorbolt_test_guests as guests;

struct Chatty {
    bytes: usize,
}

impl BasicBolt for Chatty {
    fn declare(config: &Config) -> Result<Declaration, Error> {
        guests::declaration(config)
    }

    fn prepare(context: &Context) -> Result<Self, Error> {
        Ok(Self { bytes: context.config().get_or("bytes", 1 << 20)? })
    }

    fn execute(&mut self, tuple: &Tuple<'_>, out: &mut BasicCollector<'_>) -> Result<(), Error> {
        let text = guests::text(tuple);
        trace!("trace {text}");
        debug!("debug {text}");
        info!("info {text}");
        warn!("warn {text}");
        error!("error {text}");
        metrics::counter("seen", 1);
        metrics::gauge("last", text.len() as f64);
        metrics::histogram("length", text.len() as f64);
        out.report_error(format!("report {text}"));
        let line = [b'x'; 63].into_iter().chain([b'\n']);
        let noise: Vec<u8> = line.cycle().take(self.bytes).collect();
        std::io::stderr().write_all(&noise)?;
        out.emit(tuple.row());
        Ok(())
    }
}

anchorbolt_sdk::export!(Chatty);
