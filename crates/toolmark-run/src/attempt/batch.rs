//! Commands that answer all cases at once: the first trial runs the command, the others take their
//! answers from its output.
//!
//! The command writes one line of JSON per case, with its `id`. As in AgentV it receives no
//! information about a single case: the prompt is empty, and the name of the case is `batch`.

use super::{
    Attempt, AttemptResult, AttemptShared, AttemptTurn, HomeOf, ProcessResult, Unprepared,
};
use crate::end::{Marker, Stopped};
use crate::mask::Mask;
use crate::matrix::RunMatrix;
use crate::placeholders;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use toolmark_grade::run_plan::{Attachment, Runner};
use toolmark_process::Ended;

/// Placeholder for the name of a case.
const NAME: &str = "batch";

/// Maximum size of the output of a batch.
const MAX_OUTPUT: u64 = 256 << 20;

/// Result of one batch.
struct Batch {
    process: Ended,
    stopped: Option<Stopped>,
    /// Answers by case ID, or why there are none.
    answers: Result<BTreeMap<String, String>, BatchError>,
}

/// Reason why a batch has no answers.
#[derive(Debug, thiserror::Error)]
enum BatchError {
    #[error("the batch wrote no output")]
    NoOutput,
    #[error("the output of the batch is longer than {MAX_OUTPUT} bytes")]
    TooLong,
    #[error(transparent)]
    Read(#[from] std::io::Error),
    #[error("line {0} of the output has no id")]
    NoId(usize),
    #[error("the output has two lines with the id {0}")]
    Twice(String),
}

/// Key of a batch: its target, its trial and the number of previous attempts.
type BatchKey = (usize, u32, usize);

/// The batches of a run.
#[derive(Default)]
pub struct Batches {
    made: Mutex<BTreeMap<BatchKey, Arc<OnceLock<Batch>>>>,
    /// Attachments of all cases of a target.
    files: Vec<Vec<Attachment>>,
}

impl Batches {
    /// Returns the batches of a plan.
    #[must_use]
    pub fn new(matrix: &RunMatrix) -> Self {
        let mut files: Vec<Vec<Attachment>> = vec![Vec::new(); matrix.targets.len()];
        for cell in &matrix.cells {
            if let Some(files) = files.get_mut(cell.target) {
                files.extend(cell.attachments.iter().cloned());
            }
        }
        Self { files, ..Self::default() }
    }

    fn place(&self, key: BatchKey) -> Arc<OnceLock<Batch>> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(made.entry(key).or_default())
    }
}

impl Attempt<'_> {
    /// Returns the answer of this case from the batch of its trial; runs the batch if necessary.
    pub(super) fn take_batch(
        &self,
        left: &mut AttemptResult,
        home: &HomeOf,
        session: &str,
        shared: &AttemptShared<'_>,
    ) -> Result<(), Unprepared> {
        let place = shared.batches.place((self.cell.target, self.trial, self.round));
        // Other trials wait while the batch runs.
        let batch = place.get_or_init(|| {
            let output = left.places.root.join("output");
            let watched = self.run_batch(left, home, session, &output, shared);
            let failed = |unprepared| match unprepared {
                Unprepared::Setup(why) | Unprepared::Unsupported(why) => {
                    let process = Ended { error: Some(why), ..Ended::default() };
                    ProcessResult { process, ..ProcessResult::default() }
                }
            };
            let ProcessResult { process, stopped, .. } = watched.unwrap_or_else(failed);
            Batch { process, stopped, answers: answers(&output, &left.mask) }
        });
        left.process = batch.process.clone();
        left.stopped = batch.stopped.clone();
        left.marker = Marker::Exit { needs_success: true };
        left.may_be_text = true;
        self.write_exit(left)?;
        let case = &self.cell.case;
        let answer = batch.answers.as_ref().map_err(ToString::to_string).and_then(|answers| {
            let line = answers.get(case);
            line.ok_or_else(|| format!("the output of the batch has no line with the id {case}"))
        });
        match answer {
            Ok(line) => {
                let kept = self.directory.join("session");
                fs::create_dir_all(&kept)?;
                fs::write(kept.join("output"), line)?;
                left.trace = Some(kept.join("output"));
            }
            Err(why) => left.no_trace = Some(why),
        }
        Ok(())
    }

    fn run_batch(
        &self,
        left: &AttemptResult,
        home: &HomeOf,
        session: &str,
        output: &Path,
        shared: &AttemptShared<'_>,
    ) -> Result<ProcessResult, Unprepared> {
        let Runner::Command { line, .. } = &self.target.target.runner else {
            return Err(Unprepared::Unsupported("only commands run in batches".to_owned()));
        };
        let prompt = left.places.root.join("prompt-1");
        fs::write(&prompt, "")?;
        let files = shared.batches.files.get(self.cell.target).map_or(&[][..], Vec::as_slice);
        let value = |name: &str| match name {
            "case" | "eval_id" => NAME.to_owned(),
            "attempt" => "0".to_owned(),
            "guidelines" => String::new(),
            "files" => self.files(files),
            name => self.value(name, "", &prompt, left, output, session),
        };
        let argv = placeholders::fill(line, &value);
        self.watch(&AttemptTurn { argv, prompt, number: 0 }, left, home, session, shared)
    }
}

/// Reads the answers of a batch, by case ID.
fn answers(output: &Path, mask: &Mask) -> Result<BTreeMap<String, String>, BatchError> {
    let size = fs::metadata(output).map_err(|_| BatchError::NoOutput)?.len();
    if size > MAX_OUTPUT {
        return Err(BatchError::TooLong);
    }
    let text = String::from_utf8_lossy(&mask.apply(&fs::read(output)?)).into_owned();
    let mut answers = BTreeMap::new();
    for (number, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let row: Option<Value> = serde_json::from_str(line).ok();
        let id = row.as_ref().and_then(|row| row.get("id")?.as_str()).map(str::trim);
        let Some(id) = id.filter(|id| !id.is_empty()) else {
            return Err(BatchError::NoId(number + 1));
        };
        if answers.insert(id.to_owned(), format!("{line}\n")).is_some() {
            return Err(BatchError::Twice(id.to_owned()));
        }
    }
    Ok(answers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_has_an_id_of_its_own() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("output");
        let none = answers(&path, &Mask::default()).unwrap_err();
        assert!(none.to_string().contains("no output"));
        for (text, expected) in [
            ("{\"id\": \"a\", \"text\": \"x\"}\n\n{\"id\": \"b\"}\n", Ok(2)),
            ("", Ok(0)),
            ("{\"id\": \"a\"}\n{\"id\": \" a\"}\n", Err("two lines with the id a")),
            ("{\"id\": \"a\"}\n{\"text\": \"x\"}\n", Err("line 2 of the output has no id")),
            ("not JSON\n", Err("line 1 of the output has no id")),
        ] {
            fs::write(&path, text).unwrap();
            match (answers(&path, &Mask::default()), expected) {
                (Ok(found), Ok(many)) => assert_eq!(found.len(), many, "{text}"),
                (Err(why), Err(words)) => assert!(why.to_string().contains(words), "{why}"),
                (found, _) => panic!("{text}: {found:?}"),
            }
        }
    }
}
