//! Runs a program for a grader or a judge, with limits on time and output.
//!
//! A program gets a directory, an environment and possibly an input; its time and
//! its output are limited. Both of its pipes are read continuously, so that it never
//! blocks on writing; output beyond the limit is read and dropped. When the program
//! ends or its time is up, its remaining processes are killed: grading leaves nothing
//! running. With a supervisor ([`enable_supervisor`]), this includes programs that
//! start sessions of their own, and holds even if toolmark itself is killed. Without
//! a supervisor, it covers the process group and the descendants of the program.
//!
//! ```no_run
//! use std::time::Duration;
//! use toolmark_process::{ProcessProgram, run};
//!
//! let mut program = ProcessProgram::new("make", "/srv/project");
//! program.args = vec!["test".into()];
//! program.timeout = Duration::from_secs(60);
//! let finished = run(program)?;
//! println!("exit code {:?}, timed out: {}", finished.code, finished.timed_out);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

#[cfg(target_os = "linux")]
mod confine;
mod spawn;
#[cfg(target_os = "linux")]
mod supervisor;
#[cfg(target_os = "linux")]
mod tree;

#[cfg(target_os = "linux")]
pub use confine::can_confine;
pub use spawn::{Ended, Spawn, Spawned, enable_supervisor};
#[cfg(target_os = "linux")]
pub use supervisor::supervise_if_asked;

use std::ffi::{OsStr, OsString};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Default limit for captured output, per pipe.
pub const OUTPUT_LIMIT: usize = 1 << 20;

/// Time that the pipes of a program may stay open after it has ended. Only a process
/// that left the group can hold them open.
const GRACE: Duration = Duration::from_millis(500);

/// A program to run, and its limits.
#[derive(Debug, Clone)]
pub struct ProcessProgram {
    /// Program name to be looked up in `PATH`, or a path relative to `cwd`.
    pub program: String,
    /// Arguments. With `shell`, they are appended to the command line unchanged.
    pub args: Vec<String>,
    /// Whether `program` is a command line for the shell.
    pub shell: bool,
    /// Working directory.
    pub cwd: PathBuf,
    /// Environment variables besides the inherited ones.
    pub env: Vec<(OsString, OsString)>,
    /// Standard input; empty if `None`.
    pub stdin: Option<Vec<u8>>,
    /// Maximum run time.
    pub timeout: Duration,
    /// Maximum number of bytes kept of each pipe.
    pub output_limit: usize,
}

/// Result of running a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    /// Exit code; `None` if a signal ended the program.
    pub code: Option<i32>,
    /// Standard output, with invalid UTF-8 replaced.
    pub stdout: String,
    /// Standard error, with invalid UTF-8 replaced.
    pub stderr: String,
    /// Whether the time limit was reached. The program was then killed and has no exit code.
    pub timed_out: bool,
    /// Whether some of the output is missing.
    pub truncated: bool,
}

impl ProcessProgram {
    /// Creates a program in a directory, with default settings.
    pub fn new(program: impl Into<String>, cwd: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            shell: false,
            cwd: cwd.into(),
            env: Vec::new(),
            stdin: None,
            timeout: Duration::from_secs(60),
            output_limit: OUTPUT_LIMIT,
        }
    }

    /// Returns the command line for display.
    pub fn line(&self) -> String {
        let mut line = self.program.clone();
        for arg in &self.args {
            line.push(' ');
            line.push_str(arg);
        }
        line
    }

    fn spawn(&self) -> Spawn {
        let (program, args) = if self.shell {
            shell(self.line())
        } else {
            let args = self.args.iter().map(OsString::from).collect();
            (located(&self.program, &self.cwd), args)
        };
        let name = format!("toolmark-{}-{}.ended", std::process::id(), unique());
        Spawn {
            program,
            args,
            cwd: self.cwd.clone(),
            env: self.env.clone(),
            only_env: false,
            stdin: if self.stdin.is_some() { Stdio::piped() } else { Stdio::null() },
            grace: Duration::ZERO,
            report: std::env::temp_dir().join(name),
            writable: Vec::new(),
        }
    }
}

/// Returns a number that is unique within this process.
pub(crate) fn unique() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Resolves a path relative to `cwd`, because operating systems differ in whether they
/// do so.
fn located(program: &str, cwd: &Path) -> OsString {
    let path = Path::new(program);
    match path.components().count() {
        0 | 1 if !program.starts_with('.') => OsString::from(program),
        _ => cwd.join(path).into_os_string(),
    }
}

#[cfg(unix)]
fn shell(line: String) -> (OsString, Vec<OsString>) {
    ("/bin/sh".into(), vec!["-c".into(), line.into()])
}

#[cfg(not(unix))]
fn shell(line: String) -> (OsString, Vec<OsString>) {
    ("cmd".into(), vec!["/C".into(), line.into()])
}

