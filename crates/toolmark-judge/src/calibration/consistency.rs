//! Agreement of a judge with itself when the same question is repeated.

use super::agreement::AgreementRate;
use super::opinion::Opinion;
use serde::{Deserialize, Serialize};

/// Agreement of a judge with itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Consistency {
    /// Number of times each question was asked.
    pub repeats: u32,
    /// Share of samples with the same verdict every time, among those answered at least twice.
    /// Unknown is a verdict here.
    pub all_agree: AgreementRate,
    /// Average share of pairs of answers with the same verdict.
    pub pairwise: Option<f64>,
    /// Average distance between the highest and the lowest score.
    pub spread: Option<f64>,
    /// Number of samples answered fewer than two times.
    pub left_out: u64,
}

impl Consistency {
    /// Compares all answers to every sample.
    #[must_use]
    pub(super) fn new(repeats: u32, samples: &[Vec<Opinion>]) -> Self {
        let (mut same, mut of, mut left_out) = (0, 0, 0);
        let (mut pairwise, mut spreads) = (Vec::new(), Vec::new());
        for opinions in samples {
            let answers: Vec<&Opinion> = opinions.iter().filter(|one| one.is_answer).collect();
            let Some(agreed) = pairwise_agreement(&answers) else {
                left_out += 1;
                continue;
            };
            of += 1;
            same += u64::from(agreed >= 1.0);
            pairwise.push(agreed);
            spreads.extend(spread(&answers));
        }
        Self {
            repeats,
            all_agree: AgreementRate::new(same, of),
            pairwise: toolmark_outcome::statistics::mean(&pairwise),
            spread: toolmark_outcome::statistics::mean(&spreads),
            left_out,
        }
    }
}

/// Returns the share of pairs with the same verdict; `None` if there is no pair.
fn pairwise_agreement(answers: &[&Opinion]) -> Option<f64> {
    let n = answers.len();
    if n < 2 {
        return None;
    }
    let count = |passes| answers.iter().filter(|one| one.passes == passes).count();
    let pairs = |n: usize| n * n.saturating_sub(1) / 2;
    let same: usize = [Some(true), Some(false), None].into_iter().map(|of| pairs(count(of))).sum();
    Some(same as f64 / pairs(n) as f64)
}

fn spread(answers: &[&Opinion]) -> Option<f64> {
    let scores = || answers.iter().filter_map(|one| one.score);
    let highest = scores().max_by(f64::total_cmp)?;
    let lowest = scores().min_by(f64::total_cmp)?;
    (scores().count() > 1).then_some(highest - lowest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opinions(scores: &[Option<f64>]) -> Vec<Opinion> {
        let one = |score: &Option<f64>| Opinion {
            passes: score.map(|score| score >= 0.5),
            score: *score,
            is_answer: true,
            ..Opinion::default()
        };
        scores.iter().map(one).collect()
    }

    #[test]
    fn the_same_again() {
        let steady = opinions(&[Some(1.0), Some(1.0), Some(0.75)]);
        let torn = opinions(&[Some(1.0), Some(0.0), Some(1.0)]);
        let unsure = opinions(&[Some(1.0), None, None]);
        let lost = vec![Opinion::default(), Opinion::default(), opinions(&[Some(1.0)]).remove(0)];
        let found = Consistency::new(3, &[steady, torn, unsure, lost]);
        assert_eq!((found.all_agree.count, found.all_agree.of, found.left_out), (1, 3, 1));
        assert!((found.pairwise.unwrap() - (1.0 + 1.0 / 3.0 + 1.0 / 3.0) / 3.0).abs() < 1e-12);
        assert!((found.spread.unwrap() - (0.25 + 1.0) / 2.0).abs() < 1e-12);
        let nothing = Consistency::new(3, &[]);
        assert_eq!((nothing.pairwise, nothing.spread, nothing.all_agree.rate), (None, None, None));
    }
}
