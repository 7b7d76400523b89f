//! The chat history of Aider: a Markdown file with a heading per session, `####` before the
//! user's input, `>` before Aider's own messages, and the model's text unchanged.
//!
//! Aider's models do not call tools. Actions that they requested and Aider performed are the
//! calls: edits, as SEARCH/REPLACE blocks or as `Applied edit to`, and shell commands that
//! the user allowed or refused. The output of commands, their exit codes and the times are
//! not recorded; token counts are rounded.

use super::shared::markdown::MarkdownLines;
use super::shared::readers::each_record;
use crate::builder::{NewCall, ReaderResult, TrajectoryBuilder};
use crate::format::{Confidence, Format, FormatInfo, FormatProbe, Out, Reader, Record};
use crate::model::{
    Convention, Cost, EventKind, Fact, Fidelity, Payload, Status, StatusLevel, Text, ToolName,
    Usage, UsageTokens, time,
};
use serde_json::{Value as Json, json};

/// Chat histories of Aider.
pub(crate) struct Aider;

static INFO: FormatInfo = FormatInfo {
    id: "aider",
    title: "Aider chat history",
    origin: ".aider.chat.history.md in the repository",
    versions: "0.24 and later; edits as SEARCH/REPLACE blocks, whole files and diffs",
    looks_for: "a text that begins with a heading # aider chat started at",
    fidelity: Fidelity::lacking(&[
        Fact::CallIds,
        Fact::Results,
        Fact::ExitCodes,
        Fact::Durations,
        Fact::Reasoning,
        Fact::SubAgents,
        Fact::ToolDefinitions,
        Fact::WorkingDirectory,
    ]),
};

const SESSION: &str = "# aider chat started at ";
const SEARCH: &str = "<<<<<<< SEARCH";
const REPLACE: &str = ">>>>>>> REPLACE";

impl Format for Aider {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn detect(&self, _probe: &FormatProbe<'_>) -> Confidence {
        0
    }

    fn detect_text(&self, head: &str) -> Option<bool> {
        Some(head.starts_with(SESSION))
    }

    fn reader(&self) -> Box<dyn Reader> {
        each_record(read_history)
    }
}

fn read_history(record: &Record<'_>, out: &mut Out) {
    let Some(lines) = MarkdownLines::new(record, out) else { return };
    let mut from = 0;
    while from < lines.all.len() {
        let next = lines.all.iter().skip(from + 1).position(|l| l.text.starts_with(SESSION));
        let to = next.map_or(lines.all.len(), |next| from + 1 + next);
        if lines.text(from, to).is_some() {
            let mut session = AiderSession::new(out.builder(&Aider), &lines);
            session.read(from, to);
            out.push(session.b.finish());
        }
        from = to;
    }
}

/// Lines of the markers of a SEARCH/REPLACE block.
struct EditBlock {
    start: usize,
    middle: usize,
    end: usize,
}

struct AiderSession<'l, 'a> {
    b: TrajectoryBuilder,
    lines: &'l MarkdownLines<'a>,
    /// Calls of the last response: edits by path whose outcome Aider has not reported yet.
    edits: Vec<(String, u32)>,
    /// Last message of Aider, which may be the command it asks about.
    said: Option<usize>,
    /// Whether the user typed the running command.
    is_users: bool,
    /// Usage reported before the response it belongs to.
    usage: Option<Usage>,
}

impl<'l, 'a> AiderSession<'l, 'a> {
    fn new(mut b: TrajectoryBuilder, lines: &'l MarkdownLines<'a>) -> Self {
        b.run.agent.name = Some(Text::owned("aider"));
        Self { b, lines, edits: Vec::new(), said: None, is_users: false, usage: None }
    }

