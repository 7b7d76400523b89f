//! Real agents from npm against a stand-in for their model: a case that passes and one
//! that fails, by the calls of the session file.

use super::{Stage, text, wait_for};
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use toolmark_testing::{peers, server_script};

/// An agent from npm, and what it needs to talk to the stand-in at an address.
struct Agent {
    id: &'static str,
    package: &'static str,
    version: &'static str,
    program: &'static str,
    /// More of its target, in YAML.
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

fn run_and_grade(agent: &Agent) {
    let Some(program) = peers::or_skip(program(agent)) else { return };
    let stage = Stage::new("");
    stage.write("source/fact.txt", "42 herons\n");
    let script = json!([{"run": "cat fact.txt > answer.txt && cat answer.txt"}]);
    stage.write("script.json", &script.to_string());
    let mut model = Command::new("python3");
    model.arg(server_script("model.py"));
    model.args(["script.json", "record.jsonl", "port"].map(|name| stage.path(name)));
    let _model = Running(model.spawn().unwrap());
    wait_for(|| stage.path("port").exists(), "the stand-in to listen");
    let url = format!("http://127.0.0.1:{}", fs::read_to_string(stage.path("port")).unwrap());
    stage.write(
        "toolmark.yaml",
        &format!(
            "targets: {{it: {{agent: {}, executable: {:?}, {}}}}}\n\
             run: {{timeout: 100s, jobs: 1, retries: 0, workspace: {{from: source}}}}\n\
             cases:\n\
             - {{id: passes, prompt: What is the fact?, graders: [{{type: tool-call-count, config: {{max: 1}}}}, \
               {{type: file-contains, config: {{path: answer.txt, value: herons}}}}, {{type: diff-contains, config: {{value: +42 herons}}}}]}}\n\
             - {{id: fails, prompt: What is the fact?, graders: [{{type: tool-call-count, config: {{max: 0}}}}]}}\n",
            agent.id,
            program.to_string_lossy(),
            (agent.target)(&url)
        ),
    );
    let output = stage.run(&["run", "toolmark.yaml", "--out", "r"]);
    let said = text(&output);
    assert_eq!(output.status.code(), Some(1), "{}: {said}", agent.id);
    for (case, verdict) in [("passes", "pass"), ("fails", "fail")] {
        let result = stage.result("r", "it", case, 1);
        assert_eq!(result["outcome"]["verdict"], verdict, "{}: {said}", agent.id);
        assert_eq!((&result["ended"], &result["used"]["calls"]), (&"completed".into(), &1.into()));
        let trace = result["trace"].as_str().unwrap();
        assert!(trace.starts_with("attempt-1/session/"), "{}: {trace}", agent.id);
    }
    assert_eq!(fs::read_dir(stage.path("source")).unwrap().count(), 1, "the source is as it was");
}

/// A process that does not outlive the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The program of an agent, installed if it is not. Other tests install the same ones
/// there.
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
