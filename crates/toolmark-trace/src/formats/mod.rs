//! The formats, one file each. Adding one is a file, its `mod` line and its
//! line in [`FORMATS`].

mod claude_code;
mod jaeger;
mod langfuse;
mod langsmith;
mod otel_console;
mod otel_copilot;
mod otel_list;
mod otlp_json;
mod otlp_protobuf;
mod otlp_tempo;
pub(crate) mod shared;
mod trail;

use crate::format::Format;

/// Every format, in the order detection asks them: the most frequent first,
/// and a special shape before the general one it could be mistaken for.
#[rustfmt::skip]
pub const FORMATS: &[&dyn Format] = &[
    &claude_code::ClaudeCode,
    &otlp_json::OtlpJson,
    &otlp_tempo::OtlpTempo,
    &otlp_protobuf::OtlpProtobuf,
    &jaeger::Jaeger,
    &otel_console::OtelConsole,
    &otel_copilot::OtelCopilot,
    &trail::Trail,
    &langfuse::Langfuse,
    &langsmith::LangSmith,
    &otel_list::OtelList,
];
