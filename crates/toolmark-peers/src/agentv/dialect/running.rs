//! Run settings of AgentV files: targets, trials, workspaces, budgets.

use super::targets;
use std::path::{Path, PathBuf};
use std::time::Duration;
use toolmark_config::{Node, NodeSpan, SourceText, parse, quoted};
use toolmark_grade::run_plan::{
    Attachment, GitSource, Isolation, KeepFiles, RunSettings, Runner, TrialHook, Variable,
    WorkspacePlan,
};
use toolmark_grade::{Loading, RunPlan};
use toolmark_match::units;
use toolmark_outcome::{PassRule, Profile};

/// Blocks that contain AgentV's run settings.
const BLOCKS: &[&str] = &["execution", "experiment", "evaluate_options", "run"];

/// Settings of such blocks that are ignored.
const NOT_DONE: &[&str] = &[
    "agent",
    "agent_options",
    "sandbox",
    "setup",
    "scripts",
    "cache",
    "cache_path",
    "early_exit",
    "fail_on_error",
    "failOnError",
    "verbose",
    "trace_file",
    "otel_file",
    "pool_workspaces",
];

/// Default timeouts of setup hooks and of cleanup hooks.
const BEFORE: Duration = Duration::from_secs(60);
const AFTER: Duration = Duration::from_secs(30);

/// Reads all run settings of a file.
pub(super) fn plan(root: &Node, loading: &Loading<'_>) -> RunPlan {
    let mut plan = RunPlan::default();
    targets::found(loading, &mut plan);
    plan.settings = settings(root, loading);
    for key in ["targets", "providers"] {
        for item in root.get(key).into_iter().flat_map(Node::items) {
            define(item, &mut plan, loading);
        }
    }
    let listed = root.get("execution").and_then(|block| block.get("targets"));
    for item in listed.into_iter().flat_map(Node::items) {
        define(item, &mut plan, loading);
    }
    if let Some(target) = root.get("execution").and_then(|block| block.get("target")) {
        define(target, &mut plan, loading);
    }
    if plan.settings.targets.is_empty() && !plan.targets.is_empty() {
        let is_default = plan.targets.iter().any(|target| target.name == "default");
        // AgentV runs the target of this name where none is named.
        if is_default || plan.targets.len() > 1 {
            plan.settings.targets = vec!["default".to_owned()];
        }
    }
    // Commands without a directory run in that of the file.
    let here = std::path::absolute(loading.directory).ok();
    for target in &mut plan.targets {
        let is_command = matches!(target.runner, Runner::Command { .. });
        if is_command && target.workspace.is_none() && target.directory.is_none() {
            target.directory.clone_from(&here);
        }
    }
    plan
}

/// Reads a target that is defined in the file itself: a new one, or hooks for an existing one.
fn define(node: &Node, plan: &mut RunPlan, loading: &Loading<'_>) {
    if node.as_map().is_none() {
        return;
    }
    match targets::target(node, loading, loading.directory) {
        Ok(mut target) => {
            let known = plan.targets.iter_mut().find(|known| known.name == target.name);
            let is_new = node.get("provider").is_some()
                || node.get("use_target").is_some()
                || node.get("id").is_some();
            match known {
                Some(known) if !is_new => known.workspace = target.workspace.take(),
                Some(known) => *known = target,
                None => plan.targets.push(target),
            }
        }
        Err(problem) => plan.problems.push(problem),
    }
}

