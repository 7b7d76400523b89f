//! `toolmark show`: prints one run for people.

use crate::args::TextFormat;
use crate::cli::Reading;
use crate::diagnostics::print_file;
use crate::exit::{Exit, Failure};
use crate::human;
use crate::printer::{Line, Printer, harmless_json, style};
use crate::text::{Layout, head};
use clap::Args;
use jiff::SignedDuration;
use serde::Serialize;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use toolmark_app::Stop;
use toolmark_app::inputs::Input;
use toolmark_app::reading::Runs;
use toolmark_app::sessions::{self, Session};
use toolmark_base::{ReadFileError, ReadFileErrorKind};
use toolmark_redact::{Printable, Redactor, printable};
use toolmark_report::terminal::first_words;
use toolmark_report::terminal::table::{Column, Give, Table};
use toolmark_report::terminal::timeline::{self, Look};
use toolmark_trace::{Fact, Trajectory, exporter_by_id};

const EXAMPLES: &str = "\
Examples:
  toolmark show                          the newest sessions on this machine
  toolmark show session.jsonl            a run as a timeline
  toolmark show 4f1c                     a session by ID prefix
  toolmark show session.jsonl --calls    one line per tool call
  toolmark show session.jsonl --step 7   everything about one step
  toolmark show results.json --run 3     the third run of a file with many
  cat session.jsonl | toolmark show -";

/// Show a run as a timeline
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Show {
    /// Trace file, - for stdin, or prefix of a session's id [default: list the newest sessions]
    trace: Option<PathBuf>,
    /// Run to show, of a file with several: its number, or a prefix of its id or name
    #[arg(long, value_name = "N|ID")]
    run: Option<String>,
    /// One line per tool call
    #[arg(long, conflicts_with = "step")]
    calls: bool,
    /// Everything about one step
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    step: Option<u32>,
    /// Show all text, arguments and results uncut
    #[arg(long)]
    full: bool,
    /// Output format
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "text")]
    format: TextFormat,
    #[command(flatten)]
    reading: Reading,
}

/// Maximum number of listed sessions.
const LISTED: usize = 20;
/// Maximum line width; wider lines are hard to read.
const WIDEST: usize = 140;

impl Show {
    pub(crate) fn run(self, printer: &mut Printer) -> Result<Exit, Stop> {
        if self.format == TextFormat::Json && (self.calls || self.step.is_some()) {
            let failure = Failure::usage("--format json cannot be combined with --calls or --step");
            return Err(failure.into());
        }
        let input = match &self.trace {
            Some(trace) => find_trace(trace)?,
            None => match pick_session(printer)? {
                Some(path) => Input::named(&path),
                None => return Ok(Exit::Ok),
            },
        };
        let reader = self.reading.reader(printer);
        let mut runs = match reader.open(&input) {
            Ok(runs) => runs,
            Err(end) => {
                print_file(printer, &end.findings)?;
                return Ok(Exit::Unread);
            }
        };
        let printed = match self.find_run(&mut runs, printer.redactor) {
            Ok(Found::One(run)) => self.print(printer, &run),
            Ok(Found::Many(list)) => {
                self.print_list(printer, &list, runs.file()).map_err(Stop::from)
            }
            Err(failure) => Err(failure.into()),
        };
        printer.flush()?;
        let end = runs.end();
        print_file(printer, &end.findings)?;
        printed?;
        Ok(if end.skipped > 0 { Exit::Unread } else { Exit::Ok })
    }

    /// Returns the requested run, or the list of all runs.
    fn find_run(&self, runs: &mut Runs<'_>, redactor: Redactor) -> Result<Found, Failure> {
        let found = match self.run.as_deref().map(|wanted| (wanted, wanted.parse::<usize>())) {
            None => only_run(runs.bare(), redactor),
            Some((_, Ok(0))) => return Err(Failure::usage("runs are numbered from 1")),
            Some((_, Ok(number))) => runs.bare().nth(number - 1).map(Found::one),
            Some((wanted, Err(_))) => {
                runs.bare().find_map(|run| named(run, wanted)).map(Found::one)
            }
        };
        match (found, &self.run) {
            (Some(Found::One(mut run)), _) => {
                runs.join(&mut run);
                Ok(Found::One(run))
            }
            (Some(found), _) => Ok(found),
            (None, None) => Err(Failure::unread(format!("{} has no run", runs.file()))),
            (None, Some(wanted)) => {
                let failure = Failure::usage(format!("{} has no run {wanted}", runs.file()));
                Err(failure.hint("without --run, the runs of a file are listed"))
            }
        }
    }

