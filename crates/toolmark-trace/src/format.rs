//! Defines formats: how to detect a format, how to read it, and what it does not record.
//!
//! A format is one file in `formats/` with a unit struct that implements [`Format`], and
//! one line in the list of `formats/mod.rs`.

use crate::builder::TrajectoryBuilder;
use crate::diagnostic::{Diagnostic, DiagnosticSeverity};
use crate::model::{At, Block, Event, EventKind, Fidelity, Payload, Text, Trajectory, Usage};
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use toolmark_scan::{JsonKind, Shared, Value};

/// Description of a format, as printed by `toolmark formats` and the docs.
#[derive(Debug)]
pub struct FormatInfo {
    /// Short name for `--as` and outputs, in kebab case.
    pub id: &'static str,
    /// Display name.
    pub title: &'static str,
    /// Origin of such files.
    pub origin: &'static str,
    /// Supported versions or generations.
    pub versions: &'static str,
    /// Content that detection looks for, as a fragment that follows "looks for".
    pub looks_for: &'static str,
    /// Facts that the format never records.
    pub fidelity: Fidelity,
}

/// Confidence that a file has a given format, from 0 to 100; files are read from 50 on.
pub type Confidence = u8;

/// A trace format.
pub trait Format: Sync {
    /// Returns the description of the format.
    fn info(&self) -> &'static FormatInfo;

    /// Returns the confidence that the file behind `probe` has this format.
    ///
    /// The highest confidence wins; among equals, the format listed first.
    fn detect(&self, probe: &FormatProbe<'_>) -> Confidence;

    /// For text formats that are not JSON: returns whether a file with this start has the
    /// format. Such a file is one record, its whole text.
    fn detect_text(&self, head: &str) -> Option<bool> {
        let _ = head;
        None
    }

    /// Creates a reader for one file.
    fn reader(&self) -> Box<dyn Reader>;

    /// Whether such a trace has a result of every call that came to its end. Then a run
    /// of nothing but calls without one has not done them; elsewhere it may be that
    /// results are not recorded.
    fn answers_calls(&self) -> bool {
        false
    }

    /// Returns other files with sub-agents of `run`, which was read from `path`.
    fn companions(&self, path: &Path, run: &Trajectory) -> Vec<PathBuf> {
        let _ = (path, run);
        Vec::new()
    }
}

/// Reader of the records of one file, in order.
pub trait Reader: Send {
    /// Processes the next record. A format with one run per record pushes a trajectory here, so
    /// that a file of many runs is never entirely in memory.
    fn record(&mut self, record: &Record<'_>, out: &mut Out);

    /// Called at the end of the file; pushes unfinished trajectories.
    fn finish(&mut self, out: &mut Out) {
        let _ = out;
    }

    /// Whether the run being read may be made of several records, so that a record
    /// that cannot be read may be one of its own. Where every record is a run, a
    /// broken one is a lost run and says nothing about the others.
    fn spans_records(&self) -> bool {
        true
    }
}

/// One top-level JSON value of a file (a line, an element of the outermost
/// array, one of several values in a row, an entry of an archive), or, for
/// binary formats, the whole file.
#[derive(Clone, Copy)]
pub struct Record<'a> {
    pub(crate) value: Option<Value<'a>>,
    pub(crate) binary: &'a [u8],
    pub(crate) block: &'a Shared<Block>,
    /// Offset of the record in its block.
    pub(crate) offset: usize,
    pub(crate) entry: Option<&'a str>,
}

impl<'a> Record<'a> {
    /// Returns the record's JSON; `None` for a binary record.
    #[must_use]
    pub fn json(&self) -> Option<Value<'a>> {
        self.value
    }

