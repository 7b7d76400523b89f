//! The sentences in which hosts say that a call was not allowed to run, and who decided so.

use crate::model::{Call, Status};
use toolmark_base::word_enum;

word_enum! {
    /// Party that kept a call from running.
    pub enum DeniedBy {
        /// The user, asked for permission.
        User = "user",
        /// A permission rule or mode of the host, or a policy.
        Rule = "rule",
        /// A model of the host that judges actions (auto mode, auto-review).
        Classifier = "classifier",
        /// A hook of the user or of a plugin.
        Hook = "hook",
        /// No verdict: the classifier was not available.
        NoVerdict = "no_verdict",
    }
}

/// A refusal, as the result of a call words it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Denial {
    /// Party that refused.
    pub by: DeniedBy,
    /// Whether the host asks for the same call again: no verdict, for now.
    pub invites_retry: bool,
}

/// One sentence of a host.
struct Sentence {
    /// Its first words; empty where a name that varies comes first.
    starts: &'static str,
    /// Words that follow on the first line.
    then: &'static str,
    by: DeniedBy,
    /// Sentence of the host, as seen in sessions.
    #[cfg_attr(not(test), expect(dead_code, reason = "documents the row and is tested"))]
    example: &'static str,
}

const fn row(
    starts: &'static str,
    then: &'static str,
    by: DeniedBy,
    example: &'static str,
) -> Sentence {
    Sentence { starts, then, by, example }
}

/// Maximum offset of the sentence in the text, in bytes. Later text is the output of a program,
/// which may contain any sentence.
const MAX_LEAD: usize = 240;

use DeniedBy::{Classifier, Hook, NoVerdict, Rule, User};

/// The sentences of Claude Code; the first that fits decides.
static CLAUDE: &[Sentence] = &[
    row(
        "The user doesn't want to proceed with this tool use",
        "",
        User,
        "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file).",
    ),
    row(
        "The user doesn't want to take this action",
        "",
        User,
        "The user doesn't want to take this action right now. STOP what you are doing.",
    ),
    row("The user declined", "", User, "The user declined to answer questions"),
    row("User rejected", "", User, "User rejected tool use"),
    row(
        "Permission for this tool use was denied",
        "",
        User,
        "Permission for this tool use was denied. The tool use was rejected.",
    ),
    row(
        "Claude requested permissions to",
        "",
        Rule,
        "Claude requested permissions to write to /p/a.rs, but you haven't granted it yet.",
    ),
    row(
        "Permission to ",
        "has been denied",
        Rule,
        "Permission to use Bash with command rm -rf x has been denied.",
    ),
    row("Permission to use", "", Rule, "Permission to use WebFetch was refused by a rule"),
    row(
        "Permission for this action was denied",
        "",
        Classifier,
        "Permission for this action was denied by the Claude Code auto mode classifier. Reason: [Production Deploy] pushes to production.",
    ),
    row(
        "Permission for this action has been denied",
        "",
        Classifier,
        "Permission for this action has been denied. Reason: it deletes data that was not named.",
    ),
    row(
        "The server-side auto mode classifier judged this action dangerous",
        "",
        Classifier,
        "The server-side auto mode classifier judged this action dangerous (it gave no explanation)",
    ),
    row(
        "Auto mode could not evaluate this action",
        "",
        NoVerdict,
        "Auto mode could not evaluate this action and is blocking it for safety",
    ),
    row(
        "The API told auto mode's safety classifier",
        "",
        NoVerdict,
        "The API told auto mode's safety classifier that the request is too large. This is a hard failure.",
    ),
    row(
        "",
        "auto mode cannot determine the safety of",
        NoVerdict,
        "claude-opus-5[1m] is temporarily unavailable, so auto mode cannot determine the safety of Bash right now. Wait briefly and then try this action again.",
    ),
    row("", " gave no verdict (", NoVerdict, "claude-opus-5 gave no verdict (timed out)."),
    row(
        "",
        "was not reviewed: ",
        NoVerdict,
        "This action was not reviewed: the classifier timed out.",
    ),
    row("PreToolUse:", "hook", Hook, "PreToolUse:Bash hook error: [guard.sh]: not on main"),
    row("PermissionRequest", "hook", Hook, "PermissionRequest hook error: no"),
    row("", "hook blocking error", Hook, "Edit hook blocking error from command: \"check.sh\": no"),
    row("", "hook error:", Hook, "Bash hook error: [check.sh]: no"),
    row("", "operation blocked by hook", Hook, "Bash operation blocked by hook:\n- [guard]: no"),
];

