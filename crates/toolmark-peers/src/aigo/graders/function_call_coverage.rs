//! `function_call_coverage`: checks that all required function calls were made.
//!
//! Every required call takes one call of the trace, and no call is used
//! twice. The six metrics never depend on order; the passed flag does in `in_order` mode.

use super::coverage_report::Sides;
use super::required::{Required, WrittenCalls, required};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::sync::Arc;
use toolmark_base::SortedMap;
use toolmark_config::Node;
use toolmark_grade::{Grader, GraderInfo, Taxonomy, schema_of};
use toolmark_match::Mention;
use toolmark_match::engine::{Grid, align, assign};
use toolmark_outcome::Profile;
use toolmark_outcome::Subject;
use toolmark_outcome::TrajectoryView;
use toolmark_outcome::{Cause, Contrast, GraderMetrics, Outcome, Verdict};
use toolmark_outcome::{NumberRules, equal};
use toolmark_trace::{Call, Fact};

/// Maximum number of pairs of call and requirement.
const MAX_PAIRS: usize = 1 << 26;

/// Required function calls.
#[derive(Debug, Deserialize, JsonSchema)]
struct FunctionCallCoverageConfig {
    /// Required calls: names, or objects with `name` and `arguments`. A
    /// name that is listed twice must be called twice.
    #[schemars(with = "WrittenCalls")]
    function_calls: Node,
    /// Whether the calls must be made in the order of the list.
    #[serde(default)]
    mode: OrderMode,
}

/// Whether order counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum OrderMode {
    /// The calls may come in any order.
    #[default]
    AnyOrder,
    /// The calls must come in the order of the list; others may come between.
    InOrder,
}

pub(crate) static FUNCTION_CALL_COVERAGE: GraderInfo = GraderInfo {
    id: "function_call_coverage",
    aliases: &[],
    origin: "aigo",
    summary: "checks that all required function calls were made",
    docs: "\
Checks whether the agent made every call of `function_calls`. An entry is the name of a function, or an \
object with `name` and `arguments`; arguments are compared as a whole. Every entry takes one call, \
and no call is taken twice: a name that is required twice must be called twice.

With `mode: in_order` the calls must also come in the order of the list, with other calls allowed \
between them.

`metrics` has

- `all_required_calls_made`: 1 or 0, which is also the score and decides the verdict,
- `required_calls_coverage`: the share of required calls that were made, 1 where none is required,
- `num_required_calls_made`, `num_required_calls_not_made`, `num_required_calls_total`,
- `num_unrequired_calls`: calls that were not required, surplus repetitions included.

Only the first depends on order. A call counts as made however it ended; a note says so where one \
failed. An empty list is met by every run.

Profile `toolmark` finds the assignment that meets most entries, compares numbers as JSON does \
(1 = 1.0, true ≠ 1), takes a call without arguments for one with an empty object, and answers \
unknown where only arguments the trace does not record could tell. Profile `aigo` goes through the \
entries with arguments first, then the others, gives each the first free call that fits, and takes \
true for 1.",
    example: "\
type: function_call_coverage
config:
  function_calls: [search, calculator]
  mode: in_order",
    taxonomy: Taxonomy::EXPECTED,
    profiles: &[Profile::AiGo],
    schema: schema_of::<FunctionCallCoverageConfig>,
    build: |building| {
        let config = building.read::<FunctionCallCoverageConfig>()?;
        let required = required(&config.function_calls, building)?;
        Some(Arc::new(Coverage {
            required,
            mode: config.mode,
            profile: building.profile,
            contrast: building.contrast,
        }))
    },
};

struct Coverage {
    required: Vec<Required>,
    mode: OrderMode,
    profile: Profile,
    contrast: Option<Profile>,
}

/// Whether a call meets a requirement.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RequirementFit {
    Yes,
    No,
    /// The trace does not record the arguments needed to decide.
    Open,
}

