//! Placeholders of command lines, such as `{prompt_file}`.

use std::ffi::OsString;
use toolmark_grade::run_plan::CommandLine;

/// The placeholders, by toolmark's names; other systems write the same names in capitals.
pub const NAMES: &[&str] = &[
    "prompt",
    "prompt_file",
    "workspace",
    "case",
    "eval_id",
    "target",
    "model",
    "trial",
    "attempt",
    "output_file",
    "files",
    "guidelines",
    "home",
    "session_id",
    "spec_dir",
];

/// Returns the placeholders of a command line that are not in the list.
#[must_use]
pub fn unknown(line: &CommandLine, known: &[&str]) -> Vec<String> {
    let is_known = |name: &str| known.iter().any(|known| known.eq_ignore_ascii_case(name));
    // Where two braces make a placeholder, others stay as they are.
    let texts = texts(line).into_iter().filter(|_| !matches!(line, CommandLine::DoubleBraces(_)));
    let all = texts.flat_map(|text| pieces(text, is_capitals(line)));
    all.filter_map(|piece| match piece {
        PlaceholderPiece::Name(name) if !is_known(name) => Some(name.to_owned()),
        _ => None,
    })
    .collect()
}

/// Whether a command line contains this placeholder.
#[must_use]
pub fn names(line: &CommandLine, wanted: &str) -> bool {
    texts(line).into_iter().flat_map(|text| pieces(text, is_capitals(line))).any(
        |piece| matches!(piece, PlaceholderPiece::Name(name) if name.eq_ignore_ascii_case(wanted)),
    )
}

fn texts(line: &CommandLine) -> Vec<&str> {
    match line {
        CommandLine::Words(words) | CommandLine::DoubleBraces(words) => {
            words.iter().map(String::as_str).collect()
        }
        CommandLine::Shell(line) | CommandLine::Capitals(line) => vec![line],
    }
}

fn is_capitals(line: &CommandLine) -> bool {
    matches!(line, CommandLine::Capitals(_))
}

enum PlaceholderPiece<'t> {
    Text(&'t str),
    Name(&'t str),
}

/// Splits a text at its placeholders: names of letters and underscores in braces. Other braces, as
/// in JSON or the shell, are text, and so are lower-case names where capitals are required.
fn pieces(text: &str, capitals: bool) -> Vec<PlaceholderPiece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = text;
    let mut from = 0;
    while let Some(at) = rest.get(from..).and_then(|rest| rest.find('{')).map(|at| at + from) {
        let inner = rest.get(at + 1..).unwrap_or_default();
        let name = inner.split('}').next().unwrap_or_default();
        let is_closed = inner.len() > name.len();
        let is_name =
            !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphabetic() || b == b'_');
        let is_name = is_name && !(capitals && name.bytes().any(|b| b.is_ascii_lowercase()));
        // `${NAME}` is the shell's.
        let is_shell = rest.get(..at).is_some_and(|before| before.ends_with('$'));
        if is_closed && is_name && !is_shell {
            pieces.push(PlaceholderPiece::Text(rest.get(..at).unwrap_or_default()));
            pieces.push(PlaceholderPiece::Name(name));
            rest = inner.get(name.len() + 1..).unwrap_or_default();
            from = 0;
        } else {
            from = at + 1;
        }
    }
    pieces.push(PlaceholderPiece::Text(rest));
    pieces
}

/// Fills in the placeholders of a command line: returns the program and its arguments. In a shell
/// command the values are quoted.
#[must_use]
pub fn fill(line: &CommandLine, value: &dyn Fn(&str) -> String) -> Vec<OsString> {
    fill_known(line, &|name| Some(value(name)))
}

/// Like `fill`, if some names have no value: they are replaced by the empty string, or left
/// unchanged in the syntax with double braces.
#[must_use]
pub(crate) fn fill_known(
    line: &CommandLine,
    known: &dyn Fn(&str) -> Option<String>,
) -> Vec<OsString> {
    let value = |name: &str| known(name).unwrap_or_default();
    let filled = |text: &str, quotes: bool| {
        let mut out = String::new();
        for piece in pieces(text, is_capitals(line)) {
            match piece {
                PlaceholderPiece::Text(text) => out.push_str(text),
                // A list of words that are quoted already.
                PlaceholderPiece::Name(name) if name.eq_ignore_ascii_case("files") => {
                    out.push_str(&value("files"));
                }
                PlaceholderPiece::Name(name) if quotes => {
                    out.push_str(&quote(&value(&name.to_lowercase())))
                }
                PlaceholderPiece::Name(name) => out.push_str(&value(&name.to_lowercase())),
            }
        }
        out
    };
    match line {
        CommandLine::Words(words) => words.iter().map(|word| filled(word, false).into()).collect(),
        CommandLine::Shell(line) | CommandLine::Capitals(line) => {
            vec!["/bin/sh".into(), "-c".into(), filled(line, true).into()]
        }
        CommandLine::DoubleBraces(words) => {
            words.iter().map(|word| double_braces(word, known).into()).collect()
        }
    }
}

/// Fills in `{{name}}` for known names.
fn double_braces(text: &str, known: &dyn Fn(&str) -> Option<String>) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, inner)) = rest.split_once("{{") {
        out.push_str(before);
        match inner.split_once("}}").and_then(|(name, after)| Some((known(name)?, after))) {
            Some((value, after)) => {
                out.push_str(&value);
                rest = after;
            }
            None => {
                out.push_str("{{");
                rest = inner;
            }
        }
    }
    out.push_str(rest);
    out
}

/// Quotes a word for the shell.
#[must_use]
pub fn quote(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(name: &str) -> String {
        match name {
            "prompt" => "it's $HOME".to_owned(),
            "eval_id" => "c 1".to_owned(),
            "files" => "'a b' c".to_owned(),
            _ => String::new(),
        }
    }

    #[test]
    fn values_are_words_or_quoted() {
        let words =
            CommandLine::Words(vec!["./a".into(), "--x={prompt}".into(), "{\"a\": 1}".into()]);
        assert_eq!(fill(&words, &values), ["./a", "--x=it's $HOME", "{\"a\": 1}"]);
        let shell = CommandLine::Shell("run {EVAL_ID} ${HOME} {PROMPT} {}".into());
        let filled = fill(&shell, &values);
        assert_eq!(filled[2], r"run 'c 1' ${HOME} 'it'\''s $HOME' {}");
        let capitals = CommandLine::Capitals("awk '{print}' {EVAL_ID} {prompt} {FILES}".into());
        let filled = fill(&capitals, &values);
        assert_eq!(filled[2], "awk '{print}' 'c 1' {prompt} 'a b' c");
    }

    #[test]
    fn two_braces_make_a_placeholder_where_that_is_asked_for() {
        let words = ["{{eval_id}}-{{other}}", "{prompt}", "{{", "a}}{{eval_id}}"];
        let line = CommandLine::DoubleBraces(words.map(str::to_owned).to_vec());
        let known = |name: &str| Some(values(name)).filter(|value| !value.is_empty());
        let filled = fill_known(&line, &known);
        assert_eq!(filled, ["c 1-{{other}}", "{prompt}", "{{", "a}}c 1"]);
        assert!(unknown(&line, NAMES).is_empty());
    }

    #[test]
    fn unknown_ones_are_named() {
        let line = CommandLine::Shell("x {PROMPT} {promt} {b c} ${X} {".into());
        assert_eq!(unknown(&line, NAMES), ["promt"]);
        assert_eq!(unknown(&line, &["promt"]), ["PROMPT"]);
        assert!(names(&line, "prompt") && !names(&line, "files"));
    }
}
