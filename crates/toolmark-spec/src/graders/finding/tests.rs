use super::FINDING;
use serde_json::{Value, json};
use toolmark_check::promote::{Alike, case};
use toolmark_check::{Checker, Expectation, RULES, Rule, Toolsets};
use toolmark_grade::testing::Kit;
use toolmark_grade::{Graders, ask};
use toolmark_outcome::{CaseContext, Confidence, Environment, Finding, Outcome};
use toolmark_outcome::{Profile, Subject, TrajectoryView};
use toolmark_session::notation;
use toolmark_trace::Trajectory;

const KIT: Kit = Kit(Graders(&[&FINDING]));

fn grade(config: &Value, run: &Trajectory) -> Outcome {
    let grader = KIT.build("finding", Profile::Toolmark, config);
    let grader = grader.unwrap_or_else(|problems| panic!("{config}: {problems:?}"));
    let (context, environment) = (CaseContext::default(), Environment::default());
    let subject =
        Subject { view: TrajectoryView::whole(run), context: &context, environment: &environment };
    ask(&*grader, &subject)
}

fn found(rule: &'static Rule, run: &Trajectory) -> Vec<Finding> {
    Checker::new(vec![rule], Confidence::Medium, Toolsets::default()).check(run).findings
}

/// Returns the arguments of the faulty call.
fn arguments(finding: &Finding, root: &Trajectory) -> Option<String> {
    let index = finding.evidence.first()?.call.as_ref()?.index;
    let runs = root.flatten();
    let is_its_run = |run: &&&Trajectory| {
        run.calls.get(index).is_some_and(|call| finding.place == call.at.location().into())
    };
    // A finding about words is placed at the words.
    let run = runs.iter().find(is_its_run).or(runs.first())?;
    run.calls.get(index)?.args.as_ref().map(|args| format!("{args:?}"))
}

/// Renames files and directories throughout a trace.
fn rename(trace: &str) -> String {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '/' | '~' | '-');
    let mut out = String::new();
    let mut rest = trace;
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|c: char| is_part(c) != is_part(first)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        rest = after;
        let stem = word.rsplit('/').next().unwrap_or(word);
        let is_file = word.contains('/') || stem.trim_end_matches('.').contains('.');
        let is_name = stem.starts_with(|c: char| c.is_ascii_alphabetic());
        let is_address = word.contains("//") || out.ends_with("://") || out.ends_with('@');
        if is_part(first) && is_file && is_name && !is_address {
            out.push_str(&word[..word.len() - stem.len()]);
            out.push_str("zz");
            out.push_str(stem);
        } else {
            out.push_str(word);
        }
    }
    out
}

/// Replaces the words in the arguments of a trace.
fn reword(trace: &str) -> String {
    trace.replace("\":\"", "\":\"zz")
}

/// A promoted fault fails again with other arguments, for every rule: in the same
/// trace with other files or words, or in another example of the rule.
#[test]
fn a_promoted_fault_fails_with_other_arguments() {
    for rule in RULES.iter().filter(|rule| !rule.needs_policy()) {
        let examples = rule.examples();
        let fires = examples.iter().filter(|one| one.expectation == Expectation::Fires);
        let traces: Vec<&str> = fires.map(|example| example.trace.as_str()).collect();
        let mut repeated = 0;
        for trace in &traces {
            let run = notation::parse(trace).unwrap();
            for session in run.flatten() {
                let checker = Checker::new(vec![rule], Confidence::Medium, Toolsets::default());
                for finding in checker.check_alone(session).findings {
                    let case = case(&finding, session, &run, Alike::Cluster).unwrap();
                    let own = grade(&case.config, &case.run);
                    assert_eq!(own.verdict.word(), "fail", "{}: {trace}", rule.code);
                    let before = arguments(&finding, &run);
                    let varied = [rename(trace), reword(trace)];
                    let others = varied.iter().map(String::as_str).chain(traces.iter().copied());
                    for other in others {
                        let Ok(again) = notation::parse(other) else { continue };
                        let is_other = |one: &Finding| {
                            one.tool == finding.tool && arguments(one, &again) != before
                        };
                        if found(rule, &again).iter().any(is_other) {
                            let outcome = grade(&case.config, &again);
                            assert_eq!(outcome.verdict.word(), "fail", "{}: {other}", rule.code);
                            repeated += 1;
                        }
                    }
                }
            }
        }
        assert!(repeated > 0, "{}: no example repeats the fault with other arguments", rule.code);
        // A trace without findings passes or is unknown; it never fails.
        for example in examples.iter().filter(|one| one.expectation == Expectation::Quiet) {
            let run = notation::parse(&example.trace).unwrap();
            let outcome = grade(&json!({"code": rule.code}), &run);
            assert_ne!(outcome.verdict.word(), "fail", "{}: {}", rule.code, example.trace);
        }
    }
}

