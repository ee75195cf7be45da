//! Why a tuple, a call or a message failed. One type travels from the bolt that failed to the report.

use crate::ids::TaskId;
use std::fmt;

/// The classes that reports and dead letters use, as `contract.md` names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// A guest failed the tuple, or asked for a retry.
    Failed,
    /// A guest said: never again.
    Rejected,
    /// A bolt held it until the message timeout.
    Timeout,
    /// The instance trapped (a panic, an invalid access).
    Trap,
    /// The call ran past its deadline.
    Deadline,
    /// The memory limit was hit.
    Memory,
    /// The guest called `exit`.
    Exit,
    /// The guest broke the contract.
    Protocol,
    /// Larger than `tuple-bytes`.
    Size,
    /// The bolt's circuit is open.
    Circuit,
    /// A cycle's queue, or the held tuples of a task, went over the limit.
    Overflow,
    /// The host's own fault, or the world's: a sink that can't write.
    Host,
}

impl Class {
    /// All classes.
    pub const ALL: [Class; 12] = [
        Class::Failed,
        Class::Rejected,
        Class::Timeout,
        Class::Trap,
        Class::Deadline,
        Class::Memory,
        Class::Exit,
        Class::Protocol,
        Class::Size,
        Class::Circuit,
        Class::Overflow,
        Class::Host,
    ];

    /// The word in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Class::Failed => "failed",
            Class::Rejected => "rejected",
            Class::Timeout => "timeout",
            Class::Trap => "trap",
            Class::Deadline => "deadline",
            Class::Memory => "memory",
            Class::Exit => "exit",
            Class::Protocol => "protocol",
            Class::Size => "size",
            Class::Circuit => "circuit",
            Class::Overflow => "overflow",
            Class::Host => "host",
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Who pays for a failure: which of the message's budgets it is charged to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cost {
    /// This message's own fault: `max-faults` counts it.
    Fault,
    /// Something outside is down, or a bolt held it: `give-up-after` bounds it.
    Patience,
    /// Collateral of another's death, or a queue's delay: replayed at once and for nothing.
    Free,
    /// Never tried again.
    Final,
}

/// One failure of a tuple, as it travels to the spout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What kind of failure.
    pub class: Class,
    /// Who pays.
    pub cost: Cost,
    /// The component where it failed.
    pub component: String,
    /// The task where it failed; 0 when none can be named.
    pub task: TaskId,
    /// The text for a person: the guest's own, or the host's.
    pub reason: String,
    /// The guest's last words: what it printed before it died.
    pub output: String,
    /// The row that the failing bolt had, and the stream it came on, where they are known.
    pub input: Option<FailedInput>,
}

/// The input that a bolt failed on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedInput {
    /// The component and stream the tuple came from, as `component/stream`.
    pub stream: String,
    /// The encoded row.
    pub row: Vec<u8>,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} in {}", self.class, self.component)?;
        if self.task != 0 {
            write!(f, " (task {})", self.task)?;
        }
        write!(f, ": {}", self.reason)
    }
}
