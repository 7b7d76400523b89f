//! Decisions of users about issues: lines of JSON that are only ever appended, so that the files of
//! two users merge line by line, in any order.

use crate::key::IssueId;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use toolmark_base::{SortedMap, SortedSet, word_enum};

word_enum! {
    /// State of an issue.
    pub enum IssueState {
        /// The issue recurred after it was resolved.
        Regressed = "regressed",
        /// The issue occurs much more often than in the weeks before.
        Escalating = "escalating",
        /// The issue was first seen in the last seven days.
        New = "new",
        /// The issue is known and still occurs.
        Ongoing = "ongoing",
        /// A user resolved the issue, and it has not recurred.
        Resolved = "resolved",
        /// A user chose to hide the issue.
        Ignored = "ignored",
    }
}

impl IssueState {
    /// Whether the issue needs action.
    #[must_use]
    pub fn is_open(self) -> bool {
        !matches!(self, Self::Resolved | Self::Ignored)
    }
}

/// One decision about an issue.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct IssueDecision {
    /// Time of the decision.
    #[serde(with = "crate::time")]
    pub at: Timestamp,
    /// Issue.
    pub id: IssueId,
    /// Content of the decision.
    #[serde(flatten)]
    pub event: DecisionEvent,
    /// Author of the decision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

/// Content of a decision.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum DecisionEvent {
    /// Marks the issue as resolved.
    Resolve {
        /// Agent version with the fix: newer ones must not have the issue.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        version: Option<String>,
    },
    /// Hides the issue.
    Ignore {
        /// Time until which the issue is hidden.
        #[serde(default, with = "crate::time::optional", skip_serializing_if = "Option::is_none")]
        until: Option<Timestamp>,
        /// Number of further occurrences until which the issue is hidden.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        more: Option<u64>,
        /// Whether the issue is shown again when it escalates.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        escalating: bool,
    },
    /// Makes the issue neither resolved nor ignored.
    Reopen,
    /// Merges the issue into another one, which counts its occurrences.
    Merge {
        /// Other issue.
        into: IssueId,
    },
    /// Adds a note about the issue.
    Note {
        /// Text of the note.
        text: String,
    },
}

/// Error in a file of decisions.
#[derive(Debug, thiserror::Error)]
#[error("line {line} is not a decision: {source}")]
pub struct StateError {
    /// Line, from 1.
    pub line: usize,
    /// Error of the parser.
    pub source: serde_json::Error,
}

/// All decisions.
#[derive(Debug, Clone, Default)]
pub struct IssueDecisions {
    by_issue: SortedMap<IssueId, Vec<IssueDecision>>,
    aliases: SortedMap<IssueId, IssueId>,
}

impl IssueDecisions {
    /// Reads the lines of a file. Their order and repetitions do not matter.
    pub fn parse(text: &str) -> Result<Self, StateError> {
        let mut all = SortedSet::new();
        for (n, line) in text.lines().enumerate() {
            if line.trim().is_empty() {
                continue;
            }
            let decision: IssueDecision =
                serde_json::from_str(line).map_err(|source| StateError { line: n + 1, source })?;
            all.insert(decision);
        }
        let mut decisions = Self::default();
        for decision in all {
            if let DecisionEvent::Merge { into } = decision.event {
                decisions.aliases.insert(decision.id, into);
            } else if decision.event == DecisionEvent::Reopen {
                decisions.aliases.remove(&decision.id);
            }
            decisions.by_issue.entry(decision.id).or_default().push(decision);
        }
        Ok(decisions)
    }

    /// Returns the issue into which another one was merged. Circular merges are ignored.
    #[must_use]
    pub fn resolve(&self, id: IssueId) -> IssueId {
        let mut seen = SortedSet::new();
        let mut at = id;
        while let Some(next) = self.aliases.get(&at) {
            if !seen.insert(at) {
                return id;
            }
            at = *next;
        }
        at
    }

    /// Returns the notes on an issue, the oldest first.
    pub fn notes(&self, id: IssueId) -> impl Iterator<Item = &str> {
        self.of(id).filter_map(|decision| match &decision.event {
            DecisionEvent::Note { text } => Some(text.as_str()),
            _ => None,
        })
    }

    fn of(&self, id: IssueId) -> impl Iterator<Item = &IssueDecision> {
        self.by_issue.get(&id).into_iter().flatten()
    }

