//! Calls with irreversible effects, with the announcement of each.

use crate::awareness::{Announcement, named};
use crate::rules::i301_blind_destructive::each;
use serde::Serialize;
use toolmark_outcome::{CallRef, Evidence, Printable, Redactor, Untrusted};
use toolmark_session::session::Session;
use toolmark_trace::Fact;

/// Maximum length of a displayed target.
const MAX_TARGET: usize = 120;

/// Announcement of a destructive call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DestructiveAnnouncement {
    /// Not announced.
    Blind,
    /// Acknowledged only afterwards.
    Acknowledged,
    /// Unknown because the trace has no messages.
    Unknown,
    /// Announced before the call.
    Named,
}

impl DestructiveAnnouncement {
    /// Returns the word used in every output.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Blind => "blind",
            Self::Acknowledged => "acknowledged",
            Self::Unknown => "unknown",
            Self::Named => "named",
        }
    }
}

/// A call with an irreversible effect.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DestructiveCall<T = Untrusted> {
    /// Id of the session.
    pub session: Option<T>,
    /// Announcement of the call.
    pub announced: DestructiveAnnouncement,
    /// Effect and its target.
    pub effect: T,
    /// The call.
    pub call: CallRef<T>,
    /// Text that announces the call, and its position.
    pub said: Option<Evidence<T>>,
}

impl DestructiveCall {
    /// Returns all such calls of a session, whether or not the rule about them is selected.
    pub(crate) fn all(session: &Session<'_>) -> Vec<Self> {
        let has_effect = session
            .calls()
            .iter()
            .any(|call| call.analysis().is_some_and(|analysis| !analysis.effects.is_empty()));
        let mut all = Vec::new();
        // Most sessions destroy nothing; what they made themselves need not be followed.
        if !has_effect {
            return all;
        }
        let run = session.trajectory();
        each(session, |call, effect| {
            let Some(effect) = effect else { return };
            let naming = named(session, call, effect);
            let announced = match &naming {
                Some(naming) if naming.said == Announcement::Afterwards => {
                    DestructiveAnnouncement::Acknowledged
                }
                Some(_) => DestructiveAnnouncement::Named,
                None if run.fidelity.lacks(Fact::Messages) => DestructiveAnnouncement::Unknown,
                None => DestructiveAnnouncement::Blind,
            };
            let target: String = effect.target.chars().take(MAX_TARGET).collect();
            let words = format!("{} {}", effect.program, effect.why);
            let colon = if target.is_empty() { "" } else { ": " };
            all.push(Self {
                session: run.id.as_ref().map(|id| id.get().into()),
                announced,
                effect: format!("{words}{colon}{target}").into(),
                call: session.call_ref(call),
                said: naming.map(|naming| naming.evidence),
            });
        });
        all
    }

    /// Returns the printable call.
    #[must_use]
    pub(crate) fn redact(self, redactor: Redactor) -> DestructiveCall<Printable> {
        DestructiveCall {
            session: self.session.map(|session| redactor.apply(session)),
            announced: self.announced,
            effect: redactor.apply(self.effect),
            call: self.call.redact(redactor),
            said: self.said.map(|said| said.redact(redactor)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Checker;
    use toolmark_session::notation;

    #[test]
    fn each_has_what_was_said_about_it() {
        let run = notation::parse(
            "user: please delete src/legacy\n\
             Bash {\"command\":\"ls\"} -> \"a\"\n\
             Bash {\"command\":\"rm -rf src/legacy\"} -> \"\"\n\
             user: why is the build slow?\n\
             Bash {\"command\":\"git reset --hard HEAD~3\"} -> \"HEAD is now at abc\"\n",
        );
        let all = Checker::default().check(&run.unwrap()).destructive;
        let states: Vec<DestructiveAnnouncement> = all.iter().map(|call| call.announced).collect();
        assert_eq!(states, [DestructiveAnnouncement::Named, DestructiveAnnouncement::Blind]);
        let said = all[0].said.as_ref().unwrap();
        assert_eq!(said.excerpt.as_ref().unwrap().raw(), "please delete src/legacy");
        assert!(all[0].effect.raw().contains("src/legacy"), "{:?}", all[0].effect);
        assert!(all[1].said.is_none());
    }
}
