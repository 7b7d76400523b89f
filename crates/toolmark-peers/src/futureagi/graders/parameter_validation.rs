//! `parameter_validation`: validates the calls against the definitions of the
//! functions.

use super::alignment::args_of;
use super::checks::ParameterCheck;
use super::definition::{Definitions, Unusable};
use super::material::Material;
use super::settings::{ComparisonSettings, FutureagiConfig};
use super::{MAX_EVIDENCE, Metric, build};
use serde_json::{Map, Value};
use toolmark_grade::{GraderInfo, Taxonomy, schema_of};
use toolmark_outcome::IndexedCall;
use toolmark_outcome::Profile;
use toolmark_outcome::reaches;
use toolmark_outcome::{Cause, Outcome, OutcomePart, Verdict};
use toolmark_outcome::{EvidenceRole, excerpt};
use toolmark_trace::Fact;

pub(crate) static INFO: GraderInfo = GraderInfo {
    id: "parameter_validation",
    aliases: &["parameter-validation"],
    origin: "futureagi",
    summary: "checks that calls match the definitions of their functions",
    docs: "Checks whether the calls match the definitions of the functions.

The definitions are `function_definitions`, else those of the row (`function_definitions` or \
`tools`), else the tools the trace records. A definition has a `name` and its parameters: a flat \
list of `{name, type, required, enum}`, where a parameter is required unless said otherwise, or a \
JSON Schema under `parameters` or `input_schema`, alone or wrapped as the APIs wrap it. Types may \
be written `int`, `float`, `str`, `bool`, `list` and `dict`. References that leave the schema are \
not followed.

Every call is checked: each declared parameter is one check, each argument that is not declared one \
that fails, unless `ignore_extra_params` or the schema allows it. `3.0` is an integer unless \
`strict_type_check`, true never is. A call of a function that is not defined is one check that \
fails. The score is the share of checks that hold, over all calls. It passes where the score \
reaches `threshold` (0.5) and every function is defined; set `threshold: 1` to ask for calls \
without a mistake.

Without definitions the verdict is unknown. Where no call was made there is nothing to validate: it \
passes if the expected calls say that none is right, and is unknown otherwise.

The profile `futureagi` answers as the library does: one call, flat lists only, any float is an \
integer, a type it does not know means string.",
    example: "type: parameter_validation\nconfig:\n  threshold: 1\n  function_definitions:\n    \
              - name: get_weather\n      parameters:\n        \
              - {name: city, type: string}\n        \
              - {name: days, type: integer, required: false}",
    taxonomy: Taxonomy::TRAJECTORY,
    profiles: &[Profile::FutureAgi],
    schema: schema_of::<FutureagiConfig>,
    build: |building| build(Metric::ParameterValidation, building),
};

pub(super) fn grade(settings: &ComparisonSettings, material: &Material<'_>) -> Outcome {
    let view = material.view;
    if view.calls().is_empty() {
        return match material.expected() {
            Ok(gold) if gold.is_empty() => {
                Outcome::binary(true, "no call was expected and none was made")
            }
            Ok(_) => {
                let reason = "calls were expected and none was made: there is nothing to validate";
                Outcome::unknown(Cause::MissingEvidence, reason)
            }
            Err(_) => {
                let reason = "no call was made, and nothing says whether that is right";
                Outcome::unknown(Cause::MissingEvidence, reason)
            }
        };
    }
    let own;
    let definitions = match &settings.definitions {
        Some((_, definitions)) => definitions,
        None => match material.definitions() {
            Some(written) => {
                own = Definitions::read(&written);
                &own
            }
            None => {
                let reason = "there are no definitions to validate with: neither config nor row has \
                              \"function_definitions\", and the trace does not record its tools";
                return Outcome::unknown(Cause::MissingEvidence, reason);
            }
        },
    };
    let definitions = match definitions {
        Ok(definitions) if definitions.is_empty() => {
            return Outcome::unknown(Cause::MissingEvidence, "the list of definitions is empty");
        }
        Ok(definitions) => definitions,
        Err(what) => return what.clone().into(),
    };
    if view.trajectory().fidelity.lacks(Fact::Arguments) {
        let reason = "the trace does not record the arguments of calls";
        return Outcome::unknown(Cause::MissingEvidence, reason);
    }
    let mut tally = CheckTotals::default();
    for seen in view.calls() {
        match checks_of(*seen, definitions, settings) {
            Ok(found) => tally.add(*seen, found, material),
            Err(what) => return what.into(),
        }
    }
    tally.outcome(settings)
}

/// Checks of one call.
enum CallCheck {
    Undefined,
    Checked(Vec<ParameterCheck>),
}

