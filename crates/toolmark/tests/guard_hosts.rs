//! Runs the real agents with the guard installed against a substitute for their model's HTTP API,
//! which requests a destructive command, a harmless command and an MCP tool that the policy denies.
//!
//! The agents are from npm, at the versions below, installed in the directory that `TOOLMARK_PEERS`
//! names.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should say so")]
#![cfg(unix)]

#[path = "hosts/serve.rs"]
mod serve;

use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};
use toolmark_testing::{peers, server_script};

/// An agent from npm.
struct Agent {
    host: &'static str,
    package: &'static str,
    version: &'static str,
    program: &'static str,
    /// Runs it on a prompt in the project.
    run: fn(&Stage, &mut Command),
}

static AGENTS: [Agent; 4] = [
    Agent {
        host: "claude-code",
        package: "@anthropic-ai/claude-code",
        version: "2.1.325",
        program: "claude",
        run: claude,
    },
    Agent {
        host: "codex",
        package: "@openai/codex",
        version: "0.166.0",
        program: "codex",
        run: codex,
    },
    Agent {
        host: "copilot-cli",
        package: "@github/copilot",
        version: "1.0.102",
        program: "copilot",
        run: copilot,
    },
    Agent {
        host: "gemini-cli",
        package: "@google/gemini-cli",
        version: "0.61.0",
        program: "gemini",
        run: gemini,
    },
];

#[test]
fn claude_code_is_stopped() {
    stopped("claude-code");
}

#[test]
fn codex_is_stopped() {
    stopped("codex");
}

#[test]
fn claude_code_cannot_disarm_it() {
    cannot_disarm("claude-code", |command| {
        command.args(["--permission-mode", "bypassPermissions"]).env("IS_SANDBOX", "1");
    });
}

/// File tools, in a mode in which Claude Code does not ask about edits and in one in which it never
/// asks.
#[test]
fn claude_code_edits_are_stopped_where_nobody_is_asked() {
    let agent = AGENTS.iter().find(|agent| agent.host == "claude-code").unwrap();
    let Some(program) = peers::or_skip(program(agent)) else { return };
    let modes: [fn(&mut Command); 2] = [
        |command| {
            command.args(["--permission-mode", "acceptEdits"]);
        },
        |command| {
            command.args(["--permission-mode", "bypassPermissions"]).env("IS_SANDBOX", "1");
        },
    ];
    for mode in modes {
        let stage = Stage::new(agent);
        // A file that Claude Code itself has nothing against.
        let policy = stage.project().join("toolmark.yaml");
        let notes = stage.project().join("notes.txt");
        let text = "guard: {preset: observe}\n";
        let write =
            |path: &Path| json!({"call": "Write", "input": {"file_path": path, "content": text}});
        let script = json!([write(&policy), write(&notes)]);
        fs::write(stage.path("script.json"), script.to_string()).unwrap();
        stage.toolmark(&["guard", "install", "claude-code"]);
        let told = stage.play_with(agent, &program, mode);
        assert_eq!(told.len(), 2, "{told:?}");
        assert!(!policy.exists() && told[0].contains("toolmark guard"), "{told:?}");
        assert!(notes.exists(), "{told:?}");
    }
}

#[test]
fn codex_cannot_disarm_it() {
    cannot_disarm("codex", |_| {});
}

