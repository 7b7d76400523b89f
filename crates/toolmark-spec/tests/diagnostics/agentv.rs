//! Broken AgentV specs.

use super::{Broken, said};

#[test]
fn agentv() {
    insta::assert_snapshot!(said("test.yaml", SPECS));
}

const SPECS: &[Broken] = &[
    ("no tests", "tests: []\n"),
    ("a test without an id", "tests:\n  - {criteria: c, input: x}\n"),
    ("an unknown key of a test", "tests:\n  - {id: a, criteria: c, inptu: x}\n"),
    ("an unknown key of the file", "test: []\ntests:\n  - {id: a, input: x, criteria: c}\n"),
    ("nothing asked", "tests:\n  - {id: a, input: x}\n"),
    (
        "an id twice",
        "tests:\n  - {id: a, input: x, criteria: c}\n  - {id: a, input: y, criteria: c}\n",
    ),
    (
        "a threshold above 1",
        "execution: {threshold: 2}\ntests:\n  - {id: a, input: x, criteria: c}\n",
    ),
    ("no trials", "execution: {trials: {count: 0}}\ntests:\n  - {id: a, input: x, criteria: c}\n"),
    ("evaluators in a map", "tests:\n  - {id: a, input: x, criteria: c, assertions: {}}\n"),
    (
        "an evaluator that is a number",
        "tests:\n  - {id: a, input: x, criteria: c, assertions: [7]}\n",
    ),
    (
        "an evaluator without a type",
        "tests:\n  - {id: a, input: x, criteria: c, assertions: [{name: n}]}\n",
    ),
    (
        "an unknown evaluator",
        "tests:\n  - {id: a, input: x, criteria: c, assertions: [{type: tool-trajectry}]}\n",
    ),
    (
        "a trajectory without a mode",
        "tests:\n  - {id: a, input: x, criteria: c, assertions: [{type: tool-trajectory, expected: [{tool: a}]}]}\n",
    ),
    (
        "a trajectory with an unknown mode",
        "tests:\n  - {id: a, input: x, criteria: c, assertions: [{type: tool-trajectory, mode: inorder, expected: [{tool: a}]}]}\n",
    ),
    (
        "a trajectory without what is expected",
        "tests:\n  - {id: a, input: x, criteria: c, assertions: [{type: tool-trajectory, mode: in_order}]}\n",
    ),
    (
        "any order without minimums",
        "tests:\n  - {id: a, input: x, criteria: c, assertions: [{type: tool-trajectory, mode: any_order, expected: [{tool: a}]}]}\n",
    ),
    (
        "a minimum that is a text",
        "tests:\n  - {id: a, input: x, criteria: c, assertions: [{type: tool-trajectory, mode: any_order, minimums: {a: one}}]}\n",
    ),
    (
        "a step without a tool",
        "tests:\n  - {id: a, input: x, criteria: c, assertions: [{type: tool-trajectory, mode: exact, expected: [{args: {a: 1}}]}]}\n",
    ),
    (
        "an unknown comparison of arguments",
        "tests:\n  - {id: a, input: x, criteria: c, assertions: [{type: tool-trajectory, mode: exact, args_match: fuzzy, expected: [{tool: a}]}]}\n",
    ),
    (
        "a weight below 0",
        "tests:\n  - {id: a, input: x, criteria: c, assertions: [{type: contains, value: x, weight: -1}]}\n",
    ),
    (
        "assertions and evaluators",
        "tests:\n  - {id: a, input: x, criteria: c, assertions: [{type: cost, budget: 1}], evaluators: []}\n",
    ),
    (
        "cost without a budget, for two tests",
        "assertions: [{type: cost}]\ntests:\n  - {id: a, input: x, criteria: c}\n  - {id: b, input: x, criteria: c}\n",
    ),
    ("a file of tests that is not there", "tests: ./cases.jsonl\n"),
    (
        "a template that is not there",
        "tests:\n  - {id: a, input: x, criteria: c, assertions: [{include: gone}]}\n",
    ),
    (
        "a broken regular expression",
        "tests:\n  - {id: a, input: x, criteria: c, assertions: [{type: regex, value: \"a(\"}]}\n",
    ),
    (
        "weights for members that are not there",
        "tests:\n  - id: a\n    input: x\n    criteria: c\n    assertions:\n      - type: composite\n        assertions: [{name: one, type: contains, value: x}]\n        aggregator: {type: weighted_average, weights: {two: 1}}\n",
    ),
    (
        "tool-used with a range of nothing",
        "tests:\n  - {id: a, vars: {input: x}, assert: [{type: \"trajectory:tool-used\", value: {name: a, min: 3, max: 1}}]}\n",
    ),
    (
        "a rubric without a text",
        "tests:\n  - {id: a, input: x, criteria: c, assertions: [{type: rubrics, criteria: [{weight: 2}]}]}\n",
    ),
];
