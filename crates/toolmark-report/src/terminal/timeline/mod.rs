//! A run as a timeline for a terminal: turns, steps, calls, sub-agents.
//!
//! Every line is passed to an [`Emit`], so that a sub-agent's timeline is printed like its parent's
//! with a bar in front, and nothing is held in memory.

mod calls;
mod detail;
mod header;
mod words;

pub use calls::call_table;
pub use header::header;

use crate::terminal::glance;
use crate::terminal::human;
use crate::terminal::text::{TextLayout, width};
use crate::terminal::{StyledLine, style};
use anstyle::Style;
use std::collections::{HashMap, HashSet};
use std::io;
use toolmark_redact::{Printable, Redactor, printable};
use toolmark_trace::{Call, Event, EventKind, Payload, Trajectory};

/// Takes the lines of a timeline.
pub type Emit<'e> = &'e mut dyn FnMut(StyledLine) -> io::Result<()>;

/// Display options of a timeline.
#[derive(Debug, Clone, Copy)]
pub struct Look {
    /// Maximum width of a line, in columns.
    pub width: usize,
    /// Whether to show all text without cutting.
    pub full: bool,
    /// Redacts text before it is printed.
    pub redactor: Redactor,
}

/// Maximum number of lines of user and model text, unless `full` is set.
const USER_LINES: usize = 6;
const MODEL_LINES: usize = 3;
/// Maximum nesting depth of sub-agents that are printed.
const MAX_DEPTH: usize = 12;
/// Prefix of the guard's notes in its log.
const GUARD: &str = "guard: ";

/// Emits the whole timeline of a run.
pub fn timeline(run: &Trajectory, look: Look, emit: Emit<'_>) -> io::Result<()> {
    TimelineWalk::new(run, look, 0).all(emit)
}

/// Emits all details of one step, numbered from 1.
pub fn step(run: &Trajectory, number: u32, look: Look, emit: Emit<'_>) -> io::Result<()> {
    let look = Look { full: true, ..look };
    let index = number.saturating_sub(1);
    if let Some(step) = run.steps.get(index as usize) {
        detail::step_header(run, number, step, look, emit)?;
    }
    let mut walk = TimelineWalk::new(run, look, 0);
    for event in run.events.iter().filter(|e| e.step == Some(index)) {
        walk.event(event, emit)?;
    }
    Ok(())
}

/// Traversal of the events of one run.
struct TimelineWalk<'r> {
    run: &'r Trajectory,
    look: Look,
    depth: usize,
    /// Calls of each step.
    groups: Vec<Vec<u32>>,
    /// Sub-agents by the call that started them.
    children: HashMap<u32, Vec<&'r Trajectory>>,
    /// Sub-agents without a parent call.
    strays: Vec<&'r Trajectory>,
    gutter: Gutter,
    /// Width of the tool-name column, so that arguments are aligned.
    tool_width: usize,
    turn: u32,
    /// Whether any line was emitted.
    begun: bool,
    /// Steps that call a skill tool: their skill events are not repeated.
    skill_steps: HashSet<u32>,
    contexts: Vec<&'r Event>,
    unknown: u64,
}

/// The columns before every line: step number and time since the start.
struct Gutter {
    number: usize,
    clock: usize,
    last: Option<u32>,
}

impl Gutter {
    fn new(run: &Trajectory) -> Self {
        let number = run.steps.len().to_string().len().max(2);
        let clock = match (run.started, run.ended) {
            (Some(start), Some(end)) => human::offset(end.duration_since(start)).len(),
            _ => 0,
        };
        Self { number, clock, last: None }
    }

    /// Width of the gutter: number, two spaces, clock, and two columns for a bracket.
    fn width(&self) -> usize {
        self.number + 2 + if self.clock > 0 { self.clock + 2 } else { 0 }
    }
}

impl<'r> TimelineWalk<'r> {
    fn new(run: &'r Trajectory, look: Look, depth: usize) -> Self {
        let mut groups = vec![Vec::new(); run.steps.len()];
        for (index, call) in run.calls.iter().enumerate() {
            if let Some(group) = call.step.and_then(|s| groups.get_mut(s as usize)) {
                group.push(index as u32);
            }
        }
        let (children, strays) = run.children_by_call();
        Self {
            run,
            look,
            depth,
            groups,
            children,
            strays,
            gutter: Gutter::new(run),
            tool_width: calls::tool_width(run),
            turn: 0,
            begun: false,
            skill_steps: skill_steps(run),
            contexts: Vec::new(),
            unknown: 0,
        }
    }

