//! Reads targets (called providers from version 5): the programs to run, and their options.

use super::running::{self, RunValues, placed};
use std::path::{Path, PathBuf};
use std::time::Duration;
use toolmark_config::{Node, SourceText, parse, quoted};
use toolmark_grade::Loading;
use toolmark_grade::run_plan::{
    AgentTarget, CommandLine, Recordings, RunPlan, Runner, TraceSource, TrialHook,
    TrialPermissions, WorkspacePlan,
};

/// Files that list targets, looked up in each directory upwards.
const FILES: &[&str] = &[
    ".agentv/targets.yaml",
    ".agentv/targets.yml",
    ".agentv/providers.yaml",
    ".agentv/providers.yml",
    "targets.yaml",
    "providers.yaml",
];

/// Maximum number of parent directories searched.
const MAX_DIRECTORIES: usize = 64;

/// Placeholders in commands, in all versions.
const PLACEHOLDERS: &[&str] =
    &["PROMPT", "PROMPT_FILE", "OUTPUT_FILE", "FILES", "EVAL_ID", "ATTEMPT", "GUIDELINES"];

/// Supported keys of a target or its `config`.
const KEYS: &[&str] = &[
    "name",
    "id",
    "label",
    "provider",
    "config",
    "use_target",
    "command",
    "command_template",
    "commandTemplate",
    "executable",
    "binary",
    "args",
    "arguments",
    "model",
    "timeout_seconds",
    "timeoutSeconds",
    "cwd",
    "env",
    "workspace_template",
    "workspaceTemplate",
    "files_format",
    "filesFormat",
    "attachments_format",
    "healthcheck",
    "hooks",
    "provider_batching",
    "providerBatching",
    "workers",
    "fixtures",
    "fixture",
    "transcripts",
    "execution_traces",
    "source_target",
    "path",
    "traces",
    "response",
    "runtime",
];

/// Keys for the location of recorded runs.
const RECORDINGS: &[&str] =
    &["fixtures", "fixture", "transcripts", "execution_traces", "path", "traces"];

/// Reads the target file and the variables beside it, if there is one.
pub(super) fn found(loading: &Loading<'_>, plan: &mut RunPlan) {
    let Ok(start) = std::path::absolute(loading.directory) else { return };
    let mut is_found = false;
    for directory in start.ancestors().take(MAX_DIRECTORIES) {
        let env = directory.join(".env");
        if env.is_file() {
            plan.env_files.push(env);
        }
        let file = FILES.iter().map(|name| directory.join(name)).find(|path| path.is_file());
        if let Some(file) = file.filter(|_| !is_found) {
            is_found = true;
            read(&file, loading, plan);
        }
        // Directories above a repository are unrelated.
        if directory.join(".git").exists() {
            break;
        }
    }
}

/// Reads a target file. Its problems only matter when cases are run.
fn read(path: &Path, loading: &Loading<'_>, plan: &mut RunPlan) {
    let source = match SourceText::open(path) {
        Ok(source) => source,
        Err(error) => {
            plan.problems.push(error.to_string());
            return;
        }
    };
    let parsed = parse(&source);
    let directory = path.parent().unwrap_or(Path::new("."));
    let inner = Loading::new(
        source.name.clone(),
        source.text(),
        directory,
        loading.options,
        loading.graders,
    );
    for problem in parsed.problems.iter().filter(|problem| problem.is_error()) {
        let span = problem.span.unwrap_or_default();
        plan.problems.push(placed(&inner, span, &problem.message));
    }
    let Some(root) = parsed.node else { return };
    let list = root.get("targets").or_else(|| root.get("providers")).unwrap_or(&root);
    let Some(items) = list.as_list() else {
        plan.problems.push(placed(&inner, list.span, "expected a list of targets"));
        return;
    };
    for item in items {
        match target(item, &inner, loading.directory) {
            Ok(target) => plan.targets.push(target),
            Err(problem) => plan.problems.push(problem),
        }
    }
}

/// Returns a value of a target or its `config`.
fn value<'n>(node: &'n Node, keys: &[&str]) -> Option<&'n Node> {
    let holders = [Some(node), node.get("config")];
    let found = holders.into_iter().flatten().flat_map(|holder| {
        keys.iter().filter_map(move |key| holder.get(key).filter(|value| !value.is_null()))
    });
    found.into_iter().next()
}

fn text(node: &Node, keys: &[&str]) -> Option<String> {
    value(node, keys).and_then(Node::as_str).map(str::to_owned)
}

