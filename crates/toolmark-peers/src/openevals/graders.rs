//! Trajectory comparison of openevals: as in agentevals, except for arguments.

use crate::agentevals::graders::{PackageRules, modes};
use crate::scores::system::System;
use toolmark_outcome::Profile;

pub(crate) static SYSTEM: System = System {
    profile: Profile::OpenEvals,
    version: "openevals 0.2.2",
    threshold: 1.0,
    options: &["args_match", "args_match_overrides"],
    modes: modes!(OPENEVALS),
};

const OPENEVALS: PackageRules = PackageRules { exchanges_roles: false, absent_is_equal: false };
