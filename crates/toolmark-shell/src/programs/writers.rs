//! Programs that change files in place or write them: `sed -i`, `tee`,
//! `truncate`, editors in scripts.
//!
//! ```denied
//! truncate -s 0 a.txt
//! echo x | tee /etc/hostname
//! sed -i s/a/b/ /etc/passwd
//! echo x > /etc/passwd
//! : > /var/log/syslog
//! echo x > /dev/sda
//! echo x > .git/HEAD
//! chronic rm -rf src
//! echo b > /proc/sysrq-trigger
//! patch -p0 -d /usr/lib/python3 < x.patch
//! ```
//! ```asked
//! exec 3>src/main.rs
//! echo x >> ~/.bashrc
//! echo x | tee ~/.profile
//! echo x > .git/hooks/pre-push
//! sed -i s/a/b/ ~/.zshrc
//! echo x > /data/f
//! : > src/x.rs
//! > src/x.rs
//! cp /dev/null src/x.rs
//! cat /dev/null > src/x.rs
//! echo -n > src/x.rs
//! printf '' > src/x.rs
//! tee src/x.rs < /dev/null
//! sort -o src/x.rs /dev/null
//! sed -i d src/x.rs
//! sed -i '/./d' src/x.rs
//! sed -i '1,$d' src/x.rs
//! sed -i -n '' src/x.rs
//! dd if=/dev/null of=src/x.rs
//! git diff HEAD | patch -R -p1
//! ```
//! ```allowed
//! echo x > f.txt
//! ls >| out
//! echo x >> log 2>&1
//! exec 9>.build.lock
//! exec 3>/tmp/x
//! tee -a /tmp/x
//! sed -i s/a/b/ src/x.rs
//! sed -i '' '/a,$/d' src/x.rs
//! sed -n 1,5p f
//! cat a > /dev/null
//! truncate -s 1M /tmp/x
//! make &> build.log
//! : > build.log
//! mkdir -p src/a && : > src/a/.gitkeep
//! for x in a b; do echo $x; done > list.txt
//! date > ~/t.txt
//! touch a
//! mkdir -p a/b
//! sort -o a a
//! sed -i 3d src/x.rs
//! sed -i '/^#/d' src/x.rs
//! patch -p1 < fix.diff
//! cat > /tmp/x <<'E'
//! | rm -rf /
//! | E
//! ```

use crate::effects::{Certainty, EffectKind, EffectScope, Reversibility};
use crate::pipes::Flow;
use crate::program::Program;
use crate::run::CommandRun;
use crate::write;

pub(super) static PROGRAMS: &[Program] = &[TRUNCATE, TEE, SORT, SPLIT, TOUCH, MKDIR, SED];

const TRUNCATE: Program = Program {
    names: "truncate",
    options: "c/no-create o/io-blocks r/reference= s/size= help version",
    ..Program::NONE
};
const TEE: Program = Program {
    names: "tee|sponge",
    options: "a/append i/ignore-interrupts p output-error=? help version",
    ..Program::NONE
};
const SORT: Program = Program {
    names: "sort",
    options: "b/ignore-leading-blanks d/dictionary-order f/ignore-case g/general-numeric-sort \
              i/ignore-nonprinting M/month-sort h/human-numeric-sort n/numeric-sort R/random-sort \
              random-source= r/reverse sort= V/version-sort batch-size= c check=? C \
              compress-program= debug files0-from= k/key= m/merge o/output= s/stable \
              S/buffer-size= t/field-separator= T/temporary-directory= parallel= u/unique \
              z/zero-terminated help version",
    ..Program::NONE
};
const SPLIT: Program = Program {
    names: "split",
    options: "a/suffix-length= additional-suffix= b/bytes= C/line-bytes= d numeric-suffixes=? x \
              hex-suffixes=? e/elide-empty-files filter= l/lines= n/number= t/separator= \
              u/unbuffered verbose help version",
    ..Program::NONE
};
const TOUCH: Program = Program {
    names: "touch",
    options: "A= a c/no-create d/date= f h/no-dereference m r/reference= t= time= help version",
    ..Program::NONE
};
const MKDIR: Program = Program {
    names: "mkdir",
    options: "m/mode= p/parents v/verbose Z context=? help version",
    ..Program::NONE
};
const SED: Program = Program {
    names: "sed|gsed",
    options: "a n/quiet silent debug e/expression= E/regexp-extended f/file= follow-symlinks I=? \
              i/in-place=? l/line-length= posix r s/separate sandbox u/unbuffered z/null-data help \
              version",
    ..Program::NONE
};