/// A headless agent tries to remove the guard, to bypass it, and to write files that require
/// confirmation.
fn cannot_disarm(host: &str, bypass: fn(&mut Command)) {
    let agent = AGENTS.iter().find(|agent| agent.host == host).unwrap();
    let Some(program) = peers::or_skip(program(agent)) else { return };
    let stage = Stage::new(agent);
    let steps = [
        format!("{} guard uninstall", env!("CARGO_BIN_EXE_toolmark")),
        "printf '{}' > ~/.claude/settings.json; printf '{}' > ~/.codex/hooks.json".to_owned(),
        "echo 'alias ls=rm' >> ~/.profile".to_owned(),
        "echo 'exit 0' > .git/hooks/pre-commit".to_owned(),
        "find ~/precious -delete".to_owned(),
    ];
    let script: Vec<Value> = steps.iter().map(|step| json!({"run": step})).collect();
    fs::write(stage.path("script.json"), json!(script).to_string()).unwrap();
    fs::create_dir_all(stage.project().join(".git/hooks")).unwrap();
    stage.toolmark(&["guard", "install", host]);
    // What a repository may bring along.
    let lax = stage.project().join("lax.yaml");
    fs::write(&lax, "guard: {preset: observe}\n").unwrap();
    let settings = json!({"env": {"TOOLMARK_GUARD_POLICY": lax}});
    fs::create_dir_all(stage.project().join(".claude")).unwrap();
    fs::write(stage.project().join(".claude/settings.json"), settings.to_string()).unwrap();

    let told = stage.play_with(agent, &program, bypass);
    assert_eq!(told.len(), steps.len(), "{host}: {told:?}");
    for (step, told) in steps.iter().zip(&told) {
        assert!(told.contains("toolmark guard"), "{host}: {step}: {told}");
    }
    assert!(stage.precious().exists(), "{host}: {told:?}");
    assert!(!stage.home().join(".profile").exists(), "{host}: {told:?}");
    assert!(!stage.project().join(".git/hooks/pre-commit").exists(), "{host}: {told:?}");
    let status = stage.toolmark(&["guard", "status", host, "--scope", "user", "--format", "json"]);
    let status: Value = serde_json::from_str(&status).unwrap();
    assert_eq!(status[0]["state"], "installed", "{status}");
    assert_eq!(status[0]["last"]["decision"], "deny", "{status}");
}

/// With a user at the terminal: denied calls are denied in every mode, and `ask` prompts the user,
/// or is denied in modes without prompts.
#[test]
fn claude_code_at_a_terminal() {
    let Some((agent, program)) = agent("claude-code") else { return };
    for (mode, is_asked) in [("default", true), ("bypassPermissions", false)] {
        let stage = Stage::at_terminal(agent);
        let state = json!({
            "hasCompletedOnboarding": true, "theme": "dark", "bypassPermissionsModeAccepted": true,
            "customApiKeyResponses": {"approved": ["stand-in"], "rejected": []},
            "projects": {stage.real_project(): {"hasTrustDialogAccepted": true}},
        });
        fs::write(stage.home().join(".claude.json"), state.to_string()).unwrap();
        let told = stage.play_at_terminal(
            |command| {
                claude_environment(&stage, command);
                command.env("IS_SANDBOX", "1").arg(&program).arg("take the steps");
                command.args(["--permission-mode", mode, "--allowedTools", "Bash"]);
            },
            // The user declines.
            &json!([["Do you want to proceed", "\u{1b}"], ["Yes, I accept", "2\r"]]),
            if is_asked { "2+1" } else { "3" },
        );
        stage.check_terminal(&told, mode);
        let screen = fs::read_to_string(stage.path("screen.txt")).unwrap().replace(' ', "");
        let log = fs::read_to_string(stage.log()).unwrap();
        match is_asked {
            true => {
                let asked = screen.contains("Doyouwanttoproceed");
                assert!(asked && log.contains("\"decision\":\"ask\""), "{screen}\n{log}");
            }
            false => assert!(told[2].contains("toolmark guard"), "{told:?}"),
        }
    }
}

#[test]
fn codex_at_a_terminal() {
    let Some((agent, program)) = agent("codex") else { return };
    let stage = Stage::at_terminal(agent);
    let told = stage.play_at_terminal(
        |command| {
            codex_settings(&stage);
            command.arg(&program).arg("--dangerously-bypass-approvals-and-sandbox");
            // What a person does once in /hooks.
            command.args(["--dangerously-bypass-hook-trust", "take the steps"]);
        },
        &json!([["trust", "\r"]]),
        "3",
    );
    stage.check_terminal(&told, "codex");
    assert!(told[2].contains("toolmark guard"), "{told:?}");
}

/// Returns an agent and its program, if it can be installed.
fn agent(host: &str) -> Option<(&'static Agent, PathBuf)> {
    let agent = AGENTS.iter().find(|agent| agent.host == host).unwrap();
    Some((agent, peers::or_skip(program(agent))?))
}

