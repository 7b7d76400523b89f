//! Properties of all comparisons: a run does not differ from itself, and swapping the runs mirrors
//! every result.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should say so")]

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use serde_json::{Value, json};
use toolmark_compare::{ComparedRun, Comparison, FailOn, Grouping, PairGroup, VerdictChange};
use toolmark_outcome::{Redactor, Verdict};

fn outcome() -> impl Strategy<Value = Value> {
    let verdict = || prop::sample::select(&["pass", "fail", "unknown"]);
    let score = || option::of((0..=4_u8).prop_map(|n| f64::from(n) / 4.0));
    let target = prop::sample::select(&[None, Some("one"), Some("two")]);
    let measures = (option::of(0..50_u32), option::of(0..9000_u32));
    (0..12_u8, target, 0..3_u32, verdict(), score(), measures, verdict(), score()).prop_map(
        |(case, target, trial, verdict, score, (calls, time), said, points)| {
            json!({
                "type": "outcome", "case": format!("case-{case}"), "target": target, "trial": trial,
                "verdict": verdict, "score": score, "reason": verdict,
                "trajectory": {"calls": calls, "duration_ms": time},
                "graders": [{"name": format!("grader-{}", case % 3), "verdict": said, "score": points}],
            })
        },
    )
}

fn graded() -> impl Strategy<Value = String> {
    vec(outcome(), 1..40).prop_map(|outcomes| {
        json!({"toolmark": "0.1.0", "outcomes": outcomes, "summary": {}}).to_string()
    })
}

fn checked() -> impl Strategy<Value = String> {
    let severity = prop::sample::select(&["info", "warning", "error"]);
    let finding = (0..6_u8, 0..3_u8, severity).prop_map(|(print, session, severity)| {
        json!({
            "code": format!("S10{}", print % 3), "name": "n", "severity": severity, "tool": "Read",
            "message": "m", "session": format!("s{session}"), "fingerprint": format!("f{print}"),
        })
    });
    (vec(finding, 0..12), vec(0..4_u8, 0..3), 12..40_u64).prop_map(|(findings, ids, of)| {
        let trajectories: Vec<Value> =
            ids.iter().map(|id| json!({"id": format!("s{id}"), "cells": []})).collect();
        let rules: Vec<Value> =
            (0..3).map(|n| json!({"code": format!("S10{n}"), "tool": "Read", "of": of})).collect();
        let gate = |verdict| json!({"gate": "recovery >= 0.8", "verdict": verdict});
        let gates = [gate(if of % 2 == 0 { "pass" } else { "fail" })];
        json!({
            "findings": findings, "trajectories": trajectories, "scorecard": {"rules": rules},
            "gates": gates, "sessions": [],
        })
        .to_string()
    })
}

fn run(text: &str) -> ComparedRun {
    ComparedRun::parse("run".into(), text, Redactor::new(true)).unwrap()
}

fn compare(a: &str, b: &str, by: Grouping) -> Comparison {
    let gates = [FailOn::Regression, FailOn::Significant];
    Comparison::new(&run(a), &run(b), by).unwrap().with_gates(&gates)
}

const GROUPINGS: [Grouping; 3] = [Grouping::Case, Grouping::Target, Grouping::Grader];

/// Checks that one group is the mirror image of the other.
fn mirrors(a: &PairGroup, b: &PairGroup) {
    assert_eq!((a.cases, a.unknown), (b.cases, b.unknown));
    assert_eq!((a.regressions, a.improvements), (b.improvements, b.regressions));
    assert_eq!((a.passed_before, a.passed_after), (b.passed_after, b.passed_before));
    assert_eq!((a.only_before, a.only_after), (b.only_after, b.only_before));
    assert_eq!(a.mcnemar, b.mcnemar);
    assert_eq!(a.score.is_some(), b.score.is_some());
    if let (Some(a), Some(b)) = (a.score, b.score) {
        assert_eq!((a.before, a.after, a.difference), (b.after, b.before, -b.difference));
        assert_eq!(a.interval, b.interval.map(|(low, high)| (-high, -low)));
    }
    let calls = |group: &PairGroup| group.measures.calls.map(|calls| calls.difference);
    assert_eq!(calls(a), calls(b).map(|difference| -difference));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_run_does_not_differ_from_itself(text in prop_oneof![graded(), checked()]) {
        for by in GROUPINGS {
            let same = compare(&text, &text, by);
            prop_assert!(same.is_empty(), "{same:?}");
            prop_assert_eq!(same.gates[0].verdict, Verdict::Pass, "{:?}", same.gates);
            prop_assert_ne!(same.gates[1].verdict, Verdict::Fail, "{:?}", same.gates);
        }
    }

    #[test]
    fn the_other_way_round_everything_is_mirrored(a in graded(), b in graded()) {
        for by in GROUPINGS {
            let (there, back) = (compare(&a, &b, by), compare(&b, &a, by));
            let (there, back) = (there.graded.unwrap(), back.graded.unwrap());
            mirrors(&there.total, &back.total);
            prop_assert_eq!(there.groups.len(), back.groups.len());
            for (a, b) in there.groups.iter().zip(&back.groups) {
                mirrors(a, b);
            }
            prop_assert_eq!(&there.only_before, &back.only_after);
            prop_assert_eq!(&there.only_after, &back.only_before);
            for (a, b) in there.cases.iter().zip(&back.cases) {
                prop_assert_eq!((&a.before, &a.after), (&b.after, &b.before));
                let mirrored = match a.change {
                    VerdictChange::Regression => VerdictChange::Improvement,
                    VerdictChange::Improvement => VerdictChange::Regression,
                    same => same,
                };
                prop_assert_eq!(b.change, mirrored);
            }
        }
    }

    #[test]
    fn no_case_is_lost(a in graded(), b in graded()) {
        let graded = compare(&a, &b, Grouping::Case).graded.unwrap();
        let named = |text: &str| {
            let report: Value = serde_json::from_str(text).unwrap();
            let names = report["outcomes"].as_array().unwrap().iter();
            names.map(|one| one["case"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        let both = graded.cases.iter().map(|case| &case.case);
        for (text, only) in [(&a, &graded.only_before), (&b, &graded.only_after)] {
            for name in named(text) {
                let mut known = both.clone().chain(only.iter().map(|case| &case.case));
                prop_assert!(known.any(|case| *case == *name.as_str()), "{name}");
            }
        }
    }

    #[test]
    fn findings_are_mirrored(a in checked(), b in checked()) {
        let there = compare(&a, &b, Grouping::Case).checked.unwrap();
        let back = compare(&b, &a, Grouping::Case).checked.unwrap();
        prop_assert_eq!(&there.new, &back.gone);
        prop_assert_eq!(&there.gone, &back.new);
        prop_assert_eq!(there.kinds.len(), back.kinds.len());
    }
}
