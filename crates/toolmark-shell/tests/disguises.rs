//! Destructive commands in random disguises are never allowed; harmless ones in the same disguises
//! are rarely stopped. `DISGUISES` sets the number of each.

use toolmark_shell::{Decision, ShellContext, analyze};

const DESTRUCTIVE: &[&str] = &[
    "rm -rf /srv/data",
    "rm -r -f ~/work",
    "rm --recursive --force /etc/nginx",
    "git reset --hard HEAD~3",
    "git clean -fdx",
    "git push --force origin main",
    "git checkout -- .",
    "find /srv -type f -delete",
    "dd if=/dev/zero of=/dev/sda",
    "mkfs.ext4 /dev/sdb1",
    "shred -u /srv/key",
    "truncate -s 0 /srv/data/app.db",
    "chmod -R 777 /etc",
    "kubectl delete namespace prod",
    "terraform destroy -auto-approve",
    "dropdb production",
    "docker volume rm data",
    "aws s3 rm s3://bucket --recursive",
];

const HARMLESS: &[&str] = &[
    "ls -la src",
    "git status",
    "git log --oneline -5",
    "cargo test --workspace",
    "npm run build",
    "cat README.md",
    "grep -rn main src",
    "rm -rf node_modules",
    "mkdir -p target/x",
    "python3 -m pytest tests",
    "git add -A",
    "git commit -m fix",
    "find . -name x.rs",
    "docker ps -a",
    "kubectl get pods",
    "echo done",
    "touch src/new.rs",
    "make check",
];

/// A deterministic pseudo-random number generator.
struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % most as u64) as usize
    }

    fn one<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len())]
    }
}

fn single(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

fn double(text: &str) -> String {
    let text = text.replace('\\', r"\\").replace('"', "\\\"").replace('$', r"\$");
    format!("\"{}\"", text.replace('`', r"\`"))
}

/// Whether a text is one command of plain words.
fn is_plain(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_alphanumeric() || " -_./:~=".contains(c))
}

const PREFIXES: &[&str] = &[
    "env",
    "env -",
    "env A=1",
    "env -u X",
    "nice -n 5",
    "nohup",
    "timeout 5",
    "timeout -s KILL 5s",
    "setsid",
    "setsid -f",
    "stdbuf -oL",
    "command",
    "exec",
    "time",
    "ionice -c 3",
    "strace -f",
    "valgrind",
    "unshare -r",
    "xvfb-run",
    "builtin",
    "mywrapper",
    "./run --",
    "!",
    "poetry run",
    "uv run",
    "bundle exec",
    "flock /tmp/l",
    "chronic",
    "caffeinate -i",
    "prlimit",
    "catchsegv",
    "faketime now",
    "perf stat",
    "ltrace -c",
    "unbuffer",
    "torsocks",
    "eatmydata",
];

/// Templates with `@` for the text in single quotes and `#` for the text verbatim.
const TEXTS: &[&str] = &[
    "bash -c @",
    "sh -lc @",
    "zsh -c @",
    "eval @",
    "echo @ | sh",
    "printf '%s' @ | bash",
    "bash <<< @",
    "sh -s <<< @",
    "bash <(echo @)",
    "source <(echo @)",
    ". /dev/stdin <<< @",
    "cat <<'E' | sh\n#\nE",
    "bash <<'E'\n#\nE",
    "echo @ > /tmp/x.sh; bash /tmp/x.sh",
    "echo @ > x.sh && chmod +x x.sh && ./x.sh",
    "cat > y.sh <<'E'\n#\nE\nsh y.sh",
    "echo @ | tee z.sh; . ./z.sh",
    "( # )",
    "{ #; }",
    "if true; then #; fi",
    "while true; do #; done",
    "for i in 1 2; do #; done",
    "case x in x) # ;; esac",
    "true && #",
    "false || #",
    "#; echo ok",
    "# &",
    "# | cat",
    "echo $( # )",
    ": `#`",
    "x=$( # )",
    "f() { #; }; f",
    "function g { #; }; g",
    "trap @ EXIT",
    "watch -n 1 @",
    "script -qc @ /dev/null",
    "tmux new -d @",
    "ssh host @",
    "find . -name a -exec sh -c @ \\;",
    "echo a | xargs -I{} sh -c @",
    "xargs -i sh -c @ < list",
    "parallel -N0 @ ::: a",
    "git -c alias.x='!'@ x",
    "git submodule foreach @",
    "git bisect run sh -c @",
    "GIT_EDITOR=@ git commit --amend",
    "git fetch --upload-pack @ o",
    "hyperfine @",
    "nix-shell --run @",
    "npm exec -c @",
    "su -c @",
    "sudo sh -c @",
    "cd /tmp; #",
    "[[ $( # ) ]]",
    "a[$( # )]=1",
    "echo ${x:-$( # )}",
    "echo \"$( # )\"",
    "diff <(#) y",
    "tee >(sh) <<< @",
    "bash -c \"$(echo @)\"",
    "coproc { #; }",
    "docker run -v /:/h x sh -c @",
    "echo x; #",
];

