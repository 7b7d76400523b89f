//! Statistics over trials: formulas, tested against published values.

mod bootstrap;
mod random;

pub use bootstrap::{MIN_PAIRS, RESAMPLES, paired_bootstrap};
pub use random::Random;

/// Returns the unbiased estimate of the probability that at least one of `k` trials passes,
/// from `passed` of `trials`: 1 − C(n−c, k) / C(n, k). `None` if `k` is 0 or greater than
/// `trials`.
#[must_use]
pub fn pass_at_k(trials: u64, passed: u64, k: u64) -> Option<f64> {
    if k == 0 || k > trials || passed > trials {
        return None;
    }
    let failed = trials - passed;
    if failed < k {
        return Some(1.0);
    }
    // The product form never overflows.
    let all_fail: f64 = (0..k).map(|i| (failed - i) as f64 / (trials - i) as f64).product();
    Some(1.0 - all_fail)
}

/// Returns the unbiased estimate of the probability that all of `k` trials pass, from
/// `passed` of `trials`: C(c, k) / C(n, k). `None` if `k` is 0 or greater than `trials`.
#[must_use]
pub fn pass_hat_k(trials: u64, passed: u64, k: u64) -> Option<f64> {
    if k == 0 || k > trials || passed > trials {
        return None;
    }
    if passed < k {
        return Some(0.0);
    }
    Some((0..k).map(|i| (passed - i) as f64 / (trials - i) as f64).product())
}

/// Returns pass^k as Vally computes it: the pass rate to the power `k`, which is too high if
/// there are few trials.
#[must_use]
pub fn pass_rate_to_the_k(trials: u64, passed: u64, k: u64) -> Option<f64> {
    if trials == 0 || passed > trials || k == 0 {
        return None;
    }
    let k = i32::try_from(k).ok()?;
    Some((passed as f64 / trials as f64).powi(k))
}

/// Returns the 95 % Wilson interval of a pass rate.
#[must_use]
pub fn wilson(trials: u64, passed: u64) -> Option<(f64, f64)> {
    if trials == 0 || passed > trials {
        return None;
    }
    wilson_of_rate(trials, passed as f64 / trials as f64)
}

/// Returns the 95 % Wilson interval of a mean of scores from 0 to 1, whose variance is at
/// most that of passes and failures with the same mean.
#[must_use]
pub fn wilson_of_rate(trials: u64, p: f64) -> Option<(f64, f64)> {
    if trials == 0 || !(0.0..=1.0).contains(&p) {
        return None;
    }
    const Z: f64 = 1.959_963_984_540_054;
    let n = trials as f64;
    let z2 = Z * Z;
    let centre = p + z2 / (2.0 * n);
    let spread = Z * (p * (1.0 - p) / n + z2 / (4.0 * n * n)).sqrt();
    let scale = 1.0 + z2 / n;
    Some((((centre - spread) / scale).max(0.0), ((centre + spread) / scale).min(1.0)))
}

/// Returns the 95 % interval of the difference between two rates of independent trials, the
/// second minus the first (Newcombe 1998, from two Wilson intervals).
#[must_use]
pub fn difference(first: (u64, f64), second: (u64, f64)) -> Option<(f64, f64)> {
    let interval = |(trials, rate): (u64, f64)| Some((rate, wilson_of_rate(trials, rate)?));
    Some(difference_of(interval(first)?, interval(second)?))
}

/// Returns the interval of the difference between two values from 0 to 1, each given with its
/// interval.
#[must_use]
pub fn difference_of(first: (f64, (f64, f64)), second: (f64, (f64, f64))) -> (f64, f64) {
    let ((p1, (low1, high1)), (p2, (low2, high2))) = (first, second);
    let d = p2 - p1;
    let below = ((p2 - low2).powi(2) + (high1 - p1).powi(2)).sqrt();
    let above = ((high2 - p2).powi(2) + (p1 - low1).powi(2)).sqrt();
    ((d - below).max(-1.0), (d + above).min(1.0))
}

/// Counts of paired trials: passed both times, only the first time, only the second time, or
/// neither time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TrialPairs {
    /// Passed both times.
    pub both: u64,
    /// Passed the first time only.
    pub first: u64,
    /// Passed the second time only.
    pub second: u64,
    /// Failed both times.
    pub neither: u64,
}

impl TrialPairs {
    /// Adds a pair.
    pub fn add(&mut self, first: bool, second: bool) {
        let count = match (first, second) {
            (true, true) => &mut self.both,
            (true, false) => &mut self.first,
            (false, true) => &mut self.second,
            (false, false) => &mut self.neither,
        };
        *count += 1;
    }

