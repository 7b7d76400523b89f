//! Read buffers, which are reused once nothing refers to them.
//!
//! A new buffer costs a page fault for every 4 kB that is read into it, which is nearly as
//! much as reading it.

use std::cell::RefCell;
use std::sync::{Mutex, PoisonError};
use toolmark_scan::{Scanner, TextLines, Value};

/// Number of bytes read from a file at once.
pub(crate) const BLOCK_SIZE: usize = 256 << 10;

/// Maximum number of unused buffers that are kept: all of them were in use at once before.
const MAX_WAITING: usize = 32;

static WAITING: Mutex<Vec<Vec<u8>>> = Mutex::new(Vec::new());

/// Returns an empty buffer with space for a block.
pub(crate) fn take() -> Vec<u8> {
    let waiting = WAITING.lock().unwrap_or_else(PoisonError::into_inner).pop();
    waiting.unwrap_or_else(|| Vec::with_capacity(BLOCK_SIZE))
}

/// Keeps the buffer of a text that is no longer needed, if it has the usual size.
pub(crate) fn give_back(text: String) {
    if (BLOCK_SIZE..=BLOCK_SIZE * 2).contains(&text.capacity()) {
        let mut buffer = text.into_bytes();
        buffer.clear();
        let mut waiting = WAITING.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.len() < MAX_WAITING {
            waiting.push(buffer);
        }
    }
}

thread_local! {
    /// Line index and scanners of this thread's last file.
    static LINES: RefCell<TextLines> = RefCell::default();
    static SCANNERS: RefCell<Vec<Scanner>> = RefCell::default();
}

/// Maximum number of scanners that are kept. A file needs two: one for the record used for
/// detection, one for all records.
const MAX_SCANNERS: usize = 2;

/// Returns a line index that may have space from an earlier file.
pub(crate) fn lines() -> TextLines {
    LINES.take()
}

/// Returns a scanner that may have space from an earlier file.
pub(crate) fn scanner() -> Scanner {
    SCANNERS.with_borrow_mut(Vec::pop).unwrap_or_default()
}

/// Keeps the space of a line index for the next file.
pub(crate) fn keep_lines(lines: TextLines) {
    // A thread that ends has no next file.
    let _ = LINES.try_with(|kept| kept.replace(lines));
}

/// Keeps the space of a scanner for the next file.
pub(crate) fn keep_scanner(scanner: Scanner) {
    let _ = SCANNERS.try_with(|kept| {
        let mut kept = kept.borrow_mut();
        if kept.len() < MAX_SCANNERS {
            kept.push(scanner);
        }
    });
}

/// Calls `read` with the parsed text; `None` if it is not JSON.
pub(crate) fn with_json<T>(text: &str, read: impl FnOnce(Value<'_>) -> T) -> Option<T> {
    let mut scanner = scanner();
    let made = scanner.parse(text).ok().map(|doc| read(doc.root()));
    keep_scanner(scanner);
    made
}
