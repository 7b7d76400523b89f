//! A comparison for the summary of a CI job.

use super::graded::{MAX_BYTES, emblem, side_by_side, words};
use crate::compared::{self, ARROW, signed};
use crate::shown;
use crate::terminal::text::cut;
use crate::{ReportError, ReportOptions};
use std::fmt::Write as _;
use std::io::Write;
use toolmark_compare::{
    CaseRef, CheckedChange, Comparison, GradedChange, PairGroup, VerdictChange,
};
use toolmark_outcome::{Printable, Verdict};

/// Maximum width of a text in a table, in columns.
const WORDS: usize = 160;

pub(super) fn write(
    comparison: &Comparison,
    options: &ReportOptions,
    out: &mut dyn Write,
) -> Result<(), ReportError> {
    let mut page = String::new();
    if let Some(table) = &comparison.targets {
        let _ = writeln!(page, "## {}\n", words(&comparison.before));
        side_by_side(&mut page, table);
        out.write_all(page.trim_end().as_bytes())?;
        out.write_all(b"\n")?;
        return Ok(());
    }
    let verdict = comparison.verdict();
    let mark = match comparison.gates.is_empty() {
        true => String::new(),
        false => format!("{} ", emblem(verdict)),
    };
    let (before, after) = (words(&comparison.before), words(&comparison.after));
    let _ = writeln!(page, "## {mark}{before} {ARROW} {after}\n");
    if let Some(time) = options.generated_at {
        let _ = writeln!(page, "{time}\n");
    }
    for gate in &comparison.gates {
        let (sign, word) = (emblem(gate.verdict), gate.fail_on.option());
        let _ = writeln!(page, "- {sign} `{word}`: {}", words(&gate.reason));
    }
    for note in &comparison.notes {
        let _ = writeln!(page, "- note: {}", words(note));
    }
    if !comparison.gates.is_empty() || !comparison.notes.is_empty() {
        page.push('\n');
    }
    if let Some(graded) = &comparison.graded {
        self::graded(&mut page, graded, comparison);
    }
    if let Some(checked) = &comparison.checked {
        self::checked(&mut page, checked, comparison);
    }
    while page.ends_with("\n\n") {
        page.pop();
    }
    out.write_all(page.as_bytes())?;
    Ok(())
}

fn graded(page: &mut String, graded: &GradedChange, comparison: &Comparison) {
    let total = &graded.total;
    let mut sums = vec![format!("**{} in both**", shown::things(total.cases, "case"))];
    sums.push(shown::things(total.regressions, "regression").into());
    sums.push(shown::things(total.improvements, "improvement").into());
    if total.unknown > 0 {
        sums.push(format!("{} unknown", total.unknown));
    }
    let _ = writeln!(page, "{}\n", sums.join(" \u{b7} "));
    page.push_str("| | before | after | difference |\n|---|---:|---:|---|\n");
    totals(page, total);
    page.push('\n');
    let rows: Vec<_> = [
        VerdictChange::Regression,
        VerdictChange::Unknown,
        VerdictChange::Improvement,
        VerdictChange::Same,
    ]
    .into_iter()
    .flat_map(|change| graded.changed(change))
    .collect();
    if rows.is_empty() {
        page.push_str("No case of both runs differs.\n\n");
    } else {
        page.push_str("| | case | before | after | score | why |\n|---|---|---|---|---|---|\n");
    }
    let mut left_out = 0;
    for case in rows {
        let scores = compared::scores(case.before.score, case.after.score).unwrap_or_default();
        let difference = case.difference.filter(|d| *d != 0.0).map(signed);
        let difference = difference.map(|words| format!(" ({words})")).unwrap_or_default();
        let sign = match case.change {
            VerdictChange::Regression => emblem(Verdict::Fail),
            VerdictChange::Improvement => emblem(Verdict::Pass),
            VerdictChange::Unknown => "\u{2754}",
            VerdictChange::Same => "",
        };
        let row = format!(
            "| {sign} | {} | {} | {} | {scores}{difference} | {} |\n",
            words(&cut(&case.label(), WORDS)),
            side(&case.before),
            side(&case.after),
            words(&cut(&case.after.reason, WORDS)),
        );
        if left_out == 0 && page.len() + row.len() <= MAX_BYTES / 2 {
            page.push_str(&row);
        } else {
            left_out += 1;
        }
    }
    page.push('\n');
    if left_out > 0 {
        let more = shown::things(left_out, "more case");
        let _ = writeln!(page, "_{more}: this table would be too large._\n");
    }
    for (cases, name) in
        [(&graded.only_before, &comparison.before), (&graded.only_after, &comparison.after)]
    {
        only(page, cases, name);
    }
    groups(page, graded);
}

fn side(side: &toolmark_compare::CaseSide) -> String {
    match side.trials {
        0 | 1 => side.verdict.word().to_owned(),
        trials => format!("{} ({} of {trials})", side.verdict.word(), side.passed),
    }
}

