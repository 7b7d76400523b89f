//! `git` settings, some of which make it run other programs.

use super::plain_words;
use crate::effects::{Kind, Reversibility, Scope};
use crate::expand::Arg;
use crate::run::Run;
use Reversibility::{R1, R3};

/// Analyzes `-c NAME=VALUE`: some settings run programs.
pub(super) fn setting(run: &mut Run<'_, '_>, text: &str) {
    let (name, value) = text.split_once('=').unwrap_or((text, ""));
    let name = name.to_ascii_lowercase();
    if name.starts_with("alias.") {
        let code = match value.strip_prefix('!') {
            Some(code) => code.to_owned(),
            None => format!("git {value}"),
        };
        run.shell_text(&code);
        return;
    }
    if name == "core.hookspath" && matches!(value, "" | "/dev/null") {
        return run.effect(Kind::Persist, "hooks", Scope::VcsMetadata, R1, "bypasses the hooks");
    }
    let pushes = name.starts_with("remote.") && name.ends_with(".push") && value.starts_with('+')
        || name.starts_with("remote.") && name.ends_with(".mirror") && value == "true";
    if pushes {
        let why = "lets every push overwrite the branches of a remote";
        return run.effect(Kind::RemoteState, text, Scope::VcsMetadata, R3, why);
    }
    let runs = matches!(
        name.as_str(),
        "core.pager"
            | "core.sshcommand"
            | "core.fsmonitor"
            | "core.editor"
            | "core.hookspath"
            | "sequence.editor"
            | "core.gitproxy"
            | "diff.external"
            | "credential.helper"
    ) || (name.starts_with("filter.")
        || name.starts_with("diff.")
        || name.starts_with("merge.")
        || name.starts_with("pager."))
        && (name.ends_with(".clean")
            || name.ends_with(".smudge")
            || name.ends_with(".command")
            || name.ends_with(".textconv")
            || name.ends_with(".driver"));
    let harmless = matches!(
        value,
        "" | "cat"
            | "true"
            | "false"
            | "less"
            | ":"
            | "less -R"
            | "vim"
            | "vi"
            | "nano"
            | "store"
            | "cache"
            | "osxkeychain"
            | "/dev/null"
            | "less -FRX"
    );
    if runs && !harmless {
        run.effect(
            Kind::ExecuteUntrusted,
            text,
            Scope::Unknown,
            R1,
            "runs another program through a setting",
        );
        run.shell_text(value.trim_start_matches('!'));
    }
}

/// Analyzes `git config`.
pub(super) fn config(run: &mut Run<'_, '_>, args: &[Arg]) {
    let words = plain_words(args);
    let reads = args.iter().any(|arg| {
        matches!(
            arg.text.as_str(),
            "--get" | "-l" | "--list" | "--get-all" | "--get-regexp" | "get" | "list"
        )
    });
    let name =
        words.iter().find(|word| word.contains('.')).copied().unwrap_or("").to_ascii_lowercase();
    if reads {
        if name.contains("token") || name.contains("password") || name.contains("extraheader") {
            run.effect(Kind::ReadSecret, &name, Scope::VcsMetadata, R1, "reads a secret");
        }
        return;
    }
    if words.len() < 2 {
        return;
    }
    let value = words.last().copied().unwrap_or("").to_owned();
    let outlives = args.iter().any(|arg| matches!(arg.text.as_str(), "--global" | "--system"));
    if outlives && weakens(&name, &value) {
        let why = "weakens how git keeps secrets or trusts hosts, from now on";
        return run.effect(Kind::Persist, &name, Scope::Home, R1, why);
    }
    let before = run.analyzer.effects.len();
    setting_named(run, &name, &value);
    let runs = run.analyzer.effects.len() > before;
    if runs || (outlives && name.starts_with("alias.") && value.starts_with('!')) {
        run.effect(Kind::Persist, &name, Scope::Home, R3, "lets git run a program from now on");
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

fn setting_named(run: &mut Run<'_, '_>, name: &str, value: &str) {
    let text = format!("{name}={value}");
    if let Some(alias) = name.strip_prefix("alias.") {
        let command = match value.strip_prefix('!') {
            Some(command) => command.to_owned(),
            None => format!("git {value}"),
        };
        run.analyzer.made.add_git_alias(alias, command);
    }
    if name.starts_with("alias.") && !value.starts_with('!') {
        return;
    }
    setting(run, &text);
}

#[cfg(test)]
mod tests {
    use crate::programs::check;

    #[test]
    fn settings() {
        check(
            &["git -c alias.x='!rm -rf /' x", "git -c core.pager='rm -rf /' log"],
            &[
                "git config core.hooksPath /tmp/h",
                "git config --get github.token",
                "git config --global alias.x '!rm y'",
            ],
            &[
                "git config user.name x",
                "git config --list",
                "git config alias.st status",
                "git -c core.pager=cat log",
            ],
        );
    }
}
