//! Tests that the language follows STYLE.md: no banned words, openings or names.
//!
//! The table has the replacement beside each pattern. A new ban is a new row.

use crate::root;
use std::fs;
use std::path::{Path, PathBuf};

/// The texts that a ban applies to.
#[derive(Clone, Copy, PartialEq)]
enum Scope {
    /// First words of doc comments.
    Opening,
    /// Names of constants and statics. A pattern that ends with `_` is a prefix.
    Constant,
    /// Names of types and traits.
    Type,
    /// Comments, messages and pages.
    Phrase,
}

struct Ban {
    pattern: &'static str,
    instead: &'static str,
    scope: Scope,
    /// Longer phrases that contain the pattern and are allowed.
    except: &'static [&'static str],
}

const fn opening(pattern: &'static str, instead: &'static str) -> Ban {
    Ban { pattern, instead, scope: Scope::Opening, except: &[] }
}

const fn constant(pattern: &'static str, instead: &'static str) -> Ban {
    Ban { pattern, instead, scope: Scope::Constant, except: &[] }
}

const fn type_name(pattern: &'static str, instead: &'static str) -> Ban {
    Ban { pattern, instead, scope: Scope::Type, except: &[] }
}

const fn phrase(pattern: &'static str, instead: &'static str) -> Ban {
    Ban { pattern, instead, scope: Scope::Phrase, except: &[] }
}

const fn phrase_but(
    pattern: &'static str,
    instead: &'static str,
    except: &'static [&'static str],
) -> Ban {
    Ban { pattern, instead, scope: Scope::Phrase, except }
}

const BANS: &[Ban] = &[
    opening("what", "a noun phrase: \"Display name.\""),
    opening("how", "a noun phrase: \"Comparison mode.\", \"Number of …\""),
    opening("where", "\"Location of …\", \"Position of …\""),
    opening("which", "a noun phrase"),
    opening("why", "\"Reason for …\""),
    opening("who", "name the caller, the user or the reader"),
    opening("is", "\"Whether …\""),
    opening("are", "\"Whether …\""),
    opening("does", "\"Whether …\""),
    opening("did", "\"Whether …\""),
    opening("was", "\"Whether …\""),
    opening("were", "\"Whether …\""),
    opening("has", "\"Whether …\""),
    opening("have", "\"Whether …\""),
    opening("may", "\"Whether …\""),
    opening("must", "\"Whether …\""),
    opening("can", "\"Whether …\", or an adjective"),
    opening("so many", "\"Maximum number of …\""),
    opening("so much", "\"Maximum size of …\""),
    opening("no more than", "\"Maximum number of …\""),
    opening("all of them", "name the things"),
    opening("nobody", "name the caller, the user or the reader"),
    opening("somebody", "name the caller, the user or the reader"),
    opening("whoever", "name the caller, the user or the reader"),
    constant("MOST", "MAX_…"),
    constant("MOST_", "MAX_…"),
    constant("LEAST", "MIN_…"),
    constant("LEAST_", "MIN_…"),
    constant("DEEPEST", "MAX_DEPTH"),
    constant("LOOKED_AT", "MAX_EXAMINED"),
    constant("PATIENCE", "…_TIMEOUT, or what it bounds"),
    constant("PATIENCE_", "…_TIMEOUT, or what it bounds"),
    constant("KEPT", "MAX_…"),
    constant("BEYOND", "what it bounds"),
    type_name("Shown", "a noun"),
    type_name("Asked", "a noun"),
    type_name("Written", "a noun"),
    type_name("Seen", "a noun"),
    type_name("Told", "a noun"),
    type_name("Said", "a noun"),
    // The summary of I305 is part of the titles of issues.
    phrase_but("nobody", "no user, no reader, unanswered, …", &["nobody has looked at"]),
    phrase("somebody", "a user, a person, another program, …"),
    phrase("anybody", "anyone, or name who"),
    phrase("whoever", "name the caller, the user or the reader"),
    phrase_but(
        "so many",
        "at most N, this many",
        &["so many repetitions", "so many runs", "so many things"],
    ),
    phrase("makes no sense", "is invalid"),
    phrase("make no sense", "are invalid"),
    phrase("without a word", "silently, without saying so"),
    phrase("stands in", "is in, contains"),
    phrase("stand in the", "are in the"),
    phrase("comes to", "totals"),
    phrase("goes by", "is named, is identified by"),
    phrase("speaks of", "mentions"),
    phrase("taken out", "removed"),
    phrase("what is told", "verdict fields"),
    phrase("of the house", "principles"),
    phrase("in the clothes of", "disguised as"),
    phrase("come off by themselves", "are decompressed automatically"),
    phrase("no known trace format", "unrecognized trace format"),
    phrase("of one's own", "custom"),
    phrase("is dear", "is expensive"),
    phrase_but(
        "is no",
        "is not a",
        &["there is no", "is no longer", "is no better", "is no wider"],
    ),
    phrase_but("are no", "are not", &["there are no", "are no longer", "edits that are no"]),
];

