//! Limit on the number of concurrent questions.

use std::sync::{Condvar, Mutex, PoisonError};

/// A semaphore with a fixed number of permits.
#[derive(Debug)]
pub(crate) struct Semaphore {
    free: Mutex<usize>,
    freed: Condvar,
}

/// A permit, held while a question is asked.
pub(crate) struct Permit<'s>(&'s Semaphore);

impl Semaphore {
    pub(crate) fn new(permits: usize) -> Self {
        Self { free: Mutex::new(permits.max(1)), freed: Condvar::new() }
    }

    /// Waits for a permit.
    pub(crate) fn acquire(&self) -> Permit<'_> {
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
