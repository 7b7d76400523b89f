//! Reads a path or a stream as an iterator of trajectories.

use crate::detect::{Detected, FileSample, appearance, detect};
use crate::diagnostic::{Diagnostic, DiagnosticSeverity};
use crate::format::{Format, Out, Reader, Record, RecordLayout};
use crate::formats::FORMATS;
use crate::input::archive::Archive;
use crate::input::buffers;
use crate::input::decode::{Head, decompressed, utf8_from_utf16};
use crate::input::frames::{Frames, RecordFrame};
use crate::input::limits::ReadLimits;
use crate::input::shape::{self, DetectedLayout};
use crate::model::{Block, Trajectory, Usage};
use memchr::memmem::Finder;
use std::io::{self, Read};
use std::path::Path;
use std::sync::{Arc, LazyLock};
use toolmark_base::{ReadFileError, ReadFileErrorKind, read_file};
use toolmark_scan::{Scanner, Shared, Split, Utf8, into_utf8, value_end};

/// Options for reading.
#[derive(Clone, Copy, Default)]
pub struct ReadOptions {
    /// Format to use, whatever the content.
    pub force: Option<&'static dyn Format>,
    /// Limits on the cost of reading a file.
    pub limits: ReadLimits,
}

/// Error when a file cannot be read at all.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file could not be opened, its start could not be read, or it has no content.
    #[error(transparent)]
    File(#[from] ReadFileError),
    /// The format was not recognized.
    #[error("unrecognized trace format: {file} is {appearance}")]
    UnknownFormat {
        /// File name.
        file: String,
        /// Description of the content.
        appearance: String,
        /// ID of the closest format.
        nearest: Option<&'static str>,
        /// Content that the closest format looks for.
        missing: Option<&'static str>,
        /// Whether the file is named like JSON and ends within a value, so that it may be what is
        /// left of a trace.
        is_cut: bool,
    },
    /// The file is a database that is not a supported session store, or cannot be opened.
    #[error("{file} is {problem}")]
    Store {
        /// File name.
        file: String,
        /// Description of the problem.
        problem: String,
    },
    /// The file is an archive that cannot be opened.
    #[error("failed to open {file} as an archive: {problem}")]
    Archive {
        /// File name.
        file: String,
        /// Description of the problem.
        problem: String,
    },
}

