//! `git` settings, some of which make it run other programs or delete more: in `git config`, with
//! `-c`, and in the environment.
//!
//! ```denied
//! git -c core.pager='rm -rf /' log
//! git -c clean.requireForce=false clean
//! git -c clean.requireForce=no clean
//! git config clean.requireForce false && git clean -dx
//! git -c gc.pruneExpire=now gc
//! ```
//! ```asked
//! git config core.hooksPath /tmp/h
//! git config --get github.token
//! git -c http.sslVerify=false clone https://h/x
//! git config --global alias.x '!rm y'
//! ```
//! ```allowed
//! git config user.name x
//! git config --list
//! git config alias.st status
//! git config gc.pruneExpire now
//! git -c clean.requireForce=false -c clean.requireForce=true clean
//! git -c gc.pruneExpire=2.weeks.ago gc
//! ```

use super::{GIT, Program};
use crate::effects::{EffectKind, EffectScope, Reversibility};
use crate::options::ParsedOptions;
use crate::run::CommandRun;
use Reversibility::{R1, R3};

pub(crate) static PROGRAMS: &[Program] = &[Program {
    names: "git config",
    options: "global system local worktree f/file= blob= get get-all get-regexp get-urlmatch= \
              replace-all add unset unset-all rename-section remove-section l/list e/edit \
              get-color get-colorbool t/type= bool! int! bool-or-int! bool-or-str! path! \
              expiry-date! z/null name-only show-origin show-scope includes default= \
              fixed-value comment= value= all regexp= url= show-names append",
    code: Some(config),
    ..GIT
}];

/// Records `NAME=VALUE`. A name alone means true.
pub(super) fn remember(run: &mut CommandRun<'_, '_>, text: &str) {
    let (name, value) = text.split_once('=').unwrap_or((text, "true"));
    run.analyzer.made.set_git(name, value);
}

/// Records settings in the environment: `GIT_CONFIG_KEY_0=alias.x GIT_CONFIG_VALUE_0='!…'`.
pub(super) fn of_environment(run: &mut CommandRun<'_, '_>) {
    /// Maximum number of settings read.
    const MAX_SETTINGS: usize = 32;
    if let Some(text) = run.env("GIT_CONFIG_PARAMETERS").map(str::to_owned) {
        text.split('\'').filter(|part| part.contains('=')).for_each(|part| remember(run, part));
    }
    if run.variable("GIT_CONFIG_KEY_0").is_none() {
        return;
    }
    for number in 0..MAX_SETTINGS {
        let Some(name) = run.variable(&format!("GIT_CONFIG_KEY_{number}")) else { break };
        let value = run.variable(&format!("GIT_CONFIG_VALUE_{number}")).unwrap_or_default();
        run.analyzer.made.set_git(&name, &value);
    }
}

/// Reports what the settings from the `known`th on do, the last one of each name; returns how
/// many there are.
pub(super) fn apply(run: &mut CommandRun<'_, '_>, known: usize) -> usize {
    let given = run.analyzer.made.count_git_settings() - known;
    for (name, value) in run.analyzer.made.git_settings(known) {
        setting(run, &name, &value);
    }
    given
}

/// Whether a setting is on or off.
pub(super) fn is_off(run: &CommandRun<'_, '_>, name: &str) -> bool {
    let value = run.analyzer.made.git_setting(name).unwrap_or("");
    matches!(value.to_ascii_lowercase().as_str(), "false" | "no" | "off" | "0")
}

