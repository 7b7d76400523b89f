//! `xargs` and `parallel`: a command with words from another source.
//!
//! ```denied
//! echo / | xargs rm -rf
//! parallel rm -rf ::: /etc /usr
//! parallel ::: 'rm -rf /'
//! parallel ::: 'git clean -fdx' 'git stash clear'
//! printf 'rm -rf /\n' | parallel
//! parallel bash -c 'git reset --hard' ::: ok
//! parallel -j2 --eta rm -rf {}/x ::: /etc
//! echo / | xargs --replace bash -c 'rm -rf {}'
//! echo / | xargs -i rm -rf {}
//! printf '%s\n' 'rm -rf /' | xargs sh -c 'eval "$1"' _
//! echo ok | xargs -S 4096 awk 'BEGIN { system("rm -rf /") }'
//! echo /etc | xargs -I{} rm -rf {}/x
//! ls | xargs -n1 git reset --hard
//! parallel 'rm -rf {}' ::: /etc
//! ```
//! ```asked
//! ls | xargs rm
//! git ls-files -o | xargs -0 rm -rf
//! find . -name '*.x' | xargs rm -f
//! cat l | parallel rm
//! ls src | parallel 'rm src/{}'
//! cat jobs.txt | parallel
//! ```
//! ```allowed
//! ls | xargs cat
//! echo file.txt | xargs -I {} cat '{}'
//! rg -l x | xargs sed -i s/a/b/
//! echo a.txt | xargs rm
//! git diff --name-only | xargs eslint
//! ls *.png | parallel convert {} {.}.jpg
//! parallel --dry-run rm -rf ::: /etc
//! parallel echo ::: 'rm -rf /'
//! ```

use crate::effects::{Certainty, EffectKind, EffectScope, Reversibility};
use crate::expand::Arg;
use crate::pipes::Flow;
use crate::program::{Program, Syntax};
use crate::protect::Reach;
use crate::run::CommandRun;

pub(super) static PROGRAMS: &[Program] = &[XARGS, PARALLEL];

const XARGS: Program = Program {
    names: "xargs|gxargs",
    syntax: Syntax::Posix,
    options: "0/null a/arg-file= d/delimiter= E= e/eof=? I= i/replace=? J= L= l/max-lines=? \
              n/max-args= o/open-tty P/max-procs= p/interactive process-slot-var= R= \
              r/no-run-if-empty S= s/max-chars= show-limits t/verbose x/exit help version",
    ..Program::NONE
};

const PARALLEL: Program = Program {
    names: "parallel",
    syntax: Syntax::Posix,
    options: "0/null a/arg-file= X B/basefile= D= bar bg block= C/colsep= c cleanup j/jobs= P= \
              max-procs= d/delimiter= delay= dry-run E= e/eof=? env= eta fg fifo filter= g/group \
              h/halt= header= I= i/replace=? joblog= k/keep-order L= l/max-lines=? line-buffer lb \
              load= m memfree= n/max-args= N/max-replace-args= nice= onall o pipe pipepart plain \
              plus progress q/quote r/no-run-if-empty recend= recstart= results= resume retries= \
              S/sshlogin= s/max-chars= semaphore shuf silent tag tagstring= tmpdir= timeout= \
              t/verbose tty trim= u/ungroup U= v w wait will-cite workdir= wd= x/exit link help \
              version",
    ..Program::NONE
};

/// Maximum number of values analyzed.
const MAX_VALUES: usize = 16;

pub(super) fn run(run: &mut CommandRun<'_, '_>) {
    if run.name == "parallel" {
        parallel(run);
        return;
    }
    let (parsed, at) = XARGS.parse_until(run.args, true);
    let mark = parsed.last("", "replace").map(|given| given.value.unwrap_or("{}"));
    let replace = parsed.value("I", "").or(parsed.value("J", "")).or(mark).map(str::to_owned);
    let words = run.args.get(at..).unwrap_or_default();
    if words.is_empty() {
        return;
    }
    let from_file = parsed.has("a", "arg-file");
    let known: Option<Vec<String>> = match &run.call.input {
        // With `-I` and `-d '\n'` a line is one value.
        Flow::Text(text) if !from_file && (replace.is_some() || parsed.has("d", "delimiter")) => {
            Some(text.lines().map(|line| line.trim_start().to_owned()).collect())
        }
        Flow::Text(text) if !from_file && parsed.has("0", "null") => {
            Some(text.trim_end_matches('\n').split('\0').map(str::to_owned).collect())
        }
        Flow::Text(text) if !from_file => {
            Some(text.split_whitespace().map(str::to_owned).collect())
        }
        _ => None,
    };
    let lines = lines_for_shell(run, words, known.as_deref());
    let values = match known {
        Some(values) => values.iter().take(32).map(|value| Arg::plain(value)).collect(),
        None => vec![Arg { dynamic: true, ..Arg::plain("$INPUT") }],
    };
    let mut command = Vec::new();
    for word in words {
        match replace.as_deref().filter(|mark| !mark.is_empty() && word.text.contains(mark)) {
            Some(mark) => {
                for value in &values {
                    command.push(Arg {
                        text: word.text.replace(mark, &value.text),
                        dynamic: word.dynamic || value.dynamic,
                        ..word.clone()
                    });
                }
            }
            None => command.push(word.clone()),
        }
    }
    if replace.is_none() {
        command.extend(values);
    }
    flag_delete(run, &command);
    protect_named(run, &command);
    let secret = run.call.secret || run.call.input == Flow::Secret;
    let call = crate::analyze::CommandContext { input: Flow::Unknown, secret, ..run.call.clone() };
    for line in lines {
        let mut command = words.to_vec();
        command.push(Arg::plain(&line));
        run.analyzer.run(command, &call);
    }
    run.analyzer.run(command, &call);
}

