//! Markdown for the summary of a CI job: a headline, a table of the cases, and collapsible
//! failures.
//!
//! Text from a trace or a spec is escaped, so that it creates no mentions, markup or links. CI
//! systems reject summaries above a megabyte, so excess content is omitted with a note.

use crate::model::{CaseSummary, Explanation, GraderResult, PrintableCallRef, RunResult};
use crate::shown::{self, NamedOutcome};
use crate::terminal::text::{cut, sanitize, squeezed};
use crate::{ReportError, ReportOptions, alignment, targets};
use alignment::Drawn;
use std::fmt::Write as _;
use std::io::Write;
use toolmark_compare::TargetTable;
use toolmark_outcome::{Printable, Verdict, printable};

/// Maximum size of a report in bytes, with room for the final note.
pub(crate) const MAX_BYTES: usize = 900_000;
/// Maximum size of the table in bytes, so that details fit as well.
const MAX_TABLE: usize = 400_000;
/// Maximum width of a reason in a table, in columns.
const REASON: usize = 160;
/// Maximum width of any other text, in columns.
const WORDS: usize = 2000;
/// Maximum number of evidence items per grader.
const EVIDENCE: usize = 20;

pub(super) fn write(
    run: &RunResult,
    options: &ReportOptions,
    out: &mut dyn Write,
) -> Result<(), ReportError> {
    let mut page = String::new();
    head(&mut page, run, options);
    let outcomes = NamedOutcome::all(run);
    cases(&mut page, &outcomes);
    trials(&mut page, &run.summary.trials);
    if let Some(table) = targets::of(run) {
        side_by_side(&mut page, &table);
    }
    let troubled = outcomes.iter().filter(|shown| {
        shown.result.verdict != Verdict::Pass
            && !shown.is_not_run()
            && !shown.result.graders.is_empty()
    });
    let mut left_out = 0;
    // Failures first: they are what must not be left out.
    let (failed, unknown): (Vec<_>, Vec<_>) =
        troubled.partition(|shown| shown.result.verdict == Verdict::Fail);
    for shown in failed.into_iter().chain(unknown) {
        let text = details(shown);
        if left_out == 0 && page.len() + text.len() <= MAX_BYTES {
            page.push_str(&text);
        } else {
            left_out += 1;
        }
    }
    if left_out > 0 {
        let _ = writeln!(
            page,
            "_The details of {} are left out: this page would be too large._",
            shown::things(left_out, "more case")
        );
    }
    while page.ends_with("\n\n") {
        page.pop();
    }
    out.write_all(page.as_bytes())?;
    Ok(())
}

fn head(page: &mut String, run: &RunResult, options: &ReportOptions) {
    let name = shown::name(run);
    let _ = writeln!(page, "## {} {}\n", emblem(run.summary.verdict), words(name));
    let mut totals = vec![format!("**{}**", shown::counts(&run.summary))];
    totals.extend(shown::overall(&run.summary).map(String::from));
    totals.push(targets::scope(run).into());
    totals.extend(targets::took_line(run).map(String::from));
    totals.push(format!("{} ({})", code(&run.spec), words(run.dialect)));
    totals.extend(options.elapsed.map(shown::seconds).map(String::from));
    totals.extend(options.generated_at.map(|time| time.to_string()));
    let _ = writeln!(page, "{}\n", totals.join(" \u{b7} "));
    for (name, value) in run.summary.aggregates.entries() {
        let _ = writeln!(page, "- {}: {}", words(&name), words(&value));
    }
    for note in &run.notes {
        let _ = writeln!(page, "- note: {}", words(note));
    }
    if !run.notes.is_empty() || !run.summary.aggregates.is_empty() {
        page.push('\n');
    }
}

