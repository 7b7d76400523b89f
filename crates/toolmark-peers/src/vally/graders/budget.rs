//! Six budgets: limits on totals of the run.
//!
//! Within the budget the score is 1. Beyond it the score falls
//! linearly and reaches 0 at twice the budget, but the verdict is fail immediately.

use crate::vally::graders::tool_filter::ToolFilter;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Number, Value};
use std::sync::Arc;
use toolmark_config::Spanned;
use toolmark_grade::{Grader, GraderInfo, Taxonomy, schema_of};
use toolmark_match::Building;
use toolmark_match::units::Duration;
use toolmark_outcome::Profile;
use toolmark_outcome::Subject;
use toolmark_outcome::{Cause, Outcome, Verdict};
use toolmark_outcome::{Evidence, EvidenceRole};
use toolmark_outcome::{IndexedCall, Missing, TrajectoryView};
use toolmark_trace::{EventKind, Fact};

/// Limit on a total.
#[derive(Debug, Deserialize, JsonSchema)]
struct TotalBudget {
    /// Maximum.
    max: u64,
}

/// Limit on a number of calls, with a tool filter.
#[derive(Debug, Deserialize, JsonSchema)]
struct ToolBudget {
    /// Maximum.
    max: u64,
    /// Regular expressions: only calls of tools that match one are counted.
    #[serde(default)]
    tools: Option<Spanned<Vec<Spanned<String>>>>,
}

/// Limit on the duration of a run.
#[derive(Debug, Deserialize, JsonSchema)]
struct TimeBudget {
    /// Maximum duration, with a unit: `30s`, `2m`, `1h`.
    max: Duration,
}

/// Counted quantity.
enum Quantity {
    Tokens,
    Calls(ToolFilter),
    Turns,
    Steps(ToolFilter),
    Errors,
    WallTime,
}

struct BudgetGrader {
    quantity: Quantity,
    max: f64,
}

