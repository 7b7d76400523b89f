//! The terminal report of a check: the verdict and the worst findings, the scorecard, and the
//! findings by rule.

use super::page::TextPage;
use crate::checked::{examples, gates, gold, judged, kinds, overview, worst};
use crate::model::{
    CheckRun, DestructiveCall, GateRow, PrintableDecisions, PrintableEvidence, PrintableFinding,
    PrintableGroup, Refined,
};
use crate::shown::{in_trace, instant, sign, things};
use crate::terminal::text::TextLayout;
use crate::terminal::{StyledLine, style};
use crate::{ReportError, ReportOptions, Verbosity};
use anstyle::Style;
use std::io::{self, Write};
use toolmark_check::changes::FindingTrend;
use toolmark_check::{ScoreTally, ToolCard};
use toolmark_outcome::{Axis, EvidenceRole, Printable, Severity, Verdict, printable};

/// Maximum number of findings per rule.
const OF_A_RULE: usize = 3;
/// Maximum number of rows for tools.
const TOOLS: usize = 20;
/// Maximum width of a tool name.
const NAME: usize = 24;
/// Maximum number of rows per dimension: models, agents, projects and weeks.
const MAX_GROUPS: usize = 3;

pub(super) fn write(
    run: &CheckRun,
    options: &ReportOptions,
    out: &mut dyn Write,
) -> Result<(), ReportError> {
    let mut page = TextPage::new(options);
    if options.verbosity == Verbosity::Quiet {
        for finding in run.new_findings()? {
            page.brief(&*finding?);
            page.flush(out)?;
        }
        // Whatever decides the exit code has a line.
        let declared = overview::declared(run).map(|words| (style::BAD, words));
        let not_assessed = overview::not_assessed(run).map(|words| (style::WARN, words));
        for (tone, words) in declared.into_iter().chain(not_assessed) {
            page.line(StyledLine::of(tone, words));
        }
        run.gates.iter().filter(|row| row.verdict != Verdict::Pass).for_each(|r| page.gate(r));
        page.summary(run);
    } else {
        page.verdict_and_worst(run)?;
        page.scorecard(run);
        page.overview(run);
        if let Some(selection) = &run.checked.selection {
            gold::lines(selection, page.width).into_iter().for_each(|line| page.line(line));
        }
        page.findings(run, out)?;
        if let Some(judged) = &run.checked.judged {
            page.judge(judged);
        }
        page.gates(run);
        page.kinds(run);
        page.decisions(&run.checked.decisions);
        for note in &run.notes {
            page.line(StyledLine::of(style::DIM, "note: ").with(style::DIM, note));
        }
        page.summary(run);
        page.colophon();
    }
    out.write_all(page.out.as_bytes())?;
    Ok(())
}

