//! Reads the case ID and the prompt from a row of a dataset.

use super::task::Task;
use serde_json::Value;
use toolmark_base::SortedSet;
use toolmark_config::{Node, Problem};
use toolmark_dataset::DatasetRow;
use toolmark_dataset::template::{Template, is_template};
use toolmark_grade::Loading;

/// Fields that may contain the ID.
const IDS: &[&str] = &["id", "sample_id", "key"];

/// Fields that may contain the prompt.
const PROMPTS: &[&str] = &["input", "prompt", "question", "query", "instruction", "messages"];

/// Fields that may contain the reference answer.
const EXPECTED: &[&str] = &["target", "expected_output", "expected", "answer", "reference"];

/// A row as a case.
pub(super) struct RowCase {
    pub(super) id: String,
    pub(super) ids: Vec<String>,
    pub(super) prompts: Vec<String>,
    pub(super) input: Option<Value>,
    pub(super) expected: Option<Value>,
}

/// Names all rows. IDs are unique: the row number is appended to a repeated ID,
/// which is reported once.
pub(super) fn named(
    rows: &[DatasetRow],
    task: &Task<'_>,
    loading: &mut Loading<'_>,
) -> Vec<RowCase> {
    let asked = solver_prompt(task.solver());
    let trace_column = task.solver().and_then(|solver| solver.get("trace_column")?.as_str());
    let mut seen = SortedSet::new();
    let mut repeated = 0;
    let mut all = Vec::with_capacity(rows.len());
    for (n, row) in rows.iter().enumerate() {
        let number = (n + 1).to_string();
        let fields = task.id_field().into_iter().chain(IDS.iter().copied());
        let own = fields.filter_map(|field| scalar(row.value.get(field)?)).next();
        let mut id = own.clone().unwrap_or_else(|| number.clone());
        if !seen.insert(id.clone()) {
            repeated += 1;
            id = format!("{id} (row {number})");
            seen.insert(id.clone());
        }
        let mut prompts: Vec<String> = PROMPTS
            .iter()
            .filter_map(|field| first_words(row.value.get(*field)?))
            .chain(asked.iter().filter_map(|template| template.text(&row.value).ok()))
            .chain(row.value.get(trace_column.unwrap_or("trace")).and_then(trace_prompt))
            .filter(|prompt| !prompt.trim().is_empty())
            .collect();
        prompts.sort();
        prompts.dedup();
        let pick = |fields: &[&str]| fields.iter().find_map(|field| row.value.get(*field)).cloned();
        all.push(RowCase {
            id,
            ids: own.into_iter().collect(),
            prompts,
            input: pick(PROMPTS),
            expected: pick(EXPECTED),
        });
    }
    if repeated > 0 {
        let message = format!("{repeated} rows repeat the id of another row");
        let help = "traces of these rows are matched by their prompts";
        loading.problems.push(Problem::warning("repeated-id", message).help(help));
    }
    all
}

/// Returns text or a whole number as text.
fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.trim().is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Returns a text, or the first message of the user in a list of messages.
fn first_words(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(messages) => messages
            .iter()
            .find(|message| message.get("role").and_then(Value::as_str) == Some("user"))
            .and_then(|message| content(message.get("content")?)),
        _ => None,
    }
}

/// Returns the text of a message: a text, or the text of its blocks.
fn content(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(blocks) => {
            let texts: Vec<&str> =
                blocks.iter().filter_map(|block| block.get("text")?.as_str()).collect();
            (!texts.is_empty()).then(|| texts.join("\n"))
        }
        _ => None,
    }
}

/// Returns the first message of the user in a recorded trace.
fn trace_prompt(trace: &Value) -> Option<String> {
    first_words(trace.get("items").unwrap_or(trace))
}

/// Returns the template of the user message that the solver builds from a row, if there is one.
fn solver_prompt(solver: Option<&Node>) -> Option<Template> {
    let messages = solver?.get("input_builder")?.get("input_messages")?;
    let mut asked = messages
        .items()
        .filter(|message| message.get("role").and_then(Node::as_str) == Some("user"));
    let text = asked.next()?.get("content")?.as_str()?;
    let template = Template::new(text).ok().filter(|_| is_template(text))?;
    template.variables().iter().all(|name| name == "sample").then_some(template)
}
