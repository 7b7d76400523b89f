//! Second opinion of a judge on calls for which the rules are unsure.
//!
//! All doubts of a run are sent to the judge together, after the checking. The answers are
//! reported beside the results of the rules: they have their own measures, and a finding
//! includes the opinion of the judge, but no finding is removed or changed.

use crate::checker::CheckedTraces;
use crate::doubts::Doubt;
use crate::scorecard::Measure;
use serde::Serialize;
use toolmark_base::SortedMap;
use toolmark_outcome::judging::{Judge, JudgeQuestion, answered};
use toolmark_outcome::{Axis, Missing, SecondOpinion};
use toolmark_outcome::{CallRef, Cause, Evidence, Outcome, TracePlace, Verdict, reaches};
use toolmark_outcome::{Printable, Redactor, Untrusted};

/// A doubt with the answer of a judge.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Refined<T = Untrusted> {
    /// Name of the rubric.
    pub rubric: &'static str,
    /// Axis of the question.
    pub axis: Axis,
    /// The call.
    pub call: CallRef<T>,
    /// Name of the tool in reports.
    pub tool: T,
    /// Bucket of the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bucket: Option<T>,
    /// Position of the call.
    pub place: TracePlace<T>,
    /// Id of the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<T>,
    /// Score from the rules; `None` if they cannot decide.
    pub rules_say: Option<f64>,
    /// Observations of the rules, and the reason for their doubt.
    pub why: T,
    /// Code of the rule that reports the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finding: Option<&'static str>,
    /// Score from the judge.
    pub judged: Option<f64>,
    /// Resulting verdict.
    pub verdict: Verdict,
    /// Minimum score to pass.
    pub threshold: f64,
    /// Reason that the judge gave, or the reason for a missing answer.
    pub reason: T,
    /// Text of the trace that the judge gave as proof.
    pub evidence: Vec<Evidence<T>>,
    /// Whether the rules and the judge are on the same side of the threshold; `None` if one
    /// of them cannot decide.
    pub agrees: Option<bool>,
    /// Additional notes for the reader.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<T>,
}

impl<T> Refined<T> {
    /// Whether the judge answered.
    #[must_use]
    pub fn is_answered(&self) -> bool {
        !matches!(self.verdict, Verdict::Unknown(_))
    }
}

impl Refined {
    pub(crate) fn redact(self, redactor: Redactor) -> Refined<Printable> {
        Refined {
            rubric: self.rubric,
            axis: self.axis,
            call: self.call.redact(redactor),
            tool: redactor.apply(self.tool),
            bucket: self.bucket.map(|bucket| redactor.apply(bucket)),
            place: self.place.redact(redactor),
            session: self.session.map(|session| redactor.apply(session)),
            rules_say: self.rules_say,
            why: redactor.apply(self.why),
            finding: self.finding,
            judged: self.judged,
            verdict: self.verdict,
            threshold: self.threshold,
            reason: redactor.apply(self.reason),
            evidence: self.evidence.into_iter().map(|one| one.redact(redactor)).collect(),
            agrees: self.agrees,
            notes: redactor.apply_all(self.notes),
        }
    }
}

impl CheckedTraces {
    /// Asks a judge about all doubts and consumes them.
    pub fn refine(&mut self, judge: &dyn Judge) {
        let mut doubts = std::mem::take(&mut self.doubts);
        doubts.sort_by(Doubt::order);
        let mut questions: Vec<JudgeQuestion> = Vec::new();
        let asked: Vec<(Doubt, Result<usize, Missing>)> = doubts
            .into_iter()
            .map(|mut doubt| {
                let none = Err(Missing(String::new()));
                let question = std::mem::replace(&mut doubt.question, none);
                let at = question.map(|question| {
                    questions.push(question);
                    questions.len() - 1
                });
                (doubt, at)
            })
            .collect();
        let rulings = if questions.is_empty() { Vec::new() } else { judge.judge(&questions) };
        let mut runs: SortedMap<Untrusted, usize> = SortedMap::new();
        for (at, session) in self.sessions.iter().enumerate() {
            if let Some(id) = &session.id {
                runs.entry(id.clone()).or_insert(at);
            }
        }
        let mut all = Vec::with_capacity(asked.len());
        for (doubt, at) in asked {
            let outcome = match at {
                Ok(at) => match (questions.get(at), rulings.get(at)) {
                    (Some(question), Some(ruling)) => answered(question, ruling),
                    _ => Outcome::unknown(Cause::Judge, "the judge gave no answer"),
                },
                Err(missing) => Outcome::unknown(Cause::MissingEvidence, missing.0),
            };
            if let Some(score) = outcome.score {
                let measure = measure(&doubt);
                self.scorecard.measures.entry(measure.clone()).or_default().add(score);
                let of_run = doubt.run.as_deref().and_then(|run| runs.get(run));
                if let Some(session) = of_run.and_then(|at| self.sessions.get_mut(*at)) {
                    session.add(measure, score);
                }
            }
            all.push(refined(doubt, outcome));
        }
        self.tell_findings(&all);
        self.judged = Some(all);
    }

    /// Adds the opinions of the judge to the findings concerned.
    fn tell_findings(&mut self, all: &[Refined]) {
        let mut opinions: SortedMap<_, &Refined> = SortedMap::new();
        for one in all.iter().filter(|one| one.is_answered()) {
            if let Some(code) = one.finding {
                let place = (&one.place.file, one.place.byte);
                opinions.insert((code, place, one.call.index, one.session.as_ref()), one);
            }
        }
        for finding in &mut self.findings {
            let call = finding.evidence.first().and_then(|evidence| evidence.call.as_ref());
            let Some(index) = call.map(|call| call.index) else { continue };
            let place = (&finding.place.file, finding.place.byte);
            let key = (finding.code, place, index, finding.session.as_ref());
            if let Some(one) = opinions.get(&key) {
                finding.judge = Some(SecondOpinion {
                    score: one.judged,
                    reason: one.reason.clone(),
                    agrees: one.verdict == Verdict::Fail,
                });
            }
        }
    }
}

/// Returns the measure to which the answer to a doubt is added.
fn measure(doubt: &Doubt) -> Measure {
    Measure {
        axis: doubt.axis,
        name: doubt.measure,
        tool: doubt.tool.clone().into(),
        bucket: doubt.bucket.clone().map(Into::into),
    }
}

fn refined(doubt: Doubt, outcome: Outcome) -> Refined {
    let threshold = doubt.rubric.threshold;
    let of_judge = match outcome.verdict {
        Verdict::Pass => Some(true),
        Verdict::Fail => Some(false),
        Verdict::Unknown(_) => None,
    };
    let of_rules = doubt.rules_say.map(|score| reaches(score, threshold));
    Refined {
        rubric: doubt.rubric.name,
        axis: doubt.axis,
        call: doubt.call,
        tool: doubt.tool.into(),
        bucket: doubt.bucket.map(Into::into),
        place: doubt.place,
        session: doubt.session.map(Into::into),
        rules_say: doubt.rules_say,
        why: doubt.why.into(),
        finding: doubt.finding,
        judged: outcome.score,
        verdict: outcome.verdict,
        threshold,
        reason: outcome.reason,
        evidence: outcome.evidence,
        agrees: of_judge.zip(of_rules).map(|(judge, rules)| judge == rules),
        notes: outcome.notes,
    }
}

#[cfg(test)]
mod tests;
