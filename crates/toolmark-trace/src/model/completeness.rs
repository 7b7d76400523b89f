//! Known gaps of a trace, or of the run it records.

use super::{Call, EventKind, Fact, Form, Status, Text, Trajectory};
use std::fmt;

/// Known gaps of a trace, or of the run it records. Readers and runners fill them in;
/// [`Trajectory::gap`] and [`Trajectory::gap_of_calls`] are the questions to ask.
#[derive(Debug, Clone, Default)]
pub struct Completeness {
    /// Whether the trace stops before its end: its last record could not be read.
    pub truncated: bool,
    /// Records of this run, or parts of them, that could not be read.
    pub skipped_records: u64,
    /// The error that the run ended with, as its source states it.
    pub declared_error: Option<Text>,
    /// Calls or results that share an ID with others, so that it is unknown how many calls
    /// were made, or which result belongs to which.
    pub shared_ids: u64,
}

/// Reason why something that a trace does not show may nevertheless have happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Gap {
    /// The last record of the trace could not be read.
    Truncated,
    /// Records of the trace could not be read.
    Skipped(u64),
    /// The run ended with this error, before it was done.
    DeclaredError(String),
    /// The host or the provider stopped the run for this reason, before it was done.
    Stopped(String),
    /// Records or blocks of an unknown kind may be what the model said or called.
    NotUnderstood(u64),
    /// The model has not answered once.
    NoResponse,
    /// Calls have no tool name.
    Nameless(u64),
    /// Calls have no result although the source records results.
    Unanswered(u64),
    /// Results have no call.
    Orphans(u64),
    /// Calls cannot be told apart, because they share an ID.
    SharedIds(u64),
    /// Arguments of calls are not the JSON they should be.
    BrokenArguments(u64),
    /// Sub-agents were started whose records are not in the trace.
    SubAgents(u64),
}

impl Gap {
    /// Whether a part of the trace was lost. Otherwise the trace is complete, but the
    /// run is not.
    #[must_use]
    pub fn loses_records(&self) -> bool {
        matches!(self, Self::Truncated | Self::Skipped(_))
    }

    /// Whether calls, and what the model did before or after them, are missing from all that is
    /// counted, and not only details of calls.
    #[must_use]
    pub fn hides_steps(&self) -> bool {
        matches!(self, Self::Unanswered(_) | Self::Orphans(_) | Self::SharedIds(_))
    }
}

impl fmt::Display for Gap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let things = |n: u64, one: &str| match n {
            1 => format!("1 {one}"),
            n => format!("{n} {one}s"),
        };
        let has = |n: u64| if n == 1 { "has" } else { "have" };
        match self {
            Self::Truncated => f.write_str("the trace is cut off: its last record cannot be read"),
            Self::Skipped(n) => write!(f, "{} of the trace cannot be read", things(*n, "record")),
            Self::DeclaredError(error) => write!(f, "the run ended with an error: {error}"),
            Self::Stopped(why) => write!(f, "the run was stopped before it was done: {why}"),
            Self::NotUnderstood(n) => {
                write!(f, "{} of the model {} an unknown kind", things(*n, "record"), has(*n))
            }
            Self::NoResponse => f.write_str("the trace has no response of the model"),
            Self::Nameless(n) => write!(f, "{} {} no tool name", things(*n, "call"), has(*n)),
            Self::Unanswered(n) => write!(f, "{} {} no result", things(*n, "call"), has(*n)),
            Self::Orphans(n) => write!(f, "{} {} no call", things(*n, "result"), has(*n)),
            Self::SharedIds(1) => f.write_str("1 call shares its ID with another"),
            Self::SharedIds(n) => write!(f, "{n} calls share their ID with others"),
            Self::BrokenArguments(n) => {
                write!(f, "{} {} arguments that are not valid JSON", things(*n, "call"), has(*n))
            }
            Self::SubAgents(n) => {
                let verb = if *n == 1 { "is" } else { "are" };
                write!(f, "the records of {} {verb} not in the trace", things(*n, "sub-agent"))
            }
        }
    }
}

