use super::*;
use std::path::Path;
use toolmark_config::ProblemSeverity;
use toolmark_config::{SourceText, parse};
use toolmark_grade::LoadOptions;
use toolmark_outcome::{GateRule, Profile};

/// Loads a plan with its problems: severity, code and underlined text.
fn load_with(yaml: &str, options: &LoadOptions) -> (Plan, Vec<(ProblemSeverity, String, String)>) {
    let source = SourceText::new("spec.yaml", yaml);
    let parsed = parse(&source);
    assert_eq!(parsed.problems, [], "the YAML of the test");
    let root = parsed.node.expect("a document");
    let mut loading =
        Loading::new("spec.yaml".into(), source.text(), Path::new("."), options, crate::ALL);
    let plan = VallyDialect.load(&root, &mut loading).expect("a plan");
    let problems = loading.problems.iter().map(|problem| {
        let text = problem.span.map_or("", |span| source.slice(span)).lines().next();
        (problem.severity, problem.code.to_owned(), text.unwrap_or_default().to_owned())
    });
    (plan, problems.collect())
}

fn load(yaml: &str) -> (Plan, Vec<(ProblemSeverity, String, String)>) {
    load_with(yaml, &LoadOptions::default())
}

/// Returns the problems as `code: text`.
fn said(yaml: &str) -> Vec<String> {
    load(yaml).1.into_iter().map(|(_, code, text)| format!("{code}: {text}")).collect()
}

const WHOLE: &str = r#"
name: suite
description: what it is for
version: "1"
type: regression
tags: { area: tools, priority: [p0, p1] }
environment: base
defaults:
  runs: 3
  timeout: 2m
  model: some-model
  executor: { name: mock, config: {} }
metadata: { owner: us }
scoring:
  threshold: 0.8
  weights:
    token-budget: 2
    exists: 0.5
    turn-count: 1
stimuli:
  - name: first
    prompt: do it
    environment: { files: [{ src: a, dest: b }] }
    tags: { area: other }
    rubric: []
    graders:
      - type: token-budget
        config: { max: 100 }
      - type: file-exists
        name: exists
        required: true
        config: { path: a.txt }
    constraints:
      max_turns: 5
  - name: second
    turns:
      - begin
      - prompt: go on
    runs: 2
    graders:
      - type: token-budget
        turn: 1
        config: { max: 7 }
"#;

#[test]
fn a_spec_becomes_a_plan() {
    let (plan, problems) = load(WHOLE);
    assert_eq!(problems, []);
    assert_eq!((plan.name.as_deref(), plan.dialect), (Some("suite"), "vally"));
    assert_eq!(plan.gate.threshold, Some(0.8));
    let [first, second] = plan.cases.as_slice() else { panic!("two cases") };
    assert_eq!((first.id.as_str(), first.trials), ("first", Some(3)));
    assert_eq!(first.matches.ids, ["first"]);
    assert_eq!(first.matches.prompts, ["do it"]);
    assert_eq!(first.scoring.rule, GateRule::Threshold(0.8));
    assert_eq!(first.tags["area"], ["other"]);
    assert_eq!(first.tags["priority"], ["p0", "p1"]);
    assert_eq!((first.place.line, first.place.column), (21, 11));
    let graders: Vec<_> = first
        .graders
        .iter()
        .map(|g| (g.name.as_str(), g.type_word.as_str(), g.weight, g.required, g.place.line))
        .collect();
    assert_eq!(
        graders,
        [
            ("token-budget", "token-budget", 2.0, false, 27),
            ("exists", "file-exists", 0.5, true, 29),
            ("max-turns", "turn-count", 1.0, false, 34),
        ]
    );
    assert!(first.graders.iter().all(|grader| grader.profile == Profile::Vally));
    assert_eq!((second.trials, second.graders[0].turn), (Some(2), Some(1)));
    assert_eq!(second.context.prompts, ["begin", "go on"]);
    assert_eq!(second.matches.prompts, ["begin"]);
    let spec = second.context.spec.as_ref().expect("the stimulus");
    assert_eq!(spec["turns"][1]["prompt"], "go on");
}

#[test]
fn without_a_threshold_all_must_pass() {
    let yaml = "stimuli: [{name: a, prompt: p, graders: [{type: turn-count, config: {max: 1}}]}]";
    let (plan, problems) = load(yaml);
    assert_eq!(problems, []);
    assert_eq!(plan.cases[0].scoring.rule, GateRule::All);
    assert_eq!(plan.gate.threshold, None);
    let options = LoadOptions { threshold: Some(0.3), ..LoadOptions::default() };
    for yaml in [yaml, &format!("{yaml}\nscoring: {{threshold: 0.9}}")] {
        let (plan, _) = load_with(yaml, &options);
        assert_eq!(plan.cases[0].scoring.rule, GateRule::Threshold(0.3));
        assert_eq!(plan.gate.threshold, Some(0.3));
    }
}

