//! Clients of code hosts: content that they delete, publish or make public.
//!
//! ```denied
//! gh repo delete a/b --yes
//! gh release delete v1
//! gh secret delete X
//! gh api -X DELETE repos/a/b
//! gh api repos/a/b --method DELETE
//! glab repo delete a/b
//! gh gist create .env
//! gh issue comment 3 --body-file ~/.ssh/id_rsa
//! gh api -X PATCH repos/a/b/issues/1 -F body=@.env
//! gh cache delete --all
//! glab variable delete X
//! ```
//! ```asked
//! gh repo archive a/b
//! gh repo edit --visibility public
//! gh release create v1
//! gh auth token
//! gh gist create notes.md
//! gh pr merge 1 --admin
//! gh pr close 3
//! gh api -X PATCH repos/a/b/issues/1 -f state=closed
//! gh api -X PATCH repos/a/b/releases/1 -f body=hi
//! ```
//! ```allowed
//! gh pr create --title 'delete x'
//! gh pr view 1
//! gh release download v1
//! gh issue list
//! gh api repos/a/b
//! gh run watch 1
//! gh api graphql -f query='{viewer{login}}'
//! gh pr merge 1 --squash
//! glab mr list
//! gh repo view a/b
//! gh repo clone a/b
//! gh pr checks 1
//! gh pr comment 1 --body 'rm -rf /'
//! gh pr create --title x --body-file notes.md
//! gh api -X PATCH repos/a/b/issues/1 -f body=hi
//! ```

use super::verbs::{self, Verb};
use crate::effects::{EffectKind, EffectScope, Reversibility};
use crate::program::Program;
use crate::run::CommandRun;
use crate::secrets::Secrecy;
use Reversibility::{R1, R2, R3, R5};

pub(super) fn run(run: &mut CommandRun<'_, '_>) {
    let args = run.args;
    if super::only_informs(args) {
        return;
    }
    publish_files(run);
    let words = super::plain_words(args);
    let target = words.join(" ");
    let first = words.first().copied().unwrap_or("");
    let second = words.get(1).copied().unwrap_or("");
    let has = |flags: &[&str]| args.iter().any(|arg| flags.contains(&arg.text.as_str()));
    match (first, second) {
        ("api", _) => return api(run),
        ("gist", "create") => {
            let call = run.call;
            for arg in args.iter().skip(2) {
                if crate::secrets::secrecy(&arg.text).is_some() {
                    run.effect(
                        EffectKind::SendOut,
                        &arg.text,
                        EffectScope::Remote,
                        R5,
                        "publishes a secret",
                    );
                }
            }
            if call.secret || call.input == crate::pipes::Flow::Secret {
                run.effect(
                    EffectKind::SendOut,
                    "a secret",
                    EffectScope::Remote,
                    R5,
                    "publishes a secret",
                );
            }
            return run.effect(
                EffectKind::SendOut,
                &target,
                EffectScope::Remote,
                R1,
                "publishes text",
            );
        }
        ("repo", "delete")
        | ("release", "delete" | "delete-asset")
        | (
            "secret" | "variable" | "cache" | "label" | "gist" | "issue" | "ssh-key" | "gpg-key"
            | "project" | "run" | "ruleset" | "codespace" | "environment",
            "delete" | "remove",
        ) => {
            return run.remote(&target, "deletes from a code host");
        }
        ("repo", "archive" | "rename" | "transfer")
        | ("repo", "edit")
        | ("workflow", "disable")
        | ("run", "cancel")
        | ("codespace", "stop")
        | ("pr", "close" | "lock")
        | ("issue", "close" | "transfer" | "lock") => {
            if second == "edit"
                && !has(&["--visibility"])
                && !args.iter().any(|arg| arg.text.starts_with("--visibility"))
            {
                return;
            }
            return run.ask(
                EffectKind::RemoteState,
                &target,
                EffectScope::Remote,
                "changes what others see",
            );
        }
        ("repo", "create") if has(&["--public"]) => {
            return run.ask(
                EffectKind::RemoteState,
                &target,
                EffectScope::Remote,
                "makes something public",
            );
        }
        ("repo", "sync") if has(&["--force"]) => {
            return run.remote(&target, "overwrites a branch by force");
        }
        ("release", "create") => {
            return run.effect(
                EffectKind::Spend,
                &target,
                EffectScope::Remote,
                R3,
                "publishes a release",
            );
        }
        ("pr" | "mr", "merge") => {
            if has(&["--admin"]) {
                return run.ask(
                    EffectKind::RemoteState,
                    &target,
                    EffectScope::Remote,
                    "merges despite branch rules",
                );
            }
            return;
        }
        ("workflow", "run") if super::names_production(args) => {
            let why = "starts a workflow for production";
            return run.ask(EffectKind::RemoteState, &target, EffectScope::Remote, why);
        }
        ("auth", "token") => {
            return run.effect(
                EffectKind::ReadSecret,
                "the token",
                EffectScope::Remote,
                R1,
                "shows a token",
            );
        }
        ("auth", "status") if has(&["-t", "--show-token"]) => {
            return run.effect(
                EffectKind::ReadSecret,
                "the token",
                EffectScope::Remote,
                R1,
                "shows a token",
            );
        }
        ("extension", _) | ("auth", _) | ("alias", _) => return,
        _ => {}
    }
    match verbs::find(words.get(1..).unwrap_or_default(), 1) {
        Some(Verb::Destroys) => run.remote(&target, "deletes from a code host"),
        Some(Verb::Disturbs) => run.effect(
            EffectKind::RemoteState,
            &target,
            EffectScope::Remote,
            R3,
            "changes what others see",
        ),
        None => {}
    }
}

