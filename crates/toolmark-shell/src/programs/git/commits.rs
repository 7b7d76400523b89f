//! `git`: commits, and commands that show what they hold.
//!
//! ```denied
//! git rebase -x 'rm -rf /etc' main
//! git difftool --extcmd='rm -rf /' HEAD
//! git log -p --output=/usr/share/x
//! ```
//! ```asked
//! git commit --no-verify -m x
//! git commit --no-veri -m x
//! git commit -n -m x
//! git show HEAD:.env
//! git cat-file blob HEAD:.env
//! git diff HEAD~1 --output=src/main.rs
//! ```
//! ```allowed
//! git commit -m 'git reset --hard'
//! git commit -m --no-verify
//! git commit --no-verify --verify -m x
//! git commit -a
//! git merge x
//! git rebase --abort
//! git pull --rebase
//! git cherry-pick -n x
//! git log --oneline -5
//! git diff HEAD~1 -- src
//! git grep -n main
//! git diff --output=fix.patch
//! git add -A
//! ```

use super::{GIT, command};
use crate::effects::{EffectKind, EffectScope, Reversibility};
use crate::expand::Arg;
use crate::options::ParsedOptions;
use crate::program::Program;
use crate::run::CommandRun;
use crate::secrets::Secrecy;
use Reversibility::R1;

pub(crate) static PROGRAMS: &[Program] = &[
    command(
        "git commit",
        "q/quiet v/verbose F/file= author= date= m/message= c/reedit-message= C/reuse-message= fixup= squash= reset-author trailer=! s/signoff t/template= e/edit cleanup= \
         status S/gpg-sign=? a/all i/include interactive p/patch o/only dry-run short branch \
         ahead-behind porcelain long z/null amend u/untracked-files=? pathspec-from-file= \
         pathspec-file-nul allow-empty allow-empty-message verify post-rewrite n/no-verify! \
         U/unified= inter-hunk-context=",
        Some(commit),
    ),
    command(
        "git am",
        "C= p= i/interactive binary 3/3way q/quiet s/signoff u/utf8 k/keep keep-non-patch \
         m/message-id keep-cr c/scissors quoted-cr=! whitespace= ignore-space-change ignore-whitespace directory= exclude= include= patch-format= reject resolvemsg= continue! \
         r/resolved! skip! abort! quit! show-current-patch=?! retry! allow-empty! committer-date-is-author-date ignore-date rerere-autoupdate S/gpg-sign=? empty=! rebasing \
         verify n/no-verify!",
        Some(commit),
    ),
    command(
        "git rebase",
        "C= onto= keep-base q/quiet v/verbose signoff committer-date-is-author-date reset-author-date ignore-date ignore-whitespace whitespace= f/force-rebase continue! skip! \
         abort! quit! edit-todo! show-current-patch! apply! m/merge! i/interactive! preserve-merges rerere-autoupdate empty=! keep-empty autosquash update-refs S/gpg-sign=? \
         autostash x/exec= allow-empty-message r/rebase-merges=? fork-point s/strategy= \
         X/strategy-option= root reschedule-failed-exec reapply-cherry-picks verify stat ff \
         n/no-stat!",
        Some(commit),
    ),
    command(
        "git cherry-pick",
        "x quit! continue! abort! skip! cleanup= e/edit s/signoff m/mainline= rerere-autoupdate strategy= X/strategy-option= S/gpg-sign=? ff allow-empty allow-empty-message keep-redundant-commits empty=! commit n/no-commit!",
        Some(commit),
    ),
    command(
        "git revert",
        "quit! continue! abort! skip! cleanup= e/edit s/signoff m/mainline= rerere-autoupdate \
         strategy= X/strategy-option= S/gpg-sign=? reference commit n/no-commit!",
        Some(commit),
    ),
    command(
        "git merge",
        "n stat summary log=? squash commit e/edit cleanup= ff ff-only! rerere-autoupdate \
         verify-signatures s/strategy= X/strategy-option= m/message= F/file=! into-name= \
         v/verbose q/quiet abort quit continue allow-unrelated-histories progress S/gpg-sign=? autostash overwrite-ignore signoff verify",
        None,
    ),
    command(
        "git pull",
        "n v/verbose q/quiet progress recurse-submodules=? r/rebase=? stat summary log=? \
         signoff=? squash commit edit cleanup= ff ff-only! verify verify-signatures autostash \
         s/strategy= X/strategy-option= S/gpg-sign=? allow-unrelated-histories all a/append \
         upload-pack= f/force t/tags p/prune j/jobs=? dry-run k/keep depth= shallow-since= \
         shallow-exclude= deepen= unshallow! update-shallow refmap=! o/server-option= 4/ipv4 \
         6/ipv6 negotiation-tip= show-forced-updates set-upstream",
        None,
    ),
    command(
        "git difftool",
        "g/gui d/dir-diff prompt symlinks t/tool= tool-help trust-exit-code x/extcmd= index \
         y/no-prompt!",
        None,
    ),
    command(
        "git grep",
        "I h H N f= e= cached untracked exclude-standard recurse-submodules v/invert-match \
         i/ignore-case w/word-regexp a/text textconv r/recursive max-depth=! E/extended-regexp G/basic-regexp F/fixed-strings P/perl-regexp n/line-number column full-name \
         l/files-with-matches name-only L/files-without-match z/null o/only-matching c/count \
         color=? break heading C/context= B/before-context= A/after-context= threads= p/show-function W/function-context and! or! not! q/quiet all-match O/open-files-in-pager=? \
         ext-grep m/max-count= index",
        None,
    ),
    command(
        "git add",
        "n/dry-run v/verbose i/interactive p/patch e/edit f/force u/update renormalize \
         N/intent-to-add A/all ignore-removal refresh ignore-errors ignore-missing sparse \
         chmod= warn-embedded-repo pathspec-from-file= pathspec-file-nul U/unified= inter-hunk-context=",
        Some(add),
    ),
    Program {
        names: "git log|git show|git diff|git format-patch|git cat-file",
        options: "output= o/output-directory= author= committer= grep= since= until= after= \
                  before= format= L= S= G= n/max-count= U/unified=? date= diff-filter= skip=",
        is_open: true,
        code: Some(show),
        ..GIT
    },
    Program {
        names: "git credential|git credential-store|git credential-cache|git credential-manager|git credential-osxkeychain|git credential-libsecret",
        is_open: true,
        code: Some(credential),
        ..GIT
    },
];

