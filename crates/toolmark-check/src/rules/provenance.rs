//! Files that carry something from one call to a later one: a secret, or a
//! download. Only a call whose text names such a file is analyzed again.

use std::collections::BTreeMap;
use toolmark_redact::{Proof, secrets};
use toolmark_session::session::{Ended, Session, SessionCall};
use toolmark_shell::Analysis;

/// So many files are followed.
const MOST: usize = 64;

/// What is followed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Marked {
    Secret,
    Download,
}

/// The files that carry it, each with the call that made it so.
pub(super) struct Provenance {
    marked: Marked,
    files: BTreeMap<String, usize>,
}

impl Provenance {
    pub(super) fn new(marked: Marked) -> Self {
        Self { marked, files: BTreeMap::new() }
    }

    /// Remembers the files a call marks.
    pub(super) fn note(&mut self, call: &SessionCall<'_>, analysis: &Analysis) {
        if call.ended == Ended::Failed {
            return;
        }
        let written = || {
            let holds = |content: &str| !secrets(content, Proof::Certain, 1).is_empty();
            call.path.clone().filter(|_| call.content().is_some_and(holds))
        };
        let own = if self.marked == Marked::Secret { written() } else { None };
        let files = match self.marked {
            Marked::Secret => &analysis.copies,
            Marked::Download => &analysis.downloads,
        };
        for file in files.iter().chain(own.iter()) {
            if self.files.len() < MOST {
                self.files.entry(file.clone()).or_insert(call.index);
            }
        }
    }

    /// The files a call's command names.
    fn named(&self, call: &SessionCall<'_>) -> Vec<(&String, usize)> {
        let Some(command) = call.command().filter(|_| !self.files.is_empty()) else {
            return Vec::new();
        };
        let is_named = |file: &&String| {
            file.rsplit('/').next().is_some_and(|name| !name.is_empty() && command.contains(name))
        };
        self.files.iter().map(|(file, call)| (file, *call)).filter(|(f, _)| is_named(f)).collect()
    }

    /// The analysis of a call that names such a file, knowing what is in it.
    pub(super) fn analyze_again(&self, call: &SessionCall<'_>) -> Option<Analysis> {
        let files: Vec<String> = self.named(call).into_iter().map(|(f, _)| f.clone()).collect();
        match self.marked {
            _ if files.is_empty() => None,
            Marked::Secret => call.analyze_with(&[], &files),
            Marked::Download => call.analyze_with(&files, &[]),
        }
    }

    /// The call that marked the file a later one names.
    pub(super) fn origin<'s, 'a>(
        &self,
        session: &'s Session<'a>,
        call: &SessionCall<'_>,
    ) -> Option<&'s SessionCall<'a>> {
        let (_, index) = self.named(call).into_iter().next()?;
        session.calls().iter().find(|call| call.index == index)
    }
}
