//! Starts a program so that everything it starts can be ended.
//!
//! On Linux, a [supervisor](crate::supervise_if_asked) runs in between if the binary
//! supports it ([`enable_supervisor`]). Otherwise the program gets its own process
//! group, which can be killed as a whole.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The argument that runs the binary as a supervisor.
pub(crate) const WORD: &str = "supervise";

/// Environment variable that identifies the processes of a program that lost their
/// supervisor.
const MARK: &str = "TOOLMARK_SUPERVISED";

static ENABLED: AtomicBool = AtomicBool::new(false);

/// Declares that this binary calls [`supervise_if_asked`](crate::supervise_if_asked)
/// first. From then on, programs get a supervisor, which is this binary.
pub fn enable_supervisor() {
    ENABLED.store(cfg!(target_os = "linux"), Ordering::SeqCst);
}

/// A program to start, and its environment.
#[derive(Debug)]
pub struct Spawn {
    /// Program name to be looked up in `PATH`, or a path.
    pub program: OsString,
    /// Arguments.
    pub args: Vec<OsString>,
    /// Working directory.
    pub cwd: PathBuf,
    /// Environment variables.
    pub env: Vec<(OsString, OsString)>,
    /// Whether `env` replaces the inherited variables.
    pub only_env: bool,
    /// Standard input.
    pub stdin: Stdio,
    /// Time that the remaining processes have after the program was asked to end or has ended.
    pub grace: Duration,
    /// File to which the supervisor writes how the program ended.
    pub report: PathBuf,
    /// Directories that the program may write to; unrestricted if empty.
    pub writable: Vec<PathBuf>,
}

/// Exit status of a program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ended {
    /// Exit code; `None` if a signal ended the program.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Reason why the program could not be started.
    pub error: Option<String>,
    /// Number of processes that could not be killed.
    pub left: usize,
    /// Whether the supervisor itself was killed. How the program ended is then unknown.
    pub lost: bool,
}

impl Ended {
    /// Returns the text that a supervisor writes to its report.
    pub(crate) fn to_text(&self) -> String {
        let number = |number: Option<i32>| number.map_or_else(String::new, |n| n.to_string());
        let error = self.error.as_deref().unwrap_or_default().replace('\n', " ");
        format!("{}\n{}\n{}\n{error}\n", number(self.code), number(self.signal), self.left)
    }

    fn from_text(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let (code, signal) = (lines.next()?.parse().ok(), lines.next()?.parse().ok());
        let left = lines.next()?.parse().ok()?;
        let error = lines.next().filter(|error| !error.is_empty()).map(str::to_owned);
        Some(Self { code, signal, error, left, lost: false })
    }
}

/// A started program. Dropping it kills the program.
#[derive(Debug)]
pub struct Spawned {
    child: Child,
    /// Report file of the supervisor; `None` without a supervisor.
    report: Option<PathBuf>,
    /// Value of the environment variable that identifies the program's processes.
    mark: String,
    /// Process handle that can be waited on with a timeout.
    #[cfg(target_os = "linux")]
    handle: Option<std::os::fd::OwnedFd>,
    has_ended: bool,
}

/// Range of polling intervals where waiting with a timeout is not possible.
const LOOK: std::ops::Range<Duration> = Duration::from_millis(1)..Duration::from_millis(20);

impl Spawn {
    /// Starts the program. The thread that starts it must outlive the program: when the
    /// thread ends, the system treats the program as abandoned.
    ///
    /// # Errors
    ///
    /// Fails if the program cannot be started. With a supervisor, an error in starting the
    /// program itself is in [`Ended::error`].
    pub fn start(self) -> io::Result<Spawned> {
        let mark = format!("{}-{}", std::process::id(), crate::unique());
        let report = ENABLED.load(Ordering::SeqCst).then(|| self.report.clone());
        let mut command = self.command();
        if self.only_env {
            command.env_clear();
        }
        command
            .current_dir(&self.cwd)
            .envs(self.env)
            .env(MARK, &mark)
            .stdin(self.stdin)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if let Some(report) = &report {
            let _ = std::fs::remove_file(report);
        }
        let child = command.spawn()?;
        Ok(Spawned {
            #[cfg(target_os = "linux")]
            handle: {
                use rustix::process::{Pid, PidfdFlags, pidfd_open};
                pidfd_open(Pid::from_child(&child), PidfdFlags::empty()).ok()
            },
            child,
            report,
            mark,
            has_ended: false,
        })
    }

    #[cfg(target_os = "linux")]
    fn command(&self) -> Command {
        use std::os::unix::process::CommandExt;
        if !ENABLED.load(Ordering::SeqCst) {
            return self.plain();
        }
        let line = std::iter::once(&self.program).chain(&self.args).cloned().collect();
        let order = crate::supervisor::SupervisorCommand {
            parent: i32::try_from(std::process::id()).unwrap_or_default(),
            grace: self.grace,
            report: self.report.clone(),
            writable: self.writable.clone(),
            line,
        };
        // The running binary, even if its file has been replaced in the meantime.
        let mut command = Command::new("/proc/self/exe");
        command.arg0("toolmark").args(order.args());
        command
    }

    #[cfg(not(target_os = "linux"))]
    fn command(&self) -> Command {
        self.plain()
    }

