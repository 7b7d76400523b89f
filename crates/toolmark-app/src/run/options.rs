//! Values of the options of `toolmark run`.

use std::time::Duration;
use toolmark_grade::run_plan::{Isolation, KeepFiles};
use toolmark_match::units;
use toolmark_outcome::PassRule;

/// Form that the value of an option must have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct OptionError(&'static str);

/// Reads how many trials must pass.
///
/// # Errors
///
/// If the text has another form.
pub fn rule(text: &str) -> Result<PassRule, OptionError> {
    PassRule::parse(text).ok_or(OptionError("write all, any, a number, or a share such as 80%"))
}

/// Reads a time.
///
/// # Errors
///
/// If the text has another form.
pub fn time(text: &str) -> Result<Duration, OptionError> {
    let parsed = units::Duration::parse(text).map(|time| time.millis / 1000.0);
    let parsed = parsed.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    parsed.filter(|time| !time.is_zero()).ok_or(OptionError("write a time such as 90s or 10m"))
}

/// Reads an amount of US dollars.
///
/// # Errors
///
/// If the text has another form.
pub fn money(text: &str) -> Result<f64, OptionError> {
    let amount = text.trim_start_matches('$').parse::<f64>().ok();
    amount
        .filter(|usd| usd.is_finite() && *usd >= 0.0)
        .ok_or(OptionError("write an amount such as 2.50"))
}

/// Reads an isolation.
///
/// # Errors
///
/// If the text has another form.
pub fn isolation(text: &str) -> Result<Isolation, OptionError> {
    Isolation::from_word(text).ok_or(OptionError("one of none, copy, bwrap"))
}

/// Reads when workspaces are kept.
///
/// # Errors
///
/// If the text has another form.
pub fn keep(text: &str) -> Result<KeepFiles, OptionError> {
    KeepFiles::from_word(text).ok_or(OptionError("one of never, failure, always"))
}