fn disguise(text: &str, random: &mut Random) -> String {
    match random.below(10) {
        0..=2 if is_plain(text) => format!("{} {text}", random.one(PREFIXES)),
        3 if is_plain(text) && !text.contains('=') => {
            let (program, rest) = text.split_once(' ').unwrap_or((text, ""));
            let (head, tail) = program.split_at(1);
            let program = match random.below(5) {
                0 => format!("\\{program}"),
                1 => format!("{head}''{tail}"),
                2 => format!("\"{program}\""),
                3 => format!("{head}\"{tail}\""),
                _ => format!("$'\\x{:02x}'{tail}", head.as_bytes()[0]),
            };
            format!("{program} {rest}")
        }
        4 if is_plain(text) && !text.contains('=') => match random.below(6) {
            0 => text.replace(' ', "${IFS}"),
            1 => format!("x={}; $x", single(text)),
            2 => format!("c=({text}); \"${{c[@]}}\""),
            3 => format!("set -- {text}; \"$@\""),
            4 => format!("declare -a c=({text}); ${{c[*]}}"),
            _ => format!("S=' ';{}", text.replace(' ', "${S}")),
        },
        5 => {
            let code = text.replace('\\', r"\\").replace('"', "\\\"");
            match random.below(5) {
                0 => format!("python3 -c {}", single(&format!("import os; os.system(\"{code}\")"))),
                1 => format!(
                    "python3 -c {}",
                    single(&format!("import subprocess as s; s.run(\"{code}\", shell=True)"))
                ),
                2 => format!("perl -e {}", single(&format!("system(\"{code}\")"))),
                3 => format!("ruby -e {}", single(&format!("system(\"{code}\")"))),
                _ => format!(
                    "node -e {}",
                    single(&format!("require('child_process').execSync(\"{code}\")"))
                ),
            }
        }
        6 => format!("bash -c {}", double(text)),
        _ => {
            let template = random.one(TEXTS);
            // The mark of a here-document stands alone on its line, and backticks
            // do not nest as they are.
            let here = text.contains("\nE") && template.contains('#');
            match here || template.contains('`') && text.contains(['`', '\\']) {
                true => format!("sh -c {}", single(text)),
                false => template.replace('@', &single(text)).replace('#', text),
            }
        }
    }
}

/// Disguises that always lead to a question to the user.
const ASKED: &[&str] = &["sudo ", "su -c", "docker run -v", "ssh host"];

fn disguised(base: &str, random: &mut Random) -> String {
    let mut text = base.to_owned();
    for _ in 0..=random.below(4) {
        text = disguise(&text, random);
    }
    text
}

#[test]
#[allow(clippy::print_stderr, reason = "the counts are what the test is for")]
fn disguises() {
    let rounds: usize =
        std::env::var("DISGUISES").ok().and_then(|n| n.parse().ok()).unwrap_or(5_000);
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let context = ShellContext { cwd: Some("/w/shop"), ..ShellContext::default() };
    let (mut allowed, mut stopped) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        let bad = disguised(random.one(DESTRUCTIVE), &mut random);
        if analyze(&bad, &context).decision == Decision::Allow {
            allowed.push(bad);
        }
        let good = disguised(random.one(HARMLESS), &mut random);
        let analysis = analyze(&good, &context);
        let is_asked = ASKED.iter().any(|asked| good.contains(asked));
        if analysis.decision != Decision::Allow && !is_asked {
            stopped.push(format!("{good}   ({})", analysis.reason));
        }
    }
    for text in allowed.iter().take(25) {
        eprintln!("allowed: {text:?}");
    }
    for text in stopped.iter().take(10) {
        eprintln!("stopped: {text:?}");
    }
    eprintln!("{} of {rounds} allowed, {} of {rounds} stopped", allowed.len(), stopped.len());
    assert!(allowed.is_empty(), "{} disguised commands are allowed", allowed.len());
    assert!(stopped.len() * 100 <= rounds, "{} harmless commands are stopped", stopped.len());
}
