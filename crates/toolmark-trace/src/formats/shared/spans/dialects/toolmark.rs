//! Data that toolmark's own exporter adds to the conventions: `toolmark.run.*`,
//! `toolmark.step.*`, `toolmark.call.*`, and events of the run's span. With this data, nothing
//! has to be inferred.

use super::super::facts::{MarkKind, Own, SpanFacts, SpanMark, SpanRole, fill};
use super::super::{Attributes, SpanEvent, TelemetrySpan};
use super::SpanDialect;
use crate::model::{Actor, Cost, Fact, Fidelity, Status, StatusLevel, Text};
use jiff::SignedDuration;

pub(super) const DIALECT: SpanDialect = SpanDialect { kind: |_| None, read };

fn read(span: &TelemetrySpan, kind: SpanRole, facts: &mut SpanFacts) {
    let a = &span.attributes;
    let own = match kind {
        SpanRole::Agent if a.has("toolmark.run.format") => {
            fill(&mut facts.cwd, || a.text(&["toolmark.run.cwd"]));
            fill(&mut facts.cost, || {
                let nano_usd = a.str("toolmark.run.cost_nano_usd")?.parse().ok()?;
                Some(Cost { nano_usd })
            });
            facts.marks.extend(span.events.iter().filter_map(mark));
            run(a)
        }
        SpanRole::Llm if a.is("toolmark.step.input", "new") => Own::default(),
        SpanRole::Tool if a.has("toolmark.call.status") => {
            fill(&mut facts.exit_code, || a.str("toolmark.call.exit_code")?.parse().ok());
            fill(&mut facts.duration, || {
                let nanos = a.str("toolmark.call.duration_ns")?.parse().ok()?;
                Some(SignedDuration::from_nanos(nanos))
            });
            call(a)
        }
        _ => return,
    };
    facts.own = Some(Box::new(own));
}

fn run(a: &Attributes) -> Own {
    let gaps = a.str("toolmark.run.fidelity_gaps");
    let fidelity = gaps.map(|words| {
        let facts: Vec<Fact> = words.split(',').filter_map(Fact::from_word).collect();
        Fidelity::lacking(&facts)
    });
    Own {
        id: a.text(&["gen_ai.conversation.id"]),
        name: a.text(&["toolmark.run.name"]),
        outcome: a.text(&["toolmark.run.outcome"]),
        parent_trajectory: a.text(&["toolmark.run.parent_trajectory"]),
        parent_call: a.text(&["toolmark.run.parent_call"]),
        fidelity,
        ..Own::default()
    }
}

fn call(a: &Attributes) -> Own {
    let status = Status::ALL.iter().find(|s| a.is("toolmark.call.status", s.word()));
    let level = StatusLevel::ALL.iter().find(|l| a.is("toolmark.call.level", l.word()));
    Own {
        status: status.map(|status| (*status, level.copied().unwrap_or(StatusLevel::Protocol))),
        is_answered: a.flag("toolmark.call.answered") == Some(true),
        actor: Actor::ALL.iter().find(|w| a.is("toolmark.call.actor", w.word())).copied(),
        namespace: a.text(&["toolmark.call.namespace"]),
        spawned: a.text(&["toolmark.call.spawned"]),
        ..Own::default()
    }
}

/// Returns an event of the run that is not a span.
fn mark(event: &SpanEvent) -> Option<SpanMark> {
    let a = &event.attributes;
    let record = || a.text(&["toolmark.record"]).unwrap_or_else(|| Text::owned(""));
    let (kind, key) = match &*event.name.get() {
        "exception" => (MarkKind::Error, "exception.message"),
        "toolmark.skill" => (MarkKind::Skill, "toolmark.text"),
        "toolmark.compaction" => (MarkKind::Compaction, "toolmark.text"),
        "toolmark.orphan_result" => (MarkKind::Orphan, "toolmark.text"),
        "toolmark.note" => (MarkKind::Note(record()), "toolmark.text"),
        "toolmark.unknown" => (MarkKind::Unknown(record()), "toolmark.text"),
        _ => return None,
    };
    Some(SpanMark { kind, text: a.payload(&[key]), time: event.time })
}
