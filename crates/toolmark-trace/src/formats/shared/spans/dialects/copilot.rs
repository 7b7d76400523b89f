//! GitHub Copilot's own span events: skills, user messages, compaction. Their content is off by
//! default, but the events themselves are always sent.

use super::super::facts::{Facts, Kind, Mark, MarkKind};
use super::super::{Span, SpanEvent};
use super::Dialect;
use crate::model::Payload;

pub(super) const DIALECT: Dialect = Dialect { kind: |_| None, read };

fn read(span: &Span, _: Kind, facts: &mut Facts) {
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
