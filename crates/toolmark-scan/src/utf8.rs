//! Converts bytes to text without validating them twice.

/// Result of [`into_utf8`].
pub enum Utf8 {
    /// The buffer was valid UTF-8 and became the text without a copy.
    Valid(String),
    /// The buffer was not valid UTF-8; replacement characters mark the invalid sequences.
    Lossy {
        /// Text with U+FFFD for every invalid sequence.
        text: String,
        /// Byte offset of the first invalid sequence.
        first: usize,
    },
}

/// Converts a buffer into text, in place if it is valid UTF-8.
#[must_use]
pub fn into_utf8(bytes: Vec<u8>) -> Utf8 {
    if simdutf8::basic::from_utf8(&bytes).is_ok() {
        // SAFETY: checked on the line above, and `bytes` is not touched in between.
        return Utf8::Valid(unsafe { String::from_utf8_unchecked(bytes) });
    }
    let first = std::str::from_utf8(&bytes).err().map_or(0, |e| e.valid_up_to());
    Utf8::Lossy { text: String::from_utf8_lossy(&bytes).into_owned(), first }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn valid_and_lossy() {
        assert!(matches!(into_utf8("grün".into()), Utf8::Valid(t) if t == "grün"));
        assert!(
            matches!(into_utf8(b"ab\xffc".to_vec()), Utf8::Lossy { text, first: 2 } if text == "ab\u{fffd}c")
        );
    }
}
