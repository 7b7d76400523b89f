//! `git`: branches, tags, other references, and the history behind them.
//!
//! ```denied
//! git reflog expire --expire=now --all
//! git gc --prune=now
//! git gc --pru=now
//! git gc --p=now
//! git gc --prune=0
//! git gc --prune=5.minutes.ago
//! git prune
//! git filter-branch --force
//! git filter-repo --path x
//! git filter-repo --force --replace-text --help
//! ```
//! ```asked
//! git branch -D x
//! git branch -df x
//! git branch -f main HEAD~3
//! git tag -d v1
//! git tag -f v1
//! git update-ref -d HEAD
//! git update-ref refs/heads/main HEAD~3
//! git replace -d x
//! git notes remove HEAD
//! git notes --ref=x prune
//! ```
//! ```allowed
//! git branch -d x
//! git branch -m a b
//! git branch -M main
//! git branch -a
//! git branch --contains x
//! git tag v1
//! git tag -n
//! git update-ref refs/backup/x HEAD
//! git gc
//! git gc --prune
//! git gc --prune=never
//! git gc --prune=2.weeks.ago
//! git reflog
//! git reflog expire --dry-run --expire=now --all
//! git prune -n
//! git filter-repo --analyze
//! git notes add -m x
//! ```

use super::{GIT, command, discard, effects};
use crate::effects::{EffectKind, EffectScope, Reversibility};
use crate::left::is_shared_branch;
use crate::options::ParsedOptions;
use crate::program::EffectTarget::Words;
use crate::program::{Program, Syntax, always, on};
use crate::run::CommandRun;
use EffectKind::RewriteHistory;
use EffectScope::VcsMetadata;
use Reversibility::{R2, R3, R4};

/// The objects that make lost commits recoverable are removed.
const LOSES: &str = "removes what makes lost commits recoverable";

pub(crate) static PROGRAMS: &[Program] = &[
    command(
        "git branch",
        "D M C v/verbose q/quiet t/track set-upstream u/set-upstream-to= unset-upstream color=? \
         r/remotes! contains= with= without= abbrev=? a/all! d/delete m/move omit-empty c/copy \
         l/list show-current create-reflog edit-description f/force merged= column=? sort= \
         points-at= i/ignore-case recurse-submodules format=",
        Some(branch),
    ),
    effects(
        "git tag",
        "n=? l/list! d/delete! v/verify! a/annotate m/message=! F/file= trailer=! e/edit s/sign \
         cleanup= u/local-user= f/force create-reflog column=? contains= with= without= merged= \
         omit-empty sort= points-at= format= color=? i/ignore-case",
        &[on("delete").discards(R3, "deletes a tag"), on("force").discards(R3, "moves a tag")],
    ),
    command("git update-ref", "m= d z stdin create-reflog deref batch-updates", Some(update_ref)),
    effects(
        "git symbolic-ref",
        "m= q/quiet d/delete short recurse",
        &[on("delete").discards(R3, "deletes a reference")],
    ),
    Program {
        names: "git reflog expire|git reflog delete",
        options: "n/dry-run rewrite updateref verbose expire=! expire-unreachable=! stale-fix all \
                  single-worktree",
        effects: &[always().unless("dry-run").to(Words("the reflog")).is(
            RewriteHistory,
            VcsMetadata,
            R4,
            LOSES,
        )],
        ..GIT
    },
    command(
        "git gc",
        "q/quiet prune=? cruft max-cruft-size=! expire-to= aggressive auto detach force \
         keep-largest-pack",
        Some(gc),
    ),
    effects(
        "git prune",
        "n/dry-run v/verbose progress expire= exclude-promisor-objects",
        &[always().unless("dry-run").to(Words("unreachable objects")).is(
            RewriteHistory,
            VcsMetadata,
            R4,
            LOSES,
        )],
    ),
    Program {
        names: "git filter-branch",
        syntax: Syntax::Posix,
        options: "f/force d= env-filter= tree-filter= index-filter= parent-filter= msg-filter= \
                  commit-filter= tag-name-filter= subdirectory-filter= setup= original= \
                  prune-empty remap-to-ancestor state-branch=",
        effects: &[always().to(Words("all commits")).is(
            RewriteHistory,
            VcsMetadata,
            R4,
            "rewrites history",
        )],
        ..GIT
    },
    Program {
        names: "git filter-repo",
        syntax: Syntax::Argparse,
        options: "h/help version analyze report-dir= invert-paths path-match= path= path-glob= \
                  path-regex= use-base-name paths-from-file= path-rename= path-rename-match= \
                  subdirectory-filter= to-subdirectory-filter= replace-text= strip-blobs-bigger-than= \
                  strip-blobs-with-ids= tag-rename= replace-message= preserve-commit-hashes \
                  preserve-commit-encoding mailmap= use-mailmap prune-empty= prune-degenerate= no-ff \
                  replace-refs= filename-callback= file-info-callback= message-callback= \
                  name-callback= email-callback= refname-callback= blob-callback= commit-callback= \
                  tag-callback= reset-callback= done-callback= source= target= partial refs= dry-run \
                  debug stdin quiet f/force sensitive-data-removal no-fetch no-gc proceed \
                  date-order state-branch=",
        effects: &[always().unless("dry-run analyze").to(Words("all commits")).is(
            RewriteHistory,
            VcsMetadata,
            R4,
            "rewrites history",
        )],
        ..GIT
    },
    effects(
        "git replace",
        "l/list! d/delete! e/edit! g/graft! convert-graft-file! f/force raw format=",
        &[on("delete").discards(R3, "removes notes or replacements")],
    ),
    effects(
        "git notes remove",
        "ignore-missing stdin ref=",
        &[always().discards(R3, "removes notes or replacements")],
    ),
    effects(
        "git notes prune",
        "n/dry-run v/verbose",
        &[always().unless("dry-run").discards(R3, "removes notes or replacements")],
    ),
];

