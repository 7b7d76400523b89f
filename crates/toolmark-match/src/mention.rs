//! Tool names and patterns that a spec mentions.

use std::sync::Arc;
use toolmark_pattern::Pattern;

/// A tool that a grader mentions.
#[derive(Clone)]
pub struct Mention {
    /// The word of the spec: a name or a pattern.
    pub word: String,
    /// Whether it is mentioned in something that must not happen, so that its absence is normal.
    pub is_prohibited: bool,
    is_named: Arc<dyn Fn(&str) -> bool + Send + Sync>,
}

impl Mention {
    /// A word, and which names it stands for.
    pub fn new(
        word: impl Into<String>,
        is_named: impl Fn(&str) -> bool + Send + Sync + 'static,
    ) -> Self {
        Self { word: word.into(), is_prohibited: false, is_named: Arc::new(is_named) }
    }

    /// Marks it as a part of something that must not happen.
    #[must_use]
    pub fn prohibited(self) -> Self {
        Self { is_prohibited: true, ..self }
    }

    /// A name that stands for itself.
    #[must_use]
    pub fn exact(name: &str) -> Self {
        let own = name.to_owned();
        Self::new(name, move |tool| tool == own)
    }

    /// A regular expression.
    #[must_use]
    pub fn pattern(pattern: &Pattern) -> Self {
        let own = pattern.clone();
        // A pattern that takes too many steps may well mean the tool.
        Self::new(pattern.source(), move |tool| own.is_match(tool).unwrap_or(true))
    }

    /// Whether it mentions this tool.
    #[must_use]
    pub fn means(&self, tool: &str) -> bool {
        (self.is_named)(tool)
    }
}
