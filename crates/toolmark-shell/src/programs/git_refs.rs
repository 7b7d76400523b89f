//! `git`: references, history, and changes that reach a remote.

use super::git::discard;
use crate::effects::{Kind, Reversibility, Scope};
use crate::expand::Arg;
use crate::left::is_shared_branch;
use crate::options::Grammar;
use crate::run::Run;
use Reversibility::{R1, R2, R3, R4, R5};

pub(super) fn run(run: &mut Run<'_, '_>, sub: &str, args: &[Arg]) {
    let words = super::plain_words(args);
    let first = words.first().copied().unwrap_or("");
    let grammar = Grammar {
        short: "mFuo",
        long: &[
            "message",
            "file",
            "expire",
            "expire-unreachable",
            "prune",
            "repo",
            "receive-pack",
            "push-option",
            "contains",
            "sort",
            "format",
            "merged",
            "set-upstream-to",
        ],
        ..Grammar::default()
    };
    let parsed = grammar.parse(args);
    // Help of `push` is known by its own grammar: `--repo --help` is none.
    if sub != "push" && parsed.informs() {
        return;
    }
    match sub {
        "push" | "send-pack" | "http-push" => push(run, args),
        "branch" => {
            let target = words.join(" ");
            let deletes = parsed.has("d", "delete");
            if parsed.has("D", "") || (deletes && parsed.on("f", "force")) {
                let own = !words.is_empty() && words.iter().all(|name| is_own(run, Some(name)));
                let level = if own { R2 } else { R3 };
                discard(run, &target, level, "deletes a branch, merged or not");
            } else if (parsed.on("f", "force") && !deletes)
                || parsed.has("M", "")
                || parsed.has("C", "")
            {
                if parsed.has("M", "") && words.len() < 2
                    || matches!(words.last(), Some(&"main" | &"master")) && parsed.has("M", "")
                {
                    return;
                }
                let own = words.first().is_some_and(|name| is_own(run, Some(name)));
                let level = if own { R2 } else { R3 };
                discard(run, &target, level, "moves a branch to another commit");
            }
        }
        "tag" => {
            if parsed.has("d", "delete") {
                discard(run, &words.join(" "), R3, "deletes a tag");
            } else if parsed.on("f", "force") {
                discard(run, &words.join(" "), R3, "moves a tag");
            }
        }
        "update-ref" | "symbolic-ref" => {
            if parsed.has("d", "delete") {
                discard(run, &words.join(" "), R3, "deletes a reference");
            } else if sub == "update-ref" && parsed.has("", "stdin") {
                discard(run, "references", R3, "changes references");
            }
        }
        "reflog" => {
            let keeps = parsed.has("n", "dry-run");
            if matches!(first, "expire" | "delete") && !keeps {
                history(run, "the reflog", "removes what makes lost commits recoverable");
            }
        }
        "gc" => {
            let prune = args.iter().find_map(|arg| arg.text.strip_prefix("--prune="));
            let soon = prune
                .is_some_and(|when| matches!(when, "now" | "all") || when.ends_with("seconds.ago"));
            if soon || (prune.is_some() && parsed.exact("aggressive")) {
                history(run, "unreachable objects", "removes what makes lost commits recoverable");
            }
        }
        "prune" => {
            if !parsed.has("n", "dry-run") {
                history(run, "unreachable objects", "removes what makes lost commits recoverable");
            }
        }
        "repack" => {}
        "filter-branch" | "filter-repo" => {
            let reads = parsed.exact("analyze") || parsed.exact("dry-run");
            if !reads {
                history(run, "all commits", "rewrites history");
            }
        }
        "remote" => {
            if matches!(first, "remove" | "rm") {
                run.effect(
                    Kind::RemoteState,
                    &words.join(" "),
                    Scope::VcsMetadata,
                    R3,
                    "removes a remote",
                );
            } else if first == "add" {
                run.analyzer.remotes.extend(words.get(1).map(|name| (*name).to_owned()));
            } else if first == "set-url" {
                run.effect(
                    Kind::RemoteState,
                    &words.join(" "),
                    Scope::VcsMetadata,
                    R1,
                    "changes the URL of a remote",
                );
            }
        }
        "replace" | "notes" => {
            if parsed.has("d", "delete") || matches!(first, "remove" | "prune") {
                discard(run, &words.join(" "), R3, "removes notes or replacements");
            }
        }
        "svn" => {
            if first == "dcommit" && !parsed.has("n", "dry-run") {
                run.effect(
                    Kind::RemoteState,
                    "svn",
                    Scope::Remote,
                    R3,
                    "commits to a central repository",
                );
            }
        }
        "send-email" => {
            if !parsed.rehearses() {
                run.effect(Kind::SendOut, &words.join(" "), Scope::Remote, R3, "sends mail");
            }
        }
        "fetch" => {
            if let Some(spec) = words.iter().find(|word| {
                let target = word.strip_prefix('+').and_then(|rest| rest.split_once(':'));
                target
                    .is_some_and(|(_, to)| !to.starts_with("refs/") || to.starts_with("refs/heads"))
            }) {
                discard(run, spec, R3, "moves a local branch by force");
            }
        }
        _ => {}
    }
}

