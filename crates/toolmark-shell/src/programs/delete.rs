//! Programs that delete: `rm` and similar.
//!
//! ```denied
//! # A name such as `build` says nothing about what a link of that name leads to.
//! ln -s ~/precious build; rm -rf build/*
//! ln -s ~/precious dist && rm -rf dist/
//! ln -s ~/precious dist && rm -rf dist/.
//! ln -s ~/precious && mv precious build && rm -rf build/*
//! ln -s ~/precious a && ln -s a build && rm -rf build/*
//! mkdir sub; ln -s ../src sub/dist; rm -rf sub/dist/*
//! cp -s /srv/x build; rm -rf build/
//! ln -s /srv/x build && cd build && rm -rf *
//! ln -s ~/precious /tmp/x && rm -rf /tmp/x/*
//! rm -rf /
//! rm -r /etc
//! rm --rec --fo ~/x
//! rm -rf *
//! rm -rf ./*
//! rm -rf .
//! rm -rf src
//! rm -rf -- src
//! rm -rf ~/node_modules
//! rm -rf vendor
//! rm -rf bin && ls
//! rm *
//! rm -rf $HOME/x
//! rm -rf /tmp/../etc
//! rm -rf .git
//! cd .. && rm -rf build
//! rm -rf {src,lib}
//! rm /etc/passwd
//! rm -rf /tmp
//! shred x.txt
//! x=rm; $x -rf /etc/y
//! D=/etc; rm -rf "$D"
//! FOO=1 rm -rf /
//! \rm -rf /
//! r''m -rf /
//! $'\x72\x6d' -rf /
//! rm -rf dist src
//! rm -rf ~/.ssh
//! for d in a b; do rm -rf "$d"; done
//! f() { rm -rf "$1"; }; f /etc
//! echo `date` `rm -rf /`
//! if true; then rm -rf /; fi
//! case x in x) rm -rf /;; esac
//! [[ -n $(rm -rf /) ]]
//! echo $(( $(rm -rf /) ))
//! ! rm -rf /
//! (rm -rf /)
//! rm -rf / &
//! cat <<EOF
//! | `rm -rf /`
//! | EOF
//! cat <<EOF
//! | $(rm -rf /)
//! | EOF
//! ls
//! | rm -rf /
//! ```
//! ```asked
//! ln -s ~/build && rm -rf build/
//! rm -rf "$X"
//! rm -rf $X/
//! cd /work/app && rm -rf dist
//! rm -rf ~/app/node_modules
//! ls | while read f; do rm "$f"; done
//! rm ~/notes.txt
//! rm db/development.sqlite3 -f
//! python -c "import shutil; shutil.rmtree('/tmp/x')"
//! rm -rf
//! ${RM} -rf /
//! rm *.rs
//! ```
//! ```allowed
//! ln -s ~/precious build && rm -rf build
//! ln -s /tmp/x build && rm -rf build/*
//! ln -s out build && rm -rf build/*
//! ln -s ../out sub/dist && rm -rf sub/dist/*
//! rm -rf dist/
//! rm file.txt
//! rm -f a b
//! rm -f test.db
//! rm -rf node_modules
//! rm -rf node_modules package-lock.json
//! trap 'rm -f "$T"' EXIT
//! rm -rf ./dist/*
//! rm -rf /tmp/x
//! rm -rf ${TMPDIR:-/tmp}/x
//! rm -- -f
//! D=$(mktemp -d); rm -rf "$D"
//! rmdir x
//! rm --help
//! rm *.log
//! rm -f *.pyc
//! rm -f "$X"
//! rm .git/index.lock
//! echo 'rm -rf /'
//! git commit -m 'rm -rf /'
//! VAR='rm -rf /'; echo "$VAR"
//! [ -f x ] && echo y
//! rm -rf target/debug
//! cd /tmp && rm -rf work
//! grep -r 'rm -rf' .
//! rm -rf "/tmp/$NAME"
//! cat <<'EOF'
//! | $(rm -rf /)
//! | EOF
//! true <<EOF
//! | rm -rf /
//! | EOF
//! ```

use crate::effects::{Certainty, EffectKind, EffectScope, Reversibility};
use crate::expand::Arg;
use crate::program::Program;
use crate::run::CommandRun;

pub(super) static PROGRAMS: &[Program] = &[
    Program {
        names: "rm|grm|srm",
        options: "f/force i I interactive=? d/dir one-file-system preserve-root=? \
                  r/recursive R v/verbose P W x no-preserve-root help version",
        ..Program::NONE
    },
    Program { names: "unlink", options: "help version", ..Program::NONE },
    Program {
        names: "shred|gshred",
        options: "f/force n/iterations= random-source= s/size= u remove=? v/verbose x/exact z/zero \
                  help version",
        ..Program::NONE
    },
];