    fn print(&self, printer: &mut Printer, run: &Trajectory) -> Result<(), Stop> {
        if self.format == TextFormat::Json {
            return print_json(printer, run).map_err(Stop::from);
        }
        let look = self.look(printer);
        if self.calls {
            let limit = (!self.full).then(|| printer.width());
            printer.table(&timeline::call_table(run, look), limit)?;
            return Ok(());
        }
        let mut emit = |line: Line| printer.line(&line);
        if let Some(number) = self.step {
            if number as usize > run.steps.len() {
                return Err(no_such_step(run, number).into());
            }
            timeline::step(run, number, look, &mut emit)?;
        } else {
            timeline::header(run, look, &mut emit)?;
            emit(Line::new())?;
            timeline::timeline(run, look, &mut emit)?;
        }
        Ok(())
    }

    fn print_list(&self, printer: &mut Printer, list: &[Brief], file: &str) -> io::Result<()> {
        if self.format == TextFormat::Json {
            return printer.json(&list);
        }
        let count = human::things(list.len() as u64, "run");
        let file = printer.redact(file);
        printer.line(
            &Line::of(style::STRONG, &file).with(style::PLAIN, ": ").with(style::PLAIN, count),
        )?;
        let mut table = Table::new(vec![
            Column::numbers("#"),
            Column::words("id").gives(Give::End),
            Column::numbers("steps"),
            Column::numbers("calls"),
            Column::numbers("failed"),
            Column::words("ended").gives(Give::End).leaves(1),
            Column::words("what").gives(Give::End),
        ]);
        for brief in list {
            table.row(brief.cells());
        }
        let limit = printer.width();
        printer.table(&table, Some(limit))?;
        let hint = printable!("toolmark show {} --run N shows one of them", file);
        printer.line(&Line::of(style::DIM, hint))
    }

    fn look(&self, printer: &Printer) -> Look {
        Look { width: printer.width().min(WIDEST), full: self.full, redactor: printer.redactor }
    }
}

/// Prints the run in toolmark's own JSON, complete except for secrets.
fn print_json(printer: &mut Printer, run: &Trajectory) -> io::Result<()> {
    let mut bytes = Vec::new();
    if let Some(exporter) = exporter_by_id("toolmark") {
        exporter.export(run, &mut bytes)?;
    }
    let text = String::from_utf8(bytes).map_err(io::Error::other)?;
    printer.raw(&harmless_json(printer.redactor.json_text(text).into()))
}

/// Content of a file.
enum Found {
    One(Box<Trajectory>),
    Many(Vec<Brief>),
}

impl Found {
    fn one(run: Trajectory) -> Self {
        Self::One(Box::new(run))
    }
}

/// A run in a list.
#[derive(Serialize)]
struct Brief {
    run: usize,
    id: Option<Printable>,
    name: Option<Printable>,
    steps: usize,
    calls: usize,
    failed: Option<usize>,
    outcome: Option<Printable>,
    /// Start of the first user message.
    words: Printable,
}

impl Brief {
    fn new(number: usize, run: &Trajectory, redactor: Redactor) -> Self {
        /// Maximum length of the first message, so that a long list stays small.
        const WORDS: usize = 300;
        let text = |t: &toolmark_trace::Text| redactor.apply(t.get());
        let failed = run.calls.iter().filter(|c| c.status.is_error()).count();
        Self {
            run: number,
            id: run.id.as_ref().map(text),
            name: run.name.as_ref().map(text),
            steps: run.steps.len(),
            calls: run.calls.len(),
            failed: (!run.fidelity.lacks(Fact::Status)).then_some(failed),
            outcome: run.outcome.as_ref().map(text),
            words: first_words(run, redactor).reshape(|words| head(words, WORDS)),
        }
    }

