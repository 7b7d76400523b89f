//! `xargs` and `parallel`: a command with words from another source.
//!
//! ```denied
//! echo / | xargs rm -rf
//! parallel rm -rf ::: /etc /usr
//! echo /etc | xargs -I{} rm -rf {}/x
//! ls | xargs -n1 git reset --hard
//! parallel 'rm -rf {}' ::: /etc
//! ```
//! ```asked
//! ls | xargs rm
//! git ls-files -o | xargs -0 rm -rf
//! find . -name '*.x' | xargs rm -f
//! cat l | parallel rm
//! ```
//! ```allowed
//! ls | xargs cat
//! echo file.txt | xargs -I {} cat '{}'
//! rg -l x | xargs sed -i s/a/b/
//! echo a.txt | xargs rm
//! git diff --name-only | xargs eslint
//! ```

use crate::expand::Arg;
use crate::options::Grammar;
use crate::pipes::Flow;
use crate::protect::Reach;
use crate::run::Run;

pub(super) fn run(run: &mut Run<'_, '_>) {
    if run.name == "parallel" {
        parallel(run);
        return;
    }
    let grammar = Grammar {
        // `-e`, `-i` and `-l` take their value only attached.
        short: "adEILnPsR",
        long: &[
            "arg-file",
            "delimiter",
            "eof",
            "replace",
            "max-lines",
            "max-args",
            "max-procs",
            "max-chars",
        ],
        ..Grammar::default()
    };
    let (parsed, at) = grammar.parse_until(run.args, true);
    let attached = || {
        run.args.get(..at).unwrap_or_default().iter().find_map(|arg| {
            let mark = arg.text.strip_prefix("-i")?;
            Some(if mark.is_empty() { "{}".to_owned() } else { mark.to_owned() })
        })
    };
    let replace = parsed.value("I", "replace").map(str::to_owned).or_else(attached);
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
    let call = crate::analyze::Call { input: Flow::Unknown, secret, ..run.call.clone() };
    run.analyzer.run(command, &call);
}

/// Reports the deletion of names from a pipe, which is never proven harmless, for files or
/// directories.
fn flag_delete(run: &mut Run<'_, '_>, command: &[Arg]) {
    use crate::effects::{Certainty, Kind, Reversibility, Scope};
    let name = command.first().map(|arg| crate::run::program_name(&arg.text));
    let deletes = matches!(name.as_deref(), Some("rm" | "unlink" | "shred"));
    if deletes && command.iter().any(|arg| arg.dynamic) {
        run.sure(
            Kind::Delete,
            "what the pipe names",
            Scope::Unknown,
            Reversibility::R4,
            Certainty::Unresolved,
            "deletes the paths in its input",
        );
    }
}

/// Reports protected files that the command before the pipe names and therefore prints: `ls FILE |
/// xargs rm`.
fn protect_named(run: &mut Run<'_, '_>, command: &[Arg]) {
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

fn parallel(run: &mut Run<'_, '_>) {
    let grammar = Grammar {
        short: "jNnLIaSC",
        long: &["jobs", "max-args", "arg-file", "colsep", "delay", "timeout", "retries"],
        ..Grammar::default()
    };
    let (parsed, at) = grammar.parse_until(run.args, true);
    if parsed.rehearses() {
        return;
    }
    let takes_none = parsed.value("N", "max-replace-args") == Some("0");
    let rest = run.args.get(at..).unwrap_or_default();
    let split = rest.iter().position(|arg| arg.text.starts_with(":::")).unwrap_or(rest.len());
    let (command, values) = rest.split_at(split);
    let values: Vec<Arg> = match values.get(1..) {
        Some(values) if !values.is_empty() => values.to_vec(),
        _ => vec![Arg { dynamic: true, ..Arg::plain("$INPUT") }],
    };
    let placed = command.iter().any(|arg| arg.text.contains("{}"));
    if let [only] = command
        && super::runners::is_text(&only.text)
    {
        for value in values.iter().take(16) {
            let text = if takes_none {
                only.text.clone()
            } else if placed {
                only.text.replace("{}", &value.text)
            } else {
                format!("{} {}", only.text, value.text)
            };
            run.shell_text(&text);
        }
        return;
    }
    let mut words = Vec::new();
    for word in command {
        if word.text.contains("{}") {
            words.extend(values.iter().map(|value| Arg {
                text: word.text.replace("{}", &value.text),
                dynamic: value.dynamic,
                ..word.clone()
            }));
        } else {
            words.push(word.clone());
        }
    }
    if !placed {
        words.extend(values);
    }
    flag_delete(run, &words);
    run.inner(words, Flow::Unknown);
}
