//! Installs and uninstalls the guard in the settings of the hosts.
//!
//! A [`Plan`] is the text of one settings file before and after; nothing is written before
//! [`Plan::apply`]. Texts are edited in place, so that order, comments and unknown keys are
//! preserved. A file that cannot be read is never written.

mod edit;
mod file;
mod hooks;
mod jsonc;
mod list;
mod switch;
pub(crate) mod toml;

use crate::{HOSTS, Host, Paths};
use hooks::{HookState, Hooks};
use serde::Serialize;
use serde_json::Value;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

pub use list::{ListError, add_to_list};
pub(crate) use switch::Switch;

/// Timeout of the hook, in seconds. The guard needs milliseconds, but a machine that is
/// swapping needs more.
pub(crate) const TIMEOUT: u64 = 10;

/// Small program that only contains the hook.
const HOOK: &str = "toolmark-hook";

/// Scope of settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SettingsScope {
    /// All projects of the user.
    User,
    /// A single project.
    Project,
    /// All users of the machine; neither users nor projects can change or disable it.
    Managed,
}

/// Directories in which hosts look for their settings.
#[derive(Debug, Clone)]
pub struct Environment {
    /// Home directory of the user.
    pub home: PathBuf,
    /// Directory of the project.
    pub project: PathBuf,
    /// Returns environment variables that override settings directories.
    pub variable: fn(&str) -> Option<OsString>,
}

impl Environment {
    /// Returns the directory in which a host looks for settings of this scope.
    fn directory(&self, paths: &Paths, scope: SettingsScope) -> PathBuf {
        match scope {
            SettingsScope::User => {
                let moved = paths.directory(Some(&self.home), self.variable);
                moved.unwrap_or_else(|| self.home.join(paths.directory))
            }
            SettingsScope::Project => self.project.clone(),
            SettingsScope::Managed => PathBuf::from("/"),
        }
    }
}

/// A required hook in a settings file.
#[derive(Debug)]
pub(crate) struct HookEntry {
    pub(crate) event: &'static str,
    /// Entry in the array of the event.
    pub(crate) item: Value,
    /// Command in the entry.
    pub(crate) command: String,
}

/// Instructions for installing the guard in the settings of a host.
pub(crate) struct Installer {
    /// Program of the host.
    pub(crate) program: &'static str,
    /// Returns the file with the hooks, given the default one.
    pub(crate) file: fn(PathBuf) -> PathBuf,
    /// Returns the hooks for a command.
    pub(crate) entries: fn(&str, SettingsScope) -> Vec<HookEntry>,
    /// Required `version` of the file.
    pub(crate) version: Option<u32>,
    /// Returns what the user has to know or do for the hooks to work.
    pub(crate) note: fn(SettingsScope) -> Option<&'static str>,
    /// Path of the settings that an administrator sets for all users, if the host has them.
    pub(crate) managed: Option<&'static str>,
    /// Settings that switch all hooks off.
    pub(crate) switches: &'static [Switch],
    /// Returns why the host would reject the settings even though they can be parsed.
    pub(crate) refuses: fn(&str) -> Option<String>,
}

impl Installer {
    /// An installer without special requirements.
    pub(crate) const PLAIN: Self = Self {
        program: "",
        file: |usual| usual,
        entries: |_, _| Vec::new(),
        version: None,
        note: |_| None,
        managed: None,
        switches: &[],
        refuses: |_| None,
    };
}

/// A host for which the guard can be installed.
#[derive(Clone, Copy)]
struct InstallTarget {
    host: &'static Host,
    installer: &'static Installer,
    paths: &'static Paths,
}

fn targets() -> impl Iterator<Item = InstallTarget> {
    HOSTS.iter().filter_map(|host| {
        Some(InstallTarget { host, installer: host.installer?, paths: host.paths? })
    })
}

/// Returns the ids of the hosts for which the guard can be installed.
pub fn ids() -> impl Iterator<Item = &'static str> {
    targets().map(|target| target.host.id)
}

/// Whether the guard can be installed in the settings of a host for all users.
#[must_use]
pub fn has_managed(host: &str) -> bool {
    targets().any(|target| target.host.id == host && target.installer.managed.is_some())
}

