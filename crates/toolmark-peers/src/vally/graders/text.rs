//! Eight checks of the agent's messages: the final answer or any
//! message, a substring or a regular expression, present or absent.

use super::observed::is_vally;
use schemars::JsonSchema;
use serde::Deserialize;
use std::fmt;
use std::sync::Arc;
use toolmark_config::{Problem, Spanned};
use toolmark_grade::{Grader, GraderInfo, Taxonomy, schema_of};
use toolmark_match::Building;
use toolmark_outcome::Profile;
use toolmark_outcome::Subject;
use toolmark_outcome::TrajectoryView;
use toolmark_outcome::{Cause, Outcome};
use toolmark_outcome::{Evidence, EvidenceRole};
use toolmark_pattern::{Pattern, StepLimit};
use toolmark_trace::{EventKind, Fact};

/// A text to look for.
#[derive(Debug, Deserialize, JsonSchema)]
struct Substring {
    /// The text to look for.
    #[serde(default)]
    substring: Option<Spanned<String>>,
    /// Another name for `substring`.
    #[serde(default)]
    value: Option<Spanned<String>>,
    /// Whether letter case matters. False by default.
    #[serde(default)]
    case_sensitive: bool,
    /// Whether the text must be absent.
    #[serde(default)]
    negate: Option<Spanned<bool>>,
}

/// A regular expression to look for.
#[derive(Debug, Deserialize, JsonSchema)]
struct Matching {
    /// A JavaScript regular expression, which may match anywhere. A leading `(?i)` ignores case.
    pattern: Spanned<String>,
    /// Whether a match must be absent.
    #[serde(default)]
    negate: Option<Spanned<bool>>,
}

/// Messages to search.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Where {
    Output,
    Transcript,
}

/// Search term.
enum Needle {
    Text { text: String, folded: Option<String> },
    Pattern(Pattern),
}

struct TextGrader {
    place: Where,
    needle: Needle,
    negate: bool,
}

