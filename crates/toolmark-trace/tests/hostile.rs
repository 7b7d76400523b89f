//! Files made to be slow or to exhaust the stack.
//!
//! One ID for every call, results without a matching call, parents in a cycle, sub-agents in
//! sub-agents: each of these invites nested loops or recursion. Every format is read, counted,
//! exported and dropped on a small stack, in time that is linear and not quadratic in the size
//! of the file.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "helpers of tests")]

use std::fmt::Write;
use std::io::{Cursor, sink};
use std::time::Duration;
use toolmark_testing::CpuWatch;
use toolmark_trace::{EXPORTERS, FileSummary, ReadOptions, Trajectory, read};

/// Returns the number of repetitions; `TOOLMARK_MANY` overrides it.
fn many() -> usize {
    std::env::var("TOOLMARK_MANY").ok().and_then(|n| n.parse().ok()).unwrap_or(10_000)
}

/// Returns the CPU time limit for reading or one export, unoptimized: several times the usual
/// time, and less than a nested loop would take.
fn limit() -> Duration {
    Duration::from_secs(3) * many() as u32 / 10_000
}

/// Reads, counts, exports and drops on a stack of the size of a thread's.
fn survives(name: &str, format: &str, text: String) -> FileSummary {
    survives_all(name, format, text, true)
}

fn survives_all(name: &str, format: &str, text: String, exported: bool) -> FileSummary {
    let (name, format) = (name.to_owned(), format.to_owned());
    let work = move || {
        let watch = CpuWatch::start();
        let mut read = read(Cursor::new(text), "hostile", &ReadOptions::default()).unwrap();
        assert_eq!(read.format().info().id, format, "{name}");
        let runs: Vec<Trajectory> = read.by_ref().collect();
        let mut summary = FileSummary::default();
        runs.iter().for_each(|run| summary.add(run));
        let mut times = vec![("read", watch.elapsed())];
        for exporter in EXPORTERS.iter().filter(|_| exported) {
            let watch = CpuWatch::start();
            for run in runs.iter().take(100) {
                exporter.export(run, &mut sink()).unwrap();
            }
            times.push((exporter.info().id, watch.elapsed()));
        }
        let watch = CpuWatch::start();
        drop(runs.clone());
        drop(runs);
        times.push(("drop", watch.elapsed()));
        let listed = times.iter().map(|(what, time)| format!("{what} {}", time.as_millis()));
        let listed = listed.collect::<Vec<_>>().join(", ");
        eprintln!("{format} {name}: {listed} ms, {} calls", summary.tool_calls);
        assert!(times.iter().all(|(_, time)| *time < limit()), "{format} {name} is slow: {listed}");
        summary
    };
    std::thread::Builder::new().stack_size(1 << 20).spawn(work).unwrap().join().unwrap()
}

/// Syntax of a format for calls and results.
struct Shape {
    format: &'static str,
    head: &'static str,
    call: fn(&str, usize) -> String,
    result: fn(&str, usize) -> String,
    between: &'static str,
    tail: &'static str,
}

/// Returns `"key":"id",`, or an empty text without an ID.
fn member(key: &str, id: &str) -> String {
    if id.is_empty() { String::new() } else { format!("\"{key}\":\"{id}\",") }
}

