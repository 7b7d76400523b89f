//! Tokenizer for Python expressions.

use super::literal::Literal;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum PythonToken<'a> {
    Word(&'a str),
    Op(&'a str),
    /// A number.
    Value(Literal),
    Text(String),
    Bytes(String),
    /// An f-string, which is not a constant.
    Formatted,
}

/// Reserved words, which cannot be names.
const KEYWORDS: &str = "False None True and as assert async await break class continue def del elif \
                        else except finally for from global if import in is lambda nonlocal not \
                        or pass raise return try while with yield";

pub(super) fn is_keyword(word: &str) -> bool {
    KEYWORDS.split(' ').any(|keyword| keyword == word)
}

/// Whether a token is a binary operator, including comparisons.
pub(super) fn is_binary(token: &PythonToken<'_>) -> bool {
    matches!(
        token,
        PythonToken::Op(
            "<" | ">"
                | "<="
                | ">="
                | "=="
                | "!="
                | "|"
                | "^"
                | "&"
                | "<<"
                | ">>"
                | "+"
                | "-"
                | "*"
                | "/"
                | "//"
                | "%"
                | "@"
        ) | PythonToken::Word("in" | "is")
    )
}

/// Operators, longest first.
const OPS: [&str; 35] = [
    "...", "**", "//", "<<", ">>", "<=", ">=", "==", "!=", ":=", "->", "(", ")", "[", "]", "{",
    "}", ",", ":", ".", "=", "+", "-", "*", "/", "%", "@", "&", "|", "^", "~", "<", ">", ";", "!",
];

/// Tokenizes a text; `None` if it contains an invalid token.
pub(super) fn tokens(text: &str) -> Option<Vec<PythonToken<'_>>> {
    let mut found = Vec::new();
    let mut rest = text;
    let mut depth = 0usize;
    while let Some(first) = rest.chars().next() {
        if matches!(first, ' ' | '\t' | '\x0c') {
            rest = &rest[1..];
        } else if matches!(first, '\n' | '\r') {
            // A line ends an expression that no bracket keeps open.
            if depth == 0 {
                return None;
            }
            rest = &rest[1..];
        } else if first == '#' {
            rest = rest.find('\n').map_or("", |end| &rest[end..]);
        } else if let Some(joined) = rest.strip_prefix("\\\n") {
            rest = joined;
        } else if let Some((token, after)) = string(rest) {
            found.push(token?);
            rest = after;
        } else if first.is_ascii_digit() || is_point_number(rest) {
            let (value, after) = number(rest)?;
            found.push(PythonToken::Value(value));
            rest = after;
        } else if first == '_' || first.is_alphabetic() {
            let end = rest.find(|c: char| c != '_' && !c.is_alphanumeric()).unwrap_or(rest.len());
            found.push(PythonToken::Word(&rest[..end]));
            rest = &rest[end..];
        } else {
            let op = OPS.iter().find(|op| rest.starts_with(**op))?;
            match *op {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth = depth.checked_sub(1)?,
                _ => {}
            }
            found.push(PythonToken::Op(op));
            rest = &rest[op.len()..];
        }
    }
    Some(found)
}

fn is_point_number(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next() == Some(b'.') && bytes.next().is_some_and(|b| b.is_ascii_digit())
}

/// Parses a number and returns the rest.
fn number(text: &str) -> Option<(Literal, &str)> {
    let bytes = text.as_bytes();
    let radix = match (bytes.first(), bytes.get(1).map(u8::to_ascii_lowercase)) {
        (Some(b'0'), Some(b'x')) => Some(16),
        (Some(b'0'), Some(b'o')) => Some(8),
        (Some(b'0'), Some(b'b')) => Some(2),
        _ => None,
    };
    if let Some(radix) = radix {
        let end = text.find(|c: char| c != '_' && !c.is_alphanumeric()).unwrap_or(text.len());
        let digits = digits(text[2..end].strip_prefix('_').unwrap_or(&text[2..end]))?;
        return Some((whole(&digits, radix)?, &text[end..]));
    }
    let mut end = run(text, 0);
    let mut is_float = false;
    if bytes.get(end) == Some(&b'.') {
        is_float = true;
        end = run(text, end + 1);
    }
    if bytes.get(end).is_some_and(|b| b.eq_ignore_ascii_case(&b'e')) {
        let signed = matches!(bytes.get(end + 1), Some(b'+' | b'-'));
        let start = end + 1 + usize::from(signed);
        let after = run(text, start);
        if after == start {
            return None;
        }
        is_float = true;
        end = after;
    }
    let written = &text[..end];
    let imaginary = bytes.get(end).is_some_and(|b| b.eq_ignore_ascii_case(&b'j'));
    let after = &text[end + usize::from(imaginary)..];
    // `1abc` is not a number.
    if after.starts_with(|c: char| c == '_' || c.is_alphanumeric()) {
        return None;
    }
    let mut plain = String::new();
    for part in written.split_inclusive(['.', 'e', 'E', '+', '-']) {
        let (part_digits, mark) = match part.char_indices().last() {
            Some((at, c)) if !c.is_ascii_digit() && c != '_' => part.split_at(at),
            _ => (part, ""),
        };
        if !part_digits.is_empty() {
            plain.push_str(&digits(part_digits)?);
        }
        plain.push_str(mark);
    }
    if imaginary || is_float {
        let value = plain.parse::<f64>().ok()?;
        return Some((
            if imaginary { Literal::Imaginary(value) } else { Literal::Float(value) },
            after,
        ));
    }
    // `01` is not a number, `00` is.
    if plain.len() > 1 && plain.starts_with('0') && plain.bytes().any(|b| b != b'0') {
        return None;
    }
    Some((whole(&plain, 10)?, after))
}