    /// Returns the whole file if it is text and not JSON.
    pub(crate) fn document(&self) -> Option<&'a Shared<Block>> {
        (self.value.is_none() && !self.block.text.is_empty()).then_some(self.block)
    }

    /// Returns the bytes of a binary record.
    #[must_use]
    pub fn binary(&self) -> &'a [u8] {
        self.binary
    }

    /// Returns the name of the record's archive entry.
    #[must_use]
    pub fn entry(&self) -> Option<&'a str> {
        self.entry
    }

    /// Returns the start position of the record.
    #[must_use]
    #[inline]
    pub fn at(&self) -> At {
        At::new(self.block, self.offset)
    }

    /// Returns the start position of `value`, which must belong to this record.
    #[must_use]
    #[inline]
    pub fn at_value(&self, value: Value<'_>) -> At {
        At::new(self.block, self.offset + value.span().0)
    }

    /// Returns a string of this record as a text that is not copied.
    #[must_use]
    #[inline]
    pub fn text(&self, value: Value<'_>) -> Option<Text> {
        if value.kind() != JsonKind::String {
            return None;
        }
        let (start, end) = value.span();
        Some(Text::escaped(self.block, self.offset + start + 1, self.offset + end - 1))
    }

    /// Returns the string under `key` of `value`.
    #[must_use]
    #[inline]
    pub fn text_at(&self, value: Value<'_>, key: &str) -> Option<Text> {
        self.text(value.get(key)?)
    }

    /// Returns a string as text, and any other value as its JSON.
    #[must_use]
    #[inline]
    pub fn payload(&self, value: Value<'_>) -> Payload {
        match self.text(value) {
            Some(text) => Payload::text(text),
            None => Payload::json(self.verbatim(value)),
        }
    }

    /// Returns the JSON of a value of this record as a text that is not copied.
    #[must_use]
    #[inline]
    pub fn verbatim(&self, value: Value<'_>) -> Text {
        let (start, end) = value.span();
        Text::verbatim(self.block, self.offset + start, self.offset + end)
    }

    /// Returns the payload under `key` of `value`; `None` if absent or null.
    #[must_use]
    #[inline]
    pub fn payload_at(&self, value: Value<'_>, key: &str) -> Option<Payload> {
        value.get(key).map(|v| self.payload(v))
    }

    /// Returns a scalar as text: a string unchanged, a number or Boolean as its JSON.
    #[must_use]
    pub fn label(&self, value: Value<'_>) -> Option<Text> {
        match value.kind() {
            JsonKind::String => self.text(value),
            JsonKind::Null | JsonKind::Object | JsonKind::Array => None,
            _ => Some(Text::owned(value.raw())),
        }
    }

    /// Returns the name of the record's file.
    #[must_use]
    pub fn file(&self) -> &Arc<str> {
        &self.block.file
    }
}

/// Output of a reader.
#[derive(Debug)]
pub struct Out {
    pub(crate) file: Arc<str>,
    pub(crate) ready: VecDeque<Trajectory>,
    pub(crate) diagnostics: Vec<Diagnostic>,
    pub(crate) skipped: u64,
    /// Number of skipped records that were whole runs.
    skipped_runs: u64,
    pub(crate) unattributed: Option<Usage>,
}

impl Out {
    pub(crate) fn new(file: Arc<str>) -> Self {
        Self {
            file,
            ready: VecDeque::new(),
            diagnostics: Vec::new(),
            skipped: 0,
            skipped_runs: 0,
            unattributed: None,
        }
    }

    /// Adds a finished trajectory. A trajectory without any recognized action of the agent is
    /// reported: it must not be mistaken for a run without actions.
    pub fn push(&mut self, trajectory: Trajectory) {
        for run in trajectory.flatten() {
            if run.is_not_understood() {
                self.not_understood(run);
            }
        }
        self.ready.push_back(trajectory);
    }

    fn not_understood(&mut self, run: &Trajectory) {
        let is_unknown = |e: &&Event| matches!(e.kind, EventKind::Unknown(_));
        let mut unknown = run.events.iter().filter(is_unknown);
        let Some(first) = unknown.next() else { return };
        let count = 1 + unknown.count();
        let records = if count == 1 { "record" } else { "records" };
        let message = format!(
            "not understood: {count} {records} of an unknown kind and none of what the agent did"
        );
        // Not counted as skipped: they are among the unknown records already.
        self.report(Diagnostic::at(DiagnosticSeverity::Skipped, &first.at, message));
    }

