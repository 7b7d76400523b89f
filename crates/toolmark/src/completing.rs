//! Shell completion of values that the program knows or finds on this machine, in addition to
//! commands and options.
//!
//! The shell calls the program itself (`toolmark completions` prints the script), so that the
//! values are always those of the installed version.

use crate::cli::Cli;
use crate::commands::help;
use crate::human;
use clap::CommandFactory;
use clap::builder::StyledStr;
use clap_complete::engine::{ArgValueCandidates, ArgValueCompleter, PathCompleter, ValueCompleter};
use clap_complete::{CompleteEnv, CompletionCandidate};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::Path;
use toolmark_app::sessions;
use toolmark_check::RULES;
use toolmark_run::store::{RUNS, RunStore};
use toolmark_spec::GRADERS;

/// Set by the completion script to the name of the shell. The usual `COMPLETE` may be set for other
/// programs.
pub(crate) const VARIABLE: &str = "TOOLMARK_COMPLETE";

/// Answers a completion request of a shell and ends the program; otherwise does nothing.
pub(crate) fn answer_if_asked() {
    CompleteEnv::with_factory(command).var(VARIABLE).bin("toolmark").complete();
}

/// Source of the values of an argument.
#[derive(Clone, Copy)]
enum ArgumentValues {
    /// A value of a list.
    Of(fn() -> Vec<CompletionCandidate>),
    /// A file, or a value of a list.
    FileOr(fn() -> Vec<CompletionCandidate>),
}

/// The arguments with known values: command, argument and values.
const ARGUMENTS: &[(&[&str], &str, ArgumentValues)] = &[
    (&["check"], "select", ArgumentValues::Of(rules)),
    (&["check"], "ignore", ArgumentValues::Of(rules)),
    (&["check"], "explain", ArgumentValues::Of(rules)),
    (&["rules"], "code", ArgumentValues::Of(rules)),
    (&["graders"], "id", ArgumentValues::Of(graders)),
    (&["grade"], "grader_types", ArgumentValues::Of(graders)),
    (&["run"], "grader_types", ArgumentValues::Of(graders)),
    (&["help"], "topic", ArgumentValues::Of(topics)),
    (&["show"], "trace", ArgumentValues::FileOr(session_ids)),
    (&["runs"], "run", ArgumentValues::FileOr(runs)),
    (&["guard", "install"], "hosts", ArgumentValues::Of(hosts)),
    (&["guard", "uninstall"], "hosts", ArgumentValues::Of(hosts)),
    (&["guard", "status"], "hosts", ArgumentValues::Of(hosts)),
    (&["guard", "doctor"], "hosts", ArgumentValues::Of(hosts)),
    (&["guard", "test"], "host", ArgumentValues::Of(hosts)),
];

/// The command line with its completable values.
fn command() -> clap::Command {
    ARGUMENTS.iter().fold(Cli::command(), |command, (path, argument, values)| {
        with_values(command, path, argument, *values)
    })
}

fn with_values(
    command: clap::Command,
    path: &[&str],
    argument: &str,
    values: ArgumentValues,
) -> clap::Command {
    match path.split_first() {
        Some((first, rest)) => {
            command.mut_subcommand(first, |below| with_values(below, rest, argument, values))
        }
        None => command.mut_arg(argument, |arg| match values {
            ArgumentValues::Of(list) => arg.add(ArgValueCandidates::new(list)),
            ArgumentValues::FileOr(list) => {
                arg.add(ArgValueCompleter::new(move |current: &OsStr| file_or(list, current)))
            }
        }),
    }
}

fn file_or(list: fn() -> Vec<CompletionCandidate>, current: &OsStr) -> Vec<CompletionCandidate> {
    let start = current.to_string_lossy();
    let mut all = list();
    all.retain(|candidate| candidate.get_value().to_string_lossy().starts_with(&*start));
    all.extend(PathCompleter::any().complete(current));
    all
}

fn candidate(value: &str, about: impl Into<StyledStr>) -> CompletionCandidate {
    CompletionCandidate::new(value).help(Some(about.into()))
}

fn rules() -> Vec<CompletionCandidate> {
    RULES.iter().map(|rule| candidate(rule.code, rule.summary)).collect()
}

fn graders() -> Vec<CompletionCandidate> {
    GRADERS.iter().map(|info| candidate(info.id, info.summary)).collect()
}

fn topics() -> Vec<CompletionCandidate> {
    let root = Cli::command();
    let about =
        |command: &clap::Command| command.get_about().map(ToString::to_string).unwrap_or_default();
    let mut seen = BTreeSet::new();
    let commands = root
        .get_subcommands()
        .filter(|command| !command.is_hide_set())
        .map(|command| (command.get_name().to_owned(), about(command)));
    let topics = help::names().into_iter().map(|(name, about)| (name.to_owned(), about.to_owned()));
    commands
        .chain(topics)
        .filter(|(name, _)| seen.insert(name.clone()))
        .map(|(name, about)| candidate(&name, about))
        .collect()
}

fn hosts() -> Vec<CompletionCandidate> {
    toolmark_hosts::install::ids().map(CompletionCandidate::new).collect()
}

/// Maximum number of sessions to offer.
const MAX_SESSIONS: usize = 200;

/// IDs of the newest sessions of this machine. IDs that a shell would have to quote are omitted.
fn session_ids() -> Vec<CompletionCandidate> {
    let is_plain = |id: &str| id.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
    sessions::find()
        .into_iter()
        .filter(|session| is_plain(&session.id))
        .take(MAX_SESSIONS)
        .map(|session| {
            let date = jiff::Timestamp::try_from(session.modified).map(human::date);
            let date = date.map(|date| date.to_string()).unwrap_or_default();
            candidate(&session.id, format!("{} {date}", session.agent))
        })
        .collect()
}

fn runs() -> Vec<CompletionCandidate> {
    let kept = RunStore::list(Path::new(RUNS));
    let kept = kept.iter().rev().map(|store| CompletionCandidate::new(store.id()));
    std::iter::once(candidate("last", "the newest run")).chain(kept).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_argument_is_there() {
        command().debug_assert();
        for (path, argument, _) in ARGUMENTS {
            let root = Cli::command();
            let found = path.iter().try_fold(&root, |command, name| command.find_subcommand(name));
            let has = |command: &clap::Command| {
                command.get_arguments().any(|found| found.get_id() == argument)
            };
            assert!(found.is_some_and(has), "{path:?} {argument}");
        }
    }
}