    /// Returns the state of an issue with these occurrences.
    pub(crate) fn state(&self, id: IssueId, seen: &IssueHistory<'_>, now: Timestamp) -> IssueState {
        let is_escalating = seen.is_escalating;
        let last = self.of(id).rev_find(|decision| {
            matches!(
                decision.event,
                DecisionEvent::Resolve { .. }
                    | DecisionEvent::Ignore { .. }
                    | DecisionEvent::Reopen
            )
        });
        let open = || match () {
            () if is_escalating => IssueState::Escalating,
            () if seen.is_new(now) => IssueState::New,
            () => IssueState::Ongoing,
        };
        let Some(decision) = last else { return open() };
        match &decision.event {
            DecisionEvent::Resolve { version: Some(version) } => {
                let is_newer = |one: &SeenOnce| {
                    one.version.is_some_and(|v| version_key(v) > version_key(version))
                };
                if seen.all.iter().any(is_newer) {
                    IssueState::Regressed
                } else {
                    IssueState::Resolved
                }
            }
            DecisionEvent::Resolve { version: None } => {
                let is_later = |one: &SeenOnce| {
                    one.started.or(one.time).is_some_and(|time| time > decision.at)
                };
                if seen.all.iter().any(is_later) {
                    IssueState::Regressed
                } else {
                    IssueState::Resolved
                }
            }
            DecisionEvent::Ignore { until, more, escalating } => {
                let after = |one: &&SeenOnce| one.time.is_some_and(|time| time > decision.at);
                let is_over = until.is_some_and(|until| now >= until)
                    || more
                        .is_some_and(|more| seen.all.iter().filter(after).count() as u64 >= more)
                    || *escalating && is_escalating;
                if is_over { open() } else { IssueState::Ignored }
            }
            _ => open(),
        }
    }
}

trait RevFind: Iterator + Sized {
    fn rev_find(self, is_one: impl FnMut(&Self::Item) -> bool) -> Option<Self::Item>;
}

impl<'d, I: Iterator<Item = &'d IssueDecision>> RevFind for I {
    /// Returns the last matching decision, as they are in the order of time.
    fn rev_find(self, is_one: impl FnMut(&Self::Item) -> bool) -> Option<Self::Item> {
        self.filter(is_one).last()
    }
}

/// One occurrence, with the data relevant to states.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SeenOnce<'v> {
    pub(crate) time: Option<Timestamp>,
    pub(crate) started: Option<Timestamp>,
    pub(crate) version: Option<&'v str>,
}

/// All occurrences of an issue, with the data relevant to states.
pub(crate) struct IssueHistory<'v> {
    pub(crate) all: Vec<SeenOnce<'v>>,
    pub(crate) is_escalating: bool,
}

impl IssueHistory<'_> {
    /// Whether no occurrence is known to be older than a week.
    fn is_new(&self, now: Timestamp) -> bool {
        const WEEK: i64 = 7 * 24 * 60 * 60;
        let first = self.all.iter().filter_map(|one| one.time).min();
        first.is_none_or(|first| now.as_second() - first.as_second() < WEEK)
    }
}

/// Returns the sort key of a version: numbers by their value.
fn version_key(version: &str) -> Vec<(u64, &str)> {
    version
        .trim_start_matches('v')
        .split(['.', '-', '+', ' '])
        .map(|part| part.parse().map_or((0, part), |number| (number, "")))
        .collect()
}

