//! `git`: commands that reach a remote.
//!
//! ```denied
//! git push --force
//! git push -f origin main
//! git push origin +main
//! git push --mirror
//! git push --m origin
//! # git rejects it; other versions may not
//! git push --forc origin x
//! git push origin --delete x
//! git push origin :x
//! git push --prune origin
//! git push -uf origin x
//! git push --force --force-with-lease
//! git push --force --repo --help origin main
//! git push --force -o --help
//! git push --dry-run --no-dry-run --force
//! ```
//! ```asked
//! git push --force-with-lease
//! git push --no-verify
//! git remote remove origin
//! git fetch origin +main:main
//! ```
//! ```allowed
//! git push
//! git push -u origin x
//! git push --dry-run --force
//! git push -n -f
//! git push --force --no-force
//! git push origin main:main
//! git push --force-if-includes origin x
//! git push --follow-tags
//! git remote -v
//! git remote add upstream https://example.com/a.git
//! git fetch --all --prune
//! git clone https://example.com/a.git
//! ```

use super::refs::is_own;
use super::{GIT, command, discard, effects};
use crate::effects::{EffectKind, EffectScope, Reversibility};
use crate::options::ParsedOptions;
use crate::program::{Program, always};
use crate::run::CommandRun;
use Reversibility::{R1, R2, R3, R5};

pub(crate) static PROGRAMS: &[Program] = &[
    Program {
        names: "git push|git send-pack|git http-push",
        options: "v/verbose q/quiet repo= all branches mirror d/delete tags n/dry-run porcelain \
                  f/force force-with-lease=? force-if-includes recurse-submodules= thin \
                  receive-pack= exec= u/set-upstream progress prune follow-tags signed=? atomic \
                  o/push-option= 4/ipv4! 6/ipv6! verify",
        code: Some(push),
        ..GIT
    },
    command(
        "git fetch",
        "n v/verbose q/quiet all set-upstream a/append atomic upload-pack= f/force m/multiple \
         t/tags j/jobs= prefetch p/prune P/prune-tags recurse-submodules=? dry-run porcelain \
         write-fetch-head k/keep u/update-head-ok progress depth= shallow-since= \
         shallow-exclude= deepen= unshallow! refetch! submodule-prefix= \
         recurse-submodules-default= update-shallow refmap=! o/server-option= 4/ipv4! 6/ipv6! \
         negotiation-tip= negotiate-only filter= auto-maintenance auto-gc show-forced-updates \
         write-commit-graph stdin",
        Some(fetch),
    ),
    command(
        "git clone",
        "v/verbose q/quiet progress reject-shallow bare naked mirror l/local s/shared \
         recurse-submodules=? recursive=? j/jobs= template= reference= reference-if-able= \
         dissociate o/origin= b/branch= u/upload-pack= depth= shallow-since= shallow-exclude= \
         single-branch shallow-submodules separate-git-dir= ref-format= c/config= server-option= \
         4/ipv4! 6/ipv6! filter= also-filter-submodules remote-submodules sparse bundle-uri= \
         checkout hardlinks tags revision= n/no-checkout!",
        Some(clone),
    ),
    command(
        "git ls-remote",
        "q/quiet u/upload-pack= exec= t/tags b/branches heads refs get-url sort= exit-code symref \
         o/server-option=",
        None,
    ),
    command(
        "git archive",
        "N o/output= remote= exec= v/verbose! l/list! format= prefix= \
         add-file= add-virtual-file= worktree-attributes mtime=",
        None,
    ),
    Program {
        names: "git remote remove|git remote rm",
        effects: &[always().is(
            EffectKind::RemoteState,
            EffectScope::VcsMetadata,
            R3,
            "removes a remote",
        )],
        ..GIT
    },
    effects(
        "git remote set-url",
        "push add delete",
        &[always().is(
            EffectKind::RemoteState,
            EffectScope::VcsMetadata,
            R1,
            "changes the URL of a remote",
        )],
    ),
    command("git remote add", "f/fetch tags t/track= m/master= mirror=?", Some(add_remote)),
    Program {
        names: "git svn dcommit",
        options: "n/dry-run rmdir e/edit l= find-copies-harder C= M= no-rebase commit-url= \
                  interactive mergeinfo= username=",
        is_open: true,
        effects: &[always().unless("dry-run").is(
            EffectKind::RemoteState,
            EffectScope::Remote,
            R3,
            "commits to a central repository",
        )],
        ..GIT
    },
    Program {
        names: "git send-email",
        options: "dry-run to= cc= bcc= from= subject= smtp-server= confirm= annotate compose",
        is_open: true,
        effects: &[always().unless("dry-run").is(
            EffectKind::SendOut,
            EffectScope::Remote,
            R3,
            "sends mail",
        )],
        ..GIT
    },
];

