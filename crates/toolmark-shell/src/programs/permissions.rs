//! Permissions of files: `chmod`, `chown`, access lists and attributes.
//!
//! ```denied
//! chmod -R 777 /
//! chown -R root:root /
//! chmod 777 /etc/passwd
//! chmod +s /bin/bash
//! chmod -R /
//! chown -R me ~
//! ```
//! ```asked
//! chmod u+s x
//! chmod 777 x
//! chmod -R 777 .
//! chown -R u:g *
//! chmod 4755 x
//! chown root:root x
//! chmod -R go-w /srv/a/b
//! setcap cap_net_raw+ep x
//! ```
//! ```allowed
//! chmod +x run.sh
//! chmod 644 a
//! chmod -x a
//! chmod 600 ~/.ssh/id_rsa
//! chmod -R u+w target
//! chown me a
//! chmod --reference=a b
//! chmod --help
//! chmod -R 755 src
//! ```

use crate::effects::{EffectKind, EffectScope, Reversibility};
use crate::program::Program;
use crate::run::CommandRun;
use Reversibility::{R1, R3, R4};

pub(super) fn run(run: &mut CommandRun<'_, '_>) {
    let grammar = if run.name == "setfacl" {
        Program::open(
            "m/modify= x/remove= M/modify-file= X/remove-file= R/recursive set= set-file=",
        )
    } else {
        Program::open("reference= from= R/recursive")
    };
    // A mode such as `-x` or `-rwx` looks like options.
    let minus_mode = |text: &str| {
        run.name == "chmod"
            && text.len() > 1
            && text.starts_with('-')
            && text.get(1..).is_some_and(|rest| rest.bytes().all(|b| b"rwxst".contains(&b)))
    };
    let (parsed, args): (_, Vec<_>) = (grammar.parse(run.args), run.args.to_vec());
    if parsed.informs() {
        return;
    }
    let recursive = parsed.has("R", "recursive");
    let mode = args.iter().find(|arg| minus_mode(&arg.text)).map(|arg| arg.text.clone());
    let takes_mode = matches!(
        run.name,
        "chmod" | "gchmod" | "chown" | "gchown" | "chgrp" | "chattr" | "chflags"
    ) && !parsed.exact("reference")
        && mode.is_none();
    let mut operands = parsed.operands.clone();
    let given = if takes_mode && (operands.len() > 1 || !recursive) && !operands.is_empty() {
        operands.remove(0).text.clone()
    } else {
        mode.unwrap_or_default()
    };
    let digits = given.trim_start_matches('0');
    let open = matches!(digits, "777" | "666" | "1777" | "2777" | "4777" | "6777")
        || !given.is_empty() && given.bytes().all(|b| b == b'0')
        || given.contains("a+rwx")
        || given.contains("o+w")
        || given.contains("a+w")
        || given == "ugo+rwx"
        || given == "+rwx";
    let setuid = run.name.ends_with("chmod")
        && (given.contains("+s")
            || (given.len() == 4 && given.starts_with(['4', '2', '6']))
            || given.contains("=s"));
    for arg in &operands {
        let place = run.analyzer.place(&arg.text);
        if arg.dynamic && !recursive {
            continue;
        }
        let root = place.whole
            && matches!(
                place.scope,
                EffectScope::System | EffectScope::Home | EffectScope::Outside
            );
        let (level, why) = match place.scope {
            EffectScope::System | EffectScope::Device if recursive || open || setuid => {
                (R4, "changes the rights of system files")
            }
            _ if root && recursive => (R4, "changes rights recursively"),
            _ if setuid => (R3, "lets a program run with its owner's rights"),
            EffectScope::System | EffectScope::Device => (R3, "changes the rights of system files"),
            EffectScope::VcsMetadata if recursive && open => {
                (R3, "changes the rights of version control data")
            }
            _ if run.name.contains("chown") && given.starts_with("root") => {
                (R3, "makes root the owner of a file")
            }
            EffectScope::Home | EffectScope::Outside if recursive => {
                (R3, "changes rights recursively")
            }
            _ if recursive
                && (open
                    || arg.glob && matches!(place.scope, EffectScope::TreeUntracked)
                    || run.name.contains("chown") && place.whole) =>
            {
                (R3, "changes rights recursively")
            }
            _ if open && place.scope != EffectScope::Temp => {
                (R3, "makes files writable for everyone")
            }
            _ if recursive && arg.dynamic && arg.text.starts_with('$') => {
                (R3, "changes the rights of a path known only at run time")
            }
            EffectScope::Unknown if recursive => {
                (R3, "changes the rights of a path known only at run time")
            }
            _ => (Reversibility::R0, "changes the rights of a file"),
        };
        run.effect(EffectKind::Privilege, &place.display, place.scope, level, why);
    }
    if run.name == "setcap" {
        run.effect(
            EffectKind::Privilege,
            &run.line(),
            EffectScope::System,
            R1,
            "grants capabilities to a program",
        );
    }
}
