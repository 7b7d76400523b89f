//! How often something may happen: a bucket of tokens that fills with time.
//!
//! The time is given, not read, so that what a limit does can be tested to the
//! millisecond.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// So many in so long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    count: u32,
    per: Duration,
}

/// Why a text is no rate.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no rate; write a count and a time, as in `60/min` (s, min, h)")]
pub struct NotARate(String);

impl FromStr for Rate {
    type Err = NotARate;

    fn from_str(text: &str) -> Result<Self, NotARate> {
        let wrong = || NotARate(text.to_owned());
        let (count, unit) = text.split_once('/').ok_or_else(wrong)?;
        let seconds = match unit.trim() {
            "s" | "sec" | "second" => 1,
            "m" | "min" | "minute" => 60,
            "h" | "hour" => 3600,
            _ => return Err(wrong()),
        };
        match count.trim().parse() {
            Ok(count) if count > 0 => Ok(Self { count, per: Duration::from_secs(seconds) }),
            _ => Err(wrong()),
        }
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = match self.per.as_secs() {
            1 => "s",
            60 => "min",
            _ => "h",
        };
        write!(f, "{}/{unit}", self.count)
    }
}

/// The tokens left of a rate.
#[derive(Debug, Clone)]
pub(crate) struct Bucket {
    rate: Rate,
    /// How much of `rate.per` is in the bucket: one token is `per / count`.
    filled: Duration,
    last: Duration,
}

impl Bucket {
    /// A full bucket.
    pub(crate) fn new(rate: Rate, now: Duration) -> Self {
        Self { rate, filled: rate.per, last: now }
    }

    pub(crate) fn rate(&self) -> Rate {
        self.rate
    }

    /// How long until there is a token; none if there is one now.
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
        self.rate.per / self.rate.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_a_count_and_a_time() {
        for (text, shown) in
            [("60/min", "60/min"), ("1/s", "1/s"), (" 5 / hour ", "5/h"), ("2/m", "2/min")]
        {
            assert_eq!(text.parse::<Rate>().unwrap().to_string(), shown);
        }
        for text in ["", "60", "0/min", "-1/s", "60/day", "x/s", "1/"] {
            assert!(text.parse::<Rate>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_bucket_empties_and_fills() {
        let at = Duration::from_millis;
        let mut bucket = Bucket::new("2/s".parse().unwrap(), at(0));
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
