//! What a checkpoint remembers of a source's part: by hand, and against an oracle in random orders with restarts.

mod oracle;
mod random;
mod rules;
mod sizes;
mod snapshots;
