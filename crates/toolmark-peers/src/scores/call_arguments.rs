//! `call-arguments`: checks the arguments of one call of a tool.

use super::calls::made;
use super::question::build;
use crate::reading::{ReadingQuestion, count};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde_json::{Map, Value};
use toolmark_config::{Node, Problem};
use toolmark_grade::{GraderInfo, Taxonomy, schema_of};
use toolmark_match::Mention;
use toolmark_outcome::{
    Cause, Evidence, EvidenceRole, NumberRules, Outcome, Profile, Subject, equal, excerpt,
};
use toolmark_trace::Fact;

const PROFILES: &[Profile] = &[Profile::PydanticEvals];

/// Arguments required in one call of a tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "CallArgumentsConfig")]
struct CallArgumentsConfig {
    /// Name of the tool.
    #[serde(alias = "tool_name")]
    tool: String,
    /// Required arguments.
    #[serde(alias = "expected_arguments")]
    args: Map<String, Value>,
    /// `subset` (the default): the given arguments must be present; `exact`: no others are allowed.
    #[serde(default, alias = "match_mode")]
    mode: MatchMode,
    /// Call of the tool to check: `first` (the default), `last`, or an index from 0.
    #[serde(default)]
    #[schemars(schema_with = "occurrence_schema")]
    occurrence: Option<Node>,
    /// Whether failed calls count.
    #[serde(default)]
    include_failed: bool,
}

/// Comparison mode for arguments.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum MatchMode {
    /// The given arguments must be present.
    #[default]
    Subset,
    /// The arguments must be exactly the given ones.
    Exact,
}

fn occurrence_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"anyOf": [{"enum": ["first", "last"]}, {"type": "integer", "minimum": 0}]})
}

pub(crate) static INFO: GraderInfo = GraderInfo {
    id: "call-arguments",
    aliases: &["call_arguments"],
    origin: "toolmark",
    summary: "checks whether a call of a tool had these arguments",
    docs: "Passes if one call of `tool` had these `args`. `occurrence` says which: `first` (the default), `last`, or a number \
from 0. Failed calls are skipped, unless `include_failed` is set. With `mode: subset` (the default) every given key \
must be there with an equal value; `exact` allows no others. 1 equals 1.0, true does not equal 1. Arguments that the \
trace does not record are unknown.

`trajectory:tool-args-match` asks whether any call has them.

The profile `pydantic-evals` (2.62.0, ArgumentCorrectness) takes true for 1, and arguments that are not recorded fail.",
    example: "type: call-arguments\nconfig:\n  tool: book\n  args: {seat: 12A}\n  occurrence: last",
    taxonomy: Taxonomy::EXPECTED,
    profiles: PROFILES,
    schema: schema_of::<CallArgumentsConfig>,
    build: |building| {
        let config = building.read::<CallArgumentsConfig>()?;
        let occurrence = match &config.occurrence {
            None => Some(Occurrence::First),
            Some(node) => match (node.as_str(), node.as_f64()) {
                (Some("first"), _) => Some(Occurrence::First),
                (Some("last"), _) => Some(Occurrence::Last),
                (None, Some(at)) if at >= 0.0 && at.fract() == 0.0 => Some(Occurrence::At(at as usize)),
                _ => {
                    let message = "occurrence must be first, last or a number from 0";
                    building.problems.push(Problem::error("invalid-value", message).at(node.span));
                    None
                }
            },
        }?;
        let exact = config.mode == MatchMode::Exact;
        let question = CallArguments {
            tool: config.tool,
            args: config.args,
            exact,
            occurrence,
            include_failed: config.include_failed,
        };
        build(building, PROFILES, question)
    },
};

#[derive(Debug, Clone, Copy)]
enum Occurrence {
    First,
    Last,
    At(usize),
}

struct CallArguments {
    tool: String,
    args: Map<String, Value>,
    exact: bool,
    occurrence: Occurrence,
    include_failed: bool,
}