/// Reads a file.
///
/// ```no_run
/// for trajectory in toolmark_trace::read_path("session.jsonl", &Default::default())? {
///     for call in &trajectory.calls {
///         println!("{} {}", call.name.full(), call.status.word());
///     }
/// }
/// # Ok::<(), toolmark_trace::ReadError>(())
/// ```
pub fn read_path(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Trajectories, ReadError> {
    let path = path.as_ref();
    let name = path.to_string_lossy().into_owned();
    let file = read_file::open(path)?;
    let head = Head::read(Box::new(file)).map_err(|error| ReadFileError::io(path, error))?;
    #[cfg(feature = "sqlite")]
    if crate::sqlite::is_database(&head.bytes) {
        return match crate::sqlite::open(path) {
            Ok(sessions) => read(sessions, &name, options),
            Err(problem) => Err(ReadError::Store { file: name, problem: problem.to_string() }),
        };
    }
    read_head(head, &name, options)
}

/// Reads any stream; `name` identifies it in evidence and messages.
///
/// ```
/// let trace = r#"{"role":"user","content":"hi"}
/// {"role":"assistant","tool_calls":[{"id":"1","function":{"name":"ls","arguments":"{}"}}]}
/// {"role":"tool","tool_call_id":"1","content":"a b"}"#;
/// let mut runs = toolmark_trace::read(trace.as_bytes(), "chat.jsonl", &Default::default())?;
/// let run = runs.next().unwrap();
/// assert_eq!(run.calls[0].name.full(), "ls");
/// # Ok::<(), toolmark_trace::ReadError>(())
/// ```
pub fn read(
    stream: impl Read + Send + 'static,
    name: &str,
    options: &ReadOptions,
) -> Result<Trajectories, ReadError> {
    read_head(Head::read(Box::new(stream)).map_err(failed(name))?, name, options)
}

/// Returns the conversion of an error of the system.
fn failed(name: &str) -> impl Fn(io::Error) -> ReadError + Copy {
    move |error| ReadFileError::io(Path::new(name), error).into()
}

/// Reads a stream whose first bytes have been read.
fn read_head(head: Head, name: &str, options: &ReadOptions) -> Result<Trajectories, ReadError> {
    let failed = failed(name);
    let file: Arc<str> = name.into();
    let limits = options.limits;
    let mut head = decompressed(head, limits).map_err(failed)?;
    if head.bytes.starts_with(b"PK\x03\x04") || head.bytes.starts_with(b"PK\x05\x06") {
        return open_archive(head, &file, options);
    }
    utf8_from_utf16(&mut head, limits).map_err(failed)?;
    let mut skipped = 0;
    if head.bytes.starts_with(b"\xef\xbb\xbf") {
        head.bytes.drain(..3);
        skipped = 3;
    }
    if head.bytes.iter().all(u8::is_ascii_whitespace) && head.complete {
        return Err(ReadFileError::new(Path::new(name), ReadFileErrorKind::Empty).into());
    }
    if let Some(format) = text_format(&head.bytes, options) {
        head.read_all(limits.record).map_err(failed)?;
        return Ok(open_document(head, skipped, &file, format, limits));
    }
    let DetectedLayout { shape, first } = shape::decide(&head.bytes, head.complete);
    if matches!(shape, RecordLayout::Values | RecordLayout::Binary) {
        head.read_all(limits.record).map_err(failed)?;
    }
    if shape == RecordLayout::Binary {
        return open_binary(head, &file, options);
    }

    let is_cut = is_cut(name, &head);
    // Detection looks at the first records only; the reader gets them again.
    let mut out = Out::new(Arc::clone(&file));
    let mut frames = Frames::new(head, skipped, shape, limits, Arc::clone(&file));
    if let Some(first) = &first {
        frames = frames.starting_with(first.start, first.end);
    }
    let mut looked_at = Vec::new();
    let mut parsed = None;
    let format = match options.force {
        Some(format) => format,
        None => {
            looked_at = first_frames(&mut frames, &mut out);
            let records = looked_at.iter().filter(|frame| looks_like_json(frame.text()));
            let known = records.clone().next().map(|frame| {
                let scanner = match first {
                    Some(first) => first.scanner,
                    None => {
                        let mut scanner = buffers::scanner();
                        // Parsing is checked below.
                        let _ = frames.parse(frame, &mut scanner);
                        scanner
                    }
                };
                (frame.clone(), scanner)
            });
            let texts: Vec<&str> = records.map(RecordFrame::text).collect();
            let head = texts.first().map_or(&[][..], |t| t.as_bytes());
            let sample = FileSample { texts, head, shape, entries: &[] };
            let none = Scanner::new();
            let scanner = known.as_ref().map_or(&none, |(_, scanner)| scanner);
            let format = match detect(&sample, scanner) {
                Detected::Format(format) => format,
                Detected::Unknown(near) => return Err(unknown(name, &sample, near, is_cut)),
            };
            parsed = known;
            format
        }
    };
    Ok(Trajectories {
        file,
        format,
        reader: format.reader(),
        source: ReadSource::Text {
            frames: Box::new(frames),
            looked_at: looked_at.into_iter(),
            parsed,
            glued: Vec::new().into_iter(),
            in_log: None,
        },
        scanner: buffers::scanner(),
        out,
        records: 0,
        finished: false,
        lost: Lost::default(),
    })
}

/// Detects the format of a text file that is not JSON by its start.
fn text_format(head: &[u8], options: &ReadOptions) -> Option<&'static dyn Format> {
    const MAX_BYTES: usize = 4 << 10;
    let start = head.trim_ascii_start();
    if start.starts_with(b"{") || start.starts_with(b"[") || memchr::memchr(0, head).is_some() {
        return None;
    }
    let text = String::from_utf8_lossy(&start[..start.len().min(MAX_BYTES)]);
    match options.force {
        Some(format) => format.detect_text(&text).map(|_| format),
        None => FORMATS.iter().copied().find(|f| f.detect_text(&text) == Some(true)),
    }
}

