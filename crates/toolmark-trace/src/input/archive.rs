//! The JSON entries of a zip archive, one record each.

use super::limits::ReadLimits;
use crate::diagnostic::{Diagnostic, DiagnosticSeverity};
use crate::format::Out;
use crate::model::Block;
use std::io::{Cursor, Read};
use std::sync::Arc;
use toolmark_scan::{Shared, Utf8, into_utf8};

/// Maximum space reserved for an entry before it is read.
const MAX_CLAIMED: u64 = 4 << 20;

/// Reason why an archive or one of its entries cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ArchiveError {
    #[error(transparent)]
    Zip(#[from] zip::result::ZipError),
    #[error(transparent)]
    Read(#[from] std::io::Error),
    #[error("the archive has more than {0} entries")]
    TooManyEntries(usize),
    #[error("it decompresses to more than {0} MB")]
    TooLarge(u64),
}

/// A zip archive in memory.
pub(crate) struct Archive {
    zip: zip::ZipArchive<Cursor<Vec<u8>>>,
    names: Vec<String>,
    next: usize,
    limits: ReadLimits,
    file: Arc<str>,
    packed: u64,
    written: u64,
}

impl Archive {
    pub(crate) fn open(
        bytes: Vec<u8>,
        limits: ReadLimits,
        file: Arc<str>,
    ) -> Result<Self, ArchiveError> {
        let packed = bytes.len() as u64;
        let zip = zip::ZipArchive::new(Cursor::new(bytes))?;
        if zip.len() > limits.entries {
            return Err(ArchiveError::TooManyEntries(limits.entries));
        }
        let mut names: Vec<String> = zip
            .file_names()
            .filter_map(Result::ok)
            .filter(|n| n.ends_with(".json"))
            .map(std::borrow::Cow::into_owned)
            .collect();
        // Entries that describe the archive are at its top level, and are needed first.
        names.sort_by_key(|n| n.matches('/').count());
        Ok(Self { zip, names, next: 0, limits, file, packed, written: 0 })
    }

    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns the next entry's name and text.
    pub(crate) fn next(&mut self, out: &mut Out) -> Option<(String, Shared<Block>)> {
        loop {
            let name = self.names.get(self.next)?.clone();
            self.next += 1;
            match self.entry(&name) {
                Ok(block) => return Some((name, Shared::new(block))),
                Err(problem) => {
                    out.skipped += 1;
                    let message = format!("failed to read entry {name}: {problem}");
                    out.report(Diagnostic::file(DiagnosticSeverity::Skipped, &self.file, message));
                }
            }
        }
    }

    fn entry(&mut self, name: &str) -> Result<Block, ArchiveError> {
        let room = self
            .limits
            .expansion_floor
            .max(self.packed.saturating_mul(self.limits.expansion))
            .saturating_sub(self.written)
            .min(self.limits.record as u64);
        let entry = self.zip.by_name(name)?;
        // The claimed size of an entry is trusted only up to a limit.
        let mut bytes = Vec::with_capacity(entry.size().min(room).min(MAX_CLAIMED) as usize);
        let got = entry.take(room + 1).read_to_end(&mut bytes)?;
        if got as u64 > room {
            return Err(ArchiveError::TooLarge(room >> 20));
        }
        self.written += got as u64;
        let text = match into_utf8(bytes) {
            Utf8::Valid(text) | Utf8::Lossy { text, .. } => text,
        };
        let file = format!("{}#{name}", self.file).into();
        Ok(Block::new(text, 0, 1, 0, file))
    }
}
