//! The decision table: maps effects to allow, ask or deny. The table depends only on the effects,
//! so that a policy can replace it.

use crate::effects::{Certainty, Effect, EffectKind, EffectScope, Reversibility};
use serde::Serialize;

/// Decision about a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Decision {
    /// The command may run.
    Allow,
    /// The user must review the command.
    Ask,
    /// The command destroys something that cannot be restored.
    Deny,
}

impl Decision {
    /// All decisions, the strictest last.
    pub const ALL: &'static [Self] = &[Self::Allow, Self::Ask, Self::Deny];

    /// The name as output writes it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

/// Returns the decision for one effect.
pub fn decide_effect(effect: &Effect) -> Decision {
    use Reversibility::{R0, R3, R4, R5};
    let proven = effect.certainty == Certainty::Proven;
    let scratch =
        matches!(effect.scope, EffectScope::Temp | EffectScope::TreeArtefact) && !effect.disarms();
    match effect.reversibility {
        R5 if proven => Decision::Deny,
        R4 if proven && !scratch => Decision::Deny,
        R3 | R4 | R5 => Decision::Ask,
        R0 => Decision::Allow,
        _ => match effect.kind {
            EffectKind::ReadSecret
            | EffectKind::SendOut
            | EffectKind::ExecuteUntrusted
            | EffectKind::Privilege
            | EffectKind::Persist => Decision::Ask,
            _ => Decision::Allow,
        },
    }
}

/// Returns the strictest decision over all effects.
pub fn decide(effects: &[Effect]) -> Decision {
    effects.iter().map(decide_effect).max().unwrap_or(Decision::Allow)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table() {
        use Certainty::{Likely, Proven, Unresolved};
        use EffectKind::{Delete, Overwrite, ReadSecret};
        use Reversibility::{R0, R1, R2, R3, R4, R5};
        let cases = [
            (Delete, EffectScope::Remote, R5, Proven, Decision::Deny),
            (Delete, EffectScope::Remote, R5, Unresolved, Decision::Ask),
            (Delete, EffectScope::TreeUntracked, R4, Proven, Decision::Deny),
            (Delete, EffectScope::TreeUntracked, R4, Likely, Decision::Ask),
            (Delete, EffectScope::Temp, R4, Proven, Decision::Ask),
            (Delete, EffectScope::TreeArtefact, R4, Proven, Decision::Ask),
            (EffectKind::Persist, EffectScope::Temp, R4, Proven, Decision::Deny),
            (Delete, EffectScope::TreeTracked, R3, Proven, Decision::Ask),
            (Delete, EffectScope::TreeArtefact, R2, Proven, Decision::Allow),
            (Overwrite, EffectScope::TreeTracked, R1, Proven, Decision::Allow),
            (ReadSecret, EffectScope::Home, R1, Proven, Decision::Ask),
            (ReadSecret, EffectScope::Home, R0, Proven, Decision::Allow),
        ];
        for (kind, scope, reversibility, certainty, expected) in cases {
            let effect = Effect {
                kind,
                target: String::new(),
                scope,
                reversibility,
                certainty,
                span: (0, 0),
                program: String::new(),
                why: "",
            };
            assert_eq!(decide(std::slice::from_ref(&effect)), expected, "{effect:?}");
        }
        assert_eq!(decide(&[]), Decision::Allow);
    }
}