macro_rules! budget {
    ($static:ident, $id:literal, $summary:literal, $config:ty, $build:expr, $max:literal, $docs:literal) => {
        pub(crate) static $static: GraderInfo = GraderInfo {
            id: $id,
            aliases: &[],
            origin: "vally",
            summary: $summary,
            docs: concat!(
                $docs,
                "\n\nAt most `max` passes with score 1. Above it the verdict is fail and the score is ",
                "`1 - (value - max) / max(max, 1)`, never below 0: half over the budget scores 0.5, ",
                "twice the budget 0. `metrics` has `value` and `max`. ",
                "A run whose trace does not record the number is unknown."
            ),
            example: concat!("type: ", $id, "\nconfig:\n  max: ", $max),
            taxonomy: Taxonomy::TRAJECTORY,
            profiles: &[Profile::Vally],
            schema: schema_of::<$config>,
            build: |building| {
                let config = building.read::<$config>()?;
                let build: fn($config, &mut Building<'_>) -> Option<BudgetGrader> = $build;
                let grader = build(config, building)?;
                Some(Arc::new(grader))
            },
        };
    };
}

fn plain(quantity: Quantity, max: u64) -> Option<BudgetGrader> {
    Some(BudgetGrader { quantity, max: max as f64 })
}

budget!(
    TOKEN_BUDGET,
    "token-budget",
    "fails if the run used more than N tokens",
    TotalBudget,
    |config, _| plain(Quantity::Tokens, config.max),
    "50000",
    "Passes if input and output tokens together are at most `max`."
);
budget!(
    TOOL_CALL_COUNT,
    "tool-call-count",
    "fails if the agent made more than N calls",
    ToolBudget,
    |config, building| plain(
        Quantity::Calls(ToolFilter::build(config.tools.as_ref(), building)?),
        config.max
    ),
    "20",
    "Passes if the agent made at most `max` tool calls. `tools` restricts the count."
);
budget!(
    TURN_COUNT,
    "turn-count",
    "fails if the agent took more than N turns",
    TotalBudget,
    |config, _| plain(Quantity::Turns, config.max),
    "10",
    "Passes if the agent took at most `max` turns, that is model responses."
);
budget!(
    STEP_COUNT,
    "step-count",
    "fails if the agent took more than N steps",
    ToolBudget,
    |config, building| plain(
        Quantity::Steps(ToolFilter::build(config.tools.as_ref(), building)?),
        config.max
    ),
    "10",
    "Passes if the agent took at most `max` steps. With `tools`, only steps that call one of them count."
);
budget!(
    ERROR_COUNT,
    "error-count",
    "fails if the run reported more than N errors",
    TotalBudget,
    |config, _| plain(Quantity::Errors, config.max),
    "0",
    "Passes if the run reported at most `max` errors. `max: 0` asks for none. Failed tool calls are not errors of the run."
);
budget!(
    WALL_TIME,
    "wall-time",
    "fails if the run took longer than a time limit",
    TimeBudget,
    |config, _| Some(BudgetGrader { quantity: Quantity::WallTime, max: config.max.millis }),
    "2m",
    "Passes if the run took at most `max`, from its first to its last record."
);

impl Grader for BudgetGrader {
    fn is_upper_limit(&self) -> bool {
        true
    }

    fn sums_up_steps(&self) -> bool {
        !matches!(self.quantity, Quantity::Errors)
    }

    fn grade(&self, subject: &Subject<'_>) -> Outcome {
        let view = &subject.view;
        match self.quantity.value(view) {
            Err(missing) => Outcome::unknown(Cause::MissingEvidence, missing.0),
            Ok(counted) => self.judge(counted, view),
        }
    }
}

impl BudgetGrader {
    fn judge(&self, counted: BudgetTotal<'_>, view: &TrajectoryView<'_>) -> Outcome {
        let (value, max) = (counted.value, self.max);
        let over = value - max;
        let score = if over <= 0.0 { 1.0 } else { (1.0 - over / max.max(1.0)).max(0.0) };
        let unit = self.quantity.unit(value);
        let (value_text, max_text) = (number(value), number(max));
        let reason = if over <= 0.0 {
            format!("{value_text} {unit} (within budget of {max_text})")
        } else {
            format!("{value_text} {unit} exceeds max of {max_text}")
        };
        let mut outcome = Outcome::scored(Verdict::of(over <= 0.0), score, reason)
            .with_metric("value", value_text)
            .with_metric("max", max_text);
        outcome.evidence.extend(counted.evidence);
        if over > 0.0 {
            // The calls that went over it decide.
            let beyond = counted.calls.iter().skip(max as usize).take(SHOWN);
            let evidence =
                beyond.map(|seen| view.evidence(EvidenceRole::Extra, "over the budget", *seen));
            outcome.evidence.extend(evidence);
        }
        outcome.notes.extend(counted.note.map(Into::into));
        outcome
    }
}

/// Formats a number, without a fraction if it is whole.
fn number(value: f64) -> Value {
    if value.fract() == 0.0 && value.abs() < 9e15 {
        return Value::from(value as i64);
    }
    Number::from_f64(value).map_or(Value::Null, Value::Number)
}

/// Maximum amount of evidence shown.
const SHOWN: usize = 10;

/// A total and its source.
struct BudgetTotal<'a> {
    value: f64,
    /// Counted calls, if calls are counted.
    calls: Vec<IndexedCall<'a>>,
    evidence: Vec<Evidence>,
    note: Option<String>,
}

impl BudgetTotal<'_> {
    fn new(value: u64) -> Self {
        Self { value: value as f64, calls: Vec::new(), evidence: Vec::new(), note: None }
    }

    /// Returns the number that the source states, if the whole run is graded. A different count
    /// by toolmark is mentioned.
    fn stated(stated: Option<u64>, counted: Self, view: &TrajectoryView<'_>) -> Self {
        match stated.filter(|_| view.turn_index().is_none()) {
            None => counted,
            Some(stated) if stated as f64 == counted.value => counted,
            Some(stated) => Self {
                note: Some(format!(
                    "the trace states {stated}, its events add up to {}: the stated number counts",
                    counted.value
                )),
                ..Self { value: stated as f64, ..counted }
            },
        }
    }
}