    /// Returns the command of the program itself, in its own process group.
    fn plain(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.args);
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command
    }
}

impl Spawned {
    /// Takes the standard input.
    pub fn stdin(&mut self) -> Option<ChildStdin> {
        self.child.stdin.take()
    }

    /// Takes the standard output.
    pub fn stdout(&mut self) -> Option<ChildStdout> {
        self.child.stdout.take()
    }

    /// Takes the standard error.
    pub fn stderr(&mut self) -> Option<ChildStderr> {
        self.child.stderr.take()
    }

    /// Asks the program to end. What remains of it after the grace period is killed.
    pub fn stop(&self) {
        #[cfg(unix)]
        self.signal(rustix::process::Signal::TERM);
    }

    /// Kills the program and everything below it.
    pub fn kill(&self) {
        #[cfg(unix)]
        match &self.report {
            Some(_) => self.signal(rustix::process::Signal::USR1),
            None => self.signal(rustix::process::Signal::KILL),
        }
    }

    #[cfg(unix)]
    fn signal(&self, signal: rustix::process::Signal) {
        use rustix::process::{Pid, kill_process, kill_process_group};
        // The ID is not reused until the process has been waited for.
        if self.has_ended {
            return;
        }
        let pid = Pid::from_child(&self.child);
        if self.report.is_some() {
            let _ = kill_process(pid, signal);
            return;
        }
        #[cfg(target_os = "linux")]
        crate::tree::signal_below(pid.as_raw_pid(), signal);
        // An error means that there is nothing left to signal.
        let _ = kill_process_group(pid, signal);
        let _ = kill_process(pid, signal);
    }

    /// Returns whether the program has ended. The process stays a zombie, so that its ID is
    /// not reused before its group is killed.
    ///
    /// # Errors
    ///
    /// Returns the error of the operating system.
    #[cfg(unix)]
    pub fn has_ended(&mut self) -> io::Result<bool> {
        use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        match waitid(WaitId::Pid(Pid::from_child(&self.child)), options) {
            Ok(status) => Ok(status.is_some()),
            Err(rustix::io::Errno::INTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns whether the program has ended.
    ///
    /// # Errors
    ///
    /// Returns the error of the operating system.
    #[cfg(not(unix))]
    pub fn has_ended(&mut self) -> io::Result<bool> {
        Ok(self.child.try_wait()?.is_some())
    }

    /// Waits until the program has ended, for at most the given time. Returns whether it has
    /// ended.
    ///
    /// # Errors
    ///
    /// Returns the error of the operating system.
    pub fn wait_for_end(&mut self, at_most: Duration) -> io::Result<bool> {
        #[cfg(target_os = "linux")]
        if let Some(handle) = &self.handle {
            use rustix::event::{PollFd, PollFlags, Timespec, poll};
            let time = Timespec::try_from(at_most).ok();
            let mut handles = [PollFd::new(handle, PollFlags::IN)];
            match poll(&mut handles, time.as_ref()) {
                Ok(_) | Err(rustix::io::Errno::INTR) => return self.has_ended(),
                Err(error) => return Err(error.into()),
            }
        }
        let until = Instant::now() + at_most;
        let mut pause = LOOK.start;
        loop {
            if self.has_ended()? {
                return Ok(true);
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(false);
            }
            std::thread::sleep(pause.min(left));
            pause = (pause * 2).min(LOOK.end);
        }
    }

    /// Returns how the program ended, after killing what remains of it. With a supervisor,
    /// this waits until the remaining processes are gone.
    ///
    /// # Errors
    ///
    /// Returns the error of the operating system.
    pub fn finish(&mut self) -> io::Result<Ended> {
        if self.report.is_none() {
            self.kill();
            #[cfg(not(unix))]
            let _ = self.child.kill();
        }
        let status = self.child.wait()?;
        self.has_ended = true;
        let Some(report) = &self.report else {
            #[cfg(unix)]
            let signal = std::os::unix::process::ExitStatusExt::signal(&status);
            #[cfg(not(unix))]
            let signal = None;
            return Ok(Ended { code: status.code(), signal, ..Ended::default() });
        };
        let text = std::fs::read_to_string(report).unwrap_or_default();
        let _ = std::fs::remove_file(report);
        Ok(Ended::from_text(&text).unwrap_or_else(|| {
            // The supervisor was killed: the remaining processes are identified by the mark.
            #[cfg(target_os = "linux")]
            crate::tree::kill_marked(format!("{MARK}={}", self.mark).as_bytes());
            Ended { lost: true, ..Ended::default() }
        }))
    }
}

impl Drop for Spawned {
    fn drop(&mut self) {
        if !self.has_ended {
            self.kill();
            let _ = self.finish();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_are_read_as_they_were_written() {
        let plain = Ended::default();
        for ended in [
            Ended { code: Some(3), ..plain.clone() },
            Ended { signal: Some(9), left: 2, ..plain.clone() },
            Ended { error: Some("no such file".into()), ..plain.clone() },
        ] {
            assert_eq!(Ended::from_text(&ended.to_text()), Some(ended));
        }
        assert_eq!(Ended::from_text(""), None);
        assert_eq!(Ended::from_text("1\n"), None);
    }
}