pub(super) fn run(run: &mut CommandRun<'_, '_>) {
    let call = run.call;
    match run.name {
        "truncate" => {
            let parsed = TRUNCATE.parse(run.args);
            let size = parsed.value("s", "size").unwrap_or("0");
            if parsed.informs() || size.starts_with(['+', '>']) {
                return;
            }
            for arg in &parsed.operands {
                let place = run.analyzer.place(&arg.text);
                let new = matches!(place.scope, EffectScope::Temp | EffectScope::TreeArtefact)
                    || (!size.starts_with('0') && !size.starts_with('-'));
                let level = if new { Reversibility::R2 } else { Reversibility::R4 };
                run.effect(
                    EffectKind::Overwrite,
                    &place.display,
                    place.scope,
                    level,
                    "truncates a file",
                );
            }
        }
        "tee" | "sponge" => {
            let parsed = TEE.parse(run.args);
            if parsed.informs() {
                return;
            }
            let is_nothing = match &call.input {
                Flow::File(path) => path == "/dev/null",
                Flow::Text(text) => text.is_empty(),
                _ => false,
            };
            let appends = parsed.has("a", "append");
            for arg in &parsed.operands {
                if is_nothing && !appends {
                    run.analyzer.empty_file(arg, run.name, call);
                }
                run.analyzer.write_file(arg, appends, run.name, call);
            }
        }
        "sed" | "gsed" => sed(run),
        "sort" | "split" => sort(run),
        "touch" | "mkdir" => {
            let program = if run.name == "touch" { TOUCH } else { MKDIR };
            for arg in program.parse(run.args).operands {
                let place = run.analyzer.place(&arg.text);
                if let Some((EffectKind::Persist, level, why)) =
                    write::classify(run.analyzer.context, &place, true)
                {
                    // An empty directory takes no effect; one in place of a file may.
                    if run.name == "touch" || level > Reversibility::R3 {
                        run.effect(EffectKind::Persist, &place.display, place.scope, level, why);
                    }
                }
            }
        }
        "patch" => patch(run),
        _ => {}
    }
}

/// Analyzes `sort` and `split`, which read files, write one, and may run a command.
fn sort(run: &mut CommandRun<'_, '_>) {
    let call = run.call;
    let program = if run.name == "sort" { SORT } else { SPLIT };
    let parsed = program.parse(run.args);
    for given in &parsed.options {
        match (given.name, given.value) {
            ("compress-program" | "filter", Some(text)) => run.shell_text(text),
            ("files0-from", Some(path)) => {
                run.analyzer.read_file(&crate::expand::Arg::plain(path), run.name, call);
            }
            _ => {}
        }
    }
    if let Some(given) = parsed.last("o", "output")
        && let Some(text) = given.value
    {
        let arg = crate::expand::Arg { dynamic: given.dynamic, ..crate::expand::Arg::plain(text) };
        run.analyzer.write_file(&arg, false, run.name, call);
        let is_nothing = |arg: &&crate::expand::Arg| arg.text == "/dev/null";
        if run.name == "sort" && parsed.operands.iter().any(is_nothing) {
            run.analyzer.empty_file(&arg, run.name, call);
        }
    }
    for arg in &parsed.operands {
        run.analyzer.read_file(arg, run.name, call);
    }
}

/// Analyzes `patch -d DIR`, which changes files there; a reversed patch from a pipe undoes changes.
fn patch(run: &mut CommandRun<'_, '_>) {
    let grammar = Program::open(
        "p= d= i= o= B= D= F= g= V= Y= z= r= strip= directory= input= output= fuzz= \
             reject-file= suffix=",
    );
    let parsed = grammar.parse(run.args);
    if parsed.informs() || parsed.exact("dry-run") || parsed.has("C", "") {
        return;
    }
    let call = run.call;
    if parsed.has("R", "reverse") && matches!(call.input, Flow::Unknown) {
        run.ask(
            EffectKind::DiscardVcs,
            "the work tree",
            EffectScope::TreeTracked,
            "takes off what a patch adds",
        );
    }
    let directory = parsed.last("d", "directory").filter(|given| !given.dynamic);
    let place = match directory.and_then(|given| given.value) {
        Some(path) => run.analyzer.place(path),
        None => run.analyzer.place("."),
    };
    if place.scope == EffectScope::System {
        let why = "writes to a part of the system";
        run.effect(EffectKind::Overwrite, &place.display, place.scope, Reversibility::R4, why);
    }
    if let Some(arg) = parsed.operands.first() {
        run.analyzer.write_file(arg, true, run.name, call);
    }
}

/// Whether an in-place `sed` script empties a file.
fn leaves_nothing(scripts: &[String], quiet: bool) -> bool {
    let prints = scripts.iter().any(|script| script.contains(['p', 'P', 'w', 'i', 'a', 'c']));
    let takes_all = |script: &String| {
        matches!(
            script.trim(),
            "d" | "1,$d"
                | "0,$d"
                | "/^/d"
                | "/.*/d"
                | "/./d"
                | "//d"
                | "s/.*//"
                | "s/.*//g"
                | "s/^.*$//"
                | "Q"
                | "1Q"
        )
    };
    (quiet && !prints) || scripts.iter().any(takes_all)
}