#[test]
fn parameters_take_the_type_of_their_values() {
    let yaml = "defaults: {runs: '3'}\nstimuli:\n- name: a\n  prompt: ${P}\n  \
                graders: [{type: turn-count, config: {max: \"${MAX}\"}}]";
    // Quoted, a number is text.
    let quoted: Vec<_> = load_with(yaml, &params()).1.into_iter().map(|p| p.2).collect();
    assert_eq!(quoted, ["'3'", "\"${MAX}\""]);
    let yaml = "defaults:\n  runs: ${RUNS=4}\nstimuli:\n- name: a\n  prompt: ${P}\n  graders:\n  \
                - type: turn-count\n    config:\n      max: ${MAX}";
    let (plan, problems) = load_with(yaml, &params());
    assert_eq!(problems, []);
    assert_eq!(plan.cases[0].trials, Some(4));
    assert_eq!(plan.cases[0].matches.prompts, ["do it"]);
}

fn params() -> LoadOptions {
    let params = [("P", "do it"), ("MAX", "5")];
    let params = params.map(|(name, value)| (name.to_owned(), value.to_owned()));
    LoadOptions { params: params.into(), ..LoadOptions::default() }
}

#[test]
fn graders_of_one_name_are_told_apart() {
    let (plan, problems) = load(
        "stimuli:\n- name: a\n  prompt: p\n  graders:\n  - {type: turn-count, config: {max: 1}}\n  \
         - {type: turn-count, config: {max: 2}}\n  - {type: turn-count, name: turn-count-2, \
         config: {max: 3}}",
    );
    assert_eq!(problems, []);
    let names: Vec<_> = plan.cases[0].graders.iter().map(|g| g.name.as_str()).collect();
    assert_eq!(names, ["turn-count", "turn-count-2", "turn-count-2-2"]);
}

#[test]
fn graders_of_the_file_are_asked_of_every_stimulus() {
    let (plan, problems) = load(
        "graders: [{type: error-count, config: {max: 0}}]\nstimuli:\n- {name: a, prompt: p}\n\
         - {name: b, prompt: q, graders: [{type: turn-count, config: {max: 1}}]}",
    );
    assert_eq!(problems, []);
    let names =
        |case: usize| plan.cases[case].graders.iter().map(|g| g.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(0), ["error-count"]);
    assert_eq!(names(1), ["turn-count", "error-count"]);
}

#[test]
fn a_stimulus_may_score_otherwise() {
    let (plan, problems) = load(
        "scoring: {threshold: 0.5, weights: {turn-count: 2, error-count: 3}}\n\
         graders: [{type: error-count, config: {max: 0}}]\nstimuli:\n\
         - name: a\n  prompt: p\n  timeout: 3m\n  scoring: {threshold: 0.9, weights: \
         {turn-count: 5, error-count: 7}}\n  graders: [{type: turn-count, config: {max: 1}}]\n\
         - name: b\n  prompt: q\n  scoring: {threshold: 0.7}\n  \
         graders: [{type: turn-count, config: {max: 1}}]\n\
         - {name: c, prompt: r}",
    );
    assert_eq!(problems, []);
    let weights = |case: usize| {
        plan.cases[case].graders.iter().map(|grader| grader.weight).collect::<Vec<_>>()
    };
    let rules: Vec<GateRule> = plan.cases.iter().map(|case| case.scoring.rule).collect();
    assert_eq!(rules, [0.9, 0.7, 0.5].map(GateRule::Threshold));
    assert_eq!((weights(0), weights(1), weights(2)), (vec![5.0, 7.0], vec![2.0, 3.0], vec![3.0]));
    assert_eq!(plan.gate.threshold, Some(0.5));
    let own = "stimuli:\n- {name: a, prompt: p, scoring: {weights: {x: 1, turn-count: 1}}, \
               graders: [{type: turn-count, config: {max: 1}}]}";
    assert_eq!(said(own), ["invalid-scoring-weight-key: x"]);
}

/// A list with one valid grader.
const OK: &str = "graders: [{type: turn-count, config: {max: 1}}]";

