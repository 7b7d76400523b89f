//! Agreement of a judge with people.
//!
//! An unknown verdict never counts as agreement: accuracy is given over the labels the judge
//! answered, and also with unknown counted as wrong. κ is the accuracy corrected for agreement by
//! chance; if chance alone would always agree, κ is undefined, with a reason.

use serde::{Deserialize, Serialize};
use toolmark_outcome::statistics::Random;
use toolmark_outcome::statistics::wilson;

/// Number of resamples for the interval of κ, unless there are too many labels.
const RESAMPLES: usize = 2_000;
/// Minimum number of resamples, for any number of labels.
const MIN_RESAMPLES: usize = 200;
/// Maximum number of draws in all resamples.
const MAX_DRAWS: usize = 20_000_000;
/// Fixed seed, so that intervals are reproducible.
const SEED: u64 = 0x746f_6f6c_6d61_726b;

/// A count out of a total, with the 95 % interval of the rate.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct AgreementRate {
    /// Count.
    pub count: u64,
    /// Total.
    pub of: u64,
    /// Rate; `None` if the total is 0.
    pub rate: Option<f64>,
    /// Wilson's interval.
    pub interval: Option<[f64; 2]>,
}

impl AgreementRate {
    /// Creates a rate from a count and a total.
    #[must_use]
    pub fn new(count: u64, of: u64) -> Self {
        Self {
            count,
            of,
            rate: (of > 0).then(|| count as f64 / of as f64),
            interval: wilson(of, count).map(|(low, high)| [low, high]),
        }
    }
}

/// Agreement beyond chance.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Kappa {
    /// Value from -1 to 1; 0 is expected by chance.
    pub value: Option<f64>,
    /// 95 % interval, by bootstrap with a fixed seed.
    pub interval: Option<[f64; 2]>,
    /// Reason why the value is undefined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undefined: Option<String>,
}

/// Agreement on one class.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClassAgreement {
    /// Class.
    pub class: String,
    /// Number of labels of this class, answered or not.
    pub support: u64,
    /// Number of labels of this class that the judge left unknown.
    pub unknown: u64,
    /// Share of correct ones among those the judge assigned to the class.
    pub precision: AgreementRate,
    /// Share the judge assigned to the class among the answered labels of this class.
    pub recall: AgreementRate,
    /// Harmonic mean of precision and recall.
    pub f1: Option<f64>,
}

/// Agreement of a judge with people.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Agreement {
    /// Classes, worst first.
    pub classes: Vec<String>,
    /// Number of labels.
    pub labels: u64,
    /// Number of labels that the judge left unknown.
    pub unknown: u64,
    /// Share of correct verdicts among the answered labels.
    pub accuracy: AgreementRate,
    /// Share of correct verdicts among all labels; unknown counts as wrong.
    pub accuracy_of_all: AgreementRate,
    /// Agreement beyond chance.
    pub kappa: Kappa,
    /// Agreement beyond chance with quadratic weights, if there are more than two classes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weighted_kappa: Option<Kappa>,
    /// Number of labels of a class (row) assigned to a class by the judge (column).
    pub confusion: Vec<Vec<u64>>,
    /// Agreement per class.
    pub of_classes: Vec<ClassAgreement>,
}

impl Agreement {
    /// Compares labels with verdicts, given as pairs of indexes of ordered classes.
    /// The index of the judge is missing if its verdict is unknown.
    #[must_use]
    pub fn new(classes: Vec<String>, pairs: &[(usize, Option<usize>)]) -> Self {
        let known = |class: &usize| *class < classes.len();
        let pairs: Vec<_> = pairs.iter().filter(|(label, _)| known(label)).copied().collect();
        let answered: Vec<(usize, usize)> = pairs
            .iter()
            .filter_map(|(label, said)| Some((*label, (*said).filter(known)?)))
            .collect();
        let table = AgreementTable::of(classes.len(), answered.iter().copied());
        let labels = pairs.len() as u64;
        let right = table.right();
        let of_class = |(at, class): (usize, &String)| {
            let support = pairs.iter().filter(|(label, _)| *label == at).count() as u64;
            let (right, row, column) = (table.cell(at, at), table.row(at), table.column(at));
            ClassAgreement {
                class: class.clone(),
                support,
                unknown: support - row,
                precision: AgreementRate::new(right, column),
                recall: AgreementRate::new(right, row),
                f1: (row + column > 0).then(|| 2.0 * right as f64 / (row + column) as f64),
            }
        };
        Self {
            labels,
            unknown: labels - answered.len() as u64,
            accuracy: AgreementRate::new(right, answered.len() as u64),
            accuracy_of_all: AgreementRate::new(right, labels),
            kappa: kappa(&table, &answered, Weights::None),
            weighted_kappa: (classes.len() > 2)
                .then(|| kappa(&table, &answered, Weights::Quadratic)),
            of_classes: classes.iter().enumerate().map(of_class).collect(),
            confusion: table.cells.chunks(classes.len().max(1)).map(<[u64]>::to_vec).collect(),
            classes,
        }
    }

