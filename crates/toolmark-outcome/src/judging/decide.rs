//! Converts marks to a verdict: first for one judge, then for all of them.
//!
//! An undecided mark is neither good nor bad. A vote passes if it would pass even with the
//! worst value of every open mark, fails if it would fail even with the best value of every
//! open mark, and is unknown otherwise.

use super::{Aggregation, JudgeAnswer, JudgeRuling, Panel, Rubric};
use crate::gate::reaches;
use crate::outcome::{Cause, Verdict};

/// Decision of one or several judges.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgeDecision {
    /// The verdict.
    pub verdict: Verdict,
    /// Score, if every relevant mark is known.
    pub score: Option<f64>,
    /// Reason, if the marks alone do not explain the verdict.
    pub reason: Option<String>,
}

impl JudgeDecision {
    fn unknown(cause: Cause, reason: impl Into<String>) -> Self {
        Self { verdict: Verdict::Unknown(cause), score: None, reason: Some(reason.into()) }
    }
}

/// Decides a single answer.
#[must_use]
pub fn decide_vote(rubric: &Rubric, answer: &JudgeAnswer, threshold: f64) -> JudgeDecision {
    let (mut worst, mut best, mut total) = (0.0, 0.0, 0.0);
    let (mut missed, mut open, mut open_need) = (None, None, false);
    for (n, criterion) in rubric.criteria.iter().enumerate() {
        let mark = answer.marks.get(n);
        total += criterion.weight;
        match mark.and_then(|mark| mark.mark).map(|mark| rubric.scale.share(mark)) {
            Some(share) => {
                worst += share * criterion.weight;
                best += share * criterion.weight;
                if criterion.needs.is_some_and(|needs| !reaches(share, needs)) {
                    missed = missed.or(Some(criterion));
                }
            }
            None => {
                best += criterion.weight;
                open_need |= criterion.needs.is_some();
                let discarded = mark.and_then(|mark| mark.discarded.as_deref());
                open = open.or(Some((criterion, discarded)));
            }
        }
    }
    if total <= 0.0 {
        return JudgeDecision::unknown(Cause::Configuration, "the criteria weigh nothing");
    }
    let (worst, best) = (worst / total, best / total);
    let score = open.is_none().then_some(worst);
    if let Some(criterion) = missed {
        let reason = Some(format!("{} must hold and does not", criterion.id));
        return JudgeDecision { verdict: Verdict::Fail, score, reason };
    }
    if !reaches(best, threshold) {
        return JudgeDecision { verdict: Verdict::Fail, score, reason: None };
    }
    if reaches(worst, threshold) && !open_need {
        return JudgeDecision { verdict: Verdict::Pass, score, reason: None };
    }
    match open {
        Some((criterion, Some(why))) => {
            JudgeDecision::unknown(Cause::Unproven, format!("{}: {why}", criterion.id))
        }
        Some((criterion, None)) => {
            JudgeDecision::unknown(Cause::Judge, format!("the judge cannot tell: {}", criterion.id))
        }
        None => JudgeDecision { verdict: Verdict::Fail, score, reason: None },
    }
}

