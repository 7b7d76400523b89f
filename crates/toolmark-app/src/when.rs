//! Times as people type them: `yesterday`, `monday`, `2026-11-01`, `3d`.

use jiff::civil::{Date, DateTime, Weekday};
use jiff::{Span, SpanRelativeTo, Timestamp, ToSpan, Unit, Zoned};
use std::time::SystemTime;
use thiserror::Error;

/// Reason why a text is not a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum TimeError {
    /// Neither a time span nor a date.
    #[error("write a time such as 12h, 7d, yesterday, monday or 2026-11-01")]
    Syntax,
    /// A span of months or years.
    #[error("months and years vary in length; write days or a date")]
    Length,
    /// A negative span.
    #[error("a time span must be more than zero")]
    Negative,
}

/// Reads the start of a period: a time span before now, or the start of a day.
///
/// # Errors
///
/// If the text is not a time.
pub fn parse_start(text: &str, now: &Zoned) -> Result<SystemTime, TimeError> {
    match parse(text, now)? {
        When::Moment(moment) => Ok(moment.into()),
        When::Day(day) => start_of(day, now),
    }
}

/// Reads the end of a period: a time span before now, or the end of a day.
///
/// # Errors
///
/// If the text is not a time.
pub fn parse_end(text: &str, now: &Zoned) -> Result<SystemTime, TimeError> {
    match parse(text, now)? {
        When::Moment(moment) => Ok(moment.into()),
        When::Day(day) => start_of(day.tomorrow().map_err(|_| TimeError::Syntax)?, now),
    }
}

enum When {
    Moment(Timestamp),
    Day(Date),
}

fn parse(text: &str, now: &Zoned) -> Result<When, TimeError> {
    let word = text.trim().to_ascii_lowercase();
    let today = now.date();
    let day = match word.as_str() {
        "today" => Some(today),
        "yesterday" => today.yesterday().ok(),
        word => weekday(word).map(|weekday| last(weekday, today)),
    };
    if let Some(day) = day {
        return Ok(When::Day(day));
    }
    if word == "now" {
        return Ok(When::Moment(now.timestamp()));
    }
    let text = text.trim();
    if let Ok(moment) = text.parse::<Timestamp>() {
        return Ok(When::Moment(moment));
    }
    if text.len() > 10
        && let Ok(moment) = text.parse::<DateTime>()
    {
        let moment = moment.to_zoned(now.time_zone().clone());
        return moment
            .map(|moment| When::Moment(moment.timestamp()))
            .map_err(|_| TimeError::Syntax);
    }
    if let Ok(day) = text.parse::<Date>() {
        return Ok(When::Day(day));
    }
    let span: Span = text.parse().map_err(|_| TimeError::Syntax)?;
    let seconds = span
        .total((Unit::Second, SpanRelativeTo::days_are_24_hours()))
        .map_err(|_| TimeError::Length)?;
    if seconds < 0.0 {
        return Err(TimeError::Negative);
    }
    let before = now.timestamp().checked_sub((seconds as i64).seconds());
    before.map(When::Moment).map_err(|_| TimeError::Syntax)
}

/// Returns the newest day with this weekday, which may be today.
fn last(weekday: Weekday, today: Date) -> Date {
    let days = today.weekday().since(weekday);
    today.checked_sub(i64::from(days).days()).unwrap_or(today)
}

fn weekday(word: &str) -> Option<Weekday> {
    const NAMES: [(&str, Weekday); 7] = [
        ("monday", Weekday::Monday),
        ("tuesday", Weekday::Tuesday),
        ("wednesday", Weekday::Wednesday),
        ("thursday", Weekday::Thursday),
        ("friday", Weekday::Friday),
        ("saturday", Weekday::Saturday),
        ("sunday", Weekday::Sunday),
    ];
    let named = NAMES.iter().find(|(name, _)| word.len() >= 3 && name.starts_with(word));
    named.map(|(_, weekday)| *weekday)
}

fn start_of(day: Date, now: &Zoned) -> Result<SystemTime, TimeError> {
    let start = day.to_zoned(now.time_zone().clone()).map_err(|_| TimeError::Syntax)?;
    Ok(start.timestamp().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A Thursday.
    fn now() -> Zoned {
        "2026-11-19T15:30:00+01:00[Europe/Berlin]".parse().unwrap()
    }

    #[test]
    fn times_that_people_type() {
        for (text, start, end) in [
            ("12h", "2026-11-19T02:30:00Z", "2026-11-19T02:30:00Z"),
            ("7d", "2026-11-12T14:30:00Z", "2026-11-12T14:30:00Z"),
            ("2w", "2026-11-05T14:30:00Z", "2026-11-05T14:30:00Z"),
            ("1d 1h", "2026-11-18T13:30:00Z", "2026-11-18T13:30:00Z"),
            ("now", "2026-11-19T14:30:00Z", "2026-11-19T14:30:00Z"),
            ("today", "2026-11-18T23:00:00Z", "2026-11-19T23:00:00Z"),
            ("Yesterday", "2026-11-17T23:00:00Z", "2026-11-18T23:00:00Z"),
            ("monday", "2026-11-15T23:00:00Z", "2026-11-16T23:00:00Z"),
            ("thu", "2026-11-18T23:00:00Z", "2026-11-19T23:00:00Z"),
            ("2026-11-01", "2026-10-31T23:00:00Z", "2026-11-01T23:00:00Z"),
            // The day on which summer time ends has 25 hours.
            ("2026-10-25", "2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z"),
            ("2026-11-01T10:00", "2026-11-01T09:00:00Z", "2026-11-01T09:00:00Z"),
            ("2026-11-01T10:00:00Z", "2026-11-01T10:00:00Z", "2026-11-01T10:00:00Z"),
        ] {
            let time = |text: &str| SystemTime::from(text.parse::<Timestamp>().unwrap());
            assert_eq!(parse_start(text, &now()), Ok(time(start)), "start of {text}");
            assert_eq!(parse_end(text, &now()), Ok(time(end)), "end of {text}");
        }
    }

    #[test]
    fn other_texts_are_errors() {
        for text in ["", "7", "soon", "-1d", "-3d", "1mo", "mo", "2026-13-01", "tomorrow"] {
            assert!(parse_start(text, &now()).is_err(), "{text}");
        }
    }
}
