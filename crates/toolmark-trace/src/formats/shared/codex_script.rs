//! Scripts with which Codex calls its tools since version 0.143:
//! `const r = await tools.exec_command({"cmd":"ls"}); text(r.output);`.
//!
//! Nearly all of these scripts call one tool and print its result. Such a script is read as that
//! call, so that the session has the same calls as one of an older version.

use crate::model::{Payload, Text};

/// The call inside a script.
#[derive(Debug)]
pub(crate) struct ScriptedCall {
    /// Name of the tool.
    pub(crate) name: String,
    /// Arguments, if they are constant.
    pub(crate) args: Option<Payload>,
}

/// Returns the only call of a tool in a script. `None` if it calls none or several: their
/// results cannot be told apart.
#[must_use]
pub(crate) fn only_call(script: &str) -> Option<ScriptedCall> {
    let code = Code::new(script);
    let mut calls = code.plain("tools.");
    let at = calls.next()?;
    if calls.next().is_some() {
        return None;
    }
    let rest = script.get(at + "tools.".len()..)?;
    let (name, args) = rest.split_once('(')?;
    let is_name = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    is_name.then(|| ScriptedCall { name: name.to_owned(), args: code.value(args.trim_start()) })
}

/// A script with the spans of its string literals.
struct Code<'s> {
    text: &'s str,
    strings: Vec<(usize, usize)>,
}

impl<'s> Code<'s> {
    fn new(text: &'s str) -> Self {
        let bytes = text.as_bytes();
        let mut strings = Vec::new();
        let mut at = 0;
        while let Some(byte) = bytes.get(at) {
            if matches!(byte, b'"' | b'\'' | b'`') {
                let end = end_of_string(bytes, at);
                strings.push((at, end));
                at = end;
            } else if *byte == b'/' && bytes.get(at + 1) == Some(&b'/') {
                at += memchr::memchr(b'\n', &bytes[at..]).unwrap_or(bytes.len() - at);
            } else {
                at += 1;
            }
        }
        Self { text, strings }
    }

    /// Returns the positions of a text outside of strings.
    fn plain<'c>(&'c self, words: &'c str) -> impl Iterator<Item = usize> + 'c {
        let inside = |at: usize| self.strings.iter().any(|(from, to)| (*from..*to).contains(&at));
        self.text.match_indices(words).map(|(at, _)| at).filter(move |at| !inside(*at))
    }

    /// Returns the value at the start of a text: a literal, or a constant that is set to one.
    fn value(&self, text: &str) -> Option<Payload> {
        match text.bytes().next()? {
            b'{' => object(text).map(|json| Payload::json(Text::owned(json))),
            b'"' | b'\'' | b'`' => self.string(text).map(|s| Payload::text(Text::owned(s))),
            _ => {
                let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_')?;
                let name = text.get(..end).filter(|name| !name.is_empty())?;
                // A constant that is changed on the way is not known.
                let is_whole = text.get(end..)?.trim_start().starts_with(')');
                let literal = is_whole.then(|| self.constant(name)).flatten()?;
                self.string(literal).map(|s| Payload::text(Text::owned(s)))
            }
        }
    }

    /// Returns the text from the literal on that a constant is set to.
    fn constant(&self, name: &str) -> Option<&'s str> {
        self.strings.iter().find_map(|(from, _)| {
            let before = self.text.get(..*from)?.trim_end();
            let before = before.strip_suffix("String.raw").unwrap_or(before).trim_end();
            let before = before.strip_suffix('=')?.trim_end();
            let is_it = before.strip_suffix(name).is_some_and(|before| before.ends_with(' '));
            is_it.then(|| self.text.get(*from..)).flatten()
        })
    }

    /// Decodes the string literal at the start of a text that nothing is done with.
    fn string(&self, text: &str) -> Option<String> {
        let end = end_of_string(text.as_bytes(), 0);
        let after = text.get(end..)?.trim_start();
        let is_whole = after.is_empty() || after.starts_with([';', ')', ',', '}']) || {
            // A line may end without a semicolon.
            text.get(end..)?.starts_with(['\n', '\r']) && !after.starts_with(['.', '+'])
        };
        let literal = text.get(..end)?;
        let is_raw = self.text.contains("String.raw`") && literal.starts_with('`');
        match is_raw {
            true => is_whole.then(|| literal.trim_matches('`').to_owned()),
            false => is_whole.then(|| decode(literal)).flatten(),
        }
    }
}