/// Result of one reading of the requirements.
pub(super) struct CoverageReading {
    /// Call assigned to each requirement, by index in the view.
    pub(super) of_item: Vec<Option<usize>>,
    /// Assigned calls in order, if order counts.
    pub(super) ordered: Option<Vec<Option<usize>>>,
    /// Whether all calls were made, in order if order counts.
    pub(super) all: bool,
    /// Number of calls in the view.
    pub(super) calls: usize,
}

impl CoverageReading {
    fn made(&self) -> usize {
        self.of_item.iter().flatten().count()
    }

    fn metrics(&self) -> GraderMetrics {
        let (made, total) = (self.made(), self.of_item.len());
        let coverage = if total == 0 { 1.0 } else { made as f64 / total as f64 };
        let mut metrics = GraderMetrics::new();
        let mut insert = |name: &str, value: Value| metrics.insert(name.to_owned(), value);
        insert("all_required_calls_made", Value::from(if self.all { 1.0 } else { 0.0 }));
        insert("required_calls_coverage", Value::from(coverage));
        insert("num_required_calls_made", Value::from(made));
        insert("num_required_calls_not_made", Value::from(total - made));
        insert("num_unrequired_calls", Value::from(self.calls - made));
        insert("num_required_calls_total", Value::from(total));
        metrics
    }
}

impl Grader for Coverage {
    fn mentions(&self) -> Vec<Mention> {
        self.required.iter().map(|required| Mention::exact(&required.name)).collect()
    }

    fn forbids(&self) -> bool {
        false
    }

    fn grade(&self, subject: &Subject<'_>) -> Outcome {
        let view = &subject.view;
        let calls = view.calls();
        if self.required.len().saturating_mul(calls.len()) > MAX_PAIRS {
            let reason = format!(
                "{} required calls against {} calls are too many to compare",
                self.required.len(),
                calls.len()
            );
            return Outcome::unknown(Cause::Limit, reason);
        }
        let reading = match self.profile {
            Profile::AiGo => self.as_aigo(view),
            _ => {
                let (sure, open) = self.grids(view);
                let reading = self.read(&sure);
                if !reading.all && !open.is_empty() {
                    let mut possible = sure;
                    possible.include(&open);
                    if self.read(&possible).all {
                        return Outcome::unknown(
                            Cause::MissingEvidence,
                            "the trace does not record the arguments of calls, and the required \
                             calls ask for some",
                        )
                        .with_metric("num_required_calls_total", self.required.len());
                    }
                }
                reading
            }
        };
        let mut outcome = self.outcome(&reading, view);
        if self.contrast == Some(Profile::AiGo) && self.profile != Profile::AiGo {
            outcome.contrast = contrast(&reading, &self.as_aigo(view));
        }
        outcome
    }
}

impl Coverage {
    /// Returns grids of the calls that meet, and that may meet, each requirement.
    fn grids(&self, view: &TrajectoryView<'_>) -> (Grid, Grid) {
        let (calls, items) = (view.calls(), &self.required);
        let mut by_name: SortedMap<&str, Vec<usize>> = SortedMap::new();
        for (item, required) in items.iter().enumerate() {
            by_name.entry(&required.name).or_default().push(item);
        }
        let lacks_arguments = view.trajectory().fidelity.lacks(Fact::Arguments);
        let mut sure = Grid::new(calls.len(), items.len());
        let mut open = Grid::new(calls.len(), items.len());
        for (call, seen) in calls.iter().enumerate() {
            for &item in by_name.get(&*seen.call.name.full()).into_iter().flatten() {
                match fit(items[item].arguments.as_ref(), seen.call, lacks_arguments) {
                    RequirementFit::Yes => sure.set(call, item),
                    RequirementFit::Open => open.set(call, item),
                    RequirementFit::No => {}
                }
            }
        }
        (sure, open)
    }

