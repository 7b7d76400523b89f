//! Broken Vally specs.

use super::{Broken, said};

#[test]
fn vally() {
    insta::assert_snapshot!(said("eval.yaml", SPECS));
}

const SPECS: &[Broken] = &[
    ("no stimuli", "stimuli: []\n"),
    ("stimuli that are a number", "stimuli: 3\n"),
    ("a stimulus that is a text", "stimuli: [fix the tests]\n"),
    ("a stimulus without a name", "stimuli:\n  - prompt: p\n    graders: [completed]\n"),
    ("a stimulus without a prompt", "stimuli:\n  - name: a\n    graders: [{type: completed}]\n"),
    (
        "an unknown key of a stimulus",
        "stimuli:\n  - name: a\n    prmpt: p\n    graders: [{type: completed}]\n",
    ),
    (
        "an unknown key of the file",
        "stimulus: x\nstimuli:\n  - {name: a, prompt: p, graders: [{type: completed}]}\n",
    ),
    (
        "a name twice",
        "stimuli:\n  - {name: a, prompt: p, graders: [{type: completed}]}\n  - {name: a, prompt: q, graders: [{type: completed}]}\n",
    ),
    ("empty turns", "stimuli:\n  - {name: a, turns: [], graders: [{type: completed}]}\n"),
    (
        "a turn without a prompt",
        "stimuli:\n  - {name: a, turns: [{say: hi}], graders: [{type: completed}]}\n",
    ),
    (
        "config and defaults",
        "config: {runs: 1}\ndefaults: {runs: 2}\nstimuli:\n  - {name: a, prompt: p, graders: [{type: completed}]}\n",
    ),
    (
        "a threshold above 1",
        "scoring: {threshold: 2}\nstimuli:\n  - {name: a, prompt: p, graders: [{type: completed}]}\n",
    ),
    (
        "a weight for a grader that is not there",
        "scoring: {weights: {complete: 1, completed: 1}}\nstimuli:\n  - {name: a, prompt: p, graders: [{type: completed}]}\n",
    ),
    (
        "a weight below 0",
        "scoring: {weights: {completed: -1}}\nstimuli:\n  - {name: a, prompt: p, graders: [{type: completed}]}\n",
    ),
    (
        "all weights 0",
        "scoring: {weights: {completed: 0}}\nstimuli:\n  - {name: a, prompt: p, graders: [{type: completed}]}\n",
    ),
    ("an unknown grader", "stimuli:\n  - {name: a, prompt: p, graders: [{type: turn-cuont}]}\n"),
    (
        "a grader of another system",
        "stimuli:\n  - {name: a, prompt: p, graders: [{type: tool_trajectory, config: {}}]}\n",
    ),
    (
        "a grader without its limit",
        "stimuli:\n  - {name: a, prompt: p, graders: [{type: turn-count}]}\n",
    ),
    (
        "a limit that is a text",
        "stimuli:\n  - {name: a, prompt: p, graders: [{type: turn-count, config: {max: five}}]}\n",
    ),
    (
        "an unknown key of a grader",
        "stimuli:\n  - {name: a, prompt: p, graders: [{type: turn-count, weight: 2, config: {max: 1}}]}\n",
    ),
    ("a constraint below 0", "stimuli:\n  - {name: a, prompt: p, constraints: {max_turns: -1}}\n"),
    (
        "a tool expected and rejected",
        "stimuli:\n  - {name: a, prompt: p, constraints: {expect_tools: [x], reject_tools: [x]}}\n",
    ),
    ("an unknown constraint", "stimuli:\n  - {name: a, prompt: p, constraints: {max_turn: 3}}\n"),
    (
        "a parameter without a value",
        "stimuli:\n  - {name: a, prompt: \"${GOAL}\", graders: [{type: completed}]}\n",
    ),
    (
        "a timeout without a unit",
        "defaults: {timeout: 30}\nstimuli:\n  - {name: a, prompt: p, graders: [{type: completed}]}\n",
    ),
    ("nothing asked of a stimulus", "stimuli:\n  - {name: a, prompt: p}\n"),
    (
        "a turn that is not there",
        "stimuli:\n  - {name: a, prompt: p, graders: [{type: turn-count, turn: 1, config: {max: 1}}]}\n",
    ),
    (
        "a path outside the workspace",
        "stimuli:\n  - {name: a, prompt: p, graders: [{type: file-exists, config: {path: ../x}}]}\n",
    ),
    (
        "a broken regular expression",
        "stimuli:\n  - {name: a, prompt: p, graders: [{type: output-matches, config: {pattern: \"[a-\"}}]}\n",
    ),
    (
        "tool-calls of nothing",
        "stimuli:\n  - {name: a, prompt: p, graders: [{type: tool-calls, config: {}}]}\n",
    ),
];
