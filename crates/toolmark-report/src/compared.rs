//! Text about comparisons: signed numbers and summary lines.

use crate::model::FindingRef;
use crate::shown::{self, score};
use crate::terminal::human;
use jiff::SignedDuration;
use toolmark_compare::{MeasureChange, MeasureChanges, PairGroup, ScoreChange};
use toolmark_outcome::{Printable, Verdict, printable, rounded};

/// Separator between the old and the new value.
pub(crate) const ARROW: &str = "\u{2192}";

/// A number with its sign.
pub(crate) fn signed(number: f64) -> Printable {
    match rounded(number) {
        0.0 => "\u{b1}0".into(),
        n if n > 0.0 => printable!("+{}", n),
        n => printable!("\u{2212}{}", -n),
    }
}

/// A verdict before and after.
pub(crate) fn verdicts(before: Option<Verdict>, after: Option<Verdict>) -> Printable {
    let word = |verdict: Option<Verdict>| verdict.map_or("missing", Verdict::word);
    printable!("{} {} {}", word(before), ARROW, word(after))
}

/// A score before and after.
pub(crate) fn scores(before: Option<f64>, after: Option<f64>) -> Option<Printable> {
    let word = |value: Option<f64>| value.map_or("\u{2013}".into(), score);
    match (before, after) {
        (None, None) => None,
        (Some(a), Some(b)) if a == b => Some(score(a)),
        (a, b) => Some(printable!("{} {} {}", word(a), ARROW, word(b))),
    }
}

/// The confidence interval of a difference.
pub(crate) fn interval((low, high): (f64, f64)) -> Printable {
    printable!("{} to {}", signed(low), signed(high))
}

/// The change of the scores, in one line.
pub(crate) fn score_line(change: &ScoreChange) -> Printable {
    let interval = match change.interval {
        Some(range) => printable!("95 % interval {}", interval(range)),
        None => "too few cases for an interval".into(),
    };
    printable!(
        "{} {} {} ({}, {}; {})",
        score(change.before),
        ARROW,
        score(change.after),
        signed(change.difference),
        interval,
        shown::things(change.of, "case")
    )
}

/// A probability.
pub(crate) fn probability(p: f64) -> Printable {
    match p {
        p if p < 0.001 => "< 0.001".into(),
        p => printable!("{}", rounded(p)),
    }
}

/// Whether the change of the verdicts is significant, in one line.
pub(crate) fn mcnemar_line(group: &PairGroup) -> Option<Printable> {
    let test = group.mcnemar?;
    Some(printable!(
        "{} worse, {} better of {} decided in both, p {} (McNemar, exact)",
        group.regressions,
        group.improvements,
        shown::things(test.of, "case"),
        probability(test.p)
    ))
}

/// A measure: its name, both sums and their difference.
pub(crate) struct MeasureLine {
    pub(crate) name: &'static str,
    pub(crate) before: Printable,
    pub(crate) after: Printable,
    pub(crate) difference: Printable,
    pub(crate) of: u64,
}

/// Returns the measures that both runs record.
pub(crate) fn measures(changes: &MeasureChanges) -> Vec<MeasureLine> {
    let line = |name: &'static str, change: Option<MeasureChange>, word: fn(f64) -> Printable| {
        let change = change?;
        let sign = if change.difference < 0.0 { "\u{2212}" } else { "+" };
        let difference = match change.difference {
            0.0 => "\u{b1}0".into(),
            n => printable!("{}{}", sign, word(n.abs())),
        };
        let (before, after) = (word(change.before), word(change.after));
        Some(MeasureLine { name, before, after, difference, of: change.of })
    };
    let count = |n: f64| human::count(n.round() as u64);
    let time = |ms: f64| human::duration(SignedDuration::from_millis(ms.round() as i64));
    let all = [
        line("calls", changes.calls, count),
        line("tokens", changes.tokens, count),
        line("time", changes.duration_ms, time),
        line("cost", changes.cost_usd, human::usd),
    ];
    all.into_iter().flatten().collect()
}

/// Source position of a finding.
pub(crate) fn place(finding: &FindingRef) -> Option<Printable> {
    let file = finding.file.as_ref()?;
    Some(match finding.line {
        Some(line) => printable!("{}:{}", file, line),
        None => file.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words() {
        assert_eq!(
            [0.25, -0.1, 0.0, -0.0001].map(signed),
            ["+0.25", "\u{2212}0.1", "\u{b1}0", "\u{b1}0"]
        );
        assert_eq!(interval((-0.3, 0.0)), "\u{2212}0.3 to \u{b1}0");
        assert_eq!(scores(Some(1.0), Some(0.5)).unwrap(), "1 \u{2192} 0.5");
        assert_eq!(scores(None, Some(0.5)).unwrap(), "\u{2013} \u{2192} 0.5");
        assert_eq!(scores(Some(0.5), Some(0.5)).unwrap(), "0.5");
        assert_eq!(scores(None, None), None);
        assert_eq!(verdicts(Some(Verdict::Pass), None), "pass \u{2192} missing");
        assert_eq!([0.0004, 0.0654].map(probability), ["< 0.001", "0.065"]);
    }
}
