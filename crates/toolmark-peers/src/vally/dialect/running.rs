//! Run settings of Vally: executors, environments, limits.

use std::path::{Component, Path, PathBuf};
use std::time::Duration;
use toolmark_config::{Node, NodeEntry, NodeKind, NodeSpan, SourceText, parse, quoted};
use toolmark_grade::run_plan::{
    AgentTarget, ArtifactRules, Attachment, CommandLine, FileSource, GitSource, Recordings,
    RunSettings, Runner, TrialHook, TrialPermissions, Variable, WorkspaceFile, WorkspacePlan,
};
use toolmark_grade::{Loading, RunPlan};
use toolmark_match::units;

/// Default timeout of a run.
const TIMEOUT: Duration = Duration::from_secs(120);

/// Timeout of a command of an environment.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(60);

/// Default executor.
const EXECUTOR: &str = "copilot-sdk";

/// Names of project files.
const PROJECT: &[&str] = &[".vally.yaml", ".vally.yml"];

/// Reads all run settings of a file.
pub(super) fn plan(root: &Node, loading: &Loading<'_>) -> RunPlan {
    let defaults = root.get("defaults").or_else(|| root.get("config"));
    let of = |key: &str| defaults.and_then(|node| node.get(key)).filter(|node| !node.is_null());
    let mut plan = RunPlan::default();
    plan.settings.timeout = Some(time(of("timeout")).unwrap_or(TIMEOUT));
    let executor = of("executor");
    let name = executor.and_then(|node| node.as_str().or_else(|| node.get("name")?.as_str()));
    let name = name.unwrap_or(EXECUTOR);
    let config = executor.and_then(|node| node.get("config"));
    let mut target = AgentTarget::new(name, runner(name, config, loading));
    target.permissions = TrialPermissions::Workspace;
    target.place = loading.place(executor.map_or(root.span, |node| node.span));
    target.models = match of("model").map(|model| &model.kind) {
        Some(NodeKind::Text(model)) => vec![model.to_string()],
        Some(NodeKind::List(models)) => {
            models.iter().filter_map(Node::as_str).map(str::to_owned).collect()
        }
        _ => Vec::new(),
    };
    if let Some(effort) = of("reasoning_effort") {
        target.notes.push(placed(loading, effort.span, "reasoning_effort has no effect"));
    }
    let used = ["traces", "fixtures", "path", "executable", "args"];
    for entry in config.into_iter().flat_map(Node::entries) {
        if !used.contains(&entry.key.as_str()) {
            let message = format!("{} of an executor has no effect", quoted(&entry.key));
            target.notes.push(placed(loading, entry.key_span, &message));
        }
    }
    plan.settings.targets = vec![name.to_owned()];
    plan.targets.push(target);
    plan
}

/// Returns the runner for an executor name.
fn runner(name: &str, config: Option<&Node>, loading: &Loading<'_>) -> Runner {
    let text = |key: &str| config.and_then(|config| config.get(key)?.as_str());
    let agent = match name {
        "copilot-sdk" | "copilot-cli" | "copilot" => "copilot-cli",
        "claude-cli" | "claude-code" | "claude" => "claude-code",
        "mock" => {
            let traces = ["traces", "fixtures", "path"].iter().find_map(|key| text(key));
            return match traces {
                Some(traces) => Runner::Replay(Recordings::at(loading.path(traces))),
                None => Runner::Unsupported(
                    "executor mock: no recorded runs configured (config.traces)".to_owned(),
                ),
            };
        }
        other => {
            let why = "executors of plugins cannot be run";
            return Runner::Unsupported(format!("executor {other}: {why}"));
        }
    };
    let args = config.and_then(|config| config.get("args")).into_iter().flat_map(Node::items);
    Runner::Agent {
        id: agent.to_owned(),
        executable: text("executable").map(str::to_owned),
        args: args.filter_map(Node::as_str).map(str::to_owned).collect(),
    }
}

/// Returns the environment of all stimuli, and that of their agent alone.
pub(super) fn environments(root: &Node) -> Option<Node> {
    let keys = ["environment", "agent_environment"];
    let entries: Vec<NodeEntry> = keys.iter().filter_map(|key| root.entry(key).cloned()).collect();
    (!entries.is_empty()).then(|| Node::new(NodeKind::Map(entries), root.span))
}

