//! Tests of the user's own rules, and of two combined files.

use super::tests::{bash, call, decided, good, layer, said, user};
use super::*;
use serde_json::{Value, json};

use Decision::{Allow, Ask, Deny};

/// Builds a policy of one rule, whose examples are not checked.
fn rule(rule: Value) -> Policy {
    let (layer, problems) = layer(Whose::User, json!({ "rules": [rule] }));
    assert_eq!(problems, []);
    Policy::new(Some(layer), None, None)
}

#[test]
fn commands() {
    let deny = || {
        json!({"name": "no-push", "command": "git push *", "decision": "deny", "reason": "people push",
            "suggest": {"command": "git status"}, "examples": {"match": ["git push"]}})
    };
    for (command, decision) in [
        ("git push", Deny),
        ("git  push origin main", Deny),
        ("cd x && git push", Deny),
        ("timeout 5 git push", Deny),
        ("bash -c 'git push'", Deny),
        ("/usr/bin/git push", Deny),
        ("git -C /elsewhere --no-pager push origin", Deny),
        ("git -c a.b=push status", Allow),
        ("echo $(git push)", Deny),
        ("git pushx", Allow),
        ("echo git push", Allow),
        ("git status", Allow),
    ] {
        let verdict = decided(user(json!({"rules": [deny()]})), &bash(command));
        assert_eq!(verdict.decision, decision, "{command}");
        if decision == Deny {
            assert_eq!(verdict.rule, "rules.no-push");
            assert_eq!(verdict.reason, "people push");
            assert_eq!(verdict.suggestion.as_deref(), Some("use `git status` instead"));
        }
    }
}

#[test]
fn rules_that_allow_lift_questions_only() {
    let allow = || {
        json!({"name": "env", "command": {"regex": "^cat \\.env$"}, "decision": "allow",
            "examples": {"match": ["cat .env"], "not_match": ["cat .env x"]}})
    };
    for (command, decision, rule) in [
        ("cat .env", Allow, "rules.env"),
        ("cat .env > /tmp/x", Ask, "effect"),
        ("cat .env | tee x", Ask, "effect"),
        ("cat .env; cat .env.local", Ask, "effect"),
        ("cat .env && git push --force", Deny, "effect"),
    ] {
        let found = said(user(json!({"rules": [allow()]})), &bash(command));
        assert_eq!(found, (decision, rule.to_owned()), "{command}");
    }
    let tools = json!({"rules": [allow()], "tools": {"deny": ["Bash"]}});
    assert_eq!(said(user(tools), &bash("cat .env")), (Deny, "tools.deny".into()));
    let reads = json!({"rules": [allow()], "protected_reads": [".env"]});
    assert_eq!(said(user(reads), &bash("cat .env")), (Deny, "protected_reads".into()));
    let strict = json!({"rules": [allow()], "preset": "strict"});
    assert_eq!(said(user(strict), &bash("cat .env")), (Allow, "rules.env".into()));
}

#[test]
fn tools_arguments_and_paths() {
    let examples = json!({"match": [{"tool": "mcp__db__query", "args": {"sql": "DROP"}}]});
    let sql = json!({"name": "sql", "tool": "db/*", "where": {"sql": {"regex": "(?i)drop"}},
        "decision": "ask", "examples": examples});
    let event = |sql: &str| call("mcp__db__query", json!({ "sql": sql }));
    let policy = || user(json!({"rules": [sql.clone()]}));
    assert_eq!(said(policy(), &event("select 1 -- drop")), (Ask, "rules.sql".into()));
    assert_eq!(said(policy(), &event("select 1")), (Allow, "default".into()));

    let examples = json!({"match": [{"tool": "Bash", "args": {"command": "ls", "timeout": 1}}],
        "not_match": ["ls"]});
    let exact = json!({"name": "timed", "tool": "Bash", "args": {"timeout": 1},
        "decision": "deny", "examples": examples});
    let policy = || user(json!({"rules": [exact.clone()]}));
    let timed = call("Bash", json!({"command": "x", "timeout": 1}));
    assert_eq!(said(policy(), &timed).0, Deny);
    assert_eq!(said(policy(), &bash("x")).0, Allow);

    let examples =
        json!({"match": [{"tool": "Edit", "args": {"file_path": "docs/a.md"}}, "touch docs/x"]});
    let docs = json!({"name": "docs", "path": "docs/**", "decision": "ask", "examples": examples});
    let policy = || user(json!({"rules": [docs.clone()]}));
    assert_eq!(said(policy(), &bash("rm -f docs/a")).0, Ask);
    assert_eq!(said(policy(), &bash("rm -f src/a")).0, Allow);
}

