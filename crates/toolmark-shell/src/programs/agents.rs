//! Other agents started from a command, with the options that turn off their permission checks, and
//! the guard's own command.
//!
//! ```denied
//! toolmark guard uninstall
//! TOOLMARK_GUARD_POLICY=lax.yaml toolmark guard install
//! ~/bin/toolmark guard mcp --accept files
//! claude --settings '{"disableAllHooks": true}' -p x
//! codex -c features.hooks=false exec x
//! claude config set hooks '{}'
//! ```
//! ```asked
//! claude --dangerously-skip-permissions -p x
//! codex exec --yolo x
//! copilot --allow-all-tools --allow-all-paths -p x
//! gemini --approval-mode yolo -p x
//! gemini --approval-mode=yolo -p x
//! cursor-agent --force -p x
//! codex -a never exec x
//! npx @anthropic-ai/claude-code --dangerously-skip-permissions -p x
//! crush --yolo
//! claude mcp add evil -- npx evil
//! ```
//! ```allowed
//! claude --version
//! claude -p 'rm -rf /'
//! codex exec x
//! claude --permission-mode plan -p x
//! copilot -p 'explain this'
//! aider --message x
//! toolmark guard status
//! toolmark guard install --dry-run
//! ```

use crate::effects::{EffectKind, EffectScope, Reversibility};
use crate::run::CommandRun;

pub(super) fn run(run: &mut CommandRun<'_, '_>) {
    let args = run.args;
    let next_is = |at: usize, values: &[&str]| {
        args.get(at + 1).is_some_and(|next| values.contains(&next.text.as_str()))
    };
    let unguarded = args
        .iter()
        .enumerate()
        .find(|(at, arg)| is_unguarded(run.name, &arg.text, |values| next_is(*at, values)));
    let unguarded = unguarded.map(|(_, arg)| arg);
    let unhooked = run.args.iter().find(|arg| {
        let text: String = arg.text.chars().filter(|c| !c.is_whitespace()).collect();
        text.contains("\"disableAllHooks\":true") || text.contains("hooks=false")
    });
    if let Some(flag) = unhooked {
        run.effect(
            EffectKind::Persist,
            &flag.text,
            EffectScope::Unknown,
            Reversibility::R4,
            "starts an agent without its hooks",
        );
    }
    // Servers of tools that are added here run with the agent from now on.
    let words = super::plain_words(run.args);
    if let ["mcp", "add" | "add-json" | "add-from-claude-desktop", ..] | ["plugin", "install", ..] =
        words.as_slice()
    {
        let why = "gives an agent more tools from now on";
        run.effect(
            EffectKind::Persist,
            &words.join(" "),
            EffectScope::Home,
            Reversibility::R1,
            why,
        );
    }
    if let ["config", "set" | "add" | "remove", rest @ ..] = words.as_slice()
        && rest.iter().any(|word| {
            ["hook", "permission", "approval", "sandbox", "allowed"]
                .iter()
                .any(|part| word.contains(part))
        })
    {
        let why = "changes what an agent may do";
        run.effect(
            EffectKind::Persist,
            &words.join(" "),
            EffectScope::Home,
            Reversibility::R4,
            why,
        );
    }
    if let Some(flag) = unguarded {
        run.effect(
            EffectKind::Persist,
            &flag.text,
            EffectScope::Unknown,
            Reversibility::R1,
            "starts an agent without permission checks",
        );
    }
}

/// Whether an option lets an agent act without permission checks. `next_is` tests the following
/// word.
fn is_unguarded(name: &str, text: &str, next_is: impl Fn(&[&str]) -> bool) -> bool {
    let (option, value) = text.split_once('=').unwrap_or((text, ""));
    let says = |values: &[&str]| values.contains(&value) || value.is_empty() && next_is(values);
    let plain = text.trim_start_matches('-');
    let by_word = text.starts_with("--")
        && [
            "dangerously",
            "yolo",
            "full-auto",
            "allow-all",
            "yes-always",
            "skip-permissions",
            "no-confirm",
            "auto-approve",
            "trust-all",
            "bypass-approvals",
            "always-approve",
            "unsafe",
            "dangerous",
        ]
        .iter()
        .any(|word| plain.contains(word));
    by_word
        || match option {
            "--permission-mode" => says(&["bypassPermissions", "acceptEdits", "dontAsk"]),
            "--approval-mode" => says(&["yolo", "auto_edit", "full-auto", "auto"]),
            "-a" | "--ask-for-approval" => name == "codex" && says(&["never"]),
            "-s" | "--sandbox" => says(&["danger-full-access"]),
            "-c" | "--config" => next_is(&[
                "approval_policy=never",
                "sandbox_mode=danger-full-access",
                "approval_policy=\"never\"",
            ]),
            "--allow-tool" | "--allowedTools" | "--allowed-tools" => {
                says(&["*", "shell", "Bash", "Bash(*)", "shell(*)"])
            }
            "--force" | "-f" => matches!(name, "cursor-agent"),
            "--yes" | "-y" => matches!(name, "aider" | "gemini" | "qwen" | "opencode"),
            "bypassPermissions" | "danger-full-access" => true,
            _ => text.ends_with("=bypassPermissions") || text.ends_with("=danger-full-access"),
        }
}

/// Reports commands that would remove the guard or make it more permissive; only the user may type
/// them.
pub(super) fn own(run: &mut CommandRun<'_, '_>) {
    let words = super::plain_words(run.args);
    let [Some("guard"), Some(verb)] = [words.first(), words.get(1)].map(|word| word.copied())
    else {
        return;
    };
    let has = |flag: &str| run.args.iter().any(|arg| arg.text.starts_with(flag));
    if has("--help") || run.args.iter().any(|arg| arg.text == "-h") {
        return;
    }
    let loosens = match verb {
        "uninstall" | "allow" => true,
        // The installation fixes the policy named by the environment in the hook.
        "install" => !has("--dry-run"),
        "mcp" => has("--accept"),
        _ => false,
    };
    if loosens {
        run.effect(
            EffectKind::Persist,
            &run.line(),
            EffectScope::Unknown,
            Reversibility::R4,
            "changes what the guard lets through",
        );
    }
}
