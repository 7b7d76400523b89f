//! One-line summaries of calls, from the most informative argument.
//!
//! Hosts use different names for the same argument (`file_path`, `filePath`, `path`), so this
//! module inspects the names of arguments, not of tools.

use super::text::{code_line, head};
use serde_json::{Map, Value};
use toolmark_redact::{Printable, Redactor};
use toolmark_trace::{Call, Payload};

/// Summary of a call.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Headline<T = Printable> {
    /// The most informative argument, on one line.
    pub main: T,
    /// Additional details, such as a location or an amount.
    pub extra: T,
}

/// Arguments that describe a call, the most informative first.
const SAYS_MOST: &[&str] = &[
    "command",
    "cmd",
    "script",
    "file_path",
    "filePath",
    "absolute_path",
    "notebook_path",
    "pattern",
    "regex",
    "url",
    "query",
    "skill",
    "path",
    "description",
    "question",
    "prompt",
    "message",
    "code",
    "patch",
    "input",
    "task",
    "name",
];

/// Path arguments, shown relative to the working directory.
const PATHS: &[&str] = &["file_path", "filePath", "absolute_path", "notebook_path", "path"];

/// Maximum number of bytes of an argument that are inspected.
const LONGEST: usize = 4 << 10;

/// Returns the redacted summary of a call.
#[must_use]
pub fn headline(call: &Call, cwd: Option<&str>, redactor: Redactor) -> Headline {
    call.args.as_ref().map(|args| headline_of(args, cwd, redactor)).unwrap_or_default()
}

/// Returns the redacted summary of a call with these arguments.
#[must_use]
pub fn headline_of(args: &Payload, cwd: Option<&str>, redactor: Redactor) -> Headline {
    let found = match args.parsed() {
        Some(Value::Object(map)) => of_object(map, cwd),
        _ => None,
    };
    let Headline { main, extra } = found.unwrap_or_else(|| of_text(args));
    let main = redactor.apply(head(&main, LONGEST)).reshape(code_line);
    Headline { main, extra: redactor.apply(extra) }
}

fn of_text(args: &Payload) -> Headline<String> {
    let raw = args.raw();
    match patched_files(&raw) {
        Some(files) => Headline { main: files, extra: String::new() },
        None if raw.trim() == "{}" => Headline::default(),
        // Arguments that were printed over several lines are put on one.
        None => match args.parsed().filter(|_| raw.contains('\n')) {
            Some(value) => Headline { main: value.to_string(), extra: String::new() },
            None => Headline { main: head(&raw, LONGEST).to_owned(), extra: String::new() },
        },
    }
}

fn of_object(map: &Map<String, Value>, cwd: Option<&str>) -> Option<Headline<String>> {
    let (key, value) = SAYS_MOST.iter().find_map(|key| Some((*key, words(map.get(*key)?)?)))?;
    let main = match key {
        _ if PATHS.contains(&key) => seen_from(cwd, &value).to_owned(),
        // An editor's sub-command (`create`, `view`) says little without its file.
        "command" if !value.contains(' ') && map.get("path").is_some_and(Value::is_string) => {
            let path = map["path"].as_str().unwrap_or_default();
            format!("{value} {}", seen_from(cwd, path))
        }
        "patch" | "input" | "command" | "cmd" => patched_files(&value).unwrap_or(value),
        _ => value,
    };
    Some(Headline { main, extra: extra(map, key, cwd) })
}

/// Returns a string, or a list of strings as a command line.
fn words(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.trim().is_empty() => Some(head(text, LONGEST).to_owned()),
        Value::Array(items) => {
            let items: Option<Vec<&str>> = items.iter().take(200).map(Value::as_str).collect();
            match items?.as_slice() {
                [] => None,
                // The shell around a command says nothing.
                [_, "-c" | "-lc" | "-ic", script] => Some((*script).to_owned()),
                items => Some(items.join(" ")),
            }
        }
        _ => None,
    }
}

/// Returns the files that a patch in `apply_patch` format changes.
fn patched_files(text: &str) -> Option<String> {
    const MARKS: [&str; 3] = ["*** Update File: ", "*** Add File: ", "*** Delete File: "];
    if !text.contains("*** Begin Patch") {
        return None;
    }
    let file = |line: &str| {
        MARKS.iter().find_map(|mark| line.strip_prefix(mark)).map(|f| f.trim().to_owned())
    };
    let files: Vec<String> = text.lines().filter_map(file).collect();
    (!files.is_empty()).then(|| files.join(" "))
}