impl TextPage<'_> {
    /// Writes the verdict, and the worst findings in two lines each.
    fn verdict_and_worst(&mut self, run: &CheckRun) -> io::Result<()> {
        let tone = match run.verdict() {
            Verdict::Pass => style::GOOD,
            Verdict::Fail => style::BAD,
            Verdict::Unknown(_) => style::WARN,
        };
        let verdict = run.verdict();
        let lead = printable!("{} {}", sign(verdict), verdict.word());
        let words = overview::headline(run);
        self.words(0, (tone.bold(), printable!("{}: ", lead)), style::PLAIN, &words);
        for finding in worst(run)? {
            let (tone, mark) = look(finding.severity);
            let mut line = StyledLine::of(tone, printable!("  {} ", mark));
            line.push(style::STRONG, printable!("{} ", finding.code));
            line.push(style::PLAIN, &finding.message);
            self.line(line);
            let place = in_trace(&finding.place).cut_path(self.width - 4);
            self.line(StyledLine::of(style::PLAIN, "    ").with(style::USER, place));
        }
        self.out.push('\n');
        Ok(())
    }

    /// Writes the cost of failed and repeated calls, and the groups of sessions.
    fn overview(&mut self, run: &CheckRun) {
        let overview = overview::of(run);
        if let Some(words) = overview::costs(&overview.total) {
            self.wrapped(0, style::PLAIN, &words);
        }
        let all = self.is(Verbosity::Verbose);
        for (word, groups) in overview::parts(&overview) {
            let shown = if all { groups.len() } else { groups.len().min(MAX_GROUPS) };
            // The latest weeks are the last.
            let from = if word == "week" { groups.len() - shown } else { 0 };
            for group in &groups[from..from + shown] {
                self.group(word, group);
            }
            if shown < groups.len() {
                let more = groups.len() - shown;
                let words = printable!("{:<9}{} more; --verbose shows them", "", more);
                self.line(StyledLine::of(style::DIM, words));
            }
        }
        if all {
            run.checked.destructive.iter().for_each(|call| self.destructive(call));
        }
    }

    /// Writes `model    opus-4-5                  4.2 per 100 calls, 12 of 40 sessions affected`.
    fn group(&mut self, word: &'static str, group: &PrintableGroup) {
        let name = overview::name(group);
        let name = if word == "project" { name.cut_path(NAME) } else { name.cut(NAME) };
        let mut line = StyledLine::of(style::DIM, printable!("{:<9}", word));
        line.push(style::STRONG, name);
        line.pad(9 + NAME + 2);
        let rate = overview::rate(group.per_100_calls());
        let (affected, of) = (group.affected, things(group.sessions, "session"));
        line.push(
            style::PLAIN,
            printable!("{} per 100 calls, {} of {} affected", rate, affected, of),
        );
        self.line(line);
    }

    /// Writes a destructive call and its announcement.
    fn destructive(&mut self, call: &DestructiveCall) {
        let mut line =
            StyledLine::of(style::DIM, printable!("destructive, {}: ", call.announced.word()));
        line.push(style::PLAIN, &call.effect);
        self.line(line);
        if let Some(place) = &call.call.place {
            let place = in_trace(place).cut_path(self.width - 4);
            self.line(StyledLine::of(style::PLAIN, "    ").with(style::USER, place));
        }
        if let Some(said) = &call.said {
            self.wrapped(4, style::DIM, &said.summary());
        }
    }

    /// Writes the version and the creation time, if the time is to be shown.
    fn colophon(&mut self) {
        if let Some(time) = self.options.generated_at {
            let version = env!("CARGO_PKG_VERSION");
            let words = printable!("toolmark {} \u{b7} {}", version, instant(time));
            self.line(StyledLine::of(style::DIM, words));
        }
    }

    fn scorecard(&mut self, run: &CheckRun) {
        let tools = run.checked.scorecard.by_use();
        if tools.is_empty() {
            return;
        }
        let all = self.options.verbosity == Verbosity::Verbose;
        let shown = if all { tools.len() } else { tools.len().min(TOOLS) };
        let (head, total) = (ScorecardRow::head(), run.checked.scorecard.total());
        let table = |form: CellForm| {
            let mut rows: Vec<ScorecardRow> = tools[..shown]
                .iter()
                .map(|(name, card)| ScorecardRow::of(name, card, form))
                .collect();
            rows.push(ScorecardRow::of(&"all tools".into(), &total, form));
            let columns = widths(rows.iter().chain([&head]));
            (form, rows, columns)
        };
        let fits = |(_, _, columns): &(_, _, Vec<usize>)| whole_width(columns) <= self.width;
        let mut tables = CellForm::ALL.iter().map(|form| table(*form));
        let (form, rows, columns) = tables.find(fits).unwrap_or_else(|| table(CellForm::Brief));
        self.table_line(&head, &columns);
        for (at, row) in rows.iter().enumerate() {
            if at + 1 == rows.len() {
                let mut rule = StyledLine::new();
                rule.repeat(style::DIM, "\u{2500}", whole_width(&columns).min(self.width));
                self.line(rule);
            }
            self.table_line(row, &columns);
        }
        if shown < tools.len() {
            let words = printable!("{} more tools; --verbose shows them", tools.len() - shown);
            self.line(StyledLine::of(style::DIM, words));
        }
        for line in [form.legend()].into_iter().chain(gates::LEGEND_LINES) {
            self.wrapped(0, style::DIM, &line.into());
        }
        if let Some(words) = gates::destructive(&total) {
            self.wrapped(0, style::PLAIN, &words);
        }
    }

    /// Writes the decisions that the guard would have made, if it would have intervened.
    fn decisions(&mut self, decisions: &PrintableDecisions) {
        let PrintableDecisions { allow, ask, deny, .. } = decisions;
        if ask + deny == 0 {
            return;
        }
        let calls = allow + ask + deny;
        let words = printable!(
            "guard: would have asked about {} and denied {} of {} calls; \
             toolmark guard replay shows them",
            ask,
            deny,
            calls
        );
        self.wrapped(0, style::DIM, &words);
    }

    fn table_line(&mut self, row: &ScorecardRow, columns: &[usize]) {
        let mut line = StyledLine::new();
        let mut start = 0;
        for (at, ((tone, text), column)) in row.cells.iter().zip(columns).enumerate() {
            let is_number = at == 1;
            line.pad(if is_number { start + column - text.width() } else { start });
            line.push(*tone, text);
            start += column + 2;
        }
        self.line(line);
    }

    /// Writes the findings by rule, the worst first.
    fn findings(&mut self, run: &CheckRun, out: &mut dyn Write) -> io::Result<()> {
        let most = match self.options.verbosity {
            Verbosity::Verbose => usize::MAX,
            _ => OF_A_RULE,
        };
        let mut findings = run.new_findings()?;
        let groups = run.groups();
        for group in &groups {
            // Where all of a rule are shown, each is printed as it comes.
            let mut some = (group.count > most).then(|| examples(most));
            for at in 0..group.count {
                let Some(finding) = findings.next().transpose()? else { break };
                if at == 0 {
                    self.out.push('\n');
                    self.rule(&finding, group.count);
                }
                match &mut some {
                    Some(some) => some.add(finding),
                    None => {
                        self.finding(&finding);
                        self.flush(out)?;
                    }
                }
            }
            if let Some(some) = some {
                some.finish().iter().for_each(|finding| self.finding(finding));
                let more = group.count - most;
                let words = printable!("  and {} more; --verbose shows them", more);
                self.line(StyledLine::of(style::DIM, words));
            }
        }
        if !groups.is_empty() {
            self.out.push('\n');
        }
        Ok(())
    }

    fn rule(&mut self, first: &PrintableFinding, count: usize) {
        let (tone, _) = look(first.severity);
        let mut line = StyledLine::of(tone.bold(), first.severity.word());
        line.push(style::STRONG, printable!(" {} {}", first.code, first.name));
        line.push(style::DIM, printable!("  {} \u{d7} {}", first.axis, count));
        if first.confidence != toolmark_outcome::Confidence::High {
            line.push(style::DIM, printable!(", {} confidence", first.confidence));
        }
        self.line(line);
    }

    fn finding(&mut self, finding: &PrintableFinding) {
        let (tone, mark) = look(finding.severity);
        for (at, part) in finding.message.wrap(self.width - 4).into_iter().enumerate() {
            let lead = if at == 0 { printable!("  {} ", mark) } else { "    ".into() };
            self.line(StyledLine::of(tone, lead).with(style::PLAIN, part));
        }
        let place = in_trace(&finding.place).cut_path(self.width - 4);
        self.line(StyledLine::of(style::PLAIN, "    ").with(style::USER, place));
        for evidence in &finding.evidence {
            self.finding_evidence(evidence, finding);
        }
        if let Some(words) = judged::objection(finding) {
            self.wrapped(4, style::WARN, &words);
        }
        self.wrapped(4, style::GOOD, &printable!("\u{2192} {}", finding.remedy));
    }

    fn finding_evidence(&mut self, evidence: &PrintableEvidence, finding: &PrintableFinding) {
        let place = evidence.call.as_ref().and_then(|call| call.place.as_ref());
        let mut line = StyledLine::of(style::PLAIN, "    ");
        match place.or(evidence.place.as_ref()) {
            Some(place) if place.file != finding.place.file => {
                line.push(style::USER, in_trace(place).cut_path(self.width / 2));
                line.push(style::PLAIN, "  ");
            }
            Some(place) if place.line != finding.place.line => {
                line.push(style::USER, printable!("line {}", place.line));
                line.push(style::PLAIN, "  ");
            }
            _ => {}
        }
        // The text of the first evidence item is omitted if it repeats the message.
        if evidence.role != EvidenceRole::Violation || evidence.text != finding.message {
            line.push(style::DIM, printable!("{}: ", evidence.text));
        }
        match (&evidence.call, &evidence.excerpt) {
            (_, Some(excerpt)) => line.push(style::PLAIN, excerpt),
            (Some(call), None) => line.push(style::PLAIN, call),
            (None, None) => {}
        }
        self.line(line);
    }

    fn judge(&mut self, judged: &[Refined]) {
        let all = self.options.verbosity == Verbosity::Verbose;
        // The findings end with an empty line.
        let starts_empty = self.out.ends_with("\n\n");
        for line in judged::lines(judged, all, self.width).into_iter().skip(starts_empty.into()) {
            self.line(line);
        }
        self.out.push('\n');
    }

    fn gates(&mut self, run: &CheckRun) {
        if run.gates.is_empty() {
            return;
        }
        // The findings end with an empty line.
        if !self.out.ends_with("\n\n") {
            self.out.push('\n');
        }
        run.gates.iter().for_each(|row| self.gate(row));
        self.out.push('\n');
    }

    /// Writes the changes of each kind of findings since the previous run.
    fn kinds(&mut self, run: &CheckRun) {
        let changed: Vec<_> = run.changes.iter().flat_map(kinds::changed).collect();
        if changed.is_empty() {
            return;
        }
        self.gap();
        let all = self.is(Verbosity::Verbose);
        let shown = if all { changed.len() } else { changed.len().min(kinds::MAX_ROWS) };
        for kind in &changed[..shown] {
            let (tone, mark) = match kind.trend {
                FindingTrend::New | FindingTrend::More => (style::BAD, "+"),
                _ => (style::GOOD, "-"),
            };
            let mut line = StyledLine::of(tone, printable!("{} {} ", mark, kind.trend.word()));
            line.push(style::STRONG, kinds::subject(kind));
            line.push(style::DIM, printable!("  {}", kinds::rates(kind)));
            self.line(line);
        }
        if shown < changed.len() {
            let more = printable!("{} more kinds; --verbose shows them", changed.len() - shown);
            self.line(StyledLine::of(style::DIM, more));
        }
        self.wrapped(0, style::DIM, &kinds::LEGEND.into());
        self.out.push('\n');
    }

    /// Writes `✓ edit.minimal[Edit] >= 0.85  0.91 (0.62–0.98) of 12`.
    fn gate(&mut self, row: &GateRow) {
        let tone = match row.verdict {
            Verdict::Pass => style::GOOD,
            Verdict::Fail => style::BAD,
            Verdict::Unknown(_) => style::WARN,
        };
        let mut line = StyledLine::of(tone, printable!("{} gate ", sign(row.verdict)));
        line.push(style::STRONG, row.subject());
        line.push(style::PLAIN, printable!(" {} {}  ", row.op, row.threshold));
        line.push(tone, gates::value(row));
        let why = gates::besides(row);
        let taken = line.width();
        if let Some(why) = why.as_ref().filter(|why| taken + 2 + why.width() <= self.width) {
            line.push(style::DIM, printable!("  {}", why));
            return self.line(line);
        }
        self.line(line);
        if let Some(why) = why {
            self.wrapped(4, style::DIM, &why);
        }
    }

    /// Writes one finding on one line, in the format of compilers.
    fn brief(&mut self, finding: &PrintableFinding) {
        let (tone, _) = look(finding.severity);
        let mut line = StyledLine::of(style::PLAIN, printable!("{}: ", in_trace(&finding.place)));
        line.push(tone, finding.severity.word());
        line.push(style::PLAIN, printable!(" {} {}", finding.code, finding.message));
        // Lines of quiet output are not cut.
        if self.options.colour {
            line.write_ansi(&mut self.out);
        } else {
            line.write_plain(&mut self.out);
        }
        self.out.push('\n');
    }

    fn summary(&mut self, run: &CheckRun) {
        let card = &run.checked.scorecard;
        let calls = card.total().calls;
        let mut line = StyledLine::new();
        let counts: Vec<(Style, Printable)> = Severity::ALL
            .iter()
            .rev()
            .filter(|severity| run.count(**severity) > 0)
            .map(|severity| {
                (look(*severity).0, things(run.count(*severity) as u64, severity.word()))
            })
            .collect();
        if counts.is_empty() {
            let words = if run.changes.is_some() { "no new findings" } else { "no findings" };
            line.push(style::GOOD, words);
        }
        for (at, (tone, text)) in counts.iter().enumerate() {
            line.push(style::PLAIN, if at == 0 { "" } else { ", " });
            line.push(*tone, text);
        }
        if run.checked.left_out > 0 {
            line.push(style::DIM, printable!(" and {} more of the same", run.checked.left_out));
        }
        if let Some(changes) = &run.changes {
            let words = printable!(" ({} known, {} gone)", changes.known, changes.gone);
            line.push(style::DIM, words);
        }
        let (sessions, calls) = (things(card.sessions, "session"), things(calls, "call"));
        line.push(style::PLAIN, printable!(" in {}, {}", sessions, calls));
        if card.sub_agents > 0 {
            line.push(style::DIM, printable!(" ({})", things(card.sub_agents, "sub-agent")));
        }
        if let Some(elapsed) = self.options.elapsed {
            line.push(style::DIM, printable!("  {:.2}s", elapsed.as_secs_f64()));
        }
        self.line(line);
    }
}

