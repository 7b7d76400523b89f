//! One attempt at a trial: its workspace, its supervised program, and its output.

mod batch;
mod collect;
mod watch;

pub use batch::Batches;

use crate::budget::{Ledger, Reservation};
use crate::end::{Marker, Stopped};
use crate::events::Observer;
use crate::mask::Mask;
use crate::matrix::{MatrixCell, RunTarget};
use crate::placeholders;
use crate::preflight::Ready;
use crate::stop::StopSwitch;
use crate::store::write_unsynced;
use crate::usage::Used;
use crate::variables::{Environ, VariableLookup};
use crate::workspace::{AttemptDirectories, HookContext, WorkspaceSnapshot, fill, run_hooks};
use serde_json::json;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;
use toolmark_grade::run_plan::{Attachment, Home, Isolation, Runner, TrialPermissions};
use toolmark_hosts::launch::{Allowed, End, Launch, LaunchRequest, Printed, SessionTrace};
use toolmark_process::Ended;

/// Number of bytes at the end of a program's output that show how it ended.
const MAX_END: u64 = 8 << 20;

/// Maximum size of a guideline that is passed to a command.
const MAX_GUIDELINE: u64 = 64 << 10;

/// Delay before a terminated agent's remaining processes are killed.
const GRACE: Duration = Duration::from_secs(5);

/// State shared by all attempts of a run.
pub struct AttemptShared<'a> {
    /// Results of the checks before the run.
    pub ready: &'a Ready,
    /// Directory for workspaces.
    pub work: &'a Path,
    /// Budget of the run.
    pub ledger: &'a Ledger,
    /// Receiver of events.
    pub observer: &'a dyn Observer,
    /// Stop switch.
    pub stop: &'a StopSwitch,
    /// Looks up variables.
    pub lookup: VariableLookup<'a>,
    /// Whether there is a budget, which is enforced by watching every trial.
    pub has_budget: bool,
    /// Commands that answer all cases at once.
    pub batches: &'a Batches,
    /// ID of the run, for hooks and commands.
    pub run: &'a str,
}

/// An attempt to make.
pub(crate) struct Attempt<'a> {
    /// Cell of the attempt.
    pub cell: &'a MatrixCell,
    /// Index of the cell.
    pub at: usize,
    /// Target of the attempt.
    pub target: &'a RunTarget,
    /// Index of the trial, from 0.
    pub trial: u32,
    /// Number of the attempt, from 1.
    pub number: u32,
    /// Number of previous attempts in this process.
    pub round: usize,
    /// Directory for the files of the attempt.
    pub directory: PathBuf,
    /// Reserved budget.
    pub reservation: Reservation,
    /// Usage of earlier attempts.
    pub before: Used,
}

/// Result of an attempt.
pub(crate) struct AttemptResult {
    /// Directories, which the caller removes.
    pub places: AttemptDirectories,
    /// Working directory of the agent.
    pub workspace: PathBuf,
    /// Changes of the workspace, as a diff.
    pub diff: Option<String>,
    /// Trace, in the directory of the attempt.
    pub trace: Option<PathBuf>,
    /// Reason for a missing or incomplete trace.
    pub no_trace: Option<String>,
    /// Whether the trace may be plain text.
    pub may_be_text: bool,
    /// Exit status of the process.
    pub process: Ended,
    /// Reason for stopping the attempt.
    pub stopped: Option<Stopped>,
    /// Report of the agent about its end.
    pub marker: Marker,
    /// Mask for the values of its variables.
    pub mask: Mask,
    /// Environment variables, for teardown hooks.
    pub env: Vec<(OsString, OsString)>,
    /// Observed usage.
    pub used: Used,
}

/// Failure of an attempt before the agent started.
#[derive(Debug)]
pub(crate) enum Unprepared {
    /// The workspace could not be created, or a setup hook failed.
    Setup(String),
    /// The target is not supported.
    Unsupported(String),
}

impl From<io::Error> for Unprepared {
    fn from(error: io::Error) -> Self {
        Self::Setup(error.to_string())
    }
}

/// One process of an attempt.
struct AttemptTurn {
    argv: Vec<OsString>,
    prompt: PathBuf,
    /// Index of the turn, from 0.
    number: usize,
}

/// Result of one process.
#[derive(Default)]
struct ProcessResult {
    process: Ended,
    stopped: Option<Stopped>,
    used: Used,
    /// Reason for incomplete output files.
    unkept: Option<String>,
}

impl AttemptResult {
    /// Merges the result of a process.
    fn take(&mut self, watched: ProcessResult) {
        self.process = watched.process;
        self.stopped = watched.stopped;
        self.used = watched.used;
        self.no_trace = self.no_trace.take().or(watched.unkept);
    }
}