/// Returns a path relative to a directory.
fn seen_from<'p>(cwd: Option<&str>, path: &'p str) -> &'p str {
    let below = cwd.and_then(|cwd| path.strip_prefix(cwd.trim_end_matches('/')));
    below.and_then(|rest| rest.strip_prefix('/')).filter(|rest| !rest.is_empty()).unwrap_or(path)
}

fn extra(map: &Map<String, Value>, main: &str, cwd: Option<&str>) -> String {
    let text = |keys: &[&str]| keys.iter().find_map(|k| map.get(*k)?.as_str());
    let number = |key: &str| map.get(key).and_then(Value::as_u64);
    let lines = |text: &str| text.lines().count();
    let old = text(&["old_string", "old_str", "oldString"]);
    let new = text(&["new_string", "new_str", "newString"]);
    if let (Some(old), Some(new)) = (old, new) {
        return format!("\u{2212}{} +{}", lines(old), lines(new));
    }
    if let Some(Value::Array(edits)) = map.get("edits") {
        return super::human::things(edits.len() as u64, "edit").into();
    }
    if let (Some(content), true) = (text(&["content"]), PATHS.contains(&main)) {
        return super::human::things(lines(content) as u64, "line").into();
    }
    match (number("offset"), number("limit")) {
        (Some(from), Some(count)) => {
            return format!("lines {from}\u{2013}{}", from.saturating_add(count).saturating_sub(1));
        }
        (Some(from), None) => return format!("from line {from}"),
        (None, Some(count)) if PATHS.contains(&main) => return format!("first {count} lines"),
        _ => {}
    }
    match text(&["path"]) {
        // Where the agent is anyway need not be said.
        Some(path) if matches!(main, "pattern" | "regex" | "query") && cwd != Some(path) => {
            format!("in {}", seen_from(cwd, path))
        }
        _ => text(&["subagent_type"]).map(|t| format!("({t})")).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolmark_trace::Text;

    /// Returns the headline of JSON arguments, for tests.
    fn of(args: &str) -> String {
        let payload = if args.starts_with('{') {
            Payload::json(Text::owned(args))
        } else {
            Payload::text(Text::owned(args))
        };
        let found = match payload.parsed() {
            Some(Value::Object(map)) => of_object(map, Some("/w")),
            _ => None,
        };
        let Headline { main, extra } = found.unwrap_or_else(|| of_text(&payload));
        format!("{main} | {extra}")
    }

    #[test]
    fn the_argument_that_says_most() {
        for (args, want) in [
            (r#"{"description":"List","command":"ls -l"}"#, "ls -l | "),
            (r#"{"command":["bash","-lc","ls -l"]}"#, "ls -l | "),
            (r#"{"command":["git","status"]}"#, "git status | "),
            (r#"{"file_path":"/w/src/a.rs"}"#, "src/a.rs | "),
            (
                r#"{"file_path":"/wide/a.rs","offset":10,"limit":5}"#,
                "/wide/a.rs | lines 10\u{2013}14",
            ),
            (r#"{"file_path":"/w/a","old_string":"x","new_string":"y\nz"}"#, "a | \u{2212}1 +2"),
            (r#"{"file_path":"/w/a","content":"1\n2\n3"}"#, "a | 3 lines"),
            (r#"{"pattern":"fn main","path":"/w/src"}"#, "fn main | in src"),
            (
                r#"{"subagent_type":"Explore","description":"Look","prompt":"…"}"#,
                "Look | (Explore)",
            ),
            (r#"{"command":"create","path":"/w/a.rs","file_text":"x"}"#, "create a.rs | "),
            (r#"{"command":"ls","path":7}"#, "ls | "),
            (r#"{"a":1,"b":[2]}"#, r#"{"a":1,"b":[2]} | "#),
            ("{\n  \"a\": 1,\n  \"b\": [2]\n}", r#"{"a":1,"b":[2]} | "#),
            (r#"{"command":7,"url":"https://x"}"#, "https://x | "),
            ("{}", " | "),
            ("*** Begin Patch\n*** Update File: a.rs\n+x\n*** Add File: b.rs\n", "a.rs b.rs | "),
            (r#"{"input":"*** Begin Patch\n*** Update File: a.rs\n*** End Patch"}"#, "a.rs | "),
        ] {
            assert_eq!(of(args), want, "{args}");
        }
    }
}
