//! Reads the runs of files, one file after the other or several at once.
//!
//! For every command, this module opens files, joins them with their sub-agents, counts them and
//! reports read errors.

use crate::Failure;
use crate::FileDiagnostics;
use crate::Verbosity;
use crate::human;
use crate::inputs::InputFile;
use crate::pool::{Emit, Pool};
use crate::{ActionEvents, Tone};
use crate::{NoProgress, Progress, ProgressStatus};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use toolmark_trace::{Diagnostic, Joined, ReadError, ReadOptions, Trajectories, Trajectory};

/// Settings for reading files.
pub struct FileReader {
    options: ReadOptions,
    verbosity: Verbosity,
    pool: Pool,
    /// Directory whose runs are read; runs elsewhere are skipped.
    project: Option<PathBuf>,
    /// Number of runs skipped because they are outside the project directory.
    elsewhere: AtomicU64,
    has_progress: bool,
    /// Message beside the progress bar.
    status: Option<ProgressStatus>,
}

/// Whether a command wants more results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Continuation {
    /// The command takes more results.
    More,
    /// The command has all the results that it needs.
    Enough,
}

/// A file that could not be read.
#[derive(Debug)]
pub struct Unreadable {
    /// Name in outputs.
    pub file: String,
    /// Reason.
    pub error: String,
}

/// Outcome of reading a file.
#[derive(Debug)]
pub struct End {
    /// Number of unreadable records, or 1 if the file could not be read.
    pub skipped: u64,
    /// Diagnostics of the file.
    pub findings: FileDiagnostics,
    kind: EndKind,
}

