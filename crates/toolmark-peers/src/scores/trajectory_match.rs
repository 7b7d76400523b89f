//! `trajectory-match`: scores how closely the calls match a reference trajectory.

use super::calls::{self, ScoredCall};
use super::own::TOOLMARK;
use super::question::{self, build, check_share};
use super::system::{
    ArgsMatch, ComparisonMode, ModeInput, NoAnswer, Override, System, SystemOptions,
};
use crate::reading::ReadingQuestion;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde_json::{Map, Value};
use toolmark_base::SortedMap;
use toolmark_config::{Node, Problem, Spanned, did_you_mean, quoted};
use toolmark_grade::{GraderInfo, Taxonomy, schema_of};
use toolmark_match::{Building, Mention};
use toolmark_outcome::{Cause, Outcome, Profile, Subject, TrajectoryView};
use toolmark_trace::Fact;

#[cfg(test)]
mod tests;

/// All systems with their own reading.
pub(crate) static SYSTEMS: &[&System] = &[
    &TOOLMARK,
    &crate::agentevals::graders::SYSTEM,
    &crate::openevals::graders::SYSTEM,
    &crate::adk::graders::SYSTEM,
    &crate::deepeval::graders::tool_correctness::SYSTEM,
    &crate::ragas::graders::SYSTEM,
    &crate::strands::graders::SYSTEM,
    &crate::azure::graders::SYSTEM,
    &crate::mlflow::graders::SYSTEM,
    &crate::pydantic_evals::graders::SYSTEM,
    &crate::mastra::graders::comparison::SYSTEM,
    &crate::uipath::graders::SYSTEM,
    &crate::bfcl::graders::SYSTEM,
    &crate::futureagi::graders::platform::SYSTEM,
];

const PROFILES: &[Profile] = &[
    Profile::AgentEvals,
    Profile::OpenEvals,
    Profile::Adk,
    Profile::DeepEval,
    Profile::Ragas,
    Profile::Strands,
    Profile::Azure,
    Profile::Mlflow,
    Profile::PydanticEvals,
    Profile::Mastra,
    Profile::UiPath,
    Profile::Bfcl,
    Profile::FutureAgi,
];

/// Maximum number of compared pairs of expected calls and actual calls.
const MAX_PAIRS: usize = 1 << 24;

/// Keys of a row that may contain the reference.
const ROW_KEYS: [&str; 3] = ["expected", "expected_response", "expected_output"];

/// The reference trajectory, and the comparison settings.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "TrajectoryMatchConfig")]
struct TrajectoryMatchConfig {
    /// Comparison mode: `exact` (the default), `in_order`, `any_order`,
    /// `unordered` or `within`; under a profile, a mode of that system.
    #[serde(default)]
    mode: Option<Spanned<String>>,
    /// Expected calls: names of tools, or maps with `name`, `args`, `output` and
    /// `turn`. An empty list means that no call is expected. By default, those of the row.
    #[serde(default, alias = "expected")]
    #[schemars(schema_with = "reference_schema")]
    reference: Option<Vec<Node>>,
    /// Minimum score; 1 by default, unless the profile has another default.
    #[serde(default)]
    threshold: Option<Spanned<f64>>,
    /// Comparison mode for the arguments of an expected call that has any: `exact` (the
    /// default), `superset` (the call has all expected arguments), `subset` (all arguments of the
    /// call are expected) or `ignore`.
    #[serde(default, alias = "tool_args_match_mode")]
    args_match: Option<ArgsWord>,
    /// Comparison mode per tool: one of the modes of `args_match`, or a list of dotted paths that
    /// must be equal.
    #[serde(default, alias = "tool_args_match_overrides")]
    #[schemars(schema_with = "overrides_schema")]
    args_match_overrides: Option<Node>,
    /// `adk`: whether arguments are ignored.
    #[serde(default)]
    ignore_args: Option<bool>,
    /// `adk`: whether every user turn is compared separately, by the `turn` of the
    /// expected calls (from 0).
    #[serde(default)]
    invocations: Option<bool>,
    /// `deepeval`: what is compared in addition to names.
    #[serde(default)]
    evaluation_params: Option<Vec<EvaluationParam>>,
    /// `deepeval`: whether any score below 1 becomes 0. `uipath`: whether only a full match counts.
    #[serde(default, alias = "strict_mode")]
    strict: Option<bool>,
    /// `uipath`, mode `args`: whether the expected arguments are a part of those of the call.
    /// Has no effect on the comparison.
    #[serde(default)]
    subset: Option<bool>,
    /// `azure`: parameters of every tool.
    #[serde(default)]
    params: Option<Map<String, Value>>,
    /// `pydantic-evals`, mode `tool_correctness`: whether other tools may be called.
    #[serde(default)]
    allow_extra: Option<bool>,
    /// `pydantic-evals`: whether failed calls count.
    #[serde(default)]
    include_failed: Option<bool>,
    /// `mastra`: whether a tool may be called more than once. True by default.
    #[serde(default, alias = "allowRepeatedSteps")]
    allow_repeated: Option<bool>,
    /// `bfcl`: declarations of the functions.
    #[serde(default)]
    functions: Option<Vec<Value>>,
    /// `bfcl`: whether dots in declared names become underscores. True by default.
    #[serde(default)]
    underscore_to_dot: Option<bool>,
}

