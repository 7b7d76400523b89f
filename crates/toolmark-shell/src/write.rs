//! Writes to files and their meaning by location, for redirections and for tools that write or show
//! files without a shell.

use crate::analyze::{Analyzer, CommandContext};
use crate::context::{Analysis, ShellContext};
use crate::effects::{Certainty, EffectKind, EffectScope, Reversibility};
use crate::paths::PathLocation;
use crate::protect::Reach;
use crate::secrets::Secrecy;

/// Files that take effect in later sessions, by path suffix.
const PERSISTENT: &[&str] = &[
    ".bashrc",
    ".bash_profile",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".bash_login",
    ".bash_logout",
    ".config/fish/config.fish",
    ".ssh/authorized_keys",
    ".ssh/authorized_keys2",
    ".ssh/config",
    ".ssh/rc",
    ".gitconfig",
    ".config/git/config",
    ".inputrc",
    ".vimrc",
    ".tmux.conf",
    ".xinitrc",
    ".xprofile",
    ".pam_environment",
    ".npmrc",
    ".pypirc",
    ".curlrc",
    ".wgetrc",
    ".netrc",
    ".mcp.json",
];

/// Directories whose files take effect in later sessions.
const PERSISTENT_DIRS: &[&str] = &[
    "/.git/hooks/",
    "/.husky/",
    "/.config/autostart/",
    "/.config/systemd/user/",
    "/Library/LaunchAgents/",
    "/Library/LaunchDaemons/",
    "/etc/cron",
    "/var/spool/cron",
    "/etc/systemd/",
    "/etc/profile.d/",
    "/etc/init.d/",
    "/etc/sudoers.d/",
    "/etc/ld.so.",
    "/.local/bin/",
];

/// Returns the meaning of a write to a location; `None` if it is ordinary.
pub(crate) fn classify(
    context: &ShellContext<'_>,
    place: &PathLocation,
    append: bool,
) -> Option<(EffectKind, Reversibility, &'static str)> {
    use Reversibility::{R1, R2, R3, R4};
    let path = place.path.as_str();
    if let Some((level, why)) = persists(context, path) {
        return Some((EffectKind::Persist, level, why));
    }
    let is_somewhere =
        matches!(place.scope, EffectScope::Home | EffectScope::Outside) && !place.whole;
    if is_somewhere && context.facts.is_some_and(|facts| facts.made(path)) {
        return Some((EffectKind::Overwrite, R2, "writes what the session made"));
    }
    Some(match place.scope {
        EffectScope::VcsMetadata
            if path.ends_with("/info/exclude")
                || path.ends_with("_EDITMSG")
                || path.ends_with("_MSG") =>
        {
            return None;
        }
        EffectScope::VcsMetadata => {
            (EffectKind::Overwrite, R4, "writes into the data of version control")
        }
        EffectScope::Device => (EffectKind::Overwrite, Reversibility::R5, "writes to a device"),
        EffectScope::System if path.starts_with("/proc/sys") => {
            (EffectKind::Overwrite, Reversibility::R5, "writes to the kernel")
        }
        EffectScope::System if append => {
            (EffectKind::Overwrite, R3, "writes to a part of the system")
        }
        EffectScope::System => (EffectKind::Overwrite, R4, "writes to a part of the system"),
        EffectScope::Home
        | EffectScope::Outside
        | EffectScope::TreeTracked
        | EffectScope::TreeUntracked
            if context.secrecy(path) == Some(Secrecy::Secret) && !append =>
        {
            (EffectKind::Overwrite, if in_tree(place.scope) { R2 } else { R3 }, "replaces a secret")
        }
        // Appending to a record neither replaces content nor changes a setting.
        EffectScope::Home if append && is_record(path) => {
            (EffectKind::Overwrite, R2, "adds to a record")
        }
        EffectScope::Home if hidden_in_home(path) => {
            (EffectKind::Overwrite, R3, "writes to the settings in the home directory")
        }
        EffectScope::Outside if !append => {
            (EffectKind::Overwrite, R3, "writes outside the work tree")
        }
        EffectScope::Home | EffectScope::Outside => {
            (EffectKind::Overwrite, R2, "writes outside the work tree")
        }
        EffectScope::Temp
        | EffectScope::TreeArtefact
        | EffectScope::TreeTracked
        | EffectScope::TreeUntracked => {
            (EffectKind::Overwrite, if append { R1 } else { R2 }, "writes a file")
        }
        EffectScope::Remote | EffectScope::Unknown => return None,
    })
}

fn in_tree(scope: EffectScope) -> bool {
    matches!(
        scope,
        EffectScope::TreeTracked | EffectScope::TreeUntracked | EffectScope::TreeArtefact
    )
}

/// Returns why a write to this path outlives the session, and how far it can be undone.
pub(crate) fn persists(
    context: &ShellContext<'_>,
    path: &str,
) -> Option<(Reversibility, &'static str)> {
    let protection = context.protection(path, Reach::Itself);
    if let Some((protection, why)) = protection.and_then(|it| Some((it, it.on_write()?))) {
        return Some((protection.level(), why));
    }
    takes_effect_later(path).map(|why| (Reversibility::R3, why))
}

