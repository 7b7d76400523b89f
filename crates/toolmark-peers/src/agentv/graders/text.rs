//! Eleven checks on the text of the final answer.

use super::reading::{CheckLines, PROFILES, ReadingQuestion, is_agentv, reading, throws};
use schemars::JsonSchema;
use serde::Deserialize;
use std::sync::Arc;
use toolmark_config::{Problem, Spanned, quoted};
use toolmark_grade::{Grader, GraderInfo, Taxonomy, schema_of};
use toolmark_match::Building;
use toolmark_outcome::Profile;
use toolmark_outcome::Subject;
use toolmark_outcome::{Cause, Outcome};
use toolmark_outcome::{Evidence, EvidenceRole};
use toolmark_pattern::{Pattern, UnitPattern};

/// A text to look for.
#[derive(Debug, Deserialize, JsonSchema)]
struct One {
    /// The text.
    value: Spanned<String>,
}

/// Texts to look for.
#[derive(Debug, Deserialize, JsonSchema)]
struct Many {
    /// The texts.
    value: Spanned<Vec<String>>,
}

/// A regular expression to look for.
#[derive(Debug, Deserialize, JsonSchema)]
struct Regex {
    /// A JavaScript regular expression.
    value: Spanned<String>,
    /// Flags of the expression, such as `i`.
    #[serde(default)]
    flags: Option<Spanned<String>>,
}

/// No configuration.
#[derive(Debug, Deserialize, JsonSchema)]
struct AgentvNoConfig {}

enum TextCheck {
    Any {
        texts: Vec<String>,
        ignore_case: bool,
    },
    All {
        texts: Vec<String>,
        ignore_case: bool,
    },
    Starts(String),
    Ends(String),
    Equals(String),
    /// The regular expression as toolmark reads it, and as AgentV does: without the `u` flag unless
    /// it is given.
    Matches {
        source: String,
        ours: Option<Pattern>,
        theirs: Option<UnitPattern>,
    },
    Json,
}

