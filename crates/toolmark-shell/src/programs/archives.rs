//! Archives: the files that unpacking overwrites, and the helper programs that an archiver may
//! start.
//!
//! ```denied
//! tar -xf a.tar -C /
//! unzip a.zip -d /etc/
//! tar cf a.tar x --checkpoint=1 --checkpoint-action=exec='rm -rf /'
//! ```
//! ```asked
//! unzip -o x.zip
//! unzip -qo x.zip -d .
//! tar czf a.tgz ~/.ssh/id_rsa
//! tar cz ~/.gnupg
//! tar cf a.tar src --remove-files
//! ```
//! ```allowed
//! unzip -o x.zip -d /tmp/x
//! unzip -o x.zip -d vendor
//! unzip -lo x.zip
//! tar xzf a.tgz
//! tar -czf a.tgz src
//! unzip -l a.zip -d /etc
//! tar -xf a.tar -C /tmp/x
//! zip -r a.zip ~/project
//! 7z x a.7z -oout
//! ```

use crate::effects::{EffectKind, EffectScope, Reversibility};
use crate::expand::Arg;
use crate::run::CommandRun;

pub(super) fn run(run: &mut CommandRun<'_, '_>) {
    let mut target = None;
    let mut previous = "";
    let first = run.args.first().map_or("", |arg| arg.text.as_str());
    let extracts = match run.name {
        "tar" | "gtar" | "bsdtar" => {
            (!first.starts_with("--") && first.contains('x'))
                || run
                    .args
                    .iter()
                    .any(|arg| matches!(arg.text.as_str(), "--extract" | "--get" | "-x"))
        }
        "cpio" => first.contains('i'),
        "unzip" => !matches!(first, "-l" | "-t" | "-v" | "-Z"),
        "7z" | "7za" => matches!(first, "x" | "e"),
        _ => false,
    };
    for arg in run.args {
        let text = arg.text.as_str();
        if matches!(previous, "-C" | "--directory" | "-d") {
            target = Some(arg.clone());
        }
        // The command that tests what was packed.
        if matches!(previous, "-TT" | "--unzip-command") {
            run.shell_text(text);
        }
        if matches!(previous, "-D") && run.name == "cpio" {
            target = Some(arg.clone());
        }
        if let Some(path) = text
            .strip_prefix("--directory=")
            .or_else(|| text.strip_prefix("-o").filter(|_| run.name.starts_with("7z")))
        {
            target = Some(Arg::plain(path));
        }
        let helper = text
            .strip_prefix("--checkpoint-action=exec=")
            .or_else(|| text.strip_prefix("--to-command="))
            .or_else(|| text.strip_prefix("--use-compress-program="))
            .or_else(|| text.strip_prefix("--unzip-command="));
        if let Some(command) = helper {
            let (command, compress) = (command.to_owned(), text.starts_with("--use"));
            if !compress {
                run.effect(
                    EffectKind::ExecuteUntrusted,
                    &command,
                    EffectScope::Unknown,
                    Reversibility::R1,
                    "starts a helper program",
                );
            }
            run.shell_text(&command);
        }
        if text == "--remove-files" || (run.name == "zip" && is_move(text)) {
            run.effect(
                EffectKind::Delete,
                &run.line(),
                EffectScope::TreeUntracked,
                Reversibility::R3,
                "deletes the files it packed",
            );
        }
        previous = text;
    }
    if extracts && let Some(target) = &target {
        let place = run.analyzer.place(&target.text);
        // Every program run from there came from the network.
        if run.call.input == crate::pipes::Flow::Remote && !target.dynamic {
            run.analyzer.made.clone_of(&place.path);
        }
        if matches!(place.scope, EffectScope::System | EffectScope::VcsMetadata) && !target.dynamic
        {
            run.effect(
                EffectKind::Overwrite,
                &place.display,
                place.scope,
                Reversibility::R4,
                "unpacks over system files",
            );
        } else if place.scope == EffectScope::Home && place.whole && !target.dynamic {
            let why = "unpacks over the home directory";
            run.effect(EffectKind::Overwrite, &place.display, place.scope, Reversibility::R3, why);
        }
    }
    if extracts && run.name == "unzip" {
        overwrites(run, target.as_ref());
    }
    let call = run.call;
    if !extracts {
        for arg in run.args.iter().filter(|arg| !arg.text.starts_with('-')) {
            run.analyzer.read_file(arg, run.name, call);
        }
    }
}

/// Reports `unzip -o` over a whole tree: files of the same names are lost without a question.
fn overwrites(run: &mut CommandRun<'_, '_>, target: Option<&Arg>) {
    let is_letters = |text: &str| {
        text.strip_prefix('-').is_some_and(|rest| {
            !rest.starts_with('-') && rest.chars().all(|c| c.is_ascii_alphabetic())
        })
    };
    let has = |letters: &[char]| {
        run.args.iter().any(|arg| is_letters(&arg.text) && arg.text.contains(letters))
    };
    if !has(&['o']) || has(&['l', 't', 'v', 'p', 'Z', 'n', 'f']) {
        return;
    }
    let place = run.analyzer.place(target.map_or(".", |arg| arg.text.as_str()));
    let in_tree = matches!(place.scope, EffectScope::TreeTracked | EffectScope::TreeUntracked);
    let is_root = target.is_none_or(|arg| matches!(arg.text.as_str(), "." | "./" | ".."));
    if in_tree && is_root {
        let why = "overwrites files with those of an archive";
        run.ask(EffectKind::Overwrite, &place.display, place.scope, why);
    }
}

/// Whether the option is `zip -m`, also among other letters, which deletes the packed files.
fn is_move(text: &str) -> bool {
    let letters = text.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
    text == "--move" || letters.is_some_and(|letters| letters.len() < 6 && letters.contains('m'))
}
