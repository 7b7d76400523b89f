//! The header above a timeline: a summary of the run in a few lines.

use super::calls::status_tone;
use super::{Emit, Look};
use crate::terminal::glance;
use crate::terminal::human::{self, things};
use crate::terminal::text::TextLayout;
use crate::terminal::{StyledLine, style};
use anstyle::Style;
use std::io;
use toolmark_redact::{Printable, Redactor, printable};
use toolmark_trace::{Fact, Status, Trajectory, Usage};

/// Style and text of a part of the header.
type HeaderPart = (Style, Printable);

/// Emits agent, model, working directory, time and counts of a run.
pub fn header(run: &Trajectory, look: Look, emit: Emit<'_>) -> io::Result<()> {
    if let Some(name) = &run.name {
        emit(StyledLine::of(style::STRONG, glance(look.redactor, &name.get())).fit(look.width))?;
    }
    let mut who = vec![(style::STRONG, agent(run, look.redactor))];
    who.extend(model_name(run, look.redactor).map(|m| (style::PLAIN, m)));
    who.extend(run.id.as_ref().map(|id| (style::DIM, look.redactor.apply(id.get()))));
    flow(who, look, emit)?;

    let mut setting = Vec::new();
    if let Some(cwd) = &run.cwd {
        let cwd = glance(look.redactor, &cwd.get()).cut_path(look.width / 2);
        setting.push((style::PLAIN, cwd));
    }
    setting.extend(run.started.map(|t| (style::PLAIN, human::date(t))));
    setting.extend(lasted(run).map(|d| (style::PLAIN, d)));
    if let Some(outcome) = &run.outcome {
        let outcome = glance(look.redactor, &outcome.get());
        setting.push((style::STRONG, printable!("ended: {}", outcome)));
    }
    flow(setting, look, emit)?;
    flow(counts(run), look, emit)?;
    if let Some(usage) = &run.usage {
        flow(tokens(usage, run), look, emit)?;
    }
    Ok(())
}

/// Formats one line about a sub-agent.
pub(super) fn sub_agent(run: &Trajectory, look: Look) -> StyledLine {
    let mut parts = vec![(style::STRONG, printable!("sub-agent {}", agent_name(run, look)))];
    parts.extend(model_name(run, look.redactor).map(|m| (style::PLAIN, m)));
    parts.extend(counts(run));
    parts.extend(lasted(run).map(|d| (style::DIM, d)));
    joined(&parts).fit(look.width)
}

/// Name of a sub-agent, or its ID if it has no name of its own.
pub(super) fn agent_name(run: &Trajectory, look: Look) -> Printable {
    let name = run.name.as_ref().or(run.id.as_ref()).or(run.agent.name.as_ref());
    name.map(|n| look.redactor.apply(n.get())).unwrap_or_default()
}

fn agent(run: &Trajectory, redactor: Redactor) -> Printable {
    let name = run.agent.name.as_ref();
    let name = name.map_or_else(|| run.format.into(), |name| redactor.apply(name.get()));
    match &run.agent.version {
        Some(version) => printable!("{} {}", name, redactor.apply(version.get())),
        None => name,
    }
}

/// Name of the model, or the names of several models.
fn model_name(run: &Trajectory, redactor: Redactor) -> Option<Printable> {
    const NAMED: usize = 3;
    let mut models: Vec<String> = Vec::new();
    let first = run.agent.model.iter();
    for model in first.chain(run.steps.iter().filter_map(|s| s.model.as_ref())) {
        if !models.iter().any(|m| model.is(m)) {
            models.push(model.get().into_owned());
        }
        if models.len() > NAMED {
            models[NAMED] = "\u{2026}".to_owned();
            break;
        }
    }
    (!models.is_empty()).then(|| redactor.apply(models.join(", ")))
}

fn lasted(run: &Trajectory) -> Option<Printable> {
    Some(human::duration(run.ended?.duration_since(run.started?)))
}

fn counts(run: &Trajectory) -> Vec<HeaderPart> {
    let mut parts = Vec::new();
    let mut add = |tone: Style, n: u64, one: &'static str| parts.push((tone, things(n, one)));
    if run.user_turns > 0 {
        add(style::PLAIN, run.user_turns.into(), "turn");
    }
    if !run.steps.is_empty() {
        add(style::PLAIN, run.steps.len() as u64, "step");
    }
    add(style::PLAIN, run.calls.len() as u64, "call");
    parts.extend(failures(run));
    let open = run.calls.iter().filter(|c| c.result.is_none()).count();
    if open > 0 {
        parts.push((style::WARN, printable!("{} unanswered", open)));
    }
    let inside = run.flatten().len() - 1;
    if inside > 0 {
        parts.push((style::USER, things(inside as u64, "sub-agent")));
    }
    parts
}

/// Numbers of unsuccessful calls by status.
fn failures(run: &Trajectory) -> Vec<HeaderPart> {
    if run.calls.is_empty() {
        return Vec::new();
    }
    if run.fidelity.lacks(Fact::Status) {
        return vec![(style::DIM, "failures not recorded".into())];
    }
    let mut parts = Vec::new();
    for status in [Status::Failed, Status::Denied, Status::Interrupted] {
        let n = run.calls.iter().filter(|c| c.status == status).count();
        if n > 0 {
            parts.push((status_tone(status), printable!("{} {}", n, status.word())));
        }
    }
    if parts.is_empty() {
        parts.push((style::GOOD, "none failed".into()));
    }
    parts
}

fn tokens(usage: &Usage, run: &Trajectory) -> Vec<HeaderPart> {
    let n = usage.normalised();
    let mut parts = vec![(style::PLAIN, printable!("{} tokens", human::count(usage.total())))];
    for (count, word) in [
        (n.uncached_input, "in"),
        (n.cache_read, "from cache"),
        (n.cache_write, "to cache"),
        (n.output, "out"),
        (n.reasoning, "of it reasoning"),
    ] {
        if count > 0 {
            parts.push((style::DIM, printable!("{} {}", human::count(count), word)));
        }
    }
    parts.extend(run.cost.map(|c| (style::PLAIN, human::usd(c.usd()))));
    parts
}

fn joined(parts: &[HeaderPart]) -> StyledLine {
    let mut line = StyledLine::new();
    for (at, (tone, text)) in parts.iter().enumerate() {
        if at > 0 {
            line.push(style::DIM, " \u{b7} ");
        }
        line.push(*tone, text);
    }
    line
}

/// Emits parts one after another, wrapped over as many lines as needed.
fn flow(parts: Vec<HeaderPart>, look: Look, emit: Emit<'_>) -> io::Result<()> {
    let mut row: Vec<HeaderPart> = Vec::new();
    let mut used = 0;
    for part in parts {
        let needs = part.1.width() + 3;
        if !row.is_empty() && used + needs > look.width + 3 {
            emit(joined(&row).fit(look.width))?;
            row.clear();
            used = 0;
        }
        used += needs;
        row.push(part);
    }
    if row.is_empty() { Ok(()) } else { emit(joined(&row).fit(look.width)) }
}