/// Returns the hosts that seem to be installed: their directory is in the home, or their
/// program is in one of the directories of `path`.
#[must_use]
pub fn present(env: &Environment, path: &[PathBuf]) -> Vec<&'static str> {
    let is_there = |target: &InstallTarget| {
        let program = format!("{}{}", target.installer.program, std::env::consts::EXE_SUFFIX);
        env.directory(target.paths, SettingsScope::User).is_dir()
            || path.iter().any(|dir| dir.join(&program).is_file())
    };
    targets().filter(is_there).map(|target| target.host.id).collect()
}

/// Position and reason of an error in a settings file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SettingsFault {
    line: usize,
    column: usize,
    why: String,
}

impl SettingsFault {
    fn at(text: &str, at: usize, why: &str) -> Self {
        let (line, column) = jsonc::position(text, at);
        Self { line, column, why: why.to_owned() }
    }
}

/// Errors when reading or writing settings.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// Unknown host.
    #[error("there is no installer for `{0}`")]
    Unknown(String),
    /// The host has no settings for all users, or they are not known.
    #[error("the guard cannot be installed for all users of {0}")]
    NotManaged(&'static str),
    /// The text is invalid for the host.
    #[error("{}:{line}:{column}: {why}", path.display())]
    Broken {
        /// Path of the file.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// Reason.
        why: String,
    },
    /// Another process changed the file after it was read.
    #[error("{} was changed by something else in the meantime", .0.display())]
    Changed(PathBuf),
    /// The operating system returned an error.
    #[error("failed to {what} {}: {error}", path.display())]
    Io {
        /// Attempted operation.
        what: &'static str,
        /// Path of the file.
        path: PathBuf,
        /// Error of the operating system.
        error: std::io::Error,
    },
}

/// Planned change of one settings file.
#[derive(Debug)]
pub struct Plan {
    /// Id of the host.
    pub host: &'static str,
    /// Scope of the settings.
    pub scope: SettingsScope,
    /// Path of the file.
    pub path: PathBuf,
    /// Current text; `None` if the file does not exist.
    pub before: Option<String>,
    /// New text; `None` if the file should be removed.
    pub after: Option<String>,
    /// Path of the backup of the current text.
    pub backup: PathBuf,
    /// Reason why the host does not run any hook, if there is one.
    pub obstacle: Option<String>,
    /// Instructions for the user.
    pub note: Option<&'static str>,
    copy: BackupHandling,
}

/// Formats the change of a file as a unified diff; `None` means that the file does not exist.
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

/// Handling of the backup copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BackupHandling {
    /// Write a new backup.
    Written,
    /// Keep the existing backup, which predates the guard.
    Kept,
    /// Remove the backup, which is no longer needed.
    Removed,
}

impl Plan {
    /// Whether the plan changes anything.
    #[must_use]
    pub fn changes(&self) -> bool {
        self.before != self.after
    }

    /// Returns the change as a unified diff.
    #[must_use]
    pub fn diff(&self) -> String {
        unified_diff(&self.path, self.before.as_deref(), self.after.as_deref())
    }

    /// Applies the plan, unless the file has changed since the plan was made.
    ///
    /// # Errors
    ///
    /// Fails if the file has changed or cannot be written.
    pub fn apply(&self) -> Result<(), InstallError> {
        if !self.changes() {
            return Ok(());
        }
        let io = |what, path: &Path| {
            let path = path.to_owned();
            move |error| InstallError::Io { what, path, error }
        };
        if file::read(&self.path).map_err(io("read", &self.path))? != self.before {
            return Err(InstallError::Changed(self.path.clone()));
        }
        if let Some(before) = self.before.as_ref().filter(|_| self.copy == BackupHandling::Written)
        {
            // Settings may contain secrets, so the copy gets the same permissions.
            file::write(&self.backup, before, &self.path).map_err(io("write", &self.backup))?;
        }
        match &self.after {
            Some(after) => {
                file::write(&self.path, after, &self.path).map_err(io("write", &self.path))?
            }
            None => fs::remove_file(&self.path).map_err(io("remove", &self.path))?,
        }
        if self.copy == BackupHandling::Removed && self.backup.is_file() {
            fs::remove_file(&self.backup).map_err(io("remove", &self.backup))?;
        }
        Ok(())
    }
}