impl CallArguments {
    /// Returns the differences between the arguments of the call and the required ones.
    fn differences(&self, had: &Map<String, Value>, numbers: NumberRules) -> Vec<String> {
        let mut wrong = Vec::new();
        for (key, wanted) in &self.args {
            match had.get(key) {
                None => wrong.push(format!("{key} is missing")),
                Some(value) if !equal(wanted, value, numbers) => wrong.push(format!(
                    "{key} is {} instead of {}",
                    excerpt(&value.to_string()),
                    excerpt(&wanted.to_string())
                )),
                Some(_) => {}
            }
        }
        let extra = had.keys().filter(|key| self.exact && !self.args.contains_key(*key));
        wrong.extend(extra.map(|key| format!("{key} was not expected")));
        wrong
    }
}

impl ReadingQuestion for CallArguments {
    fn answer(&self, subject: &Subject<'_>, profile: Profile) -> Outcome {
        let view = &subject.view;
        let made = made(view);
        let of_tool: Vec<_> = made
            .iter()
            .filter(|call| call.name == self.tool && (self.include_failed || !call.failed))
            .collect();
        let found = match self.occurrence {
            Occurrence::First => of_tool.first(),
            Occurrence::Last => of_tool.last(),
            Occurrence::At(at) => of_tool.get(at),
        };
        let Some(call) = found else {
            let reason = format!("{}: {}", self.tool, count(of_tool.len(), "call"));
            return Outcome::binary(false, reason.clone())
                .with_evidence([Evidence::absence(reason)]);
        };
        let peer = profile == Profile::PydanticEvals;
        let Some(Value::Object(had)) = &call.args else {
            if !peer && call.args.is_none() && view.trajectory().fidelity.lacks(Fact::Arguments) {
                let why = "the trace does not record the arguments of calls";
                return Outcome::unknown(Cause::MissingEvidence, why);
            }
            let reason = format!("the call of {} has no named arguments", self.tool);
            let holds = !peer && self.args.is_empty() && call.args.is_none();
            let role = if holds { EvidenceRole::Matched } else { EvidenceRole::Mismatch };
            let evidence = view.evidence(role, reason.clone(), call.seen);
            return Outcome::binary(holds, reason).with_evidence([evidence]);
        };
        let wrong =
            self.differences(had, if peer { NumberRules::Python } else { NumberRules::Json });
        let (role, reason) = match wrong.is_empty() {
            true => (EvidenceRole::Matched, format!("{} has the arguments", self.tool)),
            false => (EvidenceRole::Mismatch, format!("{}: {}", self.tool, wrong.join("; "))),
        };
        let evidence = view.evidence(role, reason.clone(), call.seen);
        Outcome::binary(wrong.is_empty(), reason).with_evidence([evidence])
    }

    fn mentions(&self) -> Vec<Mention> {
        vec![Mention::exact(&self.tool)]
    }
}

#[cfg(test)]
mod tests {
    use crate::scores::testing::{call, own, theirs};
    use crate::testing::complaints;
    use serde_json::json;
    use toolmark_outcome::Profile::PydanticEvals;

    const ID: &str = "call-arguments";

    #[test]
    fn one_call() {
        let made = json!([
            {"tool": "s", "input": {"q": "z"}, "status": "error"},
            call("s", json!({"q": "x", "n": 1})),
            call("s", json!({"q": "y"})),
        ]);
        for (config, ours, pydantic) in [
            (json!({"args": {"q": "x"}}), "pass", "pass"),
            (json!({"args": {"q": "x"}, "mode": "exact"}), "fail", "fail"),
            (json!({"args": {"q": "y"}, "occurrence": "last"}), "pass", "pass"),
            (json!({"args": {"q": "y"}, "occurrence": 1}), "pass", "pass"),
            (json!({"args": {"q": "y"}, "occurrence": 2}), "fail", "fail"),
            (json!({"args": {"q": "z"}, "include_failed": true}), "pass", "pass"),
            (json!({"args": {"n": true}}), "fail", "pass"),
        ] {
            let mut config = config;
            config["tool"] = json!("s");
            assert_eq!(own(ID, config.clone(), &made).verdict.word(), ours, "{config}");
            let theirs = theirs(ID, PydanticEvals, config.clone(), &made);
            assert_eq!(theirs.verdict.word(), pydantic, "{config}");
        }
        let config = json!({"tool": "s", "args": {}, "occurrence": -1});
        assert!(complaints(ID, &config).join("").contains("first, last"));
    }
}
