//! Checks the use of skills.

use super::reading::{CheckLines, PROFILES, ReadingQuestion, count, is_agentv, number, reading};
use super::value::{self, AssertionValue, keys, wrong};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde_json::Value;
use toolmark_base::SortedSet;
use toolmark_config::{Node, NodeKind, Problem, Spanned, quoted};
use toolmark_grade::{GraderInfo, Taxonomy, schema_of};
use toolmark_outcome::Outcome;
use toolmark_outcome::Profile;
use toolmark_outcome::Subject;
use toolmark_outcome::TrajectoryView;
use toolmark_outcome::{Evidence, EvidenceRole};
use toolmark_pattern::is_agentv_match;
use toolmark_trace::Call;

/// The skill that must or must not be used.
#[derive(Debug, Deserialize, JsonSchema)]
struct TriggerConfig {
    /// Name of the skill.
    skill: Spanned<String>,
    /// Whether the skill must be used (the default) or must not.
    #[serde(default)]
    should_trigger: Option<bool>,
}

/// The skills that must be used.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "the value has many shapes and is read by hand")]
struct UsedConfig {
    /// A skill, a list of skills, or a map with `name` or `pattern`, `min` and `max`.
    #[schemars(schema_with = "value_schema")]
    value: Node,
    /// Whether the check is inverted. For a list: none of its skills may be used.
    #[schemars(default)]
    negate: bool,
}

fn value_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "anyOf": [
            {"type": "string", "minLength": 1},
            {"type": "array", "items": {"type": "string", "minLength": 1}, "minItems": 1},
            {
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    "pattern": {"type": "string"},
                    "min": {"type": "integer", "minimum": 0},
                    "max": {"type": "integer", "minimum": 0},
                },
                "additionalProperties": false,
            },
        ]
    })
}

pub(crate) static SKILL_TRIGGER: GraderInfo = GraderInfo {
    id: "skill-trigger",
    aliases: &["skill_trigger"],
    origin: "agentv",
    summary: "checks whether a skill was used",
    docs: "Passes if the skill was used, or with `should_trigger: false` if it was not. The score is 1 or 0.

A skill is used by a call of the tool `skill` that names it (with or without a plugin before a colon), by reading a file under `skills/<name>/`, or where the trace itself says so. Calls that failed do not count, unless the skill is to be left alone.

AgentV's readings take a part of a name for the name, and take every output that mentions `skills/<name>/` for a use.",
    example: "type: skill-trigger\nconfig:\n  skill: pdf",
    taxonomy: Taxonomy::TRAJECTORY,
    profiles: PROFILES,
    schema: schema_of::<TriggerConfig>,
    build: |building| {
        let config = building.read::<TriggerConfig>()?;
        if config.skill.value.is_empty() {
            building.reject(config.skill.span, "empty-text", "the name of a skill is needed");
            return None;
        }
        let wanted = config.should_trigger != Some(false);
        reading(building, Trigger { skill: config.skill.value, wanted })
    },
};

pub(crate) static SKILL_USED: GraderInfo = GraderInfo {
    id: "skill-used",
    aliases: &[],
    origin: "agentv",
    summary: "checks whether skills were used, and how often",
    docs: "Passes if the skill was used. `value` is a skill, a list of skills that must all be used, or a map with `name` or `pattern` (`*`, `?`) and how often: at least `min` and at most `max` times. Without `min` it is 1, or 0 where there is a `max`. `negate: true` (or `not-` before the type) asks that none is used.

`skill-trigger` defines a use. Names are compared whole; only `pattern` takes them in any case.",
    example: "type: skill-used\nconfig:\n  value: [pdf, forms]",
    taxonomy: Taxonomy::TRAJECTORY,
    profiles: PROFILES,
    schema: schema_of::<UsedConfig>,
    build: |building| value::build(building, read_used),
};

/// A use of a skill: a call, or text in the trace.
struct Use {
    name: String,
    evidence: Evidence,
}

/// Returns the first argument among `keys` that is present, as text.
fn argument(call: &Call, keys: &[&str]) -> Option<String> {
    let args = call.args.as_ref()?.parsed()?;
    let value = keys.iter().find_map(|key| args.get(key).filter(|value| !value.is_null()))?;
    Some(match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    })
}

