//! Settings of a policy for tool servers and for the decision log.

use super::words::WordRead;
use crate::audit;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::{Deserializer, Error, Visitor};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::env;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;
use toolmark_config::{Problem, Spanned, quoted};
use toolmark_shell::Decision;

/// Number of calls per time: `60/min`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallRate {
    /// Number of calls.
    pub calls: u32,
    /// Time period.
    pub per: Duration,
}

/// Reason why a text is not a [`CallRate`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RateError {
    /// The text is not a number and a time.
    #[error("write a number of calls and a time: 10/s, 60/min, 1000/h")]
    Syntax,
    /// The number is 0.
    #[error("for no calls at all, deny the tool instead")]
    Zero,
}

impl FromStr for CallRate {
    type Err = RateError;

    fn from_str(text: &str) -> Result<Self, RateError> {
        let (calls, unit) = text.split_once('/').ok_or(RateError::Syntax)?;
        let calls: u32 = calls.trim().parse().map_err(|_| RateError::Syntax)?;
        let per = match unit.trim() {
            "s" | "sec" | "second" => 1,
            "m" | "min" | "minute" => 60,
            "h" | "hour" => 3600,
            "d" | "day" => 86_400,
            _ => return Err(RateError::Syntax),
        };
        match calls {
            0 => Err(RateError::Zero),
            calls => Ok(Self { calls, per: Duration::from_secs(per) }),
        }
    }
}

/// A rate as text. The error for a plain number does not suggest quotes.
#[derive(Debug)]
struct RateText(String);

impl<'de> Deserialize<'de> for RateText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct LimitText;
        impl Visitor<'_> for LimitText {
            type Value = RateText;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a rate, such as 60/min")
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<RateText, E> {
                Ok(RateText(text.to_owned()))
            }
        }
        deserializer.deserialize_str(LimitText)
    }
}

impl JsonSchema for CallRate {
    fn schema_name() -> Cow<'static, str> {
        "GuardRate".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A number of calls and a time, such as 60/min.",
            "type": "string",
            "pattern": "^\\s*\\+?0*[1-9][0-9]*\\s*/\\s*(s|sec|second|m|min|minute|h|hour|d|day)\\s*$",
        })
    }
}

impl CallRate {
    /// Whether the limit is reached sooner than another.
    fn is_stricter(self, other: Self) -> bool {
        let in_a = |rate: Self, other: Self| u128::from(rate.calls) * other.per.as_millis();
        in_a(self, other) < in_a(other, self)
    }
}

/// Limits for tool servers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct McpLimits {
    /// Maximum call rate of all tools together.
    pub rate: Option<CallRate>,
    /// Maximum call rate of single tools, by name or glob.
    pub tools: BTreeMap<String, CallRate>,
    /// Decision when a tool definition has changed since it was first seen.
    pub changed: Option<Decision>,
}

/// Location of the decision log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogLocation {
    /// Path of the file.
    pub path: Option<String>,
    /// Size in bytes at which a new file is begun.
    pub max_size: Option<u64>,
}

impl LogLocation {
    /// Returns the path of the log: the environment takes precedence over the policy.
    ///
    /// # Errors
    ///
    /// Neither the policy nor the environment sets a path.
    pub fn place(&self) -> io::Result<Option<PathBuf>> {
        let is_named = env::var_os(audit::VARIABLE).is_some_and(|path| !path.is_empty());
        match self.path.as_deref().filter(|_| !is_named) {
            Some("off") => Ok(None),
            Some(path) => Ok(Some(path.into())),
            None => audit::place(|name| env::var_os(name)),
        }
    }

    /// Returns the limits on the size of the log.
    #[must_use]
    pub fn limits(&self) -> audit::AuditLimits {
        let usual = audit::AuditLimits::default();
        audit::AuditLimits { size: self.max_size.unwrap_or(usual.size), ..usual }
    }
}

/// Limits for MCP servers.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "GuardMcp")]
pub(super) struct WrittenMcp {
    /// Maximum call rate of all tools together.
    #[schemars(with = "Option<CallRate>")]
    rate: Option<Spanned<RateText>>,
    /// Maximum call rate of single tools, by name or glob.
    #[schemars(with = "BTreeMap<String, CallRate>")]
    tools: BTreeMap<String, Spanned<RateText>>,
    /// Decision when a tool definition has changed.
    changed: Option<WordRead<Decision>>,
}

/// Location of the decision log.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "GuardLog")]
pub(super) struct WrittenLog {
    /// The file.
    path: Option<Spanned<String>>,
    /// The size at which a new file is begun, such as 10MB.
    max_size: Option<Spanned<String>>,
}

