//! Decisions about calls by the guard, identical to those of the hook.

use crate::policy::{CallPolicy, McpCall, McpRuling};
use serde_json::Value;
use toolmark_guard::facts::Disk;
use toolmark_guard::files::Opened;
use toolmark_guard::policy::CallRate;
use toolmark_guard::{Args, GuardAnswer, HookEvent, Moment};
use toolmark_pattern::is_wildcard_match;
use toolmark_session::tool_rules::{LivePast, Past};
use toolmark_shell::{Decision, FileFacts};

/// A policy that decides about calls with the guard.
#[derive(Debug)]
pub struct GuardPolicy {
    opened: Opened,
    cwd: Option<String>,
    /// Decision about calls of a tool whose definition changed.
    pub changed: Decision,
    /// Maximum call rate of each tool.
    pub rate: Option<CallRate>,
}

impl GuardPolicy {
    /// Creates a policy that uses a guard, in a directory.
    #[must_use]
    pub fn new(guard: impl Into<Opened>, cwd: Option<String>) -> Self {
        Self { opened: guard.into(), cwd, changed: Decision::Deny, rate: None }
    }

    fn decide(&self, name: &str, args: Args, past: Option<&dyn Past>) -> McpRuling {
        let mut event = HookEvent::new(Moment::Before, "mcp", name);
        event.cwd = self.cwd.as_deref().map(Into::into);
        event.args = args;
        let disk = self.cwd.as_deref().and_then(Disk::at);
        let facts = disk.as_ref().map(|disk| disk as &dyn FileFacts);
        let verdict = self.opened.verdict_after(&event, facts, past);
        let GuardAnswer { decision, rule, reason, suggestion, .. } = verdict;
        McpRuling { decision, rule, reason, details: None, suggestion }
    }
}

impl CallPolicy for GuardPolicy {
    fn tool(&self, _server: &str, _tool: &str, name: &str) -> McpRuling {
        self.decide(name, Args::None, None)
    }

    fn call(&self, call: &McpCall<'_>) -> McpRuling {
        let past = LivePast(call.earlier);
        self.decide(call.name, Args::Json(Value::clone(call.args)), Some(&past))
    }

    fn changed(&self) -> Decision {
        self.changed
    }

    fn rate(&self, name: &str) -> Option<CallRate> {
        let listed = self.opened.guard.policy().mcp().tools;
        let by_glob = || listed.iter().find(|(glob, _)| is_wildcard_match(glob, name));
        let of_tool = listed.get(name).or_else(|| by_glob().map(|(_, rate)| rate));
        of_tool.copied().or(self.rate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use toolmark_guard::Guard;

    #[test]
    fn a_call_is_decided_as_the_hook_decides() {
        let guarded = GuardPolicy::new(Guard::default(), Some("/work/project".to_owned()));
        let name = "mcp__shell__run_command";
        assert_eq!(guarded.tool("shell", "run_command", name).decision, Decision::Allow);
        for (command, want) in [("ls", Decision::Allow), ("rm -rf ~", Decision::Deny)] {
            let args = json!({"command": command});
            let call =
                McpCall { server: "shell", tool: "run_command", name, args: &args, earlier: &[] };
            let ruling = guarded.call(&call);
            let mut event = HookEvent::new(Moment::Before, "mcp", name);
            event.cwd = Some("/work/project".into());
            event.args = Args::Json(args.clone());
            let verdict = Guard::default().decide(&event, None);
            assert_eq!((ruling.decision, &ruling.reason), (verdict.decision, &verdict.reason));
            assert_eq!(ruling.decision, want, "{command}: {}", ruling.reason);
        }
    }
}
