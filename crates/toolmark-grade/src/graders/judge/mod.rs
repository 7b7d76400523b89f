//! `judge`: a rubric that a model scores, with quotes that are verified against the trace.

mod config;
mod select;

use self::config::{If, JudgeConfig, Over};
use self::select::CallSelection;
use crate::grader::{
    AnswerCost, Determinism, GradeScope, Grader, GraderInfo, Reference, Taxonomy, schema_of,
};
use std::sync::Arc;
use toolmark_match::{Building, Mention};
use toolmark_outcome::Subject;
use toolmark_outcome::judging::{
    Field, Focus, JudgeQuestion, Panel, Rubric, answered, ask, built_in, drop_repeats, material_of,
    materials, read_examples, read_rubric, unanswered, usual_inputs,
};
use toolmark_outcome::{Cause, Outcome, OutcomePart, Verdict};
use toolmark_outcome::{Evidence, EvidenceRole};
use toolmark_outcome::{IndexedCall, Missing, Untrusted};

/// The `judge` grader and its reference page.
pub static JUDGE: GraderInfo = GraderInfo {
    id: "judge",
    aliases: &["custom-llm-judge", "CustomLLMJudge"],
    origin: "toolmark",
    summary: "scores the run with a model by a rubric, with quotes from the trace",
    docs: "A model marks the run, or chosen calls of it, by a `rubric`: a text, a list of criteria, or the name of a \
built-in one (`edit-minimal-scope`, `irreversibility-awareness`, `tool-selection`, `error-recovery`, \
`claimed-success`, `read-slice-coverage`). A criterion is a text or a map of `id`, `text`, `weight`, `needs` (the share it must reach, or \
all of it fails) and `marks` (what a mark means).

- `scale`: `0/1`, `0/0.5/1`, `0-1` (any number), `1-5`, `1-10` or `0-10`. Marks are brought to 0 to 1. Without it \
the scale is the one the rubric's own words use (`1.0 = minimal … 0.0 = a rewrite` is `0-1`), or that its `marks` lie \
on, else `1-5`. Words that contradict the scale are a warning.
- `examples`: cases that were marked by hand, as a guide: a list of `text`, `mark` (or `marks` by criterion) and `reason`.
- `inputs`: what the judge is shown, as a map of names to fields of the trajectory, such as \
`old_string: tool_input.old_string` or `assistant_turn: pre_tool_call_turn`. A field that ends in `?` may be missing; \
without any other the answer is unknown. `toolmark judge fields` lists them.
- `calls`: which calls it is asked about, each on its own: by `tool` (names or patterns), by `finding` (codes of rules \
of `toolmark check`), by `status` (`failed`, `succeeded`), and of these a `sample` of this size, the same ones every time. Without `calls` the question is about the whole run; where `inputs` names fields of a call, it is about every \
call that has them, and where `name` is that of a built-in rubric, about the calls that rubric is for.
- `over`: how the calls make one: `all` must pass (the default), or their `mean` or `min` must reach the `threshold`.
- `threshold` (0.5), `model`, or `models` for a panel, `votes` of each, `aggregation` (`majority`, `mean`, `median`, \
`min`), `quorum` (how many votes must decide, or the verdict is unknown; more than half by default), `effort`.
- `if_none`: what it means that no call was chosen: `unknown` (the default) or `pass`.

Every mark must be proven by words of the trace. A quote that does not stand there discards its mark, and what hangs \
on it is unknown. So is everything where no judge answers: never 0. `rubric` may also be written `grading_criteria`, \
and `inputs` `input_mapping`.",
    example: "type: judge\nconfig:\n  rubric:\n    - id: minimal\n      text: Is the edit the smallest change for the \
request?\n      marks: {1: minimal, 0.5: wider than needed, 0: a rewrite}\n  scale: 0/0.5/1\n  calls: {tool: Edit}\n  \
inputs:\n    user_request: user_input\n    old_string: tool_input.old_string\n    new_string: tool_input.new_string\n  \
threshold: 0.85",
    taxonomy: Taxonomy {
        determinism: Determinism::Judge,
        cost: AnswerCost::High,
        reference: Reference::Free,
        scope: GradeScope::Trajectory,
    },
    profiles: &[],
    schema: schema_of::<JudgeConfig>,
    build,
};

struct Judged {
    rubric: Arc<Rubric>,
    inputs: Vec<(String, String)>,
    /// Whether the default inputs are used rather than configured ones.
    is_usual: bool,
    /// Whether only calls with every input are judged.
    needs_inputs: bool,
    selection: Option<CallSelection>,
    threshold: f64,
    panel: Panel,
    over: Over,
    if_none: If,
}

