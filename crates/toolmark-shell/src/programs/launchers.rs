//! Wrappers: programs that run the command after their own options, and shells that run text. One
//! row per wrapper: its options with values, the number of operands before the command, and whether
//! assignments may precede it.
//!
//! ```denied
//! env -i A=b git reset --hard
//! nice -n 19 rm -rf /etc/x
//! timeout -s KILL 5s rm -rf /etc/x
//! sudo -u root -- env X=1 rm -rf /etc/x
//! sudo -u postgres rm -rf /var/lib/postgresql
//! watch sh -c 'git reset --hard'
//! watch -n5 -d 'ls; rm -rf /etc'
//! cleanup() { rm -rf ../outside; }; time -p -- ! cleanup
//! stdbuf -oL nohup rm -rf ~/x
//! watch -n 1 'rm -rf /etc/x'
//! poetry run -- rm -rf ~/x
//! busybox rm -rf /etc/x
//! flock /tmp/l rm -rf /etc/x
//! eval 'rm -rf /'
//! su -c 'rm -rf /etc'
//! time git reset --hard
//! ```
//! ```asked
//! sudo make install
//! sudo iptables -F
//! trap 'rm -rf /tmp/x' EXIT
//! su - root
//! eval "$CMD"x
//! chroot /mnt ls
//! ```
//! ```allowed
//! command -v rm
//! env FOO=1 git status
//! timeout 10 cargo test
//! sudo -l
//! sudo ls
//! sudo env A=1 git status
//! sudo -u postgres psql -c 'SELECT 1'
//! lvm --test lvremove vg/data
//! watch -n 1 git status
//! sudo systemctl status nginx
//! sudo fdisk -l /dev/sda
//! trap 'echo rm -rf /' EXIT
//! nice make
//! xvfb-run npm test
//! trap - EXIT
//! trap 'rm -rf "$d"' EXIT; d=$(mktemp -d)
//! eval "$(ssh-agent -s)"
//! sudo --version
//! ```

use crate::effects::{EffectKind, EffectScope, Reversibility};
use crate::expand::Arg;
use crate::lookup::{NameLookup, column};
use crate::options::ParsedOptions;
use crate::program::{Program, Syntax};
use crate::run::CommandRun;

/// Command that a wrapper runs.
pub(crate) enum Unwrapped {
    /// Not a wrapper.
    No,
    /// A wrapper with nothing to run.
    Done,
    /// Words to run, with variables.
    Words { words: Vec<Arg>, env: Vec<(String, Arg)> },
    /// Text to run.
    Text(String),
}

/// A launcher: its options, the number of operands before the command, and whether assignments may
/// precede it.
struct Launcher {
    names: &'static [&'static str],
    program: Program,
    operands: usize,
    assigns: bool,
}

/// A launcher with the complete list of its options; the command begins at the first operand.
const fn launcher(names: &'static [&'static str], options: &'static str) -> Launcher {
    let program = Program { syntax: Syntax::Posix, options, ..Program::NONE };
    Launcher { names, program, operands: 0, assigns: false }
}

/// A launcher of which only the options with values are listed.
const fn open(names: &'static [&'static str], options: &'static str) -> Launcher {
    let program = Program { syntax: Syntax::Posix, options, is_open: true, ..Program::NONE };
    Launcher { names, program, operands: 0, assigns: false }
}

impl Launcher {
    const fn behind(self, operands: usize) -> Self {
        Self { operands, ..self }
    }

    const fn assigns(self) -> Self {
        Self { assigns: true, ..self }
    }
}

