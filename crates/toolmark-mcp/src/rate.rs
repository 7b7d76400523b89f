//! Rate limits: a token bucket.
//!
//! The time is a parameter, so that limits can be tested to the millisecond.

use std::time::Duration;
use toolmark_guard::policy::CallRate;

/// Returns a rate in the syntax of policies.
pub(crate) fn describe(rate: CallRate) -> String {
    let unit = match rate.per.as_secs() {
        1 => "s",
        60 => "min",
        _ => "h",
    };
    format!("{}/{unit}", rate.calls)
}

/// The remaining tokens of a rate.
#[derive(Debug, Clone)]
pub(crate) struct RateBucket {
    rate: CallRate,
    /// Fill level, up to `rate.per`: one token is `per / calls`.
    filled: Duration,
    last: Duration,
}

impl RateBucket {
    /// Creates a full bucket.
    pub(crate) fn new(rate: CallRate, now: Duration) -> Self {
        Self { rate, filled: rate.per, last: now }
    }

    pub(crate) fn rate(&self) -> CallRate {
        self.rate
    }

    /// Returns the time until a token is available; `None` if there is one now.
    pub(crate) fn wait(&mut self, now: Duration) -> Option<Duration> {
        self.filled = (self.filled + now.saturating_sub(self.last)).min(self.rate.per);
        self.last = self.last.max(now);
        let token = self.token();
        (self.filled < token).then(|| token - self.filled)
    }

    /// Takes a token, if there is one.
    pub(crate) fn take(&mut self) {
        self.filled = self.filled.saturating_sub(self.token());
    }

    fn token(&self) -> Duration {
        self.rate.per / self.rate.calls.max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_as_they_are_written() {
        for text in ["60/min", "1/s", "5/h"] {
            assert_eq!(describe(text.parse().unwrap()), text);
        }
    }

    #[test]
    fn a_bucket_empties_and_fills() {
        let at = Duration::from_millis;
        let mut bucket = RateBucket::new("2/s".parse().unwrap(), at(0));
        let mut taken = |now| match bucket.wait(at(now)) {
            None => {
                bucket.take();
                0
            }
            Some(wait) => wait.as_millis(),
        };
        // (time, what is to wait)
        for (now, wait) in [
            (0, 0),
            (0, 0),
            (0, 500),
            (100, 400),
            (500, 0),
            (500, 500),
            (400, 500),
            (10_000, 0),
            (10_000, 0),
            (10_000, 500),
        ] {
            assert_eq!(taken(now), wait, "at {now} ms");
        }
    }
}
