//! The terminal report of grading: failures and their reasons first.

use super::page::TextPage;
use crate::model::{CaseResult, CaseSummary, GraderResult, PrintablePart, RunResult};
use crate::shown::{self, NamedOutcome};
use crate::terminal::text::TextLayout;
use crate::terminal::{StyledLine, style};
use crate::{Outcomes, ReportError, ReportOptions, Verbosity, alignment, targets};
use anstyle::Style;
use std::io::Write;
use toolmark_compare::TargetTable;
use toolmark_outcome::{Printable, Verdict, printable, reaches};

/// Maximum number of listed passes; more are only counted.
const FEW: usize = 20;
/// Maximum number of evidence items and parts per grader.
const ENOUGH: usize = 8;
/// Maximum number of evidence items and parts per grader in verbose output.
const PLENTY: usize = 100;

pub(super) fn write(
    run: &RunResult,
    options: &ReportOptions,
    out: &mut dyn Write,
) -> Result<(), ReportError> {
    let mut page = TextPage::new(options);
    page.heading(run);
    let outcomes = NamedOutcome::all(run);
    let with = |word: &'static str| {
        outcomes.iter().filter(move |shown| shown.result.verdict.word() == word)
    };
    for shown in with("fail") {
        page.case(shown);
    }
    for shown in with("unknown").filter(|shown| !shown.is_not_run()) {
        page.case(shown);
    }
    let not_run = with("unknown").filter(|shown| shown.is_not_run());
    page.not_run(not_run.map(|shown| &shown.title));
    page.passes(with("pass").collect());
    page.trials(&run.summary.trials);
    if let Some(table) = targets::of(run).filter(|_| !page.is(Verbosity::Quiet)) {
        page.targets(&table);
    }
    page.notes(run);
    page.totals(run);
    out.write_all(page.out.as_bytes())?;
    Ok(())
}

/// Writes the text below the headline of an outcome; in quiet output, the text for the headline.
pub(crate) fn piece(outcome: &CaseResult, options: &ReportOptions, out: &mut Vec<u8>) -> usize {
    let shown = NamedOutcome { result: outcome, title: Printable::default() };
    let mut page = TextPage::new(options);
    match outcome.verdict {
        _ if shown.is_not_run() => {}
        Verdict::Pass => page.pass(&shown),
        _ if page.is(Verbosity::Quiet) => {
            out.extend_from_slice(shown.first_reason().as_bytes());
            return 0;
        }
        _ => page.case(&shown),
    }
    let below = page.out.split_once('\n').map_or("", |(_, below)| below);
    out.extend_from_slice(below.as_bytes());
    0
}

/// Writes the page from the chunks of the outcomes.
pub(crate) fn write_pieces(
    run: &RunResult,
    outcomes: &mut dyn Outcomes,
    options: &ReportOptions,
    out: &mut dyn Write,
) -> Result<(), ReportError> {
    let mut page = TextPage::new(options);
    page.heading(run);
    let all = outcomes.count();
    let with = |outcomes: &dyn Outcomes, which: fn(Verdict) -> bool| -> Vec<usize> {
        (0..all).filter(|at| which(outcomes.verdict(*at))).collect()
    };
    let mut piece = Vec::new();
    let mut add = |page: &mut TextPage<'_>, outcomes: &mut dyn Outcomes, at: usize| {
        outcomes.read(at, &mut piece)?;
        let row = outcomes.row(at);
        let below = String::from_utf8_lossy(&piece);
        let troubles = row.verdict != Verdict::Pass;
        let after = match page.is(Verbosity::Quiet) && troubles {
            // It was printable when the piece was made.
            true => Printable::from("  ").reshape(|lead| format!("{lead}{below}")),
            false => Printable::default(),
        };
        page.headline_of(row.verdict, row.score, &row.title(), &after);
        if !(page.is(Verbosity::Quiet) && troubles) {
            page.out.push_str(&below);
        }
        page.flush(out)
    };
    for at in with(outcomes, |verdict| verdict == Verdict::Fail) {
        add(&mut page, outcomes, at)?;
    }
    let is_open = |verdict| matches!(verdict, Verdict::Unknown(_)) && !shown::is_not_run(verdict);
    for at in with(outcomes, is_open) {
        add(&mut page, outcomes, at)?;
    }
    let not_run = with(outcomes, shown::is_not_run);
    let titles: Vec<Printable> = not_run.iter().map(|at| outcomes.row(*at).title()).collect();
    page.not_run(titles.iter());
    let passes = with(outcomes, |verdict| verdict == Verdict::Pass);
    if page.shows_passes(passes.len()) {
        for at in &passes {
            add(&mut page, outcomes, *at)?;
        }
        if !passes.is_empty() {
            page.gap();
        }
    }
    page.trials(&run.summary.trials);
    page.notes(run);
    page.totals(run);
    out.write_all(page.out.as_bytes())?;
    Ok(())
}

