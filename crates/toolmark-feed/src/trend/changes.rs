//! Significant changes of a measure.
//!
//! A session is the unit, because its calls depend on each other. Any measure may change at any
//! border between two buckets, so a border that looks good is found even if nothing changed. The
//! test takes that into account: sessions are shuffled among the buckets, all measures together,
//! and the largest difference of any measure at any border is recorded. A change counts if such a
//! large difference is rare among the shuffled (Westfall and Young 1993, single step). If nothing
//! changes, at most five of a hundred reports mark anything.

use toolmark_outcome::statistics::Random;

/// Probability of marking anything if nothing changed.
pub(super) const LEVEL: f64 = 0.05;

/// Number of shuffles.
pub(super) const PERMUTATIONS: u64 = 999;

/// Minimum number of sessions with a value on each side of a border.
pub(super) const MIN_SESSIONS: usize = 3;

/// Maximum number of changes of a measure.
const MAX_CHANGES: usize = 4;

/// The contribution of one session to a measure: its distance from the usual value, and its weight.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Share {
    /// Index of the session.
    pub(super) session: u32,
    /// Distance: the points of the session less the usual points of its weight.
    pub(super) distance: f64,
    /// Weight, such as the number of calls.
    pub(super) weight: f64,
}

/// A border that divides a measure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Border {
    /// First bucket after the border.
    pub(super) bucket: usize,
    /// Probability of such a large difference at any border and measure if nothing changed.
    pub(super) p: f64,
}

/// Centers distances around their common mean.
pub(super) fn centred(mut shares: Vec<Share>) -> Vec<Share> {
    let weight: f64 = shares.iter().map(|share| share.weight).sum();
    let sum: f64 = shares.iter().map(|share| share.distance).sum();
    if weight > 0.0 {
        let mean = sum / weight;
        shares.iter_mut().for_each(|share| share.distance -= mean * share.weight);
    }
    shares
}

/// Returns the borders of every measure. `buckets` has the bucket of every session, out of `count`.
pub(super) fn find(buckets: &[u32], count: usize, measures: &[Vec<Share>]) -> Vec<Vec<Border>> {
    let mut found: Vec<Vec<Border>> = vec![Vec::new(); measures.len()];
    let tests: Vec<MeasureTest> =
        measures.iter().map(|shares| MeasureTest::new(centred(shares.clone()))).collect();
    let seen: Vec<Option<(f64, usize)>> =
        tests.iter().map(|test| test.largest(buckets, count)).collect();
    if seen.iter().all(Option::is_none) {
        return found;
    }
    let mut at_least = vec![0_u64; tests.len()];
    let mut shuffled = buckets.to_vec();
    let mut random = Random::new(SEED);
    for _ in 0..PERMUTATIONS {
        shuffle(&mut shuffled, &mut random);
        let most = tests.iter().filter_map(|test| test.largest(&shuffled, count));
        let most = most.map(|(difference, _)| difference).fold(0.0, f64::max);
        for (seen, at_least) in seen.iter().zip(&mut at_least) {
            *at_least += u64::from(seen.is_some_and(|(seen, _)| most >= seen - TIE));
        }
    }
    for ((seen, at_least), borders) in seen.iter().zip(at_least).zip(&mut found) {
        let p = (at_least + 1) as f64 / (PERMUTATIONS + 1) as f64;
        if let Some((_, bucket)) = seen.filter(|_| p <= LEVEL) {
            borders.push(Border { bucket, p });
        }
    }
    let changed = found.iter().filter(|borders| !borders.is_empty()).count();
    for (shares, borders) in measures.iter().zip(&mut found).filter(|(_, b)| !b.is_empty()) {
        divide(buckets, count, shares, borders, changed);
    }
    found
}

/// Searches for further borders on both sides of the first. Each search is corrected for the number
/// of searches at this depth.
fn divide(
    buckets: &[u32],
    count: usize,
    shares: &[Share],
    borders: &mut Vec<Border>,
    changed: usize,
) {
    let mut parts = vec![(0, borders[0].bucket), (borders[0].bucket, count)];
    while let Some((from, to)) = parts.pop() {
        if borders.len() >= MAX_CHANGES {
            break;
        }
        let is_inside = |share: &&Share| {
            let bucket = buckets.get(share.session as usize).map_or(usize::MAX, |b| *b as usize);
            (from..to).contains(&bucket)
        };
        // Sessions are renumbered, so that only those of the part are shuffled.
        let inside: Vec<Share> = shares.iter().filter(is_inside).copied().collect();
        let of_part: Vec<u32> = inside
            .iter()
            .map(|share| buckets.get(share.session as usize).copied().unwrap_or_default())
            .collect();
        let numbered = inside.iter().enumerate();
        let numbered = numbered.map(|(at, share)| Share { session: at as u32, ..*share }).collect();
        let test = MeasureTest::new(centred(numbered));
        let Some((seen, bucket)) = test.largest(&of_part, count) else { continue };
        let mut shuffled = of_part.clone();
        let mut random = Random::new(SEED ^ bucket as u64);
        let mut at_least = 0_u64;
        for _ in 0..PERMUTATIONS {
            shuffle(&mut shuffled, &mut random);
            let most = test.largest(&shuffled, count);
            at_least += u64::from(most.is_some_and(|(most, _)| most >= seen - TIE));
        }
        let looks = 2 * changed.max(1);
        let p = (at_least + 1) as f64 / (PERMUTATIONS + 1) as f64 * looks as f64;
        if p <= LEVEL {
            borders.push(Border { bucket, p });
            parts.extend([(from, bucket), (bucket, to)]);
        }
    }
    borders.sort_by_key(|border| border.bucket);
}