    fn read(&mut self, from: usize, to: usize) {
        let line = |n: usize| self.lines.all[n].text;
        let mut at = from;
        if let Some(start) = line(at).strip_prefix(SESSION) {
            self.b.seen(time::from_text(start.trim()));
            at += 1;
        }
        while at < to {
            let text = self.lines.all[at].text;
            let start = at;
            if text.starts_with("#### ") || text == "####" {
                while at < to && self.lines.all[at].text.starts_with("####") {
                    at += 1;
                }
                self.user(start, at);
            } else if text.starts_with("> ") || text == ">" {
                at += 1;
                self.aider(start);
            } else if text.trim().is_empty() {
                at += 1;
            } else {
                at = self.response(start, to);
            }
        }
    }

    /// Reads the user's input. A command to Aider is not a prompt; commands that are (`/ask`,
    /// `/code`) are followed by the prompt itself.
    fn user(&mut self, from: usize, to: usize) {
        let typed = self.lines.all[from..to].iter();
        let typed: Vec<&str> =
            typed.map(|l| l.text.strip_prefix("####").unwrap_or("").trim()).collect();
        let typed = typed.join("\n");
        let at = self.lines.at(from);
        self.edits.clear();
        self.is_users =
            typed.starts_with('!') || typed.starts_with("/run") || typed.starts_with("/test");
        let is_command = typed.starts_with(['/', '!']) || typed == "<blank>";
        let text = Some(Payload::text(Text::owned(typed)));
        if is_command {
            self.b.context(text, None, at);
        } else {
            self.b.user(text, None, at);
        }
    }

    /// Reads the model's text up to the next line of the user or of Aider. The content of an edit
    /// may look like such a line and is skipped. Returns the line after the text.
    fn response(&mut self, from: usize, to: usize) -> usize {
        let step = self.b.step(None, None, self.lines.at(from));
        if let Some(usage) = self.usage.take() {
            self.spend(step, usage);
        }
        let mut blocks = Vec::new();
        let mut at = from;
        while at < to {
            let text = self.lines.all[at].text;
            if let Some(block) = (text.trim_end() == SEARCH).then(|| self.block(at, to)).flatten() {
                at = block.end + 1;
                blocks.push(block);
            } else if text.starts_with("#### ") || text.starts_with("> ") || text == ">" {
                break;
            } else {
                at += 1;
            }
        }
        if let Some(text) = self.lines.text(from, at) {
            self.b.message(step, text, None, self.lines.at(from));
        }
        self.edits.clear();
        blocks.into_iter().for_each(|block| self.edit(from, block, step));
        at
    }

    /// Returns the SEARCH/REPLACE block that begins at a line, if it ends before the next one
    /// begins.
    fn block(&self, start: usize, to: usize) -> Option<EditBlock> {
        let find = |from: usize, mark: &str| {
            let mut rest = self.lines.all.get(from..to)?.iter().map(|l| l.text.trim_end());
            let found = rest.position(|line| line == mark || line == SEARCH)?;
            (self.lines.all[from + found].text.trim_end() == mark).then_some(from + found)
        };
        let middle = find(start + 1, "=======")?;
        Some(EditBlock { start, middle, end: find(middle + 1, REPLACE)? })
    }

    fn edit(&mut self, from: usize, block: EditBlock, step: u32) {
        let path = self.path(from, block.start);
        let joined = |from: usize, to: usize| {
            let part: Vec<&str> = self.lines.all[from..to].iter().map(|l| l.text).collect();
            part.join("\n")
        };
        let args = json!({
            "path": path,
            "search": joined(block.start + 1, block.middle),
            "replace": joined(block.middle + 1, block.end),
        });
        let call = self.call("edit", &args, Some(step), block.start);
        self.edits.push((path, call));
    }

    fn call(&mut self, tool: &str, args: &Json, step: Option<u32>, line: usize) -> u32 {
        let (name, at) = (ToolName::new(tool), self.lines.at(line));
        let args = Some(Payload::value(args));
        self.b.call(NewCall { id: None, name, args, step, time: None, at })
    }