macro_rules! text {
    ($static:ident, $id:literal, $summary:literal, $config:ty, $example:literal, $build:expr, $docs:literal) => {
        pub(crate) static $static: GraderInfo = GraderInfo {
            id: $id,
            aliases: &[],
            origin: "vally",
            summary: $summary,
            docs: $docs,
            example: concat!("type: ", $id, "\nconfig:\n  ", $example),
            taxonomy: Taxonomy::OUTPUT,
            profiles: &[Profile::Vally],
            schema: schema_of::<$config>,
            build: |building| {
                let build: fn(&mut Building<'_>) -> Option<TextGrader> = $build;
                Some(Arc::new(build(building)?))
            },
        };
    };
}

text!(
    OUTPUT_CONTAINS,
    "output-contains",
    "checks that the final answer contains a text",
    Substring,
    "substring: done",
    |building| substring(building, Where::Output, false),
    "Passes if the final answer contains `substring` (or `value`, another name for it).

The case of letters does not count unless `case_sensitive: true`. `negate: true` turns the question round. The final \
answer is what the source states, else the last message of the model; restricted to a turn, the last message of the turn."
);
text!(
    OUTPUT_NOT_CONTAINS,
    "output-not-contains",
    "checks that the final answer does not contain a text",
    Substring,
    "substring: sorry",
    |building| substring(building, Where::Output, true),
    "Passes if `substring` (or `value`) is absent from the final answer. The opposite of `output-contains`, with the same options \
but `negate`, which it implies."
);
text!(
    OUTPUT_MATCHES,
    "output-matches",
    "checks that the final answer matches a pattern",
    Matching,
    "pattern: (?i)all tests pass",
    |building| matching(building, Where::Output, false),
    "Passes if the final answer matches `pattern` anywhere.

A JavaScript regular expression; case counts unless it begins with `(?i)`. `negate: true` turns the question round. The \
final answer is what the source states, else the last message of the model."
);
text!(
    OUTPUT_NOT_MATCHES,
    "output-not-matches",
    "checks that the final answer does not match a pattern",
    Matching,
    "pattern: (?i)as an ai",
    |building| matching(building, Where::Output, true),
    "Passes if the final answer matches `pattern` nowhere. The opposite of `output-matches`, without `negate`, which it implies."
);
text!(
    TRANSCRIPT_CONTAINS,
    "transcript-contains",
    "checks that a message of the agent contains a text",
    Substring,
    "substring: running the tests",
    |building| substring(building, Where::Transcript, false),
    "Passes if any message of the agent contains `substring` (or `value`).

Each message is looked at by itself: a text split over two is not found. Case does not count unless \
`case_sensitive: true`."
);
text!(
    TRANSCRIPT_NOT_CONTAINS,
    "transcript-not-contains",
    "checks that no message of the agent contains a text",
    Substring,
    "substring: password",
    |building| substring(building, Where::Transcript, true),
    "Passes if `substring` (or `value`) is absent from every message of the agent.

A run in which the agent said nothing fails: the absence of words does not prove that they would have been right."
);
text!(
    TRANSCRIPT_MATCHES,
    "transcript-matches",
    "checks that a message of the agent matches a pattern",
    Matching,
    "pattern: (?i)step \\d+",
    |building| matching(building, Where::Transcript, false),
    "Passes if any message of the agent matches `pattern`. Each message is looked at by itself."
);
text!(
    TRANSCRIPT_NOT_MATCHES,
    "transcript-not-matches",
    "checks that no message of the agent matches a pattern",
    Matching,
    "pattern: (?i)i cannot",
    |building| matching(building, Where::Transcript, true),
    "Passes if no message of the agent matches `pattern`. A run in which the agent said nothing fails."
);

fn substring(building: &mut Building<'_>, place: Where, inverse: bool) -> Option<TextGrader> {
    let config = building.read::<Substring>()?;
    let negate = negated(building, config.negate, inverse);
    let text = match (config.substring, config.value) {
        (Some(_), Some(value)) => {
            let message = "value is another name for substring: give one of them";
            building.reject(value.span, "contradiction", message);
            return None;
        }
        (Some(text), None) | (None, Some(text)) => text,
        (None, None) => {
            let message = "missing key \"substring\": the text to look for";
            building.reject(building.config.span, "missing-key", message);
            return None;
        }
    };
    if text.value.is_empty() {
        building.reject(text.span, "empty-text", "every text contains the empty text");
        return None;
    }
    let folded = (!config.case_sensitive).then(|| text.value.to_lowercase());
    Some(TextGrader { place, needle: Needle::Text { text: text.value, folded }, negate: negate? })
}

fn matching(building: &mut Building<'_>, place: Where, inverse: bool) -> Option<TextGrader> {
    let config = building.read::<Matching>()?;
    let negate = negated(building, config.negate, inverse);
    let pattern = building.pattern(&config.pattern)?;
    if pattern.matches_everything() {
        let message = format!("/{pattern}/ matches every text");
        let problem = Problem::warning("pattern-matches-all", message).at(config.pattern.span);
        building.problems.push(problem);
    }
    Some(TextGrader { place, needle: Needle::Pattern(pattern), negate: negate? })
}

/// Whether the text must be absent. A type that already implies absence rejects `negate`,
/// whose meaning would be ambiguous.
fn negated(
    building: &mut Building<'_>,
    negate: Option<Spanned<bool>>,
    inverse: bool,
) -> Option<bool> {
    match negate {
        Some(negate) if inverse => {
            let message = "this type asks for absence already: leave negate out";
            building.reject(negate.span, "contradiction", message);
            None
        }
        Some(negate) => Some(negate.value),
        None => Some(inverse),
    }
}

impl Needle {
    fn is_in(&self, text: &str) -> Result<bool, StepLimit> {
        match self {
            Self::Text { text: wanted, folded: None } => Ok(text.contains(wanted)),
            Self::Text { folded: Some(wanted), .. } => Ok(text.to_lowercase().contains(wanted)),
            Self::Pattern(pattern) => pattern.is_match(text),
        }
    }
}

impl fmt::Display for Needle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text { text, .. } => write!(f, "\"{text}\""),
            Self::Pattern(pattern) => write!(f, "/{pattern}/"),
        }
    }
}

impl Grader for TextGrader {
    fn grade(&self, subject: &Subject<'_>) -> Outcome {
        let limit =
            || Outcome::unknown(Cause::Limit, format!("{} took too many steps", self.needle));
        match self.place {
            Where::Output => self.output(&subject.view).unwrap_or_else(|_| limit()),
            Where::Transcript => self.transcript(&subject.view).unwrap_or_else(|_| limit()),
        }
    }
}

impl TextGrader {
    fn output(&self, view: &TrajectoryView<'_>) -> Result<Outcome, StepLimit> {
        let output = match view.output() {
            Ok(output) => output,
            Err(missing) => return Ok(Outcome::unknown(Cause::MissingEvidence, missing.0)),
        };
        let found = self.needle.is_in(&output)?;
        let reason = match found {
            true => format!("{} found in the output", self.needle),
            false => format!("{} NOT found in the output", self.needle),
        };
        let outcome = Outcome::binary(found != self.negate, reason);
        let role = self.role(found);
        Ok(outcome.with_evidence([Evidence::words(role, "final answer").with_excerpt(&output)]))
    }

