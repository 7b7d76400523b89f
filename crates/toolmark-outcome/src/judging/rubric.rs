//! What is asked of a judge.

use super::{Scale, words};
use serde::Serialize;

/// One thing to be judged.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Criterion {
    /// Its name among the criteria of the rubric.
    pub id: String,
    /// What is asked.
    pub text: String,
    /// What the marks mean, where the rubric says so.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub anchors: Vec<(String, String)>,
    /// Its weight in the score. Not shown to the judge.
    pub weight: f64,
    /// The share it must reach, or all of it fails. Not shown to the judge.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub needs: Option<f64>,
}

impl Criterion {
    /// A criterion of weight 1 that nothing hangs on alone.
    #[must_use]
    pub fn new(id: impl Into<String>, text: impl Into<String>) -> Self {
        Self { id: id.into(), text: text.into(), anchors: Vec::new(), weight: 1.0, needs: None }
    }
}

/// What is asked of a judge.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Rubric {
    /// Its name, where it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What goes for all criteria; may be empty.
    pub instructions: String,
    /// What is judged; at least one.
    pub criteria: Vec<Criterion>,
    /// The marks.
    pub scale: Scale,
    /// Cases that were marked by hand, as a guide.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<Example>,
}

/// A case that was marked by hand.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Example {
    /// What was marked.
    pub text: String,
    /// The criteria and their marks.
    pub marks: Vec<(String, f64)>,
    /// Why; may be empty.
    pub reason: String,
}

impl Rubric {
    /// A rubric of one free text.
    #[must_use]
    pub fn of_text(text: impl Into<String>, scale: Scale) -> Self {
        let criteria = vec![Criterion::new("rubric", text)];
        Self::of_criteria(criteria, scale)
    }

    /// A rubric of these criteria, without a name, instructions or examples.
    #[must_use]
    pub fn of_criteria(criteria: Vec<Criterion>, scale: Scale) -> Self {
        Self { name: None, instructions: String::new(), criteria, scale, examples: Vec::new() }
    }

    /// How the words of the rubric contradict its scale, if they do.
    #[must_use]
    pub fn contradiction(&self) -> Option<String> {
        let texts = self.criteria.iter().map(|criterion| criterion.text.as_str());
        words::contradiction(texts.chain([self.instructions.as_str()]), self.scale)
    }

    /// A rubric of several texts.
    #[must_use]
    pub fn of_texts(texts: impl IntoIterator<Item = String>, scale: Scale) -> Self {
        let criteria = texts
            .into_iter()
            .enumerate()
            .map(|(n, text)| Criterion::new(format!("c{}", n + 1), text))
            .collect();
        Self::of_criteria(criteria, scale)
    }
}
