//! Reads gold labels from JSON Lines, JSON, CSV, Parquet or YAML files.

use crate::Failure;
use serde::Serialize;
use serde_json::Value;
use std::io;
use std::path::Path;
use std::sync::Arc;
use toolmark_check::gold::{Gold, GoldRow, GoldRowError, TemplateRow};
use toolmark_config::{Problem, SourceText, yaml};
use toolmark_dataset::DatasetReadError;
use toolmark_outcome::{Printable, Redactor, Untrusted};
use toolmark_report::terminal::harmless_json;

/// Reads a file of gold labels.
pub fn read(path: &Path) -> Result<Arc<Gold>, Failure> {
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or("").to_lowercase();
    let values = match extension.as_str() {
        "yaml" | "yml" => of_yaml(path)?,
        _ => {
            let rows = toolmark_dataset::read(path).map_err(|error| match error {
                DatasetReadError::File(error) => error.into(),
                DatasetReadError::Rows(_) => invalid(path).causes(error.messages()),
            })?;
            rows.iter().map(|row| (row.line, Value::clone(&row.value))).collect()
        }
    };
    if values.is_empty() {
        let failure = Failure::unread(format!("{} has no rows", path.display()));
        return Err(failure.hint(SHAPE));
    }
    let mut rows = Vec::with_capacity(values.len());
    let mut errors = Vec::new();
    for (line, value) in &values {
        match GoldRow::parse(value, *line) {
            Ok(row) => rows.push(row),
            Err(error) => errors.push((*line, error)),
        }
    }
    let at_place = |errors: Vec<(u64, GoldRowError)>| {
        let name = path.display();
        let causes = errors.into_iter().map(|(line, error)| format!("{name}:{line}: {error}"));
        invalid(path).causes(causes).hint(SHAPE)
    };
    if !errors.is_empty() {
        return Err(at_place(errors));
    }
    Gold::new(rows).map(Arc::new).map_err(at_place)
}

/// Expected shape of the rows.
const SHAPE: &str =
    "write rows with `id` or `prompt`, and `tool`; `toolmark check --gold-template` writes some";

/// Header of a template.
pub const TEMPLATE_HEAD: &str = "\
# Gold labels for `toolmark check --gold`: which tool each prompt is for.
# `tool` is what the agent called first; correct it where that was wrong.
# Several right tools are a list, the best first; null means that no tool is needed.
";

/// A row of a template.
#[derive(Serialize)]
struct TemplateLine {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<Printable>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt: Option<Printable>,
    tool: Option<Printable>,
}

/// A row of a template as a line of YAML.
pub fn template_line(row: TemplateRow, redactor: Redactor) -> io::Result<String> {
    let apply = |text: Option<Untrusted>| text.map(|text| redactor.apply(text));
    let (id, prompt, tool) = (apply(row.id), apply(row.prompt), apply(row.tool));
    Ok(format!("- {}\n", harmless_json(serde_json::to_string(&TemplateLine { id, prompt, tool })?)))
}

/// Reads a list of rows, or a map with a list under `rows`.
fn of_yaml(path: &Path) -> Result<Vec<(u64, Value)>, Failure> {
    let source = SourceText::open_named(path)?;
    let mut problems = Vec::new();
    let node = yaml::parse(&source, &mut problems);
    if !problems.is_empty() {
        let place = |problem: &Problem| {
            let place = source.place(problem.span.unwrap_or_default().start);
            let name = path.display();
            format!("{name}:{}:{}: {}", place.line, place.column, problem.message)
        };
        let help = problems.iter().filter_map(|problem| problem.help.clone());
        return Err(invalid(path).causes(problems.iter().map(place)).hints(help));
    }
    let Some(node) = node else { return Ok(Vec::new()) };
    let list = node.get("rows").unwrap_or(&node);
    let rows = list.as_list().ok_or_else(|| {
        Failure::unread(format!("{} is not a list of rows", path.display())).hint(SHAPE)
    })?;
    let row =
        |node: &toolmark_config::Node| (source.place(node.span.start).line as u64, node.to_json());
    Ok(rows.iter().map(row).collect())
}

fn invalid(path: &Path) -> Failure {
    Failure::unread(format!("the labels in {} are invalid", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_file_gives_the_same_rows() {
        let dir = tempfile::tempdir().unwrap();
        let mut found = Vec::new();
        for (name, text) in [
            ("a.jsonl", "{\"id\":\"a\",\"tool\":\"Read\"}\n{\"id\":\"b\",\"tool\":null}\n"),
            ("a.json", "[{\"id\":\"a\",\"tool\":\"Read\"},{\"id\":\"b\",\"tool\":\"none\"}]"),
            ("a.csv", "id,tool\na,Read\nb,none\n"),
            ("a.yaml", "- {id: a, tool: Read}\n- {id: b, tool: null}\n"),
            ("a.yml", "rows:\n  - id: a\n    tool: [Read]\n  - id: b\n    tool: []\n"),
        ] {
            let path = dir.path().join(name);
            std::fs::write(&path, text).unwrap();
            let gold = read(&path).unwrap_or_else(|failure| panic!("{name}: {failure:?}"));
            let rows: Vec<_> =
                gold.rows().iter().map(|row| (row.id.clone(), row.tools.clone())).collect();
            found.push(rows);
        }
        assert_eq!(found[0].len(), 2);
        assert!(found.iter().all(|rows| *rows == found[0]), "{found:?}");
    }

    #[test]
    fn mistakes_name_the_file_and_the_row() {
        let dir = tempfile::tempdir().unwrap();
        for (name, text, want) in [
            (
                "a.jsonl",
                "{\"id\":\"a\",\"tool\":\"Read\"}\n{\"tool\":\"Read\"}\n",
                "a.jsonl:2: the row has neither",
            ),
            ("b.yaml", "tool: Read\n", "not a list of rows"),
            ("c.jsonl", "\n", "no rows"),
            ("d.yaml", "- id: a\n- id: b\n  tool: x\n", "d.yaml:1: the row has no tool"),
        ] {
            let path = dir.path().join(name);
            std::fs::write(&path, text).unwrap();
            let failure = read(&path).unwrap_err();
            let words = format!("{}: {}", failure.message, failure.causes.join("; "));
            assert!(words.contains(want) && words.contains(name), "{words}");
        }
        assert!(read(&dir.path().join("none.jsonl")).is_err());
    }
}
