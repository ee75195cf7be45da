//! A sink that acks before it writes: lines wait in memory until there are 64, or a flush. With config `honest` the
//! tuples wait with them.

use anchorbolt_sdk::prelude::*;
use std::fs::OpenOptions;
use std::io::Write;

const LINES: usize = 64;

struct Sink {
    honest: bool,
    lines: String,
    held: Vec<Held>,
    waiting: usize,
}

impl Sink {
    fn write(&mut self, out: &mut Collector) -> Result<(), Error> {
        let mut file = OpenOptions::new().create(true).append(true).open("/out/rows.txt")?;
        file.write_all(self.lines.as_bytes())?;
        self.lines.clear();
        self.waiting = 0;
        self.held.drain(..).for_each(|held| out.ack(held));
        Ok(())
    }
}

impl Bolt for Sink {
    fn declare(_: &Config) -> Result<Declaration, Error> {
        Ok(Declaration::new())
    }

    fn prepare(context: &Context) -> Result<Self, Error> {
        let honest = context.config().get_or("honest", false)?;
        Ok(Self { honest, lines: String::new(), held: Vec::new(), waiting: 0 })
    }

    fn execute(&mut self, tuple: Tuple<'_>, out: &mut Collector) -> Result<(), Error> {
        self.lines.push_str(tuple.str(0)?);
        self.lines.push('\n');
        self.waiting += 1;
        if self.honest {
            self.held.push(tuple.hold());
        } else {
            out.ack(tuple);
        }
        if self.waiting >= LINES { self.write(out) } else { Ok(()) }
    }

    fn flush(&mut self, out: &mut Collector) -> Result<(), Error> {
        self.write(out)
    }
}

anchorbolt_sdk::export!(Sink);
