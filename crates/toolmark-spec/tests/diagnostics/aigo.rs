//! Broken AI GO! tasks.

use super::{Broken, said};

#[test]
fn aigo() {
    insta::assert_snapshot!(said("task.yaml", SPECS));
}

const SPECS: &[Broken] = &[
    ("no scorers", "scorers: []\n"),
    ("scorers in a map", "definition:\n  scorers: {type: string_equals}\n"),
    ("a scorer without a type", "scorers:\n  - {function_calls: [a]}\n"),
    ("an unknown scorer", "scorers:\n  - {type: function_call_coverag, function_calls: [a]}\n"),
    ("coverage of nothing", "scorers:\n  - {type: function_call_coverage}\n"),
    (
        "an unknown key",
        "scorers:\n  - {type: function_call_coverage, function_calls: [a], modus: x}\n",
    ),
    (
        "an unknown mode",
        "scorers:\n  - {type: function_call_coverage, function_calls: [a], mode: inorder}\n",
    ),
    (
        "a call without a name",
        "scorers:\n  - {type: function_call_coverage, function_calls: [{arguments: {}}]}\n",
    ),
    (
        "a call that is a number",
        "scorers:\n  - {type: function_call_coverage, function_calls: [3]}\n",
    ),
    (
        "a text that is not a list",
        "scorers:\n  - {type: function_call_coverage, function_calls: \"a, b\"}\n",
    ),
    ("an unknown purpose", "scorers:\n  - {type: string_equals, ground_truth: x, purpose: eval}\n"),
    (
        "a template without a dataset",
        "scorers:\n  - {type: function_call_coverage, function_calls: \"{{ sample.calls }}\"}\n",
    ),
    (
        "a template that does not parse",
        "scorers:\n  - {type: function_call_coverage, function_calls: \"{{ sample. }}\"}\n",
    ),
    (
        "a definition without scorers",
        "key: t\ndefinition:\n  scorer: [{type: string_equals, ground_truth: x}]\n  scorers: []\n",
    ),
    (
        "a template with an unknown variable",
        "scorers:\n  - {type: function_call_coverage, function_calls: \"{{ trace.x }}\"}\n",
    ),
    (
        "a value of the configuration that is not there",
        "scorers:\n  - {type: function_call_coverage, function_calls: \"<< config.calls >>\"}\n",
    ),
    (
        "an unknown metric",
        "scorers:\n  - {type: function_call_coverage, function_calls: [a], metrics: [{type: meen, field: x}]}\n",
    ),
    (
        "a metric without its field",
        "scorers:\n  - {type: function_call_coverage, function_calls: [a], metrics: [{type: precision, num_true_positives_field: x}]}\n",
    ),
    ("a reference", "scorers:\n  - {$ref: a.yaml}\n"),
    (
        "a dataset that is not there",
        "definition:\n  dataset: {file_path: rows.jsonl}\n  scorers:\n    - {type: function_call_coverage, function_calls: [a]}\n",
    ),
    (
        "no trials",
        "definition:\n  trials: {num_trials: 0}\n  scorers:\n    - {type: function_call_coverage, function_calls: [a]}\n",
    ),
    (
        "what is not applied",
        "colour: red\ndefinition:\n  actions: [{key: a}]\n  scorers:\n    - {type: function_call_coverage, function_calls: [a], metrics: [{type: python, compute_snippet: x}]}\n",
    ),
    ("no disallowed names", "scorers:\n  - {type: function_call_disallowed, function_names: []}\n"),
    ("no ground truth", "scorers:\n  - {type: string_equals}\n"),
];
