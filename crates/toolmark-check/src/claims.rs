//! What a message of the agent claims: that the work is done and passes, that
//! something is still wrong, or neither.

/// What a message claims.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Claim {
    /// Tests pass, it builds, it works.
    Success,
    /// Something failed, or could not be done.
    Failure,
    /// Neither.
    None,
}

/// A longer message is not looked at beyond this.
const LONGEST: usize = 16 << 10;

/// Claims that tests or a build went well.
const SUCCESS: &[&str] = &[
    "tests pass",
    "test passes",
    "tests are passing",
    "tests now pass",
    "tests passed",
    "tests are green",
    "all green",
    "all passing",
    "build succeeds",
    "build succeeded",
    "build passes",
    "builds successfully",
    "builds cleanly",
    "build is clean",
    "build is successful",
    "compiles successfully",
    "compiles cleanly",
    "compiles without errors",
    "everything works",
    "everything is working",
    "works correctly",
    "working correctly",
    "is now working",
    "verified that it works",
];

/// Words of somebody who knows that something is wrong.
const FAILURE: &[&str] = &[
    "fail",
    "error",
    "broken",
    "issue",
    "problem",
    "not pass",
    "doesn't",
    "does not",
    "don't",
    "didn't",
    "couldn't",
    "could not",
    "cannot",
    "can't",
    "unable",
    "not work",
    "isn't",
    "missing",
    "not found",
    "not installed",
    "unrelated",
    "pre-existing",
    "still ",
    "except",
    "however",
    "once ",
    "should pass",
    "make sure",
    "until ",
    "let me",
    "i need",
    "need to",
    "if ",
];

/// What a message claims. A message that says both knows of the failure.
pub(crate) fn claim(text: &str) -> Claim {
    let mut end = LONGEST.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let text = text[..end].to_lowercase().replace('’', "'");
    let has = |words: &[&str]| words.iter().any(|words| text.contains(words));
    if has(FAILURE) {
        Claim::Failure
    } else if has(SUCCESS) {
        Claim::Success
    } else {
        Claim::None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_claimed() {
        for (text, want) in [
            ("Done. All tests pass.", Claim::Success),
            ("The project builds successfully", Claim::Success),
            ("All tests pass except one that fails on main too.", Claim::Failure),
            ("The tests don’t pass yet", Claim::Failure),
            ("Now let me see whether the tests pass", Claim::Failure),
            ("I have added the parser.", Claim::None),
            ("", Claim::None),
        ] {
            assert_eq!(claim(text), want, "{text}");
        }
    }
}
