//! Server-sent events, read as they arrive.
//!
//! Lines end in `\n`, `\r\n` or `\r`; an empty line ends an event; several `data`
//! lines make one text; a line that starts with a colon is a comment.

use crate::HttpError;
use std::io::{self, Read};
use std::time::Duration;

/// A server-sent event.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SseEvent {
    /// Event name; empty if the event has none.
    pub name: String,
    /// Event data.
    pub data: String,
    /// Whether the stream ended before the event did.
    pub is_cut: bool,
}

/// Position from which an interrupted stream can be resumed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StreamPosition {
    /// ID of the last complete event, if events have IDs.
    pub last_id: Option<String>,
    /// Time to wait before reconnecting, as requested by the server.
    pub retry: Option<Duration>,
}

/// Reader of the events of a stream.
#[derive(Debug)]
pub struct SseReader<R> {
    reader: R,
    position: StreamPosition,
    chunk: Box<[u8]>,
    /// The unread part of the chunk.
    start: usize,
    end: usize,
    line: Vec<u8>,
    /// Size of the current event in bytes, and its limit.
    size: usize,
    max: usize,
    /// Whether the last byte was a `\r`, which a `\n` may complete.
    after_cr: bool,
    is_first_line: bool,
    is_over: bool,
}

impl<R: Read> SseReader<R> {
    /// Reads events of at most `max` bytes each.
    pub fn new(reader: R, max: usize) -> Self {
        Self::resume(reader, max, StreamPosition::default())
    }

    /// Reads events of a stream that continues an earlier one.
    pub fn resume(reader: R, max: usize, position: StreamPosition) -> Self {
        Self {
            reader,
            position,
            chunk: vec![0; 8 * 1024].into_boxed_slice(),
            start: 0,
            end: 0,
            line: Vec::new(),
            size: 0,
            max,
            after_cr: false,
            is_first_line: true,
            is_over: false,
        }
    }

    /// Returns the position from which to resume if the stream breaks now.
    pub fn position(&self) -> &StreamPosition {
        &self.position
    }

    /// Reads the next event; returns `None` at the end.
    ///
    /// # Errors
    ///
    /// Fails if the stream breaks, or if an event is too large.
    pub fn next_event(&mut self) -> Result<Option<SseEvent>, HttpError> {
        let mut event = SseEvent::default();
        let mut has_data = false;
        let mut id = None;
        self.size = 0;
        while !self.is_over {
            let size = self.size;
            self.is_over = !self.read_line()?;
            let line = std::mem::take(&mut self.line);
            let mut text = &*String::from_utf8_lossy(&line);
            if std::mem::take(&mut self.is_first_line) {
                text = text.strip_prefix('\u{feff}').unwrap_or(text);
            }
            if text.is_empty() && !self.is_over {
                self.position.last_id = id.take().or(self.position.last_id.take());
                if has_data {
                    return Ok(Some(event));
                }
                event = SseEvent::default();
                self.size = 0;
                continue;
            }
            let (field, value) = text.split_once(':').unwrap_or((text, ""));
            let value = value.strip_prefix(' ').unwrap_or(value);
            match field {
                "event" => value.clone_into(&mut event.name),
                "data" => {
                    if has_data {
                        event.data.push('\n');
                    }
                    event.data.push_str(value);
                    has_data = true;
                }
                "id" if !value.contains('\0') => id = Some(value.to_owned()),
                "retry" => {
                    let retry = value.parse().ok().map(Duration::from_millis);
                    self.position.retry = retry.or(self.position.retry);
                }
                // Pings do not count towards the size of an event.
                _ => self.size = size,
            }
        }
        event.is_cut = true;
        Ok(has_data.then_some(event))
    }

