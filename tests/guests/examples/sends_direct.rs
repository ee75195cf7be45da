//! Emits each row on direct stream `named`, to the task that the string in field 0 names: `b/1` is the second task of
//! consumer `b`, `17` the task of this id, whoever has it.

use anchorbolt_sdk::prelude::*;
use anchorbolt_test_guests as guests;

struct SendsDirect {
    /// The consumers of the stream, with their tasks.
    consumers: Vec<(String, Vec<u32>)>,
}

impl SendsDirect {
    fn task(&self, name: &str) -> Result<u32, Error> {
        let Some((component, index)) = name.split_once('/') else { return Ok(name.parse()?) };
        let consumer = self.consumers.iter().find(|(known, _)| known == component);
        let tasks = consumer.map_or(&[][..], |(_, tasks)| tasks);
        let task = tasks.get(index.parse::<usize>()?).copied();
        task.ok_or_else(|| Error::fail(format!("no task {name} among {:?}", self.consumers)))
    }
}

impl Bolt for SendsDirect {
    fn declare(_: &Config) -> Result<Declaration, Error> {
        Ok(Declaration::new().direct_stream("named", ["value"]).stateless())
    }

    fn prepare(context: &Context) -> Result<Self, Error> {
        let consumers = context.outputs().iter().flat_map(|output| &output.consumers);
        Ok(Self { consumers: consumers.map(|c| (c.component.clone(), c.tasks.clone())).collect() })
    }

    fn execute(&mut self, tuple: Tuple<'_>, out: &mut Collector) -> Result<(), Error> {
        let task = self.task(guests::text(&tuple))?;
        out.to("named")?.emit_direct(task, &tuple, tuple.row());
        out.ack(tuple);
        Ok(())
    }
}

anchorbolt_sdk::export!(SendsDirect);
