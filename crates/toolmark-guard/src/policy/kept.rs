//! Detection of writes to a project's policy that leave its `guard:` part unchanged: the rest of
//! the file may be changed freely.

use serde_json::Value;
use std::fs;
use std::io::ErrorKind;
use toolmark_config::{Problem, SourceText, parse};
use toolmark_hosts::own::PROJECT_POLICIES;
use toolmark_hosts::toolset::{Tool, ToolRole};
use toolmark_session::effects::ToolInput;

/// Maximum size of a file that is compared, in bytes.
const LARGEST: u64 = 1 << 20;

/// Whether the call writes one project's policy without changing its `guard:` part. True only if
/// the whole text is known.
pub(super) fn keeps_guard_part(input: &ToolInput<'_>) -> bool {
    let mut paths = input.paths();
    let (Some(path), None, Some(tool)) = (paths.next(), paths.next(), input.tool) else {
        return false;
    };
    let is_policy = |name: &&str| {
        path.strip_suffix(*name).is_some_and(|before| before.is_empty() || before.ends_with('/'))
    };
    if !PROJECT_POLICIES.iter().any(is_policy) {
        return false;
    }
    let Some(before) = read(&path) else { return false };
    let Some(after) = written(input, tool, &before) else { return false };
    match (guard_part(&before), guard_part(&after)) {
        (Some(before), Some(after)) => before == after,
        _ => false,
    }
}

/// Returns the text of a file; empty if it does not exist, `None` if unknown.
fn read(path: &str) -> Option<String> {
    match fs::metadata(path) {
        Ok(about) if about.is_file() && about.len() <= LARGEST => fs::read_to_string(path).ok(),
        Err(error) if error.kind() == ErrorKind::NotFound => Some(String::new()),
        _ => None,
    }
}

/// Returns the text after the call.
fn written(input: &ToolInput<'_>, tool: &Tool, before: &str) -> Option<String> {
    let args = input.args.json()?;
    match input.role() {
        ToolRole::Writes => tool.content.text(args).map(str::to_owned),
        ToolRole::Edits => match tool.edits.get(args).and_then(Value::as_array) {
            Some(edits) => {
                edits.iter().try_fold(before.to_owned(), |text, edit| edited(&text, tool, edit))
            }
            None => edited(before, tool, args),
        },
        _ => None,
    }
}

/// Returns a text after one edit; `None` for an edit that does not apply, because hosts handle that
/// differently.
fn edited(text: &str, tool: &Tool, edit: &Value) -> Option<String> {
    let (old, new) = (tool.old.text(edit)?, tool.new.text(edit).unwrap_or_default());
    let all = tool.all.get(edit).and_then(Value::as_bool).unwrap_or(false);
    let found = if old.is_empty() { 0 } else { text.matches(old).count() };
    match found {
        0 => None,
        1 => Some(text.replacen(old, new, 1)),
        _ => all.then(|| text.replace(old, new)),
    }
}

/// Returns the `guard:` part of a text, `null` if it has none; `None` if it cannot be read
/// reliably.
fn guard_part(text: &str) -> Option<Value> {
    let parsed = parse(&SourceText::new("", text.to_owned()));
    if parsed.problems.iter().any(Problem::is_error) {
        return None;
    }
    let part = parsed.node.as_ref().and_then(|root| root.get("guard"));
    Some(part.map_or(Value::Null, |part| part.to_json()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use toolmark_session::effects::Arguments;

    #[test]
    fn what_stays_as_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("toolmark.yaml");
        let text = "graders:\n  - name: a\nguard:\n  tools:\n    deny: [Bash]\n";
        fs::write(&file, text).unwrap();
        let set = toolmark_hosts::by_id("claude-code").unwrap().toolset.unwrap();
        let keeps = |tool: &str, mut args: Value| {
            args["file_path"] = json!(file);
            let args = Arguments::Json(&args);
            keeps_guard_part(&ToolInput {
                name: tool.into(),
                tool: set.tool(tool),
                args,
                cwd: dir.path().to_str(),
            })
        };
        let edit = |old: &str, new: &str| json!({"old_string": old, "new_string": new});
        for (tool, args, want) in [
            ("Edit", edit("name: a", "name: b"), true),
            ("Edit", edit("deny: [Bash]", "deny: []"), false),
            ("Edit", edit("guard:", "guarded:"), false),
            ("Edit", edit("absent", "x"), false),
            ("Edit", edit("a", "x"), false),
            ("Edit", edit("name: a", "name: [a"), false),
            ("MultiEdit", json!({"edits": [edit("name: a", "name: b")]}), true),
            (
                "MultiEdit",
                json!({"edits": [edit("name: a", "name: b"), edit("[Bash]", "[Read]")]}),
                false,
            ),
            ("Write", json!({"content": text.replace("name: a", "name: c")}), true),
            ("Write", json!({"content": "graders: []\n"}), false),
            ("Write", json!({}), false),
        ] {
            assert_eq!(keeps(tool, args.clone()), want, "{tool} {args}");
        }
        fs::remove_file(&file).unwrap();
        assert!(keeps("Write", json!({"content": "graders: []\n"})));
        assert!(!keeps("Write", json!({"content": "guard:\n  preset: strict\n"})));
        fs::create_dir(&file).unwrap();
        assert!(!keeps("Write", json!({"content": "graders: []\n"})));
    }
}
