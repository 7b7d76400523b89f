//! `find` and `fd`: starting points, tests whose values are data, and actions that delete, write or
//! run commands.

use crate::effects::{Certainty, Kind, Reversibility, Scope};
use crate::expand::Arg;
use crate::pipes::Flow;
use crate::run::Run;

/// Whether a test or option of `find` takes one value.
fn takes_value(text: &str) -> bool {
    matches!(
        text,
        "-name"
            | "-iname"
            | "-path"
            | "-ipath"
            | "-wholename"
            | "-iwholename"
            | "-regex"
            | "-iregex"
            | "-lname"
            | "-ilname"
            | "-type"
            | "-xtype"
            | "-size"
            | "-mtime"
            | "-atime"
            | "-ctime"
            | "-mmin"
            | "-amin"
            | "-cmin"
            | "-newer"
            | "-anewer"
            | "-cnewer"
            | "-maxdepth"
            | "-mindepth"
            | "-user"
            | "-group"
            | "-uid"
            | "-gid"
            | "-perm"
            | "-links"
            | "-inum"
            | "-samefile"
            | "-fstype"
            | "-used"
            | "-printf"
            | "-regextype"
            | "-context"
            | "-D"
            | "-files0-from"
    ) || (text.starts_with("-newer") && text.len() == 8)
}

pub(super) fn run(run: &mut Run<'_, '_>) {
    if matches!(run.name, "fd" | "fdfind") {
        fd(run);
        return;
    }
    let args = run.args;
    let mut roots: Vec<Arg> = Vec::new();
    let mut at = 0;
    while let Some(arg) = args.get(at) {
        let text = arg.text.as_str();
        if matches!(text, "-H" | "-L" | "-P") || text.starts_with("-O") {
            at += 1;
        } else if text == "-D" {
            at += 2;
        } else if text.starts_with('-') || matches!(text, "(" | ")" | "!" | ",") {
            break;
        } else {
            roots.push(arg.clone());
            at += 1;
        }
    }
    if roots.is_empty() {
        roots.push(Arg::plain("."));
    }
    if roots.len() > MAX_ROOTS {
        roots.truncate(MAX_ROOTS);
        run.analyzer.note(Some(crate::ir::Partial::TooDeep));
    }
    // A test before the action narrows what it hits: not one that is negated, and
    // not one on the other side of an `-o`.
    let mut narrowed = false;
    let mut negated = false;
    let all = roots.clone();
    let call = run.call;
    while let Some(arg) = args.get(at) {
        let text = arg.text.as_str();
        at += 1;
        if matches!(text, "!" | "-not") {
            negated = !negated;
            continue;
        }
        if matches!(text, "-o" | "-or" | ",") {
            narrowed = false;
            roots.clone_from(&all);
        }
        let holds = !std::mem::take(&mut negated);
        if matches!(text, "(" | "\\(") {
            // The files that a negated group leaves are not tracked.
            negated = !holds;
            continue;
        }
        if takes_value(text) {
            let value = args.get(at).filter(|_| holds);
            narrowed |= !matches!(text, "-type" | "-maxdepth" | "-mindepth" | "-printf")
                && value.is_some_and(|value| value.text != "*");
            // `-path ./build/*` and `-name node_modules` name what is hit.
            if let Some(value) = value
                && matches!(text, "-name" | "-path" | "-iname" | "-wholename")
                && run.analyzer.context.place(None, &value.text.replace('*', "x")).scope
                    == Scope::TreeArtefact
            {
                for root in &mut roots {
                    if matches!(
                        run.analyzer.place(&root.text).scope,
                        Scope::TreeUntracked | Scope::Outside | Scope::Home
                    ) {
                        root.text.push_str("/build");
                    }
                }
            }
            at += 1;
            continue;
        }
        match text {
            "-delete" => {
                for root in &roots {
                    delete(run, root, narrowed);
                }
            }
            "-fprint" | "-fprint0" | "-fls" | "-fprintf" => {
                if let Some(file) = args.get(at) {
                    run.analyzer.write_file(file, false, run.name, call);
                }
                at += if text == "-fprintf" { 2 } else { 1 };
            }
            "-exec" | "-execdir" | "-ok" | "-okdir" => {
                let rest = args.get(at..).unwrap_or_default();
                let len = rest
                    .iter()
                    .position(|arg| arg.text == ";" || arg.text == "+")
                    .unwrap_or(rest.len());
                let command = rest.get(..len).unwrap_or_default();
                at += len + 1;
                for root in &roots {
                    exec(run, command, root, narrowed);
                }
            }
            _ => {}
        }
    }
}

fn delete(run: &mut Run<'_, '_>, root: &Arg, narrowed: bool) {
    let place = run.analyzer.place(&root.text);
    // The temp directory itself belongs to everyone, what is found in it does not.
    let inside = || run.analyzer.place(&format!("{}/x", root.text)).scope;
    let scratch = matches!(place.scope, Scope::Temp | Scope::TreeArtefact)
        || (narrowed && inside() == Scope::Temp);
    let (level, certainty) = match (scratch, root.dynamic) {
        (true, _) => (Reversibility::R2, Certainty::Proven),
        (_, true) => (Reversibility::R4, Certainty::Unresolved),
        _ if narrowed
            && (matches!(place.scope, Scope::TreeUntracked | Scope::TreeTracked)
                || root.text.ends_with("/build")) =>
        {
            (Reversibility::R3, Certainty::Proven)
        }
        _ => (Reversibility::R4, Certainty::Proven),
    };
    run.sure(
        Kind::Delete,
        &place.display,
        place.scope,
        level,
        certainty,
        "deletes everything it finds",
    );
}

/// Maximum number of starting points analyzed.
const MAX_ROOTS: usize = 64;

