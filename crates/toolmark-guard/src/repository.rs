//! Contents of a repository that act on an agent: settings that switch hooks off, hooks, plugins,
//! skills, agents and commands that run programs. They are named at the start of a session, before
//! they take effect unnoticed.

use serde_json::Value;
use std::fmt;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use toolmark_hosts::{GuardAnswer, HookEvent};
use toolmark_redact::Redactor;
use toolmark_shell::Decision;

/// Maximum number of files that are read.
const MAX_FILES: usize = 200;
/// Maximum number of bytes read of a file.
const MAX_BYTES: u64 = 256 << 10;
/// Maximum number of findings named at the start of a session.
const MAX_NAMED: usize = 8;
/// Maximum number of names listed in a finding.
const MAX_LISTED: usize = 5;
/// Programs of the guard.
const OWN: &[&str] = &["toolmark", "toolmark-hook", "toolmark.exe", "toolmark-hook.exe"];
/// Keys whose value is a command.
const COMMANDS: &[&str] = &[
    "/apiKeyHelper",
    "/statusLine/command",
    "/awsAuthRefresh",
    "/awsCredentialExport",
    "/otelHeadersHelper",
    "/fileSuggestion/command",
];
/// Variables that change which programs run, or where the guard and the host look for settings.
const VARIABLES: &[&str] = &[
    "HOME",
    "PATH",
    "BASH_ENV",
    "ENV",
    "ZDOTDIR",
    "LD_PRELOAD",
    "NODE_OPTIONS",
    "PYTHONPATH",
    "GIT_SSH_COMMAND",
    "ANTHROPIC_BASE_URL",
    "CLAUDE_CONFIG_DIR",
    "OPENAI_BASE_URL",
];

/// One thing that a repository brings along.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Brought {
    /// Id of the host that uses it.
    pub host: &'static str,
    /// Path of the file, relative to the repository.
    pub file: String,
    /// Its effect, as a phrase: "runs hooks".
    pub what: String,
}

impl fmt::Display for Brought {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, which {}", self.file, self.what)
    }
}

/// Settings files in JSON, by host.
const SETTINGS: &[(&str, &str)] = &[
    ("claude-code", ".claude/settings.json"),
    ("claude-code", ".claude/settings.local.json"),
    ("gemini-cli", ".gemini/settings.json"),
    ("copilot-cli", ".github/copilot/settings.json"),
    ("copilot-cli", ".github/copilot/settings.local.json"),
    ("cursor", ".cursor/hooks.json"),
    ("codex", ".codex/hooks.json"),
];

/// Directories with files that run programs, by host.
const DIRECTORIES: &[(&str, &str, Kind)] = &[
    ("claude-code", ".claude/skills", Kind::Markdown),
    ("claude-code", ".claude/agents", Kind::Markdown),
    ("claude-code", ".claude/commands", Kind::Markdown),
    ("copilot-cli", ".github/hooks", Kind::Hooks),
    ("opencode", ".opencode/plugin", Kind::Code),
    ("opencode", ".opencode/plugins", Kind::Code),
    ("pi", ".pi/extensions", Kind::Code),
];

/// Kind of the files in a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Markdown,
    Hooks,
    Code,
}

/// Returns the note about the repository at the start of a session.
pub(crate) fn at_start(event: &HookEvent<'_>) -> GuardAnswer {
    let Some(cwd) = event.cwd.as_deref().map(Path::new).filter(|cwd| cwd.is_absolute()) else {
        return GuardAnswer::allow();
    };
    let root = cwd.ancestors().find(|at| at.join(".git").exists()).unwrap_or(cwd);
    let found = brought(root);
    if found.is_empty() {
        return GuardAnswer::allow();
    }
    let mut words: Vec<String> = found.iter().take(MAX_NAMED).map(ToString::to_string).collect();
    if found.len() > MAX_NAMED {
        words.push(format!("{} more", found.len() - MAX_NAMED));
    }
    let reason = format!("this repository brings along {}", words.join("; "));
    let reason = String::from(Redactor::new(true).apply(reason));
    let mut verdict = GuardAnswer::new(Decision::Allow, "repository", reason.clone());
    verdict.context = Some(format!("toolmark guard: {reason}"));
    verdict
}

/// Returns what a repository brings along, in a fixed order.
#[must_use]
pub fn brought(root: &Path) -> Vec<Brought> {
    let mut found = Vec::new();
    for (host, file) in SETTINGS {
        let Some(text) = read(&root.join(file)) else { continue };
        let mut add = |what: String| {
            found.push(Brought { host, file: (*file).to_owned(), what });
        };
        match serde_json::from_str::<Value>(text.trim_start_matches('\u{feff}')) {
            Ok(settings) => settings_of(&settings, root, &mut add),
            Err(_) if says_off(&text) => add("may switch all hooks off".to_owned()),
            Err(_) => {}
        }
    }
    if let Some(text) = read(&root.join(".codex/config.toml")) {
        let mut add = |what: &str| {
            let file = ".codex/config.toml".to_owned();
            found.push(Brought { host: "codex", file, what: what.to_owned() });
        };
        let lines = || text.lines().map(|line| line.replace([' ', '\t'], ""));
        if lines().any(|line| line.starts_with("hooks=false")) {
            add("switches all hooks off");
        }
        if lines().any(|line| line.starts_with("[[hooks.") || line.starts_with("[hooks.")) {
            add("runs hooks");
        }
    }
    for (host, directory, kind) in DIRECTORIES {
        for path in files_below(&root.join(directory)) {
            let relative = path.strip_prefix(root).unwrap_or(&path).display().to_string();
            for what in what_it_runs(&path, *kind) {
                found.push(Brought { host, file: relative.clone(), what });
            }
        }
    }
    found
}

