//! GitHub Copilot's own span events: skills, messages of the user, compaction.
//! Their content is off by default; that they happened is not.

use super::super::facts::{Facts, Mark, MarkKind};
use super::super::{Span, SpanEvent};
use crate::model::Payload;

pub(super) fn read(span: &Span, facts: &mut Facts) {
    for event in &span.events {
        let name = event.name.get();
        let Some(what) = name.strip_prefix("github.copilot.") else { continue };
        let a = &event.attributes;
        let (kind, text) = match what {
            "user.message" => {
                let typed = a.is("github.copilot.user.message.source", "user");
                let kind = if typed { MarkKind::User } else { MarkKind::Context };
                (kind, a.payload(&["github.copilot.user.message.content", "content"]))
            }
            "skill.invoked" => (MarkKind::Skill, skill(event)),
            _ if what.contains("compaction") && !what.contains("start") => {
                (MarkKind::Compaction, None)
            }
            _ => continue,
        };
        facts.marks.push(Mark { kind, text, time: event.time });
    }
}

fn skill(event: &SpanEvent) -> Option<Payload> {
    event.attributes.payload(&["github.copilot.skill.name"])
}
