//! Gates: thresholds for the numbers of a scorecard.
//!
//! A gate is a line of text ([`parse`](Gate::from_str)) and results in a row for every
//! selected tool or bucket. `== 1` applies to every counted call: a single fault decides.
//! Every other comparison applies to the rate behind the counts, and its 95 % interval
//! decides: if it contains the threshold, there is not enough evidence. A number without
//! counts is unknown too, and does not pass.

mod cells;
mod compare;
mod decide;
mod names;
mod parse;
mod presets;
mod rows;

pub use cells::{Cells, GateCell, shares};
pub use compare::{Earlier, GateComparison, is_significant};
pub use names::NAMES;
pub(crate) use names::full_name;
pub use parse::GateError;
pub use presets::{PRESETS, Preset, article, defaults, parse_gates, preset};
pub use rows::{TrajectoryCells, measured};

use cells::CellSelection;
use decide::GateAnswer;
use names::scale;
use serde::Serialize;
use std::fmt;
use toolmark_outcome::{Printable, Redactor, Untrusted, Verdict, printable};

/// Comparison of a number with a threshold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// `>=`
    AtLeast,
    /// `>`
    Above,
    /// `==`
    Equal,
    /// `<=`
    AtMost,
    /// `<`
    Below,
}

impl Op {
    /// All comparisons.
    pub const ALL: &[Self] = &[Self::AtLeast, Self::Above, Self::Equal, Self::AtMost, Self::Below];

    /// Returns the operator.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::AtLeast => ">=",
            Self::Above => ">",
            Self::Equal => "==",
            Self::AtMost => "<=",
            Self::Below => "<",
        }
    }
}

/// Grouping of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Per {
    /// One row for all calls together.
    All,
    /// One row per tool.
    Tool,
    /// One row per bucket of every tool.
    Bucket,
}

/// A threshold for a number.
#[derive(Debug, Clone, PartialEq)]
pub struct Gate {
    /// Full name of the number.
    pub name: String,
    /// A tool, or a tool and a bucket separated by a dot.
    pub selector: Option<String>,
    /// Comparison.
    pub op: Op,
    /// Threshold.
    pub threshold: f64,
    /// Grouping of rows.
    pub per: Per,
    /// Minimum number of calls; with fewer, the result is unknown.
    pub min_support: u64,
    /// Whether the gate is skipped if the number does not exist.
    pub only_where_measured: bool,
}

impl fmt::Display for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        if let Some(selector) = &self.selector {
            write!(f, "[{selector}]")?;
        }
        write!(f, " {} {}", self.op.word(), self.threshold)?;
        f.write_str(match self.per {
            Per::All => "",
            Per::Tool => " per tool",
            Per::Bucket => " per bucket",
        })?;
        if self.min_support > 1 {
            write!(f, " min support {}", self.min_support)?;
        }
        Ok(())
    }
}

/// Result of a gate for one number.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GateRow<T = Untrusted> {
    /// Gate as written.
    pub gate: T,
    /// Full name of the number.
    pub measure: T,
    /// Name of the tool; all tools if `None`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<T>,
    /// Bucket.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bucket: Option<T>,
    /// Value, if anything was counted.
    pub value: Option<f64>,
    /// Count.
    pub n: u64,
    /// 95 % interval of the value.
    pub interval: Option<(f64, f64)>,
    /// Comparison.
    pub op: &'static str,
    /// Threshold.
    pub threshold: f64,
    /// Verdict of the gate.
    pub verdict: Verdict,
    /// Reason for the verdict.
    pub reason: T,
    /// Approximate number of additional calls needed for a decision, if the verdict is
    /// unknown and similar calls would decide it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub needed: Option<u64>,
    /// Comparison with the earlier run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline: Option<GateComparison>,
}

impl GateRow {
    /// Returns the printable row.
    #[must_use]
    pub fn redact(self, redactor: Redactor) -> GateRow<Printable> {
        GateRow {
            gate: redactor.apply(self.gate),
            measure: redactor.apply(self.measure),
            tool: self.tool.map(|tool| redactor.apply(tool)),
            bucket: self.bucket.map(|bucket| redactor.apply(bucket)),
            value: self.value,
            n: self.n,
            interval: self.interval,
            op: self.op,
            threshold: self.threshold,
            verdict: self.verdict,
            reason: redactor.apply(self.reason),
            needed: self.needed,
            baseline: self.baseline,
        }
    }
}