/// Reports a setting that runs programs or weakens git.
fn setting(run: &mut CommandRun<'_, '_>, name: &str, value: &str) {
    if name == "core.hookspath" && matches!(value, "" | "/dev/null") {
        return run.effect(
            EffectKind::Persist,
            "hooks",
            EffectScope::VcsMetadata,
            R1,
            "bypasses the hooks",
        );
    }
    if name == "http.sslverify" && weakens(name, value) {
        let why = "switches off the check of certificates";
        return run.effect(EffectKind::Persist, name, EffectScope::VcsMetadata, R1, why);
    }
    let pushes = name.starts_with("remote.") && name.ends_with(".push") && value.starts_with('+')
        || name.starts_with("remote.") && name.ends_with(".mirror") && value == "true";
    if pushes {
        let why = "lets every push overwrite the branches of a remote";
        return run.effect(EffectKind::RemoteState, value, EffectScope::VcsMetadata, R3, why);
    }
    if runs_a_program(name) && !is_ordinary_program(value) {
        let why = "runs another program through a setting";
        run.effect(EffectKind::ExecuteUntrusted, value, EffectScope::Unknown, R1, why);
        run.shell_text(value.trim_start_matches('!'));
    }
}

fn runs_a_program(name: &str) -> bool {
    let plain = [
        "core.pager",
        "core.sshcommand",
        "core.fsmonitor",
        "core.editor",
        "core.hookspath",
        "sequence.editor",
        "core.gitproxy",
        "diff.external",
        "credential.helper",
        "init.templatedir",
    ];
    let sections = ["filter.", "diff.", "merge.", "pager."];
    let ends = [".clean", ".smudge", ".command", ".textconv", ".driver"];
    plain.contains(&name)
        || sections.iter().any(|section| name.starts_with(section))
            && ends.iter().any(|end| name.ends_with(end))
}

fn is_ordinary_program(value: &str) -> bool {
    let first = value.split(' ').next().unwrap_or("");
    matches!(value, "" | "true" | "false" | ":" | "/dev/null" | "store" | "cache" | "osxkeychain")
        || matches!(first, "cat" | "less" | "vim" | "vi" | "nano")
            && !value.contains([';', '|', '&', '$', '`', '!'])
}

/// Analyzes `git config`.
fn config(run: &mut CommandRun<'_, '_>, parsed: &ParsedOptions<'_>) {
    let mut words = parsed.words();
    let verb = words.first().copied().unwrap_or("");
    let reads = parsed.any("get get-all get-regexp get-urlmatch list get-color get-colorbool")
        || matches!(verb, "get" | "list");
    if matches!(verb, "set" | "get" | "unset" | "list") {
        words.remove(0);
    }
    let name = words.iter().find(|word| word.contains('.')).copied().unwrap_or("");
    let name = name.to_ascii_lowercase();
    if reads {
        if name.contains("token") || name.contains("password") || name.contains("extraheader") {
            run.effect(
                EffectKind::ReadSecret,
                &name,
                EffectScope::VcsMetadata,
                R1,
                "reads a secret",
            );
        }
        return;
    }
    if words.len() < 2 || verb == "unset" || parsed.any("unset unset-all rename-section") {
        return;
    }
    let value = words.last().copied().unwrap_or("").to_owned();
    let outlives = parsed.any("global system");
    if outlives && weakens(&name, &value) {
        let why = "weakens how git keeps secrets or trusts hosts, from now on";
        return run.effect(EffectKind::Persist, &name, EffectScope::Home, R1, why);
    }
    run.analyzer.made.set_git(&name, &value);
    let before = run.analyzer.effects.len();
    setting(run, &name, &value);
    if let Some(command) = value.strip_prefix('!').filter(|_| name.starts_with("alias.")) {
        run.shell_text(command);
    }
    let runs = run.analyzer.effects.len() > before;
    if runs || (outlives && name.starts_with("alias.") && value.starts_with('!')) {
        run.effect(
            EffectKind::Persist,
            &name,
            EffectScope::Home,
            R3,
            "lets git run a program from now on",
        );
    }
}

/// Whether a setting stores passwords in plain text, redirects addresses, or trusts any
/// server or directory.
fn weakens(name: &str, value: &str) -> bool {
    match name {
        "credential.helper" => value.starts_with("store"),
        "http.sslverify" => matches!(value, "false" | "0" | "no" | "off"),
        "safe.directory" => value == "*",
        name => name.starts_with("url.") && name.ends_with("insteadof"),
    }
}
