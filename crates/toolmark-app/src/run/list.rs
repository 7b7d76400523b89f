//! Stored runs, in a list and one by one.

use crate::{Failure, human};
use serde_json::{Value, json};
use toolmark_base::ReadFileError;
use toolmark_redact::{Printable, Redactor, printable};
use toolmark_report::terminal::{StyledLine, style};
use toolmark_run::store::RunStore;

/// Returns the line of a run in the list.
#[must_use]
pub fn line(store: &RunStore, redactor: Redactor) -> StyledLine {
    let summary = store.summary();
    let count = |key: &str| {
        summary.as_ref().and_then(|all| all.pointer(&format!("/summary/{key}"))?.as_u64())
    };
    let (verdict, tone) = match summary.as_ref().and_then(verdict_of) {
        Some("pass") => ("pass", style::GOOD),
        Some("fail") => ("fail", style::BAD),
        Some(_) => ("unknown", style::WARN),
        None => ("unfinished", style::WARN),
    };
    let id = redactor.apply(store.id());
    let mut line = StyledLine::of(style::STRONG, id);
    line.pad(26);
    line.push(tone, verdict);
    line.pad(38);
    if let (Some(passed), Some(outcomes)) = (count("passed"), count("outcomes")) {
        line.push(style::PLAIN, printable!("{} of {} passed", passed, outcomes));
    }
    line.pad(60);
    let spec = store.info().map(|info| info.spec.to_string_lossy().into_owned());
    let spec = redactor.apply(spec.unwrap_or_default());
    line.push(style::DIM, spec);
    line
}

/// Returns a run and its trials in lines.
///
/// # Errors
///
/// If the description of the run cannot be read.
pub fn lines(store: &RunStore, redactor: Redactor) -> Result<Vec<StyledLine>, Failure> {
    let records = store.records();
    let info = store.info().map_err(|error| ReadFileError::io(store.root(), error))?;
    let field = |name: &'static str, words: String| {
        let line = StyledLine::of(style::DIM, printable!("{:<10}", name));
        line.with(style::PLAIN, redactor.apply(words))
    };
    let mut lines = Vec::new();
    let id = redactor.apply(store.id());
    lines.push(StyledLine::of(style::STRONG, id));
    lines.push(field("spec", info.spec.to_string_lossy().into_owned()));
    lines.push(field("started", info.started.clone()));
    for target in &info.targets {
        let model = target.model.as_deref().unwrap_or_default();
        let words = [target.name.as_str(), target.runner.as_str(), target.version.as_str(), model];
        let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
        lines.push(field("target", words.join("  ")));
    }
    lines.push(field("directory", store.root().to_string_lossy().into_owned()));
    lines.push(StyledLine::new());
    for record in &records {
        let tone = match record.verdict() {
            "pass" => style::GOOD,
            "fail" => style::BAD,
            _ => style::WARN,
        };
        let verdict = redactor.apply(record.verdict());
        let mut line = StyledLine::of(tone, verdict);
        line.pad(9);
        let name = format!("{} [{}] {}", record.case, record.target, record.trial + 1);
        line.push(style::PLAIN, redactor.apply(name));
        let mut parts = vec![human::things(record.used.calls, "call")];
        parts.extend(record.used.tokens.map(|n| printable!("{} tokens", human::count(n))));
        parts.extend(record.used.usd.map(human::usd));
        let seconds = record.duration_ms as f64 / 1000.0;
        parts.push(printable!("{:.1} s", seconds));
        line.push(style::DIM, printable!("  {}", Printable::join(&parts, ", ")));
        lines.push(line);
        if record.verdict() != "pass" {
            let reason = record.outcome.get("reason").and_then(Value::as_str);
            let reason = redactor.apply(reason.unwrap_or_default());
            lines.push(StyledLine::of(style::PLAIN, printable!("         {}", reason)));
        }
        if record.attempts.len() > 1 {
            for attempt in &record.attempts {
                let why = attempt.why.as_deref().unwrap_or_default();
                let words = format!("attempt {}: {} {why}", attempt.number, attempt.ended);
                let words = redactor.apply(words);
                lines.push(StyledLine::of(style::DIM, printable!("         {}", words)));
            }
        }
        if let Some(workspace) = &record.workspace {
            let path = redactor.apply(workspace.to_string_lossy());
            lines.push(StyledLine::of(style::DIM, printable!("         workspace {}", path)));
        }
    }
    Ok(lines)
}

fn verdict_of(summary: &Value) -> Option<&str> {
    summary.pointer("/summary/verdict")?.as_str()
}

/// A run in the JSON output.
#[must_use]
pub fn row(store: &RunStore) -> Value {
    let info = store.info().ok();
    json!({
        "id": store.id(),
        "directory": store.root(),
        "run": info,
        "summary": store.summary(),
    })
}
