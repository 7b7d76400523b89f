//! What a format is: how to recognize it, how to read it, what it lacks.
//!
//! A format is one file in `formats/` with a unit struct that implements
//! [`Format`], and one line in the list of `formats/mod.rs`.

use crate::builder::Builder;
use crate::diagnostic::{Diagnostic, Severity};
use crate::model::{At, Block, Event, EventKind, Fidelity, Payload, Text, Trajectory, Usage};
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use toolmark_scan::{Kind, Shared, Value};

/// The facts about a format that `toolmark formats` and the docs print.
#[derive(Debug)]
pub struct FormatInfo {
    /// Short name for `--as` and outputs, in kebab case.
    pub id: &'static str,
    /// Name for people.
    pub title: &'static str,
    /// Where such files come from.
    pub origin: &'static str,
    /// Versions or generations it reads.
    pub versions: &'static str,
    /// What detection looks for, as a fragment that follows "looks for".
    pub looks_for: &'static str,
    /// What the format never records.
    pub fidelity: Fidelity,
}

/// How sure a format is that a file is its own, 0 to 100; 50 and more reads it.
pub type Confidence = u8;

/// A trace format.
pub trait Format: Sync {
    /// The facts about it.
    fn info(&self) -> &'static FormatInfo;

    /// How sure it is that the file behind `probe` is its own.
    ///
    /// The highest answer wins; among equals, the one listed first.
    fn detect(&self, probe: &Probe<'_>) -> Confidence;

    /// Where the format is not JSON but text: does a file that starts like this
    /// look like its own? Such a file is one record, its whole text.
    fn detect_text(&self, head: &str) -> Option<bool> {
        let _ = head;
        None
    }

    /// A reader for one file.
    fn reader(&self) -> Box<dyn Reader>;

    /// Other files that hold sub-agents of `run`, which was read from `path`.
    fn companions(&self, path: &Path, run: &Trajectory) -> Vec<PathBuf> {
        let _ = (path, run);
        Vec::new()
    }
}

/// Reads the records of one file, one after the other.
pub trait Reader: Send {
    /// Takes the next record. A format that holds one run per record pushes a
    /// trajectory here, so that a file of many runs is never in memory whole.
    fn record(&mut self, record: &Record<'_>, out: &mut Out);

    /// The file is at its end: push what is still open.
    fn finish(&mut self, out: &mut Out) {
        let _ = out;
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
    /// Where the record starts in the block.
    pub(crate) offset: usize,
    pub(crate) entry: Option<&'a str>,
}

impl<'a> Record<'a> {
    /// The record's JSON; `None` for a binary one.
    #[must_use]
    pub fn json(&self) -> Option<Value<'a>> {
        self.value
    }

    /// The whole file, where it is a text and not JSON.
    pub(crate) fn document(&self) -> Option<&'a Shared<Block>> {
        (self.value.is_none() && !self.block.text.is_empty()).then_some(self.block)
    }

    /// The bytes of a binary record.
    #[must_use]
    pub fn binary(&self) -> &'a [u8] {
        self.binary
    }

    /// The name of the archive entry the record is.
    #[must_use]
    pub fn entry(&self) -> Option<&'a str> {
        self.entry
    }

    /// Where the record starts.
    #[must_use]
    #[inline]
    pub fn at(&self) -> At {
        At::new(self.block, self.offset)
    }

    /// Where `value`, which must be of this record, starts.
    #[must_use]
    #[inline]
    pub fn at_value(&self, value: Value<'_>) -> At {
        At::new(self.block, self.offset + value.span().0)
    }

    /// A string of this record as text that stays where it is.
    #[must_use]
    #[inline]
    pub fn text(&self, value: Value<'_>) -> Option<Text> {
        if value.kind() != Kind::String {
            return None;
        }
        let (start, end) = value.span();
        Some(Text::escaped(self.block, self.offset + start + 1, self.offset + end - 1))
    }

    /// The string under `key` of `value`.
    #[must_use]
    #[inline]
    pub fn text_at(&self, value: Value<'_>, key: &str) -> Option<Text> {
        self.text(value.get(key)?)
    }

    /// A string as text, any other value as its JSON.
    #[must_use]
    #[inline]
    pub fn payload(&self, value: Value<'_>) -> Payload {
        match self.text(value) {
            Some(text) => Payload::text(text),
            None => Payload::json(self.verbatim(value)),
        }
    }

    /// The JSON of a value of this record as text that stays where it is.
    #[must_use]
    #[inline]
    pub fn verbatim(&self, value: Value<'_>) -> Text {
        let (start, end) = value.span();
        Text::verbatim(self.block, self.offset + start, self.offset + end)
    }

    /// The payload under `key` of `value`; `None` when absent or null.
    #[must_use]
    #[inline]
    pub fn payload_at(&self, value: Value<'_>, key: &str) -> Option<Payload> {
        value.get(key).map(|v| self.payload(v))
    }

    /// A scalar as text: a string as it is, a number or truth value as its JSON.
    #[must_use]
    pub fn label(&self, value: Value<'_>) -> Option<Text> {
        match value.kind() {
            Kind::String => self.text(value),
            Kind::Null | Kind::Object | Kind::Array => None,
            _ => Some(Text::owned(value.raw())),
        }
    }

    /// The name of the file the record is from.
    #[must_use]
    pub fn file(&self) -> &Arc<str> {
        &self.block.file
    }
}