/// One row of the scorecard.
struct ScorecardRow {
    cells: Vec<(Style, Printable)>,
}

impl ScorecardRow {
    fn head() -> Self {
        let words = ["tool", "calls"].into_iter().chain(Axis::ALL.iter().map(|axis| axis.word()));
        Self { cells: words.map(|word| (style::DIM, word.into())).collect() }
    }

    fn of(name: &Printable, card: &ToolCard, form: CellForm) -> Self {
        let mut cells =
            vec![(style::STRONG, name.cut(NAME)), (style::PLAIN, printable!("{}", card.calls))];
        cells.extend(Axis::ALL.iter().map(|axis| cell(card.axis(*axis), form)));
        Self { cells }
    }
}

/// Level of detail of a cell; the count is in all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CellForm {
    /// Formatted as `90% of 10, 59–98`.
    Full,
    /// Formatted as `9/10 59–98%`.
    Ratio,
    /// Formatted as `90% of 10`.
    Brief,
}

impl CellForm {
    const ALL: &[Self] = &[Self::Full, Self::Ratio, Self::Brief];

    /// Explains a cell by an example.
    fn legend(self) -> &'static str {
        match self {
            Self::Full => {
                "90% of 10, 59\u{2013}98 = 90 % of 10 checked calls have no fault, 95 % interval 59\u{2013}98"
            }
            Self::Ratio => {
                "9/10 59\u{2013}98% = 9 of 10 checked calls have no fault, 95 % confidence interval"
            }
            Self::Brief => "90% of 10 = 90 % of 10 checked calls have no fault",
        }
    }
}