/// Returns what a repository brings along for one host.
#[must_use]
pub fn of_host(all: &[Brought], host: &str) -> Vec<String> {
    all.iter().filter(|found| found.host == host).map(ToString::to_string).collect()
}

fn says_off(text: &str) -> bool {
    text.contains("disableAllHooks") || text.contains("hooksConfig")
}

/// Names what settings switch off or run.
fn settings_of(settings: &Value, root: &Path, add: &mut impl FnMut(String)) {
    let is = |at: &str, value: bool| settings.pointer(at).and_then(Value::as_bool) == Some(value);
    if is("/disableAllHooks", true) || is("/hooksConfig/enabled", false) {
        add("switches all hooks off".to_owned());
    }
    let names = |at: &str| match settings.pointer(at) {
        Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).collect(),
        Some(Value::Object(map)) => map.keys().map(String::as_str).collect(),
        _ => Vec::new(),
    };
    let disabled = names("/hooksConfig/disabled");
    if !disabled.is_empty() {
        add(format!("switches hooks off: {}", list(&disabled)));
    }
    let hooks = settings.get("hooks").and_then(Value::as_object);
    let foreign = hooks.into_iter().flatten().filter(|(_, groups)| !is_own(groups, root));
    let foreign: Vec<&str> = foreign.map(|(event, _)| event.as_str()).collect();
    if !foreign.is_empty() {
        add(format!("runs hooks: {}", list(&foreign)));
    }
    let plugins = names("/enabledPlugins");
    if !plugins.is_empty() {
        add(format!("enables plugins: {}", list(&plugins)));
    }
    let mode = settings.pointer("/permissions/defaultMode").and_then(Value::as_str);
    if let Some(mode) = mode.filter(|mode| !matches!(*mode, "default" | "plan" | "manual")) {
        add(format!("sets the permission mode {}", clean(mode)));
    }
    for at in COMMANDS.iter().filter(|at| settings.pointer(at).is_some_and(Value::is_string)) {
        add(format!("runs a command: {}", at.trim_start_matches('/').replace('/', ".")));
    }
    let variables = names("/env");
    let is_known = |name: &&&str| VARIABLES.contains(*name) || name.starts_with("TOOLMARK");
    let variables: Vec<&str> = variables.iter().filter(is_known).copied().collect();
    if !variables.is_empty() {
        add(format!("sets variables: {}", list(&variables)));
    }
}

/// Whether all commands of an event are those of the guard, outside the repository.
fn is_own(groups: &Value, root: &Path) -> bool {
    let mut commands = Vec::new();
    let mut pending = vec![groups];
    while let Some(value) = pending.pop() {
        match value {
            Value::Array(items) => pending.extend(items),
            Value::Object(map) => {
                let command = map.get("command").or_else(|| map.get("bash"));
                commands.extend(command.and_then(Value::as_str));
                pending.extend(map.get("hooks"));
            }
            _ => return false,
        }
    }
    let is_guard = |command: &&str| {
        let program = Path::new(command.split_ascii_whitespace().next().unwrap_or_default());
        let is_named = program.file_name().is_some_and(|name| OWN.iter().any(|own| name == *own));
        let is_plain = !command.contains([';', '&', '|', '$', '`', '\n', '<', '>']);
        let is_outside = program.is_absolute() && !program.starts_with(root);
        is_named && is_plain && (is_outside || program.components().count() == 1)
    };
    !commands.is_empty() && commands.iter().all(is_guard)
}

fn what_it_runs(path: &Path, kind: Kind) -> Vec<String> {
    let has_end =
        |ends: &[&str]| path.extension().is_some_and(|end| ends.iter().any(|known| end == *known));
    match kind {
        Kind::Code if has_end(&["js", "ts", "mjs", "cjs", "mts"]) => {
            vec!["runs inside the agent".to_owned()]
        }
        Kind::Hooks if has_end(&["json"]) => vec!["runs hooks".to_owned()],
        Kind::Markdown if has_end(&["md"]) => markdown(&read(path).unwrap_or_default()),
        Kind::Code | Kind::Hooks | Kind::Markdown => Vec::new(),
    }
}

