//! Pieces of texts, cut where characters end.

/// The start of a text, of so many bytes at most.
#[must_use]
pub(crate) fn head(text: &str, longest: usize) -> &str {
    let mut end = longest.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::head;

    #[test]
    fn cut_between_characters() {
        assert_eq!(head("abc", 2), "ab");
        assert_eq!(head("aé", 2), "a");
        assert_eq!(head("a", 9), "a");
    }
}