/// Minimum widths of the columns.
fn widths<'r>(rows: impl Iterator<Item = &'r ScorecardRow>) -> Vec<usize> {
    let mut widths = Vec::new();
    for row in rows {
        widths.resize(widths.len().max(row.cells.len()), 0);
        for (width, (_, text)) in widths.iter_mut().zip(&row.cells) {
            *width = text.width().max(*width);
        }
    }
    widths
}

/// Total width of the columns, with two spaces in between.
fn whole_width(columns: &[usize]) -> usize {
    columns.iter().sum::<usize>() + 2 * columns.len().saturating_sub(1)
}

/// Formats a rate with its count and its interval.
fn cell(tally: ScoreTally, form: CellForm) -> (Style, Printable) {
    let (Some(rate), Some((low, high))) = (tally.rate(), tally.interval()) else {
        return (style::DIM, "\u{2013}".into());
    };
    // No fault may look like none; the ends of an interval are rounded sums.
    let percent = |share: f64| if share < 1.0 - 1e-9 { (share * 100.0).floor() } else { 100.0 };
    let interval = printable!("{:.0}\u{2013}{:.0}", percent(low), percent(high));
    let text = match form {
        CellForm::Full => printable!("{:.0}% of {}, {}", percent(rate), tally.of, interval),
        CellForm::Ratio => {
            // Tenths, rounded down: what is not quite all does not look like it.
            let points = (rate * tally.of as f64 * 10.0 + 1e-6).floor() / 10.0;
            printable!("{}/{} {}%", points, tally.of, interval)
        }
        CellForm::Brief => printable!("{:.0}% of {}", percent(rate), tally.of),
    };
    let tone = match rate {
        rate if rate >= 1.0 => style::GOOD,
        rate if rate >= 0.9 => style::WARN,
        _ => style::BAD,
    };
    (tone, text)
}

