//! Runs of one file, and sessions of this machine, to choose from.

use crate::inputs::InputFile;
use crate::reading::Runs;
use crate::sessions::{self, SessionFile};
use crate::{Failure, human};
use jiff::SignedDuration;
use serde::Serialize;
use std::path::Path;
use std::time::SystemTime;
use toolmark_base::{ReadFileError, ReadFileErrorKind};
use toolmark_redact::{Printable, Redactor, printable};
use toolmark_report::terminal::table::{Give, StyledCell, TableColumn, TerminalTable};
use toolmark_report::terminal::text::{TextLayout, head};
use toolmark_report::terminal::{first_words, style};
use toolmark_trace::{Fact, Trajectory};

/// Returns the requested run, or the list of all runs.
///
/// # Errors
///
/// If the file has no such run.
pub fn find_run(
    runs: &mut Runs<'_>,
    wanted: Option<&str>,
    redactor: Redactor,
) -> Result<FileContent, Failure> {
    let found = match wanted.map(|wanted| (wanted, wanted.parse::<usize>())) {
        None => only_run(runs.bare(), redactor),
        Some((_, Ok(0))) => return Err(Failure::usage("runs are numbered from 1")),
        Some((_, Ok(number))) => runs.bare().nth(number - 1).map(FileContent::one),
        Some((wanted, Err(_))) => {
            runs.bare().find_map(|run| named(run, wanted)).map(FileContent::one)
        }
    };
    match (found, wanted) {
        (Some(FileContent::One(mut run)), _) => {
            runs.join(&mut run);
            Ok(FileContent::One(run))
        }
        (Some(found), _) => Ok(found),
        (None, None) => Err(Failure::unread(format!("{} has no run", runs.file()))),
        (None, Some(wanted)) => {
            let failure = Failure::usage(format!("{} has no run {wanted}", runs.file()));
            Err(failure.hint("without --run, the runs of a file are listed"))
        }
    }
}

/// Content of a file.
pub enum FileContent {
    /// One run.
    One(Box<Trajectory>),
    /// The list of its runs.
    Many(Vec<Brief>),
}

impl FileContent {
    fn one(run: Trajectory) -> Self {
        Self::One(Box::new(run))
    }
}

/// A run in a list.
#[derive(Serialize)]
pub struct Brief {
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