    /// Returns the file of a block: in the line above the block or above its fence; otherwise,
    /// the file of the previous block.
    fn path(&self, from: usize, at: usize) -> String {
        let above = self.lines.all[from..at].iter().rev().map(|l| l.text.trim());
        let mut above = above.filter(|line| !line.is_empty()).take(2);
        let name = above.find(|line| !line.starts_with("```"));
        let name = name.map(|n| n.trim_matches(['*', '`', ':', '#', ' '])).unwrap_or_default();
        let is_path = !name.is_empty() && !name.contains(' ') && !name.starts_with(">>>>>>>");
        match (is_path, self.edits.last()) {
            (true, _) => name.to_owned(),
            (false, Some((last, _))) => last.clone(),
            (false, None) => String::new(),
        }
    }

    /// Reads a line of Aider itself.
    fn aider(&mut self, line: usize) {
        let said = self.lines.all[line].text.trim_start_matches('>').trim();
        let before = self.said.replace(line);
        let place = self.lines.at(line);
        if let Some(path) = said.strip_prefix("Applied edit to ") {
            self.applied(path.trim(), line);
        } else if let Some(command) = said.strip_prefix("Running ").filter(|_| !self.is_users) {
            let call = self.shell(command.trim_matches('`'), line);
            self.b.answer_call(call, ReaderResult::new(None, place));
        } else if said.starts_with("Run shell command") {
            let refused =
                said.rsplit_once(": ").is_some_and(|(_, a)| a.starts_with(['n', 'N', 'd', 'D']));
            if let (true, Some(before)) = (refused, before) {
                let command = self.lines.all[before].text.trim_start_matches('>').trim();
                let call = self.shell(command, before);
                let answer =
                    ReaderResult::new(None, place).status(Status::Denied, StatusLevel::Denial);
                self.b.answer_call(call, answer);
            }
        } else if said.contains("did not conform to the edit format")
            || said.contains("SEARCH/REPLACE block") && said.contains("failed to match")
        {
            for (_, call) in std::mem::take(&mut self.edits) {
                let answer = ReaderResult::new(None, place.clone())
                    .status(Status::Failed, StatusLevel::Prose);
                self.b.answer_call(call, answer);
            }
        } else if let Some((usage, cost)) = usage(said) {
            if let Some(cost) = cost {
                let sum = self.b.run.cost.get_or_insert_default();
                sum.nano_usd = sum.nano_usd.saturating_add(cost.nano_usd);
            }
            let turn = self.b.run.user_turns;
            let last = self.b.run.steps.last().filter(|s| s.turn == turn && s.usage.is_none());
            match last.and_then(|_| self.b.last_step()) {
                Some(step) => self.spend(step, usage),
                None => self.usage = Some(usage),
            }
        } else {
            self.describe(said);
            let kind = EventKind::Note(Text::owned("output"));
            let text = Some(Payload::text(Text::owned(said)));
            self.b.event(kind, text, None, None, place);
        }
    }

    fn spend(&mut self, step: u32, usage: Usage) {
        self.b.run.steps[step as usize].usage = Some(usage);
        self.b.add_usage(usage);
    }

    fn shell(&mut self, command: &str, line: usize) -> u32 {
        self.call("shell", &json!({"command": command}), self.b.last_step(), line)
    }

    /// Records that edits of a file were applied: the displayed ones, or one that was not
    /// displayed as a block (a whole file, a diff).
    fn applied(&mut self, path: &str, line: usize) {
        let done = |at| ReaderResult::new(None, at).status(Status::Succeeded, StatusLevel::Prose);
        let (of_file, others): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.edits).into_iter().partition(|(p, _)| p == path);
        self.edits = others;
        for (_, call) in &of_file {
            self.b.answer_call(*call, done(self.lines.at(line)));
        }
        if of_file.is_empty() {
            let call = self.call("edit", &json!({"path": path}), self.b.last_step(), line);
            self.b.answer_call(call, done(self.lines.at(line)));
        }
    }

    /// Reads version and model from the first lines of a session.
    fn describe(&mut self, said: &str) {
        let agent = &mut self.b.run.agent;
        if let Some(version) = said.strip_prefix("Aider v") {
            agent.version.get_or_insert_with(|| Text::owned(version));
        }
        let model =
            ["Main model: ", "Model: ", "Models: "].iter().find_map(|p| said.strip_prefix(p));
        if let Some(model) = model.and_then(|m| m.split([' ', ',']).next()) {
            agent.model.get_or_insert_with(|| Text::owned(model));
        }
    }
}