/// What a reader hands back.
#[derive(Debug)]
pub struct Out {
    pub(crate) file: Arc<str>,
    pub(crate) ready: VecDeque<Trajectory>,
    pub(crate) diagnostics: Vec<Diagnostic>,
    pub(crate) skipped: u64,
    pub(crate) unattributed: Option<Usage>,
}

impl Out {
    pub(crate) fn new(file: Arc<str>) -> Self {
        Self {
            file,
            ready: VecDeque::new(),
            diagnostics: Vec::new(),
            skipped: 0,
            unattributed: None,
        }
    }

    /// Hands over a finished trajectory. One in which nothing the agent did is
    /// understood is reported: it must not pass for a run that did nothing.
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
        self.report(Diagnostic::at(Severity::Skipped, &first.at, message));
    }

    /// Adds usage that the file states as a whole and no trajectory carries.
    pub fn unattributed(&mut self, usage: Usage) {
        match &mut self.unattributed {
            Some(sum) => sum.add(&usage),
            None => self.unattributed = Some(usage),
        }
    }

    /// Starts a trajectory of this file.
    #[must_use]
    pub fn builder(&self, format: &dyn Format) -> Builder {
        Builder::new(format.info(), Arc::clone(&self.file))
    }

    /// The object that a record is. Anything else is skipped, since it is not
    /// `what` the format has records of (`"a session line"`).
    pub(crate) fn object<'a>(&mut self, record: &Record<'a>, what: &str) -> Option<Value<'a>> {
        let object = record.json().filter(|value| value.is_object());
        if object.is_none() {
            self.skip(&record.at(), format!("not {what}: expected an object"));
        }
        object
    }

    /// Reports a part of the file that could not be read and counts it.
    pub fn skip(&mut self, at: &At, message: impl Into<String>) {
        self.skipped += 1;
        self.report(Diagnostic::at(Severity::Skipped, at, message));
    }

    /// Reports something worth knowing; nothing was lost.
    pub fn note(&mut self, at: &At, message: impl Into<String>) {
        self.report(Diagnostic::at(Severity::Note, at, message));
    }

    /// Only the first diagnostics of a file are kept; a log of ten million
    /// noise lines must not fill the memory. The count goes on.
    pub(crate) fn report(&mut self, diagnostic: Diagnostic) {
        const MAX_DIAGNOSTICS: usize = 1000;
        if self.diagnostics.len() < MAX_DIAGNOSTICS {
            self.diagnostics.push(diagnostic);
        }
    }
}

/// The start of a file, for detection.
pub struct Probe<'a> {
    pub(crate) head: &'a [u8],
    pub(crate) records: &'a [Value<'a>],
    pub(crate) shape: Shape,
    pub(crate) entries: &'a [String],
}

/// How the records of a file are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// One JSON value per line, other lines between them.
    Lines,
    /// The elements of one outermost array.
    Array,
    /// JSON values one after the other, over many lines.
    Values,
    /// A zip archive; its JSON entries are the records.
    Archive,
    /// Not text.
    Binary,
}

impl<'a> Probe<'a> {
    /// The first records of the file (some may be left out where it is large).
    #[must_use]
    pub fn records(&self) -> &'a [Value<'a>] {
        self.records
    }

    /// The first record.
    #[must_use]
    pub fn first(&self) -> Option<Value<'a>> {
        self.records.first().copied()
    }

    /// Is there a record among the first for which `test` holds?
    #[must_use]
    pub fn any(&self, test: impl Fn(Value<'a>) -> bool) -> bool {
        self.records.iter().any(|r| test(*r))
    }

    /// The first bytes of the file.
    #[must_use]
    pub fn head(&self) -> &'a [u8] {
        self.head
    }

    /// How the records are laid out.
    #[must_use]
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// The entry names of an archive.
    #[must_use]
    pub fn entries(&self) -> &'a [String] {
        self.entries
    }
}
