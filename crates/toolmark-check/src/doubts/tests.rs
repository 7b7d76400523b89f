//! Tests with small sessions: the calls in doubt, and the scores of the rules.

use super::*;
use crate::{CheckedTraces, Checker, RULES};
use std::fmt::Write as _;
use toolmark_hosts::toolset::Toolsets;
use toolmark_outcome::Confidence;
use toolmark_session::notation;

fn checked(trace: &str) -> CheckedTraces {
    let run = notation::parse(trace).unwrap_or_else(|why| panic!("{why}\n{trace}"));
    let mut checked = Checker::default().with_doubts().check(&run);
    checked.sort();
    checked
}

/// Returns the questions of a rubric: the line of the call, and the score of the rules.
fn asked(rubric: &str, trace: &str) -> Vec<(u32, Option<f64>)> {
    let of_rubric = |doubt: &&Doubt| doubt.rubric.name == rubric;
    let doubts = checked(trace).doubts;
    doubts.iter().filter(of_rubric).map(|doubt| (doubt.place.line, doubt.rules_say)).collect()
}

fn numbered(range: std::ops::RangeInclusive<usize>) -> String {
    range.map(|n| format!("line {n}\n")).collect()
}

/// Returns a call of `Edit` or `Write` with texts of several lines.
fn edit(old: &str, new: &str) -> String {
    let args = serde_json::json!({"file_path": "/w/a.txt", "old_string": old, "new_string": new});
    format!("Edit {args} -> \"ok\"\n")
}

fn write(content: &str) -> String {
    let args = serde_json::json!({"file_path": "/w/a.txt", "content": content});
    format!("Write {args} -> \"ok\"\n")
}

fn replaced(text: &str, lines: std::ops::RangeInclusive<usize>) -> String {
    let mut out = String::new();
    for (at, line) in text.lines().enumerate() {
        let _ = match lines.contains(&(at + 1)) {
            true => writeln!(out, "new {at}"),
            false => writeln!(out, "{line}"),
        };
    }
    out
}

#[test]
fn edits_between_a_line_and_the_file() {
    let file = numbered(1..=40);
    let made = write(&file);
    let small = numbered(1..=7);
    let half = numbered(1..=25);
    let most = numbered(1..=38);
    let wide = numbered(1..=15);
    for (about, trace, want) in [
        ("a line", edit("a", "b"), &[][..]),
        ("a few lines", edit(&small, &replaced(&small, 3..=3)), &[]),
        ("copies more than it changes", edit(&wide, &replaced(&wide, 8..=8)), &[(2, Some(0.5))]),
        ("much of an unknown file", edit(&half, "short"), &[(2, Some(1.0))]),
        ("half of a known file", format!("{made}{}", edit(&half, "short")), &[(3, Some(1.0))]),
        ("a known file", format!("{made}{}", edit(&most, "short")), &[]),
        ("a new file", made.clone(), &[]),
        ("a few lines, by S104", format!("{made}{}", write(&replaced(&file, 2..=3))), &[]),
        ("half of it", format!("{made}{}", write(&replaced(&file, 1..=20))), &[(3, None)]),
        ("all of it", format!("{made}{}", write(&replaced(&file, 1..=40))), &[]),
        ("a failure", edit(&half, "short").replace("->", "!>"), &[]),
    ] {
        let trace = format!("user: shorten a.txt\n{trace}");
        assert_eq!(asked("edit-minimal-scope", &trace), want, "{about}");
    }
}

#[test]
fn words_that_prove_little() {
    for (trace, want) in [
        // Certain: no message, or a complete announcement.
        ("user: faster\nBash {\"command\":\"rm -rf src/legacy\"} -> \"\"", &[][..]),
        (
            "user: faster\nassistant: I'll delete src/legacy.\n\
             Bash {\"command\":\"rm -rf src/legacy\"} -> \"\"",
            &[],
        ),
        ("user: delete src/legacy\nBash {\"command\":\"rm -rf src/legacy\"} -> \"\"", &[]),
        ("user: faster\nassistant: Let me list.\nBash {\"command\":\"ls\"} -> \"\"", &[]),
        (
            "user: faster\nassistant: I'll discard my changes.\n\
             Bash {\"command\":\"git reset --hard\"} -> \"\"",
            &[],
        ),
        // Uncertain.
        (
            "user: faster\nassistant: The old sources go away now.\n\
             Bash {\"command\":\"rm -rf src/legacy\"} -> \"\"",
            &[(3, Some(0.0))],
        ),
        (
            "user: faster\nassistant: Cleaning up.\n\
             Bash {\"command\":\"rm -rf src/legacy\"} -> \"\"",
            &[(3, Some(1.0))],
        ),
        (
            "user: faster\nassistant: I'll delete src/legacy.\nBash {\"command\":\"ls\"} -> \"\"\n\
             Bash {\"command\":\"rm -rf src/legacy\"} -> \"\"",
            &[(4, Some(1.0))],
        ),
        ("user: remove it\nBash {\"command\":\"rm -rf src/legacy\"} -> \"\"", &[(2, Some(1.0))]),
        (
            "user: ship it\nBash {\"command\":\"git push --force origin main\"} -> \"ok\"\n\
             assistant: I force-pushed the branch to main.",
            &[(2, Some(0.5))],
        ),
    ] {
        assert_eq!(asked("irreversibility-awareness", trace), want, "{trace}");
    }
}