/// Decides all votes together. A judge without an answer does not invalidate the others, as
/// long as enough of them decide.
#[must_use]
pub fn decide(
    rubric: &Rubric,
    ruling: &JudgeRuling,
    panel: &Panel,
    threshold: f64,
) -> JudgeDecision {
    let aggregation = panel.aggregation;
    let votes: Vec<JudgeDecision> = ruling
        .votes
        .iter()
        .map(|vote| match &vote.answer {
            Ok(answer) => decide_vote(rubric, answer, threshold),
            Err(why) => JudgeDecision::unknown(why.cause, why.reason.clone()),
        })
        .collect();
    if let [only] = votes.as_slice() {
        return only.clone();
    }
    let first_open = votes.iter().find(|vote| matches!(vote.verdict, Verdict::Unknown(_)));
    let none = || match first_open {
        Some(open) => open.clone(),
        None => JudgeDecision::unknown(Cause::Judge, "no judge was asked"),
    };
    // A few votes must not speak for a panel that is mostly silent.
    let needed = panel.quorum.map_or(votes.len() / 2 + 1, |quorum| quorum as usize);
    let too_few = |decided: usize| {
        (decided < needed).then(|| {
            let why = first_open.and_then(|open| open.reason.as_deref()).unwrap_or("no reason");
            let of = votes.len();
            let reason = format!("{decided} of {of} votes decide, and {needed} must: {why}");
            let cause = first_open.and_then(|open| open.verdict.cause()).unwrap_or(Cause::Judge);
            JudgeDecision::unknown(cause, reason)
        })
    };
    if aggregation == Aggregation::Majority {
        let count = |verdict| votes.iter().filter(|vote| vote.verdict == verdict).count();
        let (for_it, against) = (count(Verdict::Pass), count(Verdict::Fail));
        let told = for_it + against;
        if told == 0 {
            return none();
        }
        if let Some(unknown) = too_few(told) {
            return unknown;
        }
        let reason = Some(format!("{for_it} of {told} judges pass it"));
        let score = Some(for_it as f64 / told as f64);
        return match for_it.cmp(&against) {
            std::cmp::Ordering::Greater => JudgeDecision { verdict: Verdict::Pass, score, reason },
            std::cmp::Ordering::Less => JudgeDecision { verdict: Verdict::Fail, score, reason },
            std::cmp::Ordering::Equal => JudgeDecision::unknown(
                Cause::Judge,
                format!("the judges are divided: {for_it} of {told}"),
            ),
        };
    }
    let mut scores: Vec<f64> = votes.iter().filter_map(|vote| vote.score).collect();
    if scores.is_empty() {
        return none();
    }
    if let Some(unknown) = too_few(scores.len()) {
        return unknown;
    }
    scores.sort_by(f64::total_cmp);
    let score = match aggregation {
        Aggregation::Min => scores[0],
        Aggregation::Median if scores.len().is_multiple_of(2) => {
            f64::midpoint(scores[scores.len() / 2 - 1], scores[scores.len() / 2])
        }
        Aggregation::Median => scores[scores.len() / 2],
        Aggregation::Mean | Aggregation::Majority => {
            scores.iter().sum::<f64>() / scores.len() as f64
        }
    };
    let verdict = Verdict::of(reaches(score, threshold));
    let reason = format!("the {} of {} judges is {score:.2}", aggregation.word(), scores.len());
    JudgeDecision { verdict, score: Some(score), reason: Some(reason) }
}

#[cfg(test)]
mod tests {
    use super::super::{Criterion, CriterionMark, Scale, Unanswered, Vote};
    use super::*;

    fn rubric(needs: &[Option<f64>]) -> Rubric {
        let criteria = needs
            .iter()
            .enumerate()
            .map(|(n, needs)| Criterion { needs: *needs, ..Criterion::new(format!("c{n}"), "x") });
        Rubric { criteria: criteria.collect(), ..Rubric::of_text("", Scale::Binary) }
    }

    fn answer(marks: &[Option<f64>]) -> JudgeAnswer {
        let marks =
            marks.iter().map(|mark| CriterionMark { mark: *mark, ..CriterionMark::default() });
        JudgeAnswer { marks: marks.collect(), ..JudgeAnswer::default() }
    }