/// Parts of the workspace whose messages are kept as they are.
const KEPT_MESSAGES: [(&str, &str); 7] = [
    ("toolmark-check/src/rules/", "messages are part of the fingerprints of findings"),
    ("toolmark-shell/src/", "reasons of effects are part of the messages of findings"),
    ("toolmark-session/src/", "reasons of effects are part of the messages of findings"),
    ("toolmark-peers/src/", "results are compared with those of other systems"),
    ("toolmark-outcome/src/judging/rubrics.rs", "calibrations belong to the text of a rubric"),
    ("toolmark-judge/src/prompt.rs", "calibrations belong to the text of the prompt"),
    ("toolmark-judge/src/calibration/probes.rs", "the probes are quotes"),
];

#[test]
fn no_banned_words() {
    let mut found = Vec::new();
    for path in files() {
        let text = fs::read_to_string(root().join(&path)).unwrap();
        let of_file = match path.extension().is_some_and(|extension| extension == "md") {
            true => of_page(&text),
            false => of_code(&path, &text),
        };
        for (line, ban) in of_file {
            found.push(format!(
                "{}:{line}: {:?}, write {}",
                path.display(),
                ban.pattern,
                ban.instead
            ));
        }
    }
    assert!(
        found.is_empty(),
        "{} lines with words that STYLE.md bans:\n{}",
        found.len(),
        found.join("\n")
    );
}

/// The Rust sources and the pages of the workspace, by their paths from the root.
fn files() -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut dirs: Vec<PathBuf> =
        ["crates", "docs", "bench/src", "fuzz/fuzz_targets"].map(PathBuf::from).into();
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(root().join(&dir)).unwrap() {
            let path = dir.join(entry.unwrap().file_name());
            if root().join(&path).is_dir() {
                dirs.push(path);
            } else if path.extension().is_some_and(|it| it == "rs" || it == "md") {
                files.push(path);
            }
        }
    }
    // Not STYLE.md, which quotes the words.
    files.extend(
        ["README.md", "AGENTS.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"]
            .map(PathBuf::from),
    );
    // This file has the words too.
    files.retain(|path| !path.ends_with("cli/words.rs"));
    files.sort();
    files
}

/// Finds the bans that apply to a page, outside code blocks.
fn of_page(text: &str) -> Vec<(usize, &'static Ban)> {
    let mut is_code = false;
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        if !is_code && !is_fence {
            found.extend(phrases(line).map(|ban| (number + 1, ban)));
        }
    }
    found
}

