//! Tool names: as written in the trace, and in a form that is the same for all hosts.

use super::text::Text;
use std::borrow::Cow;

/// The name of a tool in a trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolName {
    /// The name as written in the trace.
    pub original: Text,
    /// Namespace or MCP server with its separator, if the trace states it separately. Some names
    /// repeat it (Copilot), some do not (Codex).
    pub namespace: Option<Text>,
}

/// A tool name split into server and tool, without the text that hosts add.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Canonical {
    /// The MCP server or connector, if the tool comes from one.
    pub server: Option<String>,
    /// Name of the tool itself.
    pub tool: String,
}

impl ToolName {
    /// Creates a name without a namespace.
    #[must_use]
    pub fn new(original: impl Into<Text>) -> Self {
        Self { original: original.into(), namespace: None }
    }

    /// Creates a name that the source may lack, in which case it is empty.
    #[must_use]
    pub fn or_empty(original: Option<Text>) -> Self {
        Self::new(original.unwrap_or_else(|| Text::owned("")))
    }

    /// Returns the name as in the trace, prefixed with a separate namespace.
    #[must_use]
    pub fn full(&self) -> Cow<'_, str> {
        let original = self.original.get();
        match &self.namespace {
            Some(namespace) if !original.starts_with(&*namespace.get()) => {
                Cow::Owned(format!("{namespace}{original}"))
            }
            _ => original,
        }
    }

    /// Splits off MCP prefixes, namespaces and the wrappers that hosts add.
    #[must_use]
    pub fn canonical(&self) -> Canonical {
        let original = self.original.get();
        let mut name: &str = &original;
        if let Some(rest) = name.strip_prefix("functions.") {
            name = rest;
        }
        // Pydantic AI names the span of a tool so.
        if let Some(rest) = name.strip_prefix("running tool: ") {
            name = rest;
        }
        // Separators in names; most names have none.
        let is_joined = name.as_bytes().windows(2).any(|pair| pair == b"__");
        // VS Code appends its own id of the tool.
        if is_joined && let Some((bare, _)) = name.split_once("__vscode-") {
            name = bare;
        }
        if let Some(namespace) = &self.namespace {
            let namespace = namespace.get();
            let server = namespace.strip_prefix("mcp__").unwrap_or(&namespace);
            let name = name.strip_prefix(&*namespace).unwrap_or(name);
            return Canonical {
                server: Some(server.trim_end_matches("__").trim_end_matches('-').to_owned()),
                tool: name.trim_start_matches('_').to_owned(),
            };
        }
        let split = match name.strip_prefix("mcp__") {
            _ if !is_joined => None,
            Some(rest) => rest.split_once("__"),
            None => name.split_once("__"),
        };
        match split {
            Some((server, tool)) if !server.is_empty() && !tool.is_empty() => {
                Canonical { server: Some(server.to_owned()), tool: tool.to_owned() }
            }
            _ => Canonical { server: None, tool: name.to_owned() },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canonical_forms() {
        for (original, namespace, server, tool) in [
            ("Bash", None, None, "Bash"),
            ("mcp__github__get_issue", None, Some("github"), "get_issue"),
            ("github__get_issue", None, Some("github"), "get_issue"),
            ("_fetch_pr", Some("mcp__codex_apps__github"), Some("codex_apps__github"), "fetch_pr"),
            ("get_issue", Some("github-"), Some("github"), "get_issue"),
            ("azure-mcp-plan", Some("azure-mcp-"), Some("azure-mcp"), "plan"),
            ("functions.exec", None, None, "exec"),
            ("run_in_terminal__vscode-3", None, None, "run_in_terminal"),
            ("__init", None, None, "__init"),
            ("running tool: get_pun", None, None, "get_pun"),
        ] {
            let name = ToolName { original: original.into(), namespace: namespace.map(Into::into) };
            let canonical = name.canonical();
            assert_eq!(canonical.server.as_deref(), server, "{original}");
            assert_eq!(canonical.tool, tool, "{original}");
        }
    }
}