impl McpLimits {
    pub(super) fn read(written: WrittenMcp, problems: &mut Vec<Problem>) -> Self {
        let mut rate = |text: Spanned<RateText>| match text.value.0.parse::<CallRate>() {
            Ok(rate) => Some(rate),
            Err(error) => {
                let message = format!("{} is not a rate", quoted(&text.value.0));
                let problem = Problem::error("invalid-rate", message).at(text.span);
                problems.push(problem.help(error.to_string()));
                None
            }
        };
        let tools = written.tools.into_iter();
        Self {
            rate: written.rate.and_then(&mut rate),
            tools: tools.filter_map(|(tool, text)| Some((tool, rate(text)?))).collect(),
            changed: written.changed.map(|changed| changed.0),
        }
    }

    /// Applies the stricter settings of another file.
    pub(super) fn tightened(mut self, other: &Self) -> Self {
        let stricter = |mine: Option<CallRate>, theirs: Option<CallRate>| match (mine, theirs) {
            (Some(mine), Some(theirs)) if !theirs.is_stricter(mine) => Some(mine),
            (mine, None) => mine,
            (_, theirs) => theirs,
        };
        self.rate = stricter(self.rate, other.rate);
        for (tool, rate) in &other.tools {
            let mine = self.tools.get(tool).copied();
            if let Some(rate) = stricter(mine, Some(*rate)) {
                self.tools.insert(tool.clone(), rate);
            }
        }
        self.changed = self.changed.max(other.changed.filter(|changed| {
            // Unless the user's policy says otherwise, a change is asked about.
            *changed > self.changed.unwrap_or(Decision::Ask)
        }));
        self
    }
}

impl LogLocation {
    pub(super) fn read(written: WrittenLog, problems: &mut Vec<Problem>) -> Self {
        let mut wrong = |text: &Spanned<String>, message: String, help: &str| {
            problems.push(Problem::error("invalid-log", message).at(text.span).help(help));
        };
        let path = written.path.filter(|path| {
            let good = !path.value.trim().is_empty();
            if !good {
                wrong(path, "the path is empty".to_owned(), "name a file, or remove the key");
            }
            good
        });
        let max_size = written.max_size.and_then(|text| {
            let size = bytes(&text.value);
            if size.is_none() {
                let message = format!("{} is not a size", quoted(&text.value));
                wrong(&text, message, "write a number and a unit: 500kB, 10MB, 1GB");
            }
            size
        });
        Self { path: path.map(|path| path.value), max_size }
    }
}

/// Parses a size such as `10MB`.
fn bytes(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let number: u64 = text.get(..digits)?.parse().ok()?;
    let unit = match text.get(digits..)?.trim().to_ascii_lowercase().as_str() {
        "b" | "" => 1,
        "k" | "kb" => 1000,
        "kib" => 1 << 10,
        "m" | "mb" => 1_000_000,
        "mib" => 1 << 20,
        "g" | "gb" => 1_000_000_000,
        "gib" => 1 << 30,
        _ => return None,
    };
    number.checked_mul(unit).filter(|size| *size > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates() {
        for (text, calls, seconds) in [("60/min", 60, 60), ("10/s", 10, 1), ("5 / hour", 5, 3600)] {
            let want = CallRate { calls, per: Duration::from_secs(seconds) };
            assert_eq!(text.parse(), Ok(want), "{text}");
        }
        for text in ["60", "0/min", "-1/s", "10/fortnight", "/s", ""] {
            assert!(text.parse::<CallRate>().is_err(), "{text}");
        }
    }

    #[test]
    fn sizes() {
        for (text, want) in [
            ("10MB", Some(10_000_000)),
            ("1 MiB", Some(1 << 20)),
            ("500", Some(500)),
            ("0", None),
            ("99999999999GB", None),
            ("ten", None),
        ] {
            assert_eq!(bytes(text), want, "{text}");
        }
    }

    #[test]
    fn another_file_may_only_tighten() {
        let rate = |text: &str| Some(text.parse::<CallRate>().unwrap());
        let user = McpLimits { rate: rate("60/min"), ..McpLimits::default() };
        for (theirs, want) in [("10/min", "10/min"), ("2/s", "60/min"), ("1000/day", "1000/day")] {
            let project = McpLimits { rate: rate(theirs), ..McpLimits::default() };
            assert_eq!(user.clone().tightened(&project).rate, rate(want), "{theirs}");
        }
        for (mine, theirs, want) in [
            (None, Some(Decision::Allow), None),
            (None, Some(Decision::Deny), Some(Decision::Deny)),
            (Some(Decision::Allow), Some(Decision::Allow), Some(Decision::Allow)),
            (Some(Decision::Allow), Some(Decision::Ask), Some(Decision::Ask)),
            (Some(Decision::Deny), Some(Decision::Ask), Some(Decision::Deny)),
        ] {
            let of = |changed| McpLimits { changed, ..McpLimits::default() };
            assert_eq!(of(mine).tightened(&of(theirs)).changed, want, "{mine:?} {theirs:?}");
        }
    }
}
