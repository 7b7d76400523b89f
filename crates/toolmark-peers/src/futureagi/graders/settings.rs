//! Configuration shared by the four metrics.

use super::Metric;
use super::definition::{Definitions, Unusable};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use toolmark_config::{Problem, Spanned};
use toolmark_match::Building;
use toolmark_outcome::Profile;

/// Comparison settings, expected calls and definitions.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct FutureagiConfig {
    /// Whether `1` and `1.0` are different values, and `1.0` is not an integer.
    #[serde(default)]
    strict_type_check: bool,
    /// Whether a call may have unexpected or undeclared arguments.
    #[serde(default)]
    ignore_extra_params: bool,
    /// Whether the calls must be made in the expected order.
    #[serde(default)]
    order_matters: bool,
    /// Weight of the right tool in `function_call_accuracy`.
    #[serde(default = "default_name_weight")]
    name_weight: Spanned<f64>,
    /// Weight of the presence of the expected arguments in
    /// `function_call_accuracy`.
    #[serde(default = "default_argument_weight")]
    presence_weight: Spanned<f64>,
    /// Weight of the values of the expected arguments in
    /// `function_call_accuracy`.
    #[serde(default = "default_argument_weight")]
    value_weight: Spanned<f64>,
    /// Available functions: flat lists of parameters, or JSON
    /// Schemas in the format of the APIs. By default, those of the row, otherwise
    /// those recorded in the trace.
    #[serde(default)]
    function_definitions: Option<Spanned<Vec<Value>>>,
    /// Expected calls, in any format: objects, lists, JSON or Python in a
    /// text; an empty list if no call is expected. By default, those of the
    /// row.
    #[serde(default, alias = "expected_response")]
    expected: Option<Spanned<Value>>,
    /// Minimum score of `function_call_accuracy` and
    /// `parameter_validation`; 0.5 by default.
    #[serde(default)]
    threshold: Option<Spanned<f64>>,
}

fn default_name_weight() -> Spanned<f64> {
    Spanned::from(0.4)
}

fn default_argument_weight() -> Spanned<f64> {
    Spanned::from(0.3)
}

/// A validated configuration.
pub(super) struct ComparisonSettings {
    pub(super) strict_type_check: bool,
    pub(super) ignore_extra_params: bool,
    pub(super) order_matters: bool,
    weights: [f64; 3],
    /// Definitions as written, and as functions for validation.
    pub(super) definitions: Option<(Value, Result<Definitions, Unusable>)>,
    pub(super) expected: Option<Value>,
    pub(super) threshold: f64,
}

const DEFAULT_THRESHOLD: f64 = 0.5;

impl ComparisonSettings {
    /// Reads the configuration of a metric; `None` if it is invalid.
    pub(super) fn read(metric: Metric, building: &mut Building<'_>) -> Option<Self> {
        let config = building.read::<FutureagiConfig>()?;
        warn_of_idle_keys(metric, building);
        let honest = building.profile != Profile::FutureAgi;
        let weights = [&config.name_weight, &config.presence_weight, &config.value_weight];
        let mut good = true;
        for weight in weights {
            let wrong = !weight.value.is_finite() || honest && weight.value < 0.0;
            if wrong {
                let message = format!("expected a weight of 0 or more, found {}", weight.value);
                building.reject(weight.span, "invalid-value", message);
                good = false;
            }
        }
        let weights = weights.map(|weight| weight.value);
        if good && honest && weights.iter().sum::<f64>() <= 0.0 {
            let span = config.name_weight.span;
            building.reject(
                span,
                "invalid-value",
                "all weights are 0: at least one must be above 0",
            );
            good = false;
        }
        if let Some(threshold) = &config.threshold
            && !(0.0..=1.0).contains(&threshold.value)
        {
            let message = format!("expected a threshold from 0 to 1, found {}", threshold.value);
            building.reject(threshold.span, "invalid-value", message);
            good = false;
        }
        let expected = config.expected.filter(|gold| !gold.value.is_null());
        if let (true, Some(gold)) = (honest, &expected)
            && let Err(what) = super::material::gold_calls(&gold.value)
        {
            building.reject(gold.span, "invalid-value", format!("not a list of calls: {what}"));
            good = false;
        }
        let mut definitions = None;
        if let Some(list) = config.function_definitions {
            let value = Value::Array(list.value);
            let read = Definitions::read(&value)
                .and_then(|definitions| definitions.check().map(|()| definitions));
            // The library has its own idea of a definition.
            if let (true, Err(what)) = (honest, &read) {
                building.reject(list.span, "invalid-definition", what.words.clone());
                good = false;
            }
            definitions = Some((value, read));
        }
        good.then(|| Self {
            strict_type_check: config.strict_type_check,
            ignore_extra_params: config.ignore_extra_params,
            order_matters: config.order_matters,
            weights,
            definitions,
            expected: expected.map(|gold| gold.value),
            threshold: config.threshold.map_or(DEFAULT_THRESHOLD, |threshold| threshold.value),
        })
    }

    /// Returns the weights of name, presence and value as configured.
    pub(super) fn weights(&self) -> [f64; 3] {
        self.weights
    }

    /// Returns the weights, normalized to a sum of 1.
    pub(super) fn shares(&self) -> [f64; 3] {
        let sum: f64 = self.weights.iter().sum();
        if sum > 0.0 { self.weights.map(|weight| weight / sum) } else { [1.0, 0.0, 0.0] }
    }
}

/// Warns about keys without effect. All four metrics accept the same configuration, so that
/// one can be shared.
fn warn_of_idle_keys(metric: Metric, building: &mut Building<'_>) {
    const WEIGHTS: [&str; 3] = ["name_weight", "presence_weight", "value_weight"];
    let theirs = building.profile == Profile::FutureAgi;
    let idle = |key: &str| match key {
        "threshold" => theirs || matches!(metric, Metric::NameMatch | Metric::ExactMatch),
        "order_matters" => {
            metric == Metric::ParameterValidation || theirs && metric != Metric::Accuracy
        }
        "strict_type_check" | "ignore_extra_params" => metric == Metric::NameMatch,
        "function_definitions" => metric != Metric::ParameterValidation,
        key => WEIGHTS.contains(&key) && metric != Metric::Accuracy,
    };
    for entry in building.config.entries().filter(|entry| idle(&entry.key)) {
        let message = format!("\"{}\" has no effect on {}", entry.key, metric.id());
        building.problems.push(Problem::warning("no-effect", message).at(entry.key_span));
    }
}
