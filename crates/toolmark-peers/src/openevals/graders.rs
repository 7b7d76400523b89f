//! Trajectory comparison of openevals: as in agentevals, except for arguments.

use crate::agentevals::graders::{Rules, strict, subset, superset, unordered};
use crate::scores::system::{Mode, System};
use toolmark_outcome::Profile;

pub(crate) static SYSTEM: System = System {
    profile: Profile::OpenEvals,
    version: "openevals 0.2.2",
    threshold: 1.0,
    options: &["args_match", "args_match_overrides"],
    modes: &[
        Mode {
            word: "strict",
            aliases: &["exact"],
            own: Some("exact"),
            score: |asked| strict(asked, OPENEVALS),
        },
        Mode {
            word: "unordered",
            aliases: &[],
            own: Some("unordered"),
            score: |asked| unordered(asked, OPENEVALS),
        },
        Mode {
            word: "subset",
            aliases: &["within"],
            own: Some("within"),
            score: |asked| subset(asked, OPENEVALS),
        },
        Mode {
            word: "superset",
            aliases: &["any_order"],
            own: Some("any_order"),
            score: |asked| superset(asked, OPENEVALS),
        },
    ],
};

const OPENEVALS: Rules = Rules { exchanges_roles: false, absent_is_equal: false };
