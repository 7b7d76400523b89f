//! Reads sessions into a feed, and the recorded decisions about its issues.

use crate::args::{InputArgs, SessionArgs, now};
use crate::exit::Failure;
use crate::human;
use crate::printer::Printer;
use clap::{Args, ValueEnum};
use jiff::Timestamp;
use std::path::{Path, PathBuf};
use toolmark_app::Stop;
use toolmark_app::inputs::Input;
use toolmark_app::reading::{Next, Reader, Runs};
use toolmark_base::read_file;
use toolmark_check::Checker;
use toolmark_feed::{Batch, Collector, Decisions, Feed, Issue, IssueId, Kind};

/// Maximum size of a file of decisions, in bytes.
const MAX_DECISIONS: u64 = 256 << 20;

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
    pub(super) fn read(&self) -> Result<Decisions, Failure> {
        read_decisions(self.path())
    }
}

/// Reads a file of decisions; empty if it does not exist.
pub(in crate::commands) fn read_decisions(path: &Path) -> Result<Decisions, Failure> {
    match read_file::read_text(path, MAX_DECISIONS) {
        Ok(text) => Decisions::parse(&text).map_err(|error| {
            Failure::usage(format!("the decisions in {} are invalid", path.display()))
                .because(&error)
        }),
        Err(error) if error.is_missing() || error.is_empty() => Ok(Decisions::default()),
        Err(error) => Err(error.into()),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum KindName {
    Failure,
    Finding,
}

/// Result of reading.
pub(super) struct Read {
    pub(super) feed: Feed,
    pub(super) decisions: Decisions,
    pub(super) now: Timestamp,
    pub(super) files: u64,
    pub(super) is_unread: bool,
    pub(super) notes: Vec<String>,
    pub(super) inputs: Vec<Input>,
    pub(super) reader: Reader,
}

impl Read {
    /// The issues.
    pub(super) fn issues(&self) -> Vec<Issue> {
        self.feed.issues(&self.decisions, self.now)
    }
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
    pub(super) fn read(&self, printer: &mut Printer) -> Result<Read, Stop> {
        let decisions = self.state.read()?;
        let mut selected = self.sessions.select_all(&self.input)?;
        let reader = self.input.files.reader(printer).within(selected.project.clone());
        let only = self.kind.map(|kind| match kind {
            KindName::Failure => Kind::Failure,
            KindName::Finding => Kind::Finding,
        });
        let collector = Collector::new(Checker::default(), only);
        let work = |runs: &mut Runs<'_>| {
            let mut batch = Batch::default();
            for run in runs {
                collector.collect(&run, &mut batch);
            }
            (batch.sessions > 0).then_some(batch)
        };
        let (mut feed, mut files) = (Feed::default(), 0);
        let walked = reader.each(&selected.inputs, printer, work, |batch| {
            if let Ok(batch) = batch {
                files += 1;
                feed.add(batch);
            }
            Ok(if selected.limit == Some(files) { Next::Enough } else { Next::More })
        })?;
        // A part of the files may have none.
        if files == 0 && !self.input.is_part() {
            return Err(selected.nothing_left(&reader, &walked, &self.input.names()).into());
        }
        let mut notes: Vec<String> = walked.note(printer.verbosity).into_iter().collect();
        notes.append(&mut selected.notes);
        if feed.unrecorded > 0 {
            let sessions = human::things(feed.unrecorded, "session");
            notes.push(format!(
                "{} without a record of calls: nothing can be said about them",
                &*sessions
            ));
        }
        if feed.repeated > 0 {
            let again = human::things(feed.repeated, "occurrence");
            notes.push(format!("{} met again in other files and counted once", &*again));
        }
        Ok(Read {
            feed,
            decisions,
            now: now().unwrap_or_else(Timestamp::now),
            files,
            is_unread: walked.unread,
            notes,
            inputs: selected.inputs,
            reader,
        })
    }
}

/// Finds the issue by its ID or a prefix of it.
pub(super) fn find<'i>(issues: &'i [Issue], named: &str) -> Result<&'i Issue, Failure> {
    let is_one = |issue: &&Issue| {
        issue.id.to_string().starts_with(named)
            || issue.merged.iter().any(|id| id.to_string() == named)
    };
    let found: Vec<&Issue> = issues.iter().filter(is_one).collect();
    match &found[..] {
        [one] => Ok(one),
        [] => Err(Failure::usage(format!("no issue {named} in these sessions"))
            .hint("`toolmark feed` lists the issues; name the same sessions here")),
        _ => Err(Failure::usage(format!("{} issues start with {named}", found.len()))
            .hint("write more of the id")),
    }
}

/// Parses a complete ID.
pub(super) fn issue_id(text: &str) -> Result<IssueId, String> {
    IssueId::parse(text)
        .ok_or_else(|| "expected the 16 hexadecimal digits that `toolmark feed` prints".to_owned())
}
