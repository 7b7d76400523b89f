//! Changes of the findings since an earlier run, as `toolmark-compare` computes them.

use serde::Serialize;
use toolmark_outcome::{Printable, Redactor, Untrusted};

/// Comparison of the findings of this run with the baseline.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Changes<T = Untrusted> {
    /// Number of findings that are missing from the baseline, or of a kind that is now more
    /// frequent.
    pub new: u64,
    /// Number of findings that are also in the baseline.
    pub known: u64,
    /// Number of findings of the baseline that have disappeared.
    pub gone: u64,
    /// Frequency of each kind of finding, if the runs have different sessions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<KindChange<T>>,
}

/// Trend of a kind of finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingTrend {
    /// Not found before.
    New,
    /// More frequent per opportunity, beyond noise.
    More,
    /// Less frequent per opportunity, beyond noise.
    Fewer,
    /// No longer found.
    Gone,
    /// Any difference may be noise.
    Same,
}

impl FindingTrend {
    /// Returns the word used in every output.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::More => "more",
            Self::Fewer => "fewer",
            Self::Gone => "gone",
            Self::Same => "same",
        }
    }
}

/// Frequency of a kind of finding in both runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KindChange<T = Untrusted> {
    /// Trend.
    pub trend: FindingTrend,
    /// Code of the rule.
    pub code: T,
    /// Name of the tool.
    pub tool: T,
    /// Bucket of the findings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bucket: Option<T>,
    /// Frequency in the earlier run.
    pub before: RuleCounts,
    /// Frequency in this run.
    pub now: RuleCounts,
    /// Increase of the rate per opportunity, if both runs have opportunities.
    pub difference: Option<f64>,
    /// 95 % interval of the difference (Newcombe).
    pub interval: Option<(f64, f64)>,
    /// Probability of a difference of this size if nothing has changed (Fisher, exact).
    pub p: Option<f64>,
}

/// Findings and opportunities of one rule.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct RuleCounts {
    /// Number of findings.
    pub found: u64,
    /// Number of opportunities.
    pub of: u64,
}

impl RuleCounts {
    /// Returns the frequency. A call with two findings of a kind is one opportunity.
    #[must_use]
    pub fn new(found: u64, of: u64) -> Self {
        Self { found, of: of.max(found) }
    }

    /// Findings per opportunity; `None` without opportunities.
    #[must_use]
    pub fn rate(self) -> Option<f64> {
        (self.of > 0).then(|| self.found as f64 / self.of as f64)
    }
}

impl Changes {
    /// Returns the printable changes.
    #[must_use]
    pub fn redact(self, redactor: Redactor) -> Changes<Printable> {
        let kinds = self.kinds.into_iter().map(|kind| kind.redact(redactor)).collect();
        Changes { new: self.new, known: self.known, gone: self.gone, kinds }
    }
}

impl KindChange {
    /// Returns the printable change.
    #[must_use]
    pub fn redact(self, redactor: Redactor) -> KindChange<Printable> {
        KindChange {
            trend: self.trend,
            code: redactor.apply(self.code),
            tool: redactor.apply(self.tool),
            bucket: self.bucket.map(|bucket| redactor.apply(bucket)),
            before: self.before,
            now: self.now,
            difference: self.difference,
            interval: self.interval,
            p: self.p,
        }
    }
}
