//! Sample results with every feature that a report may encounter.

use crate::model::RunResult as Printed;
use crate::{ReportOptions, format_by_id};
use serde_json::json;
use toolmark_outcome::statistics::{mean, pass_at_k, pass_hat_k, wilson};
use toolmark_outcome::{
    CallRef, CaseResult, CaseSummary, Cause, Contrast, Evidence, EvidenceRole, Explanation,
    ExplanationRow, GraderMetrics, GraderResult, Outcome, OutcomePart, Profile, Redactor, RowState,
    RunResult, SpecPlace, Summary, Timeline, TimelineEntry, Took, TracePlace, TrajectorySource,
    Verdict,
};

/// A name that tries to escape from the syntax of every format.
pub(crate) const HOSTILE: &str = "\u{1b}[2J</script><script>alert(1)</script>|`@octocat` \
    ]]><!-- \"'&amp; \u{202e}desrever\u{9b}1m \u{0}\u{fffe} \n# heading";

/// Returns the sample in a format, with default options.
pub(crate) fn report(id: &str) -> String {
    report_of(id, &sample())
}

/// Returns a run in a format.
pub(crate) fn report_of(id: &str, run: &Printed) -> String {
    format_by_id(id).unwrap().to_text(run, &ReportOptions::default()).unwrap()
}

fn spec(line: u32) -> SpecPlace {
    SpecPlace { file: "evals/refund.eval.yaml".into(), line, column: 5 }
}

fn at(line: u32) -> TracePlace {
    TracePlace { file: "traces/refund run.jsonl".into(), line, column: 1, byte: 100 }
}

fn call(index: usize, tool: &str, args: &str, line: u32) -> CallRef {
    CallRef {
        index,
        step: Some(u32::try_from(index / 2).unwrap()),
        id: Some(format!("toolu_{index}").into()),
        tool: tool.into(),
        args: Some(args.into()),
        status: "succeeded",
        place: Some(at(line)),
    }
}

fn grader(name: &str, type_word: &str, line: u32, outcome: Outcome) -> GraderResult {
    GraderResult {
        name: name.into(),
        type_word: type_word.into(),
        profile: Profile::Vally,
        weight: 1.0,
        required: false,
        place: spec(line),
        outcome,
    }
}

fn budget(value: u64, max: u64) -> GraderResult {
    let reason = if value <= max {
        format!("{value} tool calls (within budget of {max})")
    } else {
        format!("{value} tool calls exceeds max of {max}")
    };
    let score = if value <= max { 1.0 } else { 0.5 };
    let outcome = Outcome::scored(Verdict::of(value <= max), score, reason)
        .with_metric("value", value)
        .with_metric("max", max);
    grader("tool-call-count", "tool-call-count", 21, outcome)
}

fn case(
    name: &str,
    index: usize,
    verdict: Verdict,
    score: Option<f64>,
    graders: Vec<GraderResult>,
) -> CaseResult {
    let reason = match verdict {
        Verdict::Pass => "all graders passed".to_owned(),
        Verdict::Fail => {
            let failed: Vec<&str> = graders
                .iter()
                .filter(|grader| grader.outcome.verdict == Verdict::Fail)
                .map(|grader| grader.name.raw())
                .collect();
            format!("failed: {}", failed.join(", "))
        }
        Verdict::Unknown(cause) => format!("cannot be told: {}", cause.word()),
    };
    CaseResult {
        case: name.into(),
        case_index: index,
        target: None,
        trajectory: Some(TrajectorySource {
            id: Some(format!("run-{index}").into()),
            name: None,
            source: "traces/refund run.jsonl".into(),
            format: "vally",
            duration_ms: Some(12_500.0),
            took: Took { calls: Some(3), ..Took::default() },
        }),
        asked: None,
        trial: 0,
        verdict,
        score,
        reason: reason.into(),
        graders,
        place: spec(10 + u32::try_from(index).unwrap_or(0)),
        timeline: None,
        trace: None,
    }
}

