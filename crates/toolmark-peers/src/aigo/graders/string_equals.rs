//! Checks that the answer equals a text, or begins with a choice.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::sync::Arc;
use toolmark_config::{NodeSpan, Problem, Spanned};
use toolmark_grade::{Grader, GraderInfo, Taxonomy, schema_of};
use toolmark_match::Building;
use toolmark_outcome::Profile;
use toolmark_outcome::Subject;
use toolmark_outcome::{Cause, Outcome};
use toolmark_outcome::{Evidence, EvidenceRole, excerpt};

/// A text that the answer must equal.
#[derive(Debug, Deserialize, JsonSchema)]
struct TextConfig {
    /// Expected text, compared exactly. A spec with a dataset may
    /// use a template that produces it for each row.
    ground_truth: String,
    /// Text that is compared instead of the answer.
    #[serde(default)]
    value: Option<String>,
}

/// A choice the answer must begin with.
#[derive(Debug, Deserialize, JsonSchema)]
struct ChoiceConfig {
    /// Correct choice, one character. A spec with a dataset may use a
    /// template that produces it for each row.
    ground_truth_choice: Spanned<String>,
    /// Available choices, one character each, as a list or as JSON text with one.
    choices: Spanned<Choices>,
}

/// A list, or JSON text with one.
#[derive(Debug, JsonSchema)]
#[schemars(untagged)]
enum Choices {
    /// A list of choices.
    List(Vec<String>),
    /// The list as JSON text.
    Text(String),
}