impl GateRow<Printable> {
    /// Returns the subject of the row: `recovery[Bash.127]`.
    #[must_use]
    pub fn subject(&self) -> Printable {
        let measure = &self.measure;
        match (&self.tool, &self.bucket) {
            (Some(tool), Some(bucket)) => printable!("{}[{}.{}]", measure, tool, bucket),
            (Some(tool), None) => printable!("{}[{}]", measure, tool),
            (None, Some(bucket)) => printable!("{}[*.{}]", measure, bucket),
            (None, None) => measure.clone(),
        }
    }
}

/// Combines the verdicts of rows: a failure takes precedence, then an unknown verdict.
#[must_use]
pub fn verdict<T>(rows: &[GateRow<T>]) -> Verdict {
    rows.iter().fold(Verdict::Pass, |sum, row| sum.and(row.verdict))
}

impl Gate {
    /// Returns the rows of this gate, in the order of tools and buckets.
    #[must_use]
    pub fn rows(&self, now: &Cells, earlier: Option<&Earlier<'_>>) -> Vec<GateRow> {
        let subjects = self.subjects(now);
        if subjects.is_empty() {
            if self.only_where_measured {
                return Vec::new();
            }
            let (tool, bucket) = self.split(now);
            return vec![self.row(tool, bucket, now, earlier)];
        }
        let row = |(tool, bucket)| self.row(tool, bucket, now, earlier);
        subjects.into_iter().map(row).collect()
    }

    /// Returns the tools and buckets that get a row.
    fn subjects(&self, now: &Cells) -> Vec<(Option<String>, Option<String>)> {
        let (tool, bucket) = self.split(now);
        match (self.per, &bucket) {
            (Per::All, _) | (_, Some(_)) => vec![(tool, bucket)],
            (Per::Tool, None) => {
                let mut tools = now.tools(&self.name);
                tools.retain(|name| tool.as_ref().is_none_or(|tool| tool == name));
                tools.into_iter().map(|tool| (Some(tool), None)).collect()
            }
            (Per::Bucket, None) => {
                let buckets = now.buckets(&self.name, tool.as_deref());
                buckets.into_iter().map(|(tool, bucket)| (Some(tool), Some(bucket))).collect()
            }
        }
    }

    /// Splits the selector into a tool and a bucket. Names of tools may contain dots:
    /// existing names decide, otherwise the last dot.
    fn split(&self, now: &Cells) -> (Option<String>, Option<String>) {
        let Some(selector) = &self.selector else { return (None, None) };
        let any = |name: &str| (name != "*").then(|| name.to_owned());
        let tools = now.tools(&self.name);
        if tools.contains(selector) {
            return (any(selector), None);
        }
        let dots = || selector.rmatch_indices('.').map(|(at, _)| selector.split_at(at));
        let known = dots().find(|(tool, _)| *tool == "*" || tools.contains(*tool));
        match known.or_else(|| dots().next()) {
            Some((tool, bucket)) => (any(tool), Some(bucket.trim_start_matches('.').to_owned())),
            None => (any(selector), None),
        }
    }