#[test]
fn mistakes_are_errors_at_their_places() {
    for (yaml, expected) in [
        ("name: x".to_owned(), "missing-key: name: x"),
        ("stimuli: []".into(), "empty-list: []"),
        ("stimuli: 3".into(), "wrong-type: 3"),
        ("stimuli: [3]".into(), "wrong-type: 3"),
        (format!("stimuli: [{{prompt: p, {OK}}}]"), "missing-key: {prompt: p"),
        (format!("stimuli: [{{name: a, {OK}}}]"), "missing-key: a"),
        (format!("stimuli: [{{name: a, turns: [], {OK}}}]"), "empty-list: []"),
        (format!("stimuli: [{{name: a, turns: [{{x: y}}], {OK}}}]"), ": {x: y}"),
        (format!("stimuli: [{{name: a, prompt: p, expect: 1, {OK}}}]"), "unknown-key: expect"),
        (
            format!("stimuli: [{{name: a, prompt: p, {OK}}}, {{name: a, prompt: q, {OK}}}]"),
            "duplicate-stimulus-name: a",
        ),
        (
            format!("config: {{}}\ndefaults: {{}}\nstimuli: [{{name: a, prompt: p, {OK}}}]"),
            "config-and-defaults: config",
        ),
        (
            format!("scoring: {{threshold: 2}}\nstimuli: [{{name: a, prompt: p, {OK}}}]"),
            "invalid-threshold: 2",
        ),
        (
            format!("scoring: {{weights: {{turn-cuont: 1, turn-count: 1}}}}\nstimuli: [{{name: a, prompt: p, {OK}}}]"),
            "invalid-scoring-weight-key: turn-cuont",
        ),
        (
            format!("scoring: {{weights: {{turn-count: -1}}}}\nstimuli: [{{name: a, prompt: p, {OK}}}]"),
            "invalid-weight: -1",
        ),
        (
            "stimuli: [{name: a, prompt: p, graders: [{type: turn-cuont}]}]".into(),
            "unknown-grader-type: turn-cuont",
        ),
        (
            "stimuli: [{name: a, prompt: p, graders: [{type: turn-count, weight: 2, config: {max: 1}}]}]".into(),
            "unknown-key: weight",
        ),
        (
            "stimuli: [{name: a, prompt: p, graders: [{type: turn-count, config: {max: x}}]}]".into(),
            ": x",
        ),
        (
            "stimuli: [{name: a, prompt: p, graders: [{type: turn-count}]}]".into(),
            "missing-key: {type: turn-count}",
        ),
        (
            "stimuli: [{name: a, prompt: p, constraints: {max_turns: -1}}]".into(),
            ": -1",
        ),
        (
            "stimuli: [{name: a, prompt: p, constraints: {expect_tools: [x], reject_tools: [x]}}]".into(),
            "invalid-constraint-value: x",
        ),
        (format!("stimuli: [{{name: a, prompt: \"${{GONE}}\", {OK}}}]"), "unset-parameter: \"${GONE}\""),
        (format!("tags: {{a: {{b: c}}}}\nstimuli: [{{name: a, prompt: p, {OK}}}]"), "wrong-type: {b: c}"),
    ] {
        let (_, problems) = load(&yaml);
        let errors: Vec<String> = problems
            .iter()
            .filter(|(severity, ..)| *severity == ProblemSeverity::Error)
            .map(|(_, code, text)| format!("{code}: {text}"))
            .collect();
        assert!(errors.iter().any(|said| said.contains(expected)), "{yaml}\n{errors:?}");
    }
}