    fn all(mut self, emit: Emit<'_>) -> io::Result<()> {
        for event in &self.run.events {
            self.event(event, emit)?;
        }
        self.flush_contexts(emit)?;
        for child in std::mem::take(&mut self.strays) {
            self.sub_agent(child, emit)?;
        }
        if self.unknown > 0 {
            let count = human::things(self.unknown, "record");
            let words = printable!("{} of unknown kind not shown; --full names them", count);
            self.line(None, StyledLine::of(style::DIM, words), emit)?;
        }
        Ok(())
    }

    fn event(&mut self, event: &'r Event, emit: Emit<'_>) -> io::Result<()> {
        match &event.kind {
            EventKind::Context => {
                self.contexts.push(event);
                return Ok(());
            }
            EventKind::Result(_) => return Ok(()),
            EventKind::Note(kind) => {
                let words = kind.get();
                return match self.look.full {
                    true => self.note("note", &words, emit),
                    false if words.starts_with(GUARD) => self.question(&words, emit),
                    false => Ok(()),
                };
            }
            EventKind::Unknown(kind) => {
                return if self.look.full {
                    self.note("unknown record", &kind.get(), emit)
                } else {
                    self.unknown += 1;
                    Ok(())
                };
            }
            _ => self.flush_contexts(emit)?,
        }
        match &event.kind {
            EventKind::User => self.user(event, emit),
            EventKind::Message => self.message(event, emit),
            EventKind::Reasoning => self.reasoning(event, emit),
            EventKind::Call(index) => self.call(*index, emit),
            EventKind::Skill if event.step.is_some_and(|s| self.skill_steps.contains(&s)) => Ok(()),
            EventKind::Skill => {
                let line = StyledLine::of(style::USER, "\u{25c6} skill ");
                self.line(event.step, line.with(style::PLAIN, self.glance(event)), emit)
            }
            EventKind::OrphanResult => {
                let line = StyledLine::of(style::WARN, "? result without a call: ");
                let line = line.with(style::PLAIN, self.glance(event));
                self.line(event.step, line.fit(self.room()), emit)?;
                self.uncut(event, emit)
            }
            EventKind::Compaction => self.rule(style::USER, "context compacted", event, emit),
            EventKind::Error => self.rule(style::BAD, "error", event, emit),
            _ => Ok(()),
        }
    }

    fn user(&mut self, event: &Event, emit: Emit<'_>) -> io::Result<()> {
        self.turn += 1;
        self.gutter.last = None;
        if self.begun {
            emit(StyledLine::new())?;
        }
        self.begun = true;
        let mut head = StyledLine::of(style::USER, "\u{258c} ");
        head.push(style::USER.bold(), printable!("user turn {}", self.turn));
        if let Some(time) = event.time {
            let clock = human::clock(time);
            head.pad(self.look.width.saturating_sub(clock.len()));
            head.push(style::DIM, clock);
        }
        emit(head)?;
        let room = self.look.width.saturating_sub(2);
        for text in self.words(event.text.as_ref(), room, USER_LINES) {
            emit(StyledLine::of(style::USER, "\u{258c} ").with(style::PLAIN, text))?;
        }
        emit(StyledLine::new())
    }

    fn message(&mut self, event: &Event, emit: Emit<'_>) -> io::Result<()> {
        let room = self.room();
        for text in self.words(event.text.as_ref(), room, MODEL_LINES) {
            self.line(event.step, StyledLine::of(style::PLAIN, text), emit)?;
        }
        Ok(())
    }

    fn reasoning(&mut self, event: &Event, emit: Emit<'_>) -> io::Result<()> {
        if !self.look.full {
            let words = self.glance(event);
            if words.is_empty() {
                return Ok(());
            }
            let line = StyledLine::of(style::THOUGHT, "thought: ").with(style::THOUGHT, words);
            return self.line(event.step, line, emit);
        }
        let room = self.room();
        let withheld = event.text.is_none();
        let label = if withheld { "thought: (withheld)" } else { "thought:" };
        self.line(event.step, StyledLine::of(style::THOUGHT, label), emit)?;
        for text in self.words(event.text.as_ref(), room, usize::MAX) {
            self.line(event.step, StyledLine::of(style::THOUGHT, text), emit)?;
        }
        Ok(())
    }

