use super::AgentV;
use std::path::Path;
use toolmark_config::Problem;
use toolmark_config::{SourceText, parse};
use toolmark_grade::Dialect;
use toolmark_grade::{Grading, Plan, RunSelection};
use toolmark_grade::{LoadOptions, Loading};
use toolmark_outcome::{CaseResult, Cause, Environment, GateRule, Profile, Verdict};
use toolmark_trace::{ReadOptions, read};

fn load_with(text: &str, directory: &Path, options: &LoadOptions) -> (Option<Plan>, Vec<Problem>) {
    let source = SourceText::new("spec.yaml", text);
    let parsed = parse(&source);
    assert_eq!(parsed.problems, [], "{text}");
    let root = parsed.node.unwrap();
    assert!(AgentV.detect(&root) > 40, "{text}");
    let mut loading =
        Loading::new("spec.yaml".into(), source.text(), directory, options, crate::ALL);
    let plan = AgentV.load(&root, &mut loading);
    (plan, loading.finish().0)
}

fn load(text: &str) -> Plan {
    let (plan, problems) = load_with(text, Path::new("."), &LoadOptions::default());
    assert_eq!(problems, [], "{text}");
    plan.unwrap()
}

fn complaints(text: &str) -> String {
    let (_, problems) = load_with(text, Path::new("."), &LoadOptions::default());
    problems.into_iter().map(|problem| problem.message).collect::<Vec<_>>().join("; ")
}

fn grade(plan: &Plan, rows: &str) -> Vec<CaseResult> {
    let stream = std::io::Cursor::new(rows.as_bytes().to_vec());
    let grading = Grading::new(plan, None, Environment::default(), RunSelection::default());
    read(stream, "rows", &ReadOptions::default())
        .unwrap()
        .map(|r| grading.grade(&r).unwrap())
        .collect()
}

/// The format of the first versions, suite and case, in any order of rows.
const FIRST: &str = "\
description: Research
execution:
  target: codex_agent
  evaluators:
    - { name: everywhere, type: latency, threshold: 100 }
evalcases:
  - id: research
    expected_outcome: Researches the topic
    input_messages:
      - role: user
        content: Research frameworks
    execution:
      evaluators:
        - name: coverage
          type: tool_trajectory
          mode: any_order
          minimums: { webSearch: 1, documentRead: 2 }
        - name: workflow
          type: tool_trajectory
          mode: in_order
          expected:
            - tool: webSearch
            - tool: documentRead
  - id: other
    expected_outcome: Does something
    input_messages:
      - { role: user, content: Do something }
";

#[test]
fn the_first_shape() {
    let plan = load(FIRST);
    assert_eq!(plan.cases.len(), 2);
    let names =
        |n: usize| plan.cases[n].graders.iter().map(|g| g.name.as_str()).collect::<Vec<_>>();
    // The list of a case replaces that of the file.
    assert_eq!(names(0), ["coverage", "workflow"]);
    assert_eq!(names(1), ["everywhere"]);
    assert_eq!(plan.cases[0].scoring.rule, GateRule::Threshold(0.8));
    assert_eq!(plan.cases[0].context.criteria.as_deref(), Some("Researches the topic"));
    assert_eq!(plan.cases[0].context.prompts, ["Research frameworks"]);
    assert_eq!((plan.cases[0].place.line, plan.cases[0].place.column), (7, 5));
    let rows = r#"{"id":"other","duration_ms":5,"output_messages":[{"role":"assistant","content":"x"}]}
{"id":"research","output_messages":[{"role":"assistant","tool_calls":[{"tool":"webSearch","input":{}},{"tool":"documentRead","input":{}},{"tool":"documentRead","input":{}}]}]}"#;
    let results = grade(&plan, rows);
    let told: Vec<_> = results.iter().map(|r| (r.case.raw(), r.verdict, r.score)).collect();
    assert_eq!(told, [("other", Verdict::Pass, Some(1.0)), ("research", Verdict::Pass, Some(1.0))]);
}

