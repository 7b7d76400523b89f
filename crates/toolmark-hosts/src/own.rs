//! File locations of toolmark itself.

/// Policy files of a project, relative to a directory of the project.
pub const PROJECT_POLICIES: &[&str] = &["toolmark.yaml", ".toolmark/toolmark.yaml"];

/// Policy file of the machine, which users cannot loosen.
pub const SYSTEM_POLICY: &str = if cfg!(windows) {
    "C:\\ProgramData\\toolmark\\toolmark.yaml"
} else {
    "/etc/toolmark/toolmark.yaml"
};

/// Policy file of the user, relative to the configuration directory.
pub const USER_POLICY: &str = "toolmark/toolmark.yaml";

/// Audit log, relative to the state directory.
pub const AUDIT_LOG: &str = "toolmark/guard.jsonl";

/// Suffix of the backup copy that `install` keeps of a settings file.
pub const BACKUP: &str = ".toolmark-backup";

/// Protected files of the user, at their default locations.
pub(crate) const PROTECTED: &[&str] =
    &[".config/toolmark/", ".local/state/toolmark/", "*.toolmark-backup"];
