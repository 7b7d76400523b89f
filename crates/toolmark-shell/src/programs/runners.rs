//! Commands inside the words of other programs: the value of an option that names a command, text
//! that a program is known to pass to a shell, and a command after a program without rules, which
//! may be a wrapper.
//!
//! ```asked
//! mywrapper rm -rf /srv/data
//! ./tool --fast -- git reset --hard
//! hyperfine 'rm -rf /srv/data'
//! nix-shell -p coreutils --run 'rm -rf /srv/data'
//! gdb -batch -ex 'shell rm -rf /srv/data'
//! watcher --exec='git clean -fdx'
//! gdb -batch -ex 'python import os; os.system("rm -rf /srv/data")'
//! lldb -b -o 'platform shell rm -rf /srv/data'
//! man -P 'rm -rf /srv/data' ls
//! clush -a 'rm -rf /opt/app'
//! ```
//! ```allowed
//! cowsay 'rm -rf /'
//! man rm
//! mytool rm
//! mytool remove x
//! hyperfine 'cargo build'
//! notes add -m 'rm -rf / is bad'
//! which git reset --hard
//! entr -c cargo test
//! ```

use crate::decision::decide;
use crate::effects::Certainty;
use crate::expand::Arg;
use crate::inline::{self, Language};
use crate::pipes::Flow;
use crate::run::{CommandRun, program_name};
use crate::{Decision, analyze::CommandContext};

/// Options whose value is a command, in programs without a rule for it.
const COMMAND_OPTIONS: &[&str] = &[
    "-c",
    "--command",
    "--cmd",
    "--exec",
    "--run",
    "--eval",
    "-e",
    "-ex",
    "-x",
    "--shell",
    "--execute",
    "--on-change",
    "--init-eval-command",
    "--eval-command",
    "-ic",
    "-lc",
];

/// Whether the operands of a program are shell commands.
fn runs_operands(name: &str) -> bool {
    matches!(
        name,
        "hyperfine"
            | "concurrently"
            | "entr"
            | "watchexec"
            | "nodemon"
            | "onchange"
            | "chokidar"
            | "npm-run-all"
            | "run-p"
            | "run-s"
            | "dtach"
            | "abduco"
            | "xterm"
            | "gnome-terminal"
            | "konsole"
            | "alacritty"
            | "kitty"
            | "foot"
            | "nix-shell"
            | "parallel-ssh"
            | "pssh"
            | "clush"
            | "pdsh"
            | "dsh"
            | "salt"
            | "mussh"
            | "knife"
            | "systemd-nspawn"
            | "zellij"
            | "dvtm"
            | "sem"
    )
}

/// Whether the words of a program are only shown, searched for or sent as text.
pub(super) fn only_mentions(name: &str) -> bool {
    // `python-config` and similar programs print the options of compilers.
    name.ends_with("-config")
        || matches!(
            name,
            "echo"
                | "printf"
                | "man"
                | "which"
                | "whereis"
                | "type"
                | "tldr"
                | "whatis"
                | "apropos"
                | "info"
                | "help"
                | "cowsay"
                | "figlet"
                | "say"
                | "notify-send"
                | "logger"
                | "wall"
                | "test"
                | "["
                | "expr"
                | "basename"
                | "dirname"
                | "gum"
                | "dialog"
                | "whiptail"
                | "shellcheck"
                | "explainshell"
                | "wc"
                | "ls"
                | "ll"
                | "stat"
                | "file"
                | "toolmark"
                | "let"
                | "read"
                | "seq"
                | "date"
                | "sleep"
                | "pgrep"
                | "ps"
                | "jobs"
                | "apt-file"
                | "local"
                | "readonly"
                | "return"
                | "exit"
                | "complete"
                | "compgen"
                | "bind"
                | "hash"
        )
}

/// Words that introduce a command inside the text of a debugger or similar program.
const LEADS: &[&str] =
    &["shell ", "platform shell ", "!", "spawn ", "exec ", "system ", "run ", "pipe "];

/// Words that introduce Python in the same texts.
const PYTHON_LEADS: &[&str] = &["python ", "py ", "script ", "python-interactive ", "pi "];

/// Analyzes the words of a program without rules of its own.
pub(super) fn run(run: &mut CommandRun<'_, '_>) {
    if run.name == "man" {
        texts(run);
    }
    if only_mentions(run.name) {
        return;
    }
    texts(run);
    if matches!(run.name, "expect" | "gdb" | "lldb") {
        return;
    }
    // Programs that run a command on many machines take its words as they are.
    if matches!(run.name, "dsh" | "pdsh" | "clush" | "pssh" | "parallel-ssh" | "mussh")
        && let Some(at) = run.args.iter().position(|arg| arg.text == "--")
    {
        let words = run.args.get(at + 1..).unwrap_or_default().to_vec();
        suspect(run, |run| {
            run.inner(words, Flow::None);
        });
    }
    tail(run);
}