/// State of the guard in the settings of a host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "kebab-case")]
pub enum GuardState {
    /// Installed as this program would install it.
    Installed,
    /// Not installed.
    NotInstalled,
    /// Installed for another binary, or incomplete.
    Stale {
        /// Existing commands.
        commands: Vec<String>,
    },
    /// The file cannot be read.
    Broken {
        /// Position and reason.
        error: String,
    },
}

/// Settings of one host, for a program at one path.
pub struct HostSettings<'a> {
    target: InstallTarget,
    env: &'a Environment,
    scope: SettingsScope,
    command: String,
    /// Equivalent alternative command.
    other: Option<String>,
}

impl<'a> HostSettings<'a> {
    /// Creates the settings of a host for the binary at this path. The command is the small
    /// hook program beside the binary, if it exists.
    ///
    /// # Errors
    ///
    /// Fails if the host is unknown.
    pub fn new(
        host: &str,
        scope: SettingsScope,
        env: &'a Environment,
        binary: &Path,
    ) -> Result<Self, InstallError> {
        let target = targets().find(|target| target.host.id == host);
        let target = target.ok_or_else(|| InstallError::Unknown(host.to_owned()))?;
        if scope == SettingsScope::Managed && target.installer.managed.is_none() {
            return Err(InstallError::NotManaged(target.host.title));
        }
        let guard = format!("{} guard --host {host}", quoted(binary));
        let hook = binary.with_file_name(format!("{HOOK}{}", std::env::consts::EXE_SUFFIX));
        let (command, other) = match hook.is_file() {
            true => (format!("{} --host {host}", quoted(&hook)), Some(guard)),
            false => (guard, None),
        };
        Ok(Self { target, env, scope, command, other })
    }

    /// Adds the user's policy to the command, for hosts whose hooks run in an environment
    /// that a project can change. Project settings are excluded because they are shared with
    /// other people.
    #[must_use]
    pub fn with_fixed(mut self, policy: Option<&Path>, log: Option<&Path>) -> Self {
        for (flag, path) in [("--policy", policy), ("--log", log)] {
            if let Some(path) = path.filter(|_| self.scope == SettingsScope::User) {
                let fix =
                    |command: &mut String| command.push_str(&format!(" {flag} {}", quoted(path)));
                fix(&mut self.command);
                self.other.iter_mut().for_each(fix);
            }
        }
        self
    }

    /// Returns the commands of the guard in the settings.
    #[must_use]
    pub fn commands(&self) -> Vec<String> {
        let text = self.read().ok().flatten().unwrap_or_default();
        // With an empty command, all existing commands count as others.
        let none = Self { command: String::new(), other: None, ..*self };
        match none.found(&text) {
            Ok(HookState::Others(commands)) => commands,
            _ => Vec::new(),
        }
    }

