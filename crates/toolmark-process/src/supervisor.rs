//! The supervisor: a process between toolmark and a program, below which all processes
//! of the program stay.
//!
//! Killing a process group is not enough, because agents start sessions of their own.
//! The supervisor is a *child subreaper*: a process whose parent ends becomes its child,
//! whatever session it is in. So it can wait for all of them and kill all of them. When
//! the process that started the supervisor ends, even by SIGKILL, the system sends the
//! supervisor SIGTERM, and it ends the program and everything below.
//!
//! | signal | effect |
//! |---|---|
//! | `TERM`, `INT`, `HUP` | `TERM` to everything below; `KILL` to the rest after the grace period |
//! | `USR1`, or a second `TERM` | everything below is killed at once |

use crate::spawn::{Ended, WORD};
use crate::{confine, tree};
use rustix::process::{
    Pid, Signal, WaitOptions, getpid, getppid, set_child_subreaper,
    set_parent_process_death_signal, setsid, wait,
};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM, SIGUSR1};
use std::ffi::{OsStr, OsString};
use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Maximum time for killing before the remaining processes are given up: a process of
/// another user cannot be killed.
const KILL_TIME: Duration = Duration::from_secs(5);

/// Interval between attempts to kill.
const KILL_PAUSE: Duration = Duration::from_millis(5);

/// Command line of a supervisor.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SupervisorCommand {
    /// ID of the process that started the supervisor.
    pub(crate) parent: i32,
    /// Time that the remaining processes have after `TERM`.
    pub(crate) grace: Duration,
    /// File to which the supervisor writes how the program ended.
    pub(crate) report: PathBuf,
    /// Directories that may be written to; unrestricted if empty.
    pub(crate) writable: Vec<PathBuf>,
    /// The program and its arguments.
    pub(crate) line: Vec<OsString>,
}

impl SupervisorCommand {
    /// Returns the order as arguments of this binary.
    pub(crate) fn args(&self) -> Vec<OsString> {
        let mut args = vec![
            WORD.into(),
            self.parent.to_string().into(),
            self.grace.as_millis().to_string().into(),
            self.report.clone().into(),
            self.writable.len().to_string().into(),
        ];
        args.extend(self.writable.iter().map(|path| path.clone().into_os_string()));
        args.extend(self.line.iter().cloned());
        args
    }

    /// Parses the arguments after the command word.
    fn read(mut args: impl Iterator<Item = OsString>) -> Option<Self> {
        let number =
            |args: &mut dyn Iterator<Item = OsString>| args.next()?.to_str()?.parse::<u64>().ok();
        let parent = i32::try_from(number(&mut args)?).ok()?;
        let grace = Duration::from_millis(number(&mut args)?);
        let report = PathBuf::from(args.next()?);
        let many = usize::try_from(number(&mut args)?).ok()?;
        let writable: Vec<PathBuf> = args.by_ref().take(many).map(PathBuf::from).collect();
        let line: Vec<OsString> = args.collect();
        (writable.len() == many && !line.is_empty()).then_some(Self {
            parent,
            grace,
            report,
            writable,
            line,
        })
    }
}

/// Runs as a supervisor if the command line of this process requests it. The binary must
/// call this before anything else.
#[must_use]
pub fn supervise_if_asked() -> Option<ExitCode> {
    let mut args = std::env::args_os().skip(1);
    if args.next().as_deref() != Some(OsStr::new(WORD)) {
        return None;
    }
    let Some(order) = SupervisorCommand::read(args) else { return Some(ExitCode::from(2)) };
    let ended = match supervise(&order) {
        Ok(ended) => ended,
        Err(error) => Ended { error: Some(error.to_string()), ..Ended::default() },
    };
    let written = write(&order.report, &ended.to_text());
    Some(if written.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    let unfinished = path.with_extension("part");
    std::fs::write(&unfinished, text)?;
    std::fs::rename(&unfinished, path)
}

/// Requests received as signals so far.
struct Signals {
    stops: Arc<AtomicUsize>,
    kill: Arc<AtomicBool>,
    /// Receives a byte with every signal.
    wake: UnixStream,
}

impl Signals {
    fn watch() -> io::Result<Self> {
        let (wake, told) = UnixStream::pair()?;
        wake.set_nonblocking(false)?;
        told.set_nonblocking(true)?;
        let stops = Arc::new(AtomicUsize::new(0));
        let kill = Arc::new(AtomicBool::new(false));
        signal_hook::flag::register(SIGUSR1, Arc::clone(&kill))?;
        for signal in [SIGTERM, SIGINT, SIGHUP] {
            signal_hook::flag::register_usize(signal, Arc::clone(&stops), 1)?;
        }
        for signal in [SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGCHLD] {
            signal_hook::low_level::pipe::register(signal, told.try_clone()?)?;
        }
        Ok(Self { stops, kill, wake })
    }

    /// Returns whether a stop was requested since the last call.
    fn stop(&self) -> bool {
        self.stops.swap(0, Ordering::SeqCst) > 0
    }

    fn kill(&self) -> bool {
        self.kill.load(Ordering::SeqCst)
    }

    /// Sleeps until a signal arrives, or the time is up.
    fn sleep(&mut self, at_most: Option<Duration>) -> io::Result<()> {
        let time = at_most.map(|time| time.max(Duration::from_millis(1)));
        self.wake.set_read_timeout(time)?;
        let mut bytes = [0; 64];
        match self.wake.read(&mut bytes) {
            Ok(_) => Ok(()),
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::WouldBlock
                        | io::ErrorKind::TimedOut
                        | io::ErrorKind::Interrupted
                ) =>
            {
                Ok(())
            }
            Err(error) => Err(error),
        }
    }
}