    fn cells(&self) -> Vec<toolmark_report::terminal::table::Cell> {
        // The names of benchmark tasks are often mere numbers.
        let telling = |name: &&Printable| name.chars().any(char::is_alphabetic);
        let what = self.name.as_ref().filter(telling).unwrap_or(&self.words);
        let glance =
            |text: &Option<Printable>| text.as_ref().map(Layout::squeezed).unwrap_or_default();
        vec![
            (style::DIM, printable!("{}", self.run)),
            (style::STRONG, glance(&self.id)),
            (style::PLAIN, printable!("{}", self.steps)),
            (style::PLAIN, printable!("{}", self.calls)),
            match self.failed {
                None => (style::DIM, "\u{2013}".into()),
                Some(0) => (style::DIM, "0".into()),
                Some(n) => (style::BAD, printable!("{}", n)),
            },
            (style::PLAIN, glance(&self.outcome)),
            (style::PLAIN, what.squeezed()),
        ]
    }
}

/// Returns the run of a file with one run, or the list for several. The list is built while the
/// runs are read, so that they are never in memory all at once.
fn only_run(mut runs: impl Iterator<Item = Trajectory>, redactor: Redactor) -> Option<Found> {
    let first = runs.next()?;
    let Some(second) = runs.next() else { return Some(Found::One(Box::new(first))) };
    let mut list = vec![Brief::new(1, &first, redactor), Brief::new(2, &second, redactor)];
    drop((first, second));
    for run in runs {
        list.push(Brief::new(list.len() + 1, &run, redactor));
    }
    Some(Found::Many(list))
}

/// Returns the run, or the sub-agent in it, with this ID or name prefix.
fn named(mut run: Trajectory, wanted: &str) -> Option<Trajectory> {
    let is_it = |run: &Trajectory| {
        [&run.id, &run.name].into_iter().flatten().any(|t| t.get().starts_with(wanted))
    };
    if is_it(&run) {
        return Some(run);
    }
    let mut inside = std::mem::take(&mut run.children);
    while let Some(mut child) = inside.pop() {
        if is_it(&child) {
            return Some(child);
        }
        inside.append(&mut child.children);
    }
    None
}

fn no_such_step(run: &Trajectory, number: u32) -> Failure {
    let failure = Failure::usage(format!("no step {number}"));
    match run.steps.len() {
        0 => failure.hint("this format does not record steps"),
        n => failure.hint(format!("this run has steps 1 to {n}")),
    }
}

/// Returns the named file, or a session by ID prefix.
fn find_trace(trace: &Path) -> Result<Input, Failure> {
    let name = trace.to_string_lossy();
    if trace.is_dir() {
        let failure =
            Failure::unread(ReadFileError::new(trace, ReadFileErrorKind::Directory).to_string());
        return Err(failure.hint(format!(
            "show takes one trace; `toolmark stats {name}` lists those in the directory"
        )));
    }
    if trace.exists() || name == "-" || name.contains(['/', '\\', '.']) {
        return Ok(Input::named(trace));
    }
    let sessions = sessions::find();
    match sessions::with_prefix(&sessions, &name).as_slice() {
        [] => {
            let failure = Failure::unread(format!("no file or session {name}"));
            Err(failure.hint("`toolmark show` lists the sessions of this machine"))
        }
        [one] => Ok(Input::named(&one.path)),
        many => {
            let ids: Vec<&str> = many.iter().take(5).map(|s| s.id.as_str()).collect();
            let count = many.len();
            let failure = Failure::usage(format!("{count} sessions start with {name}"));
            Err(failure.hint(format!("use a longer prefix: {}", ids.join(", "))))
        }
    }
}

/// Lists the newest sessions and, if interactive, asks for one.
fn pick_session(printer: &mut Printer) -> Result<Option<PathBuf>, Stop> {
    let sessions = sessions::find();
    if sessions.is_empty() {
        let failure = Failure::unread("found no sessions");
        let hint = format!(
            "looked in {}; a trace can be given as an argument instead",
            sessions::looked_in()
        );
        return Err(failure.hint(hint).into());
    }
    let listed = &sessions[..sessions.len().min(LISTED)];
    print_sessions(printer, listed)?;
    if sessions.len() > listed.len() {
        let more = printable!("\u{2026} and {} older", sessions.len() - listed.len());
        printer.line(&Line::of(style::DIM, more))?;
    }
    if !printer.is_interactive() {
        return Ok(None);
    }
    printer.line(&Line::new())?;
    loop {
        printer.ask(&Line::of(style::STRONG, "show which?").with(style::DIM, " (number or id)"))?;
        let mut answer = String::new();
        if io::stdin().read_line(&mut answer)? == 0 {
            return Ok(None);
        }
        let answer = answer.trim();
        if answer.is_empty() || answer == "q" {
            return Ok(None);
        }
        match picked(&sessions, listed, answer) {
            Ok(session) => return Ok(Some(session.path.clone())),
            Err(problem) => printer.line(&Line::of(style::WARN, printer.redact(problem)))?,
        }
    }
}

