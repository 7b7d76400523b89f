//! Input of the suite: steps with a thought, calls and an observation, and the task.
//!
//! A row may already contain such an input (`{"id", "output": {"trajectory", "task", …}}`);
//! any other trajectory is converted, with a step for every response of the model.

use super::config::{SuiteSettings, Task};
use serde::Deserialize;
use serde_json::Value;
use toolmark_outcome::{Subject, TrajectoryView};
use toolmark_trace::{EventKind, Payload};

/// One step.
#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct SuiteStep {
    #[serde(default)]
    pub(crate) thought: Option<String>,
    #[serde(default)]
    pub(crate) action: Option<String>,
    #[serde(default)]
    pub(crate) observation: Option<String>,
    #[serde(default)]
    pub(crate) is_final: bool,
    #[serde(default)]
    pub(crate) tool_calls: Vec<ToolCall>,
}

/// One call.
#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct ToolCall {
    pub(crate) name: String,
    #[serde(default = "no_arguments")]
    pub(crate) arguments: Value,
    #[serde(default = "yes")]
    pub(crate) success: bool,
    /// Index among the calls of the view, if it has one.
    #[serde(skip)]
    pub(crate) place: Option<usize>,
}

fn no_arguments() -> Value {
    Value::Object(serde_json::Map::new())
}

fn yes() -> bool {
    true
}

/// The input of the suite.
#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct SuiteInput {
    pub(crate) trajectory: Vec<SuiteStep>,
    #[serde(default)]
    pub(crate) task: Task,
    #[serde(default)]
    pub(crate) expected_trajectory: Option<Vec<Value>>,
    #[serde(default)]
    pub(crate) final_result: Option<Value>,
    #[serde(default)]
    pub(crate) expected_result: Option<Value>,
    #[serde(default)]
    pub(crate) available_tools: Option<Vec<String>>,
    /// Expected number of steps.
    #[serde(skip)]
    pub(crate) expected_steps: Option<usize>,
}

impl SuiteInput {
    /// Returns the input that would be passed to the library: the row's input as written, otherwise
    /// one built from the trajectory. The configuration takes precedence.
    pub(crate) fn theirs(settings: &SuiteSettings, subject: &Subject<'_>) -> Self {
        let view = &subject.view;
        Self::with(from_row(view).unwrap_or_else(|| from_view(view)), settings, subject)
    }

    /// Returns the calls as read, with the row's data about the task.
    pub(crate) fn ours(settings: &SuiteSettings, subject: &Subject<'_>) -> Self {
        let mut input = from_view(&subject.view);
        if let Some(row) = from_row(&subject.view) {
            let is_final = row.trajectory.last().is_some_and(|step| step.is_final);
            if let Some(last) = input.trajectory.last_mut() {
                last.is_final |= is_final;
            }
            let (trajectory, final_result) = (input.trajectory, input.final_result);
            input =
                Self { trajectory, final_result: row.final_result.clone().or(final_result), ..row };
        }
        Self::with(input, settings, subject)
    }

    fn with(mut input: Self, settings: &SuiteSettings, subject: &Subject<'_>) -> Self {
        input.expected_steps =
            settings.expected_steps.or(input.expected_trajectory.as_ref().map(Vec::len));
        let task = &settings.task;
        if !task.description.is_empty() {
            input.task.description.clone_from(&task.description);
        } else if input.task.description.is_empty() {
            input.task.description = subject.context.prompts.join("\n");
        }
        let own = task.clone();
        input.task.expected_outcome = own.expected_outcome.or(input.task.expected_outcome);
        input.task.required_tools = own.required_tools.or(input.task.required_tools);
        input.task.max_steps = own.max_steps.or(input.task.max_steps);
        input.task.success_criteria = own.success_criteria.or(input.task.success_criteria);
        input.expected_result = settings
            .expected_result
            .clone()
            .or(input.expected_result)
            .or_else(|| subject.context.expected_output.clone())
            .filter(|result| !result.is_null());
        input.available_tools = settings.available_tools.clone().or(input.available_tools);
        input
    }

    /// Iterates over all calls, in order.
    pub(crate) fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.trajectory.iter().flat_map(|step| &step.tool_calls)
    }
}

/// Returns the input contained in a row.
fn from_row(view: &TrajectoryView<'_>) -> Option<SuiteInput> {
    let row = view.trajectory().stated.row.as_ref()?.parsed()?;
    let output = row.get("output").or_else(|| row.get("response"))?;
    output.get("trajectory")?.as_array()?;
    serde_json::from_value(output.clone()).ok()
}

fn from_view(view: &TrajectoryView<'_>) -> SuiteInput {
    let trajectory = view.trajectory();
    let call = |(place, seen): (usize, &toolmark_outcome::IndexedCall<'_>)| {
        let args = seen.call.args.as_ref().map(Payload::to_value);
        let result = seen.call.result.as_ref().and_then(|result| result.payload.as_ref());
        let call = ToolCall {
            name: seen.call.name.full().into_owned(),
            arguments: args.filter(|args| !args.is_null()).unwrap_or_else(no_arguments),
            success: !seen.call.status.is_error(),
            place: Some(place),
        };
        (seen.call.step, call, result.map(|result| result.plain().into_owned()))
    };
    let mut calls: Vec<_> = view.calls().iter().enumerate().map(call).collect();
    let indices = view.steps();
    let mut steps: Vec<SuiteStep> = Vec::with_capacity(indices.len());
    for index in &indices {
        let words = |kind: EventKind| -> Option<String> {
            let events = view.events_of(kind).filter(|event| event.step == Some(*index));
            let texts: Vec<String> = events
                .filter_map(|event| Some(event.text.as_ref()?.plain().into_owned()))
                .collect();
            (!texts.is_empty()).then(|| texts.join("\n"))
        };
        let mut step = SuiteStep { thought: words(EventKind::Reasoning), ..SuiteStep::default() };
        let message = words(EventKind::Message);
        let (own, others) = calls.into_iter().partition(|(step, ..)| *step == Some(*index));
        calls = others;
        fill(&mut step, own);
        if step.tool_calls.is_empty() {
            step.action = message;
        } else if step.thought.is_none() {
            step.thought = message;
        }
        steps.push(step);
    }
    // Calls of formats that record no responses.
    for call in calls {
        let mut step = SuiteStep::default();
        fill(&mut step, vec![call]);
        steps.push(step);
    }
    if let Some(last) = steps.last_mut() {
        last.is_final = last.tool_calls.is_empty();
    }
    let result = view.output().ok().filter(|output| !output.is_empty());
    let tools = trajectory.tools.as_ref();
    SuiteInput {
        trajectory: steps,
        task: Task {
            description: view.prompt().unwrap_or_default().into_owned(),
            ..Task::default()
        },
        final_result: result.map(|output| Value::from(output.into_owned())),
        available_tools: tools
            .map(|all| all.iter().map(|tool| tool.name.get().into_owned()).collect()),
        ..SuiteInput::default()
    }
}

type Answered = (Option<u32>, ToolCall, Option<String>);

fn fill(step: &mut SuiteStep, calls: Vec<Answered>) {
    let mut results = Vec::new();
    for (_, call, result) in calls {
        results.extend(result);
        step.tool_calls.push(call);
    }
    step.observation = (!results.is_empty()).then(|| results.join("\n"));
}