fn fetch(run: &mut CommandRun<'_, '_>, parsed: &ParsedOptions<'_>) {
    let moves = |word: &&&str| {
        let target = word.strip_prefix('+').and_then(|rest| rest.split_once(':'));
        target.is_some_and(|(_, to)| !to.starts_with("refs/") || to.starts_with("refs/heads"))
    };
    if let Some(spec) = parsed.words().iter().find(moves) {
        discard(run, spec, R3, "moves a local branch by force");
    }
}

fn add_remote(run: &mut CommandRun<'_, '_>, parsed: &ParsedOptions<'_>) {
    run.analyzer.remotes.extend(parsed.operands.first().map(|arg| arg.text.clone()));
}

/// Remembers the directory that `git clone` makes, whose programs were not inspected.
fn clone(run: &mut CommandRun<'_, '_>, parsed: &ParsedOptions<'_>) {
    let from = parsed.operands.first().map_or("", |arg| arg.text.as_str());
    let name = from.trim_end_matches('/').rsplit(['/', ':']).next().unwrap_or("");
    let name = name.strip_suffix(".git").unwrap_or(name);
    let to = parsed.operands.get(1).map_or(name, |arg| arg.text.as_str());
    if to.is_empty() {
        return;
    }
    let path = run.analyzer.place(to).path;
    run.analyzer.left.make(&path);
    if from.contains("://") {
        run.analyzer.made.clone_of(&path);
    }
}

fn push(run: &mut CommandRun<'_, '_>, parsed: &ParsedOptions<'_>) {
    if parsed.on("n", "dry-run") {
        return;
    }
    let words: Vec<&str> = parsed.operands.iter().map(|arg| arg.text.as_str()).collect();
    let target = words.join(" ");
    let remote = parsed.value("", "repo").or(words.first().copied()).unwrap_or("");
    if remote.contains("://") || run.analyzer.remotes.iter().any(|known| known == remote) {
        let why = "pushes to an address that is no remote of the repository";
        run.effect(EffectKind::SendOut, remote, EffectScope::Remote, R1, why);
    }
    let force = parsed.has("", "force");
    let lease = parsed.has("", "force-with-lease");
    let refspecs = words.iter().skip(usize::from(!parsed.exact("repo")));
    let plus = words.iter().skip(1).any(|word| word.starts_with('+'));
    let colon = refspecs.clone().any(|word| word.starts_with(':') && word.len() > 1);
    let deletes = parsed.any("delete prune") || colon;
    if force || plus {
        run.effect(
            EffectKind::RewriteHistory,
            &target,
            EffectScope::Remote,
            R5,
            "overwrites shared history",
        );
    } else if parsed.has("", "mirror") {
        run.effect(
            EffectKind::RewriteHistory,
            &target,
            EffectScope::Remote,
            R5,
            "mirrors this repository to the remote",
        );
    } else if deletes {
        run.effect(
            EffectKind::RemoteState,
            &target,
            EffectScope::Remote,
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
            EffectKind::RewriteHistory,
            &target,
            EffectScope::Remote,
            if own && !all { R2 } else { R3 },
            "overwrites history that nobody else changed",
        );
    } else if parsed.off("verify") {
        run.effect(
            EffectKind::Persist,
            "hooks",
            EffectScope::VcsMetadata,
            R1,
            "bypasses the hooks",
        );
    }
}
