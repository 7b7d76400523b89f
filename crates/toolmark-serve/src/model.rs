//! What the API says about sessions. These types are the source of its OpenAPI document.

use jiff::Timestamp;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;

/// A time, written as RFC 3339 in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Time(pub Timestamp);

impl Time {
    /// The time so many milliseconds after 1970.
    #[must_use]
    pub(crate) fn from_millisecond(milliseconds: i64) -> Option<Self> {
        Timestamp::from_millisecond(milliseconds).ok().map(Self)
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        text.parse().map(Self).map_err(D::Error::custom)
    }
}

impl JsonSchema for Time {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Time".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "format": "date-time"})
    }
}

/// A page of a list.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Page<T> {
    /// The rows.
    pub items: Vec<T>,
    /// What to send as `cursor` for the next page; null on the last.
    pub next: Option<String>,
    /// How many rows there are in all.
    pub total: u64,
}

/// One axis of the scorecard.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Axis {
    /// How much of it was right; half points count.
    pub good: f64,
    /// How many opportunities there were.
    pub total: u64,
    /// The share; null where there was no opportunity.
    pub score: Option<f64>,
    /// The lower end of the 95 % interval.
    pub low: Option<f64>,
    /// The upper end of the 95 % interval.
    pub high: Option<f64>,
}

/// The four axes.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Axes {
    /// The right tool.
    pub selection: Axis,
    /// The right arguments.
    pub arguments: Axis,
    /// Nothing lost for good.
    pub irreversibility: Axis,
    /// The right move after an error.
    pub recovery: Axis,
}

/// Tokens, as far as they are recorded.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
pub(crate) struct TokenCount {
    /// All of them.
    pub total: Option<u64>,
    /// What was read, caches left out.
    pub input: Option<u64>,
    /// What was written.
    pub output: Option<u64>,
    /// What was read from caches and written to them.
    pub cache: Option<u64>,
}

/// How many findings of each severity.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
pub(crate) struct FindingCount {
    /// Errors.
    pub error: u64,
    /// Warnings.
    pub warning: u64,
    /// Notes.
    pub note: u64,
}

/// Where the data of a session come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Source {
    /// Its file.
    #[default]
    File,
    /// Telemetry.
    Otlp,
    /// Both; the file decides.
    Both,
}

/// A session in a list.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub(crate) struct SessionRow {
    /// Its id, as addresses have it.
    pub id: String,
    /// Where its data come from.
    pub source: Source,
    /// The host whose tools it has.
    pub host: Option<String>,
    /// The agent.
    pub agent: Option<String>,
    /// The agent's version.
    pub version: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// The directory it works in.
    pub project: Option<String>,
    /// Its file.
    pub path: Option<String>,
    /// The first words of the user.
    pub request: Option<String>,
    /// When it started.
    pub started: Option<Time>,
    /// When the last thing happened in it.
    pub ended: Option<Time>,
    /// Was it written to just now?
    #[serde(default)]
    pub live: bool,
    /// How many turns of the user.
    pub turns: u64,
    /// How many model responses.
    pub steps: u64,
    /// How many calls; null where they are not recorded.
    pub calls: Option<u64>,
    /// How many of them failed.
    pub failed: Option<u64>,
    /// How many of them were refused.
    pub denied: Option<u64>,
    /// Its tokens.
    pub tokens: TokenCount,
    /// What it cost.
    pub cost_usd: Option<f64>,
    /// How long it took.
    pub duration_ms: Option<u64>,
    /// The scorecard.
    pub axes: Axes,
    /// Its findings.
    pub findings: FindingCount,
    /// What telemetry and file disagree on.
    #[serde(default)]
    pub gap: Option<String>,
    /// When it was evaluated.
    pub evaluated_at: Option<Time>,
    /// `fail`, `warn`, `ok` or `unknown`.
    pub verdict: String,
}