fn checks_of(
    seen: IndexedCall<'_>,
    definitions: &Definitions,
    settings: &ComparisonSettings,
) -> Result<CallCheck, Unusable> {
    let name = seen.call.name.full();
    let Some(checker) = definitions.checker(&name) else { return Ok(CallCheck::Undefined) };
    let args = args_of(seen);
    let empty = Value::Object(Map::new());
    let args = match args.as_deref() {
        None | Some(Value::Null) => &empty,
        Some(Value::String(text)) if text.trim().is_empty() => &empty,
        Some(args) => args,
    };
    let (strict, ignore) = (settings.strict_type_check, settings.ignore_extra_params);
    let checks = checker?.check(args, strict, ignore);
    checks.map(CallCheck::Checked).map_err(|what| Unusable {
        cause: Cause::Limit,
        words: format!("the calls of {name} cannot be checked: {what}"),
    })
}

/// Totals over the calls.
#[derive(Default)]
struct CheckTotals {
    checks: usize,
    passed: usize,
    valid: usize,
    invalid: usize,
    undefined: usize,
    parts: Vec<OutcomePart>,
    evidence: Vec<toolmark_outcome::Evidence>,
    matched: Vec<toolmark_outcome::Evidence>,
}

impl CheckTotals {
    fn add(&mut self, seen: IndexedCall<'_>, found: CallCheck, material: &Material<'_>) {
        let (checks, faults) = match found {
            CallCheck::Undefined => {
                self.undefined += 1;
                (1, vec!["the function is not defined".to_owned()])
            }
            CallCheck::Checked(checks) => {
                let words = |check: &ParameterCheck| {
                    let fault = check.fault.as_ref()?;
                    Some(match &check.parameter {
                        Some(parameter) => format!("{parameter} {fault}"),
                        None => fault.clone(),
                    })
                };
                (checks.len(), checks.iter().filter_map(words).collect::<Vec<_>>())
            }
        };
        let holding = checks - faults.len();
        self.checks += checks;
        self.passed += holding;
        let is_valid = faults.is_empty();
        *(if is_valid { &mut self.valid } else { &mut self.invalid }) += 1;
        let name = seen.call.name.full();
        let mut part =
            OutcomePart::new(format!("call {} of {name}", seen.number()), Verdict::of(is_valid));
        if !is_valid {
            part.score = Some(holding as f64 / checks as f64).filter(|score| *score > 0.0);
            part.reason = Some(excerpt(&faults.join("; ")).into());
        }
        let (list, role, words) = match &part.reason {
            None => (&mut self.matched, EvidenceRole::Matched, "keeps to its definition".into()),
            Some(why) => (&mut self.evidence, EvidenceRole::Violation, why.clone()),
        };
        if list.len() < MAX_EVIDENCE {
            list.push(material.view.evidence(role, words, seen));
        }
        self.parts.push(part);
    }

    fn outcome(mut self, settings: &ComparisonSettings) -> Outcome {
        let score = self.passed as f64 / self.checks.max(1) as f64;
        let passes = self.undefined == 0 && reaches(score, settings.threshold);
        let calls = self.valid + self.invalid;
        let mut reason = format!("{} of {} checks hold", self.passed, self.checks);
        if self.invalid > 0 {
            reason.push_str(&format!(", {} of {calls} calls have a mistake", self.invalid));
        }
        if self.undefined > 0 {
            reason.push_str(&format!(
                ", {} of them call a function that is not defined",
                self.undefined
            ));
        }
        let mut outcome = Outcome::scored(Verdict::of(passes), score, reason)
            .with_metric("checks", self.checks)
            .with_metric("passed", self.passed)
            .with_metric("failed", self.checks - self.passed)
            .with_metric("valid_calls", self.valid)
            .with_metric("invalid_calls", self.invalid)
            .with_metric("undefined_functions", self.undefined)
            .with_metric("threshold", settings.threshold);
        outcome.evidence = self.evidence;
        outcome.evidence.append(&mut self.matched);
        outcome.evidence.truncate(MAX_EVIDENCE);
        if calls > outcome.evidence.len() {
            let left = calls - outcome.evidence.len();
            outcome.notes.push(format!("{left} more calls are not listed as evidence").into());
        }
        outcome.parts = self.parts;
        outcome
    }
}

#[cfg(test)]
mod tests {
    use crate::futureagi::graders::testing::{answer, f};
    use crate::testing::{complaints, grade};
    use serde_json::{Value, json};
    use toolmark_outcome::{Cause, Verdict};

    const ID: &str = "parameter_validation";

    fn definitions() -> Value {
        json!([
            {"name": "grep", "parameters": [
                {"name": "q", "type": "str"},
                {"name": "n", "type": "int", "required": false},
                {"name": "mode", "type": "string", "enum": ["re", "lit"], "required": false},
            ]},
            {"type": "function", "function": {"name": "tick", "parameters": {"type": "object", "properties": {}}}},
        ])
    }

