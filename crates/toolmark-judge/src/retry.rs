//! Delay before a retry.

use std::time::Duration;

/// Delay before the first retry; each further one is twice as long.
const FIRST_WAIT: Duration = Duration::from_millis(500);
/// Maximum delay, unless the provider requests more.
const MAX_WAIT: Duration = Duration::from_secs(30);
/// Maximum delay that a provider may request; beyond it the question is abandoned.
pub(crate) const MAX_RETRY_WAIT: Duration = Duration::from_secs(120);

/// Returns the delay before attempt `n + 1`: the one requested by the provider, otherwise an
/// exponential backoff with jitter, so that questions are not all retried at once.
pub(crate) fn wait(n: u32, retry_after: Option<Duration>, seed: &str) -> Duration {
    if let Some(wait) = retry_after {
        return wait;
    }
    let wait = FIRST_WAIT.saturating_mul(1 << n.min(10)).min(MAX_WAIT);
    let jitter = seed.bytes().fold(u32::from(n as u8) + 7, |sum, byte| {
        sum.wrapping_mul(31).wrapping_add(u32::from(byte))
    });
    wait.mul_f64(0.75 + f64::from(jitter % 1000) / 2000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_and_are_spread() {
        assert_eq!(wait(0, Some(Duration::from_secs(9)), "a"), Duration::from_secs(9));
        for n in 0..40 {
            let one = wait(n, None, "a");
            assert!(
                one >= FIRST_WAIT.mul_f64(0.75) && one <= MAX_WAIT.mul_f64(1.25),
                "{n}: {one:?}"
            );
            assert_eq!(one, wait(n, None, "a"));
        }
        assert!(wait(4, None, "a") > wait(1, None, "a"));
        assert_ne!(wait(1, None, "a"), wait(1, None, "b"));
    }
}
