//! `toolmark guard install|uninstall|status`: the guard in the settings of the
//! agents on this machine.

use crate::Stop;
use crate::exit::{Exit, Failure};
use crate::printer::{Line, Printer, Verbosity, style};
use clap::{Args, ValueEnum};
use serde::Serialize;
use std::env;
use std::path::{Path, PathBuf};
use toolmark_hosts::install::{self, Environment, Error, Plan, Scope, Settings, State};
use toolmark_redact::printable;

const INSTALL: &str = "\
Examples:
  toolmark guard install                            every agent found on this machine
  toolmark guard install claude-code codex          these two
  toolmark guard install codex --scope project      only for the project here
  toolmark guard install --all --dry-run            what would be written

Exit codes:
  0  the guard is in all of them
  2  the command line makes no sense
  3  a settings file could not be read or written; it was left as it is";

const UNINSTALL: &str = "\
Examples:
  toolmark guard uninstall                          wherever it is on this machine
  toolmark guard uninstall gemini-cli --dry-run     what would be taken out

Exit codes:
  0  the guard is in none of them
  2  the command line makes no sense
  3  a settings file could not be read or written; it was left as it is";

const STATUS: &str = "\
Examples:
  toolmark guard status                             every agent found on this machine
  toolmark guard status codex --format json         one, for programs

Exit codes:
  0  the guard is in all of them
  1  it is missing somewhere, another binary is named, or hooks are switched off
  2  the command line makes no sense
  3  a settings file could not be read";

/// Put the guard into the settings of agents
///
/// Shows what changes. The text before is kept beside the file as
/// `.toolmark-backup`. A file that cannot be read is never written.
#[derive(Debug, Args)]
#[command(after_help = INSTALL)]
pub(super) struct Install {
    #[command(flatten)]
    change: Change,
}

/// Take the guard out of the settings of agents
#[derive(Debug, Args)]
#[command(after_help = UNINSTALL)]
pub(super) struct Uninstall {
    #[command(flatten)]
    change: Change,
}

/// Say where the guard is installed
#[derive(Debug, Args)]
#[command(after_help = STATUS)]
pub(super) struct Status {
    #[command(flatten)]
    which: Which,
    /// Only the settings of the user, or only those of the project; without it,
    /// both
    #[arg(long, value_enum, value_name = "SCOPE")]
    scope: Option<ScopeName>,
}

#[derive(Debug, Args)]
struct Change {
    #[command(flatten)]
    which: Which,
    /// Whose settings
    #[arg(long, value_enum, value_name = "SCOPE", default_value = "user")]
    scope: ScopeName,
    /// Show what would change and write nothing
    #[arg(long)]
    dry_run: bool,
}

#[derive(Debug, Args)]
struct Which {
    /// The agents; without any, those found on this machine
    #[arg(value_name = "HOST", conflicts_with = "all")]
    hosts: Vec<String>,
    /// Every agent that is known
    #[arg(long)]
    all: bool,
    /// Output format
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "text")]
    format: Output,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ScopeName {
    User,
    Project,
}

impl From<ScopeName> for Scope {
    fn from(name: ScopeName) -> Self {
        match name {
            ScopeName::User => Self::User,
            ScopeName::Project => Self::Project,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Output {
    Text,
    Json,
}

/// What was done, or would be done, to one settings file.
#[derive(Serialize)]
struct Done<'a> {
    host: &'static str,
    scope: Scope,
    path: &'a Path,
    changed: bool,
    written: bool,
    #[serde(skip_serializing_if = "str::is_empty")]
    diff: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    backup: Option<&'a Path>,
    #[serde(skip_serializing_if = "Option::is_none")]
    obstacle: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'static str>,
}

/// A settings file nothing could be done to.
#[derive(Serialize)]
struct Failed {
    host: &'static str,
    scope: Scope,
    path: PathBuf,
    error: String,
}

/// What one settings file holds.
#[derive(Serialize)]
struct Seen<'a> {
    host: &'static str,
    scope: Scope,
    path: &'a Path,
    #[serde(flatten)]
    state: &'a State,
    #[serde(skip_serializing_if = "Option::is_none")]
    obstacle: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'static str>,
}

impl Install {
    pub(super) fn run(self, printer: &mut Printer) -> Result<Exit, Stop> {
        let verb = Verb {
            plan: |settings| settings.install(),
            done: "installed",
            none: "already installed",
        };
        self.change.run(&verb, printer)
    }
}

impl Uninstall {
    pub(super) fn run(self, printer: &mut Printer) -> Result<Exit, Stop> {
        let verb = Verb {
            plan: |settings| settings.uninstall(),
            done: "taken out",
            none: "not installed",
        };
        self.change.run(&verb, printer)
    }
}

/// What is done to settings, and the words for it.
struct Verb {
    plan: fn(&Settings<'_>) -> Result<Plan, Error>,
    done: &'static str,
    none: &'static str,
}

impl Change {
    fn run(&self, verb: &Verb, printer: &mut Printer) -> Result<Exit, Stop> {
        let (place, binary) = (place()?, binary()?);
        let scope = self.scope.into();
        let mut rows = Vec::new();
        let mut exit = Exit::Ok;
        for host in self.which.hosts(&place, printer)? {
            let settings = settings(host, scope, &place, &binary)?;
            let result = (verb.plan)(&settings).and_then(|plan| {
                if !self.dry_run {
                    plan.apply()?;
                }
                Ok(plan)
            });
            let json = self.which.format == Output::Json;
            match result {
                Ok(plan) if json => rows.push(self.row(&plan)?),
                Ok(plan) => self.print(&plan, verb, printer)?,
                Err(error) => {
                    exit = Exit::Unread;
                    let error = error.to_string();
                    if json {
                        let failed = Failed { host, scope, path: settings.path(), error };
                        rows.push(serde_json::to_value(failed).map_err(std::io::Error::other)?);
                    } else {
                        complain(host, &error, printer)?;
                    }
                }
            }
        }
        if self.which.format == Output::Json {
            let rows = serde_json::Value::from(rows);
            printer.json(&printer.redactor.json(rows.into()))?;
        }
        Ok(exit)
    }

