//! A progress bar, on terminals only.

use crate::printer::Verbosity;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{self, IsTerminal};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use toolmark_app::Progress;

/// A progress bar on stderr, shown only if stderr is a terminal and the work takes long enough.
#[derive(Debug)]
pub(crate) struct Bar {
    bar: ProgressBar,
    /// Dropped at the end, so that a bar that is not yet visible never appears.
    waiting: Mutex<Option<Sender<()>>>,
}

impl Bar {
    const DELAY: Duration = Duration::from_millis(500);

    /// Returns a progress bar for this number of items.
    pub(crate) fn new(many: u64, things: &str, verbosity: Verbosity) -> Self {
        let bar = ProgressBar::with_draw_target(Some(many), ProgressDrawTarget::hidden());
        if verbosity == Verbosity::Quiet || !io::stderr().is_terminal() {
            return Self { bar, waiting: Mutex::new(None) };
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
        Self { bar, waiting: Mutex::new(Some(waiting)) }
    }
}

impl Progress for Bar {
    fn advance(&self, many: u64) {
        self.bar.inc(many);
    }

    fn set_position(&self, done: u64) {
        self.bar.set_position(done);
    }

    fn set_message(&self, words: &str) {
        self.bar.set_message(words.to_owned());
    }

    fn finish(&self) {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).take();
        self.bar.finish_and_clear();
    }
}
