//! Backup programs, whose deletions cannot be undone.
//!
//! ```denied
//! restic forget --keep-last 3 --prune
//! restic -r x prune
//! borg delete a::b
//! rclone sync a r:b
//! rclone purge r:b
//! kopia snapshot delete x
//! tmutil delete /x
//! rclone copy ~/.ssh/id_rsa r:b
//! ```
//! ```allowed
//! restic snapshots
//! restic forget --dry-run --keep-last 3
//! borg list a
//! borg create a::b src
//! rclone ls r:b
//! rclone copy a r:b
//! rclone sync a r:b --dry-run
//! restic backup ~/x
//! kopia snapshot list
//! ```

use crate::effects::{EffectKind, EffectScope};
use crate::run::CommandRun;

pub(super) fn run(run: &mut CommandRun<'_, '_>) {
    let args = run.args;
    if super::only_informs(args)
        || args.iter().any(|arg| matches!(arg.text.as_str(), "-n" | "--list-only"))
    {
        return;
    }
    let words = super::plain_words(args);
    let target = words.join(" ");
    let first = words.first().copied().unwrap_or("");
    let second = words.get(1).copied().unwrap_or("");
    let bad = match run.name {
        "rclone" => takes_away(run, first, &words),
        _ => deletes(run, first, second, &words),
    };
    if bad {
        run.remote(&target, "deletes backups or files missing from the source");
    } else if run.name == "rclone"
        && matches!(first, "copy" | "copyto" | "rcat")
        && words.last().is_some_and(|last| last.contains(':'))
    {
        for word in words.iter().skip(1) {
            if !word.contains(':') && crate::secrets::secrecy(word).is_some() {
                run.effect(
                    EffectKind::SendOut,
                    word,
                    EffectScope::Remote,
                    crate::effects::Reversibility::R5,
                    "sends a secret to a service",
                );
            }
        }
    }
}

/// Whether rclone deletes at its target, other than in a directory for temporary files.
fn takes_away(run: &CommandRun<'_, '_>, first: &str, words: &[&str]) -> bool {
    let local = words.last().is_some_and(|last| {
        !last.contains(':')
            && matches!(
                run.analyzer.place(last).scope,
                EffectScope::Temp | EffectScope::TreeArtefact
            )
    });
    matches!(
        first,
        "sync"
            | "bisync"
            | "move"
            | "moveto"
            | "delete"
            | "deletefile"
            | "purge"
            | "rmdir"
            | "rmdirs"
            | "cleanup"
            | "dedupe"
    ) && !local
}

/// Whether a command deletes backups.
fn deletes(run: &CommandRun<'_, '_>, first: &str, second: &str, words: &[&str]) -> bool {
    let args = run.args;
    match run.name {
        "restic" => {
            words.iter().take(2).any(|word| matches!(*word, "forget" | "prune" | "rewrite"))
                || (first == "key" && second == "remove")
        }
        "borg" | "borgmatic" => {
            matches!(first, "delete" | "prune" | "compact" | "rdelete" | "repo-delete" | "recreate")
        }
        "duplicity" => {
            first.starts_with("remove-") && args.iter().any(|arg| arg.text == "--force")
                || first == "cleanup"
                || first.starts_with("remove-")
        }
        "kopia" => matches!(
            (first, second),
            ("snapshot", "delete" | "expire")
                | ("repository", "delete")
                | ("policy", "delete")
                | ("blob", "delete" | "gc")
                | ("maintenance", "run")
        ),
        "tmutil" => {
            matches!(first, "delete" | "deletelocalsnapshots" | "thinlocalsnapshots" | "disable")
        }
        "snapper" | "timeshift" => {
            words.contains(&"delete")
                || args.iter().any(|arg| matches!(arg.text.as_str(), "--delete" | "--delete-all"))
        }
        "tarsnap" => args.iter().any(|arg| matches!(arg.text.as_str(), "-d" | "--nuke")),
        "rdiff-backup" => {
            first == "remove" || args.iter().any(|arg| arg.text.starts_with("--remove-older-than"))
        }
        "pgbackrest" => words.iter().any(|word| matches!(*word, "expire" | "stanza-delete")),
        "wal-g" => first == "delete",
        "barman" => first == "delete",
        _ => matches!(first, "prune" | "delete" | "rm" | "gc"),
    }
}
