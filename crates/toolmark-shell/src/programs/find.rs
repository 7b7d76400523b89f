//! `find` and `fd`: starting points, tests whose values are data, and actions that delete, write or
//! run commands.
//!
//! ```denied
//! find . -delete
//! find / -name x -delete
//! find . -type f -exec rm {} \;
//! find ~ -name '*.md' -delete
//! find . -exec sh -c 'rm -rf /' \;
//! find . -fprint /etc/passwd
//! find src -type f -print0 -exec shred {} +
//! ```
//! ```asked
//! find . -name '*.txt' -delete
//! find . -name x -exec rm {} ;
//! find . -name '*.c' -exec sh -c 'rm "$1"' _ {} ;
//! find "$D" -delete
//! fd -e rs -x rm
//! find /srv/a -name __pycache__ -exec rm -rf {} +
//! find . -name '*.rs' -exec rm -f {} +
//! ```
//! ```allowed
//! find . -name -delete -print
//! find . -name '*.rs'
//! find . -name x -exec grep y {} +
//! find /tmp/x -delete
//! find /tmp -name 'a*' -delete
//! find . -name __pycache__ -exec rm -rf {} +
//! find . -name '*.pyc' -delete
//! find . -type d -empty
//! find . -name 'my-delete-script' -print
//! find target -delete
//! fd pattern
//! fd -e tmp -x rm
//! fd -H -t d '^__pycache__$' -X rm -rf
//! find . -name x -exec sed -i s/a/b/ {} \;
//! ```

use crate::effects::{Certainty, Effect, EffectKind, EffectScope, Reversibility};
use crate::expand::Arg;
use crate::pipes::Flow;
use crate::program::Program;
use crate::run::CommandRun;

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

/// A starting point.
#[derive(Debug, Clone)]
struct Root {
    path: Arg,
    /// Only what tools make anew is found below it, by its name.
    finds_artefacts: bool,
}

impl Root {
    fn new(path: Arg) -> Self {
        Self { path, finds_artefacts: false }
    }
}

