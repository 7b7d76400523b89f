//! Puts the guard into the settings of the hosts and takes it out again.
//!
//! A [`Plan`] is the text of one settings file before and after; nothing is
//! written before [`Plan::apply`]. Texts are edited in place, so that order,
//! comments and unknown keys stay. A file that cannot be read is never written.

mod edit;
mod file;
mod hooks;
mod jsonc;
mod list;
mod switch;
pub(crate) mod toml;

use crate::{HOSTS, Host, Paths};
use hooks::{Found, Hooks};
use serde::Serialize;
use serde_json::Value;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

pub use list::add_to_list;
pub(crate) use switch::Switch;

/// How long a host waits for the guard, in seconds. It needs milliseconds; a
/// machine that is swapping needs more.
pub(crate) const TIMEOUT: u64 = 10;

/// The program that is nothing but the hook.
const HOOK: &str = "toolmark-hook";

/// Whose settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// Every project of the user.
    User,
    /// One project.
    Project,
}

/// Where hosts look for their settings.
#[derive(Debug, Clone)]
pub struct Environment {
    /// The home directory of the user.
    pub home: PathBuf,
    /// The directory of the project.
    pub project: PathBuf,
    /// Environment variables that move settings.
    pub variable: fn(&str) -> Option<OsString>,
}

impl Environment {
    /// The directory in which a host looks for settings of this scope.
    fn directory(&self, paths: &Paths, scope: Scope) -> PathBuf {
        match scope {
            Scope::User => {
                let moved = paths.directory(Some(&self.home), self.variable);
                moved.unwrap_or_else(|| self.home.join(paths.directory))
            }
            Scope::Project => self.project.clone(),
        }
    }
}

/// One hook that should be in a settings file.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) event: &'static str,
    /// The entry in the array of the event.
    pub(crate) item: Value,
    /// The command in it.
    pub(crate) command: String,
}

/// How the guard gets into the settings of a host.
pub(crate) struct Installer {
    /// The program of the host.
    pub(crate) program: &'static str,
    /// The file that holds the hooks, given the one that usually does.
    pub(crate) file: fn(PathBuf) -> PathBuf,
    /// The hooks, given the command.
    pub(crate) entries: fn(&str, Scope) -> Vec<Entry>,
    /// The `version` that the file must have.
    pub(crate) version: Option<u32>,
    /// What the user has to know or do for the hooks to work.
    pub(crate) note: fn(Scope) -> Option<&'static str>,
    /// Where all hooks can be switched off.
    pub(crate) switches: &'static [Switch],
    /// Why the host would not take a text for its settings, though it can be read.
    pub(crate) refuses: fn(&str) -> Option<String>,
}

impl Installer {
    /// One that needs nothing beside the hooks.
    pub(crate) const PLAIN: Self = Self {
        program: "",
        file: |usual| usual,
        entries: |_, _| Vec::new(),
        version: None,
        note: |_| None,
        switches: &[],
        refuses: |_| None,
    };
}

/// A host the guard can be installed for.
#[derive(Clone, Copy)]
struct Target {
    host: &'static Host,
    installer: &'static Installer,
    paths: &'static Paths,
}

fn targets() -> impl Iterator<Item = Target> {
    HOSTS
        .iter()
        .filter_map(|host| Some(Target { host, installer: host.installer?, paths: host.paths? }))
}

/// The ids of the hosts the guard can be installed for.
pub fn ids() -> impl Iterator<Item = &'static str> {
    targets().map(|target| target.host.id)
}

/// The hosts that seem to be on this machine: their directory is in the home, or
/// their program in one of these directories.
#[must_use]
pub fn present(env: &Environment, path: &[PathBuf]) -> Vec<&'static str> {
    let is_there = |target: &Target| {
        let program = format!("{}{}", target.installer.program, std::env::consts::EXE_SUFFIX);
        env.directory(target.paths, Scope::User).is_dir()
            || path.iter().any(|dir| dir.join(&program).is_file())
    };
    targets().filter(is_there).map(|target| target.host.id).collect()
}

/// A place in a settings file that cannot be read, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    line: usize,
    column: usize,
    why: String,
}

