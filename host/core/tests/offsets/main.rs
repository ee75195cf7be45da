//! What a checkpoint remembers of a source's part: by hand, and against an oracle in random orders with restarts.

#![allow(clippy::single_range_in_vec_init, reason = "lists of ranges are what is tested")]

mod oracle;
mod random;
mod rules;
mod sizes;
mod snapshots;
