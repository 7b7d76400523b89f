//! Lists of tools that may be called, and that may not.

use super::call::PolicySubject;
use schemars::JsonSchema;
use serde::Deserialize;
use toolmark_config::{Problem, Spanned, quoted};
use toolmark_pattern::is_wildcard_match;

/// Tools that may be called, by name or glob.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "GuardTools")]
pub(super) struct ToolsEntry {
    /// The only tools that may be called.
    allow: Option<Spanned<Vec<Spanned<String>>>>,
    /// Tools that may not be called.
    deny: Vec<Spanned<String>>,
}

impl ToolsEntry {
    /// Whether no list is set.
    pub(super) fn is_empty(&self) -> bool {
        self.allow.is_none() && self.deny.is_empty()
    }
}

/// Names and globs of tools.
#[derive(Debug, Clone, Default)]
pub(super) struct Tools {
    /// The only tools that may be called, if set.
    pub(super) allow: Option<Vec<String>>,
    /// Tools that may not be called.
    pub(super) deny: Vec<String>,
}

/// Result of the lists for a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ListResult<'t> {
    /// The lists do not name the tool.
    No,
    /// The tool is on the list of allowed tools.
    Allowed,
    /// The tool is on the list of denied tools.
    Denied(&'t str),
    /// A list of allowed tools exists and the tool is not on it.
    Missing,
}

impl Tools {
    pub(super) fn read(written: ToolsEntry, problems: &mut Vec<Problem>) -> Self {
        if let Some(list) = written.allow.as_ref().filter(|list| list.value.is_empty()) {
            let message = "the list of allowed tools is empty, so every tool is denied";
            problems.push(Problem::warning("empty-list", message).at(list.span));
        }
        let deny = named(written.deny, problems);
        let allow: Option<Vec<String>> = written.allow.map(|list| {
            let shadowed = |word: &Spanned<String>| {
                let by = deny.iter().find(|deny| is_wildcard_match(deny, &word.value));
                by.map(|by| {
                    let message = format!("{} is denied by {}", quoted(&word.value), quoted(by));
                    Problem::warning("never-applies", message).at(word.span)
                })
            };
            problems.extend(list.value.iter().filter_map(shadowed));
            named(list.value, problems)
        });
        Self { allow, deny }
    }

    pub(super) fn of(&self, call: &PolicySubject<'_>) -> ListResult<'_> {
        let names = call.names();
        let fits = |pattern: &&String| names.iter().any(|name| is_wildcard_match(pattern, name));
        if let Some(pattern) = self.deny.iter().find(fits) {
            return ListResult::Denied(pattern);
        }
        match &self.allow {
            None => ListResult::No,
            Some(list) if list.iter().any(|pattern| fits(&pattern)) => ListResult::Allowed,
            Some(_) => ListResult::Missing,
        }
    }

    /// Returns why no tool matching this name or glob can be called.
    pub(super) fn shut_out(&self, word: &str) -> Option<String> {
        if let Some(by) = self.deny.iter().find(|deny| is_wildcard_match(deny, word)) {
            return Some(format!("{} in `tools.deny` matches its tool", quoted(by)));
        }
        let missing = |list: &Vec<String>| {
            !list
                .iter()
                .any(|allow| is_wildcard_match(allow, word) || is_wildcard_match(word, allow))
        };
        // Whether some name matches two globs cannot be determined.
        let plain = |list: &Vec<String>| !list.iter().any(|allow| allow.contains(['*', '?', '/']));
        let is_plain = !word.contains(['*', '?', '/']);
        let list = self.allow.as_ref().filter(|list| is_plain || plain(list));
        let missing = list.is_some_and(missing);
        missing.then(|| "its tool is not in `tools.allow`".to_owned())
    }
}

fn named(list: Vec<Spanned<String>>, problems: &mut Vec<Problem>) -> Vec<String> {
    let mut names = Vec::new();
    for word in list {
        match unusable(&word.value) {
            None => names.push(word.value),
            Some((why, help)) => {
                let message = format!("invalid tool name {}: {why}", quoted(&word.value));
                let problem = Problem::error("invalid-tool", message).at(word.span);
                problems.push(match help {
                    Some(help) => problem.help(help),
                    None => problem,
                });
            }
        }
    }
    names
}

/// Returns why a pattern can never match a tool.
fn unusable(pattern: &str) -> Option<(String, Option<String>)> {
    if pattern.is_empty() {
        return Some(("it is empty".to_owned(), None));
    }
    if let Some((tool, _)) = pattern.split_once('(') {
        let help = format!(
            "write {} here, and its arguments as a rule under `rules`",
            quoted(tool.trim())
        );
        return Some(("it contains a parenthesis".to_owned(), Some(help)));
    }
    let bad = pattern.chars().find(|c| {
        !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | ':' | '*' | '?' | '@' | '+'))
    })?;
    let words = match bad {
        c if c.is_whitespace() => "it contains a space".to_owned(),
        c => format!("it contains {c:?}"),
    };
    Some((words, None))
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolmark_hosts::{HookEvent, Moment};

    fn tools(json: serde_json::Value) -> (Tools, Vec<String>) {
        let mut problems = Vec::new();
        let node = toolmark_config::Node::from_json(&json).unwrap();
        let written = toolmark_config::read(&node, &mut problems).unwrap();
        let tools = Tools::read(written, &mut problems);
        (tools, problems.iter().map(|p| format!("{}: {}", p.code, p.message)).collect())
    }

    #[test]
    fn names_and_globs() {
        let lists = serde_json::json!({
            "allow": ["Bash", "Read", "github/get_*", "mcp__fs__*"], "deny": ["*__delete_*", "Web*"]
        });
        let (tools, problems) = tools(lists);
        assert_eq!(problems, [""; 0]);
        for (name, want) in [
            ("Bash", ListResult::Allowed),
            ("bash", ListResult::Missing),
            ("BashOutput", ListResult::Missing),
            ("mcp__github__get_issue", ListResult::Allowed),
            ("github__get_issue", ListResult::Allowed),
            ("mcp__github__list", ListResult::Missing),
            ("mcp__fs__read", ListResult::Allowed),
            ("fs__read", ListResult::Allowed),
            ("mcp__fs__delete_file", ListResult::Denied("*__delete_*")),
            ("fs__delete_file", ListResult::Denied("*__delete_*")),
            ("WebFetch", ListResult::Denied("Web*")),
        ] {
            let event = HookEvent::new(Moment::Before, "plain", name);
            assert_eq!(tools.of(&PolicySubject::new(&event, None, None)), want, "{name}");
        }
    }

    #[test]
    fn mistakes() {
        for (lists, want) in [
            (serde_json::json!({"deny": ["Bash("]}), "invalid-tool"),
            (serde_json::json!({"deny": ["Bash(rm:*)"]}), "invalid-tool"),
            (serde_json::json!({"deny": [""]}), "invalid-tool"),
            (serde_json::json!({"deny": ["a b"]}), "invalid-tool"),
            (serde_json::json!({"allow": []}), "empty-list"),
            (serde_json::json!({"allow": ["Bash"], "deny": ["B*"]}), "never-applies"),
        ] {
            let (_, problems) = tools(lists.clone());
            assert!(problems.first().is_some_and(|p| p.starts_with(want)), "{lists} {problems:?}");
        }
    }
}
