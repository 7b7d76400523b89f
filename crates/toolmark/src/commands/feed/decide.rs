//! `toolmark feed resolve|ignore|reopen|merge|note`: appends decisions about issues to a file, one
//! line each.

use super::read::{StateArgs, issue_id};
use crate::args::{ValueError, now};
use crate::exit::{Exit, Failure};
use crate::printer::{Printer, StyledLine, Verbosity, style};
use clap::Args;
use jiff::Timestamp;
use toolmark_app::Stop;
use toolmark_app::feed::append_decisions;
use toolmark_feed::{DecisionEvent, IssueDecision, IssueId};

/// Mark an issue as fixed
///
/// It is regressed when it occurs in a session that starts later.
#[derive(Debug, Args)]
pub(super) struct Resolve {
    #[command(flatten)]
    which: Which,
    /// Agent version with the fix: only newer versions must not have the issue
    #[arg(long, value_name = "VERSION")]
    version: Option<String>,
}

/// Do not show an issue
#[derive(Debug, Args)]
pub(super) struct Ignore {
    #[command(flatten)]
    which: Which,
    /// Until this day
    #[arg(long, value_name = "DATE", value_parser = day)]
    until: Option<Timestamp>,
    /// Until it has occurred this many more times
    #[arg(long, value_name = "N")]
    more: Option<u64>,
    /// Until it escalates
    #[arg(long)]
    until_escalating: bool,
}

/// Show an issue again that was resolved, ignored or merged
#[derive(Debug, Args)]
pub(super) struct Reopen {
    #[command(flatten)]
    which: Which,
}

/// Count an issue as another one
#[derive(Debug, Args)]
pub(super) struct MergeCommand {
    #[command(flatten)]
    which: Which,
    /// The issue it is the same as
    #[arg(long, value_name = "ID", value_parser = issue_id)]
    into: IssueId,
}

/// Add a note to an issue
#[derive(Debug, Args)]
pub(super) struct Note {
    #[command(flatten)]
    which: Which,
    /// Text of the note
    #[arg(long, value_name = "TEXT")]
    text: String,
}

#[derive(Debug, Args)]
struct Which {
    /// The issues
    #[arg(value_name = "ID", required = true, value_parser = issue_id)]
    ids: Vec<IssueId>,
    /// Author of the decision [default: the user's name]
    #[arg(long, value_name = "NAME")]
    by: Option<String>,
    #[command(flatten)]
    state: StateArgs,
}

impl Resolve {
    pub(super) fn run(self, printer: &mut Printer) -> Result<Exit, Stop> {
        let event = DecisionEvent::Resolve { version: self.version };
        self.which.decide(&event, "resolved", printer)
    }
}

impl Ignore {
    pub(super) fn run(self, printer: &mut Printer) -> Result<Exit, Stop> {
        let Self { until, more, until_escalating: escalating, which } = self;
        which.decide(&DecisionEvent::Ignore { until, more, escalating }, "ignored", printer)
    }
}

impl Reopen {
    pub(super) fn run(self, printer: &mut Printer) -> Result<Exit, Stop> {
        self.which.decide(&DecisionEvent::Reopen, "reopened", printer)
    }
}

impl MergeCommand {
    pub(super) fn run(self, printer: &mut Printer) -> Result<Exit, Stop> {
        if self.which.ids.contains(&self.into) {
            return Err(Failure::usage("an issue cannot be merged into itself").into());
        }
        self.which.decide(&DecisionEvent::Merge { into: self.into }, "merged", printer)
    }
}

impl Note {
    pub(super) fn run(self, printer: &mut Printer) -> Result<Exit, Stop> {
        self.which.decide(&DecisionEvent::Note { text: self.text }, "noted", printer)
    }
}

impl Which {
    /// Adds a line per issue to the file.
    fn decide(
        self,
        event: &DecisionEvent,
        done: &'static str,
        printer: &mut Printer,
    ) -> Result<Exit, Stop> {
        // A file that cannot be read is not written to.
        self.state.read()?;
        let path = self.state.path();
        let user = || std::env::var("USER").or_else(|_| std::env::var("USERNAME")).ok();
        let by = self.by.clone().or_else(user).filter(|name| !name.is_empty());
        // Two decisions of one second keep their order.
        let is_fixed = std::env::var_os("SOURCE_DATE_EPOCH").is_some();
        let at = now().filter(|_| is_fixed).unwrap_or_else(Timestamp::now);
        let decision =
            |id: &IssueId| IssueDecision { at, id: *id, event: event.clone(), by: by.clone() };
        let decisions: Vec<IssueDecision> = self.ids.iter().map(decision).collect();
        append_decisions(&decisions, path)?;
        if printer.verbosity > Verbosity::Quiet {
            let ids: Vec<String> = self.ids.iter().map(ToString::to_string).collect();
            let words = printer.redact(format!("{} {done} in {}", ids.join(", "), path.display()));
            printer.notice(&StyledLine::of(style::DIM, words))?;
        }
        Ok(Exit::Ok)
    }
}

/// Parses a date or a time.
fn day(text: &str) -> Result<Timestamp, ValueError> {
    let of_day = || -> Option<Timestamp> {
        let day: jiff::civil::Date = text.parse().ok()?;
        Some(day.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp())
    };
    let time = text.parse().ok().or_else(of_day);
    time.ok_or(ValueError::Syntax("write a day such as 2026-12-31"))
}