    /// Returns the number of labels that the judge answered.
    #[must_use]
    pub fn answered(&self) -> u64 {
        self.labels - self.unknown
    }
}

/// Weight of a disagreement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Weights {
    /// Equal weight for all disagreements.
    None,
    /// Square of the distance between the classes.
    Quadratic,
}

impl Weights {
    fn of(self, a: usize, b: usize) -> f64 {
        match self {
            Self::None => f64::from(u8::from(a != b)),
            Self::Quadratic => (a.abs_diff(b) as f64).powi(2),
        }
    }
}

/// Counts of pairs of classes.
struct AgreementTable {
    classes: usize,
    cells: Vec<u64>,
}

impl AgreementTable {
    fn of(classes: usize, pairs: impl Iterator<Item = (usize, usize)>) -> Self {
        let mut table = Self { classes, cells: vec![0; classes * classes] };
        pairs.for_each(|(label, said)| table.add(label, said));
        table
    }

    fn add(&mut self, label: usize, said: usize) {
        if let Some(cell) = self.cells.get_mut(label * self.classes + said) {
            *cell += 1;
        }
    }

    fn cell(&self, label: usize, said: usize) -> u64 {
        self.cells.get(label * self.classes + said).copied().unwrap_or(0)
    }

    fn row(&self, label: usize) -> u64 {
        (0..self.classes).map(|said| self.cell(label, said)).sum()
    }

    fn column(&self, said: usize) -> u64 {
        (0..self.classes).map(|label| self.cell(label, said)).sum()
    }

    fn right(&self) -> u64 {
        (0..self.classes).map(|class| self.cell(class, class)).sum()
    }

    /// Returns one minus the disagreement relative to that expected by chance; `None` if none is
    /// expected.
    fn kappa(&self, weights: Weights) -> Option<f64> {
        let all: u64 = self.cells.iter().sum();
        let rows: Vec<u64> = (0..self.classes).map(|class| self.row(class)).collect();
        let columns: Vec<u64> = (0..self.classes).map(|class| self.column(class)).collect();
        let (mut seen, mut by_chance) = (0.0, 0.0);
        for (label, row) in rows.iter().enumerate() {
            for (said, column) in columns.iter().enumerate() {
                let weight = weights.of(label, said);
                seen += weight * self.cell(label, said) as f64;
                by_chance += weight * *row as f64 * *column as f64;
            }
        }
        (by_chance > 0.0).then(|| 1.0 - seen * all as f64 / by_chance)
    }
}

fn kappa(table: &AgreementTable, pairs: &[(usize, usize)], weights: Weights) -> Kappa {
    match table.kappa(weights) {
        Some(value) => Kappa {
            value: Some(value),
            interval: bootstrap(table.classes, pairs, weights),
            undefined: None,
        },
        None => {
            let why = match pairs.first() {
                None => "the judge answered none of the labels",
                Some(_) => "all labels and verdicts have the same class",
            };
            Kappa { undefined: Some(why.to_owned()), ..Kappa::default() }
        }
    }
}

