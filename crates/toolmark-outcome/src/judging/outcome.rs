//! Converts the ruling of a judge to the outcome of a grader.

use super::{
    Aggregation, CriterionMark, JudgeDecision, JudgeQuestion, JudgeRuling, Rubric, TextPiece,
    decide,
};
use crate::evidence::Evidence;
use crate::outcome::{Cause, GraderMetrics, Outcome, OutcomePart, Verdict};
use serde_json::{Value, json};

/// Creates the outcome of a question without a judge.
#[must_use]
pub fn unanswered(question: &str) -> Outcome {
    let reason = format!("needs a judge: {question}");
    Outcome::unknown(Cause::NeedsJudge, reason)
        .with_note("name one under judge: in toolmark.yaml, or with --judge-model")
}

/// Returns the outcome of the ruling on a question.
#[must_use]
pub fn answered(question: &JudgeQuestion, ruling: &JudgeRuling) -> Outcome {
    let (rubric, threshold) = (&*question.rubric, question.threshold);
    let decided = decide(rubric, ruling, &question.panel, threshold);
    let reason = reason(&decided, ruling, threshold);
    let mut outcome = match decided.verdict {
        Verdict::Unknown(cause) => Outcome::unknown(cause, reason),
        verdict => Outcome { score: decided.score, ..Outcome::scored(verdict, 0.0, reason) },
    };
    outcome.parts = parts(rubric, ruling, threshold);
    outcome.evidence = evidence(question, ruling);
    outcome.metrics = metrics(question, ruling);
    outcome.notes.extend(rubric.contradiction().map(Into::into));
    for material in &question.materials {
        if let Some(left_out) = &material.left_out {
            outcome
                .notes
                .push(format!("the judge did not see all of {}: {left_out}", material.name).into());
        }
    }
    for vote in &ruling.votes {
        match &vote.answer {
            Ok(answer) => {
                for (criterion, mark) in rubric.criteria.iter().zip(&answer.marks) {
                    if let Some(why) = &mark.discarded {
                        let (model, id) = (&vote.model, &criterion.id);
                        outcome.notes.push(
                            format!("{model}: the mark for {id} was discarded: {why}").into(),
                        );
                    }
                }
            }
            Err(why) if ruling.votes.len() > 1 => {
                outcome.notes.push(format!("{} gave no answer: {}", vote.model, why.reason).into());
            }
            Err(_) => {}
        }
    }
    outcome
}

fn reason(decided: &JudgeDecision, ruling: &JudgeRuling, threshold: f64) -> String {
    let said = ruling.votes.iter().find_map(|vote| {
        let answer = vote.answer.as_ref().ok()?;
        let of_marks =
            || answer.marks.iter().map(|mark| mark.reason.as_str()).find(|r| !r.is_empty());
        answer.summary.as_deref().filter(|text| !text.is_empty()).or_else(of_marks)
    });
    match (decided.verdict, &decided.reason, decided.score, said) {
        (Verdict::Unknown(_), Some(why), ..) => why.clone(),
        (_, Some(why), _, Some(said)) => format!("{why}: {said}"),
        (_, Some(why), _, None) => why.clone(),
        (_, None, Some(score), Some(said)) => {
            format!("the judge gives {score:.2} (needs {threshold}): {said}")
        }
        (_, None, Some(score), None) => format!("the judge gives {score:.2} (needs {threshold})"),
        (_, None, None, said) => said.unwrap_or("decided by the marks that are known").to_owned(),
    }
}

/// Returns a part per criterion or, if several judges answered, one per judge and criterion.
fn parts(rubric: &Rubric, ruling: &JudgeRuling, threshold: f64) -> Vec<OutcomePart> {
    let several = ruling.votes.len() > 1;
    let mut parts = Vec::new();
    for vote in &ruling.votes {
        let Ok(answer) = &vote.answer else { continue };
        for (criterion, mark) in rubric.criteria.iter().zip(&answer.marks) {
            let text = match several {
                true => format!("{} · {}: {}", vote.model, criterion.id, criterion.text),
                false => format!("{}: {}", criterion.id, criterion.text),
            };
            let share = mark.mark.map(|mark| rubric.scale.share(mark));
            let needs = criterion.needs.unwrap_or(threshold);
            let verdict = match share {
                Some(share) => Verdict::of(crate::gate::reaches(share, needs)),
                None if mark.discarded.is_some() => Verdict::Unknown(Cause::Unproven),
                None => Verdict::Unknown(Cause::Judge),
            };
            let reason = (!mark.reason.is_empty()).then(|| mark.reason.clone().into());
            parts.push(OutcomePart { score: share, reason, ..OutcomePart::new(text, verdict) });
        }
    }
    parts
}

fn evidence(question: &JudgeQuestion, ruling: &JudgeRuling) -> Vec<Evidence> {
    let mut all: Vec<Evidence> = Vec::new();
    for vote in &ruling.votes {
        let Ok(answer) = &vote.answer else { continue };
        for (criterion, mark) in question.rubric.criteria.iter().zip(&answer.marks) {
            for quote in &mark.quotes {
                let material = question.materials.get(quote.material);
                let Some(piece) = material.and_then(|m| m.pieces.get(quote.piece)) else {
                    continue;
                };
                let one = piece.evidence(quoted_for(&criterion.id, piece), &quote.text);
                if !all.contains(&one) {
                    all.push(one);
                }
            }
        }
    }
    all
}

/// Describes the purpose and the origin of a quote.
fn quoted_for(criterion: &str, piece: &TextPiece) -> String {
    match &piece.label {
        Some(label) => format!("quoted for {criterion} from [{label}]"),
        None => format!("quoted for {criterion}"),
    }
}

fn metrics(question: &JudgeQuestion, ruling: &JudgeRuling) -> GraderMetrics {
    let (scale, threshold) = (question.rubric.scale, question.threshold);
    let mut metrics = GraderMetrics::new();
    if let Some(name) = &question.rubric.name {
        metrics.insert("rubric".into(), json!(name));
    }
    let models: Vec<&str> = ruling.votes.iter().map(|vote| vote.model.as_str()).collect();
    match models.as_slice() {
        [model] => metrics.insert("model".into(), json!(model)),
        models => metrics.insert("models".into(), json!(models)),
    };
    metrics.insert("scale".into(), json!(scale));
    metrics.insert("threshold".into(), json!(threshold));
    if ruling.votes.len() > 1 {
        let how: Aggregation = question.panel.aggregation;
        metrics.insert("aggregation".into(), json!(how.word()));
        let answered = ruling.votes.iter().filter(|vote| vote.answer.is_ok()).count();
        metrics.insert("answered".into(), json!(answered));
    }
    let votes: Vec<Value> = ruling
        .votes
        .iter()
        .filter_map(|vote| Some((vote, vote.answer.as_ref().ok()?)))
        .map(|(_, answer)| Value::Array(answer.marks.iter().map(raw).collect()))
        .collect();
    metrics.insert("marks".into(), Value::Array(votes));
    let spent = ruling.votes.iter().filter_map(|vote| vote.answer.as_ref().ok().map(|a| a.spent));
    if let Some(spent) = spent.reduce(super::AnswerUsage::plus) {
        metrics.insert("input_tokens".into(), json!(spent.input_tokens));
        metrics.insert("output_tokens".into(), json!(spent.output_tokens));
        if let Some(micro) = spent.micro_usd {
            metrics.insert("cost_usd".into(), json!(micro as f64 / 1e6));
        }
    }
    metrics
}

fn raw(mark: &CriterionMark) -> Value {
    mark.mark.map_or(Value::Null, Value::from)
}
