//! A row of gold labels: its session or prompt, and the right tools.

use serde_json::Value;
use toolmark_trace::ToolName;

/// Keys for the tool, in order of precedence.
const TOOL_KEYS: &[&str] = &["tool", "tools", "gold", "expected_tool", "expected_tools"];
/// Keys for the id.
const ID_KEYS: &[&str] = &["id", "session", "case", "name"];
/// Keys for the prompt.
const PROMPT_KEYS: &[&str] = &["prompt", "input", "query"];
/// Values that mean no tool.
const NO_TOOL: &[&str] = &["", "none", "null", "no tool", "no_tool", "no-tool"];

/// Right tools for one prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GoldRow {
    /// Line of the row, from 1.
    pub line: u64,
    /// Session of the row.
    pub id: Option<String>,
    /// Prompt of the row.
    pub prompt: Option<String>,
    /// Right tools, the best first; empty if no tool is right.
    pub tools: Vec<String>,
}

/// Reason why a row is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GoldRowError {
    /// The value of this key is not text.
    #[error("`{0}` is not text")]
    NotText(&'static str),
    /// The row names neither session nor prompt.
    #[error("the row has neither an id nor a prompt")]
    NoSubject,
    /// The row has no label.
    #[error("the row has no tool; write `none` if no tool is right")]
    NoTool,
    /// A label in the list is not text.
    #[error("a tool is not text")]
    ToolNotText,
    /// The label has another type.
    #[error("the tool is neither text nor a list")]
    ToolType,
    /// The row has the session and the prompt of the row in this line.
    #[error("the row repeats line {0}")]
    Repeats(u64),
    /// The labels contradict each other.
    #[error("the row has both a tool and `none`")]
    ToolAndNone,
}

impl GoldRow {
    /// Parses a row.
    ///
    /// # Errors
    ///
    /// Fails if the row names neither session nor prompt, if it has no label, or if a label
    /// is not a name.
    pub fn parse(value: &Value, line: u64) -> Result<Self, GoldRowError> {
        let get = |keys: &[&str]| keys.iter().find_map(|key| value.get(key));
        let text = |keys: &[&'static str]| match get(keys) {
            Some(Value::String(text)) if !text.trim().is_empty() => {
                Ok(Some(text.trim().to_owned()))
            }
            Some(Value::Number(number)) => Ok(Some(number.to_string())),
            None | Some(Value::Null | Value::String(_)) => Ok(None),
            Some(_) => {
                let key = keys.iter().find(|key| value.get(key).is_some());
                Err(GoldRowError::NotText(key.copied().unwrap_or_default()))
            }
        };
        let (id, prompt) = (text(ID_KEYS)?, text(PROMPT_KEYS)?);
        if id.is_none() && prompt.is_none() {
            return Err(GoldRowError::NoSubject);
        }
        let label = get(TOOL_KEYS).ok_or(GoldRowError::NoTool)?;
        Ok(Self { line, id, prompt, tools: tools(label)? })
    }

    /// Returns the display name of the row.
    #[must_use]
    pub fn name(&self) -> &str {
        self.id.as_deref().or(self.prompt.as_deref()).unwrap_or_default()
    }
}

fn tools(label: &Value) -> Result<Vec<String>, GoldRowError> {
    let names: Vec<&str> = match label {
        Value::Null => Vec::new(),
        Value::String(text) => text.split(['|', ',']).map(str::trim).collect(),
        Value::Array(list) => {
            let names: Option<Vec<&str>> = list.iter().map(Value::as_str).collect();
            names.ok_or(GoldRowError::ToolNotText)?
        }
        _ => return Err(GoldRowError::ToolType),
    };
    let is_none = |name: &&str| NO_TOOL.contains(&name.to_ascii_lowercase().as_str());
    let (none, some): (Vec<&str>, Vec<&str>) = names.into_iter().partition(is_none);
    if !none.is_empty() && !some.is_empty() {
        return Err(GoldRowError::ToolAndNone);
    }
    let mut tools: Vec<String> = Vec::new();
    for name in some {
        let name = ToolName::new(name).canonical();
        let label = match name.server {
            Some(server) => format!("{server}/{}", name.tool),
            None => name.tool,
        };
        if !tools.contains(&label) {
            tools.push(label);
        }
    }
    Ok(tools)
}
