//! How long to wait before asking again.

use std::time::Duration;

/// The first wait; each further one is twice as long.
const FIRST: Duration = Duration::from_millis(500);
/// No wait of our own is longer.
const LONGEST: Duration = Duration::from_secs(30);
/// Whoever is told to wait longer than this is not waited for.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// The wait before attempt `n + 1`: what the provider says, else longer and
/// longer, a little different for every question so that they do not all come
/// back at once.
pub(crate) fn wait(n: u32, told: Option<Duration>, seed: &str) -> Duration {
    if let Some(told) = told {
        return told;
    }
    let wait = FIRST.saturating_mul(1 << n.min(10)).min(LONGEST);
    let spread = seed.bytes().fold(u32::from(n as u8) + 7, |sum, byte| {
        sum.wrapping_mul(31).wrapping_add(u32::from(byte))
    });
    wait.mul_f64(0.75 + f64::from(spread % 1000) / 2000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_and_are_spread() {
        assert_eq!(wait(0, Some(Duration::from_secs(9)), "a"), Duration::from_secs(9));
        for n in 0..40 {
            let one = wait(n, None, "a");
            assert!(one >= FIRST.mul_f64(0.75) && one <= LONGEST.mul_f64(1.25), "{n}: {one:?}");
            assert_eq!(one, wait(n, None, "a"));
        }
        assert!(wait(4, None, "a") > wait(1, None, "a"));
        assert_ne!(wait(1, None, "a"), wait(1, None, "b"));
    }
}