    /// Reads a line into `self.line`, without its line end. Returns `false` if the stream
    /// ended instead.
    fn read_line(&mut self) -> Result<bool, HttpError> {
        loop {
            let unread = self.chunk.get(self.start..self.end).unwrap_or_default();
            let Some(&first) = unread.first() else {
                match self.reader.read(&mut self.chunk) {
                    Ok(0) => return Ok(false),
                    Ok(read) => (self.start, self.end) = (0, read),
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => return Err(error.into()),
                }
                continue;
            };
            if std::mem::take(&mut self.after_cr) && first == b'\n' {
                self.start += 1;
                continue;
            }
            let length = memchr::memchr2(b'\n', b'\r', unread);
            let taken = unread.get(..length.unwrap_or(unread.len())).unwrap_or_default();
            self.size += taken.len() + 1;
            if self.size > self.max {
                return Err(HttpError::TooLarge(self.max as u64));
            }
            self.line.extend_from_slice(taken);
            let Some(length) = length else {
                self.start = self.end;
                continue;
            };
            self.after_cr = unread.get(length) == Some(&b'\r');
            self.start += length + 1;
            return Ok(true);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A reader that returns at most a given number of bytes per read.
    struct Slow<'t>(&'t [u8], usize);

    impl Read for Slow<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let (now, rest) = self.0.split_at(self.1.min(self.0.len()).min(into.len()));
            into[..now.len()].copy_from_slice(now);
            self.0 = rest;
            Ok(now.len())
        }
    }

    fn events(text: &[u8], at_once: usize, max: usize) -> Result<Vec<(String, String)>, HttpError> {
        let mut events = SseReader::new(Slow(text, at_once), max);
        let mut all = Vec::new();
        while let Some(event) = events.next_event()? {
            all.push((event.name, event.data));
        }
        Ok(all)
    }

    #[test]
    fn however_the_bytes_come() {
        for (text, want) in [
            ("", &[][..]),
            ("\n\n\n", &[]),
            ("data: a\n\n", &[("", "a")]),
            ("event: x\ndata: a\n\ndata: b\n\n", &[("x", "a"), ("", "b")]),
            ("event: x\r\ndata: a\r\n\r\ndata: b\r\n\r\n", &[("x", "a"), ("", "b")]),
            ("event: x\rdata: a\r\rdata: b\r\r", &[("x", "a"), ("", "b")]),
            ("data: a\ndata:b\ndata:  c\ndata\n\n", &[("", "a\nb\n c\n")]),
            (": ping\n\n:x\ndata: a\nid: 7\nretry: 1\nother\n\n", &[("", "a")]),
            // Without a blank line at the end, or without a line end at all.
            ("data: a\n\ndata: b\n", &[("", "a"), ("", "b")]),
            ("data: a\n\ndata: b", &[("", "a"), ("", "b")]),
            // A name without data is not an event, and does not apply to the next one.
            ("event: x\n\ndata: a\n\n", &[("", "a")]),
            ("\u{feff}data: é\n\n", &[("", "é")]),
            ("data: a\u{2028}b\n\n", &[("", "a\u{2028}b")]),
        ] {
            for at_once in [1, 2, 3, 1000] {
                let got = events(text.as_bytes(), at_once, 100).unwrap();
                let got: Vec<_> = got.iter().map(|(n, d)| (n.as_str(), d.as_str())).collect();
                assert_eq!(got, want, "{text:?} by {at_once}");
            }
        }
    }

    #[test]
    fn the_limit_is_for_one_event() {
        let many = "data: 123456\n\n".repeat(50);
        assert_eq!(events(many.as_bytes(), 7, 20).unwrap().len(), 50);
        let pings = ": ping\n".repeat(50) + "data: 1\n\n";
        assert_eq!(events(pings.as_bytes(), 7, 20).unwrap().len(), 1);
        for endless in ["data: 12345678901234567890", "data: 1\ndata: 2\ndata: 3\ndata: 4"] {
            assert_eq!(events(endless.as_bytes(), 7, 20), Err(HttpError::TooLarge(20)));
        }
        assert_eq!(events(b"data: \xff\n\n", 7, 20).unwrap()[0].1, "\u{fffd}");
    }

    #[test]
    fn a_broken_stream_says_where_to_continue() {
        let stream = "\u{feff}: hello\r\nid: 1\r\ndata: {\"a\":\r\ndata: 1}\r\n\r\nevent: x\ndata:two\n\n\
                      id:\rdata: three\r\rretry: 250\nnothing\nid: 4\ndata: cut";
        let want = [
            ("{\"a\":\n1}", "1", false),
            ("two", "1", false),
            ("three", "", false),
            // An incomplete event does not set the last ID: it is resent as a whole.
            ("cut", "", true),
        ];
        for at_once in [1, 2, 3, 7, 1000] {
            let mut events = SseReader::new(Slow(stream.as_bytes(), at_once), 100);
            for (data, id, is_cut) in want {
                let event = events.next_event().unwrap().unwrap();
                assert_eq!((event.data.as_str(), event.is_cut), (data, is_cut), "{at_once}");
                assert_eq!(events.position().last_id.as_deref(), Some(id));
            }
            assert_eq!(events.next_event(), Ok(None));
            let position = events.position().clone();
            assert_eq!(position.retry, Some(Duration::from_millis(250)));
            let events = SseReader::resume(Slow(b"", 1), 100, position.clone());
            assert_eq!(*events.position(), position);
        }
    }
}