/// Returns the 95 % bootstrap interval of κ. Resamples with an undefined κ are ignored; if most
/// are, there is no interval.
fn bootstrap(classes: usize, pairs: &[(usize, usize)], weights: Weights) -> Option<[f64; 2]> {
    let resamples = (MAX_DRAWS / pairs.len().max(1)).clamp(MIN_RESAMPLES, RESAMPLES);
    let mut random = Random::new(SEED);
    let mut values: Vec<f64> = (0..resamples)
        .filter_map(|_| {
            let drawn = (0..pairs.len()).filter_map(|_| pairs.get(random.below(pairs.len())));
            AgreementTable::of(classes, drawn.copied()).kappa(weights)
        })
        .collect();
    if values.len() * 2 < resamples {
        return None;
    }
    values.sort_by(f64::total_cmp);
    let quantile = |share: f64| {
        let at = share * (values.len() - 1) as f64;
        let (below, above) = (values.get(at.floor() as usize)?, values.get(at.ceil() as usize)?);
        Some(below + (above - below) * at.fract())
    };
    Some([quantile(0.025)?, quantile(0.975)?])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agreement(table: &[&[u64]], unknown: &[u64]) -> Agreement {
        let classes = (0..table.len()).map(|n| n.to_string()).collect();
        let mut pairs = Vec::new();
        for (label, row) in table.iter().enumerate() {
            for (said, count) in row.iter().enumerate() {
                pairs.extend((0..*count).map(|_| (label, Some(said))));
            }
        }
        for (label, count) in unknown.iter().enumerate() {
            pairs.extend((0..*count).map(|_| (label, None)));
        }
        Agreement::new(classes, &pairs)
    }

    #[test]
    fn kappa_has_the_published_values() {
        for (table, want, digits) in [
            // Two readers of grant proposals, and the two that agree as often
            // with different margins: the usual examples for Cohen's κ.
            (&[&[20, 5][..], &[10, 15]][..], 0.4, 1e-12),
            (&[&[45, 15], &[25, 15]], 0.1304, 1e-4),
            (&[&[25, 35], &[5, 35]], 0.2593, 1e-4),
            // Diagnoses of 100 patients (Fleiss, Levin and Paik 2003, chapter 18).
            (&[&[75, 1, 4], &[5, 4, 1], &[0, 0, 10]], 0.676, 1e-3),
            (&[&[5, 0], &[0, 5]], 1.0, 1e-12),
            (&[&[0, 5], &[5, 0]], -1.0, 1e-12),
            (&[&[5, 0], &[5, 0]], 0.0, 1e-12),
        ] {
            let kappa = agreement(table, &[]).kappa.value.unwrap();
            assert!((kappa - want).abs() < digits, "{table:?}: {kappa}");
        }
    }

    #[test]
    fn weights_forgive_the_neighbour() {
        // By hand: 0.23 of 0.94 weighted disagreements.
        let table = agreement(&[&[75, 1, 4], &[5, 4, 1], &[0, 0, 10]], &[]);
        let weighted = table.weighted_kappa.unwrap().value.unwrap();
        assert!((weighted - (1.0 - 0.23 / 0.94)).abs() < 1e-12, "{weighted}");
        let near = agreement(&[&[5, 5, 0], &[0, 10, 0], &[0, 5, 5]], &[]);
        let far = agreement(&[&[5, 0, 5], &[0, 10, 0], &[5, 0, 5]], &[]);
        assert_eq!(near.accuracy.rate, far.accuracy.rate);
        let weighted = |of: Agreement| of.weighted_kappa.unwrap().value.unwrap();
        assert!(weighted(near) > 0.6 && weighted(far).abs() < 1e-12);
        assert!(agreement(&[&[1, 0], &[0, 1]], &[]).weighted_kappa.is_none());
    }

    #[test]
    fn without_chance_there_is_no_kappa() {
        for (table, why) in [
            (&[&[7, 0][..], &[0, 0]][..], "the same class"),
            (&[&[0, 0], &[0, 0]], "answered none"),
        ] {
            let kappa = agreement(table, &[]).kappa;
            assert_eq!((kappa.value, kappa.interval), (None, None));
            assert!(kappa.undefined.unwrap().contains(why), "{why}");
        }
    }

    #[test]
    fn the_interval_holds_the_value_and_shrinks_with_labels() {
        let few = agreement(&[&[20, 5], &[10, 15]], &[]).kappa;
        let many = agreement(&[&[2000, 500], &[1000, 1500]], &[]).kappa;
        let ([low, high], [lower, upper]) = (few.interval.unwrap(), many.interval.unwrap());
        assert!(low < 0.4 && 0.4 < high && lower < 0.4 && 0.4 < upper);
        // The large-sample standard error of the first is 0.1273 (Fleiss, Cohen
        // and Everitt 1969): a bootstrap is near it.
        assert!((low - 0.15).abs() < 0.05 && (high - 0.65).abs() < 0.05, "{low} {high}");
        assert!(upper - lower < (high - low) / 5.0);
        assert_eq!(few, agreement(&[&[20, 5], &[10, 15]], &[]).kappa);
    }

    #[test]
    fn unknown_is_no_agreement() {
        let some = agreement(&[&[4, 1], &[0, 3]], &[0, 2]);
        assert_eq!((some.labels, some.unknown, some.answered()), (10, 2, 8));
        assert_eq!((some.accuracy.count, some.accuracy.of), (7, 8));
        assert_eq!(some.accuracy_of_all.rate, Some(0.7));
        assert_eq!(some.confusion, [[4, 1], [0, 3]]);
        let second = &some.of_classes[1];
        assert_eq!((second.support, second.unknown), (5, 2));
        assert_eq!((second.precision.rate, second.recall.rate), (Some(0.75), Some(1.0)));
        assert!((second.f1.unwrap() - 6.0 / 7.0).abs() < 1e-12);
        let none = agreement(&[&[0, 0], &[0, 0]], &[3, 3]);
        assert_eq!((none.accuracy.rate, none.accuracy_of_all.rate), (None, Some(0.0)));
        assert_eq!(none.of_classes[0].f1, None);
    }
}