/// Reads the run settings of a file or a case.
pub(super) fn settings(node: &Node, loading: &Loading<'_>) -> RunSettings {
    let mut settings = RunSettings::default();
    let blocks: Vec<&Node> = BLOCKS.iter().filter_map(|key| node.get(key)).collect();
    let said = |keys: &[&str]| {
        let holders = blocks.iter().copied().chain(std::iter::once(node));
        let mut found =
            holders.flat_map(|holder| keys.iter().filter_map(move |key| holder.get(key)));
        found.find(|value| !value.is_null())
    };
    settings.targets = names(said(&["targets", "providers", "target", "provider"]));
    let mut read = RunValues { loading, problems: &mut settings.problems };
    settings.timeout = read.time("timeout_seconds", said(&["timeout_seconds", "timeout"]));
    settings.jobs = read.count("workers", said(&["workers", "max_concurrency"]), 1);
    settings.retries = read.count("max_retries", said(&["max_retries"]), 0);
    settings.budget.usd =
        read.money("budget_usd", said(&["budget_usd", "budgetUsd", "total_budget_usd"]));
    let of_blocks =
        |key: &str| blocks.iter().find_map(|block| block.get(key)).filter(|value| !value.is_null());
    if let Some(env) = of_blocks("env") {
        settings.env = read.variables("env", env);
    }
    settings.keep = read.flag("keep_workspaces", of_blocks("keep_workspaces")).map(|keeps| {
        // AgentV removes what passed unless it is asked to keep everything.
        if keeps { KeepFiles::Always } else { KeepFiles::Failure }
    });
    if let Some(model) = blocks.iter().find_map(|block| block.get("model")) {
        settings.notes.push(placed(loading, model.span, "model has no effect here: use --model"));
    }
    for key in NOT_DONE {
        if let Some(entry) = blocks.iter().find_map(|block| block.entry(key)) {
            let message = format!("{key} is not done by toolmark run");
            settings.notes.push(placed(loading, entry.key_span, &message));
        }
    }
    for key in ["extensions", "depends_on"] {
        if let Some(entry) = node.entry(key) {
            let message = format!("{key} is not done by toolmark run");
            settings.notes.push(placed(loading, entry.key_span, &message));
        }
    }
    if let Some(repeat) = said(&["trials", "repeat", "runs"]) {
        trials(repeat, &mut settings, loading);
    }
    if let Some(workspace) = node.get("workspace").or_else(|| said(&["workspace"])) {
        settings.workspace = self::workspace(workspace, &mut settings, loading);
    }
    if let Some(hooks) = node.get("hooks") {
        let mut plan = settings.workspace.take().unwrap_or_default();
        let (problems, notes) = (&mut settings.problems, &mut settings.notes);
        self::hooks(hooks, loading, &mut plan, problems, notes);
        settings.workspace = Some(plan);
    }
    settings.metadata = node.get("metadata").filter(|value| !value.is_null()).map(Node::to_json);
    settings.attachments = attachments(node, loading);
    settings
}

/// Reads how the trials of a case are combined.
fn trials(repeat: &Node, settings: &mut RunSettings, loading: &Loading<'_>) {
    let count = repeat.get("count").unwrap_or(repeat);
    let mut read = RunValues { loading, problems: &mut settings.problems };
    settings.trials = read.count("trials", Some(count), 1);
    let strategy = repeat.get("strategy").and_then(Node::as_str);
    let is_agentv = matches!(loading.options.profile, Some(Profile::AgentV2));
    match strategy {
        Some("pass_at_k") => settings.pass = Some(PassRule::Any),
        None if is_agentv => settings.pass = Some(PassRule::Any),
        None => {}
        Some(other) => {
            let message = format!("strategy {other}: every trial must pass, and all are run");
            settings.notes.push(placed(loading, repeat.span, &message));
            settings.early_stop = Some(false);
        }
    }
    if let Some(limit) = repeat.get("cost_limit_usd") {
        let message = "cost_limit_usd has no effect: budget_usd limits the whole run";
        settings.notes.push(placed(loading, limit.span, message));
    }
}

/// Reads names of targets: a text, a map with a name, or a list of those.
fn names(node: Option<&Node>) -> Vec<String> {
    let Some(node) = node else { return Vec::new() };
    let one = |node: &Node| {
        let named = ["label", "name", "id"].iter().find_map(|key| node.get(key)?.as_str());
        node.as_str().or(named).map(str::to_owned)
    };
    match node.as_list() {
        Some(items) => items.iter().filter_map(one).collect(),
        None => one(node).into_iter().collect(),
    }
}

/// Reads values of a file; a value of the wrong kind is always reported.
pub(super) struct RunValues<'a, 'l> {
    pub(super) loading: &'a Loading<'l>,
    pub(super) problems: &'a mut Vec<String>,
}

impl RunValues<'_, '_> {
    fn wrong(&mut self, key: &str, node: &Node, expected: &str) {
        let message = format!("{key}: expected {expected}, found {}", node.word());
        self.problems.push(placed(self.loading, node.span, &message));
    }