impl Quantity {
    fn unit(&self, value: f64) -> &'static str {
        let one = value == 1.0;
        match self {
            Self::Tokens => "tokens",
            Self::Calls(_) if one => "tool call",
            Self::Calls(_) => "tool calls",
            Self::Turns if one => "turn",
            Self::Turns => "turns",
            Self::Steps(_) if one => "step",
            Self::Steps(_) => "steps",
            Self::Errors if one => "error",
            Self::Errors => "errors",
            Self::WallTime => "ms",
        }
    }

    fn value<'a>(&self, view: &TrajectoryView<'a>) -> Result<BudgetTotal<'a>, Missing> {
        let trajectory = view.trajectory();
        let stated = &trajectory.stated;
        match self {
            Self::Tokens => tokens(view),
            Self::Calls(tools) => {
                let counted = calls(view, tools)?;
                Ok(match tools.takes_all() {
                    true => BudgetTotal::stated(stated.calls, counted, view),
                    false => counted,
                })
            }
            Self::Turns => {
                let counted = steps(view, &ToolFilter::ALL);
                match (counted, stated.responses) {
                    (Ok(counted), stated) => Ok(BudgetTotal::stated(stated, counted, view)),
                    (Err(_), Some(stated)) if view.turn_index().is_none() => {
                        Ok(BudgetTotal::new(stated))
                    }
                    (Err(missing), _) => Err(missing),
                }
            }
            Self::Steps(tools) => steps(view, tools),
            Self::Errors => {
                let events: Vec<_> = view.events_of(EventKind::Error).collect();
                let mut counted = BudgetTotal::new(events.len() as u64);
                let shown = events.iter().take(SHOWN);
                counted.evidence = shown
                    .map(|e| view.event_evidence(EvidenceRole::Violation, "error", e))
                    .collect();
                Ok(BudgetTotal::stated(stated.errors, counted, view))
            }
            Self::WallTime => wall_time(view),
        }
    }
}

fn tokens<'a>(view: &TrajectoryView<'a>) -> Result<BudgetTotal<'a>, Missing> {
    let trajectory = view.trajectory();
    let total = match view.turn_index() {
        None => trajectory.usage.map(|usage| usage.total()),
        Some(_) => {
            let steps = view.steps();
            let usages =
                steps.iter().filter_map(|step| trajectory.steps.get(*step as usize)?.usage);
            let totals: Vec<u64> = usages.map(|usage| usage.total()).collect();
            (!totals.is_empty()).then(|| totals.iter().sum())
        }
    };
    total.map(BudgetTotal::new).ok_or_else(|| Missing::new("the trace does not record token usage"))
}

fn calls<'a>(view: &TrajectoryView<'a>, tools: &ToolFilter) -> Result<BudgetTotal<'a>, Missing> {
    let mut counted = BudgetTotal::new(0);
    for seen in view.calls() {
        if !tools.takes(&seen.call.name.full())? {
            continue;
        }
        counted.value += 1.0;
        counted.calls.push(*seen);
    }
    Ok(counted)
}

fn steps<'a>(view: &TrajectoryView<'a>, tools: &ToolFilter) -> Result<BudgetTotal<'a>, Missing> {
    if view.trajectory().fidelity.lacks(Fact::Steps) {
        return Err(Missing::new("the trace does not record model responses"));
    }
    if view.steps().is_empty() && !view.calls().is_empty() {
        return Err(Missing::new("the trace has calls and no model responses that made them"));
    }
    if tools.takes_all() {
        return Ok(BudgetTotal::new(view.steps().len() as u64));
    }
    let mut steps = Vec::new();
    for seen in view.calls() {
        if tools.takes(&seen.call.name.full())? {
            steps.push(seen.call.step);
        }
    }
    steps.sort_unstable();
    steps.dedup();
    Ok(BudgetTotal::new(steps.len() as u64))
}

fn wall_time<'a>(view: &TrajectoryView<'a>) -> Result<BudgetTotal<'a>, Missing> {
    let missing = || Missing::new("the trace does not record when the run began and ended");
    let millis = view.duration().ok_or_else(missing)?.as_secs_f64() * 1000.0;
    Ok(BudgetTotal { value: millis.max(0.0), ..BudgetTotal::new(0) })
}

#[cfg(test)]
mod tests {
    use crate::testing::{complaints, grade, vally, vally_with};
    use serde_json::{Value, json};
    use toolmark_outcome::{Cause, Verdict};

