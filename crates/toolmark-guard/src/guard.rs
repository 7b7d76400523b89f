//! The guard: decides about the effects of a call by the policy.

use crate::after::look_back;
use crate::policy::{Policy, by_instruction};
use crate::repository;
use std::path::Path;
use toolmark_hosts::GuardAnswer;
use toolmark_hosts::toolset::{Tool, Toolsets};
use toolmark_hosts::{HookEvent, Moment};
use toolmark_session::effects::ToolInput;
use toolmark_session::session::Session;
use toolmark_session::tool_rules::{Past, SessionPast};
use toolmark_shell::{Decision, FileFacts, Protection};
use toolmark_trace::{ToolName, Trajectory};

/// Decides about calls.
#[derive(Debug, Default)]
pub struct Guard {
    policy: Policy,
    toolsets: Toolsets,
    transcripts: Option<TranscriptReader>,
}

/// Reads the file in which a host keeps a session.
pub type TranscriptReader = fn(&Path) -> Option<Trajectory>;

impl Guard {
    /// Creates a guard from a policy and the user's own toolsets.
    #[must_use]
    pub fn new(policy: Policy, toolsets: Toolsets) -> Self {
        Self { policy, toolsets, transcripts: None }
    }

    /// Adds a reader of transcripts, for conditions on earlier calls.
    #[must_use]
    pub fn reading(self, transcripts: Option<TranscriptReader>) -> Self {
        Self { transcripts, ..self }
    }

    /// Adds further files of the guard that must not be changed.
    #[must_use]
    pub(crate) fn protecting(self, paths: Vec<String>) -> Self {
        Self { policy: self.policy.protecting(paths, Protection::Policy), ..self }
    }

    /// Returns the policy.
    #[must_use]
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Decides about a call that is about to run, and reviews one that has run.
    #[must_use]
    pub fn decide(&self, event: &HookEvent<'_>, facts: Option<&dyn FileFacts>) -> GuardAnswer {
        self.decide_after(event, facts, None)
    }

    /// Decides about a call, given the calls and messages before it. Without them, the transcript
    /// of the host is read if the policy has conditions on the tool.
    #[must_use]
    pub fn decide_after(
        &self,
        event: &HookEvent<'_>,
        facts: Option<&dyn FileFacts>,
        past: Option<&dyn Past>,
    ) -> GuardAnswer {
        let input = self.input(event);
        match event.moment {
            Moment::Before | Moment::Permission => {
                let verdict = self.verdict(event, &input, facts);
                match self.by_past(event, past) {
                    Some(other) => raised(verdict, other),
                    None => verdict,
                }
            }
            Moment::After => look_back(event, &input),
            Moment::Other if event.name == "SessionStart" => repository::at_start(event),
            Moment::Other => GuardAnswer::allow(),
        }
    }

    /// Returns the verdict by the calls and messages before the call.
    fn by_past(&self, event: &HookEvent<'_>, past: Option<&dyn Past>) -> Option<GuardAnswer> {
        if let Some(past) = past {
            let by_conditions = self.policy.by_conditions(event, past);
            return by_conditions.or_else(|| by_instruction(event, past));
        }
        if !self.policy.has_conditions(&event.tool) {
            return None;
        }
        let path = event.transcript.as_deref().map(Path::new).filter(|path| path.is_absolute());
        let run = self.transcripts.zip(path).and_then(|(read, path)| read(path));
        let Some(run) = run else { return self.policy.without_past(&event.tool) };
        let session = Session::new(&run, &self.toolsets);
        let past = SessionPast::of_pending(&session, event.call_id.as_deref());
        self.policy.by_conditions(event, &past).or_else(|| by_instruction(event, &past))
    }

