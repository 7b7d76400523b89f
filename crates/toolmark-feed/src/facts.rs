//! What titles and fixes are filled from: the counts of an issue's occurrences.

use crate::key::Key;
use crate::subject::Subject;

/// What is known of an issue when its title and its fix are written.
#[derive(Debug)]
pub(crate) struct Facts<'f> {
    /// Its key.
    pub key: &'f Key,
    /// What its occurrences are about, the most frequent first.
    pub subjects: &'f [(Subject, u64)],
    /// The tool, the most frequent one.
    pub tool: &'f str,
    /// The host, the most frequent one.
    pub host: &'f str,
    /// How often it occurred.
    pub count: u64,
    /// What the rule says to do.
    pub remedy: Option<&'f str>,
    /// The kind of finding: a program, the class of an error.
    pub bucket: Option<&'f str>,
    /// The error of the representative.
    pub said: &'f str,
}

impl Facts<'_> {
    /// What most occurrences are about, where at least half of them agree.
    #[must_use]
    pub(crate) fn main_subject(&self) -> Option<&Subject> {
        let (subject, count) = self.subjects.first()?;
        (!subject.what.is_empty() && count * 2 >= self.count).then_some(subject)
    }

    /// What occurrences are about, each once, at most so many.
    #[must_use]
    pub(crate) fn names(&self, most: usize) -> Vec<(&str, u64)> {
        let mut names: Vec<(&str, u64)> = Vec::new();
        for (subject, count) in self.subjects.iter().filter(|(s, _)| !s.what.is_empty()) {
            match names.iter_mut().find(|(name, _)| *name == subject.what) {
                Some((_, sum)) => *sum += count,
                None => names.push((&subject.what, *count)),
            }
        }
        names.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
        names.truncate(most);
        names
    }
}
