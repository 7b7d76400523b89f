//! Statistics over trials: a page of formulas with published values as tests.

/// The chance that at least one of `k` trials passes, estimated without bias
/// from `passed` of `trials`: 1 − C(n−c, k) / C(n, k). `None` where `k` is 0 or
/// more than were made.
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

/// The chance that `k` trials in a row all pass, from the pass rate: p^k.
#[must_use]
pub fn pass_hat_k(trials: u64, passed: u64, k: u64) -> Option<f64> {
    if trials == 0 || passed > trials || k == 0 {
        return None;
    }
    let k = i32::try_from(k).ok()?;
    Some((passed as f64 / trials as f64).powi(k))
}

/// The Wilson interval of a pass rate at 95 %.
#[must_use]
pub fn wilson(trials: u64, passed: u64) -> Option<(f64, f64)> {
    if trials == 0 || passed > trials {
        return None;
    }
    wilson_of_rate(trials, passed as f64 / trials as f64)
}

/// The same of a mean of scores from 0 to 1, which vary no more than passes and
/// failures with that mean do.
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

/// The mean; `None` of nothing.
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
    fn pass_hat_k_is_a_power() {
        assert_eq!(pass_hat_k(4, 2, 3), Some(0.125));
        assert_eq!(pass_hat_k(0, 0, 1), None);
    }

    #[test]
    fn wilson_has_the_published_values() {
        // 8 of 10 (Agresti and Coull 1998).
        let (low, high) = wilson(10, 8).unwrap();
        assert!((low - 0.4902).abs() < 1e-4 && (high - 0.9433).abs() < 1e-4, "{low} {high}");
        let (low, high) = wilson(5, 0).unwrap();
        assert!(low.abs() < 1e-12 && (high - 0.4345).abs() < 1e-4, "{low} {high}");
    }
}