fn totals(page: &mut String, total: &PairGroup) {
    let p = compared::mcnemar_line(total).map(String::from).unwrap_or_default();
    let (before, after) = (total.passed_before, total.passed_after);
    let _ = writeln!(page, "| passed | {before} | {after} | {p} |");
    if let Some(score) = &total.score {
        let interval = match score.interval {
            Some(range) => format!(", 95 % interval {}", compared::interval(range)),
            None => ", too few cases for an interval".to_owned(),
        };
        let (before, after) = (shown::score(score.before), shown::score(score.after));
        let difference = signed(score.difference);
        let _ = writeln!(page, "| score | {before} | {after} | {difference}{interval} |");
    }
    for row in compared::measures(&total.measures) {
        let of = match row.of {
            of if of == total.cases => String::new(),
            of => format!(", recorded in {of} of {}", shown::things(total.cases, "case")),
        };
        let (name, before, after) = (row.name, &row.before, &row.after);
        let _ = writeln!(page, "| {name} | {before} | {after} | {}{of} |", row.difference);
    }
}

fn only(page: &mut String, cases: &[CaseRef], name: &Printable) {
    let label =
        |case: &CaseRef| format!("{} ({})", words(&cut(&case.label(), WORDS)), case.verdict.word());
    listed(page, "Only", name, cases.iter().map(label).collect());
}

/// Writes the names that occur in only one of the runs, as far as there is room.
fn listed(page: &mut String, what: &str, run: &Printable, names: Vec<String>) {
    if names.is_empty() {
        return;
    }
    let mut room = MAX_BYTES / 10;
    let fits = |name: &&String| {
        room = room.saturating_sub(name.len() + 2);
        room > 0
    };
    let shown: Vec<&str> = names.iter().take_while(fits).map(String::as_str).collect();
    let more = match names.len() - shown.len() {
        0 => String::new(),
        n => format!(" and {n} more"),
    };
    let _ = writeln!(page, "{what} in {}: {}{more}\n", words(run), shown.join(", "));
}

fn groups(page: &mut String, graded: &GradedChange) {
    if graded.groups.is_empty() {
        return;
    }
    let by = graded.by.word();
    let _ = writeln!(
        page,
        "| {by} | cases | passed | score | difference | interval | p | only before | only after |\n\
         |---|---:|---|---|---|---|---:|---:|---:|"
    );
    for group in &graded.groups {
        let name =
            group.name.as_deref().map_or("\u{2013}".to_owned(), |name| words(&cut(name, WORDS)));
        let score = group.score.as_ref();
        let scores = score.and_then(|s| compared::scores(Some(s.before), Some(s.after)));
        let difference = score.map(|score| signed(score.difference)).unwrap_or_default();
        let interval = score.and_then(|score| score.interval).map(compared::interval);
        let p = group.mcnemar.map(|test| compared::probability(test.p));
        let _ = writeln!(
            page,
            "| {name} | {} | {} {ARROW} {} | {} | {difference} | {} | {} | {} | {} |",
            group.cases,
            group.passed_before,
            group.passed_after,
            scores.unwrap_or_default(),
            interval.unwrap_or_default(),
            p.unwrap_or_default(),
            group.only_before,
            group.only_after,
        );
    }
    page.push('\n');
}

fn checked(page: &mut String, checked: &CheckedChange, comparison: &Comparison) {
    let (new, gone) = (checked.new.len(), checked.gone.len());
    let _ = writeln!(page, "**Findings: {new} new, {gone} gone**, {} in both\n", checked.known);
    if new + gone > 0 {
        page.push_str("| | severity | rule | tool | what | where |\n|---|---|---|---|---|---|\n");
    }
    let mut left_out = 0;
    let all = checked.new.iter().map(|one| ("new", one));
    for (word, finding) in all.chain(checked.gone.iter().map(|one| ("gone", one))) {
        let place = compared::place(finding).unwrap_or_default();
        let row = format!(
            "| {word} | {} | {} | {} | {} | {} |\n",
            finding.severity.word(),
            words(&finding.code),
            words(&cut(&finding.tool, WORDS)),
            words(&cut(&finding.message, WORDS)),
            words(&place),
        );
        if left_out == 0 && page.len() + row.len() <= MAX_BYTES {
            page.push_str(&row);
        } else {
            left_out += 1;
        }
    }
    page.push('\n');
    if left_out > 0 {
        let more = shown::things(left_out, "more finding");
        let _ = writeln!(page, "_{more}: this table would be too large._\n");
    }
    if !checked.kinds.is_empty() {
        page.push_str("| kind | before | after | trend | p |\n|---|---:|---:|---|---:|\n");
        for kind in &checked.kinds {
            let bucket = kind.bucket.as_deref().map(|bucket| format!(".{}", words(bucket)));
            let _ = writeln!(
                page,
                "| {} {}{} | {} of {} | {} of {} | {} | {} |",
                words(&kind.code),
                words(&kind.tool),
                bucket.unwrap_or_default(),
                kind.before.found,
                kind.before.of,
                kind.now.found,
                kind.now.of,
                kind.trend.word(),
                kind.p.map(compared::probability).unwrap_or_default(),
            );
        }
        page.push('\n');
    }
    for gate in checked.changed_gates() {
        let verdicts = compared::verdicts(gate.before, gate.after);
        let row = [&gate.tool, &gate.bucket].into_iter().flatten();
        let row: String = row.map(|part| format!(" {}", words(part))).collect();
        let _ = writeln!(page, "- gate {}{row}: {verdicts}", words(&gate.gate));
    }
    if checked.changed_gates().next().is_some() {
        page.push('\n');
    }
    for (sessions, name) in
        [(&checked.only_before, &comparison.before), (&checked.only_after, &comparison.after)]
    {
        let names = sessions.iter().flatten();
        let names = names.map(|one| words(&cut(one.id.as_ref().unwrap_or(&one.file), WORDS)));
        listed(page, "Sessions only", name, names.collect());
    }
}
