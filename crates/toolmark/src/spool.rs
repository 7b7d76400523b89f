//! Bytes that are written in one order and read in another: in memory while they are
//! few, in a temporary file beyond that.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};

/// So much is held in memory.
const IN_MEMORY: usize = 4 << 20;

/// How much is read at once.
const BLOCK: usize = 256 << 10;

/// What was written so far.
#[derive(Default)]
pub(crate) struct Spool {
    /// What is not in the file.
    memory: Vec<u8>,
    file: Option<File>,
    /// How much is in the file.
    written: u64,
    /// A part of the file that was read.
    block: Vec<u8>,
    block_start: u64,
}

impl Spool {
    /// Adds bytes. Where they are.
    pub(crate) fn add(&mut self, bytes: &[u8]) -> io::Result<u64> {
        if self.memory.len() + bytes.len() > IN_MEMORY && !self.memory.is_empty() {
            let file = match &mut self.file {
                Some(file) => file,
                none => none.insert(tempfile::tempfile()?),
            };
            file.write_all(&self.memory)?;
            self.written += self.memory.len() as u64;
            self.memory.clear();
        }
        let at = self.len();
        self.memory.extend_from_slice(bytes);
        Ok(at)
    }

    /// How much was added.
    pub(crate) fn len(&self) -> u64 {
        self.written + self.memory.len() as u64
    }

    /// Adds the bytes from `at` on to `out`. Nothing may be added afterwards.
    pub(crate) fn read(&mut self, at: u64, length: usize, out: &mut Vec<u8>) -> io::Result<()> {
        if let Some(from) = at.checked_sub(self.written) {
            return self.read_memory(from, length, out);
        }
        let is_read = |spool: &Self| {
            let from = usize::try_from(at.checked_sub(spool.block_start)?).ok()?;
            (from + length <= spool.block.len()).then_some(from)
        };
        let from = match is_read(self) {
            Some(from) => from,
            None => {
                let file = self.file.as_mut().ok_or_else(gone)?;
                file.seek(SeekFrom::Start(at))?;
                self.block.clear();
                file.take(length.max(BLOCK) as u64).read_to_end(&mut self.block)?;
                self.block_start = at;
                0
            }
        };
        out.extend_from_slice(self.block.get(from..from + length).ok_or_else(gone)?);
        Ok(())
    }

    /// The same for whoever reads at several places in turn, in blocks of their own. They
    /// may begin in the file and end in memory.
    pub(crate) fn read_block(
        &mut self,
        at: u64,
        length: usize,
        out: &mut Vec<u8>,
    ) -> io::Result<()> {
        let of_file = self.written.saturating_sub(at).min(length as u64);
        if of_file > 0 {
            let file = self.file.as_mut().ok_or_else(gone)?;
            file.seek(SeekFrom::Start(at))?;
            if file.take(of_file).read_to_end(out)? as u64 != of_file {
                return Err(gone());
            }
        }
        let from = (at + of_file).saturating_sub(self.written);
        self.read_memory(from, length - of_file as usize, out)
    }

    fn read_memory(&self, from: u64, length: usize, out: &mut Vec<u8>) -> io::Result<()> {
        let from = usize::try_from(from).map_err(|_| gone())?;
        out.extend_from_slice(self.memory.get(from..from + length).ok_or_else(gone)?);
        Ok(())
    }
}

fn gone() -> io::Error {
    io::Error::from(io::ErrorKind::UnexpectedEof)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let pieces: Vec<Vec<u8>> = (0..40_u8)
            .map(|n| vec![n; if n == 7 { IN_MEMORY + 1 } else { 1_000 * usize::from(n) * 30 }])
            .collect();
        let mut spool = Spool::default();
        let places: Vec<u64> = pieces.iter().map(|piece| spool.add(piece).unwrap()).collect();
        assert!(spool.file.is_some());
        for (n, piece) in pieces.iter().enumerate().rev().chain(pieces.iter().enumerate()) {
            let mut out = b"x".to_vec();
            spool.read(places[n], piece.len(), &mut out).unwrap();
            assert_eq!(out[0], b'x');
            assert!(out[1..] == **piece, "piece {n}");
        }
        assert!(spool.read(1 << 40, 1, &mut Vec::new()).is_err());
    }
}
