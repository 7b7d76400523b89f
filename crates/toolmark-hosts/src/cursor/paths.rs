//! Where Cursor keeps things.

use crate::paths::Paths;

pub(super) static PATHS: Paths = Paths {
    directory: ".cursor",
    moved_by: None,
    user_hooks: "hooks.json",
    project_hooks: ".cursor/hooks.json",
    sessions: None,
};
