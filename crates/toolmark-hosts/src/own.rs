//! Where toolmark itself keeps things.

/// The files of a project that the guard looks for its policy in, in a directory
/// of the project.
pub const PROJECT_POLICIES: &[&str] = &["toolmark.yaml", ".toolmark/toolmark.yaml"];

/// The user's policy, in the directory for settings.
pub const USER_POLICY: &str = "toolmark/toolmark.yaml";

/// The audit log, in the directory for state.
pub const AUDIT_LOG: &str = "toolmark/guard.jsonl";

/// What is put behind the name of a settings file for the copy of it that
/// `install` keeps.
pub const BACKUP: &str = ".toolmark-backup";

/// Those of the user, as they are protected: by their usual places.
pub(crate) const PROTECTED: &[&str] =
    &[".config/toolmark/", ".local/state/toolmark/", "*.toolmark-backup"];
