//! Decodes a file to plain UTF-8 from gzip, zstd and UTF-16.

use super::buffers::{self, BLOCK_SIZE};
use super::limits::ReadLimits;
use std::io::{self, Cursor, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A stream whose first bytes have been read.
pub(crate) struct Head {
    /// The bytes read so far.
    pub(crate) bytes: Vec<u8>,
    /// Unread rest of the stream.
    pub(crate) rest: Box<dyn Read + Send>,
    /// Whether `rest` is at its end.
    pub(crate) complete: bool,
}

impl Head {
    pub(crate) fn read(mut rest: Box<dyn Read + Send>) -> io::Result<Self> {
        let mut bytes = buffers::take();
        let complete = fill(&mut rest, &mut bytes, BLOCK_SIZE)?;
        Ok(Self { bytes, rest, complete })
    }

    /// Reads until the end or until there are more than `limit` bytes.
    pub(crate) fn read_all(&mut self, limit: usize) -> io::Result<()> {
        if !self.complete {
            let more = limit.saturating_add(1).saturating_sub(self.bytes.len());
            self.complete = fill(&mut self.rest, &mut self.bytes, more)?;
        }
        Ok(())
    }

    fn into_reader(self) -> Box<dyn Read + Send> {
        Box::new(Cursor::new(self.bytes).chain(self.rest))
    }
}

/// Appends up to `n` bytes; returns true at the end of the stream.
pub(crate) fn fill(from: &mut dyn Read, to: &mut Vec<u8>, n: usize) -> io::Result<bool> {
    let got = from.take(n as u64).read_to_end(to)?;
    Ok(got < n)
}

/// Decompresses at most twice (a `.gz` of a `.zst` is a user's mistake, not an attack).
pub(crate) fn decompressed(mut head: Head, limits: ReadLimits) -> io::Result<Head> {
    for _ in 0..2 {
        let read = Arc::new(AtomicU64::new(0));
        let packed = match head.bytes.as_slice() {
            [0x1f, 0x8b, ..] => Packing::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Packing::Zstd,
            _ => return Ok(head),
        };
        let counted = ByteCounter { inner: head.into_reader(), read: Arc::clone(&read) };
        let plain: Box<dyn Read + Send> = match packed {
            Packing::Gzip => Box::new(flate2::read::MultiGzDecoder::new(counted)),
            Packing::Zstd => Box::new(zstd::Decoder::new(counted)?),
        };
        head = Head::read(Box::new(Bounded { inner: plain, packed: read, written: 0, limits }))?;
    }
    Ok(head)
}

enum Packing {
    Gzip,
    Zstd,
}

/// Converts UTF-16, which Windows shells write when output is redirected.
pub(crate) fn utf8_from_utf16(head: &mut Head, limits: ReadLimits) -> io::Result<bool> {
    let little = match head.bytes.as_slice() {
        [0xff, 0xfe, ..] => true,
        [0xfe, 0xff, ..] => false,
        _ => return Ok(false),
    };
    head.read_all(limits.record)?;
    let units = head.bytes[2..]
        .as_chunks::<2>()
        .0
        .iter()
        .map(|pair| if little { u16::from_le_bytes(*pair) } else { u16::from_be_bytes(*pair) });
    let text: String =
        char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
    head.bytes = text.into_bytes();
    Ok(true)
}

struct ByteCounter {
    inner: Box<dyn Read + Send>,
    read: Arc<AtomicU64>,
}

impl Read for ByteCounter {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buf)?;
        self.read.fetch_add(n as u64, Ordering::Relaxed);
        Ok(n)
    }
}

/// Stops a stream whose decompressed size is out of proportion to its compressed size.
struct Bounded {
    inner: Box<dyn Read + Send>,
    packed: Arc<AtomicU64>,
    written: u64,
    limits: ReadLimits,
}

impl Read for Bounded {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buf)?;
        self.written += n as u64;
        let packed = self.packed.load(Ordering::Relaxed).max(1);
        if self.written > self.limits.expansion_floor
            && self.written / packed > self.limits.expansion
        {
            return Err(io::Error::other(format!(
                "the data decompresses to more than {} times its size; stopped after {} MB",
                self.limits.expansion,
                self.written >> 20
            )));
        }
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn head(bytes: Vec<u8>) -> Head {
        Head::read(Box::new(Cursor::new(bytes))).unwrap()
    }

    #[test]
    fn gzip_and_zstd_come_off() {
        let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gz.write_all(b"{\"a\":1}").unwrap();
        let gz = gz.finish().unwrap();
        let zst = zstd::encode_all(&gz[..], 1).unwrap();
        for packed in [gz, zst] {
            let plain = decompressed(head(packed), ReadLimits::default()).unwrap();
            assert_eq!(plain.bytes, b"{\"a\":1}");
        }
    }

    #[test]
    fn a_bomb_is_stopped() {
        let packed = zstd::encode_all(io::repeat(b' ').take(64 << 20), 1).unwrap();
        let limits =
            ReadLimits { expansion: 100, expansion_floor: 1 << 20, ..ReadLimits::default() };
        let mut plain = decompressed(head(packed), limits).unwrap();
        let error = plain.read_all(1 << 30).unwrap_err();
        assert!(error.to_string().contains("100 times its size"), "{error}");
    }

    #[test]
    fn utf16_becomes_utf8() {
        let mut bytes = vec![0xff, 0xfe];
        bytes.extend("{\"ä\":1}".encode_utf16().flat_map(u16::to_le_bytes));
        let mut head = head(bytes);
        assert!(utf8_from_utf16(&mut head, ReadLimits::default()).unwrap());
        assert_eq!(head.bytes, "{\"ä\":1}".as_bytes());
    }
}