/// Reports files whose content is published: `--body-file F`, `-F body=@F`.
fn publish_files(run: &mut CommandRun<'_, '_>) {
    let mut files: Vec<String> = Vec::new();
    let mut previous = "";
    for arg in run.args {
        let text = arg.text.as_str();
        let is_file =
            |flag: &str| matches!(flag, "--body-file" | "--notes-file" | "--input" | "-F");
        let attached = text.split_once('=').filter(|(flag, _)| is_file(flag)).map(|(_, file)| file);
        let field = text.split_once("=@").map(|(_, file)| file);
        let next = Some(text).filter(|_| is_file(previous) && !text.contains('='));
        files.extend(field.or(attached).or(next).map(str::to_owned));
        previous = text;
    }
    for file in files {
        if run.analyzer.context.secrecy(&file) == Some(Secrecy::Secret) {
            run.effect(EffectKind::SendOut, &file, EffectScope::Remote, R5, "publishes a secret");
        }
    }
}

fn api(run: &mut CommandRun<'_, '_>) {
    let parsed = Program::open(
        "X= H= f= F= q= t= p= method= header= field= raw-field= jq= template= input= \
             preview= hostname= cache=",
    )
    .parse(run.args);
    let method = parsed.value("X", "method").unwrap_or("").to_ascii_uppercase();
    let target =
        parsed.operands.iter().skip(1).map(|arg| arg.text.as_str()).collect::<Vec<_>>().join(" ");
    let mutation = parsed.options.iter().filter_map(|given| given.value).any(|value| {
        value.contains("mutation") && (value.contains("delete") || value.contains("Delete"))
    });
    if method == "DELETE" || mutation {
        run.remote(&target, "deletes from a code host");
    } else if method == "PATCH" && edits_text(&parsed, &target) {
        // The effect of `gh pr edit` and `gh issue edit`. The host keeps every version of these
        // texts and shows them to every reader: nothing is lost.
        let why = "edits a text that others see";
        run.effect(EffectKind::RemoteState, &target, EffectScope::Remote, R2, why);
    } else if method == "PUT" || method == "PATCH" {
        run.effect(
            EffectKind::RemoteState,
            &target,
            EffectScope::Remote,
            R3,
            "changes what others see",
        );
    }
}

/// Whether only the title or the body of a pull request, an issue or a comment is changed.
fn edits_text(parsed: &crate::options::ParsedOptions<'_>, target: &str) -> bool {
    let parts: Vec<&str> = target.trim_start_matches('/').split('/').collect();
    let is_text = matches!(
        parts[..],
        ["repos", _, _, "pulls" | "issues", _]
            | ["repos", _, _, "pulls" | "issues", "comments", _]
            | ["repos", _, _, "comments", _]
    );
    let mut fields = parsed
        .options
        .iter()
        .filter(|o| matches!(o.name, "f" | "F" | "field" | "raw-field" | "input"))
        .peekable();
    is_text
        && fields.peek().is_some()
        && fields.all(|field| {
            let value = field.value.unwrap_or("");
            field.name != "input" && (value.starts_with("body=") || value.starts_with("title="))
        })
}