static LAUNCHERS: &[Launcher] = &[
    launcher(
        &["sudo"],
        "A/askpass b/background B/bell C/close-from= D/chdir= E/preserve-env=? e/edit g/group= \
         H/set-home h/host= i/login K/remove-timestamp k/reset-timestamp l/list N/no-update \
         n/non-interactive P/preserve-groups p/prompt= R/chroot= r/role= S/stdin s/shell t/type= \
         T/command-timeout= U/other-user= u/user= V/version v/validate help",
    )
    .assigns(),
    launcher(&["doas"], "L n s C= u= a=").assigns(),
    launcher(&["pkexec"], "u/user= disable-internal-agent keep-cwd version help"),
    launcher(
        &["env", "genv"],
        "i/ignore-environment 0/null u/unset= C/chdir= S/split-string= P= a/argv0= v/debug \
         block-signal=? default-signal=? ignore-signal=? list-signal-handling help version",
    )
    .assigns(),
    launcher(&["command"], "p v V").assigns(),
    open(&["cross-env", "cross-env-shell"], "").assigns(),
    open(
        &[
            "builtin",
            "nohup",
            "setsid",
            "unbuffer",
            "fakeroot",
            "winpty",
            "chronic",
            "ifne",
            "torsocks",
            "prlimit",
            "noglob",
            "nocorrect",
            "rtk",
            "then",
            "else",
            "do",
            "valgrind",
            "eatmydata",
            "nocache",
            "catchsegv",
            "systemd-inhibit",
            "fakechroot",
            "setpriv",
            "dbus-launch",
            "uclampset",
            "sem",
            "firejail",
            "bwrap",
            "dbus-run-session",
            "busybox",
            "toybox",
            "retry",
            "wait-for-it",
            "dumb-init",
            "tini",
            "setarch",
            "linux64",
            "arch",
        ],
        "",
    ),
    launcher(&["lvm"], "h/help version test t/test"),
    launcher(
        &["time", "gtime"],
        "a/append f/format= o/output= p/portability q/quiet v/verbose V/version l h/help",
    ),
    open(&["proxychains", "proxychains4", "env-cmd"], "f/file= e="),
    open(&["faketime", "runcon"], "f=").behind(1),
    open(&["cpulimit"], "l/limit= p= e="),
    launcher(&["choom"], "n/adjust= p/pid= h/help V/version"),
    open(&["proot"], "r/rootfs= b/bind= w/cwd= q="),
    open(&["ld.so", "ld64.so.2"], "library-path= argv0= preload= audit="),
    launcher(&["exec"], "c l a="),
    launcher(&["nice"], "n/adjustment= help version"),
    launcher(
        &["timeout", "gtimeout"],
        "f/foreground k/kill-after= p/preserve-status s/signal= v/verbose help version",
    )
    .behind(1),
    launcher(&["stdbuf"], "i/input= o/output= e/error= help version"),
    launcher(&["ionice"], "c/class= n/classdata= p/pid= P/pgid= u/uid= t/ignore h/help V/version"),
    open(&["chrt", "taskset", "numactl"], "T/sched-runtime= P/sched-period= D/sched-deadline=")
        .behind(1),
    launcher(
        &["flock"],
        "E/conflict-exit-code= F/no-fork c/command= e/exclusive x n/nonblock nb o/close s/shared \
         u/unlock w/timeout= wait= verbose h/help V/version",
    )
    .behind(1),
    open(&["strace", "ltrace", "truss"], "o/output= e/trace= p= a= E= s= P= u= I="),
    launcher(&["caffeinate"], "d i m s u t= w="),
    open(&["xvfb-run"], "n/server-num= s/server-args= e= f= p="),
    open(
        &["systemd-run"],
        "p/property= H= M= E/setenv= u/unit= t uid= gid= working-directory= slice= on-active= \
         on-calendar= description=",
    ),
    launcher(&["chroot"], "groups= userspec= skip-chdir help version").behind(1),
    open(&["gosu", "su-exec"], "").behind(1),
    open(&["nsenter"], "t/target= S/setuid= G/setgid="),
    open(&["unshare"], "R/root= w/wd= S/setuid= G/setgid= l= propagation="),
    open(&["dotenv"], "f/file= e=").assigns(),
    open(&["direnv"], "").behind(2),
];

const NAMES: [&[&str]; LAUNCHERS.len()] = column!(LAUNCHERS.names, &[] as &[&str]);
static KNOWN: NameLookup<256> = NameLookup::new(&NAMES);

/// Returns the names of the launchers.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    let runners = RUNNERS.iter().flat_map(|(names, ..)| *names).copied();
    KNOWN.names().chain(runners).chain(["watch", "eval", "trap", "su", "runuser", "script"])
}

fn find(name: &str) -> Option<&'static Launcher> {
    let is_loader = name.starts_with("ld-linux") || name.starts_with("ld-musl");
    let name = if is_loader { "ld.so" } else { name };
    KNOWN.find(name).and_then(|at| LAUNCHERS.get(at))
}

