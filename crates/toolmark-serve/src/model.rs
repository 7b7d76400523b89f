//! Session types of the API. The OpenAPI document is generated from these types.

use jiff::Timestamp;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;

/// A time, formatted as RFC 3339 in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Time(pub Timestamp);

impl Time {
    /// Returns the time in milliseconds since 1970.
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
#[schemars(rename = "Page_for_{T}")]
pub(crate) struct ListPage<T> {
    /// The rows.
    pub items: Vec<T>,
    /// Value of `cursor` for the next page; null on the last one.
    pub next: Option<String>,
    /// Total number of rows.
    pub total: u64,
}

/// One axis of the scorecard.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Axis {
    /// Number of correct opportunities; half points count.
    pub good: f64,
    /// Number of opportunities.
    pub total: u64,
    /// Share of correct opportunities; null without opportunities.
    pub score: Option<f64>,
    /// Lower bound of the 95 % interval.
    pub low: Option<f64>,
    /// Upper bound of the 95 % interval.
    pub high: Option<f64>,
}

/// The four axes of the scorecard.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Axes {
    /// Tool selection.
    pub selection: Axis,
    /// Arguments.
    pub arguments: Axis,
    /// Irreversible effects.
    pub irreversibility: Axis,
    /// Recovery from errors.
    pub recovery: Axis,
}

/// Token counts, as far as they are recorded.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
pub(crate) struct TokenCount {
    /// Total.
    pub total: Option<u64>,
    /// Input tokens without cached ones.
    pub input: Option<u64>,
    /// Output tokens.
    pub output: Option<u64>,
    /// Tokens read from and written to caches.
    pub cache: Option<u64>,
}

/// Number of findings by severity.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
pub(crate) struct FindingCount {
    /// Errors.
    pub error: u64,
    /// Warnings.
    pub warning: u64,
    /// Notes.
    pub note: u64,
}

/// Data source of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "Source")]
pub(crate) enum SessionSource {
    /// Session file.
    #[default]
    File,
    /// Telemetry.
    Otlp,
    /// Both; the file takes precedence.
    Both,
}

/// A session in a list.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub(crate) struct SessionRow {
    /// ID in addresses.
    pub id: String,
    /// Data source.
    pub source: SessionSource,
    /// Host of the tools.
    pub host: Option<String>,
    /// Name of the agent.
    pub agent: Option<String>,
    /// Version of the agent.
    pub version: Option<String>,
    /// Name of the model.
    pub model: Option<String>,
    /// Working directory.
    pub project: Option<String>,
    /// Path of the session file.
    pub path: Option<String>,
    /// Start of the first user message.
    pub request: Option<String>,
    /// Start time.
    pub started: Option<Time>,
    /// Time of the last event.
    pub ended: Option<Time>,
    /// Whether the session was written to recently.
    #[serde(default)]
    pub live: bool,
    /// Number of user turns.
    pub turns: u64,
    /// Number of model responses.
    pub steps: u64,
    /// Number of calls; null if they are not recorded.
    pub calls: Option<u64>,
    /// Number of failed calls.
    pub failed: Option<u64>,
    /// Number of denied calls.
    pub denied: Option<u64>,
    /// Token counts.
    pub tokens: TokenCount,
    /// Cost in US dollars.
    pub cost_usd: Option<f64>,
    /// Duration in milliseconds.
    pub duration_ms: Option<u64>,
    /// The scorecard.
    pub axes: Axes,
    /// Number of findings.
    pub findings: FindingCount,
    /// Differences between telemetry and file.
    #[serde(default)]
    pub gap: Option<String>,
    /// Time of the evaluation.
    pub evaluated_at: Option<Time>,
    /// `fail`, `warn`, `ok` or `unknown`.
    pub verdict: String,
}