/// Sentences of other hosts, whose readers know that the call was refused.
static OTHERS: &[Sentence] = &[
    row(
        "",
        "rejected by user approval settings",
        Rule,
        "patch rejected: writing outside of the project; rejected by user approval settings",
    ),
    row(
        "This action was rejected due to unacceptable risk",
        "",
        Classifier,
        "This action was rejected due to unacceptable risk.\nReason: it uploads a key.",
    ),
    row("", "rejected by user", User, "exec_command failed for `rm x`: rejected by user"),
    row("", "rejected: ", Rule, "exec_command failed for `rm x`: rejected: policy forbids it"),
    row(
        "[Operation Cancelled]",
        "denied by policy",
        Rule,
        "[Operation Cancelled] Reason: denied by policy.",
    ),
    row(
        "[Operation Cancelled]",
        "User ",
        User,
        "[Operation Cancelled] Reason: User denied execution.",
    ),
    row(
        "[Operation Cancelled]",
        "did not allow",
        User,
        "[Operation Cancelled] Reason: the user did not allow it",
    ),
    row("Tool execution denied by the user", "", User, "Tool execution denied by the user."),
    row("Tool execution denied", "", Rule, "Tool execution denied by policy."),
    row("Tool execution blocked", "hook", Hook, "Tool execution blocked by a hook: no"),
    row("The user rejected", "", User, "The user rejected this tool call."),
    row("The user denied", "", User, "The user denied this operation"),
    row(
        "Permission denied and could not request permission",
        "",
        Rule,
        "Permission denied and could not request permission from user",
    ),
    row("Denied by preToolUse hook", "", Hook, "Denied by preToolUse hook: no"),
];

impl Sentence {
    /// Returns whether a line starts with the sentence.
    fn fits(&self, line: &str) -> bool {
        line.strip_prefix(self.starts).is_some_and(|rest| rest.contains(self.then))
    }
}

/// The first line of a text, as far as its first words reach.
fn lead(text: &str) -> &str {
    let line = text.trim_start().lines().next().unwrap_or_default();
    let line = line.strip_prefix("Error: ").unwrap_or(line);
    line.get(..crate::model::floor(line, MAX_LEAD)).unwrap_or(line)
}

fn find(text: &str, tables: &[&[Sentence]]) -> Option<Denial> {
    let line = lead(text);
    // The output of a command, whatever it says.
    if line.starts_with("Exit code") {
        return None;
    }
    let sentence = tables.iter().copied().flatten().find(|sentence| sentence.fits(line))?;
    let by = sentence.by;
    let invites_retry = by == NoVerdict
        && !text.contains("This is a hard failure")
        && ["try this action again", "try again", "Wait briefly"].iter().any(|w| text.contains(w));
    Some(Denial { by, invites_retry })
}

/// Returns the denial that an error of Claude Code starts with.
pub(crate) fn of_claude(error: &str) -> Option<Denial> {
    find(error, &[CLAUDE])
}

/// Returns the denial by the first words of an error; `None` if they are not a refusal of a known
/// host. Pass only the text of a call that failed or was denied.
#[must_use]
pub fn denial(error: &str) -> Option<Denial> {
    find(error, &[CLAUDE, OTHERS])
}

impl Call {
    /// Returns the party that kept the call from running; `None` if the call ran or the party is
    /// unknown.
    #[must_use]
    pub fn denied_by(&self) -> Option<DeniedBy> {
        if self.status != Status::Denied {
            return None;
        }
        let payload = self.result.as_ref()?.payload.as_ref()?;
        denial(&payload.plain()).map(|denial| denial.by)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sentence_is_what_it_is() {
        for sentence in CLAUDE {
            assert_eq!(
                of_claude(sentence.example).map(|d| d.by),
                Some(sentence.by),
                "{}",
                sentence.example
            );
        }
        for sentence in OTHERS {
            assert_eq!(
                denial(sentence.example).map(|d| d.by),
                Some(sentence.by),
                "{}",
                sentence.example
            );
        }
    }

    #[test]
    fn only_a_passing_lack_of_a_verdict_invites_to_try_again() {
        let invites = |text: &str| denial(text).is_some_and(|d| d.invites_retry);
        assert!(invites(
            "m is temporarily unavailable, so auto mode cannot determine the safety of Bash right now. Wait briefly and then try this action again."
        ));
        assert!(!invites(
            "The API told auto mode's safety classifier that it is too long. This is a hard failure: do not try again."
        ));
        assert!(!invites("Auto mode could not evaluate this action and is blocking it for safety"));
        assert!(!invites(
            "The user doesn't want to proceed with this tool use. You may try again later."
        ));
    }

    #[test]
    fn what_a_program_printed_is_no_refusal() {
        for text in [
            "Exit code 1\nPermission for this action was denied by the Claude Code auto mode classifier",
            "Exit code 1\nhusky - pre-commit hook error: lint",
            "make: *** [all] Error 1\nPermission to use x has been denied.",
            "Permission denied",
            "error: the build failed\nhook error: x",
        ] {
            assert_eq!(denial(text), None, "{text}");
        }
    }
}