/// Returns why content written to a path takes effect in later sessions.
fn takes_effect_later(path: &str) -> Option<&'static str> {
    // All of these begin with a dot, and most paths have no name that does.
    let home_file = path.contains("/.")
        && PERSISTENT
            .iter()
            .any(|end| path.strip_suffix(end).is_some_and(|rest| rest.ends_with('/')));
    let in_tree = path.starts_with(crate::paths::TREE);
    let project_file = in_tree && (path.ends_with("/.npmrc") || path.ends_with("/.mcp.json"));
    if home_file && !project_file {
        return Some("takes effect in later sessions");
    }
    if is_in_persistent_directory(path) && !(in_tree && path.contains("/.husky/")) {
        return Some("takes effect in later sessions");
    }
    matches!(
        path,
        "/etc/sudoers"
            | "/etc/crontab"
            | "/etc/ld.so.preload"
            | "/etc/rc.local"
            | "/etc/profile"
            | "/etc/bash.bashrc"
            | "/etc/environment"
            | "/etc/hosts"
    )
    .then_some("takes effect for everybody")
}

fn is_in_persistent_directory(path: &str) -> bool {
    let bytes = path.as_bytes();
    let is_start = |at: usize| matches!(bytes.get(at + 1), Some(b'.' | b'L' | b'e' | b'v'));
    let mut starts = bytes.iter().enumerate().filter(|(at, byte)| **byte == b'/' && is_start(*at));
    starts.any(|(at, _)| {
        let rest = path.get(at..).unwrap_or("");
        PERSISTENT_DIRS.iter().any(|directory| rest.starts_with(directory))
    })
}

/// Whether programs only append lines to a file, judging by its name.
fn is_record(path: &str) -> bool {
    [".jsonl", ".ndjson", ".log", ".csv", ".tsv"].iter().any(|end| path.ends_with(end))
}

fn hidden_in_home(path: &str) -> bool {
    let rest = path.strip_prefix("~/").unwrap_or(path);
    let rest = rest
        .strip_prefix("/home/")
        .or_else(|| rest.strip_prefix("/Users/"))
        .and_then(|rest| rest.split_once('/'))
        .map_or(rest, |(_, rest)| rest);
    rest.starts_with('.')
        && !rest.starts_with(".cache/")
        && !rest.starts_with(".local/share/")
        && !rest.starts_with(".claude/")
}

/// Determines the effects of a tool that writes one file.
pub fn analyze_write(path: &str, context: &ShellContext<'_>) -> Analysis {
    let mut analyzer = Analyzer::new(context);
    let place = analyzer.place(path);
    let facts = context.facts;
    let exists = facts.and_then(|facts| facts.exists(&place.path));
    let tracked = facts.and_then(|facts| facts.tracked(&place.path));
    let is_own = || facts.is_some_and(|facts| facts.made(&place.path));
    // The location of the work tree is unknown, and therefore also which paths are outside it.
    let is_absolute = path.starts_with('/') || crate::windows::has_drive(path);
    let is_somewhere = context.cwd.is_none() && place.scope == EffectScope::Outside && is_absolute;
    analyzer.left.make(&place.path);
    let found = classify(context, &place, false);
    let found = found.filter(|(kind, ..)| !is_somewhere || *kind == EffectKind::Persist);
    if let Some((kind, mut reversibility, mut why)) = found {
        if in_tree(place.scope)
            && reversibility < Reversibility::R3
            && exists == Some(true)
            && tracked == Some(false)
            && !is_own()
        {
            (reversibility, why) =
                (Reversibility::R3, "replaces a file version control does not have");
        }
        let certainty = Certainty::Proven;
        analyzer.push(
            &CommandContext::default(),
            "write",
            kind,
            &place.display,
            place.scope,
            reversibility,
            certainty,
            why,
        );
    }
    analyzer.finish()
}

/// Determines the effects of a tool that shows one file.
pub fn analyze_read(path: &str, context: &ShellContext<'_>) -> Analysis {
    let mut analyzer = Analyzer::new(context);
    if context.secrecy(path) == Some(Secrecy::Secret) {
        let place = analyzer.place(path);
        analyzer.push(
            &CommandContext::default(),
            "read",
            EffectKind::ReadSecret,
            &place.display,
            place.scope,
            Reversibility::R3,
            Certainty::Proven,
            "reads a secret",
        );
    }
    analyzer.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Decision;

    #[test]
    fn writes_by_place() {
        for (path, expected) in [
            ("src/main.rs", Decision::Allow),
            ("/tmp/x", Decision::Allow),
            ("~/notes.txt", Decision::Allow),
            (".env.example", Decision::Allow),
            ("~/.bashrc", Decision::Ask),
            (".git/hooks/pre-commit", Decision::Ask),
            ("~/.ssh/authorized_keys", Decision::Ask),
            ("../other/x", Decision::Ask),
            ("/etc/passwd", Decision::Deny),
            (".git/HEAD", Decision::Deny),
            ("/dev/sda", Decision::Deny),
            ("/workspace/app/x.py", Decision::Allow),
        ] {
            assert_eq!(analyze_write(path, &ShellContext::default()).decision, expected, "{path}");
        }
    }
}