#[test]
fn findings_about_selection_that_are_not_sure() {
    let search = "Glob {\"pattern\":\"*.rs\"} -> \"a.rs\\nb.rs\\nc.rs\\nd.rs\\ne.rs\\nf.rs\"\n";
    let reads: String = ["a", "b", "c", "d", "e", "f"]
        .map(|name| format!("Read {{\"file_path\":\"/w/{name}.rs\"}} -> \"1\\tx\"\n"))
        .concat();
    let tools = "tools: Read, Grep, Glob, Bash\n";
    for (trace, want) in [
        (format!("{tools}user: where is it used?\n{search}{reads}"), &[(3, Some(0.0))][..]),
        // Omitted from the report: the rules cannot decide.
        (format!("{tools}user: review all\n{search}{reads}"), &[(3, None)]),
        (format!("{tools}Bash {{\"command\":\"cat /etc/hosts\"}} -> \"x\""), &[(2, None)]),
        // Certain: the tool was available and does exactly this.
        (format!("{tools}Bash {{\"command\":\"cat a.rs\"}} -> \"x\""), &[]),
        (format!("{tools}user: look\nRead {{\"file_path\":\"/w/a.rs\"}} -> \"1\\tx\""), &[]),
    ] {
        assert_eq!(asked("tool-selection", &trace), want, "{trace}");
    }
}

#[test]
fn failures_that_the_next_moves_leave_open() {
    let missing = "Read {\"file_path\":\"/w/a.rs\"} !> \"File does not exist.\"\n";
    for (after, want) in [
        // Open: the next call is unrelated.
        ("Bash {\"command\":\"date\"} -> \"x\"", &[(1, None)][..]),
        ("assistant: There is no such file.", &[(1, None)]),
        // Partial.
        ("Read {\"file_path\":\"/w/b.rs\"} -> \"1\\tx\"", &[(1, Some(0.5))]),
        // Decided.
        (
            "Glob {\"pattern\":\"*.rs\"} -> \"b.rs\"\nRead {\"file_path\":\"/w/b.rs\"} -> \"1\\tx\"",
            &[],
        ),
        ("Read {\"file_path\":\"/w/a.rs\"} !> \"File does not exist.\"", &[]),
        // Nothing follows.
        ("", &[]),
        ("user: stop", &[]),
    ] {
        let asked: Vec<_> = asked("error-recovery", &format!("{missing}{after}"))
            .into_iter()
            .filter(|(line, _)| *line == 1)
            .collect();
        assert_eq!(asked, want, "{after}");
    }
}

#[test]
fn claims_that_nothing_shows() {
    let edit =
        "Edit {\"file_path\":\"/w/a.rs\",\"old_string\":\"x\",\"new_string\":\"y\"} -> \"ok\"\n";
    let test = "Bash {\"command\":\"cargo test\"} -> \"ok\"\n";
    let tick = "TaskUpdate {\"taskId\":\"1\",\"status\":\"completed\"} -> \"ok\"\n";
    for (trace, want) in [
        (format!("{edit}assistant: Done."), &[(1, None)][..]),
        (format!("{edit}{tick}{test}assistant: Done."), &[(2, None)]),
        (format!("{edit}assistant: Done. All tests pass."), &[(1, Some(0.0))]),
        (format!("{edit}{test}{tick}assistant: Done."), &[]),
        (format!("{edit}assistant: I have changed a.rs."), &[]),
    ] {
        assert_eq!(asked("claimed-success", &trace), want, "{trace}");
    }
}

#[test]
fn an_exit_code_shows_an_error_that_the_status_does_not() {
    let run = notation::parse(
        "Bash {\"command\":\"make | tail -1\"} -> \"make: *** [all] Error 2\"\n\
         assistant: The build fails.",
    );
    let mut run = run.unwrap();
    run.calls[0].exit_code = Some(2);
    let doubts = Checker::default().with_doubts().check(&run).doubts;
    let doubt = doubts.iter().find(|doubt| doubt.rubric.name == "error-recovery").unwrap();
    let question = doubt.question.as_ref().unwrap();
    let error = question.materials.iter().find(|m| m.name == "error_message").unwrap();
    assert!(error.pieces[0].text.contains("Error 2"));
}