impl Fault {
    fn at(text: &str, at: usize, why: &str) -> Self {
        let (line, column) = jsonc::position(text, at);
        Self { line, column, why: why.to_owned() }
    }
}

/// Why settings could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no such host.
    #[error("there is no installer for `{0}`")]
    Unknown(String),
    /// The text is not what the host reads.
    #[error("{}:{line}:{column}: {why}", path.display())]
    Broken {
        /// The file.
        path: PathBuf,
        /// The line, counted from one.
        line: usize,
        /// The column, counted from one.
        column: usize,
        /// What is wrong.
        why: String,
    },
    /// Something else wrote the file since it was read.
    #[error("{} was changed by something else in the meantime", .0.display())]
    Changed(PathBuf),
    /// The system refused.
    #[error("failed to {what} {}: {error}", path.display())]
    Io {
        /// What was tried.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        error: std::io::Error,
    },
}

/// What is to be done to one settings file.
#[derive(Debug)]
pub struct Plan {
    /// The host.
    pub host: &'static str,
    /// Whose settings.
    pub scope: Scope,
    /// The file.
    pub path: PathBuf,
    /// Its text; `None` if there is no file.
    pub before: Option<String>,
    /// The text it should have; `None` if there should be no file.
    pub after: Option<String>,
    /// Where the text before is kept.
    pub backup: PathBuf,
    /// What keeps the host from running any hook, if something does.
    pub obstacle: Option<String>,
    /// What the user has to know or do.
    pub note: Option<&'static str>,
    copy: Keep,
}

/// The change of a file as a unified diff; without a text there is no file.
#[must_use]
pub fn unified_diff(path: &Path, before: Option<&str>, after: Option<&str>) -> String {
    let name = |side: Option<&str>| match side {
        Some(_) => path.display().to_string(),
        None => "/dev/null".to_owned(),
    };
    similar::TextDiff::from_lines(before.unwrap_or_default(), after.unwrap_or_default())
        .unified_diff()
        .header(&name(before), &name(after))
        .to_string()
}

/// What becomes of the copy of the text before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Keep {
    /// It is written.
    Written,
    /// The one that is there is from before the guard came, and stays.
    Kept,
    /// Nobody needs it any more.
    Removed,
}

impl Plan {
    /// Is there anything to do?
    #[must_use]
    pub fn changes(&self) -> bool {
        self.before != self.after
    }

    /// The change as a unified diff.
    #[must_use]
    pub fn diff(&self) -> String {
        unified_diff(&self.path, self.before.as_deref(), self.after.as_deref())
    }

    /// Does it, unless the file has changed since the plan was made.
    ///
    /// # Errors
    ///
    /// The file changed, or the system refuses.
    pub fn apply(&self) -> Result<(), Error> {
        if !self.changes() {
            return Ok(());
        }
        let io = |what, path: &Path| {
            let path = path.to_owned();
            move |error| Error::Io { what, path, error }
        };
        if file::read(&self.path).map_err(io("read", &self.path))? != self.before {
            return Err(Error::Changed(self.path.clone()));
        }
        if let Some(before) = self.before.as_ref().filter(|_| self.copy == Keep::Written) {
            // Settings may hold secrets: the copy is no more readable.
            file::write(&self.backup, before, &self.path).map_err(io("write", &self.backup))?;
        }
        match &self.after {
            Some(after) => {
                file::write(&self.path, after, &self.path).map_err(io("write", &self.path))?
            }
            None => fs::remove_file(&self.path).map_err(io("remove", &self.path))?,
        }
        if self.copy == Keep::Removed && self.backup.is_file() {
            fs::remove_file(&self.backup).map_err(io("remove", &self.backup))?;
        }
        Ok(())
    }
}

/// What there is of the guard in the settings of a host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "kebab-case")]
pub enum State {
    /// As this program would install it.
    Installed,
    /// Nothing.
    NotInstalled,
    /// Of another binary, or not complete.
    Stale {
        /// The commands that are there.
        commands: Vec<String>,
    },
    /// The file cannot be read.
    Broken {
        /// Where and why.
        error: String,
    },
}

/// The settings of one host, seen by the program at one path.
pub struct Settings<'a> {
    target: Target,
    env: &'a Environment,
    scope: Scope,
    command: String,
    /// Another command that does the same.
    other: Option<String>,
}

