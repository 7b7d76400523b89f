//! Parses times in traces: ISO text with or without zone, or a number of seconds,
//! milliseconds, microseconds or nanoseconds since 1970. The zero that a program writes for a
//! missing time, the year 1 or the first second of 1970, is treated as missing.

use jiff::{SignedDuration, Timestamp};
use toolmark_scan::{JsonKind, Value};

/// Parses a time from text or number; a text without a zone is treated as UTC.
#[must_use]
pub fn from_value(value: Value<'_>) -> Option<Timestamp> {
    match value.kind() {
        JsonKind::String => {
            let raw = value.inner()?;
            from_text(raw).or_else(|| from_count(raw))
        }
        JsonKind::Number => from_count(value.raw()),
        JsonKind::Array => {
            let mut parts = value.items();
            let (seconds, nanos) = (parts.next()?.as_i64()?, parts.next()?.as_i64()?);
            Timestamp::new(seconds, i32::try_from(nanos).ok()?).ok()
        }
        _ => None,
    }
}

/// Parses an ISO 8601 time.
#[must_use]
pub fn from_text(text: &str) -> Option<Timestamp> {
    let time = from_plain_utc(text.as_bytes()).or_else(|| from_any_text(text.trim()))?;
    (time.as_second() >= YEAR_2 && time != Timestamp::UNIX_EPOCH).then_some(time)
}

/// First second of the year 2. Zero times of Go, .NET and Java are in the year 1.
const YEAR_2: i64 = -62_104_060_800;

fn from_any_text(text: &str) -> Option<Timestamp> {
    if let Ok(time) = text.parse::<Timestamp>() {
        return Some(time);
    }
    let civil: jiff::civil::DateTime = text.trim_end_matches(" UTC").parse().ok()?;
    civil.to_zoned(jiff::tz::TimeZone::UTC).ok().map(|z| z.timestamp())
}

/// Parses a count since 1970 whose unit follows from its size. Works on decimal digits, because
/// a float is too imprecise even for milliseconds.
#[must_use]
pub fn from_count(text: &str) -> Option<Timestamp> {
    if text.contains(['e', 'E']) {
        return from_count(&text.parse::<f64>().ok()?.to_string());
    }
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let sign = if whole.starts_with('-') { -1 } else { 1 };
    let whole: i128 = whole.parse().ok()?;
    // How many digits of a unit nanoseconds are.
    let digits = match whole.unsigned_abs() {
        n if n < 100_000_000 => return None,
        n if n < 100_000_000_000 => 9,
        n if n < 100_000_000_000_000 => 6,
        n if n < 100_000_000_000_000_000 => 3,
        _ => 0,
    };
    let fraction = fraction.bytes().chain(std::iter::repeat(b'0'));
    let nanos = fraction.take(digits).try_fold(whole, |nanos, digit| {
        let digit = digit.is_ascii_digit().then(|| i128::from(digit - b'0'))?;
        nanos.checked_mul(10)?.checked_add(sign * digit)
    });
    from_nanos(nanos?)
}

/// Converts exact nanoseconds since 1970, for which a float would lose digits.
#[must_use]
pub fn from_nanos(nanos: i128) -> Option<Timestamp> {
    Timestamp::from_nanosecond(nanos).ok()
}

/// Converts a duration in milliseconds; `None` if it is negative or too large.
#[must_use]
pub fn millis(ms: f64) -> Option<SignedDuration> {
    (ms.is_finite() && (0.0..1e13).contains(&ms))
        .then(|| SignedDuration::from_nanos((ms * 1e6).round() as i64))
}

/// Powers of ten, indexed by exponent.
const POWERS: [i32; 9] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];