/// Reads the run settings of one stimulus.
pub(super) fn settings(node: &Node, shared: Option<&Node>, loading: &Loading<'_>) -> RunSettings {
    let mut settings = RunSettings::default();
    let own = [Some(node), node.get("config")];
    let written = own.into_iter().flatten().find_map(|holder| holder.get("timeout"));
    settings.timeout = checked_time("timeout", written, &mut settings, loading);
    for entry in node.get("config").into_iter().flat_map(Node::entries) {
        if !matches!(entry.key.as_str(), "timeout" | "runs") {
            let message = format!("{} of a stimulus has no effect", quoted(&entry.key));
            settings.notes.push(placed(loading, entry.key_span, &message));
        }
    }
    settings.only_on = executors(node.get("supported_executors"), &mut settings, loading);
    if let Some(constraints) = node.get("constraints") {
        let limit = |key: &str| constraints.get(key).and_then(Node::as_u64);
        settings.limits.turns = limit("max_turns");
        settings.limits.tokens = limit("max_tokens");
    }
    let mut plan = WorkspacePlan::default();
    for key in ["environment", "agent_environment"] {
        let general = shared.and_then(|shared| shared.get(key));
        let parts = [general, node.get(key)].map(|part| {
            part.filter(|part| !part.is_null())
                .and_then(|part| resolved(part, &mut settings, loading))
        });
        if let Some(merged) = merged(parts) {
            environment(&merged, &mut plan, &mut settings, loading);
        }
    }
    plan.artifacts = artifacts(node.get("artifacts"), &mut settings, loading);
    if plan != WorkspacePlan::default() {
        settings.workspace = Some(plan);
    }
    for file in node.get("attachments").into_iter().flat_map(Node::items) {
        match file.as_str().or_else(|| file.get("path")?.as_str()) {
            Some(path) => settings
                .attachments
                .push(Attachment { path: loading.path(path), is_guideline: false }),
            None => {
                settings.problems.push(placed(loading, file.span, "an attachment needs a path"));
            }
        }
    }
    if let Some(simulation) = node.entry("simulation") {
        let message = "tools cannot be simulated";
        settings.problems.push(placed(loading, simulation.key_span, message));
    }
    settings
}

/// Reads the executors that can run a stimulus; with other executors it is skipped.
fn executors(
    node: Option<&Node>,
    settings: &mut RunSettings,
    loading: &Loading<'_>,
) -> Vec<String> {
    let Some(node) = node.filter(|node| !node.is_null()) else { return Vec::new() };
    let names = texts(node);
    if names.is_none() {
        let message = "supported_executors: expected a list of names";
        settings.problems.push(placed(loading, node.span, message));
    }
    let agent = |name: &str| match runner(name, None, loading) {
        Runner::Agent { id, .. } => Some(id),
        _ => None,
    };
    let names = names.unwrap_or_default();
    let agents: Vec<String> = names.iter().filter_map(|name| agent(name)).collect();
    [names, agents].concat()
}

/// Reads which files of a stimulus are kept.
fn artifacts(
    node: Option<&Node>,
    settings: &mut RunSettings,
    loading: &Loading<'_>,
) -> Option<ArtifactRules> {
    let node = node.filter(|node| !node.is_null())?;
    let part = |key: &str| node.get(key).map_or(Some(Vec::new()), texts);
    let is_known = |key: &str| matches!(key, "include" | "exclude");
    match (node.as_map(), part("include"), part("exclude")) {
        (Some(entries), Some(include), Some(exclude))
            if entries.iter().all(|entry| is_known(&entry.key)) =>
        {
            Some(ArtifactRules { include, exclude })
        }
        _ => {
            let message = "artifacts: expected include and exclude, each a list of patterns";
            settings.problems.push(placed(loading, node.span, message));
            None
        }
    }
}

/// Reads a list of texts; `None` if it contains anything else.
fn texts(node: &Node) -> Option<Vec<String>> {
    node.as_list()?.iter().map(|item| item.as_str().map(str::to_owned)).collect()
}