/// Reads a target of a list. `eval` is the directory of the eval file, which may differ from
/// that of the list.
pub(super) fn target(
    node: &Node,
    loading: &Loading<'_>,
    eval: &Path,
) -> Result<AgentTarget, String> {
    let own = |keys: &[&str]| keys.iter().find_map(|key| node.get(key)?.as_str());
    // Version 5 may name a provider alone.
    let id = node.as_str().or_else(|| own(&["id"]));
    let name = own(&["label", "name"]).or(id);
    let Some(name) = name else {
        return Err(placed(loading, node.span, "a target needs a name"));
    };
    let provider = own(&["provider"]).or(id).unwrap_or_default();
    let (provider, model) = match provider.split_once(':') {
        Some((provider, model)) => (provider, Some(model.to_owned())),
        None => (provider, None),
    };
    let mut target = AgentTarget::new(name, Runner::Unsupported(String::new()));
    target.place = loading.place(node.span);
    target.stands_for = text(node, &["use_target"]);
    target.models = text(node, &["model"]).or(model).into_iter().collect();
    let mut read = RunValues { loading, problems: &mut target.problems };
    target.timeout =
        read.time("timeout_seconds", value(node, &["timeout_seconds", "timeoutSeconds"]));
    target.jobs = read.count("workers", value(node, &["workers"]), 1);
    let batches = value(node, &["provider_batching", "providerBatching"]);
    target.batches = read.flag("provider_batching", batches).unwrap_or(false);
    target.files_format = text(node, &["files_format", "filesFormat", "attachments_format"]);
    // AgentV lets its agents do everything; here they work in a copy.
    target.permissions = TrialPermissions::Workspace;
    if let Some(env) = value(node, &["env"]) {
        target.env = read.variables("env", env);
    }
    unused_keys(node, &mut target);
    if target.stands_for.is_none() {
        target.runner = runner(node, provider, &mut target, loading, eval);
    }
    let answers_all = matches!(
        target.runner,
        Runner::Command { trace: TraceSource::OutputFile, .. } | Runner::Replay(_)
    );
    if target.batches && !answers_all && target.stands_for.is_none() {
        let message = "provider_batching needs a command that writes {OUTPUT_FILE}";
        target.problems.push(placed(loading, node.span, message));
    }
    let template = text(node, &["workspace_template", "workspaceTemplate"]);
    let is_agent = matches!(target.runner, Runner::Agent { .. });
    let cwd = value(node, &["cwd"]).and_then(Node::as_str);
    let mut workspace = WorkspacePlan::default();
    match (template, cwd) {
        (Some(template), _) => workspace.from = Some(path(&template, loading)),
        // An agent works in a copy of it.
        (None, Some(cwd)) if is_agent => workspace.from = Some(path(cwd, loading)),
        (None, cwd) if matches!(target.runner, Runner::Command { .. }) => {
            target.directory = cwd.map(|cwd| path(cwd, loading));
        }
        (None, _) => {}
    }
    if let Some(hooks) = value(node, &["hooks"]) {
        let (problems, notes) = (&mut target.problems, &mut target.notes);
        running::hooks(hooks, loading, &mut workspace, problems, notes);
    }
    if workspace != WorkspacePlan::default() {
        target.workspace = Some(workspace);
    }
    Ok(target)
}

/// Resolves a path in a target file; a path that is a variable is kept.
fn path(written: &str, loading: &Loading<'_>) -> PathBuf {
    let path = loading.path(written);
    std::path::absolute(&path).unwrap_or(path)
}

fn unused_keys(node: &Node, target: &mut AgentTarget) {
    let config = node.get("config").into_iter().flat_map(Node::entries);
    for entry in node.entries().chain(config) {
        if !KEYS.contains(&entry.key.as_str()) {
            target.notes.push(format!("{} has no effect", quoted(&entry.key)));
        }
    }
    if let Some(runtime) = node.get("runtime") {
        let kind = runtime.as_str().or_else(|| runtime.get("type")?.as_str());
        if kind != Some("host") {
            let kind = kind.unwrap_or("of this kind");
            target.problems.push(format!("a runtime {kind} is not supported: only host"));
        }
    }
}

/// Returns the runner for a provider name.
fn runner(
    node: &Node,
    provider: &str,
    target: &mut AgentTarget,
    loading: &Loading<'_>,
    eval: &Path,
) -> Runner {
    let agent = match provider {
        "claude" | "claude-code" | "claude-cli" | "claude-sdk" => "claude-code",
        "copilot" | "copilot-cli" | "copilot-sdk" => "copilot-cli",
        "pi" | "pi-cli" | "pi-coding-agent" => "pi",
        codex if codex.starts_with("codex") => "codex",
        "cli" => return command(node, target, loading),
        "replay" | "transcript" | "mock" => return replay(node, provider, loading, eval),
        "" => return Runner::Unsupported("it names no provider".to_owned()),
        other => {
            let why = "only agents and commands can be run";
            return Runner::Unsupported(format!("provider {other}: {why}"));
        }
    };
    let args = value(node, &["args", "arguments"]).into_iter().flat_map(Node::items);
    Runner::Agent {
        id: agent.to_owned(),
        executable: text(node, &["executable", "binary", "command"]),
        args: args.filter_map(Node::as_str).map(str::to_owned).collect(),
    }
}