    fn read(&self, grid: &Grid) -> CoverageReading {
        let of_item = assign(grid);
        let complete = of_item.iter().all(Option::is_some);
        // The grid is small enough: its pairs were counted.
        let ordered = match self.mode {
            OrderMode::AnyOrder => None,
            OrderMode::InOrder => align(grid).ok(),
        };
        let all = match (&ordered, self.mode) {
            (Some(ordered), _) => ordered.iter().all(Option::is_some),
            (None, OrderMode::AnyOrder) => complete,
            (None, OrderMode::InOrder) => false,
        };
        CoverageReading { of_item, ordered, all, calls: grid.calls() }
    }

    /// Counts as AI GO! does: entries with arguments first, each taking the first
    /// free matching call, with the order checked separately.
    fn as_aigo(&self, view: &TrajectoryView<'_>) -> CoverageReading {
        let calls = view.calls();
        let fits = |item: usize, call: usize| {
            let (required, call) = (&self.required[item], calls[call].call);
            *call.name.full() == *required.name
                && required.arguments.as_ref().is_none_or(|expected| {
                    let made = call.args.as_ref().and_then(|args| args.parsed());
                    made.is_some_and(|made| equal(expected, made, NumberRules::Python))
                })
        };
        let mut used = vec![false; calls.len()];
        let mut of_item = vec![None; self.required.len()];
        let has_arguments = |item: &usize| self.required[*item].arguments.is_some();
        let items = 0..self.required.len();
        let bare = items.clone().filter(|item| !has_arguments(item));
        for item in items.clone().filter(has_arguments).chain(bare) {
            let free = (0..calls.len()).find(|&call| !used[call] && fits(item, call));
            if let Some(call) = free {
                used[call] = true;
            }
            of_item[item] = free;
        }
        let mut all = of_item.iter().all(Option::is_some);
        let mut ordered = None;
        if self.mode == OrderMode::InOrder {
            let mut rest = 0..calls.len();
            let scan: Vec<_> = items.map(|item| rest.find(|&call| fits(item, call))).collect();
            all &= scan.iter().all(Option::is_some);
            ordered = Some(scan);
        }
        CoverageReading { of_item, ordered, all, calls: calls.len() }
    }

    fn outcome(&self, reading: &CoverageReading, view: &TrajectoryView<'_>) -> Outcome {
        let (made, total) = (reading.made(), self.required.len());
        let reason = match (reading.all, total, self.mode) {
            (_, 0, _) => "no call is required".to_owned(),
            (true, _, OrderMode::AnyOrder) => format!("all {total} required calls were made"),
            (true, _, OrderMode::InOrder) => {
                format!("all {total} required calls were made, in order")
            }
            (false, _, OrderMode::InOrder) if made == total => {
                format!("all {total} required calls were made, but not in order")
            }
            (false, ..) => {
                let missing = self.required.iter().zip(&reading.of_item);
                let missing = missing.filter(|(_, call)| call.is_none()).map(|(r, _)| r.words());
                let named: Vec<String> = missing.clone().take(5).collect();
                let more = if total - made > named.len() { " and others" } else { "" };
                format!(
                    "{made} of {total} required calls were made; not made: {}{more}",
                    named.join(", ")
                )
            }
        };
        let mut outcome = Outcome::binary(reading.all, reason);
        outcome.metrics = reading.metrics();
        Sides::new(&self.required, reading, view).explain(&mut outcome);
        outcome
    }
}

/// Returns a note if AI GO! counts differently.
fn contrast(own: &CoverageReading, theirs: &CoverageReading) -> Option<Contrast> {
    let (mine, other) = (own.metrics(), theirs.metrics());
    let differ = mine.iter().filter(|(name, value)| other.get(*name) != Some(value));
    let differ: Vec<String> = differ
        .map(|(name, value)| format!("{name} {} instead of {value}", other[name.as_str()]))
        .collect();
    if differ.is_empty() {
        return None;
    }
    Some(Contrast {
        profile: Profile::AiGo,
        verdict: Verdict::of(theirs.all),
        score: Some(if theirs.all { 1.0 } else { 0.0 }),
        reason: format!(
            "AI GO! compares arguments as Python does and counts {}",
            differ.join(", ")
        )
        .into(),
    })
}

