//! The tracking of trees: against an oracle, in every order, and under the faults that users of such systems
//! have met.

mod faults;
mod oracle;
mod random;
mod sizes;
mod slots;