pub(super) fn run(run: &mut CommandRun<'_, '_>) {
    let known = PROGRAMS.iter().find(|program| program.is_named(run.name));
    let parsed = known.unwrap_or(&Program::open("")).parse(run.args);
    if parsed.informs() {
        return;
    }
    let call = run.call;
    // `rmdir /s` of Windows takes what is in the directory too.
    let has_slash = run.args.iter().any(|arg| arg.text.eq_ignore_ascii_case("/s"));
    let name = if run.name == "rmdir" && has_slash { "rd" } else { run.name };
    match name {
        "trash-empty" => run.effect(
            EffectKind::Delete,
            "the trash",
            EffectScope::Home,
            Reversibility::R4,
            "empties the trash",
        ),
        "trash" | "trash-put" | "shred" | "gshred" | "wipe" | "scrub" | "rmdir" => {
            for arg in &parsed.operands {
                let place = run.analyzer.place(&arg.text);
                let (level, why) = match run.name {
                    "rmdir" => (Reversibility::R1, "removes an empty directory"),
                    "trash" | "trash-put" if place.whole => {
                        (Reversibility::R3, "moves to the trash")
                    }
                    "trash" | "trash-put" => (Reversibility::R1, "moves to the trash"),
                    _ => (Reversibility::R4, "overwrites beyond recovery"),
                };
                run.effect(EffectKind::Delete, &place.display, place.scope, level, why);
            }
        }
        "del" | "erase" | "rd" => {
            // PowerShell takes any beginning of an option's name.
            let recursive = run.args.iter().any(|arg| {
                let text = arg.text.to_ascii_lowercase();
                text == "/s" || text.len() > 1 && "-recurse".starts_with(&text)
            });
            let is_rehearsal = |arg: &Arg| arg.text.eq_ignore_ascii_case("-whatif");
            if !run.args.iter().any(is_rehearsal) {
                let is_path = |arg: &&&Arg| arg.text.len() > 2 || !arg.text.starts_with('/');
                let paths: Vec<Arg> =
                    parsed.operands.iter().filter(is_path).map(|arg| (*arg).clone()).collect();
                remove_item(run, &paths, recursive);
            }
        }
        name => {
            let rm = matches!(name, "rm" | "grm" | "srm");
            let recursive = !rm && name != "unlink"
                || rm && (parsed.has("r", "recursive") || parsed.has("R", ""));
            if parsed.operands.is_empty() && recursive && rm {
                run.sure(
                    EffectKind::Delete,
                    "",
                    EffectScope::Unknown,
                    Reversibility::R4,
                    Certainty::Unresolved,
                    "deletes recursively without naming a target",
                );
            }
            for arg in &parsed.operands {
                run.analyzer.delete(arg, recursive, name, call);
            }
        }
    }
}

/// Reports deletions by the shells of Windows: files, or registry keys.
pub(super) fn remove_item(run: &mut CommandRun<'_, '_>, paths: &[Arg], recursive: bool) {
    let call = run.call;
    // Paths from a pipe.
    if paths.is_empty() && run.call.input != crate::pipes::Flow::None {
        let piped = Arg { dynamic: true, ..Arg::plain("$INPUT") };
        run.analyzer.delete(&piped, recursive, run.name, call);
    }
    // `bin` and `obj` together are what .NET builds.
    let names = |name: &str| paths.iter().any(|path| path.text.rsplit('/').next() == Some(name));
    let known = run.analyzer.builders.len();
    if names("bin") && names("obj") {
        run.analyzer.builders.push("dotnet".to_owned());
    }
    for path in paths {
        let drive = path.text.split(':').next().unwrap_or("").to_ascii_lowercase();
        if super::powershell::is_registry(&path.text) {
            let why = "deletes keys of the registry";
            run.effect(EffectKind::Delete, &path.text, EffectScope::System, Reversibility::R4, why);
        } else if !matches!(drive.as_str(), "env" | "alias" | "function" | "variable") {
            run.analyzer.delete(path, recursive, run.name, call);
        }
    }
    run.analyzer.builders.truncate(known);
}

/// Reports deletions by desktop tools: `gio remove`, `gio trash --empty`.
pub(super) fn desktop(run: &mut CommandRun<'_, '_>) {
    let words = super::plain_words(run.args);
    let has = |flag: &str| run.args.iter().any(|arg| arg.text == flag);
    let call = run.call;
    if has("--empty") || run.name == "bleachbit" && (has("--clean") || has("-c")) {
        run.effect(
            EffectKind::Delete,
            "the trash",
            EffectScope::Home,
            Reversibility::R4,
            "empties the trash",
        );
    } else if matches!(words.first(), Some(&("remove" | "del" | "move"))) {
        for arg in run.args.iter().skip(1).filter(|arg| !arg.text.starts_with('-')) {
            run.analyzer.delete(arg, true, run.name, call);
        }
    }
}

/// Reports `robocopy /mir` of Windows, which deletes the files that are not in the source.
pub(super) fn robocopy(run: &mut CommandRun<'_, '_>) {
    let has = |word: &str| run.args.iter().any(|arg| arg.text.eq_ignore_ascii_case(word));
    if !(has("/mir") || has("/purge")) || has("/l") {
        return;
    }
    let call = run.call;
    let mut operands = run.args.iter().filter(|arg| !arg.text.starts_with('/'));
    if let Some(target) = operands.nth(1).cloned() {
        run.analyzer.delete(&target, true, run.name, call);
    }
}
