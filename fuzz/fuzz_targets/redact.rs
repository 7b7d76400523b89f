//! Any text with a token in it: the token is gone from what is printed, and what
//! is printed holds nothing a terminal obeys.

#![no_main]

use libfuzzer_sys::fuzz_target;
use toolmark_redact::{is_obeyed, redact, sanitize};

const TOKEN: &str = "ghp_x1Y2z3A4b5C6d7E8f9G0h1I2j3K4l5M6n7O8";

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let mut middle = text.len() / 2;
    while !text.is_char_boundary(middle) {
        middle -= 1;
    }
    let (before, after) = text.split_at(middle);
    let planted = format!("{before} {TOKEN} {after}");
    let redacted = redact(&planted);
    assert!(!redacted.contains(TOKEN), "{planted:?}");
    assert!(!sanitize(&redacted).chars().any(|c| c != '\n' && is_obeyed(c)));
});