/// Resolves an answer: the number of a session in the list, or a prefix of its ID.
fn picked<'s>(
    sessions: &'s [Session],
    listed: &'s [Session],
    answer: &str,
) -> Result<&'s Session, String> {
    let number = answer.parse::<usize>().ok().and_then(|n| n.checked_sub(1));
    if let Some(session) = number.and_then(|at| listed.get(at)) {
        return Ok(session);
    }
    match sessions::with_prefix(sessions, answer).as_slice() {
        [one] => Ok(one),
        [] => Err(format!("no session {answer}")),
        many => Err(format!("{} sessions start with {answer}", many.len())),
    }
}

fn print_sessions(printer: &mut Printer, listed: &[Session]) -> io::Result<()> {
    const ID: usize = 8;
    let mut table = Table::new(vec![
        Column::numbers("#"),
        Column::words("agent"),
        Column::numbers("age"),
        Column::words("id"),
        Column::words("project").gives(Give::Start).leaves(1),
        Column::words("first words").gives(Give::End),
    ]);
    let now = SystemTime::now();
    for (at, session) in listed.iter().enumerate() {
        let age = now.duration_since(session.modified).unwrap_or_default();
        let age = SignedDuration::try_from(age).map(human::age).unwrap_or_default();
        let run = Input::named(&session.path).read(&toolmark_trace::Options::default());
        let run = run.ok().and_then(|mut runs| runs.next());
        let project = run.as_ref().and_then(|r| r.cwd.as_ref());
        let words = match &run {
            Some(run) => (style::PLAIN, first_words(run, printer.redactor)),
            None => (style::DIM, "(unreadable)".into()),
        };
        table.row(vec![
            (style::DIM, printable!("{}", at + 1)),
            (style::STRONG, session.agent.into()),
            (style::DIM, age),
            (style::USER, printer.redact(&session.id).reshape(|id| head(id, ID))),
            (
                style::PLAIN,
                project.map(|p| printer.redact(from_home(&p.get()))).unwrap_or_default(),
            ),
            words,
        ]);
    }
    let limit = printer.width();
    printer.table(&table, Some(limit)).map(drop)
}

/// A path with `~` for the home directory.
fn from_home(path: &str) -> String {
    let home = std::env::home_dir();
    match home.and_then(|h| Some(path.strip_prefix(h.to_str()?)?.to_owned())) {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("~{rest}"),
        _ => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use toolmark_trace::{Builder, FORMATS, Text};

    fn run(id: &str) -> Trajectory {
        let mut builder = Builder::new(FORMATS[0].info(), Arc::from("runs.jsonl"));
        builder.run.id = Some(Text::owned(id));
        builder.finish()
    }

    #[test]
    fn one_run_is_shown_and_several_are_listed() {
        let only_run = |ids: &[&str]| only_run(ids.iter().map(|id| run(id)), Redactor::new(true));
        assert!(only_run(&[]).is_none());
        assert!(matches!(only_run(&["a"]), Some(Found::One(_))));
        let Some(Found::Many(list)) = only_run(&["a", "b", "c"]) else {
            panic!("three runs are a list");
        };
        let numbered: Vec<_> = list.iter().map(|b| (b.run, b.id.as_deref().unwrap())).collect();
        assert_eq!(numbered, [(1, "a"), (2, "b"), (3, "c")]);
    }

    #[test]
    fn a_name_may_be_that_of_a_sub_agent() {
        let family = || {
            let (mut parent, mut child) = (run("parent"), run("child"));
            child.children.push(run("grandchild"));
            parent.children.push(child);
            parent
        };
        for wanted in ["par", "child", "grand"] {
            let found = named(family(), wanted).unwrap();
            assert!(found.id.unwrap().get().starts_with(wanted));
        }
        assert!(named(family(), "x").is_none());
    }
}
