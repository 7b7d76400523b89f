//! Wrappers: programs that run the command after their own options, and shells that run text. One
//! row per wrapper: its options with values, the number of operands before the command, and whether
//! assignments may precede it.
//!
//! ```denied
//! env -i A=b git reset --hard
//! nice -n 19 rm -rf /etc/x
//! timeout -s KILL 5s rm -rf /etc/x
//! sudo -u root -- env X=1 rm -rf /etc/x
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

use crate::effects::{Kind, Reversibility, Scope};
use crate::expand::Arg;
use crate::options::Grammar;
use crate::run::Run;

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

struct Wrapper {
    short: &'static str,
    long: &'static [&'static str],
    operands: usize,
}

const fn wrapper(short: &'static str, long: &'static [&'static str], operands: usize) -> Wrapper {
    Wrapper { short, long, operands }
}

fn row(name: &str) -> Option<Wrapper> {
    Some(match name {
        "sudo" => wrapper(
            "ughpCcrtTUDR",
            &[
                "user",
                "group",
                "host",
                "prompt",
                "chdir",
                "role",
                "type",
                "close-from",
                "other-user",
            ],
            0,
        ),
        "doas" => wrapper("uC", &[], 0),
        "pkexec" => wrapper("", &["user"], 0),
        "env" | "genv" => wrapper("uCS", &["unset", "chdir", "split-string"], 0),
        "command" | "builtin" | "nohup" | "setsid" | "unbuffer" | "fakeroot" | "winpty"
        | "chronic" | "ifne" | "torsocks" | "prlimit" | "noglob" | "nocorrect" | "rtk" | "then"
        | "else" | "do" | "cross-env" | "cross-env-shell" | "valgrind" | "eatmydata"
        | "nocache" | "catchsegv" | "systemd-inhibit" | "fakechroot" | "setpriv"
        | "dbus-launch" | "uclampset" | "sem" | "lvm" => wrapper("", &[], 0),
        "time" | "gtime" => wrapper("fo", &["format", "output"], 0),
        "proxychains" | "proxychains4" | "env-cmd" => wrapper("fe", &["file"], 0),
        "faketime" | "runcon" => wrapper("f", &[], 1),
        "cpulimit" => wrapper("lpe", &["limit"], 0),
        "choom" => wrapper("np", &["adjust"], 0),
        "proot" => wrapper("rbwq", &["rootfs", "bind", "cwd"], 0),
        name if name.starts_with("ld-linux")
            || name.starts_with("ld-musl")
            || matches!(name, "ld.so" | "ld64.so.2") =>
        {
            wrapper("", &["library-path", "argv0", "preload", "audit"], 0)
        }
        "exec" => wrapper("a", &[], 0),
        "nice" => wrapper("n", &["adjustment"], 0),
        "timeout" | "gtimeout" => wrapper("sk", &["signal", "kill-after"], 1),
        "stdbuf" => wrapper("ioe", &["input", "output", "error"], 0),
        "ionice" => wrapper("cnpPu", &["class", "classdata"], 0),
        "chrt" | "taskset" | "numactl" | "flock" => wrapper("wE", &["timeout"], 1),
        "strace" | "ltrace" | "truss" => wrapper("oepaEsPuI", &["output", "trace"], 0),
        "caffeinate" => wrapper("tw", &[], 0),
        "xvfb-run" => wrapper("nsefp", &["server-num", "server-args"], 0),
        "firejail" | "bwrap" | "dbus-run-session" => wrapper("", &[], 0),
        "systemd-run" => {
            wrapper("pHMEut", &["unit", "property", "uid", "gid", "setenv", "working-directory"], 0)
        }
        "chroot" | "gosu" | "su-exec" => wrapper("", &[], 1),
        "nsenter" => wrapper("tSG", &["target", "setuid", "setgid"], 0),
        "unshare" => wrapper("RwSGl", &["root", "wd", "setuid", "setgid", "propagation"], 0),
        "dotenv" => wrapper("fe", &["file"], 0),
        "direnv" => wrapper("", &[], 2),
        "busybox" | "toybox" => wrapper("", &[], 0),
        "retry" | "wait-for-it" | "dumb-init" | "tini" | "setarch" | "linux64" | "arch" => {
            wrapper("", &[], 0)
        }
        _ => return None,
    })
}

/// Returns the row of a `PROGRAM SUB …` pair that runs the command after it.
fn runner(name: &str, sub: &str) -> Option<Wrapper> {
    Some(match (name, sub) {
        (
            "poetry" | "pipenv" | "rye" | "hatch" | "pdm" | "conda" | "mamba" | "micromamba",
            "run",
        ) => wrapper("npe", &["name", "prefix"], 0),
        ("uv", "run") => wrapper(
            "p",
            &[
                "with",
                "python",
                "package",
                "project",
                "directory",
                "extra",
                "group",
                "env-file",
                "with-requirements",
            ],
            0,
        ),
        (
            "bundle" | "bundler" | "mise" | "asdf" | "pnpm" | "yarn" | "npm" | "rbenv" | "pyenv"
            | "nodenv" | "opam" | "stack" | "cabal" | "rtx",
            "exec",
        ) => wrapper("C", &["filter", "workspace", "prefix", "package"], 0),
        ("mise", "x") | ("npm", "x") => wrapper("", &[], 0),
        ("doppler" | "op" | "infisical" | "dotenvx" | "railway" | "teller" | "akeyless", "run") => {
            wrapper("pcfe", &["project", "config", "env", "env-file", "path"], 0)
        }
        ("aws-vault" | "chamber" | "saml2aws", "exec") => wrapper("", &["duration"], 1),
        ("rustup", "run") => wrapper("", &[], 1),
        ("nix", "develop" | "shell") => wrapper("", &[], 0),
        ("perf", "stat" | "record" | "trace") => wrapper("eopCFDrI", &["event", "output"], 0),
        ("rr", "record") => wrapper("", &[], 0),
        _ => return None,
    })
}

/// Removes one wrapper.
pub(crate) fn unwrap(run: &mut Run<'_, '_>) -> Unwrapped {
    let args = run.args;
    let name = run.name;
    match name {
        "watch" | "gwatch" => {
            let grammar = Grammar { short: "nq", long: &["interval"], ..Grammar::default() };
            let (_, at) = grammar.parse_until(args, true);
            return text_of(args.get(at..).unwrap_or_default());
        }
        "eval" => {
            if args.iter().any(|arg| arg.dynamic) {
                eval_unknown(run);
            }
            return text_of(args);
        }
        "trap" => {
            return match args {
                [first, _, ..] if !first.text.starts_with('-') || first.text.contains(' ') => {
                    let call = crate::analyze::Call { indirect: true, ..run.call.clone() };
                    run.analyzer.at_end(&first.text, call);
                    Unwrapped::Done
                }
                _ => Unwrapped::Done,
            };
        }
        "su" | "runuser" => return su(run),
        "script" => {
            let parsed =
                Grammar { short: "cEILmoOt", long: &["command"], ..Grammar::default() }.parse(args);
            return parsed
                .value("c", "command")
                .map_or(Unwrapped::No, |text| Unwrapped::Text(text.to_owned()));
        }
        _ => {}
    }
    if let Some(sub) = args.first().and_then(Arg::literal)
        && let Some(row) = runner(name, sub)
    {
        let rest = args.get(1..).unwrap_or_default();
        let text = rest.windows(2).find(|pair| {
            matches!(pair, [flag, _] if matches!(flag.text.as_str(), "-c" | "--call" | "--command"))
        });
        if let (Some([_, text]), "npm" | "nix" | "conda" | "opam") = (text, name) {
            return Unwrapped::Text(text.text.clone());
        }
        let words = behind(&row, rest);
        return if words.is_empty() {
            Unwrapped::No
        } else {
            Unwrapped::Words { words, env: Vec::new() }
        };
    }
    let Some(row) = row(name) else { return Unwrapped::No };
    let grammar = Grammar { short: row.short, long: row.long, ..Grammar::default() };
    let (parsed, at) = grammar.parse_until(args, true);
    match name {
        "sudo" | "doas" | "pkexec" => {
            if parsed.informs() || ["l", "v", "V", "k", "K"].iter().any(|flag| parsed.has(flag, ""))
            {
                return Unwrapped::Done;
            }
            // A program that only reads may run with the rights of another user.
            let level = match only_looks(args.get(at..).unwrap_or_default()) {
                true => Reversibility::R0,
                false => Reversibility::R1,
            };
            run.effect(
                Kind::Privilege,
                "root",
                Scope::System,
                level,
                "runs with the rights of another user",
            );
        }
        "chroot" | "nsenter" => {
            run.effect(
                Kind::Privilege,
                &run.line(),
                Scope::System,
                Reversibility::R1,
                "enters another file system or namespace",
            );
        }
        "command" if parsed.has("v", "") || parsed.has("V", "") => return Unwrapped::Done,
        "env" | "genv" => {
            if let Some(text) = parsed.value("S", "split-string") {
                return Unwrapped::Text(text.to_owned());
            }
        }
        "direnv" if args.first().is_none_or(|arg| arg.text != "exec") => return Unwrapped::No,
        "dotenv" if parsed.informs() => return Unwrapped::Done,
        _ => {}
    }
    if parsed.informs() {
        return Unwrapped::Done;
    }
    let mut rest = args.get(at + row.operands..).unwrap_or_default();
    if let ("flock", [flag, text, ..]) = (name, rest)
        && matches!(flag.text.as_str(), "-c" | "--command")
    {
        return Unwrapped::Text(text.text.clone());
    }
    // `env -` is `env -i`.
    if rest.first().is_some_and(|arg| matches!(arg.text.as_str(), "--" | "-")) {
        rest = rest.get(1..).unwrap_or_default();
    }
    let mut env = Vec::new();
    if matches!(
        name,
        "env" | "genv" | "sudo" | "doas" | "cross-env" | "cross-env-shell" | "dotenv" | "command"
    ) {
        while let Some((first, others)) = rest.split_first() {
            let Some((variable, value)) = first.text.split_once('=') else { break };
            if variable.is_empty()
                || !variable.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
            {
                break;
            }
            env.push((variable.to_owned(), Arg { text: value.to_owned(), ..first.clone() }));
            rest = others;
        }
    }
    if rest.is_empty() {
        return if matches!(name, "env" | "genv") { Unwrapped::No } else { Unwrapped::Done };
    }
    Unwrapped::Words { words: rest.to_vec(), env }
}

/// Whether a command can only show something.
fn only_looks(words: &[Arg]) -> bool {
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
fn behind(row: &Wrapper, args: &[Arg]) -> Vec<Arg> {
    let grammar = Grammar { short: row.short, long: row.long, ..Grammar::default() };
    let (_, at) = grammar.parse_until(args, true);
    let mut rest = args.get(at + row.operands..).unwrap_or_default();
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

fn eval_unknown(run: &mut Run<'_, '_>) {
    let target = run.line();
    if run.call.remote {
        run.effect(
            Kind::ExecuteUntrusted,
            &target,
            Scope::Remote,
            Reversibility::R5,
            "runs downloaded code",
        );
        return;
    }
    // `eval "$(ssh-agent -s)"` and the hooks of version managers are ordinary.
    let known = target == "$(…)" && run.call.input == crate::pipes::Flow::None;
    let level = if known { Reversibility::R0 } else { Reversibility::R1 };
    run.sure(
        Kind::ExecuteUntrusted,
        &target,
        Scope::Unknown,
        level,
        crate::effects::Certainty::Unresolved,
        "runs text built at run time",
    );
}

fn su(run: &mut Run<'_, '_>) -> Unwrapped {
    let parsed = Grammar {
        short: "cgGsu",
        long: &["command", "group", "shell", "user"],
        ..Grammar::default()
    }
    .parse(run.args);
    if parsed.informs() {
        return Unwrapped::Done;
    }
    run.effect(
        Kind::Privilege,
        &run.line(),
        Scope::System,
        Reversibility::R1,
        "runs with the rights of another user",
    );
    match parsed.value("c", "command") {
        Some(text) => Unwrapped::Text(text.to_owned()),
        None => Unwrapped::Done,
    }
}