    /// Reads a count with a minimum.
    pub(super) fn count(&mut self, key: &str, node: Option<&Node>, least: u32) -> Option<u32> {
        let node = node?;
        let count = node.as_u64().and_then(|n| u32::try_from(n).ok()).filter(|n| *n >= least);
        if count.is_none() {
            self.wrong(key, node, &format!("a whole number of {least} or more"));
        }
        count
    }

    /// Reads a time in seconds, as a number or as text; text may have another unit.
    pub(super) fn time(&mut self, key: &str, node: Option<&Node>) -> Option<Duration> {
        let node = node?;
        let text = || node.as_str().map(str::trim);
        let seconds = node
            .as_f64()
            .or_else(|| text()?.parse().ok())
            .or_else(|| Some(units::Duration::parse(text()?)?.millis / 1000.0));
        let time = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        let time = time.filter(|time| !time.is_zero());
        if time.is_none() {
            self.wrong(key, node, "a number of seconds above 0");
        }
        time
    }

    /// Reads an amount in US dollars.
    fn money(&mut self, key: &str, node: Option<&Node>) -> Option<f64> {
        let node = node?;
        let usd = node.as_f64().filter(|usd| usd.is_finite() && *usd >= 0.0);
        if usd.is_none() {
            self.wrong(key, node, "a number of 0 or more");
        }
        usd
    }

    /// Reads a boolean.
    pub(super) fn flag(&mut self, key: &str, node: Option<&Node>) -> Option<bool> {
        let node = node?;
        let flag = node.as_bool();
        if flag.is_none() {
            self.wrong(key, node, "true or false");
        }
        flag
    }

    /// Reads environment variables: names with values.
    pub(super) fn variables(&mut self, key: &str, node: &Node) -> Vec<Variable> {
        if node.as_map().is_none() {
            self.wrong(key, node, "names with values");
        }
        let text = |node: &Node| match node.to_json() {
            serde_json::Value::String(text) => text,
            value => value.to_string(),
        };
        node.entries().map(|entry| Variable::new(entry.key.as_str(), &text(&entry.value))).collect()
    }
}

/// Formats a message with its position, because it is reported when something is run, not when
/// the file is read.
pub(super) fn placed(loading: &Loading<'_>, span: NodeSpan, message: &str) -> String {
    let place = loading.place(span);
    format!("{}:{}:{}: {message}", loading.file, place.line, place.column)
}

/// Reads the workspace of a case.
fn workspace(
    node: &Node,
    settings: &mut RunSettings,
    loading: &Loading<'_>,
) -> Option<WorkspacePlan> {
    if let Some(file) = node.as_str() {
        return in_file(&loading.path(file), node.span, settings, loading);
    }
    let mut plan = WorkspacePlan::default();
    let path = |text: &str| Some(loading.path(text));
    for entry in node.entries() {
        let value = &entry.value;
        match (entry.key.as_str(), value.as_str()) {
            ("template", Some(template)) => plan.from = path(template),
            ("path", Some(path_text)) => {
                plan.from = path(path_text);
                settings.isolate = Some(Isolation::None);
            }
            ("mode", Some("static")) => settings.isolate = Some(Isolation::None),
            ("mode" | "isolation", _) => {
                if value.as_str() != Some("per_test") && value.as_str() != Some("temp") {
                    let message = "every trial has a workspace of its own";
                    settings.notes.push(placed(loading, entry.key_span, message));
                }
            }
            ("repos", _) => repos(value, &mut plan, settings, loading),
            ("env", _) => {
                let mut read = RunValues { loading, problems: &mut settings.problems };
                plan.env = read.variables("env", value);
            }
            ("hooks", _) => {
                let (problems, notes) = (&mut settings.problems, &mut settings.notes);
                hooks(value, loading, &mut plan, problems, notes);
            }
            (key, _) => {
                let message = format!("{} of a workspace is not supported", quoted(key));
                settings.problems.push(placed(loading, entry.key_span, &message));
            }
        }
    }
    Some(plan)
}

