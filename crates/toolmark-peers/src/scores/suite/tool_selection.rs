//! `tool-selection`: scores the choice of tools.

use super::config::{SuiteConfig, SuiteSettings};
use super::input::SuiteInput;
use super::task_completion::PROFILES;
use crate::futureagi::graders::agents;
use crate::reading::ReadingQuestion;
use crate::scores::question::build;
use toolmark_base::SortedSet;
use toolmark_grade::{GraderInfo, Taxonomy, schema_of};
use toolmark_outcome::{
    Cause, Evidence, EvidenceRole, Outcome, OutcomePart, Profile, Subject, TrajectoryView, Verdict,
};

/// Maximum number of listed calls; the rest are only counted.
const MAX_SHOWN: usize = 20;

pub(crate) static INFO: GraderInfo = GraderInfo {
    id: "tool-selection",
    aliases: &["tool_selection_accuracy"],
    origin: "toolmark",
    summary: "checks that required tools were called, and only existing ones",
    docs: "Checks whether the right tools were chosen. Every tool of the task's `required_tools` must be called and succeed, and every call \
must be of a tool in `available_tools` (of the configuration or the row, else those the trace records). Where neither is \
known, the verdict is unknown. The score is the share of required tools and of calls that are right.

The profile `futureagi` (ai-evaluation 1.1.0, ToolSelectionAccuracy) adds up required tools (0.4), tools that exist \
(0.3) and calls that succeeded (0.3), as far as each is given; no calls at all are 1, even where tools are required. It \
passes from 0.5 on.",
    example: "type: tool-selection\nconfig:\n  task: {required_tools: [Read, Edit]}\n  available_tools: [Read, Edit, Bash]",
    taxonomy: Taxonomy::EXPECTED,
    profiles: PROFILES,
    schema: schema_of::<SuiteConfig>,
    build: |building| {
        let used = &["task", "available_tools", "threshold"];
        let settings = SuiteSettings::read(building, PROFILES, used)?;
        build(building, PROFILES, ToolSelection { settings })
    },
};

struct ToolSelection {
    settings: SuiteSettings,
}

impl ReadingQuestion for ToolSelection {
    fn answer(&self, subject: &Subject<'_>, profile: Profile) -> Outcome {
        if profile == Profile::FutureAgi {
            let input = SuiteInput::theirs(&self.settings, subject);
            let score = agents::tool_selection(&input);
            let verdict = Verdict::of(score >= self.settings.threshold(profile));
            return Outcome::scored(verdict, score, format!("tool selection {score}"));
        }
        ours(&SuiteInput::ours(&self.settings, subject), &subject.view)
    }
}

/// Grades the choice of tools from the trace.
pub(super) fn ours(input: &SuiteInput, view: &TrajectoryView<'_>) -> Outcome {
    let required = input.task.required_tools.as_deref().unwrap_or_default();
    let available: Option<SortedSet<&str>> =
        input.available_tools.as_ref().map(|tools| tools.iter().map(String::as_str).collect());
    if required.is_empty() && available.is_none() {
        let why = "nothing says which tools are required or available";
        return Outcome::unknown(Cause::MissingEvidence, why);
    }
    let mut parts = Vec::new();
    let mut evidence = Vec::new();
    for tool in required {
        let done = input.calls().any(|call| call.name == *tool && call.success);
        parts.push(OutcomePart::new(format!("{tool} was called"), Verdict::of(done)));
        if !done {
            evidence.push(Evidence::absence(format!("{tool} was not called, or failed")));
        }
    }
    let (mut calls, mut invalid) = (0, 0);
    for call in input.calls().filter(|_| available.is_some()) {
        calls += 1;
        if available.as_ref().is_some_and(|tools| !tools.contains(call.name.as_str())) {
            invalid += 1;
            let text = format!("{} is not available", call.name);
            let seen = call.place.and_then(|at| view.calls().get(at));
            evidence.push(match seen {
                Some(seen) => view.evidence(EvidenceRole::Violation, text, *seen),
                None => Evidence::words(EvidenceRole::Violation, text),
            });
        }
    }
    let held = parts.iter().filter(|part| part.verdict == Verdict::Pass).count();
    let (right, all) = (held + calls - invalid, parts.len() + calls);
    let score = if all == 0 { 1.0 } else { right as f64 / all as f64 };
    let reason = format!(
        "{held} of {} required tools called, {invalid} calls of others than the available",
        parts.len()
    );
    let mut outcome = Outcome::scored(Verdict::of(right == all), score, reason);
    outcome.parts = parts;
    evidence.truncate(MAX_SHOWN);
    outcome.evidence = evidence;
    outcome
}

#[cfg(test)]
mod tests {
    use crate::scores::testing::{names, own, theirs};
    use serde_json::json;
    use toolmark_outcome::Profile::FutureAgi;

    const ID: &str = "tool-selection";

    #[test]
    fn required_and_available() {
        for (required, available, made, ours, library) in [
            (json!(["a"]), json!(["a", "b"]), "ab", Some(1.0), 1.0),
            (json!(["a"]), json!(null), "", Some(0.0), 1.0),
            (json!(["a", "b"]), json!(null), "a", Some(0.5), 0.7143),
            (json!(null), json!(["a"]), "ab", Some(0.5), 0.75),
            (json!(null), json!(null), "a", None, 1.0),
        ] {
            let mut config = json!({"task": {"description": "d"}});
            config["task"]["required_tools"] = required.clone();
            config["available_tools"] = available.clone();
            let made = names(made);
            assert_eq!(own(ID, config.clone(), &made).score, ours, "{config}");
            let theirs = theirs(ID, FutureAgi, config.clone(), &made);
            assert_eq!(theirs.score, Some(library), "{config}");
        }
    }
}
