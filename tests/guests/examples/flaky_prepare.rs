//! Fails to start: config `declare` and `prepare` are each `ok`, `error` or `panic`. Config `task` limits the latter to
//! the task of that index. Otherwise passes rows on.

use anchorbolt_sdk::prelude::*;
use anchorbolt_test_guests as guests;

struct Flaky;

fn obey(config: &Config, key: &str) -> Result<(), Error> {
    match config.get_or(key, "ok".to_owned())?.as_str() {
        "error" => Err(Error::fail(format!("{key} was told to fail"))),
        "panic" => panic!("{key} was told to panic"),
        _ => Ok(()),
    }
}

impl Bolt for Flaky {
    fn declare(config: &Config) -> Result<Declaration, Error> {
        obey(config, "declare")?;
        guests::declaration(config)
    }

    fn prepare(context: &Context) -> Result<Self, Error> {
        let config = context.config();
        if config.get("task")?.is_none_or(|task: u32| task == context.task_index()) {
            obey(config, "prepare")?;
        }
        Ok(Self)
    }

    fn execute(&mut self, tuple: Tuple<'_>, out: &mut Collector) -> Result<(), Error> {
        guests::pass(tuple, out);
        Ok(())
    }
}

anchorbolt_sdk::export!(Flaky);