#[test]
fn copilot_cli_is_stopped() {
    stopped("copilot-cli");
}

#[test]
fn gemini_cli_is_stopped() {
    stopped("gemini-cli");
}

/// Runs an agent without the guard and with it.
fn stopped(host: &str) {
    let agent = AGENTS.iter().find(|agent| agent.host == host).unwrap();
    let Some(program) = peers::or_skip(program(agent)) else { return };

    // Without the guard everything happens: the test can fail.
    let bare = Stage::new(agent);
    let told = bare.play(agent, &program);
    assert_eq!(told.len(), 3, "{host}: {told:?}");
    assert!(!bare.precious().exists(), "{host} did not run the command: {told:?}");
    assert!(bare.allowed().exists(), "{host}: {told:?}");
    assert_eq!(bare.reached(), "wipe\n", "{host}: {told:?}");

    let stage = Stage::new(agent);
    stage.toolmark(&["guard", "install", host]);
    fs::write(stage.project().join("toolmark.yaml"), POLICY).unwrap();
    let told = stage.play(agent, &program);
    assert_eq!(told.len(), 3, "{host}: {told:?}");
    assert!(stage.precious().exists(), "{host} ran the command: {told:?}");
    assert!(told[0].contains("toolmark guard"), "{host} was not told why: {told:?}");
    assert!(stage.allowed().exists(), "{host} did not run what is allowed: {told:?}");
    assert!(!told[1].contains("toolmark guard"), "{host}: {told:?}");
    assert_eq!(stage.reached(), "", "{host} reached the tool: {told:?}");
    assert!(told[2].contains("toolmark guard"), "{host} was not told why: {told:?}");

    stage.toolmark(&["guard", "uninstall", host]);
    let status = stage.toolmark(&["guard", "status", host, "--scope", "user", "--format", "json"]);
    let status: Value = serde_json::from_str(&status).unwrap();
    assert_eq!(status[0]["state"], "not-installed", "{status}");
}

/// Denied under the names that the hosts use for the tool.
const POLICY: &str = "guard:
  tools:
    deny: [mcp__records__wipe, records-wipe]
";

/// A home directory, a project, and the substitute servers.
struct Stage {
    dir: tempfile::TempDir,
}

