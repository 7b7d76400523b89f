//! `toolmark feed promote`: writes issues as regression cases for `toolmark grade`.

use super::read::ReadArgs;
use crate::exit::{Exit, Failure};
use crate::human;
use crate::printer::{Printer, StyledLine, Verbosity, style};
use clap::Args;
use std::path::PathBuf;
use toolmark_app::Stop;
use toolmark_app::check::promote::{refuse_to_overwrite, write};
use toolmark_app::feed::find;
use toolmark_app::feed::promote::cases;
use toolmark_check::week_of;
use toolmark_feed::{Issue, IssueState};

/// Write issues as cases that fail when they come back
///
/// Each case holds the part of a trace that shows the issue, the user's prompt, and a grader that
/// matches the same cause whatever the values are.
#[derive(Debug, Args)]
#[command(mut_arg("traces", |arg| arg.value_name("ID|TRACE").help("Issues, and traces to look for them in [default: the sessions of this machine]")))]
pub(super) struct Promote {
    /// Write the issues that are new or regressed, to a directory named after the week
    #[arg(long)]
    weekly: bool,
    /// Directory to write to
    #[arg(long, value_name = "DIR")]
    to: PathBuf,
    #[command(flatten)]
    read: ReadArgs,
}

impl Promote {
    pub(super) fn run(mut self, printer: &mut Printer) -> Result<Exit, Stop> {
        let ids = self.read.take_ids();
        if ids.is_empty() && !self.weekly {
            return Err(Failure::usage("no issue is named")
                .hint("name one, or add --weekly")
                .into());
        }
        let read = self.read.read(printer)?;
        let issues = read.issues();
        let mut chosen: Vec<&Issue> = Vec::new();
        for id in &ids {
            chosen.push(find(&issues, id)?);
        }
        let mut directory = self.to.clone();
        if self.weekly {
            let is_due =
                |issue: &&Issue| matches!(issue.state, IssueState::New | IssueState::Regressed);
            chosen.extend(issues.iter().filter(is_due));
            directory.push(week_of(read.now));
        }
        if chosen.is_empty() {
            printer.notice(&StyledLine::of(style::DIM, "no issue is new or regressed"))?;
            return Ok(Exit::Ok);
        }
        refuse_to_overwrite(&directory)?;
        let cases = cases(&chosen, &read);
        let count = write(&cases, &directory, printer.redactor)
            .map_err(|error| Failure::write(&directory, &error))? as u64;
        if printer.verbosity > Verbosity::Quiet {
            let (cases, to) = (human::things(count, "case"), directory.display());
            let words =
                format!("{cases} written to {to}; next: toolmark grade {to}/toolmark.yaml RUNS");
            printer.notice(&StyledLine::of(style::DIM, printer.redact(words)))?;
        }
        Ok(Exit::Ok)
    }
}
