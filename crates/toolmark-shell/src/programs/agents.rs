//! Other agents started from a command, with the switches that turn off their permission
//! checks, and the guard's own command.

use crate::effects::{Kind, Reversibility, Scope};
use crate::run::Run;

pub(super) fn run(run: &mut Run<'_, '_>) {
    let unguarded = run.args.iter().find(|arg| {
        matches!(
            arg.text.as_str(),
            "--dangerously-skip-permissions"
                | "--dangerously-bypass-approvals-and-sandbox"
                | "--yolo"
                | "--full-auto"
                | "--allow-all-tools"
                | "--yes-always"
                | "bypassPermissions"
                | "danger-full-access"
        ) || arg.text.ends_with("=bypassPermissions")
            || arg.text.ends_with("=danger-full-access")
    });
    let unhooked = run.args.iter().find(|arg| {
        let text: String = arg.text.chars().filter(|c| !c.is_whitespace()).collect();
        text.contains("\"disableAllHooks\":true") || text.contains("hooks=false")
    });
    if let Some(flag) = unhooked {
        run.effect(
            Kind::Persist,
            &flag.text,
            Scope::Unknown,
            Reversibility::R4,
            "starts an agent without its hooks",
        );
    }
    if let Some(flag) = unguarded {
        run.effect(
            Kind::Persist,
            &flag.text,
            Scope::Unknown,
            Reversibility::R1,
            "starts an agent without permission checks",
        );
    }
}

/// What would take the guard away or make it let more through is for the user to type.
pub(super) fn own(run: &mut Run<'_, '_>) {
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
        // It fixes the policy that the environment names in the hook.
        "install" => !has("--dry-run"),
        "mcp" => has("--accept"),
        _ => false,
    };
    if loosens {
        run.effect(
            Kind::Persist,
            &run.line(),
            Scope::Unknown,
            Reversibility::R4,
            "changes what the guard lets through",
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::programs::check;

    #[test]
    fn agents() {
        check(
            &[
                "toolmark guard uninstall",
                "TOOLMARK_GUARD_POLICY=lax.yaml toolmark guard install",
                "~/bin/toolmark guard mcp --accept files",
                "claude --settings '{\"disableAllHooks\": true}' -p x",
                "codex -c features.hooks=false exec x",
            ],
            &["claude --dangerously-skip-permissions -p x", "codex exec --yolo x"],
            &[
                "claude --version",
                "claude -p 'rm -rf /'",
                "codex exec x",
                "toolmark guard status",
                "toolmark guard install --dry-run",
            ],
        );
    }
}
