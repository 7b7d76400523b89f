//! Solvers of a task: solvers that are commands can be run.

use super::task::Task;
use std::time::Duration;
use toolmark_config::{Node, quoted};
use toolmark_grade::run_plan::{AgentTarget, CommandLine, Runner, TraceSource, Variable};
use toolmark_grade::{Loading, RunPlan};

/// Keys of a solver that is a command.
const KEYS: &[&str] = &[
    "type",
    "name",
    "key",
    "display_name",
    "command",
    "args",
    "env",
    "timeout",
    "trace",
    "trace_column",
    "input_builder",
    "cwd",
    "description",
];

/// Returns the run settings of a task.
pub(super) fn plan(task: &Task<'_>, loading: &Loading<'_>) -> RunPlan {
    let mut plan = RunPlan::default();
    let Some(solver) = task.solver().filter(|solver| !solver.is_null()) else { return plan };
    let text = |key: &str| solver.get(key).and_then(Node::as_str);
    let kind = solver.as_str().or_else(|| text("type")).unwrap_or("solver");
    let name = ["name", "key"].iter().find_map(|key| text(key)).unwrap_or(kind);
    let mut target = AgentTarget::new(name, Runner::Unsupported(String::new()));
    target.place = loading.place(solver.span);
    target.runner = match solver.get("command").and_then(|node| line(node, solver)) {
        Some(line) => {
            target.directory = std::path::absolute(
                text("cwd").map_or_else(|| loading.directory.to_owned(), |cwd| loading.path(cwd)),
            )
            .ok();
            let trace = match text("trace") {
                None | Some("stdout") => TraceSource::Stdout,
                Some("output-file" | "output_file") => TraceSource::OutputFile,
                Some(pattern) => TraceSource::Files(pattern.to_owned()),
            };
            for entry in solver.entries().filter(|entry| !KEYS.contains(&entry.key.as_str())) {
                target.notes.push(format!("{} has no effect", quoted(&entry.key)));
            }
            Runner::Command { line, trace, needs_success: true }
        }
        None => {
            Runner::Unsupported(format!("solver {kind}: only solvers with a command can be run"))
        }
    };
    if let Some(timeout) = solver.get("timeout") {
        let seconds = timeout.as_f64().or_else(|| {
            let parsed = toolmark_match::units::Duration::parse(timeout.as_str()?)?;
            Some(parsed.millis / 1000.0)
        });
        target.timeout = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        if target.timeout.is_none_or(|time| time.is_zero()) {
            let place = loading.place(timeout.span);
            let message = format!("{}:{}: not a time", loading.file, place.line);
            target.problems.push(message);
        }
    }
    for entry in solver.get("env").into_iter().flat_map(Node::entries) {
        let value = match entry.value.to_json() {
            serde_json::Value::String(text) => text,
            value => value.to_string(),
        };
        target.env.push(Variable::new(entry.key.as_str(), &value));
    }
    plan.targets.push(target);
    plan
}

/// Reads a command line: words, or a shell command line followed by `args`.
fn line(command: &Node, solver: &Node) -> Option<CommandLine> {
    let texts = |node: &Node| -> Vec<String> {
        node.items().filter_map(Node::as_str).map(str::to_owned).collect()
    };
    let args = solver.get("args").map(texts).unwrap_or_default();
    match command.as_str() {
        Some(line) if args.is_empty() => Some(CommandLine::Shell(line.to_owned())),
        Some(program) => {
            Some(CommandLine::Words(std::iter::once(program.to_owned()).chain(args).collect()))
        }
        None => {
            let words: Vec<String> = texts(command).into_iter().chain(args).collect();
            (!words.is_empty()).then_some(CommandLine::Words(words))
        }
    }
}