    fn run(calls: usize, errors: usize) -> String {
        let mut events = vec![("user_message", json!({"content": "go"}))];
        for n in 0..calls {
            let id = format!("c{n}");
            let tool = if n % 2 == 0 { "bash" } else { "view" };
            events.push(("turn_start", json!({"turnId": id})));
            events.push((
                "token_usage",
                json!({"inputTokens": 100, "outputTokens": 50, "model": "m"}),
            ));
            events
                .push(("tool_call", json!({"toolName": tool, "toolCallId": id, "arguments": {}})));
            events
                .push(("tool_result", json!({"toolCallId": id, "success": true, "result": "ok"})));
            events.push(("turn_end", json!({"turnId": id})));
        }
        for _ in 0..errors {
            events.push(("error", json!({"message": "limit"})));
        }
        vally(&events)
    }

    #[test]
    fn scores_fall_in_a_straight_line() {
        // (type, max, trace, verdict, score, value)
        for (id, max, trace, verdict, score, value) in [
            ("token-budget", json!(300), run(2, 0), Verdict::Pass, 1.0, 300),
            ("token-budget", json!(200), run(2, 0), Verdict::Fail, 0.5, 300),
            ("token-budget", json!(150), run(2, 0), Verdict::Fail, 0.0, 300),
            ("tool-call-count", json!(4), run(3, 0), Verdict::Pass, 1.0, 3),
            ("tool-call-count", json!(2), run(3, 0), Verdict::Fail, 0.5, 3),
            ("turn-count", json!(3), run(3, 0), Verdict::Pass, 1.0, 3),
            ("turn-count", json!(1), run(3, 0), Verdict::Fail, 0.0, 3),
            ("step-count", json!(2), run(3, 0), Verdict::Fail, 0.5, 3),
            ("error-count", json!(0), run(1, 0), Verdict::Pass, 1.0, 0),
            ("error-count", json!(0), run(1, 1), Verdict::Fail, 0.0, 1),
            ("wall-time", json!("5s"), run(1, 0), Verdict::Pass, 1.0, 5000),
            ("wall-time", json!("4s"), run(1, 0), Verdict::Fail, 0.75, 5000),
        ] {
            let outcome = grade(id, json!({"max": max}), &trace);
            assert_eq!((outcome.verdict, outcome.score), (verdict, Some(score)), "{id} {max}");
            assert_eq!(outcome.metrics["value"], value, "{id} {max}");
        }
    }

    /// Builds a run with stated metrics whose events add up to nothing.
    fn stated(metrics: &Value) -> String {
        vally_with(&[("turn_start", json!({"turnId": "0"}))], json!({"metrics": metrics}))
    }

    #[test]
    fn the_values_the_pipeline_computed_are_read() {
        let metrics = json!({
            "tokenUsage": {"inputTokens": 1000, "outputTokens": 500, "totalTokens": 1500},
            "toolCallCount": 7, "turnCount": 5, "errorCount": 2, "wallTimeMs": 90_000.5,
        });
        for (id, max, value) in [
            ("token-budget", json!(1), json!(1500)),
            ("tool-call-count", json!(1), json!(7)),
            ("turn-count", json!(1), json!(5)),
            ("error-count", json!(1), json!(2)),
            ("wall-time", json!("1s"), json!(90_000.5)),
        ] {
            let outcome = grade(id, json!({"max": max}), &stated(&metrics));
            assert_eq!(outcome.metrics["value"], value, "{id}");
        }
    }

    #[test]
    fn tokens_are_input_and_output_and_no_cache() {
        let usage = json!({"inputTokens": 100, "outputTokens": 50, "cacheReadTokens": 90, "cacheWriteTokens": 9});
        let outcome =
            grade("token-budget", json!({"max": 150}), &stated(&json!({"tokenUsage": usage})));
        assert_eq!(
            (outcome.verdict, outcome.metrics["value"].clone()),
            (Verdict::Pass, json!(150))
        );
    }

    #[test]
    fn the_score_is_the_formula_of_the_page() {
        // value, max, score: at the threshold, at 1.5 and 2 times it, above, and for 0.
        for (value, max, score) in [
            (10, 10, 1.0),
            (9, 10, 1.0),
            (15, 10, 0.5),
            (20, 10, 0.0),
            (25, 10, 0.0),
            (11, 10, 0.9),
            (0, 0, 1.0),
            (1, 0, 0.0),
            (7, 0, 0.0),
            (2, 1, 0.0),
        ] {
            for (id, key) in [
                ("tool-call-count", "toolCallCount"),
                ("turn-count", "turnCount"),
                ("error-count", "errorCount"),
            ] {
                let outcome = grade(id, json!({"max": max}), &stated(&json!({key: value})));
                assert!((outcome.score.unwrap() - score).abs() < 1e-12, "{id} {value} {max}");
                assert_eq!(outcome.verdict, Verdict::of(value <= max), "{id} {value} {max}");
            }
        }
    }