/// Writes the table of cases, those that did not pass first.
fn cases(page: &mut String, outcomes: &[NamedOutcome<'_>]) {
    if outcomes.is_empty() {
        page.push_str("There is nothing to report.\n");
        return;
    }
    page.push_str("| | case | score | why |\n|---|---|---:|---|\n");
    let start = page.len();
    let mut left_out = 0;
    for word in ["fail", "unknown", "pass"] {
        for shown in outcomes.iter().filter(|shown| shown.result.verdict.word() == word) {
            let result = shown.result;
            let row = format!(
                "| {} {word} | {} | {} | {} |\n",
                emblem(result.verdict),
                words(&cut(&shown.title, WORDS)),
                result.score.map_or("\u{2013}".into(), shown::score),
                words(&cut(shown.first_reason(), REASON)),
            );
            if left_out == 0 && page.len() - start + row.len() <= MAX_TABLE {
                page.push_str(&row);
            } else {
                left_out += 1;
            }
        }
    }
    page.push('\n');
    if left_out > 0 {
        let more = shown::things(left_out, "more outcome");
        let _ = writeln!(page, "_{more}: this table would be too large._\n");
    }
}

/// Writes the targets side by side.
pub(super) fn side_by_side(page: &mut String, table: &TargetTable) {
    page.push_str("| case |");
    for sums in &table.targets {
        let _ = write!(page, " {} |", words(&cut(&sums.target, REASON)));
    }
    let _ = writeln!(page, "\n|---|{}", "---|".repeat(table.targets.len()));
    let start = page.len();
    let mut left_out = 0;
    for (name, cells) in targets::rows(table) {
        if page.len() - start > MAX_TABLE / 4 {
            left_out += 1;
            continue;
        }
        let cells: Vec<String> = cells.iter().map(|cell| words(cell)).collect();
        let _ = writeln!(page, "| {} | {} |", words(&cut(&name, REASON)), cells.join(" | "));
    }
    page.push('\n');
    if left_out > 0 {
        let _ = writeln!(page, "_{} left out._\n", shown::things(left_out, "more row"));
    }
    for (name, lines) in targets::differences(table) {
        let _ = writeln!(page, "- {}: {}", words(&name), words(&Printable::join(&lines, "; ")));
    }
    page.push('\n');
}

fn trials(page: &mut String, cases: &[CaseSummary]) {
    let most = cases.iter().map(|case| case.pass_at_k.len()).max().unwrap_or(0);
    if !shown::has_trials(cases) {
        return;
    }
    let ks = shown::interesting(most);
    page.push_str("<details><summary>Trials</summary>\n\n| case | passed | 95% interval |");
    for word in ["pass@", "pass^"] {
        for k in &ks {
            let _ = write!(page, " {}{k} |", words(word));
        }
    }
    let _ = writeln!(page, "\n|---|---|---:|{}", "---:|".repeat(2 * ks.len()));
    let start = page.len();
    for (at, case) in cases.iter().enumerate() {
        if page.len() - start > MAX_TABLE / 4 {
            let more = shown::things((cases.len() - at) as u64, "more case");
            let _ = writeln!(page, "| \u{2026} {more} |");
            break;
        }
        let name = words(&cut(&case.label(), WORDS));
        let _ = write!(page, "| {name} | {} | {} |", shown::trials(case), shown::interval(case));
        for values in [&case.pass_at_k, &case.pass_hat_k] {
            for k in &ks {
                let value = k.checked_sub(1).and_then(|at| values.get(at));
                let cell = value.map_or("\u{2013}".into(), |value| shown::score(*value));
                let _ = write!(page, " {cell} |");
            }
        }
        page.push('\n');
    }
    page.push_str("\n</details>\n\n");
}

fn details(shown: &NamedOutcome<'_>) -> String {
    let result = shown.result;
    let mut text = format!(
        "<details><summary>{} <b>{}</b></summary>\n\n{}\n\n",
        emblem(result.verdict),
        words(&cut(&shown.title, WORDS)),
        words(&cut(&result.reason, WORDS))
    );
    let mut places = Vec::new();
    places.extend(result.trajectory.iter().map(|source| format!("trace {}", code(&source.source))));
    places.extend(shown::in_spec(&result.place).map(|at| format!("spec {}", code(&at))));
    if !places.is_empty() {
        let _ = writeln!(text, "{}\n", places.join(" \u{b7} "));
    }
    for trouble in shown.troubles() {
        grader(&mut text, trouble);
    }
    let passed: Vec<String> = shown.graders("pass").map(|grader| words(&grader.name)).collect();
    if !passed.is_empty() {
        let _ = writeln!(text, "{} {}\n", emblem(Verdict::Pass), passed.join(", "));
    }
    text.push_str("</details>\n\n");
    text
}

fn grader(text: &mut String, grader: &GraderResult) {
    let outcome = &grader.outcome;
    let _ = write!(text, "**{} {}**", shown::sign(outcome.verdict), words(&shown::grader(grader)));
    let standing = shown::standing(grader);
    if !standing.is_empty() {
        let _ = write!(text, " ({standing})");
    }
    let _ = writeln!(text, ": {}\n", words(&cut(&outcome.reason, WORDS)));
    if let Some(explanation) = &outcome.explanation {
        aligned(text, explanation);
    }
    let mut items = Vec::new();
    for part in outcome.parts.iter().filter(|part| part.verdict != Verdict::Pass).take(EVIDENCE) {
        let reason = part.reason.as_ref().map(|reason| printable!(": {}", reason));
        let text = printable!("{}{}", part.text, reason.unwrap_or_default());
        items.push(words(&cut(&text, WORDS)));
    }
    for piece in outcome.evidence.iter().take(EVIDENCE) {
        let place = piece.location();
        let at = place.map(|place| format!(" at {}", code(&shown::in_trace(place))));
        items.push(format!(
            "{}: {}{}",
            piece.role.word(),
            words(&cut(&piece.summary(), WORDS)),
            at.unwrap_or_default()
        ));
    }
    if outcome.evidence.len() > EVIDENCE {
        items.push(format!("\u{2026} {} more", outcome.evidence.len() - EVIDENCE));
    }
    items.extend(shown::contrast(grader).map(|contrast| format!("but {}", words(&contrast))));
    items.extend(outcome.notes.iter().map(|note| format!("note: {}", words(&cut(note, WORDS)))));
    for item in &items {
        let _ = writeln!(text, "- {item}");
    }
    if !items.is_empty() {
        text.push('\n');
    }
}

fn aligned(text: &mut String, explanation: &Explanation) {
    text.push_str("| | expected | made | |\n|---|---|---|---|\n");
    for drawn in alignment::drawn(explanation, false) {
        match drawn {
            Drawn::Gap(rows, state) => {
                let _ = writeln!(text, "| | {} | | |", alignment::gap(rows, state));
            }
            Drawn::Row(row, first) => {
                let cell = |text: Option<Printable>| words(&cut(&text.unwrap_or_default(), WORDS));
                let _ = writeln!(
                    text,
                    "| {}{} | {} | {} | {}{} |",
                    if first { "\u{25b8} " } else { "" },
                    alignment::sign(row.state),
                    cell(row.expected.clone()),
                    cell(row.call.as_ref().map(PrintableCallRef::summary)),
                    row.state.word(),
                    row.why.clone().map(|why| format!(": {}", cell(Some(why)))).unwrap_or_default(),
                );
            }
        }
    }
    text.push('\n');
    if let Some(more) = alignment::elided(explanation) {
        let _ = writeln!(text, "{more}\n");
    }
    if let Some(first) = alignment::divergence(explanation) {
        let _ = writeln!(text, "\u{25b8} {}\n", words(&first));
    }
    for repair in &explanation.repair {
        let _ = writeln!(text, "- to pass: {}", words(&cut(repair, WORDS)));
    }
    if !explanation.repair.is_empty() {
        text.push('\n');
    }
}

/// A coloured symbol, because Markdown has no colours.
pub(crate) fn emblem(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "\u{2705}",
        Verdict::Fail => "\u{274c}",
        Verdict::Unknown(_) => "\u{2754}",
    }
}

