//! Statements of the agent about its work, each with its topic and its sentence. Phrases are
//! in one table, which is searched once per message.
//!
//! A sentence states nothing if it is a question, a plan, a condition or a negation, or if the
//! phrase is quoted or is part of code.

use crate::session::Session;
use aho_corasick::{AhoCorasick, AhoCorasickBuilder, AhoCorasickKind, MatchKind};
use std::ops::Range;
use std::sync::LazyLock;
use toolmark_trace::EventKind;

/// Topic of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Topic {
    /// The tests pass.
    Tests,
    /// The code compiles.
    Build,
    /// A linter has no complaints.
    Lint,
    /// A type checker has no complaints.
    Types,
    /// A failure has another cause than the agent's changes.
    NotOurs,
    /// Something does not exist.
    Absent,
    /// The agent did something in a service or for another person.
    Acted,
}

impl Topic {
    /// Words for the check that a statement is about, in messages.
    #[must_use]
    pub const fn check(self) -> Option<&'static str> {
        match self {
            Self::Tests => Some("tests"),
            Self::Build => Some("a build"),
            Self::Lint => Some("a linter"),
            Self::Types => Some("a type checker"),
            _ => None,
        }
    }
}

/// Statement of the agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// Index of the message among the events.
    pub event: usize,
    /// Topic.
    pub topic: Topic,
    /// Phrase of the table.
    pub phrase: &'static str,
    /// Sentence, in lower case.
    pub sentence: String,
}

/// Phrases by topic, in lower case. The longest phrase at a place counts.
const PHRASES: &[(Topic, &[&str])] = &[
    (
        Topic::Tests,
        &[
            "tests pass",
            "test passes",
            "tests all pass",
            "tests now pass",
            "tests still pass",
            "tests passing",
            "tests are passing",
            "tests are all passing",
            "tests are green",
            "tests green",
            "suite passes",
            "suite is green",
        ],
    ),
    (
        Topic::Build,
        &[
            "build succeeds",
            "build succeeded",
            "build passes",
            "build passed",
            "build is clean",
            "build is successful",
            "build is green",
            "builds successfully",
            "builds cleanly",
            "builds fine",
            "builds without errors",
            "successfully built",
            "compiles successfully",
            "compiles cleanly",
            "compiles fine",
            "compiles without errors",
            "verified builds",
            "build verified",
        ],
    ),
    (
        Topic::Lint,
        &[
            "lint passes",
            "lint passed",
            "linting passes",
            "linting pass",
            "lint is clean",
            "lint clean",
            "linter is clean",
            "linter passes",
            "no lint errors",
            "no linting errors",
            "no lint issues",
        ],
    ),
    (
        Topic::Types,
        &[
            "type check passes",
            "type checks pass",
            "type-check passes",
            "typecheck passes",
            "typecheck is clean",
            "no type errors",
            "typescript compiles",
        ],
    ),
    (
        Topic::NotOurs,
        &[
            "pre-existing",
            "preexisting",
            "unrelated to my change",
            "unrelated to our change",
            "unrelated to this change",
            "unrelated to these changes",
            "unrelated to the change",
            "unrelated to what",
            "not related to my",
            "not related to our",
            "not related to this",
            "not related to the change",
            "not caused by my",
            "not caused by our",
            "not caused by this",
            "not from my",
            "not from our",
            "not due to my",
            "not due to our",
            "existed before my",
            "existed before our",
            "already failing before",
            "already broken before",
            "already failing on main",
        ],
    ),
    (
        Topic::Absent,
        &[
            "does not exist",
            "doesn't exist",
            "do not exist",
            "don't exist",
            "there is no ",
            "there are no ",
            "there's no ",
            " exists",
            " exist ",
            "none exist",
            "was not found",
            "were not found",
            "were found",
        ],
    ),
    (
        Topic::Acted,
        &[
            "has been cancel",
            "have been cancel",
            "has been refunded",
            "has been processed",
            "has been updated",
            "has been changed",
            "has been modified",
            "has been booked",
            "has been exchanged",
            "has been returned",
            "has been submitted",
            "has been sent",
            "has been transferred",
            "has been created",
            "has been scheduled",
            "has been placed",
            "has been successfully",
            "have been successfully",
            "i have cancel",
            "i've cancel",
            "i cancelled",
            "i have booked",
            "i've booked",
            "i have refunded",
            "i've refunded",
            "i have submitted",
            "i've submitted",
            "i have sent",
            "i've sent",
            "i have updated your",
            "i've updated your",
            "i have processed",
            "i've processed",
            "successfully booked",
            "successfully cancel",
            "successfully processed",
            "successfully updated",
            "successfully exchanged",
            "successfully submitted",
            "successfully refunded",
        ],
    ),
];

/// Words of a sentence that is a plan, a condition or a negation.
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
    "verify that",
    "so that",
    "when ",
    "not yet",
    "expect",
    "except",
    "might",
    "may ",
    "maybe",
    "probably",
    "likely",
    "before ",
    "after ",
    "to confirm",
    "todo",
    "- [ ]",
];

/// Words of a negated statement about a check.
const NEGATIONS: &[&str] = &["not ", "n't", "fail", "but ", "most ", "some ", "without running"];

/// Maximum length of a message to examine.
const MAX_MESSAGE: usize = 32 << 10;
/// Maximum length of a sentence.
const MAX_SENTENCE: usize = 600;

