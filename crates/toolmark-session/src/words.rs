//! Simultaneous search for several words in raw text.

use aho_corasick::AhoCorasick;
use aho_corasick::packed::{Builder, Searcher};
use memchr::memmem;
use std::sync::LazyLock;

/// Words to search for before a text is decoded; a text without any of them is skipped. They
/// contain no character that JSON may escape: quotes, slashes, line breaks.
pub struct SearchWords {
    search: LazyLock<Option<Search>>,
}

/// Prefix of letters that are written as escapes.
static ESCAPE: LazyLock<memmem::Finder<'_>> = LazyLock::new(|| memmem::Finder::new(b"\\u00"));

/// Search strategy.
pub enum Search {
    /// Exact spelling.
    Exact(Searcher),
    /// Any case.
    AnyCase(AhoCorasick),
}

impl SearchWords {
    /// As `Words::new(|| Words::searcher(&["a", "b"]))`.
    pub const fn new(make: fn() -> Option<Search>) -> Self {
        Self { search: LazyLock::new(make) }
    }

    /// Searcher for all of them; `None` if the processor does not support it.
    pub fn searcher(words: &[&str]) -> Option<Search> {
        Builder::new().extend(words).build().map(Search::Exact)
    }

    /// The same for words in capitals and in small letters.
    pub fn any_case(words: &[&str]) -> Option<Search> {
        let built = AhoCorasick::builder().ascii_case_insensitive(true).build(words);
        built.ok().map(Search::AnyCase)
    }

    /// Whether a text, decoded or not, may contain one of them. Letters may be written as escapes
    /// too, so a text with such escapes is not skipped.
    pub fn may_be_in(&self, raw: &str) -> bool {
        let is_found = match &*self.search {
            Some(Search::Exact(searcher)) => searcher.find(raw).is_some(),
            Some(Search::AnyCase(searcher)) => searcher.is_match(raw),
            None => return true,
        };
        is_found || ESCAPE.find(raw.as_bytes()).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_hold_words() {
        static WORDS: SearchWords =
            SearchWords::new(|| SearchWords::searcher(&["not found", "No such file"]));
        for (raw, want) in [
            ("bash: x: command not found", true),
            ("a\\nNo such file\\n", true),
            ("nothing to see", false),
            ("n\\u006ft found", true),
            ("", false),
        ] {
            assert_eq!(WORDS.may_be_in(raw), want, "{raw}");
        }
        static ANY_CASE: SearchWords = SearchWords::new(|| SearchWords::any_case(&["diagnostic"]));
        assert!(ANY_CASE.may_be_in("the DiagNostics"));
        assert!(!ANY_CASE.may_be_in("the agnostics"));
    }
}
