//! `toolmark serve evaluate`: runs evaluators on stored sessions.

use super::{check_store, default_store, evaluators};
use crate::exit::{Exit, Failure};
use crate::human;
use crate::judging::JudgeArgs;
use crate::printer::{Printer, StyledLine, Verbosity, style};
use clap::Args;
use std::path::PathBuf;
use toolmark_app::Stop;
use toolmark_redact::printable;
use toolmark_serve::evaluate_store;

const EXAMPLES: &str = "\
Examples:
  toolmark serve evaluate                     all sessions, by the serve: part of toolmark.yaml
  toolmark serve evaluate --config other.yaml SESSION
  toolmark serve evaluate --offline           judges answer from their cache only";

/// Run the evaluators of `serve: evaluate:` over the sessions in the store
///
/// Stored answers of judges are kept: a judge is asked again only if its version, that is its
/// configuration, changes.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Evaluate {
    /// Sessions, by id [default: all]
    #[arg(value_name = "SESSION")]
    sessions: Vec<String>,
    /// File with a `serve:` section [default: toolmark.yaml]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// File of the store [default: serve.db in the data directory of the user]
    #[arg(long, value_name = "FILE")]
    db: Option<PathBuf>,
    #[command(flatten)]
    judge: JudgeArgs,
}

impl Evaluate {
    pub(crate) fn run(self, printer: &mut Printer) -> Result<Exit, Stop> {
        if let Some(db) = &self.db {
            check_store(db)?;
        }
        let db = self.db.map_or_else(default_store, Ok)?;
        let tags = evaluators::open(self.config.as_deref(), &self.judge, printer)?;
        if tags.is_empty() {
            let failure = Failure::usage("nothing is configured to evaluate");
            return Err(failure.hint("write `serve: {evaluate: …}` in toolmark.yaml").into());
        }
        let evaluated = evaluate_store(&db, &tags, &self.sessions, printer.redactor)
            .map_err(|error| Failure::usage("failed to evaluate the store").because(&error))?;
        for ((evaluator, version), answers) in &evaluated.answers {
            let words = format!(
                "{evaluator} {version}: {} pass, {} fail, {} unknown, {} kept",
                answers.pass, answers.fail, answers.unknown, answers.kept
            );
            let line = StyledLine::of(style::PLAIN, printer.redact(words));
            printer.line(&line)?;
        }
        if printer.verbosity > Verbosity::Quiet {
            let words = printable!("{} evaluated", human::things(evaluated.sessions, "session"));
            printer.notice(&StyledLine::of(style::DIM, words))?;
        }
        for (session, why) in &evaluated.unread {
            let words = printer.redact(format!("warning: {session} was not evaluated: {why}"));
            printer.notice(&StyledLine::of(style::WARN, words))?;
        }
        printer.flush()?;
        Ok(if evaluated.unread.is_empty() { Exit::Ok } else { Exit::Unread })
    }
}
