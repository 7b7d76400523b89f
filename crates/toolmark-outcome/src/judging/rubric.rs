//! What is asked of a judge.

use super::Scale;
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
}

impl Rubric {
    /// A rubric of one free text.
    #[must_use]
    pub fn of_text(text: impl Into<String>, scale: Scale) -> Self {
        let criteria = vec![Criterion::new("rubric", text)];
        Self { name: None, instructions: String::new(), criteria, scale }
    }

    /// A rubric of several texts.
    #[must_use]
    pub fn of_texts(texts: impl IntoIterator<Item = String>, scale: Scale) -> Self {
        let criteria = texts
            .into_iter()
            .enumerate()
            .map(|(n, text)| Criterion::new(format!("c{}", n + 1), text))
            .collect();
        Self { name: None, instructions: String::new(), criteria, scale }
    }
}
