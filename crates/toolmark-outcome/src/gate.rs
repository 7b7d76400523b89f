//! Combines the results of several graders into one decision.

use crate::outcome::{Cause, Verdict};
use crate::profile::Profile;
use std::collections::BTreeMap;

/// Tolerance for scores at a threshold: 4/5 reaches 0.8.
const EPSILON: f64 = 1e-9;

/// Rule that decides a case.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum GateRule {
    /// Every grader must pass.
    All,
    /// The weighted mean of the scores must reach the threshold.
    Threshold(f64),
    /// The lowest mean among the turns and the graders of the whole trajectory must reach the
    /// threshold.
    LowestTurn(f64),
    /// The highest mean among the turns and the graders of the whole trajectory must reach
    /// the threshold.
    HighestTurn(f64),
}

/// Settings for combining the results of a case's graders.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CaseScoring {
    /// Decision rule.
    pub rule: GateRule,
    /// Profile of the rule: AgentV gives a case a score of 0 if a required grader fails or if
    /// all weights are 0.
    pub profile: Profile,
}

impl Default for CaseScoring {
    fn default() -> Self {
        Self { rule: GateRule::All, profile: Profile::Toolmark }
    }
}

/// Result of one grader and its share in the case.
#[derive(Debug, Clone)]
pub struct ScoredGrader<'a> {
    /// Name of the grader.
    pub name: &'a str,
    /// Verdict of the grader.
    pub verdict: Verdict,
    /// Score of the grader.
    pub score: Option<f64>,
    /// Weight of the grader.
    pub weight: f64,
    /// Whether the grader must pass regardless of the others.
    pub required: bool,
    /// Minimum score of a required grader.
    pub min_score: Option<f64>,
    /// Turn that the grader looks at; `None` for the whole trajectory.
    pub turn: Option<u32>,
}

/// Combined decision of the graders.
#[derive(Debug, Clone, PartialEq)]
pub struct CaseDecision {
    /// Verdict of the case.
    pub verdict: Verdict,
    /// Weighted mean of the scores, if all of them are known.
    pub score: Option<f64>,
    /// Reason for the verdict.
    pub reason: String,
}

/// Whether a score reaches a threshold.
#[must_use]
pub fn reaches(score: f64, threshold: f64) -> bool {
    score + EPSILON >= threshold
}

impl CaseScoring {
    fn is_agentv(self) -> bool {
        matches!(self.profile, Profile::AgentV1 | Profile::AgentV2 | Profile::AgentV5)
    }