/// Returns the position behind the string literal that starts at this position.
fn end_of_string(bytes: &[u8], start: usize) -> usize {
    let quote = bytes.get(start).copied().unwrap_or(b'"');
    let mut at = start + 1;
    while let Some(byte) = bytes.get(at) {
        match *byte {
            b'\\' => at += 2,
            byte if byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// Decodes a string literal with its quotes. `None` for a template with parts to be computed.
fn decode(literal: &str) -> Option<String> {
    let quote = literal.chars().next()?;
    let inner = literal.strip_prefix(quote)?.strip_suffix(quote)?;
    if quote == '`' && inner.contains("${") {
        return None;
    }
    let mut text = String::with_capacity(inner.len());
    let mut units: Vec<u16> = Vec::new();
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        let escaped = if c == '\\' { chars.next() } else { None };
        if escaped == Some('u') {
            let digits: String = chars.by_ref().take(4).collect();
            units.push(u16::from_str_radix(&digits, 16).ok()?);
            continue;
        }
        text.push_str(&String::from_utf16_lossy(&units));
        units.clear();
        match escaped {
            None => text.push(c),
            Some('n') => text.push('\n'),
            Some('t') => text.push('\t'),
            Some('r') => text.push('\r'),
            Some('b') => text.push('\u{8}'),
            Some('f') => text.push('\u{c}'),
            Some('0') => text.push('\0'),
            Some('\n') => {}
            Some(other) => text.push(other),
        }
    }
    text.push_str(&String::from_utf16_lossy(&units));
    Some(text)
}

/// Returns the object literal at the start of a text as JSON. `None` if a value is not constant.
fn object(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let mut json = String::new();
    let mut depth = 0usize;
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match *byte {
            b'"' | b'\'' | b'`' => {
                let end = end_of_string(bytes, at);
                json.push_str(&serde_json::to_string(&decode(text.get(at..end)?)?).ok()?);
                at = end;
                continue;
            }
            b'{' | b'[' => {
                depth += 1;
                json.push(char::from(*byte));
            }
            b'}' | b']' => {
                depth -= 1;
                if json.ends_with(',') {
                    json.pop();
                }
                json.push(char::from(*byte));
                if depth == 0 {
                    return serde_json::from_str::<serde_json::Value>(&json)
                        .is_ok()
                        .then_some(json);
                }
            }
            b':' | b',' | b'-' | b'.' | b'0'..=b'9' => json.push(char::from(*byte)),
            byte if byte.is_ascii_whitespace() => {}
            byte if byte.is_ascii_alphabetic() || byte == b'_' => {
                let is_word = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_';
                let end = at + bytes[at..].iter().take_while(|b| is_word(b)).count();
                let word = text.get(at..end)?;
                match text.get(end..)?.trim_start().starts_with(':') {
                    true => json.push_str(&format!("\"{word}\"")),
                    false if matches!(word, "true" | "false" | "null") => json.push_str(word),
                    false => return None,
                }
                at = end;
                continue;
            }
            _ => return None,
        }
        at += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::only_call;

    #[test]
    fn calls_in_scripts() {
        for (script, want) in [
            (
                r#"const r = await tools.exec_command({"cmd":"ls \"a\"","n":5}); text(r.output);"#,
                Some(("exec_command", Some(r#"{"cmd":"ls \"a\"","n":5}"#))),
            ),
            (
                "const r = await tools.exec_command({cmd: 'ls', tty: true,}); text(r.output)",
                Some(("exec_command", Some(r#"{"cmd":"ls","tty":true}"#))),
            ),
            (
                r#"const patch = "*** Begin Patch\n+tools.x(\n*** End Patch";
text(await tools.apply_patch(patch));"#,
                Some(("apply_patch", Some("*** Begin Patch\n+tools.x(\n*** End Patch"))),
            ),
            (
                "const p = String.raw`a\\nb`;\nawait tools.apply_patch(p)",
                Some(("apply_patch", Some("a\\nb"))),
            ),
            (
                r#"const p = "a"; const q = p.replace("a", "b"); await tools.apply_patch(q)"#,
                Some(("apply_patch", None)),
            ),
            ("const c = 'x'; await tools.exec_command({cmd: c})", Some(("exec_command", None))),
            ("await tools.exec_command({cmd: `ls ${x}`})", Some(("exec_command", None))),
            ("await Promise.all([tools.a({}), tools.b({})])", None),
            ("text('tools.a({})')", None),
            ("const x = tools.", None),
        ] {
            let found = only_call(script);
            let found = found.as_ref().map(|call| {
                (call.name.as_str(), call.args.as_ref().map(|args| args.raw().into_owned()))
            });
            let want = want.map(|(name, args)| (name, args.map(str::to_owned)));
            assert_eq!(found, want, "{script}");
        }
    }
}
