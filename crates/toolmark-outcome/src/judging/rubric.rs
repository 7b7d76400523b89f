//! Rubrics: instructions for a judge.

use super::{Scale, words};
use serde::Serialize;

/// A criterion of a rubric.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Criterion {
    /// Id of the criterion, unique in the rubric.
    pub id: String,
    /// Text of the criterion.
    pub text: String,
    /// Meaning of the marks, if the rubric defines it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub anchors: Vec<(String, String)>,
    /// Weight in the score. Not shown to the judge.
    pub weight: f64,
    /// Minimum share; the whole rubric fails below it. Not shown to the judge.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub needs: Option<f64>,
}

impl Criterion {
    /// Creates a criterion of weight 1 without a minimum share.
    #[must_use]
    pub fn new(id: impl Into<String>, text: impl Into<String>) -> Self {
        Self { id: id.into(), text: text.into(), anchors: Vec::new(), weight: 1.0, needs: None }
    }
}

/// Instructions and criteria for a judge.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Rubric {
    /// Name, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Instructions for all criteria; may be empty.
    pub instructions: String,
    /// Criteria; at least one.
    pub criteria: Vec<Criterion>,
    /// Scale of the marks.
    pub scale: Scale,
    /// Cases marked by hand, as a guide.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<RubricExample>,
}

/// A case marked by hand.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RubricExample {
    /// Text that was marked.
    pub text: String,
    /// Marks by criterion.
    pub marks: Vec<(String, f64)>,
    /// Reason; may be empty.
    pub reason: String,
}

impl Rubric {
    /// Creates a rubric from free text.
    #[must_use]
    pub fn of_text(text: impl Into<String>, scale: Scale) -> Self {
        let criteria = vec![Criterion::new("rubric", text)];
        Self::of_criteria(criteria, scale)
    }

    /// Creates a rubric from criteria, without a name, instructions or examples.
    #[must_use]
    pub fn of_criteria(criteria: Vec<Criterion>, scale: Scale) -> Self {
        Self { name: None, instructions: String::new(), criteria, scale, examples: Vec::new() }
    }

    /// Describes how the text of the rubric contradicts its scale, if it does.
    #[must_use]
    pub fn contradiction(&self) -> Option<String> {
        let texts = self.criteria.iter().map(|criterion| criterion.text.as_str());
        words::contradiction(texts.chain([self.instructions.as_str()]), self.scale)
    }

    /// Creates a rubric from several texts.
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