fn sed(run: &mut CommandRun<'_, '_>) {
    let call = run.call;
    let parsed = SED.parse(run.args);
    if parsed.informs() {
        return;
    }
    // `sed -i ''`: elsewhere the ending of the copy is a word of its own.
    let is_ending = |pair: &[crate::expand::Arg]| matches!(pair, [flag, end] if flag.text == "-i" && end.text.is_empty());
    let ending = usize::from(run.args.windows(2).any(is_ending));
    let script_given = parsed.has("e", "expression") || parsed.has("f", "file");
    let given = parsed.options.iter().filter(|given| given.name == "expression");
    let mut scripts: Vec<String> =
        given.filter_map(|given| given.value).map(str::to_owned).collect();
    if !script_given {
        scripts.extend(parsed.operands.get(ending).map(|arg| arg.text.clone()));
    }
    scripts.iter().for_each(|script| sed_commands(run, script));
    let skipped = ending + usize::from(!script_given);
    let files: Vec<_> = parsed.operands.iter().skip(skipped).copied().collect();
    let in_place = parsed.has("i", "in-place") || parsed.has("I", "");
    let quiet = parsed.has("n", "quiet") || parsed.has("", "silent");
    let names_only = quiet && matches!(&scripts[..], [script] if hides_values(script));
    let empties = leaves_nothing(&scripts, quiet);
    for arg in files {
        if in_place && empties {
            run.analyzer.empty_file(arg, run.name, call);
        }
        if in_place {
            let place = run.analyzer.place(&arg.text);
            if !arg.dynamic && !arg.glob {
                run.analyzer.left.change(&place.path);
            }
            if !arg.dynamic
                && let Some((kind, level, why)) =
                    write::classify(run.analyzer.context, &place, true)
            {
                let level =
                    if place.scope == EffectScope::System { Reversibility::R4 } else { level };
                run.effect(kind, &place.display, place.scope, level, why);
            }
        } else if !names_only {
            run.analyzer.read_file(arg, run.name, call);
        }
    }
}

/// Whether a `sed` script only removes the text after every `=`: `s/=.*$/=…/`. Lines without one
/// are shown unless `-n` is given.
fn hides_values(script: &str) -> bool {
    let mut chars = script.chars();
    let (Some('s'), Some(mark)) = (chars.next(), chars.next()) else { return false };
    let parts: Vec<&str> = chars.as_str().split(mark).collect();
    let [pattern, replacement, flags] = parts[..] else { return false };
    matches!(pattern, "=.*" | "=.*$" | "=..*" | "=..*$" | "=.\\+" | "=.\\+$")
        && !replacement.contains(['&', '\\'])
        && matches!(flags, "p" | "gp" | "pg")
}

/// Splits text at every mark without a backslash before it.
fn split_unescaped(text: &str, mark: char) -> Vec<String> {
    let mut pieces = vec![String::new()];
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c == mark {
            pieces.push(String::new());
            continue;
        }
        if let Some(piece) = pieces.last_mut() {
            piece.push(c);
            piece.extend((c == '\\').then(|| chars.next()).flatten());
        }
    }
    pieces
}

/// Analyzes the commands that `sed` runs: the text after its command `e`, and, with the flag `e`,
/// the result of a replacement.
fn sed_commands(run: &mut CommandRun<'_, '_>, script: &str) {
    for line in script.split(['\n', ';']) {
        let address =
            |c: char| c.is_ascii_digit() || matches!(c, '$' | ',' | '!' | ' ' | '~' | '+');
        let command = line.trim_start_matches(address);
        // `/pattern/e command`
        let command = match command.strip_prefix('/').and_then(|rest| rest.split_once('/')) {
            Some((_, rest)) => rest.trim_start_matches(address),
            None => command,
        };
        if let Some(text) = command.strip_prefix("e ") {
            run.shell_text(text);
            continue;
        }
        if let Some(path) = command.strip_prefix("w ") {
            let call = run.call;
            run.analyzer.write_file(&crate::expand::Arg::plain(path.trim()), false, run.name, call);
            continue;
        }
        let mut chars = command.chars();
        let (Some('s'), Some(mark)) = (chars.next(), chars.next()) else { continue };
        let parts = split_unescaped(chars.as_str(), mark);
        if !mark.is_alphanumeric()
            && let [_, made, flags] = parts.as_slice()
            && flags.len() < 6
            && flags.chars().all(|c| c.is_ascii_alphanumeric())
            && flags.contains('e')
        {
            let (scope, certainty) = (EffectScope::Unknown, Certainty::Unresolved);
            let why = "runs text built at run time";
            run.shell_text(&made.replace('\\', ""));
            run.sure(
                EffectKind::ExecuteUntrusted,
                script,
                scope,
                Reversibility::R1,
                certainty,
                why,
            );
        }
    }
}