    fn cells(&self) -> Vec<StyledCell> {
        // The names of benchmark tasks are often mere numbers.
        let telling = |name: &&Printable| name.chars().any(char::is_alphabetic);
        let what = self.name.as_ref().filter(telling).unwrap_or(&self.words);
        let glance =
            |text: &Option<Printable>| text.as_ref().map(TextLayout::squeezed).unwrap_or_default();
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
fn only_run(mut runs: impl Iterator<Item = Trajectory>, redactor: Redactor) -> Option<FileContent> {
    let first = runs.next()?;
    let Some(second) = runs.next() else { return Some(FileContent::One(Box::new(first))) };
    let mut list = vec![Brief::new(1, &first, redactor), Brief::new(2, &second, redactor)];
    drop((first, second));
    for run in runs {
        list.push(Brief::new(list.len() + 1, &run, redactor));
    }
    Some(FileContent::Many(list))
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

/// Returns the table of the runs of a file.
#[must_use]
pub fn run_table(list: &[Brief]) -> TerminalTable {
    let mut table = TerminalTable::new(vec![
        TableColumn::numbers("#"),
        TableColumn::words("id").gives(Give::End),
        TableColumn::numbers("steps"),
        TableColumn::numbers("calls"),
        TableColumn::numbers("failed"),
        TableColumn::words("ended").gives(Give::End).leaves(1),
        TableColumn::words("what").gives(Give::End),
    ]);
    for brief in list {
        table.row(brief.cells());
    }
    table
}

/// Returns the named file, or a session by ID prefix.
///
/// # Errors
///
/// If there is no such file or session.
pub fn find_trace(trace: &Path) -> Result<InputFile, Failure> {
    let name = trace.to_string_lossy();
    if trace.is_dir() {
        let failure =
            Failure::unread(ReadFileError::new(trace, ReadFileErrorKind::Directory).to_string());
        return Err(failure.hint(format!(
            "show takes one trace; `toolmark stats {name}` lists those in the directory"
        )));
    }
    if trace.exists() || name == "-" || name.contains(['/', '\\', '.']) {
        return Ok(InputFile::named(trace));
    }
    let sessions = sessions::find();
    match sessions::with_prefix(&sessions, &name).as_slice() {
        [] => {
            let failure = Failure::unread(format!("no file or session {name}"));
            Err(failure.hint("`toolmark show` lists the sessions of this machine"))
        }
        [one] => Ok(InputFile::named(&one.path)),
        many => {
            let ids: Vec<&str> = many.iter().take(5).map(|s| s.id.as_str()).collect();
            let count = many.len();
            let failure = Failure::usage(format!("{count} sessions start with {name}"));
            Err(failure.hint(format!("use a longer prefix: {}", ids.join(", "))))
        }
    }
}

/// Reason why an answer selects no session.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotPicked {
    /// No session has this number or prefix.
    #[error("no session {0}")]
    Unknown(String),
    /// Several sessions have this prefix.
    #[error("{0} sessions start with {1}")]
    Ambiguous(usize, String),
}

/// Resolves an answer: the number of a session in the list, or a prefix of its ID.
pub fn picked<'s>(
    sessions: &'s [SessionFile],
    listed: &'s [SessionFile],
    answer: &str,
) -> Result<&'s SessionFile, NotPicked> {
    let number = answer.parse::<usize>().ok().and_then(|n| n.checked_sub(1));
    if let Some(session) = number.and_then(|at| listed.get(at)) {
        return Ok(session);
    }
    match sessions::with_prefix(sessions, answer).as_slice() {
        [one] => Ok(one),
        [] => Err(NotPicked::Unknown(answer.to_owned())),
        many => Err(NotPicked::Ambiguous(many.len(), answer.to_owned())),
    }
}

/// Returns the table of sessions.
#[must_use]
pub fn session_table(listed: &[SessionFile], redactor: Redactor) -> TerminalTable {
    const ID: usize = 8;
    let mut table = TerminalTable::new(vec![
        TableColumn::numbers("#"),
        TableColumn::words("agent"),
        TableColumn::numbers("age"),
        TableColumn::words("id"),
        TableColumn::words("project").gives(Give::Start).leaves(1),
        TableColumn::words("first words").gives(Give::End),
    ]);
    let now = SystemTime::now();
    for (at, session) in listed.iter().enumerate() {
        let age = now.duration_since(session.modified).unwrap_or_default();
        let age = SignedDuration::try_from(age).map(human::age).unwrap_or_default();
        let run = InputFile::named(&session.path).read(&toolmark_trace::ReadOptions::default());
        let run = run.ok().and_then(|mut runs| runs.next());
        let project = run.as_ref().and_then(|r| r.cwd.as_ref());
        let words = match &run {
            Some(run) => (style::PLAIN, first_words(run, redactor)),
            None => (style::DIM, "(unreadable)".into()),
        };
        table.row(vec![
            (style::DIM, printable!("{}", at + 1)),
            (style::STRONG, session.agent.into()),
            (style::DIM, age),
            (style::USER, redactor.apply(&session.id).reshape(|id| head(id, ID))),
            (
                style::PLAIN,
                project.map(|p| redactor.apply(from_home(&p.get()))).unwrap_or_default(),
            ),
            words,
        ]);
    }
    table
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
    use toolmark_trace::{FORMATS, Text, TrajectoryBuilder};

    fn run(id: &str) -> Trajectory {
        let mut builder = TrajectoryBuilder::new(FORMATS[0].info(), Arc::from("runs.jsonl"));
        builder.run.id = Some(Text::owned(id));
        builder.finish()
    }

    #[test]
    fn one_run_is_shown_and_several_are_listed() {
        let only_run = |ids: &[&str]| only_run(ids.iter().map(|id| run(id)), Redactor::new(true));
        assert!(only_run(&[]).is_none());
        assert!(matches!(only_run(&["a"]), Some(FileContent::One(_))));
        let Some(FileContent::Many(list)) = only_run(&["a", "b", "c"]) else {
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