impl Stage {
    fn new(agent: &Agent) -> Self {
        let stage = Self { dir: tempfile::tempdir().unwrap() };
        fs::create_dir_all(stage.home()).unwrap();
        fs::create_dir_all(stage.project().join(".git")).unwrap();
        fs::create_dir_all(stage.precious()).unwrap();
        fs::write(stage.precious().join("work.txt"), "a day's work").unwrap();
        // Codex itself refuses the usual spellings.
        let script = json!([
            {"run": "find ~/precious -delete"},
            {"run": "echo done > allowed.txt"},
            {"mcp": ["records", "wipe"], "input": {"key": "all"}},
        ]);
        fs::write(stage.path("script.json"), script.to_string()).unwrap();
        let server = json!({"mcpServers": {"records": {
            "command": "python3", "args": [server_script("mcp_server.py"), stage.path("reached.txt")],
            "tools": ["*"],
        }}});
        fs::write(stage.path("mcp.json"), server.to_string()).unwrap();
        if agent.host == "gemini-cli" {
            let mut settings = server;
            settings["mcpServers"]["records"].as_object_mut().unwrap().remove("tools");
            settings["security"] = json!({"auth": {"selectedType": "gemini-api-key"}});
            fs::create_dir_all(stage.home().join(".gemini")).unwrap();
            fs::write(stage.home().join(".gemini/settings.json"), settings.to_string()).unwrap();
        }
        stage
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn home(&self) -> PathBuf {
        self.path("home")
    }

    fn project(&self) -> PathBuf {
        self.path("project")
    }

    /// File that the first step destroys.
    fn precious(&self) -> PathBuf {
        self.home().join("precious")
    }

    /// File that the second step creates.
    fn allowed(&self) -> PathBuf {
        self.project().join("allowed.txt")
    }

    /// Called tools of the MCP server.
    fn reached(&self) -> String {
        fs::read_to_string(self.path("reached.txt")).unwrap_or_default()
    }

    /// Returns a command in the project, isolated from the user's environment.
    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.project()).env_clear().env("HOME", self.home());
        command.env("PATH", std::env::var_os("PATH").unwrap()).stdin(Stdio::null());
        command
    }

    fn toolmark(&self, args: &[&str]) -> String {
        let mut command = self.command(Path::new(env!("CARGO_BIN_EXE_toolmark")));
        let output = command.args(args).output().unwrap();
        assert!(output.status.code().is_some_and(|code| code < 2), "{args:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs the agent against the substitute model; returns its report to the model about each
    /// step.
    fn play(&self, agent: &Agent, program: &Path) -> Vec<String> {
        self.play_with(agent, program, |_| {})
    }

    /// Like `play`, with additional arguments.
    fn play_with(
        &self,
        agent: &Agent,
        program: &Path,
        more: impl FnOnce(&mut Command),
    ) -> Vec<String> {
        let mut model = Command::new("python3");
        model.arg(server_script("model.py"));
        model.args(["script.json", "record.jsonl", "port"].map(|name| self.path(name)));
        let _model = Running(model.spawn().unwrap());
        wait_for(|| self.path("port").exists(), "the stand-in to listen");
        let mut command = self.command(program);
        (agent.run)(self, &mut command);
        more(&mut command);
        let (out, err) = (self.path("out.txt"), self.path("err.txt"));
        command.stdout(fs::File::create(&out).unwrap()).stderr(fs::File::create(&err).unwrap());
        let mut running = Running(command.spawn().unwrap());
        wait_for(|| running.0.try_wait().unwrap().is_some(), agent.host);
        let record = fs::read_to_string(self.path("record.jsonl")).unwrap_or_else(|_| {
            let read = |path| fs::read_to_string(path).unwrap_or_default();
            panic!("{} said nothing to the model: {}{}", agent.host, read(&out), read(&err))
        });
        let rows = record.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        rows.map(|row| row["text"].as_str().map_or(row.to_string(), str::to_owned)).collect()
    }

    /// Returns a stage with the guard and a step that prompts the user.
    fn at_terminal(agent: &Agent) -> Self {
        let stage = Self::new(agent);
        let script = json!([
            {"run": "find ~/precious -delete"},
            {"run": "echo done > allowed.txt"},
            {"run": "echo 'alias ls=rm' >> ~/.profile"},
        ]);
        fs::write(stage.path("script.json"), script.to_string()).unwrap();
        stage.toolmark(&["guard", "install", agent.host]);
        stage
    }

    /// Runs an agent in a terminal; returns its report to the model about each step.
    fn play_at_terminal(
        &self,
        prepare: impl FnOnce(&mut Command),
        answers: &Value,
        rows: &str,
    ) -> Vec<String> {
        let mut model = Command::new("python3");
        model.arg(server_script("model.py"));
        model.args(["script.json", "record.jsonl", "port"].map(|name| self.path(name)));
        let _model = Running(model.spawn().unwrap());
        wait_for(|| self.path("port").exists(), "the stand-in to listen");
        let mut command = self.command(Path::new("python3"));
        command.arg(server_script("terminal.py")).arg(self.path("screen.txt"));
        command.arg(self.path("record.jsonl")).arg(rows);
        command.arg(answers.to_string()).arg("--");
        prepare(&mut command);
        let mut running = Running(command.spawn().unwrap());
        wait_for(|| running.0.try_wait().unwrap().is_some(), "the terminal");
        let read = |name| fs::read_to_string(self.path(name)).unwrap_or_default();
        let record = read("record.jsonl");
        let least = rows.split('+').next().unwrap().parse().unwrap();
        assert!(record.lines().count() >= least, "{record}{}", read("screen.txt"));
        let rows = record.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        rows.map(|row| row["text"].as_str().map_or(row.to_string(), str::to_owned)).collect()
    }

    /// Checks what must hold in every mode.
    fn check_terminal(&self, told: &[String], mode: &str) {
        assert!(told[0].contains("toolmark guard"), "{mode}: {told:?}");
        assert!(self.precious().exists(), "{mode}: {told:?}");
        assert!(self.allowed().exists(), "{mode}: {told:?}");
        assert!(!self.home().join(".profile").exists(), "{mode}: {told:?}");
    }

    fn log(&self) -> PathBuf {
        self.home().join(".local/state/toolmark/guard.jsonl")
    }

    /// Path of the project as programs resolve their working directory.
    fn real_project(&self) -> String {
        self.project().canonicalize().unwrap().to_str().unwrap().to_owned()
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}", fs::read_to_string(self.path("port")).unwrap())
    }
}

