//! Stored runs by name.

use crate::Failure;
use std::path::Path;
use toolmark_run::store::RunStore;

/// The word for the newest run.
pub const LAST: &str = "last";

/// Finds a run by its directory, a prefix of its name, or `last`.
pub fn find(named: &Path, runs: &Path) -> Result<Option<RunStore>, Failure> {
    if let Some(store) = RunStore::open(named) {
        return Ok(Some(store));
    }
    let prefix = named.to_string_lossy();
    let mut all = RunStore::list(runs);
    if prefix != LAST {
        all.retain(|store| store.id().starts_with(&*prefix));
        if all.len() > 1 {
            return Err(Failure::usage(format!("{} runs start with {prefix}", all.len())));
        }
    }
    Ok(all.pop())
}