    fn transcript(&self, view: &TrajectoryView<'_>) -> Result<Outcome, StepLimit> {
        let mut said = 0;
        for (event, text) in view.messages() {
            said += 1;
            if self.needle.is_in(&text)? {
                let reason = format!("{} found in message {said}", self.needle);
                let evidence = view.event_evidence(self.role(true), "message", event);
                return Ok(Outcome::binary(!self.negate, reason).with_evidence([evidence]));
            }
        }
        if said == 0 && view.trajectory().fidelity.lacks(Fact::Messages) {
            let why = "the trace does not record what the model said";
            return Ok(Outcome::unknown(Cause::MissingEvidence, why));
        }
        if said == 0 && !spoke_without_words(view) {
            let reason = format!("{} NOT found: the agent said nothing", self.needle);
            let evidence = Evidence::absence("a message of the agent");
            return Ok(Outcome::binary(false, reason).with_evidence([evidence]));
        }
        let reason = match said {
            1 => format!("{} NOT found in the one message", self.needle),
            said => format!("{} NOT found in {said} messages", self.needle),
        };
        let outcome = Outcome::binary(self.negate, reason);
        Ok(match self.negate {
            true => outcome,
            false => outcome.with_evidence([Evidence::absence(format!("{}", self.needle))]),
        })
    }

    fn role(&self, found: bool) -> EvidenceRole {
        match (found, self.negate) {
            (true, false) => EvidenceRole::Matched,
            (true, true) => EvidenceRole::Violation,
            (false, false) => EvidenceRole::Missing,
            (false, true) => EvidenceRole::Context,
        }
    }
}

/// Whether there are messages without text. Vally records such messages too, before calls.
fn spoke_without_words(view: &TrajectoryView<'_>) -> bool {
    let is_message = |kind: &EventKind| match kind {
        EventKind::Note(record) => *record == "assistant_message",
        _ => false,
    };
    is_vally(view) && view.events().iter().any(|event| is_message(&event.kind))
}

#[cfg(test)]
mod tests {
    use crate::testing::{build, complaints, grade, runs, vally, vally_with};
    use serde_json::{Value, json};
    use toolmark_config::ProblemSeverity;
    use toolmark_outcome::Profile;
    use toolmark_outcome::{CaseContext, Environment, Subject, TrajectoryView};
    use toolmark_outcome::{Cause, Verdict};

    fn said(messages: &[&str]) -> Vec<(&'static str, Value)> {
        let turn = ("turn_start", json!({"turnId": "0"}));
        let message = |text: &&str| ("assistant_message", json!({"content": text}));
        std::iter::once(turn).chain(messages.iter().map(message)).collect()
    }

    #[test]
    fn the_output_is_searched() {
        let trace = vally_with(&said(&["Working.", "x"]), json!({"output": "All Tests pass\nbye"}));
        for (id, config, verdict) in [
            ("output-contains", json!({"substring": "tests"}), Verdict::Pass),
            ("output-contains", json!({"value": "TESTS PASS"}), Verdict::Pass),
            (
                "output-contains",
                json!({"substring": "tests", "case_sensitive": true}),
                Verdict::Fail,
            ),
            (
                "output-contains",
                json!({"substring": "Tests", "case_sensitive": true}),
                Verdict::Pass,
            ),
            ("output-contains", json!({"substring": "working"}), Verdict::Fail),
            ("output-contains", json!({"substring": "tests", "negate": true}), Verdict::Fail),
            ("output-contains", json!({"substring": "nope", "negate": true}), Verdict::Pass),
            ("output-not-contains", json!({"substring": "tests"}), Verdict::Fail),
            ("output-not-contains", json!({"value": "nope"}), Verdict::Pass),
            ("output-matches", json!({"pattern": "Tests\\s+pass"}), Verdict::Pass),
            ("output-matches", json!({"pattern": "tests"}), Verdict::Fail),
            ("output-matches", json!({"pattern": "(?i)tests"}), Verdict::Pass),
            ("output-matches", json!({"pattern": "tests", "negate": true}), Verdict::Pass),
            ("output-not-matches", json!({"pattern": "(?i)tests"}), Verdict::Fail),
            ("output-not-matches", json!({"pattern": "^pass"}), Verdict::Pass),
        ] {
            let outcome = grade(id, config.clone(), &trace);
            assert_eq!(outcome.verdict, verdict, "{id} {config}");
            assert_eq!(outcome.score, Some(f64::from(verdict == Verdict::Pass)), "{id} {config}");
        }
    }

    #[test]
    fn the_last_message_is_the_output_where_none_is_stated() {
        let trace = vally(&said(&["first", "second"]));
        let config = json!({"substring": "first"});
        assert_eq!(grade("output-contains", config, &trace).verdict, Verdict::Fail);
        let config = json!({"substring": "second"});
        let outcome = grade("output-contains", config, &trace);
        assert_eq!(outcome.verdict, Verdict::Pass);
        assert_eq!(outcome.reason, "\"second\" found in the output");
    }