/// Compares the arguments of a call.
fn fit(expected: Option<&Value>, call: &Call, lacks_arguments: bool) -> RequirementFit {
    let Some(expected) = expected else { return RequirementFit::Yes };
    let is_empty = expected.as_object().is_some_and(Map::is_empty);
    let fits = match &call.args {
        None if lacks_arguments => return RequirementFit::Open,
        None => is_empty,
        Some(args) => match args.parsed() {
            Some(made) => equal(expected, made, NumberRules::Json),
            None => is_empty && args.raw().trim().is_empty(),
        },
    };
    if fits { RequirementFit::Yes } else { RequirementFit::No }
}

#[cfg(test)]
mod tests {
    use crate::aigo::graders::testing::{grade_as, made, responses};
    use crate::testing::{complaints, grade, vally};
    use serde_json::{Value, json};
    use toolmark_outcome::Profile;
    use toolmark_outcome::RowState;
    use toolmark_outcome::{Cause, Outcome, Verdict};

    const BOTH: [Profile; 2] = [Profile::Toolmark, Profile::AiGo];

    fn coverage(profile: Profile, calls: Value, mode: &str, made: &[(&str, &str)]) -> Outcome {
        let config = json!({"function_calls": calls, "mode": mode});
        grade_as("function_call_coverage", profile, config, &responses(made))
    }

    /// Returns the six metrics in the order of the page.
    fn numbers(outcome: &Outcome) -> Vec<f64> {
        let names = [
            "all_required_calls_made",
            "required_calls_coverage",
            "num_required_calls_made",
            "num_required_calls_not_made",
            "num_unrequired_calls",
            "num_required_calls_total",
        ];
        assert_eq!(outcome.metrics.keys().collect::<Vec<_>>(), names);
        names.iter().map(|name| outcome.metrics[*name].as_f64().unwrap()).collect()
    }

    #[test]
    fn the_table_of_the_page() {
        let required = json!(["search", "calculator"]);
        for (trace, mode, all, made_count, unrequired) in [
            (["search", "calculator"], "any_order", 1.0, 2.0, 0.0),
            (["calculator", "search"], "any_order", 1.0, 2.0, 0.0),
            (["calculator", "search"], "in_order", 0.0, 2.0, 0.0),
            (["search", "lookup"], "any_order", 0.0, 1.0, 1.0),
        ] {
            for profile in BOTH {
                let outcome = coverage(profile, required.clone(), mode, &made(&trace));
                let six = numbers(&outcome);
                assert_eq!((six[0], six[2], six[4]), (all, made_count, unrequired), "{trace:?}");
                assert_eq!(outcome.verdict, Verdict::of(all == 1.0), "{trace:?}");
                assert_eq!(outcome.score, Some(all), "{trace:?}");
            }
        }
    }

