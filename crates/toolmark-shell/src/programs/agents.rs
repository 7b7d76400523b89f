//! Other agents started from a command: the switches that turn off their permission checks.

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

#[cfg(test)]
mod tests {
    use crate::programs::check;

    #[test]
    fn agents() {
        check(
            &[],
            &["claude --dangerously-skip-permissions -p x", "codex exec --yolo x"],
            &["claude --version", "claude -p 'rm -rf /'", "codex exec x"],
        );
    }
}