/// Whether children remain.
enum RemainingChildren {
    Some,
    None,
}

/// Reaps the processes that have ended.
fn reap(main: Pid, ended: &mut Ended) -> io::Result<RemainingChildren> {
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some((pid, status))) if pid == main => {
                ended.code = status.exit_status();
                ended.signal = status.terminating_signal();
            }
            Ok(Some(_)) | Err(rustix::io::Errno::INTR) => {}
            Ok(None) => return Ok(RemainingChildren::Some),
            Err(rustix::io::Errno::CHILD) => return Ok(RemainingChildren::None),
            Err(error) => return Err(error.into()),
        }
    }
}

fn supervise(order: &SupervisorCommand) -> io::Result<Ended> {
    // A session of its own: keys pressed at the terminal are for the calling process, and
    // nothing below can prompt on the terminal.
    let _ = setsid();
    set_child_subreaper(Some(getpid()))?;
    let mut signals = Signals::watch()?;
    set_parent_process_death_signal(Some(Signal::TERM))?;
    if getppid().map(Pid::as_raw_pid) != Some(order.parent) {
        return Err(io::Error::other("the process that started the supervisor is gone"));
    }
    confine::to_directories(&order.writable, &order.report)?;
    let (program, args) = order.line.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let child = Command::new(program).args(args).spawn()?;
    let main = Pid::from_child(&child);
    let own = getpid().as_raw_pid();
    let mut ended = Ended::default();
    // Time at which the remaining processes are killed, once a stop was requested.
    let mut kill_at: Option<Instant> = None;
    let mut give_up_at: Option<Instant> = None;
    loop {
        if let RemainingChildren::None = reap(main, &mut ended)? {
            return Ok(ended);
        }
        let has_ended = ended.code.is_some() || ended.signal.is_some();
        let stop = signals.stop();
        if kill_at.is_none() && (stop || has_ended) {
            tree::signal_below(own, Signal::TERM);
            kill_at = Some(Instant::now() + order.grace);
        } else if stop {
            kill_at = Some(Instant::now());
        }
        if signals.kill() {
            kill_at = Some(kill_at.map_or_else(Instant::now, |at| at.min(Instant::now())));
        }
        let Some(kill_at) = kill_at else {
            signals.sleep(None)?;
            continue;
        };
        let now = Instant::now();
        if now < kill_at {
            signals.sleep(Some(kill_at - now))?;
            continue;
        }
        let left = tree::signal_below(own, Signal::KILL);
        let give_up_at = *give_up_at.get_or_insert(now + KILL_TIME);
        if now >= give_up_at {
            ended.left = left;
            return Ok(ended);
        }
        signals.sleep(Some(KILL_PAUSE))?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_is_read_as_it_was_written() {
        for writable in [vec![], vec![PathBuf::from("/a b"), PathBuf::from("/c")]] {
            let order = SupervisorCommand {
                parent: 7,
                grace: Duration::from_millis(1500),
                report: "/tmp/x y".into(),
                writable,
                line: vec!["sh".into(), "-c".into(), "exit 3".into()],
            };
            assert_eq!(SupervisorCommand::read(order.args().into_iter().skip(1)), Some(order));
        }
        for broken in [&[][..], &["1"], &["1", "2", "r", "0"], &["1", "2", "r", "5", "a"]] {
            assert_eq!(
                SupervisorCommand::read(broken.iter().map(OsString::from)),
                None,
                "{broken:?}"
            );
        }
    }
}
