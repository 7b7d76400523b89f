//! Server-sent events, from the chunks they arrive in to what they hold.

use crate::message::LONGEST_LINE;

/// One event.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct ServerEvent {
    pub(crate) data: String,
    /// The last id so far, to go on from if the stream breaks.
    pub(crate) id: Option<String>,
}

/// Reads events.
#[derive(Debug, Default)]
pub(crate) struct Events {
    line: Vec<u8>,
    /// The last byte was a carriage return, whose line feed may follow.
    returned: bool,
    begun: bool,
    data: Option<String>,
    id: Option<String>,
    /// How long to wait before going on, in milliseconds, if the server said so.
    pub(crate) retry: Option<u64>,
}

/// An event that is longer than may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooLong;

impl Events {
    /// The events a chunk completes.
    pub(crate) fn push(&mut self, chunk: &[u8]) -> Result<Vec<ServerEvent>, TooLong> {
        let mut done = Vec::new();
        let mut rest = chunk;
        while let Some(first) = rest.first() {
            if std::mem::take(&mut self.returned) && *first == b'\n' {
                rest = rest.get(1..).unwrap_or_default();
                continue;
            }
            match memchr::memchr2(b'\n', b'\r', rest) {
                None => {
                    self.line.extend_from_slice(rest);
                    rest = &[];
                }
                Some(end) => {
                    self.line.extend_from_slice(rest.get(..end).unwrap_or_default());
                    self.returned = rest.get(end) == Some(&b'\r');
                    rest = rest.get(end + 1..).unwrap_or_default();
                    done.extend(self.line_ended());
                }
            }
            let held = self.line.len() + self.data.as_ref().map_or(0, String::len);
            if held > LONGEST_LINE {
                return Err(TooLong);
            }
        }
        Ok(done)
    }

    /// The last id so far.
    pub(crate) fn last_id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    fn line_ended(&mut self) -> Option<ServerEvent> {
        let bytes = std::mem::take(&mut self.line);
        let line = String::from_utf8_lossy(&bytes);
        let line = match std::mem::replace(&mut self.begun, true) {
            false => line.strip_prefix('\u{feff}').unwrap_or(&line),
            true => &line,
        };
        if line.is_empty() {
            let data = self.data.take()?;
            return Some(ServerEvent { data, id: self.id.clone() });
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => match &mut self.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => self.data = Some(value.to_owned()),
            },
            "id" if !value.contains('\0') => self.id = Some(value.to_owned()),
            "retry" => self.retry = value.parse().ok().or(self.retry),
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_the_same_however_they_are_cut() {
        let stream = "\u{feff}: hello\r\nid: 1\r\ndata: {\"a\":\r\ndata: 1}\r\n\r\nevent: x\ndata:two\n\n\
                      id:\rdata: three\r\rretry: 250\nnothing\ndata: lost";
        let want = [("{\"a\":\n1}", "1"), ("two", "1"), ("three", "")];
        for size in [1, 2, 3, 7, 1000] {
            let mut events = Events::default();
            let mut got = Vec::new();
            for chunk in stream.as_bytes().chunks(size) {
                got.extend(events.push(chunk).unwrap());
            }
            let got: Vec<_> =
                got.iter().map(|e| (e.data.as_str(), e.id.as_deref().unwrap())).collect();
            assert_eq!(got, want, "in chunks of {size}");
            assert_eq!((events.retry, events.last_id()), (Some(250), Some("")));
        }
    }

    #[test]
    fn an_event_without_end_is_refused() {
        let mut events = Events::default();
        let chunk = vec![b'x'; 1 << 20];
        let mut pushed = (0..=64).map(|_| events.push(&chunk));
        assert!(pushed.any(|result| result == Err(TooLong)));
    }
}
