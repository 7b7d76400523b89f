//! Data for titles and fixes: the counts of an issue's occurrences.

use crate::key::IssueKey;
use crate::subject::Subject;
use toolmark_base::SortedMap;

/// Facts about an issue from which its title and fix are built.
#[derive(Debug)]
pub(crate) struct IssueFacts<'f> {
    /// Key.
    pub key: &'f IssueKey,
    /// Subjects of the occurrences, the most frequent first.
    pub subjects: &'f [(Subject, u64)],
    /// Most frequent tool.
    pub tool: &'f str,
    /// Most frequent host.
    pub host: &'f str,
    /// Number of occurrences.
    pub count: u64,
    /// Remedy given by the rule.
    pub remedy: Option<&'f str>,
    /// Error of the representative.
    pub said: &'f str,
}

impl IssueFacts<'_> {
    /// Returns the subject of most occurrences, if at least half of them agree.
    #[must_use]
    pub(crate) fn main_subject(&self) -> Option<&Subject> {
        let (subject, count) = self.subjects.first()?;
        (!subject.what.is_empty() && count * 2 >= self.count).then_some(subject)
    }

    /// Returns the details of occurrences, each once, the most frequent first.
    #[must_use]
    pub(crate) fn details(&self, most: usize) -> Vec<(&str, u64)> {
        tally(self.subjects.iter().map(|(subject, count)| (&*subject.detail, *count)), most)
    }

    /// Returns the subjects of occurrences, each once, at most `most`.
    #[must_use]
    pub(crate) fn names(&self, most: usize) -> Vec<(&str, u64)> {
        tally(self.subjects.iter().map(|(subject, count)| (&*subject.what, *count)), most)
    }
}

fn tally<'n>(all: impl Iterator<Item = (&'n str, u64)>, most: usize) -> Vec<(&'n str, u64)> {
    let mut names: SortedMap<&str, u64> = SortedMap::new();
    for (name, count) in all.filter(|(name, _)| !name.is_empty()) {
        *names.entry(name).or_default() += count;
    }
    let mut names: Vec<(&str, u64)> = names.into_iter().collect();
    names.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    names.truncate(most);
    names
}
