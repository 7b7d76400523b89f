//! Reads the runs of files: one file after the other, or many at once.
//!
//! Whatever a command does with runs, files are opened, joined with their
//! sub-agents, counted and complained about here.

use crate::diagnostics::Findings;
use crate::exit::Failure;
use crate::human;
use crate::inputs::Input;
use crate::pool::{Emit, Pool};
use crate::printer::{Line, Printer, Verbosity, style};
use crate::progress::{Progress, Status};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use toolmark_trace::{Diagnostic, Joined, Options, ReadError, Trajectories, Trajectory};

/// How files are read.
pub(crate) struct Reader {
    options: Options,
    verbosity: Verbosity,
    pool: Pool,
    /// Only runs in this directory or below it are read.
    project: Option<PathBuf>,
    /// How many runs were left out because they are elsewhere.
    elsewhere: AtomicU64,
    has_progress: bool,
    /// What is shown beside the progress.
    status: Option<Status>,
}

/// Whether a command wants to read on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// It takes what comes.
    More,
    /// It has what it needs.
    Enough,
}

/// A file that could not be read.
#[derive(Debug)]
pub(crate) struct Unreadable {
    /// What outputs call it.
    pub(crate) file: String,
    /// Why.
    pub(crate) error: String,
}

/// How reading a file ended.
#[derive(Debug)]
pub(crate) struct End {
    /// How many records could not be read, or 1 where the file could not.
    pub(crate) skipped: u64,
    /// What there is to say about them.
    pub(crate) findings: Findings,
    kind: EndKind,
}

impl End {
    /// Why the file could not be read.
    pub(crate) fn error(self) -> Option<String> {
        match self.kind {
            EndKind::Unreadable(unreadable) => Some(unreadable.error),
            _ => None,
        }
    }
}

#[derive(Debug)]
enum EndKind {
    Read,
    Unreadable(Unreadable),
    /// A file in a directory that is not a trace.
    Foreign(String),
}

/// What reading files came to.
#[derive(Debug, Default)]
pub(crate) struct Walked {
    /// How many files were read.
    pub(crate) files: u64,
    /// Could a file, or a part of one, not be read?
    pub(crate) unread: bool,
    /// How many files of directories are not traces.
    foreign: usize,
    /// The names of those that are named.
    foreign_names: Vec<String>,
}

/// So many files that are not traces are named, unless everything is to be said.
const MAX_FOREIGN: usize = 3;

impl Reader {
    pub(crate) fn new(options: Options, pool: Pool, verbosity: Verbosity) -> Self {
        let elsewhere = AtomicU64::new(0);
        Self {
            options,
            verbosity,
            pool,
            project: None,
            elsewhere,
            has_progress: true,
            status: None,
        }
    }

    /// That leaves out runs elsewhere than in this directory or below it.
    pub(crate) fn within(mut self, project: Option<PathBuf>) -> Self {
        self.project = project;
        self
    }

    /// That shows no progress, because the terminal is used for the result.
    pub(crate) fn without_progress(mut self) -> Self {
        self.has_progress = false;
        self
    }

    /// That shows this beside the progress.
    pub(crate) fn with_status(mut self, status: Option<Status>) -> Self {
        self.status = status;
        self
    }

    /// Threads that have nothing to read may help with what is made of runs.
    pub(crate) fn pool(&self) -> &Pool {
        &self.pool
    }

    /// Opens one file.
    pub(crate) fn open<'r>(&'r self, input: &'r Input) -> Result<Runs<'r>, End> {
        let file = input.name();
        match input.read(&self.options) {
            Ok(trajectories) => {
                Ok(Runs { reader: self, input, trajectories, joined: Joined::default() })
            }
            // Not everything in a directory is a trace.
            Err(ReadError::UnknownFormat { .. }) if !input.is_named() => {
                let kind = EndKind::Foreign(file);
                Err(End { skipped: 0, findings: Findings::default(), kind })
            }
            Err(error) => {
                let findings = Findings::error(Diagnostic::from_error(&error));
                let kind = EndKind::Unreadable(Unreadable { file, error: error.to_string() });
                Err(End { skipped: 1, findings, kind })
            }
        }
    }