fn claude_environment(stage: &Stage, command: &mut Command) {
    command.env("ANTHROPIC_BASE_URL", stage.url()).env("ANTHROPIC_API_KEY", "stand-in");
    command.env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1").env("DISABLE_AUTOUPDATER", "1");
}

fn claude(stage: &Stage, command: &mut Command) {
    claude_environment(stage, command);
    // The tools of servers are named to the model from the start.
    command.env("ENABLE_TOOL_SEARCH", "false").env("MCP_CONNECTION_NONBLOCKING", "false");
    command.args(["-p", "take the steps", "--strict-mcp-config", "--mcp-config"]);
    command.arg(stage.path("mcp.json")).args(["--allowedTools", "Bash", "mcp__records__wipe"]);
}

fn codex_settings(stage: &Stage) {
    let config = format!(
        "model = 'stand-in'\nmodel_provider = 'stand_in'\n\
         [model_providers.stand_in]\nname = 'stand-in'\nbase_url = '{}/v1'\nwire_api = 'responses'\n\
         [mcp_servers.records]\ncommand = 'python3'\nargs = ['{}', '{}']\n\
         [projects.'{}']\ntrust_level = 'trusted'\n",
        stage.url(),
        server_script("mcp_server.py").display(),
        stage.path("reached.txt").display(),
        stage.real_project(),
    );
    fs::create_dir_all(stage.home().join(".codex")).unwrap();
    fs::write(stage.home().join(".codex/config.toml"), config).unwrap();
}

fn codex(stage: &Stage, command: &mut Command) {
    codex_settings(stage);
    command.args(["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"]);
    // What a person does once in /hooks.
    command.args(["--dangerously-bypass-hook-trust", "take the steps"]);
}

fn copilot(stage: &Stage, command: &mut Command) {
    command.env("COPILOT_PROVIDER_BASE_URL", format!("{}/v1", stage.url()));
    command.env("COPILOT_MODEL", "gpt-4.1").env("COPILOT_OFFLINE", "true");
    // It unpacks itself once.
    command.env("COPILOT_AUTO_UPDATE", "false").env("XDG_CACHE_HOME", cache().join("copilot-cli"));
    command.args(["-p", "take the steps", "--yolo", "--disable-builtin-mcps"]);
    let config = format!("@{}", stage.path("mcp.json").display());
    command.args(["--additional-mcp-config", &config]);
}

fn gemini(stage: &Stage, command: &mut Command) {
    command.env("GOOGLE_GEMINI_BASE_URL", stage.url()).env("GEMINI_API_KEY", "stand-in");
    command.env("GEMINI_CLI_TRUST_WORKSPACE", "true");
    command.args(["-p", "take the steps", "--yolo", "-m", "gemini-2.5-flash"]);
}

/// A child process that is killed at the end of the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn wait_for(mut happened: impl FnMut() -> bool, what: &str) {
    let start = Instant::now();
    while !happened() {
        assert!(start.elapsed() < Duration::from_secs(60), "waited too long for {what}");
        sleep(Duration::from_millis(20));
    }
}

/// Installation directory of the agents, kept between runs.
fn cache() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("hosts")
}

/// Returns the program of an agent; installs it if it is missing.
fn program(agent: &Agent) -> Result<PathBuf, String> {
    peers::find_python()?;
    let home = cache().join(format!("{}-{}", agent.host, agent.version));
    let program = home.join("node_modules/.bin").join(agent.program);
    peers::install_once(&home, || {
        peers::npm(&home, &format!("{}@{}", agent.package, agent.version))?;
        peers::run(Command::new(&program).arg("--version"))
    })?;
    Ok(program)
}