/// Whether names are matched by a pattern instead of given in full.
fn by_pattern(args: &[Arg]) -> bool {
    args.windows(2).any(|pair| {
        matches!(pair, [test, value] if test.text.ends_with("name") && value.text.contains('*'))
    })
}

fn exec(run: &mut Run<'_, '_>, command: &[Arg], root: &Arg, narrowed: bool) {
    let Some(program) = command.first() else { return };
    let name = crate::run::program_name(&program.text);
    if matches!(name.as_str(), "rm" | "unlink" | "shred" | "rmdir") {
        let recursive = command.iter().any(|arg| {
            arg.text.starts_with('-') && arg.text.contains(['r', 'R']) && arg.text != "--force"
        });
        // Operands that are no `{}` are deleted wherever `find` looks.
        let others: Vec<Arg> = command
            .iter()
            .filter(|arg| arg.text.starts_with('-') || !arg.text.contains("{}"))
            .cloned()
            .collect();
        if others.iter().skip(1).any(|arg| !arg.text.starts_with('-')) {
            run.inner(others, Flow::Unknown);
        }
        if recursive && root.text.ends_with("/build") && by_pattern(run.args) {
            // Directories that merely match a pattern are not known to be artefacts.
            run.ask(Kind::Delete, &root.text, Scope::TreeUntracked, "deletes everything it finds");
        } else if name != "rmdir" {
            delete(run, root, narrowed);
        }
        return;
    }
    // `{}` is replaced by a path below the root.
    let words: Vec<Arg> = command
        .iter()
        .map(|arg| {
            let mut arg = arg.clone();
            if arg.text.contains("{}") && !arg.text.contains(char::is_whitespace) {
                arg.text =
                    arg.text.replace("{}", &format!("{}/{FOUND}", root.text.trim_end_matches('/')));
                arg.glob = true;
            }
            arg
        })
        .collect();
    let before = run.analyzer.effects.len();
    run.inner(words, Flow::Unknown);
    // The inner command deletes what was found: as much as `-delete` would.
    let deletes = run
        .analyzer
        .effects
        .iter()
        .skip(before)
        .any(|effect| effect.kind == Kind::Delete && effect.target.ends_with(FOUND));
    if deletes {
        delete(run, root, narrowed);
    }
}

/// Placeholder for a file that `find` passes to a command.
const FOUND: &str = "*.found";

fn fd(run: &mut Run<'_, '_>) {
    let is_action =
        |arg: &Arg| matches!(arg.text.as_str(), "-x" | "-X" | "--exec" | "--exec-batch");
    let Some(at) = run.args.iter().position(is_action) else { return };
    let command = run.args.get(at + 1..).unwrap_or_default().to_vec();
    let own = run.args.get(..at).unwrap_or_default();
    let grammar = crate::options::Grammar {
        short: "etEdSocj",
        long: &[
            "extension",
            "type",
            "exclude",
            "max-depth",
            "min-depth",
            "size",
            "owner",
            "color",
            "base-directory",
            "search-path",
            "changed-within",
            "changed-before",
        ],
        ..crate::options::Grammar::default()
    };
    let parsed = grammar.parse(own);
    let ending = parsed
        .value("e", "extension")
        .map(|ending| format!("*.{}", ending.trim_start_matches('.')));
    let mut operands = parsed.operands.iter().map(|arg| arg.text.as_str());
    let pattern = operands.next().unwrap_or("").trim_start_matches('^').trim_end_matches('$');
    // A pattern that is a name says what is hit.
    let is_name = |c: char| c.is_alphanumeric() || "_-.*".contains(c);
    let plain: String = pattern.chars().filter(|c| *c != '\\').collect();
    let named = ending.or(Some(plain).filter(|name| !name.is_empty() && name.chars().all(is_name)));
    let roots: Vec<&str> = operands.chain(parsed.value("", "search-path")).collect();
    let roots = if roots.is_empty() { vec!["."] } else { roots };
    for root in roots {
        let below = named.as_deref().map(|name| format!("{}/{name}", root.trim_end_matches('/')));
        let below = below.filter(|path| run.analyzer.place(path).scope == Scope::TreeArtefact);
        let root = below.unwrap_or_else(|| root.to_owned());
        exec(run, &command, &Arg::plain(&root), at > 0);
    }
}

#[cfg(test)]
mod tests {
    use crate::programs::check;

    #[test]
    fn finds() {
        check(
            &[
                "find . -delete",
                "find / -name x -delete",
                "find . -type f -exec rm {} \\;",
                "find ~ -name '*.md' -delete",
                "find . -exec sh -c 'rm -rf /' \\;",
                "find . -fprint /etc/passwd",
                "find src -type f -print0 -exec shred {} +",
            ],
            &[
                "find . -name '*.txt' -delete",
                "find . -name x -exec rm {} ;",
                "find . -name '*.c' -exec sh -c 'rm \"$1\"' _ {} ;",
                "find \"$D\" -delete",
                "fd -e rs -x rm",
                "find /srv/a -name __pycache__ -exec rm -rf {} +",
                "find . -name '*.rs' -exec rm -f {} +",
            ],
            &[
                "find . -name -delete -print",
                "find . -name '*.rs'",
                "find . -name x -exec grep y {} +",
                "find /tmp/x -delete",
                "find /tmp -name 'a*' -delete",
                "find . -name __pycache__ -exec rm -rf {} +",
                "find . -name '*.pyc' -delete",
                "find . -type d -empty",
                "find . -name 'my-delete-script' -print",
                "find target -delete",
                "fd pattern",
                "fd -e tmp -x rm",
                "fd -H -t d '^__pycache__$' -X rm -rf",
                "find . -name x -exec sed -i s/a/b/ {} \\;",
            ],
        );
    }
}