    /// Reads files and takes what `work` makes of each, in their order.
    pub(crate) fn each<T: Send>(
        &self,
        inputs: &[Input],
        printer: &mut Printer,
        work: impl Fn(&mut Runs<'_>) -> Option<T> + Sync,
        take: impl FnMut(Result<T, Unreadable>) -> io::Result<Next>,
    ) -> io::Result<Walked> {
        let work = |runs: &mut Runs<'_>, emit: &mut Emit<'_, T>| {
            if let Some(made) = work(runs) {
                let _ = emit(made);
            }
        };
        self.stream(inputs, printer, work, take)
    }

    /// Reads files and takes what `work` sends while it reads them, in their
    /// order. What could not be read is printed in the end.
    pub(crate) fn stream<T: Send>(
        &self,
        inputs: &[Input],
        printer: &mut Printer,
        work: impl Fn(&mut Runs<'_>, &mut Emit<'_, T>) + Sync,
        mut take: impl FnMut(Result<T, Unreadable>) -> io::Result<Next>,
    ) -> io::Result<Walked> {
        enum Sent<T> {
            Made(T),
            End(End),
        }
        let shown = if self.has_progress { self.verbosity } else { Verbosity::Quiet };
        let progress = Progress::new(inputs.len(), shown);
        if let Some(status) = &self.status {
            status.beside(&progress);
        }
        let one = |input: &Input, emit: &mut Emit<'_, Sent<T>>| {
            let end = match self.open(input) {
                Ok(mut runs) => {
                    work(&mut runs, &mut |made| emit(Sent::Made(made)));
                    runs.end()
                }
                Err(end) => end,
            };
            let _ = emit(Sent::End(end));
        };
        let (mut walked, mut findings) = (Walked::default(), Vec::new());
        let mut next = Next::More;
        let done = self.pool.stream(inputs, one, |sent| {
            match sent {
                // The rest of a file is not taken, but its end is.
                Sent::Made(_) if next == Next::Enough => {}
                Sent::Made(made) => next = take(Ok(made)).map_err(Some)?,
                Sent::End(end) => {
                    progress.bar.inc(1);
                    walked.unread |= end.skipped > 0;
                    if !end.findings.is_empty() {
                        findings.push(end.findings);
                    }
                    match end.kind {
                        EndKind::Read => walked.files += 1,
                        EndKind::Foreign(file) => {
                            walked.foreign += 1;
                            if self.verbosity == Verbosity::Verbose || walked.foreign <= MAX_FOREIGN
                            {
                                walked.foreign_names.push(file);
                            }
                        }
                        EndKind::Unreadable(one) => next = take(Err(one)).map_err(Some)?,
                    }
                    if next == Next::Enough {
                        return Err(None);
                    }
                }
            }
            Ok(())
        });
        progress.finish();
        if let Err(Some(error)) = done {
            return Err(error);
        }
        findings.iter().try_for_each(|one| one.print(printer))?;
        Ok(walked)
    }

    /// How many runs were left out so far because they are elsewhere.
    pub(crate) fn elsewhere(&self) -> u64 {
        self.elsewhere.load(Ordering::Relaxed)
    }

    fn takes(&self, run: &Trajectory) -> bool {
        let Some(project) = &self.project else { return true };
        let is_inside =
            run.cwd.as_ref().is_some_and(|cwd| Path::new(&*cwd.get()).starts_with(project));
        if !is_inside {
            self.elsewhere.fetch_add(1, Ordering::Relaxed);
        }
        is_inside
    }
}

/// The runs of an open file, each with its sub-agents.
pub(crate) struct Runs<'r> {
    reader: &'r Reader,
    input: &'r Input,
    trajectories: Trajectories,
    joined: Joined,
}

impl Runs<'_> {
    /// What outputs call the file.
    pub(crate) fn file(&self) -> &str {
        self.trajectories.file()
    }

    /// The runs without the sub-agents that lie in files beside it.
    pub(crate) fn bare(&mut self) -> &mut Trajectories {
        &mut self.trajectories
    }

    /// May runs of the file be left out, because they are elsewhere?
    pub(crate) fn is_filtered(&self) -> bool {
        self.reader.project.is_some()
    }

    /// The next run without the sub-agents that lie in files beside it.
    pub(crate) fn next_bare(&mut self) -> Option<Trajectory> {
        self.trajectories.find(|run| self.reader.takes(run))
    }

    /// Reads the sub-agents of a run that lie in files beside it.
    pub(crate) fn join(&mut self, run: &mut Trajectory) {
        let joined = self.input.join(run, &self.trajectories, &self.reader.options);
        self.joined.skipped += joined.skipped;
        self.joined.diagnostics.extend(joined.diagnostics);
    }

    /// What could not be read so far.
    pub(crate) fn end(mut self) -> End {
        let skipped = self.joined.skipped + self.trajectories.skipped();
        self.joined.diagnostics.extend_from_slice(self.trajectories.diagnostics());
        let findings = Findings::of(&self.joined.diagnostics, skipped, self.reader.verbosity);
        End { skipped, findings, kind: EndKind::Read }
    }
}

impl Iterator for Runs<'_> {
    type Item = Trajectory;

    fn next(&mut self) -> Option<Trajectory> {
        let mut run = self.next_bare()?;
        self.join(&mut run);
        Some(run)
    }
}

impl Walked {
    /// Files of directories that were left out, in words.
    pub(crate) fn note(&self, verbosity: Verbosity) -> Option<String> {
        let all = self.foreign;
        let most = if verbosity == Verbosity::Verbose { all } else { MAX_FOREIGN };
        let named = most.min(self.foreign_names.len());
        let are = if all == 1 { "is not a trace" } else { "are not traces" };
        let files = human::things(all as u64, "file");
        let mut words =
            format!("skipped {files} that {are}: {}", self.foreign_names[..named].join(", "));
        if named < all {
            words.push_str(&format!(" and {} more (--verbose lists them)", all - named));
        }
        (all > 0).then_some(words)
    }

    /// Prints the note, unless little is to be said.
    pub(crate) fn print_note(&self, printer: &mut Printer) -> io::Result<()> {
        match self.note(printer.verbosity).filter(|_| printer.verbosity > Verbosity::Quiet) {
            Some(words) => {
                let words = printer.redact(format!("note: {words}"));
                printer.notice(&Line::of(style::DIM, words))
            }
            None => Ok(()),
        }
    }

    /// Nothing was read of the traces that were named, if any, which is not the
    /// same as nothing being wrong.
    pub(crate) fn nothing_read(&self, named: &[PathBuf]) -> Failure {
        let named: Vec<_> = named.iter().map(|path| path.to_string_lossy()).collect();
        let place = if named.is_empty() { "" } else { &format!(" in {}", named.join(", ")) };
        if self.unread {
            return Failure::unread(format!("no trace could be read{place}"));
        }
        let failure = Failure::unread(format!("found no trace{place}"));
        failure
            .hints(self.note(Verbosity::Normal))
            .hint("`toolmark formats` lists what can be read")
    }
}
