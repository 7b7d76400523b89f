//! What people see while agents run: a line for every trial under way on a terminal,
//! a line for every trial that is over elsewhere.

use crate::human;
use crate::printer::{Printer, Verbosity};
use anstyle::{AnsiColor, Style};
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::collections::BTreeMap;
use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use toolmark_outcome::Verdict;
use toolmark_redact::{Printable, Redactor, printable};
use toolmark_run::{Event, Matrix, Observer, Used};

/// Shows what happens.
pub(crate) struct View {
    names: Vec<Printable>,
    targets: Vec<Printable>,
    trials: Vec<u32>,
    redactor: Redactor,
    verbosity: Verbosity,
    state: Mutex<State>,
}

struct State {
    lines: Option<Lines>,
    done: u64,
    total: u64,
    failed: u64,
    unknown: u64,
    used: Used,
}

/// The lines of a terminal.
struct Lines {
    all: MultiProgress,
    under_way: BTreeMap<(usize, u32), ProgressBar>,
    totals: ProgressBar,
}

impl View {
    pub(crate) fn new(matrix: &Matrix, done: usize, printer: &Printer) -> Self {
        let name = |cell: &toolmark_run::Cell| {
            let case = printer.redact(cell.case.as_str());
            match matrix.targets.get(cell.target) {
                Some(target) => {
                    let target = printer.redact(target.name.as_str());
                    printable!("{} [{}]", case, target)
                }
                None => case,
            }
        };
        let total = matrix.trials().len() as u64;
        let is_terminal = io::stderr().is_terminal() && printer.verbosity > Verbosity::Quiet;
        Self {
            names: matrix.cells.iter().map(name).collect(),
            targets: matrix.targets.iter().map(|one| printer.redact(one.name.as_str())).collect(),
            trials: matrix.cells.iter().map(|cell| cell.trials).collect(),
            redactor: printer.redactor,
            verbosity: printer.verbosity,
            state: Mutex::new(State {
                lines: is_terminal.then(|| Lines::new(total)),
                done: done as u64,
                total,
                failed: 0,
                unknown: 0,
                used: Used::default(),
            }),
        }
    }

    /// Takes the lines away.
    pub(crate) fn finish(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(lines) = state.lines.take() {
            lines.under_way.values().for_each(ProgressBar::finish_and_clear);
            lines.totals.finish_and_clear();
        }
    }

    /// What a trial is called.
    fn title(&self, cell: usize, trial: u32) -> Printable {
        let name = self.names.get(cell).cloned().unwrap_or_default();
        match self.trials.get(cell) {
            Some(trials) if *trials > 1 => printable!("{} {}/{}", name, trial + 1, *trials),
            _ => name,
        }
    }
}

impl Lines {
    fn new(total: u64) -> Self {
        let all = MultiProgress::with_draw_target(ProgressDrawTarget::stderr_with_hz(10));
        let totals = all.add(ProgressBar::new(total));
        if let Ok(look) =
            ProgressStyle::with_template("{bar:20.cyan/dim} {pos}/{len}  {elapsed}  {msg}")
        {
            totals.set_style(look.progress_chars("\u{2501}\u{2578}\u{2500}"));
        }
        totals.enable_steady_tick(Duration::from_millis(250));
        Self { all, under_way: BTreeMap::new(), totals }
    }

    fn start(&mut self, key: (usize, u32), title: &Printable) {
        let line = self.all.insert_before(&self.totals, ProgressBar::new_spinner());
        if let Ok(look) =
            ProgressStyle::with_template("{spinner:.cyan} {prefix}  {msg:.dim}  {elapsed:.dim}")
        {
            line.set_style(look);
        }
        line.set_prefix(title.to_string());
        line.enable_steady_tick(Duration::from_millis(120));
        if let Some(before) = self.under_way.insert(key, line) {
            before.finish_and_clear();
        }
    }
}

/// What was used, in a few words.
fn used(used: &Used) -> Printable {
    let mut parts = vec![human::things(used.calls, "call")];
    if let Some(tokens) = used.tokens {
        parts.push(printable!("{} tokens", human::count(tokens)));
    }
    if let Some(usd) = used.usd {
        parts.push(human::usd(usd));
    }
    Printable::join(&parts, ", ")
}

