//! Finds the end of a JSON value without parsing it.
//!
//! Used to separate concatenated values and the elements of a long array while the rest
//! of the file is still unread.

use crate::index::{Carry, carried, padded};
use crate::vector::{Best, VectorUnit, on_unit};

/// Result of [`value_end`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Split {
    /// The value ends before this byte.
    End(usize),
    /// The bytes end inside the value.
    Incomplete,
    /// No JSON value starts here.
    NotJson,
}

/// Finds the end of the JSON value that starts at `bytes[0]`.
///
/// Brackets are counted, not matched: the value still has to be parsed. A bare
/// token that runs to the end of the bytes counts as complete.
#[must_use]
pub fn value_end(bytes: &[u8]) -> Split {
    match bytes.first() {
        Some(b'{' | b'[') => container_end(bytes),
        Some(b'"') => match string_end(bytes, 0) {
            Some(end) => Split::End(end),
            None => Split::Incomplete,
        },
        Some(b'-' | b'0'..=b'9' | b't' | b'f' | b'n' | b'N' | b'I') => {
            let end = bytes
                .iter()
                .position(|b| b.is_ascii_whitespace() || matches!(b, b',' | b']' | b'}'));
            Split::End(end.unwrap_or(bytes.len()))
        }
        Some(_) => Split::NotJson,
        None => Split::Incomplete,
    }
}

fn container_end(bytes: &[u8]) -> Split {
    container_end_on(Best::get(), bytes)
}

on_unit!(fn container_end_on(bytes: &[u8]) -> Split = container_end_with);

#[inline(always)]
fn container_end_with<U: VectorUnit>(unit: U, bytes: &[u8]) -> Split {
    let mut carry = Carry::default();
    let mut depth = 0;
    let (blocks, tail) = bytes.as_chunks::<64>();
    let last = padded(tail);
    for (n, block) in blocks.iter().chain([&last]).enumerate() {
        let brackets = unit.brackets(block);
        let strings = carry.strings(unit, brackets.quote, brackets.backslash);
        carry.in_string = carried(strings.in_string);
        if brackets.backslash & !strings.in_string != 0 {
            // Outside strings a backslash escapes nothing; such text is not JSON.
            return container_end_plain(bytes);
        }
        let opening = brackets.opening & !strings.in_string;
        let closing = brackets.closing & !strings.in_string;
        if closing.count_ones() < depth {
            depth = depth + opening.count_ones() - closing.count_ones();
            continue;
        }
        let mut left = opening | closing;
        while left != 0 {
            if opening & left & left.wrapping_neg() != 0 {
                depth += 1;
            } else {
                depth -= 1;
            }
            if depth == 0 {
                return Split::End(n * 64 + left.trailing_zeros() as usize + 1);
            }
            left &= left - 1;
        }
    }
    Split::Incomplete
}

fn container_end_plain(bytes: &[u8]) -> Split {
    let mut depth = 0usize;
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => match string_end(bytes, at) {
                Some(end) => {
                    at = end;
                    continue;
                }
                None => return Split::Incomplete,
            },
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth -= 1;
                if depth == 0 {
                    return Split::End(at + 1);
                }
            }
            _ => {}
        }
        at += 1;
    }
    Split::Incomplete
}

/// Returns the byte after the closing quote of the string that opens at `at`.
fn string_end(bytes: &[u8], at: usize) -> Option<usize> {
    let mut at = at + 1;
    loop {
        at += memchr::memchr2(b'"', b'\\', bytes.get(at..)?)?;
        if bytes[at] == b'"' {
            return Some(at + 1);
        }
        at += 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn vector_equals_plain(
            parts in prop::collection::vec(
                r#"[{}\[\]:, \n]{0,9}|"[a-z{}\[\]é]{0,90}"|"(\\[nt"\\/]|\\u00e9|x|\}){0,60}"|[0-9]{1,5}|"|\\"#,
                0..40,
            )
        ) {
            for text in [format!("{{{}", parts.concat()), format!("[[{{{}", parts.concat())] {
                let wanted = container_end_plain(text.as_bytes());
                for unit in Best::all() {
                    prop_assert_eq!(container_end_on(unit, text.as_bytes()), wanted, "{}", text);
                }
            }
        }
    }

    #[test]
    fn ends() {
        for (text, want) in [
            (r#"{"a":"}"} x"#, Split::End(9)),
            (r#"[1,[2]],3"#, Split::End(7)),
            (r#""a\"b" "#, Split::End(6)),
            ("12,", Split::End(2)),
            ("true", Split::End(4)),
            (r#"{"a":"#, Split::Incomplete),
            (r#""a\"#, Split::Incomplete),
            ("", Split::Incomplete),
            ("DEBUG]", Split::NotJson),
        ] {
            assert_eq!(value_end(text.as_bytes()), want, "{text}");
        }
    }
}
