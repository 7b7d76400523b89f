//! Small runs in every vocabulary, read from plain span objects.

use crate::model::{Fact, Trajectory};
use crate::testing::{read_text, sketch};

/// Returns a span as one line; times are seconds after the start of a year.
fn span(id: &str, parent: &str, times: (u32, u32), name: &str, rest: &str) -> String {
    let time = |s: u32| format!("2026-01-01T00:{:02}:{:02}Z", s / 60, s % 60);
    let (start, end) = (time(times.0), time(times.1));
    format!(
        r#"{{"trace_id":"t1","span_id":"{id}","parent_span_id":"{parent}","name":"{name}","start_time":"{start}","end_time":"{end}",{rest}}}"#
    )
}

fn read(lines: &[String]) -> Vec<Trajectory> {
    let read = read_text(&lines.join("\n"));
    assert_eq!(read.format, "otel-list");
    assert_eq!(read.skipped, 0);
    read.runs
}

fn one(lines: &[String]) -> Trajectory {
    let mut runs = read(lines);
    assert_eq!(runs.len(), 1);
    runs.remove(0)
}

fn quoted(json: &str) -> String {
    serde_json::Value::from(json).to_string()
}

#[test]
fn genai_calls_come_from_tool_spans() {
    let asks = quoted(
        r#"[{"role":"assistant","parts":[{"type":"text","content":"both"},{"type":"tool_call","id":"c1","name":"look","arguments":{"at":1}},{"type":"tool_call","id":"c2","name":"look","arguments":{"at":2}},{"type":"tool_call","id":"c3","name":"hand_over"}]}]"#,
    );
    let request = quoted(
        r#"[{"role":"system","parts":[{"type":"text","content":"be brief"}]},{"role":"user","parts":[{"type":"text","content":"look"}]}]"#,
    );
    let again = quoted(
        r#"[{"role":"system","parts":[{"type":"text","content":"be brief"}]},{"role":"user","parts":[{"type":"text","content":"look"}]},{"role":"assistant","parts":[{"type":"text","content":"both"}]},{"role":"tool","parts":[{"type":"tool_call_response","id":"c1","response":"sky"}]}]"#,
    );
    let answer = quoted(r#"[{"role":"assistant","parts":[{"type":"text","content":"done"}]}]"#);
    let chat = r#""gen_ai.operation.name":"chat","gen_ai.request.model":"m""#;
    // Order in the file is by end, as exporters write it.
    let run = one(&[
        span(
            "b",
            "a",
            (1, 2),
            "chat m",
            &format!(
                r#""attributes":{{{chat},"gen_ai.input.messages":{request},"gen_ai.output.messages":{asks},"gen_ai.usage.input_tokens":10,"gen_ai.usage.output_tokens":"3","gen_ai.usage.cache_read.input_tokens":4}}"#
            ),
        ),
        span(
            "c",
            "a",
            (2, 4),
            "execute_tool look",
            r#""attributes":{"gen_ai.operation.name":"execute_tool","gen_ai.tool.name":"look","gen_ai.tool.call.id":"c1"}"#,
        ),
        span(
            "d",
            "a",
            (2, 3),
            "execute_tool look",
            r#""attributes":{"gen_ai.operation.name":"execute_tool","gen_ai.tool.name":"look","gen_ai.tool.call.id":"c2","error.type":"Timeout"},"status":{"code":"ERROR","message":"too slow"}"#,
        ),
        span(
            "e",
            "a",
            (5, 6),
            "chat m",
            &format!(
                r#""attributes":{{{chat},"gen_ai.input.messages":{again},"gen_ai.output.messages":{answer},"gen_ai.usage.input_tokens":"[REDACTED]"}}"#
            ),
        ),
        span(
            "h",
            "a",
            (5, 6),
            "POST",
            r#""attributes":{"gen_ai.conversation.id":"conv","http.method":"POST"}"#,
        ),
        span(
            "a",
            "gone",
            (0, 7),
            "invoke_agent helper",
            r#""attributes":{"gen_ai.operation.name":"invoke_agent","gen_ai.agent.name":"helper","gen_ai.conversation.id":"conv","gen_ai.usage.input_tokens":10}"#,
        ),
        span("n", "a", (6, 7), "dance", r#""attributes":{"gen_ai.operation.name":"dance"}"#),
    ]);
    assert_eq!(
        sketch(&run),
        "context: be brief\n\
         user: look\n\
         0 message: both\n\
         0 call look {\"at\":1} -> succeeded(protocol): sky\n\
         0 call look {\"at\":2} -> failed(protocol): too slow\n\
         1 message: done\n\
         note POST\n\
         unknown dance\n\
         note unexecuted/hand_over\n"
    );
    assert_eq!(run.id.as_ref().unwrap(), "conv");
    assert_eq!(run.agent.name.as_ref().unwrap(), "helper");
    let tokens = run.usage.unwrap().recorded;
    assert_eq!((tokens.input, tokens.output, tokens.cache_read), (10, 3, 4));
    assert_eq!(run.calls[0].duration.unwrap().as_secs(), 2);
    assert!(!run.fidelity.lacks(Fact::Parallel));
    let place = run.calls[0].at.location();
    assert_eq!((place.line, place.column), (2, 1));
}

#[test]
fn without_tool_spans_calls_come_from_messages() {
    let asks = quoted(
        r#"[{"role":"assistant","parts":[{"type":"tool_call","id":"c1","name":"f","arguments":{}},{"type":"tool_call","id":"c2","name":"g","arguments":{}}]}]"#,
    );
    let results = quoted(
        r#"[{"role":"user","parts":[{"type":"text","content":"go"}]},{"role":"assistant","parts":[{"type":"tool_call","id":"c0","name":"earlier"},{"type":"tool_call","id":"c1","name":"f"}]},{"role":"tool","parts":[{"type":"tool_call_response","id":"c1","response":"one"}]},{"role":"tool","parts":[{"type":"tool_call_response","id":"c9","response":"whose"}]}]"#,
    );
    let chat = r#""gen_ai.operation.name":"chat""#;
    let run = one(&[
        span(
            "a",
            "",
            (0, 1),
            "chat",
            &format!(r#""attributes":{{{chat},"gen_ai.output.messages":{asks}}}"#),
        ),
        span(
            "b",
            "",
            (2, 3),
            "chat",
            &format!(r#""attributes":{{{chat},"gen_ai.input.messages":{results}}}"#),
        ),
        span(
            "c",
            "",
            (4, 5),
            "chat",
            &format!(r#""attributes":{{{chat},"gen_ai.input.messages":{results}}}"#),
        ),
    ]);
    assert_eq!(
        sketch(&run),
        "0 call f {} -> unknown(absent): one\n\
         0 call g {} -> unanswered(absent): \n\
         user: go\n\
         call earlier  -> unanswered(absent): \n\
         orphanresult: whose\n"
    );
    assert!(run.fidelity.lacks(Fact::Status));
    assert_eq!(run.steps.len(), 3);
}

#[test]
fn events_of_the_old_conventions() {
    let run = one(&[
        span("a", "", (0, 1), "chat", r#""attributes":{"gen_ai.operation.name":"chat","gen_ai.usage.prompt_tokens":7,"gen_ai.usage.completion_tokens":2},
            "events":[{"name":"gen_ai.user.message","attributes":{"content":"[{\"text\":\"hi\"}]"}},
                      {"name":"gen_ai.choice","attributes":{"finish_reason":"tool_use","message":"[{\"toolUse\":{\"toolUseId\":\"c\",\"name\":\"f\",\"input\":{\"x\":1}}}]"}}]"#.replace('\n', "").as_str()),
        span("b", "", (2, 3), "execute_tool f", r#""attributes":{"gen_ai.operation.name":"execute_tool","gen_ai.tool.name":"f","gen_ai.tool.call.id":"c"},
            "events":[{"name":"gen_ai.tool.message","attributes":{"role":"tool","content":"{\"x\":1}","id":"c"}},
                      {"name":"gen_ai.choice","attributes":{"message":"[{\"text\":\"ok\"}]"}}]"#.replace('\n', "").as_str()),
    ]);
    assert_eq!(
        sketch(&run),
        "user: hi\n0 call f {\"x\":1} -> succeeded(protocol): [{\"text\":\"ok\"}]\n"
    );
    assert_eq!(run.usage.unwrap().total(), 9);
}

#[test]
fn openinference_with_a_sub_agent() {
    let run = one(&[
        span(
            "a",
            "",
            (0, 20),
            "crew",
            r#""attributes":{"openinference.span.kind":"AGENT","session.id":"s","llm.token_count.prompt":99,"llm.token_count.completion":9}"#,
        ),
        span(
            "b",
            "a",
            (1, 2),
            "llm",
            r#""attributes":{"openinference.span.kind":"LLM","llm.model_name":"m","llm.token_count.prompt":"5","llm.token_count.completion":"1","llm.token_count.total":"6","llm.input_messages.0.message.role":"user","llm.input_messages.0.message.content":"ask her","llm.output_messages.0.message.role":"assistant","llm.output_messages.0.message.tool_calls.0.tool_call.id":"c1","llm.output_messages.0.message.tool_calls.0.tool_call.function.name":"delegate","llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments":"{}","llm.tools.0.tool.json_schema":"{\"function\":{\"name\":\"delegate\"}}"}"#,
        ),
        span(
            "c",
            "a",
            (3, 9),
            "delegate",
            r#""attributes":{"openinference.span.kind":"TOOL","tool.name":"delegate","input.value":"{}","output.value":"she says 4"}"#,
        ),
        span("x", "c", (3, 9), "chain", r#""attributes":{"openinference.span.kind":"CHAIN"}"#),
        span(
            "d",
            "x",
            (4, 8),
            "expert",
            r#""attributes":{"openinference.span.kind":"AGENT","agent.name":"expert"}"#,
        ),
        span(
            "e",
            "d",
            (5, 6),
            "llm",
            r#""attributes":{"openinference.span.kind":"LLM","llm.token_count.prompt":2,"llm.token_count.completion":2,"llm.input_messages.0.message.role":"user","llm.input_messages.0.message.content":"2+2"}"#,
        ),
        span(
            "f",
            "d",
            (6, 7),
            "calc",
            r#""attributes":{"openinference.span.kind":"TOOL","tool.name":"calc","tool.id":"c2","tool.parameters":"{\"schema\":1}","input.value":"{\"args\":[],\"sanitize_inputs_outputs\":true,\"kwargs\":{\"e\":\"2+2\"}}"},"status":{"code":2},"events":[{"name":"exception","attributes":{"exception.message":"boom"}}]"#,
        ),
        span(
            "g",
            "a",
            (10, 11),
            "step",
            r#""attributes":{"openinference.span.kind":"CHAIN"},"status":{"code":"Error","description":"parse error"}"#,
        ),
    ]);
    assert_eq!(
        sketch(&run),
        "user: ask her\n\
         0 call delegate {} -> succeeded(protocol): she says 4\n\
         note chain\n\
         error: parse error\n\
         note step\n\
         sub-agent d\n\
         \u{20} context: 2+2\n\
         \u{20} 0 call calc {\"e\":\"2+2\"} -> failed(protocol): boom\n"
    );
    assert_eq!(run.calls[0].id.as_ref().unwrap(), "c1");
    assert_eq!(run.calls[0].spawned, run.children[0].id);
    let parent = run.children[0].parent.as_ref().unwrap();
    assert_eq!(parent.call.as_ref().unwrap(), "c1");
    assert_eq!(run.usage.unwrap().total(), 6);
    assert_eq!(run.children[0].usage.unwrap().total(), 4);
    assert_eq!(run.children[0].agent.name.as_ref().unwrap(), "expert");
    assert_eq!(run.tools.as_ref().unwrap().len(), 1);
}

#[test]
fn one_model_call_seen_by_three_instrumentations_is_one_step() {
    let request = quoted(
        r#"{"model":"m","config":{"system_instruction":"be kind"},"contents":[{"role":"user","parts":[{"text":"list"}]}]}"#,
    );
    let response = quoted(
        r#"{"content":{"role":"model","parts":[{"function_call":{"id":"c","name":"list","args":{}}}]}}"#,
    );
    let run = one(&[
        span(
            "a",
            "",
            (0, 5),
            "call_llm",
            &format!(
                r#""attributes":{{"gcp.vertex.agent.llm_request":{request},"gcp.vertex.agent.llm_response":{response},"gcp.vertex.agent.session_id":"s","gen_ai.usage.input_tokens":5,"gen_ai.usage.output_tokens":1}}"#
            ),
        ),
        span(
            "b",
            "a",
            (0, 4),
            "generate_content",
            r#""attributes":{"gen_ai.operation.name":"generate_content","gen_ai.usage.input_tokens":5,"gen_ai.usage.output_tokens":1}"#,
        ),
        span(
            "c",
            "b",
            (1, 2),
            "openai.chat",
            r#""attributes":{"llm.request.type":"chat","gen_ai.response.model":"m-1","gen_ai.prompt.0.role":"user","gen_ai.prompt.0.content":"list","gen_ai.completion.0.tool_calls.0.name":"list","llm.request.functions.0.name":"list","llm.request.functions.0.parameters":"{}"}"#,
        ),
        span(
            "d",
            "b",
            (3, 4),
            "execute_tool list",
            r#""attributes":{"gen_ai.operation.name":"execute_tool","gen_ai.tool.name":"list","gen_ai.tool.call.id":"c","gcp.vertex.agent.llm_request":"{}","gcp.vertex.agent.tool_call_args":"{}","gcp.vertex.agent.tool_response":"{\"isError\":true,\"content\":[]}"}"#,
        ),
        span(
            "e",
            "b",
            (4, 4),
            "execute_tool (merged)",
            r#""attributes":{"gen_ai.operation.name":"execute_tool","gen_ai.tool.name":"(merged tools)","gcp.vertex.agent.tool_call_args":"N/A"}"#,
        ),
    ]);
    assert_eq!(
        sketch(&run),
        "context: be kind\n\
         user: list\n\
         0 call list {} -> failed(protocol): {\"isError\":true,\"content\":[]}\n\
         note execute_tool (merged)\n"
    );
    assert_eq!(run.usage.unwrap().recorded.input, 5);
    assert_eq!(run.steps[0].model.as_ref().unwrap(), "m-1");
    assert_eq!(run.tools.as_ref().unwrap()[0].name, "list");
}

#[test]
fn claude_agent_and_the_ai_sdk() {
    let run = one(&[
        span(
            "a",
            "",
            (0, 9),
            "claude_agent.conversation",
            r#""attributes":{"claude_agent.span_kind":"conversation","claude_agent.session.id":"s","claude_agent.prompt":"do it","claude_agent.cost.total_usd":0.5}"#,
        ),
        span(
            "b",
            "a",
            (1, 2),
            "claude_agent.assistant_turn",
            r#""attributes":{"claude_agent.span_kind":"assistant_turn","gen_ai.usage.input_tokens":1,"gen_ai.usage.output_tokens":2,"gen_ai.usage.cache_read_tokens":30}"#,
        ),
        span(
            "c",
            "a",
            (2, 3),
            "claude_agent.tool",
            r#""attributes":{"claude_agent.span_kind":"tool_execution","claude_agent.tool.name":"Bash","claude_agent.tool.use_id":"t1","claude_agent.tool.input":"{\"command\":\"ls\"}","claude_agent.tool.is_error":true,"claude_agent.tool.exit_code":2,"claude_agent.tool.error_message":"no","claude_agent.tool.duration_ms":15}"#,
        ),
    ]);
    assert_eq!(
        sketch(&run),
        "user: do it\n0 call Bash {\"command\":\"ls\"} -> failed(protocol) exit 2: no\n"
    );
    assert_eq!(run.usage.unwrap().total(), 33);
    assert_eq!(run.calls[0].duration.unwrap().as_millis(), 15);
    assert_eq!(run.cost.unwrap().usd(), 0.5);

    let run = one(&[
        span(
            "a",
            "",
            (0, 9),
            "ai.generateText",
            r#""attributes":{"ai.operationId":"ai.generateText","ai.prompt":"{\"prompt\":\"sum\"}"}"#,
        ),
        span(
            "b",
            "a",
            (1, 2),
            "ai.generateText.doGenerate",
            r#""attributes":{"ai.operationId":"ai.generateText.doGenerate","ai.model.id":"m","ai.usage.promptTokens":3,"ai.usage.completionTokens":1,"ai.prompt.messages":"[{\"role\":\"user\",\"content\":\"sum\"}]"}"#,
        ),
        span(
            "c",
            "a",
            (2, 3),
            "ai.toolCall",
            r#""attributes":{"ai.operationId":"ai.toolCall","ai.toolCall.name":"add","ai.toolCall.id":"t","ai.toolCall.args":"{}","ai.toolCall.result":"3"}"#,
        ),
    ]);
    assert_eq!(sketch(&run), "user: sum\n0 call add {} -> succeeded(protocol): 3\n");
    assert!(run.fidelity.lacks(Fact::Parallel));
}

#[test]
fn spans_of_the_claude_agent_sdk() {
    let attributes = |kind: &str, more: &str| {
        format!(r#""attributes":{{"claude_agent.span_kind":"{kind}",{more}}}"#)
    };
    let turn = |text: &str| {
        let text = format!(r#""claude_agent.model":"m","claude_agent.message.content":"{text}""#);
        attributes("assistant_turn", &text)
    };
    let tool = |name: &str, more: &str| {
        let name =
            format!(r#""claude_agent.tool.name":"{name}","claude_agent.tool.is_error":false"#);
        attributes("tool_execution", &format!("{name},{more}"))
    };
    let run = one(&[
        span(
            "a",
            "",
            (0, 99),
            "claude_agent.conversation",
            &attributes(
                "conversation",
                r#""claude_agent.session_id":"s","claude_agent.prompt":"tidy","claude_agent.model":"m","claude_agent.cost.total_usd":0.5"#,
            ),
        ),
        span("b", "a", (1, 2), "claude_agent.assistant_turn", &turn("I will delete the build.")),
        // The arguments stand beside the input, or in its place.
        span(
            "c",
            "a",
            (3, 4),
            "tool.Bash",
            &tool(
                "Bash",
                r#""claude_agent.tool.command":"rm -rf build","claude_agent.tool.exit_code":0,"claude_agent.tool.output":"""#,
            ),
        ),
        span("d", "a", (5, 6), "claude_agent.assistant_turn", &turn("[Tool: Glob]")),
        span(
            "e",
            "a",
            (7, 8),
            "tool.Glob",
            &tool(
                "Glob",
                r#""claude_agent.tool.input":"{}","claude_agent.tool.pattern":"*.py","claude_agent.tool.output":"a.py""#,
            ),
        ),
        span(
            "f",
            "a",
            (9, 20),
            "claude_agent.subagent",
            &attributes(
                "subagent",
                r#""claude_agent.subagent.type":"Explore","claude_agent.subagent.prompt":"find""#,
            ),
        ),
        span(
            "g",
            "f",
            (10, 11),
            "tool.Grep",
            &tool(
                "Grep",
                r#""claude_agent.tool.input":"{\"pattern\":\"x\"}","claude_agent.tool.output":"y""#,
            ),
        ),
        span("h", "a", (30, 31), "claude_agent.assistant_turn", &turn("All is tidy.")),
    ]);
    assert_eq!(
        sketch(&run),
        "user: tidy\n\
         0 message: I will delete the build.\n\
         0 call Bash {\"command\":\"rm -rf build\"} -> succeeded(protocol) exit 0: \n\
         1 call Glob {\"pattern\":\"*.py\"} -> succeeded(protocol): a.py\n\
         2 message: All is tidy.\n\
         sub-agent f\n\
         \x20 context: find\n\
         \x20 call Grep {\"pattern\":\"x\"} -> succeeded(protocol): y\n"
    );
    assert_eq!(run.id.as_ref().unwrap(), "s");
    assert_eq!(run.agent.model.as_ref().unwrap(), "m");
    assert_eq!(run.cost.unwrap().usd(), 0.5);
    assert_eq!(run.children.len(), 1);
    assert_eq!(run.children[0].agent.name.as_ref().unwrap(), "Explore");
    assert_eq!(run.children[0].calls.len(), 1);
}

#[test]
fn log_records_join_their_span() {
    let generation = quoted(
        r#"{"generations":[[{"text":"let me see","message":{"tool_calls":[{"name":"f","args":{},"id":"c"}]}}]]}"#,
    );
    let message =
        quoted(r#"{"type":"tool","name":"f","content":"bad","tool_call_id":"c","status":"error"}"#);
    let body = |input: &str, output: &str| {
        format!(
            r#""body":{{"input":{{"messages":[{{"role":"user","content":{input}}}]}},"output":{{"messages":[{{"role":"assistant","content":{output}}}]}}}}"#
        )
    };
    let run = one(&[
        span("a", "", (0, 1), "langchain", r#""attributes":{"event.name":"langchain"}"#),
        span(
            "b",
            "",
            (2, 3),
            "langchain",
            &format!(
                r#""attributes":{{}},"span_events":[{{"event_name":"langchain",{}}}]"#,
                body("\"{'x': 1}\"", &message)
            ),
        ),
        format!(
            r#"{{"traceId":"t1","spanId":"a","timeUnixNano":1767225601000000000,"scope":{{}},{}}}"#,
            body("\"hi\"", &generation)
        ),
    ]);
    assert_eq!(
        sketch(&run),
        "user: hi\n0 message: let me see\n0 call f {'x': 1} -> failed(protocol): bad\n"
    );
}

#[test]
fn traces_of_one_conversation_are_one_run() {
    let chat = |trace: &str, id: &str, at: u32, conversation: &str| {
        span(
            id,
            "",
            (at, at + 1),
            "chat",
            &format!(r#""attributes":{{"gen_ai.operation.name":"chat"{conversation}}}"#),
        )
        .replace("\"t1\"", &format!("\"{trace}\""))
    };
    let same = r#","gen_ai.conversation.id":"x""#;
    let lines = [
        chat("t3", "d", 30, ""),
        chat("t1", "a", 0, same),
        chat("t2", "b", 10, same),
        // This trace has no agent activity: it is added to the next.
        span(
            "c",
            "",
            (20, 21),
            "create_agent",
            r#""attributes":{"gen_ai.operation.name":"create_agent"}"#,
        )
        .replace("\"t1\"", "\"t9\""),
    ];
    let runs = read(&lines);
    let ids: Vec<String> = runs.iter().map(|r| r.id.as_ref().unwrap().to_string()).collect();
    assert_eq!(ids, ["x", "t3"]);
    assert_eq!(sketch(&runs[1]), "note create_agent\n");
}

#[test]
fn hostile_trees_are_harmless() {
    let tool = r#""attributes":{"gen_ai.operation.name":"execute_tool","gen_ai.tool.name":"f"}"#;
    let run = one(&[
        span("a", "b", (0, 1), "loop", tool),
        span("b", "a", (0, 1), "loop", r#""attributes":{"gen_ai.operation.name":"invoke_agent"}"#),
        span("c", "c", (0, 1), "self", tool),
        span(
            "d",
            "",
            (0, 1),
            "odd",
            r#""attributes":{"gen_ai.operation.name":7,"gen_ai.tool.name":[],"x":null},"status":[],"events":[3,{}],"scope":"s""#,
        ),
    ]);
    assert_eq!(run.flatten().iter().map(|r| r.calls.len()).sum::<usize>(), 2);

    // Agents in tools in agents, very deep: the tree of trajectories is not.
    let mut lines = vec![span(
        "a0",
        "",
        (0, 1),
        "agent",
        r#""attributes":{"gen_ai.operation.name":"invoke_agent"}"#,
    )];
    for n in 1..3000 {
        lines.push(span(
            &format!("t{n}"),
            &format!("a{}", n - 1),
            (0, 1),
            "f",
            &tool.replace("\"f\"", &format!("\"f{n}\"")),
        ));
        lines.push(span(
            &format!("a{n}"),
            &format!("t{n}"),
            (0, 1),
            "agent",
            r#""attributes":{"gen_ai.operation.name":"invoke_agent"}"#,
        ));
    }
    let run = one(&lines);
    assert_eq!(run.flatten().len(), crate::model::MAX_DEPTH + 1);
    assert_eq!(run.flatten().iter().map(|r| r.calls.len()).sum::<usize>(), 2999);
}

#[test]
fn refusals_are_no_failures_of_the_tool() {
    let tool = |error: &str| {
        let rest = format!(
            r#""attributes":{{"gen_ai.operation.name":"execute_tool","gen_ai.tool.name":"f","error.type":"{error}"}},"status":{{"code":2}}"#
        );
        one(&[span("a", "", (0, 1), "f", &rest)])
    };
    assert_eq!(
        sketch(&tool("permission_denied")),
        "call f  -> denied(denial): permission_denied\n"
    );
    assert_eq!(
        sketch(&tool("asyncio.CancelledError")),
        "call f  -> interrupted(denial): asyncio.CancelledError\n"
    );
    assert_eq!(sketch(&tool("OSError")), "call f  -> failed(protocol): OSError\n");
}

#[test]
fn an_open_span_is_an_unanswered_call() {
    let open =
        span("a", "", (0, 1), "f", r#""attributes":{"gen_ai.operation.name":"execute_tool"}"#)
            .replace(r#""end_time":"2026-01-01T00:00:01Z","#, "");
    let run = one(&[open]);
    assert_eq!(sketch(&run), "call f  -> unanswered(absent): \n");
}

#[test]
fn names_tell_where_attributes_do_not() {
    let run = one(&[
        span("a", "", (0, 9), "invoke_agent planner", r#""attributes":{}"#),
        span("b", "a", (1, 2), "execute_tool look", r#""attributes":{"x":1}"#),
        span("c", "a", (3, 4), "unknown", r#""attributes":{"gen_ai.operation.name":"unknown"}"#),
        span("d", "a", (5, 6), "execute_toolbox now", r#""attributes":{}"#),
    ]);
    assert_eq!(
        sketch(&run),
        "call look  -> succeeded(protocol): \nnote unknown\nnote execute_toolbox now\n"
    );
}
