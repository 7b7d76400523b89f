//! The terminal report of a comparison, regressions first.

use super::page::TextPage;
use crate::compared::{self, ARROW, signed};
use crate::model::FindingRef;
use crate::shown;
use crate::terminal::text::TextLayout;
use crate::terminal::{StyledLine, style};
use crate::{ReportError, ReportOptions, Verbosity};
use anstyle::Style;
use std::io::Write;
use toolmark_compare::{
    CaseChange, CaseRef, CheckedChange, Comparison, GradedChange, PairGroup, VerdictChange,
};
use toolmark_outcome::{Printable, Verdict, printable};

/// Maximum number of listed cases per kind; more are only counted.
const FEW: usize = 20;

pub(super) fn write(
    comparison: &Comparison,
    options: &ReportOptions,
    out: &mut dyn Write,
) -> Result<(), ReportError> {
    let mut page = TextPage::new(options);
    page.compared(comparison);
    out.write_all(page.out.as_bytes())?;
    Ok(())
}

impl TextPage<'_> {
    fn compared(&mut self, comparison: &Comparison) {
        let quiet = self.is(Verbosity::Quiet);
        if let Some(table) = &comparison.targets {
            self.line(StyledLine::of(style::STRONG, &comparison.before));
            self.gap();
            self.targets(table);
            for note in &comparison.notes {
                self.words(0, (style::WARN, "note: "), style::PLAIN, note);
            }
            return;
        }
        if !quiet {
            let names = StyledLine::of(style::STRONG, &comparison.before);
            let names = names.with(style::DIM, printable!(" {} ", ARROW));
            self.line(names.with(style::STRONG, &comparison.after));
            self.gap();
        }
        if let Some(graded) = &comparison.graded {
            self.cases(graded, comparison);
        }
        if let Some(checked) = &comparison.checked {
            self.findings_changed(checked, comparison);
        }
        for note in &comparison.notes {
            self.words(0, (style::WARN, "note: "), style::PLAIN, note);
        }
        if !quiet {
            self.gap();
        }
        if let Some(graded) = &comparison.graded {
            self.sums(&graded.total);
        }
        for gate in &comparison.gates {
            let sign = printable!("{} ", shown::sign(gate.verdict));
            let words = printable!("{}: {}", gate.fail_on.option(), gate.reason);
            self.words(0, (tone(gate.verdict), sign), style::PLAIN, &words);
        }
    }

    fn cases(&mut self, graded: &GradedChange, comparison: &Comparison) {
        for (change, title, sign, style) in [
            (VerdictChange::Regression, "passed, fails now", "\u{2717} ", style::BAD),
            (VerdictChange::Unknown, "unknown in one of the runs", "? ", style::WARN),
            (VerdictChange::Improvement, "failed, passes now", "\u{2713} ", style::GOOD),
            (VerdictChange::Same, "same verdict, other score", "  ", style::PLAIN),
        ] {
            self.list(&graded.changed(change), (title, sign, style));
        }
        for (cases, name) in
            [(&graded.only_before, &comparison.before), (&graded.only_after, &comparison.after)]
        {
            self.only(cases, name);
        }
        if graded.is_empty() && !self.is(Verbosity::Quiet) {
            self.line(StyledLine::of(style::GOOD, "no case differs"));
            self.gap();
        }
        self.groups(graded);
    }

    fn list(
        &mut self,
        cases: &[&CaseChange],
        (title, sign, style): (&'static str, &'static str, Style),
    ) {
        if cases.is_empty() {
            return;
        }
        let quiet = self.is(Verbosity::Quiet);
        if !quiet {
            let count = shown::things(cases.len() as u64, "case");
            self.line(
                StyledLine::of(style::STRONG, title).with(style::DIM, printable!("  {}", count)),
            );
        }
        let most = if self.is(Verbosity::Verbose) { usize::MAX } else { FEW };
        for case in cases.iter().take(most) {
            let mut line = StyledLine::of(style, sign).with(style::STRONG, case.label());
            line.push(style::PLAIN, printable!("  {}", sides(case)));
            self.line(line);
            let is_past = matches!(case.before.verdict, Verdict::Unknown(_));
            let (lead, reason) = match case.change {
                VerdictChange::Same => continue,
                VerdictChange::Improvement => ("was: ", &case.before.reason),
                VerdictChange::Unknown if is_past => ("was: ", &case.before.reason),
                VerdictChange::Unknown | VerdictChange::Regression => ("", &case.after.reason),
            };
            if !quiet {
                self.words(4, (style::DIM, lead), style::DIM, reason);
            }
        }
        if cases.len() > most {
            let more = printable!("  \u{2026} {} more; --verbose lists all", cases.len() - most);
            self.line(StyledLine::of(style::DIM, more));
        }
        if !quiet {
            self.gap();
        }
    }

    fn only(&mut self, cases: &[CaseRef], name: &Printable) {
        if cases.is_empty() {
            return;
        }
        let named =
            cases.iter().map(|case| printable!("{} ({})", case.label(), case.verdict.word()));
        let named: Vec<Printable> = named.collect();
        let lead = printable!("only in {}: ", name);
        self.words(0, (style::WARN, lead), style::PLAIN, &Printable::join(&named, ", "));
        if !self.is(Verbosity::Quiet) {
            self.gap();
        }
    }

    /// Writes one row per target or grader.
    fn groups(&mut self, graded: &GradedChange) {
        if graded.groups.is_empty() || self.is(Verbosity::Quiet) {
            return;
        }
        let name = |group: &PairGroup| group.name.clone().unwrap_or("\u{2013}".into());
        let widest = graded.groups.iter().map(|group| name(group).width()).max().unwrap_or(0);
        let first = widest.clamp(8, (self.width / 3).max(8)) + 2;
        let columns = [first, first + 7, first + 18, first + 33];
        let mut head = StyledLine::of(style::DIM, graded.by.word());
        for (column, word) in columns.iter().zip(["cases", "passed", "score", "difference"]) {
            head.pad(*column);
            head.push(style::DIM, word);
        }
        self.line(head);
        for group in &graded.groups {
            let mut line = StyledLine::of(style::PLAIN, name(group).cut(first - 2));
            line.pad(columns[0]);
            line.push(style::PLAIN, group.cases);
            line.pad(columns[1]);
            let passed = printable!("{} {} {}", group.passed_before, ARROW, group.passed_after);
            let style = match (group.regressions, group.improvements) {
                (0, 0) => style::PLAIN,
                (0, _) => style::GOOD,
                _ => style::BAD,
            };
            line.push(style, passed);
            line.pad(columns[2]);
            if let Some(score) = &group.score {
                let scores = compared::scores(Some(score.before), Some(score.after));
                line.push(style::PLAIN, scores.unwrap_or_default());
                line.pad(columns[3]);
                line.push(style::PLAIN, signed(score.difference));
                if let Some(range) = score.interval {
                    line.push(style::DIM, printable!("  {}", compared::interval(range)));
                }
            }
            self.line(line);
            for (n, side) in [(group.only_before, "first"), (group.only_after, "second")] {
                if n > 0 {
                    let cases = shown::things(n, "case");
                    let words = printable!("  {} in the {} run only", cases, side);
                    self.line(StyledLine::of(style::DIM, words));
                }
            }
        }
        self.gap();
    }

    fn sums(&mut self, total: &PairGroup) {
        let mut line = StyledLine::new();
        line.push(style::PLAIN, printable!("{} in both", shown::things(total.cases, "case")));
        for (n, word, style) in [
            (total.regressions, "regression", style::BAD),
            (total.improvements, "improvement", style::GOOD),
        ] {
            line.push(style::PLAIN, ", ");
            let style = if n > 0 { style } else { style::PLAIN };
            line.push(style, shown::things(n, word));
        }
        if total.unknown > 0 {
            line.push(style::PLAIN, ", ");
            line.push(style::WARN, printable!("{} unknown", total.unknown));
        }
        self.line(line);
        if self.is(Verbosity::Quiet) {
            return;
        }
        let passed = printable!("{} {} {}", total.passed_before, ARROW, total.passed_after);
        let passed = match compared::mcnemar_line(total) {
            Some(words) => printable!("{}; {}", passed, words),
            None => passed,
        };
        self.words(0, (style::DIM, "passed  "), style::PLAIN, &passed);
        if let Some(score) = &total.score {
            let words = compared::score_line(score);
            self.words(0, (style::DIM, "score   "), style::PLAIN, &words);
        }
        self.measures(&total.measures, Some(total.cases));
    }

    /// Writes the recorded resource usage, with the number of pairs if not all have it.
    fn measures(&mut self, changes: &toolmark_compare::MeasureChanges, all: Option<u64>) {
        for row in compared::measures(changes) {
            let of = match all {
                Some(all) if all != row.of => {
                    printable!(", recorded in {} of {}", row.of, shown::things(all, "case"))
                }
                _ => Printable::default(),
            };
            let mut line = StyledLine::of(style::DIM, row.name);
            line.pad(8);
            let words =
                printable!("{} {} {} ({}{})", row.before, ARROW, row.after, row.difference, of);
            self.line(line.with(style::PLAIN, words));
        }
    }

    fn findings_changed(&mut self, checked: &CheckedChange, comparison: &Comparison) {
        let quiet = self.is(Verbosity::Quiet);
        let (new, gone) = (checked.new.len() as u64, checked.gone.len() as u64);
        let tone = if new > 0 { style::BAD } else { style::GOOD };
        let line = StyledLine::of(style::STRONG, "findings  ");
        let line = line.with(tone, printable!("{} new", new));
        let words = printable!(", {} gone, {} in both", gone, checked.known);
        self.line(line.with(style::PLAIN, words));
        for (findings, sign, style) in
            [(&checked.new, "+ ", style::BAD), (&checked.gone, "\u{2212} ", style::GOOD)]
        {
            self.finding_list(findings, sign, style);
        }
        if !checked.kinds.is_empty() && !quiet {
            self.gap();
            self.line(StyledLine::of(style::STRONG, "findings per opportunity, by kind"));
            for kind in &checked.kinds {
                let bucket = kind.bucket.as_ref().map(|bucket| printable!(".{}", bucket));
                let words = printable!(
                    "{:<6}{} {}{}  {} of {} {} {} of {}",
                    kind.trend.word(),
                    kind.code,
                    kind.tool,
                    bucket.unwrap_or_default(),
                    kind.before.found,
                    kind.before.of,
                    ARROW,
                    kind.now.found,
                    kind.now.of
                );
                let p = kind.p.map(|p| printable!("  p {}", compared::probability(p)));
                let line = StyledLine::indent(2).with(style::PLAIN, words);
                self.line(line.with(style::DIM, p.unwrap_or_default()));
            }
        }
        for gate in checked.changed_gates() {
            let row = [&gate.tool, &gate.bucket].into_iter().flatten().cloned();
            let row: Vec<Printable> = row.collect();
            let row = match row.is_empty() {
                true => Printable::default(),
                false => printable!(" [{}]", Printable::join(&row, ".")),
            };
            let verdicts = compared::verdicts(gate.before, gate.after);
            let words = printable!("{}{}  {}", gate.gate, row, verdicts);
            self.words(0, (style::STRONG, "gate "), style::PLAIN, &words);
        }
        if !quiet {
            self.gap();
        }
        for (sessions, name) in
            [(&checked.only_before, &comparison.before), (&checked.only_after, &comparison.after)]
        {
            let sessions = sessions.iter().flatten();
            let names: Vec<Printable> =
                sessions.map(|one| one.id.clone().unwrap_or_else(|| one.file.clone())).collect();
            if !names.is_empty() {
                let lead = printable!("sessions only in {}: ", name);
                self.words(0, (style::WARN, lead), style::PLAIN, &Printable::join(&names, ", "));
            }
        }
        if quiet {
            return;
        }
        for (name, change) in [("faults", checked.faults), ("per 100 calls", checked.per_100_calls)]
        {
            if let Some(change) = change {
                let (a, b) = (shown::score(change.before), shown::score(change.after));
                let words =
                    printable!("{}  {} {} {} ({})", name, a, ARROW, b, signed(change.difference));
                self.line(StyledLine::of(style::PLAIN, words));
            }
        }
        self.measures(&checked.measures, None);
    }

    fn finding_list(&mut self, findings: &[FindingRef], sign: &'static str, style: Style) {
        let most = if self.is(Verbosity::Verbose) { usize::MAX } else { FEW };
        for finding in findings.iter().take(most) {
            let words = printable!(
                "{} {} {}: {}",
                finding.severity.word(),
                finding.code,
                finding.tool,
                finding.message
            );
            self.words(2, (style, sign), style::PLAIN, &words);
            if let Some(place) = compared::place(finding).filter(|_| !self.is(Verbosity::Quiet)) {
                self.words(4, (style::PLAIN, ""), style::DIM, &place);
            }
        }
        if findings.len() > most {
            let more = printable!("  \u{2026} {} more; --verbose lists all", findings.len() - most);
            self.line(StyledLine::of(style::DIM, more));
        }
    }
}

/// Both verdicts, the trials if there are several, and both scores.
fn sides(case: &CaseChange) -> Printable {
    let mut words = match case.change {
        VerdictChange::Same => printable!("{}", case.after.verdict.word()),
        _ => compared::verdicts(Some(case.before.verdict), Some(case.after.verdict)),
    };
    if case.before.trials > 1 || case.after.trials > 1 {
        let (a, b) = (&case.before, &case.after);
        words = printable!(
            "{}  trials {}/{} {} {}/{}",
            words,
            a.passed,
            a.trials,
            ARROW,
            b.passed,
            b.trials
        );
    }
    if let Some(scores) = compared::scores(case.before.score, case.after.score) {
        words = printable!("{}  score {}", words, scores);
    }
    match case.difference {
        Some(difference) if difference != 0.0 => printable!("{} ({})", words, signed(difference)),
        _ => words,
    }
}

fn tone(verdict: Verdict) -> Style {
    match verdict {
        Verdict::Pass => style::GOOD,
        Verdict::Fail => style::BAD,
        Verdict::Unknown(_) => style::WARN,
    }
}
