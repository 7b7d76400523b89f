//! The options of git's commands, as `git COMMAND --git-completion-helper-all` lists them.
//! Git takes every unambiguous beginning of a long option, so that the meaning of one depends
//! on all the others of its command.

use crate::expand::Arg;

/// The options of one command.
struct Row {
    command: &'static str,
    /// Short options whose value may be the next word.
    short: &'static str,
    /// Long options: `=` behind one that takes a value, `!` behind one without `--no-`.
    long: &'static str,
}

const ROWS: &[Row] = &[
    Row {
        command: "reset",
        short: "",
        long: "quiet mixed! soft! hard! merge! keep! recurse-submodules patch intent-to-add \
               pathspec-from-file= pathspec-file-nul refresh unified= inter-hunk-context=",
    },
    Row { command: "clean", short: "e", long: "quiet dry-run force interactive exclude=!" },
    Row {
        command: "rm",
        short: "",
        long: "dry-run quiet cached force ignore-unmatch sparse pathspec-from-file= pathspec- \
               file-nul",
    },
    Row {
        command: "push",
        short: "o",
        long: "verbose quiet repo= all branches mirror delete tags dry-run porcelain force \
               force-with-lease force-if-includes recurse-submodules= thin receive-pack= exec= \
               set-upstream progress prune follow-tags signed atomic push-option= ipv4! ipv6! \
               verify",
    },
    Row {
        command: "checkout",
        short: "bB",
        long: "guess overlay quiet recurse-submodules progress merge conflict= detach track \
               force orphan= overwrite-ignore ignore-other-worktrees ours! theirs! patch \
               ignore-skip-worktree-bits pathspec-from-file= pathspec-file-nul unified= inter- \
               hunk-context=",
    },
    Row {
        command: "restore",
        short: "s",
        long: "source= staged worktree ignore-unmerged overlay quiet recurse-submodules \
               progress merge conflict= ours! theirs! patch ignore-skip-worktree-bits pathspec- \
               from-file= pathspec-file-nul unified= inter-hunk-context=",
    },
    Row {
        command: "switch",
        short: "cC",
        long: "create= force-create= guess discard-changes quiet recurse-submodules progress \
               merge conflict= detach track force orphan= overwrite-ignore ignore-other- \
               worktrees",
    },
    Row {
        command: "branch",
        short: "u",
        long: "verbose quiet track set-upstream set-upstream-to= unset-upstream color remotes! \
               contains with! without! abbrev all! delete move omit-empty copy list show- \
               current create-reflog edit-description force merged column sort= points-at= \
               ignore-case recurse-submodules format=",
    },
    Row {
        command: "tag",
        short: "mFu",
        long: "list! delete! verify! annotate message=! file= trailer=! edit sign cleanup= \
               local-user= force create-reflog column contains with! without! merged omit-empty \
               sort= points-at format= color ignore-case",
    },
    Row {
        command: "gc",
        short: "",
        long: "quiet prune cruft max-cruft-size=! aggressive auto detach force keep-largest- \
               pack",
    },
    Row {
        command: "prune",
        short: "",
        long: "dry-run verbose progress expire= exclude-promisor-objects",
    },
    Row {
        command: "checkout-index",
        short: "",
        long: "all ignore-skip-worktree-bits force quiet index stdin temp prefix= stage=! \
               create",
    },
    Row {
        command: "read-tree",
        short: "",
        long: "super-prefix= index-output=! empty verbose trivial aggressive reset prefix=! \
               exclude-per-directory=! dry-run debug-unpack recurse-submodules quiet sparse- \
               checkout",
    },
    Row {
        command: "apply",
        short: "pC",
        long: "exclude=! include=! stat allow-binary-replacement binary numstat summary check \
               index intent-to-add cached unsafe-paths apply 3way ours! theirs! union! build- \
               fake-ancestor= whitespace= ignore-space-change ignore-whitespace reverse \
               unidiff-zero reject allow-overlap verbose quiet inaccurate-eof recount \
               directory= allow-empty add",
    },
    Row { command: "update-ref", short: "m", long: "stdin create-reflog deref" },
    Row {
        command: "commit",
        short: "mFCct",
        long: "quiet verbose file= author= date= message= reedit-message= reuse-message= fixup= \
               squash= reset-author trailer=! signoff template= edit cleanup= status gpg-sign \
               all include interactive patch only dry-run short branch ahead-behind porcelain \
               long null amend untracked-files pathspec-from-file= pathspec-file-nul allow- \
               empty allow-empty-message verify post-rewrite unified= inter-hunk-context=",
    },
    Row { command: "worktree remove", short: "", long: "force" },
];

/// The words of a command with all long options written out.
#[derive(Debug)]
pub(super) struct Complete {
    pub(super) args: Vec<Arg>,
    /// It only prints how it is used.
    pub(super) informs: bool,
}

/// Options whose value stays a word of its own, because what they make is looked up there.
const APART: &[&str] = &["create", "force-create", "orphan"];

