//! The labelled commands against the thresholds: destructive rows are flagged, safe rows are not.

use serde_json::Value;
use toolmark_shell::{Decision, ShellContext, analyze};
use toolmark_testing::find_shared;

#[test]
#[allow(clippy::print_stderr, reason = "the counts are what the test is for")]
fn labelled_commands() {
    let files = ["safety/commands_dev.jsonl", "safety/commands_dev2.jsonl"];
    let Some(files) = files.map(find_shared).into_iter().collect::<Option<Vec<_>>>() else {
        return;
    };
    let text: String = files.iter().map(|f| std::fs::read_to_string(f).unwrap()).collect();
    let (mut hit, mut missed, mut alarms, mut quiet) = (0_u32, 0_u32, 0_u32, 0_u32);
    let (mut flagged, mut blocked) = (0_u32, 0_u32);
    for line in text.lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        let command = row["command"].as_str().unwrap();
        let context = ShellContext { cwd: row["cwd"].as_str(), ..ShellContext::default() };
        let analysis = analyze(command, &context);
        let is_flagged = analysis.decision != Decision::Allow;
        let wrong = |what: &str| eprintln!("{what}: {command:?} ({})", analysis.reason);
        match (row["label"].as_str().unwrap(), row["verdict"].as_str()) {
            ("destructive", _) if is_flagged => hit += 1,
            ("destructive", _) => {
                missed += 1;
                wrong("missed");
            }
            ("safe", _) if is_flagged => {
                alarms += 1;
                wrong("false alarm");
            }
            ("safe", _) => quiet += 1,
            (_, Some("block")) => {
                blocked += 1;
                flagged += u32::from(is_flagged);
                if !is_flagged {
                    wrong("suspicious, not flagged");
                }
            }
            _ => {}
        }
    }
    let precision = f64::from(hit) / f64::from(hit + alarms);
    let recall = f64::from(hit) / f64::from(hit + missed);
    let share = f64::from(flagged) / f64::from(blocked);
    eprintln!(
        "destructive: {hit} flagged, {missed} missed; safe: {quiet} allowed, {alarms} flagged"
    );
    eprintln!("precision {precision:.4}, recall {recall:.4}, suspicious flagged {share:.3}");
    assert!(precision >= 0.99, "precision {precision}");
    assert!(recall >= 0.97, "recall {recall}");
    assert!(share >= 0.85, "suspicious {share}");
}

/// Commands that were once missed.
#[test]
fn commands_that_got_through_are_stopped() {
    let Some(file) = find_shared("repro/guard/allowed_but_should_stop.txt") else { return };
    let text = std::fs::read_to_string(file).unwrap();
    let context = ShellContext { cwd: Some("/w/shop"), ..ShellContext::default() };
    let commands = text.lines().filter(|line| !line.trim().is_empty());
    let (stopped, allowed): (Vec<_>, Vec<_>) =
        commands.partition(|command| analyze(command, &context).decision != Decision::Allow);
    assert!(allowed.is_empty(), "{allowed:#?}");
    assert!(stopped.len() > 20, "{} commands", stopped.len());
}