/// Reason why a program could not be run.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The working directory does not exist.
    #[error("there is no directory {}", .0.display())]
    NoDirectory(PathBuf),
    /// The program did not start.
    #[error("failed to start {program}: {reason}")]
    Start {
        /// Program.
        program: String,
        /// Reason, from the system or the supervisor.
        reason: String,
    },
    /// The end of the program is unknown.
    #[error("failed to wait: {0}")]
    Wait(std::io::Error),
    /// The program exceeded its time limit and could not be killed.
    #[error("failed to kill: {0}")]
    Kill(std::io::Error),
}

/// Runs a program until it ends or its time limit is reached. The result holds what the
/// program did; an error means that it could not be run.
pub fn run(program: ProcessProgram) -> Result<Finished, RunError> {
    // Checked first, so that the error names the directory and not the program.
    if !program.cwd.is_dir() {
        return Err(RunError::NoDirectory(program.cwd));
    }
    let deadline = Instant::now() + program.timeout;
    let failed = |error: &dyn std::fmt::Display| RunError::Start {
        program: program.program.clone(),
        reason: error.to_string(),
    };
    let mut running = program.spawn().start().map_err(|error| failed(&error))?;
    if let (Some(mut pipe), Some(input)) = (running.stdin(), program.stdin.clone()) {
        // A program may close the pipe without reading its input to the end.
        std::thread::spawn(move || drop(pipe.write_all(&input)));
    }
    let (told, closed) = channel();
    let stdout = Drain::start(running.stdout(), program.output_limit, told.clone());
    let stderr = Drain::start(running.stderr(), program.output_limit, told);
    let ended = wait(&mut running, deadline)?;
    if let Some(error) = ended.as_ref().and_then(|ended| ended.error.as_ref()) {
        return Err(failed(error));
    }
    drain_rest(&closed);
    let (stdout, cut_out) = stdout.take();
    let (stderr, cut_err) = stderr.take();
    Ok(Finished {
        code: ended.as_ref().and_then(|ended| ended.code),
        stdout,
        stderr,
        timed_out: ended.is_none(),
        truncated: cut_out || cut_err,
    })
}

/// Waits until both pipes have been read to their end, or until the grace period is over.
fn drain_rest(closed: &Receiver<()>) {
    let deadline = Instant::now() + GRACE;
    // Each reader drops its sender at the end, and receiving then fails.
    while closed.recv_timeout(deadline.saturating_duration_since(Instant::now())).is_ok() {}
}

/// Waits for the program to end; returns `None` if the deadline passes first.
fn wait(running: &mut Spawned, deadline: Instant) -> Result<Option<Ended>, RunError> {
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if running.wait_for_end(left).map_err(RunError::Wait)? {
            return running.finish().map(Some).map_err(RunError::Wait);
        }
        if left.is_zero() {
            running.kill();
            running.finish().map_err(RunError::Kill)?;
            return Ok(None);
        }
    }
}

/// Data read from a pipe so far, shared with the thread that reads it: a pipe that
/// never closes must not block the caller.
struct Drain(Arc<Mutex<KeptOutput>>);

#[derive(Default)]
struct KeptOutput {
    bytes: Vec<u8>,
    cut: bool,
    ended: bool,
}

impl Drain {
    fn start<P: Read + Send + 'static>(pipe: Option<P>, limit: usize, told: Sender<()>) -> Self {
        let kept = Arc::new(Mutex::new(KeptOutput::default()));
        let Some(mut pipe) = pipe else { return Self(kept) };
        let ours = Arc::clone(&kept);
        std::thread::spawn(move || {
            let mut chunk = [0; 16 * 1024];
            loop {
                let read = match pipe.read(&mut chunk) {
                    Ok(0) => break,
                    Ok(read) => read,
                    Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                    Err(_) => break,
                };
                let mut kept = ours.lock().unwrap_or_else(PoisonError::into_inner);
                let room = limit.saturating_sub(kept.bytes.len()).min(read);
                kept.bytes.extend_from_slice(chunk.get(..room).unwrap_or_default());
                kept.cut |= room < read;
            }
            ours.lock().unwrap_or_else(PoisonError::into_inner).ended = true;
            drop(told);
        });
        Self(kept)
    }

    /// Returns the text so far, and whether some of it is missing.
    fn take(self) -> (String, bool) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = std::mem::take(&mut kept.bytes);
        (String::from_utf8_lossy(&bytes).into_owned(), kept.cut || !kept.ended)
    }
}

