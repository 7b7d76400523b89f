//! Parses dates in the many notations used in answers.

use jiff::civil::Date;
use jiff::{Timestamp, tz::TimeZone};

/// Order of day and month.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DateOrder {
    /// Month first: 12/31/2025.
    MonthFirst,
    /// Day first: 31/12/2025.
    DayFirst,
    /// Either, whichever is possible; month first if both are.
    Either,
}

impl DateOrder {
    /// Returns the order implied by the formats of a configuration.
    pub(super) fn of(formats: &[String]) -> Self {
        let has = |words: [&str; 2]| formats.iter().any(|f| words.iter().any(|w| f.contains(w)));
        match (has(["MM/DD", "MM-DD"]), has(["DD/MM", "DD-MM"])) {
            (true, false) => Self::MonthFirst,
            (false, true) => Self::DayFirst,
            _ => Self::Either,
        }
    }
}

/// Parses a date: `2025-01-15`, with or without a time, `15-JAN-2025`,
/// `15 January 2025`, `January 15, 2025`, `01/15/2025` or `15-01-2025`.
pub(super) fn day(text: &str, order: DateOrder) -> Option<Date> {
    let text = text.trim();
    iso(text).or_else(|| named(text)).or_else(|| numbered(text, order))
}

fn iso(text: &str) -> Option<Date> {
    if let Ok(time) = text.parse::<Timestamp>() {
        return Some(time.to_zoned(TimeZone::UTC).date());
    }
    let day = text.get(..10)?;
    let is_date = day.bytes().enumerate().all(|(n, b)| match n {
        4 | 7 => b == b'-',
        _ => b.is_ascii_digit(),
    });
    let ends = text.as_bytes().get(10).is_none_or(|b| matches!(b, b'T' | b't' | b' '));
    if is_date && ends { day.parse().ok() } else { None }
}

fn named(text: &str) -> Option<Date> {
    let parts: Vec<&str> = text.split([' ', '-', ',']).filter(|part| !part.is_empty()).collect();
    let [a, b, year] = parts[..] else { return None };
    let (day, month) = match (month(a), month(b)) {
        (Some(month), None) => (b, month),
        (None, Some(month)) => (a, month),
        _ => return None,
    };
    Date::new(whole(year, 4)? as i16, month, whole(day, 2)? as i8).ok()
}

fn month(word: &str) -> Option<i8> {
    const MONTHS: [&str; 12] = [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    let word = word.trim_end_matches('.').to_ascii_lowercase();
    let is_short = word.len() == 3 || word == "sept";
    let fits = |name: &&str| **name == word || (is_short && name.starts_with(&word));
    MONTHS.iter().position(fits).map(|n| n as i8 + 1)
}

fn numbered(text: &str, order: DateOrder) -> Option<Date> {
    let parts: Vec<&str> = text.split(['/', '-']).collect();
    let [a, b, year] = parts[..] else { return None };
    let (a, b) = (whole(a, 2)?, whole(b, 2)?);
    if year.len() != 4 {
        return None;
    }
    let (day, month) = match order {
        DateOrder::MonthFirst => (b, a),
        DateOrder::DayFirst => (a, b),
        DateOrder::Either if a > 12 => (a, b),
        DateOrder::Either => (b, a),
    };
    Date::new(whole(year, 4)? as i16, month as i8, day as i8).ok()
}

/// Parses a number with at most this many digits.
fn whole(text: &str, digits: usize) -> Option<u16> {
    let is_number = !text.is_empty() && text.len() <= digits;
    if is_number && text.bytes().all(|b| b.is_ascii_digit()) { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days() {
        use DateOrder::{DayFirst, Either, MonthFirst};
        for (text, order, want) in [
            ("2025-01-15", Either, Some("2025-01-15")),
            (" 2025-01-15T23:30:00Z", Either, Some("2025-01-15")),
            ("2025-01-15T23:30:00", Either, Some("2025-01-15")),
            ("2025-01-15 23:30", Either, Some("2025-01-15")),
            ("15-JAN-2025", Either, Some("2025-01-15")),
            ("15 January 2025", Either, Some("2025-01-15")),
            ("Jan 15, 2025", Either, Some("2025-01-15")),
            ("01/15/2025", Either, Some("2025-01-15")),
            ("15/01/2025", Either, Some("2025-01-15")),
            ("02/03/2025", Either, Some("2025-02-03")),
            ("02/03/2025", DayFirst, Some("2025-03-02")),
            ("02-03-2025", MonthFirst, Some("2025-02-03")),
            ("15/01/2025", MonthFirst, None),
            ("31/02/2025", DayFirst, None),
            ("2025-13-01", Either, None),
            ("01/15/25", Either, None),
            ("soon", Either, None),
            ("", Either, None),
            ("é-é-é", Either, None),
        ] {
            let got = day(text, order).map(|day| day.to_string());
            assert_eq!(got.as_deref(), want, "{text:?} {order:?}");
        }
    }

    #[test]
    fn formats_say_which_is_the_day() {
        for (formats, order) in [
            (vec!["MM/DD/YYYY"], DateOrder::MonthFirst),
            (vec!["DD-MM-YYYY"], DateOrder::DayFirst),
            (vec!["MM/DD/YYYY", "DD/MM/YYYY"], DateOrder::Either),
            (vec![], DateOrder::Either),
        ] {
            let formats: Vec<String> = formats.into_iter().map(str::to_owned).collect();
            assert_eq!(DateOrder::of(&formats), order, "{formats:?}");
        }
    }
}