    /// Returns the number of pairs.
    #[must_use]
    pub fn count(self) -> u64 {
        self.both + self.first + self.second + self.neither
    }

    /// Returns the probability of a difference at least as large as this one if nothing has
    /// changed (McNemar, exact, two-sided).
    #[must_use]
    pub fn p_value(self) -> f64 {
        let n = self.first + self.second;
        let fewer = self.first.min(self.second);
        // The terms of the binomial from the tail up; each from the one before.
        let mut term = -(n as f64) * std::f64::consts::LN_2;
        let mut tail = term.exp();
        for k in 1..=fewer {
            term += ((n - k + 1) as f64 / k as f64).ln();
            tail += term.exp();
        }
        (2.0 * tail).min(1.0)
    }

    /// Returns the second rate minus the first.
    #[must_use]
    pub fn difference(self) -> Option<f64> {
        let n = self.count();
        (n > 0).then(|| (self.second as f64 - self.first as f64) / n as f64)
    }

    /// Returns the 95 % interval of the difference (Newcombe 1998, for paired data).
    #[must_use]
    pub fn interval(self) -> Option<(f64, f64)> {
        let n = self.count();
        let d = self.difference()?;
        let (before, after) = (self.both + self.first, self.both + self.second);
        let (low1, high1) = wilson(n, before)?;
        let (low2, high2) = wilson(n, after)?;
        let (p1, p2) = (before as f64 / n as f64, after as f64 / n as f64);
        let phi = self.correlation();
        let spread =
            |up: f64, down: f64| (up * up - 2.0 * phi * up * down + down * down).max(0.0).sqrt();
        let below = spread(p2 - low2, high1 - p1);
        let above = spread(high2 - p2, p1 - low1);
        Some(((d - below).max(-1.0), (d + above).min(1.0)))
    }

    /// Returns phi, with the continuity correction that the interval requires.
    fn correlation(self) -> f64 {
        let n = self.count() as f64;
        let [a, b, c, d] = [self.both, self.first, self.second, self.neither].map(|x| x as f64);
        let product = (a + b) * (c + d) * (a + c) * (b + d);
        if product <= 0.0 {
            return 0.0;
        }
        let numerator = a * d - b * c;
        let corrected = if numerator > 0.0 { (numerator - n / 2.0).max(0.0) } else { numerator };
        corrected / product.sqrt()
    }
}

/// Returns the probability of two rates that differ at least as much if there is no
/// difference (Fisher, exact, two-sided). Each argument is `(trials, passed)`.
#[must_use]
pub fn fisher(first: (u64, u64), second: (u64, u64)) -> Option<f64> {
    let ((n1, k1), (n2, k2)) = (first, second);
    if n1 == 0 || n2 == 0 || k1 > n1 || k2 > n2 {
        return None;
    }
    let k = k1 + k2;
    let (low, high) = (k.saturating_sub(n2), k.min(n1));
    // Logarithms of the hypergeometric terms, relative to the first.
    let ratio = |x: u64| {
        let up = (n1 - x) as f64 * (k - x) as f64;
        let down = (x + 1) as f64 * (n2 + x + 1 - k) as f64;
        (up / down).ln()
    };
    let (mut term, mut seen, mut most) = (0.0, 0.0, f64::NEG_INFINITY);
    for x in low..=high {
        if x == k1 {
            seen = term;
        }
        most = f64::max(most, term);
        if x < high {
            term += ratio(x);
        }
    }
    let (mut all, mut rare, mut term) = (0.0, 0.0, 0.0);
    for x in low..=high {
        let weight = (term - most).exp();
        all += weight;
        // Terms that are equal on paper may differ in the last digits.
        if term <= seen + 1e-7 {
            rare += weight;
        }
        if x < high {
            term += ratio(x);
        }
    }
    Some((rare / all).min(1.0))
}

