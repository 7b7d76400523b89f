//! An issue: the common properties of its occurrences, their number, period and cost, and a fix.

use crate::fix::Fix;
use crate::key::IssueId;
use crate::occurrence::{OccurrenceKind, Recovery};
use crate::role::KeyRole;
use crate::sparkline::sparkline;
use crate::state::IssueState;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;
use toolmark_base::word_enum;
use toolmark_outcome::{Axis, Printable, Redactor, TracePlace, Untrusted};
use toolmark_redact::Json;

word_enum! {
    /// Category of an issue.
    pub enum Category {
        /// The wrong tool, or an unwanted call.
        Selection = "selection",
        /// The right tool with wrong arguments.
        Arguments = "arguments",
        /// An action that cannot be undone.
        Irreversibility = "irreversibility",
        /// The wrong action after an error.
        Recovery = "recovery",
        /// The environment of the agent: programs, libraries, the project's own checks.
        Environment = "environment",
    }
}

impl From<Axis> for Category {
    fn from(axis: Axis) -> Self {
        match axis {
            Axis::Selection => Self::Selection,
            Axis::Arguments => Self::Arguments,
            Axis::Irreversibility => Self::Irreversibility,
            Axis::Recovery => Self::Recovery,
        }
    }
}

/// A name with its number of occurrences.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NameTally<T = Untrusted> {
    /// Name.
    pub name: T,
    /// Number of occurrences.
    pub count: u64,
}

/// Number of occurrences of an issue in one week.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Week {
    /// ISO week, in UTC: `2026-W07`.
    pub week: String,
    /// Number of occurrences.
    pub count: u64,
}

/// Recoveries from the failures of an issue.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Recoveries {
    /// Number of full recoveries.
    pub recovered: u64,
    /// Number of partial recoveries.
    pub partial: u64,
    /// Number of failures without recovery.
    pub failed: u64,
    /// Number of failures for which the following calls are inconclusive.
    pub open: u64,
    /// Share of decided failures with a recovery; partial ones count half.
    pub rate: Option<f64>,
}

impl Recoveries {
    pub(crate) fn add(&mut self, one: Recovery) {
        match one {
            Recovery::Recovered => self.recovered += 1,
            Recovery::Partial => self.partial += 1,
            Recovery::Failed => self.failed += 1,
            Recovery::Open => self.open += 1,
            Recovery::NotAsked => {}
        }
        let decided = self.recovered + self.partial + self.failed;
        let good = self.recovered as f64 + self.partial as f64 / 2.0;
        self.rate = (decided > 0).then(|| good / decided as f64);
    }
}

/// Cost of the calls of an issue, as far as the traces record it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Lost {
    /// Tokens of the responses that made the calls; calls of one response share them.
    pub tokens: Option<u64>,
    /// Output tokens among them.
    pub output_tokens: Option<u64>,
    /// Total duration of the calls.
    pub duration_ms: Option<u64>,
    /// Number of calls with known tokens.
    pub counted: u64,
    /// Number of calls with a known duration.
    pub timed: u64,
}

/// An occurrence that represents the issue: the shortest complete one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Representative<T = Untrusted> {
    /// Session.
    pub session: T,
    /// Call ID.
    pub call_id: T,
    /// Position in the file.
    pub place: TracePlace<T>,
    /// Call.
    pub call: T,
    /// Result of the call, or the message of the rule.
    pub said: T,
    /// Next action of the agent.
    pub followed: Option<T>,
}

/// Another issue with a similar message.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Similar {
    /// Other issue.
    pub id: IssueId,
    /// Similarity, from 0 to 1.
    pub similarity: f64,
}