/// Launchers that are subcommands: `PROGRAM SUB …` runs the command behind it.
static RUNNERS: &[(&[&str], &[&str], Launcher)] = &[
    (
        &["poetry", "pipenv", "rye", "hatch", "pdm", "conda", "mamba", "micromamba"],
        &["run"],
        open(&[], "n/name= p/prefix= e="),
    ),
    (
        &["uv"],
        &["run"],
        open(
            &[],
            "with= p/python= package= project= directory= extra= group= env-file= \
             with-requirements= with-editable= index= only-group= no-group= refresh-package=",
        ),
    ),
    (
        &[
            "bundle", "bundler", "mise", "asdf", "pnpm", "yarn", "npm", "rbenv", "pyenv", "nodenv",
            "opam", "stack", "cabal", "rtx",
        ],
        &["exec"],
        open(&[], "C= filter= workspace= prefix= package="),
    ),
    (&["mise", "npm"], &["x"], open(&[], "")),
    (
        &["doppler", "op", "infisical", "dotenvx", "railway", "teller", "akeyless"],
        &["run"],
        open(&[], "p/project= c/config= f/env-file= e/env= path="),
    ),
    (&["aws-vault", "chamber", "saml2aws"], &["exec"], open(&[], "duration=").behind(1)),
    (&["rustup"], &["run"], open(&[], "").behind(1)),
    (&["nix"], &["develop", "shell"], open(&[], "")),
    (&["perf"], &["stat", "record", "trace"], open(&[], "e/event= o/output= p= C= F= D= r= I=")),
    (&["rr"], &["record"], open(&[], "")),
];

fn runner(name: &str, sub: &str) -> Option<&'static Launcher> {
    let is_it = |(names, subs, _): &&(&[&str], &[&str], Launcher)| {
        names.contains(&name) && subs.contains(&sub)
    };
    RUNNERS.iter().find(is_it).map(|(.., launcher)| launcher)
}

const WATCH: Program = Program {
    syntax: Syntax::Posix,
    options: "b/beep c/color C/no-color d/differences=? e/errexit g/chgexit n/interval= p/precise \
              q/equexit= r/no-rerun s/shotsdir= t/no-title w/no-wrap x/exec h/help v/version",
    ..Program::NONE
};

const SCRIPT: Program = Program {
    options: "a/append c/command= E/echo= e/return f/flush force B/log-io= I/log-in= O/log-out= \
              T/log-timing= m/logging-format= o/output-limit= q/quiet t/timing=? F h/help V/version",
    ..Program::NONE
};

const SU: Program = Program {
    options: "c/command= session-command= f/fast g/group= G/supp-group= l/login m \
              p/preserve-environment P/pty s/shell= u/user= w/whitelist-environment= h/help \
              V/version",
    ..Program::NONE
};

/// Removes one wrapper.
pub(crate) fn unwrap(run: &mut CommandRun<'_, '_>) -> Unwrapped {
    if let Some(unwrapped) = of_text(run).or_else(|| of_subcommand(run)) {
        return unwrapped;
    }
    let (args, name) = (run.args, run.name);
    let Some(launcher) = find(name) else { return Unwrapped::No };
    let (parsed, at) = launcher.program.parse_until(args, true);
    if let Some(unwrapped) = by_options(run, &parsed, at) {
        return unwrapped;
    }
    if parsed.informs() {
        return Unwrapped::Done;
    }
    let mut rest = args.get(at + launcher.operands..).unwrap_or_default();
    if let ("flock", [flag, text, ..]) = (name, rest)
        && matches!(flag.text.as_str(), "-c" | "--command")
    {
        return Unwrapped::Text(text.text.clone());
    }
    // `env -` is `env -i`.
    while rest.first().is_some_and(|arg| {
        matches!(arg.text.as_str(), "--" | "-") || name == "time" && arg.text == "!"
    }) {
        rest = rest.get(1..).unwrap_or_default();
    }
    let mut env = Vec::new();
    while launcher.assigns
        && let Some((first, others)) = rest.split_first()
        && let Some((variable, value)) = first.text.split_once('=')
        && !variable.is_empty()
        && variable.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
    {
        env.push((variable.to_owned(), Arg { text: value.to_owned(), ..first.clone() }));
        rest = others;
    }
    if rest.is_empty() {
        return if matches!(name, "env" | "genv") { Unwrapped::No } else { Unwrapped::Done };
    }
    Unwrapped::Words { words: rest.to_vec(), env }
}

