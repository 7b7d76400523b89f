//! `toolmark guard install|uninstall|status`: manages the guard in the settings of the agents on
//! this machine.

use crate::Stop;
use crate::exit::Exit;
use crate::guarding;
use crate::printer::{Printer, StyledLine, Verbosity, style};
use clap::{Args, ValueEnum};
use serde::Serialize;
use std::env;
use std::io::{self, BufRead, Read};
use std::path::{Path, PathBuf};
use toolmark_app::guard::hosts::{binary, chosen, next_steps, place, selected, settings};
use toolmark_app::guard::last::{self, LastDecision};
use toolmark_guard::{files, repository};
use toolmark_hosts::install::{
    self, Environment, GuardState, HostSettings, InstallError, Plan, SettingsScope,
};
use toolmark_redact::printable;
use toolmark_serve::HostStatus;

const INSTALL: &str = "\
Examples:
  toolmark guard install                            those of the agents found here
  toolmark guard install claude-code codex          these two
  toolmark guard install codex --scope project      only for the project here
  toolmark guard install --all --dry-run            what would be written

Exit codes:
  0  the guard is in all of them
  2  the command line is invalid
  3  a settings file could not be read or written; it was left as it is";

const UNINSTALL: &str = "\
Examples:
  toolmark guard uninstall                          wherever it is on this machine
  toolmark guard uninstall gemini-cli --dry-run     what would be removed

Exit codes:
  0  the guard is in none of them
  2  the command line is invalid
  3  a settings file could not be read or written; it was left as it is";

const STATUS: &str = "\
Examples:
  toolmark guard status                             every agent found on this machine
  toolmark guard status codex --format json         one, for programs

Exit codes:
  0  the guard is in all of them
  1  it is missing somewhere, another binary is named, hooks are switched off, or the
     agent does not accept the file
  2  the command line is invalid
  3  a settings file could not be read";

/// Put the guard into the settings of agents
///
/// At a terminal it asks which of the agents found here to configure. The previous text is saved
/// beside the file as `.toolmark-backup`; `--dry-run` shows what would change. A file that cannot
/// be read is never written.
#[derive(Debug, Args)]
#[command(after_help = INSTALL)]
pub(super) struct Install {
    #[command(flatten)]
    change: InstallChange,
}

/// Take the guard out of the settings of agents
#[derive(Debug, Args)]
#[command(after_help = UNINSTALL)]
pub(super) struct Uninstall {
    #[command(flatten)]
    change: InstallChange,
}

/// Show where the guard is installed
#[derive(Debug, Args)]
#[command(after_help = STATUS)]
pub(super) struct GuardStatusCommand {
    #[command(flatten)]
    which: Which,
    /// Only the settings of the user, or only those of the project; without it,
    /// both
    #[arg(long, value_enum, value_name = "SCOPE")]
    scope: Option<ScopeName>,
}

#[derive(Debug, Args)]
struct InstallChange {
    #[command(flatten)]
    which: Which,
    /// Scope of the settings: `managed` is for all users of the machine, and needs
    /// its administrator
    #[arg(long, value_enum, value_name = "SCOPE", default_value = "user")]
    scope: ScopeName,
    /// Show what would change and write nothing
    #[arg(long)]
    dry_run: bool,
}

#[derive(Debug, Args)]
pub(super) struct Which {
    /// The agents; without any, those found on this machine
    #[arg(value_name = "HOST", conflicts_with = "all")]
    hosts: Vec<String>,
    /// Every known agent
    #[arg(long)]
    all: bool,
    /// Output format
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "text")]
    format: InstallOutput,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ScopeName {
    User,
    Project,
    Managed,
}

