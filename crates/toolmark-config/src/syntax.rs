//! Translates errors of the YAML parser into messages with a suggested fix.

use crate::yaml::too_deep;
use crate::{NodeSpan, Problem, quoted};

/// Part of the parser's message, description of the problem, and suggested fix.
const MEANINGS: &[(&str, &str, &str)] = &[
    ("tab", "unexpected tab in the indentation", "indent with spaces"),
    (
        "quoted scalar, found unexpected end of stream",
        "unclosed quote",
        "add the closing quote; inside single quotes, write ' as ''",
    ),
    (
        "indentation in quoted scalar",
        "unclosed quote",
        "add the closing quote, or indent the lines that belong to the text",
    ),
    (
        "unexpected document indicator",
        "unclosed quote",
        "add the closing quote before the next document",
    ),
    (
        "unknown escape character",
        "unknown escape sequence",
        "use single quotes, or write \\\\ for a backslash",
    ),
    (
        "hexadecimal number",
        "escape sequence with too few digits",
        "use single quotes, or write \\\\ for a backslash",
    ),
    (
        "Unicode character escape code",
        "escape sequence of a character that does not exist",
        "write characters outside of the basic plane as they are, or as \\U0001F600",
    ),
    (
        "mapping values are not allowed",
        "unexpected ':'",
        "quote text that contains \": \", or check the indentation",
    ),
    (
        "illegal placement of ':'",
        "unexpected ':'",
        "quote text that contains \": \", or check the indentation",
    ),
    ("simple key expect", "expected a colon after the key", "write `key: value`"),
    ("mapping keys are not allowed", "unexpected key", "check the indentation"),
    ("did not find expected key", "expected a key", "check the indentation"),
    (
        "did not find expected '-' indicator",
        "expected the next item of the list",
        "check the indentation; every item starts with a dash",
    ),
    (
        "block sequence entries are not allowed",
        "unexpected list item",
        "start a new line for the first dash",
    ),
    ("expected ',' or '}'", "expected a comma or a closing brace", "add , or }"),
    ("expected ',' or ']'", "expected a comma or a closing bracket", "add , or ]"),
    ("misplaced bracket", "closing bracket without an opening one", "remove it, or quote it"),
    ("unknown anchor", "alias without an anchor", "define the anchor with &NAME before *NAME"),
    (
        "trailing content after double-quoted",
        "unexpected text after a closing quote",
        "quote the whole value, or none of it",
    ),
    ("unexpected character", "text that starts with a reserved character", "quote the text"),
    ("plain scalar cannot start", "text that starts like a list", "quote the text"),
    ("unprintable character", "invalid character", "remove it"),
    ("byte order mark", "byte order mark inside the text", "remove it"),
    ("indentation", "the indentation does not match any line above", "align it with a line above"),
    ("wrongly indented line", "the line is not indented enough", "indent it like the first line"),
    ("expected node content", "expected a value", "remove the extra comma or bracket"),
    (
        "comment intercepting",
        "comment inside text of several lines",
        "move the comment, or quote the text",
    ),
    ("handle wasn't declared", "undeclared tag", "quote text that starts with !"),
];

/// Returns the problem of a text that stops being YAML at byte `at`.
pub(crate) fn problem(text: &str, at: usize, info: &str) -> Box<Problem> {
    let at = blamed(text, at.min(text.len()), info);
    if info.contains("recursion limit") {
        return too_deep(NodeSpan::new(at, at));
    }
    let rest = text.get(at..).unwrap_or_default();
    let end = at + rest.chars().next().filter(|&c| c != '\n').map_or(0, char::len_utf8);
    let open = info.contains("node content") || info.contains("',' or");
    let (what, help) = if open && rest.trim().is_empty() {
        ("unclosed bracket", Some("add the closing ] or }"))
    } else {
        let meaning = MEANINGS.iter().find(|(part, ..)| info.contains(part));
        meaning.map_or((info, None), |(_, what, help)| (*what, Some(*help)))
    };
    let mut problem = Problem::error("syntax", what).at(NodeSpan::new(at, end));
    problem.help = help.map(str::to_owned);
    if info.contains("unknown anchor") {
        let name = rest.split(|c: char| c.is_whitespace() || ",]}".contains(c)).next();
        problem.label = name.map(|name| format!("{} is not defined", quoted(name)));
    }
    Box::new(problem)
}

/// Returns the position to show for an error that the parser reported at `at`.
fn blamed(text: &str, at: usize, info: &str) -> usize {
    let (before, rest) = text.split_at_checked(at).unwrap_or((text, ""));
    if info.contains("tab") {
        let line = before.rfind('\n').map_or(0, |end| end + 1);
        let earlier = before.get(line..).and_then(|indent| indent.find('\t')).map(|tab| line + tab);
        return earlier.or_else(|| rest.find('\t').map(|tab| at + tab)).unwrap_or(at);
    }
    if info.contains("escape") || info.contains("hexadecimal") {
        return at + bad_escape(rest).unwrap_or(0);
    }
    // What is missing at the very end is missing behind the last word.
    if rest.is_empty() { text.trim_end().len() } else { at }
}

/// Returns the first invalid escape in a double-quoted text.
fn bad_escape(text: &str) -> Option<usize> {
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        if c != '\\' {
            continue;
        }
        let (_, letter) = chars.next()?;
        let digits = match letter {
            'x' => 2,
            'u' => 4,
            'U' => 8,
            _ if "0abt\tnvfre \"/\\N_LP\r\n".contains(letter) => continue,
            _ => return Some(at),
        };
        let code = text.get(at + 2..at + 2 + digits);
        let code = code.and_then(|code| u32::from_str_radix(code, 16).ok());
        if code.and_then(char::from_u32).is_none() {
            return Some(at);
        }
    }
    None
}