impl<'de> Deserialize<'de> for Choices {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = Choices;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a list of choices")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Choices, E> {
                Ok(Choices::Text(text.to_owned()))
            }

            fn visit_seq<A: serde::de::SeqAccess<'de>>(
                self,
                mut seq: A,
            ) -> Result<Choices, A::Error> {
                let mut list = Vec::new();
                while let Some(choice) = seq.next_element()? {
                    list.push(choice);
                }
                Ok(Choices::List(list))
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

pub(crate) static STRING_EQUALS: GraderInfo = GraderInfo {
    id: "string_equals",
    aliases: &[],
    origin: "aigo",
    summary: "checks that the final answer is exactly a text",
    docs: "\
Passes where the final answer is `ground_truth`, to the letter: case and white space count. With \
`value`, that text is compared instead. `metrics` has `is_correct`, 1 or 0, which is also the score.",
    example: "\
type: string_equals
config:
  ground_truth: Tokyo",
    taxonomy: Taxonomy::OUTPUT,
    profiles: &[Profile::AiGo],
    schema: schema_of::<TextConfig>,
    build: |building| {
        let config = building.read::<TextConfig>()?;
        Some(Arc::new(Equals {
            wanted: StringExpectation::Text(config.ground_truth),
            value: config.value,
        }))
    },
};

pub(crate) static STRING_EQUALS_MCQA: GraderInfo = GraderInfo {
    id: "string_equals_mcqa",
    aliases: &[],
    origin: "aigo",
    summary: "checks that the final answer begins with the right choice",
    docs: "\
Passes where the first character of the final answer is `ground_truth_choice`, and the answer is \
one of `choices` without doubt: the character is alone or before a character that is not a letter \
or digit. Anything else is wrong. `metrics` has `is_correct`, 1 or 0, which is also the score, and \
`completion_validity`, `VALID` or `INVALID`.",
    example: "\
type: string_equals_mcqa
config:
  ground_truth_choice: B
  choices: [A, B, C, D]",
    taxonomy: Taxonomy::OUTPUT,
    profiles: &[Profile::AiGo],
    schema: schema_of::<ChoiceConfig>,
    build: |building| {
        let config = building.read::<ChoiceConfig>()?;
        let choices = choices(&config.choices, building)?;
        let truth = config.ground_truth_choice;
        let right = single(&truth.value, truth.span, building)?;
        if !choices.contains(&right) {
            let message = format!("the right choice {right} is not among the choices");
            building.reject(truth.span, "unknown-choice", message);
            return None;
        }
        Some(Arc::new(Equals { wanted: StringExpectation::Choice { right, choices }, value: None }))
    },
};

fn choices(written: &Spanned<Choices>, building: &mut Building<'_>) -> Option<Vec<char>> {
    let parsed;
    let list = match &written.value {
        Choices::List(list) => list,
        Choices::Text(text) => match serde_json::from_str::<Vec<String>>(text) {
            Ok(list) => {
                parsed = list;
                &parsed
            }
            Err(error) => {
                let message = format!("not a list of choices in JSON: {error}");
                let problem = Problem::error("invalid-choices", message).at(written.span);
                building.problems.push(problem.help(r#"write a list: ["A", "B"]"#));
                return None;
            }
        },
    };
    list.iter().map(|choice| single(choice, written.span, building)).collect()
}

/// Returns the single character of a choice.
fn single(choice: &str, span: NodeSpan, building: &mut Building<'_>) -> Option<char> {
    let mut chars = choice.chars();
    match (chars.next(), chars.next()) {
        (Some(one), None) => Some(one),
        _ => {
            let message = format!("a choice has one character, found {}", Value::from(choice));
            building.reject(span, "invalid-choice", message);
            None
        }
    }
}

enum StringExpectation {
    Text(String),
    Choice { right: char, choices: Vec<char> },
}

struct Equals {
    wanted: StringExpectation,
    value: Option<String>,
}

impl Grader for Equals {
    fn grade(&self, subject: &Subject<'_>) -> Outcome {
        let output;
        let text: &str = match &self.value {
            Some(value) => value,
            None => match subject.view.output() {
                Ok(text) => {
                    output = text;
                    &output
                }
                Err(missing) => return Outcome::unknown(Cause::MissingEvidence, missing.0),
            },
        };
        let what = if self.value.is_some() { "the value" } else { "the answer" };
        let (holds, reason, validity) = match &self.wanted {
            StringExpectation::Text(wanted) if wanted == text => {
                (true, format!("{what} is {}", quoted(wanted)), None)
            }
            StringExpectation::Text(wanted) => {
                let near = wanted.trim().eq_ignore_ascii_case(text.trim());
                let hint = if near { " (only case or white space differ)" } else { "" };
                let (wanted, text) = (quoted(wanted), quoted(text));
                (false, format!("{what} is {text} instead of {wanted}{hint}"), None)
            }
            StringExpectation::Choice { right, choices } => match chosen(text, choices) {
                Some(choice) if choice == *right => {
                    (true, format!("the choice is {right}"), Some("VALID"))
                }
                Some(choice) => {
                    (false, format!("the choice is {choice} instead of {right}"), Some("VALID"))
                }
                None => {
                    let text = quoted(text);
                    (false, format!("the answer {text} is none of the choices"), Some("INVALID"))
                }
            },
        };
        let role = if holds { EvidenceRole::Matched } else { EvidenceRole::Mismatch };
        let mut evidence = Evidence::words(role, what).with_excerpt(text);
        if self.value.is_none()
            && let Some((event, _)) = subject.view.messages().last()
        {
            evidence = evidence.at(subject.view.place(&event.at));
        }
        let outcome = Outcome::binary(holds, reason)
            .with_metric("is_correct", f64::from(u8::from(holds)))
            .with_evidence([evidence]);
        match validity {
            Some(validity) => outcome.with_metric("completion_validity", validity),
            None => outcome,
        }
    }
}

/// Returns the choice with which an answer unambiguously begins.
fn chosen(text: &str, choices: &[char]) -> Option<char> {
    let mut chars = text.chars();
    let first = chars.next().filter(|first| choices.contains(first))?;
    chars.next().is_none_or(|next| !next.is_alphanumeric()).then_some(first)
}

fn quoted(text: &str) -> String {
    Value::from(excerpt(text)).to_string()
}

#[cfg(test)]
mod tests {
    use crate::testing::{complaints, grade};
    use serde_json::json;
    use toolmark_outcome::Verdict;

    fn answer(text: &str) -> String {
        json!([
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "?"}]},
            {"type": "message", "role": "assistant",
             "content": [{"type": "output_text", "text": text}]},
        ])
        .to_string()
    }

    #[test]
    fn texts() {
        for (config, text, holds) in [
            (json!({"ground_truth": "Tokyo"}), "Tokyo", true),
            (json!({"ground_truth": "Tokyo"}), "tokyo", false),
            (json!({"ground_truth": "Tokyo"}), "Tokyo ", false),
            (json!({"ground_truth": "x", "value": "x"}), "other", true),
            (json!({"ground_truth": ""}), "", true),
        ] {
            let outcome = grade("string_equals", config.clone(), &answer(text));
            assert_eq!(outcome.verdict, Verdict::of(holds), "{config} {text:?}");
            assert_eq!(outcome.metrics["is_correct"], if holds { 1.0 } else { 0.0 });
        }
    }

    #[test]
    fn choices() {
        for (text, holds, validity) in [
            ("B", true, "VALID"),
            ("B. Because", true, "VALID"),
            ("A", false, "VALID"),
            ("Because", false, "INVALID"),
            ("b", false, "INVALID"),
            ("", false, "INVALID"),
        ] {
            for choices in [json!(["A", "B"]), json!("[\"A\", \"B\"]")] {
                let config = json!({"ground_truth_choice": "B", "choices": choices});
                let outcome = grade("string_equals_mcqa", config, &answer(text));
                assert_eq!(outcome.verdict, Verdict::of(holds), "{text:?}");
                assert_eq!(outcome.metrics["completion_validity"], validity, "{text:?}");
            }
        }
    }

    #[test]
    fn configurations() {
        for (config, said) in [
            (
                json!({"ground_truth_choice": "yes", "choices": ["A"]}),
                r#"a choice has one character, found "yes""#,
            ),
            (
                json!({"ground_truth_choice": "C", "choices": ["A"]}),
                "the right choice C is not among the choices",
            ),
            (
                json!({"ground_truth_choice": "C", "choices": 3}),
                "expected a list of choices, found a number",
            ),
        ] {
            assert_eq!(complaints("string_equals_mcqa", &config), [said], "{config}");
        }
    }
}
