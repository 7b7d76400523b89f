//! Which messages of a conversation have been told already. Every request
//! repeats the whole history; what is new in it is what occurs more often than
//! in any request before.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// The texts of one conversation, with how often each was told.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    told: HashMap<u64, u32>,
}

/// Counts the texts of one request.
#[derive(Debug, Default)]
pub(crate) struct Request {
    met: HashMap<u64, u32>,
}

impl Seen {
    /// Is this occurrence of the text in the request one more than was told?
    pub(crate) fn is_new(&mut self, request: &mut Request, role: u8, text: &str) -> bool {
        let key = key(role, text);
        let met = request.met.entry(key).or_default();
        *met += 1;
        let told = self.told.entry(key).or_default();
        let is_new = *met > *told;
        if is_new {
            *told = *met;
        }
        is_new
    }

    /// Takes note of what the model said: the next request repeats it.
    pub(crate) fn said(&mut self, role: u8, text: &str) {
        *self.told.entry(key(role, text)).or_default() += 1;
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
    fn a_history_is_told_once() {
        let mut seen = Seen::default();
        let mut told = |texts: &[&str]| -> Vec<bool> {
            let mut request = Request::default();
            texts.iter().map(|t| seen.is_new(&mut request, 0, t)).collect()
        };
        assert_eq!(told(&["go on"]), [true]);
        assert_eq!(told(&["go on", "go on"]), [false, true]);
        assert_eq!(told(&["go on", "go on", "stop"]), [false, false, true]);
    }
}