    fn row(
        &self,
        tool: Option<String>,
        bucket: Option<String>,
        now: &Cells,
        earlier: Option<&Earlier<'_>>,
    ) -> GateRow {
        let chosen = CellSelection { tool: tool.as_deref(), bucket: bucket.as_deref() };
        let tally = now.sum(&self.name, chosen);
        let GateAnswer { mut verdict, mut reason, mut needed } = decide::decide(self, tally);
        let baseline = earlier.and_then(|earlier| earlier.compare(&self.name, chosen, tally));
        let is_worse = match self.op {
            Op::AtMost | Op::Below => GateComparison::is_higher,
            _ => GateComparison::is_lower,
        };
        if let Some(compared) = baseline.as_ref().filter(|compared| is_worse(compared)) {
            (verdict, needed) = (Verdict::Fail, None);
            reason = format!("{reason}; a regression, {compared}");
        }
        GateRow {
            gate: self.to_string().into(),
            measure: self.name.clone().into(),
            tool: tool.map(Into::into),
            bucket: bucket.map(Into::into),
            value: scale(&self.name).rate(tally),
            n: tally.of,
            interval: scale(&self.name).interval(tally),
            op: self.op.word(),
            threshold: self.threshold,
            verdict,
            reason: reason.into(),
            needed,
            baseline,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scorecard::ScoreTally;

    fn cells() -> Cells {
        let mut cells = Cells::default();
        for (name, tool, bucket, of, points) in [
            ("recovery", "Bash", Some("127"), 100, 95_000),
            ("recovery", "Bash", Some("timeout"), 100, 60_000),
            ("recovery", "shop.buy", Some("timeout"), 2, 2000),
            ("arguments.valid", "Edit", None, 4, 4000),
            ("arguments.valid", "Read", None, 1, 0),
        ] {
            let bucket = bucket.map(Into::into);
            cells.add(
                GateCell { name: name.into(), tool: tool.into(), bucket },
                ScoreTally { of, points },
            );
        }
        cells
    }

    fn answers(text: &str) -> Vec<(String, &'static str)> {
        let gate: Gate = text.parse().unwrap();
        let rows = gate.rows(&cells(), None).into_iter();
        let rows = rows.map(|row| row.redact(Redactor::new(true)));
        rows.map(|row| (row.subject().to_string(), row.verdict.word())).collect()
    }

    #[test]
    fn rows_and_verdicts() {
        let owned = |rows: &[(&str, &'static str)]| -> Vec<(String, &'static str)> {
            rows.iter().map(|(subject, word)| ((*subject).to_owned(), *word)).collect()
        };
        for (text, want) in [
            ("recovery[Bash.127] >= 0.8", &[("recovery[Bash.127]", "pass")][..]),
            ("recovery[Bash.127] > 0.99", &[("recovery[Bash.127]", "fail")]),
            ("recovery[Bash.127] >= 0.95", &[("recovery[Bash.127]", "unknown")]),
            ("recovery[Bash.126] >= 0.8", &[("recovery[Bash.126]", "unknown")]),
            ("recovery[Bash] >= 0.9", &[("recovery[Bash]", "fail")]),
            ("recovery[*.timeout] >= 0.4", &[("recovery[*.timeout]", "pass")]),
            ("recovery[shop.buy] == 1", &[("recovery[shop.buy]", "pass")]),
            ("recovery[shop.buy] >= 1", &[("recovery[shop.buy]", "pass")]),
            ("recovery[shop.buy] >= 0.8", &[("recovery[shop.buy]", "unknown")]),
            ("recovery[shop.buy.timeout] == 1", &[("recovery[shop.buy.timeout]", "pass")]),
            ("recovery[shop.buy] == 1 min support 3", &[("recovery[shop.buy]", "unknown")]),
            // One fault proves that not all are right.
            ("arguments.valid[Read] == 1 min support 3", &[("arguments.valid[Read]", "fail")]),
            ("recovery >= 0.5", &[("recovery", "pass")]),
            ("recovery >= 0.9", &[("recovery", "fail")]),
            ("edit.minimal >= 0.85 per tool", &[("edit.minimal", "unknown")]),
            ("edit.minimal[Edit] >= 0.85", &[("edit.minimal[Edit]", "unknown")]),
            (
                "arguments.valid == 1 per tool",
                &[("arguments.valid[Edit]", "pass"), ("arguments.valid[Read]", "fail")],
            ),
            (
                "recovery[Bash] >= 0.8 per bucket",
                &[("recovery[Bash.127]", "pass"), ("recovery[Bash.timeout]", "fail")],
            ),
            ("recovery <= 0.9", &[("recovery", "pass")]),
            ("recovery < 0.6", &[("recovery", "fail")]),
            ("recovery[shop.buy] <= 0", &[("recovery[shop.buy]", "fail")]),
        ] {
            assert_eq!(answers(text), owned(want), "{text}");
        }
    }

    #[test]
    fn a_gate_says_what_its_table_says() {
        let gate: Gate = "selection.f1[Read] >= 0.7".parse().unwrap();
        let mut cells = Cells::default();
        let cell = GateCell { name: "selection.f1".into(), tool: "Read".into(), bucket: None };
        cells.add(cell, ScoreTally::of_right(20, 18));
        let row = gate.rows(&cells, None).remove(0);
        let f1 = crate::Scale::F1;
        let tally = ScoreTally::of_right(20, 18);
        assert_eq!((row.value, row.interval), (f1.rate(tally), f1.interval(tally)));
        assert_eq!(row.verdict, Verdict::Pass);
    }
}