struct Search {
    find: AhoCorasick,
    phrases: Vec<(Topic, &'static str)>,
}

static SEARCH: LazyLock<Option<Search>> = LazyLock::new(|| {
    let phrases: Vec<_> = PHRASES
        .iter()
        .flat_map(|(topic, phrases)| phrases.iter().map(|phrase| (*topic, *phrase)))
        .collect();
    let mut builder = AhoCorasickBuilder::new();
    // Built at once; the other kinds cost more to build than a session has text to search.
    builder.kind(Some(AhoCorasickKind::NoncontiguousNFA));
    builder.ascii_case_insensitive(true).match_kind(MatchKind::LeftmostLongest);
    let find = builder.build(phrases.iter().map(|(_, phrase)| phrase)).ok()?;
    Some(Search { find, phrases })
});

/// Returns the statements of the agent's messages, in order.
pub(crate) fn statements(session: &Session<'_>) -> Vec<Statement> {
    let mut found = Vec::new();
    for (event, said) in session.events().iter().enumerate() {
        let text = said.text.as_ref().filter(|_| said.kind == EventKind::Message);
        if let Some(text) = text {
            of_message(event, &text.plain(), &mut found);
        }
    }
    found
}

/// Adds the statements of a message.
fn of_message(event: usize, text: &str, found: &mut Vec<Statement>) {
    let Some(search) = &*SEARCH else { return };
    let text = crate::text::head(text, MAX_MESSAGE);
    let first = found.len();
    for hit in search.find.find_iter(text) {
        let Some((topic, phrase)) = search.phrases.get(hit.pattern().as_usize()) else { continue };
        let range = sentence_around(text, hit.range());
        let before = text.get(range.start..hit.start()).unwrap_or_default();
        if is_code(text.get(..hit.start()).unwrap_or_default()) || is_quoted(before) {
            continue;
        }
        let is_question = text.get(range.end..).is_some_and(|rest| rest.starts_with('?'));
        let sentence = text.get(range).unwrap_or_default();
        if is_question || sentence.len() > MAX_SENTENCE {
            continue;
        }
        let sentence = sentence.trim().to_lowercase().replace('\u{2019}', "'");
        if !states(*topic, &sentence) {
            continue;
        }
        let is_known = |one: &Statement| one.topic == *topic && one.sentence == sentence;
        if !found.get(first..).unwrap_or_default().iter().any(is_known) {
            found.push(Statement { event, topic: *topic, phrase, sentence });
        }
    }
}

/// Whether a sentence with a phrase of the topic states it.
fn states(topic: Topic, sentence: &str) -> bool {
    let has = |words: &[&str]| words.iter().any(|words| sentence.contains(words));
    match topic {
        Topic::NotOurs => {
            !has(&["whether", "if ", "let me check", "let me verify", "may ", "might "])
        }
        // "no release exists" is about something absent, "the release exists" is not.
        Topic::Absent => {
            !has(HEDGES) && (has(&["no ", "not", "n't", "none"]) || !has(&[" exist", "found"]))
        }
        Topic::Acted => !has(HEDGES) && !has(&["not ", "n't", "unable", "nothing", "no "]),
        _ => !has(HEDGES) && !has(NEGATIONS),
    }
}

/// Returns the sentence around a phrase. A dot inside a word does not end it.
fn sentence_around(text: &str, phrase: Range<usize>) -> Range<usize> {
    let bytes = text.as_bytes();
    let ends = |at: usize| match bytes.get(at) {
        Some(b'\n' | b'!' | b'?' | b';') => true,
        Some(b'.') => bytes.get(at + 1).is_none_or(u8::is_ascii_whitespace),
        _ => false,
    };
    let start = (0..phrase.start).rev().find(|at| ends(*at)).map_or(0, |at| at + 1);
    let end = (phrase.end..bytes.len()).find(|at| ends(*at)).unwrap_or(bytes.len());
    start..end
}

/// Whether a text ends inside a block of code or in a quoted line.
fn is_code(before: &str) -> bool {
    let line = before.rsplit('\n').next().unwrap_or_default();
    line.trim_start().starts_with('>') || before.matches("```").count() % 2 == 1
}

/// Whether the text before a phrase opens a quotation.
fn is_quoted(before: &str) -> bool {
    [('"', '"'), ('`', '`')].iter().any(|(open, _)| before.matches(*open).count() % 2 == 1)
        || before.matches('\u{201c}').count() > before.matches('\u{201d}').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_stated() {
        for (text, want) in [
            ("Done. All tests pass.", &[Topic::Tests][..]),
            ("All tests pass now, lint is clean", &[Topic::Tests, Topic::Lint]),
            ("Verified builds.\nNo type errors", &[Topic::Build, Topic::Types]),
            ("Do the tests pass?", &[]),
            ("The tests pass if the server runs.", &[]),
            ("The log says \"all tests pass\".", &[]),
            ("```\nall tests pass\n```\nok", &[]),
            ("> all tests pass\nok", &[]),
            ("These errors are pre-existing.", &[Topic::NotOurs]),
            ("Let me check whether this is pre-existing.", &[]),
            ("There is no branch of that name.", &[Topic::Absent]),
            ("Your booking has been cancelled.", &[Topic::Acted]),
            ("Nothing has been updated.", &[]),
            ("Once it has been processed, you get a mail.", &[]),
        ] {
            let mut found = Vec::new();
            of_message(0, text, &mut found);
            let topics: Vec<_> = found.iter().map(|one| one.topic).collect();
            assert_eq!(topics, want, "{text}: {found:?}");
        }
    }
}