fn look(severity: Severity) -> (Style, &'static str) {
    match severity {
        Severity::Error => (style::BAD, "\u{2717}"),
        Severity::Warning => (style::WARN, "!"),
        Severity::Info => (style::USER, "\u{b7}"),
    }
}

#[cfg(test)]
mod tests {
    use crate::checked::tests::{report, sample};
    use crate::{ReportOptions, format_by_id};

    #[test]
    fn the_verdict_and_the_worst_findings_come_first() {
        let text = report("text");
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].starts_with("\u{2717} fail: "), "{text}");
        assert!(lines[0].contains("faults per 100 calls"), "{text}");
        let at = |word: &str| lines.iter().position(|line| line.contains(word)).unwrap();
        assert!(at("A202") < at("tool "), "{text}");
        assert!(at("S101") < at("tool "), "{text}");
        insta::assert_snapshot!(text);
    }

    #[test]
    fn examples_are_from_different_sessions() {
        let mut run = sample();
        let of = |session: &'static str, line: u32| {
            let mut finding = run.checked.findings[1].clone();
            finding.session = Some(session.into());
            finding.place.line = line;
            finding
        };
        let findings = vec![of("a", 101), of("a", 102), of("a", 103), of("b", 104), of("c", 105)];
        run.checked.findings = findings;
        let text = format_by_id("text").unwrap().to_text(&run, &ReportOptions::default()).unwrap();
        let details = text.split("repeated-read").nth(1).unwrap();
        for (line, is_shown) in [(101, true), (102, false), (103, false), (104, true), (105, true)]
        {
            assert_eq!(details.contains(&format!(":{line}\n")), is_shown, "{line}: {text}");
        }
    }

    #[test]
    fn a_report_says_when_it_was_made_and_by_which_version() {
        let time = "2026-02-12T10:00:00Z".parse().unwrap();
        let options = ReportOptions { generated_at: Some(time), ..ReportOptions::default() };
        // A table of one kind of rows has no column for it.
        for format in crate::FORMATS.iter().filter(|f| f.has_findings && f.is_text && f.id != "csv")
        {
            let report = format.to_text(&sample(), &options).unwrap();
            for word in ["2026-02-12", env!("CARGO_PKG_VERSION")] {
                assert!(report.contains(word), "{} does not say {word}", format.id);
            }
        }
    }
}