#[test]
fn a_broken_rule_is_an_error_not_a_silence() {
    let regex = json!({"name": "r", "command": {"regex": "("}, "decision": "deny",
        "examples": {"match": ["ls"]}});
    let verdict = decided(rule(regex.clone()), &bash("ls"));
    assert_eq!((verdict.decision, verdict.rule.as_str()), (Ask, "rules.r"));
    let other = call("Read", json!({"file_path": "x"}));
    let named = json!({"name": "r", "tool": "Bash", "command": {"regex": "("}, "decision": "deny",
        "examples": {"match": ["ls"]}});
    assert_eq!(said(rule(named), &other).0, Allow, "it is not looked at for another tool");
    let wrong = json!({"name": "r", "command": "ls", "decision": "deny",
        "examples": {"match": ["ls"], "not_match": ["ls "]}});
    let verdict = decided(rule(wrong), &bash("ls"));
    assert_eq!(verdict.decision, Ask);
    assert!(verdict.reason.contains("examples"), "{}", verdict.reason);
}

#[test]
fn mistakes_are_named() {
    let one = |extra: Value| {
        let mut rule = json!({"name": "r", "tool": "Bash", "decision": "deny",
            "examples": {"match": ["ls"]}});
        rule.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        json!({ "rules": [rule] })
    };
    for (guard, want) in [
        (json!({}), "empty-guard"),
        (Value::Null, "empty-guard"),
        (json!({"presett": "strict"}), "unknown-key"),
        (json!({"preset": "strickt"}), "unknown-value"),
        (json!({"on_error": "block"}), "unknown-value"),
        (json!({"timeout_ms": 0}), "invalid-value"),
        (json!({"tools": {"deny": ["Bash("]}}), "invalid-tool"),
        (json!({"agents": {"x": {}}}), "empty-list"),
        (json!({"writable": ["a/*"]}), "invalid-path"),
        (json!({"wrappers": ["my tool"]}), "invalid-wrapper"),
        (json!({"mcp": {"rate": "lots"}}), "invalid-rate"),
        (json!({"log": {"max_size": "big"}}), "invalid-log"),
        (json!({"import": ["claude"]}), "unknown-value"),
        (one(json!({"examples": {"match": []}})), "no-example"),
        (one(json!({"examples": {"match": [3]}})), "wrong-type"),
        (one(json!({"examples": {"match": ["ls"], "not_match": ["ls"]}})), "broken-example"),
        (one(json!({"tool": "Read"})), "broken-example"),
        (one(json!({"command": "git *"})), "broken-example"),
        (one(json!({"where": {"command": {"regex": "("}}})), "invalid-pattern"),
        (one(json!({"command": {"regx": "x"}})), "unknown-key"),
        (one(json!({"command": 3})), "wrong-type"),
        (one(json!({"suggest": {"cmd": "x"}})), "wrong-type"),
        (one(json!({"suggest": {"command": "ls -a"}})), "denied-suggestion"),
        (one(json!({"command": "ls", "suggest": {"command": "git push -f"}})), "denied-suggestion"),
        (one(json!({"name": "a b"})), "invalid-name"),
        (one(json!({"decide": "deny"})), "unknown-key"),
        (
            json!({"rules": [{"name": "r", "decision": "ask", "examples": {"match": ["ls"]}}]}),
            "empty-condition",
        ),
        (
            json!({"rules": [one(json!({}))["rules"][0], one(json!({}))["rules"][0]]}),
            "duplicate-rule",
        ),
        (
            json!({"tools": {"deny": ["B*"]},
            "rules": [{"name": "r", "tool": "Bash", "decision": "ask",
                "examples": {"match": ["ls"]}}]}),
            "never-applies",
        ),
        (
            json!({"tools": {"allow": ["Read", "mcp__*"]}, "rules": [{"name": "r", "tool": "Bash",
                "decision": "ask", "examples": {"match": ["ls"]}}]}),
            "never-applies",
        ),
    ] {
        let (layer, mut problems) = layer(Whose::User, guard.clone());
        problems.extend(Policy::new(Some(layer), None, None).check_all().user);
        let codes: Vec<&str> = problems.iter().map(|problem| problem.code).collect();
        assert!(codes.contains(&want), "{guard}: {problems:?}");
    }
}