/// Returns the skill to which a path belongs: `pdf` for `x/skills/pdf/SKILL.md`.
fn skill_of_path(path: &str) -> Option<&str> {
    let (_, rest) = path.rsplit_once("skills/")?;
    let (name, _) = rest.split_once('/')?;
    (!name.is_empty()).then_some(name)
}

const PATHS: &[&str] = &["file_path", "path", "filePath", "file", "filename"];

/// Returns the uses of skills in a trace. With `done`, failed calls and the uses that
/// a reader derived from them are skipped.
fn uses(view: &TrajectoryView<'_>, done: bool) -> Vec<Use> {
    let mut uses = Vec::new();
    let place = |at| {
        let place = view.place(at);
        (place.file, place.byte)
    };
    let failed = view.calls().iter().filter(|seen| done && seen.call.status.is_error());
    let failed: SortedSet<_> = failed.map(|seen| place(&seen.call.at)).collect();
    for seen in view.calls() {
        if done && seen.call.status.is_error() {
            continue;
        }
        let is_skill = seen.call.name.full().eq_ignore_ascii_case("skill");
        let named =
            if is_skill { argument(seen.call, &["skill", "name", "command"]) } else { None };
        let read = || argument(seen.call, PATHS).and_then(|p| skill_of_path(&p).map(str::to_owned));
        if let Some(name) = named.or_else(read) {
            let evidence = view.evidence(EvidenceRole::Matched, format!("skill {name}"), *seen);
            uses.push(Use { name, evidence });
        }
    }
    for (event, name) in view.skills() {
        if !failed.is_empty() && failed.contains(&place(&event.at)) {
            continue;
        }
        // The same use may stand there as a call already.
        if !uses.iter().any(|known| is_named(&known.name, &name)) {
            let evidence =
                view.event_evidence(EvidenceRole::Matched, format!("skill {name}"), event);
            uses.push(Use { name: name.into_owned(), evidence });
        }
    }
    uses
}

/// Whether `known` names this skill, with or without its plugin.
fn is_named(known: &str, name: &str) -> bool {
    known == name || known.rsplit_once(':').is_some_and(|(_, last)| last == name)
}

struct Trigger {
    skill: String,
    wanted: bool,
}

impl Trigger {
    /// Returns what AgentV treats as a use.
    fn peer(&self, view: &TrajectoryView<'_>) -> Option<Evidence> {
        let path = format!("skills/{}/", self.skill);
        for seen in view.calls() {
            let tool = seen.call.name.full().to_lowercase();
            let found = match tool.as_str() {
                "skill" => argument(seen.call, &["skill"]).is_some_and(|s| s.contains(&self.skill)),
                "read" => {
                    argument(seen.call, &["file_path", "path"]).is_some_and(|p| p.contains(&path))
                }
                _ => false,
            };
            let result = seen.call.result.as_ref().and_then(|result| result.payload.as_ref());
            if found || result.is_some_and(|result| result.raw().contains(&path)) {
                return Some(view.evidence(EvidenceRole::Matched, "the skill was used", *seen));
            }
        }
        None
    }
}

impl ReadingQuestion for Trigger {
    fn answer(&self, subject: &Subject<'_>, profile: Profile) -> Outcome {
        let view = &subject.view;
        let found = if is_agentv(profile) {
            self.peer(view)
        } else {
            let mut uses = uses(view, self.wanted).into_iter();
            uses.find(|used| is_named(&used.name, &self.skill)).map(|used| used.evidence)
        };
        let name = quoted(&self.skill);
        let reason = match &found {
            Some(_) => format!("skill {name} was used"),
            None => format!("skill {name} was not used in {}", count(view.calls().len(), "call")),
        };
        let holds = found.is_some() == self.wanted;
        let mut outcome = CheckLines::single(profile, holds, reason.clone());
        outcome.evidence.push(match found {
            Some(evidence) if holds => evidence,
            Some(evidence) => Evidence { role: EvidenceRole::Violation, ..evidence },
            None => Evidence::absence(reason),
        });
        outcome
    }
}

enum Used {
    All {
        skills: Vec<String>,
        negate: bool,
    },
    Counted {
        name: Option<String>,
        pattern: Option<String>,
        min: f64,
        max: Option<f64>,
        negate: bool,
    },
}

