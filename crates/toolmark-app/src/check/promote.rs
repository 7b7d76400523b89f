//! `--promote`: writes selected findings as regression cases for `toolmark grade`.
//!
//! The traces are read a second time: during the check it is not yet known which findings will be
//! selected, and keeping all of them would take too much memory.

use crate::Failure;
use crate::inputs::InputFile;
use crate::reading::FileReader;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::Path;
use toolmark_check::promote::{Alike, Case, NoCase, case};
use toolmark_outcome::{Finding, Redactor};
use toolmark_trace::{ReadOptions, exporter_by_id, read};

/// The created cases.
pub struct CreatedCases {
    /// The cases, in the order of their findings.
    pub cases: Vec<Case>,
    /// Number of findings that only user-defined toolsets produce; graders do not know these
    /// toolsets.
    pub unseen: usize,
}

/// Creates cases from the findings, in order.
pub fn cases(
    chosen: &[&Finding],
    alike: Alike,
    inputs: &[InputFile],
    reader: &FileReader,
) -> Result<CreatedCases, Failure> {
    let mut made: BTreeMap<usize, Case> = BTreeMap::new();
    let mut unseen: BTreeSet<usize> = BTreeSet::new();
    for input in inputs {
        if input.path().is_none() {
            let message =
                format!("--promote reads each trace twice, which {} does not allow", input.name());
            return Err(Failure::usage(message).hint("write the trace to a file first"));
        }
        // What could not be read was said when it was checked.
        let Ok(mut runs) = reader.open(input) else { continue };
        while made.len() + unseen.len() < chosen.len()
            && let Some(run) = runs.next()
        {
            for session in run.flatten() {
                for (at, finding) in chosen.iter().enumerate() {
                    if made.contains_key(&at) || unseen.contains(&at) {
                        continue;
                    }
                    match case(finding, session, &run, alike) {
                        Ok(case) => drop(made.insert(at, case)),
                        Err(NoCase::Unseen) => drop(unseen.insert(at)),
                        Err(NoCase::Elsewhere) => {}
                    }
                }
            }
        }
    }
    Ok(CreatedCases { cases: made.into_values().collect(), unseen: unseen.len() })
}

/// A case of the spec. Findings with the same prompt share one case: a new run of the prompt is
/// checked against all of them.
struct PromotedEntry {
    id: String,
    descriptions: Vec<String>,
    prompts: Vec<String>,
    workspace: Option<String>,
    traces: Vec<String>,
    /// Distinct configurations with the code of their rule and the type of the grader.
    graders: Vec<(&'static str, &'static str, Value)>,
}

fn group(cases: &[Case]) -> Vec<(PromotedEntry, Vec<&Case>)> {
    let mut entries: Vec<(PromotedEntry, Vec<&Case>)> = Vec::new();
    let mut used: BTreeMap<&str, u32> = BTreeMap::new();
    for case in cases {
        let prompt = case.prompts.first();
        let same = |entry: &PromotedEntry| prompt.is_some() && entry.prompts.first() == prompt;
        let at = match entries.iter().position(|(entry, _)| same(entry)) {
            Some(at) => at,
            None => {
                let times = used.entry(&case.id).or_default();
                *times += 1;
                let suffix = if *times > 1 { format!("-{times}") } else { String::new() };
                entries.push((
                    PromotedEntry {
                        id: format!("{}{suffix}", case.id),
                        descriptions: Vec::new(),
                        prompts: Vec::new(),
                        workspace: None,
                        traces: Vec::new(),
                        graders: Vec::new(),
                    },
                    Vec::new(),
                ));
                entries.len() - 1
            }
        };
        let Some((entry, cases)) = entries.get_mut(at) else { continue };
        entry.descriptions.push(case.description.clone());
        if case.prompts.len() > entry.prompts.len() {
            entry.prompts.clone_from(&case.prompts);
        }
        entry.workspace = entry.workspace.take().or_else(|| case.workspace.clone());
        let grader = (case.grader, case.code, case.config.clone());
        if !entry.graders.contains(&grader) {
            entry.graders.push(grader);
        }
        cases.push(case);
    }
    entries
}

