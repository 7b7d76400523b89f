//! `skill-invocation`: checks that the right skills were activated, and no disallowed ones.
//!
//! Some hosts record an activation as a separate event, others only as a call
//! of a tool named `skill`. Both count, and a call with its event counts once.

use super::names::{Lists, VallyNames};
use super::observed::is_vally;
use serde_json::Value;
use std::sync::Arc;
use toolmark_base::{SortedMap, SortedSet};
use toolmark_grade::{Grader, GraderInfo, Taxonomy, schema_of};
use toolmark_outcome::Profile;
use toolmark_outcome::Subject;
use toolmark_outcome::{Contrast, Outcome};
use toolmark_outcome::{Evidence, EvidenceRole};
use toolmark_outcome::{IndexedCall, TrajectoryView};

pub(crate) static SKILL_INVOCATION: GraderInfo = GraderInfo {
    id: "skill-invocation",
    aliases: &[],
    origin: "vally",
    summary: "checks for required and forbidden skills",
    docs: "Passes if every skill in `required` was activated at least once, and none in `disallowed`.

Names are compared exactly. At least one list must be given, and a name may be in only one of them.

What counts as an activation: an event of the trace that says so, and a call of a tool named `skill` whose argument \
`skill`, `name` or `command` names it, where the trace has no event for the call. A call that failed, was refused or got \
no answer activated nothing; a note names it. With `profile: vally` only the events of a Vally trajectory count.",
    example: "type: skill-invocation\nconfig:\n  required: [pdf]\n  disallowed: [deploy]",
    taxonomy: Taxonomy::TRAJECTORY,
    profiles: &[Profile::Vally],
    schema: schema_of::<Lists>,
    build: |building| {
        let names = VallyNames::build(building, "skill")?;
        let (profile, contrast) = (building.profile, building.contrast);
        Some(Arc::new(SkillInvocation { names, profile, contrast }))
    },
};

struct SkillInvocation {
    names: VallyNames,
    profile: Profile,
    contrast: Option<Profile>,
}

impl Grader for SkillInvocation {
    fn grade(&self, subject: &Subject<'_>) -> Outcome {
        let mut outcome = self.judge(&subject.view, self.profile);
        if let Some(profile) = self.contrast {
            let other = self.judge(&subject.view, profile);
            if other.verdict != outcome.verdict {
                outcome.contrast = Some(Contrast {
                    profile,
                    verdict: other.verdict,
                    score: other.score,
                    reason: "it counts skill events only, not calls of the skill tool".into(),
                });
            }
        }
        outcome
    }
}

impl SkillInvocation {
    fn judge(&self, view: &TrajectoryView<'_>, profile: Profile) -> Outcome {
        let calls: Vec<_> =
            view.calls().iter().filter_map(|call| Some((call, named(call)?))).collect();
        let place = |at| {
            let place = view.place(at);
            (place.file, place.byte)
        };
        // Some hosts have no word for an activation: the call is its event, at one place.
        let undone_places: SortedSet<_> = calls
            .iter()
            .filter(|(call, _)| call.is_undone() && profile != Profile::Vally)
            .map(|(call, _)| place(&call.call.at))
            .collect();
        let mut seen: SortedMap<String, Vec<Evidence>> = SortedMap::new();
        for (event, name) in view.skills() {
            if !undone_places.is_empty() && undone_places.contains(&place(&event.at)) {
                continue;
            }
            let evidence = view.event_evidence(EvidenceRole::Context, "skill activated", event);
            seen.entry(name.into_owned()).or_default().push(evidence);
        }
        let mut undone = Vec::new();
        if profile != Profile::Vally || !is_vally(view) {
            let mut with_event: SortedMap<String, usize> =
                seen.iter().map(|(name, events)| (name.clone(), events.len())).collect();
            for (call, name) in calls {
                match with_event.get_mut(name) {
                    // Every call of a host that records events has one.
                    Some(left) if *left > 0 => *left -= 1,
                    _ if call.is_undone() => undone.push(name),
                    _ => {
                        let evidence =
                            view.evidence(EvidenceRole::Context, "skill tool called", *call);
                        seen.entry(name.to_owned()).or_default().push(evidence);
                    }
                }
            }
        }
        let mut outcome = self.names.judge(&seen, "skill", "activated");
        undone.sort_unstable();
        undone.dedup();
        undone.truncate(5);
        for name in undone {
            let note = format!("a call that would have activated {name} did not go through");
            outcome = outcome.with_note(note);
        }
        outcome
    }
}

/// Returns the skill that a call requests.
fn named<'a>(seen: &IndexedCall<'a>) -> Option<&'a str> {
    if !seen.call.name.canonical().tool.eq_ignore_ascii_case("skill") {
        return None;
    }
    let args = seen.call.args.as_ref()?.parsed()?;
    ["skill", "name", "command"].iter().find_map(|key| args.get(key).and_then(Value::as_str))
}

#[cfg(test)]
mod tests {
    use crate::testing::{ask, build, complaints, grade, runs, vally};
    use serde_json::{Value, json};
    use toolmark_outcome::Profile;
    use toolmark_outcome::Verdict;

    fn event(name: &str) -> (&'static str, Value) {
        ("skill_activation", json!({"name": name, "path": "x/SKILL.md"}))
    }

    fn call(id: &str, tool: &str, args: Value) -> (&'static str, Value) {
        ("tool_call", json!({"toolName": tool, "toolCallId": id, "arguments": args}))
    }

