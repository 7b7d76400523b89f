//! Claims in a message of the agent: that the work is done and passes, that something is
//! still wrong, or neither. Each sentence is examined separately.

mod statements;

pub(crate) use statements::statements;
pub use statements::{Statement, Topic};

/// Claim of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claim {
    /// Tests pass, the build succeeds, or the code works.
    Success,
    /// Something fails, or could not be done.
    Failure,
    /// Neither of them.
    None,
}

/// Maximum length of a message to examine.
const LONGEST: usize = 16 << 10;

/// Claims that tests or a build succeeded.
const SUCCESS: &[&str] = &[
    "tests pass",
    "test passes",
    "tests are passing",
    "tests now pass",
    "tests are green",
    "suite passes",
    "all green",
    "all passing",
    "checks pass",
    "lint passes",
    "build succeeds",
    "build succeeded",
    "build passes",
    "builds successfully",
    "builds cleanly",
    "build is clean",
    "build is successful",
    "successfully built",
    "compiles successfully",
    "compiles cleanly",
    "compiles without errors",
    "everything works",
    "everything is working",
    "works correctly",
    "working correctly",
    "works as expected",
    "working as expected",
    "is now working",
    "lint is clean",
    "lint clean",
    "type check passes",
    "typecheck passes",
    "type-check passes",
    "no type errors",
    "no lint errors",
];

/// Whether a claim can only be shown by a run: every entry of [`SUCCESS`] except those about
/// working code.
fn is_about_run(words: &str) -> bool {
    !words.contains("work")
}

/// Words that mark a sentence as a plan, a condition or a partial claim.
const HEDGES: &[&str] = &[
    "should",
    "will ",
    "'ll ",
    "would",
    "once ",
    "until",
    "if ",
    "whether",
    "let me",
    "let's",
    "make sure",
    "ensure",
    "need",
    "verify",
    "so that",
    "when ",
    "not ",
    "n't",
    "expect",
    "most ",
    "some ",
    "but ",
    "except",
    "other ",
    "existing",
];

/// Words that admit that something is wrong.
const ADMISSIONS: &[&str] = &[
    "fail",
    "not pass",
    "n't pass",
    "couldn't",
    "could not",
    "cannot",
    "can't",
    "unable",
    "not work",
    "n't work",
    "broken",
    "pre-existing",
    "preexisting",
    "unrelated",
    "not available",
    "not installed",
    "not found",
];

/// Words that turn such an admission into the description of a fix.
const MENDED: &[&str] =
    &["fixed", "fixes", "resolved", "no longer", "now pass", "0 fail", "no fail", "without fail"];

/// Words that show that the author has noticed a problem and is dealing with it.
const NOTICES: &[&str] = &[
    "error",
    "fail",
    "issue",
    "fix",
    "debug",
    "wrong",
    "problem",
    "warning",
    "broken",
    "missing",
    "let me check",
    "let me look",
    "let me see",
    "investigat",
    "not found",
    "cannot",
    "can't",
    "expected",
    "pre-existing",
    "unrelated",
    "conflict",
];

/// Whether a message shows that the agent has noticed trouble.
pub fn notices_trouble(text: &str) -> bool {
    sentences(text).iter().any(|sentence| NOTICES.iter().any(|words| sentence.contains(words)))
}

/// Whether a message claims a result that only a run of tests or of a build can show.
pub fn claims_run(text: &str) -> bool {
    claim(text) == Claim::Success
        && sentences(text).iter().any(|sentence| {
            let claims = |words: &&str| is_about_run(words) && sentence.contains(words);
            SUCCESS.iter().any(claims) && !HEDGES.iter().any(|words| sentence.contains(words))
        })
}

/// Phrases that report the work as done.
const COMPLETIONS: &[&str] = &[
    "done.",
    "done!",
    "all done",
    "is complete",
    "are complete",
    "is now complete",
    "completed",
    "all set",
    "is ready",
    "are ready",
    "fixed",
    "is fixed",
    "are correct",
    "is correct",
    "implemented",
    "has been added",
    "have been added",
    "successfully",
    "changes made",
    "summary of changes",
    "what changed",
    "what i did",
    "here's a summary",
    "here's what",
];

/// Words of a report that may be about a failed check.
const CHECKED: &[&str] = &[
    "fail",
    "error",
    "couldn't",
    "could not",
    "can't",
    "cannot",
    "not run",
    "n't run",
    "unable",
    "able to",
    "skip",
    "remaining",
    "still",
    "require",
    "rebuild",
    "unverified",
    "not verified",
    "untested",
    "timed out",
    "timeout",
    "interrupt",
    "environment",
    "warning",
    "pre-existing",
    "known issue",
    "passes",
    "passed",
    "tests pass",
    "not installed",
    "missing",
    "ci ",
    "green",
    "manual",
    "you can run",
    "to verify",
    "build step",
    "build first",
];

/// Whether a message reports the work as done, and nothing about a check or an error.
pub fn keeps_silent(text: &str) -> bool {
    // Names in code say nothing about a check.
    let words: String = text.split('`').step_by(2).collect();
    let text = words.to_lowercase();
    COMPLETIONS.iter().any(|words| text.contains(words))
        && !CHECKED.iter().any(|words| text.contains(words))
}

fn sentences(text: &str) -> Vec<String> {
    let mut end = LONGEST.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let text = text[..end].to_lowercase().replace('\u{2019}', "'");
    text.split(['.', '!', '?', '\n', ';']).map(str::to_owned).collect()
}

/// Claims of a message. A message that claims both mentions the failure.
pub fn claim(text: &str) -> Claim {
    let mut claims = false;
    for sentence in sentences(text) {
        let has = |words: &[&str]| words.iter().any(|words| sentence.contains(words));
        if has(ADMISSIONS) && !has(MENDED) {
            return Claim::Failure;
        }
        claims |= has(SUCCESS) && !has(HEDGES);
    }
    if claims { Claim::Success } else { Claim::None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_claimed() {
        for (text, want) in [
            ("Done. All tests pass.", Claim::Success),
            ("The project builds successfully", Claim::Success),
            ("Fixed the failing test and the error handling. All tests pass now.", Claim::Success),
            ("All tests pass except one that fails on main too.", Claim::Failure),
            ("All tests pass. Two lint checks fail, though.", Claim::Failure),
            ("The tests don’t pass yet", Claim::Failure),
            ("Now let me see whether the tests pass", Claim::None),
            ("I have added the parser.", Claim::None),
            ("", Claim::None),
        ] {
            assert_eq!(claim(text), want, "{text}");
        }
    }
}
