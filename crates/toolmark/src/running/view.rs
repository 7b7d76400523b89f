//! Progress output while agents run: on a terminal one line per running trial, otherwise one line
//! per finished trial.
//!
//! ```text
//! ✓ fix-the-bug [claude] 1/2       12 calls, 48.1k tokens, $0.21  34.2 s
//! ✗ fix-the-bug [codex] 1/2        3 calls, 9.2k tokens  8.0 s
//!     tool-sequence: run_tests was never called
//! ⠙ 21s rename-it [claude] 1/2     step 7  edit_file  7 calls, 31.0k tokens, $0.14
//! ━━━━━━╸───────  4 of 16  1m 2s  3 passed  1 failed  61.2k tokens, $0.43
//! ```

use crate::human;
use crate::printer::{PrinterSettings, Verbosity};
use crate::text::{TextLayout, sanitize};
use anstyle::{AnsiColor, Style};
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::collections::BTreeMap;
use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use toolmark_app::run::action::RunView;
use toolmark_grade::run_plan::RunBudget;
use toolmark_outcome::{CaseResult, Verdict};
use toolmark_redact::{Printable, Redactor, printable};
use toolmark_run::{Observer, RunMatrix, TrialEvent, Used};

/// Maximum width of trial names, so that there is room for their progress.
const MAX_TITLE: usize = 44;

/// Prints the progress of a run.
pub(crate) struct ProgressView {
    cases: Vec<Printable>,
    /// Targets of the cases, by case index.
    target_of: Vec<usize>,
    targets: Vec<Printable>,
    trials: Vec<u32>,
    /// Width of the names.
    title: usize,
    /// Maximum width of a line; `None` without a terminal.
    width: Option<usize>,
    budget: RunBudget,
    redactor: Redactor,
    verbosity: Verbosity,
    state: Mutex<ProgressState>,
}

struct ProgressState {
    lines: Option<ProgressLines>,
    done: u64,
    total: u64,
    passed: u64,
    failed: u64,
    unknown: u64,
    used: Used,
    is_stopping: bool,
}

/// The progress lines of a terminal.
struct ProgressLines {
    all: MultiProgress,
    under_way: BTreeMap<(usize, u32), ProgressBar>,
    totals: ProgressBar,
}

impl ProgressView {
    pub(crate) fn new(matrix: &RunMatrix, done: usize, printer: PrinterSettings) -> Self {
        let total = matrix.trials().len() as u64;
        let is_terminal = io::stderr().is_terminal() && printer.verbosity > Verbosity::Quiet;
        let mut view = Self {
            cases: matrix
                .cells
                .iter()
                .map(|cell| printer.redactor.apply(cell.case.as_str()))
                .collect(),
            target_of: matrix.cells.iter().map(|cell| cell.target).collect(),
            targets: matrix
                .targets
                .iter()
                .map(|one| printer.redactor.apply(one.name.as_str()))
                .collect(),
            trials: matrix.cells.iter().map(|cell| cell.trials).collect(),
            title: 0,
            width: is_terminal.then_some(printer.width),
            budget: matrix.budget,
            redactor: printer.redactor,
            verbosity: printer.verbosity,
            state: Mutex::new(ProgressState {
                lines: is_terminal.then(|| ProgressLines::new(total)),
                done: done as u64,
                total,
                passed: 0,
                failed: 0,
                unknown: 0,
                used: Used::default(),
                is_stopping: false,
            }),
        };
        let titles = (0..view.cases.len()).map(|cell| {
            let last = view.trials.get(cell).map_or(0, |trials| trials.saturating_sub(1));
            view.title(cell, last, usize::MAX).width()
        });
        view.title = titles.max().unwrap_or(0).min(MAX_TITLE);
        view
    }

    /// Formats the name of a trial in at most `limit` columns. Of a long name, the target and the
    /// trial number are kept.
    fn title(&self, cell: usize, trial: u32, limit: usize) -> Printable {
        let case = self.cases.get(cell).cloned().unwrap_or_default();
        let target = self.target_of.get(cell).and_then(|at| self.targets.get(*at)).cloned();
        let target = printable!(" [{}]", target.unwrap_or_default());
        let rest = match self.trials.get(cell) {
            Some(trials) if *trials > 1 => printable!("{} {}/{}", target, trial + 1, *trials),
            _ => target,
        };
        let room = limit.saturating_sub(rest.width()).max(8);
        printable!("{}{}", case.cut(room), rest)
    }