/// Reads a command in the format of 2.x, 4.x or 5.
fn command(node: &Node, target: &mut AgentTarget, loading: &Loading<'_>) -> Runner {
    const COMMANDS: &[&str] = &["command", "command_template", "commandTemplate"];
    let Some(written) = value(node, COMMANDS) else {
        target.problems.push(placed(loading, node.span, "a cli target needs a command"));
        return Runner::Unsupported("it has no command".to_owned());
    };
    let line = match (written.as_str(), written.as_list()) {
        (Some(line), _) => line.to_owned(),
        (None, Some(words)) => words.iter().filter_map(Node::as_str).collect::<Vec<_>>().join(" "),
        (None, None) => String::new(),
    };
    for name in names(&line).filter(|name| !PLACEHOLDERS.contains(name)) {
        let known: Vec<String> = PLACEHOLDERS.iter().map(|one| format!("{{{one}}}")).collect();
        let message = format!("unknown placeholder {{{name}}}; known: {}", known.join(", "));
        target.problems.push(placed(loading, written.span, &message));
    }
    if let Some(check) = value(node, &["healthcheck"]) {
        match (check.get("url"), COMMANDS.iter().find_map(|key| check.get(key)?.as_str())) {
            (_, Some(line)) => target.health = Some(CommandLine::Capitals(line.to_owned())),
            (Some(_), None) => target.notes.push("its health is not asked over HTTP".to_owned()),
            (None, None) => target.problems.push("its healthcheck has no command".to_owned()),
        }
    }
    let trace = match names(&line).any(|name| name == "OUTPUT_FILE") {
        true => TraceSource::OutputFile,
        false => TraceSource::Stdout,
    };
    Runner::Command { line: CommandLine::Capitals(line), trace, needs_success: true }
}

/// Iterates over the placeholder names in braces, which are in upper case.
fn names(line: &str) -> impl Iterator<Item = &str> {
    line.match_indices('{').filter_map(|(at, _)| {
        let is_shell = line.get(..at).is_some_and(|before| before.ends_with('$'));
        let (name, _) = line.get(at + 1..)?.split_once('}')?;
        let is_name = !name.is_empty() && name.bytes().all(|b| b.is_ascii_uppercase() || b == b'_');
        (is_name && !is_shell).then_some(name)
    })
}

/// Reads recorded runs, or a constant answer.
fn replay(node: &Node, provider: &str, loading: &Loading<'_>, eval: &Path) -> Runner {
    if let Some(written) = text(node, RECORDINGS) {
        // AgentV takes the path from the eval file; from the list of targets it is tried too.
        let near = eval.join(&written);
        let near = std::path::absolute(&near).unwrap_or(near);
        let path = if near.exists() { near } else { path(&written, loading) };
        return Runner::Replay(Recordings {
            path,
            agent: text(node, &["source_target"]),
            named: true,
        });
    }
    match text(node, &["response"]) {
        Some(answer) => Runner::Command {
            line: CommandLine::Words(vec!["printf".into(), "%s".into(), answer]),
            trace: TraceSource::Stdout,
            needs_success: true,
        },
        None => Runner::Unsupported(format!("provider {provider}: no recorded runs configured")),
    }
}

