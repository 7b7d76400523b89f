//! A progress bar, on terminals only.

use crate::printer::Verbosity;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{self, IsTerminal};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// A progress bar on stderr, shown only if stderr is a terminal and the work takes long enough.
pub(crate) struct Progress {
    pub(crate) bar: ProgressBar,
    /// Dropped at the end, so that a bar that is not yet visible never appears.
    waiting: Option<Sender<()>>,
}

/// A message beside the current progress bar.
#[derive(Debug, Clone, Default)]
pub(crate) struct Status(Arc<Mutex<Option<Watched>>>);

#[derive(Debug)]
struct Watched {
    bar: ProgressBar,
    /// Whether the position of the bar is the reported count, rather than another one.
    counts: bool,
}

impl Status {
    /// Shows the message beside this bar from now on, without moving the bar.
    pub(crate) fn beside(&self, progress: &Progress) {
        self.attach(progress, false);
    }

    /// Shows the message beside this bar from now on; with `counts`, also moves the bar.
    pub(crate) fn attach(&self, progress: &Progress, counts: bool) {
        let watched = Watched { bar: progress.bar.clone(), counts };
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(watched);
    }

    /// Sets the message and the number of completed items.
    pub(crate) fn show(&self, words: &str, done: u64) {
        if let Some(watched) = &*self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            watched.bar.set_message(words.to_owned());
            if watched.counts {
                watched.bar.set_position(done);
            }
        }
    }
}

impl Progress {
    const DELAY: Duration = Duration::from_millis(500);

    /// Returns a progress bar for this number of files.
    pub(crate) fn new(files: usize, verbosity: Verbosity) -> Self {
        Self::of(files as u64, "files", verbosity)
    }

    /// Returns a progress bar for this number of items.
    pub(crate) fn of(many: u64, things: &str, verbosity: Verbosity) -> Self {
        let bar = ProgressBar::with_draw_target(Some(many), ProgressDrawTarget::hidden());
        if verbosity == Verbosity::Quiet || !io::stderr().is_terminal() {
            return Self { bar, waiting: None };
        }
        let template =
            format!("{{bar:30.cyan/dim}} {{pos}}/{{len}} {things}  {{elapsed}}  {{msg}}");
        if let Ok(look) = ProgressStyle::with_template(&template) {
            bar.set_style(look.progress_chars("\u{2501}\u{2578}\u{2500}"));
        }
        let (waiting, patience) = channel();
        let shown = bar.clone();
        std::thread::spawn(move || {
            if patience.recv_timeout(Self::DELAY) == Err(RecvTimeoutError::Timeout) {
                shown.set_draw_target(ProgressDrawTarget::stderr());
                shown.enable_steady_tick(Duration::from_millis(100));
            }
        });
        Self { bar, waiting: Some(waiting) }
    }

    pub(crate) fn finish(mut self) {
        self.waiting.take();
        self.bar.finish_and_clear();
    }
}
