//! Data flowing through pipes and substitutions, as far as known: literal text, a download, a
//! secret, decoded bytes.

use crate::expand::Arg;
use crate::ir::{IrNode, Script, Simple};
use crate::words::escape;

/// Data that a command reads from its standard input or writes to its output.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum Flow {
    /// No data.
    #[default]
    None,
    /// Literal text.
    Text(String),
    /// Text from the network.
    Remote,
    /// The content of a secret.
    Secret,
    /// Decoded bytes.
    Decoded,
    /// The content of a file.
    File(String),
    /// A version of a file from version control.
    Version(String),
    /// Unknown data.
    Unknown,
}

/// Returns the only simple command of a script.
fn only(script: &Script) -> Option<&Simple> {
    match script.items.as_slice() {
        [item] => match item.pipeline.stages.as_slice() {
            [IrNode::Simple(simple)] if simple.redirections.is_empty() => Some(simple),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the output of a script that only prints literal words.
pub(crate) fn literal_output(script: &Script) -> Option<String> {
    let [item] = script.items.as_slice() else { return None };
    let (first, filters) = item.pipeline.stages.split_first()?;
    let words = fixed_words(first)?;
    let (program, rest) = words.split_first()?;
    if !filters.is_empty() {
        let mut flow = Flow::Text(printed(&program.text, rest)?);
        for filter in filters {
            let words = fixed_words(filter)?;
            let (program, rest) = words.split_first()?;
            flow = filtered(&program.text, rest, &flow);
        }
        let Flow::Text(text) = flow else { return None };
        return Some(text.trim_end_matches('\n').to_owned());
    }
    // The path of a program is known well enough.
    if let ("which" | "command", [.., name]) = (program.text.as_str(), rest)
        && (program.text == "which" || rest.first().is_some_and(|flag| flag.text == "-v"))
    {
        return Some(format!("/usr/bin/{}", name.text));
    }
    let text = printed(&program.text, rest)?;
    Some(text.trim_end_matches('\n').to_owned())
}

/// Returns the words of a simple command without redirections, if all of them are known.
fn fixed_words(node: &IrNode) -> Option<Vec<Arg>> {
    let IrNode::Simple(simple) = node else { return None };
    let words = simple
        .words
        .iter()
        .map(|word| word.fixed().filter(|_| !word.is_glob()).map(|text| Arg::plain(&text)));
    words.collect::<Option<Vec<Arg>>>().filter(|_| simple.redirections.is_empty())
}

/// Whether a script makes a temporary file or directory and prints its path.
pub(crate) fn makes_temporary(script: &Script) -> bool {
    only(script)
        .and_then(|simple| simple.words.first())
        .and_then(crate::ir::Word::literal)
        .is_some_and(|program| matches!(program.as_str(), "mktemp" | "gmktemp" | "tempfile"))
}

/// Returns the output of `echo` and `printf` if every word is known.
pub(crate) fn printed(program: &str, args: &[Arg]) -> Option<String> {
    let texts: Option<Vec<&str>> = args.iter().map(Arg::literal).collect();
    let mut texts = texts?;
    match program {
        "echo" => {
            let mut escapes = false;
            let mut end = "\n";
            while let Some(first) = texts.first() {
                let flag = first.strip_prefix('-').filter(|f| {
                    !f.is_empty() && f.bytes().all(|b| matches!(b, b'n' | b'e' | b'E'))
                });
                let Some(flag) = flag else { break };
                escapes |= flag.contains('e');
                end = if flag.contains('n') { "" } else { end };
                texts.remove(0);
            }
            let text = texts.join(" ");
            Some(if escapes { unescape(&text) } else { text } + end)
        }
        "cat" if texts == ["/dev/null"] => Some(String::new()),
        "printf" => {
            if texts.first() == Some(&"--") {
                texts.remove(0);
            }
            let (format, rest) = texts.split_first()?;
            let mut out = String::new();
            let mut rest = rest.iter();
            let mut pieces = unescape(format);
            if !pieces.contains('%') {
                return Some(pieces);
            }
            // Every conversion takes the next argument; the format repeats.
            let format = std::mem::take(&mut pieces);
            for _ in 0..64 {
                let mut chars = format.chars();
                while let Some(c) = chars.next() {
                    if c != '%' {
                        out.push(c);
                        continue;
                    }
                    match chars.next() {
                        Some('%') => out.push('%'),
                        Some('b') => out.push_str(&unescape(rest.next().unwrap_or(&""))),
                        Some(_) => out.push_str(rest.next().unwrap_or(&"")),
                        None => out.push('%'),
                    }
                }
                if rest.len() == 0 {
                    return Some(out);
                }
            }
            None
        }
        _ => None,
    }
}

fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(rest.get(..at).unwrap_or(""));
        rest = rest.get(at + 1..).unwrap_or("");
        let used = escape(rest, &mut out);
        rest = rest.get(used..).unwrap_or("");
    }
    out.push_str(rest);
    out
}

/// Returns the output of a filter for an input.
pub(crate) fn filtered(program: &str, args: &[Arg], input: &Flow) -> Flow {
    let has = |names: &[&str]| args.iter().any(|arg| names.contains(&arg.text.as_str()));
    let decodes = match program {
        "base64" | "gbase64" | "base32" => has(&["-d", "-D", "--decode", "-di", "-id"]),
        "openssl" => has(&["-d"]) && has(&["base64", "enc"]),
        "xxd" => args.iter().any(|arg| arg.text.starts_with("-r") || arg.text == "-pr"),
        "gunzip" | "zcat" | "gzcat" | "uudecode" | "xz" | "unxz" | "bunzip2" => true,
        "gzip" => has(&["-d", "-dc", "-cd", "--decompress"]),
        _ => false,
    };
    match input {
        Flow::Text(text) if decodes => {
            let decoded = match program {
                "base64" | "gbase64" | "openssl" => base64(text),
                "xxd" => hex(text),
                _ => None,
            };
            decoded.map_or(Flow::Decoded, Flow::Text)
        }
        Flow::Text(text) => match program {
            "cat" | "tee" | "head" | "tail" | "sort" | "uniq" => Flow::Text(text.clone()),
            "rev" => Flow::Text(text.trim_end().chars().rev().collect()),
            _ => Flow::Unknown,
        },
        Flow::Remote => Flow::Remote,
        Flow::Secret => Flow::Secret,
        Flow::File(_) | Flow::Version(_) | Flow::Unknown | Flow::Decoded if decodes => {
            Flow::Decoded
        }
        Flow::None if decodes => Flow::Decoded,
        Flow::None => Flow::Unknown,
        Flow::Version(_) if !matches!(program, "cat" | "tee") => Flow::Unknown,
        other => other.clone(),
    }
}

pub(crate) fn base64(text: &str) -> Option<String> {
    let mut out = Vec::new();
    let (mut bits, mut count) = (0_u32, 0);
    for byte in text.bytes() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            b'=' | b'\n' | b'\r' | b' ' => continue,
            _ => return None,
        };
        bits = (bits << 6) | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push(((bits >> count) & 0xff) as u8);
        }
    }
    String::from_utf8(out).ok()
}

pub(crate) fn hex(text: &str) -> Option<String> {
    let digits: Option<Vec<u32>> =
        text.chars().filter(|c| !c.is_whitespace()).map(|c| c.to_digit(16)).collect();
    let bytes = digits?
        .chunks_exact(2)
        .map(|pair| pair.iter().fold(0_u8, |byte, digit| (byte << 4) | (*digit & 15) as u8))
        .collect();
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literal_text_is_followed() {
        let args = |text: &str| text.split(' ').map(Arg::plain).collect::<Vec<_>>();
        assert_eq!(printed("echo", &args("-e \\x72m")).as_deref(), Some("rm\n"));
        assert_eq!(printed("printf", &args("%s-%s a b")).as_deref(), Some("a-b"));
        let input = Flow::Text("cm0gLXJmIC8=\n".into());
        assert_eq!(filtered("base64", &args("-d"), &input), Flow::Text("rm -rf /".into()));
        assert_eq!(filtered("base64", &args("-w0"), &input), Flow::Unknown);
        assert_eq!(
            filtered("xxd", &args("-r -p"), &Flow::Text("6c73".into())),
            Flow::Text("ls".into())
        );
    }
}
