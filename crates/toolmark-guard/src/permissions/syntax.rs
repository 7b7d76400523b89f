//! The syntax of one permission rule: a tool and its specifier.

use super::PermissionSettings;
use crate::policy::Paths;
use toolmark_config::did_you_mean;
use toolmark_hosts::toolset::builtin;

/// Condition of a rule besides its tool.
#[derive(Debug)]
pub(super) enum Spec {
    /// No condition.
    Whole,
    /// The words of a command, `*` for any text.
    Command(String),
    /// A file pattern.
    Path {
        /// Pattern in the form that a policy matches.
        paths: Paths,
        /// The same pattern, as text for a policy file.
        pattern: String,
    },
    /// The host of an address.
    Domain(String),
}

/// Reason why a rule can never match.
#[derive(Debug)]
pub(super) struct Mistake {
    pub(super) words: String,
    pub(super) help: Option<String>,
}

impl Mistake {
    fn new(words: impl Into<String>) -> Self {
        Self { words: words.into(), help: None }
    }

    fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// Tools whose rules with a path are accepted but ignored, each with the tool whose rules apply.
const NEVER_ASKED: &[(&str, &str)] = &[
    ("Write", "Edit"),
    ("MultiEdit", "Edit"),
    ("NotebookEdit", "Edit"),
    ("Glob", "Read"),
    ("Grep", "Read"),
    ("LS", "Read"),
    ("NotebookRead", "Read"),
];

/// Tools of the host that its rules may name besides those of the toolset.
const OTHER_TOOLS: &[&str] = &["Agent", "Task", "Skill", "SlashCommand", "MCP", "PowerShell"];

/// Parses a rule into its tool and its specifier.
pub(super) fn parse(text: &str, settings: &PermissionSettings) -> Result<(String, Spec), Mistake> {
    let (tool, inside) = match text.split_once('(') {
        None => (text, None),
        Some((tool, rest)) => match rest.strip_suffix(')') {
            Some(inside) => (tool, Some(inside)),
            None => return Err(Mistake::new("the parenthesis is not closed at the end")),
        },
    };
    if tool.is_empty() {
        return Err(Mistake::new("it names no tool"));
    }
    if tool.contains(char::is_whitespace) || tool.contains(')') {
        return Err(Mistake::new("no tool has such a name").help("write Tool or Tool(…)"));
    }
    if let Some(rest) = tool.strip_prefix("mcp__") {
        return of_server(rest, inside);
    }
    if tool != "*" {
        known(tool)?;
    }
    let Some(inside) = inside else { return Ok((tool.to_owned(), Spec::Whole)) };
    if inside.trim().is_empty() {
        return Err(Mistake::new("there is nothing in the parentheses")
            .help(format!("for every call write {tool}")));
    }
    if let Some((_, instead)) = NEVER_ASKED.iter().find(|(name, _)| *name == tool) {
        return Err(Mistake::new(format!("rules of {tool} with a path are never looked at"))
            .help(format!("write {instead}({inside})")));
    }
    let spec = match tool {
        "Bash" => command(inside)?,
        "Read" | "Edit" => path(inside, settings)?,
        "WebFetch" => domain(inside)?,
        // Other tools interpret the text in their own way, which the call does
        // not show.
        _ => {
            return Err(Mistake::new(format!(
                "what {tool} is given cannot be compared with {inside}"
            ))
            .help(format!("for every call write {tool}")));
        }
    };
    Ok((tool.to_owned(), spec))
}

fn of_server(rest: &str, inside: Option<&str>) -> Result<(String, Spec), Mistake> {
    if inside.is_some() {
        return Err(Mistake::new("rules about tools of servers take nothing in parentheses"));
    }
    let name = match rest.split_once("__") {
        None if rest.is_empty() => return Err(Mistake::new("it names no server")),
        Some(("", _)) => return Err(Mistake::new("it names no server")),
        Some((server, "")) => {
            return Err(Mistake::new("it names no tool").help(format!("write mcp__{server}")));
        }
        // The whole server.
        None if rest == "*" => "mcp__*".to_owned(),
        None => format!("mcp__{rest}__*"),
        Some(_) => format!("mcp__{rest}"),
    };
    Ok((name, Spec::Whole))
}

fn known(tool: &str) -> Result<(), Mistake> {
    let host = builtin("claude-code");
    let is_known = host.is_some_and(|host| host.tool(tool).is_some())
        || OTHER_TOOLS.contains(&tool)
        || NEVER_ASKED.iter().any(|(name, _)| *name == tool);
    if is_known {
        return Ok(());
    }
    let names = host.into_iter().flat_map(|host| host.tools.iter().map(|tool| &*tool.name));
    let mistake = Mistake::new(format!("there is no tool {tool}"));
    Err(match did_you_mean(tool, names.chain(OTHER_TOOLS.iter().copied())) {
        Some(near) => mistake.help(format!("did you mean {near}?")),
        None => mistake,
    })
}

fn command(inside: &str) -> Result<Spec, Mistake> {
    if let Some(prefix) = inside.strip_suffix(":*") {
        return match prefix.trim() {
            "" => Err(Mistake::new("the prefix is empty").help("for every command write Bash")),
            prefix => Ok(Spec::Command(format!("{prefix} *"))),
        };
    }
    if let Some((before, after)) = inside.split_once(":*") {
        return Err(Mistake::new("`:*` counts only at the end; here it is a colon and a star")
            .help(format!("write Bash({before} *{after})")));
    }
    if inside.trim() == "*" {
        return Ok(Spec::Whole);
    }
    Ok(Spec::Command(inside.to_owned()))
}

fn path(inside: &str, settings: &PermissionSettings) -> Result<Spec, Mistake> {
    let text = inside.trim();
    let pattern = match (text.strip_prefix("//"), text.strip_prefix('/')) {
        (Some(rest), _) => format!("/{rest}"),
        (None, Some(rest)) => match &settings.root {
            Some(root) => format!("{}/{rest}", root.trim_end_matches('/')),
            None => format!("./{rest}"),
        },
        (None, None) => text.to_owned(),
    };
    if pattern == "**" || pattern == "*" {
        return Ok(Spec::Whole);
    }
    let mut problems = Vec::new();
    let paths = Paths::read(vec![pattern.clone().into()], &mut problems);
    match problems.into_iter().next() {
        Some(problem) => Err(Mistake::new(problem.message)),
        None => Ok(Spec::Path { paths, pattern }),
    }
}

fn domain(inside: &str) -> Result<Spec, Mistake> {
    let Some(domain) = inside.strip_prefix("domain:") else {
        return Err(Mistake::new("rules of WebFetch are about a domain")
            .help(format!("write WebFetch(domain:{})", inside.trim_start_matches("https://"))));
    };
    let domain = domain.trim().to_ascii_lowercase();
    let good = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '*');
    if domain.is_empty() || !domain.chars().all(good) {
        return Err(Mistake::new("a domain is a name such as example.org, without a path"));
    }
    Ok(Spec::Domain(domain))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_that_can_never_match() {
        for (text, words) in [
            ("", "names no tool"),
            ("Bash(", "not closed"),
            ("Bash(ls) x", "not closed"),
            ("Bash()", "nothing in the parentheses"),
            ("Bash(:*)", "prefix is empty"),
            ("Bash(git:* push)", "only at the end"),
            ("bash", "there is no tool bash"),
            ("Bsh(ls)", "there is no tool Bsh"),
            ("Write(src/**)", "never looked at"),
            ("Glob(**)", "never looked at"),
            ("WebFetch(https://x.org)", "about a domain"),
            ("WebFetch(domain:x.org/a)", "without a path"),
            ("mcp__db__query(x)", "nothing in parentheses"),
            ("mcp__", "names no server"),
            ("mcp____x", "names no server"),
            ("mcp__db__", "names no tool"),
            ("Read(!x)", "cannot start with `!`"),
            ("Git push", "no tool has such a name"),
        ] {
            let mistake = parse(text, &PermissionSettings::default()).unwrap_err();
            assert!(mistake.words.contains(words), "{text}: {}", mistake.words);
        }
    }

    #[test]
    fn rules_that_can() {
        for text in [
            "Bash",
            "Bash(*)",
            "Bash(npm run test:*)",
            "Bash(git * main)",
            "Read(./.env)",
            "Read(**)",
            "Edit(//etc/**)",
            "WebFetch",
            "WebFetch(domain:*.example.org)",
            "mcp__db",
            "mcp__db__*",
            "mcp__db__query",
            "Write",
            "Task",
        ] {
            assert!(parse(text, &PermissionSettings::default()).is_ok(), "{text}");
        }
    }
}