impl From<ScopeName> for SettingsScope {
    fn from(name: ScopeName) -> Self {
        match name {
            ScopeName::User => Self::User,
            ScopeName::Project => Self::Project,
            ScopeName::Managed => Self::Managed,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum InstallOutput {
    Text,
    Json,
}

/// The change, or planned change, of one settings file.
#[derive(Serialize)]
struct InstalledFile<'a> {
    host: &'static str,
    scope: SettingsScope,
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

/// A settings file that could not be changed.
#[derive(Serialize)]
struct Failed {
    host: &'static str,
    scope: SettingsScope,
    path: PathBuf,
    error: String,
}

/// Content of one settings file.
#[derive(Serialize)]
struct SettingsFile<'a> {
    host: &'static str,
    scope: SettingsScope,
    path: &'a Path,
    #[serde(flatten)]
    state: &'a GuardState,
    #[serde(skip_serializing_if = "Option::is_none")]
    obstacle: Option<String>,
    /// The last decision in the log.
    #[serde(skip_serializing_if = "Option::is_none")]
    last: Option<&'a LastDecision>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'static str>,
    /// Settings and programs of the repository for the agent.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    repository: Vec<String>,
}

impl Install {
    pub(super) fn run(mut self, printer: &mut Printer) -> Result<Exit, Stop> {
        let verb = Verb {
            plan: |settings| settings.install(),
            done: "installed",
            none: "already installed",
        };
        let change = &mut self.change;
        let is_open = change.which.hosts.is_empty() && !change.which.all && !change.dry_run;
        if is_open && !change.which.is_json() && printer.is_interactive() {
            let found = change.which.hosts(&place()?, printer)?;
            match choose(&found, printer)? {
                Some(hosts) => change.which.hosts = hosts,
                None => return Ok(Exit::Ok),
            }
        }
        let exit = change.run(&verb, printer)?;
        if exit == Exit::Ok && !change.dry_run && !change.which.is_json() {
            say_what_next(printer)?;
        }
        Ok(exit)
    }
}

/// Asks the user to choose hosts; `None` for none of them.
fn choose(found: &[&'static str], printer: &mut Printer) -> Result<Option<Vec<String>>, Stop> {
    if found.len() < 2 {
        return Ok(Some(found.iter().map(|host| (*host).to_owned()).collect()));
    }
    for (index, host) in found.iter().enumerate() {
        let line = StyledLine::of(style::STRONG, printable!("{:3}  ", index + 1));
        printer.line(&line.with(style::PLAIN, title(host)))?;
    }
    let words = "Which of them? Numbers, Enter for all, `q` for none:";
    printer.line(&StyledLine::of(style::PLAIN, words))?;
    let mut answer = String::new();
    io::stdin().lock().take(MAX_ANSWER).read_line(&mut answer)?;
    chosen(found, &answer).map_err(Into::into)
}

/// Maximum length of an answer; longer ones are invalid.
const MAX_ANSWER: u64 = 1 << 10;

/// Prints the next steps after an installation, and its limits.
fn say_what_next(printer: &mut Printer) -> Result<(), Stop> {
    for words in next_steps() {
        printer.line(&StyledLine::of(style::DIM, printer.redact(words)))?;
    }
    Ok(())
}

impl Uninstall {
    pub(super) fn run(self, printer: &mut Printer) -> Result<Exit, Stop> {
        let verb =
            Verb { plan: |settings| settings.uninstall(), done: "removed", none: "not installed" };
        self.change.run(&verb, printer)
    }
}

/// An operation on settings, and its wording.
struct Verb {
    plan: fn(&HostSettings<'_>) -> Result<Plan, InstallError>,
    done: &'static str,
    none: &'static str,
}

impl InstallChange {
    fn run(&self, verb: &Verb, printer: &mut Printer) -> Result<Exit, Stop> {
        let (place, binary) = (place()?, binary()?);
        let scope = self.scope.into();
        let mut rows = Vec::new();
        let mut exit = Exit::Ok;
        let mut hosts = self.which.hosts(&place, printer)?;
        if scope == SettingsScope::Managed && self.which.hosts.is_empty() {
            hosts.retain(|host| install::has_managed(host));
        }
        for host in hosts {
            let settings = settings(host, scope, &place, &binary)?;
            let result = (verb.plan)(&settings).and_then(|plan| {
                if !self.dry_run {
                    plan.apply()?;
                }
                Ok(plan)
            });
            let json = self.which.format == InstallOutput::Json;
            match result {
                Ok(plan) if json => rows.push(self.row(&plan)?),
                Ok(plan) => self.print(&plan, verb, printer)?,
                Err(error) => {
                    exit = Exit::Unread;
                    let error = error.to_string();
                    if json {
                        let failed = Failed { host, scope, path: settings.path(), error };
                        rows.push(serde_json::to_value(failed).map_err(io::Error::other)?);
                    } else {
                        complain(host, &error, printer)?;
                    }
                }
            }
        }
        if self.which.format == InstallOutput::Json {
            let rows = serde_json::Value::from(rows);
            printer.json(&printer.redactor.json(rows.into()))?;
        }
        Ok(exit)
    }

    fn row(&self, plan: &Plan) -> Result<serde_json::Value, Stop> {
        let changed = plan.changes();
        let done = InstalledFile {
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
        Ok(serde_json::to_value(done).map_err(io::Error::other)?)
    }

    fn print(&self, plan: &Plan, verb: &Verb, printer: &mut Printer) -> Result<(), Stop> {
        let changes = plan.changes();
        let words = match (changes, self.dry_run) {
            (false, _) => verb.none.into(),
            (true, true) => printable!("would be {}", verb.done),
            (true, false) => verb.done.into(),
        };
        let tone = if changes { style::GOOD } else { style::DIM };
        let line = StyledLine::of(style::STRONG, title(plan.host))
            .with(style::PLAIN, ": ")
            .with(tone, words)
            .with(style::DIM, printer.redact(format!(" ({})", plan.path.display())));
        printer.line(&line)?;
        if changes {
            let shows = self.dry_run || printer.verbosity == Verbosity::Verbose;
            let diff = if shows { plan.diff() } else { String::new() };
            for line in diff.lines() {
                let tone = match line.as_bytes().first() {
                    Some(b'+') => style::GOOD,
                    Some(b'-') => style::BAD,
                    _ => style::DIM,
                };
                let shown = printer.redact(format!("  {line}"));
                printer.line(&StyledLine::of(tone, shown))?;
            }
            if plan.backup.is_file() && !self.dry_run {
                let words = format!("  the text before is in {}", plan.backup.display());
                printer.line(&StyledLine::of(style::DIM, printer.redact(words)))?;
            }
        }
        if let Some(obstacle) = &plan.obstacle {
            let words = printer.redact(format!("  but {obstacle}"));
            printer.line(&StyledLine::of(style::WARN, words))?;
        }
        if let Some(note) = plan.note {
            printer.line(&StyledLine::of(style::WARN, printable!("  note: {}", note)))?;
        }
        Ok(())
    }
}

impl GuardStatusCommand {
    pub(super) fn run(self, printer: &mut Printer) -> Result<Exit, Stop> {
        let (place, binary) = (place()?, binary()?);
        let scopes = match self.scope {
            Some(scope) => vec![scope.into()],
            None => vec![SettingsScope::User, SettingsScope::Project, SettingsScope::Managed],
        };
        let opened = guarding::here();
        let lasts = last::of_hosts(&opened.guard.policy().log());
        let mut rows = Vec::new();
        let mut exit = Exit::Ok;
        for host in self.which.hosts(&place, printer)? {
            let mut all = Vec::new();
            for scope in &scopes {
                // Few machines have managed settings.
                let is_rare = *scope == SettingsScope::Managed && self.scope.is_none();
                if is_rare && !install::has_managed(host) {
                    continue;
                }
                let found = settings(host, *scope, &place, &binary)?;
                if !is_rare || found.state() != GuardState::NotInstalled {
                    all.push((*scope, found));
                }
            }
            let brought = repository::brought(&place.project);
            // In one of the places is enough.
            let installed = all.iter().any(|(_, found)| found.state() == GuardState::Installed);
            for (scope, found) in &all {
                let (path, state) = (found.path(), found.state());
                let is_there = state == GuardState::Installed;
                let obstacle = found.obstacle().filter(|_| is_there);
                exit = worse(exit, &state, installed && obstacle.is_none());
                let note = found.note().filter(|_| is_there);
                let last = lasts.get(host).filter(|_| is_there);
                let (path, state) = (&path, &state);
                let repository = match scope {
                    SettingsScope::Project => repository::of_host(&brought, host),
                    SettingsScope::User | SettingsScope::Managed => Vec::new(),
                };
                let seen = SettingsFile {
                    host,
                    scope: *scope,
                    path,
                    state,
                    obstacle,
                    last,
                    note,
                    repository,
                };
                match self.which.format {
                    InstallOutput::Json => {
                        rows.push(serde_json::to_value(seen).map_err(io::Error::other)?);
                    }
                    InstallOutput::Text => print_seen(&seen, printer)?,
                }
            }
        }
        if self.which.format == InstallOutput::Json {
            let rows = serde_json::Value::from(rows);
            printer.json(&printer.redactor.json(rows.into()))?;
        }
        let ignored = files::named_by_environment()
            .into_iter()
            .chain(opened.ignored(files::log_to_be_fixed().as_deref()));
        for words in ignored {
            let line = StyledLine::of(style::WARN, "without effect: ");
            printer.notice(&line.with(style::PLAIN, printer.redact(words)))?;
        }
        Ok(exit)
    }
}

/// The installations of the guard for the agents of this machine, for the web page.
pub(super) fn seen_by_page() -> Result<Vec<HostStatus>, Stop> {
    let (place, binary) = (place()?, binary()?);
    let path = env::var_os("PATH").unwrap_or_default();
    let path: Vec<PathBuf> = env::split_paths(&path).collect();
    let lasts = last::of_hosts(&guarding::here().guard.policy().log());
    let mut rows = Vec::new();
    let brought = repository::brought(&place.project);
    for host in install::present(&place, &path) {
        for scope in [SettingsScope::User, SettingsScope::Project] {
            let found = settings(host, scope, &place, &binary)?;
            let state = found.state();
            let is_there = state == GuardState::Installed;
            // A project without settings of its own is not worth a row.
            let mut brought = repository::of_host(&brought, host);
            brought.retain(|_| scope == SettingsScope::Project);
            if scope == SettingsScope::Project
                && state == GuardState::NotInstalled
                && brought.is_empty()
            {
                continue;
            }
            let problem = match &state {
                GuardState::Broken { error } => Some(error.clone()),
                GuardState::Stale { .. } => Some("of another binary, or not complete".to_owned()),
                _ => found.obstacle().filter(|_| is_there),
            };
            let problem = problem.or_else(|| (!brought.is_empty()).then(|| brought.join("; ")));
            let last = lasts.get(host).filter(|_| is_there);
            rows.push(HostStatus {
                host: host.to_owned(),
                installed: is_there,
                settings: found.path().to_string_lossy().into_owned(),
                // A logged decision proves that the host runs the hook.
                accepted: last.map(|_| true),
                last_decision: last.map(|last| format!("{} {}", last.time, last.decision)),
                problem,
            });
        }
    }
    Ok(rows)
}

/// Combines the exit code with the state of one more settings file.
fn worse(exit: Exit, state: &GuardState, works: bool) -> Exit {
    match state {
        GuardState::Broken { .. } => Exit::Unread,
        GuardState::Stale { .. } if exit != Exit::Unread => Exit::Failed,
        GuardState::NotInstalled | GuardState::Installed if !works && exit != Exit::Unread => {
            Exit::Failed
        }
        _ => exit,
    }
}

fn print_seen(seen: &SettingsFile<'_>, printer: &mut Printer) -> Result<(), Stop> {
    let (tone, words) = match seen.state {
        GuardState::Installed => (style::GOOD, "installed"),
        GuardState::NotInstalled => (style::DIM, "not installed"),
        GuardState::Stale { .. } => (style::WARN, "stale"),
        GuardState::Broken { .. } => (style::BAD, "broken file"),
    };
    let scope = match seen.scope {
        SettingsScope::User => "user",
        SettingsScope::Project => "project",
        SettingsScope::Managed => "managed",
    };
    let line = StyledLine::of(style::STRONG, title(seen.host))
        .with(style::PLAIN, printable!(", {}: ", scope))
        .with(tone, words)
        .with(style::DIM, printer.redact(format!(" ({})", seen.path.display())));
    printer.line(&line)?;
    match seen.state {
        GuardState::Stale { commands } => {
            for command in commands {
                let shown = printer.redact(format!("  runs {command}"));
                printer.line(&StyledLine::of(style::DIM, shown))?;
            }
        }
        GuardState::Broken { error } => {
            let shown = printer.redact(format!("  {error}"));
            printer.line(&StyledLine::of(style::BAD, shown))?;
        }
        GuardState::Installed | GuardState::NotInstalled => {}
    }
    if let Some(obstacle) = &seen.obstacle {
        let words = printer.redact(format!("  but {obstacle}"));
        printer.line(&StyledLine::of(style::WARN, words))?;
    }
    for found in &seen.repository {
        let words = printer.redact(format!("  in the repository: {found}"));
        printer.line(&StyledLine::of(style::WARN, words))?;
    }
    if *seen.state == GuardState::Installed {
        let words = match seen.last {
            Some(last) => format!("  last decision: {} at {}", last.decision, last.time),
            None => "  no decision in the log yet; `toolmark guard doctor` tries it".to_owned(),
        };
        printer.line(&StyledLine::of(style::DIM, printer.redact(words)))?;
    }
    if let Some(note) = seen.note {
        printer.line(&StyledLine::of(style::DIM, printable!("  note: {}", note)))?;
    }
    Ok(())
}

impl Which {
    /// Whether the output is machine-readable.
    pub(super) fn is_json(&self) -> bool {
        self.format == InstallOutput::Json
    }

    /// The selected agents.
    pub(super) fn hosts(
        &self,
        place: &Environment,
        printer: &mut Printer,
    ) -> Result<Vec<&'static str>, Stop> {
        selected(&self.hosts, self.all, place, printer)
    }
}

fn complain(host: &'static str, error: &str, printer: &mut Printer) -> Result<(), Stop> {
    let line = StyledLine::of(style::BAD.bold(), "error")
        .with(style::PLAIN, ": ")
        .with(style::STRONG, title(host))
        .with(style::PLAIN, printable!(": {}; nothing was written", printer.redact(error)));
    Ok(printer.notice(&line)?)
}

pub(super) fn title(host: &'static str) -> &'static str {
    toolmark_hosts::by_id(host).map_or(host, |host| host.title)
}
