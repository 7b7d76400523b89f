//! Reading of lines of bounded length from a stream.
//!
//! A line that is too long is skipped except for its start, which may contain the ID of a request.

use crate::message::MAX_LINE;
use std::io;
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

/// One line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ProtocolLine {
    Text(String),
    /// An invalid line: its start and the reason.
    Bad {
        start: Vec<u8>,
        why: String,
    },
}

/// Maximum number of bytes kept of an invalid line.
const MAX_KEPT: usize = 4 << 10;

/// A reader of lines.
pub(crate) struct ProtocolLines<R> {
    reader: BufReader<R>,
    max: usize,
}

impl<R: AsyncRead + Unpin> ProtocolLines<R> {
    pub(crate) fn new(reader: R) -> Self {
        Self { reader: BufReader::with_capacity(64 << 10, reader), max: MAX_LINE }
    }

    /// Returns the next non-empty line; `None` at the end.
    pub(crate) async fn next(&mut self) -> io::Result<Option<ProtocolLine>> {
        loop {
            let mut line = Vec::new();
            let mut length = 0_usize;
            let ended = loop {
                let chunk = self.reader.fill_buf().await?;
                if chunk.is_empty() {
                    break true;
                }
                let end = memchr::memchr(b'\n', chunk);
                let part = chunk.get(..end.unwrap_or(chunk.len())).unwrap_or(chunk);
                length = length.saturating_add(part.len());
                if length <= self.max {
                    line.extend_from_slice(part);
                } else {
                    line.truncate(MAX_KEPT);
                    line.shrink_to_fit();
                }
                let used = part.len() + usize::from(end.is_some());
                self.reader.consume(used);
                if end.is_some() {
                    break false;
                }
            };
            if length > self.max {
                let why = format!("a line of {length} bytes, more than {}", self.max);
                return Ok(Some(ProtocolLine::Bad { start: line, why }));
            }
            if !line.trim_ascii().is_empty() {
                return Ok(Some(text(line)));
            }
            if ended {
                return Ok(None);
            }
        }
    }
}

fn text(mut line: Vec<u8>) -> ProtocolLine {
    let end = line.trim_ascii_end().len();
    line.truncate(end);
    // In valid JSON a carriage return is only whitespace. Some readers end a line
    // with it, and would see other messages than the guard.
    line.iter_mut().filter(|byte| **byte == b'\r').for_each(|byte| *byte = b' ');
    match String::from_utf8(line) {
        Ok(text) => ProtocolLine::Text(text),
        Err(error) => {
            let why = error.to_string();
            let mut start = error.into_bytes();
            start.truncate(MAX_KEPT);
            ProtocolLine::Bad { start, why }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(bytes: &[u8], max: usize) -> Vec<ProtocolLine> {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let mut lines = ProtocolLines { reader: BufReader::with_capacity(7, bytes), max };
            let mut all = Vec::new();
            while let Some(line) = lines.next().await.unwrap() {
                all.push(line);
            }
            all
        })
    }

    #[test]
    fn lines_are_told_apart() {
        let line = |text: &str| ProtocolLine::Text(text.to_owned());
        for (bytes, want) in [
            (&b""[..], vec![]),
            (b"\n \r\n\n", vec![]),
            (b"one\r\n\ntwo \nthree", vec![line("one"), line("two"), line("three")]),
            (b"{\"a\":\r[\r{}\r]}\n", vec![line("{\"a\": [ {} ]}")]),
            (b"a line longer than the buffer\n", vec![line("a line longer than the buffer")]),
        ] {
            assert_eq!(all(bytes, 100), want);
        }
        let bad = all(b"ok\n\xff\nok", 100);
        assert!(matches!(&bad[1], ProtocolLine::Bad { start, .. } if start == b"\xff"));
        assert_eq!(bad[2], line("ok"));
    }

    #[test]
    fn a_line_without_end_takes_no_memory() {
        let mut bytes = vec![b'x'; 100_000];
        bytes.extend_from_slice(b"\nnext\n");
        let lines = all(&bytes, 10_000);
        assert!(
            matches!(&lines[0], ProtocolLine::Bad { start, why } if start.len() <= MAX_KEPT && why.contains("100000"))
        );
        assert_eq!(lines[1], ProtocolLine::Text("next".to_owned()));
    }
}