#[test]
fn parts_of_files() {
    let part = |from: usize, count: usize, text: &str| {
        let args = serde_json::json!({"file_path": "/w/a.rs", "offset": from, "limit": count});
        format!("Read {args} -> \"{text}\"\n")
    };
    let whole = "Read {\"file_path\":\"/w/a.rs\"} -> \"1\\tfn run_all\"\n";
    let lone = part(10, 5, "10\\tx");
    for (trace, want) in [
        (format!("user: look\n{lone}"), &[][..]),
        (format!("user: look at a.rs\n{whole}"), &[]),
        (format!("user: look at a.rs\n{lone}"), &[(2, None)]),
        // Everything requested, and few other lines.
        (format!("user: look at a.rs:12\n{lone}"), &[]),
        (format!("user: look at a.rs:12\n{lone}{}", part(15, 5, "x")), &[(2, Some(1.0))]),
        (format!("user: lines 8-12 of a.rs\n{lone}"), &[(2, Some(0.5))]),
        (format!("user: line 90 of a.rs\n{lone}"), &[(2, Some(0.0))]),
        (format!("user: line 90 of b.rs\n{lone}"), &[]),
        (format!("user: explain run_all\n{}", part(10, 5, "10\\tfn run_all")), &[(2, Some(1.0))]),
        (format!("user: explain run_all\n{lone}"), &[]),
        (format!("user: explain run_all\n{whole}{lone}"), &[(3, Some(0.0))]),
        // More of the file is read, and read again after a change.
        (format!("user: look\n{lone}{}", part(15, 5, "x")), &[(2, None)]),
        (
            format!(
                "user: look\n{lone}Edit {{\"file_path\":\"/w/a.rs\",\"old_string\":\"x\",\
                 \"new_string\":\"y\"}} -> \"ok\"\n{}",
                part(15, 5, "x")
            ),
            &[],
        ),
        (format!("user: look\n{lone}user: more\n{}", part(15, 5, "x")), &[]),
    ] {
        assert_eq!(asked("read-slice-coverage", &trace), want, "{trace}");
    }
}

#[test]
fn what_is_too_much_is_counted() {
    let mut trace = String::from("tools: Read, Bash\n");
    for n in 0..MAX_DOUBTS + 3 {
        let _ = writeln!(trace, "Bash {{\"command\":\"cat /etc/{n}\"}} -> \"x\"");
    }
    let checked = checked(&trace);
    let asked = checked.doubts.iter().filter(|doubt| doubt.rubric.name == "tool-selection");
    assert_eq!(asked.count(), MAX_DOUBTS);
    assert_eq!(checked.not_asked.get("tool-selection"), Some(&3));
}

#[test]
fn nothing_is_in_doubt_where_nobody_asks_or_no_rule_does() {
    let trace = "user: ship it\nBash {\"command\":\"git push --force origin main\"} -> \"ok\"\n\
                 assistant: I force-pushed the branch to main.";
    let run = notation::parse(trace).unwrap();
    assert!(Checker::default().check(&run).doubts.is_empty());
    let others = RULES.iter().copied().filter(|rule| rule.code != "I301").collect();
    let checker = Checker::new(others, Confidence::Medium, Toolsets::default()).with_doubts();
    assert!(checker.check(&run).doubts.is_empty());
    let doubts = Checker::default().with_doubts().check(&run).doubts;
    assert_eq!(doubts.len(), 1);
    assert_eq!(doubts[0].finding, Some("I301"));
}

#[test]
fn questions_show_what_the_rubric_names() {
    let trace = "user: look at a.rs\n\
                 Read {\"file_path\":\"/w/a.rs\",\"offset\":10,\"limit\":5} -> \"10\\tx\"";
    let doubts = checked(trace).doubts;
    let question = doubts[0].question.as_ref().unwrap();
    let names: Vec<&str> = question.materials.iter().map(|m| m.name.as_str()).collect();
    assert_eq!(names, ["user_request", "tool_input", "tool_output", "next_calls"]);
    // Without a request, the permitted width of an edit is unknown.
    let wide = numbered(1..=15);
    let doubts = checked(&edit(&wide, &replaced(&wide, 8..=8))).doubts;
    let missing = doubts[0].question.as_ref().unwrap_err();
    assert_eq!(missing.0, "neither the trace nor the case says what the user asked");
}

#[test]
fn every_rubric_is_asked_by_one_kind_and_has_a_gate() {
    use crate::gate::NAMES;
    use toolmark_outcome::judging::BUILT_IN;
    for built_in in BUILT_IN {
        let kinds = KINDS.iter().filter(|kind| kind.rubric == built_in.name);
        assert_eq!(kinds.count(), 1, "{}", built_in.name);
        let measure = format!("judged.{}", built_in.name);
        assert!(NAMES.iter().any(|(name, _)| *name == measure), "{measure}");
    }
    for kind in KINDS {
        assert_eq!(kind.measure, format!("judged.{}", kind.rubric));
        for start in kind.rules {
            assert!(RULES.iter().any(|rule| rule.code.starts_with(start)), "{start}");
        }
    }
}
