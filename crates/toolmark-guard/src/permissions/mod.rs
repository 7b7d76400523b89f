//! Permission rules of Claude Code, in the syntax of its settings files: `Bash(git push:*)`,
//! `Read(./.env)`, `mcp__server__tool`.
//!
//! They are parsed into [`PermissionRules`], which a policy can import (`import: [claude-code]`),
//! checked for rules that can never match ([`PermissionRules::findings`]), and written as a `guard:`
//! part ([`PermissionRules::translated`]). As in Claude Code, deny takes precedence over ask, and ask
//! over allow.

mod report;
mod syntax;
mod translate;

pub use report::{FindingLevel, PermissionFinding};

use crate::policy::{Base, Paths, PolicySubject, words_fit};
use serde_json::Value;
use syntax::{Mistake, Spec, parse};
use toolmark_hosts::toolset::ToolRole;
use toolmark_pattern::is_wildcard_match;
use toolmark_shell::{Coverage, Decision};

/// Location of a settings file and the base of its paths.
#[derive(Debug, Clone, Default)]
pub struct PermissionSettings {
    /// File name as displayed.
    pub file: String,
    /// Directory that `/path` is relative to: the project, or `~/.claude`.
    pub root: Option<String>,
    /// Home directory.
    pub home: Option<String>,
    /// Whether allowing rules are omitted, because the file came with a project.
    pub tightens_only: bool,
}

/// The rules of some settings files.
#[derive(Debug, Default)]
pub struct PermissionRules {
    rules: Vec<PermissionRule>,
    findings: Vec<PermissionFinding>,
}

/// One rule.
#[derive(Debug)]
struct PermissionRule {
    /// Text of the rule.
    text: String,
    file: String,
    decision: Decision,
    tool: String,
    spec: Spec,
    base: Base,
}

/// Lists of a settings file, in order of precedence.
const LISTS: [(&str, Decision); 3] =
    [("deny", Decision::Deny), ("ask", Decision::Ask), ("allow", Decision::Allow)];

/// Maximum number of rules.
const MAX_RULES: usize = 10_000;

/// Reason why a text is not a settings file.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// The text is not JSON.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// The text is not an object.
    #[error("the settings are not a JSON object")]
    NotAnObject,
    /// The permissions are not an object.
    #[error("`permissions` is not a JSON object")]
    Permissions,
    /// A list of rules has another type.
    #[error("`permissions.{0}` is not a list")]
    NotAList(&'static str),
}

impl PermissionRules {
    /// Adds the rules of a settings file.
    ///
    /// # Errors
    ///
    /// The text is not a settings file.
    pub fn add(&mut self, text: &str, settings: &PermissionSettings) -> Result<(), SettingsError> {
        let root: Value = serde_json::from_str(text)?;
        let root = root.as_object().ok_or(SettingsError::NotAnObject)?;
        let permissions = match root.get("permissions") {
            None | Some(Value::Null) => return Ok(()),
            Some(Value::Object(permissions)) => permissions,
            Some(_) => return Err(SettingsError::Permissions),
        };
        for (list, decision) in LISTS {
            if settings.tightens_only && decision == Decision::Allow {
                continue;
            }
            let items = match permissions.get(list) {
                None | Some(Value::Null) => continue,
                Some(Value::Array(items)) => items,
                Some(_) => return Err(SettingsError::NotAList(list)),
            };
            for item in items.iter().take(MAX_RULES.saturating_sub(self.rules.len())) {
                match item.as_str() {
                    Some(text) => self.add_rule(text, decision, settings),
                    None => self.findings.push(PermissionFinding::never(
                        settings,
                        decision,
                        &item.to_string(),
                        "a rule is text",
                    )),
                }
            }
        }
        Ok(())
    }

    fn add_rule(&mut self, text: &str, decision: Decision, settings: &PermissionSettings) {
        match parse(text, settings) {
            Ok((tool, spec)) => self.rules.push(PermissionRule {
                text: text.to_owned(),
                file: settings.file.clone(),
                decision,
                tool,
                spec,
                base: Base { directory: None, home: settings.home.clone() },
            }),
            Err(Mistake { words, help }) => {
                let finding = PermissionFinding::never(settings, decision, text, &words);
                self.findings.push(PermissionFinding { help, ..finding });
            }
        }
    }

