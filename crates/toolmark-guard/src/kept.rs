//! Copies of what a call is about to delete or overwrite, kept before it runs, so that it can go on
//! and be undone.
//!
//! Kept are the paths that the effects of the call name, not the work tree. A deleted file is kept
//! by a hard link, which costs nothing; anything that may be written to is copied. An entry is
//! complete or does not exist: it is made under another name and renamed at the end. Entries are
//! outside the project, in a directory that only the user can read and that the guard protects.

mod after;
mod commands;
mod copy;
mod plan;
mod put_refs;
mod refs;
mod restore;
mod store;
mod tree;

pub use plan::{Keeping, Losses, before};
pub use refs::{Ref, Refs};
pub use restore::{Outcome, Restored, Restoring};
pub use store::{Git, ItemKind, KeptEntry, KeptItem, KeptStore};

pub(crate) use after::note_result;