/// Resolves an environment, which may be the name of one in the project.
fn resolved(node: &Node, settings: &mut RunSettings, loading: &Loading<'_>) -> Option<Node> {
    let Some(name) = node.as_str() else { return Some(node.clone()) };
    let start = std::path::absolute(loading.directory).ok()?;
    for directory in start.ancestors().take(64) {
        let file = PROJECT.iter().map(|file| directory.join(file)).find(|path| path.is_file());
        let Some(file) = file else { continue };
        let source = SourceText::open(&file).ok();
        let root = source.as_ref().and_then(|source| parse(source).node);
        let found = root.and_then(|root| root.get("environments")?.get(name).cloned());
        match found {
            // Places of another file would point anywhere.
            Some(found) => return Some(found.moved(node.span)),
            None => break,
        }
    }
    let message = format!("there is no environment {} in .vally.yaml", quoted(name));
    settings.problems.push(placed(loading, node.span, &message));
    None
}

/// Merges the environment of a stimulus into that of its file: lists are joined, an empty list
/// replaces, and other keys of the stimulus take precedence.
fn merged([general, own]: [Option<Node>; 2]) -> Option<Node> {
    let (Some(general), Some(own)) = (&general, &own) else { return general.or(own) };
    let mut entries: Vec<NodeEntry> = general.entries().cloned().collect();
    for entry in own.entries() {
        let Some(known) = entries.iter_mut().find(|known| known.key == entry.key) else {
            entries.push(entry.clone());
            continue;
        };
        match (&mut known.value.kind, &entry.value.kind) {
            (NodeKind::List(all), NodeKind::List(more)) if !more.is_empty() => {
                all.extend(more.clone())
            }
            (NodeKind::Map(all), NodeKind::Map(more)) => {
                all.retain(|known| more.iter().all(|entry| entry.key != known.key));
                all.extend(more.clone());
            }
            _ => known.value = entry.value.clone(),
        }
    }
    Some(Node::new(NodeKind::Map(entries), own.span))
}

/// Adds an environment to the workspace of a stimulus.
fn environment(
    node: &Node,
    plan: &mut WorkspacePlan,
    settings: &mut RunSettings,
    loading: &Loading<'_>,
) {
    let timeout = checked_time("commandTimeout", node.get("commandTimeout"), settings, loading);
    let timeout = timeout.unwrap_or(COMMAND_TIMEOUT);
    for entry in node.entries() {
        let value = &entry.value;
        let is_list = matches!(entry.key.as_str(), "skills" | "agents" | "commands");
        if is_list && texts(value).is_none() {
            let message = format!("{}: expected a list of texts", entry.key);
            settings.problems.push(placed(loading, value.span, &message));
            continue;
        }
        let paths = || value.items().filter_map(Node::as_str).map(|path| loading.path(path));
        match entry.key.as_str() {
            "skills" => plan.skills.extend(paths()),
            "agents" => plan.agents.extend(paths()),
            "files" => value.items().for_each(|file| add_file(file, plan, settings, loading)),
            "commands" => {
                let lines = value.items().filter_map(Node::as_str);
                plan.setup.extend(lines.map(|line| TrialHook {
                    timeout,
                    ..TrialHook::new(CommandLine::Capitals(line.to_owned()))
                }));
            }
            "commandTimeout" => {}
            "env" => {
                let text = |node: &Node| match node.to_json() {
                    serde_json::Value::String(text) => text,
                    value => value.to_string(),
                };
                let variables = value.entries();
                plan.env.extend(
                    variables.map(|entry| Variable::new(entry.key.as_str(), &text(&entry.value))),
                );
            }
            "mcpServers" => plan.mcp_servers = Some(value.to_json().to_string()),
            "git" => git(value, plan, settings, loading),
            key => {
                let message = format!("{} of an environment is not supported", quoted(key));
                settings.problems.push(placed(loading, entry.key_span, &message));
            }
        }
    }
}