fn open_document(
    head: Head,
    skipped: u64,
    file: &Arc<str>,
    format: &'static dyn Format,
    limits: ReadLimits,
) -> Trajectories {
    let is_complete = head.complete;
    let (text, broken) = match into_utf8(head.bytes) {
        Utf8::Valid(text) => (text, None),
        Utf8::Lossy { text, first } => (text, Some(first)),
    };
    let block = Shared::new(Block::new(text, skipped, 1, 0, Arc::clone(file)));
    let mut runs = Trajectories::new(file, format, ReadSource::Document(None));
    if let Some(first) = broken {
        let at = crate::model::At::new(&block, first);
        runs.out.skip(&at, "invalid UTF-8, read with replacement characters");
    }
    if !is_complete {
        let message =
            format!("the file is larger than {} MB; the rest was not read", limits.record >> 20);
        runs.out.skipped += 1;
        runs.out.report(Diagnostic::file(DiagnosticSeverity::Error, file, message));
    }
    runs.source = ReadSource::Document(Some(block));
    runs
}

/// Returns the frames used for detection. Noise that a CI log has before and between its
/// first events does not count, within reason.
fn first_frames(frames: &mut Frames, out: &mut Out) -> Vec<RecordFrame> {
    const MAX_RECORDS: usize = 40;
    const MAX_BYTES: usize = 128 << 10;
    const MAX_FRAMES: usize = 20_000;
    let mut found = Vec::new();
    let (mut records, mut bytes) = (0, 0);
    while records < MAX_RECORDS && bytes < MAX_BYTES && found.len() < MAX_FRAMES {
        let Some(mut frame) = frames.next(out) else { break };
        if is_open(frame.text()) {
            frame = whole_value(frames, frame);
        }
        let several = if frames.shape() == RecordLayout::Lines { pieces(&frame) } else { None };
        let before = found.len();
        match several {
            Some(several) => found.extend(several),
            None => found.push(frame),
        }
        for frame in found[before..].iter().filter(|frame| looks_like_json(frame.text())) {
            records += 1;
            bytes += frame.text().len();
        }
    }
    found
}

/// Returns the values of a line that contains several consecutive ones.
fn pieces(frame: &RecordFrame) -> Option<Vec<RecordFrame>> {
    static SEAM: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"}{"));
    let may_be_several = SEAM.find(frame.text().as_bytes()).is_some();
    if may_be_several && buffers::with_json(frame.text(), |_| ()).is_none() {
        return split_values(frame);
    }
    None
}

/// Splits a line of several JSON values: programs that crash between a value and its line
/// end leave such lines. Text after the last whole value becomes a separate piece. `None`
/// if the line does not begin with a value that is followed by another one.
fn split_values(frame: &RecordFrame) -> Option<Vec<RecordFrame>> {
    let bytes = frame.block.text.as_bytes();
    let mut found = Vec::new();
    let mut start = frame.start;
    while let Split::End(length) = value_end(&bytes[start..frame.end]) {
        let after = bytes[start + length..frame.end].trim_ascii_start();
        let next = frame.end - after.len();
        if !matches!(after.first(), Some(b'{' | b'[')) {
            break;
        }
        found.push(frame.part(start, start + length));
        start = next;
    }
    if found.is_empty() {
        return None;
    }
    found.push(frame.part(start, frame.end));
    Some(found)
}

/// Returns whether a text begins like a record. `[DEBUG]` of a log does not.
fn looks_like_json(text: &str) -> bool {
    match text.as_bytes() {
        [b'{', ..] => true,
        [b'[', rest @ ..] => {
            matches!(rest.trim_ascii_start().first(), None | Some(b'{' | b'[' | b'"' | b']'))
        }
        _ => false,
    }
}

/// Returns whether the line is the rest of a record whose start is missing.
fn is_torn(line: &str) -> bool {
    line.trim_end().ends_with('}') && line.contains("\":")
}

/// Returns whether a line opens a value without closing it.
fn is_open(line: &str) -> bool {
    looks_like_json(line) && !line.trim_end().ends_with(['}', ']'])
}

/// Returns the value that starts in this line and continues below, or the line itself.
fn whole_value(frames: &mut Frames, line: RecordFrame) -> RecordFrame {
    match frames.join_lines(&line) {
        Some(joined) if buffers::with_json(joined.text(), |_| ()).is_some() => {
            frames.accept(&joined);
            joined
        }
        _ => line,
    }
}