/// Writes the traces and the spec of the cases to a directory. Returns the number of cases.
pub fn write(cases: &[Case], directory: &Path, redactor: Redactor) -> io::Result<usize> {
    fs::create_dir_all(directory)?;
    let mut entries = Vec::new();
    for (mut entry, cases) in group(cases) {
        for case in cases {
            let number = entry.traces.len() + 1;
            let suffix = if number > 1 { format!(".{number}") } else { String::new() };
            let name = format!("{}{suffix}.jsonl", entry.id);
            let trace = masked_trace(case, &entry.id, redactor)?;
            // A trace whose fault is a secret does not show it once it is masked.
            if read(io::Cursor::new(trace.clone().into_bytes()), &name, &ReadOptions::default())
                .is_ok_and(|mut runs| runs.any(|run| case.is_shown_by(&run)))
            {
                fs::write(directory.join(&name), &trace)?;
                entry.traces.push(name);
            }
        }
        entries.push(entry);
    }
    fs::write(directory.join("toolmark.yaml"), spec(&entries, redactor)?)?;
    Ok(entries.len())
}

/// Returns the part of the trace that shows the fault, redacted.
fn masked_trace(case: &Case, id: &str, redactor: Redactor) -> io::Result<String> {
    let mut run = case.run.clone();
    run.name = Some(id.into());
    let mut bytes = Vec::new();
    let exporter = exporter_by_id("toolmark").ok_or(io::ErrorKind::Unsupported)?;
    exporter.export(&run, &mut bytes)?;
    let trace: Value = serde_json::from_slice(&bytes)?;
    Ok(format!("{}\n", *redactor.json(trace.into())))
}

/// Returns the spec. Values from traces are written as JSON, which is valid YAML.
fn spec(entries: &[PromotedEntry], redactor: Redactor) -> io::Result<String> {
    let mut text = String::from(
        "# Faults that toolmark found as regression cases. A case fails on the traces it was\n\
         # made from, and on every new run of its prompt that has the fault again, whatever\n\
         # the arguments are. Without a trace, the trace only showed a secret.\n\
         version: 1\nname: regressions\ncases:\n",
    );
    for entry in entries {
        let json = |value: Value| serde_json::to_string(&*redactor.json(value.into()));
        let codes: BTreeSet<&str> = entry.graders.iter().map(|(_, code, _)| *code).collect();
        let graders = graders(&entry.graders);
        let mut line = |key: &str, value: String| {
            let _ = writeln!(text, "{key}: {value}");
        };
        line("  - id", json(entry.id.as_str().into())?);
        line("    description", json(entry.descriptions.join("; ").into())?);
        line("    tags", json(json!(codes))?);
        match &entry.prompts[..] {
            [] => {}
            [prompt] => line("    prompt", json(prompt.as_str().into())?),
            turns => line("    turns", json(json!(turns))?),
        }
        if let Some(workspace) = &entry.workspace {
            line("    workspace", json(workspace.as_str().into())?);
        }
        if !entry.traces.is_empty() {
            line("    traces", json(json!(entry.traces))?);
        }
        line("    graders", json(json!(graders))?);
    }
    Ok(text)
}

/// The graders of a case, each with a unique name such as `S101 Read`.
fn graders(configs: &[(&'static str, &'static str, Value)]) -> Vec<Value> {
    let mut used: BTreeMap<String, u32> = BTreeMap::new();
    let mut graders = Vec::new();
    for (grader, code, config) in configs {
        let words = ["tool", "role", "bucket"].iter().filter_map(|key| config.get(key)?.as_str());
        let mut name = std::iter::once(*code).chain(words).collect::<Vec<_>>().join(" ");
        let times = used.entry(name.clone()).or_default();
        *times += 1;
        if *times > 1 {
            name = format!("{name} {times}");
        }
        graders.push(json!({"type": grader, "name": name, "config": config}));
    }
    graders
}

/// Fails if the directory already has a spec: a regression set is extended by hand and must not be
/// overwritten.
pub fn refuse_to_overwrite(directory: &Path) -> Result<(), Failure> {
    let spec = directory.join("toolmark.yaml");
    if !spec.exists() {
        return Ok(());
    }
    let failure = Failure::usage(format!("{} already exists", spec.display()));
    Err(failure.hint("promote to a new directory"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn graders_of_a_case_have_names_of_their_own() {
        let configs = [
            ("finding", "S101", json!({"code": "S101", "tool": "Read"})),
            ("finding", "S101", json!({"code": "S101", "tool": "view"})),
            ("finding", "S101", json!({"code": "S101", "tool": "Read", "min_confidence": "low"})),
            ("finding", "S102", json!({"code": "S102", "tool": "Bash", "bucket": "cat"})),
        ];
        let graders = graders(&configs);
        let names: Vec<&str> = graders.iter().filter_map(|one| one["name"].as_str()).collect();
        assert_eq!(names, ["S101 Read", "S101 view", "S101 Read 2", "S102 Bash cat"]);
    }
}
