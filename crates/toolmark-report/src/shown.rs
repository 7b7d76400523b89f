//! Names, source positions and numbers in the form in which reports for people print them.

use crate::model::{
    CaseResult, CaseSummary, GraderResult, PrintableMetrics, PrintableSummary, RunResult,
    SpecPlace, TracePlace,
};
use std::time::Duration;
use toolmark_outcome::{Cause, Printable, Verdict, printable, rounded};

/// An outcome with its printed name.
pub(crate) struct NamedOutcome<'r> {
    /// The outcome.
    pub(crate) result: &'r CaseResult,
    /// Name of the case, with the trial number if there are several.
    pub(crate) title: Printable,
}

impl<'r> NamedOutcome<'r> {
    /// Every outcome of a run.
    pub(crate) fn all(run: &'r RunResult) -> Vec<Self> {
        run.outcomes
            .chunk_by(|a, b| a.case_index == b.case_index)
            .flat_map(|trials| {
                let several = trials.len() > 1;
                trials.iter().map(move |result| Self {
                    result,
                    title: if several {
                        printable!("{} (trial {})", result.label(), result.trial.saturating_add(1))
                    } else {
                        result.label()
                    },
                })
            })
            .collect()
    }

    /// Whether there was nothing to grade.
    pub(crate) fn is_not_run(&self) -> bool {
        is_not_run(self.result.verdict)
    }

    /// Returns the graders with this verdict.
    pub(crate) fn graders(&self, verdict: &'static str) -> impl Iterator<Item = &'r GraderResult> {
        self.result.graders.iter().filter(move |g| g.outcome.verdict.word() == verdict)
    }

    /// Returns the graders that did not pass, failures first.
    pub(crate) fn troubles(&self) -> impl Iterator<Item = &'r GraderResult> {
        self.graders("fail").chain(self.graders("unknown"))
    }

    /// Reason for a verdict other than pass: that of the first failing or unknown grader.
    pub(crate) fn first_reason(&self) -> &'r Printable {
        let verdict = self.result.verdict;
        let decisive = match verdict {
            Verdict::Pass => None,
            Verdict::Unknown(cause) if cause.is_ungraded() => None,
            _ => self.graders(verdict.word()).next(),
        };
        decisive.map_or(&self.result.reason, |grader| &grader.outcome.reason)
    }
}

/// Whether the verdict means that there was nothing to grade.
pub(crate) fn is_not_run(verdict: Verdict) -> bool {
    verdict == Verdict::Unknown(Cause::NoTrajectory)
}

/// Name of a run, or of its spec.
pub(crate) fn name(run: &RunResult) -> &str {
    run.name.as_deref().unwrap_or(&run.spec)
}

/// Formats a score with at most three digits.
pub(crate) fn score(score: f64) -> Printable {
    printable!("{}", rounded(score))
}

pub(crate) use crate::terminal::human::things;

/// Formats a duration in seconds, or in minutes if it is long.
pub(crate) fn seconds(duration: Duration) -> Printable {
    let seconds = duration.as_secs_f64();
    if seconds < 100.0 {
        return printable!("{:.2} s", seconds);
    }
    let whole = duration.as_secs();
    printable!("{} m {:02} s", whole / 60, whole % 60)
}

/// Formats a time in RFC 3339.
pub(crate) fn instant(time: jiff::Timestamp) -> Printable {
    Printable::compose(format_args!("{time}"))
}

/// Formats milliseconds for people.
pub(crate) fn millis(ms: f64) -> Printable {
    if ms < 1000.0 {
        printable!("{} ms", ms.round())
    } else if ms < 100_000.0 {
        printable!("{:.1} s", ms / 1000.0)
    } else {
        seconds(Duration::try_from_secs_f64(ms / 1000.0).unwrap_or_default())
    }
}

/// Formats `12 passed, 1 failed, 2 unknown`; zero counts are omitted, except for passes.
pub(crate) fn counts(summary: &PrintableSummary) -> String {
    let mut words = format!("{} passed", summary.passed);
    if summary.failed > 0 {
        words.push_str(&format!(", {} failed", summary.failed));
    }
    if summary.unknown > 0 {
        words.push_str(&format!(", {} unknown", summary.unknown));
    }
    words
}

/// Overall score and threshold.
pub(crate) fn overall(summary: &PrintableSummary) -> Option<Printable> {
    match (summary.score, summary.threshold) {
        (Some(mean), Some(threshold)) => {
            Some(printable!("score {}, threshold {}", score(mean), score(threshold)))
        }
        (Some(mean), None) => Some(printable!("score {}", score(mean))),
        (None, Some(threshold)) => {
            Some(printable!("score cannot be told, threshold {}", score(threshold)))
        }
        (None, None) => None,
    }
}

/// Symbol of a verdict, unambiguous without colour.
pub(crate) fn sign(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "\u{2713}",
        Verdict::Fail => "\u{2717}",
        Verdict::Unknown(_) => "?",
    }
}

