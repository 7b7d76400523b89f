//! Text that code builds before using it: decoded, reversed, joined, replaced.

use super::value::{InlineValue, PartialText};

/// Evaluates functions that make text from other text.
pub(super) fn function(name: &str, args: &[InlineValue]) -> Option<InlineValue> {
    let last = name.rsplit('.').next().unwrap_or(name);
    let first = args.first()?;
    Some(match last {
        "b64decode" | "atob" | "decode64" | "strict_decode64" | "urlsafe_decode64"
        | "decode_base64" | "base64_decode" | "FromBase64String" => {
            first.map_text(crate::pipes::base64)
        }
        "from" if name.starts_with("Buffer") => {
            match args.get(1).and_then(InlineValue::certain).unwrap_or("") {
                "base64" | "base64url" => first.map_text(crate::pipes::base64),
                "hex" => first.map_text(crate::pipes::hex),
                _ => first.clone(),
            }
        }
        "fromhex" | "unhexlify" | "hex2bin" => first.map_text(crate::pipes::hex),
        "pack" if first.certain() == Some("H*") => args.get(1)?.map_text(crate::pipes::hex),
        "strrev" => first.map_text(reversed),
        "rot13" | "str_rot13" => first.map_text(rot13),
        "decode"
            if matches!(args.get(1).and_then(InlineValue::certain), Some("rot13" | "rot_13")) =>
        {
            first.map_text(rot13)
        }
        "split" if name.starts_with("shlex") || name.starts_with("Shellwords") => words(first),
        "implode" | "join" => {
            let between = first.certain()?;
            InlineValue::concat_all(args.get(1..)?, between)
        }
        "sprintf" | "format" | "printf" => format(first, args.get(1..)?),
        _ => return None,
    })
}

/// Evaluates text methods that return other text; `None` if the result is unknown.
pub(super) fn method(
    receiver: &InlineValue,
    name: &str,
    args: &[InlineValue],
) -> Option<InlineValue> {
    let first = args.first();
    Some(match name {
        "decode" | "encode" | "toString" | "strip" | "trim" | "chomp" | "rstrip" | "lstrip"
        | "expanduser" | "resolve" | "absolute" | "as_posix" | "to_s" | "to_str" | "freeze"
        | "toPath" | "toFile" | "expand_path" | "realpath" | "flat" | "reject" | "select"
        | "filter" | "sort" | "toArray" | "to_a" | "all" | "unwrap" | "lower" | "downcase" => {
            match (receiver, first) {
                (InlineValue::Unknown, _) => return None,
                (receiver, _) => receiver.clone(),
            }
        }
        "reverse" => match receiver {
            InlineValue::List(values) => InlineValue::List(values.iter().rev().cloned().collect()),
            other => other.map_text(reversed),
        },
        "replace" | "gsub" | "sub" | "replaceAll" | "tr" => {
            let (from, to) = (first?.certain()?, args.get(1)?.certain()?);
            receiver.map_text(|text| Some(text.replace(from, to)))
        }
        "join" => match (receiver, first) {
            // `' '.join(list)` of Python, `list.join(' ')` of others.
            (InlineValue::Text(between), Some(values)) if !between.dynamic => {
                InlineValue::concat_all(std::slice::from_ref(values), &between.text)
            }
            (InlineValue::List(values), between) => InlineValue::concat_all(
                values,
                between.and_then(InlineValue::certain).unwrap_or(","),
            ),
            _ => return None,
        },
        "split" => match first.and_then(InlineValue::certain) {
            Some("") => {
                let text = receiver.certain()?;
                InlineValue::List(text.chars().map(|c| InlineValue::text(c.to_string())).collect())
            }
            Some(between) if !between.trim().is_empty() => {
                let text = receiver.certain()?;
                InlineValue::List(text.split(between).map(InlineValue::text).collect())
            }
            _ => words(receiver),
        },
        "format" => format(receiver, args),
        "joinpath" | "concat" => args.iter().fold(receiver.clone(), |all, part| match name {
            "concat" => all.concat(part),
            _ => all.join(part),
        }),
        _ => return None,
    })
}

/// Returns the words of a text.
fn words(value: &InlineValue) -> InlineValue {
    let Some(known) = value.known() else { return InlineValue::Unknown };
    let word = |word: &str| {
        let dynamic = known.dynamic && word.contains('$');
        InlineValue::Text(PartialText { text: word.trim_matches(['\'', '"']).to_owned(), dynamic })
    };
    InlineValue::List(known.text.split_whitespace().map(word).collect())
}

/// Fills the placeholders of a pattern in order: `{}`, `{0}`, `{name}`, `%s`, `%d`.
pub(super) fn format(pattern: &InlineValue, args: &[InlineValue]) -> InlineValue {
    let Some(known) = pattern.known() else { return InlineValue::Unknown };
    let mut args = args.iter();
    let mut out = InlineValue::text("");
    let mut rest = known.text.as_str();
    while let Some(at) = rest.find(['{', '%']) {
        let (before, from) = rest.split_at(at);
        out = out.concat(&InlineValue::text(before));
        let end = match from.strip_prefix('{') {
            Some(inner) => inner.find('}').map(|end| end + 2),
            None => from.get(1..2).filter(|c| "sdr".contains(*c)).map(|_| 2),
        };
        match end {
            Some(end) => {
                out = out.concat(args.next().unwrap_or(&InlineValue::Unknown));
                rest = from.get(end..).unwrap_or("");
            }
            None => {
                out = out.concat(&InlineValue::text(from.get(..1).unwrap_or("")));
                rest = from.get(1..).unwrap_or("");
            }
        }
    }
    out.concat(&InlineValue::Text(PartialText { text: rest.to_owned(), dynamic: known.dynamic }))
}

pub(super) fn reversed(text: &str) -> Option<String> {
    Some(text.chars().rev().collect())
}

fn rot13(text: &str) -> Option<String> {
    let turn = |c: char, first: u8| char::from((c as u8 - first + 13) % 26 + first);
    let character = |c: char| match c {
        'a'..='z' => turn(c, b'a'),
        'A'..='Z' => turn(c, b'A'),
        c => c,
    };
    Some(text.chars().map(character).collect())
}