    #[test]
    fn numbers_and_arguments() {
        let x = r#"{"q":"x"}"#;
        let y = r#"{"q":"y"}"#;
        let (any, order) = ("any_order", "in_order");
        for (n, required, mode, made, six) in [
            (1, json!(["a", "a"]), any, vec![("a", "{}")], [0.0, 0.5, 1.0, 1.0, 0.0, 2.0]),
            (2, json!(["a"]), any, vec![("a", "{}"); 3], [1.0, 1.0, 1.0, 0.0, 2.0, 1.0]),
            (3, json!([]), any, vec![("b", "{}")], [1.0, 1.0, 0.0, 0.0, 1.0, 0.0]),
            (4, json!([]), order, vec![], [1.0, 1.0, 0.0, 0.0, 0.0, 0.0]),
            (5, json!(["a"]), any, vec![], [0.0, 0.0, 0.0, 1.0, 0.0, 1.0]),
            // A bare name makes room for the one that needs the call.
            (
                6,
                json!(["s", {"name": "s", "arguments": {"q": "x"}}]),
                any,
                vec![("s", x), ("s", y)],
                [1.0, 1.0, 2.0, 0.0, 0.0, 2.0],
            ),
            (
                7,
                json!(["s", {"name": "s", "arguments": {"q": "x"}}]),
                order,
                vec![("s", x), ("s", y)],
                [0.0, 1.0, 2.0, 0.0, 0.0, 2.0],
            ),
            (
                8,
                json!([{"name": "s", "arguments": {"q": "x"}}]),
                any,
                vec![("s", r#"{"q":"x","n":1}"#)],
                [0.0, 0.0, 0.0, 1.0, 1.0, 1.0],
            ),
            (
                9,
                json!([{"name": "s", "arguments": {"q": "x"}}]),
                any,
                vec![("s", "not json")],
                [0.0, 0.0, 0.0, 1.0, 1.0, 1.0],
            ),
            (10, json!(["s"]), any, vec![("s", "not json")], [1.0, 1.0, 1.0, 0.0, 0.0, 1.0]),
            (
                11,
                json!(["a", "b", "c"]),
                order,
                vec![("b", "{}"), ("c", "{}")],
                [0.0, 2.0 / 3.0, 2.0, 1.0, 0.0, 3.0],
            ),
            (
                12,
                json!([{"name": "s", "arguments": {"n": 1}}]),
                any,
                vec![("s", r#"{"n":1.0}"#)],
                [1.0, 1.0, 1.0, 0.0, 0.0, 1.0],
            ),
            (
                13,
                json!([{"name": "s", "arguments": null}]),
                any,
                vec![("s", y)],
                [1.0, 1.0, 1.0, 0.0, 0.0, 1.0],
            ),
            (14, json!(r#"["a"]"#), any, vec![("a", "")], [1.0, 1.0, 1.0, 0.0, 0.0, 1.0]),
        ] {
            for profile in BOTH {
                let outcome = coverage(profile, required.clone(), mode, &made);
                assert_eq!(numbers(&outcome), six, "{n} {profile}");
                assert_eq!(outcome.contrast, None, "{n}");
            }
        }
    }

    #[test]
    fn the_two_readings_differ_and_say_so() {
        // (required arguments, made arguments, toolmark, AI GO!)
        for (required, made, own, theirs) in
            [(json!({"n": true}), r#"{"n":1}"#, false, true), (json!({}), "", true, false)]
        {
            let calls = json!([{"name": "s", "arguments": required}]);
            let trace = [("s", made)];
            let outcome = coverage(Profile::Toolmark, calls.clone(), "any_order", &trace);
            assert_eq!(outcome.verdict, Verdict::of(own), "{made}");
            let contrast = outcome.contrast.unwrap();
            assert_eq!(contrast.verdict, Verdict::of(theirs), "{made}");
            assert!(
                contrast.reason.raw().contains("all_required_calls_made"),
                "{}",
                contrast.reason.raw()
            );
            let outcome = coverage(Profile::AiGo, calls, "any_order", &trace);
            assert_eq!((outcome.verdict, outcome.contrast), (Verdict::of(theirs), None), "{made}");
        }
    }

    #[test]
    fn evidence_names_the_calls() {
        let required = json!(["a", {"name": "s", "arguments": {"q": "x"}}, "gone"]);
        let made = [("other", "{}"), ("s", r#"{"q":"y"}"#), ("a", "{}")];
        let outcome = coverage(Profile::Toolmark, required, "any_order", &made);
        assert_eq!(
            outcome.reason,
            r#"1 of 3 required calls were made; not made: s {"q":"x"}, gone"#
        );
        let evidence: Vec<_> = outcome
            .evidence
            .iter()
            .map(|e| (e.text.raw(), e.call.as_ref().map(|call| call.index)))
            .collect();
        assert_eq!(
            evidence,
            [
                (r#"required: s {"q":"x"}, made with q "y" instead of "x""#, Some(1)),
                ("required and not made: gone", None),
                ("required: a", Some(2)),
                ("not required", Some(0)),
            ]
        );
        let explanation = outcome.explanation.unwrap();
        let states: Vec<_> = explanation.rows.iter().map(|row| row.state).collect();
        assert_eq!(
            states,
            [RowState::Matched, RowState::Mismatched, RowState::Missing, RowState::Extra]
        );
        assert_eq!(explanation.divergence, Some(1));
        assert_eq!(explanation.repair, [r#"make the call s {"q":"x"}"#, "make the call gone"]);
    }

    #[test]
    fn rows_in_order_stand_where_the_calls_stand() {
        let required = json!(["a", "b", "c"]);
        let outcome =
            coverage(Profile::Toolmark, required, "in_order", &made(&["x", "b", "a", "c"]));
        let rows = outcome.explanation.unwrap().rows;
        let rows: Vec<_> = rows
            .iter()
            .map(|row| {
                (
                    row.expected.as_ref().map(|text| text.raw()),
                    row.call.as_ref().map(|c| c.index),
                    row.state.word(),
                )
            })
            .collect();
        assert_eq!(outcome.reason, "all 3 required calls were made, but not in order");
        assert!(rows.contains(&(None, Some(0), "extra")), "{rows:?}");
        assert!(rows.contains(&(Some("c"), Some(3), "matched")), "{rows:?}");
        let wrong: Vec<_> = rows.iter().filter(|row| row.2 == "mismatched").collect();
        assert_eq!(wrong.len(), 1, "{rows:?}");
    }

    #[test]
    fn much_evidence_is_cut_and_says_so() {
        let made = vec![("x", "{}"); 100];
        let outcome = coverage(Profile::Toolmark, json!(["x"]), "any_order", &made);
        assert_eq!(outcome.evidence.len(), 20);
        assert_eq!(outcome.notes, ["80 more pieces of evidence are left out"]);
        assert_eq!(outcome.explanation.unwrap().elided, 49);
    }

    #[test]
    fn a_failed_call_is_made_and_noted() {
        let trace = vally(&[
            ("tool_call", json!({"toolName": "a", "toolCallId": "1", "arguments": {}})),
            ("tool_result", json!({"toolCallId": "1", "success": false, "result": "no"})),
        ]);
        let outcome = grade("function_call_coverage", json!({"function_calls": ["a"]}), &trace);
        assert_eq!(outcome.verdict, Verdict::Pass);
        assert_eq!(outcome.notes, ["made, and failed: call 1 a"]);
    }

    #[test]
    fn too_many_pairs_are_unknown() {
        let required: Vec<String> = (0..20_000).map(|n| format!("f{n}")).collect();
        let made = vec![("x", "{}"); 4_000];
        let outcome = coverage(Profile::Toolmark, json!(required), "in_order", &made);
        assert_eq!(outcome.verdict, Verdict::Unknown(Cause::Limit));
    }

    #[test]
    fn configurations() {
        for (config, said) in [
            (json!({}), vec![r#"missing key "function_calls""#]),
            (
                json!({"function_calls": 3}),
                vec!["expected a list of function calls, found a number"],
            ),
            (
                json!({"function_calls": ["a", 1, {"arguments": {}}, {"name": 2}]}),
                vec![
                    "expected a name or an object with a `name`, found a number",
                    "a function call needs a `name`",
                    "expected the name of a function, found a number",
                ],
            ),
            (
                json!({"function_calls": [{"name": "a", "arguments": "{}"}]}),
                vec!["expected arguments as an object, found text"],
            ),
            (
                json!({"function_calls": "{{ sample.calls }}"}),
                vec!["a template needs the row of a dataset to be filled in from"],
            ),
            (json!({"function_calls": "{}"}), vec!["expected a list of function calls"]),
            (
                json!({"function_calls": "[1"}),
                vec![
                    "not a list of function calls in JSON: EOF while parsing a list at line 1 column 2",
                ],
            ),
            (json!({"function_calls": [], "mode": "inorder"}), vec!["unknown value \"inorder\""]),
        ] {
            assert_eq!(complaints("function_call_coverage", &config), said, "{config}");
        }
    }
}
