//! An issue: what its occurrences have in common, how often, since when, what it costs
//! and what to do about it.

use crate::fix::Fix;
use crate::key::IssueId;
use crate::occurrence::{Kind, Recovery};
use crate::role::Role;
use crate::sparkline::sparkline;
use crate::state::State;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;
use toolmark_base::word_enum;
use toolmark_outcome::{Axis, Printable, Redactor, TracePlace, Untrusted};
use toolmark_redact::Json;

word_enum! {
    /// What kind of problem an issue is.
    pub enum Category {
        /// The wrong tool, or a call nobody wanted.
        Selection = "selection",
        /// The right tool with wrong arguments.
        Arguments = "arguments",
        /// Something that cannot be undone.
        Irreversibility = "irreversibility",
        /// The wrong move after an error.
        Recovery = "recovery",
        /// What the agent works in: programs, libraries, the project's own checks.
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

/// A name and how often it occurs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Tally<T = Untrusted> {
    /// The name.
    pub name: T,
    /// How often.
    pub count: u64,
}

/// How often an issue occurred in a week.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Week {
    /// The ISO week, in UTC: `2026-W07`.
    pub week: String,
    /// How often.
    pub count: u64,
}

/// What came of the failures of an issue.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Recoveries {
    /// As it should be.
    pub recovered: u64,
    /// Half of it.
    pub partial: u64,
    /// The wrong move.
    pub failed: u64,
    /// The calls that followed decide nothing.
    pub open: u64,
    /// The share of decided failures that were recovered from; partly counts half.
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

/// What the calls of an issue cost, as far as the traces record it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Lost {
    /// The tokens of the responses that made the calls; calls of one response share them.
    pub tokens: Option<u64>,
    /// The part of them that the model wrote.
    pub output_tokens: Option<u64>,
    /// How long the calls took.
    pub duration_ms: Option<u64>,
    /// Of how many calls the tokens are known.
    pub counted: u64,
    /// Of how many calls the duration is known.
    pub timed: u64,
}

/// One occurrence that shows what the issue is: the shortest that is complete.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Representative<T = Untrusted> {
    /// The session.
    pub session: T,
    /// The call.
    pub call_id: T,
    /// Where it stands.
    pub place: TracePlace<T>,
    /// The call.
    pub call: T,
    /// What came back, or what the rule says.
    pub said: T,
    /// What the agent did next.
    pub followed: Option<T>,
}

/// Another issue whose message is much alike.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Similar {
    /// The other issue.
    pub id: IssueId,
    /// How much they have in common, from 0 to 1.
    pub similarity: f64,
}

/// What recurs across sessions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Issue<T = Untrusted> {
    /// A hash of its key: the same for ever.
    pub id: IssueId,
    /// What it is made of.
    pub kind: Kind,
    /// What kind of problem it is.
    pub category: Category,
    /// The class of the failure, or the name of the rule.
    pub subtype: &'static str,
    /// The code of the rule.
    pub code: Option<&'static str>,
    /// What goes wrong, in one line.
    pub title: T,
    /// The role of the tool, or its name.
    pub role: T,
    /// The message without its values.
    pub template: T,
    /// How often it occurred: one occurrence per session and call.
    pub count: u64,
    /// In how many sessions.
    pub sessions: u64,
    /// In which projects.
    pub projects: Vec<Tally<T>>,
    /// When it was seen first.
    #[serde(serialize_with = "crate::time::optional::serialize")]
    pub first_seen: Option<Timestamp>,
    /// When it was seen last.
    #[serde(serialize_with = "crate::time::optional::serialize")]
    pub last_seen: Option<Timestamp>,
    /// How often it occurred in each week from the first to the last.
    pub weeks: Vec<Week>,
    /// With which tools.
    pub tools: Vec<Tally<T>>,
    /// With which models.
    pub models: Vec<Tally<T>>,
    /// In which versions of agents.
    pub agents: Vec<Tally<T>>,
    /// What its occurrences are about: programs, files, flags.
    pub subjects: Vec<Tally<T>>,
    /// What came of it; nothing for findings.
    pub recovery: Option<Recoveries>,
    /// What its calls cost.
    pub lost: Lost,
    /// One occurrence that shows it.
    pub representative: Option<Representative<T>>,
    /// Issues whose messages are much alike.
    pub similar: Vec<Similar>,
    /// Of findings: the issue of failures that most of the calls belong to.
    pub same_calls: Option<IssueId>,
    /// Where it stands.
    pub state: State,
    /// The issues that were merged into it.
    pub merged: Vec<IssueId>,
    /// What people wrote about it.
    pub notes: Vec<T>,
    /// A change that prevents it, where a concrete one follows.
    pub fix: Option<Fix<T>>,
    /// The grader that fails when it comes back.
    pub case: Json<Value, T>,
}

impl<T> Issue<T> {
    /// How often it occurred in each of the last weeks, as signs.
    #[must_use]
    pub fn sparkline(&self) -> String {
        const WEEKS: usize = 12;
        let weeks = &self.weeks[self.weeks.len().saturating_sub(WEEKS)..];
        let count = |week: &Week| (week.count > 0).then_some(week.count as f64);
        sparkline(weeks.iter().map(count))
    }
}

impl Issue {
    /// It as it may be printed.
    #[must_use]
    pub fn redact(self, redactor: Redactor) -> Issue<Printable> {
        let tallies = |all: Vec<Tally>| -> Vec<Tally<Printable>> {
            let one = |Tally { name, count }: Tally| Tally { name: redactor.apply(name), count };
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

/// The grader that fails when an issue comes back.
#[must_use]
pub(crate) fn grader(key: &crate::key::Key) -> Value {
    use crate::key::Key;
    use serde_json::json;
    match key {
        Key::Failure { role, class, template } => {
            let mut config = json!({"class": class.word()});
            match role {
                Role::Tool(name) => config["tool"] = name.as_str().into(),
                Role::Any => {}
                role => config["role"] = role.word().into(),
            }
            // Commands that name a missing path are not those that are in the wrong place.
            let is_empty = template.is_empty() && class.is_closed() && *role != Role::Shell;
            if !is_empty {
                config["template"] = template.as_str().into();
            }
            json!({"type": "failure", "config": config})
        }
        Key::Finding { code, tool, .. } => {
            json!({"type": "finding", "config": {"code": code, "tool": tool, "scope": "all"}})
        }
    }
}