fn sequence() -> GraderResult {
    let wrong = call(2, "refund", r#"{"order":"7","amount":12}"#, 14);
    let rows = vec![
        ExplanationRow {
            expected: Some("lookup_order id = \"7\"".into()),
            call: Some(call(0, "lookup_order", r#"{"id":"7"}"#, 8)),
            state: RowState::Matched,
            why: None,
        },
        ExplanationRow {
            expected: None,
            call: Some(call(1, "search", r#"{"q":"refund policy"}"#, 11)),
            state: RowState::Extra,
            why: None,
        },
        ExplanationRow {
            expected: Some("refund amount = 10".into()),
            call: Some(wrong.clone()),
            state: RowState::Mismatched,
            why: Some("amount is 12, expected 10".into()),
        },
        ExplanationRow {
            expected: Some("notify_customer".into()),
            call: None,
            state: RowState::Missing,
            why: None,
        },
    ];
    let mut outcome = Outcome::scored(Verdict::Fail, 1.0 / 3.0, "1 of 3 expected calls was made")
        .with_evidence([
            Evidence::call(EvidenceRole::Mismatch, "the amount is not 10", wrong),
            Evidence::absence("notify_customer was never called"),
            Evidence::words(EvidenceRole::Context, "the final answer")
                .at(at(20))
                .with_excerpt("Refunded!"),
        ])
        .with_metric("matched", 1)
        .with_metric("expected", 3)
        .with_note("calls of the sub-agent are not counted");
    outcome.parts = vec![
        OutcomePart::new("lookup_order", Verdict::Pass),
        OutcomePart {
            reason: Some("amount is 12".into()),
            ..OutcomePart::new("refund", Verdict::Fail)
        },
    ];
    outcome.explanation = Some(Explanation {
        rows,
        elided: 4,
        divergence: Some(2),
        repair: vec!["call 2: amount 10 instead of 12".into(), "call notify_customer".into()],
    });
    outcome.contrast = Some(Contrast {
        profile: Profile::AgentV2,
        verdict: Verdict::Pass,
        score: Some(1.0),
        reason: "it looks at names only".into(),
    });
    GraderResult {
        required: true,
        weight: 2.0,
        ..grader("order of calls", "tool-calls", 16, outcome)
    }
}

fn judged() -> GraderResult {
    let outcome = Outcome::unknown(Cause::NeedsJudge, "only a judge could decide about the tone");
    grader("tone", "prompt", 24, outcome)
}

fn timeline(hostile: &str) -> Timeline {
    let entry = |kind, step, text: Option<&str>, call, result: Option<&str>| TimelineEntry {
        kind,
        step,
        text: text.map(Into::into),
        call,
        result: result.map(Into::into),
        duration_ms: Some(1234.5),
    };
    Timeline {
        entries: vec![
            entry("user", None, Some("Please refund order 7"), None, None),
            entry("message", Some(0), Some(hostile), None, None),
            entry(
                "call",
                Some(0),
                None,
                Some(call(0, "lookup_order", r#"{"id":"7"}"#, 8)),
                Some("order 7: 10 EUR"),
            ),
            entry(
                "call",
                Some(1),
                None,
                Some(call(2, "refund", r#"{"order":"7","amount":12}"#, 14)),
                Some(hostile),
            ),
        ],
        elided: 3,
    }
}

fn finish(mut outcomes: Vec<CaseResult>, threshold: Option<f64>) -> RunResult {
    let mut last = None;
    let mut trial = 0;
    for outcome in &mut outcomes {
        trial = if last == Some(outcome.case_index) { trial + 1 } else { 0 };
        last = Some(outcome.case_index);
        outcome.trial = trial;
    }
    let count = |results: &[CaseResult], word: &str| {
        results.iter().filter(|result| result.verdict.word() == word).count() as u64
    };
    let cases: Vec<CaseSummary> = outcomes
        .chunk_by(|a, b| a.case_index == b.case_index)
        .map(|trials| {
            let (passed, failed) = (count(trials, "pass"), count(trials, "fail"));
            let told = passed + failed;
            let ks = 1..=if told > 1 { told } else { 0 };
            let scores: Vec<f64> = trials.iter().filter_map(|t| t.score).collect();
            CaseSummary {
                case: trials[0].case.clone(),
                target: None,
                verdict: trials.iter().fold(Verdict::Pass, |sum, one| sum.and(one.verdict)),
                planned: None,
                rule: None,
                flaky: passed > 0 && failed > 0,
                interval: wilson(told, passed).filter(|_| trials.len() > 1),
                trials: trials.len() as u64,
                passed,
                failed,
                unknown: count(trials, "unknown"),
                score: mean(&scores),
                pass_at_k: ks.clone().filter_map(|k| pass_at_k(told, passed, k)).collect(),
                pass_hat_k: ks.filter_map(|k| pass_hat_k(told, passed, k)).collect(),
            }
        })
        .collect();
    let verdict = outcomes.iter().fold(Verdict::Pass, |sum, o| sum.and(o.verdict));
    let scores: Vec<f64> = cases.iter().filter_map(|case| case.score).collect();
    let summary = Summary {
        cases: cases.len() as u64,
        outcomes: outcomes.len() as u64,
        passed: count(&outcomes, "pass"),
        failed: count(&outcomes, "fail"),
        unknown: count(&outcomes, "unknown"),
        score: mean(&scores),
        threshold,
        verdict,
        aggregates: GraderMetrics::new(),
        trials: cases.iter().filter(|case| case.trials > 1).cloned().collect(),
    };
    RunResult {
        spec: "evals/refund.eval.yaml".into(),
        dialect: "vally",
        name: Some("Refunds".into()),
        outcomes,
        cases,
        summary,
        notes: Vec::new(),
    }
}

/// A run with passes, failures, unknowns, trials and hostile text.
pub(crate) fn sample() -> Printed {
    untrusted_sample().redact(Redactor::new(true))
}

/// The sample before redaction.
pub(crate) fn untrusted_sample() -> RunResult {
    let unknown = Verdict::Unknown(Cause::NeedsJudge);
    let hostile = {
        let mut outcome = Outcome::binary(false, HOSTILE).with_evidence([Evidence::call(
            EvidenceRole::Violation,
            HOSTILE,
            CallRef { tool: HOSTILE.into(), ..call(1, "", HOSTILE, 3) },
        )
        .with_excerpt(HOSTILE)]);
        outcome.metrics.insert(HOSTILE.into(), HOSTILE.into());
        outcome.explanation = Some(Explanation {
            rows: vec![ExplanationRow {
                expected: Some(HOSTILE.into()),
                call: Some(call(1, HOSTILE, HOSTILE, 3)),
                state: RowState::Forbidden,
                why: Some(HOSTILE.into()),
            }],
            elided: 0,
            divergence: Some(0),
            repair: vec![HOSTILE.into()],
        });
        grader(HOSTILE, "output-contains", 40, outcome)
    };
    let mut outcomes = vec![
        case("lookup-order", 0, Verdict::Pass, Some(1.0), vec![budget(3, 10)]),
        case("refund-order", 1, Verdict::Pass, Some(1.0), vec![budget(8, 10)]),
        case(
            "refund-order",
            1,
            Verdict::Fail,
            Some(0.444),
            vec![sequence(), budget(15, 10), judged()],
        ),
        case("refund-order", 1, unknown, None, vec![budget(5, 10), judged()]),
        case(HOSTILE, 2, Verdict::Fail, Some(0.0), vec![hostile]),
        case("never-run", 3, Verdict::Unknown(Cause::NoTrajectory), None, vec![judged()]),
        case("empty", 4, Verdict::Unknown(Cause::NoGraders), None, Vec::new()),
    ];
    outcomes[2].timeline = Some(timeline(HOSTILE));
    outcomes[2].trace = Some(Box::new(trace().into()));
    outcomes[5].trajectory = None;
    let mut run = finish(outcomes, Some(0.8));
    run.summary.aggregates.insert("coverage".into(), json!(0.75));
    run.notes.push("traces/other.jsonl belongs to no case".into());
    run
}

/// An empty run.
pub(crate) fn empty() -> Printed {
    finish(Vec::new(), None).redact(Redactor::new(true))
}

/// A large run: every seventh case fails, every eleventh is unknown, every
/// tenth has three trials.
pub(crate) fn many(cases: usize) -> Printed {
    const NAMES: [&str; 8] = [
        "refund-order",
        "cancel-subscription",
        "find-invoice",
        "change-address",
        "escalate-complaint",
        "apply-voucher",
        "track-parcel",
        "close-account",
    ];
    let mut outcomes = Vec::new();
    for index in 0..cases {
        for trial in 0..if index % 10 == 0 { 3 } else { 1 } {
            let seed = index * 7 + trial * 3;
            let name = format!("{}-{index}", NAMES[index % NAMES.len()]);
            let graders = || vec![sequence_passed(), budget(1 + (seed % 9) as u64, 10)];
            let mut result = if index % 7 == 3 && trial != 1 {
                let graders = vec![sequence(), budget(11 + (seed % 9) as u64, 10), judged()];
                case(&name, index, Verdict::Fail, Some(0.2 + (seed % 5) as f64 / 10.0), graders)
            } else if index % 11 == 5 {
                let mut graders = graders();
                graders.push(judged());
                case(&name, index, Verdict::Unknown(Cause::NeedsJudge), None, graders)
            } else {
                let score = if index % 5 == 0 { 0.9 } else { 1.0 };
                case(&name, index, Verdict::Pass, Some(score), graders())
            };
            result.timeline = Some(timeline("I will look the order up first."));
            outcomes.push(result);
        }
    }
    finish(outcomes, Some(0.85)).redact(Redactor::new(true))
}

fn sequence_passed() -> GraderResult {
    let evidence = Evidence::call(EvidenceRole::Matched, "refund", call(2, "refund", "{}", 14));
    let outcome =
        Outcome::binary(true, "3 of 3 expected calls were made").with_evidence([evidence]);
    grader("order of calls", "tool-calls", 16, outcome)
}

/// A run as stored by `--include-trace`.
fn trace() -> serde_json::Value {
    json!({
        "schema": "toolmark.trajectory.v1",
        "format": "toolmark",
        "file": "traces/refund run.jsonl",
        "id": "run-1",
        "user_turns": 1,
        "steps": [{"turn": 0}],
        "calls": [{"id": "toolu_0", "name": "lookup_order", "args": {"json": {"id": "7"}}, "status": "succeeded", "step": 0}],
        "events": [{"kind": "call", "call": 0, "step": 0}],
    })
}

/// Returns the data embedded in a page.
pub(crate) fn inlined(page: &str) -> serde_json::Value {
    use base64::Engine as _;
    use std::io::Read as _;
    let (_, data) =
        page.split_once("<script type=\"application/json\" id=\"toolmark-data\"").unwrap();
    let (head, rest) = data.split_once('>').unwrap();
    let (text, _) = rest.split_once("</script>").unwrap();
    if head.is_empty() {
        return serde_json::from_str(text).unwrap();
    }
    let packed = base64::engine::general_purpose::STANDARD.decode(text).unwrap();
    let mut json = String::new();
    flate2::read::GzDecoder::new(&packed[..]).read_to_string(&mut json).unwrap();
    serde_json::from_str(&json).unwrap()
}
