//! Placeholders of command lines: `{prompt_file}` and the like.

use std::ffi::OsString;
use toolmark_grade::run_plan::CommandLine;

/// The placeholders, by the name ours have and those that other systems write in
/// capitals.
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

/// The placeholders of a text that nobody knows.
#[must_use]
pub fn unknown(line: &CommandLine) -> Vec<String> {
    let all = texts(line).into_iter().flat_map(|text| pieces(text, is_capitals(line)));
    all.filter_map(|piece| match piece {
        Piece::Name(name) if !is_known(name) => Some(name.to_owned()),
        _ => None,
    })
    .collect()
}

/// Does a command line name this placeholder?
#[must_use]
pub fn names(line: &CommandLine, wanted: &str) -> bool {
    texts(line)
        .into_iter()
        .flat_map(|text| pieces(text, is_capitals(line)))
        .any(|piece| matches!(piece, Piece::Name(name) if name.eq_ignore_ascii_case(wanted)))
}

fn texts(line: &CommandLine) -> Vec<&str> {
    match line {
        CommandLine::Words(words) => words.iter().map(String::as_str).collect(),
        CommandLine::Shell(line) | CommandLine::Capitals(line) => vec![line],
    }
}

fn is_capitals(line: &CommandLine) -> bool {
    matches!(line, CommandLine::Capitals(_))
}

fn is_known(name: &str) -> bool {
    NAMES.iter().any(|known| known.eq_ignore_ascii_case(name))
}

enum Piece<'t> {
    Text(&'t str),
    Name(&'t str),
}

/// Cuts a text at its placeholders: a name of letters and underscores in braces. A
/// brace of JSON or of the shell is text, and so are names that have to be in capitals
/// and are not.
fn pieces(text: &str, capitals: bool) -> Vec<Piece<'_>> {
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
            pieces.push(Piece::Text(rest.get(..at).unwrap_or_default()));
            pieces.push(Piece::Name(name));
            rest = inner.get(name.len() + 1..).unwrap_or_default();
            from = 0;
        } else {
            from = at + 1;
        }
    }
    pieces.push(Piece::Text(rest));
    pieces
}

/// A command line with its placeholders filled in: a program and its arguments. In a
/// line for the shell the values are quoted.
#[must_use]
pub fn fill(line: &CommandLine, value: &dyn Fn(&str) -> String) -> Vec<OsString> {
    let filled = |text: &str, quotes: bool| {
        let mut out = String::new();
        for piece in pieces(text, is_capitals(line)) {
            match piece {
                Piece::Text(text) => out.push_str(text),
                // A list of words that are quoted already.
                Piece::Name(name) if name.eq_ignore_ascii_case("files") => {
                    out.push_str(&value("files"));
                }
                Piece::Name(name) if quotes => out.push_str(&quote(&value(&name.to_lowercase()))),
                Piece::Name(name) => out.push_str(&value(&name.to_lowercase())),
            }
        }
        out
    };
    match line {
        CommandLine::Words(words) => words.iter().map(|word| filled(word, false).into()).collect(),
        CommandLine::Shell(line) | CommandLine::Capitals(line) => {
            vec!["/bin/sh".into(), "-c".into(), filled(line, true).into()]
        }
    }
}

/// A word for the shell.
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
    fn unknown_ones_are_named() {
        let line = CommandLine::Shell("x {PROMPT} {promt} {b c} ${X} {".into());
        assert_eq!(unknown(&line), ["promt"]);
        assert!(names(&line, "prompt") && !names(&line, "files"));
    }
}