    /// Decides a case. Graders with an unknown verdict are counted once at their best and
    /// once at their worst: the verdict is known only if both agree.
    #[must_use]
    pub fn decide(self, graders: &[ScoredGrader<'_>]) -> CaseDecision {
        if graders.is_empty() {
            return CaseDecision {
                verdict: Verdict::Unknown(Cause::NoGraders),
                score: None,
                reason: "the case has no graders".into(),
            };
        }
        let total: f64 = graders.iter().map(|g| g.weight).sum();
        let (low, high) = match self.rule {
            GateRule::All | GateRule::Threshold(_) => bounds(graders, total),
            GateRule::LowestTurn(_) => over_turns(graders, f64::min),
            GateRule::HighestTurn(_) => over_turns(graders, f64::max),
        };
        let score = (low == high && total > 0.0).then_some(low);
        let required =
            graders.iter().filter(|g| g.required).map(|g| (g.name, self.holds(g))).min_by_key(
                |(_, verdict)| match verdict {
                    Verdict::Fail => 0,
                    Verdict::Unknown(_) => 1,
                    Verdict::Pass => 2,
                },
            );
        if let Some((name, Verdict::Fail)) = required {
            let score = if self.is_agentv() { Some(0.0) } else { score };
            let reason = format!("the required grader {name} did not pass");
            return CaseDecision { verdict: Verdict::Fail, score, reason };
        }
        let decided = match self.rule {
            GateRule::All => all(graders),
            GateRule::Threshold(threshold)
            | GateRule::LowestTurn(threshold)
            | GateRule::HighestTurn(threshold)
                if total > 0.0 =>
            {
                self.over(threshold, low, high, graders)
            }
            _ if self.is_agentv() => CaseDecision {
                verdict: Verdict::Fail,
                score: Some(0.0),
                reason: "all weights are 0".into(),
            },
            _ => CaseDecision {
                verdict: Verdict::Unknown(Cause::Configuration),
                score: None,
                reason: "all weights are 0, so no score can reach the threshold".into(),
            },
        };
        let verdict = match required {
            Some((_, unknown @ Verdict::Unknown(_))) => decided.verdict.and(unknown),
            _ => decided.verdict,
        };
        CaseDecision { verdict, score: decided.score.or(score), reason: decided.reason }
    }

    /// Returns whether a required grader passes, or unknown.
    fn holds(self, grader: &ScoredGrader<'_>) -> Verdict {
        let mark = match (grader.min_score, self.rule) {
            (Some(mark), _) => mark,
            (
                None,
                GateRule::Threshold(threshold)
                | GateRule::LowestTurn(threshold)
                | GateRule::HighestTurn(threshold),
            ) if self.is_agentv() => threshold,
            _ => return grader.verdict,
        };
        match (grader.verdict, grader.score) {
            (unknown @ Verdict::Unknown(_), _) => unknown,
            (_, Some(score)) => Verdict::of(self.reaches(score, mark)),
            (verdict, None) => verdict,
        }
    }

    /// Whether a score reaches a threshold. AgentV compares numbers without tolerance, so
    /// that 0.7999999999999999 does not reach 0.8.
    fn reaches(self, score: f64, threshold: f64) -> bool {
        if self.is_agentv() { score >= threshold } else { reaches(score, threshold) }
    }

    fn over(
        self,
        threshold: f64,
        low: f64,
        high: f64,
        graders: &[ScoredGrader<'_>],
    ) -> CaseDecision {
        if low == high {
            let holds = self.reaches(low, threshold);
            let word = if holds { "reaches" } else { "is below" };
            let reason = format!("score {} {word} the threshold {threshold}", rounded(low));
            return CaseDecision { verdict: Verdict::of(holds), score: Some(low), reason };
        }
        let range = format!("score between {} and {}", rounded(low), rounded(high));
        let (verdict, reason) = if self.reaches(low, threshold) {
            (Verdict::Pass, format!("{range} reaches the threshold {threshold} either way"))
        } else if !self.reaches(high, threshold) {
            (Verdict::Fail, format!("{range} is below the threshold {threshold} either way"))
        } else {
            let cause = graders.iter().find_map(|g| g.verdict.cause());
            let unknown: Vec<&str> = names(graders, |v| matches!(v, Verdict::Unknown(_))).collect();
            let reason = format!(
                "{range}, threshold {threshold}: cannot be told without {}",
                unknown.join(", ")
            );
            (Verdict::Unknown(cause.unwrap_or(Cause::MissingEvidence)), reason)
        };
        CaseDecision { verdict, score: None, reason }
    }
}

/// Picks one of the means of the turns and of the graders of the whole trajectory.
fn over_turns(graders: &[ScoredGrader<'_>], pick: fn(f64, f64) -> f64) -> (f64, f64) {
    let mut turns: BTreeMap<Option<u32>, Vec<ScoredGrader<'_>>> = BTreeMap::new();
    for grader in graders {
        turns.entry(grader.turn).or_default().push(grader.clone());
    }
    let each = turns.values().filter_map(|turn| {
        let total: f64 = turn.iter().map(|g| g.weight).sum();
        (total > 0.0).then(|| bounds(turn, total))
    });
    each.reduce(|a, b| (pick(a.0, b.0), pick(a.1, b.1))).unwrap_or((0.0, 0.0))
}

/// Returns the weighted mean with unknown graders counted as 0, and with them counted as 1.
fn bounds(graders: &[ScoredGrader<'_>], total: f64) -> (f64, f64) {
    if total <= 0.0 {
        return (0.0, 0.0);
    }
    let mean = |unknown: f64| {
        let score = |g: &ScoredGrader<'_>| match (g.score, g.verdict) {
            (Some(score), _) => score,
            (None, Verdict::Pass) => 1.0,
            (None, Verdict::Fail) => 0.0,
            (None, Verdict::Unknown(_)) => unknown,
        };
        graders.iter().map(|g| g.weight * score(g)).sum::<f64>() / total
    };
    (mean(0.0), mean(1.0))
}

fn names<'a>(
    graders: &'a [ScoredGrader<'_>],
    which: impl Fn(Verdict) -> bool + 'a,
) -> impl Iterator<Item = &'a str> {
    graders.iter().filter(move |g| which(g.verdict)).map(|g| g.name)
}

