//! Fingerprints that identify a finding across runs, and clusters of similar findings.
//!
//! Neither depends on the position of the call, on numbers that change between runs (times,
//! sizes, ids) or on the location of the project.

use toolmark_outcome::Finding;

/// Maximum length of a text to include.
const LONGEST: usize = 600;

/// Hashes parts with their lengths (FNV-1a, 64 bits).
#[must_use]
pub fn of(parts: &[&str]) -> String {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    let mut eat = |byte: u8| hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    for part in parts {
        (part.len() as u64).to_le_bytes().into_iter().for_each(&mut eat);
        part.bytes().for_each(&mut eat);
    }
    format!("{hash:016x}")
}

/// Returns a fingerprint as a number.
#[must_use]
pub fn number(fingerprint: &str) -> u64 {
    u64::from_str_radix(fingerprint, 16).unwrap_or_default()
}

/// Returns the fingerprint of a finding: names unchanged, texts in their general form, and
/// paths relative to the working directory.
pub(crate) fn of_finding(cwd: Option<&str>, names: &[&str], texts: &[&str]) -> String {
    let cwd = cwd.map(|cwd| cwd.trim_end_matches('/')).filter(|cwd| cwd.len() > 1);
    let below = cwd.map(|cwd| format!("{cwd}/"));
    let general = |text: &&str| match &below {
        Some(cwd) => normalised(&text.replace(cwd, "")),
        None => normalised(text),
    };
    let texts: Vec<String> = texts.iter().map(general).collect();
    let parts: Vec<&str> = names.iter().copied().chain(texts.iter().map(String::as_str)).collect();
    of(&parts)
}

/// Returns the key of similar findings: the rule, the tool, the bucket and the message
/// without specific names.
#[must_use]
pub fn cluster(finding: &Finding) -> String {
    let bucket = finding.bucket.as_ref().map(|text| text.raw()).unwrap_or_default();
    of(&[finding.code, finding.tool.raw(), bucket, &kind_of_message(finding.message.raw())])
}

/// Removes paths, quotes and everything after a colon from a message.
fn kind_of_message(message: &str) -> String {
    let said = message.split_once(": ").map_or(message, |(said, _)| said);
    let mut out = String::new();
    let mut quote: Option<char> = None;
    for word in said.split_whitespace() {
        let opened =
            quote.or_else(|| word.chars().next().filter(|c| matches!(c, '`' | '"' | '\'')));
        if let Some(mark) = opened {
            let rest = if quote.is_none() { word.get(1..).unwrap_or_default() } else { word };
            quote = (!rest.contains(mark)).then_some(mark);
        }
        let word = if opened.is_some() || is_name(word) { "_" } else { word };
        // Several adjacent names are merged into one.
        if word != "_" || !out.ends_with("_ ") {
            out.push_str(word);
            out.push(' ');
        }
    }
    normalised(&out)
}

/// Whether the word looks like a path or a file name.
fn is_name(word: &str) -> bool {
    let word = word.trim_end_matches(['.', ',', ';', ':', ')']);
    let has_extension = word.rsplit_once('.').is_some_and(|(stem, extension)| {
        !stem.is_empty() && extension.starts_with(|c: char| c.is_ascii_alphabetic())
    });
    word.contains(['/', '\\']) || word.starts_with(['~', '.', '$']) || has_extension
}

/// Normalizes a text: one line, with every number and id replaced by 0.
#[must_use]
pub fn normalised(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text.trim();
    while let Some(first) = rest.chars().next() {
        if out.len() >= LONGEST {
            break;
        }
        let end = |stop: fn(char) -> bool| rest.find(stop).unwrap_or(rest.len());
        let len = if first.is_alphanumeric() {
            end(|c| !c.is_alphanumeric())
        } else if first.is_whitespace() {
            end(|c| !c.is_whitespace())
        } else {
            first.len_utf8()
        };
        let (word, after) = rest.split_at(len);
        rest = after;
        if first.is_whitespace() {
            out.push(' ');
        } else if is_id(word) {
            out.push('0');
        } else {
            general(word, &mut out);
        }
    }
    out
}

/// Whether the word looks like a hash or a part of a UUID.
fn is_id(word: &str) -> bool {
    word.len() >= 8
        && word.bytes().all(|b| b.is_ascii_hexdigit())
        && word.bytes().any(|b| b.is_ascii_digit())
}

/// Replaces every run of digits with one 0.
fn general(word: &str, out: &mut String) {
    let mut in_number = false;
    for c in word.chars() {
        let is_digit = c.is_ascii_digit();
        if !is_digit {
            out.push(c);
        } else if !in_number {
            out.push('0');
        }
        in_number = is_digit;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Checker;
    use toolmark_session::notation;

    #[test]
    fn numbers_and_ids_do_not_count() {
        for (text, want) in [
            ("read  again after 12 calls", "read again after 0 calls"),
            ("line 4:17 of a.rs", "line 0:0 of a.rs"),
            ("5f2c9e01ab at 3fa85f64-5717-4562", "0 at 0-0-0"),
            ("deadbeef feed", "deadbeef feed"),
            ("v2beta10\n", "v0beta0"),
            ("日本 12", "日本 0"),
        ] {
            assert_eq!(normalised(text), want);
        }
        assert!(normalised(&"a ".repeat(10_000)).len() <= LONGEST + 1);
    }

    #[test]
    fn names_do_not_make_a_kind() {
        for (one, other) in [
            ("a.rs was read again after 3 calls", "src/lib.rs was read again after 12 calls"),
            (
                "rm deletes in the home directory: /x, without saying so",
                "rm deletes in the home directory: ~/y",
            ),
            ("`cat a b` reads a file", "`head -3` reads a file"),
            ("an edit of .env replaces 3 lines", "an edit of Makefile.am replaces 9 lines"),
        ] {
            assert_eq!(kind_of_message(one), kind_of_message(other));
        }
        assert_ne!(kind_of_message("git discards a.rs"), kind_of_message("rm deletes a.rs"));
        assert_eq!(kind_of_message("an `unclosed quote"), "an _");
    }

    #[test]
    fn parts_are_told_apart() {
        assert_eq!(of(&["a", "b"]), of(&["a", "b"]));
        assert_ne!(of(&["ab", ""]), of(&["a", "b"]));
    }

    #[test]
    fn the_place_does_not_count_and_the_call_does() {
        let found = |trace: &str| {
            let checked = Checker::default().check(&notation::parse(trace).unwrap());
            checked.findings[0].fingerprint.clone()
        };
        let read = |cwd: &str, file: &str| {
            let line = format!("Read {{\"file_path\":\"{cwd}/{file}\"}} -> \"1\\tone\"\n");
            format!("cwd: {cwd}\n{line}{line}")
        };
        assert_eq!(found(&read("/w", "a.rs")), found(&read("/home/x/checkout", "a.rs")));
        assert_ne!(found(&read("/w", "a.rs")), found(&read("/w", "b.rs")));
        let later = format!("cwd: /w\nGlob {{\"pattern\":\"*\"}} -> \"\"\n{}", {
            read("/w", "a.rs").replace("cwd: /w\n", "")
        });
        assert_eq!(found(&read("/w", "a.rs")), found(&later));
    }
}