/// Reads a workspace from a separate file.
fn in_file(
    path: &Path,
    span: NodeSpan,
    settings: &mut RunSettings,
    loading: &Loading<'_>,
) -> Option<WorkspacePlan> {
    if path.is_dir() {
        return Some(WorkspacePlan { from: Some(path.to_owned()), ..WorkspacePlan::default() });
    }
    let source = match SourceText::open(path) {
        Ok(source) => source,
        Err(error) => {
            settings.problems.push(placed(loading, span, &error.to_string()));
            return None;
        }
    };
    let directory = path.parent().unwrap_or(Path::new("."));
    let inner = Loading::new(
        source.name.clone(),
        source.text(),
        directory,
        loading.options,
        loading.graders,
    );
    let root = parse(&source).node?;
    // A file that names another would never end.
    if root.as_str().is_some() {
        settings.problems.push(placed(&inner, root.span, "expected a workspace"));
        return None;
    }
    workspace(root.get("workspace").unwrap_or(&root), settings, &inner)
}

/// Reads the repository of a workspace.
fn repos(node: &Node, plan: &mut WorkspacePlan, settings: &mut RunSettings, loading: &Loading<'_>) {
    let Some([repo]) = node.as_list() else {
        if !node.items().as_slice().is_empty() {
            let message = "only one repository can be cloned into a workspace";
            settings.problems.push(placed(loading, node.span, message));
        }
        return;
    };
    let source = repo.get("source").unwrap_or(repo);
    let url = ["url", "repo", "path"].iter().find_map(|key| source.get(key)?.as_str());
    let Some(url) = url.or_else(|| source.as_str()) else {
        settings.problems.push(placed(loading, repo.span, "a repository needs a url"));
        return;
    };
    let checkout = repo.get("checkout").unwrap_or(repo);
    let reference =
        ["ref", "commit", "base_commit"].iter().find_map(|key| checkout.get(key)?.as_str());
    let below = repo.get("source").and_then(|_| repo.get("path")?.as_str());
    let dest = below.map(|path| PathBuf::from(path.trim_start_matches("./")));
    let dest = dest.filter(|path| !path.as_os_str().is_empty() && path != Path::new("."));
    if dest.as_ref().is_some_and(|dest| dest.is_absolute() || dest.starts_with("..")) {
        let message = "the path of a repository must be inside the workspace";
        settings.problems.push(placed(loading, repo.span, message));
        return;
    }
    let url = match url.starts_with('.') {
        true => loading.path(url).to_string_lossy().into_owned(),
        false => url.to_owned(),
    };
    plan.git = Some(GitSource { url, reference: reference.map(str::to_owned), dest });
}

/// Reads the programs that run before and after a trial.
pub(super) fn hooks(
    node: &Node,
    loading: &Loading<'_>,
    plan: &mut WorkspacePlan,
    problems: &mut Vec<String>,
    notes: &mut Vec<String>,
) {
    if node.get("enabled").and_then(Node::as_bool) == Some(false) {
        return;
    }
    for entry in node.entries() {
        let (is_before, is_once) = match entry.key.as_str() {
            "before_all" => (true, true),
            "before_each" => (true, false),
            "after_each" => (false, false),
            "after_all" => (false, true),
            "enabled" => continue,
            other => {
                let message = format!("hook {}: not supported", quoted(other));
                problems.push(placed(loading, entry.key_span, &message));
                continue;
            }
        };
        if is_once {
            let message = format!("{} runs for every trial: each has a workspace", entry.key);
            notes.push(placed(loading, entry.key_span, &message));
        }
        let usual = if is_before { BEFORE } else { AFTER };
        if let Some(reset) = entry.value.entry("reset") {
            let message = "reset has no effect: every trial has a workspace of its own";
            notes.push(placed(loading, reset.key_span, message));
            if entry.value.get("command").or_else(|| entry.value.get("script")).is_none() {
                continue;
            }
        }
        let Some(hook) = targets::hook(&entry.value, usual, loading, problems) else {
            let message = format!("hook {}: only commands are supported", entry.key);
            problems.push(placed(loading, entry.value.span, &message));
            continue;
        };
        let list: &mut Vec<TrialHook> =
            if is_before { &mut plan.setup } else { &mut plan.teardown };
        list.push(hook);
    }
}