/// Fixed seed, so that reports of the same sessions are equal.
const SEED: u64 = 0x0074_7265_6e64;

/// Tolerance for differences that are equal mathematically but differ in the last digits.
const TIE: f64 = 1e-9;

fn shuffle(values: &mut [u32], random: &mut Random) {
    for end in (1..values.len()).rev() {
        values.swap(end, random.below(end + 1));
    }
}

/// One measure, prepared for repeated tests.
struct MeasureTest {
    shares: Vec<Share>,
    /// Variance of a distance.
    variance: f64,
}

impl MeasureTest {
    fn new(shares: Vec<Share>) -> Self {
        let n = shares.len() as f64;
        let squares: f64 = shares.iter().map(|share| share.distance * share.distance).sum();
        let variance = if n > 1.0 { squares / (n * (n - 1.0)) } else { 0.0 };
        Self { shares, variance }
    }

    /// Returns the largest difference at any border, in standard deviations of a shuffle, and the
    /// border; `None` if there is no border to test.
    fn largest(&self, buckets: &[u32], count: usize) -> Option<(f64, usize)> {
        let n = self.shares.len();
        if n < 2 * MIN_SESSIONS || self.variance <= f64::EPSILON {
            return None;
        }
        let mut sums = vec![(0.0, 0_usize); count];
        for share in &self.shares {
            let bucket = buckets.get(share.session as usize).map_or(usize::MAX, |b| *b as usize);
            if let Some((sum, sessions)) = sums.get_mut(bucket) {
                *sum += share.distance;
                *sessions += 1;
            }
        }
        let (mut sum, mut before) = (0.0, 0);
        let mut best: Option<(f64, usize)> = None;
        for (bucket, (of_bucket, sessions)) in sums.iter().enumerate().take(count.saturating_sub(1))
        {
            sum += of_bucket;
            before += sessions;
            // A bucket without sessions divides as the one before it.
            if before < MIN_SESSIONS || n - before < MIN_SESSIONS || *sessions == 0 {
                continue;
            }
            let spread = (before as f64 * (n - before) as f64 * self.variance).sqrt();
            let difference = f64::abs(sum) / spread;
            if best.is_none_or(|(most, _)| difference > most + TIE) {
                best = Some((difference, bucket + 1));
            }
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Builds sessions in buckets of ten, with a measure that jumps at a bucket.
    fn jump(sessions: usize, at: Option<usize>, seed: u64) -> (Vec<u32>, Vec<Share>) {
        let mut random = Random::new(seed);
        let buckets: Vec<u32> = (0..sessions).map(|n| (n / 10) as u32).collect();
        let shares = buckets
            .iter()
            .enumerate()
            .map(|(n, bucket)| {
                let more = at.is_some_and(|at| *bucket as usize >= at);
                let noise = random.below(1000) as f64 / 1000.0;
                let distance = noise + if more { 2.0 } else { 0.0 };
                Share { session: n as u32, distance, weight: 1.0 }
            })
            .collect();
        (buckets, shares)
    }

    #[test]
    fn a_jump_is_found_where_it_is() {
        let (buckets, shares) = jump(80, Some(5), 1);
        let found = find(&buckets, 8, &[shares]);
        let borders: Vec<usize> = found[0].iter().map(|border| border.bucket).collect();
        assert_eq!(borders, [5]);
        assert!(found[0][0].p <= 0.01, "{found:?}");
    }

    #[test]
    fn two_jumps_are_two_borders() {
        let (buckets, mut shares) = jump(90, Some(3), 2);
        shares.iter_mut().skip(60).for_each(|share| share.distance += 4.0);
        let found = find(&buckets, 9, &[shares]);
        let borders: Vec<usize> = found[0].iter().map(|border| border.bucket).collect();
        assert_eq!(borders, [3, 6]);
    }

    #[test]
    fn little_and_constant_data_have_no_border() {
        let (buckets, shares) = jump(5, Some(0), 1);
        assert_eq!(find(&buckets, 1, &[shares]), [[]]);
        let constant: Vec<Share> =
            (0..40).map(|n| Share { session: n, distance: 3.0, weight: 1.0 }).collect();
        let buckets: Vec<u32> = (0..40).map(|n| n / 10).collect();
        assert_eq!(find(&buckets, 4, &[constant]), [[]]);
        assert_eq!(find(&[], 0, &[Vec::new()]), [[]]);
    }

    /// The stated rate: of reports on shuffled data, with ten measures each, at most five of a
    /// hundred mark anything. 100 reports with a true rate of 5 % mark more than 12 with a
    /// probability of one in a thousand.
    #[test]
    fn shuffled_data_is_marked_no_more_often_than_stated() {
        let mut marked = 0;
        for report in 0..100_u64 {
            let measures: Vec<Vec<Share>> =
                (0..10).map(|n| jump(60, None, report * 100 + n).1).collect();
            let (buckets, _) = jump(60, None, 0);
            let found = find(&buckets, 6, &measures);
            marked += u64::from(found.iter().any(|borders| !borders.is_empty()));
        }
        assert!(marked <= 12, "{marked} of 100");
    }
}