    /// Returns the id of the host.
    #[must_use]
    pub fn host(&self) -> &'static str {
        self.target.host.id
    }

    /// Returns the path of the settings file.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        let InstallTarget { installer, paths, .. } = self.target;
        let hooks = match self.scope {
            SettingsScope::User => paths.user_hooks,
            SettingsScope::Project => paths.project_hooks,
            SettingsScope::Managed => installer.managed.unwrap_or_default(),
        };
        (installer.file)(self.env.directory(paths, self.scope).join(hooks))
    }

    /// Plans the installation of the guard.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read or is invalid for the host.
    pub fn install(&self) -> Result<Plan, InstallError> {
        let mut plan = self.plan(|text| self.with(text).map(Some))?;
        let is_there = plan.before.as_deref().is_some_and(|text| !self.is_free(text));
        if is_there && plan.backup.is_file() {
            plan.copy = BackupHandling::Kept;
        }
        Ok(plan)
    }

    /// Plans the removal of the guard.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read or is invalid for the host.
    pub fn uninstall(&self) -> Result<Plan, InstallError> {
        let mut plan = self.plan(|text| text.map(|text| self.without(text)).transpose())?;
        (plan.note, plan.obstacle) = (None, None);
        if let Some(text) = plan.before.as_deref().filter(|_| plan.changes())
            && let Some(before) = self.undone(text, &plan.backup)
        {
            (plan.after, plan.copy) = (before, BackupHandling::Removed);
        }
        Ok(plan)
    }

    /// Returns the exact text from before the installation, if nothing else was changed
    /// since.
    fn undone(&self, text: &str, backup: &Path) -> Option<Option<String>> {
        let command = match self.found(text).ok()? {
            HookState::Others(mut commands) if commands.len() == 1 => commands.remove(0),
            _ => self.command.clone(),
        };
        let as_found = Self { command, other: None, ..*self };
        let backup = file::read(backup).ok().flatten().filter(|text| self.is_free(text));
        let mut befores = [backup, None].into_iter();
        befores.find(|before| as_found.with(before.as_deref()).is_ok_and(|with| with == text))
    }

    /// Whether a text has no trace of the guard.
    fn is_free(&self, text: &str) -> bool {
        text.trim().is_empty() || self.found(text) == Ok(HookState::None)
    }

    /// Returns the state of the guard.
    #[must_use]
    pub fn state(&self) -> GuardState {
        let found = self.read().and_then(|text| match text {
            Some(text) if !text.trim().is_empty() => {
                let found = self.found(&text).map_err(|fault| self.broken(fault))?;
                let is_other = |command: &String| {
                    let as_found = Self { command: command.clone(), other: None, ..*self };
                    as_found.found(&text) == Ok(HookState::All)
                };
                // An earlier `install` fixed another path of the policy.
                let is_own = |command: &&String| {
                    let known = [Some(&self.command), self.other.as_ref()];
                    known
                        .into_iter()
                        .flatten()
                        .any(|own| without_policy(own) == without_policy(command))
                };
                let others = match &found {
                    HookState::Others(commands) => commands.iter().filter(is_own).collect(),
                    HookState::None | HookState::All => Vec::new(),
                };
                let is_there = self.other.iter().chain(others).any(is_other);
                Ok(if is_there { HookState::All } else { found })
            }
            _ => Ok(HookState::None),
        });
        match found {
            Ok(HookState::None) => GuardState::NotInstalled,
            Ok(HookState::All) => GuardState::Installed,
            Ok(HookState::Others(commands)) => GuardState::Stale { commands },
            Err(error) => GuardState::Broken { error: error.to_string() },
        }
    }

    /// Returns what the user has to know or do for the hooks to work.
    #[must_use]
    pub fn note(&self) -> Option<&'static str> {
        (self.target.installer.note)(self.scope)
    }

    /// Returns the reason why the host does not run any hook, if there is one.
    #[must_use]
    pub fn obstacle(&self) -> Option<String> {
        let InstallTarget { installer, paths, host } = self.target;
        // Switches of users and projects have no effect on managed settings.
        let switches = installer.switches.iter().filter(|_| self.scope != SettingsScope::Managed);
        let mut thrown = switches.map(|switch| {
            switch.thrown(&self.env.directory(paths, switch.scope).join(switch.file))
        });
        let thrown = thrown.find_map(|thrown| thrown);
        let refused = || {
            let why = (installer.refuses)(&self.read().ok()??)?;
            Some(format!("{} does not accept {}: {why}", host.title, self.path().display()))
        };
        thrown.or_else(refused)
    }

    fn read(&self) -> Result<Option<String>, InstallError> {
        let path = self.path();
        file::read(&path).map_err(|error| InstallError::Io { what: "read", path, error })
    }

    fn broken(&self, fault: SettingsFault) -> InstallError {
        let SettingsFault { line, column, why } = fault;
        InstallError::Broken { path: self.path(), line, column, why }
    }

    fn plan(
        &self,
        change: impl FnOnce(Option<&str>) -> Result<Option<String>, SettingsFault>,
    ) -> Result<Plan, InstallError> {
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
            copy: BackupHandling::Written,
        })
    }

    fn with(&self, text: Option<&str>) -> Result<String, SettingsFault> {
        self.edited(|hooks| {
            if self.is_toml() { toml::installed(hooks, text) } else { hooks.installed(text) }
        })
    }

    fn without(&self, text: &str) -> Result<String, SettingsFault> {
        self.edited(|hooks| {
            if self.is_toml() { toml::uninstalled(hooks, text) } else { hooks.uninstalled(text) }
        })
    }

    fn found(&self, text: &str) -> Result<HookState, SettingsFault> {
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

/// Returns a command without its fixed policy.
fn without_policy(command: &str) -> &str {
    command.split_once(" --policy ").map_or(command, |(command, _)| command)
}

/// Quotes a path as a shell word.
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
