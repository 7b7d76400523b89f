//! `toolmark guard policy`: prints the policy files that apply in a directory, the resulting policy
//! and its errors.

use crate::Stop;
use crate::exit::{Exit, Failure};
use crate::guarding;
use crate::human;
use crate::printer::{Printer, StyledLine, Verbosity, style};
use clap::Args;
use std::path::PathBuf;
use toolmark_guard::files::{Opened, named_by_environment};
use toolmark_guard::policy::Whose;
use toolmark_redact::printable;

const EXAMPLES: &str = "\
Examples:
  toolmark guard policy                  the policy of this directory
  toolmark guard policy --cwd ~/app      the policy of another

Exit codes:
  0  the policy is valid
  2  the policy has errors; until they are fixed, the guard answers with `on_error`";

/// Show which policy files are used, and the errors in them
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Policy {
    /// Directory of the session
    #[arg(long, value_name = "DIR", default_value = ".")]
    cwd: PathBuf,
}

impl Policy {
    pub(super) fn run(self, printer: &mut Printer) -> Result<Exit, Stop> {
        let cwd = std::path::absolute(&self.cwd)?;
        if !cwd.is_dir() {
            let message = format!("{} is not a directory", self.cwd.display());
            return Err(Failure::usage(message)
                .hint("--cwd takes the directory of a session")
                .into());
        }
        let opened = guarding::open(cwd.to_str()).checked();
        guarding::show(&opened, printer)?;
        if printer.verbosity > Verbosity::Quiet {
            summary(&opened, printer)?;
        }
        Ok(if opened.broken().is_some() { Exit::Usage } else { Exit::Ok })
    }
}

fn summary(opened: &Opened, printer: &mut Printer) -> Result<(), Stop> {
    let policy = opened.guard.policy();
    let mut row = |key: &'static str, value: &str| {
        let line = StyledLine::of(style::DIM, printable!("{:9}", key));
        printer.line(&line.with(style::PLAIN, printer.redact(value)))
    };
    // Files that cannot be read are shown too.
    let named = |whose: Whose| {
        let file = opened.files.iter().find(|file| file.whose == whose);
        file.map_or("none", |file| &*file.source.name)
    };
    row("user", named(Whose::User))?;
    row("project", named(Whose::Project))?;
    row("preset", policy.preset().word())?;
    row("on_error", policy.on_error().word())?;
    row("approve", if policy.approve() { "true" } else { "false" })?;
    let all = opened.files.iter().flat_map(|file| &file.problems);
    let errors = all.clone().filter(|problem| problem.is_error()).count() + opened.faults.len();
    let warnings = all.filter(|problem| !problem.is_error()).count();
    let counts = format!(
        "{}, {}",
        human::things(errors as u64, "error"),
        human::things(warnings as u64, "warning")
    );
    row("found", &counts)?;
    if let Some(ignored) = named_by_environment() {
        row("hook", &ignored)?;
    }
    Ok(())
}