/// Returns the mean, or `None` for an empty slice.
#[must_use]
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pass_at_k_is_unbiased() {
        for (n, c, k, want) in [
            (5, 4, 1, 0.8),
            (5, 4, 5, 1.0),
            (5, 4, 2, 1.0),
            (10, 3, 5, 1.0 - 21.0 / 252.0),
            (3, 0, 3, 0.0),
            (2, 1, 1, 0.5),
        ] {
            let got = pass_at_k(n, c, k).unwrap();
            assert!((got - want).abs() < 1e-12, "{n} {c} {k}: {got}");
        }
        assert_eq!(pass_at_k(3, 1, 4), None);
        assert_eq!(pass_at_k(3, 1, 0), None);
    }

    #[test]
    fn pass_hat_k_is_unbiased_and_a_power_for_vally() {
        // (trials, passed, k, without bias, as a power)
        for (n, c, k, want, power) in [
            (5, 4, 1, Some(0.8), Some(0.8)),
            (5, 4, 2, Some(0.6), Some(0.64)),
            (5, 4, 5, Some(0.0), Some(0.32768)),
            (5, 5, 5, Some(1.0), Some(1.0)),
            (4, 2, 3, Some(0.0), Some(0.125)),
            (10, 7, 3, Some(35.0 / 120.0), Some(0.343)),
            (3, 2, 4, None, Some(16.0 / 81.0)),
            (0, 0, 1, None, None),
            (3, 2, 0, None, None),
        ] {
            for (got, want) in [(pass_hat_k(n, c, k), want), (pass_rate_to_the_k(n, c, k), power)] {
                let near = match (got, want) {
                    (Some(got), Some(want)) => (got - want).abs() < 1e-12,
                    (got, want) => got == want,
                };
                assert!(near, "{n} {c} {k}: {got:?}, not {want:?}");
            }
        }
    }

    #[test]
    fn wilson_has_the_published_values() {
        // 8 of 10 (Agresti and Coull 1998).
        let (low, high) = wilson(10, 8).unwrap();
        assert!((low - 0.4902).abs() < 1e-4 && (high - 0.9433).abs() < 1e-4, "{low} {high}");
        let (low, high) = wilson(5, 0).unwrap();
        assert!(low.abs() < 1e-12 && (high - 0.4345).abs() < 1e-4, "{low} {high}");
    }
    #[test]
    fn differences_have_the_published_values() {
        // 56 of 70 and 48 of 80 (Newcombe 1998, the first of his examples).
        let (low, high) = difference((80, 0.6), (70, 0.8)).unwrap();
        assert!((low - 0.0524).abs() < 1e-4 && (high - 0.3339).abs() < 1e-4, "{low} {high}");
        // 9 of 10 and 3 of 10 (the same, third).
        let (low, high) = difference((10, 0.3), (10, 0.9)).unwrap();
        assert!((low - 0.1705).abs() < 1e-4 && (high - 0.8090).abs() < 1e-4, "{low} {high}");
        assert_eq!(difference((0, 0.0), (3, 1.0)), None);
    }

    #[test]
    fn pairs_have_the_published_values() {
        // Airway responses before and after a transplantation (Fagerland, Lydersen
        // and Laake 2014): 1, 1, 7 and 12 of 21.
        let pairs = TrialPairs { both: 1, first: 1, second: 7, neither: 12 };
        assert!((pairs.p_value() - 0.0703).abs() < 1e-4, "{}", pairs.p_value());
        assert!((pairs.difference().unwrap() - 0.2857).abs() < 1e-4);
        let (low, high) = pairs.interval().unwrap();
        assert!((low - 0.026).abs() < 1e-3 && (high - 0.507).abs() < 1e-3, "{low} {high}");
        // 9 against 2 (Fay 2010).
        let pairs = TrialPairs { both: 21, first: 9, second: 2, neither: 12 };
        assert!((pairs.p_value() - 0.065_43).abs() < 1e-5);
        assert_eq!(TrialPairs::default().p_value(), 1.0);
        assert_eq!(TrialPairs::default().interval(), None);
        let many = TrialPairs { first: 2_000_000, second: 2_001_000, ..TrialPairs::default() };
        assert!(many.p_value() > 0.5 && many.p_value() < 0.7, "{}", many.p_value());
    }

    #[test]
    fn fisher_has_the_published_values() {
        // The lady who tasted tea.
        assert!((fisher((4, 3), (4, 1)).unwrap() - 0.485_714).abs() < 1e-6);
        // Convictions of twins (Fisher 1935): 10 of 13 and 2 of 17.
        assert!((fisher((13, 10), (17, 2)).unwrap() - 0.000_537).abs() < 1e-6);
        assert_eq!(fisher((5, 5), (7, 7)), Some(1.0));
        assert_eq!(fisher((0, 0), (7, 7)), None);
        assert!(fisher((1_000_000, 500_000), (1_000_000, 503_000)).unwrap() < 1e-3);
    }
}
