//! Presets: predefined sets of gates.

use super::{Gate, GateError, Op, Per};

/// A named set of gates.
pub struct Preset {
    /// Name for `--gate`.
    pub name: &'static str,
    /// Origin of the thresholds.
    pub summary: &'static str,
    /// Returns the gates.
    pub gates: fn() -> Vec<Gate>,
}

/// All presets.
pub const PRESETS: &[Preset] = &[
    Preset {
        name: "article",
        summary: "the five thresholds of the four-axis evaluation of tool use",
        gates: article,
    },
    Preset {
        name: "default",
        summary: "the same, with selection.f1 only where there are gold labels",
        gates: defaults,
    },
];

/// Returns the gates of the preset with this name.
#[must_use]
pub fn preset(name: &str) -> Option<Vec<Gate>> {
    PRESETS.iter().find(|preset| preset.name == name).map(|preset| (preset.gates)())
}

/// Parses the value of `--gate` or an item of a list of gates: a preset, or a gate.
///
/// # Errors
///
/// Fails if the gate is invalid, with the position of the error.
pub fn parse_gates(text: &str) -> Result<Vec<Gate>, GateError> {
    match preset(text.trim()) {
        Some(gates) => Ok(gates),
        None => text.parse().map(|gate| vec![gate]),
    }
}

/// Returns the thresholds of the four-axis evaluation of tool use, one line each: F1 of
/// selection, validity of arguments, scope of edits, awareness of irreversible actions, and
/// recovery per kind of error.
#[must_use]
pub fn article() -> Vec<Gate> {
    let gate = |name: &str, op, threshold, per| Gate {
        name: name.to_owned(),
        selector: None,
        op,
        threshold,
        per,
        min_support: 1,
        only_where_measured: false,
    };
    vec![
        gate("selection.f1", Op::AtLeast, 0.92, Per::Tool),
        gate("arguments.valid", Op::Equal, 1.0, Per::Tool),
        gate("edit.minimal", Op::AtLeast, 0.85, Per::Tool),
        gate("irreversibility.aware", Op::Equal, 1.0, Per::Tool),
        gate("recovery", Op::AtLeast, 0.8, Per::Bucket),
    ]
}

/// Returns the default gates. Only gold labels can define the right tool, so selection is
/// skipped without them.
#[must_use]
pub fn defaults() -> Vec<Gate> {
    let mut gates = article();
    for gate in gates.iter_mut().filter(|gate| gate.name == "selection.f1") {
        gate.only_where_measured = true;
    }
    gates
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::{Cells, GateCell, verdict};
    use crate::scorecard::ScoreTally;
    use toolmark_outcome::{Untrusted, Verdict};

    #[test]
    fn the_article_has_five_lines() {
        let lines: Vec<String> = article().iter().map(Gate::to_string).collect();
        assert_eq!(
            lines,
            [
                "selection.f1 >= 0.92 per tool",
                "arguments.valid == 1 per tool",
                "edit.minimal >= 0.85 per tool",
                "irreversibility.aware == 1 per tool",
                "recovery >= 0.8 per bucket",
            ]
        );
        // Without measurements there are five unknown rows.
        let rows: Vec<_> =
            article().iter().flat_map(|gate| gate.rows(&Cells::default(), None)).collect();
        assert_eq!(rows.len(), 5);
        assert!(rows.iter().all(|row| row.verdict.word() == "unknown"), "{rows:?}");
    }

    #[test]
    fn presets_are_gates_as_anybody_would_write_them() {
        for preset in PRESETS {
            assert_eq!(parse_gates(preset.name).unwrap(), (preset.gates)());
            for gate in (preset.gates)() {
                let again: Gate = gate.to_string().parse().unwrap();
                assert_eq!(again, Gate { only_where_measured: false, ..gate });
            }
        }
        assert_eq!(parse_gates(" recovery>=0.8 ").unwrap().len(), 1);
        let error = parse_gates("artcle").unwrap_err();
        assert_eq!(error.help.as_deref(), Some("did you mean \"article\"?"));
        assert_eq!(verdict::<Untrusted>(&[]), Verdict::Pass);
    }

    #[test]
    fn without_gold_labels_the_default_does_not_ask_for_them() {
        let mut cells = Cells::default();
        let cell = GateCell { name: "arguments.valid".into(), tool: "Read".into(), bucket: None };
        cells.add(cell, ScoreTally::of_right(1, 0));
        let rows: Vec<_> = defaults().iter().flat_map(|gate| gate.rows(&cells, None)).collect();
        assert!(rows.iter().all(|row| row.measure != "selection.f1"));
        assert_eq!(verdict(&rows), Verdict::Fail);
    }
}
