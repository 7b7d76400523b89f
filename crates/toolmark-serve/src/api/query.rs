//! Query parameters shared by several endpoints.

use super::ApiError;
use axum::extract::{FromRequestParts, Path, Query};
use axum::http::request::Parts;
use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// Query parameters; errors have the format of all API errors.
pub(super) struct Params<T>(pub(super) T);

impl<S: Sync, T: DeserializeOwned> FromRequestParts<S> for Params<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let query = Query::try_from_uri(&parts.uri);
        query.map(|Query(query)| Self(query)).map_err(|error| ApiError::invalid(error.body_text()))
    }
}

/// Path parameters; errors have the format of all API errors.
pub(super) struct InPath<T>(pub(super) T);

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for InPath<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let path = Path::from_request_parts(parts, state).await;
        path.map(|Path(path)| Self(path)).map_err(|error| ApiError::invalid(error.body_text()))
    }
}

/// Default number of rows.
const DEFAULT_LIMIT: u32 = 200;

/// Maximum number of rows.
const MAX_LIMIT: u32 = 1000;

/// Page of a list.
#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct Paging {
    limit: Option<u32>,
    cursor: Option<String>,
}

impl Paging {
    pub(crate) fn new(limit: Option<u32>, cursor: Option<String>) -> Self {
        Self { limit, cursor }
    }

    /// Maximum number of rows.
    pub(crate) fn limit(&self) -> u32 {
        self.limit.unwrap_or(DEFAULT_LIMIT).clamp(1, MAX_LIMIT)
    }

    /// Number of rows before the page.
    pub(crate) fn offset(&self) -> Result<u64, ApiError> {
        match self.cursor.as_deref().filter(|cursor| !cursor.is_empty()) {
            None => Ok(0),
            Some(cursor) => match cursor.parse::<u32>() {
                Ok(offset) => Ok(offset.into()),
                Err(_) => Err(ApiError::invalid("`cursor` is not one of ours")),
            },
        }
    }

    /// Returns the cursor of the next page, after `shown` rows of `total`.
    pub(crate) fn next(&self, shown: usize, total: u64) -> Result<Option<String>, ApiError> {
        let end = self.offset()? + shown as u64;
        Ok((end < total && shown > 0).then(|| end.to_string()))
    }
}

/// Parses a time or an age: `2026-11-01T00:00:00Z`, `2026-11-01`, `7d`, `24h`.
pub(crate) fn moment(text: Option<&str>, now: Timestamp) -> Result<Option<Timestamp>, ApiError> {
    let Some(text) = text.filter(|text| !text.is_empty()) else { return Ok(None) };
    let of_day = || -> Option<Timestamp> {
        let day: jiff::civil::Date = text.parse().ok()?;
        Some(day.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp())
    };
    let ago = || now.checked_sub(duration(text)?).ok();
    let time = text.parse().ok().or_else(of_day).or_else(ago);
    time.map(Some).ok_or_else(|| {
        ApiError::invalid(format!("`{text}` is neither a time nor a duration"))
            .hint("write 2026-11-01T00:00:00Z, 2026-11-01, 7d or 24h")
    })
}

/// Parses a duration with one unit: `90d`, `24h`, `30m`, `45s`, `2w`.
pub fn duration(text: &str) -> Option<SignedDuration> {
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let seconds = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 60 * 60,
        "d" => 24 * 60 * 60,
        "w" => 7 * 24 * 60 * 60,
        _ => return None,
    };
    let number: i64 = number.parse().ok().filter(|number| *number >= 0)?;
    Some(SignedDuration::from_secs(number.checked_mul(seconds)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_durations() {
        let now: Timestamp = "2026-11-17T12:00:00Z".parse().unwrap();
        for (text, want) in [
            ("7d", "2026-11-10T12:00:00Z"),
            ("24h", "2026-11-16T12:00:00Z"),
            ("2026-11-01", "2026-11-01T00:00:00Z"),
            ("2026-11-01T01:00:00+01:00", "2026-11-01T00:00:00Z"),
        ] {
            assert_eq!(moment(Some(text), now).unwrap(), Some(want.parse().unwrap()), "{text}");
        }
        for text in ["d", "-1d", "7 days", "99999999999999999d", "é"] {
            assert!(moment(Some(text), now).is_err(), "{text}");
        }
        assert_eq!(moment(Some(""), now).unwrap(), None);
    }
}
