//! Reading of a judge's submission, with a check against the trace.
//!
//! A submission that cannot be used gets a complaint that the judge can act on. A mark whose quotes
//! are not in the trace is discarded in the end.

use crate::materials::RedactedMaterials;
use crate::providers::Reply;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use toolmark_base::text::truncate;
use toolmark_outcome::judging::{CriterionMark, Quote, Rubric};

/// Maximum number of characters kept of a judge's own text.
const MAX_TEXT_CHARS: usize = 2000;
/// Maximum number of quotes per criterion that are looked up.
const MAX_QUOTES: usize = 20;

/// An answer as submitted, and as cached.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Submission {
    /// Entries in the order of the rubric's criteria.
    pub(crate) criteria: Vec<AnswerEntry>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) summary: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct AnswerEntry {
    pub(crate) id: String,
    pub(crate) quotes: Vec<String>,
    pub(crate) reason: String,
    pub(crate) mark: Option<f64>,
}

/// Reason why an answer cannot be used, for the judge and for the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Complaint(pub(crate) String);

fn complain<T>(words: impl Into<String>) -> Result<T, Complaint> {
    Err(Complaint(words.into()))
}

/// Reads the answer of a reply.
pub(crate) fn read(reply: &Reply, rubric: &Rubric) -> Result<Submission, Complaint> {
    if reply.is_cut {
        return complain("it was cut off at the limit of tokens; be brief.");
    }
    let values: Vec<Option<Value>> =
        reply.answers.iter().map(|answer| serde_json::from_str(answer).ok()).collect();
    match values.as_slice() {
        [] => match find_object(&reply.text) {
            Some(value) => read_value(&value, rubric),
            None => complain("nothing was submitted."),
        },
        [None, ..] => complain("what was submitted is not JSON."),
        [Some(first), rest @ ..] if rest.iter().all(|other| other.as_ref() == Some(first)) => {
            read_value(first, rubric)
        }
        _ => complain("more than one verdict was submitted, and they differ."),
    }
}

/// Finds the JSON object that a model wrote instead of submitting it.
fn find_object(text: &str) -> Option<Value> {
    let (from, to) = (text.find('{')?, text.rfind('}')?);
    serde_json::from_str(text.get(from..=to)?).ok()
}

fn read_value(value: &Value, rubric: &Rubric) -> Result<Submission, Complaint> {
    let Some(list) = value.get("criteria").and_then(Value::as_array) else {
        return complain("it has no list of criteria.");
    };
    let mut entries: BTreeMap<&str, AnswerEntry> = BTreeMap::new();
    for item in list {
        let id = item.get("id").and_then(Value::as_str).unwrap_or_default();
        let Some(criterion) = rubric.criteria.iter().find(|criterion| criterion.id == id) else {
            return complain(format!(
                "there is no criterion {:?}.",
                truncate(id.trim(), MAX_TEXT_CHARS)
            ));
        };
        let mark = match item.get("mark") {
            None => {
                return complain(format!(
                    "{id} has no mark; use null if the data does not decide."
                ));
            }
            Some(Value::Null) => None,
            Some(mark) => {
                let number = mark.as_f64().or_else(|| mark.as_str()?.trim().parse().ok());
                match number.filter(|number| rubric.scale.has(*number)) {
                    Some(number) => Some(number),
                    None => {
                        let scale = rubric.scale.word();
                        let mark = truncate(&mark.to_string(), MAX_TEXT_CHARS);
                        return complain(format!("{mark} is not a mark of the scale {scale}."));
                    }
                }
            }
        };
        let quotes = match item.get("quotes") {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::String(one)) => vec![one.clone()],
            Some(Value::Array(all)) => {
                all.iter().filter_map(Value::as_str).map(str::to_owned).take(MAX_QUOTES).collect()
            }
            Some(_) => return complain(format!("the quotes of {id} are not a list of strings.")),
        };
        let quotes = quotes.into_iter().filter(|quote| !quote.trim().is_empty()).collect();
        let reason = item
            .get("reason")
            .and_then(Value::as_str)
            .map(|text| truncate(text.trim(), MAX_TEXT_CHARS))
            .unwrap_or_default();
        let entry = AnswerEntry { id: id.to_owned(), quotes, reason, mark };
        if entries.insert(&criterion.id, entry.clone()).is_some_and(|other| other != entry) {
            return complain(format!("{id} was marked twice, with different marks."));
        }
    }
    let mut criteria = Vec::with_capacity(rubric.criteria.len());
    for criterion in &rubric.criteria {
        match entries.remove(criterion.id.as_str()) {
            Some(entry) => criteria.push(entry),
            None => return complain(format!("{} was not marked.", criterion.id)),
        }
    }
    let summary = value
        .get("summary")
        .and_then(Value::as_str)
        .map(|text| truncate(text.trim(), MAX_TEXT_CHARS))
        .unwrap_or_default();
    Ok(Submission { criteria, summary })
}

impl Submission {
    /// Returns the marks with their quotes. A mark without valid quotes is discarded.
    pub(crate) fn marks(&self, shown: &RedactedMaterials<'_>, code: &str) -> Vec<CriterionMark> {
        self.criteria.iter().map(|entry| entry.mark(shown, code)).collect()
    }