/// Analyzes options and operands that are shell text.
pub(super) fn texts(run: &mut CommandRun<'_, '_>) {
    let mut found = Vec::new();
    for (at, arg) in run.args.iter().enumerate() {
        if only_looks(arg) {
            break;
        }
        let (name, attached) = match arg.text.split_once('=') {
            Some((name, value)) if name.starts_with("--") => (name, Some(value)),
            _ => (arg.text.as_str(), None),
        };
        let is_own = matches!(
            (run.name, name),
            ("lldb" | "rust-lldb", "-o" | "-O" | "--one-line" | "-k" | "--one-line-before-file")
                | ("man", "-P" | "--pager")
                | ("zip", "-TT" | "--unzip-command")
                | ("git", "--upload-pack")
        );
        if COMMAND_OPTIONS.contains(&name) || is_own {
            let next = run.args.get(at + 1).map(|next| next.text.as_str());
            found.extend(attached.or(next).map(str::to_owned));
        } else if runs_operands(run.name) && !arg.text.starts_with('-') {
            found.push(arg.text.clone());
        }
    }
    for text in found.iter().filter(|text| is_text(text)) {
        suspect(run, |run| run.shell_text(text));
        for statement in text.split(['\n', ';']).take(16) {
            let statement = statement.trim_start();
            if let Some(bare) = LEADS.iter().find_map(|lead| statement.strip_prefix(lead)) {
                suspect(run, |run| run.shell_text(bare));
            }
        }
        if matches!(run.name, "gdb" | "lldb" | "cgdb" | "rust-gdb" | "rust-lldb")
            && let Some(code) = PYTHON_LEADS.iter().find_map(|lead| text.strip_prefix(lead))
        {
            suspect(run, |run| inline::scan(run, Language::Python, code));
        }
    }
}

/// Whether a word can be a whole command. `rm${IFS}-rf${IFS}x` is one without a blank.
pub(super) fn is_text(word: &str) -> bool {
    word.contains([' ', '\t', '\n', '$', ';', '`'])
}

/// Analyzes the command that begins at a later word, and keeps it if it would not be allowed.
fn tail(run: &mut CommandRun<'_, '_>) {
    let starts = |arg: &Arg| !arg.dynamic && destroys(&program_name(&arg.text));
    let start = run.args.iter().take(12).position(|arg| starts(arg) || only_looks(arg));
    let Some(at) = start.filter(|at| run.args.get(*at).is_some_and(starts)) else { return };
    let words: Vec<Arg> = run.args.get(at..).unwrap_or_default().to_vec();
    suspect(run, |run| {
        run.inner(words, Flow::None);
    });
}

/// Whether a word indicates that a command is only inspected, as in `tool check 'rm -rf x'`.
fn only_looks(arg: &Arg) -> bool {
    matches!(
        arg.text.as_str(),
        "check"
            | "explain"
            | "validate"
            | "lint"
            | "test"
            | "show"
            | "describe"
            | "search"
            | "help"
            | "preflight"
            | "simulate"
            | "parse"
            | "add"
            | "create"
            | "list"
            | "log"
    )
}

/// Whether a program exists to destroy something, or to run a program that does.
fn destroys(name: &str) -> bool {
    matches!(
        name,
        "rm" | "rmdir"
            | "shred"
            | "unlink"
            | "dd"
            | "truncate"
            | "mkfs"
            | "wipefs"
            | "find"
            | "git"
            | "chmod"
            | "chown"
            | "mv"
            | "sh"
            | "bash"
            | "zsh"
            | "dash"
            | "sudo"
            | "env"
            | "xargs"
            | "kubectl"
            | "terraform"
            | "docker"
            | "psql"
            | "mysql"
            | "dropdb"
            | "python3"
            | "python"
            | "perl"
            | "node"
            | "ruby"
            | "php"
            | "deno"
            | "aws"
            | "gcloud"
            | "az"
            | "helm"
            | "redis-cli"
            | "mongosh"
            | "zfs"
            | "zpool"
            | "lvremove"
            | "userdel"
            | "pkill"
            | "killall"
            | "curl"
            | "wget"
    ) || name.starts_with("mkfs.")
}

/// Keeps the findings of `look` only if they would not be allowed, and marks them as likely,
/// because it is a guess that the program runs the command.
pub(crate) fn suspect(run: &mut CommandRun<'_, '_>, look: impl FnOnce(&mut CommandRun<'_, '_>)) {
    let (effects, commands) = (run.analyzer.effects.len(), run.analyzer.commands.len());
    let (cwd, variables) = (run.analyzer.cwd.clone(), run.analyzer.variables.clone());
    let call = CommandContext { indirect: true, ..run.call.clone() };
    look(&mut CommandRun {
        analyzer: &mut *run.analyzer,
        name: run.name,
        args: run.args,
        call: &call,
    });
    (run.analyzer.cwd, run.analyzer.variables) = (cwd, variables);
    let found = run.analyzer.effects.get(effects..).unwrap_or_default();
    if decide(found) == Decision::Allow {
        run.analyzer.effects.truncate(effects);
        run.analyzer.commands.truncate(commands);
        return;
    }
    for effect in run.analyzer.effects.iter_mut().skip(effects) {
        effect.certainty = effect.certainty.max(Certainty::Likely);
    }
}
