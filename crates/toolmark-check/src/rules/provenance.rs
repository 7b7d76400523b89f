//! Files that carry a secret or a download from one call to a later one. Only a call whose
//! text names such a file is analyzed again.

use toolmark_base::SortedMap;
use toolmark_redact::{Proof, secrets};
use toolmark_session::session::{Ended, Session, SessionCall};
use toolmark_shell::Analysis;

/// Maximum number of files to track.
const MAX_FILES: usize = 64;

/// Kinds of tracked files.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Marked {
    Secret,
    Download,
}

/// Tracked files, each with the call that marked it.
pub(super) struct Provenance {
    marked: Marked,
    files: SortedMap<String, usize>,
}

impl Provenance {
    pub(super) fn new(marked: Marked) -> Self {
        Self { marked, files: SortedMap::new() }
    }

    /// Records the files that a call marks.
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
            if self.files.len() < MAX_FILES {
                self.files.entry(file.clone()).or_insert(call.index);
            }
        }
    }

    /// Returns the tracked files that a call's command names.
    fn named(&self, call: &SessionCall<'_>) -> Vec<(&String, usize)> {
        let Some(command) = call.command().filter(|_| !self.files.is_empty()) else {
            return Vec::new();
        };
        let is_named = |file: &&String| {
            file.rsplit('/').next().is_some_and(|name| !name.is_empty() && command.contains(name))
        };
        self.files.iter().map(|(file, call)| (file, *call)).filter(|(f, _)| is_named(f)).collect()
    }

    /// Returns the analysis of a call that names such a file, given its content.
    pub(super) fn analyze_again(&self, call: &SessionCall<'_>) -> Option<Analysis> {
        let files: Vec<String> = self.named(call).into_iter().map(|(f, _)| f.clone()).collect();
        match self.marked {
            _ if files.is_empty() => None,
            Marked::Secret => call.analyze_with(&[], &files),
            Marked::Download => call.analyze_with(&files, &[]),
        }
    }

    /// Returns the call that marked the file named by a later call.
    pub(super) fn origin<'s, 'a>(
        &self,
        session: &'s Session<'a>,
        call: &SessionCall<'_>,
    ) -> Option<&'s SessionCall<'a>> {
        let (_, index) = self.named(call).into_iter().next()?;
        session.calls().iter().find(|call| call.index == index)
    }
}
