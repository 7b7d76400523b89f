//! JavaScript regular expressions.
use std::fmt;
use std::ops::Range;

/// A compiled pattern.
#[derive(Debug, Clone)]
pub struct Pattern {
    source: String,
    regex: regex::Regex,
}
/// What is wrong with a pattern.
#[derive(Debug, Clone)]
pub struct PatternError {
    /// In words.
    pub message: String,
    /// The byte in the pattern.
    pub offset: usize,
    /// What to do.
    pub hint: Option<String>,
}
/// It took too many steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StepLimit;
impl Pattern {
    /// Compiles.
    pub fn new(source: &str) -> Result<Self, PatternError> {
        let regex = regex::Regex::new(source).map_err(|e| PatternError {
            message: e.to_string(),
            offset: 0,
            hint: None,
        })?;
        Ok(Self { source: source.into(), regex })
    }
    /// Does it match?
    pub fn is_match(&self, text: &str) -> Result<bool, StepLimit> {
        Ok(self.regex.is_match(text))
    }
    /// The first match.
    pub fn find(&self, text: &str) -> Result<Option<Range<usize>>, StepLimit> {
        Ok(self.regex.find(text).map(|m| m.range()))
    }
    /// The groups of the first match.
    pub fn captures(&self, text: &str) -> Result<Option<Vec<Option<Range<usize>>>>, StepLimit> {
        Ok(self.regex.captures(text).map(|c| c.iter().map(|m| m.map(|m| m.range())).collect()))
    }
    /// Does it match the empty text?
    #[must_use]
    pub fn matches_empty(&self) -> bool {
        self.regex.is_match("")
    }
    /// As written.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }
}
impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.source)
    }
}
