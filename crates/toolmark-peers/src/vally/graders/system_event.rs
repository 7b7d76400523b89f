//! `system-event`: checks which system events the host recorded, and which it did not.

use super::names::{Lists, VallyNames};
use std::sync::Arc;
use toolmark_base::SortedMap;
use toolmark_grade::{Grader, GraderInfo, Taxonomy, schema_of};
use toolmark_outcome::Outcome;
use toolmark_outcome::Profile;
use toolmark_outcome::Subject;
use toolmark_outcome::{Evidence, EvidenceRole};
use toolmark_trace::EventKind;

pub(crate) static SYSTEM_EVENT: GraderInfo = GraderInfo {
    id: "system-event",
    aliases: &[],
    origin: "vally",
    summary: "checks for required and forbidden system events",
    docs: "Passes if every type of system event in `required` happened at least once, and none in `disallowed`.

A system event is something the host did to the conversation, such as compacting the context. Its type is the source's \
own word (`data.eventType` of Vally's `system` events), compared exactly; a compaction whose source has no word for it \
is `compaction`. At least one list must be given, and a type may stand in one of them only.",
    example: "type: system-event\nconfig:\n  disallowed: [compaction]",
    taxonomy: Taxonomy::TRAJECTORY,
    profiles: &[Profile::Vally],
    schema: schema_of::<Lists>,
    build: |building| Some(Arc::new(SystemEvent(VallyNames::build(building, "system event")?))),
};

struct SystemEvent(VallyNames);

impl Grader for SystemEvent {
    fn grade(&self, subject: &Subject<'_>) -> Outcome {
        let mut seen: SortedMap<String, Vec<Evidence>> = SortedMap::new();
        for event in subject.view.events() {
            let kind = match (&event.kind, &event.label) {
                (EventKind::Compaction | EventKind::Context, Some(label)) => label.get(),
                (EventKind::Compaction, None) => "compaction".into(),
                _ => continue,
            };
            let evidence =
                subject.view.event_evidence(EvidenceRole::Context, "system event", event);
            seen.entry(kind.into_owned()).or_default().push(evidence);
        }
        self.0.judge(&seen, "system event", "seen")
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{complaints, grade, vally};
    use serde_json::json;
    use toolmark_outcome::Verdict;

    #[test]
    fn types_are_the_words_of_the_source() {
        let trace = vally(&[
            ("system", json!({"eventType": "compaction", "content": "short"})),
            ("system", json!({"eventType": "context_compaction"})),
            ("system", json!({"eventType": "model_switch"})),
            ("custom", json!({"eventType": "checkpoint"})),
        ]);
        for (config, verdict) in [
            (json!({"required": ["compaction"]}), Verdict::Pass),
            (json!({"required": ["context_compaction", "model_switch"]}), Verdict::Pass),
            (json!({"required": ["Compaction"]}), Verdict::Fail),
            (json!({"required": ["checkpoint"]}), Verdict::Fail),
            (json!({"disallowed": ["checkpoint"]}), Verdict::Pass),
            (json!({"disallowed": ["model_switch"]}), Verdict::Fail),
            (json!({"required": ["compaction"], "disallowed": ["x"]}), Verdict::Pass),
        ] {
            assert_eq!(grade("system-event", config.clone(), &trace).verdict, verdict, "{config}");
        }
    }

    #[test]
    fn repeated_events_are_listed_once() {
        let event = ("system", json!({"eventType": "compaction"}));
        let trace = vally(&[event.clone(), event]);
        let outcome = grade("system-event", json!({"required": ["compaction"]}), &trace);
        assert_eq!(outcome.metrics["seen"], json!(["compaction"]));
        assert_eq!(outcome.metrics["required"], json!(["compaction"]));
    }

    #[test]
    fn mistakes() {
        for (config, complaint) in [
            (json!({}), "the config is empty"),
            (json!({"disallowed": []}), "names no system event"),
            (json!({"required": ["a"], "disallowed": ["a"]}), "both"),
        ] {
            let said = complaints("system-event", &config).join("; ");
            assert!(said.contains(complaint), "{config}: {said}");
        }
    }
}
