//! `toolmark feed fix`: prints the change that prevents an issue as a diff, and applies it on
//! request.

use super::read::ReadArgs;
use crate::exit::{Exit, Failure};
use crate::judging::JudgeArgs;
use crate::printer::{Printer, StyledLine, style};
use clap::Args;
use std::env;
use std::fs;
use std::io::{self, BufRead};
use std::path::PathBuf;
use toolmark_app::Stop;
use toolmark_app::feed::find;
use toolmark_app::feed::fix::FixPlace;
use toolmark_app::judge::JudgeRequest;
use toolmark_base::read_file;
use toolmark_feed::fix::worded;
use toolmark_feed::{Fix, Issue};
use toolmark_grade::UsualJudge;
use toolmark_hosts::install::unified_diff;
use toolmark_outcome::Untrusted;
use toolmark_outcome::judging::Judge;

/// Maximum size of a file to change, in bytes.
const MAX_BYTES: u64 = 16 << 20;

/// Show the change that prevents an issue, and apply it
#[derive(Debug, Args)]
pub(super) struct FixIssue {
    /// The issue
    #[arg(value_name = "ID")]
    id: String,
    /// Write the change after a question
    #[arg(long)]
    apply: bool,
    /// Write it without a question
    #[arg(long, requires = "apply", conflicts_with = "judge")]
    yes: bool,
    /// Repository to write to [default: that of the issue, in the current directory]
    #[arg(long, value_name = "DIR")]
    repo: Option<PathBuf>,
    /// Ask a judge to word the line; its quotes must be in the trace
    #[arg(long)]
    judge: bool,
    #[command(flatten)]
    judging: JudgeArgs,
    #[command(flatten)]
    read: ReadArgs,
}

impl FixIssue {
    pub(super) fn run(self, printer: &mut Printer) -> Result<Exit, Stop> {
        if !self.judge && self.judging.is_given() {
            let failure = Failure::usage("judge options need --judge");
            return Err(failure.hint("add --judge to ask a judge").into());
        }
        let issues = self.read.read(printer)?.issues();
        let issue = find(&issues, &self.id)?;
        let title = printer.redact(issue.title.clone());
        let fix = match self.judge {
            true => match self.worded(issue, printer)? {
                Some(fix) => Some(fix),
                None => return Ok(Exit::Ok),
            },
            false => issue.fix.clone(),
        };
        let Some(fix) = fix else {
            let words =
                printer.redact(format!("no concrete fix follows from {}: {title}", issue.id));
            printer.line(&StyledLine::of(style::DIM, words))?;
            return Ok(Exit::Ok);
        };
        let place = FixPlace::of(fix.project.as_ref().map(Untrusted::raw), self.repo.as_deref());
        let fix = fix.redact(printer.redactor);
        printer.line(&StyledLine::of(style::STRONG, title))?;
        printer.line(&StyledLine::of(style::DIM, &fix.why))?;
        let Some(file) = fix.file else {
            printer.line(&StyledLine::of(
                style::PLAIN,
                "in the set-up of the machine or the container:",
            ))?;
            printer.line(&StyledLine::indent(2).with(style::PLAIN, &fix.text))?;
            if self.apply {
                let failure = Failure::usage("this fix is a command, not a change of a file");
                return Err(failure.hint("run it in the set-up").into());
            }
            return Ok(Exit::Ok);
        };
        let path = &place.directory.join(file);
        let before = match read_file::read_text(path, MAX_BYTES) {
            Ok(text) => Some(text),
            Err(error) if error.is_missing() => None,
            Err(error) if error.is_empty() => Some(String::new()),
            Err(error) => return Err(error.into()),
        };
        let after = fix.apply_to(before.as_deref().unwrap_or_default()).map_err(|why| {
            Failure::usage(format!("{} was left as it is: {why}", path.display()))
        })?;
        if before.as_deref() == Some(&after) {
            printer.line(&StyledLine::of(
                style::DIM,
                printer.redact(format!("{file} has it already")),
            ))?;
            return Ok(Exit::Ok);
        }
        for line in unified_diff(path, before.as_deref(), Some(&after)).lines() {
            let tone = match line.chars().next() {
                Some('+') => style::GOOD,
                Some('-') => style::BAD,
                _ => style::PLAIN,
            };
            printer.line(&StyledLine::of(tone, printer.redact(line)))?;
        }
        if !self.apply {
            return Ok(Exit::Ok);
        }
        if let (true, Some(project)) = (place.is_foreign, &fix.project) {
            let here = env::current_dir().unwrap_or_default();
            let failure = Failure::usage(format!(
                "the issue is of the project {project}, and {} is another one",
                here.display()
            ));
            return Err(failure
                .hint(format!("run `cd {project}` first, or name the repository with --repo"))
                .into());
        }
        if !self.yes && !confirmed(printer)? {
            return Ok(Exit::Ok);
        }
        let failed = |error: io::Error| Failure::write(path, &error);
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            fs::create_dir_all(folder).map_err(failed)?;
        }
        fs::write(path, after).map_err(failed)?;
        printer.notice(&StyledLine::of(style::DIM, printer.redact(format!("{file} written"))))?;
        Ok(Exit::Ok)
    }
}

impl FixIssue {
    /// Returns the fix as worded by a judge; `None` if only the question is printed.
    fn worded(&self, issue: &Issue, printer: &mut Printer) -> Result<Option<Fix>, Stop> {
        let Some(question) = worded::question(issue) else {
            let failure = Failure::usage("this fix is not an instruction that can be worded");
            return Err(failure.hint("leave out --judge").into());
        };
        let request = JudgeRequest {
            part_of: None,
            usual: &UsualJudge::default(),
            may_run: true,
            gates: false,
        };
        let judge = self.judging.open_some(&request, printer)?;
        let rulings = judge.client.judge(&[question]);
        if self.judging.finish(&judge, printer)? {
            return Ok(None);
        }
        let ruling = rulings.first().ok_or_else(|| Failure::unread("the judge gave no answer"))?;
        let fix = worded::worded(issue, ruling);
        let fix = fix.map_err(|why| Failure::unread(format!("no line from the judge: {why}")))?;
        Ok(Some(fix))
    }
}

fn confirmed(printer: &mut Printer) -> Result<bool, Stop> {
    if !printer.is_interactive() {
        let failure = Failure::usage("no terminal to confirm the change at");
        return Err(failure.hint("add --yes to write it without a question").into());
    }
    printer.ask(&StyledLine::of(style::STRONG, "write it? [y/N]"))?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