fn read_used(asked: &AssertionValue<'_>, _: Profile, problems: &mut Vec<Problem>) -> Option<Used> {
    let (node, negate) = (asked.value, asked.negate);
    let name =
        |node: &Node| node.as_str().map(str::trim).filter(|n| !n.is_empty()).map(str::to_owned);
    match &node.kind {
        NodeKind::Text(_) | NodeKind::List(_) => {
            let items: Vec<&Node> =
                node.as_list().map_or_else(|| vec![node], |l| l.iter().collect());
            let skills: Vec<String> = items.iter().filter_map(|item| name(item)).collect();
            if skills.is_empty() || skills.len() != items.len() {
                problems.push(wrong(node, "expected one or more names of skills"));
            }
            Some(Used::All { skills, negate })
        }
        NodeKind::Map(_) => {
            keys(node, &["name", "pattern", "min", "max"], problems);
            let text = |key: &str| node.get(key).and_then(name);
            let (named, pattern) = (text("name"), text("pattern"));
            if named.is_none() && pattern.is_none() {
                problems.push(wrong(node, "a name or a pattern is needed"));
            }
            let mut bound = |key: &str| {
                let bound = node.get(key)?;
                if bound.as_u64().is_none() {
                    problems
                        .push(wrong(bound, format!("{key} must be a whole number of 0 or more")));
                }
                bound.as_f64()
            };
            let (min, max) = (bound("min"), bound("max"));
            if negate && (min.is_some() || max.is_some_and(|max| max != 0.0)) {
                problems.push(wrong(node, "the opposite takes no counts but max: 0"));
            }
            if let (Some(min), Some(max)) = (min, max)
                && max < min
            {
                problems.push(wrong(node, "max is below min"));
            }
            let min = min.unwrap_or(if max.is_some() { 0.0 } else { 1.0 });
            Some(Used::Counted { name: named, pattern, min, max, negate })
        }
        _ => {
            let found = node.word();
            problems.push(wrong(node, format!("expected a skill, a list or a map, found {found}")));
            None
        }
    }
}