fn add_file(
    file: &Node,
    plan: &mut WorkspacePlan,
    settings: &mut RunSettings,
    loading: &Loading<'_>,
) {
    let text = |key: &str| file.get(key).and_then(Node::as_str);
    let Some(src) = text("src").or_else(|| file.as_str()) else {
        settings.problems.push(placed(loading, file.span, "a file needs src"));
        return;
    };
    let dest = text("dest").map(PathBuf::from);
    let dest = dest.or_else(|| Path::new(src).file_name().map(PathBuf::from)).unwrap_or_default();
    let stays = |part| matches!(part, Component::Normal(_) | Component::CurDir);
    if dest.as_os_str().is_empty() || !dest.components().all(stays) {
        let message = "dest must be a path inside the workspace";
        settings.problems.push(placed(loading, file.span, message));
        return;
    }
    plan.files.push(WorkspaceFile { source: FileSource::Path(loading.path(src)), dest });
}

/// Reads a repository: always a clone. Vally may create a worktree instead, which would share
/// branches and settings with its source.
fn git(node: &Node, plan: &mut WorkspacePlan, settings: &mut RunSettings, loading: &Loading<'_>) {
    let text = |key: &str| node.get(key).and_then(Node::as_str);
    let url = match (text("url"), text("source")) {
        (Some(url), _) => url.to_owned(),
        (None, Some(source)) => loading.path(source).to_string_lossy().into_owned(),
        // A worktree of the repository the file is in.
        (None, None) => loading.directory.to_string_lossy().into_owned(),
    };
    if let Some(sparse) = node.entry("sparse") {
        let message = "sparse has no effect: the whole repository is cloned";
        settings.notes.push(placed(loading, sparse.key_span, message));
    }
    plan.git = Some(GitSource { url, reference: text("ref").map(str::to_owned), dest: None });
}

fn time(node: Option<&Node>) -> Option<Duration> {
    let parsed = units::Duration::parse(node?.as_str()?)?;
    Duration::try_from_secs_f64(parsed.millis / 1000.0).ok().filter(|time| !time.is_zero())
}

/// Reads a duration; an invalid one is reported.
fn checked_time(
    key: &str,
    node: Option<&Node>,
    settings: &mut RunSettings,
    loading: &Loading<'_>,
) -> Option<Duration> {
    let node = node.filter(|node| !node.is_null())?;
    let time = time(Some(node));
    if time.is_none() {
        let message = format!("{key}: expected a time such as \"2m\", found {}", node.word());
        settings.problems.push(placed(loading, node.span, &message));
    }
    time
}

