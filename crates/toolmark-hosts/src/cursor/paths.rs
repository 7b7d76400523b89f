//! File locations of Cursor.

use crate::paths::Paths;

pub(super) static PATHS: Paths = Paths {
    directory: ".cursor",
    moved_by: None,
    user_hooks: "hooks.json",
    project_hooks: ".cursor/hooks.json",
    settings: &[
        ".cursor/hooks*",
        ".cursor/permissions.json",
        ".cursor/cli.json",
        ".cursor/cli-config.json",
        ".cursor/mcp.json",
        ".config/cursor/cli-config.json",
    ],
    lasting: &[".cursor/rules/"],
    credentials: &[],
    notes: &[],
    sessions: None,
};