/// Returns whether a file is named like JSON, begins like a record and ends within it. Where the
/// end of a large file is not known yet, it is not.
fn is_cut(name: &str, head: &Head) -> bool {
    const ENDINGS: [&str; 4] = [".json", ".jsonl", ".ndjson", ".traj"];
    let text = head.bytes.trim_ascii();
    head.complete
        && !matches!(text.last(), Some(b'}' | b']'))
        && ENDINGS.iter().any(|ending| name.ends_with(ending))
        && str::from_utf8(text).is_ok_and(looks_like_json)
}

fn unknown(
    name: &str,
    sample: &FileSample<'_>,
    near: Option<&'static dyn Format>,
    is_cut: bool,
) -> ReadError {
    let appearance = match is_cut {
        true => "JSON that ends within a value".to_owned(),
        false => appearance(sample),
    };
    ReadError::UnknownFormat {
        file: name.to_owned(),
        appearance,
        is_cut,
        nearest: near.map(|f| f.info().id),
        missing: near.map(|f| f.info().looks_for),
    }
}

fn chosen(
    sample: &FileSample<'_>,
    name: &str,
    options: &ReadOptions,
) -> Result<&'static dyn Format, ReadError> {
    match options.force {
        Some(format) => Ok(format),
        None => match detect(sample, &Scanner::new()) {
            Detected::Format(format) => Ok(format),
            Detected::Unknown(near) => Err(unknown(name, sample, near, false)),
        },
    }
}

fn open_archive(
    mut head: Head,
    file: &Arc<str>,
    options: &ReadOptions,
) -> Result<Trajectories, ReadError> {
    head.read_all(options.limits.record).map_err(failed(file))?;
    let archive = Archive::open(head.bytes, options.limits, Arc::clone(file)).map_err(|error| {
        ReadError::Archive { file: file.to_string(), problem: error.to_string() }
    })?;
    let sample = FileSample {
        texts: Vec::new(),
        head: b"PK",
        shape: RecordLayout::Archive,
        entries: archive.names(),
    };
    let format = chosen(&sample, file, options)?;
    Ok(Trajectories::new(file, format, ReadSource::Archive(Box::new(archive))))
}

fn open_binary(
    head: Head,
    file: &Arc<str>,
    options: &ReadOptions,
) -> Result<Trajectories, ReadError> {
    let sample = FileSample {
        texts: Vec::new(),
        head: &head.bytes,
        shape: RecordLayout::Binary,
        entries: &[],
    };
    let format = chosen(&sample, file, options)?;
    Ok(Trajectories::new(file, format, ReadSource::Binary(Some(head.bytes))))
}

/// Returns the format with this ID.
#[must_use]
pub fn format_by_id(id: &str) -> Option<&'static dyn Format> {
    FORMATS.iter().copied().find(|f| f.info().id == id)
}

enum ReadSource {
    Text {
        frames: Box<Frames>,
        looked_at: std::vec::IntoIter<RecordFrame>,
        /// Record parsed by detection, until the first record is read.
        parsed: Option<(RecordFrame, Scanner)>,
        /// Remaining values of a line that contained several.
        glued: std::vec::IntoIter<RecordFrame>,
        /// Whether the file begins with other text, like a log. Known after the first line.
        in_log: Option<bool>,
    },
    Archive(Box<Archive>),
    Binary(Option<Vec<u8>>),
    /// Text that is a single record.
    Document(Option<Shared<Block>>),
}

/// Iterator over the trajectories of one file, read on demand.
///
/// After the iterator ends, [`Trajectories::diagnostics`] lists what could not be read.
pub struct Trajectories {
    file: Arc<str>,
    format: &'static dyn Format,
    reader: Box<dyn Reader>,
    source: ReadSource,
    scanner: Scanner,
    out: Out,
    records: u64,
    finished: bool,
    lost: Lost,
}

impl Trajectories {
    fn new(file: &Arc<str>, format: &'static dyn Format, source: ReadSource) -> Self {
        Self {
            file: Arc::clone(file),
            format,
            reader: format.reader(),
            source,
            scanner: buffers::scanner(),
            out: Out::new(Arc::clone(file)),
            records: 0,
            finished: false,
            lost: Lost::default(),
        }
    }

