//! `assistant-contains-tool-output`: checks that the output of a tool reaches the user.

use super::observed::{is_vally, observed};
use super::tool_filter::ToolFilter;
use schemars::JsonSchema;
use serde::Deserialize;
use std::borrow::Cow;
use std::sync::Arc;
use toolmark_config::{Problem, Spanned};
use toolmark_grade::{Grader, GraderInfo, Taxonomy, schema_of};
use toolmark_outcome::Profile;
use toolmark_outcome::Subject;
use toolmark_outcome::{Cause, Outcome};
use toolmark_outcome::{Evidence, EvidenceRole, excerpt};
use toolmark_outcome::{Missing, TrajectoryView};
use toolmark_pattern::Pattern;
use toolmark_trace::{Call, EventKind, Fact};

/// The value in a tool's result that the agent must mention.
#[derive(Debug, Deserialize, JsonSchema)]
struct AssistantEchoConfig {
    /// Regular expressions: tools whose results are searched.
    tools: Spanned<Vec<Spanned<String>>>,
    /// A regular expression that is searched for in each result. Its first group is the
    /// value that must be mentioned; the whole match if it has no group.
    pattern: Spanned<String>,
}

pub(crate) static ASSISTANT_CONTAINS_TOOL_OUTPUT: GraderInfo = GraderInfo {
    id: "assistant-contains-tool-output",
    aliases: &[],
    origin: "vally",
    summary: "checks that the agent repeats a value from a tool's result",
    docs: "Passes if a value from a tool's result occurs in a later message of the agent.

Results of tools that match one of `tools` are searched for `pattern`; the value is its first group, or the whole match \
where it has none. One value that a message after the result contains, letter for letter, is enough. A run without such \
a result fails: there was nothing to say.

Results that are not text are searched as JSON, and the words inside Copilot's results as they are.",
    example: "type: assistant-contains-tool-output\nconfig:\n  tools: [^create_ticket$]\n  pattern: \"id: ([A-Z]+-\\\\d+)\"",
    taxonomy: Taxonomy::TRAJECTORY,
    profiles: &[Profile::Vally],
    schema: schema_of::<AssistantEchoConfig>,
    build: |building| {
        let config = building.read::<AssistantEchoConfig>()?;
        let tools = ToolFilter::build(Some(&config.tools), building);
        let pattern = building.pattern(&config.pattern)?;
        if pattern.matches_empty() {
            let message = format!("/{pattern}/ matches the empty text, and so every output");
            let problem = Problem::warning("pattern-matches-all", message);
            building.problems.push(problem.at(config.pattern.span));
        }
        Some(Arc::new(AssistantEcho { tools: tools?, pattern }))
    },
};

struct AssistantEcho {
    tools: ToolFilter,
    pattern: Pattern,
}

/// A value and the call that produced it.
struct Captured {
    index: u32,
    value: String,
}

/// Maximum number of values to search for.
const MAX_VALUES: usize = 10_000;

impl Grader for AssistantEcho {
    fn grade(&self, subject: &Subject<'_>) -> Outcome {
        let view = &subject.view;
        let fidelity = view.trajectory().fidelity;
        for (fact, what) in [(Fact::Results, "results of calls"), (Fact::Messages, "messages")] {
            if fidelity.lacks(fact) && !is_vally(view) {
                let why = format!("the trace does not record {what}");
                return Outcome::unknown(Cause::MissingEvidence, why);
            }
        }
        self.judge(view).unwrap_or_else(|missing| Outcome::unknown(Cause::Limit, missing.0))
    }
}

impl AssistantEcho {
    fn judge(&self, view: &TrajectoryView<'_>) -> Result<Outcome, Missing> {
        let mut captured: Vec<Captured> = Vec::new();
        for event in view.events() {
            match &event.kind {
                EventKind::Result(index) => captured.extend(self.capture(view, *index)?),
                EventKind::Message => {
                    let Some(text) = event.text.as_ref().map(|text| text.plain()) else { continue };
                    if let Some(said) = captured.iter().find(|c| text.contains(&c.value)) {
                        let value = excerpt(&said.value);
                        let reason = format!("\"{value}\" of a result is in a later message");
                        let message =
                            view.event_evidence(EvidenceRole::Matched, "said here", event);
                        let given = source(view, said, EvidenceRole::Matched, "given here");
                        return Ok(Outcome::binary(true, reason)
                            .with_evidence(given)
                            .with_evidence([message]));
                    }
                }
                _ => {}
            }
            if captured.len() > MAX_VALUES {
                return Err(Missing::new("there are too many values to look for"));
            }
        }
        let reason = match captured.as_slice() {
            [] => format!("no result matches /{}/: there was nothing to say", self.pattern),
            [one] => format!("\"{}\" is in no later message", excerpt(&one.value)),
            many => format!("none of {} values is in a later message", many.len()),
        };
        let mut outcome = Outcome::binary(false, reason);
        let shown = captured.iter().take(10);
        outcome
            .evidence
            .extend(shown.flat_map(|c| source(view, c, EvidenceRole::Missing, "given, not said")));
        if captured.is_empty() {
            let text = format!("a result that matches /{}/", self.pattern);
            outcome.evidence.push(Evidence::absence(text));
        }
        Ok(outcome)
    }

