//! One process of an attempt: started, watched, and stopped if it exceeds its time, its limits or
//! the budget.

use super::collect::session_files;
use super::{
    Attempt, AttemptResult, AttemptShared, AttemptTurn, GRACE, HomeOf, ProcessResult, Unprepared,
    printed,
};
use crate::end::Stopped;
use crate::events::TrialEvent;
use crate::preflight::Sandbox;
use crate::tail::Tail;
use crate::trace;
use crate::usage::Used;
use crate::workspace::AttemptDirectories;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use toolmark_grade::run_plan::{Isolation, Runner, TraceSource, TrialLimits};
use toolmark_hosts::launch::SessionTrace;
use toolmark_process::{Ended, Spawn, Spawned};

/// Maximum size of the stored output of a program; the rest is dropped.
const MAX_PRINTED: u64 = 256 << 20;

/// Number of output bytes that are kept if the complete output could not be stored.
const KEPT_OF_PART: u64 = 64 << 10;

/// Time limit for reading the pipes of a program that has ended.
const PIPE_TIME: Duration = Duration::from_secs(1);

/// Intervals of trace checks with a limit, and without one.
const STRICT: Duration = Duration::from_millis(20);
const CASUAL: Duration = Duration::from_millis(500);

/// Interval of checks for Ctrl-C.
const HEARTBEAT: Duration = Duration::from_millis(50);

/// Reason why the copy of a pipe is incomplete.
#[derive(Debug, thiserror::Error)]
enum PumpError {
    #[error("it is longer than {MAX_PRINTED} bytes")]
    TooLong,
    #[error("it could not be copied")]
    Panicked,
    #[error(transparent)]
    Copy(#[from] io::Error),
}

/// Thread that copies a pipe to a file.
type Pump = JoinHandle<Result<(), PumpError>>;

impl Attempt<'_> {
    /// Starts a process and watches it to its end.
    pub(super) fn watch(
        &self,
        turn: &AttemptTurn,
        left: &AttemptResult,
        home: &HomeOf,
        session: &str,
        shared: &AttemptShared<'_>,
    ) -> Result<ProcessResult, Unprepared> {
        let sandbox = shared.ready.sandbox.filter(|_| self.cell.isolate == Isolation::Sandbox);
        let argv = match sandbox {
            Some(Sandbox::Bwrap) => {
                bwrap(&left.places, self.directory_of(&left.workspace), &turn.argv)
            }
            _ => turn.argv.clone(),
        };
        let writable = match sandbox {
            Some(Sandbox::Landlock) => vec![left.places.root.clone()],
            _ => Vec::new(),
        };
        self.write_argv(&argv, turn.number, left)?;
        let (program, args) = argv
            .split_first()
            .ok_or_else(|| Unprepared::Setup("the command line is empty".to_owned()))?;
        // A path of a command is taken from the workspace.
        let is_path = program.to_string_lossy().contains('/');
        let directory = self.directory_of(&left.workspace).to_owned();
        let program = if is_path { directory.join(program).into() } else { program.clone() };
        let spawn = Spawn {
            program,
            args: args.to_vec(),
            cwd: directory,
            env: left.env.clone(),
            only_env: true,
            stdin: Stdio::from(File::open(&turn.prompt)?),
            grace: GRACE,
            report: left.places.root.join("ended"),
            writable,
        };
        let mut spawned = match spawn.start() {
            Ok(spawned) => spawned,
            Err(error) => {
                let process = Ended { error: Some(error.to_string()), ..Ended::default() };
                return Ok(ProcessResult { process, ..ProcessResult::default() });
            }
        };
        let stdout = printed(&self.directory, "stdout", turn.number);
        let stderr = printed(&self.directory, "stderr", turn.number);
        let stdout = pump(spawned.stdout(), &stdout, left)?;
        let stderr = pump(spawned.stderr(), &stderr, left)?;
        let (stopped, used) = self.attend(&mut spawned, turn, left, home, session, shared)?;
        let process = spawned.finish()?;
        let until = Instant::now() + PIPE_TIME;
        let [unkept, _] = [stdout, stderr].map(|pump| {
            let pump = pump?;
            while !pump.is_finished() && Instant::now() < until {
                std::thread::sleep(Duration::from_micros(200));
            }
            // If another process holds the pipe open, the program's own output is already copied.
            let copied = pump.is_finished().then(|| pump.join())?;
            let copied = copied.unwrap_or(Err(PumpError::Panicked));
            Some(format!("what it printed is not all there: {}", copied.err()?))
        });
        let unkept = unkept.filter(|_| self.prints_its_trace());
        Ok(ProcessResult { process, stopped, used, unkept })
    }

    /// Whether the output of the process is its trace.
    fn prints_its_trace(&self) -> bool {
        match (&self.target.target.runner, self.target.host.and_then(|host| host.launch)) {
            (_, Some(launch)) => matches!(launch.session, SessionTrace::Stream),
            (Runner::Command { trace, .. }, None) => *trace == TraceSource::Stdout,
            _ => false,
        }
    }