    /// Returns the number of rules that could match.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rules.len()
    }

    /// Returns the number of rules in the files, including malformed ones.
    #[must_use]
    pub fn written(&self) -> usize {
        self.rules.len() + self.findings.len()
    }

    /// Whether there are no rules.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Whether any rule allows something.
    #[must_use]
    pub fn allows(&self) -> bool {
        self.rules.iter().any(|rule| rule.decision == Decision::Allow)
    }

    /// Returns the decision about a call, with the deciding rule.
    #[must_use]
    pub fn of(&self, call: &PolicySubject<'_>) -> Option<(Decision, &str)> {
        for (_, decision) in LISTS {
            let mut rules = self.rules.iter().filter(|rule| rule.decision == decision);
            if let Some(rule) = rules.find(|rule| rule.fits(call)) {
                return Some((decision, &rule.text));
            }
        }
        None
    }
}

impl PermissionRule {
    /// Whether the rule is about the tool of a call. Rules match by the role of a tool, so that
    /// they also apply to the tools of other hosts.
    fn is_about(&self, call: &PolicySubject<'_>) -> bool {
        let role = call.role();
        match self.tool.as_str() {
            "Bash" => role == ToolRole::RunsShell,
            "Read" => role == ToolRole::Reads,
            "Edit" => matches!(role, ToolRole::Edits | ToolRole::Writes | ToolRole::Patches),
            "WebFetch" if matches!(self.spec, Spec::Domain(_)) => role == ToolRole::FetchesWeb,
            tool => call.names().iter().any(|name| is_wildcard_match(tool, name)),
        }
    }

    fn fits(&self, call: &PolicySubject<'_>) -> bool {
        let session = call.event.cwd.as_deref();
        match &self.spec {
            Spec::Whole => self.is_about(call),
            Spec::Command(words) => self.is_about(call) && self.fits_command(words, call),
            Spec::Path { paths, .. } => match self.decision {
                Decision::Allow => self.is_about(call) && self.all_paths(paths, call, session),
                // A shell reads and writes files too.
                Decision::Ask | Decision::Deny => self.any_path(paths, call, session),
            },
            Spec::Domain(domain) => {
                let args = call.args();
                let url = args.get("url").and_then(Value::as_str).and_then(host_of);
                self.is_about(call) && url.is_some_and(|host| is_in(&host, domain))
            }
        }
    }

    fn fits_command(&self, words: &str, call: &PolicySubject<'_>) -> bool {
        let Some(text) = call.command() else { return false };
        let lines = call.lines();
        match self.decision {
            Decision::Allow => {
                let complete = call.analysis.is_some_and(|j| j.coverage == Coverage::Complete);
                complete
                    && !lines.is_empty()
                    && !call.redirects()
                    && lines.iter().all(|line| words_fit(words, line))
            }
            Decision::Ask | Decision::Deny => {
                words_fit(words, &text) || call.spellings().any(|line| words_fit(words, &line))
            }
        }
    }

    fn any_path(&self, paths: &Paths, call: &PolicySubject<'_>, session: Option<&str>) -> bool {
        match self.tool.as_str() {
            "Read" => call.read().iter().any(|p| paths.hold(p, &self.base, session).is_some()),
            _ => call.written().iter().any(|p| paths.stop(p, &self.base, session).is_some()),
        }
    }

    fn all_paths(&self, paths: &Paths, call: &PolicySubject<'_>, session: Option<&str>) -> bool {
        match self.tool.as_str() {
            "Read" => {
                let read = call.read();
                !read.is_empty()
                    && read.iter().all(|p| paths.hold(p, &self.base, session).is_some())
            }
            _ => {
                let written = call.written();
                !written.is_empty()
                    && written.iter().all(|p| paths.stop(p, &self.base, session).is_some())
            }
        }
    }
}

/// Returns the host of an address.
fn host_of(url: &str) -> Option<String> {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#', '\\']).next()?;
    let host = authority.rsplit('@').next()?;
    let host = match host.strip_prefix('[') {
        Some(v6) => v6.split(']').next()?,
        None => host.split(':').next()?,
    };
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    (!host.is_empty()).then_some(host)
}

