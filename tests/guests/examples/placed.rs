//! Passes each row on with `emit-placed`, and emits on stream `report` the tasks it went to and what `describe` tells.

use anchorbolt_sdk::prelude::*;
use anchorbolt_test_guests as guests;

struct Placed;

impl Bolt for Placed {
    fn declare(config: &Config) -> Result<Declaration, Error> {
        let report = ["tasks", "source", "message", "attempt", "age_us", "identity"];
        Ok(guests::declaration(config)?.stream("report", report))
    }

    fn prepare(_: &Context) -> Result<Self, Error> {
        Ok(Self)
    }

    fn execute(&mut self, tuple: Tuple<'_>, out: &mut Collector) -> Result<(), Error> {
        let tasks = out.emit_placed(&tuple, tuple.row());
        let info = out.describe(&tuple);
        let report = (tasks, info.source_task, info.message_id, info.attempt, info.age_us, info.identity);
        out.to("report")?.emit(&tuple, report);
        out.ack(tuple);
        Ok(())
    }
}

anchorbolt_sdk::export!(Placed);
