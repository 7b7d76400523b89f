//! What a metric compares: the expected calls, the definitions and the
//! response, wherever they are kept.

use super::definition::Unusable;
use super::settings::Settings;
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use toolmark_outcome::View;
use toolmark_outcome::{Cause, Outcome};
use toolmark_outcome::{Context, Subject};
use toolmark_trace::{LooseCall, NotCalls, calls_in};

/// The keys of a row under which the expected calls may stand.
const GOLD: [&str; 3] = ["expected", "expected_response", "expected_output"];

/// Where the material comes from.
pub(super) struct Material<'a> {
    pub(super) view: &'a View<'a>,
    settings: &'a Settings,
    context: &'a Context,
    /// The row the trajectory was read from.
    row: Option<&'a Map<String, Value>>,
    /// The row of the dataset the case was made of.
    case_row: Option<&'a Map<String, Value>>,
}

fn first<'a>(row: Option<&'a Map<String, Value>>, keys: &[&str]) -> Option<&'a Value> {
    let row = row?;
    keys.iter().find_map(|key| row.get(*key).filter(|value| !value.is_null()))
}

/// The calls that are expected; why the value is none otherwise.
pub(super) fn gold_calls(value: &Value) -> Result<Vec<LooseCall>, String> {
    calls_in(value).map_err(|not| match not {
        NotCalls::Words => {
            format!("{} contains no call", toolmark_outcome::excerpt(&value.to_string()))
        }
        NotCalls::Shape(what) => what,
    })
}

impl<'a> Material<'a> {
    pub(super) fn new(settings: &'a Settings, subject: &'a Subject<'_>) -> Self {
        let row = subject.view.trajectory().stated.row.as_ref();
        Self {
            view: &subject.view,
            settings,
            context: subject.context,
            row: row.and_then(|row| row.parsed()).and_then(Value::as_object),
            case_row: subject.context.row.as_deref().and_then(Value::as_object),
        }
    }

    /// The expected calls as written, and where.
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

    /// The expected calls; none expected is an answer, nothing said is not.
    pub(super) fn expected(&self) -> Result<Vec<LooseCall>, Box<Outcome>> {
        let Some((value, place)) = self.gold() else {
            let reason =
                "nothing says which calls are expected: config and row have no \"expected\"";
            return Err(Box::new(Outcome::unknown(Cause::MissingEvidence, reason)));
        };
        gold_calls(value).map_err(|what| {
            let reason = format!("the expected calls of {place} are not understood: {what}");
            Box::new(Outcome::unknown(Cause::MissingEvidence, reason))
        })
    }

    /// The row's output as written.
    fn output(&self) -> Option<&'a Value> {
        let row = self.row.filter(|_| self.view.turn_index().is_none())?;
        row.get("output").or_else(|| row.get("response"))
    }

    /// Is the row's output null? It is read as no call, which may not be what
    /// whoever wrote the row means.
    pub(super) fn is_null_output(&self) -> bool {
        self.output().is_some_and(Value::is_null)
    }

    /// Is there something in the row that should be a call and is not
    /// understood? Then it is not known what was called.
    pub(super) fn unread_output(&self) -> Option<Outcome> {
        let output = self.output().filter(|_| self.view.calls().is_empty())?;
        match calls_in(output) {
            Err(NotCalls::Shape(what)) => {
                let reason = format!("the row's output is not understood: {what}");
                Some(Outcome::unknown(Cause::MissingEvidence, reason))
            }
            _ => None,
        }
    }

    /// The definitions to validate with, as written.
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

    /// Definitions the library would be handed.
    pub(super) fn listed_definitions(&self) -> Option<&'a Value> {
        const KEY: [&str; 1] = ["function_definitions"];
        let own = self.settings.definitions.as_ref().map(|(written, _)| written);
        own.or_else(|| first(self.row, &KEY)).or_else(|| first(self.case_row, &KEY))
    }

    /// What the library would be handed as the response: the row's output as
    /// it stands, else the calls of the trajectory.
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