#[rustfmt::skip]
const SHAPES: &[Shape] = &[
    Shape {
        format: "claude-code", between: "\n", tail: "",
        head: r#"{"type":"user","uuid":"u","parentUuid":null,"sessionId":"s","message":{"role":"user","content":"go"}}"#,
        call: |id, i| format!(r#"{{"type":"assistant","uuid":"a{i}","parentUuid":"r{}","sessionId":"s","message":{{"id":"m{i}","content":[{{"type":"tool_use",{}"name":"Bash","input":{{"n":{i}}}}}]}}}}"#, i.wrapping_sub(1), member("id", id)),
        result: |id, i| format!(r#"{{"type":"user","uuid":"r{i}","parentUuid":"a{i}","sessionId":"s","message":{{"content":[{{"type":"tool_result",{}"content":"x"}}]}}}}"#, member("tool_use_id", id)),
    },
    Shape {
        format: "claude-stream", between: "\n", tail: "",
        head: r#"{"type":"system","subtype":"init","session_id":"s","uuid":"0","cwd":"/","model":"m","tools":[]}"#,
        call: |id, i| format!(r#"{{"type":"assistant","uuid":"a{i}","session_id":"s","parent_tool_use_id":null,"message":{{"id":"m{i}","role":"assistant","content":[{{"type":"tool_use",{}"name":"Bash","input":{{"n":{i}}}}}]}}}}"#, member("id", id)),
        result: |id, i| format!(r#"{{"type":"user","uuid":"r{i}","session_id":"s","parent_tool_use_id":null,"message":{{"role":"user","content":[{{"type":"tool_result",{}"content":"x"}}]}}}}"#, member("tool_use_id", id)),
    },
    Shape {
        format: "codex-rollout", between: "\n", tail: "",
        head: r#"{"timestamp":"2026-01-01T00:00:00Z","type":"session_meta","payload":{"id":"r1","cwd":"/w","cli_version":"0.140.0","source":"cli"}}"#,
        call: |id, i| format!(r#"{{"timestamp":"2026-01-01T00:00:00Z","type":"response_item","payload":{{"type":"function_call",{}"name":"exec","arguments":"{{\"n\":{i}}}"}}}}"#, member("call_id", id)),
        result: |id, _| format!(r#"{{"timestamp":"2026-01-01T00:00:00Z","type":"response_item","payload":{{"type":"function_call_output",{}"output":"x"}}}}"#, member("call_id", id)),
    },
    Shape {
        format: "copilot-cli", between: "\n", tail: "",
        head: r#"{"type":"session.start","data":{"sessionId":"s","copilotVersion":"1.0"},"id":"0","timestamp":"2026-01-01T00:00:00Z","parentId":null}"#,
        call: |id, i| format!(r#"{{"type":"assistant.message","data":{{"messageId":"m{i}","content":"","toolRequests":[{{{}"name":"bash","arguments":{{"n":{i}}}}}]}},"id":"a{i}","parentId":"r{i}"}}"#, member("toolCallId", id)),
        result: |id, i| format!(r#"{{"type":"tool.execution_complete","data":{{{}"success":true,"result":{{"content":"x"}}}},"id":"r{i}","parentId":"a{i}"}}"#, member("toolCallId", id)),
    },
    Shape {
        format: "pi", between: "\n", tail: "",
        head: r#"{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00Z","cwd":"/w"}"#,
        call: |id, i| format!(r#"{{"type":"message","id":"a{i}","parentId":"r{}","message":{{"role":"assistant","content":[{{"type":"toolCall",{}"name":"bash","arguments":{{"n":{i}}}}}]}}}}"#, i.wrapping_sub(1), member("id", id)),
        result: |id, i| format!(r#"{{"type":"message","id":"r{i}","parentId":"a{i}","message":{{"role":"toolResult",{}"toolName":"bash","content":"x","isError":false}}}}"#, member("toolCallId", id)),
    },
    Shape {
        format: "gemini-cli", between: ",", tail: "]}",
        head: r#"{"sessionId":"s1","projectHash":"p","startTime":"2026-01-01T00:00:00Z","messages":[{"id":"a","type":"user","content":"go"}"#,
        call: |id, i| format!(r#"{{"id":"m{i}","type":"gemini","content":"","toolCalls":[{{{}"name":"sh","args":{{"n":{i}}},"status":"executing"}}]}}"#, member("id", id)),
        result: |id, i| format!(r#"{{"id":"r{i}","type":"gemini","content":"","toolCalls":[{{{}"name":"sh","args":{{"n":{i}}},"status":"success","result":[{{"functionResponse":{{{}"response":{{"output":"x"}}}}}}]}}]}}"#, member("id", id), member("id", id)),
    },
    Shape {
        format: "gemini-contents", between: ",", tail: "]}",
        head: r#"{"contents":[{"role":"user","parts":[{"text":"go"}]}"#,
        call: |id, i| format!(r#"{{"role":"model","parts":[{{"functionCall":{{{}"name":"f","args":{{"n":{i}}}}}}}]}}"#, member("id", id)),
        result: |id, _| format!(r#"{{"role":"user","parts":[{{"functionResponse":{{{}"name":"f","response":{{"output":"x"}}}}}}]}}"#, member("id", id)),
    },
    Shape {
        format: "openai-chat", between: "\n", tail: "",
        head: r#"{"role":"user","content":"go"}"#,
        call: |id, i| format!(r#"{{"role":"assistant","content":null,"tool_calls":[{{{}"type":"function","function":{{"name":"f","arguments":"{{\"n\":{i}}}"}}}}]}}"#, member("id", id)),
        result: |id, _| format!(r#"{{"role":"tool",{}"content":"x"}}"#, member("tool_call_id", id)),
    },
    Shape {
        format: "openai-responses", between: "\n", tail: "",
        head: r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"go"}]}"#,
        call: |id, i| format!(r#"{{"type":"function_call",{}"name":"f","arguments":"{{\"n\":{i}}}"}}"#, member("call_id", id)),
        result: |id, _| format!(r#"{{"type":"function_call_output",{}"output":"x"}}"#, member("call_id", id)),
    },
    Shape {
        format: "langchain", between: ",", tail: "]",
        head: r#"[{"type":"human","data":{"content":"go"}}"#,
        call: |id, i| format!(r#"{{"type":"ai","data":{{"content":"","tool_calls":[{{{}"name":"f","args":{{"n":{i}}}}}]}}}}"#, member("id", id)),
        result: |id, _| format!(r#"{{"type":"tool","data":{{{}"content":"x","status":"success"}}}}"#, member("tool_call_id", id)),
    },
    Shape {
        format: "anthropic-messages", between: "\n", tail: "",
        head: r#"{"role":"user","content":[{"type":"text","text":"go"}]}"#,
        call: |id, i| format!(r#"{{"role":"assistant","content":[{{"type":"tool_use",{}"name":"f","input":{{"n":{i}}}}}]}}"#, member("id", id)),
        result: |id, _| format!(r#"{{"role":"user","content":[{{"type":"tool_result",{}"content":"x"}}]}}"#, member("tool_use_id", id)),
    },
    Shape {
        format: "atif", between: ",", tail: "]}",
        head: r#"{"schema_version":"ATIF-v1.7","agent":{"name":"a","version":"1"},"steps":[{"step_id":1,"source":"user","message":"go"}"#,
        call: |id, i| format!(r#"{{"step_id":{i},"source":"agent","message":"","tool_calls":[{{{}"function_name":"f","arguments":{{"n":{i}}}}}]}}"#, member("tool_call_id", id)),
        result: |id, i| format!(r#"{{"step_id":{i},"source":"system","message":"","observation":{{"results":[{{{}"content":"x"}}]}}}}"#, member("source_call_id", id)),
    },
    Shape {
        format: "otlp-json", between: ",", tail: "]}]}]}",
        head: r#"{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"t","spanId":"a","name":"invoke_agent","attributes":[]}"#,
        call: |id, i| format!(r#"{{"traceId":"t","spanId":"c{i}","parentSpanId":"a","name":"chat","startTimeUnixNano":"{i}","attributes":[{{"key":"gen_ai.operation.name","value":{{"stringValue":"chat"}}}},{{"key":"gen_ai.output.messages","value":{{"stringValue":"[{{\"role\":\"assistant\",\"parts\":[{{\"type\":\"tool_call\",{}\"name\":\"f\",\"arguments\":{{\"n\":{i}}}}}]}}]"}}}}]}}"#, member("id", id).replace('"', "\\\"")),
        result: |id, i| format!(r#"{{"traceId":"t","spanId":"r{i}","parentSpanId":"a","name":"execute_tool f","startTimeUnixNano":"{i}","endTimeUnixNano":"{i}","attributes":[{{"key":"gen_ai.operation.name","value":{{"stringValue":"execute_tool"}}}},{{"key":"gen_ai.tool.call.id","value":{{"stringValue":"{id}"}}}}]}}"#),
    },
    Shape {
        format: "langfuse", between: ",", tail: "]}",
        head: r#"{"trace":{"id":"t","projectId":"p","name":"w","timestamp":"2026-01-01T00:00:00Z","observations":[]},"observations":[{"id":"a","traceId":"t","type":"AGENT","name":"p","startTime":"2026-01-01T00:00:00Z","parentObservationId":null}"#,
        call: |id, i| format!(r#"{{"id":"c{i}","traceId":"t","type":"GENERATION","name":"chat","startTime":"2026-01-01T00:00:00Z","parentObservationId":"a","input":"[{{\"role\":\"user\",\"content\":\"go\"}}]","output":"\"x\"","toolCalls":["{{{}\"name\":\"f\",\"arguments\":\"{{\\\"n\\\":{i}}}\"}}"]}}"#, member("id", id).replace('"', "\\\"")),
        result: |id, i| format!(r#"{{"id":"r{i}","traceId":"t","type":"TOOL","name":"f","startTime":"2026-01-01T00:00:00Z","endTime":"2026-01-01T00:00:00Z","parentObservationId":"a","input":"{{\"n\":{i}}}","output":"x","metadata":"{{\"attributes\":{{\"gen_ai.tool.call.id\":\"{id}\"}}}}"}}"#),
    },
    Shape {
        format: "langsmith", between: "\n", tail: "",
        head: r#"{"id":"root","trace_id":"root","run_type":"chain","name":"agent","start_time":"2026-01-01T00:00:00","dotted_order":"20260101T000000000000Zroot","inputs":{},"outputs":{}}"#,
        call: |id, i| format!(r#"{{"id":"c{i}","trace_id":"root","parent_run_id":"root","dotted_order":"20260101T000000000000Zroot.20260101T000000000000Zc{i}","run_type":"llm","name":"m","start_time":"2026-01-01T00:00:00","inputs":{{"messages":[]}},"outputs":{{"generations":[[{{"text":"","message":{{"lc":1,"type":"constructor","id":["langchain","AIMessage"],"kwargs":{{"content":"","tool_calls":[{{{}"name":"f","args":{{"n":{i}}}}}]}}}}}}]]}}}}"#, member("id", id)),
        result: |id, i| format!(r#"{{"id":"r{i}","trace_id":"root","parent_run_id":"root","dotted_order":"20260101T000000000000Zroot.20260101T000000000000Zr{i}","run_type":"tool","name":"f","start_time":"2026-01-01T00:00:00","inputs":{{"input":"{{'n': {i}}}"}},"outputs":{{"output":{{"type":"tool",{}"content":"x","status":"success"}}}}}}"#, member("tool_call_id", id)),
    },
    Shape {
        format: "inspect", between: ",", tail: "]}]}",
        head: r#"{"version":2,"status":"success","eval":{"task":"t","model":"m/x"},"plan":{},"samples":[{"id":1,"epoch":1,"input":"go","messages":[{"role":"user","content":"go"}"#,
        call: |id, i| format!(r#"{{"id":"m{i}","role":"assistant","content":"","tool_calls":[{{{}"function":"f","arguments":{{"n":{i}}}}}]}}"#, member("id", id)),
        result: |id, _| format!(r#"{{"role":"tool",{}"function":"f","content":"x"}}"#, member("tool_call_id", id)),
    },
    Shape {
        format: "tau2-bench", between: ",", tail: "]}]}",
        head: r#"{"timestamp":"t","info":{"agent_info":{"implementation":"llm_agent","llm":"m"}},"tasks":[],"simulations":[{"id":"s1","task_id":"7","termination_reason":"user_stop","messages":[{"role":"user","content":"go"}"#,
        call: |id, i| format!(r#"{{"role":"assistant","content":"","tool_calls":[{{{}"name":"f","arguments":{{"n":{i}}},"requestor":"assistant"}}]}}"#, member("id", id)),
        result: |id, _| format!(r#"{{"role":"tool",{}"content":"x","error":false,"requestor":"assistant"}}"#, member("id", id)),
    },
    Shape {
        format: "openhands", between: ",", tail: "]",
        head: r#"[{"id":1,"timestamp":"2025-01-01T00:00:00","source":"user","action":"message","args":{"content":"go"}}"#,
        call: |id, i| format!(r#"{{"id":{i},"source":"agent","action":"run","args":{{"command":"a"}},"tool_call_metadata":{{"function_name":"f",{}"total_calls_in_response":1,"model_response":{{"id":"r","choices":[{{"message":{{"tool_calls":[{{{}"function":{{"name":"f","arguments":"{{\"n\":{i}}}"}}}}]}}}}]}}}}}}"#, member("tool_call_id", id), member("id", id)),
        result: |id, i| format!(r#"{{"id":{i},"observation":"run","content":"x","tool_call_metadata":{{"function_name":"f",{}"total_calls_in_response":1}}}}"#, member("tool_call_id", id)),
    },
    Shape {
        format: "openhands", between: ",", tail: "]",
        head: r#"[{"id":1,"timestamp":"2025-01-01T00:00:00","source":"user","action":"message","args":{"content":"go"}}"#,
        call: |_, i| format!(r#"{{"id":{i},"source":"agent","action":"run","args":{{"command":"{i}"}}}}"#),
        result: |_, i| format!(r#"{{"id":{i},"observation":"run","cause":{i},"content":"x"}}"#),
    },
    Shape {
        format: "agentv-transcript", between: "\n", tail: "",
        head: r#"{"schema_version":"agentv.transcript.v1","test_id":"t","target":"x","message_index":0,"role":"user","content":"go"}"#,
        call: |id, i| format!(r#"{{"schema_version":"agentv.transcript.v1","test_id":"t","target":"x","message_index":{i},"role":"assistant","tool_calls":[{{"tool":"f","input":{{"n":{i}}},{}"status":"unknown"}}]}}"#, member("id", id)),
        result: |id, i| format!(r#"{{"schema_version":"agentv.transcript.v1","test_id":"t","target":"x","message_index":{i},"role":"tool",{}"content":"x"}}"#, member("tool_call_id", id)),
    },
    Shape {
        format: "opencode", between: "\n", tail: "",
        head: r#"{"type":"step_start","timestamp":1730000000000,"sessionID":"s","part":{"id":"p0","sessionID":"s","messageID":"m1","type":"step-start"}}"#,
        call: |id, i| format!(r#"{{"type":"tool_use","timestamp":1730000001000,"sessionID":"s","part":{{"id":"c{i}","messageID":"m{i}","type":"tool",{}"tool":"f","state":{{"status":"running","input":{{"n":{i}}}}}}}}}"#, member("callID", id)),
        result: |id, i| format!(r#"{{"type":"tool_use","timestamp":1730000001000,"sessionID":"s","part":{{"id":"r{i}","messageID":"m{i}","type":"tool",{}"tool":"f","state":{{"status":"completed","input":{{"n":{i}}},"output":"x"}}}}}}"#, member("callID", id)),
    },
    Shape {
        format: "vally", between: ",", tail: r#"],"output":"","metrics":{},"metadata":{}},"gradeResult":null}"#,
        head: r#"{"status":"success","trajectory":{"id":"v","stimulus":{"name":"s","prompt":"go"},"events":[{"type":"user_message","data":{"content":"go"}}"#,
        call: |id, i| format!(r#"{{"type":"tool_call","data":{{{}"toolName":"f","arguments":{{"n":{i}}}}}}}"#, member("toolCallId", id)),
        result: |id, _| format!(r#"{{"type":"tool_result","data":{{{}"toolName":"f","success":true,"result":"x"}}}}"#, member("toolCallId", id)),
    },
    Shape {
        format: "toolmark", between: ",", tail: "]}",
        head: r#"{"schema":"toolmark.trajectory.v1","format":"atif","file":"f","user_turns":0,"orphans":0,"repeated_results":0,"fidelity_gaps":[],"agent":{},"steps":[],"calls":[{"name":"f","status":"unanswered","level":"absent","actor":"agent","at":{"line":1,"column":1,"byte":0}}],"events":[{"kind":"call","call":0}"#,
        call: |_, i| format!(r#"{{"kind":"call","call":{i},"at":{{"line":{i},"column":1,"byte":{i}}}}}"#),
        result: |_, i| format!(r#"{{"kind":"result","call":0,"at":{{"line":{i},"column":1,"byte":{i}}}}}"#),
    },
];

impl Shape {
    fn file(&self, lines: impl Iterator<Item = String>) -> String {
        let mut text = self.head.to_owned();
        for line in lines {
            text.push_str(self.between);
            text.push_str(&line);
        }
        text.push_str(self.tail);
        text
    }

    fn survives(&self, name: &str, lines: impl Iterator<Item = String>) {
        let summary = survives_all(name, self.format, self.file(lines), false);
        assert!(summary.trajectories > 0, "{} {name}", self.format);
    }
}

fn every_shape(test: impl Fn(&Shape, usize)) {
    let only = std::env::var("TOOLMARK_FORMAT").unwrap_or_default();
    SHAPES.iter().filter(|s| s.format.contains(&only)).for_each(|shape| test(shape, many()));
}

#[test]
fn one_id_for_everything() {
    every_shape(|shape, n| {
        let calls = (0..n).map(|i| (shape.call)("same", i));
        let results = (0..n).map(|i| (shape.result)("same", i));
        shape.survives("one id, calls first", calls.chain(results));
        let pairs = (0..n).flat_map(|i| [(shape.call)("same", i), (shape.result)("same", i)]);
        shape.survives("one id, in pairs", pairs);
    });
}

#[test]
fn no_ids_at_all() {
    every_shape(|shape, n| {
        let calls = (0..n).map(|i| (shape.call)("", i));
        let results = (0..n).map(|i| (shape.result)("", i));
        shape.survives("no ids", calls.chain(results));
        shape.survives("results alone", (0..n).map(|i| (shape.result)("", i)));
    });
}

#[test]
fn many_calls_are_exported() {
    every_shape(|shape, n| {
        let calls = (0..n / 8).map(|i| (shape.call)(&format!("c{i}"), i));
        let results = (0..n / 8).rev().map(|i| (shape.result)(&format!("c{i}"), i));
        survives("exported", shape.format, shape.file(calls.chain(results)));
    });
}

#[test]
fn results_of_nobody_and_results_in_reverse() {
    every_shape(|shape, n| {
        shape.survives("orphans", (0..n).map(|i| (shape.result)(&format!("o{i}"), i)));
        let calls = (0..n).map(|i| (shape.call)(&format!("c{i}"), i));
        let results = (0..n).rev().map(|i| (shape.result)(&format!("c{i}"), i));
        shape.survives("reverse", calls.chain(results));
    });
}

fn span(id: &str, parent: &str, operation: &str, i: usize) -> String {
    format!(
        r#"{{"traceId":"t","spanId":"{id}","parentSpanId":"{parent}","name":"{operation}","startTimeUnixNano":"{i}","endTimeUnixNano":"{}","attributes":[{{"key":"gen_ai.operation.name","value":{{"stringValue":"{operation}"}}}},{{"key":"gen_ai.tool.name","value":{{"stringValue":"t{i}"}}}}]}}"#,
        i + 5
    )
}

fn spans(spans: impl Iterator<Item = String>) -> String {
    let spans: Vec<String> = spans.collect();
    format!(r#"{{"resourceSpans":[{{"scopeSpans":[{{"spans":[{}]}}]}}]}}"#, spans.join(","))
}

const OPERATIONS: [&str; 3] = ["execute_tool", "invoke_agent", "chat"];

#[test]
fn spans_in_circles_and_chains() {
    let n = many();
    for operation in OPERATIONS {
        let circle = |i: usize| span(&i.to_string(), &((i + 1) % n).to_string(), operation, i);
        survives(&format!("circle of {operation}"), "otlp-json", spans((0..n).map(circle)));
        let chain = |i: usize| span(&i.to_string(), &(i + 1).to_string(), operation, i);
        survives(&format!("chain of {operation}"), "otlp-json", spans((0..n).map(chain)));
    }
    let mixed = |i: usize| span(&i.to_string(), &(i + 1).to_string(), OPERATIONS[i % 2], i);
    survives("agents in tools", "otlp-json", spans((0..n).map(mixed)));
    let wide = |i: usize| match i % 2 {
        0 => span(&i.to_string(), "root", "execute_tool", i),
        _ => span(&i.to_string(), &(i - 1).to_string(), "invoke_agent", i),
    };
    let root = span("root", "", "invoke_agent", 0);
    survives("many agents", "otlp-json", spans((0..n).map(wide).chain([root])));
}

#[test]
fn other_trees_in_circles_and_chains() {
    let n = many();
    for (name, next) in [("circle", n), ("chain", usize::MAX)] {
        let parent = move |i: usize| (i + 1) % next;
        let observation = |i: usize| {
            let kind = ["TOOL", "AGENT", "GENERATION"][i % 3];
            format!(
                r#"{{"id":"{i}","traceId":"t","type":"{kind}","name":"n{i}","startTime":"2026-01-01T00:00:00Z","parentObservationId":"{}"}}"#,
                parent(i)
            )
        };
        let observations: Vec<String> = (0..n).map(observation).collect();
        let text = format!(
            r#"{{"trace":{{"id":"t","projectId":"p","name":"w","timestamp":"2026-01-01T00:00:00Z"}},"observations":[{}]}}"#,
            observations.join(",")
        );
        survives(name, "langfuse", text);
        let run = |i: usize| {
            let kind = ["tool", "chain", "llm"][i % 3];
            format!(
                "{{\"id\":\"{i}\",\"trace_id\":\"t\",\"parent_run_id\":\"{}\",\"run_type\":\"{kind}\",\"name\":\"n{i}\",\"start_time\":\"2026-01-01T00:00:00\",\"inputs\":{{}},\"outputs\":{{}}}}\n",
                parent(i)
            )
        };
        survives(name, "langsmith", (0..n).map(run).collect());
        let traced = |i: usize| {
            format!(
                r#"{{"span_id":"{i}","parent_span_id":"{}","start_time_unix_nano":"{i}","attributes":{{"gen_ai.operation.name":"{}","gen_ai.tool.name":"t{i}"}}}}"#,
                parent(i),
                OPERATIONS[i % 3]
            )
        };
        let traced: Vec<String> = (0..n).map(traced).collect();
        let text = format!(
            r#"{{"schema_version":"agentv.trace.v1","eval":{{"test_id":"t","run_id":"r","target":"x"}},"trace":{{"spans":[{}]}}}}"#,
            traced.join(",")
        );
        survives(name, "agentv-trace", text);
        let session = |i: usize| {
            format!(
                "{{\"info\":{{\"id\":\"s{i}\",\"parentID\":\"s{}\",\"title\":\"T\",\"directory\":\"/w\",\"version\":\"1.0\",\"time\":{{\"created\":1730000000000}}}},\"messages\":[{{\"info\":{{\"id\":\"m{i}\",\"sessionID\":\"s{i}\",\"role\":\"user\"}},\"parts\":[{{\"type\":\"text\",\"text\":\"go\"}}]}}]}}\n",
                parent(i)
            )
        };
        survives(name, "opencode", (0..n).map(session).collect());
        let entry = |i: usize| {
            format!(
                "\n{{\"type\":\"message\",\"id\":\"{i}\",\"parentId\":\"{}\",\"message\":{{\"role\":\"user\",\"content\":\"x\"}}}}",
                parent(i)
            )
        };
        let head = r#"{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00Z","cwd":"/w"}"#;
        survives(name, "pi", head.to_owned() + &(0..n).map(entry).collect::<String>());
        let line = |i: usize| {
            format!(
                "{{\"type\":\"user\",\"uuid\":\"{i}\",\"parentUuid\":\"{}\",\"isSidechain\":{},\"sessionId\":\"s\",\"message\":{{\"role\":\"user\",\"content\":\"x\"}}}}\n",
                parent(i),
                i > 0
            )
        };
        survives(name, "claude-code", (0..n).map(line).collect());
    }
}

/// Returns `open` nested `depth` times, each closed with `close`.
fn nested(open: &str, close: &str, depth: usize) -> String {
    open.repeat(depth) + &close.repeat(depth)
}

#[test]
fn documents_in_documents() {
    let n = many() / 2;
    let open = r#"{"schema_version":"ATIF-v1.7","agent":{"name":"a","version":"1"},"steps":[{"step_id":1,"source":"agent","message":"m","tool_calls":[{"tool_call_id":"c","function_name":"f","arguments":{}}]}],"subagent_trajectories":["#;
    let summary = survives("nested", "atif", nested(open, "]}", n));
    assert_eq!(summary.tool_calls, n as u64, "none is lost");
    let open = r#"{"schema":"toolmark.trajectory.v1","format":"atif","file":"f","children":["#;
    survives("nested", "toolmark", nested(open, "]}", n));
    let open = r#"{"span_id":"s","trace_id":"t","span_name":"n","timestamp":"2025-01-01T00:00:00Z","duration":"PT1S","span_attributes":{"openinference.span.kind":"TOOL"},"child_spans":["#;
    let text = format!(r#"{{"trace_id":"t","spans":[{}]}}"#, nested(open, "]}", n));
    survives("nested", "trail", text);
}

#[test]
fn very_many_sub_agents() {
    let n = many();
    let mut atif = String::from(
        r#"{"schema_version":"ATIF-v1.7","agent":{"name":"a","version":"1"},"steps":["#,
    );
    let mut children = String::new();
    for i in 0..n {
        let comma = if i > 0 { "," } else { "" };
        write!(atif, r#"{comma}{{"step_id":{i},"source":"agent","message":"","tool_calls":[{{"tool_call_id":"c{i}","function_name":"f","arguments":{{}}}}],"observation":{{"results":[{{"source_call_id":"c{i}","content":"x","subagent_trajectory_ref":[{{"trajectory_id":"t{i}"}}]}}]}}}}"#).unwrap();
        write!(children, r#"{comma}{{"schema_version":"ATIF-v1.7","trajectory_id":"t{i}","agent":{{"name":"a","version":"1"}},"steps":[{{"step_id":1,"source":"user","message":"m"}}]}}"#).unwrap();
    }
    write!(atif, r#"],"subagent_trajectories":[{children}]}}"#).unwrap();
    survives("many sub-agents", "atif", atif);

    let mut stream = SHAPES[1].head.to_owned();
    for i in 0..n {
        write!(stream, "\n{{\"type\":\"assistant\",\"session_id\":\"s\",\"parent_tool_use_id\":{},\"message\":{{\"id\":\"m{i}\",\"role\":\"assistant\",\"content\":[{{\"type\":\"tool_use\",\"id\":\"c{i}\",\"name\":\"Task\",\"input\":{{}}}}]}}}}", if i == 0 { "null".to_owned() } else { format!("\"c{}\"", i - 1) }).unwrap();
    }
    survives("agents in agents", "claude-stream", stream);

    let mut copilot = SHAPES[3].head.to_owned();
    for i in 0..n {
        let parent = if i == 0 {
            String::new()
        } else {
            format!("\"parentToolCallId\":\"c{}\",\"agentId\":\"c{}\",", i - 1, i - 1)
        };
        write!(copilot, "\n{{\"type\":\"assistant.message\",\"data\":{{{parent}\"messageId\":\"m{i}\",\"content\":\"\",\"toolRequests\":[{{\"toolCallId\":\"c{i}\",\"name\":\"task\",\"arguments\":{{}}}}]}},\"id\":\"a{i}\",\"parentId\":null}}\n{{\"type\":\"subagent.started\",\"data\":{{\"toolCallId\":\"c{i}\",\"agentName\":\"x\"}},\"agentId\":\"c{i}\",\"id\":\"s{i}\",\"parentId\":null}}").unwrap();
    }
    survives("agents in agents", "copilot-cli", copilot);
}
