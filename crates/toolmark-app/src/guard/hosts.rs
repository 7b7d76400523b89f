//! The hosts for which the guard is installed, and their settings.

use crate::{ActionEvents, Failure, Stop, Tone};
use std::env;
use std::path::{Path, PathBuf};
use toolmark_guard::files;
use toolmark_hosts::install::{self, Environment, HostSettings, SettingsScope};
use toolmark_report::Verbosity;

/// Returns the selected agents: all known ones, the named ones, or those found on this machine.
///
/// # Errors
///
/// A host is unknown.
pub fn selected(
    names: &[String],
    all: bool,
    place: &Environment,
    events: &mut dyn ActionEvents,
) -> Result<Vec<&'static str>, Stop> {
    let known = || install::ids().collect::<Vec<_>>().join(", ");
    if all {
        return Ok(install::ids().collect());
    }
    if names.is_empty() {
        let path = env::var_os("PATH").unwrap_or_default();
        let path: Vec<PathBuf> = env::split_paths(&path).collect();
        let present = install::present(place, &path);
        if present.is_empty() && events.verbosity() > Verbosity::Quiet {
            let words = format!("no agent was found on this machine; known hosts: {}", known());
            let words = events.redactor().apply(words);
            events.note(Tone::Warning, words)?;
        }
        return Ok(present);
    }
    let mut hosts = Vec::new();
    for name in names {
        let Some(host) = install::ids().find(|id| id == name) else {
            let failure = Failure::usage(format!("unknown host {name}"));
            return Err(failure.hint(format!("known hosts: {}", known())).into());
        };
        if !hosts.contains(&host) {
            hosts.push(host);
        }
    }
    Ok(hosts)
}

/// Returns the settings of a host, with the policy and the log that the hook must be told.
///
/// # Errors
///
/// The host is unknown, or has no such settings.
pub fn settings<'a>(
    host: &str,
    scope: SettingsScope,
    place: &'a Environment,
    binary: &Path,
) -> Result<HostSettings<'a>, Failure> {
    let settings = HostSettings::new(host, scope, place, binary);
    let settings = settings.map_err(|error| Failure::usage(error.to_string()))?;
    Ok(settings.with_fixed(files::to_be_fixed().as_deref(), files::log_to_be_fixed().as_deref()))
}

/// Returns the locations of settings: the home directory, and the project around the working
/// directory.
///
/// # Errors
///
/// One of them is unknown.
pub fn place() -> Result<Environment, Failure> {
    let home = env::home_dir()
        .filter(|home| !home.as_os_str().is_empty())
        .ok_or_else(|| Failure::usage("the home directory is not known").hint("set HOME"))?;
    let here = env::current_dir()
        .map_err(|error| Failure::unread(format!("failed to find the directory: {error}")))?;
    let root = here.ancestors().find(|dir| dir.join(".git").exists()).unwrap_or(&here);
    Ok(Environment { home, project: root.to_owned(), variable: |name| env::var_os(name) })
}

/// Returns the path of the running program.
///
/// # Errors
///
/// It is unknown.
pub fn binary() -> Result<PathBuf, Failure> {
    env::current_exe().map_err(|error| Failure::unread(format!("failed to find itself: {error}")))
}

/// Returns the next steps after an installation, and its limits.
#[must_use]
pub fn next_steps() -> [String; 4] {
    let policy = files::user_policy();
    let policy = policy.map_or("the user's policy".to_owned(), |path| path.display().to_string());
    [
        format!("To begin gently, put `guard: {{preset: observe}}` into {policy}:"),
        "nothing is stopped then, and the log says what would have been.".to_owned(),
        "`toolmark guard doctor` tries the hooks, `toolmark guard uninstall` removes them."
            .to_owned(),
        "If this program moves, install again: until then Claude Code, Copilot CLI and Cursor \
         stop every call, and the others run them unguarded."
            .to_owned(),
    ]
}

/// Parses the chosen hosts from an answer; `None` for none of them.
///
/// # Errors
///
/// The answer names something else.
pub fn chosen(found: &[&'static str], answer: &str) -> Result<Option<Vec<String>>, Failure> {
    let words: Vec<&str> =
        answer.split(|c: char| c == ',' || c.is_whitespace()).filter(|w| !w.is_empty()).collect();
    if matches!(words.as_slice(), ["q" | "n" | "none"]) {
        return Ok(None);
    }
    if words.is_empty() {
        return Ok(Some(found.iter().map(|host| (*host).to_owned()).collect()));
    }
    let host = |word: &&str| {
        let at = word.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        let by_name = || found.iter().find(|host| *host == word);
        let host = at.and_then(|at| found.get(at)).or_else(by_name);
        let unknown = || Failure::usage(format!("`{word}` is none of them"));
        host.map(|host| (*host).to_owned()).ok_or_else(unknown)
    };
    words.iter().map(host).collect::<Result<_, _>>().map(Some)
}

#[cfg(test)]
mod tests {
    use super::chosen;

    #[test]
    fn answers_to_which() {
        let found = ["claude-code", "codex", "cursor"];
        let hosts = |answer| chosen(&found, answer).map(Option::unwrap_or_default).ok();
        let all = |hosts: &[&str]| Some(hosts.iter().map(|host| (*host).to_owned()).collect());
        for (answer, want) in [
            ("\n", all(&found)),
            ("1 3\n", all(&["claude-code", "cursor"])),
            ("2,codex", all(&["codex", "codex"])),
            ("q\n", all(&[])),
            ("4", None),
            ("0", None),
            ("emacs", None),
        ] {
            assert_eq!(hosts(answer), want, "{answer:?}");
        }
    }
}