/// Parses the form that nearly every trace uses, `2026-01-31T23:59:59.123Z`, without a general
/// parser: this function runs for every record.
fn from_plain_utc(text: &[u8]) -> Option<Timestamp> {
    let (to_second, rest) = text.split_first_chunk::<19>()?;
    let fraction = rest.strip_suffix(b"Z")?;
    let [y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2, b'T', h1, h2, b':', i1, i2, b':', s1, s2] =
        *to_second
    else {
        return None;
    };
    // All digits are checked at once.
    let mut others = 0;
    let mut two = |tens: u8, ones: u8| {
        let (tens, ones) = (tens.wrapping_sub(b'0'), ones.wrapping_sub(b'0'));
        others |= u8::from(tens > 9) | u8::from(ones > 9);
        i64::from(tens) * 10 + i64::from(ones)
    };
    let year = two(y1, y2) * 100 + two(y3, y4);
    let (month, day) = (two(m1, m2), two(d1, d2));
    let (hour, minute, second) = (two(h1, h2), two(i1, i2), two(s1, s2));
    if others != 0 || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    // The general parser knows how long a month is and what a leap second is.
    if hour > 23 || minute > 59 || second > 59 || day > 28 && (month == 2 || day == 31) {
        return None;
    }
    let nanos = match fraction {
        [] => 0,
        [b'.', digits @ ..] if (1..=9).contains(&digits.len()) => {
            let mut value = 0i32;
            for d in digits {
                value = value * 10 + i32::from(d.is_ascii_digit().then(|| d - b'0')?);
            }
            value * POWERS[9 - digits.len()]
        }
        _ => return None,
    };
    // Days since 1970 of a civil date (Hinnant's algorithm).
    let y = if month <= 2 { year - 1 } else { year };
    let era = y.div_euclid(400);
    let year_of_era = y.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    let days = era * 146_097 + day_of_era - 719_468;
    Timestamp::new(days * 86_400 + hour * 3_600 + minute * 60 + second, nanos).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use toolmark_scan::Scanner;

    #[test]
    fn forms() {
        let want: Timestamp = "2026-01-31T23:59:59.5Z".parse().unwrap();
        for text in
            ["2026-01-31T23:59:59.5Z", "2026-01-31T23:59:59.500000", "2026-02-01T00:59:59.5+01:00"]
        {
            assert_eq!(from_text(text), Some(want), "{text}");
        }
        for number in ["1769903999.5", "1769903999500", "1769903999500000.0", "1.7699039995e9"] {
            assert_eq!(from_count(number), Some(want), "{number}");
        }
        let before: Timestamp = "1960-01-01T00:00:00.75Z".parse().unwrap();
        assert_eq!(from_count("-315619199.25"), Some(before));
        assert_eq!(from_text("yesterday"), None);
        for zero in [
            "0001-01-01T00:00:00Z",
            "0001-01-01T00:00:00",
            "0001-01-01T00:00:00.0000000+00:00",
            "1970-01-01T00:00:00Z",
            "1970-01-01T00:00:00.000+00:00",
        ] {
            assert_eq!(from_text(zero), None, "{zero}");
        }
        for nothing in ["5", "0", "", "x", "1769903999.5x", "1e300", "NaN"] {
            assert_eq!(from_count(nothing), None, "{nothing}");
        }
    }

    #[test]
    fn numbers_keep_their_digits() {
        let mut scanner = Scanner::new();
        let mut at = |text: &str| {
            let time = from_value(scanner.parse(text).unwrap().root());
            time.map(|t| t.as_nanosecond())
        };
        assert_eq!(at("\"1786724979550236001\""), Some(1_786_724_979_550_236_001));
        assert_eq!(at("1786724979550236001"), Some(1_786_724_979_550_236_001));
        assert_eq!(at("1786724979550236"), Some(1_786_724_979_550_236_000));
        assert_eq!(at("[1785778722, 906000001]"), Some(1_785_778_722_906_000_001));
        assert_eq!(at("\"2026-01-31T00:00:00Z\""), Some(1_769_817_600_000_000_000));
        assert_eq!(at(&i128::MIN.to_string()), None);
        assert_eq!(at("0"), None);
        assert_eq!(at("{}"), None);
    }
    proptest! {
        #[test]
        fn the_short_way_equals_the_long_one(seconds in 1i64..4_000_000_000, ms in 0i32..1000) {
            let want = Timestamp::new(seconds, ms * 1_000_000).unwrap();
            let text = want.to_string();
            prop_assert_eq!(from_text(&text), Some(want));
            let count = want.as_millisecond();
            if count >= 100_000_000_000 {
                prop_assert_eq!(from_count(&count.to_string()), Some(want));
            }
            if let Some(fast) = from_plain_utc(text.as_bytes()) {
                prop_assert_eq!(fast, want);
            }
        }
    }
}