    /// Formats the name padded to the common width.
    fn column(&self, cell: usize, trial: u32) -> Printable {
        let title = self.title(cell, trial, self.title).cut(self.title);
        let gap = self.title.saturating_sub(title.width());
        title.reshape(|text| format!("{text}{}", " ".repeat(gap)))
    }
}

impl RunView for ProgressView {
    fn observer(&self) -> &dyn Observer {
        self
    }

    /// Removes the progress lines.
    fn finish(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(lines) = state.lines.take() {
            lines.under_way.values().for_each(ProgressBar::finish_and_clear);
            lines.totals.finish_and_clear();
            // A blank line separates the progress output from the report.
            let _ = lines.all.println("");
        }
    }
}

impl ProgressLines {
    fn new(total: u64) -> Self {
        let all = MultiProgress::with_draw_target(ProgressDrawTarget::stderr_with_hz(10));
        let totals = all.add(ProgressBar::new(total));
        if let Ok(look) =
            ProgressStyle::with_template("{bar:20.cyan/dim} {pos} of {len}  {elapsed}  {wide_msg}")
        {
            totals.set_style(look.progress_chars("\u{2501}\u{2578}\u{2500}"));
        }
        totals.enable_steady_tick(Duration::from_millis(250));
        Self { all, under_way: BTreeMap::new(), totals }
    }

    fn start(&mut self, key: (usize, u32), title: &Printable) {
        let line = self.all.insert_before(&self.totals, ProgressBar::new_spinner());
        // What does not fit is cut: a line that wraps makes all others jump.
        let template = "{spinner:.cyan} {elapsed:>4.dim} {prefix}  {wide_msg:.dim}";
        if let Ok(look) = ProgressStyle::with_template(template) {
            line.set_style(look);
        }
        line.set_prefix(sanitize(title).into_owned());
        line.enable_steady_tick(Duration::from_millis(120));
        if let Some(before) = self.under_way.insert(key, line) {
            before.finish_and_clear();
        }
    }
}

/// Formats the resource usage.
fn used(used: &Used) -> Printable {
    let mut parts = vec![human::things(used.calls, "call")];
    parts.extend(spent(used));
    Printable::join(&parts, ", ")
}

/// Formats tokens and cost.
fn spent(used: &Used) -> Vec<Printable> {
    let tokens = used.tokens.map(|tokens| printable!("{} tokens", human::count(tokens)));
    tokens.into_iter().chain(used.usd.map(human::usd)).collect()
}

fn seconds(took: Duration) -> Printable {
    printable!("{:.1} s", took.as_secs_f64())
}

/// Symbol and colour of a verdict.
fn sign(verdict: Verdict) -> (&'static str, AnsiColor) {
    match verdict {
        Verdict::Pass => ("\u{2713}", AnsiColor::Green),
        Verdict::Fail => ("\u{2717}", AnsiColor::Red),
        Verdict::Unknown(_) => ("?", AnsiColor::Yellow),
    }
}

/// Reason for a verdict other than pass: the explanation of the first deciding grader.
fn why(result: &CaseResult) -> String {
    let word = result.verdict.word();
    let mut decisive = result.graders.iter().filter(|grader| grader.outcome.verdict.word() == word);
    match decisive.next() {
        Some(grader) => format!("{}: {}", grader.name.raw(), grader.outcome.reason.raw()),
        None => result.reason.raw().to_owned(),
    }
}

