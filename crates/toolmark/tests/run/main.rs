//! Tests of `toolmark run`: the real binary, with programs that simulate agents.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should say so")]
#![cfg(target_os = "linux")]

mod agentv;
mod agentv_more;
mod compared;
mod cut;
mod limits;
mod mistakes;
mod nothing_left;
mod peers;
mod real;
mod recorded;
mod resumed;
mod trials;
mod wide;
mod workspaces;

use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

/// A directory with a spec, programs and runs.
struct Stage {
    dir: tempfile::TempDir,
}

impl Stage {
    /// Returns a stage with this spec.
    fn new(spec: &str) -> Self {
        let stage = Self { dir: tempfile::tempdir().unwrap() };
        fs::create_dir_all(stage.path("home")).unwrap();
        stage.write("toolmark.yaml", spec);
        stage
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Writes a program; in `bin` it is found by its name.
    fn program(&self, name: &str, text: &str) {
        self.write(name, text);
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Returns the binary with a known environment.
    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_toolmark"));
        let system = std::env::var("PATH").unwrap();
        command.current_dir(self.dir.path()).args(args).env_clear();
        command.env("PATH", format!("{}:{system}", self.path("bin").display()));
        command.env("HOME", self.path("home")).env("COLUMNS", "100").env("NO_COLOR", "1");
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    /// Runs the command and returns its JSON report.
    fn json(&self, args: &[&str]) -> Value {
        let output = self.run(&[args, &["--format", "json"]].concat());
        serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|_| panic!("{args:?}: {}", text(&output)))
    }

    /// Returns the result of a trial, counted from 1, of the only run in a directory.
    fn result(&self, out: &str, target: &str, case: &str, trial: u32) -> Value {
        let path = self.path(out).join(format!("trials/{target}/{case}/{trial}/result.json"));
        let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        serde_json::from_str(&text).unwrap()
    }
}

/// Returns stdout and stderr of a command.
fn text(output: &Output) -> String {
    let streams = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    format!("{}{} (exit {:?})", streams[0], streams[1], output.status.code())
}

fn wait_for(mut happened: impl FnMut() -> bool, what: &str) {
    let start = Instant::now();
    while !happened() {
        assert!(start.elapsed() < Duration::from_secs(60), "waited too long for {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Whether a process exists and is not a zombie.
fn is_alive(pid: &str) -> bool {
    let stat = fs::read_to_string(Path::new("/proc").join(pid).join("stat")).unwrap_or_default();
    let state = stat.rsplit(')').next().unwrap_or_default().trim_start().chars().next();
    state.is_some_and(|state| state != 'Z')
}
