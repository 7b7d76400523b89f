//! Locks a run directory for one runner.

use super::RunStore;
use std::fs::{File, TryLockError};
use std::io::{self, Write};

/// A locked run; the lock is released when this is dropped.
#[derive(Debug)]
pub struct Locked(#[expect(dead_code, reason = "the lock is held as long as it is open")] File);

impl RunStore {
    /// Locks the run; `None` if another runner holds the lock. The system releases it when the
    /// process ends, however that happens.
    pub fn lock(&self) -> io::Result<Option<Locked>> {
        let path = self.root.join("lock");
        let mut file = File::options().create(true).truncate(false).write(true).open(path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        file.set_len(0)?;
        writeln!(file, "{}", std::process::id())?;
        Ok(Some(Locked(file)))
    }
}
