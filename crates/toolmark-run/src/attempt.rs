//! One attempt at a trial: a workspace, a program under a supervisor, what it left.

use crate::budget::{Ledger, Reservation};
use crate::end::{Marker, Stopped};
use crate::events::{Event, Observer};
use crate::mask::Mask;
use crate::matrix::{Cell, RunTarget};
use crate::placeholders;
use crate::preflight::{Ready, Sandbox};
use crate::stop::StopSwitch;
use crate::store::write_json;
use crate::tail::Tail;
use crate::trace;
use crate::usage::Used;
use crate::variables::{Environ, Lookup};
use crate::workspace::{HookContext, Places, Snapshot, fill, run_hooks};
use serde_json::json;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};
use toolmark_grade::run_plan::{
    Attachment, Home, Isolation, Limits, Permissions, Runner, TraceSource,
};
use toolmark_hosts::launch::{Allowed, End, Launch, LaunchRequest, Printed, SessionTrace};
use toolmark_process::{Ended, Spawn, Spawned};

/// What a program may print before the rest is dropped.
const MAX_PRINTED: u64 = 256 << 20;

/// What of it is looked at for how it ended.
const MAX_END: u64 = 8 << 20;

/// What of a guideline is given to a command.
const MAX_GUIDELINE: u64 = 64 << 10;

/// How long the pipes of a program that is gone may still be open.
const PIPE_TIME: Duration = Duration::from_secs(1);

/// What is left of an agent that was asked to end is killed after this long.
const GRACE: Duration = Duration::from_secs(5);

/// How long a change of the trace may go unnoticed where there is a limit, and where
/// somebody only watches.
const STRICT: Duration = Duration::from_millis(20);
const CASUAL: Duration = Duration::from_millis(500);

/// What every attempt of a run shares.
pub struct Shared<'a> {
    /// What was found before anything started.
    pub ready: &'a Ready,
    /// Where workspaces are made.
    pub work: &'a Path,
    /// The budget.
    pub ledger: &'a Ledger,
    /// Whoever shows what happens.
    pub observer: &'a dyn Observer,
    /// The switch.
    pub stop: &'a StopSwitch,
    /// Looks variables up.
    pub lookup: Lookup<'a>,
    /// Is there a budget, which is held by watching every trial?
    pub has_budget: bool,
}

/// An attempt to make.
pub(crate) struct Attempt<'a> {
    /// The cell.
    pub cell: &'a Cell,
    /// Its place.
    pub at: usize,
    /// Its target.
    pub target: &'a RunTarget,
    /// The trial, from 0.
    pub trial: u32,
    /// The attempt, from 1.
    pub number: u32,
    /// Where everything about it is kept.
    pub directory: PathBuf,
    /// What is reserved for it.
    pub reservation: Reservation,
    /// What earlier attempts have used.
    pub before: Used,
}

/// What an attempt left.
pub(crate) struct Left {
    /// Its directories; the caller removes them.
    pub places: Places,
    /// Where the agent worked.
    pub workspace: PathBuf,
    /// What changed there, as a diff.
    pub diff: Option<String>,
    /// The trace, in the directory of the attempt.
    pub trace: Option<PathBuf>,
    /// May the trace be plain text?
    pub may_be_text: bool,
    /// How its process ended.
    pub process: Ended,
    /// Why it was stopped.
    pub stopped: Option<Stopped>,
    /// How it says that it ended.
    pub marker: Marker,
    /// Hides the values of its variables.
    pub mask: Mask,
    /// Its variables, for what cleans up.
    pub env: Vec<(OsString, OsString)>,
    /// What it used, as far as was seen.
    pub used: Used,
}

/// Why an attempt did not get as far as the agent.
#[derive(Debug)]
pub(crate) enum Unprepared {
    /// The files could not be put together, or what prepares them failed.
    Setup(String),
    /// Such a target cannot be run.
    Unsupported(String),
}

impl From<io::Error> for Unprepared {
    fn from(error: io::Error) -> Self {
        Self::Setup(error.to_string())
    }
}

/// One process of an attempt.
struct Turn {
    argv: Vec<OsString>,
    prompt: PathBuf,
    /// Its number, from 0.
    number: usize,
}

/// What one process came to.
struct Watched {
    process: Ended,
    stopped: Option<Stopped>,
    used: Used,
}