    /// Emits a call together with all other calls of its step.
    fn call(&mut self, index: u32, emit: Emit<'_>) -> io::Result<()> {
        let step = self.run.calls.get(index as usize).and_then(|c| c.step);
        let group = step.and_then(|s| self.groups.get_mut(s as usize)).map(std::mem::take);
        let group = match group {
            Some(group) if group.is_empty() => return Ok(()),
            Some(group) => group,
            None => vec![index],
        };
        let last = group.len() - 1;
        for (at, &index) in group.iter().enumerate() {
            let bracket = match at {
                _ if last == 0 => "  ",
                0 => "\u{250c} ",
                at if at == last => "\u{2514} ",
                _ => "\u{2502} ",
            };
            let under = if last == 0 || at == last { "  " } else { "\u{2502} " };
            let lines = self.call_lines(index);
            for (n, line) in lines.into_iter().enumerate() {
                self.bracketed(step, if n == 0 { bracket } else { under }, line, emit)?;
            }
            for child in self.children.remove(&index).unwrap_or_default() {
                self.sub_agent(child, emit)?;
            }
        }
        Ok(())
    }

    /// Emits the guard's question, actual or hypothetical, below the call.
    fn question(&mut self, words: &str, emit: Emit<'_>) -> io::Result<()> {
        let words = glance(self.look.redactor, words);
        let line = StyledLine::of(style::PLAIN, "  ").with(style::WARN, words);
        let line = line.fit(self.room());
        self.line(None, line, emit)
    }

    fn call_lines(&self, index: u32) -> Vec<StyledLine> {
        let Some(call) = self.run.calls.get(index as usize) else { return Vec::new() };
        let room = self.room();
        let cwd = self.run.cwd.as_ref().map(|c| c.get());
        let look = Look { width: room, ..self.look };
        let mut lines = vec![calls::call_line(call, self.tool_width, cwd.as_deref(), look)];
        if self.look.full {
            lines.extend(detail::call_details(call, look));
        } else {
            lines.extend(calls::problem_line(call, look));
        }
        lines
    }

    fn sub_agent(&mut self, child: &Trajectory, emit: Emit<'_>) -> io::Result<()> {
        let mut indent = StyledLine::new();
        indent.pad(self.gutter.width() + 2);
        let bar = |mark: &'static str| indent.clone().with(style::USER, mark);
        let room = self.look.width.saturating_sub(bar("\u{2502} ").width()).max(30);
        let look = Look { width: room, ..self.look };
        let mut first = bar("\u{256d} ");
        first.append(header::sub_agent(child, look));
        emit(first)?;
        if self.depth < MAX_DEPTH {
            let mut inner = |line: StyledLine| {
                let mut whole = bar("\u{2502} ");
                whole.append(line);
                emit(whole)
            };
            TimelineWalk::new(child, look, self.depth + 1).all(&mut inner)?;
        }
        emit(bar("\u{2570}\u{2500}"))
    }

    /// Emits a full-width line for events that concern the whole run.
    fn rule(
        &mut self,
        tone: Style,
        word: &'static str,
        event: &Event,
        emit: Emit<'_>,
    ) -> io::Result<()> {
        self.begun = true;
        let width = self.look.width;
        let mut line = StyledLine::of(tone, "\u{2500}\u{2500} ").with(tone.bold(), word);
        let glance = self.glance(event);
        if !glance.is_empty() {
            line.push(style::PLAIN, ": ");
            line.push(style::PLAIN, glance);
        }
        let mut line = line.fit(width.saturating_sub(4));
        line.push(style::PLAIN, " ");
        line.repeat(tone, "\u{2500}", width.saturating_sub(line.width()));
        emit(line)?;
        self.uncut(event, emit)
    }

