//! Finds the inputs of a metric: the expected calls, the definitions and the
//! response.

use super::definition::Unusable;
use super::settings::ComparisonSettings;
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use toolmark_outcome::TrajectoryView;
use toolmark_outcome::{CaseContext, Subject};
use toolmark_outcome::{Cause, Missing, Outcome};
use toolmark_trace::{LooseCall, NotCalls, calls_in};

/// Keys of a row that may contain the expected calls.
const GOLD: [&str; 3] = ["expected", "expected_response", "expected_output"];

/// Sources of the inputs.
pub(super) struct Material<'a> {
    pub(super) view: &'a TrajectoryView<'a>,
    settings: &'a ComparisonSettings,
    context: &'a CaseContext,
    /// Row from which the trajectory was read.
    row: Option<&'a Map<String, Value>>,
    /// Row of the dataset from which the case was built.
    case_row: Option<&'a Map<String, Value>>,
}

fn first<'a>(row: Option<&'a Map<String, Value>>, keys: &[&str]) -> Option<&'a Value> {
    let row = row?;
    keys.iter().find_map(|key| row.get(*key).filter(|value| !value.is_null()))
}

/// Parses expected calls.
pub(super) fn gold_calls(value: &Value) -> Result<Vec<LooseCall>, Missing> {
    calls_in(value).map_err(|not| match not {
        NotCalls::Words => {
            Missing(format!("{} contains no call", toolmark_outcome::excerpt(&value.to_string())))
        }
        NotCalls::Shape(what) => Missing(what),
    })
}

impl<'a> Material<'a> {
    pub(super) fn new(settings: &'a ComparisonSettings, subject: &'a Subject<'_>) -> Self {
        let row = subject.view.trajectory().stated.row.as_ref();
        Self {
            view: &subject.view,
            settings,
            context: subject.context,
            row: row.and_then(|row| row.parsed()).and_then(Value::as_object),
            case_row: subject.context.row.as_deref().and_then(Value::as_object),
        }
    }

    /// Returns the expected calls as written, and their location.
    pub(super) fn gold(&self) -> Option<(&'a Value, &'static str)> {
        let place = |found: Option<&'a Value>, place| found.map(|value| (value, place));
        place(self.settings.expected.as_ref(), "config")
            .or_else(|| place(first(self.row, &GOLD), "the row"))
            .or_else(|| place(first(self.case_row, &GOLD), "the row of the case"))
            .or_else(|| {
                let output = self.context.expected_output.as_ref();
                place(output.filter(|value| !value.is_null()), "expected_output")
            })
    }

    /// Returns the expected calls; an empty list is valid, a missing one is not.
    pub(super) fn expected(&self) -> Result<Vec<LooseCall>, Box<Outcome>> {
        let Some((value, place)) = self.gold() else {
            let reason =
                "nothing says which calls are expected: config and row have no \"expected\"";
            return Err(Box::new(Outcome::unknown(Cause::MissingEvidence, reason)));
        };
        gold_calls(value).map_err(|what| {
            let reason = format!("cannot parse the expected calls of {place}: {what}");
            Box::new(Outcome::unknown(Cause::MissingEvidence, reason))
        })
    }

    /// Returns the row's output as written.
    fn output(&self) -> Option<&'a Value> {
        let row = self.row.filter(|_| self.view.turn_index().is_none())?;
        row.get("output").or_else(|| row.get("response"))
    }

    /// Whether the row's output is null. It is treated as no call, which may not be what
    /// the author of the row meant.
    pub(super) fn is_null_output(&self) -> bool {
        self.output().is_some_and(Value::is_null)
    }

    /// Returns an unknown outcome if the row contains something that should be a call but
    /// cannot be parsed.
    pub(super) fn unread_output(&self) -> Option<Outcome> {
        let output = self.output().filter(|_| self.view.calls().is_empty())?;
        match calls_in(output) {
            Err(NotCalls::Shape(what)) => {
                let reason = format!("cannot parse the row's output: {what}");
                Some(Outcome::unknown(Cause::MissingEvidence, reason))
            }
            _ => None,
        }
    }

    /// Returns the definitions for validation, as written.
    pub(super) fn definitions(&self) -> Option<Cow<'a, Value>> {
        const KEYS: [&str; 2] = ["function_definitions", "tools"];
        let written = first(self.row, &KEYS).or_else(|| first(self.case_row, &KEYS));
        written.map(Cow::Borrowed).or_else(|| {
            let tools = self.view.trajectory().tools.as_ref()?;
            let tools = tools.iter().map(|tool| {
                let schema = tool.schema.as_ref().map(toolmark_trace::Payload::to_value);
                json!({"name": tool.name.get(), "input_schema": schema})
            });
            Some(Cow::Owned(Value::Array(tools.collect())))
        })
    }

    /// Returns the definitions that would be passed to the library.
    pub(super) fn listed_definitions(&self) -> Option<&'a Value> {
        const KEY: [&str; 1] = ["function_definitions"];
        let own = self.settings.definitions.as_ref().map(|(written, _)| written);
        own.or_else(|| first(self.row, &KEY)).or_else(|| first(self.case_row, &KEY))
    }

    /// Returns the response that would be passed to the library: the row's output
    /// as written, otherwise the calls of the trajectory.
    pub(super) fn response(&self) -> Cow<'a, Value> {
        if let Some(output) = self.output() {
            return Cow::Borrowed(output);
        }
        let mut calls: Vec<Value> = self
            .view
            .calls()
            .iter()
            .map(|seen| {
                let args =
                    seen.call.args.as_ref().map_or_else(|| json!({}), |args| args.to_value());
                json!({"name": seen.call.name.full(), "arguments": args})
            })
            .collect();
        Cow::Owned(match (calls.pop(), calls.is_empty()) {
            (Some(only), true) => only,
            (last, _) => {
                calls.extend(last);
                Value::Array(calls)
            }
        })
    }
}

impl From<Unusable> for Outcome {
    fn from(what: Unusable) -> Self {
        Self::unknown(what.cause, what.words)
    }
}