    #[test]
    fn any_message_of_the_transcript_will_do() {
        let trace = vally_with(&said(&["I run the Tests.", "Done."]), json!({"output": "Done."}));
        for (id, config, verdict) in [
            ("transcript-contains", json!({"substring": "the tests"}), Verdict::Pass),
            ("transcript-contains", json!({"substring": "tests. done"}), Verdict::Fail),
            ("transcript-not-contains", json!({"value": "the tests"}), Verdict::Fail),
            ("transcript-not-contains", json!({"value": "deploy"}), Verdict::Pass),
            ("transcript-matches", json!({"pattern": "^Done"}), Verdict::Pass),
            ("transcript-matches", json!({"pattern": "^done"}), Verdict::Fail),
            ("transcript-not-matches", json!({"pattern": "Tests"}), Verdict::Fail),
            ("transcript-not-matches", json!({"pattern": "tests"}), Verdict::Pass),
        ] {
            assert_eq!(grade(id, config.clone(), &trace).verdict, verdict, "{id} {config}");
        }
    }

    #[test]
    fn saying_nothing_is_no_proof() {
        let silent = vally(&[("turn_start", json!({"turnId": "0"}))]);
        let wordless = vally(&said(&[""]));
        for (id, key) in
            [("transcript-not-contains", "value"), ("transcript-not-matches", "pattern")]
        {
            assert_eq!(grade(id, json!({key: "x"}), &silent).verdict, Verdict::Fail, "{id}");
            assert_eq!(grade(id, json!({key: "x"}), &wordless).verdict, Verdict::Pass, "{id}");
        }
        let config = json!({"substring": "x"});
        assert_eq!(grade("transcript-contains", config, &silent).verdict, Verdict::Fail);
    }

    #[test]
    fn a_turn_is_searched_by_itself() {
        let trace = vally_with(
            &[
                ("user_message", json!({"content": "a"})),
                ("turn_start", json!({"turnId": "0"})),
                ("assistant_message", json!({"content": "one"})),
                ("user_message", json!({"content": "b"})),
                ("turn_start", json!({"turnId": "1"})),
                ("assistant_message", json!({"content": "two"})),
            ],
            json!({"output": "two"}),
        );
        let runs = runs(&trace);
        for (turn, word, verdict) in
            [(0, "one", Verdict::Pass), (0, "two", Verdict::Fail), (1, "two", Verdict::Pass)]
        {
            for id in ["output-contains", "transcript-contains"] {
                let grader = build(id, Profile::Toolmark, &json!({"substring": word})).unwrap();
                let outcome = grader.grade(&Subject {
                    view: TrajectoryView::turn(&runs[0], turn).unwrap(),
                    context: &CaseContext::default(),
                    environment: &Environment::default(),
                });
                assert_eq!(outcome.verdict, verdict, "{id} {turn} {word}");
            }
        }
    }

    #[test]
    fn a_trace_without_messages_is_unknown() {
        let trace = r#"{"schema":"toolmark.trajectory.v1","fidelity_gaps":["messages"]}"#;
        for id in ["output-contains", "transcript-not-contains"] {
            let outcome = grade(id, json!({"value": "x"}), trace);
            assert_eq!(outcome.verdict, Verdict::Unknown(Cause::MissingEvidence), "{id}");
        }
    }

    #[test]
    fn a_pattern_that_matches_everything_is_warned_about() {
        let info = crate::grader_by_id("output-matches").unwrap();
        let mut problems = Vec::new();
        let config = toolmark_config::Node::from_json(&json!({"pattern": "a*"})).unwrap();
        let grader = (info.build)(&mut toolmark_match::Building {
            config: &config,
            profile: Profile::Toolmark,
            contrast: None,
            directory: std::path::Path::new("."),
            schemas: toolmark_match::call_match::compile_schema,
            problems: &mut problems,
        });
        assert!(grader.is_some());
        assert_eq!(problems[0].severity, ProblemSeverity::Warning);
    }

    #[test]
    fn mistakes() {
        for (id, config, complaint) in [
            ("output-contains", json!({}), "substring"),
            ("output-contains", json!({"substring": ""}), "empty text"),
            ("output-contains", json!({"substring": "a", "value": "b"}), "another name"),
            ("output-contains", json!({"pattern": "a"}), "unknown key"),
            ("output-not-contains", json!({"value": "a", "negate": true}), "absence already"),
            ("output-matches", json!({}), "pattern"),
            ("output-matches", json!({"pattern": "("}), "regular expression"),
            (
                "transcript-not-matches",
                json!({"pattern": "a", "negate": false}),
                "leave negate out",
            ),
        ] {
            let said = complaints(id, &config).join("; ");
            assert!(said.contains(complaint), "{id} {config}: {said}");
        }
    }
}