/// Formats a message with its position, because it is reported when something is run, not when the
/// file is read.
fn placed(loading: &Loading<'_>, span: NodeSpan, message: &str) -> String {
    let place = loading.place(span);
    format!("{}:{}:{}: {message}", loading.file, place.line, place.column)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};
    use toolmark_grade::LoadOptions;

    #[test]
    fn a_stimulus_adds_to_the_environment_of_its_file_or_replaces_parts() {
        for (general, own, expected) in [
            (json!({"skills": ["a"]}), json!({"skills": ["b"]}), json!({"skills": ["a", "b"]})),
            (json!({"skills": ["a"]}), json!({"skills": []}), json!({"skills": []})),
            (json!({"env": {"A": "1"}}), json!({"env": {"A": "2"}}), json!({"env": {"A": "2"}})),
            (
                json!({"env": {"A": "1"}}),
                json!({"files": []}),
                json!({"env": {"A": "1"}, "files": []}),
            ),
        ] {
            let node = |value: &Value| Node::from_json(value);
            let found = merged([node(&general), node(&own)]).unwrap().to_json();
            assert_eq!(found, expected, "{general} {own}");
        }
    }

    #[test]
    fn executors_and_times() {
        for (defaults, agent, seconds) in [
            (json!({}), "copilot-cli", 120),
            (json!({"executor": {"name": "claude-cli"}, "timeout": "5m"}), "claude-code", 300),
        ] {
            let options = LoadOptions::default();
            let loading = Loading::new("s".into(), "", Path::new("."), &options, crate::ALL);
            let root = Node::from_json(&json!({"defaults": defaults})).unwrap();
            let plan = plan(&root, &loading);
            let Runner::Agent { id, .. } = &plan.targets[0].runner else { panic!("{plan:?}") };
            assert_eq!(
                (id.as_str(), plan.settings.timeout),
                (agent, Some(Duration::from_secs(seconds)))
            );
        }
    }

    fn made(node: &Value) -> RunSettings {
        let options = LoadOptions::default();
        let loading = Loading::new("s".into(), "", Path::new("/d"), &options, crate::ALL);
        settings(&Node::from_json(node).unwrap(), None, &loading)
    }

    #[test]
    fn a_stimulus_says_how_it_is_run() {
        let base = RunSettings::default;
        let plan = |plan: WorkspacePlan| RunSettings { workspace: Some(plan), ..base() };
        for (node, expected) in [
            (
                json!({"timeout": "90s"}),
                RunSettings { timeout: Some(Duration::from_secs(90)), ..base() },
            ),
            (
                json!({"config": {"timeout": "1m", "runs": 2}}),
                RunSettings { timeout: Some(Duration::from_secs(60)), ..base() },
            ),
            (
                json!({"supported_executors": ["claude-cli", "own"]}),
                RunSettings {
                    only_on: ["claude-cli", "own", "claude-code"].map(str::to_owned).to_vec(),
                    ..base()
                },
            ),
            (
                json!({"artifacts": {"include": ["out/**"], "exclude": ["**/*.log"]}}),
                plan(WorkspacePlan {
                    artifacts: Some(ArtifactRules {
                        include: vec!["out/**".into()],
                        exclude: vec!["**/*.log".into()],
                    }),
                    ..WorkspacePlan::default()
                }),
            ),
            (
                json!({"environment": {"git": {"source": "repo", "ref": "v1"}}}),
                plan(WorkspacePlan {
                    git: Some(GitSource {
                        url: "/d/repo".into(),
                        reference: Some("v1".into()),
                        dest: None,
                    }),
                    ..WorkspacePlan::default()
                }),
            ),
            (
                json!({"environment": {"commands": ["make"], "commandTimeout": "5s"}}),
                plan(WorkspacePlan {
                    setup: vec![TrialHook {
                        timeout: Duration::from_secs(5),
                        ..TrialHook::new(CommandLine::Capitals("make".into()))
                    }],
                    ..WorkspacePlan::default()
                }),
            ),
        ] {
            assert_eq!(made(&node), expected, "{node}");
        }
    }

    #[test]
    fn what_is_none_of_its_kind_is_a_problem_and_what_has_no_effect_a_note() {
        for (node, words) in [
            (json!({"timeout": 90}), "timeout: expected a time"),
            (json!({"config": {"timeout": "soon"}}), "timeout: expected a time"),
            (json!({"supported_executors": "claude-cli"}), "expected a list of names"),
            (json!({"supported_executors": [1]}), "expected a list of names"),
            (json!({"artifacts": ["out"]}), "expected include and exclude"),
            (json!({"artifacts": {"includes": ["out"]}}), "expected include and exclude"),
            (json!({"environment": {"commands": "make"}}), "commands: expected a list of texts"),
            (json!({"environment": {"skills": [{}]}}), "skills: expected a list of texts"),
            (json!({"environment": {"commandTimeout": 5}}), "commandTimeout: expected a time"),
            (json!({"environment": {"files": [{"dest": "a"}]}}), "a file needs src"),
            (
                json!({"environment": {"files": [{"src": "a", "dest": "../b"}]}}),
                "inside the workspace",
            ),
            (json!({"environment": {"network": "off"}}), "\"network\" of an environment"),
            (json!({"attachments": [1]}), "an attachment needs a path"),
            (json!({"simulation": {}}), "tools cannot be simulated"),
        ] {
            let found = made(&node);
            assert_eq!(found.problems.len(), 1, "{node}: {:?}", found.problems);
            assert!(found.problems[0].contains(words), "{node}: {:?}", found.problems);
        }
        let found = made(&json!({"config": {"model": "x"}}));
        assert!(found.notes[0].contains("\"model\" of a stimulus"), "{:?}", found.notes);
    }
}