impl Trajectory {
    /// Returns the reason why something that this trace does not show may nevertheless have
    /// happened: a part of the trace is lost, or the run did not come to its end. Conclusions from
    /// absence, and from an upper limit that was kept, need `None`.
    #[must_use]
    pub fn gap(&self) -> Option<Gap> {
        let silent = || (!self.has_response()).then_some(Gap::NoResponse);
        let not_understood = || match self.events.iter().filter(|e| e.may_be_of_model()).count() {
            0 => None,
            count => Some(Gap::NotUnderstood(count as u64)),
        };
        self.lost_records().or_else(|| self.early_end()).or_else(not_understood).or_else(silent)
    }

    /// Returns the reason why the calls of this trace are not all that can be known of them:
    /// which tool was called, with which arguments and with which result. Conclusions from the
    /// absence of a call, and from few calls, need `None` here as well.
    #[must_use]
    pub fn gap_of_calls(&self) -> Option<Gap> {
        let answers = !self.fidelity.lacks(Fact::Results);
        // A run may end with the call that submits its answer.
        let ends_well = self.outcome.as_ref().is_some_and(|word| {
            let word = word.get();
            Ending::of(&word) == Ending::Done && !word.contains("tool") && !word.contains("call")
        });
        let last_step = (self.steps.len() as u32).checked_sub(1);
        let (mut nameless, mut open, mut broken, mut agents) = (0, 0, 0, 0);
        for (at, call) in self.calls.iter().enumerate() {
            nameless += u64::from(call.name.original.raw().trim().is_empty());
            let is_last = call.step == last_step
                && (ends_well && call.step.is_some()
                    || at + 1 == self.calls.len() && ends_run(call.name.original.raw()));
            open += u64::from(answers && call.status == Status::Unanswered && !is_last);
            broken += u64::from(has_broken_arguments(call));
            agents += u64::from(self.starts_agent(call));
        }
        let away = agents.saturating_sub(self.children.len() as u64);
        let gaps = [
            Gap::Unanswered(open),
            Gap::Orphans(u64::from(self.orphans)),
            Gap::SharedIds(self.completeness.shared_ids),
            Gap::Nameless(nameless),
            Gap::BrokenArguments(broken),
            Gap::SubAgents(away),
        ];
        gaps.into_iter().find(|gap| !gap.is_empty())
    }

    pub(super) fn lost_records(&self) -> Option<Gap> {
        match (self.completeness.truncated, self.completeness.skipped_records) {
            (true, _) => Some(Gap::Truncated),
            (false, 0) => None,
            (false, records) => Some(Gap::Skipped(records)),
        }
    }

    /// The error or the limit that ended the run, as the source states it.
    fn early_end(&self) -> Option<Gap> {
        const MAX_CHARS: usize = 200;
        let cut = |words: &Text| words.get().chars().take(MAX_CHARS).collect();
        if let Some(error) = &self.completeness.declared_error {
            return Some(Gap::DeclaredError(cut(error)));
        }
        if let Some(word) = &self.outcome {
            match Ending::of(&word.get()) {
                Ending::Done => {}
                Ending::Error => return Some(Gap::DeclaredError(cut(word))),
                Ending::Stopped => return Some(Gap::Stopped(cut(word))),
            }
        }
        self.last_words()
    }

    /// The end of a run that no word describes: an error after which the model said nothing, an
    /// interruption by the user, a response that was cut off.
    fn last_words(&self) -> Option<Gap> {
        const INTERRUPTED: &str = "[Request interrupted by user";
        let is_silent =
            |kind: &EventKind| matches!(kind, EventKind::Note(_) | EventKind::Unknown(_));
        let last = self.events.iter().rev().find(|event| !is_silent(&event.kind))?;
        let words = last.text.as_ref().map(|text| text.plain_start(200).into_owned());
        match (&last.kind, words) {
            (EventKind::Error, Some(words)) => {
                (!words.trim().is_empty()).then_some(Gap::DeclaredError(words))
            }
            (EventKind::Context, Some(words)) if words.starts_with(INTERRUPTED) => {
                Some(Gap::Stopped("interrupted by the user".to_owned()))
            }
            _ => {
                let is_cut = self.steps.last().is_some_and(|step| !step.complete);
                is_cut.then(|| Gap::Stopped("its last response is cut off".to_owned()))
            }
        }
    }