impl Observer for ProgressView {
    fn event(&self, event: &TrialEvent<'_>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            TrialEvent::Started { cell, trial, attempt } => {
                let title = match attempt {
                    1 => self.column(*cell, *trial),
                    attempt => printable!("{} attempt {}", self.column(*cell, *trial), *attempt),
                };
                if let Some(lines) = &mut state.lines {
                    lines.start((*cell, *trial), &title);
                }
            }
            TrialEvent::Progress { cell, trial, used: now } => {
                if let Some(line) =
                    state.lines.as_ref().and_then(|l| l.under_way.get(&(*cell, *trial)))
                {
                    let call = now.last_call.as_deref().unwrap_or_default();
                    let call = self.redactor.apply(call).squeezed().cut(32);
                    let words = printable!("step {}  {}  {}", now.turns, call, used(now));
                    line.set_message(sanitize(&words).into_owned());
                }
            }
            TrialEvent::Retry { cell, trial, cause, why, wait } => {
                let title = self.title(*cell, *trial, MAX_TITLE);
                let why = self.redactor.apply(*why);
                let words = printable!("\u{21bb} {}  {}: {}", title, cause.word(), why);
                let again = printable!("; again in {} s", wait.as_secs());
                self.say(&state, AnsiColor::Yellow, &printable!("{}{}", words, again));
            }
            TrialEvent::Jobs { target, jobs } => {
                if self.verbosity >= Verbosity::Verbose || *jobs == 1 {
                    let target = self.targets.get(*target).cloned().unwrap_or_default();
                    let words = printable!("{}: {} at once", target, *jobs);
                    self.say(&state, AnsiColor::Yellow, &words);
                }
            }
            TrialEvent::Finished { cell, trial, result, used: all, took } => {
                state.done += 1;
                state.used.add(all);
                let of_verdict = match result.verdict {
                    Verdict::Pass => &mut state.passed,
                    Verdict::Fail => &mut state.failed,
                    Verdict::Unknown(_) => &mut state.unknown,
                };
                *of_verdict += 1;
                if let Some(lines) = &mut state.lines
                    && let Some(line) = lines.under_way.remove(&(*cell, *trial))
                {
                    line.finish_and_clear();
                    lines.all.remove(&line);
                }
                let (sign, color) = sign(result.verdict);
                let title = self.column(*cell, *trial);
                let words = printable!("{} {}  {}  {}", sign, title, used(all), seconds(*took));
                self.say(&state, color, &words);
                if result.verdict != Verdict::Pass {
                    let why = self.redactor.apply(why(result)).squeezed();
                    self.say(&state, AnsiColor::BrightBlack, &printable!("    {}", why));
                }
                self.totals(&state);
            }
            TrialEvent::LeftOut { trials, .. } => {
                state.total = state.total.saturating_sub(u64::from(*trials));
                self.totals(&state);
            }
            TrialEvent::Stopping if state.is_stopping => {}
            TrialEvent::Stopping => {
                state.is_stopping = true;
                let words = "stopping; Ctrl-C again kills what still runs";
                self.say(&state, AnsiColor::Yellow, &words.into());
            }
        }
    }
}

impl ProgressView {
    fn totals(&self, state: &ProgressState) {
        let Some(lines) = &state.lines else { return };
        lines.totals.set_length(state.total);
        lines.totals.set_position(state.done);
        let mut parts = Vec::new();
        for (n, word, color) in [
            (state.passed, "passed", AnsiColor::Green),
            (state.failed, "failed", AnsiColor::Red),
            (state.unknown, "unknown", AnsiColor::Yellow),
        ] {
            if n > 0 {
                let style = Style::new().fg_color(Some(color.into()));
                parts.push(format!("{style}{n} {word}{style:#}"));
            }
        }
        let mut spent = spent(&state.used);
        if let (Some(usd), Some(last)) = (self.budget.usd, spent.last_mut())
            && state.used.usd.is_some()
        {
            *last = printable!("{} of {}", *last, human::usd(usd));
        }
        parts.extend((!spent.is_empty()).then(|| Printable::join(&spent, ", ").to_string()));
        lines.totals.set_message(parts.join("  "));
    }

    /// Prints a permanent line.
    fn say(&self, state: &ProgressState, color: AnsiColor, words: &Printable) {
        if self.verbosity == Verbosity::Quiet {
            return;
        }
        let style = Style::new().fg_color(Some(color.into()));
        let words = match self.width {
            Some(width) => words.cut(width.saturating_sub(1)),
            None => words.clone(),
        };
        let line = format!("{style}{}{style:#}", sanitize(&words));
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