/// Finds the bans that apply to a source file.
fn of_code(path: &Path, text: &str) -> Vec<(usize, &'static Ban)> {
    let name = path.to_string_lossy().replace('\\', "/");
    let is_test = ["/tests/", "/tests.rs", "toolmark-testing/", "/testing.rs"]
        .iter()
        .any(|part| name.contains(part));
    let has_kept_messages = KEPT_MESSAGES.iter().any(|(part, _)| name.contains(part));
    let (mut found, mut was_doc, mut in_tests) = (Vec::new(), false, is_test);
    for (number, line) in text.lines().enumerate() {
        let number = number + 1;
        let line = line.trim_start();
        in_tests |= line == "#[cfg(test)]";
        let doc = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"));
        if let Some(words) = doc.filter(|_| !was_doc) {
            let opens = |ban: &&Ban| ban.scope == Scope::Opening && begins(words, ban.pattern);
            found.extend(BANS.iter().find(opens).map(|ban| (number, ban)));
        }
        was_doc = doc.is_some();
        if line.starts_with("//") {
            if !in_tests {
                found.extend(phrases(line).map(|ban| (number, ban)));
            }
            continue;
        }
        found.extend(names(line).map(|ban| (number, ban)));
        if !in_tests && !has_kept_messages {
            let strings = line.split('"').skip(1).step_by(2);
            found.extend(strings.flat_map(phrases).map(|ban| (number, ban)));
        }
    }
    found
}

/// Returns the bans on names that a line of code declares.
fn names(line: &str) -> impl Iterator<Item = &'static Ban> {
    let mut words =
        line.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|w| !w.is_empty());
    let keyword = words.find(|word| {
        ["const", "static", "struct", "enum", "union", "trait", "type"].contains(word)
    });
    let declared = words.find(|word| *word != "mut").unwrap_or_default().to_owned();
    let scope = match keyword {
        Some("const" | "static") => Some(Scope::Constant),
        Some(_) => Some(Scope::Type),
        None => None,
    };
    BANS.iter().filter(move |ban| {
        Some(ban.scope) == scope
            && match ban.pattern.strip_suffix('_') {
                Some(_) => declared.starts_with(ban.pattern),
                None => declared == ban.pattern,
            }
    })
}

/// Returns the phrases that a text contains.
fn phrases(text: &str) -> impl Iterator<Item = &'static Ban> {
    let text = text.to_lowercase();
    BANS.iter().filter(move |ban| {
        let mut rest = text.clone();
        for allowed in ban.except {
            rest = rest.replace(allowed, "…");
        }
        ban.scope == Scope::Phrase && contains(&rest, ban.pattern)
    })
}

/// Whether a text begins with these words, in any case.
fn begins(text: &str, words: &str) -> bool {
    let text = text.trim_start().to_lowercase();
    text.strip_prefix(words).is_some_and(|rest| !rest.starts_with(is_word))
}

/// Whether a text contains these words as whole words.
fn contains(text: &str, words: &str) -> bool {
    text.match_indices(words).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + words.len()..].chars().next();
        !before.is_some_and(is_word) && !after.is_some_and(is_word)
    })
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-')
}

#[test]
fn bans_are_found() {
    let code = "//! What it is.\n\n/// Is it a file?\npub(crate) struct Shown<'a>;\n\
                const MOST_ROWS: usize = 1;\n// Nobody reads this.\nlet x = \"1.5 is no number\";\n\
                let nobody = \"there is no file\";\n#[cfg(test)]\nlet y = \"nobody\";\n";
    let found: Vec<_> = of_code(Path::new("crates/x/src/a.rs"), code)
        .into_iter()
        .map(|(line, ban)| (line, ban.pattern))
        .collect();
    let expected =
        [(1, "what"), (3, "is"), (4, "Shown"), (5, "MOST_"), (6, "nobody"), (7, "is no")];
    assert_eq!(found, expected);
    let page = "so many words\n```\nso many words\n```\nIt is no longer there.\n";
    let found: Vec<_> = of_page(page).into_iter().map(|(line, ban)| (line, ban.pattern)).collect();
    assert_eq!(found, [(1, "so many")]);
}
