//! Streamed reports: each outcome is rendered to a chunk and dropped, and the chunks are assembled
//! at the end.

use crate::model::{CaseResult, RunResult};
use crate::{ReportError, ReportOptions, csv, jsonl, junit, text};
use std::io::{self, Write};
use std::time::Duration;
use toolmark_outcome::{Printable, Redactor, Untrusted, Verdict, printable};

/// An outcome without the data in its chunk.
#[derive(Debug, Clone, PartialEq)]
pub struct OutcomeRow {
    /// Name of the case.
    pub case: Printable,
    /// Index of the trial, from 0.
    pub trial: u32,
    /// Whether the case has several trials.
    pub has_trials: bool,
    /// The verdict.
    pub verdict: Verdict,
    /// The score.
    pub score: Option<f64>,
}

impl OutcomeRow {
    /// Name of the case, with the trial number if there are several.
    pub(crate) fn title(&self) -> Printable {
        match self.has_trials {
            true => printable!("{} (trial {})", self.case, self.trial.saturating_add(1)),
            false => self.case.clone(),
        }
    }
}

/// Outcomes of which only the chunks are kept, ordered by case and trial.
pub trait Outcomes {
    /// Number of outcomes.
    fn count(&self) -> usize;

    /// Row of an outcome.
    fn row(&self, at: usize) -> OutcomeRow;

    /// Verdict of an outcome.
    fn verdict(&self, at: usize) -> Verdict;

    /// Trial index of an outcome, from 0.
    fn trial(&self, at: usize) -> u32;

    /// Reads the chunk of an outcome, after clearing `piece`. Returns the offset at which the chunk
    /// is split.
    fn read(&mut self, at: usize, piece: &mut Vec<u8>) -> io::Result<usize>;
}

/// A report that is assembled from chunks.
#[derive(Debug, Clone)]
pub struct ReportStream {
    format: Format,
    options: ReportOptions,
}

#[derive(Debug, Clone, Copy)]
enum Format {
    Jsonl,
    Csv,
    Junit,
    Text,
}

impl ReportStream {
    /// Returns a report of this format, if the format can be streamed.
    #[must_use]
    pub fn new(format: &str, options: ReportOptions) -> Option<Self> {
        let format = match format {
            "jsonl" => Format::Jsonl,
            "csv" => Format::Csv,
            "junit" => Format::Junit,
            "text" => Format::Text,
            _ => return None,
        };
        Some(Self { format, options })
    }

    /// Sets the elapsed time.
    #[must_use]
    pub fn after(mut self, elapsed: Option<Duration>) -> Self {
        self.options.elapsed = elapsed;
        self
    }

    /// Whether [`Self::redacted_piece`] redacts while writing, without a redacted copy of the
    /// outcome.
    #[must_use]
    pub fn redacts(&self) -> bool {
        matches!(self.format, Format::Jsonl)
    }

    /// Appends the chunk of an unredacted outcome, redacted. Otherwise like [`Self::piece`].
    pub fn redacted_piece(
        &self,
        outcome: &toolmark_outcome::CaseResult<Untrusted>,
        out: &mut Vec<u8>,
    ) -> Result<usize, ReportError> {
        match self.format {
            Format::Jsonl => jsonl::piece(outcome, out),
            Format::Csv | Format::Junit | Format::Text => {
                self.piece(&outcome.clone().redact(Redactor::new(true)), out)
            }
        }
    }

    /// Appends the chunk of an outcome. Returns the offset, from the start of the chunk, at which
    /// text that depends on other trials is inserted.
    pub fn piece(&self, outcome: &CaseResult, out: &mut Vec<u8>) -> Result<usize, ReportError> {
        match self.format {
            Format::Jsonl => jsonl::piece(outcome, out),
            Format::Csv => csv::piece(outcome, out),
            Format::Junit => junit::piece(outcome, out),
            Format::Text => Ok(text::piece(outcome, &self.options, out)),
        }
    }

