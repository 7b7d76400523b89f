//! Collects the trace of an attempt into its directory.

use super::{Attempt, AttemptResult, AttemptTurn, HomeOf, printed};
use crate::recordings::{self, RecordedTrial};
use crate::trace;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use toolmark_grade::run_plan::{Recordings, Runner, TraceSource};
use toolmark_hosts::launch::{Launch, SessionTrace};

impl Attempt<'_> {
    /// Copies the trace into the directory of the attempt.
    pub(super) fn collect(
        &self,
        launch: Option<&Launch>,
        home: &HomeOf,
        session: &str,
        output: &Path,
        left: &mut AttemptResult,
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
                        &AttemptTurn { argv: Vec::new(), prompt: PathBuf::new(), number: 0 },
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

    /// Uses a trace of an earlier run in place of the agent.
    pub(super) fn replay(
        &self,
        recordings: &Recordings,
        left: &mut AttemptResult,
    ) -> io::Result<()> {
        left.process.code = Some(0);
        let kept = self.directory.join("session");
        match recordings::find(recordings, &self.cell.case, self.trial) {
            Ok(RecordedTrial::File(source)) => {
                let to = kept.join(source.file_name().unwrap_or_default());
                trace::keep_file(&source, &to, &left.mask)?;
                left.trace = Some(to);
            }
            Ok(RecordedTrial::Run(run)) => {
                fs::create_dir_all(&kept)?;
                let to = kept.join("trajectory.json");
                trace::write_trajectory(&run, &to, &left.mask)?;
                left.trace = Some(to);
            }
            Err(why) => left.no_trace = Some(why.to_string()),
        }
        Ok(())
    }
}

/// Returns the session files that an attempt wrote.
pub(super) fn session_files(launch: &Launch, home: &HomeOf, left: &AttemptResult) -> Vec<PathBuf> {
    let mut files = launch.session_files(&home.path);
    if !home.is_fresh {
        // The home has other sessions too: only files written since the start count.
        let modified = |path: &Path| fs::metadata(path).and_then(|about| about.modified()).ok();
        let started = modified(&left.places.root.join("prompt-1"));
        files.retain(|file| modified(file) >= started);
    }
    files
}