macro_rules! check {
    ($static:ident, $id:literal, $aliases:expr, $summary:literal, $config:ty, $example:literal, $docs:literal, $build:expr) => {
        pub(crate) static $static: GraderInfo = GraderInfo {
            id: $id,
            aliases: $aliases,
            origin: "agentv",
            summary: $summary,
            docs: concat!(
                $docs,
                " The score is 1 or 0. The final answer is the last text of the model. If the trace does not record the model's texts, the verdict is unknown; AgentV takes the answer as empty."
            ),
            example: concat!("type: ", $id, "\nconfig:\n", $example),
            taxonomy: Taxonomy::OUTPUT,
            profiles: PROFILES,
            schema: schema_of::<$config>,
            build: |building| {
                let config = building.read::<$config>()?;
                let check: fn($config, &mut Building<'_>) -> Option<Arc<dyn Grader>> = $build;
                check(config, building)
            },
        };
    };
}

check!(
    CONTAINS,
    "contains",
    &[],
    "checks that the final answer contains a text",
    One,
    "  value: done",
    "Passes if the final answer contains `value`. Upper and lower case differ.",
    |config, b| one(b, config, |text| TextCheck::All { texts: vec![text], ignore_case: false })
);
check!(
    CONTAINS_ANY,
    "contains-any",
    &["contains_any"],
    "checks that the final answer contains one of several texts",
    Many,
    "  value: [done, finished]",
    "Passes if the final answer contains at least one text of `value`. Upper and lower case differ.",
    |config, b| many(b, config, |texts| TextCheck::Any { texts, ignore_case: false })
);
check!(
    CONTAINS_ALL,
    "contains-all",
    &["contains_all"],
    "checks that the final answer contains all of several texts",
    Many,
    "  value: [name, date]",
    "Passes if the final answer contains every text of `value`. Upper and lower case differ.",
    |config, b| many(b, config, |texts| TextCheck::All { texts, ignore_case: false })
);
check!(
    ICONTAINS,
    "icontains",
    &[],
    "checks that the final answer contains a text, ignoring case",
    One,
    "  value: done",
    "Passes if the final answer contains `value`. Upper and lower case do not matter.",
    |config, b| one(b, config, |text| TextCheck::All { texts: vec![text], ignore_case: true })
);
check!(
    ICONTAINS_ANY,
    "icontains-any",
    &["icontains_any"],
    "checks that the final answer contains one of several texts, ignoring case",
    Many,
    "  value: [done, finished]",
    "Passes if the final answer contains at least one text of `value`. Upper and lower case do not matter.",
    |config, b| many(b, config, |texts| TextCheck::Any { texts, ignore_case: true })
);
check!(
    ICONTAINS_ALL,
    "icontains-all",
    &["icontains_all"],
    "checks that the final answer contains all of several texts, ignoring case",
    Many,
    "  value: [name, date]",
    "Passes if the final answer contains every text of `value`. Upper and lower case do not matter.",
    |config, b| many(b, config, |texts| TextCheck::All { texts, ignore_case: true })
);
check!(
    STARTS_WITH,
    "starts-with",
    &["starts_with"],
    "checks that the final answer starts with a text",
    One,
    "  value: \"Dear \"",
    "Passes if the final answer starts with `value`, white space around both left out.",
    |config, b| one(b, config, TextCheck::Starts)
);
check!(
    ENDS_WITH,
    "ends-with",
    &["ends_with"],
    "checks that the final answer ends with a text",
    One,
    "  value: Yours",
    "Passes if the final answer ends with `value`, white space around both left out.",
    |config, b| one(b, config, TextCheck::Ends)
);
check!(
    EQUALS,
    "equals",
    &[],
    "checks that the final answer equals a text",
    One,
    "  value: \"42\"",
    "Passes if the final answer is `value`, white space around both left out.",
    |config, b| one(b, config, TextCheck::Equals)
);
check!(
    REGEX,
    "regex",
    &[],
    "checks that the final answer matches a regular expression",
    Regex,
    "  value: \"order [0-9]+\"\n  flags: i",
    "Passes if the final answer matches the JavaScript regular expression `value`, with `flags`.",
    regex
);
check!(
    IS_JSON,
    "is-json",
    &["is_json"],
    "checks that the final answer is JSON",
    AgentvNoConfig,
    "  {}",
    "Passes if the final answer is JSON, and nothing else.",
    |_, b| reading(b, TextCheck::Json)
);

fn one(
    building: &mut Building<'_>,
    config: One,
    check: impl FnOnce(String) -> TextCheck,
) -> Option<Arc<dyn Grader>> {
    if config.value.value.is_empty() {
        building.reject(config.value.span, "empty-text", "an empty text is in every answer");
        return None;
    }
    reading(building, check(config.value.value))
}

fn many(
    building: &mut Building<'_>,
    config: Many,
    check: impl FnOnce(Vec<String>) -> TextCheck,
) -> Option<Arc<dyn Grader>> {
    if config.value.value.is_empty() {
        building.reject(config.value.span, "empty-list", "one text at least is needed");
        return None;
    }
    reading(building, check(config.value.value))
}

fn regex(config: Regex, building: &mut Building<'_>) -> Option<Arc<dyn Grader>> {
    if config.value.value.is_empty() {
        let message = "an empty pattern matches every answer";
        building.reject(config.value.span, "empty-text", message);
        return None;
    }
    let mut kept = String::new();
    let mut problem = None;
    if let Some(flags) = &config.flags {
        for flag in flags.value.chars() {
            match flag {
                'i' | 'm' | 's' if !kept.contains(flag) => kept.push(flag),
                // They say how often or how matches are reported, or are always on.
                'd' | 'g' | 'u' | 'v' => {}
                _ => {
                    let message = format!("unknown flags {}", quoted(&flags.value));
                    problem = Some(Problem::error("invalid-flags", message).at(flags.span));
                }
            }
        }
    }
    let source = &config.value.value;
    let in_units = !config.flags.as_ref().is_some_and(|flags| flags.value.contains(['u', 'v']));
    let ours = Pattern::with_flags(source, &kept);
    let theirs = in_units.then(|| UnitPattern::with_flags(source, &kept));
    let wrong = match (&ours, &theirs) {
        (_, Some(theirs)) if is_agentv(building.profile) => theirs.as_ref().err().cloned(),
        (ours, _) => ours.as_ref().err().cloned(),
    };
    match (problem, wrong) {
        (None, None) => {
            let theirs = theirs.and_then(Result::ok);
            let source = source.clone();
            reading(building, TextCheck::Matches { source, ours: ours.ok(), theirs })
        }
        (problem, wrong) => {
            let problem = problem.unwrap_or_else(|| {
                let why = wrong.map(|error| error.message).unwrap_or_default();
                let message = format!("not a regular expression: {why}");
                Problem::error("invalid-pattern", message).at(config.value.span)
            });
            if is_agentv(building.profile) {
                let message = problem.message.clone();
                return throws(building, problem, message);
            }
            building.problems.push(problem);
            None
        }
    }
}

impl ReadingQuestion for TextCheck {
    fn answer(&self, subject: &Subject<'_>, profile: Profile) -> Outcome {
        let output = match subject.view.output() {
            Ok(output) => output,
            Err(_) if is_agentv(profile) => "".into(),
            Err(missing) => return Outcome::unknown(Cause::MissingEvidence, missing.0),
        };
        let found = |texts: &[String], ignore_case: bool| -> Vec<bool> {
            if !ignore_case {
                return texts.iter().map(|text| output.contains(text.as_str())).collect();
            }
            let lower = output.to_lowercase();
            texts.iter().map(|text| lower.contains(&text.to_lowercase())).collect()
        };
        let answer = |holds: bool, what: String| {
            let word = if holds { "the answer" } else { "the answer does not" };
            (holds, format!("{word} {what}"))
        };
        let (holds, reason) = match self {
            Self::Any { texts, ignore_case } => {
                match found(texts, *ignore_case).iter().position(|found| *found) {
                    Some(first) => (true, format!("the answer contains {}", quoted(&texts[first]))),
                    None => (false, format!("the answer contains none of {}", listed(texts))),
                }
            }
            Self::All { texts, ignore_case } => {
                let found = found(texts, *ignore_case);
                let missing: Vec<String> =
                    texts.iter().zip(found).filter(|(_, f)| !f).map(|(t, _)| t.clone()).collect();
                match missing.is_empty() {
                    true => (true, format!("the answer contains {}", listed(texts))),
                    false => (false, format!("the answer does not contain {}", listed(&missing))),
                }
            }
            Self::Starts(text) => answer(
                output.trim().starts_with(text.trim()),
                format!("start with {}", quoted(text)),
            ),
            Self::Ends(text) => {
                answer(output.trim().ends_with(text.trim()), format!("end with {}", quoted(text)))
            }
            Self::Equals(text) => {
                let holds = output.trim() == text.trim();
                (
                    holds,
                    format!("the answer is{} {}", if holds { "" } else { " not" }, quoted(text)),
                )
            }
            Self::Matches { source, ours, theirs } => {
                let found = match (theirs, ours) {
                    (Some(theirs), _) if is_agentv(profile) => theirs.is_match(&output),
                    (_, Some(ours)) => ours.is_match(&output),
                    (Some(theirs), None) => theirs.is_match(&output),
                    (None, None) => Ok(false),
                };
                match found {
                    Ok(holds) => answer(holds, format!("match /{source}/")),
                    Err(_) => {
                        let why = format!("/{source}/ took too many steps on the answer");
                        return Outcome::unknown(Cause::Limit, why);
                    }
                }
            }
            Self::Json => {
                let holds = serde_json::from_str::<serde::de::IgnoredAny>(&output).is_ok();
                (holds, format!("the answer is{} JSON", if holds { "" } else { " not" }))
            }
        };
        let role = if holds { EvidenceRole::Matched } else { EvidenceRole::Mismatch };
        let evidence = match subject.view.messages().last() {
            Some((event, _)) => subject.view.event_evidence(role, "the final answer", event),
            None => Evidence::words(role, "the final answer").with_excerpt(&output),
        };
        CheckLines::single(profile, holds, reason).with_evidence([evidence])
    }
}

fn listed(texts: &[String]) -> String {
    let shown: Vec<String> = texts.iter().take(10).map(|text| quoted(text)).collect();
    let more = texts.len().saturating_sub(10);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", shown.join(", "))
}

#[cfg(test)]
mod tests {
    use crate::testing::{complaints, grade, grade_as};
    use serde_json::json;
    use toolmark_outcome::Profile;
    use toolmark_outcome::Verdict;

    fn said(words: &str) -> String {
        json!({"id": "t", "output_messages": [
            {"role": "assistant", "content": "first"},
            {"role": "assistant", "content": words, "tool_calls": [{"tool": "a"}]},
        ]})
        .to_string()
    }

    #[test]
    fn agentv_has_no_u_flag_unless_it_is_given() {
        let (pass, fail) = (Verdict::Pass, Verdict::Fail);
        for (pattern, flags, text, ours, theirs) in [
            (r"^\p{L}+$", "", "abc", pass, fail),
            (r"^\p{L}+$", "u", "abc", pass, pass),
            (r"\u{61}", "", "a", pass, fail),
            ("^.$", "", "\u{1F600}", pass, fail),
            ("^..$", "", "\u{1F600}", fail, pass),
        ] {
            let config = json!({"value": pattern, "flags": flags});
            let outcome = grade("regex", config.clone(), &said(text));
            assert_eq!(outcome.verdict, ours, "{config}");
            let outcome = grade_as("regex", Profile::AgentV5, config.clone(), &said(text));
            assert_eq!(outcome.verdict, theirs, "{config}");
        }
    }

    #[test]
    fn checks_on_the_answer() {
        for (id, config, words, holds) in [
            ("contains", json!({"value": "Done"}), "All Done.", true),
            ("contains", json!({"value": "done"}), "All Done.", false),
            ("contains", json!({"value": "first"}), "All Done.", false),
            ("icontains", json!({"value": "done"}), "All DONE.", true),
            ("contains-any", json!({"value": ["x", "Done"]}), "All Done.", true),
            ("contains_any", json!({"value": ["x", "y"]}), "All Done.", false),
            ("contains-all", json!({"value": ["All", "Done"]}), "All Done.", true),
            ("contains-all", json!({"value": ["All", "done"]}), "All Done.", false),
            ("icontains-all", json!({"value": ["ALL", "done"]}), "All Done.", true),
            ("icontains-any", json!({"value": ["x", "DONE"]}), "All Done.", true),
            ("starts-with", json!({"value": "All "}), "  All Done.", true),
            ("starts-with", json!({"value": "Done"}), "All Done.", false),
            ("ends-with", json!({"value": "Done."}), "All Done.\n", true),
            ("equals", json!({"value": " All Done. "}), "All Done.\n", true),
            ("equals", json!({"value": "all done."}), "All Done.", false),
            ("regex", json!({"value": "d[o0]ne"}), "All Done.", false),
            ("regex", json!({"value": "d[o0]ne", "flags": "gi"}), "All Done.", true),
            ("regex", json!({"value": "^Done", "flags": "m"}), "All\nDone", true),
            ("is-json", json!({}), "{\"a\": [1]}", true),
            ("is-json", json!({}), "{\"a\": [1]} ok", false),
        ] {
            let outcome = grade(id, config.clone(), &said(words));
            assert_eq!(outcome.verdict, Verdict::of(holds), "{id} {config} {words:?}");
            assert_eq!(outcome.evidence.len(), 1);
        }
    }

    #[test]
    fn mistakes() {
        for (id, config, complaint) in [
            ("contains", json!({"value": ""}), "empty text"),
            ("contains", json!({"value": ["a"]}), "text"),
            ("contains-any", json!({"value": []}), "one text"),
            ("contains-all", json!({"value": ["a", 1]}), "text"),
            ("regex", json!({"value": "("}), "regular expression"),
            ("regex", json!({"value": "a", "flags": "x"}), "unknown flags"),
            ("is-json", json!({"value": {}}), "unknown key"),
        ] {
            let said = complaints(id, &config).join("; ");
            assert!(said.contains(complaint), "{id} {config}: {said}");
        }
        let outcome = grade_as("regex", Profile::AgentV2, json!({"value": "("}), &said("x"));
        assert_eq!((outcome.score, &outcome.metrics["error"]), (Some(0.0), &json!(true)));
    }
}
