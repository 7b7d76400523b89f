//! Server-sent events, read as they come.
//!
//! Lines end in `\n`, `\r\n` or `\r`; an empty line ends an event; several
//! `data` lines make one text; a line that begins with a colon says nothing.
//! An event that the end of the stream cuts short is given all the same: who
//! reads it sees whether it is whole.

use std::io::{self, Read};

/// One event.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Event {
    /// What it is called; empty where it is not.
    pub(crate) name: String,
    /// What it says.
    pub(crate) data: String,
}

/// The events of a stream.
pub(crate) struct Events<R> {
    reader: R,
    chunk: Box<[u8]>,
    /// What of the chunk is read but not looked at.
    start: usize,
    end: usize,
    line: Vec<u8>,
    /// How many bytes the event being read has, and may have.
    size: usize,
    limit: usize,
    /// Was the last byte a `\r`? Then a `\n` belongs to it.
    after_cr: bool,
    is_first_line: bool,
    is_over: bool,
}

impl<R: Read> Events<R> {
    /// Reads events of at most `limit` bytes each.
    pub(crate) fn new(reader: R, limit: usize) -> Self {
        Self {
            reader,
            chunk: vec![0; 8 * 1024].into_boxed_slice(),
            start: 0,
            end: 0,
            line: Vec::new(),
            size: 0,
            limit,
            after_cr: false,
            is_first_line: true,
            is_over: false,
        }
    }

    /// The next event; `None` at the end.
    pub(crate) fn next(&mut self) -> io::Result<Option<Event>> {
        let mut event = Event::default();
        let mut has_data = false;
        self.size = 0;
        while !self.is_over {
            let has_line = self.read_line()?;
            self.is_over = !has_line;
            let line = std::mem::take(&mut self.line);
            let mut text = &*String::from_utf8_lossy(&line);
            if std::mem::take(&mut self.is_first_line) {
                text = text.trim_start_matches('\u{feff}');
            }
            if text.is_empty() {
                if has_data {
                    return Ok(Some(event));
                }
                event = Event::default();
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
                _ => {}
            }
        }
        Ok(has_data.then_some(event))
    }

    /// Reads a line into `self.line`, without its end. `false` where the stream
    /// ended instead.
    fn read_line(&mut self) -> io::Result<bool> {
        loop {
            let unread = self.chunk.get(self.start..self.end).unwrap_or_default();
            let Some(&first) = unread.first() else {
                match self.reader.read(&mut self.chunk) {
                    Ok(0) => return Ok(false),
                    Ok(read) => (self.start, self.end) = (0, read),
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => return Err(error),
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
            if self.size > self.limit {
                let message = format!("an event of the stream has more than {} bytes", self.limit);
                return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
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

    /// Gives so many bytes at a time.
    struct Slow<'t>(&'t [u8], usize);

    impl Read for Slow<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let (now, rest) = self.0.split_at(self.1.min(self.0.len()).min(into.len()));
            into[..now.len()].copy_from_slice(now);
            self.0 = rest;
            Ok(now.len())
        }
    }

    fn events(text: &[u8], at_once: usize, limit: usize) -> io::Result<Vec<(String, String)>> {
        let mut events = Events::new(Slow(text, at_once), limit);
        let mut all = Vec::new();
        while let Some(event) = events.next()? {
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
            // A name without data is no event, and does not stay for the next.
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
        for endless in ["data: 12345678901234567890", "data: 1\ndata: 2\ndata: 3\ndata: 4"] {
            let error = events(endless.as_bytes(), 7, 20).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
        }
        assert_eq!(events(b"data: \xff\n\n", 7, 20).unwrap()[0].1, "\u{fffd}");
    }
}