/// Removes a launcher whose command is text.
fn of_text(run: &mut CommandRun<'_, '_>) -> Option<Unwrapped> {
    let args = run.args;
    Some(match run.name {
        "watch" | "gwatch" => {
            let (parsed, at) = WATCH.parse_until(args, true);
            if parsed.informs() {
                return Some(Unwrapped::Done);
            }
            // More than one word is more likely a command than text, whatever `watch` makes of it.
            match args.get(at..).unwrap_or_default() {
                [only] => text_of(std::slice::from_ref(only)),
                words if words.iter().any(|word| is_operator(&word.text)) => text_of(words),
                words => Unwrapped::Words { words: words.to_vec(), env: Vec::new() },
            }
        }
        "eval" => {
            if args.iter().any(|arg| arg.dynamic) {
                eval_unknown(run);
            }
            text_of(args)
        }
        "trap" => {
            if let [first, _, ..] = args
                && (!first.text.starts_with('-') || first.text.contains(' '))
            {
                let call = crate::analyze::CommandContext { indirect: true, ..run.call.clone() };
                run.analyzer.at_end(&first.text, call);
            }
            Unwrapped::Done
        }
        "su" | "runuser" => su(run),
        "script" => {
            let parsed = SCRIPT.parse(args);
            let text = parsed.value("c", "command");
            text.map_or(Unwrapped::No, |text| Unwrapped::Text(text.to_owned()))
        }
        _ => return None,
    })
}

/// Removes a launcher that is a subcommand: `poetry run`.
fn of_subcommand(run: &CommandRun<'_, '_>) -> Option<Unwrapped> {
    let launcher = runner(run.name, run.args.first()?.literal()?)?;
    let rest = run.args.get(1..).unwrap_or_default();
    let text = rest.windows(2).find(|pair| {
        matches!(pair, [flag, _] if matches!(flag.text.as_str(), "-c" | "--call" | "--command"))
    });
    // `nix develop -c` takes words and no text.
    let is_command = |arg: &Arg| matches!(&*arg.text, "-c" | "--command");
    if let ("nix", Some(at)) = (run.name, rest.iter().position(is_command)) {
        let words = rest.get(at + 1..).unwrap_or_default().to_vec();
        return Some(match words.as_slice() {
            [text] => Unwrapped::Text(text.text.clone()),
            _ => Unwrapped::Words { words, env: Vec::new() },
        });
    }
    if let (Some([_, text]), "npm" | "conda" | "opam") = (text, run.name) {
        return Some(Unwrapped::Text(text.text.clone()));
    }
    let words = behind(launcher, rest);
    Some(match words.is_empty() {
        true => Unwrapped::No,
        false => Unwrapped::Words { words, env: Vec::new() },
    })
}

/// Reports what the options of a launcher do, and returns what it runs where they decide that.
fn by_options(
    run: &mut CommandRun<'_, '_>,
    parsed: &ParsedOptions<'_>,
    at: usize,
) -> Option<Unwrapped> {
    let args = run.args;
    match run.name {
        "sudo" | "doas" | "pkexec" => {
            let ends = "list validate version reset-timestamp remove-timestamp L";
            if parsed.informs() || parsed.any(ends) {
                return Some(Unwrapped::Done);
            }
            privileges(run, parsed.value("u", "user"), args.get(at..).unwrap_or_default());
        }
        "chroot" | "nsenter" => {
            let why = "enters another file system or namespace";
            let target = run.line();
            run.effect(EffectKind::Privilege, &target, EffectScope::System, Reversibility::R1, why);
        }
        "command" if parsed.any("v V") => return Some(Unwrapped::Done),
        "env" | "genv" => {
            let text = parsed.value("S", "split-string")?;
            return Some(Unwrapped::Text(text.to_owned()));
        }
        "lvm" if parsed.has("t", "test") => return Some(Unwrapped::Done),
        "direnv" if args.first().is_none_or(|arg| arg.text != "exec") => {
            return Some(Unwrapped::No);
        }
        _ => {}
    }
    None
}

/// Whether a word is an operator of the shell when it is read again.
fn is_operator(text: &str) -> bool {
    matches!(text, "|" | "||" | "&&" | ";" | "&" | ">" | ">>" | "<") || text.ends_with(';')
}