    #[test]
    fn durations_have_units() {
        for (max, millis) in [("500ms", 500), ("30s", 30_000), ("2m", 120_000), ("1h", 3_600_000)] {
            let outcome =
                grade("wall-time", json!({"max": max}), &stated(&json!({"wallTimeMs": 1})));
            assert_eq!(outcome.metrics["max"], millis, "{max}");
        }
    }

    #[test]
    fn a_stated_number_that_the_events_do_not_add_up_to_is_mentioned() {
        let outcome =
            grade("tool-call-count", json!({"max": 9}), &stated(&json!({"toolCallCount": 4})));
        assert!(outcome.notes[0].raw().contains("states 4"), "{:?}", outcome.notes);
    }

    #[test]
    fn failed_calls_are_no_errors_of_the_run() {
        let trace = vally(&[
            ("tool_call", json!({"toolName": "a", "toolCallId": "1", "arguments": {}})),
            ("tool_result", json!({"toolCallId": "1", "success": false, "result": "no"})),
        ]);
        assert_eq!(grade("error-count", json!({"max": 0}), &trace).verdict, Verdict::Pass);
    }

    #[test]
    fn calls_without_responses_leave_turns_untold() {
        let trace = vally(&[("tool_call", json!({"toolName": "a", "toolCallId": "1"}))]);
        let unknown = Verdict::Unknown(Cause::MissingEvidence);
        assert_eq!(grade("turn-count", json!({"max": 9}), &trace).verdict, unknown);
    }

    #[test]
    fn the_page_gives_these_words() {
        let within = grade("token-budget", json!({"max": 50000}), &run(10, 0));
        assert_eq!(within.reason, "1500 tokens (within budget of 50000)");
        assert_eq!(Value::Object((*within.metrics).clone()), json!({"value": 1500, "max": 50000}));
        let over = grade("token-budget", json!({"max": 1000}), &run(10, 0));
        assert_eq!(over.reason, "1500 tokens exceeds max of 1000");
    }

    #[test]
    fn filters_count_matching_tools() {
        let config = json!({"max": 1, "tools": ["^bash$"]});
        assert_eq!(grade("tool-call-count", config.clone(), &run(3, 0)).metrics["value"], 2);
        assert_eq!(grade("step-count", config, &run(3, 0)).metrics["value"], 2);
    }

    #[test]
    fn what_is_not_recorded_is_unknown() {
        let trace = vally(&[("user_message", json!({"content": "go"}))]);
        let outcome = grade("token-budget", json!({"max": 1}), &trace);
        assert_eq!(outcome.verdict, Verdict::Unknown(Cause::MissingEvidence));
        assert_eq!(outcome.score, None);
    }

    #[test]
    fn mistakes() {
        for (id, config, complaint) in [
            ("token-budget", json!({}), "max"),
            ("token-budget", json!({"max": -1}), "0 or more"),
            ("token-budget", json!({"max": 1.5}), "whole number"),
            ("tool-call-count", json!({}), "max"),
            ("turn-count", json!({}), "max"),
            ("error-count", json!({}), "max"),
            ("wall-time", json!({}), "max"),
            ("error-count", json!({"max": "0"}), "whole number"),
            ("wall-time", json!({"max": "-5s"}), "not a duration"),
            ("wall-time", json!({"max": "30"}), "not a duration"),
            ("wall-time", json!({"max": 30}), "text"),
            ("tool-call-count", json!({"max": 1, "tools": []}), "count nothing"),
            ("tool-call-count", json!({"max": 1, "tools": ["("]}), "regular expression"),
            ("turn-count", json!({"max": 1, "tools": ["x"]}), "unknown key"),
        ] {
            let said = complaints(id, &config).join("; ");
            assert!(said.contains(complaint), "{id} {config}: {said}");
        }
    }
}
