//! When a host is killed.
//!
//! In: how often, how many orders there are, a seed. Out: moments. Invariant: at each of them work is left to do, so
//! a host that has come so far is running.

use fastrand::Rng;
use std::time::Duration;

/// A moment in the run of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moment {
    /// While it starts, or soon after.
    Early(Duration),
    /// When this run has told so many fates.
    Fates(u64),
}

/// One moment for each kill. The fates of all together are fewer than the orders.
pub(super) fn moments(kills: u32, orders: u64, seed: u64) -> Vec<Moment> {
    let mut rng = Rng::with_seed(seed);
    let most = orders * 4 / 5 / u64::from(kills.max(1));
    let moment = |_| match rng.u32(..4) {
        0 => Moment::Early(Duration::from_millis(rng.u64(..150))),
        _ => Moment::Fates(rng.u64(0..=most)),
    };
    (0..kills).map(moment).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_moments_are_before_the_end() {
        for seed in 0..100 {
            let all = moments(10, 1000, seed);
            let told = |moment: &Moment| if let Moment::Fates(n) = moment { *n } else { 0 };
            assert_eq!(all.len(), 10);
            assert!(all.iter().map(told).sum::<u64>() <= 800);
        }
        assert_eq!(moments(0, 1000, 1), []);
    }
}
