//! Any text with a token in it, in all forms in which it is printed: the token is
//! hidden, nothing a terminal obeys is left, and JSON stays JSON.

#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::json;
use toolmark_redact::{Redactor, is_obeyed};

const TOKEN: &str = "ghp_x1Y2z3A4b5C6d7E8f9G0h1I2j3K4l5M6n7O8";
/// The token as `grep --color` prints it.
const COLOURED: &str = "ghp_x1Y2z3A4\u{1b}[31mb5C6d7E8f9\u{1b}[0mG0h1I2j3K4l5M6n7O8";

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let mut middle = text.len() / 2;
    while !text.is_char_boundary(middle) {
        middle -= 1;
    }
    let (before, after) = text.split_at(middle);
    let redactor = Redactor::new(true);
    for token in [TOKEN, COLOURED] {
        let planted = format!("{before} {token} {after}");
        let printed = redactor.apply(planted.clone()).to_string();
        assert!(!printed.contains(TOKEN), "{planted:?}");
        assert!(!printed.chars().any(is_obeyed), "{printed:?}");
        let named = redactor.apply_named(before, planted.clone()).to_string();
        assert!(!named.contains(TOKEN), "{before:?}: {planted:?}");
    }
    let planted = format!("{before} {TOKEN} {after}");
    let json = json!({before: [planted, {"a": after}], planted.clone(): text}).to_string();
    let printed = redactor.json_text(json.clone());
    assert!(!printed.contains(TOKEN), "{json}");
    // A tree would refuse a key that serde_json keeps for itself.
    assert!(serde_json::from_str::<serde::de::IgnoredAny>(&printed).is_ok(), "{json}");
    // Text that is not JSON is redacted too.
    let _ = redactor.json_text(text.to_owned());
});