#[test]
fn the_second_shape() {
    let text = "\
name: suite
assertions:
  - { type: latency, threshold: 100, name: fast }
execution: { threshold: 0.5, trials: { count: 3 } }
tests:
  - id: a
    criteria: c
    input: hello
    assertions:
      - { type: tool-trajectory, mode: exact, expected: [{ tool: x }], weight: 2, required: true }
      - { type: not-contains, value: sorry }
  - id: b
    criteria: c
    input: [{ role: user, content: [{ type: text, value: hi }] }]
    execution: { skip_defaults: true, threshold: 1 }
    assertions: [is polite, { type: contains, value: y }, is short]
";
    let plan = load(text);
    let [a, b] = &plan.cases[..] else { panic!("two cases") };
    let types: Vec<_> = a.graders.iter().map(|g| g.type_word.as_str()).collect();
    assert_eq!(types, ["tool-trajectory", "contains", "latency"]);
    assert_eq!((a.graders[0].weight, a.graders[0].required), (2.0, true));
    assert_eq!((a.scoring.rule, a.trials), (GateRule::Threshold(0.5), Some(3)));
    let types: Vec<_> = b.graders.iter().map(|g| (g.type_word.as_str(), g.weight)).collect();
    assert_eq!(types, [("llm-rubric", 2.0), ("contains", 1.0)]);
    assert_eq!(
        (b.scoring.rule, &b.context.prompts[..]),
        (GateRule::Threshold(1.0), &["hi".to_owned()][..])
    );
    let row = r#"{"id":"a","duration_ms":9,"output_messages":[{"role":"assistant","content":"done","tool_calls":[{"tool":"x"},{"tool":"z"}]}]}"#;
    let result = grade(&plan, row).remove(0);
    // The required sequence has a call too many, so the case fails.
    assert_eq!(result.verdict, Verdict::Fail);
    let contrast = result.graders[0].outcome.contrast.as_ref().unwrap();
    assert_eq!((contrast.profile, contrast.verdict), (Profile::AgentV2, Verdict::Pass));
}

#[test]
fn the_newest_shape() {
    let text = "\
prompts: [\"{{ input }}\"]
providers: [codex]
default_test:
  threshold: 0.6
  vars: { expected_output: { n: 1 } }
  assert: [{ type: trajectory:step-count, value: { type: tool, max: 3 } }]
tests:
  - description: buys
    vars: { input: buy it }
    assert:
      - { type: not-trajectory:tool-used, value: [wipe, purge], metric: safe }
      - { type: field-accuracy, fields: [{ path: n, match: exact }] }
  - vars: { input: sell it }
scenarios:
  - config: [{ vars: { input: one } }, { vars: { input: two } }]
    tests: [{ id: s, assert: [{ type: equals, value: x }] }]
";
    let plan = load(text);
    let ids: Vec<_> = plan.cases.iter().map(|case| case.id.as_str()).collect();
    assert_eq!(ids, ["buys", "test-2", "s-1", "s-2"]);
    assert_eq!(plan.cases[3].context.prompts, ["two"]);
    assert_eq!(plan.cases[0].scoring.rule, GateRule::Threshold(0.6));
    let row = r#"{"id":"buys","output_messages":[{"role":"assistant","content":"{\"n\": 1}","tool_calls":[{"tool":"buy"}]}]}"#;
    let result = grade(&plan, row).remove(0);
    assert_eq!((result.verdict, result.score), (Verdict::Pass, Some(1.0)));
    assert_eq!(result.graders[0].name, "safe");
}

#[test]
fn turns_have_graders_of_their_own() {
    let text = "\
tests:
  - id: a
    criteria: c
    mode: conversation
    turns:
      - { input: first, assertions: [{ type: contains, value: one }] }
      - { input: second, assertions: [{ type: contains, value: two }] }
";
    let plan = load(text);
    let turns: Vec<_> = plan.cases[0].graders.iter().map(|g| (g.name.as_str(), g.turn)).collect();
    assert_eq!(turns, [("contains", Some(0)), ("contains 2", Some(1))]);
    assert_eq!(plan.cases[0].context.prompts, ["first", "second"]);
}

#[test]
fn criteria_without_evaluators_need_a_judge() {
    for text in [
        "tests: [{ id: a, criteria: is kind, input: x }]",
        "tests: [{ id: a, criteria: c, input: x, rubrics: [is kind, { outcome: is short }] }]",
    ] {
        let plan = load(text);
        let row = r#"{"id":"a","output_messages":[{"role":"assistant","content":"x"}]}"#;
        let result = grade(&plan, row).remove(0);
        assert_eq!(result.verdict, Verdict::Unknown(Cause::NeedsJudge), "{text}");
        assert!(result.graders[0].outcome.reason.raw().contains("is kind"), "{text}");
    }
}