/// Comparison mode for arguments.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum ArgsWord {
    /// The arguments are the same.
    Exact,
    /// Arguments are ignored.
    Ignore,
    /// The call has all expected arguments.
    Superset,
    /// All arguments of the call are expected.
    Subset,
}

impl ArgsWord {
    fn rule(self) -> ArgsMatch {
        match self {
            Self::Exact => ArgsMatch::Exact,
            Self::Ignore => ArgsMatch::Ignore,
            Self::Superset => ArgsMatch::Superset,
            Self::Subset => ArgsMatch::Subset,
        }
    }
}

/// Parts of a call that DeepEval compares in addition to names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum EvaluationParam {
    /// The arguments.
    InputParameters,
    /// The output.
    Output,
}

fn reference_schema(generator: &mut SchemaGenerator) -> Schema {
    calls::list_schema(generator)
}

fn overrides_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "additionalProperties": {
            "anyOf": [
                {"enum": ["exact", "ignore", "superset", "subset"]},
                {"type": "array", "items": {"type": "string", "minLength": 1}},
            ]
        },
    })
}

pub(crate) static INFO: GraderInfo = GraderInfo {
    id: "trajectory-match",
    aliases: &["trajectory_match"],
    origin: "toolmark",
    summary: "scores how close the calls are to a reference trajectory",
    docs: DOCS,
    example: "type: trajectory-match\nconfig:\n  mode: in_order\n  reference:\n    - search\n    - {name: book, args: {id: a}}",
    taxonomy: Taxonomy::EXPECTED,
    profiles: PROFILES,
    schema: schema_of::<TrajectoryMatchConfig>,
    build: |building| {
        let question = read(building)?;
        build(building, PROFILES, question)
    },
};

const DOCS: &str = "Scores how close the calls are to a reference trajectory. The reference is `reference`, else what the row \
expects (`expected`, `expected_response`, `expected_output`). `[]` means that no call is right; where nothing is \
said, the verdict is unknown.

| mode | passes where | score |
|---|---|---|
| `exact` | exactly the expected calls were made, in this order | pairs / larger side |
| `in_order` | they were made in this order; others may come between | pairs / expected |
| `any_order` | they were made in any order; others may be made too | pairs / expected |
| `unordered` | exactly the expected calls were made, in any order | pairs / larger side |
| `within` | every call that was made is an expected one | pairs / made |

Every call stands for one expected call at most, and as many are paired as can be. Calls of one step have no order. \
A call that failed stands for nothing, but is a call that was made. Arguments are compared where an expected call has \
some: as a whole, unless `args_match` (or `args_match_overrides` for one tool) says otherwise; 1 equals 1.0, true does \
not equal 1. Where only arguments that the trace does not record could tell, the verdict is unknown. `threshold` lets \
a lower score pass.

Other systems ask the same and answer differently. A profile gives their number, quirks included; what they raise as \
an error is unknown. Their own words for modes and options are understood, and toolmark's where they have the mode.