fn branch(run: &mut CommandRun<'_, '_>, parsed: &ParsedOptions<'_>) {
    let words = parsed.words();
    let target = words.join(" ");
    let deletes = parsed.has("", "delete");
    let forced = parsed.has("", "force");
    if parsed.has("D", "") || (deletes && forced) {
        let own = !words.is_empty() && words.iter().all(|name| is_own(run, Some(name)));
        discard(run, &target, if own { R2 } else { R3 }, "deletes a branch, merged or not");
    } else if (forced && !deletes) || parsed.any("M C") {
        // A first commit has no other branch to lose.
        let renames = parsed.has("M", "")
            && (words.len() < 2 || matches!(words.last(), Some(&("main" | "master"))));
        if !renames {
            let own = words.first().is_some_and(|name| is_own(run, Some(name)));
            discard(run, &target, if own { R2 } else { R3 }, "moves a branch to another commit");
        }
    }
}

fn update_ref(run: &mut CommandRun<'_, '_>, parsed: &ParsedOptions<'_>) {
    let target = parsed.words().join(" ");
    let name = parsed.operands.first().map_or("", |arg| arg.text.as_str());
    if parsed.has("d", "") {
        discard(run, &target, R3, "deletes a reference");
    } else if parsed.has("", "stdin") {
        discard(run, "references", R3, "changes references");
    } else if name == "HEAD" || name.strip_prefix("refs/heads/").is_some_and(is_shared_branch) {
        discard(run, &target, R3, "moves a branch to another commit");
    }
}

/// Whether objects younger than a week are removed.
fn is_soon(when: &str) -> bool {
    let when = when.to_ascii_lowercase();
    let is_long = ["week", "month", "year"].iter().any(|unit| when.contains(unit));
    let days = when.split(['.', ' ']).next().and_then(|number| number.parse::<u32>().ok());
    let is_days = when.contains("day") && days.is_some_and(|days| days >= 7);
    // 2025-01-31
    let is_date = when.len() >= 8 && when.contains('-') && when.starts_with(['1', '2']);
    !(when == "never" || is_long || is_days || is_date)
}

fn gc(run: &mut CommandRun<'_, '_>, parsed: &ParsedOptions<'_>) {
    let set = run.analyzer.made.git_setting("gc.pruneexpire").map(str::to_owned);
    let given = parsed.last("", "prune").and_then(|given| given.value);
    let aggressive = given.is_some() && parsed.exact("aggressive") && given != Some("never");
    let soon = given.or(set.as_deref()).is_some_and(is_soon) && !parsed.off("prune");
    if soon || aggressive {
        let target = "unreachable objects";
        run.effect(RewriteHistory, target, VcsMetadata, R4, LOSES);
    }
}

/// Whether a branch belongs to the session and is not one that others work on.
pub(super) fn is_own(run: &CommandRun<'_, '_>, name: Option<&str>) -> bool {
    let name = name.map(|name| name.strip_prefix("refs/heads/").unwrap_or(name));
    let at = run.analyzer.cwd.as_deref();
    let facts = run.analyzer.context.facts;
    !name.is_some_and(is_shared_branch) && facts.is_some_and(|facts| facts.is_own_branch(at, name))
}
