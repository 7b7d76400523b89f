//! Tests of policy files: discovery, error messages, and agreement of the JSON Schema with the
//! reader.

use super::{toolmark, transcript};
use assert_cmd::Command;
use insta::assert_snapshot;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// Returns a home and a project with these files.
fn place(files: &[(&str, &str)]) -> TempDir {
    let directory = TempDir::new().unwrap();
    for (name, text) in files {
        let path = directory.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    fs::create_dir_all(directory.path().join("app/.git")).unwrap();
    fs::create_dir_all(directory.path().join("app/src")).unwrap();
    directory
}

fn at(directory: &TempDir, args: &[&str]) -> Command {
    let mut command = toolmark(args);
    command.current_dir(directory.path().join("app")).env("HOME", directory.path());
    for variable in ["XDG_CONFIG_HOME", "TOOLMARK_GUARD", "TOOLMARK_GUARD_POLICY"] {
        command.env_remove(variable);
    }
    command
}

/// Returns the output, with the directory replaced.
fn shown(directory: &TempDir, args: &[&str]) -> String {
    let real = directory.path().canonicalize().unwrap();
    let text = transcript(&mut at(directory, args));
    // The home is not the one that the system knows, which is said.
    let text: String = text.split_inclusive('\n').filter(|l| !l.starts_with("hook ")).collect();
    let text = text.replace(real.to_str().unwrap(), "HOME");
    text.replace(directory.path().to_str().unwrap(), "HOME")
}

/// Returns the decision of the hook about a command, in a directory of the project.
fn decision(directory: &TempDir, sub: &str, command: &str, env: &[(&str, &str)]) -> String {
    let cwd = directory.path().join(sub);
    let payload = json!({"hook_event_name": "PreToolUse", "tool_name": "Bash", "cwd": cwd,
        "session_id": "s", "tool_input": {"command": command}});
    // As `install` fixes it.
    let policy = directory.path().join(USER);
    let policy = policy.to_str().unwrap();
    let mut hook = at(directory, &["guard", "--host", "claude-code", "--policy", policy]);
    answered(&mut hook, &payload, env)
}

/// Returns the decision in the answer of a hook.
fn answered(hook: &mut Command, payload: &Value, env: &[(&str, &str)]) -> String {
    hook.envs(env.iter().copied());
    let output = hook.write_stdin(payload.to_string()).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    if output.stdout.is_empty() {
        return "-".to_owned();
    }
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    answer["hookSpecificOutput"]["permissionDecision"].as_str().unwrap_or("-").to_owned()
}

const USER: &str = ".config/toolmark/toolmark.yaml";

#[test]
fn files_are_found_and_layered() {
    let rule = "guard:\n  rules:\n    - name: no-make\n      command: make *\n      decision: ask\n      examples: {match: [make]}\n";
    let directory = place(&[
        (USER, rule),
        ("app/.toolmark/toolmark.yaml", "guard: {protected: [src/gen/**], preset: observe}\n"),
        // A spec of its own does not hide the policy above it.
        ("app/src/toolmark.yaml", "graders: [error-count]\n"),
    ]);
    for (sub, command, want) in [
        ("app", "make all", "ask"),
        ("app", "touch src/gen/x", "deny"),
        ("app/src", "touch gen/x", "deny"),
        ("app", "git push --force", "deny"),
        ("app", "ls", "-"),
    ] {
        assert_eq!(decision(&directory, sub, command, &[]), want, "{sub} {command}");
    }
    let key = "cat ~/.ssh/id_rsa";
    for (preset, want) in [("standard", "ask"), ("strict", "deny"), ("observe", "ask")] {
        let env = [("TOOLMARK_GUARD", preset)];
        assert_eq!(decision(&directory, "app", key, &env), want, "{preset}");
    }
    let other = directory.path().join("other.yaml");
    fs::write(&other, "guard: {tools: {deny: [Bash]}}\n").unwrap();
    let named = [("TOOLMARK_GUARD_POLICY", other.to_str().unwrap())];
    assert_eq!(decision(&directory, "app", "ls", &named), "deny");
}

#[test]
fn a_policy_that_cannot_be_read_is_never_silent() {
    for (broken, on_error) in [
        ("guard: {prest: strict}\n", "ask"),
        ("guard: [1\n", "ask"),
        ("guard: {on_error: deny, tools: {deny: ['Bash(']}}\n", "deny"),
        ("guard:\n", "ask"),
    ] {
        let directory = place(&[(USER, broken)]);
        assert_eq!(decision(&directory, "app", "ls", &[]), on_error, "{broken}");
        assert_eq!(decision(&directory, "app", "git push --force", &[]), "deny", "{broken}");
    }
    let directory = place(&[]);
    let missing = [("TOOLMARK_GUARD_POLICY", "/nonexistent/policy.yaml")];
    assert_eq!(decision(&directory, "app", "ls", &missing), "ask");
    assert_eq!(decision(&directory, "app", "ls", &[("TOOLMARK_GUARD", "strickt")]), "ask");
}

#[test]
fn mistakes_of_a_policy_are_shown_all_at_once() {
    let policy = r#"guard:
  preset: strickt
  tols: {deny: [Bash]}
  tools: {deny: ["Bash(rm:*)"]}
  effects:
    - {kind: delet, decision: ask}
  writable: [src/*]
"#;
    let directory = place(&[("app/toolmark.yaml", policy)]);
    assert_snapshot!(shown(&directory, &["lint", "toolmark.yaml"]));
}

#[test]
fn mistakes_of_every_part_are_shown() {
    let policy = r#"guard:
  on_error: block
  timeout_ms: 0
  approve: yes
  tools: {allow: [], deny: ["", "my tool"]}
  agents:
    reviewer: {}
  protected: ["!keep.txt", ""]
  wrappers: ["/usr/bin/env", "sudo -n"]
  effects:
    - {kind: delete, scope: [], decision: ask}
    - {kind: write, decision: deny}
    - {kind: write, scope: home, decision: deny}
    - {kind: delete}
  import: [cursor]
  mcp: {rate: 60, tools: {x: 0/min, y: 5/fortnight}}
  log: {path: "", max_size: big}
  rules:
    - {name: no examples, tool: Bash, decision: ask, examples: {match: []}}
    - {name: nothing, decision: ask, examples: {match: [ls]}}
    - {name: twice, command: ls *, decision: ask, examples: {match: [ls]}}
    - {name: twice, command: "", decision: ask, examples: {match: [ls]}}
    - {name: regex, command: {regex: "a("}, decision: ask, examples: {match: [a]}}
    - {name: where, tool: Bash, where: {command: {contian: x}}, decision: ask, examples: {match: [x]}}
    - {name: fetch, tool: WebFetch, decision: ask, examples: {match: [curl x]}}
    - {name: suggest, command: rm *, decision: deny, suggest: {cmd: trash}, examples: {match: [7]}}
"#;
    let directory = place(&[("app/toolmark.yaml", policy)]);
    assert_snapshot!(shown(&directory, &["lint", "toolmark.yaml"]));
    // Values of the right type are checked even if others have a wrong type.
    let typed = policy.lines().filter(|line| {
        ["on_error", "approve", "import", "mcp:", "{kind: delete}", "{cmd:"]
            .iter()
            .all(|word| !line.contains(word))
    });
    let typed: String = typed.map(|line| format!("{line}\n")).collect();
    let directory = place(&[(USER, &typed)]);
    assert_snapshot!("mistakes_of_values", shown(&directory, &["guard", "policy"]));
}

#[test]
fn a_policy_as_it_is_used() {
    let user = "guard:\n  preset: strict\n  protected: [.env]\n  tools: {deny: [WebFetch]}\n";
    let project = r#"guard:
  protected: [migrations/**]
  rules:
    - name: no-push
      command: git push *
      decision: deny
      reason: pushes are made by CI
      suggest: {command: git status}
      examples: {match: [git push origin main], not_match: [git pull]}
"#;
    let directory = place(&[(USER, user), ("app/toolmark.yaml", project)]);
    let mut text = String::new();
    for args in [
        &["guard", "policy"][..],
        &["lint", "toolmark.yaml"],
        &["guard", "test", "git push origin main", "--cwd", "."],
        &["guard", "test", "touch migrations/1.sql", "--cwd", "."],
        &["guard", "test", "--tool", "WebFetch", "--args", "{}", "--cwd", "."],
    ] {
        text.push_str(&format!("$ toolmark {}\n{}\n", args.join(" "), shown(&directory, args)));
    }
    assert_snapshot!(text);
    let broken = place(&[(USER, "guard: [1\n"), ("app/toolmark.yaml", "guard: 7\n")]);
    let mut text = String::new();
    for args in [&["guard", "policy"][..], &["guard", "test", "ls"]] {
        text.push_str(&format!("$ toolmark {}\n{}\n", args.join(" "), shown(&broken, args)));
    }
    assert_snapshot!("a_policy_that_cannot_be_read", text);
}

#[test]
fn examples_suggestions_and_loosening_are_shown() {
    let policy = r#"guard:
  approve: true
  writable: [/srv]
  tools: {deny: [WebFetch]}
  rules:
    - name: no-push
      command: git push *
      decision: deny
      suggest: {command: git push --dry-run}
      examples:
        match: [git push, git pull]
        not_match: [git push --tags]
    - name: fetch
      tool: WebFetch
      decision: ask
      examples: {match: [{tool: WebFetch}]}
  effects:
    - {kind: delete, decision: allow}
"#;
    let directory = place(&[("app/toolmark.yaml", policy)]);
    assert_snapshot!(shown(&directory, &["lint", "toolmark.yaml"]));
    assert_snapshot!(shown(&directory, &["guard", "policy", "--cwd", "src"]));
}

#[test]
fn permissions_become_a_policy() {
    let settings = r#"{"permissions": {
  "allow": ["Bash(npm run *)", "Bash(git * main)", "Write(src/**)", "bash", "Bash(curl -I:*)"],
  "ask": ["Bash(git push:*)"],
  "deny": ["Bash(curl:*)", "Read(./.env)", "Edit(/migrations/**)", "mcp__db"]
}}"#;
    let directory = place(&[("app/.claude/settings.json", settings)]);
    let text = shown(&directory, &["guard", "permissions"]);
    assert_snapshot!(text);
    let yaml = text.split("--- stderr").next().unwrap();
    fs::write(directory.path().join("app/toolmark.yaml"), yaml.replace("HOME", "/home/me"))
        .unwrap();
    let linted = shown(&directory, &["lint", "toolmark.yaml"]);
    assert!(linted.contains("0 errors"), "{linted}");
    let json = at(&directory, &["guard", "permissions", "--format", "json"]).output().unwrap();
    let json: Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(json["findings"][0]["level"], "never");
    assert_eq!(json["guard"]["tools"]["deny"], json!(["mcp__db__*"]));
}

#[test]
fn permissions_count_live() {
    let settings = r#"{"permissions": {"deny": ["Bash(curl:*)"], "allow": ["Bash(cat .env)"]}}"#;
    let import = "guard: {import: [claude-code]}\n";
    let users = place(&[(USER, import), (".claude/settings.json", settings)]);
    assert_eq!(decision(&users, "app", "ls && /usr/bin/curl x", &[]), "deny");
    assert_eq!(decision(&users, "app", "cat .env", &[]), "-");
    // What came with a project only makes things stricter.
    let projects = place(&[(USER, import), ("app/.claude/settings.json", settings)]);
    assert_eq!(decision(&projects, "app", "curl x", &[]), "deny");
    assert_eq!(decision(&projects, "app", "cat .env", &[]), "ask");
    let broken = place(&[(USER, import), (".claude/settings.json", "{")]);
    assert_eq!(decision(&broken, "app", "ls", &[]), "ask");
}

/// Whether the schema and the reader accept the file.
fn agree(file: &Value, directory: &Path, schema: &jsonschema::Validator) -> (bool, bool) {
    let path = directory.join("toolmark.yaml");
    fs::write(&path, file.to_string()).unwrap();
    let mut lint = toolmark(&["lint", path.to_str().unwrap()]);
    let reads = lint.output().unwrap().status.code() == Some(0);
    (schema.is_valid(file), reads)
}

#[test]
fn the_schema_and_the_reader_agree() {
    let output = toolmark(&["schema", "toolmark"]).output().unwrap();
    let schema: Value = serde_json::from_slice(&output.stdout).unwrap();
    let schema = jsonschema::draft202012::new(&schema).unwrap();
    let directory = TempDir::new().unwrap();
    let rule = |more: Value| {
        let mut rule = json!({"name": "r", "decision": "ask", "command": "ls *",
            "examples": {"match": ["ls"]}});
        rule.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({ "rules": [rule] })
    };
    let good = [
        json!({"preset": "observe"}),
        json!({"preset": "strict", "on_error": "deny", "approve": false, "timeout_ms": 50}),
        json!({"tools": {"allow": ["Bash"], "deny": ["mcp__*"]}}),
        json!({"agents": {"reviewer": {"tools": {"deny": ["Bash"]}}}}),
        json!({"writable": ["a"], "protected": ["b/**"], "protected_reads": [".env"],
            "delete_roots": ["c"], "temp": ["/t"], "wrappers": ["rtk"]}),
        json!({"effects": [{"kind": "delete", "scope": ["temp", "home"], "reversibility": "r2",
            "certainty": ["proven", "likely", "unresolved"], "decision": "ask"}]}),
        json!({"import": ["claude-code"]}),
        json!({"mcp": {"rate": "60/min", "tools": {"x": "1/s"}, "changed": "deny"}}),
        json!({"log": {"path": "x.jsonl", "max_size": "10MB"}}),
        rule(json!({})),
        rule(json!({"tool": "Bash", "reason": "x", "suggest": "y"})),
        rule(json!({"tool": {"regex": "^Ba"}, "suggest": {"command": "git status"}})),
        rule(json!({"command": {"regex": "^ls"}, "where": {"command": {"contains": "ls"}}})),
        rule(json!({"args": {"command": "ls"}, "args_match": "exact", "ignore": ["x"]})),
        rule(json!({"examples": {"match": [{"tool": "Bash", "args": {"command": "ls"}}, "ls"],
            "not_match": ["cat"]}})),
        json!({"rules": [{"name": "p", "path": ["a/**", "b"], "decision": "deny",
            "examples": {"match": ["touch a/x"]}}]}),
    ];
    let bad = [
        json!({}),
        Value::Null,
        json!([]),
        json!({"presets": "strict"}),
        json!({"preset": "lax"}),
        json!({"on_error": "block"}),
        json!({"approve": "yes"}),
        json!({"timeout_ms": 0}),
        json!({"tools": ["Bash"]}),
        json!({"tools": {"ask": ["Bash"]}}),
        json!({"agents": {"x": {"tool": {}}}}),
        json!({"writable": "a"}),
        json!({"effects": [{"kind": "delete"}]}),
        json!({"effects": [{"kind": [], "decision": "ask"}]}),
        json!({"effects": [{"sort": "delete", "decision": "ask"}]}),
        json!({"import": ["cursor"]}),
        json!({"mcp": {"rate": "0/min"}}),
        json!({"mcp": {"rates": "1/min"}}),
        json!({"log": {"size": "1MB"}}),
        rule(json!({"decision": "block"})),
        rule(json!({"examples": {"match": []}})),
        rule(json!({"examples": {"matches": ["ls"]}})),
        rule(json!({"suggest": {"cmd": "x"}})),
        rule(json!({"if": "x"})),
        rule(json!({"name": "a b"})),
        rule(json!({"args_match": "some"})),
        json!({"rules": [{"name": "r", "decision": "ask", "examples": {"match": ["ls"]}}]}),
        json!({"rules": [{"name": "r", "command": "ls", "examples": {"match": ["ls"]}}]}),
        json!({"rules": [{"name": "r", "command": "ls", "decision": "ask"}]}),
        rule(json!({"command": {"regexp": "^ls"}})),
        rule(json!({"command": {}})),
        rule(json!({"command": {"not": {"contian": "x"}}})),
        rule(json!({"where": {"command": {"contian": "ls"}}})),
        rule(json!({"where": {"command": {"range": {"least": 1}}}})),
    ];
    let tool = |tool: Value| json!({"check": {"toolsets": [{"id": "x", "tools": {"a": tool}}]}});
    let others = [
        (
            json!({"check": {"select": ["S"], "severity": {"S101": "info"}, "fail_on": "never"}}),
            true,
        ),
        (json!({"check": {"min_confidence": "sure"}}), false),
        (json!({"check": {"fail_on": "fatal"}}), false),
        (json!({"check": {"toolsets": [{"tools": {}}]}}), false),
        (tool(json!({"role": "reads", "path": ["file", "f"], "optional": true})), true),
        (tool(json!({"role": "reeds"})), false),
        (tool(json!({"schema": 7})), false),
        (json!({"judge": {"model": "claude-x", "retries": 20, "cache": false}}), true),
        (json!({"judge": {"model": "claude-x", "retries": 21}}), false),
        (json!({"judge": {"model": "claude-x", "cache": true}}), false),
        (json!({"judge": {"model": "claude-x", "base_url": "localhost"}}), false),
        (json!({"judge": {"models": {"a": {"model": "claude-x", "modle": 1}}}}), false),
        (json!({"judge": {}}), false),
    ];
    let guard = |(part, want): (Value, bool)| (json!({ "guard": part }), want);
    let guards = good.map(|part| (part, true)).into_iter().chain(bad.map(|part| (part, false)));
    for (file, want) in guards.map(guard).chain(others) {
        let found = agree(&file, directory.path(), &schema);
        assert_eq!(found, (want, want), "schema and reader: {file}");
    }
}

#[test]
fn the_policies_on_the_page_are_right() {
    let page = fs::read_to_string(super::root().join("docs/guard-policy.md")).unwrap();
    let blocks: Vec<&str> =
        page.split("```yaml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(blocks.len() > 2);
    for block in blocks {
        let directory = place(&[(USER, block)]);
        let text = shown(&directory, &["guard", "policy"]);
        assert!(text.contains("0 errors, 0 warnings"), "{block}{text}");
    }
}