fn seconds(took: Duration) -> Printable {
    printable!("{:.1} s", took.as_secs_f64())
}

impl Observer for View {
    fn event(&self, event: &Event<'_>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            Event::Started { cell, trial, attempt } => {
                let title = match attempt {
                    1 => self.title(*cell, *trial),
                    attempt => printable!("{} attempt {}", self.title(*cell, *trial), *attempt),
                };
                if let Some(lines) = &mut state.lines {
                    lines.start((*cell, *trial), &title);
                }
            }
            Event::Progress { cell, trial, used: now } => {
                if let Some(line) =
                    state.lines.as_ref().and_then(|l| l.under_way.get(&(*cell, *trial)))
                {
                    let call = now.last_call.as_deref().unwrap_or_default();
                    let call = self.redactor.apply(call);
                    let words = printable!("step {}  {}  {}", now.turns, call, used(now));
                    line.set_message(words.to_string());
                }
            }
            Event::Retry { cell, trial, cause, why, wait } => {
                let why = self.redactor.apply(*why);
                let words = printable!(
                    "retry    {}  {}: {}; again in {} s",
                    self.title(*cell, *trial),
                    cause.word(),
                    why,
                    wait.as_secs()
                );
                self.say(&state, AnsiColor::Yellow, &words);
            }
            Event::Jobs { target, jobs } => {
                if self.verbosity >= Verbosity::Verbose || *jobs == 1 {
                    let target = self.targets.get(*target).cloned().unwrap_or_default();
                    let words = printable!("{}: {} at once", target, *jobs);
                    self.say(&state, AnsiColor::Yellow, &words);
                }
            }
            Event::Finished { cell, trial, verdict, reason, used: all, took } => {
                state.done += 1;
                state.used.add(all);
                let color = match verdict {
                    Verdict::Pass => AnsiColor::Green,
                    Verdict::Fail => {
                        state.failed += 1;
                        AnsiColor::Red
                    }
                    Verdict::Unknown(_) => {
                        state.unknown += 1;
                        AnsiColor::Yellow
                    }
                };
                let title = self.title(*cell, *trial);
                let words = printable!(
                    "{:<8} {}  {}  {}",
                    verdict.word(),
                    title,
                    used(all),
                    seconds(*took)
                );
                if let Some(lines) = &mut state.lines
                    && let Some(line) = lines.under_way.remove(&(*cell, *trial))
                {
                    line.finish_and_clear();
                }
                self.say(&state, color, &words);
                if *verdict != Verdict::Pass {
                    let why = self.redactor.apply(*reason);
                    self.say(&state, AnsiColor::BrightBlack, &printable!("         {}", why));
                }
                self.totals(&state);
            }
            Event::LeftOut { trials, .. } => {
                state.total = state.total.saturating_sub(u64::from(*trials));
                self.totals(&state);
            }
            Event::Note(words) => {
                let words = self.redactor.apply(*words);
                self.say(&state, AnsiColor::Yellow, &words);
            }
        }
    }
}

impl View {
    fn totals(&self, state: &State) {
        let Some(lines) = &state.lines else { return };
        lines.totals.set_length(state.total);
        lines.totals.set_position(state.done);
        let mut parts = Vec::new();
        if state.failed > 0 {
            parts.push(printable!("{} failed", state.failed));
        }
        if state.unknown > 0 {
            parts.push(printable!("{} unknown", state.unknown));
        }
        parts.push(used(&state.used));
        lines.totals.set_message(Printable::join(&parts, "  ").to_string());
    }

    /// Prints a line that stays.
    fn say(&self, state: &State, color: AnsiColor, words: &Printable) {
        if self.verbosity == Verbosity::Quiet {
            return;
        }
        let style = Style::new().fg_color(Some(color.into()));
        let line = format!("{style}{words}{style:#}");
        match &state.lines {
            Some(lines) => {
                let _ = lines.all.println(line);
            }
            None => {
                let mut out = anstream::AutoStream::auto(io::stderr());
                let _ = writeln!(out, "{line}");
            }
        }
    }
}