    /// Returns the problem with the quotes, if any.
    pub(crate) fn check_quotes(
        &self,
        shown: &RedactedMaterials<'_>,
        code: &str,
    ) -> Option<Complaint> {
        let wrong: Vec<String> = self
            .criteria
            .iter()
            .filter_map(|entry| Some((entry, entry.mark(shown, code).discarded?)))
            .map(|(entry, why)| format!("{}: {why}", entry.id))
            .collect();
        (!wrong.is_empty()).then(|| Complaint(format!("{}.", wrong.join("; "))))
    }
}

impl AnswerEntry {
    fn mark(&self, shown: &RedactedMaterials<'_>, code: &str) -> CriterionMark {
        let found: Vec<Result<Quote, &String>> =
            self.quotes.iter().map(|quote| shown.find(quote, code).ok_or(quote)).collect();
        let missing = found.iter().find_map(|quote| quote.as_ref().err());
        let discarded = match (self.mark, missing) {
            (None, _) => None,
            (Some(_), Some(missing)) => Some(format!(
                "the quote {:?} is not in the recording",
                truncate(missing.trim(), 80)
            )),
            (Some(_), None) if found.is_empty() => Some("nothing was quoted".to_owned()),
            (Some(_), None) => None,
        };
        CriterionMark {
            mark: if discarded.is_some() { None } else { self.mark },
            reason: self.reason.clone(),
            quotes: found.into_iter().filter_map(Result::ok).collect(),
            discarded,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::borrow::Cow;
    use toolmark_outcome::judging::{Material, Scale, TextPiece};

    fn rubric() -> Rubric {
        Rubric::of_texts(["a".to_owned(), "b".to_owned()], Scale::OneToFive)
    }

    fn reply(answers: &[Value], text: &str) -> Reply {
        let answers = answers.iter().map(Value::to_string).collect();
        Reply { answers, text: text.to_owned(), ..Reply::default() }
    }

    fn good() -> Value {
        json!({"criteria": [
            {"id": "c2", "quotes": ["the words of the trace"], "reason": "r", "mark": 4},
            {"id": "c1", "quotes": [], "reason": "", "mark": null},
        ], "summary": "fine"})
    }

    #[test]
    fn answers_come_in_many_shapes() {
        let one = read(&reply(&[good()], ""), &rubric()).unwrap();
        assert_eq!(one.criteria[1].mark, Some(4.0));
        assert_eq!(read(&reply(&[good(), good()], ""), &rubric()).unwrap(), one);
        let fenced = format!("Here you are:\n```json\n{}\n```", good());
        assert_eq!(read(&reply(&[], &fenced), &rubric()).unwrap(), one);
        let mut words = good();
        words["criteria"][0]["mark"] = json!("4");
        words["criteria"][0]["quotes"] = json!("the words of the trace");
        assert_eq!(read(&reply(&[words], ""), &rubric()).unwrap(), one);
    }

    #[test]
    fn complaints_say_what_is_wrong() {
        let changed = |change: fn(&mut Value)| {
            let mut value = good();
            change(&mut value);
            value
        };
        for (reply, want) in [
            (reply(&[], "I like it"), "nothing was submitted"),
            (Reply { answers: vec!["{\"criteria\": [".into()], ..Reply::default() }, "not JSON"),
            (reply(&[good(), changed(|v| v["summary"] = json!("x"))], ""), "more than one"),
            (reply(&[json!({"score": 5})], ""), "no list of criteria"),
            (reply(&[changed(|v| v["criteria"][0]["id"] = json!("c9"))], ""), "no criterion"),
            (
                reply(&[changed(|v| v["criteria"][0]["mark"] = json!(7))], ""),
                "not a mark of the scale",
            ),
            (reply(&[changed(|v| v["criteria"][0]["mark"] = json!(3.5))], ""), "not a mark"),
            (reply(&[changed(|v| v["criteria"][1]["id"] = json!("c2"))], ""), "twice"),
            (reply(&[json!({"criteria": []})], ""), "c1 was not marked"),
            (Reply { is_cut: true, ..reply(&[good()], "") }, "cut off"),
        ] {
            let complaint = read(&reply, &rubric()).unwrap_err();
            assert!(complaint.0.contains(want), "{want}: {}", complaint.0);
        }
    }

    #[test]
    fn a_mark_without_proof_is_discarded() {
        let materials =
            [Material::of_trace("t", vec![TextPiece::new("these are the words of the trace")])];
        let shown = RedactedMaterials::new(&materials, |_, text| Cow::Borrowed(text));
        let mut answer = read(&reply(&[good()], ""), &rubric()).unwrap();
        assert_eq!(answer.check_quotes(&shown, "c0de"), None);
        assert_eq!(answer.marks(&shown, "c0de")[1].mark, Some(4.0));
        answer.criteria[1].quotes.push("words nobody said".into());
        assert!(answer.check_quotes(&shown, "c0de").unwrap().0.contains("words nobody said"));
        let marks = answer.marks(&shown, "c0de");
        assert_eq!((marks[1].mark, marks[1].quotes.len()), (None, 1));
        answer.criteria[1].quotes.clear();
        assert!(answer.check_quotes(&shown, "c0de").unwrap().0.contains("nothing was quoted"));
    }
}