impl Attempt<'_> {
    /// Makes the attempt.
    pub(crate) fn make(&self, shared: &Shared<'_>) -> Result<Left, Unprepared> {
        fs::create_dir_all(&self.directory)?;
        if let Runner::Unsupported(what) = &self.target.target.runner {
            return Err(Unprepared::Unsupported(what.clone()));
        }
        let name = format!("{}-{}-{}", self.at, self.trial + 1, self.number);
        let places = Places::create(shared.work.join(name))?;
        match self.make_in(&places, shared) {
            Ok(left) => Ok(left),
            Err(unprepared) => {
                places.remove();
                Err(unprepared)
            }
        }
    }

    fn make_in(&self, places: &Places, shared: &Shared<'_>) -> Result<Left, Unprepared> {
        let cell = self.cell;
        let (workspace, mut snapshot) = self.workspace(places, shared)?;
        let launch = self.target.host.and_then(|host| host.launch);
        let session = session_id(&self.directory);
        let (environ, home) = self.environ(places, launch, &session, shared)?;
        let mask = environ.mask();
        let env = environ.pairs();
        let hooks = HookContext {
            moment: "setup",
            case: &cell.case,
            target: &self.target.name,
            trial: self.trial + 1,
            attempt: self.number,
            workspace: &workspace,
            prompt: cell.prompts.first().map_or("", String::as_str),
            verdict: None,
        };
        run_hooks(&cell.workspace.setup, &hooks, &env)
            .map_err(|why| Unprepared::Setup(mask.apply_text(&why)))?;
        snapshot.take(&workspace, &places.root.join("before"))?;
        let output = places.root.join("output");
        let mut left = Left {
            workspace: workspace.clone(),
            diff: None,
            trace: None,
            may_be_text: false,
            process: Ended::default(),
            stopped: None,
            marker: Marker::Exit { needs_success: false },
            mask,
            env,
            used: Used::default(),
            places: places.clone(),
        };
        let mut resume: Option<String> = None;
        for (number, prompt) in cell.prompts.iter().enumerate() {
            let file = places.root.join(format!("prompt-{}", number + 1));
            fs::write(&file, prompt)?;
            let request = self.request(&home, &session, resume.as_deref());
            let mut argv = match &self.target.target.runner {
                Runner::Agent { args, .. } => {
                    let Some(launch) = launch else { break };
                    let more: Vec<String> = args.iter().chain(&cell.args).cloned().collect();
                    self.agent_argv(launch, &request, &more, shared)
                }
                Runner::Command { line, .. } => {
                    let value =
                        |name: &str| self.value(name, prompt, &file, &left, &output, &session);
                    placeholders::fill(line, &value)
                }
                Runner::Replay(path) => {
                    self.replay(path, &mut left)?;
                    break;
                }
                Runner::Unsupported(_) => break,
            };
            let sandbox = shared.ready.sandbox.filter(|_| cell.isolate == Isolation::Sandbox);
            if sandbox == Some(Sandbox::Bwrap) {
                argv = bwrap(places, self.directory_of(&workspace), argv);
            }
            let turn = Turn { argv, prompt: file, number };
            let writable = match sandbox {
                Some(Sandbox::Landlock) => vec![places.root.clone()],
                _ => Vec::new(),
            };
            let watched = self.watch(&turn, &left, &home, &session, writable, shared)?;
            left.process = watched.process;
            left.stopped = watched.stopped;
            left.used = watched.used;
            left.marker = self.marker(launch, &turn, &left);
            self.write_exit(&left)?;
            if left.stopped.is_some() || !matches!(left.marker, Marker::Host(End::Completed { .. }))
            {
                break;
            }
            resume = Some(self.session_of(launch, &turn).unwrap_or_else(|| session.clone()));
        }
        self.collect(launch, &home, &session, &output, &mut left)?;
        left.diff = Some(snapshot.diff(&workspace)?).map(|diff| left.mask.apply_text(&diff));
        Ok(left)
    }

    /// The directory the agent works in, and what is in it.
    fn workspace(
        &self,
        places: &Places,
        shared: &Shared<'_>,
    ) -> Result<(PathBuf, Snapshot), Unprepared> {
        let plan = &self.cell.workspace;
        if self.cell.isolate == Isolation::None {
            let source = plan.from.clone().unwrap_or_default();
            return Ok((fs::canonicalize(source)?, Snapshot::default()));
        }
        let clone = shared.ready.clone_of(plan);
        let snapshot = fill(plan, clone, &places.workspace)
            .map_err(|error| Unprepared::Setup(format!("workspace: {error}")))?;
        Ok((fs::canonicalize(&places.workspace)?, snapshot))
    }

    /// Its variables, and its home.
    fn environ(
        &self,
        places: &Places,
        launch: Option<&Launch>,
        session: &str,
        shared: &Shared<'_>,
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
                Permissions::Read => Allowed::Read,
                Permissions::Workspace => Allowed::Workspace,
                Permissions::Full => Allowed::Full,
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
        shared: &Shared<'_>,
    ) -> Vec<OsString> {
        let found = shared.ready.programs.get(self.cell.target).cloned().flatten();
        let program = found.map_or_else(|| OsString::from(launch.program), PathBuf::into_os_string);
        let mut args = (launch.args)(request);
        let more = more.iter().map(OsString::from);
        // The dash that stands for stdin stays last.
        let last = args.pop_if(|last| last == "-");
        std::iter::once(program).chain(args).chain(more).chain(last).collect()
    }

    /// The value of a placeholder.
    fn value(
        &self,
        name: &str,
        prompt: &str,
        file: &Path,
        left: &Left,
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
            "files" => self.files(),
            "guidelines" => self.guidelines(),
            _ => String::new(),
        }
    }

    /// The files the prompt speaks of, as words for the shell.
    fn files(&self) -> String {
        let format = self.target.target.files_format.as_deref().unwrap_or("{path}");
        let one = |file: &Attachment| {
            let path = std::path::absolute(&file.path).unwrap_or_else(|_| file.path.clone());
            let base = path.file_name().unwrap_or_default().to_string_lossy();
            let path = placeholders::quote(&path.to_string_lossy());
            format.replace("{path}", &path).replace("{basename}", &placeholders::quote(&base))
        };
        let files = self.cell.attachments.iter().filter(|file| !file.is_guideline);
        files.map(one).collect::<Vec<_>>().join(" ")
    }

    /// The texts of the files that say how the work is done.
    fn guidelines(&self) -> String {
        let files = self.cell.attachments.iter().filter(|file| file.is_guideline);
        let text = |file: &Attachment| {
            let mut bytes = Vec::new();
            File::open(&file.path).ok()?.take(MAX_GUIDELINE).read_to_end(&mut bytes).ok()?;
            Some(String::from_utf8_lossy(&bytes).into_owned())
        };
        files.filter_map(text).collect::<Vec<_>>().join("\n\n")
    }

    /// Where its process works: the workspace, unless that has nothing in it and the
    /// target says otherwise.
    fn directory_of<'d>(&'d self, workspace: &'d Path) -> &'d Path {
        let plan = &self.cell.workspace;
        let is_filled = plan.from.is_some() || plan.git.is_some();
        let other = self.target.target.directory.as_deref().filter(|_| !is_filled);
        other.unwrap_or(workspace)
    }

    /// Starts a process and watches it to its end.
    fn watch(
        &self,
        turn: &Turn,
        left: &Left,
        home: &HomeOf,
        session: &str,
        writable: Vec<PathBuf>,
        shared: &Shared<'_>,
    ) -> Result<Watched, Unprepared> {
        self.write_argv(turn, left)?;
        let (program, args) = turn
            .argv
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
                return Ok(Watched { process, stopped: None, used: Used::default() });
            }
        };
        let (told, news) = sync_channel(1);
        let stdout = self.pump(
            spawned.stdout(),
            &printed(&self.directory, "stdout", turn.number),
            left,
            &told,
        )?;
        let stderr = self.pump(
            spawned.stderr(),
            &printed(&self.directory, "stderr", turn.number),
            left,
            &told,
        )?;
        drop(told);
        let (stopped, used) =
            self.attend(&mut spawned, turn, left, home, session, &news, shared)?;
        let process = spawned.finish()?;
        let until = Instant::now() + PIPE_TIME;
        for pump in [stdout, stderr].into_iter().flatten() {
            while !pump.is_finished() && Instant::now() < until {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        Ok(Watched { process, stopped, used })
    }

    /// Copies what a process prints to a file, without the values of variables.
    fn pump<P: Read + Send + 'static>(
        &self,
        pipe: Option<P>,
        to: &Path,
        left: &Left,
        told: &SyncSender<()>,
    ) -> io::Result<Option<std::thread::JoinHandle<()>>> {
        let Some(mut pipe) = pipe else { return Ok(None) };
        let mut file = File::create(to)?;
        let (mask, told) = (left.mask.clone(), told.clone());
        let work = move || {
            // A disk that is full loses output, and the trace with it: that is said
            // when it is read.
            let copied = mask.copy(&mut pipe, &mut file, MAX_PRINTED, |_| {
                let _ = told.try_send(());
            });
            if copied.is_err() {
                // Whoever writes must not wait for us.
                let _ = io::copy(&mut pipe, &mut io::sink());
            }
        };
        std::thread::Builder::new().stack_size(256 << 10).spawn(work).map(Some)
    }

    /// Waits for the end, and stops what exceeds its time, its limits or the budget.
    #[expect(clippy::too_many_arguments, reason = "what a process is watched with")]
    fn attend(
        &self,
        spawned: &mut Spawned,
        turn: &Turn,
        left: &Left,
        home: &HomeOf,
        session: &str,
        news: &Receiver<()>,
        shared: &Shared<'_>,
    ) -> io::Result<(Option<Stopped>, Used)> {
        let cell = self.cell;
        let started = Instant::now();
        let is_strict = shared.has_budget || cell.limits != Limits::default();
        let interval = if is_strict { STRICT } else { CASUAL };
        let mut tail = Tail::new(interval, self.target.target.price);
        let mut stopped: Option<Stopped> = None;
        let mut used = Used::default();
        let mut pause = Duration::from_millis(1);
        let mut presses = 0;
        let mut found: Option<PathBuf> = None;
        loop {
            if spawned.has_ended()? {
                break;
            }
            let now = Instant::now();
            let pressed = shared.stop.pressed();
            if pressed > presses {
                presses = pressed;
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
                    shared.observer.event(&Event::Progress {
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
            match news.recv_timeout(pause) {
                // Something was printed: it may be over soon.
                Ok(()) => pause = Duration::from_millis(1),
                Err(RecvTimeoutError::Timeout) => {
                    pause = (pause * 2).min(if is_strict { STRICT } else { STRICT * 2 });
                }
                Err(RecvTimeoutError::Disconnected) => {
                    std::thread::sleep(pause);
                    pause = (pause * 2).min(STRICT);
                }
            }
        }
        Ok((stopped, used))
    }

    /// The trace as far as it is written.
    fn live_trace(
        &self,
        turn: &Turn,
        left: &Left,
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

    /// How the agent says that it ended.
    fn marker(&self, launch: Option<&Launch>, turn: &Turn, left: &Left) -> Marker {
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

    /// The id of the session, where the host chose it: it is what the next turn goes on
    /// with.
    fn session_of(&self, launch: Option<&Launch>, turn: &Turn) -> Option<String> {
        launch?;
        let mut start = vec![0; 4096];
        let mut file = File::open(printed(&self.directory, "stdout", turn.number)).ok()?;
        let read = file.read(&mut start).ok()?;
        let text = String::from_utf8_lossy(start.get(..read)?).into_owned();
        let first: serde_json::Value = serde_json::from_str(text.lines().next()?).ok()?;
        let keys = ["thread_id", "session_id", "sessionId"];
        keys.iter().find_map(|key| Some(first.get(*key)?.as_str()?.to_owned()))
    }

    /// Brings the trace into the directory of the attempt.
    fn collect(
        &self,
        launch: Option<&Launch>,
        home: &HomeOf,
        session: &str,
        output: &Path,
        left: &mut Left,
    ) -> io::Result<()> {
        let stdout = printed(&self.directory, "stdout", 0);
        match (&self.target.target.runner, launch.map(|launch| (launch, launch.session))) {
            (_, Some((_, SessionTrace::Stream))) => left.trace = Some(stdout),
            (_, Some((launch, SessionTrace::File { folder, .. }))) => {
                let kept = self.directory.join("session");
                let files = session_files(launch, home, left);
                let chosen = self
                    .session_of(
                        Some(launch),
                        &Turn { argv: Vec::new(), prompt: PathBuf::new(), number: 0 },
                    )
                    .unwrap_or_else(|| session.to_owned());
                if home.is_fresh {
                    trace::keep_sessions(&home.path.join(folder), &kept, &left.mask)?;
                }
                let Some(main) = trace::main_session(files, Some(&chosen)) else { return Ok(()) };
                let relative =
                    main.strip_prefix(home.path.join(folder)).unwrap_or(&main).to_owned();
                let to = kept.join(&relative);
                if !home.is_fresh {
                    trace::keep_file(&main, &to, &left.mask)?;
                }
                left.trace = Some(to);
            }
            (Runner::Command { trace: TraceSource::Files(pattern), .. }, None) => {
                if let Some(file) = trace::matching(&left.workspace, pattern).pop() {
                    let name = file.file_name().unwrap_or_default();
                    let to = self.directory.join("session").join(name);
                    trace::keep_file(&file, &to, &left.mask)?;
                    left.trace = Some(to);
                }
            }
            (Runner::Command { trace: TraceSource::OutputFile, .. }, None) => {
                if output.is_file() {
                    let to = self.directory.join("session").join("output");
                    trace::keep_file(output, &to, &left.mask)?;
                    left.trace = Some(to);
                }
                left.may_be_text = true;
            }
            (Runner::Command { trace: TraceSource::Stdout, .. }, None) => {
                left.trace = Some(stdout);
                left.may_be_text = true;
            }
            (Runner::Replay(_) | Runner::Unsupported(_) | Runner::Agent { .. }, None) => {}
        }
        Ok(())
    }

    /// Takes a trace of an earlier run for what the agent did.
    fn replay(&self, path: &Path, left: &mut Left) -> io::Result<()> {
        left.process.code = Some(0);
        let source = if path.is_dir() {
            let is_of_case = |file: &PathBuf| {
                let name = file.file_name().unwrap_or_default().to_string_lossy();
                let rest = name.strip_prefix(self.cell.case.as_str());
                let inside = file.parent().and_then(Path::file_name);
                rest.is_some_and(|rest| rest.starts_with(['.', '-', '_']))
                    || inside.is_some_and(|inside| inside == self.cell.case.as_str())
            };
            let mut files: Vec<PathBuf> =
                trace::matching(path, "**").into_iter().filter(is_of_case).collect();
            files.sort();
            let last = files.len().checked_sub(1);
            last.and_then(|last| files.get(last.min(self.trial as usize)).cloned())
        } else {
            Some(path.to_owned())
        };
        if let Some(source) = source {
            let to = self.directory.join("session").join(source.file_name().unwrap_or_default());
            trace::keep_file(&source, &to, &left.mask)?;
            left.trace = Some(to);
        }
        Ok(())
    }

    fn write_argv(&self, turn: &Turn, left: &Left) -> io::Result<()> {
        let text = |word: &OsString| left.mask.apply_text(&word.to_string_lossy());
        let argv: Vec<String> = turn.argv.iter().map(text).collect();
        let names: Vec<String> =
            left.env.iter().map(|(name, _)| name.to_string_lossy().into_owned()).collect();
        let value =
            json!({"argv": argv, "cwd": self.directory_of(&left.workspace), "variables": names});
        write_json(&printed(&self.directory, "argv.json", turn.number), &value)
    }

    fn write_exit(&self, left: &Left) -> io::Result<()> {
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
        write_json(&self.directory.join("exit.json"), &value)
    }
}

/// The home of an agent.
struct HomeOf {
    path: PathBuf,
    is_fresh: bool,
}

/// The files of sessions that an attempt wrote.
fn session_files(launch: &Launch, home: &HomeOf, left: &Left) -> Vec<PathBuf> {
    let mut files = launch.session_files(&home.path);
    if !home.is_fresh {
        // Others lie in the same home: those that were written since count.
        let modified = |path: &Path| fs::metadata(path).and_then(|about| about.modified()).ok();
        let started = modified(&left.places.root.join("prompt-1"));
        files.retain(|file| modified(file) >= started);
    }
    files
}

/// Where what a process prints goes; the first has the plain name.
fn printed(directory: &Path, name: &str, turn: usize) -> PathBuf {
    match turn {
        0 => directory.join(name),
        turn => directory.join(format!("{name}-{}", turn + 1)),
    }
}

/// The end of a file, as text.
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

/// A command in a file system of which only the trial's own directories can be written.
fn bwrap(places: &Places, workspace: &Path, argv: Vec<OsString>) -> Vec<OsString> {
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
    line.extend(argv);
    line
}

/// An id for a session, in the form of a UUID: made of the place of the attempt and the
/// time, so that no two are alike.
fn session_id(directory: &Path) -> String {
    use sha2::{Digest, Sha256};
    let mut hash = Sha256::new();
    hash.update(directory.as_os_str().as_encoded_bytes());
    hash.update(jiff::Timestamp::now().as_nanosecond().to_le_bytes());
    let digits = crate::workspace::hex(&hash.finalize());
    let part = |from: usize, to: usize| digits.get(from..to).unwrap_or_default();
    format!("{}-{}-4{}-8{}-{}", part(0, 8), part(8, 12), part(13, 16), part(17, 20), part(20, 32))
}

/// A duration in words.
fn words(time: Duration) -> String {
    match time.as_millis() {
        millis if millis < 10_000 => format!("{} s", time.as_secs_f64()),
        millis if millis < 120_000 => format!("{} s", millis / 1000),
        millis => format!("{} min", millis / 60_000),
    }
}