    /// Returns the format used to read the file.
    #[must_use]
    pub fn format(&self) -> &'static dyn Format {
        self.format
    }

    /// Returns the name of the file.
    #[must_use]
    pub fn file(&self) -> &str {
        &self.file
    }

    /// Returns the problems found so far.
    #[must_use]
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.out.diagnostics
    }

    /// Returns the number of lines, records or entries that could not be read so far.
    #[must_use]
    pub fn skipped(&self) -> u64 {
        self.out.skipped
    }

    /// Returns the token usage that the file states as a whole and that belongs to no
    /// trajectory, as far as the file was read.
    #[must_use]
    pub fn unattributed(&self) -> Option<&Usage> {
        self.out.unattributed.as_ref()
    }

    /// Returns the number of records read so far.
    #[must_use]
    pub fn records(&self) -> u64 {
        self.records
    }

    /// Reads one more record; returns false at the end of the file.
    fn advance(&mut self) -> bool {
        match &mut self.source {
            ReadSource::Text { .. } => self.advance_text(),
            ReadSource::Archive(archive) => {
                let Some((name, block)) = archive.next(&mut self.out) else { return false };
                match self.scanner.parse(&block.text) {
                    Ok(doc) => {
                        self.records += 1;
                        let record = Record {
                            value: Some(doc.root()),
                            binary: &[],
                            block: &block,
                            offset: 0,
                            entry: Some(&name),
                        };
                        self.lost.record(&mut *self.reader, &record, &mut self.out);
                    }
                    Err(error) => {
                        let at = crate::model::At::new(&block, error.offset.min(block.text.len()));
                        self.out.skip(&at, format!("not JSON: {}", error.problem));
                    }
                }
                true
            }
            ReadSource::Document(block) => {
                let Some(block) = block.take() else { return false };
                self.records += 1;
                let record =
                    Record { value: None, binary: &[], block: &block, offset: 0, entry: None };
                self.lost.record(&mut *self.reader, &record, &mut self.out);
                true
            }
            ReadSource::Binary(bytes) => {
                let Some(bytes) = bytes.take() else { return false };
                let block = Shared::new(Block::new(String::new(), 0, 0, 0, Arc::clone(&self.file)));
                self.records += 1;
                let record =
                    Record { value: None, binary: &bytes, block: &block, offset: 0, entry: None };
                self.lost.record(&mut *self.reader, &record, &mut self.out);
                true
            }
        }
    }

    fn advance_text(&mut self) -> bool {
        let ReadSource::Text { frames, looked_at, parsed, glued, in_log } = &mut self.source else {
            return false;
        };
        let ready = glued.next();
        let is_piece = ready.is_some();
        let next = ready.or_else(|| looked_at.next()).or_else(|| frames.next(&mut self.out));
        let Some(mut frame) = next else { return false };
        // Frames used for detection are already joined.
        if !is_piece && looked_at.len() == 0 && is_open(frame.text()) {
            frame = whole_value(frames, frame);
        }
        let in_log =
            *in_log.get_or_insert_with(|| !looks_like_json(frame.text()) && !is_torn(frame.text()));
        let before = parsed.take_if(|(first, _)| first.is(&frame)).map(|(_, scanner)| scanner);
        let known = before.as_ref().and_then(|scanner| scanner.again(frame.text()));
        match known.map_or_else(|| frames.parse(&frame, &mut self.scanner), Ok) {
            Ok(doc) => {
                self.records += 1;
                let record = Record {
                    value: Some(doc.root()),
                    binary: &[],
                    block: &frame.block,
                    offset: frame.start,
                    entry: None,
                };
                self.lost.record(&mut *self.reader, &record, &mut self.out);
            }
            Err(error) => {
                if let Some(values) = (!is_piece).then(|| split_values(&frame)).flatten() {
                    *glued = values.into_iter();
                    return true;
                }
                let is_record = !in_log || frame.text().starts_with(['{', '[']);
                if is_record {
                    let offset = error.offset.min(frame.end - frame.start);
                    let at = crate::model::At::new(&frame.block, frame.start + offset);
                    self.out.skip(&at, format!("not JSON: {}", error.problem));
                } else {
                    // Other output of a program around its events.
                    let at = crate::model::At::new(&frame.block, frame.start);
                    self.out.note(&at, "not JSON; skipped as text of a log");
                }
            }
        }
        if let Some(scanner) = before {
            buffers::keep_scanner(scanner);
        }
        true
    }
}