/// Returns the files that the input of a case names.
fn attachments(node: &Node, loading: &Loading<'_>) -> Vec<Attachment> {
    let mut found = Vec::new();
    let mut add = |path: &str| {
        let path = path.strip_prefix("file://").unwrap_or(path);
        // A path from the top of the repository starts with a slash.
        let path = loading.path(path.trim_start_matches('/'));
        let attachment = Attachment { is_guideline: is_guideline(&path), path };
        if !found.contains(&attachment) {
            found.push(attachment);
        }
    };
    for file in node.get("input_files").into_iter().flat_map(Node::items) {
        if let Some(path) = file.as_str() {
            add(path);
        }
    }
    for input in ["input", "input_messages"].iter().filter_map(|key| node.get(key)) {
        for content in input.items().filter_map(|message| message.get("content")) {
            for part in content.items() {
                let is_file = part.get("type").and_then(Node::as_str) == Some("file");
                let path = part.get("value").or_else(|| part.get("path")).and_then(Node::as_str);
                if let Some(path) = path.filter(|_| is_file) {
                    add(path);
                }
            }
        }
    }
    found
}

/// Whether a file is an instruction file, by AgentV's naming conventions.
fn is_guideline(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let folder =
        |word: &str| path.parent().is_some_and(|parent| parent.iter().any(|part| part == word));
    name.ends_with(".instructions.md")
        || name.ends_with(".prompt.md")
        || folder("instructions")
        || folder("prompts")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};
    use toolmark_grade::LoadOptions;
    use toolmark_grade::run_plan::CommandLine;

    fn made(node: &Value) -> RunSettings {
        let options = LoadOptions::default();
        let loading = Loading::new("f".into(), "", Path::new("/d"), &options, crate::ALL);
        settings(&Node::from_json(node).unwrap(), &loading)
    }

    #[test]
    fn settings_of_every_version() {
        let base = RunSettings::default;
        for (node, expected) in [
            (
                json!({"execution": {"target": "a"}}),
                RunSettings { targets: vec!["a".into()], ..base() },
            ),
            (
                json!({"execution": {"targets": ["a", {"name": "b"}]}}),
                RunSettings { targets: vec!["a".into(), "b".into()], ..base() },
            ),
            (
                json!({"providers": [{"id": "cli", "label": "a"}]}),
                RunSettings { targets: vec!["a".into()], ..base() },
            ),
            (json!({"execution": {"workers": 3}}), RunSettings { jobs: Some(3), ..base() }),
            (
                json!({"evaluate_options": {"max_concurrency": 3}}),
                RunSettings { jobs: Some(3), ..base() },
            ),
            (json!({"execution": {"max_retries": 0}}), RunSettings { retries: Some(0), ..base() }),
            (
                json!({"execution": {"timeout_seconds": 2.5}}),
                RunSettings { timeout: Some(Duration::from_millis(2500)), ..base() },
            ),
            (
                json!({"execution": {"timeout_seconds": "90"}}),
                RunSettings { timeout: Some(Duration::from_secs(90)), ..base() },
            ),
            (
                json!({"execution": {"timeout": "2m"}}),
                RunSettings { timeout: Some(Duration::from_secs(120)), ..base() },
            ),
            (
                json!({"execution": {"keep_workspaces": true}}),
                RunSettings { keep: Some(KeepFiles::Always), ..base() },
            ),
            (
                json!({"execution": {"keep_workspaces": false}}),
                RunSettings { keep: Some(KeepFiles::Failure), ..base() },
            ),
            (
                json!({"execution": {"env": {"A": 1, "B": "${{ C }}"}}}),
                RunSettings {
                    env: vec![Variable::new("A", "1"), Variable::new("B", "${{ C }}")],
                    ..base()
                },
            ),
            (
                json!({"execution": {"trials": {"count": 4, "strategy": "pass_at_k"}}}),
                RunSettings { trials: Some(4), pass: Some(PassRule::Any), ..base() },
            ),
            (json!({"execution": {"trials": 4}}), RunSettings { trials: Some(4), ..base() }),
            (
                json!({"metadata": {"commit": "x"}}),
                RunSettings { metadata: Some(json!({"commit": "x"})), ..base() },
            ),
            (
                json!({"workspace": {"path": "w", "mode": "static"}}),
                RunSettings {
                    isolate: Some(Isolation::None),
                    workspace: Some(WorkspacePlan {
                        from: Some("/d/w".into()),
                        ..WorkspacePlan::default()
                    }),
                    ..base()
                },
            ),
        ] {
            assert_eq!(made(&node), expected, "{node}");
        }
    }

    #[test]
    fn what_is_none_of_its_kind_is_a_problem_and_what_is_not_done_a_note() {
        for (node, words) in [
            (json!({"timeout_seconds": "soon"}), "timeout_seconds: expected a number of seconds"),
            (json!({"timeout_seconds": 0}), "timeout_seconds: expected"),
            (json!({"workers": "many"}), "workers: expected a whole number of 1 or more"),
            (json!({"workers": 0}), "workers: expected"),
            (json!({"workers": 1.5}), "workers: expected"),
            (json!({"max_retries": -1}), "max_retries: expected a whole number of 0 or more"),
            (json!({"budget_usd": "ten"}), "budget_usd: expected a number of 0 or more"),
            (json!({"keep_workspaces": "yes please"}), "keep_workspaces: expected true or false"),
            (json!({"env": ["A"]}), "env: expected names with values"),
            (json!({"trials": {"count": "three"}}), "trials: expected a whole number"),
            (json!({"workspace": {"docker": {"image": "x"}}}), "\"docker\" of a workspace"),
            (json!({"workspace": {"repos": [{"ref": "v1"}]}}), "a repository needs a url"),
            (json!({"workspace": {"repos": [{"url": "a"}, {"url": "b"}]}}), "only one repository"),
            (
                json!({"workspace": {"repos": [{"source": {"url": "a"}, "path": "../x"}]}}),
                "inside the workspace",
            ),
            (json!({"workspace": {"hooks": {"before_lunch": "x"}}}), "hook \"before_lunch\""),
            (json!({"workspace": {"hooks": {"before_each": {"model": "x"}}}}), "only commands"),
            (
                json!({"workspace": {"hooks": {"before_each": {"command": "x", "timeout_ms": "y"}}}}),
                "timeout_ms: expected",
            ),
        ] {
            let found = made(&json!({"execution": node}));
            assert_eq!(found.problems.len(), 1, "{node}: {:?}", found.problems);
            assert!(found.problems[0].contains(words), "{node}: {:?}", found.problems);
            assert!(found.problems[0].starts_with("f:"), "{node}: {:?}", found.problems);
        }
        for key in NOT_DONE.iter().chain(&["model"]) {
            let found = made(&json!({"execution": {*key: "x"}}));
            assert!(found.notes[0].contains(key), "{key}: {found:?}");
            assert!(found.problems.is_empty(), "{key}: {found:?}");
        }
        let reset = made(&json!({"workspace": {"hooks": {"after_each": {"reset": "fast"}}}}));
        assert!(reset.notes[0].contains("reset has no effect"), "{reset:?}");
    }

    #[test]
    fn hooks_are_words_and_run_beside_the_file() {
        let found = made(&json!({"workspace": {"hooks": {
            "before_each": {"command": "node setup.mjs {{test_id}}", "timeout_ms": 1500},
            "after_each": {"script": ["sh", "-c", "rm *"], "cwd": "down"},
        }}}));
        let plan = found.workspace.unwrap();
        let words = |words: &[&str]| {
            CommandLine::DoubleBraces(words.iter().map(|word| (*word).to_owned()).collect())
        };
        assert_eq!(
            plan.setup,
            [TrialHook {
                line: words(&["node", "setup.mjs", "{{test_id}}"]),
                timeout: Duration::from_millis(1500),
                directory: Some("/d".into()),
            }]
        );
        assert_eq!(
            plan.teardown,
            [TrialHook {
                line: words(&["sh", "-c", "rm *"]),
                timeout: AFTER,
                directory: Some("/d/down".into()),
            }]
        );
        let off = made(&json!({"hooks": {"enabled": false, "before_each": {"command": "x"}}}));
        assert_eq!(off.workspace, Some(WorkspacePlan::default()));
    }
}
