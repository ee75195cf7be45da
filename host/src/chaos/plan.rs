//! How many faults, of which kinds.
//!
//! In and out: text such as `seed=7 kill=20 stall=2 stall-for=300ms`, so that a plan can be handed to another process.
//! Invariant: what [`Plan::text`] gives is read back as the same plan.

use std::time::Duration;

/// The faults of one process; the numbers are for each component.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Says which calls and batches are hit.
    pub seed: u64,
    /// Instances that die, before or after a call did its work.
    pub kill: u32,
    /// Instances that are refused memory.
    pub refuse_memory: u32,
    /// Calls that stall.
    pub stall: u32,
    /// For so long.
    pub stall_for: Duration,
    /// Batches between tasks that are lost.
    pub drop: u32,
    /// Batches between tasks that are late.
    pub delay: u32,
    /// By so much.
    pub delay_for: Duration,
    /// One in so many calls or batches is hit, until there have been enough.
    pub one_in: u32,
}

impl Default for Plan {
    fn default() -> Plan {
        Plan {
            seed: 0,
            kill: 16,
            refuse_memory: 2,
            stall: 1,
            stall_for: Duration::from_millis(300),
            drop: 24,
            delay: 2,
            delay_for: Duration::from_millis(100),
            one_in: 8,
        }
    }
}

/// A text that is no plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct PlanError(String);

/// The keys of a plan.
const KEYS: &str = "seed, kill, refuse-memory, stall, stall-for, drop, delay, delay-for, one-in";

impl Plan {
    /// Changes one value.
    ///
    /// # Errors
    /// There is no such key, or the value is none for it.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), PlanError> {
        let number = |most: u32| match value.parse::<u32>() {
            Ok(n) if n <= most => Ok(n),
            _ => Err(PlanError(format!("`{key}` is a whole number up to {most}, not `{value}`"))),
        };
        match key {
            "seed" => {
                let wrong = |_| PlanError(format!("`seed` is a whole number, not `{value}`"));
                self.seed = value.parse().map_err(wrong)?;
            }
            "kill" => self.kill = number(u32::MAX)?,
            "refuse-memory" => self.refuse_memory = number(u32::MAX)?,
            "stall" => self.stall = number(u32::MAX)?,
            "drop" => self.drop = number(u32::MAX)?,
            "delay" => self.delay = number(u32::MAX)?,
            "one-in" => self.one_in = number(1_000_000)?.max(1),
            "stall-for" => self.stall_for = milliseconds(key, value)?,
            "delay-for" => self.delay_for = milliseconds(key, value)?,
            _ => return Err(PlanError(format!("a plan has no `{key}`; it has {KEYS}, and in a file kills"))),
        }
        Ok(())
    }

    /// Reads [`Plan::text`]; what is not said is as in the default.
    ///
    /// # Errors
    /// As [`Plan::set`].
    pub fn parse(text: &str) -> Result<Plan, PlanError> {
        let mut plan = Plan::default();
        for pair in text.split_whitespace() {
            let (key, value) =
                pair.split_once('=').ok_or_else(|| PlanError(format!("`{pair}` is not KEY=VALUE")))?;
            plan.set(key, value)?;
        }
        Ok(plan)
    }

    /// The plan as text.
    pub fn text(&self) -> String {
        let Plan { seed, kill, refuse_memory, stall, stall_for, drop, delay, delay_for, one_in } = self;
        let (stall_for, delay_for) = (stall_for.as_millis(), delay_for.as_millis());
        format!(
            "seed={seed} kill={kill} refuse-memory={refuse_memory} stall={stall} stall-for={stall_for}ms \
             drop={drop} delay={delay} delay-for={delay_for}ms one-in={one_in}"
        )
    }
}

fn milliseconds(key: &str, value: &str) -> Result<Duration, PlanError> {
    let number = value.strip_suffix("ms").and_then(|n| n.parse::<u64>().ok());
    match number.or_else(|| value.strip_suffix('s').and_then(|n| n.parse::<u64>().ok()?.checked_mul(1000))) {
        Some(ms) if ms <= 600_000 => Ok(Duration::from_millis(ms)),
        _ => Err(PlanError(format!("`{key}` is a duration up to 600s, such as 300ms, not `{value}`"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_is_read_back_as_it_was() {
        let plan = Plan { seed: u64::MAX, stall_for: Duration::from_secs(3), ..Plan::default() };
        assert_eq!(Plan::parse(&plan.text()), Ok(plan));
        assert_eq!(Plan::parse(""), Ok(Plan::default()));
        assert_eq!(Plan::parse("stall-for=2s").unwrap().stall_for, Duration::from_secs(2));
    }

    #[test]
    fn what_is_no_plan_is_named() {
        for (text, said) in [
            ("kil=3", "no `kil`"),
            ("kill", "KEY=VALUE"),
            ("kill=-1", "not `-1`"),
            ("delay-for=3", "300ms"),
            ("delay-for=601s", "600s"),
            ("seed=x", "seed"),
        ] {
            let problem = Plan::parse(text).unwrap_err().to_string();
            assert!(problem.contains(said), "{text}: {problem}");
        }
    }
}
