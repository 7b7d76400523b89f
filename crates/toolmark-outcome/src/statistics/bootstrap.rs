//! Bootstrap interval of the mean difference of pairs.

use super::random::Random;

/// Number of resamples.
pub const RESAMPLES: usize = 10_000;
/// Minimum number of resamples, however many pairs there are.
const MIN_RESAMPLES: usize = 1_000;
/// Maximum number of pairs drawn over all resamples; beyond it, fewer resamples are drawn.
const MAX_DRAWS: usize = 200_000_000;
/// Minimum number of pairs for an interval: fewer pairs have too few distinct resamples to be
/// informative.
pub const MIN_PAIRS: usize = 5;
/// Fixed seed, so that the same pairs always have the same interval.
const SEED: u64 = 20_261_117;
/// Share of resamples on either side of a 95 % interval.
const TAIL: f64 = 0.025;

/// Returns the 95 % interval of the mean of differences between pairs (percentile bootstrap).
///
/// The differences are drawn with replacement, as many as there are, [`RESAMPLES`] times; the
/// interval contains the middle 95 % of the means. The seed is fixed, and the interval of the
/// negated differences is the negated interval. Returns `None` for fewer than [`MIN_PAIRS`].
#[must_use]
pub fn paired_bootstrap(differences: &[f64]) -> Option<(f64, f64)> {
    let n = differences.len();
    if n < MIN_PAIRS {
        return None;
    }
    let resamples = (MAX_DRAWS / n).clamp(MIN_RESAMPLES, RESAMPLES);
    let mut random = Random::new(SEED);
    let mut means: Vec<f64> = (0..resamples)
        .map(|_| (0..n).map(|_| differences[random.below(n)]).sum::<f64>() / n as f64)
        .collect();
    means.sort_by(f64::total_cmp);
    // The same number is omitted below and above.
    let left_out = ((resamples as f64 * TAIL).ceil() as usize).saturating_sub(1);
    let (low, high) = (means.get(left_out)?, means.get(resamples - 1 - left_out)?);
    Some((*low, *high))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns `n` differences of which `ones` are 1 and the others 0.
    fn some_of(n: usize, ones: usize) -> Vec<f64> {
        (0..n).map(|at| f64::from(at < ones)).collect()
    }

    #[test]
    fn intervals_are_the_quantiles_of_the_binomial() {
        // The mean of a resample is a binomial share, whose quantiles tables have:
        // B(5, 0.2) is at most 3 with .9933 and 2 with .9421; B(10, 0.3) is 0 with .0282,
        // at most 6 with .9894, 5 with .9527; B(20, 0.5) is at most 6 with .0577 and 5
        // with .0207, at most 14 with .9793 and 13 with .9423.
        for (n, ones, want) in [
            (5, 1, (0.0, 0.6)),
            (10, 3, (0.0, 0.6)),
            (20, 10, (0.3, 0.7)),
            (8, 0, (0.0, 0.0)),
            (8, 8, (1.0, 1.0)),
        ] {
            let (low, high) = paired_bootstrap(&some_of(n, ones)).unwrap();
            assert!((low - want.0).abs() < 1e-9 && (high - want.1).abs() < 1e-9, "{low} {high}");
        }
    }

    #[test]
    fn many_pairs_have_the_interval_of_the_normal_distribution() {
        // Mean 0.5 and standard deviation 0.5 of 10,000: 0.5 ± 1.96 · 0.005.
        let (low, high) = paired_bootstrap(&some_of(10_000, 5_000)).unwrap();
        assert!((low - 0.4902).abs() < 6e-4 && (high - 0.5098).abs() < 6e-4, "{low} {high}");
    }

    #[test]
    fn swapped_pairs_have_the_mirrored_interval() {
        let differences = [0.3, -0.25, 0.0, 0.125, -1.0, 0.7, 0.0];
        let (low, high) = paired_bootstrap(&differences).unwrap();
        assert_eq!(paired_bootstrap(&differences.map(|d| -d)), Some((-high, -low)));
        assert_eq!(paired_bootstrap(&differences), Some((low, high)));
        assert!(low < 0.0 && high > 0.0);
    }

    #[test]
    fn few_pairs_have_no_interval() {
        assert_eq!(paired_bootstrap(&[]), None);
        assert_eq!(paired_bootstrap(&[-1.0; MIN_PAIRS - 1]), None);
        assert_eq!(paired_bootstrap(&[-1.0; MIN_PAIRS]), Some((-1.0, -1.0)));
    }
}