    #[test]
    fn open_marks_decide_only_what_they_cannot_change() {
        let unknown = Verdict::Unknown(Cause::Judge);
        for (marks, threshold, verdict, score) in [
            (vec![Some(1.0), Some(1.0)], 0.5, Verdict::Pass, Some(1.0)),
            (vec![Some(1.0), Some(0.0)], 0.5, Verdict::Pass, Some(0.5)),
            (vec![Some(1.0), None], 0.5, Verdict::Pass, None),
            (vec![Some(0.0), None], 0.6, Verdict::Fail, None),
            (vec![Some(1.0), None], 0.6, unknown, None),
            (vec![None, None], 0.5, unknown, None),
            (vec![Some(1.0)], 0.6, unknown, None),
        ] {
            let decided = decide_vote(&rubric(&[None, None]), &answer(&marks), threshold);
            assert_eq!((decided.verdict, decided.score), (verdict, score), "{marks:?} {threshold}");
        }
    }

    #[test]
    fn what_must_hold_fails_alone_and_is_never_assumed() {
        let rubric = rubric(&[Some(1.0), None]);
        let of = |marks: &[Option<f64>]| decide_vote(&rubric, &answer(marks), 0.5).verdict;
        assert_eq!(of(&[Some(0.0), Some(1.0)]), Verdict::Fail);
        assert_eq!(of(&[None, Some(1.0)]), Verdict::Unknown(Cause::Judge));
        assert_eq!(of(&[Some(1.0), Some(0.0)]), Verdict::Pass);
    }

    fn ruling(votes: &[Option<f64>]) -> JudgeRuling {
        let votes = votes.iter().map(|vote| Vote {
            model: "m".into(),
            answer: match vote {
                Some(mark) => Ok(answer(&[Some(*mark)])),
                None => Err(Unanswered { cause: Cause::Judge, reason: "timed out".into() }),
            },
        });
        JudgeRuling { votes: votes.collect() }
    }

    #[test]
    fn panels() {
        let rubric = Rubric { scale: Scale::Half, ..rubric(&[None]) };
        let divided = Verdict::Unknown(Cause::Judge);
        use Aggregation::{Majority, Mean, Median, Min};
        for (votes, how, verdict, score) in [
            (vec![Some(1.0), Some(1.0), Some(0.0)], Majority, Verdict::Pass, Some(2.0 / 3.0)),
            (vec![Some(1.0), Some(0.0)], Majority, divided, None),
            (vec![Some(1.0), Some(0.0), None], Majority, divided, None),
            (vec![Some(1.0), None, None], Majority, divided, None),
            (vec![Some(1.0), Some(1.0), None], Majority, Verdict::Pass, Some(1.0)),
            (vec![Some(1.0), None], Mean, divided, None),
            (vec![None, None], Majority, divided, None),
            (vec![Some(1.0), Some(0.5), None], Mean, Verdict::Pass, Some(0.75)),
            (vec![Some(1.0), Some(0.0), Some(0.0)], Median, Verdict::Fail, Some(0.0)),
            (vec![Some(1.0), Some(0.0)], Median, Verdict::Pass, Some(0.5)),
            (vec![Some(1.0), Some(0.0)], Min, Verdict::Fail, Some(0.0)),
            (vec![None], Min, divided, None),
        ] {
            let panel = Panel { aggregation: how, ..Panel::default() };
            let decided = decide(&rubric, &ruling(&votes), &panel, 0.5);
            assert_eq!((decided.verdict, decided.score), (verdict, score), "{votes:?} {how:?}");
        }
    }

    #[test]
    fn a_panel_needs_a_quorum() {
        let rubric = Rubric { scale: Scale::Half, ..rubric(&[None]) };
        let of = |quorum| {
            let panel = Panel { quorum, ..Panel::default() };
            decide(&rubric, &ruling(&[Some(1.0), None, None]), &panel, 0.5)
        };
        let few = of(None);
        assert_eq!(few.verdict, Verdict::Unknown(Cause::Judge));
        assert_eq!(few.reason.unwrap(), "1 of 3 votes decide, and 2 must: timed out");
        assert_eq!(of(Some(1)).verdict, Verdict::Pass);
        assert_eq!(of(Some(3)).verdict, Verdict::Unknown(Cause::Judge));
    }
}
