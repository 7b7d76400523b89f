//! Tests of the toolset that is chosen for a trace, and of the schemas of the built-in tools.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should say so")]

use std::collections::BTreeMap;
use toolmark_hosts::toolset::{ToolRole, Toolset, Toolsets, builtin, ids};
use toolmark_session::notation;
use toolmark_testing::{files_below, find_shared};
use toolmark_trace::{ReadOptions, Status, read_path};

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

#[test]
fn the_tools_of_shared_traces_have_roles() {
    let Some(traces) = find_shared("traces") else { return };
    let toolsets = Toolsets::default();
    let mut without: BTreeMap<String, BTreeMap<String, u64>> = BTreeMap::new();
    for path in files_below(&traces) {
        let Ok(runs) = read_path(&path, &ReadOptions::default()) else { continue };
        for run in runs {
            let chosen = toolsets.choose(&run);
            if chosen.is_guessed() {
                continue;
            }
            for call in &run.calls {
                // Tools of servers are known to those who run them.
                let is_served = call.name.canonical().server.is_some();
                // What was refused may be no tool at all.
                let is_tool = call.status == Status::Succeeded;
                if is_tool && !is_served && chosen.describe(&call.name).is_none() {
                    let of_host = without.entry(chosen.host().id.to_string()).or_default();
                    *of_host.entry(call.name.original.get().into_owned()).or_default() += 1;
                }
            }
        }
    }
    // Servers bring tools of their own; what a tool for files or commands is
    // called by has to be known.
    println!("tools without a role: {without:?}");
    const TELLING: &[&str] = &[
        "read", "write", "edit", "grep", "glob", "bash", "shell", "exec", "ls", "list", "patch",
        "view", "fetch", "search", "find", "replace", "run",
    ];
    let is_telling = |tool: &String| {
        let lower = tool.to_lowercase();
        let first = lower.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        TELLING.contains(&first)
    };
    for (host, tools) in &without {
        let missing: Vec<_> = tools.keys().filter(|tool| is_telling(tool)).collect();
        assert!(missing.is_empty(), "{host}: tools without a role: {missing:?}");
    }
}
