//! The code on the page of the library.
//!
//! A line `<!-- code of: NAME -->` precedes the block that shows the function of that name in this
//! file, so that the code on the page is compiled and run.

use super::{keep, page};
use crate::{DISK_FULL, root};
use std::error::Error;
use std::path::Path;
use toolmark_hosts::{GuardAnswer, PayloadError};
use toolmark_outcome::{Finding, RunResult};
use toolmark_report::ReportError;
use toolmark_trace::ReadError;

const PAGE: &str = "docs/library.md";
const MARK: &str = "<!-- code of: ";

fn list_calls(trace: &Path) -> Result<Vec<String>, ReadError> {
    use toolmark_trace::{ReadOptions, read_path};

    let mut lines = Vec::new();
    let mut runs = read_path(trace, &ReadOptions::default())?;
    for run in runs.by_ref() {
        for call in &run.calls {
            let place = call.at.location();
            let (tool, status) = (call.name.full(), call.status.word());
            lines.push(format!("{}:{}: {tool} {status}", place.file, place.line));
        }
    }
    for problem in runs.diagnostics() {
        let place = &problem.location;
        lines.push(format!("{}:{}: {}", place.file, place.line, problem.message));
    }
    Ok(lines)
}

fn count_calls_of_agents(trace: &Path) -> Result<Vec<usize>, ReadError> {
    use toolmark_trace::{ReadOptions, load_path};

    let loaded = load_path(trace, &ReadOptions::default())?;
    let agents = loaded.runs.iter().flat_map(|run| run.flatten());
    Ok(agents.map(|agent| agent.calls.len()).collect())
}

