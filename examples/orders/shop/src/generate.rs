//! Orders by the thousand.
//!
//! In: how many, what share of them is poison, a seed. Out: orders, or a file of them. Invariant: a seed gives one file.

use crate::money::Cents;
use crate::order::Order;
use fastrand::Rng;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// These orders, in their order.
pub fn orders(count: u64, poison: f64, seed: u64) -> impl Iterator<Item = Order> {
    let mut rng = Rng::with_seed(seed);
    (1..=count).map(move |n| {
        // One in twenty costs nothing, one in ten more than a card pays, one in ten is a risk.
        let cents = if rng.u32(..20) == 0 { 0 } else { rng.u64(100..=100_000) };
        let user = format!("u-{}", rng.u32(1..=10_000));
        let risk_percent = rng.u32(..=100);
        Order { id: format!("o-{n}"), user, amount: Cents(cents), risk_percent, poison: rng.f64() < poison }
    })
}

/// Writes them to a file, which is made anew.
///
/// # Errors
/// When it can't be written.
pub fn write(path: &Path, count: u64, poison: f64, seed: u64) -> Result<(), String> {
    try_write(path, count, poison, seed).map_err(|error| format!("can't write {}: {error}", path.display()))
}

fn try_write(path: &Path, count: u64, poison: f64, seed: u64) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let mut file = BufWriter::new(File::create(path)?);
    for order in orders(count, poison, seed) {
        writeln!(file, "{}", order.line())?;
    }
    file.flush()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order::Fate;

    #[test]
    fn every_fate_and_some_poison_occur_and_a_seed_gives_them_again() {
        let some: Vec<Order> = orders(1000, 0.05, 7).collect();
        for fate in Fate::ALL {
            assert!(some.iter().filter(|order| order.fate() == fate).count() > 10, "{fate}");
        }
        assert!((20..100).contains(&some.iter().filter(|order| order.poison).count()));
        assert!(orders(1000, 0.05, 7).eq(some));
        assert!(orders(1000, 0.0, 7).all(|order| !order.poison));
    }

    #[test]
    fn a_file_that_can_not_be_written_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let error = write(folder.path(), 1, 0.0, 0).unwrap_err();
        assert!(error.contains(&folder.path().display().to_string()), "{error}");
    }
}