impl<'a> Settings<'a> {
    /// The settings of a host for the binary at this path: the command is the
    /// small program of the hook beside it, where there is one.
    ///
    /// # Errors
    ///
    /// There is no such host.
    pub fn new(
        host: &str,
        scope: Scope,
        env: &'a Environment,
        binary: &Path,
    ) -> Result<Self, Error> {
        let target = targets().find(|target| target.host.id == host);
        let target = target.ok_or_else(|| Error::Unknown(host.to_owned()))?;
        let guard = format!("{} guard --host {host}", quoted(binary));
        let hook = binary.with_file_name(format!("{HOOK}{}", std::env::consts::EXE_SUFFIX));
        let (command, other) = match hook.is_file() {
            true => (format!("{} --host {host}", quoted(&hook)), Some(guard)),
            false => (guard, None),
        };
        Ok(Self { target, env, scope, command, other })
    }

    /// With the user's policy fixed in the command, for hosts whose hooks run in an
    /// environment that a project can change. Not in the settings of a project,
    /// which others have too.
    #[must_use]
    pub fn with_fixed(mut self, policy: Option<&Path>, log: Option<&Path>) -> Self {
        for (flag, path) in [("--policy", policy), ("--log", log)] {
            if let Some(path) = path.filter(|_| self.scope == Scope::User) {
                let fix =
                    |command: &mut String| command.push_str(&format!(" {flag} {}", quoted(path)));
                fix(&mut self.command);
                self.other.iter_mut().for_each(fix);
            }
        }
        self
    }

    /// The commands of the guard that the settings hold.
    #[must_use]
    pub fn commands(&self) -> Vec<String> {
        let text = self.read().ok().flatten().unwrap_or_default();
        // Compared with a command that nothing has, all that are there are others.
        let none = Self { command: String::new(), other: None, ..*self };
        match none.found(&text) {
            Ok(Found::Others(commands)) => commands,
            _ => Vec::new(),
        }
    }