    /// Whether a call started a sub-agent.
    fn starts_agent(&self, call: &Call) -> bool {
        let is_over = matches!(call.status, Status::Succeeded | Status::Unknown);
        call.spawned.is_some() || is_over && is_agent_tool(self.format, call.name.original.raw())
    }
}

/// Whether a call of this tool ends the run, so that it never has a result.
fn ends_run(tool: &str) -> bool {
    matches!(tool, "finish" | "attempt_completion" | "submit" | "complete_task" | "final_answer")
}

/// Whether a tool of a host starts a sub-agent.
fn is_agent_tool(format: &str, tool: &str) -> bool {
    match tool {
        "Task" | "Agent" => matches!(format, "claude-code" | "claude-hooks" | "droid"),
        "task" => matches!(format, "opencode" | "copilot-cli"),
        "delegate_to_agent" | "codebase_investigator" => format == "gemini-cli",
        "spawn_agent" => matches!(format, "codex-rollout" | "codex-exec"),
        _ => false,
    }
}

impl Gap {
    fn is_empty(&self) -> bool {
        matches!(
            self,
            Self::Nameless(0)
                | Self::Unanswered(0)
                | Self::Orphans(0)
                | Self::SharedIds(0)
                | Self::BrokenArguments(0)
                | Self::SubAgents(0)
        )
    }
}

/// Whether the arguments of a call begin as JSON does, and are not.
fn has_broken_arguments(call: &Call) -> bool {
    call.args.as_ref().is_some_and(|args| {
        args.form() == Form::Text
            && args.raw().trim_start().starts_with(['{', '['])
            && args.parsed().is_none()
    })
}

/// Meaning of the word with which a source says how a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// The run was done, or the word says nothing about it.
    Done,
    /// The run ended with an error: `error_max_turns`, `agent_timeout`, `cancelled`.
    Error,
    /// A limit or a filter ended the run: `length`, `max_steps`, `content_filter`.
    Stopped,
}

impl Ending {
    /// Reads a word, whose parts may be separated by case or by other characters.
    pub(crate) fn of(word: &str) -> Self {
        const ERRORS: [&str; 15] = [
            "error",
            "errors",
            "errored",
            "exception",
            "crash",
            "crashed",
            "timeout",
            "timedout",
            "aborted",
            "cancelled",
            "canceled",
            "interrupted",
            "killed",
            "terminated",
            "stuck",
        ];
        const STOPS: [&str; 20] = [
            "guardrail",
            "intervened",
            "length",
            "limit",
            "limits",
            "limited",
            "exceeded",
            "max",
            "maximum",
            "budget",
            "cost",
            "context",
            "incomplete",
            "truncated",
            "pause",
            "filter",
            "filtered",
            "safety",
            "recitation",
            "paused",
        ];
        let mut words = String::with_capacity(word.len() + 4);
        let mut was_lower = false;
        for c in word.chars().take(200) {
            if was_lower && c.is_ascii_uppercase() {
                words.push(' ');
            }
            was_lower = c.is_ascii_lowercase();
            words.push(c.to_ascii_lowercase());
        }
        let words = words.replace("timed_out", "timeout").replace("timed out", "timeout");
        let mut parts = words.split(|c: char| !c.is_ascii_alphanumeric());
        if parts.clone().any(|part| ERRORS.contains(&part)) {
            return Self::Error;
        }
        if parts.any(|part| STOPS.contains(&part)) { Self::Stopped } else { Self::Done }
    }
}

#[cfg(test)]
mod tests {
    use super::{Ending, Gap};
    use crate::testing::read_text;