    fn row(&self, plan: &Plan) -> Result<serde_json::Value, Stop> {
        let changed = plan.changes();
        let done = Done {
            host: plan.host,
            scope: plan.scope,
            path: &plan.path,
            changed,
            written: changed && !self.dry_run,
            diff: if changed { plan.diff() } else { String::new() },
            backup: Some(&*plan.backup).filter(|backup| backup.is_file()),
            obstacle: plan.obstacle.as_deref(),
            note: plan.note,
        };
        Ok(serde_json::to_value(done).map_err(std::io::Error::other)?)
    }

    fn print(&self, plan: &Plan, verb: &Verb, printer: &mut Printer) -> Result<(), Stop> {
        let changes = plan.changes();
        let words = match (changes, self.dry_run) {
            (false, _) => verb.none.into(),
            (true, true) => printable!("would be {}", verb.done),
            (true, false) => verb.done.into(),
        };
        let tone = if changes { style::GOOD } else { style::DIM };
        let line = Line::of(style::STRONG, title(plan.host))
            .with(style::PLAIN, ": ")
            .with(tone, words)
            .with(style::DIM, printer.redact(format!(" ({})", plan.path.display())));
        printer.line(&line)?;
        if changes {
            for line in plan.diff().lines() {
                let tone = match line.as_bytes().first() {
                    Some(b'+') => style::GOOD,
                    Some(b'-') => style::BAD,
                    _ => style::DIM,
                };
                let shown = printer.redact(format!("  {line}"));
                printer.line(&Line::of(tone, shown))?;
            }
            if plan.backup.is_file() && !self.dry_run {
                let words = format!("  the text before is in {}", plan.backup.display());
                printer.line(&Line::of(style::DIM, printer.redact(words)))?;
            }
        }
        if let Some(obstacle) = &plan.obstacle {
            let words = printer.redact(format!("  but {obstacle}"));
            printer.line(&Line::of(style::WARN, words))?;
        }
        if let Some(note) = plan.note {
            printer.line(&Line::of(style::WARN, printable!("  note: {}", note)))?;
        }
        Ok(())
    }
}

impl Status {
    pub(super) fn run(self, printer: &mut Printer) -> Result<Exit, Stop> {
        let (place, binary) = (place()?, binary()?);
        let scopes = match self.scope {
            Some(scope) => vec![scope.into()],
            None => vec![Scope::User, Scope::Project],
        };
        let mut rows = Vec::new();
        let mut exit = Exit::Ok;
        for host in self.which.hosts(&place, printer)? {
            let mut all = Vec::new();
            for scope in &scopes {
                all.push((*scope, settings(host, *scope, &place, &binary)?));
            }
            // In one of the places is enough.
            let installed = all.iter().any(|(_, found)| found.state() == State::Installed);
            for (scope, found) in &all {
                let (path, state) = (found.path(), found.state());
                let is_there = state == State::Installed;
                let obstacle = found.obstacle().filter(|_| is_there);
                exit = worse(exit, &state, installed && obstacle.is_none());
                let note = found.note().filter(|_| is_there);
                let seen = Seen { host, scope: *scope, path: &path, state: &state, obstacle, note };
                match self.which.format {
                    Output::Json => {
                        rows.push(serde_json::to_value(seen).map_err(std::io::Error::other)?);
                    }
                    Output::Text => print_seen(&seen, printer)?,
                }
            }
        }
        if self.which.format == Output::Json {
            let rows = serde_json::Value::from(rows);
            printer.json(&printer.redactor.json(rows.into()))?;
        }
        Ok(exit)
    }
}

/// The exit code after one more settings file.
fn worse(exit: Exit, state: &State, works: bool) -> Exit {
    match state {
        State::Broken { .. } => Exit::Unread,
        State::Stale { .. } if exit != Exit::Unread => Exit::Failed,
        State::NotInstalled | State::Installed if !works && exit != Exit::Unread => Exit::Failed,
        _ => exit,
    }
}

fn print_seen(seen: &Seen<'_>, printer: &mut Printer) -> Result<(), Stop> {
    let (tone, words) = match seen.state {
        State::Installed => (style::GOOD, "installed"),
        State::NotInstalled => (style::DIM, "not installed"),
        State::Stale { .. } => (style::WARN, "stale"),
        State::Broken { .. } => (style::BAD, "broken file"),
    };
    let scope = match seen.scope {
        Scope::User => "user",
        Scope::Project => "project",
    };
    let line = Line::of(style::STRONG, title(seen.host))
        .with(style::PLAIN, printable!(", {}: ", scope))
        .with(tone, words)
        .with(style::DIM, printer.redact(format!(" ({})", seen.path.display())));
    printer.line(&line)?;
    match seen.state {
        State::Stale { commands } => {
            for command in commands {
                let shown = printer.redact(format!("  runs {command}"));
                printer.line(&Line::of(style::DIM, shown))?;
            }
        }
        State::Broken { error } => {
            let shown = printer.redact(format!("  {error}"));
            printer.line(&Line::of(style::BAD, shown))?;
        }
        State::Installed | State::NotInstalled => {}
    }
    if let Some(obstacle) = &seen.obstacle {
        let words = printer.redact(format!("  but {obstacle}"));
        printer.line(&Line::of(style::WARN, words))?;
    }
    if let Some(note) = seen.note {
        printer.line(&Line::of(style::DIM, printable!("  note: {}", note)))?;
    }
    Ok(())
}

impl Which {
    /// The agents that are meant.
    fn hosts(&self, place: &Environment, printer: &mut Printer) -> Result<Vec<&'static str>, Stop> {
        if self.all {
            return Ok(install::ids().collect());
        }
        if self.hosts.is_empty() {
            let path = env::var_os("PATH").unwrap_or_default();
            let path: Vec<PathBuf> = env::split_paths(&path).collect();
            let present = install::present(place, &path);
            if present.is_empty() && printer.verbosity > Verbosity::Quiet {
                let words = format!(
                    "no agent was found on this machine; known hosts: {}",
                    install::ids().collect::<Vec<_>>().join(", ")
                );
                printer.notice(&Line::of(style::WARN, printer.redact(words)))?;
            }
            return Ok(present);
        }
        let mut hosts = Vec::new();
        for name in &self.hosts {
            let Some(host) = install::ids().find(|id| id == name) else {
                let known = install::ids().collect::<Vec<_>>().join(", ");
                let failure = Failure::usage(format!("unknown host {name}"));
                return Err(failure.hint(format!("known hosts: {known}")).into());
            };
            if !hosts.contains(&host) {
                hosts.push(host);
            }
        }
        Ok(hosts)
    }
}

fn complain(host: &'static str, error: &str, printer: &mut Printer) -> Result<(), Stop> {
    let line = Line::of(style::BAD.bold(), "error")
        .with(style::PLAIN, ": ")
        .with(style::STRONG, title(host))
        .with(style::PLAIN, printable!(": {}; nothing was written", printer.redact(error)));
    Ok(printer.notice(&line)?)
}

fn title(host: &'static str) -> &'static str {
    toolmark_hosts::by_id(host).map_or(host, |host| host.title)
}

fn settings<'a>(
    host: &str,
    scope: Scope,
    place: &'a Environment,
    binary: &Path,
) -> Result<Settings<'a>, Stop> {
    Ok(Settings::new(host, scope, place, binary)
        .map_err(|error| Failure::usage(error.to_string()))?)
}

/// Where settings lie: in the home, and in the project around the working
/// directory.
fn place() -> Result<Environment, Failure> {
    let home = env::home_dir()
        .filter(|home| !home.as_os_str().is_empty())
        .ok_or_else(|| Failure::usage("the home directory is not known").hint("set HOME"))?;
    let here = env::current_dir()
        .map_err(|error| Failure::unread(format!("failed to find the directory: {error}")))?;
    let root = here.ancestors().find(|dir| dir.join(".git").exists()).unwrap_or(&here);
    Ok(Environment { home, project: root.to_owned(), variable: |name| env::var_os(name) })
}

/// The program that runs, by its path.
fn binary() -> Result<PathBuf, Failure> {
    env::current_exe().map_err(|error| Failure::unread(format!("failed to find itself: {error}")))
}