fn build(building: &mut Building<'_>) -> Option<Arc<dyn Grader>> {
    let config = building.read::<JudgeConfig>()?;
    let before = building.problems.len();
    let given = match (&config.rubric, &config.grading_criteria) {
        (Some(given), None) | (None, Some(given)) => given,
        (Some(_), Some(twice)) => {
            let message = "only one of rubric and grading_criteria is allowed: they mean the same";
            building.reject(twice.span, "conflicting-keys", message);
            return None;
        }
        (None, None) => {
            building.reject(building.config.span, "missing-key", "a judge needs a rubric");
            return None;
        }
    };
    let named = given.as_str().and_then(built_in);
    let rubric = match named {
        Some(built_in) => built_in.rubric(),
        None => {
            let rubric = read_rubric(given, config.scale, building.problems)?;
            Rubric { name: config.name.clone(), ..rubric }
        }
    };
    let examples = config.examples.as_ref();
    let examples = examples.map(|node| read_examples(node, &rubric, building.problems));
    let rubric = Rubric { examples: examples.unwrap_or_default(), ..rubric };
    if let (Some(_), Some(scale)) = (named, config.scale)
        && scale != rubric.scale
    {
        let message = format!("this rubric has the scale {}", rubric.scale.word());
        building.reject(given.span, "conflicting-keys", message);
    }
    let given_inputs = config.inputs(building.problems);
    let is_of_call = |path: &str| Field::of(path.trim_end_matches('?')).is_some_and(|f| f.of_call);
    let of_call = given_inputs.iter().flatten().any(|(_, path)| is_of_call(path));
    // A custom rubric may have the name, and therefore the calls, of a built-in one.
    let same_name = config.name.as_deref().and_then(built_in).filter(|_| of_call);
    let selection = match (&config.calls, named.or(same_name)) {
        (Some(calls), _) => Some(CallSelection::read(calls, building.problems)),
        (None, Some(built_in)) => Some(CallSelection::of_built_in(built_in)),
        (None, None) if of_call => {
            config.warn_of_every_call(building.problems);
            Some(CallSelection::default())
        }
        (None, None) => None,
    };
    let owned = |inputs: &[(&str, &str)]| {
        inputs.iter().map(|(name, path)| ((*name).to_owned(), (*path).to_owned())).collect()
    };
    let is_usual = given_inputs.is_none() && named.is_none();
    // Without a selection, only calls with all inputs are judged.
    let needs_inputs = config.calls.is_none() && of_call;
    let inputs = match (given_inputs, named) {
        (Some(inputs), _) => inputs,
        (None, Some(built_in)) => owned(built_in.inputs),
        (None, None) => usual_inputs(selection.is_some()),
    };
    let panel = config.panel(building.problems);
    let threshold = config.threshold(building.problems);
    if selection.is_none() {
        for (key, is_given) in
            [("over", config.over.is_some()), ("if_none", config.if_none.is_some())]
        {
            if is_given {
                let message = format!("`{key}` needs `calls`");
                building.reject(building.config.span, "conflicting-keys", message);
            }
        }
    }
    let is_good = building.problems[before..].iter().all(|problem| !problem.is_error());
    is_good.then(|| {
        Arc::new(Judged {
            rubric: Arc::new(rubric),
            inputs,
            is_usual,
            needs_inputs,
            selection,
            threshold: threshold.or(named.map(|named| named.threshold)).unwrap_or(0.5),
            panel,
            over: config.over.unwrap_or_default(),
            if_none: config.if_none.unwrap_or_default(),
        }) as Arc<dyn Grader>
    })
}

impl Grader for Judged {
    fn grade(&self, subject: &Subject<'_>) -> Outcome {
        let Some(selection) = &self.selection else {
            return match self.question(Focus { subject, call: None }) {
                Ok(question) => ask(subject, question),
                Err(missing) => Outcome::unknown(Cause::MissingEvidence, missing.0),
            };
        };
        let chosen = match selection.choose(subject) {
            Ok(chosen) => chosen,
            Err(missing) => return Outcome::unknown(Cause::MissingEvidence, missing.0),
        };
        let chosen: Vec<IndexedCall<'_>> = chosen
            .into_iter()
            .filter(|seen| !self.needs_inputs || self.has_arguments(*seen, subject))
            .collect();
        if chosen.is_empty() {
            return match self.if_none {
                If::Pass => Outcome::binary(true, "there is no such call, which is fine here"),
                If::Unknown => {
                    Outcome::unknown(Cause::MissingEvidence, "there is no such call to judge")
                        .with_note("if_none: pass says that this is fine")
                }
            };
        }
        self.over_calls(subject, &chosen)
    }

    fn mentions(&self) -> Vec<Mention> {
        self.selection.as_ref().map(CallSelection::mentions).unwrap_or_default()
    }
}

impl Judged {
    fn question(&self, focus: Focus<'_>) -> Result<JudgeQuestion, Missing> {
        let mut materials = materials(&self.inputs, focus)?;
        if self.is_usual {
            drop_repeats(&mut materials);
        }
        let (rubric, threshold) = (Arc::clone(&self.rubric), self.threshold);
        Ok(JudgeQuestion { rubric, materials, panel: self.panel.clone(), threshold })
    }

