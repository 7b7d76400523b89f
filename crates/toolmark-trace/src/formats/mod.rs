//! The formats, one file each. To add one, add its file, its `mod` line and its line in
//! [`FORMATS`].

mod adk_evalset;
mod adk_session;
mod adk_test;
mod agent_steps;
mod agentdojo;
mod agentv_normalized;
mod agentv_results;
mod agentv_trace;
mod agentv_transcript;
mod ai_sdk_ui;
mod aider;
mod amp;
mod anthropic_managed;
mod anthropic_messages;
mod antigravity;
mod atif;
mod autogen;
mod bedrock_converse;
mod bfcl;
mod braintrust;
mod call_rows;
mod chatgpt;
mod claude_ai;
mod claude_code;
mod claude_hooks;
mod claude_stream;
mod cline;
mod cline_ui;
mod codex_exec;
mod codex_rollout;
mod continue_dev;
mod copilot_cli;
mod copilot_debug;
mod copilot_print;
mod crush;
mod cursor_ide;
mod cursor_stream;
mod cursor_transcript;
mod datadog;
mod droid;
mod gemini_cli;
mod gemini_contents;
mod gemini_stream;
mod goose;
mod grok;
mod hermes;
mod inspect;
mod jaeger;
mod kimi;
mod langchain;
mod langfuse;
mod langsmith;
mod mini_swe_agent;
mod mlflow;
mod openai_agents;
mod openai_chat;
mod openai_responses;
mod opencode;
mod openhands;
mod openhands_sdk;
mod otel_console;
mod otel_copilot;
mod otel_js;
mod otel_list;
mod otlp_json;
mod otlp_protobuf;
mod otlp_tempo;
mod phoenix;
mod pi;
mod pi_stream;
mod pydantic_ai;
mod qwen_code;
pub(crate) mod shared;
pub use shared::spans::CONVERSATION_ATTRIBUTES;
mod session_traces;
mod specstory;
mod swe_agent;
mod tau2_bench;
mod tau_bench;
mod toolmark;
mod toolmark_guard;
mod trail;
mod vally;
mod vscode_chat;
mod vscode_replay;
mod weave;
mod who_when;
mod zed;

use crate::format::Format;

pub(crate) use toolmark::SCHEMA as TOOLMARK_SCHEMA;

/// All formats, in the order in which detection tries them: the most frequent first, and a
/// specific format before a general one that it could be mistaken for.
#[rustfmt::skip]
pub const FORMATS: &[&dyn Format] = &[
    &qwen_code::QwenCode,
    &cursor_stream::CursorStream,
    &droid::Droid,
    &toolmark::ToolmarkFormat,
    &toolmark_guard::ToolmarkGuard,
    &claude_code::ClaudeCode,
    &codex_rollout::CodexRollout,
    &claude_stream::ClaudeStream,
    &codex_exec::CodexExec,
    &claude_hooks::ClaudeHooks,
    &anthropic_managed::AnthropicManaged,
    &agentdojo::AgentDojo,
    &bfcl::Bfcl,
    &tau2_bench::Tau2Bench,
    &tau_bench::TauBench,
    &mini_swe_agent::MiniSweAgent,
    &openhands::OpenHands,
    &openhands_sdk::OpenHandsSdk,
    &swe_agent::SweAgent,
    &inspect::Inspect,
    &copilot_cli::CopilotCli,
    &copilot_debug::CopilotDebug,
    &copilot_print::CopilotPrint,
    &vscode_chat::VscodeChat,
    &vscode_replay::VscodeReplay,
    &vally::VallyFormat,
    &agentv_normalized::AgentvNormalized,
    &agentv_transcript::AgentvTranscript,
    &agentv_results::AgentvResults,
    &agentv_trace::AgentvTrace,
    &gemini_cli::GeminiCli,
    &gemini_stream::GeminiStream,
    &session_traces::SessionTraces,
    &pi_stream::PiStream,
    &pi::OpenClaw,
    &pi::Pi,
    &kimi::Kimi,
    &grok::Grok,
    &hermes::Hermes,
    &antigravity::Antigravity,
    &opencode::OpenCode,
    &cursor_ide::CursorIde,
    &cursor_transcript::CursorTranscript,
    &ai_sdk_ui::AiSdkUi,
    &pydantic_ai::PydanticAi,
    &gemini_contents::GeminiContents,
    &goose::Goose,
    &crush::Crush,
    &atif::Atif,
    &adk_session::AdkSession,
    &adk_evalset::AdkEvalset,
    &adk_test::AdkTest,
    &who_when::WhoWhen,
    &autogen::Autogen,
    &continue_dev::Continue,
    &zed::Zed,
    &langchain::Langchain,
    &bedrock_converse::BedrockConverse,
    &cline::Cline,
    &cline_ui::ClineUi,
    &amp::Amp,
    &claude_ai::ClaudeAi,
    &chatgpt::ChatGpt,
    &anthropic_messages::AnthropicMessages,
    &openai_chat::OpenaiChat,
    &openai_responses::OpenaiResponses,
    &phoenix::Phoenix,
    &openai_agents::OpenaiAgents,
    &mlflow::Mlflow,
    &braintrust::Braintrust,
    &weave::Weave,
    &datadog::Datadog,
    &otlp_json::OtlpJson,
    &otlp_tempo::OtlpTempo,
    &otlp_protobuf::OtlpProtobuf,
    &jaeger::Jaeger,
    &otel_console::OtelConsole,
    &otel_copilot::OtelCopilot,
    &trail::Trail,
    &langfuse::Langfuse,
    &langsmith::LangSmith,
    &otel_js::OtelJs,
    &otel_list::OtelList,
    &aider::Aider,
    &specstory::SpecStory,
    &agent_steps::AgentSteps,
    &call_rows::CallRows,
];
