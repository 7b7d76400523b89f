//! `toolmark feed`: lists recurring failures across sessions, and their fixes.

mod decide;
mod fix;
mod promote;
mod read;

use crate::args::{ReportArgs, SessionArgs, format_of, report_of};
use crate::commands::help::HelpBelow;
use crate::exit::Exit;
use crate::printer::Printer;
use clap::{Args, Subcommand};
use read::ReadArgs;
use std::time::Instant;
use toolmark_app::Stop;
use toolmark_feed::FeedRun;
use toolmark_outcome::Printable;

const EXAMPLES: &str = "\
Examples:
  toolmark feed                              the sessions of this machine
  toolmark feed runs/ --kind failure         only calls that failed
  toolmark feed --since 30d --project .      this month's sessions of this project
  toolmark feed runs/ --format html > feed.html
  toolmark feed runs/ --format jsonl --occurrences | jq 'select(.type == \"issue\")'
  toolmark feed fix 5f2c9e01ab34cd56 runs/   what would change
  toolmark feed resolve 5f2c9e01ab34cd56     fixed; it is regressed if it comes back
  toolmark feed promote --weekly runs/ --to regressions

The id of an issue is a hash of what its occurrences have in common. It stays the same
whatever else is read.";

/// Group failures and findings into issues: how often, since when, and the fix
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
#[command(mut_arg("traces", SessionArgs::all_by_default), mut_arg("limit", SessionArgs::unlimited))]
#[command(mut_arg("format", format_of::<FeedRun<Printable>>), mut_arg("reports", report_of::<FeedRun<Printable>>))]
pub(crate) struct Feed {
    #[command(subcommand)]
    command: Option<FeedAction>,
    #[command(flatten)]
    report: ReportArgs,
    /// List every occurrence too
    #[arg(long)]
    occurrences: bool,
    #[command(flatten)]
    read: ReadArgs,
}

#[derive(Debug, Subcommand)]
enum FeedAction {
    Fix(Box<fix::FixIssue>),
    Promote(Box<promote::Promote>),
    Resolve(decide::Resolve),
    Ignore(decide::Ignore),
    Reopen(decide::Reopen),
    Merge(decide::MergeCommand),
    Note(decide::Note),
    Help(HelpBelow),
}

impl Feed {
    pub(crate) fn run(self, printer: &mut Printer) -> Result<Exit, Stop> {
        match self.command {
            Some(FeedAction::Fix(fix)) => return fix.run(printer),
            Some(FeedAction::Promote(promote)) => return promote.run(printer),
            Some(FeedAction::Resolve(resolve)) => return resolve.run(printer),
            Some(FeedAction::Ignore(ignore)) => return ignore.run(printer),
            Some(FeedAction::Reopen(reopen)) => return reopen.run(printer),
            Some(FeedAction::Merge(merge)) => return merge.run(printer),
            Some(FeedAction::Note(note)) => return note.run(printer),
            Some(FeedAction::Help(help)) => return help.run(&["feed"], printer),
            None => {}
        }
        let started = Instant::now();
        let read = self.read.read(printer)?;
        let run = FeedRun {
            issues: read.feed.issues(&read.decisions, read.now),
            occurrences: self.occurrences.then(|| read.feed.occurrences(&read.decisions)),
            files: read.files,
            sessions: read.feed.sessions,
            calls: read.feed.calls,
            notes: read.notes.into_iter().map(Into::into).collect(),
        };
        self.report.write(&run.redact(printer.redactor), started, printer)?;
        Ok(if read.is_unread { Exit::Unread } else { Exit::Ok })
    }
}