impl End {
    /// Reason why the file could not be read; `None` if it could.
    pub fn error(self) -> Option<String> {
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

/// Summary of the files that were read.
#[derive(Debug, Default)]
pub struct ReadSummary {
    /// Number of files that were read.
    pub files: u64,
    /// Whether a file or a part of one could not be read.
    pub unread: bool,
    /// Number of files in directories that are not traces.
    foreign: usize,
    /// The first of their names, for the note.
    foreign_names: Vec<String>,
}

/// Maximum number of names of files that are not traces in a note, unless verbose.
const MAX_FOREIGN: usize = 3;

impl FileReader {
    /// Returns a reader with these options and threads.
    #[must_use]
    pub fn new(options: ReadOptions, pool: Pool, verbosity: Verbosity) -> Self {
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

    /// Skips runs outside this directory.
    pub fn within(mut self, project: Option<PathBuf>) -> Self {
        self.project = project;
        self
    }

    /// Disables the progress bar, because the terminal is used for the result.
    pub fn without_progress(mut self) -> Self {
        self.has_progress = false;
        self
    }

    /// Shows this message beside the progress bar.
    pub fn with_status(mut self, status: Option<ProgressStatus>) -> Self {
        self.status = status;
        self
    }

    /// Threads that are idle while reading may help to process runs.
    pub fn pool(&self) -> &Pool {
        &self.pool
    }

    /// Opens one file.
    pub fn open<'r>(&'r self, input: &'r InputFile) -> Result<Runs<'r>, End> {
        let file = input.name();
        match input.read(&self.options) {
            Ok(trajectories) => {
                Ok(Runs { reader: self, input, trajectories, joined: Joined::default() })
            }
            // Not everything in a directory is a trace. What is left of a document may be one.
            Err(ReadError::UnknownFormat { is_cut: false, .. }) if !input.is_named() => {
                let kind = EndKind::Foreign(file);
                Err(End { skipped: 0, findings: FileDiagnostics::default(), kind })
            }
            Err(error) => {
                let findings = FileDiagnostics::error(Diagnostic::from_error(&error));
                let kind = EndKind::Unreadable(Unreadable { file, error: error.to_string() });
                Err(End { skipped: 1, findings, kind })
            }
        }
    }

    /// Reads files and takes the result of `work` for each file, in the order of the files.
    pub fn each<T: Send>(
        &self,
        inputs: &[InputFile],
        events: &mut dyn ActionEvents,
        work: impl Fn(&mut Runs<'_>) -> Option<T> + Sync,
        take: impl FnMut(Result<T, Unreadable>) -> io::Result<Continuation>,
    ) -> io::Result<ReadSummary> {
        let work = |runs: &mut Runs<'_>, emit: &mut Emit<'_, T>| {
            if let Some(made) = work(runs) {
                let _ = emit(made);
            }
        };
        self.stream(inputs, events, work, take)
    }

    /// Reads files and takes the results that `work` emits while it reads them, in the order of the
    /// files. Read errors are printed at the end.
    pub fn stream<T: Send>(
        &self,
        inputs: &[InputFile],
        events: &mut dyn ActionEvents,
        work: impl Fn(&mut Runs<'_>, &mut Emit<'_, T>) + Sync,
        mut take: impl FnMut(Result<T, Unreadable>) -> io::Result<Continuation>,
    ) -> io::Result<ReadSummary> {
        enum Sent<T> {
            Made(T),
            End(End),
        }
        let progress = match self.has_progress {
            true => events.progress(inputs.len() as u64, "files"),
            false => Arc::new(NoProgress) as Arc<dyn Progress>,
        };
        if let Some(status) = &self.status {
            status.beside(&progress);
        }
        let one = |input: &InputFile, emit: &mut Emit<'_, Sent<T>>| {
            let end = match self.open(input) {
                Ok(mut runs) => {
                    work(&mut runs, &mut |made| emit(Sent::Made(made)));
                    runs.end()
                }
                Err(end) => end,
            };
            let _ = emit(Sent::End(end));
        };
        let (mut walked, mut findings) = (ReadSummary::default(), Vec::new());
        let mut next = Continuation::More;
        let done = self.pool.stream(inputs, one, |sent| {
            match sent {
                // The rest of a file is not taken, but its end is.
                Sent::Made(_) if next == Continuation::Enough => {}
                Sent::Made(made) => next = take(Ok(made)).map_err(Some)?,
                Sent::End(end) => {
                    progress.advance(1);
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
                    if next == Continuation::Enough {
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
        findings.iter().try_for_each(|one| events.diagnostics(one))?;
        Ok(walked)
    }

    /// Number of runs skipped so far because they are outside the project directory.
    pub fn elsewhere(&self) -> u64 {
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
pub struct Runs<'r> {
    reader: &'r FileReader,
    input: &'r InputFile,
    trajectories: Trajectories,
    joined: Joined,
}

impl Runs<'_> {
    /// Name of the file in outputs.
    pub fn file(&self) -> &str {
        self.trajectories.file()
    }

    /// The runs without the sub-agents in files beside this one.
    pub fn bare(&mut self) -> &mut Trajectories {
        &mut self.trajectories
    }

    /// Whether runs of the file may be skipped because of their directory.
    pub fn is_filtered(&self) -> bool {
        self.reader.project.is_some()
    }

    /// Reads the next run, without the sub-agents in files beside this one.
    pub fn next_bare(&mut self) -> Option<Trajectory> {
        self.trajectories.find(|run| self.reader.takes(run))
    }

    /// Reads the sub-agents of a run from the files beside this one.
    pub fn join(&mut self, run: &mut Trajectory) {
        let joined = self.input.join(run, &self.trajectories, &self.reader.options);
        self.joined.skipped += joined.skipped;
        self.joined.diagnostics.extend(joined.diagnostics);
    }

    /// Returns the outcome of reading so far.
    pub fn end(mut self) -> End {
        let skipped = self.joined.skipped + self.trajectories.skipped();
        self.joined.diagnostics.extend_from_slice(self.trajectories.diagnostics());
        let findings =
            FileDiagnostics::of(&self.joined.diagnostics, skipped, self.reader.verbosity);
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

impl ReadSummary {
    /// A note about the skipped files of directories.
    pub fn note(&self, verbosity: Verbosity) -> Option<String> {
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

    /// Prints the note, unless quiet.
    pub fn report_note(&self, events: &mut dyn ActionEvents) -> io::Result<()> {
        match self.note(events.verbosity()).filter(|_| events.verbosity() > Verbosity::Quiet) {
            Some(words) => {
                let words = events.redactor().apply(format!("note: {words}"));
                events.note(Tone::Note, words)
            }
            None => Ok(()),
        }
    }

    /// Failure when none of the named traces, if any, could be read, which differs from a result
    /// without findings.
    pub fn nothing_read(&self, named: &[PathBuf]) -> Failure {
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