/// Whether a branch belongs to the session and is not one that others work on.
fn is_own(run: &Run<'_, '_>, name: Option<&str>) -> bool {
    let name = name.map(|name| name.strip_prefix("refs/heads/").unwrap_or(name));
    let at = run.analyzer.cwd.as_deref();
    let facts = run.analyzer.context.facts;
    !name.is_some_and(is_shared_branch) && facts.is_some_and(|facts| facts.is_own_branch(at, name))
}

fn history(run: &mut Run<'_, '_>, target: &str, why: &'static str) {
    run.effect(Kind::RewriteHistory, target, Scope::VcsMetadata, R4, why);
}

fn push(run: &mut Run<'_, '_>, args: &[Arg]) {
    let grammar = Grammar {
        short: "o",
        long: &["repo", "receive-pack", "exec", "push-option"],
        ..Grammar::default()
    };
    let parsed = grammar.parse(args);
    if parsed.on("n", "dry-run") {
        return;
    }
    let words: Vec<&str> = parsed.operands.iter().map(|arg| arg.text.as_str()).collect();
    let target = words.join(" ");
    let remote = parsed.value("", "repo").or(words.first().copied()).unwrap_or("");
    if remote.contains("://") || run.analyzer.remotes.iter().any(|known| known == remote) {
        let why = "pushes to an address that is no remote of the repository";
        run.effect(Kind::SendOut, remote, Scope::Remote, R1, why);
    }
    // `--force` means force; only the words with more to them are a lease.
    let mut force = false;
    let mut lease = false;
    for given in &parsed.options {
        match given.name {
            "no-force" => force = false,
            "no-force-with-lease" => lease = false,
            name if given.long && name.starts_with("force-with-lease") => lease = true,
            "force-if-includes" => {}
            name if given.long && name.len() > 3 && "force".starts_with(name) => force = true,
            "f" if !given.long => force = true,
            _ => {}
        }
    }
    let refspecs = words.iter().skip(usize::from(!parsed.exact("repo")));
    let plus = words.iter().skip(1).any(|word| word.starts_with('+'));
    let colon = refspecs.clone().any(|word| word.starts_with(':') && word.len() > 1);
    let deletes =
        parsed.has("d", "delete") || colon || parsed.exact("prune") || parsed.has("", "prune");
    if force || plus {
        run.effect(Kind::RewriteHistory, &target, Scope::Remote, R5, "overwrites shared history");
    } else if parsed.has("", "mirror") {
        run.effect(
            Kind::RewriteHistory,
            &target,
            Scope::Remote,
            R5,
            "mirrors this repository to the remote",
        );
    } else if deletes {
        run.effect(
            Kind::RemoteState,
            &target,
            Scope::Remote,
            R5,
            "deletes a reference on the remote",
        );
    } else if lease {
        let mut names = refspecs.clone().peekable();
        let own = match names.peek() {
            None => is_own(run, None),
            // A topic branch may be a colleague's: only one that the session made is its own.
            Some(_) => names.all(|name| match name.rsplit(':').next().unwrap_or(name) {
                "HEAD" | "@" => is_own(run, None),
                name => is_own(run, Some(name)),
            }),
        };
        let all = parsed.has("", "all") || parsed.has("", "tags") || parsed.has("", "branches");
        run.effect(
            Kind::RewriteHistory,
            &target,
            Scope::Remote,
            if own && !all { R2 } else { R3 },
            "overwrites history that nobody else changed",
        );
    } else if parsed.exact("no-verify") {
        run.effect(Kind::Persist, "hooks", Scope::VcsMetadata, R1, "bypasses the hooks");
    }
}

#[cfg(test)]
mod tests {
    use crate::programs::check;

    #[test]
    fn references_and_remotes() {
        check(
            &[
                "git push --force",
                "git push -f origin main",
                "git push origin +main",
                "git push --mirror",
                "git push --m origin",
                "git push --force --repo --help origin main",
                "git push --force -o --help",
                "git push --dry-run --no-dry-run --force",
                "git push origin --delete x",
                "git push origin :x",
                "git push --force --force-with-lease",
                "git push -uf origin x",
                "git reflog expire --expire=now --all",
                "git gc --prune=now",
                "git filter-branch --force",
                "git filter-repo --path x",
                "git push --prune origin",
                "git prune",
            ],
            &[
                "git push --force-with-lease",
                "git branch -D x",
                "git tag -d v1",
                "git update-ref -d HEAD",
                "git branch -df x",
                "git remote remove origin",
                "git push --no-verify",
                "git branch -f main HEAD~3",
            ],
            &[
                "git push",
                "git push -u origin x",
                "git push --dry-run --force",
                "git push -n -f",
                "git branch -d x",
                "git branch -m a b",
                "git branch -M main",
                "git tag v1",
                "git gc",
                "git reflog",
                "git push origin main:main",
                "git branch -a",
                "git remote -v",
                "git push --force-if-includes origin x",
                "git push --follow-tags",
            ],
        );
    }
}