/// Returns the end of the digits and underscores from `start` on.
fn run(text: &str, start: usize) -> usize {
    let rest = text.get(start..).unwrap_or("");
    start + rest.bytes().take_while(|b| b.is_ascii_digit() || *b == b'_').count()
}

/// Returns digits without their underscores, which must be between two digits.
fn digits(text: &str) -> Option<String> {
    let good = !text.is_empty() && !text.starts_with('_') && !text.ends_with('_');
    (good && !text.contains("__")).then(|| text.replace('_', ""))
}

fn whole(digits: &str, radix: u32) -> Option<Literal> {
    if !digits.chars().all(|c| c.is_digit(radix)) {
        return None;
    }
    if let Ok(int) = i128::from_str_radix(digits, radix) {
        return Some(Literal::Int(int));
    }
    if radix == 10 {
        return digits.parse().ok().map(Literal::Huge);
    }
    let value = digits.chars().filter_map(|c| c.to_digit(radix));
    Some(Literal::Huge(
        value.fold(0.0, |sum, digit| sum.mul_add(f64::from(radix), f64::from(digit))),
    ))
}

/// Parses a string with its prefix: returns the token (`None` if it is invalid) and the rest.
fn string(text: &str) -> Option<(Option<PythonToken<'_>>, &str)> {
    let quote_at = text.bytes().take(3).position(|b| matches!(b, b'\'' | b'"'))?;
    let prefix = text[..quote_at].to_ascii_lowercase();
    let (mut raw, mut bytes, mut formatted) = (false, false, false);
    match prefix.as_str() {
        "" | "u" => {}
        "r" => raw = true,
        "b" => bytes = true,
        "br" | "rb" => (raw, bytes) = (true, true),
        "f" => formatted = true,
        "fr" | "rf" => (raw, formatted) = (true, true),
        _ => return None,
    }
    let body = &text[quote_at..];
    let quote =
        if body.starts_with("\"\"\"") || body.starts_with("'''") { &body[..3] } else { &body[..1] };
    let inside = &body[quote.len()..];
    let Some(end) = closing(inside, quote) else { return Some((None, "")) };
    let (inside, after) = (&inside[..end], &inside[end + quote.len()..]);
    // Characters by name would need a table of all names: what they are stays open.
    let named = !raw && !bytes && inside.contains("\\N{");
    let token = if formatted || named {
        Some(PythonToken::Formatted)
    } else {
        let decoded = if raw { Some(inside.to_owned()) } else { unescaped(inside, bytes) };
        match bytes {
            true if !inside.is_ascii() => None,
            true => decoded.map(PythonToken::Bytes),
            false => decoded.map(PythonToken::Text),
        }
    };
    Some((token, after))
}

/// Returns the position of the closing quote, which is not escaped.
fn closing(inside: &str, quote: &str) -> Option<usize> {
    let bytes = inside.as_bytes();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 1,
            b'\n' if quote.len() == 1 => return None,
            _ if bytes[at..].starts_with(quote.as_bytes()) => return Some(at),
            _ => {}
        }
        at += 1;
    }
    None
}

/// Decodes escapes; `None` if one is invalid.
fn unescaped(inside: &str, bytes: bool) -> Option<String> {
    if !inside.contains('\\') {
        return Some(inside.to_owned());
    }
    let mut text = String::with_capacity(inside.len());
    let mut rest = inside;
    while let Some(at) = rest.find('\\') {
        text.push_str(&rest[..at]);
        let mut after = rest[at + 1..].chars();
        let escape = after.next()?;
        rest = after.as_str();
        let code = match escape {
            '\n' => continue,
            '\\' | '\'' | '"' => escape as u32,
            'a' => 7,
            'b' => 8,
            'f' => 12,
            'n' => 10,
            'r' => 13,
            't' => 9,
            'v' => 11,
            '0'..='7' => {
                let more = rest.bytes().take(2).take_while(|b| matches!(b, b'0'..=b'7')).count();
                let mut code = escape.to_digit(8)?;
                for digit in rest[..more].chars() {
                    code = code * 8 + digit.to_digit(8)?;
                }
                rest = &rest[more..];
                code
            }
            'x' => hex(&mut rest, 2)?,
            'u' if !bytes => hex(&mut rest, 4)?,
            'U' if !bytes => hex(&mut rest, 8)?,
            other => {
                // Unknown escapes stay as they are written.
                text.extend(['\\', other]);
                continue;
            }
        };
        // Half a surrogate pair is a text no JSON has.
        text.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
    }
    text.push_str(rest);
    Some(text)
}

fn hex(rest: &mut &str, length: usize) -> Option<u32> {
    let digits = rest.get(..length)?;
    if !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    *rest = &rest[length..];
    u32::from_str_radix(digits, 16).ok().filter(|code| *code <= 0x0010_FFFF)
}
