//! Landlock: a process that may write below some directories only, without a
//! namespace of its own.

use landlock::{
    ABI, Access, AccessFs, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetStatus,
};
use std::io;
use std::path::{Path, PathBuf};

/// The newest rules this knows; older kernels enforce those that they have.
const RULES: ABI = ABI::V3;

/// Lets this process, and all it starts, write below these directories only. Reading
/// stays as it is. Without directories nothing changes.
pub(crate) fn to_directories(directories: &[PathBuf], report: &Path) -> io::Result<()> {
    if directories.is_empty() {
        return Ok(());
    }
    let restricted = restrict(directories, report).map_err(io::Error::other)?;
    if restricted { Ok(()) } else { Err(io::Error::other("Landlock is not available")) }
}

/// Can this kernel confine a process?
#[must_use]
pub fn can_confine() -> bool {
    let ruleset = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    ruleset.handle_access(AccessFs::from_all(ABI::V1)).and_then(Ruleset::create).is_ok()
}

fn restrict(directories: &[PathBuf], report: &Path) -> Result<bool, landlock::RulesetError> {
    let writes = AccessFs::from_write(RULES);
    let mut ruleset = Ruleset::default().handle_access(writes)?.create()?;
    let devices = [PathBuf::from("/dev")];
    let report = report.parent().map(Path::to_path_buf);
    let all = directories.iter().chain(&devices).chain(&report);
    for path in all {
        // A directory that is not there cannot be written to either.
        let Ok(opened) = PathFd::new(path) else { continue };
        ruleset = ruleset.add_rule(PathBeneath::new(opened, writes))?;
    }
    Ok(ruleset.restrict_self()?.ruleset != RulesetStatus::NotEnforced)
}