| profile | version | modes | what is particular |
|---|---|---|---|
| `agentevals` | 0.0.9 | `strict`, `unordered`, `subset`, `superset` | greedy pairs; `strict` compares steps; in `subset` the roles of the arguments are exchanged, in `unordered` both directions must hold; a path absent on both sides is equal; true equals 1 |
| `openevals` | 0.2.2 | the same | arguments keep their roles; an absent path is never equal |
| `adk` | google-adk 2.13.0 | `EXACT`, `IN_ORDER`, `ANY_ORDER` | 1 or 0 for every turn (`invocations: true`), then the mean; extras are free outside `EXACT`; no arguments differ from `{}` |
| `deepeval` | 4.3.1 | `default`, `exact`, `ordering` | names only unless `evaluation_params`; in `default` the second of two equal calls is not seen; passes from 0.5 |
| `ragas` | 0.4.3 | `accuracy_strict`, `accuracy_flexible`, `f1` | values are compared as text, extra arguments are free; `f1` is over sets, and 0 where nothing was expected and nothing called |
| `strands` | 1.7.0 | `exact`, `in_order`, `any_order` | names; calls after the last are not seen in `exact`; sets in `any_order` |
| `azure` | azure-ai-evaluation 1.18.10 | `exact_match`, `in_order_match`, `any_order_match` | names, or one set of `params` for every tool, compared as text; an empty reference is an error |
| `mlflow` | 3.17.2 | `exact_ordered`, `exact_unordered` | arguments as JSON text (1 and 1.0 differ), not compared at all if one expected call has none; sets in `exact_unordered`; an empty reference is an error |
| `pydantic-evals` | 2.62.0 | `in_order`, `exact`, `any_order`, `tool_correctness` | names; F1 of the longest common sequence or of the multisets |
| `mastra` | 1.10.2 | `relaxed`, `strict`, `unordered` | `strict` is graded; arguments and results as JSON text, so the order of keys matters; two decimals |
| `uipath` | 2.14.44 | `order`, `args`, `output` | names without the characters a tool name may not have; extra arguments are free |
| `bfcl` | bfcl-eval 2026.3.23 | `simple`, `multiple`, `parallel`, `irrelevance`, `relevance` | reference arguments are lists of accepted values, types are those of `functions`; greedy in `parallel` |
| `futureagi` | platform, August 2026 | `strict`, `unordered`, `subset`, `superset`, `tool_call_accuracy` | names; common prefix in `strict`, sets elsewhere; `subset` asks that the expected ones were called; passes from 0.5 |";

/// The systems that answer a question, with the mode of each.
struct TrajectoryMatch {
    reference: Option<Vec<ScoredCall>>,
    options: SystemOptions,
    asked: Vec<(&'static System, &'static ComparisonMode)>,
}

fn system(profile: Profile) -> &'static System {
    SYSTEMS.iter().copied().find(|system| system.profile == profile).unwrap_or(&TOOLMARK)
}

