//! Runs a program for a grader or a judge, with a limit for everything.
//!
//! A program gets a directory, an environment and possibly an input; its time and
//! its output are limited. Both of its pipes are read all the time, so that it never
//! waits for us; output beyond the limit is read and dropped. Whatever is left of it
//! when it ends or its time is up is killed: grading leaves nothing running. With a
//! supervisor ([`enable_supervisor`]) that holds for programs that start sessions of
//! their own and for our own death too; without one, for the process group and what
//! is still below the program.
//!
//! ```no_run
//! use std::time::Duration;
//! use toolmark_process::{Program, run};
//!
//! let mut program = Program::new("make", "/srv/project");
//! program.args = vec!["test".into()];
//! program.timeout = Duration::from_secs(60);
//! let finished = run(program)?;
//! println!("exit code {:?}, timed out: {}", finished.code, finished.timed_out);
//! # Ok::<(), String>(())
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

/// How much of each pipe is kept where a grader has no reason for another limit.
pub const OUTPUT_LIMIT: usize = 1 << 20;

/// How long the pipes of a program that has ended may still be open. Only a
/// process that left the group can hold them.
const GRACE: Duration = Duration::from_millis(500);

/// What to run, and how.
#[derive(Debug, Clone)]
pub struct Program {
    /// The program: a name to be found in `PATH`, or a path, which is relative
    /// to `cwd`.
    pub program: String,
    /// Its arguments. With `shell` they are added to the command line as they are.
    pub args: Vec<String>,
    /// Is `program` a command line for the shell?
    pub shell: bool,
    /// Where it runs.
    pub cwd: PathBuf,
    /// Variables besides those it inherits.
    pub env: Vec<(OsString, OsString)>,
    /// What it reads; nothing where there is none.
    pub stdin: Option<Vec<u8>>,
    /// How long it has.
    pub timeout: Duration,
    /// How many bytes of each pipe are kept.
    pub output_limit: usize,
}

/// How a program ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    /// Its exit code; none where a signal ended it.
    pub code: Option<i32>,
    /// What it wrote to its standard output; bytes that are no UTF-8 are replaced.
    pub stdout: String,
    /// What it wrote to its standard error.
    pub stderr: String,
    /// Was its time up? Then it was killed, and has no code.
    pub timed_out: bool,
    /// Is some of the output missing?
    pub truncated: bool,
}

impl Program {
    /// A program in a directory, with nothing else said about it.
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

    /// The command line, for people.
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

/// A number that this process has not had before.
pub(crate) fn unique() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// A path is taken from `cwd`: whether the system would do so differs.
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

/// Runs a program to its end, or until its time is up. What a program did is
/// in the answer; an error means that there was none.
pub fn run(program: Program) -> Result<Finished, String> {
    // Looked at first, for words that name the directory and not the program.
    if !program.cwd.is_dir() {
        return Err(format!("there is no directory {}", program.cwd.display()));
    }
    let deadline = Instant::now() + program.timeout;
    let failed =
        |error: &dyn std::fmt::Display| format!("failed to start {}: {error}", program.program);
    let mut running = program.spawn().start().map_err(|error| failed(&error))?;
    if let (Some(mut pipe), Some(input)) = (running.stdin(), program.stdin.clone()) {
        // A program that does not read its input to the end closes the pipe,
        // which is its right.
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

/// Waits until both pipes have been read to their end, but not for ever.
fn drain_rest(closed: &Receiver<()>) {
    let deadline = Instant::now() + GRACE;
    // Each reader drops its sender at the end: then receiving fails.
    while closed.recv_timeout(deadline.saturating_duration_since(Instant::now())).is_ok() {}
}

/// How it ended, or nothing when its time was up.
fn wait(running: &mut Spawned, deadline: Instant) -> Result<Option<Ended>, String> {
    let failed = |error: std::io::Error| format!("failed to wait: {error}");
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if running.wait_for_end(left).map_err(failed)? {
            return running.finish().map(Some).map_err(failed);
        }
        if left.is_zero() {
            running.kill();
            running.finish().map_err(|error| format!("failed to kill: {error}"))?;
            return Ok(None);
        }
    }
}

/// What has been read of a pipe, shared with the thread that reads it: a pipe
/// that never closes must not keep us.
struct Drain(Arc<Mutex<Kept>>);

#[derive(Default)]
struct Kept {
    bytes: Vec<u8>,
    cut: bool,
    ended: bool,
}

impl Drain {
    fn start<P: Read + Send + 'static>(pipe: Option<P>, limit: usize, told: Sender<()>) -> Self {
        let kept = Arc::new(Mutex::new(Kept::default()));
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

    /// The text so far, and whether some is missing.
    fn take(self) -> (String, bool) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = std::mem::take(&mut kept.bytes);
        (String::from_utf8_lossy(&bytes).into_owned(), kept.cut || !kept.ended)
    }
}

/// Variables as a configuration has them, for [`Program::env`].
pub fn variables<'a>(
    env: impl IntoIterator<Item = (&'a String, &'a String)>,
) -> Vec<(OsString, OsString)> {
    let owned = |text: &String| OsStr::new(text).to_owned();
    env.into_iter().map(|(name, value)| (owned(name), owned(value))).collect()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn sh(line: &str) -> Program {
        let mut program = Program::new(line, std::env::temp_dir());
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
        let mut program = Program::new("printf", std::env::temp_dir());
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
            let mut program = Program::new(name, dir.path());
            program.args = vec!["1".into()];
            assert_eq!(run(program).unwrap().stdout, "ran 1\n", "{name}");
        }
    }

    #[test]
    fn what_cannot_start_is_an_error() {
        let missing = run(Program::new("toolmark-no-such-program", std::env::temp_dir()));
        assert!(missing.unwrap_err().contains("toolmark-no-such-program"));
        let nowhere = run(Program::new("true", "/toolmark/no/such/directory"));
        assert!(nowhere.unwrap_err().contains("/toolmark/no/such/directory"));
    }

    #[test]
    fn time_runs_out_for_the_whole_group() {
        let dir = tempfile::tempdir().unwrap();
        let mark = dir.path().join("late");
        // The child of the shell would write the file after the shell is gone.
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