/// Whether a host is the domain, or matches its wildcard.
fn is_in(host: &str, domain: &str) -> bool {
    is_wildcard_match(domain, host)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use toolmark_hosts::toolset::Toolsets;
    use toolmark_hosts::{Args, HookEvent, Moment};
    use toolmark_session::effects::ToolInput;
    use toolmark_shell::ShellContext;
    use toolmark_trace::ToolName;

    pub(super) fn read(settings: Value) -> PermissionRules {
        let mut permissions = PermissionRules::default();
        let place = PermissionSettings {
            file: "settings.json".into(),
            root: Some("/work/app".into()),
            home: Some("/home/me".into()),
            tightens_only: false,
        };
        permissions.add(&settings.to_string(), &place).unwrap();
        permissions
    }

    fn said(
        permissions: &PermissionRules,
        host: &str,
        tool: &str,
        args: Value,
    ) -> Option<Decision> {
        let mut event = HookEvent::new(Moment::Before, host, tool);
        event.args = Args::Json(args);
        event.cwd = Some("/work/app/sub".into());
        let toolsets = Toolsets::default();
        let name = ToolName::new(tool);
        let tool = toolsets.tool_of(host, &name);
        let input = ToolInput {
            name: event.tool.as_ref().into(),
            tool,
            args: (&event.args).into(),
            cwd: event.cwd.as_deref(),
        };
        let analysis = input.analyze(&ShellContext::default());
        let call = PolicySubject::new(&event, tool, analysis.as_ref());
        permissions.of(&call).map(|(decision, _)| decision)
    }

    #[test]
    fn commands() {
        let permissions = read(json!({"permissions": {
            "allow": ["Bash(npm run *)", "Bash(git status)", "Bash(git push:*)"],
            "ask": ["Bash(git push:*)"],
            "deny": ["Bash(curl:*)", "Bash(git push --force:*)"]
        }}));
        for (command, want) in [
            ("npm run build", Some(Decision::Allow)),
            ("npm run", Some(Decision::Allow)),
            ("npm runx", None),
            ("npm run build && npm run test", Some(Decision::Allow)),
            ("npm run build && rm -rf /", None),
            ("npm run build > /etc/passwd", None),
            ("git status", Some(Decision::Allow)),
            ("git status -s", None),
            ("git push origin", Some(Decision::Ask)),
            ("git push --force x", Some(Decision::Deny)),
            ("curl x", Some(Decision::Deny)),
            ("/usr/bin/curl x", Some(Decision::Deny)),
            ("bash -c 'curl x'", Some(Decision::Deny)),
            ("ls | curl x", Some(Decision::Deny)),
            ("curlx", None),
        ] {
            let args = json!({ "command": command });
            assert_eq!(said(&permissions, "claude-code", "Bash", args.clone()), want, "{command}");
            assert_eq!(said(&permissions, "gemini-cli", "run_shell_command", args), want);
        }
    }

    #[test]
    fn files_addresses_and_servers() {
        let permissions = read(json!({"permissions": {
            "allow": ["Edit(/src/**)", "WebFetch(domain:*.example.org)", "mcp__fs__read"],
            "deny": ["Read(./.env)", "Read(secrets/**)", "Edit(//etc/**)", "Edit(~/.zshrc)",
                "WebFetch(domain:evil.com)", "mcp__db", "Read(*.pem)"]
        }}));
        let read = |path: &str| ("Read", json!({ "file_path": path }));
        let edit =
            |path: &str| ("Edit", json!({"file_path": path, "old_string": "a", "new_string": "b"}));
        let fetch = |url: &str| ("WebFetch", json!({"url": url, "prompt": "x"}));
        let bash = |command: &str| ("Bash", json!({ "command": command }));
        let deny = Some(Decision::Deny);
        let allow = Some(Decision::Allow);
        for ((tool, args), want) in [
            (read("/work/app/sub/.env"), deny),
            (read("/work/app/.env"), None),
            (read("secrets/a/b"), deny),
            (read("x/y/key.pem"), deny),
            (bash("cat secrets/a"), deny),
            (bash("cat .env"), deny),
            (edit("/etc/hosts"), deny),
            (edit("/work/app/src/a.rs"), allow),
            (edit("/work/app/lib/a.rs"), None),
            (bash("echo x >> ~/.zshrc"), deny),
            (fetch("https://evil.com/x"), deny),
            (fetch("https://evil.com:8443"), deny),
            (fetch("https://user@evil.com/"), deny),
            (fetch("https://notevil.com/"), None),
            (fetch("https://docs.example.org/a"), allow),
            (("mcp__db__query", json!({})), deny),
            (("mcp__dbx__query", json!({})), None),
            (("mcp__fs__read", json!({})), allow),
        ] {
            assert_eq!(
                said(&permissions, "claude-code", tool, args.clone()),
                want,
                "{tool} {args}"
            );
        }
    }

    #[test]
    fn files_that_are_no_settings() {
        for text in ["", "[]", "{\"permissions\": []}", "{\"permissions\": {\"deny\": \"Bash\"}}"] {
            let mut permissions = PermissionRules::default();
            assert!(permissions.add(text, &PermissionSettings::default()).is_err(), "{text}");
        }
        let mut permissions = PermissionRules::default();
        permissions.add("{\"model\": \"x\"}", &PermissionSettings::default()).unwrap();
        assert!(permissions.is_empty());
        let untrusted = PermissionSettings { tightens_only: true, ..PermissionSettings::default() };
        let both = r#"{"permissions": {"allow": ["Bash"], "ask": ["Read"]}}"#;
        permissions.add(both, &untrusted).unwrap();
        assert_eq!((permissions.len(), permissions.allows()), (1, false));
    }
}