#[test]
fn a_project_may_only_tighten() {
    let both = |mine: Value, theirs: Value| {
        let mine = (!mine.is_null()).then(|| good(Whose::User, mine));
        Policy::new(mine, Some(layer(Whose::Project, theirs).0), None)
    };
    let allow_all = json!([{"decision": "allow"}]);
    let allow_rule = json!([{"name": "all", "tool": "*", "decision": "allow",
        "examples": {"match": ["ls"]}}]);
    for theirs in [
        json!({"preset": "observe"}),
        json!({"effects": allow_all}),
        json!({"rules": allow_rule}),
        json!({"writable": ["/"]}),
        json!({"delete_roots": ["/"]}),
        json!({"temp": ["/"]}),
        json!({"wrappers": ["rm", "git", "cat"]}),
        json!({"approve": true}),
        json!({"on_error": "allow"}),
        json!({"timeout_ms": 60000}),
        json!({"log": {"path": "/dev/null"}}),
        json!({"mcp": {"changed": "allow"}}),
    ] {
        for command in ["git push --force", "rm -rf src", "cat .env", "echo x > ../y", "ls"] {
            let verdict = decided(both(Value::Null, theirs.clone()), &bash(command));
            let alone = decided(Policy::default(), &bash(command));
            assert_eq!(verdict.decision, alone.decision, "{theirs} {command}");
            assert_eq!(verdict.approves, alone.approves, "{theirs} {command}");
        }
        let policy = both(Value::Null, theirs.clone());
        assert_eq!(policy.on_error(), Ask, "{theirs}");
        assert_eq!((policy.timeout_ms(), policy.log()), (TIMEOUT_MS, LogLocation::default()));
        assert_eq!(policy.mcp().changed, None, "{theirs}");
        let codes: Vec<&str> = policy.loosened().iter().map(|p| p.code).collect();
        assert_eq!(codes, ["loosens"], "{theirs}");
    }
    for (mine, theirs, command, decision) in [
        (Value::Null, json!({"preset": "strict"}), "cat .env", Deny),
        (json!({"preset": "observe"}), json!({"preset": "strict"}), "cat .env", Deny),
        (json!({"preset": "observe"}), json!({"tools": {"deny": ["Bash"]}}), "ls", Allow),
        (json!({"preset": "strict"}), json!({"preset": "standard"}), "cat .env", Deny),
        (Value::Null, json!({"tools": {"deny": ["Bash"]}}), "ls", Deny),
        (json!({"tools": {"allow": ["Bash"]}}), json!({"tools": {"allow": ["Read"]}}), "ls", Deny),
        (Value::Null, json!({"protected": ["src/**"]}), "touch src/a", Deny),
        (Value::Null, json!({"effects": [{"kind": "delete", "decision": "deny"}]}), "rm a", Deny),
        (
            json!({"rules": [{"name": "env", "command": "cat .env", "decision": "allow",
            "examples": {"match": ["cat .env"]}}]}),
            json!({"protected": ["x/y"]}),
            "cat .env",
            Allow,
        ),
    ] {
        let policy = both(mine.clone(), theirs.clone());
        let words: Vec<String> = policy.loosened().into_iter().map(|p| p.message).collect();
        let lowers = theirs == json!({"preset": "standard"});
        assert_eq!(words.is_empty(), !lowers, "{theirs} {words:?}");
        assert_eq!(decided(policy, &bash(command)).decision, decision, "{mine} {theirs} {command}");
    }
}

#[test]
fn the_environment_may_only_raise() {
    for (file, word, want) in [
        ("standard", "strict", Preset::Strict),
        ("standard", "observe", Preset::Standard),
        ("observe", "standard", Preset::Standard),
        ("strict", "observe", Preset::Strict),
    ] {
        let layer = good(Whose::User, json!({ "preset": file }));
        let policy = Policy::new(Some(layer), None, Policy::preset_named(word));
        assert_eq!(policy.preset(), want, "{file} {word}");
    }
}

#[test]
fn a_rule_that_allows_in_vain_is_named() {
    let rule = |command: &str| {
        json!({"rules": [{"name": "mine", "command": command, "decision": "allow",
            "examples": {"match": [command]}}]})
    };
    for (command, in_vain) in
        [("git push --force", true), ("toolmark guard uninstall", true), ("cat .env", false)]
    {
        let problems = user(rule(command)).check_all().user;
        let found = problems.iter().any(|p| p.message.contains("has no effect"));
        assert_eq!(found, in_vain, "{command}: {problems:?}");
    }
}