    fn capture(&self, view: &TrajectoryView<'_>, index: u32) -> Result<Option<Captured>, Missing> {
        let Some(call) = view.trajectory().calls.get(index as usize) else { return Ok(None) };
        if !self.tools.takes(&call.name.full())? {
            return Ok(None);
        }
        for text in texts(view, call) {
            let found = self.pattern.captures(&text).map_err(|_| {
                Missing(format!("/{}/ took too many steps on a result", self.pattern))
            })?;
            let Some(groups) = found else { continue };
            let range =
                groups.get(1).cloned().flatten().or_else(|| groups.first().cloned().flatten());
            let value = range.and_then(|range| text.get(range)).unwrap_or("");
            if !value.is_empty() {
                return Ok(Some(Captured { index, value: value.to_owned() }));
            }
        }
        Ok(None)
    }
}

/// Returns a result as readable text, and as JSON if that differs.
fn texts<'a>(view: &TrajectoryView<'_>, call: &'a Call) -> Vec<Cow<'a, str>> {
    let plain = call.result.as_ref().and_then(|r| r.payload.as_ref()).map(|p| p.plain());
    let mut texts: Vec<_> = plain.into_iter().collect();
    texts.extend(observed(view, call).filter(|json| texts.first() != Some(json)));
    texts
}

fn source(
    view: &TrajectoryView<'_>,
    captured: &Captured,
    role: EvidenceRole,
    text: &str,
) -> Option<Evidence> {
    let seen = view.calls().iter().find(|seen| seen.index == captured.index as usize)?;
    Some(Evidence {
        excerpt: Some(excerpt(&captured.value).into()),
        ..view.evidence(role, text, *seen)
    })
}

#[cfg(test)]
mod tests {
    use crate::testing::{complaints, grade, vally};
    use serde_json::{Value, json};
    use toolmark_outcome::Verdict;

    fn call(id: &str, tool: &str, result: Value) -> [(&'static str, Value); 2] {
        [
            ("tool_call", json!({"toolName": tool, "toolCallId": id, "arguments": {}})),
            ("tool_result", json!({"toolCallId": id, "success": true, "result": result})),
        ]
    }

    fn say(text: &str) -> [(&'static str, Value); 1] {
        [("assistant_message", json!({"content": text}))]
    }

    #[test]
    fn a_later_message_must_contain_the_value() {
        let make = call("1", "create_ticket", json!("created id: AB-7 today"));
        let again =
            call("2", "create_ticket", json!({"content": "id: CD-9", "detailedContent": ""}));
        let json_id = call("3", "create_ticket", json!({"id": "EF-1", "n": 2}));
        let other = call("4", "view", json!("id: AB-7"));
        let pattern = json!(r"id: ([A-Z]+-\d+)");
        for (events, pattern, verdict) in [
            ([&make[..], &say("It is AB-7.")].concat(), &pattern, Verdict::Pass),
            ([&say("It is AB-7.")[..], &make].concat(), &pattern, Verdict::Fail),
            ([&make[..], &say("It is ab-7.")].concat(), &pattern, Verdict::Fail),
            ([&make[..], &again, &say("It is CD-9.")].concat(), &pattern, Verdict::Pass),
            ([&other[..], &say("It is AB-7.")].concat(), &pattern, Verdict::Fail),
            ([&say("Nothing to do.")[..]].concat(), &pattern, Verdict::Fail),
            ([&json_id[..], &say("EF-1")].concat(), &json!(r#""id":"([^"]+)""#), Verdict::Pass),
            ([&make[..], &say("AB-7")].concat(), &json!(r"[A-Z]+-\d+"), Verdict::Pass),
        ] {
            let config = json!({"tools": ["^create_"], "pattern": pattern});
            let outcome = grade("assistant-contains-tool-output", config, &vally(&events));
            assert_eq!(outcome.verdict, verdict, "{events:?} {pattern}");
            assert!(!outcome.evidence.is_empty());
        }
    }

    #[test]
    fn mistakes() {
        for (config, complaint) in [
            (json!({"pattern": "a"}), "tools"),
            (json!({"tools": ["a"]}), "pattern"),
            (json!({"tools": [], "pattern": "a"}), "count nothing"),
            (json!({"tools": ["a"], "pattern": "("}), "regular expression"),
        ] {
            let said = complaints("assistant-contains-tool-output", &config).join("; ");
            assert!(said.contains(complaint), "{config}: {said}");
        }
    }
}