/// Reads a hook of a target or workspace: words, in which `{{name}}` refers to
/// the values that are also passed on stdin. `None` if it is not a command.
pub(super) fn hook(
    node: &Node,
    usual: Duration,
    loading: &Loading<'_>,
    problems: &mut Vec<String>,
) -> Option<TrialHook> {
    let written = ["command", "script"].iter().find_map(|key| node.get(key)).unwrap_or(node);
    let words: Vec<String> = match written.as_str() {
        // AgentV cuts a text at its spaces: quotes and `&&` mean nothing.
        Some(line) => line.split_whitespace().map(str::to_owned).collect(),
        None => written.as_list()?.iter().filter_map(Node::as_str).map(str::to_owned).collect(),
    };
    let line = CommandLine::DoubleBraces(Some(words).filter(|words| !words.is_empty())?);
    let mut read = RunValues { loading, problems };
    let millis = read.count("timeout_ms", node.get("timeout_ms"), 1);
    let millis = millis.map(|millis| Duration::from_millis(millis.into()));
    let timeout = millis.or_else(|| read.time("timeout_seconds", node.get("timeout_seconds")));
    let cwd = node.get("cwd").and_then(Node::as_str);
    let cwd = cwd.map_or(loading.directory.to_owned(), |cwd| loading.directory.join(cwd));
    let directory = std::path::absolute(&cwd).unwrap_or(cwd);
    Some(TrialHook { line, timeout: timeout.unwrap_or(usual), directory: Some(directory) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};
    use toolmark_grade::LoadOptions;

    fn made(node: &Value) -> AgentTarget {
        let options = LoadOptions::default();
        let loading = Loading::new("t".into(), "", Path::new("/d"), &options, crate::ALL);
        target(&Node::from_json(node).unwrap(), &loading, Path::new("/e")).unwrap()
    }

    #[test]
    fn providers_of_all_versions() {
        for (node, expected) in [
            (json!({"name": "a", "provider": "claude-sdk"}), "claude-code"),
            (json!({"name": "a", "provider": "codex-cli"}), "codex"),
            (json!({"id": "copilot-sdk", "label": "a"}), "copilot-cli"),
            (json!("pi-coding-agent"), "pi"),
            (json!({"name": "a", "provider": "cli", "commandTemplate": "x {PROMPT}"}), "stdout"),
            (json!({"name": "a", "provider": "cli", "command": "x {OUTPUT_FILE}"}), "file"),
            (json!({"id": "cli", "config": {"command": "x {OUTPUT_FILE}"}}), "file"),
            (json!({"name": "a", "provider": "replay", "fixtures": "f.jsonl"}), "/d/f.jsonl"),
            (json!({"name": "a", "provider": "vscode"}), "unsupported"),
            (json!({"name": "a", "provider": "azure"}), "unsupported"),
            (json!({"name": "a", "provider": "mock"}), "unsupported"),
        ] {
            let found = match made(&node).runner {
                Runner::Agent { id, .. } => id,
                Runner::Command { trace: TraceSource::OutputFile, .. } => "file".into(),
                Runner::Command { .. } => "stdout".into(),
                Runner::Replay(recordings) => recordings.path.to_string_lossy().into_owned(),
                Runner::Unsupported(_) => "unsupported".into(),
            };
            assert_eq!(found, expected, "{node}");
        }
    }

    #[test]
    fn what_goes_with_an_agent_is_kept_and_the_rest_is_noted() {
        let target = made(&json!({
            "name": "a", "provider": "claude", "executable": "cl", "args": ["-x"], "model": "m",
            "timeout_seconds": 5, "cwd": "work", "log_format": "json",
        }));
        let Runner::Agent { executable, args, .. } = &target.runner else { panic!("{target:?}") };
        assert_eq!(
            (executable.as_deref(), args.as_slice()),
            (Some("cl"), ["-x".to_owned()].as_slice())
        );
        assert_eq!(
            (target.models, target.timeout),
            (vec!["m".to_owned()], Some(Duration::from_secs(5)))
        );
        assert_eq!(target.workspace.unwrap().from, Some("/d/work".into()));
        assert_eq!(target.notes, ["\"log_format\" has no effect"]);
    }

    #[test]
    fn what_is_none_of_its_kind_is_a_problem() {
        for (key, value, words) in [
            ("timeout_seconds", json!("soon"), "expected a number of seconds above 0"),
            ("timeout_seconds", json!(-1), "expected a number of seconds above 0"),
            ("workers", json!(0), "expected a whole number of 1 or more"),
            ("provider_batching", json!("sometimes"), "expected true or false"),
            ("env", json!("A=b"), "expected names with values"),
            ("provider_batching", json!(true), "needs a command that writes {OUTPUT_FILE}"),
            ("healthcheck", json!({}), "healthcheck has no command"),
            ("runtime", json!("sandbox"), "only host"),
        ] {
            let target = made(&json!({"name": "a", "provider": "cli", "command": "x", key: value}));
            assert_eq!(target.problems.len(), 1, "{key}: {:?}", target.problems);
            assert!(target.problems[0].contains(words), "{key}: {:?}", target.problems);
        }
        let all = made(&json!({
            "name": "a", "provider": "cli", "command": "x {OUTPUT_FILE}", "workers": 2,
            "provider_batching": true,
        }));
        assert_eq!((all.batches, all.jobs, all.problems.len()), (true, Some(2), 0));
    }

    #[test]
    fn recorded_runs_are_those_of_one_agent_and_name_their_cases() {
        for key in RECORDINGS {
            let target = made(
                &json!({"name": "a", "provider": "replay", *key: "f", "source_target": "live"}),
            );
            let expected =
                Recordings { path: "/d/f".into(), agent: Some("live".into()), named: true };
            assert_eq!(target.runner, Runner::Replay(expected), "{key}");
        }
    }

    #[test]
    fn only_names_in_capitals_are_placeholders() {
        let line = "awk '{print}' ${HOME} {PROMPT} {B C} {OUTPUT_FILE";
        assert_eq!(names(line).collect::<Vec<_>>(), ["PROMPT"]);
    }
}
