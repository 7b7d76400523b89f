//! The HTML page of grading: the outcomes, their deciding graders, and the steps of their
//! trajectories.

use super::{HtmlSection, safe, table, verdict};
use crate::ReportOptions;
use crate::alignment::{self, Drawn};
use crate::model::{
    CaseSummary, Explanation, GraderResult, PrintableCallRef, PrintableEvidence,
    PrintablePart as GraderPart, PrintableTimeline, RunResult, TimelineEntry,
};
use crate::shown::{self, NamedOutcome};
use maud::{Markup, html};
use serde_json::{Value, json};
use toolmark_base::SortedMap;
use toolmark_outcome::EvidenceRole;

/// Maximum number of passes with all steps of the trajectory, which are rarely interesting.
const WHOLE_PASSES: usize = 50;
/// Maximum number of passes with details.
const MAX_PASSES: usize = 500;
/// Page size in bytes above which the steps of a trajectory are omitted.
const MUCH: usize = 8 << 20;
/// Page size in bytes above which everything except the reason is omitted.
const TOO_MUCH: usize = 16 << 20;
/// Maximum number of listed cases with trials.
const MAX_TRIALS: usize = 500;
/// Maximum number of evidence items per grader.
const MAX_EVIDENCE: usize = 40;
/// Maximum number of steps per trajectory.
const MAX_ENTRIES: usize = 200;
/// Maximum number of outcomes in the table without a script.
const MAX_IN_TABLE: usize = 500;

/// Level of detail of an outcome on the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Depth {
    /// Only the reason.
    Reason,
    /// The reason and the graders.
    Graders,
    /// The reason, the graders and the steps of the trajectory.
    Whole,
}

pub(super) fn part(run: &RunResult, options: &ReportOptions) -> HtmlSection {
    let outcomes = NamedOutcome::all(run);
    let name = shown::name(run);
    let summary = &run.summary;
    let ks = shown::interesting(
        summary.trials.iter().map(|case| case.pass_at_k.len()).max().unwrap_or(0),
    );
    let trials = shown::has_trials(&summary.trials).then(|| &summary.trials[..]);
    let data = json!({
        "verdict": summary.verdict.word(),
        "name": name,
        "spec": run.spec,
        "dialect": run.dialect,
        "elapsed": options.elapsed.map(shown::seconds),
        "cases": summary.cases,
        "passed": summary.passed,
        "failed": summary.failed,
        "unknown": summary.unknown,
        "score": summary.score,
        "threshold": summary.threshold,
        "aggregates": summary.aggregates.entries()
            .map(|(name, value)| json!({ "name": name, "value": value })).collect::<Vec<_>>(),
        "ks": ks,
        "trials": trials.unwrap_or_default().iter().take(MAX_TRIALS)
            .map(|case| trial(case, &ks)).collect::<Vec<_>>(),
        "trials_total": trials.map_or(0, <[CaseSummary]>::len),
        "outcomes": all(&outcomes),
    });
    HtmlSection {
        page: "grade",
        title: format!("{} {} \u{b7} toolmark", shown::sign(summary.verdict), safe(name)),
        data: vec![("/api/v1/grade", data)],
        notes: run.notes.clone(),
        tables: tables(run, &outcomes),
    }
}

/// pass@k and pass^k of a case with several trials.
fn trial(case: &CaseSummary, ks: &[usize]) -> Value {
    let pick = |values: &[f64]| -> Vec<Option<f64>> {
        ks.iter().map(|k| k.checked_sub(1).and_then(|at| values.get(at)).copied()).collect()
    };
    json!({
        "case": case.label(),
        "passed": shown::trials(case),
        "interval": shown::interval(case),
        "at": pick(&case.pass_at_k),
        "hat": pick(&case.pass_hat_k),
    })
}

