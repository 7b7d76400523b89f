//! Real agents from npm against a simulated model: a case that passes and one that fails, by the
//! calls of the session file.

use super::{Stage, text, wait_for};
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use toolmark_testing::{peers, server_script};

/// An agent from npm, and its settings for a simulated model at an address.
struct Agent {
    id: &'static str,
    package: &'static str,
    version: &'static str,
    program: &'static str,
    /// Additional YAML of its target.
    target: fn(&str) -> String,
}

const CLAUDE: Agent = Agent {
    id: "claude-code",
    package: "@anthropic-ai/claude-code",
    version: "2.1.325",
    program: "claude",
    target: |url| {
        format!(
            "env: {{ANTHROPIC_BASE_URL: {url}, ANTHROPIC_API_KEY: a-key-of-a-stand-in, \
             CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1'}}"
        )
    },
};

const CODEX: Agent = Agent {
    id: "codex",
    package: "@openai/codex",
    version: "0.166.0",
    program: "codex",
    target: |url| {
        format!(
            "model: stand-in, permissions: full, env: {{STAND_IN_KEY: a-key-of-a-stand-in}}, \
             args: [-c, model_provider=standin, -c, 'model_providers.standin={{name=\"s\", \
             base_url=\"{url}/v1\", env_key=\"STAND_IN_KEY\", wire_api=\"responses\"}}']"
        )
    },
};

const GEMINI: Agent = Agent {
    id: "gemini-cli",
    package: "@google/gemini-cli",
    version: "0.61.0",
    program: "gemini",
    target: |url| {
        format!(
            "model: gemini-2.5-flash, env: {{GOOGLE_GEMINI_BASE_URL: {url}, \
             GEMINI_API_KEY: a-key-of-a-stand-in}}"
        )
    },
};

#[test]
fn claude_code_is_run_and_graded() {
    run_and_grade(&CLAUDE);
}

#[test]
fn codex_is_run_and_graded() {
    run_and_grade(&CODEX);
}

#[test]
fn gemini_cli_is_run_and_graded() {
    run_and_grade(&GEMINI);
}

/// A stage with an agent and its simulated model, which runs one command and then finishes.
struct Set {
    stage: Stage,
    program: String,
    url: String,
    _model: Running,
}

fn set(agent: &Agent) -> Option<Set> {
    let program = peers::or_skip(program(agent))?;
    let stage = Stage::new("");
    stage.write("source/fact.txt", "42 herons\n");
    let script = json!([{"run": "cat fact.txt > answer.txt && cat answer.txt"}]);
    stage.write("script.json", &script.to_string());
    let mut model = Command::new("python3");
    model.arg(server_script("model.py"));
    model.args(["script.json", "record.jsonl", "port"].map(|name| stage.path(name)));
    let model = Running(model.spawn().unwrap());
    wait_for(|| stage.path("port").exists(), "the stand-in to listen");
    let url = format!("http://127.0.0.1:{}", fs::read_to_string(stage.path("port")).unwrap());
    Some(Set { stage, program: program.to_string_lossy().into_owned(), url, _model: model })
}

impl Set {
    /// Runs a spec with a case that passes and one that fails, each decided by the only call of the
    /// session file.
    fn check(&self, spec: &str, target: &str) {
        let output = self.stage.run(&["run", spec, "--out", "r", "--jobs", "1"]);
        let said = text(&output);
        assert_eq!(output.status.code(), Some(1), "{target}: {said}");
        for (case, verdict) in [("passes", "pass"), ("fails", "fail")] {
            let result = self.stage.result("r", target, case, 1);
            assert_eq!(result["outcome"]["verdict"], verdict, "{target}: {said}");
            let ended = (&result["ended"], &result["used"]["calls"]);
            assert_eq!(ended, (&"completed".into(), &1.into()), "{target}: {said}");
            let trace = result["trace"].as_str().unwrap();
            assert!(trace.starts_with("attempt-1/session/"), "{target}: {trace}");
        }
        let left = fs::read_dir(self.stage.path("source")).unwrap().count();
        assert_eq!(left, 1, "the source is as it was");
    }
}

