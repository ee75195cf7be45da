//! What a guest may take of memory and tables, summed over all that its store has.
//!
//! Requests to grow come in, yes or no goes out. A refusal is an ordinary failure in the guest
//! (`memory.grow` answers -1); what the guest then dies of is put down to the limit, with both figures.

use crate::text;
use anchorbolt_core::manifest::Limits;
use wasmtime::ResourceLimiter;

/// Core instances in one component: one for each module and each adapter; a Python component has about 20.
pub(crate) const INSTANCES_MAX: usize = 64;
/// Memories in one component: bolts have 1, composed components a few.
pub(crate) const MEMORIES_MAX: usize = 8;
/// Tables in one component.
pub(crate) const TABLES_MAX: usize = 16;

/// The sums of one store against its limits.
pub(crate) struct Limiter {
    memory: Sum,
    elements: Sum,
    hit: Option<String>,
}

struct Sum {
    used: u64,
    limit: u64,
}

impl Sum {
    /// Adds what is asked for, or says what the sum would have been.
    fn grow(&mut self, current: usize, desired: usize) -> Result<(), u64> {
        let asked = self.used.saturating_add(desired.saturating_sub(current) as u64);
        if asked > self.limit {
            return Err(asked);
        }
        self.used = asked;
        Ok(())
    }
}

impl Limiter {
    pub(crate) fn new(limits: &Limits) -> Limiter {
        Limiter {
            memory: Sum { used: 0, limit: limits.memory_bytes },
            elements: Sum { used: 0, limit: limits.table_elements.into() },
            hit: None,
        }
    }

    /// A new call begins: what was refused before has been survived.
    pub(crate) fn begin_call(&mut self) {
        self.hit = None;
    }

    /// The limit that the current call ran into, with both figures.
    pub(crate) fn hit(&self) -> Option<&str> {
        self.hit.as_deref()
    }

    /// All memories together.
    pub(crate) fn memory_bytes(&self) -> u64 {
        self.memory.used
    }
}

// `memory_grow_failed` and `table_grow_failed` are left alone: wasmtime also calls them for requests that it
// never asked about (beyond what a memory's type allows), so giving back there would let a guest grow for
// nothing. What was granted and could not be had stays counted.
impl ResourceLimiter for Limiter {
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        if maximum.is_some_and(|max| desired > max) {
            return Ok(false); // the memory's own maximum: it will not grow, so it must not be counted
        }
        if let Err(asked) = self.memory.grow(current, desired) {
            let (asked, limit) = text::sizes(asked, self.memory.limit);
            self.hit = Some(format!("memory limit {limit} reached: asked for {asked}"));
            return Ok(false);
        }
        Ok(true)
    }

    fn table_growing(
        &mut self,
        current: usize,
        desired: usize,
        maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        if maximum.is_some_and(|max| desired > max) {
            return Ok(false);
        }
        if let Err(asked) = self.elements.grow(current, desired) {
            let limit = self.elements.limit;
            self.hit = Some(format!("table limit {limit} elements reached: asked for {asked}"));
            return Ok(false);
        }
        Ok(true)
    }

    fn instances(&self) -> usize {
        INSTANCES_MAX
    }

    fn tables(&self) -> usize {
        TABLES_MAX
    }

    fn memories(&self) -> usize {
        MEMORIES_MAX
    }
}

#[cfg(test)]
pub(crate) fn test_limits() -> Limits {
    Limits {
        memory_bytes: 1 << 20,
        deadline: std::time::Duration::from_secs(1),
        table_elements: 10,
        emissions_per_tuple: 10,
        emitted_bytes_per_tuple: 100,
        anchors_per_tuple: 10,
        held_tuples: 100,
        tuple_bytes: 1 << 20,
        log_bytes_per_second: 1 << 16,
        log_lines_per_second: 1000,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memories_are_summed_and_a_refusal_changes_nothing() {
        let mut limiter = Limiter::new(&test_limits());
        assert!(limiter.memory_growing(0, 512 << 10, None).expect("ok"));
        assert!(limiter.memory_growing(0, 512 << 10, None).expect("ok"));
        assert!(!limiter.memory_growing(512 << 10, 576 << 10, None).expect("ok"));
        assert_eq!(limiter.hit(), Some("memory limit 1 MiB reached: asked for 1.06 MiB"));
        assert_eq!(limiter.memory_bytes(), 1 << 20);
        limiter.begin_call();
        assert_eq!(limiter.hit(), None);
        assert!(!limiter.memory_growing(512 << 10, 576 << 10, Some(512 << 10)).expect("ok"));
        assert_eq!(limiter.hit(), None, "the memory's own maximum is not the limit");
        limiter.memory_grow_failed(wasmtime::Error::msg("too large")).expect("ok");
        assert_eq!(limiter.memory_bytes(), 1 << 20, "a failure gives nothing back");
    }

    #[test]
    fn tables_are_summed() {
        let mut limiter = Limiter::new(&test_limits());
        assert!(limiter.table_growing(0, 6, None).expect("ok"));
        assert!(!limiter.table_growing(0, 6, None).expect("ok"));
        assert_eq!(limiter.hit(), Some("table limit 10 elements reached: asked for 12"));
    }
}
