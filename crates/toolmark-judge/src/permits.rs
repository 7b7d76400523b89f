//! How many questions may be under way at once.

use std::sync::{Condvar, Mutex, PoisonError};

#[derive(Debug)]
pub(crate) struct Permits {
    free: Mutex<usize>,
    freed: Condvar,
}

/// Held while a question is under way.
pub(crate) struct Permit<'p>(&'p Permits);

impl Permits {
    pub(crate) fn new(most: usize) -> Self {
        Self { free: Mutex::new(most.max(1)), freed: Condvar::new() }
    }

    /// Waits until a question may be asked.
    pub(crate) fn take(&self) -> Permit<'_> {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        while *free == 0 {
            free = self.freed.wait(free).unwrap_or_else(PoisonError::into_inner);
        }
        *free -= 1;
        Permit(self)
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        *self.0.free.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.0.freed.notify_one();
    }
}
