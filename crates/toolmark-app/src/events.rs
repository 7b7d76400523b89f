//! Events of an action: remarks, problems of files, and progress.

use crate::FileDiagnostics;
use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use toolmark_config::{Problem, SourceText};
use toolmark_redact::{Printable, Redactor};
use toolmark_report::Verbosity;

/// Receives what happens during an action. Nothing in this crate prints.
pub trait ActionEvents {
    /// Level of detail that the user wants.
    fn verbosity(&self) -> Verbosity;

    /// Redacts text of traces and files.
    fn redactor(&self) -> Redactor;

    /// Takes a remark.
    ///
    /// # Errors
    ///
    /// If it could not be written.
    fn note(&mut self, tone: Tone, words: Printable) -> io::Result<()>;

    /// Takes problems of a file, in the order of the file.
    ///
    /// # Errors
    ///
    /// If they could not be written.
    fn problems(&mut self, source: &SourceText, problems: &[Problem]) -> io::Result<()>;

    /// Takes the diagnostics of a trace.
    ///
    /// # Errors
    ///
    /// If they could not be written.
    fn diagnostics(&mut self, file: &FileDiagnostics) -> io::Result<()>;

    /// Begins work on this number of items.
    fn progress(&self, many: u64, things: &str) -> Arc<dyn Progress>;
}

/// Importance of a remark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// For information.
    Note,
    /// The user should act.
    Warning,
    /// An error that does not end the action.
    Error,
}

/// Progress of an action.
pub trait Progress: fmt::Debug + Send + Sync {
    /// Counts completed items.
    fn advance(&self, many: u64);

    /// Sets the number of completed items.
    fn set_position(&self, done: u64);

    /// Sets the text beside the count.
    fn set_message(&self, words: &str);

    /// Ends the display.
    fn finish(&self);
}

/// Progress without a display.
#[derive(Debug)]
pub struct NoProgress;

impl Progress for NoProgress {
    fn advance(&self, _: u64) {}
    fn set_position(&self, _: u64) {}
    fn set_message(&self, _: &str) {}
    fn finish(&self) {}
}

/// A message beside the current progress.
#[derive(Debug, Clone, Default)]
pub struct ProgressStatus(Arc<Mutex<Option<Watched>>>);

#[derive(Debug)]
struct Watched {
    progress: Arc<dyn Progress>,
    /// Whether the position is the reported count, rather than another one.
    counts: bool,
}

impl ProgressStatus {
    /// Shows the message beside this progress from now on, without moving it.
    pub fn beside(&self, progress: &Arc<dyn Progress>) {
        self.attach(progress, false);
    }

    /// Shows the message beside this progress from now on; with `counts`, also moves it.
    pub fn attach(&self, progress: &Arc<dyn Progress>, counts: bool) {
        let watched = Watched { progress: Arc::clone(progress), counts };
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(watched);
    }

    /// Sets the message and the number of completed items.
    pub fn show(&self, words: &str, done: u64) {
        if let Some(watched) = &*self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            watched.progress.set_message(words);
            if watched.counts {
                watched.progress.set_position(done);
            }
        }
    }
}