    /// Adds usage that the file states as a whole and that belongs to no trajectory.
    pub fn unattributed(&mut self, usage: Usage) {
        match &mut self.unattributed {
            Some(sum) => sum.add(&usage),
            None => self.unattributed = Some(usage),
        }
    }

    /// Creates a builder for a trajectory of this file.
    #[must_use]
    pub fn builder(&self, format: &dyn Format) -> TrajectoryBuilder {
        let builder = TrajectoryBuilder::new(format.info(), Arc::clone(&self.file));
        if format.answers_calls() { builder.with_answered_calls() } else { builder }
    }

    /// Returns the record's value if it is an object. Any other record is skipped, because it
    /// is not `what` the format contains (`"a session line"`).
    pub(crate) fn object<'a>(&mut self, record: &Record<'a>, what: &str) -> Option<Value<'a>> {
        let object = record.json().filter(|value| value.is_object());
        if object.is_none() {
            self.skip(&record.at(), format!("not {what}: expected an object"));
        }
        object
    }

    /// Reports and counts a part of the file that could not be read.
    pub fn skip(&mut self, at: &At, message: impl Into<String>) {
        self.skipped += 1;
        self.report(Diagnostic::at(DiagnosticSeverity::Skipped, at, message));
    }

    /// Reports a whole run that could not be read and counts it: the other runs of the
    /// file have lost nothing.
    pub(crate) fn skip_run(&mut self, at: &At, message: impl Into<String>) {
        self.skipped_runs += 1;
        self.skip(at, message);
    }

    /// Returns the number of skipped records that may be part of a run.
    pub(crate) fn skipped_records(&self) -> u64 {
        self.skipped - self.skipped_runs
    }

    /// Reports something noteworthy; nothing was lost.
    pub fn note(&mut self, at: &At, message: impl Into<String>) {
        self.report(Diagnostic::at(DiagnosticSeverity::Note, at, message));
    }

    /// Adds a diagnostic. Only the first ones of a file are kept, so that a log of ten million
    /// noise lines does not fill the memory. Counting continues.
    pub(crate) fn report(&mut self, diagnostic: Diagnostic) {
        const MAX_DIAGNOSTICS: usize = 1000;
        if self.diagnostics.len() < MAX_DIAGNOSTICS {
            self.diagnostics.push(diagnostic);
        }
    }
}

/// The start of a file, for detection.
pub struct FormatProbe<'a> {
    pub(crate) head: &'a [u8],
    pub(crate) records: &'a [Value<'a>],
    pub(crate) shape: RecordLayout,
    pub(crate) entries: &'a [String],
}

/// Layout of the records of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordLayout {
    /// One JSON value per line, possibly with other lines in between.
    Lines,
    /// Elements of one outermost array.
    Array,
    /// Consecutive JSON values, spread over several lines.
    Values,
    /// A zip archive with JSON entries as records.
    Archive,
    /// Binary data.
    Binary,
}

impl<'a> FormatProbe<'a> {
    /// Returns the first records of the file (some may be omitted in a large file).
    #[must_use]
    pub fn records(&self) -> &'a [Value<'a>] {
        self.records
    }

    /// Returns the first record.
    #[must_use]
    pub fn first(&self) -> Option<Value<'a>> {
        self.records.first().copied()
    }

    /// Returns whether `test` holds for one of the first records.
    #[must_use]
    pub fn any(&self, test: impl Fn(Value<'a>) -> bool) -> bool {
        self.records.iter().any(|r| test(*r))
    }

    /// Returns the first bytes of the file.
    #[must_use]
    pub fn head(&self) -> &'a [u8] {
        self.head
    }

    /// Returns the layout of the records.
    #[must_use]
    pub fn shape(&self) -> RecordLayout {
        self.shape
    }

    /// Returns the entry names of an archive.
    #[must_use]
    pub fn entries(&self) -> &'a [String] {
        self.entries
    }
}