/// Text of the graders of an outcome, without colours, for formats with room for text.
pub(crate) fn details(shown: &NamedOutcome<'_>, columns: usize) -> String {
    let options = ReportOptions { width: columns, ..ReportOptions::default() };
    let mut page = TextPage::new(&options);
    page.graders(shown, 0);
    page.out
}

impl TextPage<'_> {
    fn heading(&mut self, run: &RunResult) {
        if self.is(Verbosity::Quiet) {
            return;
        }
        let mut line = match &run.name {
            Some(name) => StyledLine::of(style::STRONG, name)
                .with(style::DIM, printable!(" \u{b7} {}", run.spec)),
            None => StyledLine::of(style::STRONG, &run.spec),
        };
        line.push(style::DIM, printable!(" \u{b7} {}", run.dialect));
        line.push(style::DIM, printable!(" \u{b7} {}", targets::scope(run)));
        if run.summary.outcomes != run.summary.cases {
            let outcomes = shown::things(run.summary.outcomes, "outcome");
            line.push(style::DIM, printable!(", {}", outcomes));
        }
        if let Some(time) = self.options.generated_at {
            line.push(style::DIM, printable!(" \u{b7} {}", shown::instant(time)));
        }
        self.line(line);
        self.gap();
    }

    fn headline(&mut self, shown: &NamedOutcome<'_>, after: &Printable) {
        self.headline_of(shown.result.verdict, shown.result.score, &shown.title, after);
    }

    fn headline_of(
        &mut self,
        verdict: Verdict,
        score: Option<f64>,
        title: &Printable,
        after: &Printable,
    ) {
        let mut line = StyledLine::of(tone(verdict), shown::sign(verdict))
            .with(style::PLAIN, " ")
            .with(style::STRONG, title);
        let telling = !matches!((verdict, score), (Verdict::Pass, Some(1.0)));
        if let Some(score) = score.filter(|_| telling) {
            line.push(style::DIM, printable!("  score {}", shown::score(score)));
        }
        line.push(style::DIM, after);
        self.line(line);
    }

    fn case(&mut self, shown: &NamedOutcome<'_>) {
        if self.is(Verbosity::Quiet) {
            self.headline(shown, &printable!("  {}", shown.first_reason()));
            return;
        }
        self.headline(shown, &Printable::default());
        let result = shown.result;
        self.words(2, (style::PLAIN, ""), style::PLAIN, &result.reason);
        let mut places = Vec::new();
        if let Some(source) = &result.trajectory {
            places.push(printable!("trace {}", source.source));
        }
        places.extend(shown::in_spec(&result.place).map(|at| printable!("spec {}", at)));
        self.words(2, (style::PLAIN, ""), style::DIM, &Printable::join(&places, " \u{b7} "));
        self.graders(shown, 2);
        self.gap();
    }

    /// Writes the graders of an outcome, in full if they did not pass.
    fn graders(&mut self, shown: &NamedOutcome<'_>, indent: usize) {
        for grader in shown.troubles() {
            self.grader(grader, indent);
        }
        if self.is(Verbosity::Verbose) {
            for grader in shown.graders("pass") {
                self.grader(grader, indent);
            }
            return;
        }
        let names = Printable::join(shown.graders("pass").map(|grader| &grader.name), ", ");
        if !names.is_empty() {
            self.words(indent, (style::GOOD, "\u{2713} "), style::DIM, &names);
        }
    }

    fn grader(&mut self, grader: &GraderResult, indent: usize) {
        let outcome = &grader.outcome;
        let mut head = StyledLine::indent(indent)
            .with(tone(outcome.verdict), shown::sign(outcome.verdict))
            .with(style::PLAIN, " ")
            .with(style::STRONG, shown::grader(grader));
        let standing = shown::standing(grader);
        if !standing.is_empty() {
            head.push(style::DIM, printable!("  {}", standing));
        }
        if let Some(cause) = outcome.verdict.cause() {
            let cause = Printable::from(cause.word()).reshape(|word| word.replace('_', " "));
            head.push(style::DIM, printable!("  {}", cause));
        }
        if let Some(place) = shown::in_spec(&grader.place) {
            head.push(style::DIM, printable!("  {}", place));
        }
        self.line(head);
        let inner = indent + 2;
        self.words(inner, (style::PLAIN, ""), style::PLAIN, &outcome.reason);
        self.parts(&outcome.parts, inner);
        let verbose = self.is(Verbosity::Verbose);
        if let Some(explanation) = &outcome.explanation {
            for line in alignment::lines(explanation, self.width.saturating_sub(inner), verbose) {
                let mut indented = StyledLine::indent(inner);
                indented.append(line);
                self.line(indented);
            }
            for repair in &explanation.repair {
                self.words(inner, (style::USER, "to pass: "), style::PLAIN, repair);
            }
        }
        self.grader_evidence(grader, inner);
        if verbose && !outcome.metrics.is_empty() {
            let metrics = shown::metrics(&outcome.metrics);
            self.words(inner, (style::DIM, "metrics: "), style::DIM, &metrics);
        }
        if let Some(contrast) = shown::contrast(grader) {
            self.words(inner, (style::WARN, "but "), style::PLAIN, &contrast);
        }
        for note in &outcome.notes {
            self.words(inner, (style::DIM, "note: "), style::DIM, note);
        }
    }

    fn parts(&mut self, parts: &[PrintablePart], indent: usize) {
        let verbose = self.is(Verbosity::Verbose);
        let worth = |part: &&PrintablePart| verbose || part.verdict != Verdict::Pass;
        let most = if verbose { PLENTY } else { ENOUGH };
        for part in parts.iter().filter(worth).take(most) {
            let sign = printable!("{} ", shown::sign(part.verdict));
            let words = match &part.reason {
                Some(reason) => printable!("{}: {}", part.text, reason),
                None => part.text.clone(),
            };
            self.words(indent, (tone(part.verdict), sign), style::PLAIN, &words);
        }
        self.more(indent, parts.iter().filter(worth).count(), most);
    }

    /// Writes the evidence that is not in the alignment.
    fn grader_evidence(&mut self, grader: &GraderResult, indent: usize) {
        let verbose = self.is(Verbosity::Verbose);
        let rows = grader.outcome.explanation.iter().flat_map(|e| &e.rows);
        let aligned: toolmark_base::SortedSet<usize> =
            rows.filter_map(|row| Some(row.call.as_ref()?.index)).collect();
        let fresh: Vec<_> = grader
            .outcome
            .evidence
            .iter()
            .filter(|piece| match &piece.call {
                Some(call) => verbose || !aligned.contains(&call.index),
                None => verbose || aligned.is_empty() || piece.place.is_some(),
            })
            .collect();
        let most = if verbose { PLENTY } else { ENOUGH };
        for piece in fresh.iter().take(most) {
            let lead = printable!("{}: ", piece.role.word());
            let mut words = piece.summary();
            if let Some(place) = piece.location() {
                words = printable!("{} at {}", words, shown::in_trace(place));
            }
            self.words(indent, (style::DIM, lead), style::PLAIN, &words);
        }
        self.more(indent, fresh.len(), most);
    }

    fn more(&mut self, indent: usize, total: usize, shown: usize) {
        if total > shown {
            let words = printable!("\u{2026} {} more", total - shown);
            self.words(indent, (style::PLAIN, ""), style::DIM, &words);
        }
    }

    fn not_run<'s>(&mut self, titles: impl Iterator<Item = &'s Printable>) {
        let names = Printable::join(titles, ", ");
        if names.is_empty() {
            return;
        }
        let words = printable!("no trajectory belongs to {}", names);
        self.words(0, (style::WARN, "? "), style::PLAIN, &words);
        if !self.is(Verbosity::Quiet) {
            self.gap();
        }
    }

    fn passes(&mut self, passes: Vec<&NamedOutcome<'_>>) {
        if !self.shows_passes(passes.len()) {
            return;
        }
        for shown in &passes {
            self.pass(shown);
        }
        if !passes.is_empty() {
            self.gap();
        }
    }

    /// Whether this number of passes is listed.
    fn shows_passes(&self, count: usize) -> bool {
        self.is(Verbosity::Verbose) || (!self.is(Verbosity::Quiet) && count <= FEW)
    }

    fn pass(&mut self, shown: &NamedOutcome<'_>) {
        self.headline(shown, &Printable::default());
        if self.is(Verbosity::Verbose) {
            self.graders(shown, 2);
            return;
        }
        // A pass that another reading, or part of it, does not share is worth a line.
        for grader in shown.troubles() {
            let sign = shown::sign(grader.outcome.verdict);
            let lead = printable!("{} {}: ", sign, grader.name);
            let style = tone(grader.outcome.verdict);
            self.words(2, (style, lead), style::DIM, &grader.outcome.reason);
        }
        for contrast in shown.result.graders.iter().filter_map(shown::contrast) {
            self.words(2, (style::WARN, "but "), style::DIM, &contrast);
        }
    }

    /// Writes pass@k and pass^k of the cases with several trials.
    fn trials(&mut self, cases: &[CaseSummary]) {
        let most = cases.iter().map(|case| case.pass_at_k.len()).max().unwrap_or(0);
        if !shown::has_trials(cases) || self.is(Verbosity::Quiet) {
            return;
        }
        /// Column width, equal to that of the literals below.
        const CELL: usize = 9;
        // Where there are many, those that always pass say nothing.
        let all = self.is(Verbosity::Verbose) || cases.len() <= FEW;
        let worth = |case: &&CaseSummary| all || case.passed < case.trials;
        let rows: Vec<&CaseSummary> = cases.iter().filter(worth).collect();
        let names = rows.iter().map(|case| case.label().width()).max().unwrap_or(0);
        let first = names.clamp(8, (self.width / 3).max(8)) + 2;
        let counts = rows.iter().map(|case| shown::trials(case).width()).max().unwrap_or(0);
        let second = first + counts.max(6) + 2;
        let third = second + 11;
        // What does not fit is left out from the middle: the first and the last say most.
        let room = self.width.saturating_sub(third) / (2 * CELL);
        let mut ks = shown::interesting(most);
        while ks.len() > room.max(1) {
            ks.remove(if ks.len() > 2 { ks.len() - 2 } else { 1 });
        }
        let mut head = StyledLine::of(style::DIM, "trials");
        head.pad(first);
        head.push(style::DIM, "passed");
        head.pad(second);
        head.push(style::DIM, "95%");
        head.pad(third);
        for word in ["pass@", "pass^"] {
            for k in &ks {
                head.push(style::DIM, printable!("{:<9}", printable!("{}{}", word, k)));
            }
        }
        self.line(head);
        for case in &rows {
            let mut line = StyledLine::of(style::PLAIN, case.label().cut(first - 2));
            line.pad(first);
            line.push(style::PLAIN, shown::trials(case));
            line.pad(second);
            line.push(style::PLAIN, shown::interval(case));
            line.pad(third);
            for values in [&case.pass_at_k, &case.pass_hat_k] {
                for k in &ks {
                    let value = k.checked_sub(1).and_then(|at| values.get(at));
                    let cell = value.map_or("\u{2013}".into(), |value| shown::score(*value));
                    line.push(style::PLAIN, printable!("{:<9}", cell));
                }
            }
            self.line(line);
        }
        if rows.len() < cases.len() {
            let more = shown::things((cases.len() - rows.len()) as u64, "more case");
            self.line(StyledLine::of(
                style::DIM,
                printable!("\u{2026} {}: all trials passed", more),
            ));
        }
        self.gap();
    }

    fn notes(&mut self, run: &RunResult) {
        if !self.is(Verbosity::Quiet) {
            for (name, value) in run.summary.aggregates.entries() {
                self.words(0, (style::STRONG, printable!("{} ", name)), style::PLAIN, &value);
            }
        }
        for note in &run.notes {
            self.words(0, (style::WARN, "note: "), style::PLAIN, note);
        }
        if !self.is(Verbosity::Quiet) {
            self.gap();
        }
    }

    /// Writes the targets side by side.
    pub(super) fn targets(&mut self, table: &TargetTable) {
        let rows = targets::rows(table);
        let widest = |cells: &mut dyn Iterator<Item = usize>| cells.max().unwrap_or(0);
        let first = widest(&mut rows.iter().map(|(name, _)| name.width()));
        let first = first.clamp(8, (self.width / 3).max(8)) + 2;
        let mut columns = vec![first];
        for (at, sums) in table.targets.iter().enumerate() {
            let cells = widest(&mut rows.iter().map(|(_, cells)| cells[at].width()));
            columns.push(columns[at] + cells.max(sums.target.width().min(24)) + 2);
        }
        let mut head = StyledLine::of(style::DIM, "target");
        for (column, sums) in columns.iter().zip(&table.targets) {
            head.pad(*column);
            head.push(style::STRONG, sums.target.cut(24));
        }
        self.line(head);
        for (name, cells) in rows {
            let mut line = StyledLine::of(style::PLAIN, name.cut(first - 2));
            for (column, cell) in columns.iter().zip(cells) {
                line.pad(*column);
                line.push(style::PLAIN, cell);
            }
            self.line(line);
        }
        for (name, lines) in targets::differences(table) {
            self.words(
                0,
                (style::STRONG, printable!("{}  ", name)),
                style::PLAIN,
                &Printable::join(&lines, "; "),
            );
        }
        self.gap();
    }

    fn totals(&mut self, run: &RunResult) {
        if let Some(took) = targets::took_line(run).filter(|_| !self.is(Verbosity::Quiet)) {
            self.words(0, (style::DIM, ""), style::DIM, &took);
        }
        let summary = &run.summary;
        let mut line = StyledLine::new();
        let part = |line: &mut StyledLine, n: u64, word: &'static str, style: Style| {
            let style = if n > 0 { style } else { style::PLAIN };
            line.push(style, printable!("{} {}", n, word));
        };
        part(&mut line, summary.passed, "passed", style::GOOD);
        for (n, word, style) in
            [(summary.failed, "failed", style::BAD), (summary.unknown, "unknown", style::WARN)]
        {
            if n > 0 {
                line.push(style::PLAIN, ", ");
                part(&mut line, n, word, style);
            }
        }
        if let Some(words) = shown::overall(summary) {
            let style = match (summary.score, summary.threshold) {
                (Some(score), Some(threshold)) => tone(Verdict::of(reaches(score, threshold))),
                (None, Some(_)) => style::WARN,
                _ => style::PLAIN,
            };
            line.push(style::PLAIN, " \u{b7} ");
            line.push(style, &words);
        }
        if let Some(elapsed) = self.options.elapsed {
            line.push(style::DIM, printable!(" \u{b7} {}", shown::seconds(elapsed)));
        }
        self.line(line);
    }
}

