//! Detects the format of a file by its content alone.

use crate::format::{Confidence, Format, FormatProbe, RecordLayout};
use crate::formats::FORMATS;
use crate::input::buffers;
use toolmark_scan::Scanner;

/// Minimum confidence at which a file is read.
const MIN_CONFIDENCE: Confidence = 50;
/// Confidence at which no other format is tried.
const CERTAIN: Confidence = 100;

/// The first records of a file, parsed for detection only.
pub(crate) struct FileSample<'a> {
    pub(crate) texts: Vec<&'a str>,
    pub(crate) head: &'a [u8],
    pub(crate) shape: RecordLayout,
    pub(crate) entries: &'a [String],
}

/// Result of detection.
pub(crate) enum Detected {
    Format(&'static dyn Format),
    /// No format was confident; the closest format, if any.
    Unknown(Option<&'static dyn Format>),
}

/// Numbers of records inspected: first a few, then more if no format is certain.
const ROUNDS: [usize; 2] = [2, 40];

/// Returns the format with the highest confidence. `first` has parsed the first record.
pub(crate) fn detect(sample: &FileSample<'_>, first: &Scanner) -> Detected {
    let mut best: Option<(Confidence, &'static dyn Format)> = None;
    let (known, others) = match sample.texts.split_first() {
        Some((text, others)) => (first.again(text), others),
        None => (None, &[][..]),
    };
    for round in ROUNDS {
        let others = &others[..others.len().min(round - 1)];
        let mut scanners: Vec<Scanner> = others.iter().map(|_| buffers::scanner()).collect();
        let parsed = others.iter().zip(&mut scanners);
        let records: Vec<_> = known
            .into_iter()
            .chain(parsed.filter_map(|(text, scanner)| scanner.parse(text).ok()))
            .map(|doc| doc.root())
            .collect();
        let probe = FormatProbe {
            head: sample.head,
            records: &records,
            shape: sample.shape,
            entries: sample.entries,
        };
        best = None;
        for &format in FORMATS {
            let confidence = format.detect(&probe);
            if confidence >= CERTAIN {
                return Detected::Format(format);
            }
            if confidence > best.map_or(0, |(c, _)| c) {
                best = Some((confidence, format));
            }
        }
        if round >= sample.texts.len() {
            break;
        }
    }
    match best {
        Some((confidence, format)) if confidence >= MIN_CONFIDENCE => Detected::Format(format),
        near => Detected::Unknown(near.map(|(_, format)| format).or_else(|| nearest(sample))),
    }
}

/// Returns the keys of the first record that is an object, in order, without repeats.
pub(crate) fn first_keys(sample: &FileSample<'_>, most: usize) -> Vec<String> {
    let mut keys: Vec<String> = Vec::new();
    for text in &sample.texts {
        let mut scanner = Scanner::new();
        let Ok(doc) = scanner.parse(text) else { continue };
        for (key, _) in doc.root().fields() {
            let key = key.str().unwrap_or_default().into_owned();
            if keys.len() < most && !keys.contains(&key) {
                keys.push(key);
            }
        }
        if !keys.is_empty() {
            break;
        }
    }
    keys
}

/// Returns the format whose description contains most of the keys found.
fn nearest(sample: &FileSample<'_>) -> Option<&'static dyn Format> {
    let keys = first_keys(sample, 32);
    let names = |format: &dyn Format| {
        let words = format.info().looks_for;
        let word = |c: char| !c.is_alphanumeric() && c != '_';
        keys.iter().filter(|key| words.split(word).any(|w| w == key.as_str())).count()
    };
    let counted = FORMATS.iter().map(|format| (names(*format), *format));
    // The first of several that are equally near.
    let best = counted.rev().max_by_key(|(count, _)| *count)?;
    (best.0 > 0).then_some(best.1)
}

/// Describes the content of a file, as a fragment that follows "it is".
pub(crate) fn appearance(sample: &FileSample<'_>) -> String {
    let layout = match (sample.shape, sample.texts.len()) {
        (RecordLayout::Binary, _) => "binary data",
        (RecordLayout::Archive, 0) => "a zip archive without .json entries: unpack it first",
        (RecordLayout::Archive, _) => "a zip archive",
        (_, 0) => "text without JSON",
        (RecordLayout::Array, _) => "a JSON array",
        (RecordLayout::Values, _) | (_, 1) => "JSON",
        (_, _) => "JSON lines",
    };
    let keys = first_keys(sample, 8);
    if keys.is_empty() {
        return layout.to_owned();
    }
    format!("{layout}; the first record has the keys {}", keys.join(", "))
}
