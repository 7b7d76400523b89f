//! Tracks which messages of a conversation have been recorded. Every request repeats the whole
//! history; a message is new if it occurs more often than in any earlier request.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// The texts of one conversation, with the number of times each was recorded.
#[derive(Debug, Default)]
pub(crate) struct RecordedTexts {
    recorded: HashMap<u64, u32>,
}

/// Counts the texts of one request.
#[derive(Debug, Default)]
pub(crate) struct RequestCounts {
    met: HashMap<u64, u32>,
}

impl RecordedTexts {
    /// Returns whether this occurrence of the text in the request exceeds the recorded number.
    pub(crate) fn is_new(&mut self, request: &mut RequestCounts, role: u8, text: &str) -> bool {
        let key = key(role, text);
        let met = request.met.entry(key).or_default();
        *met += 1;
        let recorded = self.recorded.entry(key).or_default();
        let is_new = *met > *recorded;
        if is_new {
            *recorded = *met;
        }
        is_new
    }

    /// Records a text of the model, which the next request repeats.
    pub(crate) fn said(&mut self, role: u8, text: &str) {
        *self.recorded.entry(key(role, text)).or_default() += 1;
    }
}

fn key(role: u8, text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (role, text.trim()).hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_history_is_recorded_once() {
        let mut seen = RecordedTexts::default();
        let mut recorded = |texts: &[&str]| -> Vec<bool> {
            let mut request = RequestCounts::default();
            texts.iter().map(|t| seen.is_new(&mut request, 0, t)).collect()
        };
        assert_eq!(recorded(&["go on"]), [true]);
        assert_eq!(recorded(&["go on", "go on"]), [false, true]);
        assert_eq!(recorded(&["go on", "go on", "stop"]), [false, false, true]);
    }
}