impl ReadingQuestion for Used {
    fn answer(&self, subject: &Subject<'_>, profile: Profile) -> Outcome {
        let view = &subject.view;
        match self {
            Self::All { skills, negate } => {
                let uses = uses(view, !negate);
                let mut lines = CheckLines::default();
                let mut evidence = Vec::new();
                for skill in skills {
                    let found = uses.iter().find(|used| is_named(&used.name, skill));
                    let not = if found.is_some() { "" } else { " not" };
                    let text = format!("skill {} was{not} used", quoted(skill));
                    lines.add(found.is_some() != *negate, || text.clone());
                    if evidence.len() < 20 {
                        let shown = found.map(|used| used.evidence.clone());
                        evidence.push(shown.unwrap_or_else(|| Evidence::absence(text)));
                    }
                }
                let (hits, all) = (lines.hits, skills.len());
                let word = if *negate { "left alone" } else { "used" };
                let reason = format!("{hits} of {} {word}", count(all, "skill"));
                let score = f64::from(u8::from(hits == all));
                lines.outcome(profile, score, 1, reason).with_evidence(evidence)
            }
            Self::Counted { name, pattern, min, max, negate } => {
                // Where there is a most, every use counts towards it.
                let uses = uses(view, !negate && max.is_none());
                let fits = |used: &&Use| {
                    name.as_ref().is_none_or(|name| is_named(&used.name, name))
                        && pattern.as_ref().is_none_or(|glob| is_agentv_match(glob, &used.name))
                };
                let found: Vec<&Use> = uses.iter().filter(fits).collect();
                let n = found.len() as f64;
                let label = pattern.as_ref().or(name.as_ref()).map_or("*", String::as_str);
                let (holds, asked) = match (negate, max) {
                    (true, _) => (found.is_empty(), "none".to_owned()),
                    (false, None) => (n >= *min, format!("at least {}", number(*min))),
                    (false, Some(max)) => {
                        (n >= *min && n <= *max, format!("{} to {}", number(*min), number(*max)))
                    }
                };
                let times = count(found.len(), "time");
                let reason = format!("skill {label} used {times}, {asked} asked for");
                let evidence = found.iter().take(20).map(|used| used.evidence.clone());
                CheckLines::single(profile, holds, reason).with_evidence(evidence)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{agentv, complaints, grade, grade_as};
    use serde_json::{Value, json};
    use toolmark_outcome::Profile;
    use toolmark_outcome::Verdict::{Fail, Pass};

    #[test]
    fn what_a_use_is() {
        // (calls, toolmark, AgentV)
        for (calls, ours, theirs) in [
            (json!([{"tool": "Skill", "input": {"skill": "pdf"}}]), Pass, Pass),
            (json!([{"tool": "skill", "input": {"skill": "plug:pdf"}}]), Pass, Pass),
            (json!([{"tool": "skill", "input": {"skill": "plug:pdf-tools"}}]), Fail, Pass),
            (
                json!([{"tool": "Read", "input": {"file_path": "/x/skills/pdf/SKILL.md"}}]),
                Pass,
                Pass,
            ),
            (json!([{"tool": "Read", "input": {"path": "skills/pdfs/a"}}]), Fail, Fail),
            (json!([{"tool": "Bash", "input": {}, "output": "skills/pdf/SKILL.md"}]), Fail, Pass),
            (json!([{"tool": "Skill", "input": {"skill": "pdf"}, "status": "error"}]), Fail, Pass),
            (json!([{"tool": "Bash", "input": {"command": "pdf"}}]), Fail, Fail),
            (json!([]), Fail, Fail),
        ] {
            let made = agentv(calls.clone());
            let config = json!({"skill": "pdf"});
            assert_eq!(grade("skill-trigger", config.clone(), &made).verdict, ours, "{calls}");
            let outcome = grade_as("skill-trigger", Profile::AgentV2, config, &made);
            assert_eq!(outcome.verdict, theirs, "{calls}");
        }
        let failed =
            agentv(json!([{"tool": "Skill", "input": {"skill": "pdf"}, "status": "error"}]));
        let config = json!({"skill": "pdf", "should_trigger": false});
        assert_eq!(grade("skill-trigger", config.clone(), &failed).verdict, Fail);
        assert_eq!(grade("skill-trigger", config, &agentv(json!([]))).verdict, Pass);
    }

    /// A reader that detects a skill in a call also detects it in a failed one.
    #[test]
    fn a_failed_call_is_no_use_whatever_the_host_calls_it() {
        let trace = |status: &str| {
            format!(
                r#"{{"type":"init","timestamp":"2026-01-30T06:15:57Z","session_id":"s","model":"m"}}
{{"type":"tool_use","timestamp":"2026-01-30T06:16:00Z","tool_name":"activate_skill","tool_id":"t","parameters":{{"name":"pdf"}}}}
{{"type":"tool_result","timestamp":"2026-01-30T06:16:01Z","tool_id":"t","status":"{status}","output":"x"}}
"#
            )
        };
        for (status, verdict) in [("success", Pass), ("error", Fail)] {
            let made = trace(status);
            assert_eq!(grade("skill-used", json!({"value": "pdf"}), &made).verdict, verdict);
            assert_eq!(grade("skill-trigger", json!({"skill": "pdf"}), &made).verdict, verdict);
        }
    }

    #[test]
    fn lists_and_counts() {
        let made = agentv(json!([
            {"tool": "Skill", "input": {"skill": "pdf"}}, {"tool": "Skill", "input": {"skill": "docx"}},
        ]));
        for (value, negate, verdict) in [
            (json!("pdf"), false, Pass),
            (json!(["pdf", "docx"]), false, Pass),
            (json!(["pdf", "xlsx"]), false, Fail),
            (json!(["pdf", "xlsx"]), true, Fail),
            (json!(["csv", "xlsx"]), true, Pass),
            (json!({"pattern": "*D*", "min": 2}), false, Pass),
            (json!({"name": "pdf", "max": 0}), false, Fail),
            (json!({"name": "xlsx", "max": 0}), false, Pass),
            (json!({"name": "xlsx"}), true, Pass),
        ] {
            let config: Value = json!({"value": value, "negate": negate});
            assert_eq!(grade("skill-used", config.clone(), &made).verdict, verdict, "{config}");
        }
    }

    #[test]
    fn mistakes() {
        for (id, config, complaint) in [
            ("skill-trigger", json!({}), "skill"),
            ("skill-trigger", json!({"skill": ""}), "name of a skill"),
            ("skill-used", json!({"value": []}), "one or more"),
            ("skill-used", json!({"value": {"min": 1}}), "name or a pattern"),
            ("skill-used", json!({"value": {"name": "a", "min": 2, "max": 1}}), "below min"),
            ("skill-used", json!({"value": {"name": "a", "min": 1}, "negate": true}), "no counts"),
        ] {
            let said = complaints(id, &config).join("; ");
            assert!(said.contains(complaint), "{id} {config}: {said}");
        }
    }
}