#[test]
fn the_reading_may_be_chosen() {
    let text = "tests: [{ id: a, criteria: c, input: x, assertions: [{ type: tool_trajectory, mode: exact, expected: [{ tool: x }] }] }]";
    let row = r#"{"id":"a","output_messages":[{"role":"assistant","tool_calls":[{"tool":"x"},{"tool":"z"}]}]}"#;
    for (profile, threshold, verdict) in [
        (None, None, Verdict::Fail),
        (None, Some(0.5), Verdict::Pass),
        (Some(Profile::AgentV1), None, Verdict::Pass),
        (Some(Profile::AgentV2), None, Verdict::Pass),
    ] {
        let options = LoadOptions { profile, threshold, ..LoadOptions::default() };
        let (plan, problems) = load_with(text, Path::new("."), &options);
        assert_eq!(problems, []);
        let plan = plan.unwrap();
        assert_eq!(plan.cases[0].scoring.profile, profile.unwrap_or_default());
        assert_eq!(grade(&plan, row)[0].verdict, verdict, "{profile:?} {threshold:?}");
    }
}

#[test]
fn tests_may_stand_in_other_files() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = dir.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    let case = |id: &str| {
        format!(
            "{{\"id\": \"{id}\", \"criteria\": \"c\", \"input\": \"x\", \"assertions\": [{{\"type\": \"is-json\"}}]}}"
        )
    };
    write("cases.jsonl", &format!("{}\n\n{}\n", case("j1"), case("j2")));
    write("all/a.yaml", &format!("- {}", case("y1")));
    write("all/b/case.yaml", &case("y2"));
    write("all/notes.txt", "not a test");
    write("bad.jsonl", &format!("{}\n{{\"id\": \"b\", \"critera\": 1}}\n", case("b1")));
    write(".agentv/templates/shared.yaml", "assertions: [{ type: equals, value: x }]");
    let options = LoadOptions::default();
    let ids = |text: &str| {
        let (plan, problems) = load_with(text, dir.path(), &options);
        assert_eq!(problems, [], "{text}");
        plan.unwrap().cases.into_iter().map(|case| case.id).collect::<Vec<_>>()
    };
    assert_eq!(ids("tests: cases.jsonl"), ["j1", "j2"]);
    assert_eq!(ids("tests: ./all"), ["y1", "y2"]);
    assert_eq!(
        ids("tests: [file://cases.jsonl, { include: all/a.yaml, type: tests }]"),
        ["j1", "j2", "y1"]
    );
    let text = "tests: [{ id: a, criteria: c, input: x, assertions: [{ include: shared }] }]";
    let (plan, problems) = load_with(text, dir.path(), &options);
    assert_eq!(problems, []);
    assert_eq!(plan.unwrap().cases[0].graders[0].type_word, "equals");
    let (plan, _) = load_with("tests: cases.jsonl", dir.path(), &options);
    let place = &plan.unwrap().cases[1].place;
    assert!(place.file.raw().ends_with("cases.jsonl") && place.line == 3, "{place:?}");
    for (text, complaint) in [
        ("tests: bad.jsonl", "bad.jsonl:2:13: unknown key \"critera\""),
        ("tests: none.yaml", "none.yaml"),
        ("tests: [cases.jsonl, cases.jsonl]", "two tests have the id \"j1\""),
        ("tests: [{ id: a, criteria: c, input: x, assertions: [{ include: gone }] }]", "gone.yaml"),
    ] {
        let (_, problems) = load_with(text, dir.path(), &options);
        let said: Vec<_> = problems.iter().map(|problem| problem.message.as_str()).collect();
        assert!(said.join("; ").contains(complaint), "{text}: {said:?}");
    }
}

#[test]
fn mistakes() {
    let with = |assertions: &str| {
        format!("tests: [{{ id: a, criteria: c, input: x, assertions: {assertions} }}]")
    };
    for (text, complaint) in [
        ("tests: []".to_owned(), "no tests"),
        ("tests: [{ criteria: c, input: x }]".to_owned(), "needs an \"id\""),
        ("tests: [{ id: a, criteria: c, inptu: x }]".to_owned(), "unknown key \"inptu\""),
        ("test: []\ntests: [{ id: a, input: x, criteria: c }]".to_owned(), "unknown key \"test\""),
        ("tests: [{ id: a, input: x }]".to_owned(), "neither evaluators nor criteria"),
        (
            "execution: { threshold: 2 }\ntests: [{ id: a, input: x, criteria: c }]".to_owned(),
            "from 0 to 1",
        ),
        (
            "execution: { trials: { count: 0 } }\ntests: [{ id: a, input: x, criteria: c }]"
                .to_owned(),
            "1 or more",
        ),
        (with("[{ type: tool-trajectry }]"), "is not known"),
        (with("[{ type: tool-trajectory, mode: in_order }]"), "needs \"expected\""),
        (with("[{ type: contains, value: x, weight: -1 }]"), "weight must be"),
        (with("{}"), "list of evaluators"),
        (with("[{ type: cost, budget: 1 }], evaluators: []"), "use one of them"),
        (
            with(
                "[{ type: cost, budget: 1 }], execution: { evaluators: [{ type: cost, budget: 2 }] }",
            ),
            "twice",
        ),
    ] {
        let said = complaints(&text);
        assert!(said.contains(complaint), "{text}: {said}");
    }
    // A mistake in an evaluator of the file is reported once, however many cases there are.
    let text = "assertions: [{ type: cost }]\ntests: [{ id: a, criteria: c, input: x }, { id: b, criteria: c, input: x }]";
    assert_eq!(complaints(text).matches("budget").count(), 1);
}