/// Assigns unreadable records to the runs they may belong to.
///
/// A run that is one record loses what is lost inside of it. A run of several may
/// have had any record that was skipped since the run before it ended, and the one
/// directly in front of the record with which the next run begins.
#[derive(Debug, Default)]
struct Lost {
    /// Value of [`Out::skipped_records`] when the reader last got a record.
    counted: u64,
    /// Skipped since the last run was pushed.
    since_run: u64,
}

impl Lost {
    fn record(&mut self, reader: &mut dyn Reader, record: &Record<'_>, out: &mut Out) {
        let before_record = out.skipped_records() - self.counted;
        let (skipped, ready) = (out.skipped_records(), out.ready.len());
        reader.record(record, out);
        let inside = out.skipped_records() - skipped;
        self.counted = out.skipped_records();
        self.since_run += before_record + inside;
        if out.ready.len() == ready {
            return;
        }
        let count = if reader.spans_records() { self.since_run } else { inside };
        for run in out.ready.range_mut(ready..) {
            run.completeness.skipped_records += count;
        }
        self.since_run = before_record + inside;
    }

    fn finish(&mut self, reader: &mut dyn Reader, out: &mut Out) {
        let at_end = out.skipped_records() - self.counted;
        let (skipped, ready) = (out.skipped_records(), out.ready.len());
        let spans = reader.spans_records();
        reader.finish(out);
        let inside = out.skipped_records() - skipped;
        let outside = if spans { self.since_run + at_end } else { 0 };
        for run in out.ready.range_mut(ready..) {
            run.completeness.skipped_records += outside + inside;
            run.completeness.truncated |= spans && at_end > 0;
        }
    }
}

impl Iterator for Trajectories {
    type Item = Trajectory;

    fn next(&mut self) -> Option<Trajectory> {
        loop {
            if let Some(trajectory) = self.out.ready.pop_front() {
                return Some(trajectory);
            }
            if self.finished {
                return None;
            }
            if !self.advance() {
                self.finished = true;
                self.lost.finish(&mut *self.reader, &mut self.out);
            }
        }
    }
}

impl Drop for Trajectories {
    fn drop(&mut self) {
        buffers::keep_scanner(std::mem::take(&mut self.scanner));
    }
}

impl std::fmt::Debug for Trajectories {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Trajectories")
            .field("file", &self.file)
            .field("format", &self.format.info().id)
            .finish_non_exhaustive()
    }
}