impl Attempt<'_> {
    /// Makes the attempt.
    pub(crate) fn make(&self, shared: &AttemptShared<'_>) -> Result<AttemptResult, Unprepared> {
        fs::create_dir_all(&self.directory)?;
        if let Runner::Unsupported(what) = &self.target.target.runner {
            return Err(Unprepared::Unsupported(what.clone()));
        }
        let name = format!("{}-{}-{}", self.at, self.trial + 1, self.number);
        let places = AttemptDirectories::create(shared.work.join(name))?;
        match self.make_in(&places, shared) {
            Ok(left) => Ok(left),
            Err(unprepared) => {
                places.remove();
                Err(unprepared)
            }
        }
    }

    fn make_in(
        &self,
        places: &AttemptDirectories,
        shared: &AttemptShared<'_>,
    ) -> Result<AttemptResult, Unprepared> {
        let cell = self.cell;
        let (workspace, mut snapshot) = self.workspace(places, shared)?;
        let launch = self.target.host.and_then(|host| host.launch);
        let session = session_id(&self.directory);
        let (environ, home) = self.environ(places, launch, &session, shared)?;
        let mask = environ.mask();
        let env = environ.pairs();
        let hooks = HookContext {
            moment: "setup",
            run: shared.run,
            cell,
            target: &self.target.name,
            trial: self.trial + 1,
            attempt: self.number,
            workspace: &workspace,
            verdict: None,
        };
        run_hooks(&cell.workspace.setup, &hooks, &env)
            .map_err(|why| Unprepared::Setup(mask.apply_text(&why.to_string())))?;
        snapshot.take(&workspace, &places.root.join("before"))?;
        let output = places.root.join("output");
        let mut left = AttemptResult {
            workspace: workspace.clone(),
            diff: None,
            trace: None,
            no_trace: None,
            may_be_text: false,
            process: Ended::default(),
            stopped: None,
            marker: Marker::Exit { needs_success: false },
            mask,
            env,
            used: Used::default(),
            places: places.clone(),
        };
        if self.target.target.batches {
            self.take_batch(&mut left, &home, &session, shared)?;
        } else {
            self.ask(&mut left, launch, &home, &session, &output, shared)?;
            self.collect(launch, &home, &session, &output, &mut left)?;
        }
        left.diff = Some(snapshot.diff(&workspace)?).map(|diff| left.mask.apply_text(&diff));
        Ok(left)
    }

    /// Sends all prompts to the agent, one turn after another.
    fn ask(
        &self,
        left: &mut AttemptResult,
        launch: Option<&Launch>,
        home: &HomeOf,
        session: &str,
        output: &Path,
        shared: &AttemptShared<'_>,
    ) -> Result<(), Unprepared> {
        let cell = self.cell;
        let mut resume: Option<String> = None;
        for (number, prompt) in cell.prompts.iter().enumerate() {
            let file = left.places.root.join(format!("prompt-{}", number + 1));
            fs::write(&file, prompt)?;
            let request = self.request(home, session, resume.as_deref());
            let argv = match &self.target.target.runner {
                Runner::Agent { args, .. } => {
                    let Some(launch) = launch else { break };
                    let more: Vec<String> = args.iter().chain(&cell.args).cloned().collect();
                    self.agent_argv(launch, &request, &more, shared)
                }
                Runner::Command { line, .. } => {
                    let value = |name: &str| self.value(name, prompt, &file, left, output, session);
                    placeholders::fill(line, &value)
                }
                Runner::Replay(recordings) => {
                    self.replay(recordings, left)?;
                    break;
                }
                Runner::Unsupported(_) => break,
            };
            let turn = AttemptTurn { argv, prompt: file, number };
            let watched = self.watch(&turn, left, home, session, shared)?;
            left.take(watched);
            left.marker = self.marker(launch, &turn, left);
            self.write_exit(left)?;
            if left.stopped.is_some() || !matches!(left.marker, Marker::Host(End::Completed { .. }))
            {
                break;
            }
            resume = Some(self.session_of(launch, &turn).unwrap_or_else(|| session.to_owned()));
        }
        Ok(())
    }

    /// Creates the workspace with its files.
    fn workspace(
        &self,
        places: &AttemptDirectories,
        shared: &AttemptShared<'_>,
    ) -> Result<(PathBuf, WorkspaceSnapshot), Unprepared> {
        let plan = &self.cell.workspace;
        if self.cell.isolate == Isolation::None {
            let source = plan.from.clone().unwrap_or_default();
            return Ok((fs::canonicalize(source)?, WorkspaceSnapshot::default()));
        }
        let clone = shared.ready.clone_of(plan);
        let snapshot = fill(plan, clone, &places.workspace)
            .map_err(|error| Unprepared::Setup(format!("workspace: {error}")))?;
        Ok((fs::canonicalize(&places.workspace)?, snapshot))
    }

    /// Creates the environment variables and the home directory.
    fn environ(
        &self,
        places: &AttemptDirectories,
        launch: Option<&Launch>,
        session: &str,
        shared: &AttemptShared<'_>,
    ) -> Result<(Environ, HomeOf), Unprepared> {
        let mut environ = Environ::base(shared.lookup);
        let own = fs::canonicalize(&places.home)?;
        let home = match self.target.target.home {
            Home::Fresh => HomeOf { path: own, is_fresh: true },
            Home::Inherit => {
                let path = (shared.lookup)("HOME").map(PathBuf::from);
                HomeOf { path: path.unwrap_or(own), is_fresh: false }
            }
        };
        environ.set("HOME", &home.path);
        environ.set("TMPDIR", &places.tmp);
        if let Some(launch) = launch {
            environ.pass_host(launch, shared.lookup);
            let request = self.request(&home, session, None);
            for (name, value) in (launch.env)(&request) {
                environ.set(name, value);
            }
            if home.is_fresh {
                for (name, text) in (launch.files)(&request) {
                    let path = home.path.join(name);
                    if let Some(parent) = path.parent() {
                        fs::create_dir_all(parent)?;
                    }
                    fs::write(path, text)?;
                }
                if let SessionTrace::File { folder, .. } = launch.session {
                    // Some hosts want their directory to be there.
                    let folder = Path::new(folder).parent().unwrap_or(Path::new(""));
                    fs::create_dir_all(home.path.join(folder))?;
                }
            }
        }
        environ.add(&self.cell.workspace.env, shared.lookup);
        environ.add(&self.target.target.env, shared.lookup);
        Ok((environ, home))
    }

    fn request<'r>(
        &'r self,
        home: &'r HomeOf,
        session: &'r str,
        resume: Option<&'r str>,
    ) -> LaunchRequest<'r> {
        LaunchRequest {
            model: self.target.model.as_deref(),
            permissions: match self.target.target.permissions {
                TrialPermissions::Read => Allowed::Read,
                TrialPermissions::Workspace => Allowed::Workspace,
                TrialPermissions::Full => Allowed::Full,
            },
            home: home.is_fresh.then_some(home.path.as_path()),
            session,
            resume,
            turns: self.cell.limits.turns,
            usd: self.cell.limits.usd,
        }
    }

    fn agent_argv(
        &self,
        launch: &Launch,
        request: &LaunchRequest<'_>,
        more: &[String],
        shared: &AttemptShared<'_>,
    ) -> Vec<OsString> {
        let found = shared.ready.programs.get(self.cell.target).cloned().flatten();
        let program = found.map_or_else(|| OsString::from(launch.program), PathBuf::into_os_string);
        let mut args = (launch.args)(request);
        let more = more.iter().map(OsString::from);
        // The dash for stdin must stay last.
        let last = args.pop_if(|last| last == "-");
        std::iter::once(program).chain(args).chain(more).chain(last).collect()
    }

    /// Returns the value of a placeholder.
    fn value(
        &self,
        name: &str,
        prompt: &str,
        file: &Path,
        left: &AttemptResult,
        output: &Path,
        session: &str,
    ) -> String {
        let path = |path: &Path| path.to_string_lossy().into_owned();
        match name {
            "prompt" => prompt.to_owned(),
            "prompt_file" => path(file),
            "workspace" => path(&left.workspace),
            "home" => path(&left.places.home),
            "case" | "eval_id" => self.cell.case.clone(),
            "target" => self.target.name.clone(),
            "model" => self.target.model.clone().unwrap_or_default(),
            "trial" => (self.trial + 1).to_string(),
            "attempt" => self.number.to_string(),
            "output_file" => path(output),
            "session_id" => session.to_owned(),
            "spec_dir" => path(&self.cell.directory),
            "files" => self.files(&self.cell.attachments),
            "guidelines" => self.guidelines(),
            _ => String::new(),
        }
    }

    /// The attachments, as shell words.
    fn files(&self, all: &[Attachment]) -> String {
        let format = self.target.target.files_format.as_deref().unwrap_or("{path}");
        let one = |file: &Attachment| {
            let path = std::path::absolute(&file.path).unwrap_or_else(|_| file.path.clone());
            let base = path.file_name().unwrap_or_default().to_string_lossy();
            let path = placeholders::quote(&path.to_string_lossy());
            format.replace("{path}", &path).replace("{basename}", &placeholders::quote(&base))
        };
        let files = all.iter().filter(|file| !file.is_guideline);
        files.map(one).collect::<Vec<_>>().join(" ")
    }

    /// The texts of the guideline files.
    fn guidelines(&self) -> String {
        let files = self.cell.attachments.iter().filter(|file| file.is_guideline);
        let text = |file: &Attachment| {
            let mut bytes = Vec::new();
            File::open(&file.path).ok()?.take(MAX_GUIDELINE).read_to_end(&mut bytes).ok()?;
            Some(String::from_utf8_lossy(&bytes).into_owned())
        };
        files.filter_map(text).collect::<Vec<_>>().join("\n\n")
    }

    /// Working directory of the process: the workspace, unless that has no source and the target
    /// names another directory.
    fn directory_of<'d>(&'d self, workspace: &'d Path) -> &'d Path {
        let plan = &self.cell.workspace;
        let is_filled = plan.from.is_some() || plan.git.is_some();
        let other = self.target.target.directory.as_deref().filter(|_| !is_filled);
        other.unwrap_or(workspace)
    }

    /// Returns how the agent reported its end.
    fn marker(&self, launch: Option<&Launch>, turn: &AttemptTurn, left: &AttemptResult) -> Marker {
        match (launch, &self.target.target.runner) {
            (Some(launch), _) => {
                let stdout = end_of(&printed(&self.directory, "stdout", turn.number));
                let stderr = end_of(&printed(&self.directory, "stderr", turn.number));
                let code = left.process.code;
                Marker::Host((launch.end)(&Printed { stdout: &stdout, stderr: &stderr, code }))
            }
            (None, Runner::Command { needs_success, .. }) => {
                Marker::Exit { needs_success: *needs_success }
            }
            _ => Marker::Exit { needs_success: false },
        }
    }

    /// Returns the ID of the session if the host chose it; the next turn continues that session.
    fn session_of(&self, launch: Option<&Launch>, turn: &AttemptTurn) -> Option<String> {
        launch?;
        let mut start = vec![0; 4096];
        let mut file = File::open(printed(&self.directory, "stdout", turn.number)).ok()?;
        let read = file.read(&mut start).ok()?;
        let text = String::from_utf8_lossy(start.get(..read)?).into_owned();
        let first: serde_json::Value = serde_json::from_str(text.lines().next()?).ok()?;
        let keys = ["thread_id", "session_id", "sessionId"];
        keys.iter().find_map(|key| Some(first.get(*key)?.as_str()?.to_owned()))
    }

    fn write_argv(&self, argv: &[OsString], turn: usize, left: &AttemptResult) -> io::Result<()> {
        let text = |word: &OsString| left.mask.apply_text(&word.to_string_lossy());
        let argv: Vec<String> = argv.iter().map(text).collect();
        let names: Vec<String> =
            left.env.iter().map(|(name, _)| name.to_string_lossy().into_owned()).collect();
        let value =
            json!({"argv": argv, "cwd": self.directory_of(&left.workspace), "variables": names});
        write_unsynced(&printed(&self.directory, "argv.json", turn), &value)
    }

    fn write_exit(&self, left: &AttemptResult) -> io::Result<()> {
        let stopped = left.stopped.as_ref().map(|stopped| match stopped {
            Stopped::Timeout(_) => "timeout",
            Stopped::Limit(_) => "limit",
            Stopped::Budget => "budget",
            Stopped::Interrupted => "interrupted",
        });
        let process = &left.process;
        let value = json!({
            "code": process.code,
            "signal": process.signal,
            "error": process.error,
            "stopped": stopped,
            "processes_left": process.left,
        });
        write_unsynced(&self.directory.join("exit.json"), &value)
    }
}

