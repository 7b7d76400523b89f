//! Issues over many sessions, and the recorded decisions about them.

pub mod fix;
pub mod promote;

use crate::inputs::InputFile;
use crate::reading::{FileReader, Runs};
use crate::select::{NamedTraces, SessionFilter};
use crate::{ActionEvents, Failure, Stop, human};
use jiff::Timestamp;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use toolmark_base::read_file;
use toolmark_check::Checker;
use toolmark_feed::{Batch, Collector, Feed, Issue, IssueDecision, IssueDecisions, OccurrenceKind};

/// Maximum size of a file of decisions, in bytes.
const MAX_DECISIONS: u64 = 256 << 20;

/// Selection of sessions and decisions.
#[derive(Debug, Clone)]
pub struct FeedOptions {
    /// Only occurrences of this kind.
    pub kind: Option<OccurrenceKind>,
    /// File of decisions.
    pub state: PathBuf,
    /// Named traces.
    pub traces: NamedTraces,
    /// Conditions on sessions.
    pub sessions: SessionFilter,
    /// Time of the states.
    pub now: Timestamp,
}

/// Reads a file of decisions; empty if it does not exist.
pub fn read_decisions(path: &Path) -> Result<IssueDecisions, Failure> {
    match read_file::read_text(path, MAX_DECISIONS) {
        Ok(text) => IssueDecisions::parse(&text).map_err(|error| {
            Failure::usage(format!("the decisions in {} are invalid", path.display()))
                .because(&error)
        }),
        Err(error) if error.is_missing() || error.is_empty() => Ok(IssueDecisions::default()),
        Err(error) => Err(error.into()),
    }
}

/// Result of reading.
pub struct ReadFeed {
    /// Grouped occurrences.
    pub feed: Feed,
    /// Decisions about issues.
    pub decisions: IssueDecisions,
    /// Time of the states.
    pub now: Timestamp,
    /// Number of files with a session.
    pub files: u64,
    /// Whether something could not be read.
    pub is_unread: bool,
    /// Notes about the input.
    pub notes: Vec<String>,
    /// The files.
    pub inputs: Vec<InputFile>,
    /// The reader, for a second pass.
    pub reader: FileReader,
}

impl ReadFeed {
    /// The issues.
    pub fn issues(&self) -> Vec<Issue> {
        self.feed.issues(&self.decisions, self.now)
    }
}

/// Reads the sessions and groups their failures and findings.
///
/// # Errors
///
/// If the decisions are invalid, or no session could be read.
pub fn read(
    options: &FeedOptions,
    reader: FileReader,
    events: &mut dyn ActionEvents,
) -> Result<ReadFeed, Stop> {
    let decisions = read_decisions(&options.state)?;
    let mut selected = options.sessions.select_at_most(&options.traces, None)?;
    let reader = reader.within(selected.project.clone());
    let collector = Collector::new(Checker::default(), options.kind);
    let work = |runs: &mut Runs<'_>| {
        let mut batch = Batch::default();
        for run in runs {
            collector.collect(&run, &mut batch);
        }
        (batch.sessions > 0).then_some(batch)
    };
    let mut feed = Feed::default();
    let from = (&reader, &options.traces);
    let (files, walked) = selected.each(from, events, work, |batch| {
        feed.add(batch);
    })?;
    let mut notes: Vec<String> = walked.note(events.verbosity()).into_iter().collect();
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
    Ok(ReadFeed {
        feed,
        decisions,
        now: options.now,
        files,
        is_unread: walked.unread,
        notes,
        inputs: selected.inputs,
        reader,
    })
}

/// Appends decisions to a file, a line each.
///
/// # Errors
///
/// If the file cannot be written.
pub fn append_decisions(decisions: &[IssueDecision], path: &Path) -> Result<(), Stop> {
    let failed = |error: io::Error| Failure::write(path, &error);
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    let mut lines = String::new();
    for decision in decisions {
        lines.push_str(&serde_json::to_string(decision).map_err(io::Error::from)?);
        lines.push('\n');
    }
    let mut file = OpenOptions::new().create(true).append(true).open(path).map_err(failed)?;
    Ok(file.write_all(lines.as_bytes()).map_err(failed)?)
}

/// Finds the issue by its ID or a prefix of it.
pub fn find<'i>(issues: &'i [Issue], named: &str) -> Result<&'i Issue, Failure> {
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
