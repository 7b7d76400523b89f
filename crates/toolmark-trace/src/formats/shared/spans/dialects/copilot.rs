//! GitHub Copilot's own span events: skills, user messages, compaction. Their content is off by
//! default, but the events themselves are always sent.

use super::super::facts::{MarkKind, SpanFacts, SpanMark, SpanRole};
use super::super::{SpanEvent, TelemetrySpan};
use super::SpanDialect;
use crate::model::Payload;

pub(super) const DIALECT: SpanDialect = SpanDialect { kind: |_| None, read };

fn read(span: &TelemetrySpan, _: SpanRole, facts: &mut SpanFacts) {
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
        facts.marks.push(SpanMark { kind, text, time: event.time });
    }
}

fn skill(event: &SpanEvent) -> Option<Payload> {
    event.attributes.payload(&["github.copilot.skill.name"])
}