    #[test]
    fn words_for_an_end() {
        for (word, expected) in [
            ("success", Ending::Done),
            ("completed", Ending::Done),
            ("quality_failure", Ending::Done),
            ("end_turn", Ending::Done),
            ("stop", Ending::Done),
            ("tool_calls", Ending::Done),
            ("user_stop", Ending::Done),
            ("terror", Ending::Done),
            ("execution_error", Ending::Error),
            ("error_max_turns", Ending::Error),
            ("agent_timeout", Ending::Error),
            ("TIMED_OUT", Ending::Error),
            ("Cancelled", Ending::Error),
            ("too_many_errors", Ending::Error),
            ("length", Ending::Stopped),
            ("max_tokens", Ending::Stopped),
            ("MAX_TOKENS", Ending::Stopped),
            ("maxTurns", Ending::Stopped),
            ("LimitsExceeded", Ending::Stopped),
            ("token limit", Ending::Stopped),
            ("content_filter", Ending::Stopped),
            ("guardrail_intervened", Ending::Stopped),
            ("exit_cost", Ending::Stopped),
            ("Maximum number of messages 10 reached", Ending::Stopped),
        ] {
            assert_eq!(Ending::of(word), expected, "{word}");
        }
    }

    #[test]
    fn calls_that_say_too_little() {
        const ASKED: &str = r#"{"role":"user","content":"go"}"#;
        const DONE: &str = r#"{"role":"assistant","content":"done"}"#;
        let call = |id: &str, name: &str, args: &str| {
            let args = serde_json::to_string(args).unwrap();
            format!(
                r#"{{"role":"assistant","tool_calls":[{{"id":"{id}","type":"function","function":{{"name":"{name}","arguments":{args}}}}}]}}"#
            )
        };
        let result = |id: &str, text: &str| {
            format!(r#"{{"role":"tool","tool_call_id":"{id}","content":"{text}"}}"#)
        };
        let read = || call("1", "read", "{}");
        for (lines, expected) in [
            (vec![read(), result("1", "ok")], None),
            // A source that records no results says nothing by a call without one.
            (vec![read()], None),
            (vec![read(), result("1", "ok"), call("2", "w", "{}")], Some(Gap::Unanswered(1))),
            (vec![call("1", "", "{}"), result("1", "ok")], Some(Gap::Nameless(1))),
            (vec![call("1", "  ", "{}"), result("1", "ok")], Some(Gap::Nameless(1))),
            (
                vec![call("1", "sh", "{\"a\": \"rm"), result("1", "ok")],
                Some(Gap::BrokenArguments(1)),
            ),
            (
                vec![call("1", "sh", "{'a': 'rm'}"), result("1", "ok")],
                Some(Gap::BrokenArguments(1)),
            ),
            (vec![call("1", "sh", ""), result("1", "ok")], None),
            // Two answers to one call that say different things are of two calls.
            (vec![read(), result("1", "busy"), result("1", "done")], Some(Gap::SharedIds(1))),
            (vec![read(), result("1", "ok"), result("1", "ok")], None),
            (vec![read(), read(), result("1", "a"), result("1", "b")], Some(Gap::SharedIds(1))),
            // One call after the other.
            (vec![read(), result("1", "a"), read(), result("1", "b")], None),
        ] {
            let mut all = vec![ASKED.to_owned()];
            all.extend(lines);
            all.push(DONE.to_owned());
            let text = all.join("\n");
            assert_eq!(read_text(&text).runs[0].gap_of_calls(), expected, "{text}");
        }
        // The call that ends a run never has a result; another one that is last does.
        // Without steps, only the last call of the run is the last one.
        let early = [ASKED.to_owned(), call("2", "finish", "{}"), read(), result("1", "ok")];
        let mut run = read_text(&early.join("\n")).runs.remove(0);
        run.steps.clear();
        run.calls.iter_mut().for_each(|call| call.step = None);
        assert_eq!(run.gap_of_calls(), Some(Gap::Unanswered(1)));
        for (name, expected) in
            [("finish", None), ("attempt_completion", None), ("write", Some(Gap::Unanswered(1)))]
        {
            let lines = [ASKED.to_owned(), read(), result("1", "ok"), call("2", name, "{}")];
            assert_eq!(read_text(&lines.join("\n")).runs[0].gap_of_calls(), expected, "{name}");
        }
    }
}
