//! One answer of a judge, reduced to the values that calibration compares.

use toolmark_outcome::Verdict;
use toolmark_outcome::judging::{AnswerUsage, JudgeRuling, Rubric, Vote, decide_vote};

/// One answer of a judge.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Opinion {
    /// Whether the sample passes; `None` if unknown.
    pub(super) passes: Option<bool>,
    /// Score, if every mark is known.
    pub(super) score: Option<f64>,
    /// Index of the mark on the scale; with several criteria, of the mark nearest to the score. A
    /// scale without steps has none.
    pub(super) mark: Option<usize>,
    /// Reason for an unknown verdict.
    pub(super) reason: Option<String>,
    /// Whether the judge answered at all.
    pub(super) is_answer: bool,
    /// Cost of the answer.
    pub(super) spent: Option<AnswerUsage>,
}

impl Opinion {
    fn of(rubric: &Rubric, vote: &Vote, threshold: f64) -> Self {
        let answer = match &vote.answer {
            Ok(answer) => answer,
            Err(why) => return Self { reason: Some(why.reason.clone()), ..Self::default() },
        };
        let decided = decide_vote(rubric, answer, threshold);
        let passes = match decided.verdict {
            Verdict::Pass => Some(true),
            Verdict::Fail => Some(false),
            Verdict::Unknown(_) => None,
        };
        Self {
            passes,
            score: decided.score,
            mark: decided.score.and_then(|score| nearest(rubric, score)),
            reason: decided.reason.filter(|_| passes.is_none()),
            is_answer: true,
            spent: Some(answer.spent),
        }
    }

    /// Returns all answers to a question; missing ones are unknown.
    pub(super) fn all(
        rubric: &Rubric,
        ruling: Option<&JudgeRuling>,
        votes: u32,
        threshold: f64,
    ) -> Vec<Self> {
        let given = ruling.map(|ruling| ruling.votes.as_slice()).unwrap_or_default();
        let never = || Self { reason: Some("no model was asked".to_owned()), ..Self::default() };
        (0..votes as usize)
            .map(|n| given.get(n).map_or_else(never, |vote| Self::of(rubric, vote, threshold)))
            .collect()
    }
}

/// Returns the index of the mark nearest to a score.
fn nearest(rubric: &Rubric, score: f64) -> Option<usize> {
    if rubric.scale.is_continuous() {
        return None;
    }
    let points = rubric.scale.points().iter().enumerate();
    let away = |mark: f64| (rubric.scale.share(mark) - score).abs();
    points.min_by(|(_, a), (_, b)| away(**a).total_cmp(&away(**b))).map(|(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolmark_outcome::Cause;
    use toolmark_outcome::judging::{CriterionMark, JudgeAnswer, Scale, Unanswered};

    #[test]
    fn marks_and_what_is_missing() {
        let rubric = Rubric::of_texts(["a".to_owned(), "b".to_owned()], Scale::OneToFive);
        let answer = |marks: [Option<f64>; 2]| JudgeAnswer {
            marks: marks.map(|mark| CriterionMark { mark, ..CriterionMark::default() }).into(),
            ..JudgeAnswer::default()
        };
        let vote = |answer| Vote { model: "m".to_owned(), answer };
        let failed = Unanswered { cause: Cause::Judge, reason: "timed out".to_owned() };
        let ruling = JudgeRuling {
            votes: vec![
                vote(Ok(answer([Some(5.0), Some(4.0)]))),
                vote(Ok(answer([Some(3.0), None]))),
                vote(Err(failed)),
            ],
        };
        let found = Opinion::all(&rubric, Some(&ruling), 4, 0.6);
        assert_eq!(
            (found[0].passes, found[0].score, found[0].mark),
            (Some(true), Some(0.875), Some(3))
        );
        assert_eq!((found[1].passes, found[1].mark, found[1].is_answer), (None, None, true));
        assert_eq!((found[2].passes, found[2].is_answer), (None, false));
        assert_eq!(found[2].reason.as_deref(), Some("timed out"));
        assert_eq!(found[3].reason.as_deref(), Some("no model was asked"));
        assert_eq!(Opinion::all(&rubric, None, 1, 0.6).len(), 1);
    }
}