/// Converts variables of a configuration for [`ProcessProgram::env`].
pub fn variables<'a>(
    env: impl IntoIterator<Item = (&'a String, &'a String)>,
) -> Vec<(OsString, OsString)> {
    let owned = |text: &String| OsStr::new(text).to_owned();
    env.into_iter().map(|(name, value)| (owned(name), owned(value))).collect()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn sh(line: &str) -> ProcessProgram {
        let mut program = ProcessProgram::new(line, std::env::temp_dir());
        program.shell = true;
        program.timeout = Duration::from_secs(20);
        program
    }

    #[test]
    fn codes_and_output() {
        for (line, code, stdout, stderr) in [
            ("echo a; echo b >&2", Some(0), "a\n", "b\n"),
            ("exit 3", Some(3), "", ""),
            ("kill -9 $$", None, "", ""),
            ("cat", Some(0), "", ""),
            ("printf '\\377x'", Some(0), "\u{fffd}x", ""),
        ] {
            let finished = run(sh(line)).unwrap();
            let wanted = Finished {
                code,
                stdout: stdout.into(),
                stderr: stderr.into(),
                timed_out: false,
                truncated: false,
            };
            assert_eq!(finished, wanted, "{line}");
        }
    }

    #[test]
    fn without_a_shell_words_are_arguments() {
        let mut program = ProcessProgram::new("printf", std::env::temp_dir());
        program.args = vec!["%s|".into(), "a b".into(), "$HOME".into(), "*".into()];
        assert_eq!(run(program).unwrap().stdout, "a b|$HOME|*|");
    }

    #[test]
    fn the_directory_the_variables_and_the_input_are_given() {
        let dir = tempfile::tempdir().unwrap();
        let mut program = sh("pwd; echo $TOOLMARK_TEST; cat");
        program.cwd = dir.path().canonicalize().unwrap();
        program.env = vec![("TOOLMARK_TEST".into(), "x y".into())];
        program.stdin = Some(b"in".to_vec());
        let expected = format!("{}\nx y\nin", program.cwd.display());
        assert_eq!(run(program).unwrap().stdout, expected);
    }

    #[test]
    fn a_path_starts_in_the_directory() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("bin")).unwrap();
        let file = dir.path().join("bin/tool");
        std::fs::write(&file, "#!/bin/sh\necho ran $1\n").unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        for name in ["bin/tool", "./bin/tool"] {
            let mut program = ProcessProgram::new(name, dir.path());
            program.args = vec!["1".into()];
            assert_eq!(run(program).unwrap().stdout, "ran 1\n", "{name}");
        }
    }

    #[test]
    fn what_cannot_start_is_an_error() {
        let missing = run(ProcessProgram::new("toolmark-no-such-program", std::env::temp_dir()));
        assert!(missing.unwrap_err().to_string().contains("toolmark-no-such-program"));
        let nowhere = run(ProcessProgram::new("true", "/toolmark/no/such/directory"));
        assert!(nowhere.unwrap_err().to_string().contains("/toolmark/no/such/directory"));
    }

    #[test]
    fn time_runs_out_for_the_whole_group() {
        let dir = tempfile::tempdir().unwrap();
        let mark = dir.path().join("late");
        // The child of the shell would write the file after the shell has ended.
        let mut program = sh(&format!("(sleep 1.5; touch {}) & echo on; wait", mark.display()));
        program.timeout = Duration::from_millis(300);
        let start = Instant::now();
        let finished = run(program).unwrap();
        assert!(finished.timed_out);
        assert_eq!((finished.code, finished.stdout.as_str()), (None, "on\n"));
        assert!(start.elapsed() < Duration::from_millis(1400), "{:?}", start.elapsed());
        std::thread::sleep(Duration::from_millis(1700));
        assert!(!mark.exists(), "a process of the group went on");
    }

    #[test]
    fn nothing_is_left_running_after_a_good_end() {
        let dir = tempfile::tempdir().unwrap();
        let mark = dir.path().join("late");
        let program = sh(&format!("(sleep 1; touch {}) & echo done", mark.display()));
        let start = Instant::now();
        let finished = run(program).unwrap();
        assert_eq!((finished.code, finished.stdout.as_str()), (Some(0), "done\n"));
        assert!(!finished.truncated);
        assert!(start.elapsed() < Duration::from_millis(900), "{:?}", start.elapsed());
        std::thread::sleep(Duration::from_millis(1200));
        assert!(!mark.exists(), "a process of the group went on");
    }

    #[test]
    fn a_lot_of_output_on_both_pipes_neither_blocks_nor_piles_up() {
        let line = "i=0; while [ $i -lt 3000 ]; do \
                    printf '%0100d' 1; printf '%0100d' 2 >&2; i=$((i+1)); done";
        let mut program = sh(line);
        program.output_limit = 1000;
        let finished = run(program).unwrap();
        assert_eq!((finished.stdout.len(), finished.stderr.len()), (1000, 1000));
        assert!(finished.truncated);
        assert_eq!(finished.code, Some(0));
    }

    #[test]
    fn input_that_nobody_reads_does_not_block() {
        let mut program = sh("echo ok");
        program.stdin = Some(vec![b'x'; 4 << 20]);
        assert_eq!(run(program).unwrap().stdout, "ok\n");
    }
}