fn read(building: &mut Building<'_>) -> Option<TrajectoryMatch> {
    let config = building.read::<TrajectoryMatchConfig>()?;
    let before = building.problems.len();
    let chosen = system(building.profile);
    let mode = mode(chosen, config.mode.as_ref(), building);
    check_share(building, "threshold", config.threshold.as_ref());
    let mut reference = None;
    if let Some(list) = &config.reference {
        // All of them are looked at, so that all mistakes are reported.
        let calls: Vec<_> =
            list.iter().map(|node| calls::expected(node, building.problems)).collect();
        reference = calls.into_iter().collect::<Option<Vec<_>>>();
    }
    let overrides = overrides(config.args_match_overrides.as_ref(), building.problems);
    warn_of_idle_keys(chosen, building);
    let mode = mode?;
    let is_empty = reference.as_ref().is_some_and(Vec::is_empty);
    if chosen.profile == Profile::Toolmark && is_empty && mode.word.ends_with("_order") {
        let message = format!("nothing is expected, so that {} always passes", mode.word);
        let problem = Problem::error("always-passes", message).at(building.config.span);
        building.problems.push(problem.help("mode: exact asks that no call was made"));
    }
    if building.problems[before..].iter().any(Problem::is_error) {
        return None;
    }
    // UiPath's two ways to compare arguments give the same answer.
    let _ = config.subset;
    let params = config.evaluation_params.unwrap_or_default();
    let ignores = config.ignore_args == Some(true) && chosen.options.contains(&"ignore_args");
    let rule = config.args_match.map_or(ArgsMatch::Exact, ArgsWord::rule);
    let options = SystemOptions {
        threshold: config.threshold.map(|threshold| threshold.value),
        args_match: if ignores { ArgsMatch::Ignore } else { rule },
        overrides,
        invocations: config.invocations.unwrap_or(false),
        compare_args: params.contains(&EvaluationParam::InputParameters),
        compare_output: params.contains(&EvaluationParam::Output),
        strict: config.strict.unwrap_or(false),
        params: config.params,
        allow_extra: config.allow_extra.unwrap_or(false),
        include_failed: config.include_failed.unwrap_or(false),
        allow_repeated: config.allow_repeated.unwrap_or(true),
        functions: config.functions.unwrap_or_default(),
        underscore_to_dot: config.underscore_to_dot.unwrap_or(true),
    };
    let mut asked = vec![(chosen, mode)];
    // toolmark's own mode that asks the same question, to say where it differs.
    asked.extend(mode.own.and_then(|word| TOOLMARK.mode(word)).map(|own| (&TOOLMARK, own)));
    Some(TrajectoryMatch { reference, options, asked })
}

fn mode(
    system: &'static System,
    word: Option<&Spanned<String>>,
    building: &mut Building<'_>,
) -> Option<&'static ComparisonMode> {
    let Some(word) = word else { return system.modes.first() };
    let found = system.mode(&word.value);
    if found.is_none() {
        let words: Vec<&str> = system.modes.iter().map(|mode| mode.word).collect();
        let whose = match system.profile {
            Profile::Toolmark => String::new(),
            profile => format!(" of {profile}"),
        };
        let message = format!("unknown mode {}{whose}", quoted(&word.value));
        let problem = Problem::error("unknown-mode", message).at(word.span);
        building.problems.push(match did_you_mean(&word.value, words.iter().copied()) {
            Some(near) => problem.help(format!("did you mean {}?", quoted(near))),
            None => problem.help(format!("modes are {}", words.join(", "))),
        });
    }
    found
}

fn overrides(node: Option<&Node>, problems: &mut Vec<Problem>) -> SortedMap<String, Override> {
    let mut all = SortedMap::new();
    let Some(node) = node else { return all };
    if node.as_map().is_none() {
        let message = format!("expected a map of tools, found {}", node.word());
        problems.push(Problem::error("wrong-type", message).at(node.span));
    }
    for entry in node.entries() {
        let word = match entry.value.as_str() {
            Some("exact") => Some(ArgsMatch::Exact),
            Some("ignore") => Some(ArgsMatch::Ignore),
            Some("superset") => Some(ArgsMatch::Superset),
            Some("subset") => Some(ArgsMatch::Subset),
            _ => None,
        };
        let paths = entry.value.as_list().and_then(|items| {
            items.iter().map(|item| item.as_str().map(str::to_owned)).collect::<Option<Vec<_>>>()
        });
        match (word, paths) {
            (Some(mode), _) => drop(all.insert(entry.key.to_string(), Override::Mode(mode))),
            // An empty list says nothing, to the systems that have such lists as well.
            (_, Some(paths)) if paths.is_empty() => {}
            (_, Some(paths)) => drop(all.insert(entry.key.to_string(), Override::Paths(paths))),
            _ => {
                let message = "expected exact, ignore, superset, subset or a list of paths";
                problems.push(Problem::error("invalid-value", message).at(entry.value.span));
            }
        }
    }
    all
}

/// Warns about keys without effect under the profile. The configuration has the keys of all
/// systems.
fn warn_of_idle_keys(system: &System, building: &mut Building<'_>) {
    const ALWAYS: [&str; 4] = ["mode", "reference", "expected", "threshold"];
    let canonical = |key: &str| match key {
        "tool_args_match_mode" => "args_match".to_owned(),
        "tool_args_match_overrides" => "args_match_overrides".to_owned(),
        "strict_mode" => "strict".to_owned(),
        "allowRepeatedSteps" => "allow_repeated".to_owned(),
        key => key.to_owned(),
    };
    let is_idle =
        |key: &str| !ALWAYS.contains(&key) && !system.options.contains(&canonical(key).as_str());
    question::warn_of_idle_keys(building, system.profile, is_idle);
}

