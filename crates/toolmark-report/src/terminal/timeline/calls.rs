//! One line per call.

use super::Look;
use crate::terminal::human;
use crate::terminal::table::{Give, TableColumn, TerminalTable};
use crate::terminal::text::{TextLayout, head, width};
use crate::terminal::{StyledLine, style};
use crate::terminal::{glance, headline};
use anstyle::Style;
use toolmark_redact::printable;
use toolmark_trace::{Call, DeniedBy, Status, Trajectory};

/// Maximum width for aligned tool names; longer ones shift their arguments.
const WIDEST_TOOL: usize = 14;

/// Width of the tool-name column.
pub(super) fn tool_width(run: &Trajectory) -> usize {
    let widths = run.calls.iter().map(|c| width(&c.name.full()));
    widths.filter(|w| *w <= WIDEST_TOOL).max().unwrap_or(0)
}

/// Symbol and colour of a status; the symbol is unambiguous without the colour.
pub(super) fn status_mark(status: Status) -> (&'static str, Style) {
    match status {
        Status::Succeeded => ("\u{2713}", style::GOOD),
        Status::Failed => ("\u{2717}", style::BAD),
        Status::Denied => ("\u{2298}", style::WARN),
        Status::Interrupted => ("\u{25a0}", style::WARN),
        Status::Unanswered => ("\u{2026}", style::WARN),
        Status::Unknown => ("\u{b7}", style::DIM),
    }
}

/// Colour of a status.
pub(super) fn status_tone(status: Status) -> Style {
    status_mark(status).1
}

/// Formats `✓ Bash  ls -l                     0.3s`.
pub(super) fn call_line(
    call: &Call,
    tool_width: usize,
    cwd: Option<&str>,
    look: Look,
) -> StyledLine {
    let (mark, tone) = status_mark(call.status);
    let name = look.redactor.apply(call.name.full());
    let mut line = StyledLine::of(tone, mark).with(style::PLAIN, " ").with(style::STRONG, name);
    let words = headline(call, cwd, look.redactor);
    if !words.main.is_empty() {
        line.pad(tool_width + 2);
        line.push(style::PLAIN, "  ");
        line.push(style::PLAIN, &words.main);
    }
    let extra = match (words.extra, call.denied_by()) {
        (_, Some(DeniedBy::NoVerdict)) => "  denied: no verdict".into(),
        (_, Some(by)) => printable!("  denied by {}", by.word()),
        (extra, None) if extra.is_empty() => extra,
        (extra, None) => printable!("  {}", extra),
    };
    let took = call.duration.map(human::duration).unwrap_or_default();
    let room = look.width.saturating_sub(extra.width() + took.width() + 2);
    let mut line = line.fit(room.max(20));
    line.push(style::DIM, extra);
    if !took.is_empty() {
        line.pad(look.width.saturating_sub(took.width()));
        line.push(style::DIM, took);
    }
    line
}

/// Formats `failed, exit 101: error[E0308]: mismatched types` if there is a problem.
pub(super) fn problem_line(call: &Call, look: Look) -> Option<StyledLine> {
    if matches!(call.status, Status::Succeeded | Status::Unknown) {
        return None;
    }
    let (_, tone) = status_mark(call.status);
    let mut line = StyledLine::of(style::PLAIN, "  ").with(tone, call.status.word());
    if let Some(code) = call.exit_code {
        line.push(tone, printable!(", exit {}", code));
    }
    let text = call.result.as_ref().and_then(|r| r.payload.as_ref()).map(|p| p.plain());
    let reason = text.map(|t| glance(look.redactor, reason(&t))).unwrap_or_default();
    if !reason.is_empty() {
        line.push(tone, ": ");
        line.push(tone, reason);
    }
    Some(line.fit(look.width))
}

/// The most informative line of an error.
fn reason(text: &str) -> &str {
    const MAX_EXAMINED: usize = 16 << 10;
    let text = head(text, MAX_EXAMINED);
    let text = text.trim().trim_start_matches("<tool_use_error>");
    let text = text.trim_end_matches("</tool_use_error>");
    let text = after_header(text);
    let is_code = |line: &&str| line.to_ascii_lowercase().starts_with("exit code");
    let mut lines = text.lines().map(str::trim).filter(|l| !l.is_empty() && !is_code(l));
    let Some(first) = lines.clone().next() else { return "" };
    if first.starts_with("Traceback") {
        return lines.next_back().unwrap_or(first);
    }
    let blames = |line: &str| {
        let line = line.to_ascii_lowercase();
        ["error", "fatal", "failed", "panicked", "denied", "not found", "cannot"]
            .iter()
            .any(|word| line.contains(word))
    };
    lines.find(|line| blames(line)).unwrap_or(first)
}

/// The output of a command without the header that Codex adds.
fn after_header(text: &str) -> &str {
    const HEADER: usize = 400;
    match text.find("\nOutput:") {
        Some(at) if at < HEADER && text.contains("Wall time: ") => &text[at + "\nOutput:".len()..],
        _ => text,
    }
}

/// All calls of a run and its sub-agents, one per row.
pub fn call_table(run: &Trajectory, look: Look) -> TerminalTable {
    let runs = run.flatten();
    let mut columns = vec![
        TableColumn::numbers("#"),
        TableColumn::numbers("step"),
        TableColumn::words("status"),
        TableColumn::words("tool"),
        TableColumn::numbers("took"),
        TableColumn::words("call").gives(Give::End),
    ];
    if runs.len() > 1 {
        columns.insert(2, TableColumn::words("agent").gives(Give::End));
    }
    let mut table = TerminalTable::new(columns);
    let mut number = 0;
    for (depth, run) in runs.iter().enumerate() {
        let cwd = run.cwd.as_ref().map(|c| c.get());
        for call in &run.calls {
            number += 1;
            let tone = status_tone(call.status);
            let words = headline(call, cwd.as_deref(), look.redactor);
            let (mark, _) = status_mark(call.status);
            let mut cells = vec![
                (style::DIM, printable!("{}", number)),
                (style::DIM, call.step.map(|s| printable!("{}", s + 1)).unwrap_or_default()),
                (tone, printable!("{} {}", mark, call.status.word())),
                (style::STRONG, look.redactor.apply(call.name.full())),
                (style::DIM, call.duration.map(human::duration).unwrap_or_default()),
                (style::PLAIN, printable!("{}  {}", words.main, words.extra).reshape(str::trim)),
            ];
            if runs.len() > 1 {
                let agent = match depth {
                    0 => "main".into(),
                    _ => super::header::agent_name(run, look),
                };
                cells.insert(2, (style::DIM, agent));
            }
            table.row(cells);
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_that_says_what_is_wrong() {
        for (text, want) in [
            ("Exit code 1\nls: no such file", "ls: no such file"),
            ("<tool_use_error>String not found</tool_use_error>", "String not found"),
            ("Exit code 101\n   Compiling x\nerror[E0308]: bad\n", "error[E0308]: bad"),
            ("Traceback (most recent call last):\n  File\nKeyError: 'a'\n", "KeyError: 'a'"),
            ("Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 1\nOutput:\n", ""),
            ("Exit code: 2\nWall time: 0.1 seconds\nOutput:\nrg: no such file", "rg: no such file"),
            ("", ""),
        ] {
            assert_eq!(reason(text), want);
        }
    }
}
