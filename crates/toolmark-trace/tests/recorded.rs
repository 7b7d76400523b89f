//! Checks that calls which a reader no longer understands are not reported as absent.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::collections::HashMap;
use std::io::Cursor;
use toolmark_testing::{assert_compared, files_below, find_shared};
use toolmark_trace::{Format, ReadOptions, RecordedCalls, read, read_path};

/// Words with which the formats mark calls, or containers of calls.
const MARKS: [&str; 31] = [
    "ActionEvent",
    "TOOL",
    "action",
    "actions",
    "agent.tool_use",
    "call",
    "calls",
    "command_execution",
    "custom_tool_call",
    "execute_tool",
    "function",
    "functionCall",
    "function_call",
    "gen_ai.tool.name",
    "local_shell_call",
    "mcp_tool_call",
    "messages",
    "spans",
    "steps",
    "tool",
    "tool-call",
    "toolCall",
    "toolCalls",
    "toolName",
    "toolRequests",
    "toolUse",
    "tool_call",
    "tool_calls",
    "tool_name",
    "tool_use",
    "traj",
];

/// Cases in which another view of the same run still contains the other calls.
const ARGUED: [(&str, &str); 2] = [("otel-list", "TOOL"), ("otlp-json", "TOOL")];

struct Count {
    calls: usize,
    /// Whether all calls are claimed to be recorded.
    is_sure: bool,
    skipped: u64,
    runs: usize,
}

fn count(text: &str, format: &'static dyn Format) -> Count {
    let options = ReadOptions { force: Some(format), ..ReadOptions::default() };
    let stream = Cursor::new(text.as_bytes().to_vec());
    let mut runs = read(stream, "changed", &options).unwrap();
    let all: Vec<_> = runs.by_ref().collect();
    let flat: Vec<_> = all.iter().flat_map(|run| run.flatten()).collect();
    Count {
        calls: flat.iter().map(|run| run.calls.len()).sum(),
        is_sure: flat.iter().all(|run| run.calls_recorded() == RecordedCalls::Fully),
        skipped: runs.skipped(),
        runs: all.len(),
    }
}

#[test]
fn calls_that_are_not_understood_are_not_said_to_be_recorded() {
    const MAX_SIZE: usize = 300_000;
    const MAX_FILES: usize = 6;
    let Some(dir) = find_shared("traces") else { return };
    let mut per_format: HashMap<&str, usize> = HashMap::new();
    let (mut wrong, mut compared) = (Vec::new(), 0);
    for file in files_below(&dir) {
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        let Ok(runs) = read_path(&file, &ReadOptions::default()) else { continue };
        let format = runs.format();
        let id = format.info().id;
        let files = per_format.entry(id).or_default();
        if text.is_empty() || text.len() > MAX_SIZE || *files == MAX_FILES {
            continue;
        }
        *files += 1;
        let before = count(&text, format);
        for mark in MARKS {
            let changed = text.replace(&format!("\"{mark}\""), &format!("\"new_{mark}\""));
            if changed == text || !before.is_sure || ARGUED.contains(&(id, mark)) {
                continue;
            }
            compared += 1;
            let after = count(&changed, format);
            let is_silent = after.skipped == before.skipped && after.runs > 0;
            if after.calls < before.calls && after.is_sure && is_silent {
                let name = file.strip_prefix(&dir).unwrap_or(&file).display();
                wrong.push(format!("{name} [{id}] {mark}: {} -> {}", before.calls, after.calls));
            }
        }
    }
    assert_compared(compared, 300, "changed files");
    assert!(wrong.is_empty(), "{} are green:\n{}", wrong.len(), wrong.join("\n"));
}
