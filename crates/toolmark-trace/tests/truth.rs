//! Compares the counts of every shared trace with independent ones.

use serde_json::Value;
use std::collections::BTreeMap;
use toolmark_testing::{assert_compared, find_shared};
use toolmark_trace::{FileSummary, ReadOptions, read_path};

/// Justified differences from the independent counts: the start of the file's name, the
/// fields, and the reason.
const ARGUED: &[(&str, &[&str], &str)] = &[
    (
        "agentv/multi-agent.eval.results",
        &["trajectories"],
        "five result rows with five test ids are five runs, not one",
    ),
    ("agentv/replay-target-output", &["trajectories"], "two rows with two test ids are two runs"),
    (
        "agentv/nested-subagent",
        &["assistant_turns"],
        "the document has two spans with operation `chat`, one of them the sub-agent's",
    ),
    (
        "atif/nemorelay",
        &["unanswered", "orphans"],
        "both results name their calls by id, one step later; they cannot be answered and orphaned at once",
    ),
    (
        "atif/openagents_regex-log",
        &["tool_calls", "tool_results", "unanswered", "tool_names"],
        "the calls are keyed `id` and `name`, not `tool_call_id` and `function_name`: five calls of Bash and Write, each with a result, not two of \"None\"",
    ),
    (
        "bfcl/NousResearch_Hermes-2-Pro",
        &["tool_calls", "unanswered", "tool_names"],
        "the answers are calls written as <tool_call> text, not prose",
    ),
    (
        "bfcl/Salesforce_xLAM",
        &["tool_calls", "unanswered", "tool_names"],
        "the answers are calls written as {\"tool_calls\": …} text, not prose",
    ),
    (
        "codex_rollout/agentv_1f",
        &["tool_errors"],
        "one MCP result carries isError: true, a protocol mark beside the eight exit codes",
    ),
    (
        "gemini_cli/entire_c0",
        &[
            "tool_calls",
            "tool_results",
            "tool_errors",
            "assistant_turns",
            "user_turns",
            "tool_names",
        ],
        "the file is a Claude Code session, whatever folder it lies in",
    ),
    (
        "google_adk/adkpy_context_update",
        &["tool_results", "unanswered"],
        "the session holds the function_response of its call",
    ),
    (
        "google_adk/agentevals_evalset_helm_3",
        &["tool_results", "unanswered"],
        "the eval set holds the function_response with the id of its call",
    ),
    (
        "langfuse/lf_agno",
        &["tool_calls", "tool_results", "tool_names"],
        "the tool is an observation of type SPAN whose attributes say tool.name",
    ),
    (
        "langfuse/lf_langgraph-python",
        &["tool_calls", "tool_results", "tool_names"],
        "the tool is an observation of type SPAN whose output is a tool message with its call id",
    ),
    (
        "langfuse/lf_google-gemini",
        &["tokens"],
        "the file states 1104 reasoning tokens (completion_details.reasoning)",
    ),
    (
        "mini_swe_agent/deepseek_reasoner",
        &["tokens"],
        "each response states its reasoning_tokens; they sum to 2631, not 0",
    ),
    (
        "openhands/multi_swe_bench",
        &["tool_errors"],
        "two of the 21 error observations answer no call: they are errors of the run, not of a tool",
    ),
    (
        "otel_console/maf_traces",
        &["trajectories"],
        "eleven traces of eleven workflows that share no conversation are eleven runs",
    ),
    (
        "otel_jaeger/",
        &["assistant_turns"],
        "the call_llm spans with request, response and usage are model responses",
    ),
    (
        "otel_strands_fixture/openinference_adot",
        &["trajectories", "tool_calls", "tool_results", "assistant_turns", "tool_names"],
        "the messages are in log records joined by span id: two traces, three responses, one call",
    ),
    (
        "vscode_chat/spec.chatreplay",
        &["user_turns", "tokens"],
        "one prompt group repeats the prompt and request id of the one before it; cached_tokens are stated",
    ),
];

fn is_argued(file: &str, field: &str) -> bool {
    ARGUED.iter().any(|(start, fields, _)| file.starts_with(start) && fields.contains(&field))
}

#[test]
fn every_shared_file_gives_its_true_counts() {
    let Some(dir) = find_shared("traces") else { return };
    let truth: BTreeMap<String, Value> =
        serde_json::from_slice(&std::fs::read(dir.join("truth.json")).unwrap()).unwrap();
    let only = std::env::var("TOOLMARK_TRUTH").unwrap_or_default();
    let mut wrong = Vec::new();
    let mut checked = 0;
    for (file, expected) in truth.iter().filter(|(f, _)| f.contains(&only)) {
        let mut runs = match read_path(dir.join(file), &ReadOptions::default()) {
            Ok(runs) => runs,
            Err(error) => {
                wrong.push(format!("{file}: {error}"));
                continue;
            }
        };
        let summary = FileSummary::of(&mut runs);
        let mut ours = serde_json::to_value(&summary).unwrap();
        ours["bad_lines"] = runs.skipped().into();
        for field in [
            "trajectories",
            "tool_calls",
            "tool_results",
            "tool_errors",
            "unanswered",
            "orphans",
            "assistant_turns",
            "user_turns",
            "max_parallel",
            "tool_names",
            "tokens",
            "bad_lines",
        ] {
            checked += 1;
            let want = &expected[field];
            let got = &ours[field];
            if !want.is_null() && want != got && !is_argued(file, field) {
                let format = runs.format().info().id;
                wrong.push(format!("{file} [{format}] {field}: want {want}, got {got}"));
            }
        }
    }
    assert_compared(checked, 4_000, "fields");
    assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong.join("\n"));
}