/// Writes out the long options of a command; `None` where its options are not known.
pub(super) fn complete(command: &str, args: &[Arg]) -> Option<Complete> {
    let verb = args.first().map_or("", |arg| arg.text.as_str());
    let is_it = |row: &&Row| match row.command.split_once(' ') {
        Some((first, second)) => first == command && second == verb,
        None => row.command == command,
    };
    let row = ROWS.iter().find(is_it)?;
    let mut complete = Complete { args: Vec::with_capacity(args.len()), informs: false };
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        if arg.text == "--" {
            complete.args.push(arg.clone());
            complete.args.extend(rest.cloned());
            break;
        }
        complete.informs |= arg.text == "--help";
        let Some(body) = arg.text.strip_prefix("--") else {
            complete.args.push(arg.clone());
            if row.takes_next(&arg.text) {
                complete.args.extend(rest.next().cloned());
            }
            continue;
        };
        let (name, value) = match body.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (body, None),
        };
        let Some((name, takes_value)) = row.resolve(name) else {
            complete.args.push(arg.clone());
            continue;
        };
        let mut text = format!("--{name}");
        let mut dynamic = arg.dynamic;
        let is_apart = APART.contains(&name.as_str());
        let next = if takes_value && value.is_none() && !is_apart { rest.next() } else { None };
        if let Some(value) = value.or(next.map(|next| next.text.as_str())) {
            text.push('=');
            text.push_str(value);
            dynamic |= next.is_some_and(|next| next.dynamic);
        }
        complete.args.push(Arg { text, dynamic, ..arg.clone() });
    }
    Some(complete)
}

impl Row {
    /// Returns whether a cluster of short options ends with one whose value is the next word.
    fn takes_next(&self, text: &str) -> bool {
        let letters = text.strip_prefix('-').unwrap_or("");
        let found = letters.find(|letter| self.short.contains(letter));
        found.is_some_and(|at| at + 1 == letters.len())
    }

    /// The option that a name means, with `no-` before it where it switches one off, and
    /// whether it takes a value.
    fn resolve(&self, name: &str) -> Option<(String, bool)> {
        let mut found = None;
        for option in self.long.split(' ') {
            let is_negatable = !option.ends_with('!');
            let option = option.trim_end_matches('!');
            let (option, takes_value) = match option.strip_suffix('=') {
                Some(option) => (option, true),
                None => (option, false),
            };
            let negated = is_negatable.then(|| format!("no-{option}"));
            for (full, takes_value) in [(Some(option.to_owned()), takes_value), (negated, false)] {
                let Some(full) = full.filter(|full| full.starts_with(name)) else { continue };
                if full == name {
                    return Some((full, takes_value));
                }
                if found.is_some() {
                    // It could be either: git refuses it. Exact names may still follow.
                    found = Some(None);
                } else {
                    found = Some(Some((full, takes_value)));
                }
            }
        }
        found.flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn completed(command: &str, words: &str) -> (String, bool) {
        let args: Vec<Arg> = words.split_whitespace().map(Arg::plain).collect();
        let complete = complete(command, &args).unwrap();
        let texts: Vec<&str> = complete.args.iter().map(|arg| arg.text.as_str()).collect();
        (texts.join(" "), complete.informs)
    }

    #[test]
    fn beginnings_of_options() {
        for (command, words, want) in [
            ("reset", "--h HEAD~1", "--hard HEAD~1"),
            ("reset", "--ha", "--hard"),
            ("reset", "--he", "--he"),
            ("reset", "--me", "--merge"),
            ("reset", "--m", "--m"),
            ("reset", "-- --ha", "-- --ha"),
            ("clean", "--dry --no-dr --f", "--dry-run --no-dry-run --force"),
            ("push", "--forc", "--forc"),
            ("push", "--force-w=x", "--force-with-lease=x"),
            ("push", "--repo x --m", "--repo=x --mirror"),
            ("checkout", "--pathspec-from-f=x", "--pathspec-from-file=x"),
            ("checkout", "--orph x", "--orphan x"),
            ("gc", "--pru=now", "--prune=now"),
            ("worktree", "remove --f w", "remove --force w"),
        ] {
            assert_eq!(completed(command, words).0, want, "{command} {words}");
        }
        assert!(complete("status", &[]).is_none());
    }

    #[test]
    fn help_as_a_value_is_no_help() {
        for (command, words, informs) in [
            ("push", "--force --repo --help origin main", false),
            ("push", "-o --help --force", false),
            ("push", "-ox --help", true),
            ("reset", "--hard --help", true),
            ("reset", "--hard -- --help", false),
            ("clean", "-fde --help", false),
        ] {
            assert_eq!(completed(command, words).1, informs, "{command} {words}");
        }
    }

    #[test]
    fn the_table_is_what_git_has() {
        let git = |row: &Row| {
            let mut git = std::process::Command::new("git");
            git.args(row.command.split(' ')).arg("--git-completion-helper-all");
            let output = git.output().ok().filter(|output| output.status.success())?;
            String::from_utf8(output.stdout).ok()
        };
        for row in ROWS {
            let Some(listed) = git(row) else { return };
            let names = listed.split_whitespace().filter_map(|word| word.strip_prefix("--"));
            let names =
                names.map(|name| name.trim_end_matches('=')).filter(|name| !name.is_empty());
            let unknown: Vec<&str> = names.filter(|name| row.resolve(name).is_none()).collect();
            // Other versions of git have a few others.
            assert!(unknown.len() < 5, "{}: {unknown:?}", row.command);
        }
    }
}