    #[test]
    fn checks_over_all_calls() {
        for (more, made, verdict, score) in [
            (json!({}), json!([f("grep", json!({"q": "x"}))]), "pass", 1.0),
            (json!({}), json!([f("grep", json!({"q": 1}))]), "pass", 0.667),
            (json!({"threshold": 1}), json!([f("grep", json!({"q": 1}))]), "fail", 0.667),
            (json!({}), json!([f("grep", json!({"q": 1, "n": "1", "mode": "x"}))]), "fail", 0.0),
            (json!({}), json!([f("grep", json!({"q": "x", "z": 1}))]), "pass", 0.75),
            (
                json!({"ignore_extra_params": true}),
                json!([f("grep", json!({"q": "x", "z": 1}))]),
                "pass",
                1.0,
            ),
            (json!({}), json!([f("grep", json!({"q": "x", "n": 3.0}))]), "pass", 1.0),
            (
                json!({"strict_type_check": true}),
                json!([f("grep", json!({"q": "x", "n": 3.0}))]),
                "pass",
                0.667,
            ),
            (json!({}), json!([f("grep", json!({"q": "x", "n": 3.5}))]), "pass", 0.667),
            // An undefined function fails, however right the rest is.
            (json!({}), json!([f("grep", json!({"q": "x"})), f("other", json!({}))]), "fail", 0.75),
            (json!({}), json!([f("tick", json!({}))]), "pass", 1.0),
            (json!({}), json!([f("tick", json!({"a": 1}))]), "fail", 0.0),
            (json!({}), json!(["grep('x')"]), "fail", 0.0),
        ] {
            let mut config = json!({"function_definitions": definitions()});
            config.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            let (word, got, _) = answer(ID, config, &made, &json!(null));
            assert_eq!((word, got), (verdict, Some(score)), "{more} {made}");
        }
    }

    #[test]
    fn nothing_to_validate() {
        let config = json!({"function_definitions": definitions()});
        for (gold, verdict) in [
            (json!([]), Verdict::Pass),
            (json!(null), Verdict::Unknown(Cause::MissingEvidence)),
            (f("grep", json!({})), Verdict::Unknown(Cause::MissingEvidence)),
        ] {
            let (_, _, outcome) = answer(ID, config.clone(), &json!("no"), &gold);
            assert_eq!(outcome.verdict, verdict, "{gold}");
        }
    }

    #[test]
    fn where_definitions_come_from() {
        let row = |key: &str, value: Value| {
            json!({"id": 1, "output": f("grep", json!({"q": "x"})), key: value}).to_string()
        };
        for key in ["function_definitions", "tools"] {
            assert_eq!(grade(ID, json!({}), &row(key, definitions())).verdict, Verdict::Pass);
        }
        for (trace, cause, says) in [
            (row("metadata", json!({})), Cause::MissingEvidence, "no definitions"),
            (row("tools", json!([])), Cause::MissingEvidence, "empty"),
            (
                row("tools", json!([{"name": "grep", "parameters": null}])),
                Cause::MissingEvidence,
                "not recorded",
            ),
            (
                row("tools", json!([{"name": "grep", "parameters": 3}])),
                Cause::Configuration,
                "neither",
            ),
            (
                row("tools", json!([{"name": "grep", "parameters": {"$ref": "http://x/y"}}])),
                Cause::Configuration,
                "does not point into",
            ),
        ] {
            let outcome = grade(ID, json!({}), &trace);
            assert_eq!(outcome.verdict, Verdict::Unknown(cause), "{}", outcome.reason.raw());
            assert!(outcome.reason.raw().contains(says), "{}", outcome.reason.raw());
        }
        let config =
            json!({"function_definitions": [{"name": "f", "parameters": {"type": "odd"}}]});
        assert!(complaints(ID, &config).join("").contains("unknown type \"odd\""));
    }

    #[test]
    fn what_is_wrong_is_said() {
        let config = json!({"function_definitions": definitions()});
        let made = json!([f("grep", json!({"q": "x"})), f("grep", json!({"mode": "z"}))]);
        let (_, _, outcome) = answer(ID, config, &made, &json!(null));
        assert_eq!(outcome.reason, "4 of 6 checks hold, 1 of 2 calls have a mistake");
        let why = outcome.parts[1].reason.as_ref().map(|text| text.raw()).unwrap();
        assert!(why.starts_with("q is missing; mode "), "{why}");
        assert_eq!(outcome.evidence[0].call.as_ref().unwrap().index, 1);
        assert_eq!(outcome.metrics["failed"], 2);
    }
}