const READ: &str = "Read {\"file_path\":\"/w/a.rs\"} -> \"1\\tone\"\n";

#[test]
fn tool_bucket_and_scope_restrict_it() {
    let twice = notation::parse(&format!("user: x\n{}", READ.repeat(2))).unwrap();
    let shell = notation::parse(
        "tools: Read,Bash\nuser: x\nRead {\"file_path\":\"/w/b.rs\"} -> \"1\\tone\"\n\
         Bash {\"command\":\"cat a.rs\"} -> \"one\"\n",
    );
    let shell = shell.unwrap();
    for (config, run, verdict) in [
        (json!({"code": "S101"}), &twice, "fail"),
        (json!({"code": "repeated-read", "tool": "Read"}), &twice, "fail"),
        (json!({"code": "S101", "tool": "View"}), &twice, "pass"),
        (json!({"code": "S101", "scope": "agent"}), &twice, "fail"),
        (json!({"code": "S101", "scope": "sub-agents"}), &twice, "pass"),
        (json!({"code": "S102", "bucket": "cat"}), &shell, "fail"),
        (json!({"code": "S102", "bucket": "head"}), &shell, "pass"),
        (json!({"code": "S101"}), &shell, "pass"),
    ] {
        let outcome = grade(&config, run);
        assert_eq!(outcome.verdict.word(), verdict, "{config}: {}", outcome.reason.raw());
        assert_eq!(outcome.evidence.is_empty(), verdict == "pass", "{config}");
    }
    let child: String = READ.lines().map(|line| format!("> {line}\n")).collect();
    let nested = format!("user: x\nTask {{\"prompt\":\"look\"}} -> \"ok\"\n{}", child.repeat(2));
    let nested = notation::parse(&nested).unwrap();
    for (scope, verdict) in [("all", "fail"), ("sub-agents", "fail"), ("agent", "pass")] {
        let outcome = grade(&json!({"code": "S101", "scope": scope}), &nested);
        assert_eq!(outcome.verdict.word(), verdict, "{scope}");
    }
}

#[test]
fn one_turn_is_only_about_its_calls() {
    let text = format!("user: x\n{}user: y\nGlob {{\"pattern\":\"*\"}} -> \"a\"\n", READ.repeat(2));
    let run = notation::parse(&text).unwrap();
    let grader = KIT.build("finding", Profile::Toolmark, &json!({"code": "S101"})).unwrap();
    let (context, environment) = (CaseContext::default(), Environment::default());
    for (turn, verdict) in [(0, "fail"), (1, "pass")] {
        let view = TrajectoryView::turn(&run, turn).unwrap();
        let subject = Subject { view, context: &context, environment: &environment };
        assert_eq!(ask(&*grader, &subject).verdict.word(), verdict, "turn {turn}");
    }
}

#[test]
fn a_wrong_code_is_named_with_the_nearest() {
    for (config, message, help) in [
        (json!({"code": "S110"}), "unknown rule \"S110\"", "did you mean"),
        (json!({"code": "repeated-reed"}), "unknown rule", "did you mean \"repeated-read\"?"),
        (json!({"code": "S1"}), "unknown rule", ""),
        (json!({}), "code", ""),
        (json!({"code": "S101", "scope": "everything"}), "", ""),
        (json!({"code": "S101", "too": "Read"}), "", ""),
    ] {
        let Err(problems) = KIT.build("finding", Profile::Toolmark, &config) else {
            panic!("{config} is wrong")
        };
        assert!(problems[0].message.contains(message), "{config}: {problems:?}");
        let said = problems[0].help.clone().unwrap_or_default();
        assert!(said.contains(help), "{config}: {said}");
    }
}