#[test]
fn what_looks_wrong_is_a_warning() {
    for (yaml, expected) in [
        (format!("area: x\nstimuli: [{{name: a, prompt: p, {OK}}}]"), "unknown-key: area"),
        (format!("config: {{runs: 1}}\nstimuli: [{{name: a, prompt: p, {OK}}}]"), "deprecated-key: config"),
        (format!("defaults: {{wokers: 1}}\nstimuli: [{{name: a, prompt: p, {OK}}}]"), "unknown-key: wokers"),
        (format!("defaults: {{timeout: 30}}\nstimuli: [{{name: a, prompt: p, {OK}}}]"), "invalid-timeout: 30"),
        (format!("type: other\nstimuli: [{{name: a, prompt: p, {OK}}}]"), "unknown-type: other"),
        (format!("scoring: {{timeout: 5m}}\nstimuli: [{{name: a, prompt: p, {OK}}}]"), "not-kept: 5m"),
        (
            format!("scoring: {{weights: {{turn-count: 0}}}}\nstimuli: [{{name: a, prompt: p, {OK}}}]"),
            "all-weights-zero: turn-count",
        ),
        ("stimuli: [{name: a, prompt: p}]".into(), "no-graders: a"),
        ("stimuli: [{name: a, prompt: p, graders: []}]".into(), "no-graders: a"),
        (format!("stimuli: [{{name: a, prompt: p, turns: [q], {OK}}}]"), "prompt-and-turns: p"),
        (format!("stimuli: [{{name: a, prompt: p, rubric: [good], {OK}}}]"), "rubric-without-llm-judge: rubric"),
        (
            "stimuli: [{name: a, prompt: p, graders: [{type: turn-count, turn: 1, config: {max: 1}}]}]".into(),
            "no-such-turn: 1",
        ),
        (
            "stimuli: [{name: a, prompt: p, graders: [{type: turn-count, name: Not_A-Slug, config: {max: 1}}]}]".into(),
            "grader-name: Not_A-Slug",
        ),
        (
            "stimuli: [{name: a, prompt: p, graders: [{type: turn-count, name: n, config: {max: 1}}, {type: error-count, name: n, config: {max: 1}}]}]".into(),
            "duplicate-grader-name: n",
        ),
        (
            "graders: [{type: turn-count, name: n, config: {max: 1}}]\nstimuli: [{name: a, prompt: p, graders: [{type: error-count, name: n, config: {max: 1}}]}]".into(),
            "duplicate-grader-name: n",
        ),
        (
            "scoring: {weights: {turn-count: 2}}\nstimuli: [{name: a, prompt: p, graders: [{type: turn-count, config: {max: 1}}, {type: turn-count, config: {max: 2}}]}]".into(),
            "duplicate-grader-type-in-stimulus: turn-count",
        ),
        (
            "scoring: {weights: {turn-count: 2}}\nstimuli: [{name: a, prompt: p, graders: [{type: turn-count, config: {max: 1}}, {type: error-count, config: {max: 2}}]}]".into(),
            "missing-weight: error-count",
        ),
    ] {
        let (_, problems) = load(&yaml);
        assert_eq!(said(&yaml), [expected], "{yaml}");
        assert!(problems.iter().all(|(severity, ..)| *severity == ProblemSeverity::Warning), "{yaml}");
    }
}

#[test]
fn all_mistakes_are_found_at_once() {
    let problems = said(
        "scoring: {threshold: 3}\nstimuli:\n- name: a\n  prmpt: p\n  graders:\n  \
         - type: turn-count\n    config: {max: -1}\n  - type: nothing-such\n- name: b\n  prompt: q\n  \
         graders:\n  - {type: file-exists, config: {path: ../x}}\n",
    );
    let codes: Vec<&str> = problems.iter().filter_map(|said| said.split(':').next()).collect();
    for code in ["invalid-threshold", "unknown-key", "unknown-grader-type", "invalid-path"] {
        assert!(codes.contains(&code), "{code} {codes:?}");
    }
    assert!(problems.iter().any(|said| said.ends_with(": -1")), "{problems:?}");
}

#[test]
fn files_are_told_by_their_stimuli() {
    let node = |yaml: &str| parse(&SourceText::new("s", yaml)).node.expect("a document");
    assert!(VallyDialect.detect(&node("stimuli: []")) > 90);
    assert_eq!(VallyDialect.detect(&node("cases: []")), 0);
    assert_eq!(VallyDialect.detect(&node("[]")), 0);
}

#[test]
fn the_schema_takes_what_is_right_and_refuses_what_is_not() {
    let schema = VallyDialect.schema(&[]);
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let json = |yaml: &str| parse(&SourceText::new("s", yaml)).node.expect("a document").to_json();
    for yaml in [WHOLE, &format!("area: mine\nstimuli: [{{name: a, prompt: p, {OK}}}]")] {
        let errors: Vec<String> =
            validator.iter_errors(&json(yaml)).map(|error| error.to_string()).collect();
        assert_eq!(errors, [""; 0]);
    }
    for wrong in [
        "stimuli: []",
        "name: x",
        "stimuli: [{name: a, prompt: p, expect: 1}]",
        "stimuli: [{name: a, prompt: p, graders: [{type: nothing-such}]}]",
        "stimuli: [{name: a, prompt: p, graders: [{type: turn-count}]}]",
        "stimuli: [{name: a, prompt: p, graders: [{type: turn-count, config: {max: x}}]}]",
        "stimuli: [{name: a, prompt: p, graders: [{type: turn-count, config: {max: 1, x: 2}}]}]",
        "stimuli: [{name: a, prompt: p, graders: [{type: turn-count, weight: 1, config: {max: 1}}]}]",
        "stimuli: [{name: a, prompt: p, constraints: {max_turns: -1}}]",
        "scoring: {threshold: high}\nstimuli: [{name: a, prompt: p}]",
    ] {
        assert!(!validator.is_valid(&json(wrong)), "{wrong}");
    }
}

#[test]
fn graders_of_different_stimuli_may_have_one_name() {
    let own = "graders: [{type: turn-count, name: n, config: {max: 1}}]";
    let yaml = format!("stimuli: [{{name: a, prompt: p, {own}}}, {{name: b, prompt: q, {own}}}]");
    assert_eq!(said(&yaml), [] as [&str; 0]);
}
