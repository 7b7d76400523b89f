//! Words that are looked for all at once, in text as it stands in a file.

use aho_corasick::packed::{Builder, Searcher};
use memchr::memmem;
use std::sync::LazyLock;

/// Words of which a text that has none is passed over. They have no character that
/// JSON may write as an escape of its own: quotes, slashes, line breaks.
pub(crate) struct Words {
    searcher: LazyLock<Option<Searcher>>,
}

impl Words {
    /// As `Words::new(|| Words::searcher(&["a", "b"]))`.
    pub(crate) const fn new(make: fn() -> Option<Searcher>) -> Self {
        Self { searcher: LazyLock::new(make) }
    }

    /// What looks for all of them; `None` where the processor cannot.
    pub(crate) fn searcher(words: &[&str]) -> Option<Searcher> {
        Builder::new().extend(words).build()
    }

    /// May one of them be in a text, decoded or not? Letters may be written as
    /// escapes too: a text that has such is not passed over.
    pub(crate) fn may_be_in(&self, raw: &str) -> bool {
        let Some(searcher) = &*self.searcher else { return true };
        searcher.find(raw).is_some() || memmem::find(raw.as_bytes(), b"\\u00").is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_hold_words() {
        static WORDS: Words = Words::new(|| Words::searcher(&["not found", "No such file"]));
        for (raw, want) in [
            ("bash: x: command not found", true),
            ("a\\nNo such file\\n", true),
            ("nothing to see", false),
            ("n\\u006ft found", true),
            ("", false),
        ] {
            assert_eq!(WORDS.may_be_in(raw), want, "{raw}");
        }
    }
}