/// The home directory of an agent.
struct HomeOf {
    path: PathBuf,
    is_fresh: bool,
}

/// Path of the output file of a turn; the first turn has the plain name.
fn printed(directory: &Path, name: &str, turn: usize) -> PathBuf {
    match turn {
        0 => directory.join(name),
        turn => directory.join(format!("{name}-{}", turn + 1)),
    }
}

/// Returns the end of a file as text.
fn end_of(path: &Path) -> String {
    use std::io::{Seek, SeekFrom};
    let read = || -> io::Result<Vec<u8>> {
        let mut file = File::open(path)?;
        let size = file.metadata()?.len();
        file.seek(SeekFrom::Start(size.saturating_sub(MAX_END)))?;
        let mut bytes = Vec::new();
        file.take(MAX_END).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    String::from_utf8_lossy(&read().unwrap_or_default()).into_owned()
}

/// Returns a unique session ID in UUID format, derived from the path of the attempt and the time.
fn session_id(directory: &Path) -> String {
    use sha2::{Digest, Sha256};
    let mut hash = Sha256::new();
    hash.update(directory.as_os_str().as_encoded_bytes());
    hash.update(jiff::Timestamp::now().as_nanosecond().to_le_bytes());
    let digits = crate::workspace::hex(&hash.finalize());
    let part = |from: usize, to: usize| digits.get(from..to).unwrap_or_default();
    format!("{}-{}-4{}-8{}-{}", part(0, 8), part(8, 12), part(13, 16), part(17, 20), part(20, 32))
}
