//! The first line as a pattern, on the rest of the input: the three questions
//! agree, and spans are spans of the text.

#![no_main]

use libfuzzer_sys::fuzz_target;
use toolmark_pattern::Pattern;

fuzz_target!(|data: &[u8]| {
    let Ok(input) = std::str::from_utf8(data) else { return };
    let (source, text) = input.split_once('\n').unwrap_or((input, ""));
    let pattern = match Pattern::new(source) {
        Ok(pattern) => pattern,
        Err(error) => {
            assert!(source.is_char_boundary(error.offset), "{error}");
            return;
        }
    };
    let found = pattern.find(text);
    // The automaton may know whether there is a match where finding it takes too long.
    if let (Ok(is_match), Ok(found)) = (pattern.is_match(text), &found) {
        assert_eq!(is_match, found.is_some());
    }
    if let (Ok(groups), Ok(found)) = (pattern.captures(text), found) {
        assert_eq!(groups.as_ref().map(|groups| groups[0].clone()), found.map(Some));
        for span in groups.into_iter().flatten().flatten() {
            assert!(text.get(span).is_some());
        }
    }
    let _ = pattern.matches_empty();
});
