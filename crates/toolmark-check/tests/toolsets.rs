//! The toolset that a trace was made with, and the schemas of the built-in tools.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should say so")]

use toolmark_check::notation;
use toolmark_hosts::toolset::{ToolRole, Toolset, Toolsets, builtin, ids};

#[test]
fn the_host_is_known_or_guessed() {
    for (trace, host, is_guessed) in [
        ("Read {}", "claude-code", false),
        ("host: codex\nRead {}", "codex", false),
        ("host: openai\nRead {}\nBash {}", "claude-code", true),
        ("host: openai\nread_file {}\nreplace {}", "gemini-cli", true),
        ("host: openai\nexecute_command {}", "generic", true),
        ("host: openai\nbook_flight {}", "generic", true),
    ] {
        let run = notation::parse(trace).unwrap();
        let toolsets = Toolsets::default();
        let chosen = toolsets.choose(&run);
        let found = (&*chosen.host().id, chosen.is_guessed());
        assert_eq!(found, (host, is_guessed), "{trace}");
    }
}

#[test]
fn the_users_word_comes_first() {
    let mine: Toolset = serde_json::from_str(
        r#"{"id": "mine", "tools": {"Read": {"role": "other"}, "peek": {"role": "reads", "path": "file"}}}"#,
    )
    .unwrap();
    let toolsets = Toolsets::with(vec![mine]);
    let run = notation::parse("Read {}\npeek {}\nEdit {}\nmcp__fs__read_file {}\nmcp__fs__Edit {}");
    let run = run.unwrap();
    let chosen = toolsets.choose(&run);
    let roles = run.calls.iter().map(|call| chosen.describe(&call.name));
    let roles: Vec<_> = roles.map(|d| d.map(|d| (d.tool.role, d.by_user))).collect();
    assert_eq!(
        roles,
        [
            Some((ToolRole::Other, true)),
            Some((ToolRole::Reads, true)),
            Some((ToolRole::Edits, false)),
            Some((ToolRole::Reads, false)),
            None,
        ]
    );
}

#[test]
fn every_schema_is_one() {
    for set in ids().filter_map(builtin) {
        for tool in &*set.tools {
            if let Some(schema) = &tool.schema {
                let built = toolmark_schema::check_schema(&schema.parse());
                assert!(built.is_ok(), "{} {}: {built:?}", set.id, tool.name);
            }
        }
    }
}