/// Text on one line without markup: special characters become character references, which Markdown
/// prints literally.
pub(crate) fn words(text: &str) -> String {
    escaped(text, true)
}

/// Formats a name as inline code that it cannot end.
pub(crate) fn code(text: &str) -> String {
    format!("<code>{}</code>", escaped(text, false))
}

/// Forges search the rendered Markdown, except code, for names and numbers to link. Outside code,
/// an invisible word joiner prevents that.
fn escaped(text: &str, join: bool) -> String {
    let line = squeezed(text);
    let line = sanitize(&line);
    let mut out = String::with_capacity(line.len());
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        let next = chars.peek().copied().unwrap_or(' ');
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '@' | '#' => {
                let _ = write!(out, "&#{};", c as u32);
                if join && next.is_alphanumeric() {
                    out.push('\u{2060}');
                }
            }
            // What would become a link by itself: `https://`, `www.`.
            ':' if next == '/' => out.push_str("&#58;"),
            '.' if out.ends_with(['w', 'W']) => out.push_str("&#46;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '!' | '$' => {
                let _ = write!(out, "&#{};", c as u32);
            }
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    #[test]
    fn the_whole() {
        insta::assert_snapshot!(testing::report("markdown"));
    }

    #[test]
    fn nothing_hostile_is_obeyed() {
        let report = testing::report("markdown");
        for payload in ["<script", "@octocat", "<!--", "`", "\n# heading", "](", "#0"] {
            assert!(!report.contains(payload), "{payload} is still there");
        }
        for (text, want) in [
            ("a|b", "a&#124;b"),
            ("https://www.x.y", "https&#58;//www&#46;x.y"),
            ("see #12", "see &#35;\u{2060}12"),
            ("  two\nlines ", "two lines"),
            ("plain-name.1", "plain-name.1"),
        ] {
            assert_eq!(words(text), want);
        }
    }

    #[test]
    fn large_runs_stay_within_the_limit() {
        let run = testing::many(6000);
        let mut out = Vec::new();
        write(&run, &ReportOptions::default(), &mut out).unwrap();
        assert!(out.len() < 1_000_000, "{} bytes", out.len());
        let text = String::from_utf8(out).unwrap();
        assert!(text.contains("are left out"), "nothing says that something is missing");
    }
}