/// A problem that recurs across sessions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Issue<T = Untrusted> {
    /// Hash of the key, which never changes.
    pub id: IssueId,
    /// Kind of the occurrences.
    pub kind: OccurrenceKind,
    /// Category.
    pub category: Category,
    /// Class of the failure, or name of the rule.
    pub subtype: &'static str,
    /// Code of the rule.
    pub code: Option<&'static str>,
    /// Summary of the problem, in one line.
    pub title: T,
    /// Role of the tool, or its name.
    pub role: T,
    /// Message without its values.
    pub template: T,
    /// Number of occurrences, one per session and call.
    pub count: u64,
    /// Number of sessions.
    pub sessions: u64,
    /// Projects.
    pub projects: Vec<NameTally<T>>,
    /// Time of the first occurrence.
    #[serde(serialize_with = "crate::time::optional::serialize")]
    pub first_seen: Option<Timestamp>,
    /// Time of the last occurrence.
    #[serde(serialize_with = "crate::time::optional::serialize")]
    pub last_seen: Option<Timestamp>,
    /// Number of occurrences in each week from the first to the last.
    pub weeks: Vec<Week>,
    /// Tools.
    pub tools: Vec<NameTally<T>>,
    /// Models.
    pub models: Vec<NameTally<T>>,
    /// Versions of agents.
    pub agents: Vec<NameTally<T>>,
    /// Subjects of the occurrences: programs, files, flags.
    pub subjects: Vec<NameTally<T>>,
    /// Recoveries; `None` for findings.
    pub recovery: Option<Recoveries>,
    /// Cost of the calls.
    pub lost: Lost,
    /// Representative occurrence.
    pub representative: Option<Representative<T>>,
    /// Issues with similar messages.
    pub similar: Vec<Similar>,
    /// For findings: the issue of failures that contains most of the calls.
    pub same_calls: Option<IssueId>,
    /// State.
    pub state: IssueState,
    /// Issues that were merged into this one.
    pub merged: Vec<IssueId>,
    /// Notes written by users.
    pub notes: Vec<T>,
    /// Change that prevents the issue, if there is a concrete one.
    pub fix: Option<Fix<T>>,
    /// Grader that fails when the issue recurs.
    pub case: Json<Value, T>,
}

impl<T> Issue<T> {
    /// Returns the counts of the last weeks as a line of block characters.
    #[must_use]
    pub fn sparkline(&self) -> String {
        const WEEKS: usize = 12;
        let weeks = &self.weeks[self.weeks.len().saturating_sub(WEEKS)..];
        let count = |week: &Week| (week.count > 0).then_some(week.count as f64);
        sparkline(weeks.iter().map(count))
    }
}

impl Issue {
    /// Returns the issue in printable form.
    #[must_use]
    pub fn redact(self, redactor: Redactor) -> Issue<Printable> {
        let tallies = |all: Vec<NameTally>| -> Vec<NameTally<Printable>> {
            let one = |NameTally { name, count }: NameTally| NameTally {
                name: redactor.apply(name),
                count,
            };
            all.into_iter().map(one).collect()
        };
        let shown = |one: Representative| Representative {
            session: redactor.apply(one.session),
            call_id: redactor.apply(one.call_id),
            place: one.place.redact(redactor),
            call: redactor.apply(one.call),
            said: redactor.apply(one.said),
            followed: one.followed.map(|text| redactor.apply(text)),
        };
        Issue {
            id: self.id,
            kind: self.kind,
            category: self.category,
            subtype: self.subtype,
            code: self.code,
            title: redactor.apply(self.title),
            role: redactor.apply(self.role),
            template: redactor.apply(self.template),
            count: self.count,
            sessions: self.sessions,
            projects: tallies(self.projects),
            first_seen: self.first_seen,
            last_seen: self.last_seen,
            weeks: self.weeks,
            tools: tallies(self.tools),
            models: tallies(self.models),
            agents: tallies(self.agents),
            subjects: tallies(self.subjects),
            recovery: self.recovery,
            lost: self.lost,
            representative: self.representative.map(shown),
            similar: self.similar,
            same_calls: self.same_calls,
            state: self.state,
            merged: self.merged,
            notes: redactor.apply_all(self.notes),
            fix: self.fix.map(|fix| fix.redact(redactor)),
            case: redactor.json(self.case),
        }
    }
}

/// Returns the grader that fails when an issue recurs.
#[must_use]
pub(crate) fn grader(key: &crate::key::IssueKey) -> Value {
    use crate::key::IssueKey;
    use serde_json::json;
    match key {
        IssueKey::Failure { role, class, template } => {
            let mut config = json!({"class": class.word()});
            match role {
                KeyRole::Tool(name) => config["tool"] = name.as_str().into(),
                KeyRole::Any => {}
                role => config["role"] = role.word().into(),
            }
            // Commands that name a missing path are not those that are in the wrong place.
            let is_empty = template.is_empty() && class.is_closed() && *role != KeyRole::Shell;
            if !is_empty {
                config["template"] = template.as_str().into();
            }
            json!({"type": "failure", "config": config})
        }
        IssueKey::Finding { code, tool, .. } => {
            json!({"type": "finding", "config": {"code": code, "tool": tool, "scope": "all"}})
        }
    }
}