/// Returns the outcomes: failures first, then unknown ones. The larger the page, the fewer details
/// each has.
fn all(outcomes: &[NamedOutcome<'_>]) -> Vec<Value> {
    let (mut list, mut size, mut passes) = (Vec::new(), 0, 0);
    for word in ["fail", "unknown", "pass"] {
        for shown in outcomes.iter().filter(|shown| shown.result.verdict.word() == word) {
            let mut depth = match size {
                ..MUCH => Depth::Whole,
                MUCH..TOO_MUCH => Depth::Graders,
                _ => Depth::Reason,
            };
            if word == "pass" {
                passes += 1;
                if passes > MAX_PASSES {
                    depth = Depth::Reason;
                } else if passes > WHOLE_PASSES {
                    depth = depth.min(Depth::Graders);
                }
            }
            let one = outcome(shown, depth);
            size += one.to_string().len();
            list.push(one);
        }
    }
    list
}

fn outcome(shown: &NamedOutcome<'_>, depth: Depth) -> Value {
    let result = shown.result;
    let graders: Vec<Value> = match depth {
        Depth::Reason => Vec::new(),
        _ => shown.troubles().chain(shown.graders("pass")).map(grader).collect(),
    };
    let timeline = result.timeline.as_ref().filter(|_| depth == Depth::Whole);
    let marks = marks(shown);
    json!({
        "title": shown.title,
        "case": result.case,
        "target": result.target,
        "trial": result.trial.saturating_add(1),
        "verdict": result.verdict.word(),
        "score": result.score,
        "why": shown.first_reason(),
        "reason": result.reason,
        "trace": result.trajectory.as_ref().map(|source| json!({
            "file": source.source,
            "id": source.id,
        })),
        "spec": shown::in_spec(&result.place),
        "is_short": depth == Depth::Reason,
        "graders": graders,
        "timeline": timeline.map(|timeline| way(timeline, &marks)),
    })
}

/// Roles of calls according to the graders, by call index; the more severe role wins.
fn marks(shown: &NamedOutcome<'_>) -> SortedMap<usize, EvidenceRole> {
    let gravity = |role: EvidenceRole| match role {
        EvidenceRole::Violation => 5,
        EvidenceRole::Mismatch => 4,
        EvidenceRole::Missing => 3,
        EvidenceRole::Extra => 2,
        EvidenceRole::Matched => 1,
        EvidenceRole::Context => 0,
    };
    let mut marks = SortedMap::new();
    let evidence = shown.result.graders.iter().flat_map(|grader| &grader.outcome.evidence);
    for piece in evidence {
        if let Some(call) = &piece.call {
            let mark = marks.entry(call.index).or_insert(piece.role);
            if gravity(piece.role) > gravity(*mark) {
                *mark = piece.role;
            }
        }
    }
    marks
}

fn grader(grader: &GraderResult) -> Value {
    let outcome = &grader.outcome;
    json!({
        "name": shown::grader(grader),
        "verdict": outcome.verdict.word(),
        "cause": outcome.verdict.cause().map(|cause| cause.word().replace('_', " ")),
        "standing": shown::standing(grader),
        "spec": shown::in_spec(&grader.place),
        "reason": outcome.reason,
        "parts": outcome.parts.iter().take(MAX_EVIDENCE).map(piece).collect::<Vec<_>>(),
        "aligned": outcome.explanation.as_ref().map(aligned),
        "evidence": outcome.evidence.iter().take(MAX_EVIDENCE).map(evidence).collect::<Vec<_>>(),
        "evidence_total": outcome.evidence.len(),
        "metrics": outcome.metrics.entries()
            .map(|(name, value)| json!({ "name": name, "value": value })).collect::<Vec<_>>(),
        "contrast": shown::contrast(grader),
        "notes": outcome.notes,
    })
}

fn piece(part: &GraderPart) -> Value {
    json!({ "verdict": part.verdict.word(), "text": part.text, "reason": part.reason })
}

fn call(call: &PrintableCallRef) -> Value {
    json!({ "n": call.number(), "tool": call.tool, "status": call.status, "args": call.args })
}

fn evidence(piece: &PrintableEvidence) -> Value {
    json!({
        "role": piece.role.word(),
        "text": piece.text,
        "call": piece.call.as_ref().map(call),
        "excerpt": piece.excerpt,
        "place": piece.location(),
    })
}

/// The expected calls beside the actual ones.
fn aligned(explanation: &Explanation) -> Value {
    let rows = alignment::drawn(explanation, false).into_iter().map(|drawn| match drawn {
        Drawn::Gap(rows, state) => json!({ "gap": alignment::gap(rows, state) }),
        Drawn::Row(row, is_first) => json!({
            "state": row.state.word(),
            "sign": alignment::sign(row.state),
            "is_first": is_first,
            "expected": row.expected,
            "call": row.call.as_ref().map(call),
            "why": row.why,
        }),
    });
    json!({
        "rows": rows.collect::<Vec<_>>(),
        "elided": alignment::elided(explanation),
        "divergence": alignment::divergence(explanation),
        "repair": explanation.repair,
    })
}

fn way(timeline: &PrintableTimeline, marks: &SortedMap<usize, EvidenceRole>) -> Value {
    let entries = timeline.entries.iter().take(MAX_ENTRIES).map(|entry| step(entry, marks));
    json!({
        "entries": entries.collect::<Vec<_>>(),
        "more": timeline.elided + timeline.entries.len().saturating_sub(MAX_ENTRIES),
    })
}

fn step(entry: &TimelineEntry, marks: &SortedMap<usize, EvidenceRole>) -> Value {
    let mark = entry.call.as_ref().and_then(|call| marks.get(&call.index));
    json!({
        "kind": entry.kind,
        "step": entry.step.map(|step| step + 1),
        "text": entry.text,
        "call": entry.call.as_ref().map(call),
        "role": mark.map(|role| role.word()),
        "result": entry.result,
        "ms": entry.duration_ms,
    })
}

fn tables(run: &RunResult, outcomes: &[NamedOutcome<'_>]) -> Markup {
    let order = ["fail", "unknown", "pass"];
    let sorted = order
        .iter()
        .flat_map(|word| outcomes.iter().filter(|one| one.result.verdict.word() == *word));
    let rows: Vec<Markup> = sorted
        .take(MAX_IN_TABLE)
        .map(|one| {
            html! {
                tr {
                    td { (verdict(one.result.verdict)) }
                    th scope="row" { (safe(&one.title)) }
                    td { @if let Some(score) = one.result.score { (shown::score(score)) } }
                    td { (safe(one.first_reason())) }
                }
            }
        })
        .collect();
    html! {
        h1 { (safe(shown::name(run))) " " (verdict(run.summary.verdict)) }
        p {
            (safe(&run.spec)) ", " (run.dialect) ": " (shown::things(run.summary.cases, "case"))
            ", " (shown::counts(&run.summary))
            @if let Some(words) = shown::overall(&run.summary) { ", " (words) }
        }
        @if rows.is_empty() { p { "There is nothing to report." } } @else {
            (table(&["", "case", "score", "why"], &rows, outcomes.len() - rows.len()))
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing;

    #[test]
    fn the_page_has_the_outcomes_and_what_decided_them() {
        let page = testing::report("html");
        let data = testing::inlined(&page);
        assert_eq!(data["page"], "grade");
        insta::assert_json_snapshot!(data["data"]);
    }

    #[test]
    fn nothing_hostile_gets_in() {
        let page = testing::report("html");
        let body = page.split("<main id=\"static\">").nth(1).unwrap();
        let (tables, rest) = body.split_once("</main>").unwrap();
        let (data, _) = rest.split_once("</script>").unwrap();
        assert!(tables.contains("&lt;script&gt;alert(1)"), "the payload is nowhere to be seen");
        for payload in ["<script", "<img", "href=", "src="] {
            assert!(!tables.contains(payload), "{payload}");
        }
        let (_, json) = data.split_once('>').unwrap();
        assert!(!json.contains(['<', '>', '&']), "{json}");
        for reach in ["url(http", "@import"] {
            assert!(!page.contains(reach), "{reach}");
        }
    }

    #[test]
    fn large_runs_stay_small_enough_to_open() {
        let run = testing::many(5000);
        let page = testing::report_of("html", &run);
        assert!(page.len() < 2 << 20, "{} bytes", page.len());
        let data = testing::inlined(&page);
        let outcomes = data["data"]["/api/v1/grade"]["outcomes"].as_array().unwrap();
        assert_eq!(outcomes.len(), run.outcomes.len());
        assert!(outcomes.last().unwrap()["is_short"] == true);
    }
}