fn object(value: Option<&Value>) -> Option<&Map<String, Value>> {
    value.and_then(Value::as_object)
}

/// Returns the row from which a trajectory was read.
fn row<'a>(view: &TrajectoryView<'a>) -> Option<&'a Map<String, Value>> {
    object(view.trajectory().stated.row.as_ref().and_then(|row| row.parsed()))
}

impl TrajectoryMatch {
    /// Returns the expected calls: of the configuration, otherwise of the row, otherwise of the
    /// case.
    fn expected(&self, subject: &Subject<'_>) -> Result<Vec<ScoredCall>, NoAnswer> {
        if let Some(reference) = &self.reference {
            return Ok(reference.clone());
        }
        let context = subject.context;
        let of_row = |row: Option<&Map<String, Value>>| {
            let row = row?;
            ROW_KEYS.iter().find_map(|key| row.get(*key).filter(|value| !value.is_null())).cloned()
        };
        let written = of_row(row(&subject.view))
            .or_else(|| of_row(object(context.row.as_deref())))
            .or_else(|| context.expected_output.clone().filter(|value| !value.is_null()));
        let Some(written) = written else {
            let why = "nothing says which calls are expected: there is no \"reference\"";
            return Err(NoAnswer::Unknown(Cause::MissingEvidence, why.to_owned()));
        };
        calls::from_value(&written).map_err(|what| {
            let why = format!("cannot parse the expected calls: {what}");
            NoAnswer::Unknown(Cause::MissingEvidence, why)
        })
    }

    fn score(&self, subject: &Subject<'_>, profile: Profile) -> Result<Outcome, NoAnswer> {
        let view = &subject.view;
        let (system, mode) =
            self.asked.iter().find(|(system, _)| system.profile == profile).copied().ok_or_else(
                || {
                    let why = "toolmark has no mode that asks this".to_owned();
                    NoAnswer::Unknown(Cause::Configuration, why)
                },
            )?;
        let row = row(view).filter(|_| self.reference.is_none());
        // A system that reads rows itself need not understand them as calls.
        let expected = match self.expected(subject) {
            Err(_) if row.is_some() && profile == Profile::FutureAgi => Vec::new(),
            expected => expected?,
        };
        let made = calls::made(view);
        if expected.len().saturating_mul(made.len()) > MAX_PAIRS {
            return Err(toolmark_match::engine::TooLarge.into());
        }
        let asked = ModeInput {
            options: &self.options,
            expected: &expected,
            made: &made,
            turns: calls::turns(view),
            has_arguments: !view.trajectory().fidelity.lacks(Fact::Arguments),
            row,
        };
        let answer = (mode.score)(&asked)?;
        let threshold = self.options.threshold.unwrap_or(system.threshold);
        Ok(question::outcome(view, &expected, &made, answer, threshold))
    }
}

impl ReadingQuestion for TrajectoryMatch {
    fn answer(&self, subject: &Subject<'_>, profile: Profile) -> Outcome {
        match self.score(subject, profile) {
            Ok(outcome) => outcome,
            Err(NoAnswer::Unknown(cause, why)) => Outcome::unknown(cause, why),
            Err(NoAnswer::Raised(why)) => {
                let reason = format!("{} raises an error: {why}", system(profile).version);
                Outcome::unknown(Cause::Configuration, reason).with_metric("error", why)
            }
        }
    }

    fn mentions(&self) -> Vec<Mention> {
        let mut names: Vec<&str> =
            self.reference.iter().flatten().map(|call| call.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        names.into_iter().map(Mention::exact).collect()
    }

    fn forbids(&self) -> bool {
        let may_have_more = |(system, mode): &(&System, &ComparisonMode)| {
            system.profile == Profile::Toolmark && mode.word.ends_with("_order")
        };
        !self.asked.first().is_some_and(may_have_more)
    }
}
