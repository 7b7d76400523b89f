//! Broken toolmark specs.

use super::{Broken, said};

#[test]
fn toolmark() {
    insta::assert_snapshot!(said("toolmark.yaml", SPECS));
}

const SPECS: &[Broken] = &[
    ("an unclosed quote", "name: \"suite\ngraders: []\n"),
    ("an unclosed list", "graders: [error-count\n"),
    ("a tab as indentation", "cases:\n\t- id: a\n"),
    ("a colon in a plain text", "cases:\n  - id: a\n    prompt: note: this\n"),
    ("the same key twice", "name: a\nname: b\ngraders: [{type: error-count, config: {max: 0}}]\n"),
    ("JSON without a comma", "{\"graders\": [{\"type\": \"error-count\" \"name\": \"n\"}]}"),
    ("an unknown key", "graderz: [error-count]\n"),
    ("nothing to grade", "name: empty\n"),
    ("an empty list of cases", "cases: []\n"),
    ("cases that are not a list", "cases: {id: a}\n"),
    ("a case without an id", "cases:\n  - expect: {sequence: [Read]}\n"),
    (
        "an id twice",
        "cases:\n  - {id: a, expect: {none: true}}\n  - {id: a, expect: {none: true}}\n",
    ),
    ("a threshold above 1", "threshold: 80\ngraders: [{type: error-count, config: {max: 0}}]\n"),
    (
        "a threshold that is a text",
        "threshold: high\ngraders: [{type: error-count, config: {max: 0}}]\n",
    ),
    ("a version of the future", "version: 2\ngraders: [{type: error-count, config: {max: 0}}]\n"),
    ("an unknown profile", "profile: agentv@9\ngraders: [{type: error-count, config: {max: 0}}]\n"),
    ("a gate that is a list", "gate: [1]\ngraders: [{type: error-count, config: {max: 0}}]\n"),
    ("an unknown type of grader", "graders:\n  - type: tool-cals\n    config: {required: [a]}\n"),
    ("a grader without a type", "graders:\n  - config: {max: 1}\n"),
    ("a grader that is a number", "graders: [7]\n"),
    ("a grader without what it needs", "graders:\n  - type: token-budget\n"),
    (
        "keys in and beside config",
        "graders:\n  - type: token-budget\n    max: 1\n    config: {max: 2}\n",
    ),
    (
        "a name twice",
        "graders:\n  - {type: token-budget, name: n, config: {max: 1}}\n  - {type: error-count, name: n, config: {max: 1}}\n",
    ),
    ("a weight below 0", "graders:\n  - {type: error-count, weight: -1, config: {max: 1}}\n"),
    ("a turn that is a text", "graders:\n  - {type: error-count, turn: first, config: {max: 1}}\n"),
    ("an expectation of nothing", "cases:\n  - {id: a, expect: {}}\n"),
    ("an empty sequence", "cases:\n  - {id: a, expect: {sequence: []}}\n"),
    (
        "a group with the keys of a call",
        "cases:\n  - id: a\n    expect:\n      sequence:\n        - any_order: [Read, Grep]\n          args: {path: x}\n",
    ),
    ("none, and a call", "cases:\n  - {id: a, expect: {none: true, calls: [Read]}}\n"),
    ("expected and forbidden", "cases:\n  - {id: a, expect: {calls: [Read], forbidden: [Read]}}\n"),
    (
        "a count that no number of calls meets",
        "cases:\n  - {id: a, expect: {calls: [{tool: Read, count: {min: 3, max: 1}}]}}\n",
    ),
    (
        "a broken regular expression",
        "cases:\n  - {id: a, expect: {calls: [{tool: {regex: \"mcp__(a|b\"}}]}}\n",
    ),
    (
        "an unknown condition",
        "cases:\n  - {id: a, expect: {calls: [{tool: Bash, where: {command: {contian: ls}}}]}}\n",
    ),
    ("a file of cases that is not there", "cases: cases.jsonl\n"),
    (
        "a dataset that is not there",
        "dataset: rows.csv\ngraders: [{type: error-count, config: {max: 0}}]\n",
    ),
    ("a judge without a rubric", "graders:\n  - type: judge\n    config: {model: claude-x}\n"),
];
