//! Any bytes as an event stream, in pieces of any size: the same events, and never
//! more than the limit.

#![no_main]

use libfuzzer_sys::fuzz_target;
use std::io::{BufReader, Cursor};
use toolmark_http::SseReader;

const MAX: usize = 4096;

fuzz_target!(|data: &[u8]| {
    let whole = read(BufReader::new(Cursor::new(data)));
    let size = usize::from(data.first().copied().unwrap_or(0) % 7) + 1;
    assert_eq!(whole, read(BufReader::with_capacity(size, Cursor::new(data))));
});

fn read(reader: impl std::io::BufRead) -> Vec<String> {
    let mut events = SseReader::new(reader, MAX);
    let mut all = Vec::new();
    loop {
        match events.next_event() {
            Ok(Some(event)) => all.push(format!("{event:?}")),
            Ok(None) => return all,
            Err(error) => {
                all.push(error.to_string());
                return all;
            }
        }
    }
}