    /// Returns the call in the form used by the analysis.
    fn input<'e>(&'e self, event: &'e HookEvent<'_>) -> ToolInput<'e> {
        ToolInput {
            name: event.tool.as_ref().into(),
            tool: self.tool(event),
            args: (&event.args).into(),
            cwd: event.cwd.as_deref(),
        }
    }

    /// Returns the command line that a call runs.
    #[must_use]
    pub fn command(&self, event: &HookEvent<'_>) -> Option<String> {
        self.input(event).command().map(|command| command.into_owned())
    }

    /// Returns the verdict about a call whose tool is known.
    pub(crate) fn verdict(
        &self,
        event: &HookEvent<'_>,
        input: &ToolInput<'_>,
        facts: Option<&dyn FileFacts>,
    ) -> GuardAnswer {
        let verdict = self.policy.verdict(event, input, facts);
        let said = verdict.observed.unwrap_or(verdict.decision);
        let Some(name) = self.unseen(event, input).filter(|_| said == Decision::Allow) else {
            return verdict;
        };
        let words = format!("the argument {name} is too large to be looked at");
        let asks = GuardAnswer::new(Decision::Ask, "size", words);
        // A policy that only observes stops nothing.
        match verdict.observed {
            Some(_) => {
                GuardAnswer { decision: Decision::Allow, observed: Some(Decision::Ask), ..asks }
            }
            None => asks,
        }
    }

    /// Returns an omitted argument on which the decision depends.
    fn unseen<'e>(&self, event: &'e HookEvent<'_>, input: &ToolInput<'_>) -> Option<&'e str> {
        let runs = |name: &String| {
            input.tool.is_some_and(|tool| tool.command.contains(name) || tool.patch.contains(name))
        };
        let by_policy = self.policy.looks_at_arguments();
        event.left_out.iter().find(|name| by_policy || runs(name)).map(String::as_str)
    }

    /// Returns the user's own toolsets.
    #[must_use]
    pub fn toolsets(&self) -> &Toolsets {
        &self.toolsets
    }

    /// Returns the known properties of the tool of a call.
    fn tool(&self, event: &HookEvent<'_>) -> Option<&Tool> {
        self.toolsets.tool_of(&event.host, &ToolName::new(event.tool.as_ref()))
    }
}

/// Returns the stricter of two verdicts. A policy that only observes stops nothing.
fn raised(verdict: GuardAnswer, other: GuardAnswer) -> GuardAnswer {
    if other.decision <= verdict.observed.unwrap_or(verdict.decision) {
        return verdict;
    }
    let analysis = verdict.analysis;
    match verdict.observed {
        Some(_) => {
            let observed = Some(other.decision);
            GuardAnswer { decision: Decision::Allow, observed, analysis, ..other }
        }
        None => GuardAnswer { analysis, ..other },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::{Layer, PolicyOrigin};
    use serde_json::json;
    use toolmark_config::Node;
    use toolmark_match::call_match::compile_schema;

    #[test]
    fn what_is_too_large_to_be_looked_at() {
        let large = "x".repeat(2 << 20);
        for (tool, input, decision) in [
            ("Bash", json!({"command": format!("echo {large}")}), Decision::Ask),
            ("Write", json!({"file_path": "/w/a", "content": large}), Decision::Allow),
            ("Write", json!({"file_path": "/etc/passwd", "content": large}), Decision::Deny),
            ("mcp__x__put", json!({"rows": large}), Decision::Allow),
        ] {
            let payload = json!({"hook_event_name": "PreToolUse", "tool_name": tool,
                "tool_input": input, "cwd": "/w"});
            let payload = payload.to_string();
            let host = toolmark_hosts::by_id("claude-code").unwrap();
            let event = host.read(payload.as_bytes()).unwrap();
            assert_eq!(Guard::default().decide(&event, None).decision, decision, "{tool}");
            let part = Node::from_json(&json!({"preset": "observe"})).unwrap();
            let layer =
                Layer::read(&part, PolicyOrigin::default(), compile_schema, &mut Vec::new());
            let observing = Policy::new(Some(layer), None, None);
            let verdict = Guard::new(observing, Toolsets::default()).decide(&event, None);
            assert_eq!((verdict.decision, verdict.observed), (Decision::Allow, Some(decision)));
        }
    }
}
