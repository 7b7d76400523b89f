//! Reads sessions into a feed, and the recorded decisions about its issues.

use crate::args::{InputArgs, SessionArgs, ValueError, now};
use crate::exit::Failure;
use crate::printer::Printer;
use clap::{Args, ValueEnum};
use jiff::Timestamp;
use std::path::{Path, PathBuf};
use toolmark_app::Stop;
use toolmark_app::feed::{FeedOptions, ReadFeed, read, read_decisions};
use toolmark_feed::{IssueDecisions, IssueId, OccurrenceKind};

/// Default file of decisions. It is in the project directory, so that it is shared like the code.
const STATE: &str = ".toolmark/feed.jsonl";

/// Options that select what is read.
#[derive(Debug, Args)]
pub(super) struct ReadArgs {
    /// Only failed calls, or only findings
    #[arg(long, value_enum, value_name = "KIND")]
    kind: Option<KindName>,
    #[command(flatten)]
    state: StateArgs,
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    sessions: SessionArgs,
}

/// Location of the decisions.
#[derive(Debug, Args)]
pub(super) struct StateArgs {
    /// File of decisions about issues [default: .toolmark/feed.jsonl]
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,
}

impl StateArgs {
    pub(super) fn path(&self) -> &Path {
        self.state.as_deref().unwrap_or(Path::new(STATE))
    }

    /// Reads the decisions; empty if the file does not exist.
    pub(super) fn read(&self) -> Result<IssueDecisions, Failure> {
        read_decisions(self.path())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum KindName {
    Failure,
    Finding,
}

impl ReadArgs {
    /// Removes the issue IDs from the traces: words that look like an ID and are not files.
    pub(super) fn take_ids(&mut self) -> Vec<String> {
        let is_id = |path: &PathBuf| {
            let word = path.to_string_lossy();
            (4..=16).contains(&word.len())
                && word.bytes().all(|b| b.is_ascii_hexdigit())
                && !path.exists()
        };
        let ids = self.input.traces.extract_if(.., |path| is_id(path));
        ids.map(|path| path.to_string_lossy().into_owned()).collect()
    }

    /// Reads the sessions and groups their failures and findings.
    pub(super) fn read(&self, printer: &mut Printer) -> Result<ReadFeed, Stop> {
        let options = FeedOptions {
            kind: self.kind.map(|kind| match kind {
                KindName::Failure => OccurrenceKind::Failure,
                KindName::Finding => OccurrenceKind::Finding,
            }),
            state: self.state.path().to_owned(),
            traces: self.input.named(),
            sessions: self.sessions.filter(),
            now: now().unwrap_or_else(Timestamp::now),
        };
        read(&options, self.input.files.reader(printer), printer)
    }
}

/// Parses a complete ID.
pub(super) fn issue_id(text: &str) -> Result<IssueId, ValueError> {
    let expected = "expected the 16 hexadecimal digits that `toolmark feed` prints";
    IssueId::parse(text).ok_or(ValueError::Syntax(expected))
}