fn run_and_grade(agent: &Agent) {
    let Some(set) = set(agent) else { return };
    set.stage.write(
        "toolmark.yaml",
        &format!(
            "targets: {{it: {{agent: {}, executable: {:?}, {}}}}}\n\
             run: {{timeout: 100s, retries: 0, workspace: {{from: source}}}}\n\
             cases:\n\
             - {{id: passes, prompt: What is the fact?, graders: [{{type: tool-call-count, config: {{max: 1}}}}, \
               {{type: file-contains, config: {{path: answer.txt, value: herons}}}}, {{type: diff-contains, config: {{value: +42 herons}}}}]}}\n\
             - {{id: fails, prompt: What is the fact?, graders: [{{type: tool-call-count, config: {{max: 0}}}}]}}\n",
            agent.id,
            set.program,
            (agent.target)(&set.url)
        ),
    );
    set.check("toolmark.yaml", "it");
}

#[test]
fn claude_code_is_run_by_a_file_of_agentv_and_by_one_of_vally() {
    let Some(set) = set(&CLAUDE) else { return };
    let env = (CLAUDE.target)(&set.url);
    set.stage.write(
        ".agentv/targets.yaml",
        &format!(
            "targets:\n  - {{name: claude, provider: claude-cli, executable: {:?}, \
             timeout_seconds: 100, workspace_template: ../source, {env}}}\n",
            set.program
        ),
    );
    let case = |id: &str, minimum: u32| {
        format!(
            "  - {{id: {id}, criteria: x, input: What is the fact?, assertions: \
             [{{name: g, type: tool-trajectory, mode: any_order, minimums: {{Bash: {minimum}}}}}]}}\n"
        )
    };
    let tests = format!(
        "execution: {{target: claude, max_retries: 0}}\ntests:\n{}{}",
        case("passes", 1),
        case("fails", 2)
    );
    set.stage.write("evals/t.yaml", &tests);
    set.check("evals/t.yaml", "claude");
    fs::remove_dir_all(set.stage.path("r")).unwrap();
    // An executor has no variables: those of an environment are the agent's too.
    let stimulus = |name: &str, command: &str| {
        format!(
            "  - name: {name}\n    prompt: What is the fact?\n    graders:\n      \
             - {{type: tool-calls, config: {{required: [{{name: Bash, command: {command}}}]}}}}\n"
        )
    };
    set.stage.write(
        "eval.yaml",
        &format!(
            "defaults: {{executor: {{name: claude-cli, config: {{executable: {:?}}}}}, timeout: 100s}}\n\
             environment:\n  files: [{{src: source/fact.txt, dest: fact.txt}}]\n  {env}\n\
             stimuli:\n{}{}",
            set.program,
            stimulus("passes", "fact"),
            stimulus("fails", "nothing-of-the-kind"),
        ),
    );
    set.check("eval.yaml", "claude-cli");
}

#[test]
fn codex_is_run_by_a_file_of_agentv() {
    let Some(set) = set(&CODEX) else { return };
    let target = (CODEX.target)(&set.url).replace("permissions: full, ", "");
    set.stage.write(
        ".agentv/providers.yaml",
        &format!(
            "- {{id: codex-cli, label: codex, config: {{executable: {:?}, cwd: ../source, {target}}}}}\n",
            set.program
        ),
    );
    let case = |id: &str, max: u32| {
        format!(
            "  - {{id: {id}, criteria: x, input: What is the fact?, assertions: \
             [{{name: g, type: execution-metrics, max_tool_calls: {max}}}]}}\n"
        )
    };
    let tests = format!(
        "execution: {{target: codex, timeout_seconds: 100, max_retries: 0}}\ntests:\n{}{}",
        case("passes", 1),
        case("fails", 0)
    );
    set.stage.write("evals/t.yaml", &tests);
    set.check("evals/t.yaml", "codex");
}

/// A child process that is killed at the end of the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Returns the program of an agent; installs it if it is missing. Other tests share the
/// installation.
fn program(agent: &Agent) -> Result<PathBuf, String> {
    peers::find_python()?;
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("hosts");
    let home = cache.join(format!("{}-{}", agent.id, agent.version));
    let program = home.join("node_modules/.bin").join(agent.program);
    peers::install_once(&home, || {
        peers::npm(&home, &format!("{}@{}", agent.package, agent.version))?;
        peers::run(Command::new(&program).arg("--version"))
    })?;
    Ok(program)
}