    /// Whether a call has the required arguments. Other missing inputs do not depend on the call.
    fn has_arguments(&self, seen: IndexedCall<'_>, subject: &Subject<'_>) -> bool {
        let of_args = self.inputs.iter().filter(|(_, path)| {
            let field = Field::of(path.trim_end_matches('?'));
            field.is_some_and(|field| field.name == "tool_input") && !path.ends_with('?')
        });
        let focus = Focus { subject, call: Some(seen) };
        of_args.into_iter().all(|(name, path)| material_of(name, path, focus).is_ok())
    }

    fn over_calls(&self, subject: &Subject<'_>, chosen: &[IndexedCall<'_>]) -> Outcome {
        let asked: Vec<Result<JudgeQuestion, Missing>> =
            chosen.iter().map(|seen| self.question(Focus { subject, call: Some(*seen) })).collect();
        let questions: Vec<JudgeQuestion> =
            asked.iter().filter_map(|one| one.as_ref().ok()).cloned().collect();
        let Some(judge) = &subject.environment.judge else {
            let calls = chosen.len();
            let first = self.rubric.criteria.first().map_or("", |criterion| &criterion.text);
            let words = format!("{} of {calls} calls", toolmark_outcome::excerpt(first));
            return unanswered(&words).with_metric("calls", calls as u64);
        };
        let mut rulings = judge.judge(&questions).into_iter();
        let mut each = Vec::with_capacity(chosen.len());
        for (seen, asked) in chosen.iter().zip(asked) {
            let outcome = match asked {
                Err(missing) => Outcome::unknown(Cause::MissingEvidence, missing.0),
                Ok(question) => match rulings.next() {
                    Some(ruling) => answered(&question, &ruling),
                    None => unanswered("this call"),
                },
            };
            each.push((*seen, outcome));
        }
        self.joined(subject, each)
    }

    /// Combines the outcomes of several calls.
    fn joined(&self, subject: &Subject<'_>, each: Vec<(IndexedCall<'_>, Outcome)>) -> Outcome {
        let scores: Option<Vec<f64>> = each.iter().map(|(_, outcome)| outcome.score).collect();
        let score = scores.map(|scores| match self.over {
            Over::Min => scores.iter().copied().fold(1.0, f64::min),
            Over::All | Over::Mean => scores.iter().sum::<f64>() / scores.len().max(1) as f64,
        });
        let all = each.iter().fold(Verdict::Pass, |verdict, (_, one)| verdict.and(one.verdict));
        let verdict = match (self.over, score) {
            (Over::All, _) => all,
            (_, Some(score)) => Verdict::of(toolmark_outcome::reaches(score, self.threshold)),
            (_, None) => match all {
                Verdict::Unknown(cause) => Verdict::Unknown(cause),
                _ => first_unknown(&each),
            },
        };
        let passed = each.iter().filter(|(_, one)| one.verdict == Verdict::Pass).count();
        let failing = each.iter().find(|(_, one)| one.verdict == verdict);
        let why = failing.filter(|_| verdict != Verdict::Pass).map(|(seen, one)| {
            format!("; call {} {}: {}", seen.number(), seen.call.name.full(), one.reason.raw())
        });
        let reason = format!("{passed} of {} calls pass{}", each.len(), why.unwrap_or_default());
        let mut joined = match verdict {
            Verdict::Unknown(cause) => Outcome::unknown(cause, reason),
            verdict => Outcome { score, ..Outcome::scored(verdict, 0.0, reason) },
        };
        let mut spent = (0, 0);
        for (seen, outcome) in each {
            let role = match outcome.verdict {
                Verdict::Pass => EvidenceRole::Matched,
                Verdict::Fail => EvidenceRole::Violation,
                Verdict::Unknown(_) => EvidenceRole::Context,
            };
            let reference = subject.view.call_ref(seen);
            let text = format!("call {} {}", seen.number(), reference.tool.raw());
            joined.evidence.push(Evidence::call(role, outcome.reason.clone(), reference));
            joined.evidence.extend(outcome.evidence);
            let part = OutcomePart::new(text.clone(), outcome.verdict);
            joined.parts.push(OutcomePart {
                score: outcome.score,
                reason: Some(outcome.reason),
                ..part
            });
            let about = |note: &Untrusted| format!("{text}: {}", note.raw()).into();
            joined.notes.extend(outcome.notes.iter().map(about));
            let tokens = |key: &str| outcome.metrics.get(key).and_then(serde_json::Value::as_u64);
            spent.0 += tokens("input_tokens").unwrap_or(0);
            spent.1 += tokens("output_tokens").unwrap_or(0);
        }
        if let Some(name) = &self.rubric.name {
            joined.metrics.insert("rubric".into(), name.clone().into());
        }
        joined.metrics.insert("calls".into(), (joined.parts.len() as u64).into());
        joined.metrics.insert("threshold".into(), self.threshold.into());
        joined.metrics.insert("input_tokens".into(), spent.0.into());
        joined.metrics.insert("output_tokens".into(), spent.1.into());
        joined
    }
}

fn first_unknown(each: &[(IndexedCall<'_>, Outcome)]) -> Verdict {
    let unknown = each.iter().find_map(|(_, one)| one.verdict.cause());
    Verdict::Unknown(unknown.unwrap_or(Cause::Judge))
}

#[cfg(test)]
mod tests;