    fn result(id: &str, success: bool) -> (&'static str, Value) {
        ("tool_result", json!({"toolCallId": id, "success": success, "result": "ok"}))
    }

    #[test]
    fn names_are_exact() {
        let trace = vally(&[event("pdf"), event("pdf"), event("docx")]);
        for (config, verdict) in [
            (json!({"required": ["pdf"]}), Verdict::Pass),
            (json!({"required": ["pdf", "docx"]}), Verdict::Pass),
            (json!({"required": ["pd"]}), Verdict::Fail),
            (json!({"required": ["PDF"]}), Verdict::Fail),
            (json!({"required": ["p.f"]}), Verdict::Fail),
            (json!({"disallowed": ["xlsx"]}), Verdict::Pass),
            (json!({"disallowed": ["docx"]}), Verdict::Fail),
            (json!({"required": ["pdf"], "disallowed": ["docx"]}), Verdict::Fail),
        ] {
            let outcome = grade("skill-invocation", config.clone(), &trace);
            assert_eq!(outcome.verdict, verdict, "{config}");
            assert_eq!(outcome.score, Some(f64::from(verdict == Verdict::Pass)), "{config}");
        }
    }

    #[test]
    fn a_call_of_the_skill_tool_counts_where_there_is_no_event() {
        let config = json!({"required": ["pdf"]});
        for (trace, verdict) in [
            (
                vally(&[call("1", "skill", json!({"skill": "pdf"})), result("1", true)]),
                Verdict::Pass,
            ),
            (
                vally(&[call("1", "Skill", json!({"name": "pdf"})), result("1", true)]),
                Verdict::Pass,
            ),
            (
                vally(&[call("1", "skill", json!({"command": "pdf"})), result("1", true)]),
                Verdict::Pass,
            ),
            (
                vally(&[call("1", "skill", json!({"skill": "pdf"})), result("1", false)]),
                Verdict::Fail,
            ),
            (vally(&[call("1", "skill", json!({"skill": "pdf"}))]), Verdict::Fail),
            (
                vally(&[call("1", "skills", json!({"skill": "pdf"})), result("1", true)]),
                Verdict::Fail,
            ),
            (vally(&[call("1", "skill", json!({"skill": 7})), result("1", true)]), Verdict::Fail),
        ] {
            assert_eq!(
                grade("skill-invocation", config.clone(), &trace).verdict,
                verdict,
                "{trace}"
            );
        }
    }

    #[test]
    fn a_call_with_its_event_counts_once() {
        let trace =
            vally(&[call("1", "skill", json!({"skill": "pdf"})), result("1", true), event("pdf")]);
        let outcome = grade("skill-invocation", json!({"required": ["pdf"]}), &trace);
        assert_eq!(outcome.evidence.len(), 1);
        assert_eq!(
            outcome.parts[0].reason.as_ref().map(|text| text.raw()),
            Some("skill pdf was activated")
        );
    }

    #[test]
    fn a_call_that_is_its_own_event_counts_only_when_it_went_through() {
        for (is_error, verdict) in [(false, Verdict::Pass), (true, Verdict::Fail)] {
            let trace = format!(
                r#"{{"type":"user","uuid":"1","parentUuid":null,"sessionId":"s","message":{{"role":"user","content":"go"}}}}
{{"type":"assistant","uuid":"2","parentUuid":null,"sessionId":"s","message":{{"id":"m","role":"assistant","content":[{{"type":"tool_use","id":"t","name":"Skill","input":{{"skill":"pdf"}}}}]}}}}
{{"type":"user","uuid":"3","parentUuid":null,"sessionId":"s","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t","content":"x","is_error":{is_error}}}]}}}}"#
            );
            let outcome = grade("skill-invocation", json!({"required": ["pdf"]}), &trace);
            assert_eq!(outcome.verdict, verdict, "{outcome:?}");
        }
    }

    #[test]
    fn a_star_is_any_skill() {
        let with = vally(&[("skill_activation", json!({"name": "pdf"}))]);
        let without = vally(&[("user_message", json!({"content": "go"}))]);
        for (key, trace, verdict) in [
            ("disallowed", &with, Verdict::Fail),
            ("disallowed", &without, Verdict::Pass),
            ("required", &with, Verdict::Pass),
            ("required", &without, Verdict::Fail),
        ] {
            let outcome = grade("skill-invocation", json!({key: ["*"]}), trace);
            assert_eq!(outcome.verdict, verdict, "{key}");
        }
    }

    #[test]
    fn vally_itself_reads_events_only() {
        let trace = vally(&[call("1", "skill", json!({"skill": "pdf"})), result("1", true)]);
        let config = json!({"required": ["pdf"]});
        let grader = build("skill-invocation", Profile::Vally, &config).unwrap();
        assert_eq!(ask(&*grader, &runs(&trace)[0]).verdict, Verdict::Fail);
    }

    #[test]
    fn mistakes() {
        for (config, complaint) in [
            (json!({}), "the config is empty"),
            (json!({"required": []}), "names no skill"),
            (json!({"required": ["a"], "disallowed": ["a"]}), "both required and disallowed"),
            (json!({"required": "a"}), "list"),
            (json!({"forbidden": ["a"]}), "unknown key"),
        ] {
            let said = complaints("skill-invocation", &config).join("; ");
            assert!(said.contains(complaint), "{config}: {said}");
        }
    }
}
