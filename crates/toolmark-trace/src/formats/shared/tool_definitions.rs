//! The tools offered to a model, in the formats of the chat APIs.

use crate::format::Record;
use crate::model::{Text, ToolDefinition};
use toolmark_scan::Value;

/// Reads a list of tools: OpenAI's `{type,function{…}}`, the flat form of the Responses API and
/// of Anthropic, and Gemini's lists of declarations.
pub(crate) fn read(record: &Record<'_>, list: Value<'_>) -> Option<Vec<ToolDefinition>> {
    if !list.is_array() {
        return None;
    }
    let mut tools = Vec::new();
    for item in list.items() {
        let declared =
            item.get("function_declarations").or_else(|| item.get("functionDeclarations"));
        match declared {
            Some(declared) => tools.extend(declared.items().filter_map(|d| one(record, d))),
            None => tools.extend(one(record, item)),
        }
    }
    Some(tools)
}

fn one(record: &Record<'_>, item: Value<'_>) -> Option<ToolDefinition> {
    let inner = ["function", "custom", "toolSpec"]
        .iter()
        .find_map(|k| item.get(k).filter(|v| v.is_object()));
    let (mut name, mut description, mut schema) = (None, None, None);
    for (key, value) in inner.unwrap_or(item).fields() {
        match key.inner().unwrap_or("") {
            "name" => name = record.text(value),
            "description" => description = record.text(value),
            "parameters"
            | "input_schema"
            | "inputSchema"
            | "args_schema"
            | "parameters_json_schema"
            | "format" => schema = Some(record.payload(value)),
            _ => {}
        }
    }
    // A provider's own tool has no name but its type.
    let name: Text = name.or_else(|| record.text_at(item, "type"))?;
    Some(ToolDefinition { name, description, schema })
}
