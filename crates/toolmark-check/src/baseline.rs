//! The run before: a report of `toolmark check --format json`, read back.
//!
//! It says which findings are known, and what the numbers were, in all and per
//! trajectory.

use crate::gate::{Cell, Cells, Earlier};
use crate::scorecard::Tally;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use toolmark_outcome::{Finding, Printable, Untrusted};

/// The numbers of one trajectory as reports hold them.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TrajectoryCells<T> {
    /// The trajectory's id.
    #[serde(default)]
    pub id: Option<T>,
    /// Its numbers.
    pub cells: Vec<CellRow<T>>,
}

/// One number as reports hold it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CellRow<T> {
    name: String,
    tool: T,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bucket: Option<T>,
    of: u64,
    points: f64,
}

impl TrajectoryCells<Printable> {
    /// As a report holds them.
    #[must_use]
    pub fn new(id: Option<Printable>, cells: &Cells<Printable>) -> Self {
        let row = |(cell, tally): (&Cell<Printable>, Tally)| CellRow {
            name: cell.name.clone(),
            tool: cell.tool.clone(),
            bucket: cell.bucket.clone(),
            of: tally.of,
            points: tally.shown_points(),
        };
        Self { id, cells: cells.iter().map(row).collect() }
    }
}

impl TrajectoryCells<String> {
    fn read(self) -> (Option<Untrusted>, Cells) {
        let mut cells = Cells::default();
        for row in self.cells {
            let bucket = row.bucket.map(Into::into);
            let cell = Cell { name: row.name, tool: row.tool.into(), bucket };
            cells.add(cell, Tally::from_points(row.of, row.points));
        }
        (self.id.map(Into::into), cells)
    }
}

/// The parts of a report that are looked at.
#[derive(Deserialize)]
struct Report {
    findings: Vec<Known>,
    trajectories: Vec<TrajectoryCells<String>>,
}

#[derive(Deserialize)]
struct Known {
    fingerprint: String,
    #[serde(default)]
    session: Option<String>,
}

/// The run before.
#[derive(Debug, Default)]
pub struct Baseline {
    /// How often each fingerprint was found, by session.
    known: BTreeMap<String, BTreeMap<Option<Untrusted>, u64>>,
    all: Cells,
    each: BTreeMap<Untrusted, Cells>,
}

/// How the findings of this run compare.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Changes {
    /// Were not in the run before.
    pub new: u64,
    /// Were there too.
    pub known: u64,
    /// Were there and are no more.
    pub gone: u64,
}

impl Baseline {
    /// Reads a report.
    pub fn parse(text: &str) -> Result<Self, String> {
        let report: Report = serde_json::from_str(text)
            .map_err(|error| format!("not a JSON report of `toolmark check`: {error}"))?;
        let mut baseline = Self::default();
        for finding in report.findings {
            let by_session = baseline.known.entry(finding.fingerprint).or_default();
            *by_session.entry(finding.session.map(Into::into)).or_default() += 1;
        }
        for trajectory in report.trajectories {
            let (id, cells) = trajectory.read();
            baseline.all.merge(&cells);
            if let Some(id) = id {
                baseline.each.entry(id).or_default().merge(&cells);
            }
        }
        Ok(baseline)
    }

    /// Marks the findings that were not in the run before. Where there were as
    /// many of a kind as now, none is new; those of a session the run before
    /// looked at too are recognised first.
    pub fn mark(&self, findings: &mut [Finding]) -> Changes {
        let mut left = self.known.clone();
        let mut take = |finding: &Finding, any_session: bool| -> bool {
            let Some(by_session) = left.get_mut(&finding.fingerprint) else { return false };
            let count = if any_session {
                by_session.values_mut().find(|count| **count > 0)
            } else {
                by_session.get_mut(&finding.session).filter(|count| **count > 0)
            };
            count.map(|count| *count -= 1).is_some()
        };
        for finding in findings.iter_mut() {
            finding.new = Some(!take(finding, false));
        }
        for finding in findings.iter_mut().filter(|finding| finding.new == Some(true)) {
            finding.new = Some(!take(finding, true));
        }
        let new = findings.iter().filter(|finding| finding.new == Some(true)).count() as u64;
        let gone = left.values().flat_map(BTreeMap::values).sum();
        Changes { new, known: findings.len() as u64 - new, gone }
    }

    /// The numbers, for gates.
    #[must_use]
    pub fn earlier<'a>(&'a self, now_each: &'a BTreeMap<Untrusted, Cells>) -> Earlier<'a> {
        Earlier { before: &self.all, before_each: &self.each, now_each }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Checker, notation, rule_by_code};
    use serde_json::json;
    use toolmark_hosts::toolset::Toolsets;
    use toolmark_outcome::{Confidence, Redactor};

    fn found(trace: &str) -> Vec<Finding> {
        let rules = rule_by_code("S101").into_iter().collect();
        let checker = Checker::new(rules, Confidence::Medium, Toolsets::default());
        checker.check(&notation::parse(trace).unwrap()).findings
    }

    fn report(findings: &[Finding]) -> String {
        let redact = |finding: &Finding| finding.clone().redact(Redactor::new(true));
        let findings: Vec<_> = findings.iter().map(redact).collect();
        json!({"findings": findings, "trajectories": [], "files": 1}).to_string()
    }

    const READ: &str = "Read {\"file_path\":\"/w/a.rs\"} -> \"1\\tone\"\n";
    const OTHER: &str = "Read {\"file_path\":\"/w/b.rs\"} -> \"1\\tone\"\n";

    #[test]
    fn findings_are_new_gone_or_known() {
        let twice = found(&READ.repeat(2));
        let thrice = found(&READ.repeat(3));
        let other = found(&OTHER.repeat(2));
        assert_eq!((twice.len(), thrice.len(), other.len()), (1, 2, 1));
        for (before, now, want) in [
            (&twice, &twice, (0, 1, 0)),
            (&twice, &thrice, (1, 1, 0)),
            (&thrice, &twice, (0, 1, 1)),
            (&twice, &other, (1, 0, 1)),
            (&Vec::new(), &other, (1, 0, 0)),
        ] {
            let baseline = Baseline::parse(&report(before)).unwrap();
            let mut now = now.clone();
            let changes = baseline.mark(&mut now);
            assert_eq!((changes.new, changes.known, changes.gone), want);
            assert_eq!(now.iter().filter(|finding| finding.is_new()).count() as u64, want.0);
        }
    }

    #[test]
    fn anything_else_is_no_baseline() {
        for text in ["", "[]", "{}", r#"{"findings": [{}], "trajectories": []}"#] {
            assert!(Baseline::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn numbers_come_back_as_they_were() {
        fn cells<T: From<&'static str> + Ord + Clone>() -> Cells<T> {
            let mut cells = Cells::default();
            let cell =
                Cell { name: "recovery".into(), tool: "Bash".into(), bucket: Some("127".into()) };
            cells.add(cell, Tally { of: 3, points: 2500 });
            cells
        }
        let rows =
            serde_json::to_string(&TrajectoryCells::new(Some("a".into()), &cells())).unwrap();
        let (id, again) = serde_json::from_str::<TrajectoryCells<String>>(&rows).unwrap().read();
        assert_eq!((id, again), (Some("a".into()), cells()));
    }
}
