//! A buffer of bytes that are written in one order and read in another: small ones are in memory,
//! larger ones in a temporary file.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};

/// Maximum number of bytes in memory.
const IN_MEMORY: usize = 8 << 20;

/// Size of reads and of memory blocks.
const BLOCK: usize = 256 << 10;

/// The bytes written so far.
#[derive(Default)]
pub(crate) struct Spool {
    /// Bytes that are not in the file, in blocks that do not move when more are added. No addition
    /// is split between two blocks.
    memory: Vec<SpoolBlock>,
    /// Number of bytes in memory.
    held: usize,
    file: Option<File>,
    /// Number of bytes in the file.
    written: u64,
    /// A part of the file that was read.
    read: SpoolBlock,
}

#[derive(Default)]
struct SpoolBlock {
    start: u64,
    bytes: Vec<u8>,
}

impl SpoolBlock {
    /// Returns up to `length` bytes of the block from `at` on; `None` if the block does not contain
    /// `at`.
    fn get(&self, at: u64, length: usize) -> Option<&[u8]> {
        let from = usize::try_from(at.checked_sub(self.start)?).ok()?;
        let rest = self.bytes.get(from..)?;
        rest.get(..length.min(rest.len()))
    }
}

impl Spool {
    /// Adds bytes and returns their offset.
    pub(crate) fn add(&mut self, bytes: &[u8]) -> io::Result<u64> {
        if self.held + bytes.len() > IN_MEMORY && self.held > 0 {
            let file = match &mut self.file {
                Some(file) => file,
                none => none.insert(tempfile::tempfile()?),
            };
            for block in self.memory.drain(..) {
                file.write_all(&block.bytes)?;
            }
            self.written += self.held as u64;
            self.held = 0;
        }
        let start = self.len();
        let has_room =
            |block: &&mut SpoolBlock| block.bytes.capacity() - block.bytes.len() >= bytes.len();
        match self.memory.last_mut().filter(has_room) {
            Some(block) => block.bytes.extend_from_slice(bytes),
            None => {
                let mut block =
                    SpoolBlock { start, bytes: Vec::with_capacity(BLOCK.max(bytes.len())) };
                block.bytes.extend_from_slice(bytes);
                self.memory.push(block);
            }
        }
        self.held += bytes.len();
        Ok(start)
    }

    /// Number of bytes added.
    pub(crate) fn len(&self) -> u64 {
        self.written + self.held as u64
    }

    /// Appends the bytes from `at` on to `out`. No bytes may be added afterwards.
    pub(crate) fn read(&mut self, at: u64, length: usize, out: &mut Vec<u8>) -> io::Result<()> {
        if at >= self.written {
            return self.read_memory(at, length, out);
        }
        let is_read =
            |block: &SpoolBlock| block.get(at, length).is_some_and(|got| got.len() == length);
        if !is_read(&self.read) {
            let file = self.file.as_mut().ok_or_else(gone)?;
            file.seek(SeekFrom::Start(at))?;
            self.read.bytes.clear();
            file.take(length.max(BLOCK) as u64).read_to_end(&mut self.read.bytes)?;
            self.read.start = at;
        }
        let found = self.read.get(at, length).filter(|found| found.len() == length);
        out.extend_from_slice(found.ok_or_else(gone)?);
        Ok(())
    }

    /// Like `read`, for a caller that reads at several offsets in turn into blocks of its own. A
    /// block may begin in the file and end in memory.
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
        self.read_memory(at + of_file, length - of_file as usize, out)
    }

    fn read_memory(&self, mut at: u64, mut length: usize, out: &mut Vec<u8>) -> io::Result<()> {
        let first = self.memory.partition_point(|block| block.start <= at).saturating_sub(1);
        let mut blocks = self.memory.iter().skip(first);
        while length > 0 {
            let block = blocks.next().ok_or_else(gone)?;
            let found = block.get(at, length).ok_or_else(gone)?;
            out.extend_from_slice(found);
            at += found.len() as u64;
            length -= found.len();
        }
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
        // From the file into memory, over the ends of blocks.
        let all = pieces.concat();
        let mut out = Vec::new();
        spool.read_block(3, all.len() - 5, &mut out).unwrap();
        assert!(out == all[3..all.len() - 2]);
        assert!(spool.read_block(3, all.len(), &mut Vec::new()).is_err());
        // Of the file alone, and of memory alone.
        for at in [5, all.len() - 100] {
            let mut out = Vec::new();
            spool.read_block(at as u64, 50, &mut out).unwrap();
            assert!(out == all[at..at + 50]);
        }
    }
}