fn look_at_a_call() -> Result<(), ReadError> {
    use toolmark_trace::{ReadOptions, Status, StatusLevel, read};

    let trace = r#"{"type":"assistant","uuid":"2","parentUuid":"1","sessionId":"s","message":{"id":"m","content":[{"type":"tool_use","id":"t","name":"Bash","input":{"command":"make"}}]}}
{"type":"user","uuid":"3","parentUuid":"2","sessionId":"s","message":{"content":[{"type":"tool_result","tool_use_id":"t","is_error":true,"content":"Exit code 2\nno rule"}]}}"#;
    let run = read(trace.as_bytes(), "session.jsonl", &ReadOptions::default())?.next().unwrap();
    let call = &run.calls[0];

    let args = call.args.as_ref().unwrap();
    assert_eq!(args.raw(), r#"{"command":"make"}"#);
    assert_eq!(args.parsed().unwrap()["command"], "make");

    let result = call.result.as_ref().unwrap();
    assert_eq!(result.payload.as_ref().unwrap().plain(), "Exit code 2\nno rule");
    assert_eq!((result.at.location().line, call.exit_code), (2, Some(2)));

    assert_eq!((call.status, call.level), (Status::Failed, StatusLevel::Protocol));
    Ok(())
}

fn convert(trace: &Path, out: &mut Vec<u8>) -> Result<String, Box<dyn Error>> {
    use toolmark_trace::{FileSummary, ReadOptions, exporter_by_id, read_path};

    let counts = FileSummary::of(&mut read_path(trace, &ReadOptions::default())?);
    let mut report = format!("{} calls", counts.tool_calls);

    let atif = exporter_by_id("atif").ok_or("no such target")?;
    for run in read_path(trace, &ReadOptions::default())? {
        let losses = atif.export(&run, out)?;
        report.push_str(&format!("; lost: {losses}"));
    }
    Ok(report)
}

fn grade(spec: &Path, traces: &[&Path]) -> Result<RunResult, Box<dyn Error>> {
    use toolmark_config::{RenderStyle, render};
    use toolmark_grade::{Grading, LoadOptions, RunSelection};
    use toolmark_outcome::Environment;
    use toolmark_trace::{ReadOptions, load_path};

    let loaded = toolmark_spec::load(spec, &LoadOptions::default()).map_err(|e| e.to_string())?;
    let Some(plan) = &loaded.plan else {
        return Err(render(&loaded.source, &loaded.problems, RenderStyle::default()).into());
    };
    let grading = Grading::new(plan, None, Environment::default(), RunSelection::default());
    let (mut results, mut notes) = (Vec::new(), Vec::new());
    for trace in traces {
        for run in load_path(trace, &ReadOptions::default())?.runs {
            match grading.grade(&run) {
                Ok(result) => results.push(result),
                Err(_) => notes.push(format!("{} matches no case", run.file).into()),
            }
        }
    }
    Ok(grading.finish(results, notes))
}

fn write_junit(run: RunResult) -> Result<String, ReportError> {
    use toolmark_redact::Redactor;

    let run = run.redact(Redactor::new(true));
    let junit = toolmark_report::format_by_id("junit").unwrap();
    junit.to_text(&run, &toolmark_report::ReportOptions::default())
}

fn check(trace: &Path) -> Result<Vec<Finding>, ReadError> {
    use toolmark_check::{CheckedTraces, Checker};
    use toolmark_trace::{ReadOptions, load_path};

    let checker = Checker::default();
    let mut checked = CheckedTraces::default();
    for run in load_path(trace, &ReadOptions::default())?.runs {
        checked.merge(checker.check(&run));
    }
    checked.sort();
    Ok(checked.findings)
}

fn ask_the_guard(command: &str, cwd: &str) -> Result<GuardAnswer, PayloadError> {
    use toolmark_guard::Guard;

    let payload = serde_json::json!({"tool": "Bash", "args": {"command": command}, "cwd": cwd});
    let payload = payload.to_string();
    let event = toolmark_hosts::detect(payload.as_bytes()).read(payload.as_bytes())?;
    Ok(Guard::default().decide(&event, None))
}

fn make_printable(output: &str) -> String {
    use toolmark_redact::{redact, sanitize};

    sanitize(&redact(output)).into_owned()
}

#[test]
fn the_code_on_the_page_is_the_code_here() {
    let text = page(PAGE);
    let mut out = String::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        out.push_str(line);
        out.push('\n');
        let Some(name) = line.strip_prefix(MARK).and_then(|rest| rest.strip_suffix(" -->")) else {
            assert!(line != "```rust", "{PAGE} has code that is not run");
            continue;
        };
        if lines.next_if(|line| line.starts_with("```")).is_some() {
            let _ = lines.by_ref().take_while(|line| *line != "```").count();
        }
        let code = include_str!("library.rs").split_once(&format!("\nfn {name}(")).unwrap().1;
        let body = code.split_once("\n}\n").unwrap().0;
        out.push_str(&format!("```rust\nfn {name}({body}\n}}\n```\n"));
    }
    keep(PAGE, &out);
}

#[test]
fn reading() {
    let trace = root().join(DISK_FULL);
    let calls = list_calls(&trace).unwrap();
    assert_eq!(calls.len(), 12);
    assert!(calls[0].ends_with(": Bash failed"), "{}", calls[0]);
    assert_eq!(count_calls_of_agents(&trace).unwrap(), [12]);
    look_at_a_call().unwrap();
}

#[test]
fn converting() {
    let mut out = Vec::new();
    let report = convert(&root().join(DISK_FULL), &mut out).unwrap();
    assert!(report.starts_with("12 calls"), "{report}");
    assert!(serde_json::from_slice::<serde_json::Value>(&out).is_ok());
}

#[test]
fn grading() {
    let (spec, trace) = (root().join("samples/toolmark.yaml"), root().join(DISK_FULL));
    let run = grade(&spec, &[&trace]).unwrap();
    assert_eq!((run.summary.failed, run.summary.unknown), (1, 2));
    assert!(write_junit(run).unwrap().contains("disk-full"));
}

#[test]
fn checking_and_guarding() {
    let findings = check(&root().join(DISK_FULL)).unwrap();
    assert!(findings.iter().any(|finding| finding.code == "I301"));
    let verdict = ask_the_guard("git push --force origin main", "/w").unwrap();
    assert_eq!(verdict.decision, toolmark_shell::Decision::Deny);
    assert_eq!(make_printable("Bearer \u{1b}[31mok\u{7}"), "Bearer ok\u{2407}");
}