#[test]
fn files_of_others_are_not_taken_for_it() {
    for text in ["stimuli: []", "graders: []", "a: 1", "[1]", "tests: { a: 1 }"] {
        let root = parse(&SourceText::new("x.yaml", text)).node.unwrap();
        assert_eq!(AgentV.detect(&root), 0, "{text}");
    }
}

#[test]
fn the_schema_knows_every_evaluator() {
    let schema = AgentV.schema(&[]);
    let text = schema.to_string();
    for info in crate::GRADERS.iter().filter(|info| info.origin == "agentv") {
        for word in std::iter::once(&info.id).chain(info.aliases) {
            assert!(text.contains(&format!("\"{word}\"")), "{word}");
        }
    }
    // Every reference leads somewhere.
    for name in text.split("\"#/$defs/").skip(1).filter_map(|rest| rest.split('"').next()) {
        assert!(schema["$defs"].get(name).is_some(), "{name}");
    }
}

/// Specs that AgentV's own loader accepts are accepted.
#[test]
fn what_agentv_takes_is_taken() {
    for text in [
        "governance: {owner: a}\ndefaults: {x: 1}\ntests: [{id: a, input: x, criteria: c}]",
        "tests: [{id: a, input: x, reference_answer: y, assertions: [{id: n, type: contains, value: y}]}]",
        "tests: [{id: a, input: x, assertions: [{type: tool-trajectory, mode: in_order, expected: [{tool: t, input: {q: 1}, output: z}]}]}]",
        "tests: [{id: a, input: x, assertions: [{type: llm-grader, prompt: {command: [echo, hi]}}]}]",
        "tests: [{id: a, input: x, assertions: [{type: llm-rubric, prompt: is it good}]}]",
        "tests: [{id: a, input: x, criteria: c, assertions: [{type: llm-rubric}]}]",
        "tests: [{id: a, input: x, assertions: [{type: word-count, min: 3}]}]",
        "tests: [{id: a, input: x, assertions: [{type: composite, assertions: [{type: word-count, min: 3}, {type: is-json}]}]}]",
        "tests: [{id: a, turns: [{input: x, assertions: [{type: is-json}]}], aggregation: min}]",
    ] {
        let (plan, problems) = load_with(text, Path::new("."), &LoadOptions::default());
        let errors: Vec<_> = problems.iter().filter(|problem| problem.is_error()).collect();
        assert!(errors.is_empty(), "{text}: {errors:?}");
        assert_eq!(plan.unwrap().cases.len(), 1, "{text}");
    }
}

#[test]
fn a_type_of_ones_own_is_named_and_unknown() {
    let text = "tests: [{id: a, input: x, assertions: [{type: word-count, min: 3}]}]";
    let (plan, problems) = load_with(text, Path::new("."), &LoadOptions::default());
    assert_eq!(problems[0].code, "unknown-grader-type");
    assert!(!problems[0].is_error() && problems[0].message.contains("word-count"));
    let row = r#"{"id":"a","output_messages":[{"role":"assistant","content":"x"}]}"#;
    let result = &grade(&plan.unwrap(), row)[0];
    assert_eq!(result.verdict, Verdict::Unknown(Cause::Program));
    assert_eq!(result.graders[0].type_word.raw(), "word-count");
    let options = LoadOptions { grader_types: vec!["word-count".into()], ..LoadOptions::default() };
    assert_eq!(load_with(text, Path::new("."), &options).1, []);
}

