//! Which format a file is, by its content alone.

use crate::format::{Confidence, Format, Probe, Shape};
use crate::formats::FORMATS;
use toolmark_scan::Scanner;

/// From this confidence on, a file is read.
const ENOUGH: Confidence = 50;
/// At this confidence nobody else is asked.
const CERTAIN: Confidence = 100;

/// The first records of a file, parsed, for detection only.
pub(crate) struct Sample<'a> {
    pub(crate) texts: Vec<&'a str>,
    pub(crate) head: &'a [u8],
    pub(crate) shape: Shape,
    pub(crate) entries: &'a [String],
}

/// What detection found.
pub(crate) enum Detected {
    Format(&'static dyn Format),
    /// Nobody was sure; the nearest, if one came near at all.
    Unknown(Option<&'static dyn Format>),
}

/// How many records are looked at: first a few, then, if nobody is certain, more.
const ROUNDS: [usize; 2] = [2, 40];

/// Asks the formats, the most certain wins.
pub(crate) fn detect(sample: &Sample<'_>) -> Detected {
    let mut best: Option<(Confidence, &'static dyn Format)> = None;
    for round in ROUNDS {
        let texts = &sample.texts[..sample.texts.len().min(round)];
        let mut scanners: Vec<Scanner> = texts.iter().map(|_| Scanner::new()).collect();
        let records: Vec<_> = texts
            .iter()
            .zip(&mut scanners)
            .filter_map(|(text, scanner)| scanner.parse(text).ok())
            .map(|doc| doc.root())
            .collect();
        let probe = Probe {
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
        Some((confidence, format)) if confidence >= ENOUGH => Detected::Format(format),
        near => Detected::Unknown(near.map(|(_, format)| format)),
    }
}