fn tone(verdict: Verdict) -> Style {
    match verdict {
        Verdict::Pass => style::GOOD,
        Verdict::Fail => style::BAD,
        Verdict::Unknown(_) => style::WARN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::text::width;
    use crate::testing;
    use std::time::Duration;

    fn text(options: &ReportOptions) -> String {
        let mut out = Vec::new();
        write(&testing::sample(), options, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn normal() {
        let options =
            ReportOptions { elapsed: Some(Duration::from_millis(21)), ..ReportOptions::default() };
        insta::assert_snapshot!(text(&options));
    }

    #[test]
    fn quiet() {
        let options = ReportOptions { verbosity: Verbosity::Quiet, ..ReportOptions::default() };
        insta::assert_snapshot!(text(&options));
    }

    #[test]
    fn lines_keep_to_the_width() {
        for columns in [40, 72, 120] {
            for verbosity in [Verbosity::Quiet, Verbosity::Normal, Verbosity::Verbose] {
                let options =
                    ReportOptions { width: columns, verbosity, ..ReportOptions::default() };
                for line in text(&options).lines() {
                    assert!(width(line) <= columns, "{columns}: {line:?}");
                }
            }
        }
    }

    #[test]
    fn colour_changes_no_word() {
        let coloured = text(&ReportOptions { colour: true, ..ReportOptions::default() });
        assert!(coloured.contains("\u{1b}[31m"), "nothing is red");
        let mut words = String::new();
        let mut rest = coloured.as_str();
        while let Some(start) = rest.find('\u{1b}') {
            words.push_str(&rest[..start]);
            let end = rest[start..].find('m').unwrap();
            rest = &rest[start + end + 1..];
        }
        words.push_str(rest);
        assert_eq!(words, text(&ReportOptions::default()));
    }

    #[test]
    fn many_passes_are_a_number() {
        let run = testing::many(200);
        let mut out = Vec::new();
        write(&run, &ReportOptions::default(), &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(!text.lines().any(|line| line.starts_with('\u{2713}')));
        let last = text.lines().last().unwrap();
        assert!(last.starts_with(&format!("{} passed", run.summary.passed)), "{last}");
        // 20 of the cases have trials, of which few are worth a line.
        assert!(text.contains("track-parcel-150"), "{text}");
    }

    #[test]
    fn many_trials_that_all_pass_are_a_number() {
        let mut out = Vec::new();
        write(&testing::many(400), &ReportOptions::default(), &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let last = text.lines().find(|line| line.ends_with("all trials passed")).unwrap();
        assert!(last.contains("more cases"), "{last}");
        assert!(!text.contains("3 of 3"), "a case without trouble has a line");
    }
}