/// Returns the lines of the input that a shell may take for commands: `xargs sh -c 'eval "$1"'`.
fn lines_for_shell(
    run: &CommandRun<'_, '_>,
    words: &[Arg],
    known: Option<&[String]>,
) -> Vec<String> {
    let is_shell = words.first().is_some_and(|arg| {
        let name = crate::run::program_name(&arg.text);
        name.ends_with("sh") && words.iter().any(|arg| arg.text.contains("$1"))
    });
    match &run.call.input {
        Flow::Text(text) if is_shell && known.is_some() => {
            text.lines().take(16).map(str::to_owned).collect()
        }
        _ => Vec::new(),
    }
}

/// Reports the deletion of names from a pipe, which is never proven harmless, for files or
/// directories.
fn flag_delete(run: &mut CommandRun<'_, '_>, command: &[Arg]) {
    let name = command.first().map(|arg| crate::run::program_name(&arg.text));
    let deletes = matches!(name.as_deref(), Some("rm" | "unlink" | "shred"));
    if deletes && command.iter().any(|arg| arg.dynamic) {
        run.sure(
            EffectKind::Delete,
            "what the pipe names",
            EffectScope::Unknown,
            Reversibility::R4,
            Certainty::Unresolved,
            "deletes the paths in its input",
        );
    }
}

/// Reports protected files that the command before the pipe names and therefore prints: `ls FILE |
/// xargs rm`.
fn protect_named(run: &mut CommandRun<'_, '_>, command: &[Arg]) {
    let Some((first, rest)) = command.split_first() else { return };
    let name = crate::run::program_name(&first.text);
    let deletes = matches!(name.as_str(), "rm" | "grm" | "unlink" | "shred" | "tee" | "truncate");
    let changes = deletes || crate::protect::changes_operands(&name, rest);
    if !changes || !rest.iter().any(|arg| arg.dynamic) {
        return;
    }
    let call = run.call;
    let named: Vec<Arg> = run
        .analyzer
        .commands
        .iter()
        .rev()
        .take(4)
        .filter(|before| before.span == call.span || call.indirect)
        .flat_map(|before| &before.args)
        .filter(|arg| !arg.text.starts_with('-') && arg.text.len() > 2)
        .cloned()
        .collect();
    for arg in named {
        run.analyzer.disturb(&arg, Reach::Itself, &name, call);
    }
}

/// The values that `parallel` gives its command; `None` for those known only at run time.
fn values_of(run: &CommandRun<'_, '_>, groups: &[Arg], from_file: bool) -> Option<Vec<String>> {
    if let Some((mark, values)) = groups.split_first() {
        let is_mark = |arg: &Arg| arg.text.starts_with(":::");
        let is_known = !mark.text.starts_with("::::") && !from_file;
        let values = values.iter().filter(|arg| !is_mark(arg));
        let texts = values.map(|arg| arg.literal().map(str::to_owned));
        return texts.collect::<Option<Vec<_>>>().filter(|_| is_known);
    }
    match &run.call.input {
        Flow::Text(text) if !from_file => Some(text.lines().map(str::to_owned).collect()),
        _ => None,
    }
}

/// Returns the text that `parallel` passes to the shell for a value.
fn text_for(command: &str, value: &str) -> String {
    const PLACES: &[&str] = &["{}", "{.}", "{/}", "{//}", "{/.}", "{1}", "{2}", "{3}"];
    if !PLACES.iter().any(|place| command.contains(place)) {
        return format!("{command} {value}");
    }
    PLACES.iter().fold(command.to_owned(), |text, place| text.replace(place, value))
}

fn parallel(run: &mut CommandRun<'_, '_>) {
    let (parsed, at) = PARALLEL.parse_until(run.args, true);
    if parsed.informs() || parsed.has("", "dry-run") {
        return;
    }
    let rest = run.args.get(at..).unwrap_or_default();
    let split = rest.iter().position(|arg| arg.text.starts_with(":::")).unwrap_or(rest.len());
    let (command, groups) = rest.split_at(split);
    let known = values_of(run, groups, parsed.has("", "arg-file"));
    // The shell of `parallel` would split a word with blanks; who writes one means it whole.
    let texts = command.iter().map(|arg| match command {
        [_, _, ..] if arg.text.contains(' ') => crate::words::quoted(&arg.text),
        _ => arg.text.clone(),
    });
    let texts: Vec<String> = texts.collect();
    let command = texts.join(" ");
    let is_known = known.is_some();
    let call = run.call;
    let values = known.unwrap_or_else(|| vec!["$INPUT".to_owned()]);
    for value in values.iter().take(MAX_VALUES) {
        let text = match command.as_str() {
            // Without a command every value is one.
            "" => value.clone(),
            text if parsed.value("", "max-replace-args") == Some("0") => text.to_owned(),
            text => {
                text_for(text, &if is_known { crate::words::quoted(value) } else { value.clone() })
            }
        };
        let call = crate::analyze::CommandContext {
            is_repeated: !is_known,
            input: Flow::None,
            ..call.clone()
        };
        run.analyzer.text(&text, &call);
    }
    if !is_known && command.is_empty() {
        let why = "runs text built at run time";
        let (kind, scope) = (EffectKind::ExecuteUntrusted, EffectScope::Unknown);
        run.sure(kind, run.name, scope, Reversibility::R1, Certainty::Unresolved, why);
    }
}