    /// Assembles the chunks. `run` has no outcomes.
    pub fn write(
        &self,
        run: &RunResult,
        outcomes: &mut dyn Outcomes,
        out: &mut dyn Write,
    ) -> Result<(), ReportError> {
        match self.format {
            Format::Jsonl => jsonl::write_pieces(run, outcomes, &self.options, out),
            Format::Csv => csv::write_pieces(outcomes, out),
            Format::Junit => junit::write_pieces(run, outcomes, &self.options, out),
            Format::Text => text::write_pieces(run, outcomes, &self.options, out),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Verbosity, format_by_id, testing};

    struct KeptChunks<'r> {
        run: &'r RunResult,
        pieces: Vec<(Vec<u8>, usize)>,
    }

    impl Outcomes for KeptChunks<'_> {
        fn count(&self) -> usize {
            self.pieces.len()
        }

        fn row(&self, at: usize) -> OutcomeRow {
            let result = &self.run.outcomes[at];
            let same = |other: &&CaseResult| other.case_index == result.case_index;
            OutcomeRow {
                case: result.case.clone(),
                trial: result.trial,
                has_trials: self.run.outcomes.iter().filter(same).count() > 1,
                verdict: result.verdict,
                score: result.score,
            }
        }

        fn verdict(&self, at: usize) -> Verdict {
            self.run.outcomes[at].verdict
        }

        fn trial(&self, at: usize) -> u32 {
            self.run.outcomes[at].trial
        }

        fn read(&mut self, at: usize, piece: &mut Vec<u8>) -> io::Result<usize> {
            piece.clone_from(&self.pieces[at].0);
            Ok(self.pieces[at].1)
        }
    }

    #[test]
    fn pieces_are_redacted_as_they_are_written() {
        let secret = "ghp_a1B2c3D4e5F6g7H8i9J0a1B2c3D4e5F6g7H8";
        for mut outcome in testing::untrusted_sample().outcomes {
            outcome.reason = format!("{} {secret}", outcome.reason.raw()).into();
            for grader in &mut outcome.graders {
                grader.outcome.metrics.insert(secret.into(), secret.into());
                grader.place.file = secret.into();
                grader.outcome.notes.push(secret.into());
            }
            for format in ["jsonl", "csv", "junit", "text"] {
                let stream = ReportStream::new(format, ReportOptions::default()).unwrap();
                let (mut raw, mut redacted) = (Vec::new(), Vec::new());
                let parted = stream.redacted_piece(&outcome, &mut raw).unwrap();
                let outcome = outcome.clone().redact(Redactor::new(true));
                assert_eq!(stream.piece(&outcome, &mut redacted).unwrap(), parted);
                let raw = String::from_utf8(raw).unwrap();
                assert!(!raw.contains(secret), "{raw}");
                assert_eq!(raw, String::from_utf8(redacted).unwrap());
            }
        }
    }

    #[test]
    fn pieces_make_the_same_report() {
        for run in [testing::sample(), testing::many(3), testing::many(60)] {
            for format in ["jsonl", "csv", "junit", "text"] {
                for verbosity in [Verbosity::Quiet, Verbosity::Normal, Verbosity::Verbose] {
                    for colour in [false, true] {
                        let options = ReportOptions {
                            verbosity,
                            colour,
                            width: 70,
                            ..ReportOptions::default()
                        };
                        let whole = format_by_id(format).unwrap().to_text(&run, &options).unwrap();
                        let stream = ReportStream::new(format, options).unwrap();
                        let piece = |outcome: &CaseResult| {
                            // What is not known yet.
                            let outcome = CaseResult { trial: 0, ..outcome.clone() };
                            let mut piece = Vec::new();
                            let parted = stream.piece(&outcome, &mut piece).unwrap();
                            (piece, parted)
                        };
                        let pieces = run.outcomes.iter().map(piece).collect();
                        let mut kept = KeptChunks { run: &run, pieces };
                        let without = RunResult { outcomes: Vec::new(), ..run.clone() };
                        let mut out = Vec::new();
                        stream.write(&without, &mut kept, &mut out).unwrap();
                        assert_eq!(
                            String::from_utf8(out).unwrap(),
                            whole,
                            "{format} {verbosity:?}"
                        );
                    }
                }
            }
        }
    }
}
