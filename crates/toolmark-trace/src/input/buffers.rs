//! Buffers that files are read into, used again once nothing points into them.
//!
//! A fresh buffer costs a page fault for every 4 kB that is read into it, which is
//! nearly as much as reading it.

use std::sync::{Mutex, PoisonError};

/// How much of a file is read at once.
pub(crate) const BLOCK_SIZE: usize = 256 << 10;

/// How many buffers wait for their next use: all of them were in use at once before.
const MAX_WAITING: usize = 32;

static WAITING: Mutex<Vec<Vec<u8>>> = Mutex::new(Vec::new());

/// An empty buffer with room for a block.
pub(crate) fn take() -> Vec<u8> {
    let waiting = WAITING.lock().unwrap_or_else(PoisonError::into_inner).pop();
    waiting.unwrap_or_else(|| Vec::with_capacity(BLOCK_SIZE))
}

/// Keeps the buffer of a text that is no longer needed, if it is of the usual size.
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