/// Reports a command that runs with the rights of another user. One that only reads may, and so may
/// one that lowers its rights.
fn privileges(run: &mut CommandRun<'_, '_>, user: Option<&str>, command: &[Arg]) {
    let is_root = user.is_none_or(|user| matches!(user, "root" | "0" | "#0"));
    let level = match !is_root || only_looks(command) {
        true => Reversibility::R0,
        false => Reversibility::R1,
    };
    let words: Vec<&str> = command.iter().map(|arg| arg.text.as_str()).collect();
    let target = match user {
        Some(user) => user.to_owned(),
        None if words.is_empty() => run.name.to_owned(),
        None => words.join(" "),
    };
    let why = if is_root {
        "runs with the rights of root"
    } else {
        "runs with the rights of another user"
    };
    run.effect(EffectKind::Privilege, &target, EffectScope::System, level, why);
}

/// Whether a command can only show something.
fn only_looks(words: &[Arg]) -> bool {
    let is_prefix = |arg: &&Arg| arg.text == "env" || arg.text.contains('=');
    let words = words.get(words.iter().take_while(is_prefix).count()..).unwrap_or_default();
    let Some((program, rest)) = words.split_first() else { return false };
    let first = rest.first().map_or("", |arg| arg.text.as_str());
    let has = |flags: &[&str]| rest.iter().any(|arg| flags.contains(&arg.text.as_str()));
    match crate::run::program_name(&program.text).as_str() {
        "ls" | "stat" | "df" | "du" | "ps" | "ss" | "netstat" | "lsof" | "whoami" | "id"
        | "true" | "lsblk" | "blkid" | "dmidecode" | "lspci" | "lsusb" | "free" | "uptime"
        | "which" => true,
        "systemctl" => matches!(
            first,
            "status" | "is-active" | "is-enabled" | "list-units" | "show" | "cat" | "list-timers"
        ),
        "journalctl" | "dmesg" => !rest.iter().any(|arg| {
            let text = arg.text.as_str();
            text.starts_with("--vacuum") || matches!(text, "--rotate" | "-C" | "-c" | "--clear")
        }),
        "fdisk" | "parted" | "sfdisk" => has(&["-l", "--list"]),
        "iptables" | "ip6tables" => first.starts_with("-L") || first == "-S",
        "ufw" => first == "status",
        "git" => matches!(first, "status" | "log" | "diff" | "show"),
        "docker" => matches!(first, "ps" | "images" | "logs" | "info" | "version" | "inspect"),
        "nginx" => first == "-t",
        _ => false,
    }
}

/// Returns the words after a wrapper's options and operands.
fn behind(launcher: &Launcher, args: &[Arg]) -> Vec<Arg> {
    let (_, at) = launcher.program.parse_until(args, true);
    let mut rest = args.get(at + launcher.operands..).unwrap_or_default();
    if rest.first().is_some_and(|arg| arg.text == "--") {
        rest = rest.get(1..).unwrap_or_default();
    }
    rest.to_vec()
}

/// Joins words to a text that is parsed again.
fn text_of(args: &[Arg]) -> Unwrapped {
    let words: Vec<&str> =
        args.iter().filter(|arg| !arg.dynamic).map(|arg| arg.text.as_str()).collect();
    if words.is_empty() { Unwrapped::Done } else { Unwrapped::Text(words.join(" ")) }
}

fn eval_unknown(run: &mut CommandRun<'_, '_>) {
    let target = run.line();
    if run.call.remote {
        run.effect(
            EffectKind::ExecuteUntrusted,
            &target,
            EffectScope::Remote,
            Reversibility::R5,
            "runs downloaded code",
        );
        return;
    }
    // `eval "$(ssh-agent -s)"` and the hooks of version managers are ordinary.
    let known = target == "$(…)" && run.call.input == crate::pipes::Flow::None;
    let level = if known { Reversibility::R0 } else { Reversibility::R1 };
    run.sure(
        EffectKind::ExecuteUntrusted,
        &target,
        EffectScope::Unknown,
        level,
        crate::effects::Certainty::Unresolved,
        "runs text built at run time",
    );
}

fn su(run: &mut CommandRun<'_, '_>) -> Unwrapped {
    let parsed = SU.parse(run.args);
    if parsed.informs() {
        return Unwrapped::Done;
    }
    run.effect(
        EffectKind::Privilege,
        &run.line(),
        EffectScope::System,
        Reversibility::R1,
        "runs with the rights of another user",
    );
    match parsed.value("c", "command") {
        Some(text) => Unwrapped::Text(text.to_owned()),
        None => Unwrapped::Done,
    }
}
