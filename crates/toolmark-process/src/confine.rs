//! Landlock: restricts the directories below which a process may write, without a
//! separate namespace.

use landlock::{
    ABI, Access, AccessFs, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetStatus,
};
use std::io;
use std::path::{Path, PathBuf};

/// Newest Landlock version that is used; older kernels enforce the rights that they support.
const RULES: ABI = ABI::V3;

/// Restricts writing to these directories (and to devices and the directory of the
/// report) for this process and all processes that it starts. Reading is not
/// restricted. Without directories, nothing changes.
pub(crate) fn to_directories(directories: &[PathBuf], report: &Path) -> io::Result<()> {
    if directories.is_empty() {
        return Ok(());
    }
    let restricted = restrict(directories, report).map_err(io::Error::other)?;
    if restricted { Ok(()) } else { Err(io::Error::other("Landlock is not available")) }
}

/// Returns whether this kernel supports confining a process.
#[must_use]
pub fn can_confine() -> bool {
    let ruleset = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    ruleset.handle_access(AccessFs::from_all(ABI::V1)).and_then(Ruleset::create).is_ok()
}

fn restrict(directories: &[PathBuf], report: &Path) -> Result<bool, landlock::RulesetError> {
    let writes = AccessFs::from_write(RULES);
    let mut ruleset = Ruleset::default().handle_access(writes)?.create()?;
    // Devices may be written to, but no file may be made beside them: /dev/shm is shared.
    let devices = AccessFs::WriteFile | AccessFs::Truncate;
    if let Ok(opened) = PathFd::new("/dev") {
        ruleset = ruleset.add_rule(PathBeneath::new(opened, devices))?;
    }
    let report = report.parent().map(Path::to_path_buf);
    for path in directories.iter().chain(&report) {
        // A directory that does not exist cannot be written to either.
        let Ok(opened) = PathFd::new(path) else { continue };
        ruleset = ruleset.add_rule(PathBeneath::new(opened, writes))?;
    }
    Ok(ruleset.restrict_self()?.ruleset != RulesetStatus::NotEnforced)
}
