//! Numbers and times, formatted for people.

use jiff::{SignedDuration, Timestamp, tz::TimeZone};
use toolmark_redact::{Printable, printable};

/// Formats a count with a unit letter: `950`, `48.2k`, `1.3M`.
#[must_use]
pub fn count(n: u64) -> Printable {
    let scaled = |unit: f64, letter: char| match n as f64 / unit {
        value if value < 100.0 => printable!("{:.1}{}", value, letter),
        value => printable!("{:.0}{}", value, letter),
    };
    match n {
        0..1_000 => printable!("{}", n),
        1_000..999_500 => scaled(1e3, 'k'),
        999_500..999_500_000 => scaled(1e6, 'M'),
        _ => scaled(1e9, 'G'),
    }
}

/// Formats a number with its noun: `1 call`, `3 calls`, `2 trajectories`.
#[must_use]
pub fn things(n: u64, one: &'static str) -> Printable {
    match one.strip_suffix('y') {
        _ if n == 1 || one == "info" => printable!("{} {}", n, one),
        Some(stem) if !stem.ends_with(['a', 'e', 'o', 'u']) => printable!("{} {}ies", n, stem),
        _ => printable!("{} {}s", n, one),
    }
}

/// Formats a duration: `12ms`, `3.4s`, `4m 31s`, `2h 05m`.
#[must_use]
pub fn duration(d: SignedDuration) -> Printable {
    let ms = u64::try_from(d.as_millis()).unwrap_or(0);
    match ms {
        0..100 => printable!("{}ms", ms),
        100..60_000 => printable!("{:.1}s", ms as f64 / 1e3),
        60_000..3_600_000 => printable!("{}m {:02}s", ms / 60_000, ms / 1_000 % 60),
        3_600_000..172_800_000 => printable!("{}h {:02}m", ms / 3_600_000, ms / 60_000 % 60),
        _ => printable!("{}d {:02}h", ms / 86_400_000, ms / 3_600_000 % 24),
    }
}

/// Formats the time since the start: `0:04`, `12:31`, `1:02:03`.
#[must_use]
pub fn offset(d: SignedDuration) -> Printable {
    let s = d.as_secs().max(0);
    if s < 3_600 {
        printable!("{}:{:02}", s / 60, s % 60)
    } else {
        printable!("{}:{:02}:{:02}", s / 3_600, s / 60 % 60, s % 60)
    }
}

/// Formats an age: `now`, `5 min`, `3 h`, `2 d`, `6 wk`, `2 yr`.
#[must_use]
pub fn age(d: SignedDuration) -> Printable {
    let minutes = d.as_secs().max(0) / 60;
    match minutes {
        0 => "now".into(),
        1..60 => printable!("{} min", minutes),
        60..1_440 => printable!("{} h", minutes / 60),
        1_440..20_160 => printable!("{} d", minutes / 1_440),
        20_160..525_600 => printable!("{} wk", minutes / 10_080),
        _ => printable!("{} yr", minutes / 525_600),
    }
}

/// Formats date and time in the local time zone: `14 Mar 2026 09:12`.
#[must_use]
pub fn date(time: Timestamp) -> Printable {
    let time = time.to_zoned(TimeZone::system());
    Printable::compose(format_args!("{}", time.strftime("%-d %b %Y %H:%M")))
}

/// Formats the time of day in the local time zone: `09:12:04`.
#[must_use]
pub fn clock(time: Timestamp) -> Printable {
    Printable::compose(format_args!("{}", time.to_zoned(TimeZone::system()).strftime("%H:%M:%S")))
}

/// Formats an amount: `$0.42`, with more digits for small amounts.
#[must_use]
pub fn usd(amount: f64) -> Printable {
    if amount.abs() < 0.1 { printable!("${:.4}", amount) } else { printable!("${:.2}", amount) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words() {
        assert_eq!(
            [0, 999, 1_000, 48_230, 999_499, 999_500, 123_456_789, 5_000_000_000].map(count),
            ["0", "999", "1.0k", "48.2k", "999k", "1.0M", "123M", "5.0G"]
        );
        let ms = SignedDuration::from_millis;
        assert_eq!(
            [12, 340, 3_449, 271_000, 7_500_000, 200_000_000].map(|n| duration(ms(n))),
            ["12ms", "0.3s", "3.4s", "4m 31s", "2h 05m", "2d 07h"]
        );
        assert_eq!(
            [4_200, 751_000, 3_723_000].map(|n| offset(ms(n))),
            ["0:04", "12:31", "1:02:03"]
        );
        assert_eq!(
            [5, 300, 9_000, 200_000, 4_000_000, 90_000_000]
                .map(|s| age(SignedDuration::from_secs(s))),
            ["now", "5 min", "2 h", "2 d", "6 wk", "2 yr"]
        );
        assert_eq!((things(1, "call"), things(0, "call")), ("1 call".into(), "0 calls".into()));
        assert_eq!(
            (things(2, "trajectory"), things(2, "day")),
            ("2 trajectories".into(), "2 days".into())
        );
        assert_eq!((usd(0.0123), usd(4.2)), ("$0.0123".into(), "$4.20".into()));
    }
}
