//! Comparison of keys with failures that people labelled with their cause.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test that cannot go on should say so"
)]

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use toolmark_feed::class::FailedCall;
use toolmark_feed::key::IssueKey;
use toolmark_feed::role::{command_of, role_of_name};
use toolmark_hosts::toolset::{ToolRole, Toolsets};
use toolmark_trace::ToolName;

struct Labelled {
    label: String,
    source: String,
    key: IssueKey,
    row: Value,
}

fn labelled() -> Option<Vec<Labelled>> {
    let file = toolmark_testing::find_shared("feed/labelled_failures.jsonl")?;
    let text = fs::read_to_string(file).unwrap();
    let toolsets = Toolsets::default();
    let rows = text.lines().map(|line| {
        let row: Value = serde_json::from_str(line).unwrap();
        let field = |name: &str| row[name].as_str().unwrap().to_owned();
        let (tool, text) = (field("tool"), field("text"));
        let role = role_of_name(&ToolName::new(tool.as_str()), Some(&row["input"]), &toolsets);
        let is_shell = matches!(role, ToolRole::RunsShell | ToolRole::TalksToShell);
        let command = command_of(Some(&row["input"])).filter(|_| is_shell);
        let key = IssueKey::of_call(&FailedCall {
            role,
            tool: &tool,
            args: Some(&row["input"]),
            command: command.as_deref(),
            exit_code: None,
            is_denied: false,
            is_interrupted: false,
            error: None,
            text: &text,
        });
        Labelled { label: field("label"), source: field("src"), key, row }
    });
    Some(rows.collect())
}

/// Returns purity and the F1 of B-cubed precision and recall.
fn scores(rows: &[&Labelled]) -> (f64, f64) {
    let mut groups: BTreeMap<&IssueKey, BTreeMap<&str, f64>> = BTreeMap::new();
    let mut labels: BTreeMap<&str, f64> = BTreeMap::new();
    for row in rows {
        *groups.entry(&row.key).or_default().entry(&row.label).or_default() += 1.0;
        *labels.entry(&row.label).or_default() += 1.0;
    }
    let count = rows.len() as f64;
    let largest = |group: &BTreeMap<&str, f64>| group.values().copied().fold(0.0, f64::max);
    let purity = groups.values().map(largest).sum::<f64>() / count;
    let (mut precision, mut recall) = (0.0, 0.0);
    for group in groups.values() {
        let size: f64 = group.values().sum();
        for (label, both) in group {
            precision += both * both / size;
            recall += both * both / labels[label];
        }
    }
    let (precision, recall) = (precision / count, recall / count);
    (purity, 2.0 * precision * recall / (precision + recall))
}

#[test]
fn keys_agree_with_people() {
    let Some(rows) = labelled() else { return };
    let wanted: Option<BTreeSet<String>> = std::env::var("FEED_SOURCES")
        .ok()
        .map(|names| names.split(',').map(str::to_owned).collect());
    let is_wanted = |row: &&Labelled| wanted.as_ref().is_none_or(|w| w.contains(&row.source));
    let chosen: Vec<&Labelled> = rows.iter().filter(is_wanted).collect();
    if std::env::var_os("FEED_SHOW").is_some() {
        show(&chosen);
    }
    let (purity, f1) = scores(&chosen);
    eprintln!("{} failures: purity {purity:.3}, B-cubed F1 {f1:.3}", chosen.len());
    assert!(purity >= 0.97, "purity {purity:.3}");
    assert!(f1 >= 0.90, "B-cubed F1 {f1:.3}");
}

fn show(rows: &[&Labelled]) {
    let mut labels: BTreeMap<&str, BTreeMap<&IssueKey, Vec<&&Labelled>>> = BTreeMap::new();
    let mut keys: BTreeMap<&IssueKey, BTreeSet<&str>> = BTreeMap::new();
    for row in rows {
        labels.entry(&row.label).or_default().entry(&row.key).or_default().push(row);
        keys.entry(&row.key).or_default().insert(&row.label);
    }
    for (label, groups) in &labels {
        if groups.len() > 1 {
            eprintln!("SPLIT {label}");
            for (key, rows) in groups {
                eprintln!(
                    "   {} {key:?}\n      {:.260}",
                    rows.len(),
                    rows[0].row["text"].to_string()
                );
            }
        }
    }
    for (key, names) in keys.iter().filter(|(_, names)| names.len() > 1) {
        eprintln!("MIXED {key:?}: {names:?}");
    }
}
