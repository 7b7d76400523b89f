//! `--promote`: chosen findings as regression cases for `toolmark grade`.
//!
//! The traces are read a second time: while they are checked, nobody knows yet
//! which findings will be chosen, and keeping them all would take too much
//! memory.

use crate::exit::Failure;
use crate::grading::redact::hide_value;
use crate::inputs::Input;
use crate::reading::Reader;
use crate::redact::Veil;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::Path;
use toolmark_check::Checker;
use toolmark_check::promote::{Case, case};
use toolmark_outcome::Finding;
use toolmark_trace::exporter_by_id;

/// Makes cases of the findings, in their order.
pub(crate) fn cases(
    chosen: &[&Finding],
    inputs: &[Input],
    checker: &Checker,
    reader: &Reader,
) -> Result<Vec<Case>, Failure> {
    let mut made: BTreeMap<usize, Case> = BTreeMap::new();
    for input in inputs {
        if input.path().is_none() {
            let message =
                format!("--promote reads each trace twice, which {} does not allow", input.name());
            return Err(Failure::usage(message).hint("write the trace to a file first"));
        }
        // What could not be read was said when it was checked.
        let Ok(mut runs) = reader.open(input) else { continue };
        while made.len() < chosen.len()
            && let Some(run) = runs.next()
        {
            for session in run.flatten() {
                for (at, finding) in chosen.iter().enumerate() {
                    if !made.contains_key(&at)
                        && let Some(case) = case(finding, session, checker.toolsets())
                    {
                        made.insert(at, case);
                    }
                }
            }
        }
    }
    Ok(made.into_values().collect())
}

/// Writes the cases to a directory: a trace each, and the spec.
pub(crate) fn write(mut cases: Vec<Case>, directory: &Path, veil: Veil) -> io::Result<()> {
    let hide = |text: &mut String| {
        if let Cow::Owned(shown) = veil.shown(text) {
            *text = shown;
        }
    };
    fs::create_dir_all(directory)?;
    let mut used: BTreeMap<String, u32> = BTreeMap::new();
    for case in &mut cases {
        let times = used.entry(case.id.clone()).or_default();
        *times += 1;
        if *times > 1 {
            case.id = format!("{}-{times}", case.id);
            case.run.name = Some(case.id.as_str().into());
        }
        let mut bytes = Vec::new();
        let exporter = exporter_by_id("toolmark").ok_or(io::ErrorKind::Unsupported)?;
        exporter.export(&case.run, &mut bytes)?;
        let mut trace: Value = serde_json::from_slice(&bytes)?;
        // The same words are masked in both, so that they still fit.
        hide_value(&mut trace, &hide);
        hide_value(&mut case.expect, &hide);
        hide(&mut case.description);
        fs::write(directory.join(format!("{}.jsonl", case.id)), format!("{trace}\n"))?;
    }
    fs::write(directory.join("toolmark.yaml"), spec(&cases)?)
}

/// The spec. What comes from traces is JSON, which YAML takes as it is.
fn spec(cases: &[Case]) -> io::Result<String> {
    let mut text = String::from(
        "# Findings of toolmark check as regression cases. Each case fails on the trace it\n\
         # was made from; new runs of the agent must pass.\n\
         version: 1\nname: regressions\ncases:\n",
    );
    for case in cases {
        let json = |value: &Value| serde_json::to_string(value);
        let mut line = |key: &str, value: String| {
            let _ = writeln!(text, "{key}: {value}");
        };
        line("  - id", json(&case.id.as_str().into())?);
        line("    description", json(&case.description.as_str().into())?);
        line("    tags", format!("[{}]", case.code));
        line("    traces", json(&format!("{}.jsonl", case.id).into())?);
        line("    expect", json(&case.expect)?);
    }
    Ok(text)
}
