//! `tool-calls`: checks that the required tools were called, the disallowed ones were not,
//! and the order and parallelism are right.

mod effects;
mod entry;
mod lists;
mod order;
#[cfg(test)]
mod tests;

use entry::{EntryList, ToolCallEntry, ToolEntry};
use schemars::JsonSchema;
use serde::Deserialize;
use std::sync::Arc;
use toolmark_config::{Node, Spanned};
use toolmark_grade::{AnswerCost, Grader, GraderInfo, Taxonomy, schema_of};
use toolmark_match::{Building, Mention};
use toolmark_outcome::Evidence;
use toolmark_outcome::Explanation;
use toolmark_outcome::Profile;
use toolmark_outcome::Subject;
use toolmark_outcome::{Cause, Contrast, Outcome, OutcomePart, Verdict};

/// Tools that must be called, must not be called, or must be called in order or in parallel.
#[derive(Debug, Deserialize, JsonSchema)]
struct ToolCallsConfig {
    /// Calls that must each be made.
    #[serde(default)]
    #[schemars(with = "Option<Vec<ToolEntry>>")]
    required: Option<Spanned<Vec<Node>>>,
    /// Calls that must not be made.
    #[serde(default)]
    #[schemars(with = "Option<Vec<ToolEntry>>")]
    disallowed: Option<Spanned<Vec<Node>>>,
    /// Calls that must be made in this order; other calls may come between them.
    #[serde(default)]
    #[schemars(with = "Option<Vec<ToolEntry>>")]
    sequence: Option<Spanned<Vec<Node>>>,
    /// Calls that must be made in parallel, by one response of the model.
    #[serde(default)]
    #[schemars(with = "Option<Vec<ToolEntry>>")]
    parallel: Option<Spanned<Vec<Node>>>,
}

pub(crate) static TOOL_CALLS: GraderInfo = GraderInfo {
    id: "tool-calls",
    aliases: &[],
    origin: "vally",
    summary: "checks for required and forbidden tool calls",
    docs: include_str!("page.md"),
    example: "type: tool-calls
config:
  required:
    - create
    - name: ^bash$
      command: npm test
  disallowed:
    - name: view
      path: secret\\.env$
  sequence:
    - ^validate
    - ^(create|update)",
    taxonomy: Taxonomy { cost: AnswerCost::Low, ..Taxonomy::TRAJECTORY },
    profiles: &[Profile::Vally],
    schema: schema_of::<ToolCallsConfig>,
    build,
};

fn build(building: &mut Building<'_>) -> Option<Arc<dyn Grader>> {
    let config = building.read::<ToolCallsConfig>()?;
    let lists = [
        (EntryList::Required, &config.required),
        (EntryList::Disallowed, &config.disallowed),
        (EntryList::Sequence, &config.sequence),
        (EntryList::Parallel, &config.parallel),
    ];
    if lists.iter().all(|(_, entries)| entries.is_none()) {
        let message = "the config is empty: add required, disallowed, sequence or parallel";
        building.reject(building.config.span, "nothing-asked", message);
        return None;
    }
    // All of them are looked at, so that all mistakes are reported.
    let [required, disallowed, sequence, parallel] =
        lists.map(|(list, entries)| read_list(list, entries.as_ref(), building));
    Some(Arc::new(ToolCalls {
        required: required?,
        disallowed: disallowed?,
        sequence: sequence?,
        parallel: parallel?,
        profile: building.profile,
        contrast: building.contrast,
    }))
}

fn read_list(
    list: EntryList,
    entries: Option<&Spanned<Vec<Node>>>,
    building: &mut Building<'_>,
) -> Option<Vec<ToolCallEntry>> {
    let Some(entries) = entries else { return Some(Vec::new()) };
    if entries.is_empty() {
        let message = format!("{} is an empty list, which asks nothing", list.word());
        building.reject(entries.span, "empty-list", message);
        return None;
    }
    let read: Vec<_> =
        entries.iter().map(|node| ToolCallEntry::build(node, list, building)).collect();
    read.into_iter().collect()
}

struct ToolCalls {
    required: Vec<ToolCallEntry>,
    disallowed: Vec<ToolCallEntry>,
    sequence: Vec<ToolCallEntry>,
    parallel: Vec<ToolCallEntry>,
    profile: Profile,
    contrast: Option<Profile>,
}