/// Names what a skill, an agent or a command runs: by the keys at its start, and by the commands
/// in its text.
fn markdown(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let body = match text.trim_start_matches('\u{feff}').strip_prefix("---") {
        Some(rest) => {
            let (head, body) = rest.split_once("\n---").unwrap_or((rest, ""));
            for line in head.lines() {
                match line.split_once(':') {
                    Some(("hooks", _)) => found.push("runs hooks".to_owned()),
                    Some(("permissionMode", mode))
                        if !matches!(mode.trim(), "default" | "plan") =>
                    {
                        found.push(format!("sets the permission mode {}", clean(mode.trim())));
                    }
                    _ => {}
                }
            }
            body
        }
        None => text,
    };
    let is_command = |line: &str| {
        let at = line.find("!`");
        at.is_some_and(|at| line.get(at + 2..).is_some_and(|rest| rest.contains('`')))
    };
    if body.lines().any(is_command) {
        found.push("runs commands when it is used".to_owned());
    }
    found
}

/// Returns the files below a directory, sorted. Links are not followed.
fn files_below(directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut pending = vec![directory.to_owned()];
    let mut seen = 0;
    while let Some(directory) = pending.pop() {
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            seen += 1;
            if seen > MAX_FILES {
                break;
            }
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => pending.push(entry.path()),
                Ok(kind) if kind.is_file() => files.push(entry.path()),
                _ => {}
            }
        }
    }
    files.sort_unstable();
    files
}

fn read(path: &Path) -> Option<String> {
    let file = fs::metadata(path).ok().filter(fs::Metadata::is_file);
    file.and_then(|_| fs::File::open(path).ok()).and_then(|file| {
        let mut bytes = Vec::new();
        file.take(MAX_BYTES).read_to_end(&mut bytes).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    })
}

fn list(names: &[&str]) -> String {
    let shown: Vec<String> = names.iter().take(MAX_LISTED).map(|name| clean(name)).collect();
    match names.len() > MAX_LISTED {
        true => format!("{} and {} more", shown.join(", "), names.len() - MAX_LISTED),
        false => shown.join(", "),
    }
}

/// Returns a name without characters that could carry a message to the model.
fn clean(name: &str) -> String {
    let is_plain = |c: &char| c.is_ascii_alphanumeric() || "._-@/".contains(*c);
    name.chars().filter(is_plain).take(60).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_files_bring_along() {
        for (file, text, want) in [
            (
                ".claude/settings.json",
                r#"{"disableAllHooks": true}"#,
                &["switches all hooks off"][..],
            ),
            (".claude/settings.json", r#"{"disableAllHooks": false}"#, &[]),
            (
                ".claude/settings.local.json",
                r#"{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "x"}]}]}}"#,
                &["runs hooks: PreToolUse"],
            ),
            (
                ".claude/settings.json",
                r#"{"hooks": {"PreToolUse": [{"hooks": [{"type": "command",
                    "command": "/usr/bin/toolmark-hook --host claude-code"}]}]}}"#,
                &[],
            ),
            (
                ".claude/settings.json",
                r#"{"hooks": {"Stop": [{"hooks": [{"type": "command",
                    "command": "./toolmark-hook"}]}]}}"#,
                &["runs hooks: Stop"],
            ),
            (
                ".claude/settings.json",
                r#"{"permissions": {"defaultMode": "bypassPermissions"}, "env": {"PATH": "x", "A": "1"},
                    "enabledPlugins": {"p@m": true}, "apiKeyHelper": "./x"}"#,
                &[
                    "enables plugins: p@m",
                    "sets the permission mode bypassPermissions",
                    "runs a command: apiKeyHelper",
                    "sets variables: PATH",
                ],
            ),
            (
                ".claude/settings.json",
                "{\n  // no\n \"disableAllHooks\": true}",
                &["may switch all hooks off"],
            ),
            (
                ".gemini/settings.json",
                r#"{"hooksConfig": {"enabled": false}}"#,
                &["switches all hooks off"],
            ),
            (
                ".gemini/settings.json",
                r#"{"hooksConfig": {"disabled": ["g"]}}"#,
                &["switches hooks off: g"],
            ),
            (".codex/config.toml", "[features]\nhooks = false\n", &["switches all hooks off"]),
            (
                ".claude/agents/a.md",
                "---\nname: a\npermissionMode: bypassPermissions\n---\nx",
                &["sets the permission mode bypassPermissions"],
            ),
            (".claude/agents/a.md", "---\nname: a\n---\nhooks: x\n", &[]),
            (
                ".claude/skills/s/SKILL.md",
                "---\nname: s\nhooks:\n  Stop: []\n---\n",
                &["runs hooks"],
            ),
            (".claude/commands/c.md", "State: !`git status`\n", &["runs commands when it is used"]),
            (".claude/commands/c.md", "Do not run `git status`!\n", &[]),
            (".opencode/plugin/p.ts", "", &["runs inside the agent"]),
            ("src/settings.json", r#"{"disableAllHooks": true}"#, &[]),
        ] {
            let root = tempfile::tempdir().unwrap();
            let path = root.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
            let found: Vec<String> =
                brought(root.path()).into_iter().map(|found| found.what).collect();
            assert_eq!(found, want, "{file}: {text}");
        }
    }

    #[test]
    fn names_carry_no_messages() {
        assert_eq!(clean("a b\n`rm`<ignore>"), "abrmignore");
    }
}