/// Parses `Tokens: 3.9k sent, 2k cache hit, 93 received. Cost: $0.01 message, …`, or in older
/// versions `33484 prompt tokens, 75 completion tokens, $0.16 cost`.
fn usage(said: &str) -> Option<(Usage, Option<Cost>)> {
    let (counts, cost) = match said.strip_prefix("Tokens: ") {
        Some(rest) => rest.split_once(". Cost: ").unwrap_or((rest, "")),
        None if said.contains(" prompt tokens, ") => said.rsplit_once(", $").unwrap_or((said, "")),
        None => return None,
    };
    let mut tokens = UsageTokens::default();
    for part in counts.trim_end_matches('.').split(", ") {
        let (number, what) = part.split_once(' ')?;
        let slot = match what {
            "sent" | "prompt tokens" => &mut tokens.input,
            "received" | "completion tokens" => &mut tokens.output,
            "cache hit" => &mut tokens.cache_read,
            "cache write" => &mut tokens.cache_write,
            _ => continue,
        };
        *slot = rounded(number)?;
    }
    let dollars = cost.trim_start_matches('$').split([' ', ',']).next().unwrap_or("");
    let cost = dollars.parse().ok().and_then(Cost::from_usd);
    Some((Usage::new(tokens, Convention::INCLUSIVE), cost))
}

/// Parses `93`, `3.9k` or `1.2M`.
fn rounded(number: &str) -> Option<u64> {
    let (digits, unit) = match number.strip_suffix(['k', 'K']) {
        Some(digits) => (digits, 1e3),
        None => number.strip_suffix('M').map_or((number, 1.0), |digits| (digits, 1e6)),
    };
    let count = digits.replace(',', "").parse::<f64>().ok()? * unit;
    (count.is_finite() && (0.0..1e15).contains(&count)).then_some(count.round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{read_fixture, sketch};

    #[test]
    fn two_sessions() {
        let read = read_fixture("aider.md");
        assert_eq!((read.format, read.skipped, read.runs.len()), ("aider", 0, 2));
        let run = &read.runs[0];
        let calls: Vec<String> = run
            .calls
            .iter()
            .map(|c| {
                format!("{} {} {}", c.name.full(), c.args.as_ref().unwrap().raw(), c.status.word())
            })
            .collect();
        assert_eq!(
            calls,
            [
                r#####"edit {"path":"a.md","search":"> old","replace":"#### new"} succeeded"#####,
                r#"edit {"path":"b.py","search":"","replace":"x = 1"} unanswered"#,
                r#"edit {"path":"c.py"} succeeded"#,
                r#"shell {"command":"pytest -q"} unknown"#,
                r#"shell {"command":"sudo rm -rf /"} denied"#,
                r#"edit {"path":"b.py","search":"x","replace":"y"} failed"#,
            ]
        );
        assert_eq!((run.user_turns, run.steps.len()), (2, 2));
        assert_eq!(
            run.usage.unwrap().recorded,
            UsageTokens { input: 4100, output: 1293, cache_read: 2000, ..UsageTokens::default() }
        );
        assert_eq!(run.cost.unwrap().nano_usd, 30_000_000);
        assert_eq!(run.agent.model.as_ref().unwrap(), "gpt-4o");
        assert!(run.started.is_some());
        assert_eq!(sketch(&read.runs[1]), "context: /exit\n");
    }

    #[test]
    fn usage_in_both_wordings() {
        let (old, cost) =
            usage("33484 prompt tokens, 75 completion tokens, $0.168545 cost").unwrap();
        assert_eq!((old.recorded.input, old.recorded.output), (33484, 75));
        assert_eq!(cost.unwrap().nano_usd, 168_545_000);
        assert!(usage("Tokens: x sent").is_none());
    }
}
