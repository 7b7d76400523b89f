//! Review of a call that has run: a failure hidden by its exit code, a secret in its output. The
//! call can no longer be stopped; the agent is informed.

use std::borrow::Cow;
use toolmark_hosts::GuardAnswer;
use toolmark_hosts::HookEvent;
use toolmark_redact::{Proof, secrets};
use toolmark_session::effects::ToolInput;
use toolmark_session::hidden_failure;
use toolmark_shell::Decision;

/// Maximum number of secrets named.
const MAX_SECRETS: usize = 4;

/// Reviews a call that has run and returns a verdict with a message for the agent if there is a
/// finding.
pub(crate) fn look_back(event: &HookEvent<'_>, input: &ToolInput<'_>) -> GuardAnswer {
    let mut words = Vec::new();
    let mut rules = Vec::new();
    if let Some(result) = event.result.as_deref() {
        if event.failed != Some(true)
            && let Some(command) = input.command()
            && let Some(masked) = hidden_failure::find_in(&command, || Some(Cow::Borrowed(result)))
        {
            rules.push("masked-failure");
            words.push(format!("the exit code hides a failure: {}", masked.line));
        }
        let found = secrets(result, Proof::Certain, MAX_SECRETS);
        if !found.is_empty() {
            rules.push("secret-in-output");
            let named =
                found.iter().map(|secret| format!("{} {}", secret.what, secret.masked(result)));
            let named = named.collect::<Vec<_>>().join(", ");
            words.push(format!(
                "the output shows a secret ({named}): do not repeat it, store it or send it, \
                 and tell the user that it should be replaced"
            ));
        }
    }
    if words.is_empty() {
        return GuardAnswer::allow();
    }
    let reason = words.join("; ");
    let mut verdict = GuardAnswer::new(Decision::Allow, rules.join(","), reason.clone());
    verdict.context = Some(format!("toolmark guard: {reason}"));
    verdict
}