    /// Emits the full text of an event whose start is already on a line, if `full` is set.
    fn uncut(&mut self, event: &Event, emit: Emit<'_>) -> io::Result<()> {
        let text = event.text.as_ref().filter(|_| self.look.full).map(|t| t.plain());
        let room = self.room();
        let Some(text) = text.filter(|t| t.trim().contains('\n') || width(t) * 2 > room) else {
            return Ok(());
        };
        for line in block(&self.look.redactor.apply(text), Look { width: room, ..self.look }) {
            self.line(event.step, line, emit)?;
        }
        Ok(())
    }

    /// Number of columns after the gutter.
    fn room(&self) -> usize {
        self.look.width.saturating_sub(self.gutter.width() + 2)
    }

    fn note(&mut self, label: &'static str, kind: &str, emit: Emit<'_>) -> io::Result<()> {
        self.flush_contexts(emit)?;
        let kind = self.look.redactor.apply(kind);
        let line = StyledLine::of(style::DIM, label).with(style::DIM, " ").with(style::DIM, kind);
        self.line(None, line, emit)
    }

    /// Emits one line for all context text before a prompt, whatever its size.
    fn flush_contexts(&mut self, emit: Emit<'_>) -> io::Result<()> {
        let contexts = std::mem::take(&mut self.contexts);
        let Some(first) = contexts.first() else { return Ok(()) };
        if self.look.full {
            let room = self.room();
            for event in contexts {
                self.line(None, StyledLine::of(style::DIM, "context:"), emit)?;
                for text in self.words(event.text.as_ref(), room, usize::MAX) {
                    self.line(None, StyledLine::of(style::DIM, text), emit)?;
                }
            }
            return Ok(());
        }
        let label = match contexts.len() {
            1 => "context: ".into(),
            n => printable!("{} context messages: ", n),
        };
        let line = StyledLine::of(style::DIM, label).with(style::DIM, self.glance(first));
        self.line(None, line, emit)
    }

    /// Emits a line after the gutter; the first line of a step has its number.
    fn line(&mut self, step: Option<u32>, line: StyledLine, emit: Emit<'_>) -> io::Result<()> {
        self.bracketed(step, "  ", line, emit)
    }

    fn bracketed(
        &mut self,
        step: Option<u32>,
        bracket: &'static str,
        line: StyledLine,
        emit: Emit<'_>,
    ) -> io::Result<()> {
        self.begun = true;
        let mut whole = StyledLine::new();
        if let Some(step) = step.filter(|s| self.gutter.last != Some(*s)) {
            self.gutter.last = Some(step);
            let wide = self.gutter.number;
            let number = printable!("{}", step + 1).reshape(|number| format!("{number:>wide$}"));
            whole.push(style::DIM, number);
            let time = self.run.steps.get(step as usize).and_then(|s| s.time);
            if let (Some(time), Some(start)) = (time, self.run.started) {
                let offset = human::offset(time.duration_since(start));
                let wide = self.gutter.clock;
                whole.push(style::DIM, offset.reshape(|offset| format!("  {offset:>wide$}")));
            }
        }
        whole.pad(self.gutter.width());
        whole.push(style::DIM, bracket);
        whole.append(line);
        emit(if self.look.full { whole } else { whole.fit(self.look.width) })
    }

    fn glance(&self, event: &Event) -> Printable {
        event.text.as_ref().map(|t| glance(self.look.redactor, &t.plain())).unwrap_or_default()
    }

    /// Wraps text into lines of at most `room` columns: all lines, or the first `most`.
    fn words(&self, text: Option<&Payload>, room: usize, most: usize) -> Vec<Printable> {
        let Some(text) = text else { return Vec::new() };
        let most = if self.look.full { usize::MAX } else { most };
        words::lines(&text.plain(), room, most, self.look.redactor)
    }
}

fn skill_steps(run: &Trajectory) -> HashSet<u32> {
    let is_skill = |call: &&Call| call.name.canonical().tool.eq_ignore_ascii_case("skill");
    run.calls.iter().filter(is_skill).filter_map(|call| call.step).collect()
}

/// Formats a block of text after a bar, for details.
fn block(text: &Printable, look: Look) -> Vec<StyledLine> {
    let room = look.width.saturating_sub(4);
    let lines = text.reshape(str::trim_end).each_line();
    lines
        .iter()
        .flat_map(|line| line.wrap(room))
        .map(|line| StyledLine::of(style::DIM, "  \u{2502} ").with(style::PLAIN, line))
        .collect()
}