/// Combined results of the lists.
#[derive(Default)]
struct ListResults {
    parts: Vec<OutcomePart>,
    evidence: Vec<Evidence>,
    /// Amount of omitted evidence.
    left_out: usize,
    notes: Vec<String>,
    explanation: Option<Explanation>,
}

/// Maximum amount of evidence per outcome.
const EVIDENCE: usize = 20;

/// Maximum number of tools listed per outcome.
const TOOLS: usize = 100;

/// Maximum number of reasons listed per outcome.
const REASONS: usize = 4;

impl ListResults {
    fn show(&mut self, evidence: Evidence) {
        if self.evidence.len() < EVIDENCE {
            self.evidence.push(evidence);
        } else {
            self.left_out += 1;
        }
    }

    fn part(&mut self, text: String, verdict: Verdict, reason: impl Into<String>) {
        self.parts.push(OutcomePart {
            reason: Some(reason.into().into()),
            ..OutcomePart::new(text, verdict)
        });
    }

    fn note(&mut self, note: String) {
        if self.notes.len() < EVIDENCE && !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    fn outcome(mut self) -> Outcome {
        let verdict = self.parts.iter().fold(Verdict::Pass, |all, part| all.and(part.verdict));
        let deciding = self.parts.iter().filter(|part| part.verdict == verdict);
        let reasons: Vec<&str> =
            deciding.filter_map(|part| part.reason.as_ref().map(|text| text.raw())).collect();
        let more = reasons.len().saturating_sub(REASONS);
        let mut reason = match verdict {
            Verdict::Pass if self.parts.len() > 1 => {
                format!("all {} checks hold", self.parts.len())
            }
            _ => reasons.iter().take(REASONS).copied().collect::<Vec<_>>().join("; "),
        };
        if more > 0 && verdict != Verdict::Pass {
            reason.push_str(&format!("; and {more} more"));
        }
        if self.left_out > 0 {
            self.notes.push(format!("{} more calls are not shown as evidence", self.left_out));
        }
        let mut outcome = match verdict {
            Verdict::Unknown(cause) => Outcome::unknown(cause, reason),
            verdict => Outcome::binary(verdict == Verdict::Pass, reason),
        };
        outcome.evidence = self.evidence;
        outcome.parts = self.parts;
        outcome.explanation = self.explanation;
        outcome.notes = self.notes.into_iter().map(Into::into).collect();
        outcome
    }
}

impl Grader for ToolCalls {
    fn mentions(&self) -> Vec<Mention> {
        let lists = [&self.required, &self.disallowed, &self.sequence, &self.parallel];
        lists.into_iter().flatten().map(|entry| Mention::pattern(entry.name())).collect()
    }

    fn forbids(&self) -> bool {
        !self.disallowed.is_empty() || self.required.iter().any(ToolCallEntry::is_positional)
    }

    fn grade(&self, subject: &Subject<'_>) -> Outcome {
        let mut outcome = self.judge(subject, self.profile);
        if let Some(profile) = self.contrast {
            let other = self.judge(subject, profile);
            if other.verdict != outcome.verdict {
                outcome.contrast = Some(Contrast {
                    profile,
                    verdict: other.verdict,
                    score: other.score,
                    reason: other.reason,
                });
            }
        }
        outcome
    }
}

impl ToolCalls {
    fn judge(&self, subject: &Subject<'_>, profile: Profile) -> Outcome {
        let view = &subject.view;
        let entries =
            self.required.len() + self.disallowed.len() + self.sequence.len() + self.parallel.len();
        if entries.saturating_mul(view.calls().len()) > MAX_PAIRS {
            return Outcome::unknown(Cause::Limit, "there are too many calls and expectations");
        }
        let calls = entry::EntryCalls::new(view, profile);
        let mut findings = ListResults::default();
        for entry in &self.required {
            lists::required(entry, &calls, &mut findings);
        }
        for entry in &self.disallowed {
            lists::disallowed(entry, &calls, &mut findings);
        }
        if !self.sequence.is_empty() {
            order::sequence(&self.sequence, &calls, &mut findings);
        }
        if !self.parallel.is_empty() {
            order::parallel(&self.parallel, &calls, &mut findings);
        }
        let mut tools: Vec<_> =
            view.calls().iter().map(|seen| seen.call.name.full().into_owned()).collect();
        tools.sort_unstable();
        tools.dedup();
        tools.truncate(TOOLS);
        findings.outcome().with_metric("tools", tools)
    }
}

/// Maximum number of compared pairs of call and expectation.
const MAX_PAIRS: usize = 1 << 27;
