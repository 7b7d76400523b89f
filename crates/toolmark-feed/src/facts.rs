//! What titles and fixes are filled from: the counts of an issue's occurrences.

use crate::key::Key;
use crate::subject::Subject;
use std::collections::BTreeMap;

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

    /// The details of occurrences, each once, the most frequent first.
    #[must_use]
    pub(crate) fn details(&self, most: usize) -> Vec<(&str, u64)> {
        tally(self.subjects.iter().map(|(subject, count)| (&*subject.detail, *count)), most)
    }

    /// What occurrences are about, each once, at most so many.
    #[must_use]
    pub(crate) fn names(&self, most: usize) -> Vec<(&str, u64)> {
        tally(self.subjects.iter().map(|(subject, count)| (&*subject.what, *count)), most)
    }
}

fn tally<'n>(all: impl Iterator<Item = (&'n str, u64)>, most: usize) -> Vec<(&'n str, u64)> {
    let mut names: BTreeMap<&str, u64> = BTreeMap::new();
    for (name, count) in all.filter(|(name, _)| !name.is_empty()) {
        *names.entry(name).or_default() += count;
    }
    let mut names: Vec<(&str, u64)> = names.into_iter().collect();
    names.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    names.truncate(most);
    names
}
