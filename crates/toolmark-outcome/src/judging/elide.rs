//! Shortens long texts and marks the omission.

/// Shortens a text to about `most` bytes: its beginning and its end, with a mark between them
/// that states how much is missing. Returns `None` if the text fits.
pub(super) fn shortened(text: &str, most: usize) -> Option<String> {
    if text.len() <= most {
        return None;
    }
    let head = floor(text, most * 2 / 3);
    let tail = ceil(text, text.len() - most / 3);
    let missing = text[head..tail].chars().count();
    Some(format!("{}\n[… {missing} characters left out …]\n{}", &text[..head], &text[tail..]))
}

fn floor(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn ceil(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_goes_and_is_counted() {
        assert_eq!(shortened("abc", 3), None);
        let text = "ä".repeat(100);
        let short = shortened(&text, 60).unwrap();
        assert!(short.contains("[… 70 characters left out …]"), "{short}");
        assert!(short.starts_with('ä') && short.ends_with('ä'));
    }
}