fn commit(run: &mut CommandRun<'_, '_>, parsed: &ParsedOptions<'_>) {
    if parsed.off("verify") {
        run.effect(
            EffectKind::Persist,
            "hooks",
            EffectScope::VcsMetadata,
            R1,
            "bypasses the hooks",
        );
    }
    let call = run.call;
    if let Some(path) = parsed.value("", "file").filter(|path| *path != "-") {
        run.analyzer.read_file(&Arg::plain(path), "git", call);
    }
}

fn add(run: &mut CommandRun<'_, '_>, parsed: &ParsedOptions<'_>) {
    for arg in parsed.operands.iter().filter(|arg| !arg.dynamic) {
        let is_copy = run.analyzer.is_copy(&run.analyzer.place(&arg.text).path);
        if is_copy || run.analyzer.context.secrecy(&arg.text) == Some(Secrecy::Secret) {
            let why = "puts a secret under version control";
            run.effect(EffectKind::SendOut, &arg.text, EffectScope::VcsMetadata, R1, why);
        }
    }
}

fn show(run: &mut CommandRun<'_, '_>, parsed: &ParsedOptions<'_>) {
    let call = run.call;
    if let Some((given, path)) = parsed.last("", "output").and_then(|g| Some((g, g.value?))) {
        let arg = Arg { dynamic: given.dynamic, ..Arg::plain(path) };
        run.analyzer.write_file(&arg, false, "git", call);
        // The option is for patches; any other file is emptied for one.
        let is_patch = [".patch", ".diff", ".txt", ".log", ".md", ".out"];
        if !is_patch.iter().any(|end| path.ends_with(end)) {
            run.analyzer.empty_file(&arg, "git", call);
        }
    }
    for (_, path) in parsed.operands.iter().filter_map(|arg| arg.text.rsplit_once(':')) {
        run.analyzer.read_file(&Arg::plain(path), "git", call);
    }
}

fn credential(run: &mut CommandRun<'_, '_>, parsed: &ParsedOptions<'_>) {
    if matches!(parsed.words().first(), Some(&("fill" | "get"))) {
        let target = "a stored password";
        run.effect(EffectKind::ReadSecret, target, EffectScope::Home, R1, "prints a secret");
    }
}