/// Whether the count of this week is at least five and above the mean of the four weeks before plus
/// three standard deviations.
#[must_use]
pub(crate) fn is_escalating(this_week: u64, before: [u64; 4]) -> bool {
    const MIN_OCCURRENCES: u64 = 5;
    let mean = before.iter().sum::<u64>() as f64 / 4.0;
    let variance = before.iter().map(|n| (*n as f64 - mean).powi(2)).sum::<f64>() / 4.0;
    this_week >= MIN_OCCURRENCES && this_week as f64 > mean + 3.0 * variance.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn at(day: &str) -> SeenOnce<'static> {
        let time = Some(time(&format!("{day}T12:00:00Z")));
        SeenOnce { time, started: time, version: Some("2.1.9") }
    }

    const ID: IssueId = IssueId(0xabc);
    const NOW: &str = "2026-03-20T00:00:00Z";

    fn state(lines: &str, all: Vec<SeenOnce<'_>>, is_escalating: bool) -> IssueState {
        let lines = lines.replace("ID", &ID.to_string());
        IssueDecisions::parse(&lines).unwrap().state(
            ID,
            &IssueHistory { all, is_escalating },
            time(NOW),
        )
    }

    #[test]
    fn states_by_decisions_and_times() {
        let old = || vec![at("2026-01-01"), at("2026-03-01")];
        let resolve = r#"{"at":"2026-02-01T00:00:00Z","id":"ID","event":"resolve"}"#;
        let later = r#"{"at":"2026-03-10T00:00:00Z","id":"ID","event":"resolve"}"#;
        for (lines, is_escalating, want) in [
            ("", false, IssueState::Ongoing),
            ("", true, IssueState::Escalating),
            (resolve, false, IssueState::Regressed),
            (later, false, IssueState::Resolved),
            (
                r#"{"at":"2026-03-10T00:00:00Z","id":"ID","event":"resolve","version":"2.1.10"}"#,
                false,
                IssueState::Resolved,
            ),
            (
                r#"{"at":"2026-03-10T00:00:00Z","id":"ID","event":"resolve","version":"2.1.8"}"#,
                false,
                IssueState::Regressed,
            ),
            (
                r#"{"at":"2026-02-01T00:00:00Z","id":"ID","event":"ignore"}"#,
                true,
                IssueState::Ignored,
            ),
            (
                r#"{"at":"2026-02-01T00:00:00Z","id":"ID","event":"ignore","escalating":true}"#,
                true,
                IssueState::Escalating,
            ),
            (
                r#"{"at":"2026-02-01T00:00:00Z","id":"ID","event":"ignore","escalating":true}"#,
                false,
                IssueState::Ignored,
            ),
            (
                r#"{"at":"2026-02-01T00:00:00Z","id":"ID","event":"ignore","more":2}"#,
                false,
                IssueState::Ignored,
            ),
            (
                r#"{"at":"2026-02-01T00:00:00Z","id":"ID","event":"ignore","more":1}"#,
                false,
                IssueState::Ongoing,
            ),
            (
                r#"{"at":"2026-02-01T00:00:00Z","id":"ID","event":"ignore","until":"2026-03-19T00:00:00Z"}"#,
                false,
                IssueState::Ongoing,
            ),
            (
                r#"{"at":"2026-02-01T00:00:00Z","id":"ID","event":"ignore","until":"2026-03-21T00:00:00Z"}"#,
                false,
                IssueState::Ignored,
            ),
        ] {
            assert_eq!(state(lines, old(), is_escalating), want, "{lines}");
        }
        assert_eq!(state("", vec![at("2026-03-19")], false), IssueState::New);
        let reopened =
            format!("{later}\n{}", r#"{"at":"2026-03-11T00:00:00Z","id":"ID","event":"reopen"}"#);
        assert_eq!(state(&reopened, old(), false), IssueState::Ongoing);
        // The order of the lines does not matter.
        let swapped: Vec<&str> = reopened.lines().rev().collect();
        assert_eq!(state(&swapped.join("\n"), old(), false), IssueState::Ongoing);
    }

    #[test]
    fn merging_is_an_alias_and_circles_are_none() {
        let line = |id: u64, into: u64| {
            let (id, into) = (IssueId(id), IssueId(into));
            format!(
                "{{\"at\":\"{NOW}\",\"id\":\"{id}\",\"event\":\"merge\",\"into\":\"{into}\"}}\n"
            )
        };
        let all =
            IssueDecisions::parse(&(line(1, 2) + &line(2, 3) + &line(5, 6) + &line(6, 5))).unwrap();
        assert_eq!(all.resolve(IssueId(1)), IssueId(3));
        assert_eq!(all.resolve(IssueId(4)), IssueId(4));
        assert_eq!(all.resolve(IssueId(5)), IssueId(5));
    }

    #[test]
    fn a_bad_line_is_named() {
        let error = IssueDecisions::parse("\n{\"at\":1}\n").unwrap_err();
        assert!(error.to_string().starts_with("line 2 is not a decision"), "{error}");
    }

    #[test]
    fn escalating_is_more_than_noise() {
        for (this_week, before, want) in [
            (5, [0, 0, 0, 0], true),
            (4, [0, 0, 0, 0], false),
            (20, [18, 22, 19, 21], false),
            (40, [18, 22, 19, 21], true),
            (12, [0, 10, 0, 10], false),
        ] {
            assert_eq!(is_escalating(this_week, before), want, "{this_week} {before:?}");
        }
    }
}
