//! Starts a program so that everything it starts can be ended.
//!
//! On Linux a [supervisor](crate::supervise_if_asked) stands between, where the
//! binary said that it can be one ([`enable_supervisor`]). Elsewhere the program has
//! a process group of its own, which is what can be killed there.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The argument that makes a supervisor of the binary.
pub(crate) const WORD: &str = "supervise";

/// The variable by which processes of a program are known that lost their supervisor.
const MARK: &str = "TOOLMARK_SUPERVISED";

static ENABLED: AtomicBool = AtomicBool::new(false);

/// Says that this binary calls [`supervise_if_asked`](crate::supervise_if_asked)
/// first: from now on programs get a supervisor, which is this binary.
pub fn enable_supervisor() {
    ENABLED.store(cfg!(target_os = "linux"), Ordering::SeqCst);
}

/// What to start.
#[derive(Debug)]
pub struct Spawn {
    /// The program: a name to be found in `PATH`, or a path.
    pub program: OsString,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Where it runs.
    pub cwd: PathBuf,
    /// Variables.
    pub env: Vec<(OsString, OsString)>,
    /// Are these all its variables? Otherwise it inherits others.
    pub only_env: bool,
    /// Where it reads.
    pub stdin: Stdio,
    /// What is left of it after it was asked to end, or has ended, has this long.
    pub grace: Duration,
    /// The file in which the supervisor says how it ended.
    pub report: PathBuf,
    /// Directories it may write to; everything where there are none.
    pub writable: Vec<PathBuf>,
}

/// How a program ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ended {
    /// Its exit code; none where a signal ended it.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Why it could not be started.
    pub error: Option<String>,
    /// How many of its processes could not be killed.
    pub left: usize,
    /// Was the supervisor itself killed? Then how the program ended is not known.
    pub lost: bool,
}

impl Ended {
    /// As a supervisor writes it.
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

/// A program that was started; dropped, it is gone.
#[derive(Debug)]
pub struct Spawned {
    child: Child,
    /// Where the supervisor reports; without one there is none.
    report: Option<PathBuf>,
    /// What its processes are known by.
    mark: String,
    /// Something that can be waited on together with a time.
    #[cfg(target_os = "linux")]
    handle: Option<std::os::fd::OwnedFd>,
    has_ended: bool,
}

/// How often is looked whether it has ended, where that cannot be waited for.
const LOOK: std::ops::Range<Duration> = Duration::from_millis(1)..Duration::from_millis(20);

impl Spawn {
    /// Starts it. The thread that starts it must live as long as it does: with the
    /// thread the system takes the program for abandoned.
    ///
    /// # Errors
    ///
    /// It could not be started. With a supervisor, what only the program itself can
    /// run into is in [`Ended::error`].
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
        let order = crate::supervisor::Order {
            parent: i32::try_from(std::process::id()).unwrap_or_default(),
            grace: self.grace,
            report: self.report.clone(),
            writable: self.writable.clone(),
            line,
        };
        // This very binary, also where its file has been replaced meanwhile.
        let mut command = Command::new("/proc/self/exe");
        command.arg0("toolmark").args(order.args());
        command
    }

    #[cfg(not(target_os = "linux"))]
    fn command(&self) -> Command {
        self.plain()
    }

    /// The program itself, in a process group of its own.
    fn plain(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.args);
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command
    }
}

impl Spawned {
    /// Where it reads.
    pub fn stdin(&mut self) -> Option<ChildStdin> {
        self.child.stdin.take()
    }

    /// What it writes.
    pub fn stdout(&mut self) -> Option<ChildStdout> {
        self.child.stdout.take()
    }

    /// What it complains.
    pub fn stderr(&mut self) -> Option<ChildStderr> {
        self.child.stderr.take()
    }

    /// Asks it to end. What is left of it after the grace is killed.
    pub fn stop(&self) {
        #[cfg(unix)]
        self.signal(rustix::process::Signal::TERM);
    }

    /// Kills it and everything below.
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
        // Its id is its own until it has been waited for.
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
        // Nothing to signal is what we want.
        let _ = kill_process_group(pid, signal);
        let _ = kill_process(pid, signal);
    }

    /// Has it ended? It is left to be waited for, so that its id is not given to
    /// another process before its group is killed.
    ///
    /// # Errors
    ///
    /// What the system says.
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

    /// Has it ended?
    ///
    /// # Errors
    ///
    /// What the system says.
    #[cfg(not(unix))]
    pub fn has_ended(&mut self) -> io::Result<bool> {
        Ok(self.child.try_wait()?.is_some())
    }

    /// Waits until it has ended, but not longer than this. Has it?
    ///
    /// # Errors
    ///
    /// What the system says.
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

    /// How it ended. What is left of it is killed first; with a supervisor, that is
    /// waited for.
    ///
    /// # Errors
    ///
    /// What the system says.
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
            // Somebody killed the supervisor: what it left behind is known by its mark.
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