fn all(graders: &[ScoredGrader<'_>]) -> CaseDecision {
    let verdict = graders.iter().fold(Verdict::Pass, |sum, g| sum.and(g.verdict));
    let list = |which: fn(Verdict) -> bool| {
        let names: Vec<&str> = names(graders, which).collect();
        names.join(", ")
    };
    let reason = match verdict {
        Verdict::Pass => match graders {
            [one] => format!("{} passed", one.name),
            many => format!("all {} graders passed", many.len()),
        },
        Verdict::Fail => format!("failed: {}", list(|v| v == Verdict::Fail)),
        Verdict::Unknown(_) => {
            format!("cannot be told: {}", list(|v| matches!(v, Verdict::Unknown(_))))
        }
    };
    CaseDecision { verdict, score: None, reason }
}

/// Rounds a score for display.
#[must_use]
pub fn rounded(score: f64) -> f64 {
    (score * 1000.0).round() / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNKNOWN: Verdict = Verdict::Unknown(Cause::NeedsJudge);

    fn grader(score: Option<f64>, weight: f64) -> ScoredGrader<'static> {
        let verdict = match score {
            None => UNKNOWN,
            Some(score) => Verdict::of(score >= 1.0),
        };
        ScoredGrader {
            name: "g",
            verdict,
            score,
            weight,
            required: false,
            min_score: None,
            turn: None,
        }
    }

    fn required(score: Option<f64>, min_score: Option<f64>) -> ScoredGrader<'static> {
        ScoredGrader { required: true, min_score, ..grader(score, 1.0) }
    }

    #[test]
    fn decisions() {
        let all = CaseScoring::default();
        let over = |t| CaseScoring { rule: GateRule::Threshold(t), profile: Profile::Toolmark };
        let agentv = |t| CaseScoring { rule: GateRule::Threshold(t), profile: Profile::AgentV2 };
        let (one, zero, none) = (grader(Some(1.0), 1.0), grader(Some(0.0), 1.0), grader(None, 1.0));
        for (n, scoring, graders, verdict, score) in [
            (1, all, vec![one.clone(), one.clone()], Verdict::Pass, Some(1.0)),
            (2, all, vec![one.clone(), zero.clone()], Verdict::Fail, Some(0.5)),
            (3, all, vec![zero.clone(), none.clone()], Verdict::Fail, None),
            (4, all, vec![one.clone(), none.clone()], UNKNOWN, None),
            // 0.8 of 0.8 in floating point.
            (5, over(0.8), vec![grader(Some(1.0), 4.0), zero.clone()], Verdict::Pass, Some(0.8)),
            (6, over(0.6), vec![one.clone(), zero.clone()], Verdict::Fail, Some(0.5)),
            (7, over(0.4), vec![one.clone(), none.clone()], Verdict::Pass, None),
            (8, over(0.6), vec![zero.clone(), none.clone()], Verdict::Fail, None),
            (9, over(0.6), vec![one.clone(), none.clone()], UNKNOWN, None),
            (10, over(0.3), vec![one.clone(), required(Some(0.0), None)], Verdict::Fail, Some(0.5)),
            (
                11,
                agentv(0.3),
                vec![one.clone(), required(Some(0.0), None)],
                Verdict::Fail,
                Some(0.0),
            ),
            (
                12,
                agentv(0.3),
                vec![one.clone(), required(Some(0.5), None)],
                Verdict::Pass,
                Some(0.75),
            ),
            (
                13,
                over(0.3),
                vec![one.clone(), required(Some(0.5), Some(0.5))],
                Verdict::Pass,
                Some(0.75),
            ),
            (14, over(0.3), vec![one.clone(), required(None, None)], UNKNOWN, None),
            (15, agentv(0.8), vec![grader(Some(1.0), 0.0)], Verdict::Fail, Some(0.0)),
            (16, all, vec![], Verdict::Unknown(Cause::NoGraders), None),
        ] {
            let decision = scoring.decide(&graders);
            assert_eq!((decision.verdict, decision.score), (verdict, score), "{n} {decision:?}");
        }
    }

    #[test]
    fn agentv_compares_scores_as_they_are() {
        let near = 0.799_999_999_999_999_9;
        for (profile, verdict) in [
            (Profile::Toolmark, Verdict::Pass),
            (Profile::Vally, Verdict::Pass),
            (Profile::AgentV1, Verdict::Fail),
            (Profile::AgentV2, Verdict::Fail),
            (Profile::AgentV5, Verdict::Fail),
        ] {
            let scoring = CaseScoring { rule: GateRule::Threshold(0.8), profile };
            assert_eq!(scoring.decide(&[grader(Some(near), 1.0)]).verdict, verdict, "{profile}");
        }
    }

    #[test]
    fn turns_are_taken_by_their_lowest_or_highest() {
        let of = |turn, score| ScoredGrader { turn, ..grader(score, 1.0) };
        let first = [of(Some(0), Some(1.0)), of(Some(0), Some(0.0))];
        let all = [&first[..], &[of(Some(1), Some(1.0)), of(None, Some(0.8))]].concat();
        for (rule, verdict, score) in [
            (GateRule::LowestTurn(0.6), Verdict::Fail, Some(0.5)),
            (GateRule::LowestTurn(0.5), Verdict::Pass, Some(0.5)),
            (GateRule::HighestTurn(0.9), Verdict::Pass, Some(1.0)),
            (GateRule::Threshold(0.7), Verdict::Pass, Some(0.7)),
        ] {
            let decision = CaseScoring { rule, profile: Profile::AgentV2 }.decide(&all);
            assert_eq!(decision.verdict, verdict, "{rule:?}");
            assert!((decision.score.unwrap() - score.unwrap()).abs() < 1e-12, "{rule:?}");
        }
        let open = [of(Some(0), Some(1.0)), of(Some(1), None)];
        let rule = GateRule::LowestTurn(0.5);
        let decision = CaseScoring { rule, profile: Profile::Toolmark }.decide(&open);
        assert_eq!(decision.verdict, UNKNOWN);
    }
}