    /// The host.
    #[must_use]
    pub fn host(&self) -> &'static str {
        self.target.host.id
    }

    /// The settings file.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        let Target { installer, paths, .. } = self.target;
        let hooks = match self.scope {
            Scope::User => paths.user_hooks,
            Scope::Project => paths.project_hooks,
        };
        (installer.file)(self.env.directory(paths, self.scope).join(hooks))
    }

    /// How to put the guard in.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or is not what the host reads.
    pub fn install(&self) -> Result<Plan, Error> {
        let mut plan = self.plan(|text| self.with(text).map(Some))?;
        let is_there = plan.before.as_deref().is_some_and(|text| !self.is_free(text));
        if is_there && plan.backup.is_file() {
            plan.copy = Keep::Kept;
        }
        Ok(plan)
    }

    /// How to take the guard out.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or is not what the host reads.
    pub fn uninstall(&self) -> Result<Plan, Error> {
        let mut plan = self.plan(|text| text.map(|text| self.without(text)).transpose())?;
        (plan.note, plan.obstacle) = (None, None);
        if let Some(text) = plan.before.as_deref().filter(|_| plan.changes())
            && let Some(before) = self.undone(text, &plan.backup)
        {
            (plan.after, plan.copy) = (before, Keep::Removed);
        }
        Ok(plan)
    }

    /// What was there before the guard came, byte by byte, where nothing else
    /// was changed since.
    fn undone(&self, text: &str, backup: &Path) -> Option<Option<String>> {
        let command = match self.found(text).ok()? {
            Found::Others(mut commands) if commands.len() == 1 => commands.remove(0),
            _ => self.command.clone(),
        };
        let as_found = Self { command, other: None, ..*self };
        let backup = file::read(backup).ok().flatten().filter(|text| self.is_free(text));
        let mut befores = [backup, None].into_iter();
        befores.find(|before| as_found.with(before.as_deref()).is_ok_and(|with| with == text))
    }

    /// Is there nothing of the guard in a text?
    fn is_free(&self, text: &str) -> bool {
        text.trim().is_empty() || self.found(text) == Ok(Found::None)
    }

    /// What there is of the guard.
    #[must_use]
    pub fn state(&self) -> State {
        let found = self.read().and_then(|text| match text {
            Some(text) if !text.trim().is_empty() => {
                let found = self.found(&text).map_err(|fault| self.broken(fault))?;
                let is_other = |command: &String| {
                    let as_found = Self { command: command.clone(), other: None, ..*self };
                    as_found.found(&text) == Ok(Found::All)
                };
                // Another place for the policy was fixed by an earlier `install`.
                let is_own = |command: &&String| {
                    let known = [Some(&self.command), self.other.as_ref()];
                    known
                        .into_iter()
                        .flatten()
                        .any(|own| without_policy(own) == without_policy(command))
                };
                let others = match &found {
                    Found::Others(commands) => commands.iter().filter(is_own).collect(),
                    Found::None | Found::All => Vec::new(),
                };
                let is_there = self.other.iter().chain(others).any(is_other);
                Ok(if is_there { Found::All } else { found })
            }
            _ => Ok(Found::None),
        });
        match found {
            Ok(Found::None) => State::NotInstalled,
            Ok(Found::All) => State::Installed,
            Ok(Found::Others(commands)) => State::Stale { commands },
            Err(error) => State::Broken { error: error.to_string() },
        }
    }

    /// What the user has to know or do for the hooks to work.
    #[must_use]
    pub fn note(&self) -> Option<&'static str> {
        (self.target.installer.note)(self.scope)
    }

    /// What keeps the host from running any hook, if something does.
    #[must_use]
    pub fn obstacle(&self) -> Option<String> {
        let Target { installer, paths, host } = self.target;
        let thrown = installer.switches.iter().find_map(|switch| {
            switch.thrown(&self.env.directory(paths, switch.scope).join(switch.file))
        });
        let refused = || {
            let why = (installer.refuses)(&self.read().ok()??)?;
            Some(format!("{} does not accept {}: {why}", host.title, self.path().display()))
        };
        thrown.or_else(refused)
    }

    fn read(&self) -> Result<Option<String>, Error> {
        let path = self.path();
        file::read(&path).map_err(|error| Error::Io { what: "read", path, error })
    }

    fn broken(&self, fault: Fault) -> Error {
        let Fault { line, column, why } = fault;
        Error::Broken { path: self.path(), line, column, why }
    }

    fn plan(
        &self,
        change: impl FnOnce(Option<&str>) -> Result<Option<String>, Fault>,
    ) -> Result<Plan, Error> {
        let path = self.path();
        let before = self.read()?;
        let after = change(before.as_deref()).map_err(|fault| self.broken(fault))?;
        Ok(Plan {
            host: self.host(),
            scope: self.scope,
            backup: file::backup_of(&path),
            path,
            before,
            after,
            obstacle: self.obstacle(),
            note: self.note(),
            copy: Keep::Written,
        })
    }

    fn with(&self, text: Option<&str>) -> Result<String, Fault> {
        self.edited(|hooks| {
            if self.is_toml() { toml::installed(hooks, text) } else { hooks.installed(text) }
        })
    }

    fn without(&self, text: &str) -> Result<String, Fault> {
        self.edited(|hooks| {
            if self.is_toml() { toml::uninstalled(hooks, text) } else { hooks.uninstalled(text) }
        })
    }

    fn found(&self, text: &str) -> Result<Found, Fault> {
        self.edited(
            |hooks| if self.is_toml() { toml::found(hooks, text) } else { hooks.found(text) },
        )
    }

    fn is_toml(&self) -> bool {
        self.path().extension().is_some_and(|extension| extension == "toml")
    }

    fn edited<T>(&self, edit: impl FnOnce(&Hooks<'_>) -> T) -> T {
        let installer = self.target.installer;
        let entries = (installer.entries)(&self.command, self.scope);
        edit(&Hooks { host: self.host(), entries: &entries, version: installer.version })
    }
}

/// A command without the policy that is fixed in it.
fn without_policy(command: &str) -> &str {
    command.split_once(" --policy ").map_or(command, |(command, _)| command)
}

/// A path as a word of a shell.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@%".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text;
    }
    if cfg!(windows) {
        return format!("\"{text}\"");
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_made_up;
