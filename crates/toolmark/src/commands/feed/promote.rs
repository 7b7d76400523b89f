//! `toolmark feed promote`: issues as regression cases for `toolmark grade`.
//!
//! The traces are read a second time: while they are read, nobody knows yet which
//! occurrence will represent an issue.

use super::read::{Read, ReadArgs, find};
use crate::Stop;
use crate::checking::promote::{refuse_to_overwrite, write};
use crate::exit::{Exit, Failure};
use crate::human;
use crate::printer::{Line, Printer, Verbosity, style};
use clap::Args;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;
use toolmark_check::promote::{Alike, CallFault, Case, case, case_of_call};
use toolmark_check::{Checker, week_of};
use toolmark_feed::{Issue, Key, Kind, State, failure_keys};
use toolmark_trace::Trajectory;

/// Write issues as cases that fail when they come back
///
/// Each case holds the part of a trace that shows the issue, what the user had asked, and
/// a grader that asks for the same cause whatever the values are.
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
            let is_due = |issue: &&Issue| matches!(issue.state, State::New | State::Regressed);
            chosen.extend(issues.iter().filter(is_due));
            directory.push(week_of(read.now));
        }
        if chosen.is_empty() {
            printer.notice(&Line::of(style::DIM, "no issue is new or regressed"))?;
            return Ok(Exit::Ok);
        }
        refuse_to_overwrite(&directory)?;
        let cases = cases(&chosen, &read)?;
        let count = write(&cases, &directory, printer.redactor)
            .map_err(|error| Failure::write(&directory, &error))? as u64;
        if printer.verbosity > Verbosity::Quiet {
            let (cases, to) = (human::things(count, "case"), directory.display());
            let words =
                format!("{cases} written to {to}; next: toolmark grade {to}/toolmark.yaml RUNS");
            printer.notice(&Line::of(style::DIM, printer.redact(words)))?;
        }
        Ok(Exit::Ok)
    }
}

/// The cases of issues, in their order.
fn cases(chosen: &[&Issue], read: &Read) -> Result<Vec<Case>, Failure> {
    let mut made: BTreeMap<usize, Case> = BTreeMap::new();
    for input in &read.inputs {
        if made.len() == chosen.len() {
            break;
        }
        let name = input.name();
        let is_here = |issue: &Issue| {
            issue.representative.as_ref().is_some_and(|one| **one.place.file.raw() == *name)
        };
        // Sub-agents may lie in files beside the one that is named.
        if input.path().is_some_and(|path| path.is_file()) && !chosen.iter().any(|i| is_here(i)) {
            continue;
        }
        let Ok(runs) = read.reader.open(input) else { continue };
        for run in runs {
            for session in run.flatten() {
                for (at, issue) in chosen.iter().enumerate() {
                    if !made.contains_key(&at)
                        && let Some(case) = case_of(issue, session, &run)
                    {
                        made.insert(at, case);
                    }
                }
            }
        }
    }
    Ok(made.into_values().collect())
}

/// The case of an issue, where this trajectory has the call that represents it.
fn case_of(issue: &Issue, session: &Trajectory, root: &Trajectory) -> Option<Case> {
    let shown = issue.representative.as_ref()?;
    let index = session.calls.iter().position(|call| {
        let at = call.at.location();
        *at.file == **shown.place.file.raw() && at.byte == shown.place.byte
    })?;
    let description =
        format!("{} (issue {}, session {})", issue.title.raw(), issue.id, shown.session.raw());
    match issue.kind {
        Kind::Finding => {
            let findings = Checker::default().check_alone(session).findings;
            let finding = findings.iter().find(|finding| {
                Key::of_finding(finding).id() == issue.id && finding.place == shown.place
            })?;
            let mut case = case(finding, session, root, Alike::Cluster).ok()?;
            case.description = description;
            Some(case)
        }
        Kind::Failure => case_of_call(CallFault {
            id: format!("failure-{}", issue.id),
            description,
            tag: issue.subtype,
            grader: "failure",
            config: issue.case.get("config")?.clone(),
            is_shown: fails,
            run: session,
            root,
            index,
        }),
    }
}

/// Does a call of the run fail as the configuration of the grader says?
fn fails(config: &Value, run: &Trajectory) -> bool {
    let text = |name: &str| config.get(name).and_then(Value::as_str);
    let counts = |key: &Key| match key {
        Key::Failure { role, class, template } => {
            text("class") == Some(class.word())
                && text("role").or(text("tool")).is_none_or(|word| word == role.word())
                && text("template").is_none_or(|wanted| wanted == template)
        }
        Key::Finding { .. } => false,
    };
    let keys = |run: &Trajectory| failure_keys(run, &toolmark_check::Toolsets::default());
    run.flatten().into_iter().any(|run| keys(run).iter().any(|(_, key)| counts(key)))
}