#[test]
fn tests_stand_in_other_files() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = dir.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write("cases/first/case.yaml", "input: x\ncriteria: c\n");
    write("cases/second/case.yaml", "id: own\ninput: x\ncriteria: c\n");
    write("tests.csv", "city,__expected,__expected2\nParis,contains: a,is-json\nRome,x,\n");
    write(
        "s1.scenario.yaml",
        "- {config: [{vars: {a: 1}}], tests: [{id: s1, assert: [{type: is-json}]}]}\n",
    );
    write("s2.scenario.yaml", "scenarios:\n  - tests: [{id: s2, assert: [{type: is-json}]}]\n");
    for (text, ids) in [
        ("tests: cases/", &["first", "own"][..]),
        ("prompts: [p]\ntests: file://tests.csv", &["row-1", "row-2"]),
        ("prompts: [p]\nscenarios: file://*.scenario.yaml", &["s1", "s2"]),
        ("prompts: [p]\nscenarios: [file://s2.scenario.yaml]", &["s2"]),
    ] {
        let (plan, problems) = load_with(text, dir.path(), &LoadOptions::default());
        assert_eq!(problems, [], "{text}");
        let plan = plan.unwrap();
        let found: Vec<&str> = plan.cases.iter().map(|case| case.id.as_str()).collect();
        assert_eq!(found, ids, "{text}");
    }
}

/// A row with these calls.
fn row(tools: &[&str]) -> String {
    let call = |tool: &&str| format!(r#"{{"tool":"{tool}","input":{{}},"output":"ok"}}"#);
    let calls: Vec<String> = tools.iter().map(call).collect();
    format!(
        r#"{{"test_id":"t","target":"a","score":1,"output":[{{"role":"assistant","content":"done","tool_calls":[{}]}}]}}"#,
        calls.join(",")
    )
}

#[test]
fn evaluators_without_tests_are_asked_of_every_trajectory() {
    for (fragment, good, bad) in [
        (
            "execution:\n  evaluators:\n    - name: usage\n      type: tool_trajectory\n      mode: any_order\n      minimums: { find: 2, read: 1 }\n",
            &["find", "read", "find"][..],
            &["find", "read"][..],
        ),
        (
            "execution:\n  evaluators:\n    - name: order\n      type: tool_trajectory\n      mode: in_order\n      expected:\n        - tool: fetch\n        - tool: save\n",
            &["fetch", "check", "save"],
            &["save", "fetch"],
        ),
        (
            "execution:\n  evaluators:\n    - { name: all, type: tool_trajectory, mode: exact, expected: [{ tool: login }] }\n",
            &["login"],
            &["login", "login"],
        ),
        ("assert:\n  - { type: trajectory:tool-used, value: save }\n", &["save"], &["fetch"]),
    ] {
        let plan = load(fragment);
        assert!(plan.cases.is_empty() && plan.every.is_some(), "{fragment}");
        for (tools, expected) in [(good, Verdict::Pass), (bad, Verdict::Fail)] {
            assert_eq!(grade(&plan, &row(tools))[0].verdict, expected, "{fragment} {tools:?}");
        }
    }
    let problems = complaints("execution:\n  evaluators:\n    - { type: tool_trajectroy }\n");
    assert!(problems.contains("tool_trajectroy"), "{problems}");
}

#[test]
fn the_keys_of_a_promptfoo_file() {
    let text = "\
description: Agent
tracing: { enabled: true, otlp: { http: { enabled: true } } }
prompts: ['{{question}}']
providers: [file://agent.js]
tests:
  - vars: { question: Find the order }
    assert:
      - { type: 'trajectory:tool-used', value: { name: search_orders, min: 1 } }
      - { type: 'trajectory:tool-sequence', value: { mode: in_order, steps: [search_orders, compose] } }
";
    let plan = load(text);
    assert_eq!(plan.cases.len(), 1);
    assert_eq!(plan.cases[0].graders.len(), 2);
}

#[test]
fn evals_of_a_skill() {
    let text = r#"{
  "skill_name": "deployer",
  "evals": [
    {"id": 1, "prompt": "Deploy to staging", "expected_output": "A safe plan", "files": [], "assertions": ["It has a rollback step", "It names staging"]},
    {"id": 2, "prompt": "Roll back", "expected_output": "The last release is live"}
  ]
}"#;
    let plan = load(text);
    let graders = |n: usize| plan.cases[n].graders.iter().map(|g| g.info.id).collect::<Vec<_>>();
    assert_eq!(plan.cases.iter().map(|case| &*case.id).collect::<Vec<_>>(), ["1", "2"]);
    assert_eq!(plan.cases[0].matches.prompts, ["Deploy to staging"]);
    assert_eq!(plan.cases[0].context.criteria.as_deref(), Some("A safe plan"));
    assert_eq!(graders(0), ["llm-rubric"]);
    assert_eq!(graders(1).len(), 1);
}
