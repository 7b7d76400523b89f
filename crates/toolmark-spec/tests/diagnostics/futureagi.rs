//! Broken configurations of Future AGI's metrics.

use super::{Broken, said};

#[test]
fn futureagi() {
    insta::assert_snapshot!(said("toolmark.yaml", SPECS));
}

const SPECS: &[Broken] = &[
    ("a metric that is almost known", "graders:\n  - type: function_call_acuracy\n"),
    (
        "an unknown key",
        "graders:\n  - {type: function_call_exact_match, config: {ignore_extra: true}}\n",
    ),
    (
        "yes for true",
        "graders:\n  - {type: function_call_exact_match, config: {ignore_extra_params: yes}}\n",
    ),
    (
        "a weight below 0",
        "graders:\n  - {type: function_call_accuracy, config: {name_weight: -0.4}}\n",
    ),
    (
        "a weight that is infinite",
        "graders:\n  - {type: function_call_accuracy, config: {value_weight: .inf}}\n",
    ),
    (
        "all weights 0",
        "graders:\n  - {type: function_call_accuracy, config: {name_weight: 0, presence_weight: 0, value_weight: 0}}\n",
    ),
    (
        "a threshold above 1",
        "graders:\n  - {type: function_call_accuracy, config: {threshold: 50}}\n",
    ),
    (
        "a threshold that is a text",
        "graders:\n  - {type: parameter_validation, config: {threshold: half}}\n",
    ),
    (
        "a threshold where all or nothing counts",
        "graders:\n  - {type: function_name_match, config: {threshold: 0.5}}\n",
    ),
    (
        "weights without effect",
        "graders:\n  - {type: function_call_exact_match, config: {name_weight: 1}}\n",
    ),
    (
        "order without effect",
        "graders:\n  - {type: parameter_validation, config: {order_matters: true}}\n",
    ),
    (
        "definitions without effect",
        "graders:\n  - {type: function_name_match, config: {function_definitions: [{name: f, parameters: []}]}}\n",
    ),
    (
        "an expectation that is a number",
        "graders:\n  - {type: function_name_match, config: {expected: 7}}\n",
    ),
    (
        "an expected call without a name",
        "graders:\n  - {type: function_call_accuracy, config: {expected: [{id: x, arguments: {q: 1}}]}}\n",
    ),
    (
        "an expected text that is no call",
        "graders:\n  - {type: function_call_accuracy, config: {expected: \"search(query=\"}}\n",
    ),
    (
        "definitions in a map",
        "graders:\n  - {type: parameter_validation, config: {function_definitions: {name: f}}}\n",
    ),
    (
        "a definition without a name",
        "graders:\n  - {type: parameter_validation, config: {function_definitions: [{parameters: []}]}}\n",
    ),
    (
        "a parameter of an unknown type",
        "graders:\n  - {type: parameter_validation, config: {function_definitions: [{name: f, parameters: [{name: q, type: strng}]}]}}\n",
    ),
    (
        "a schema that is none",
        "graders:\n  - {type: parameter_validation, config: {function_definitions: [{name: f, parameters: {type: object, properties: {q: {type: strng}}}}]}}\n",
    ),
    ("an unknown profile", "graders:\n  - {type: function_name_match, profile: future-agi}\n"),
    (
        "keys beside and in config",
        "graders:\n  - {type: function_name_match, order_matters: true, config: {order_matters: false}}\n",
    ),
    ("config in a list", "graders:\n  - {type: function_name_match, config: [order_matters]}\n"),
    (
        "all at once",
        "graders:\n  - {type: function_call_accuracy, config: {name_weight: -1, threshold: 2, expected: 7, strict: true}}\n",
    ),
];