pub(super) fn run(run: &mut CommandRun<'_, '_>) {
    if matches!(run.name, "fd" | "fdfind") {
        fd(run);
        return;
    }
    let args = run.args;
    let mut roots: Vec<Root> = Vec::new();
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
            roots.push(Root::new(arg.clone()));
            at += 1;
        }
    }
    if roots.is_empty() {
        roots.push(Root::new(Arg::plain(".")));
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
                    == EffectScope::TreeArtefact
            {
                for root in &mut roots {
                    root.finds_artefacts |= matches!(
                        run.analyzer.place(&root.path.text).scope,
                        EffectScope::TreeUntracked | EffectScope::Outside | EffectScope::Home
                    );
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

fn delete(run: &mut CommandRun<'_, '_>, root: &Root, narrowed: bool) {
    let Root { path, finds_artefacts } = root;
    let place = run.analyzer.place(&path.text);
    let in_tree = matches!(place.scope, EffectScope::TreeUntracked | EffectScope::TreeTracked);
    let scope = if *finds_artefacts && in_tree { EffectScope::TreeArtefact } else { place.scope };
    // The temp directory itself belongs to everyone, what is found in it does not.
    let inside = || run.analyzer.place(&format!("{}/x", path.text)).scope;
    let scratch = matches!(scope, EffectScope::Temp | EffectScope::TreeArtefact)
        || (narrowed && inside() == EffectScope::Temp);
    let (level, certainty) = match (scratch, path.dynamic) {
        (true, _) => (Reversibility::R2, Certainty::Proven),
        (_, true) => (Reversibility::R4, Certainty::Unresolved),
        _ if narrowed && (in_tree || *finds_artefacts) => (Reversibility::R3, Certainty::Proven),
        _ => (Reversibility::R4, Certainty::Proven),
    };
    let why = match finds_artefacts {
        true => "deletes the regenerable files it finds",
        false => "deletes everything it finds",
    };
    run.sure(EffectKind::Delete, &place.display, scope, level, certainty, why);
}

/// Maximum number of starting points analyzed.
const MAX_ROOTS: usize = 64;

/// Whether names are matched by a pattern instead of given in full.
fn by_pattern(args: &[Arg]) -> bool {
    args.windows(2).any(|pair| {
        matches!(pair, [test, value] if test.text.ends_with("name") && value.text.contains('*'))
    })
}

fn exec(run: &mut CommandRun<'_, '_>, command: &[Arg], root: &Root, narrowed: bool) {
    let Some(program) = command.first() else { return };
    let name = crate::run::program_name(&program.text);
    if matches!(name.as_str(), "rm" | "unlink" | "shred" | "rmdir") {
        let recursive = command.iter().any(|arg| {
            arg.text.starts_with('-') && arg.text.contains(['r', 'R']) && arg.text != "--force"
        });
        // Operands other than `{}` are deleted wherever `find` looks.
        let others: Vec<Arg> = command
            .iter()
            .filter(|arg| arg.text.starts_with('-') || !arg.text.contains("{}"))
            .cloned()
            .collect();
        if others.iter().skip(1).any(|arg| !arg.text.starts_with('-')) {
            run.inner(others, Flow::Unknown);
        }
        if recursive && root.finds_artefacts && by_pattern(run.args) {
            // Directories that merely match a pattern are not known to be artefacts.
            let target = run.analyzer.place(&root.path.text).display;
            run.ask(
                EffectKind::Delete,
                &target,
                EffectScope::TreeUntracked,
                "deletes everything it finds",
            );
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
                let below = format!("{}/{FOUND}", root.path.text.trim_end_matches('/'));
                arg.text = arg.text.replace("{}", &below);
                arg.glob = true;
            }
            arg
        })
        .collect();
    let before = run.analyzer.effects.len();
    run.inner(words, Flow::Unknown);
    // The inner command deletes what was found: as much as `-delete` would.
    if name_what_was_found(run, before, root) {
        delete(run, root, narrowed);
    }
}

/// The effects of the inner command on what was found are effects on the starting point:
/// nothing in the text names the files. Says whether it deletes them.
fn name_what_was_found(run: &mut CommandRun<'_, '_>, before: usize, root: &Root) -> bool {
    let place = run.analyzer.place(&root.path.text);
    let is_found = |effect: &Effect| effect.target.contains(FOUND);
    let new = run.analyzer.effects.split_off(before.min(run.analyzer.effects.len()));
    let deletes = new
        .iter()
        .any(|effect| effect.kind == EffectKind::Delete && effect.target.ends_with(FOUND));
    for mut effect in new {
        if is_found(&effect) {
            if root.finds_artefacts && effect.kind == EffectKind::Delete {
                continue;
            }
            let words = effect.target.split(' ');
            let words = words.map(|word| if word.contains(FOUND) { &place.display } else { word });
            effect.target = words.collect::<Vec<_>>().join(" ");
        }
        run.analyzer.effects.push(effect);
    }
    deletes
}

/// Placeholder for a file that `find` passes to a command.
const FOUND: &str = "*.found";

fn fd(run: &mut CommandRun<'_, '_>) {
    let is_action =
        |arg: &Arg| matches!(arg.text.as_str(), "-x" | "-X" | "--exec" | "--exec-batch");
    let Some(at) = run.args.iter().position(is_action) else { return };
    let command = run.args.get(at + 1..).unwrap_or_default().to_vec();
    let own = run.args.get(..at).unwrap_or_default();
    let grammar = Program::open(
        "e= t= E= d= S= o= c= j= extension= type= exclude= max-depth= min-depth= size= \
             owner= color= base-directory= search-path= changed-within= changed-before=",
    );
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
        let finds_artefacts =
            below.is_some_and(|path| run.analyzer.place(&path).scope == EffectScope::TreeArtefact);
        let root = Root { path: Arg::plain(root), finds_artefacts };
        exec(run, &command, &root, at > 0);
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_starting_point_is_named() {
        use crate::{EffectScope, ShellContext, analyze};
        for (command, targets) in [
            ("find src -name dist -delete", &[("src", EffectScope::TreeArtefact)][..]),
            ("find /srv/x -name '*.o' -delete", &[("/srv/x", EffectScope::Outside)]),
            (
                "find a b -name '*.rs' -delete",
                &[("a", EffectScope::TreeUntracked), ("b", EffectScope::TreeUntracked)],
            ),
            ("find src -exec truncate -s 0 {} +", &[("src", EffectScope::TreeUntracked)]),
            ("fd -H '^__pycache__$' lib -X rm -rf", &[("lib", EffectScope::TreeArtefact)]),
        ] {
            let effects = analyze(command, &ShellContext::default()).effects;
            let found: Vec<_> =
                effects.iter().map(|effect| (effect.target.as_str(), effect.scope)).collect();
            assert_eq!(found, targets, "{command}");
        }
    }
}