impl Diagnostic {
    /// Converts a [`ReadError`] into a diagnostic about its file.
    #[must_use]
    pub fn from_error(error: &ReadError) -> Self {
        let (file, hint) = match error {
            ReadError::File(error) => {
                let file = error.path.to_string_lossy();
                (Arc::from(&*file), error.hint().map(str::to_owned))
            }
            ReadError::Archive { file, .. } | ReadError::Store { file, .. } => {
                (Arc::from(file.as_str()), None)
            }
            ReadError::UnknownFormat { file, nearest, missing, .. } => {
                let near = match (nearest, missing) {
                    (Some(id), Some(missing)) => {
                        format!("the closest format is {id}, which looks for {missing}; ")
                    }
                    _ => String::new(),
                };
                let hint = format!(
                    "{near}`toolmark formats` lists what each format looks for, --as FORMAT forces one"
                );
                (Arc::from(file.as_str()), Some(hint))
            }
        };
        let diagnostic = Self::file(DiagnosticSeverity::Error, &file, error.to_string());
        match hint {
            Some(hint) => diagnostic.hint(hint),
            None => diagnostic,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::model::Gap;
    use crate::testing::read_text;

    /// The gaps of the runs of a text, in order.
    fn gaps(lines: &[&str]) -> Vec<Option<Gap>> {
        read_text(&lines.join("\n")).runs.iter().map(|run| run.gap()).collect()
    }

    #[test]
    fn a_record_that_is_lost_is_lost_from_the_run_it_may_belong_to() {
        const ASKED: &str = r#"{"role":"user","content":"tidy up"}"#;
        const CALLED: &str = r#"{"role":"assistant","tool_calls":[{"id":"1","function":{"name":"ls","arguments":"{}"}}]}"#;
        const CUT: &str = r#"{"role":"assistant","tool_calls":[{"id":"2","func"#;
        assert_eq!(gaps(&[ASKED, CALLED]), [None]);
        assert_eq!(gaps(&[ASKED, CALLED, CUT]), [Some(Gap::Truncated)]);
        assert_eq!(gaps(&[ASKED, CUT, CALLED]), [Some(Gap::Skipped(1))]);
        assert_eq!(gaps(&[ASKED, CUT, CUT, CALLED]), [Some(Gap::Skipped(2))]);
        // A line of a log around the events of a run is no record.
        assert_eq!(gaps(&["starting", ASKED, CALLED, "done"]), [None]);
    }

    #[test]
    fn a_row_that_is_lost_says_nothing_about_the_others() {
        let row = |id: &str| {
            let said = r#"[{"role":"assistant","content":"done"}]"#;
            format!(r#"{{"test_id":"{id}","target":"t","score":1,"output":{said}}}"#)
        };
        let (one, two) = (row("one"), row("two"));
        assert_eq!(gaps(&[&one, &two[..40], &two, &one[..40]]), [None, None]);
        // The lines of a transcript are several runs of several records each.
        let line = |test: &str, index: u32| {
            format!(
                r#"{{"test_id":"{test}","target":"t","message_index":{index},"role":"assistant","content":"x"}}"#
            )
        };
        let all = [line("a", 0), line("a", 1), line("b", 0), line("c", 0), line("c", 1)];
        let [a0, a1, b0, c0, c1] = all.each_ref().map(String::as_str);
        let lost = Some(Gap::Skipped(1));
        assert_eq!(gaps(&[a0, &a1[..30], a1, b0, c0, c1]), [lost.clone(), None, None]);
        // Between two runs, it may be of either.
        assert_eq!(gaps(&[a0, a1, &b0[..30], b0, c0, c1]), [lost.clone(), lost, None]);
        assert_eq!(gaps(&[a0, a1, b0, c0, &c1[..30]]), [None, None, Some(Gap::Truncated)]);
    }

    #[test]
    fn a_run_that_ended_with_an_error_says_so() {
        let error = |words: &str| Some(Gap::DeclaredError(words.to_owned()));
        let row = |more: &str| {
            let said = r#"[{"role":"assistant","content":"done"}]"#;
            format!(r#"{{"test_id":"a","target":"t","score":1,"output":{said}{more}}}"#)
        };
        for (more, expected) in [
            ("", None),
            (r#","error":null"#, None),
            (r#","error":"""#, None),
            (r#","execution_status":"quality_failure""#, None),
            (r#","error":"the provider hung up""#, error("the provider hung up")),
            (r#","error":{"message":"no quota"}"#, error("no quota")),
            (r#","execution_status":"execution_error""#, error("execution_error")),
        ] {
            assert_eq!(gaps(&[&row(more)]), [expected], "{more}");
        }
        let trial = |end: &str, more: &str| {
            let said = r#"{"type":"assistant_message","timestamp":"2026-01-01T00:00:01Z","data":{"content":"hi"}}"#;
            format!(
                r#"{{"trajectory":{{"stimulus":{{"name":"n"}},"events":[{said}],"endReason":"{end}"}},"gradeResult":{{}}{more}}}"#
            )
        };
        for (end, more, expected) in [
            ("completed", "", None),
            ("completed", r#","status":"success""#, None),
            ("agent_timeout", "", error("agent_timeout")),
            ("completed", r#","status":"error""#, error("error")),
            (
                "completed",
                r#","status":"error","error":"lost the socket""#,
                error("lost the socket"),
            ),
        ] {
            assert_eq!(gaps(&[&trial(end, more)]), [expected], "{end} {more}");
        }
    }

    #[test]
    fn a_session_without_a_response_of_the_model_has_a_gap() {
        let asked = r#"{"type":"user","uuid":"u","parentUuid":null,"sessionId":"s","message":{"content":"go"}}"#;
        let summary = r#"{"type":"summary","summary":"Tidying up","leafUuid":"u"}"#;
        let said = r#"{"type":"assistant","uuid":"a","parentUuid":"u","sessionId":"s","message":{"id":"m","content":[{"type":"text","text":"hi"}]}}"#;
        assert_eq!(gaps(&[asked]), [Some(Gap::NoResponse)]);
        assert_eq!(gaps(&[summary, asked]), [Some(Gap::NoResponse)]);
        assert_eq!(gaps(&[asked, said]), [None]);
    }
}