/// Source position in the spec, in the form that editors accept.
pub(crate) fn in_spec(place: &SpecPlace) -> Option<Printable> {
    (!place.file.is_empty()).then(|| match place.line {
        0 => printable!("{}", place.file),
        line => printable!("{}:{}", place.file, line),
    })
}

/// Source position in a trace, in the form that editors accept.
pub(crate) fn in_trace(place: &TracePlace) -> Printable {
    printable!("{}:{}", place.file, place.line)
}

/// Formats metrics on one line: `value 12, max 10`.
pub(crate) fn metrics(metrics: &PrintableMetrics) -> Printable {
    let pairs: Vec<Printable> =
        metrics.entries().map(|(name, value)| printable!("{} {}", name, value)).collect();
    Printable::join(&pairs, ", ")
}

/// Name of a grader, with its type if the type adds information.
pub(crate) fn grader(grader: &GraderResult) -> Printable {
    if grader.name.contains(&*grader.type_word) {
        grader.name.clone()
    } else {
        printable!("{} ({})", grader.name, grader.type_word)
    }
}

/// Score, weight and similar properties of a grader besides the verdict.
pub(crate) fn standing(grader: &GraderResult) -> Printable {
    let mut words = Vec::new();
    match grader.outcome.score {
        // The score adds nothing to the verdict.
        Some(1.0) if grader.outcome.verdict == Verdict::Pass => {}
        Some(0.0) if grader.outcome.verdict == Verdict::Fail => {}
        Some(value) => words.push(printable!("score {}", score(value))),
        None => {}
    }
    if grader.weight != 1.0 {
        words.push(printable!("weight {}", score(grader.weight)));
    }
    if grader.required {
        words.push("required".into());
    }
    Printable::join(&words, ", ")
}

/// Another interpretation with a different result, as text.
pub(crate) fn contrast(grader: &GraderResult) -> Option<Printable> {
    let contrast = grader.outcome.contrast.as_ref()?;
    let score = contrast.score.map(|s| printable!(" with score {}", score(s))).unwrap_or_default();
    let (who, says) = (contrast.profile.word(), contrast.verdict.word());
    Some(printable!("{} says {}{}: {}", who, says, score, contrast.reason))
}

/// Number of passed trials of a case, and their other statistics.
pub(crate) fn trials(case: &CaseSummary) -> Printable {
    let mut words = printable!("{} of {}", case.passed, case.trials);
    if case.unknown > 0 {
        words = printable!("{}, {} unknown", words, case.unknown);
    }
    if case.flaky {
        words = printable!("{}, flaky", words);
    }
    match case.planned {
        Some(planned) if planned > case.trials => {
            printable!("{}, {} not needed", words, planned - case.trials)
        }
        _ => words,
    }
}

/// The 95 % confidence interval of the pass rate of a case.
pub(crate) fn interval(case: &CaseSummary) -> Printable {
    match case.interval {
        Some((low, high)) => printable!("{:.2}\u{2013}{:.2}", low, high),
        None => "\u{2013}".into(),
    }
}

/// Whether any of these cases has several trials.
pub(crate) fn has_trials(cases: &[CaseSummary]) -> bool {
    cases.iter().any(|case| case.trials > 1 || case.planned.is_some_and(|planned| planned > 1))
}

/// Values of k, up to `most`, for which pass@k is shown.
pub(crate) fn interesting(most: usize) -> Vec<usize> {
    let mut ks: Vec<usize> = [1, 2, 3, 5, 10, 20, 50].into_iter().filter(|k| *k < most).collect();
    if most > 0 {
        ks.push(most);
    }
    ks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    #[test]
    fn words() {
        let mut summary = testing::sample().summary;
        (summary.passed, summary.failed, summary.unknown) = (12, 1, 0);
        assert_eq!(counts(&summary), "12 passed, 1 failed");
        (summary.score, summary.threshold) = (Some(0.866_666), None);
        assert_eq!(overall(&summary).as_deref(), Some("score 0.867"));
        summary.threshold = Some(0.9);
        assert_eq!(overall(&summary).as_deref(), Some("score 0.867, threshold 0.9"));
        summary.score = None;
        assert_eq!(overall(&summary).as_deref(), Some("score cannot be told, threshold 0.9"));
        for (time, want) in [(20, "0.02 s"), (99_000, "99.00 s"), (125_000, "2 m 05 s")] {
            assert_eq!(seconds(Duration::from_millis(time)), want);
        }
        for (time, want) in [(0.4, "0 ms"), (2500.0, "2.5 s"), (f64::INFINITY, "0.00 s")] {
            assert_eq!(millis(time), want);
        }
        assert_eq!(interesting(4), [1, 2, 3, 4]);
        assert_eq!(interesting(30), [1, 2, 3, 5, 10, 20, 30]);
        assert_eq!(interesting(0), [0; 0]);
    }

    #[test]
    fn trials_are_numbered_where_there_are_several() {
        let run = testing::sample();
        let titles: Vec<Printable> = NamedOutcome::all(&run).into_iter().map(|s| s.title).collect();
        assert_eq!(titles[0], "lookup-order");
        assert_eq!(titles[1..3], ["refund-order (trial 1)", "refund-order (trial 2)"]);
    }
}