    /// Waits for the end, and stops a process that exceeds its time, its limits or the budget.
    fn attend(
        &self,
        spawned: &mut Spawned,
        turn: &AttemptTurn,
        left: &AttemptResult,
        home: &HomeOf,
        session: &str,
        shared: &AttemptShared<'_>,
    ) -> io::Result<(Option<Stopped>, Used)> {
        let cell = self.cell;
        let started = Instant::now();
        let is_strict = shared.has_budget || cell.limits != TrialLimits::default();
        let interval = if is_strict { STRICT } else { CASUAL };
        let mut tail = Tail::new(interval, self.target.target.price);
        let mut stopped: Option<Stopped> = None;
        let mut used = Used::default();
        let mut presses = 0;
        let mut found: Option<PathBuf> = None;
        let pause = if is_strict { STRICT } else { HEARTBEAT };
        // The end of the process is noticed at once; everything else is polled.
        while !spawned.wait_for_end(pause)? {
            let now = Instant::now();
            let pressed = shared.stop.pressed();
            if pressed > presses {
                presses = pressed;
                shared.observer.event(&TrialEvent::Stopping);
                if pressed > 1 {
                    spawned.kill()
                } else {
                    spawned.stop()
                }
                stopped.get_or_insert(Stopped::Interrupted);
            }
            if stopped.is_none() && now.duration_since(started) >= cell.timeout {
                spawned.stop();
                stopped = Some(Stopped::Timeout(words(cell.timeout)));
            }
            if tail.is_due(now) && stopped.is_none() {
                let file = found.clone().or_else(|| self.live_trace(turn, left, home, session));
                if let Some(seen) = tail.look(file.clone()) {
                    found = file;
                    used = seen;
                    let mut all = self.before.clone();
                    all.add(&used);
                    shared.observer.event(&TrialEvent::Progress {
                        cell: self.at,
                        trial: self.trial,
                        used: &used,
                    });
                    let is_spent = shared.ledger.update(self.reservation, &all);
                    if let Some(limit) = used.exceeds(&cell.limits) {
                        // What it may not do any more it must not do in a grace either.
                        spawned.kill();
                        stopped = Some(Stopped::Limit(limit));
                    } else if is_spent && shared.has_budget {
                        spawned.kill();
                        stopped = Some(Stopped::Budget);
                    }
                }
            }
        }
        Ok((stopped, used))
    }

    /// Returns the trace that is being written.
    fn live_trace(
        &self,
        turn: &AttemptTurn,
        left: &AttemptResult,
        home: &HomeOf,
        session: &str,
    ) -> Option<PathBuf> {
        let stdout = || Some(printed(&self.directory, "stdout", turn.number));
        match (&self.target.target.runner, self.target.host.and_then(|host| host.launch)) {
            (_, Some(launch)) => match launch.session {
                SessionTrace::Stream => stdout(),
                SessionTrace::File { .. } => {
                    let files = session_files(launch, home, left);
                    trace::main_session(files, Some(session))
                }
            },
            (Runner::Command { trace: TraceSource::Files(pattern), .. }, _) => {
                trace::matching(&left.workspace, pattern).pop()
            }
            (Runner::Command { .. }, _) => stdout(),
            _ => None,
        }
    }
}

/// Copies the output of a process to a file with the values of variables masked.
fn pump<P: Read + Send + 'static>(
    pipe: Option<P>,
    to: &Path,
    left: &AttemptResult,
) -> io::Result<Option<Pump>> {
    let Some(mut pipe) = pipe else { return Ok(None) };
    let mut file = File::create(to)?;
    let mask = left.mask.clone();
    let work = move || match mask.copy(&mut pipe, &mut file, MAX_PRINTED) {
        Ok(true) => Ok(()),
        Ok(false) => Err(PumpError::TooLong),
        Err(error) => {
            // Truncating the file frees space for the other files on a full disk.
            let _ = file.set_len(KEPT_OF_PART);
            // The process must not block on a full pipe.
            let _ = io::copy(&mut pipe, &mut io::sink());
            Err(error.into())
        }
    };
    std::thread::Builder::new().stack_size(256 << 10).spawn(work).map(Some)
}

/// Wraps a command in a file system in which only the trial's own directories are writable.
fn bwrap(places: &AttemptDirectories, workspace: &Path, argv: &[OsString]) -> Vec<OsString> {
    let mut line: Vec<OsString> = [
        "bwrap",
        "--die-with-parent",
        "--unshare-pid",
        "--ro-bind",
        "/",
        "/",
        "--dev",
        "/dev",
        "--proc",
        "/proc",
        "--tmpfs",
        "/tmp",
        "--bind",
    ]
    .map(OsString::from)
    .to_vec();
    let root = fs::canonicalize(&places.root).unwrap_or_else(|_| places.root.clone());
    line.extend([
        root.clone().into(),
        root.into(),
        "--chdir".into(),
        workspace.into(),
        "--".into(),
    ]);
    line.extend_from_slice(argv);
    line
}

/// Formats a duration.
fn words(time: Duration) -> String {
    match time.as_millis() {
        millis if millis < 10_000 => format!("{} s", time.as_secs_f64()),
        millis if millis < 120_000 => format!("{} s", millis / 1000),
        millis => format!("{} min", millis / 60_000),
    }
}
