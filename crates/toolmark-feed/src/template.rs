//! Masking: removes the values from a message, so that the same message about other values is the
//! same text.

use serde_json::Value;
pub(crate) use toolmark_base::text::head as cut;

/// Replacement for a value.
pub const MASK: &str = "*";

/// Maximum number of words of a message that are compared.
const MAX_TOKENS: usize = 24;

/// Maximum number of bytes of a message that are processed.
const MAX_BYTES: usize = 600;

/// Maximum number of values of a call that are searched for in its error.
const MAX_ECHOES: usize = 48;

/// Minimum length of a value; a shorter text is as likely to be an ordinary word.
const MIN_ECHO: usize = 3;

/// Maximum length of a value; a longer one is not repeated in one line of an error.
const MAX_ECHO: usize = 300;

/// Style of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageStyle {
    /// The error of a program, whose identifiers are values.
    Error,
    /// The message of a finding, whose words belong to toolmark.
    Finding,
}

/// Returns a message without its values: first those repeated from the call, then addresses,
/// quotes, paths, flags, IDs, numbers and identifiers.
#[must_use]
pub fn mask(message: &str, echoes: &Echoes<'_>, style: MessageStyle) -> String {
    let message = cut(message.trim(), MAX_BYTES);
    let unechoed = echoes.mask(message);
    let mut out = MessageTokens::default();
    let mut rest = unechoed.as_str();
    let mut before = ' ';
    while let Some(first) = rest.chars().next() {
        if out.is_full() {
            break;
        }
        let after_first = &rest[first.len_utf8()..];
        if let Some(close) = closing(first).filter(|_| !before.is_alphanumeric())
            && let Some(end) = end_of_quote(after_first, close)
        {
            out.push(MASK);
            rest = &after_first[end..];
            before = close;
            continue;
        }
        if first.is_whitespace() || is_separator(first) {
            out.end_word(first);
            rest = after_first;
            before = first;
            continue;
        }
        let end = rest
            .char_indices()
            .skip(1)
            .find(|(at, c)| c.is_whitespace() || breaks_word(rest, *at, *c))
            .map_or(rest.len(), |(at, _)| at);
        let (word, after) = rest.split_at(end);
        let is_first = out.is_empty();
        // Only a colon, a stop or a bracket ends a word from behind.
        let core = word.trim_end_matches(['.', ',', ';', ':', '!', '?', ']', '}']);
        let core = if core.contains('(') { core } else { core.trim_end_matches(')') };
        let is_label = word[core.len()..].starts_with(':') || after.starts_with(':');
        out.push_word(core, is_label, is_first, style);
        before = word.chars().next_back().unwrap_or(' ');
        rest = after;
    }
    out.text
}

/// Replacement for a value in displayed text.
const GAP: &str = "…";

/// Returns a message with gaps for its values, for display: its words and its punctuation are kept.
/// The most common value is kept too, and the first gap is labelled if it is a path.
#[must_use]
pub fn with_gaps(message: &str, common: Option<&str>) -> String {
    let message = cut(message.trim(), MAX_BYTES);
    let mut out = String::new();
    let mut rest = message;
    let mut has_gap = false;
    let mut gap = |value: &str, before: &str| {
        let is_first = !std::mem::replace(&mut has_gap, true);
        let name = value.rsplit('/').next().unwrap_or(value);
        // `it is src/a` says which one, not what.
        if !is_first || before.ends_with("it is ") || !value.contains(char::is_alphabetic) {
            return GAP;
        }
        match () {
            () if name.contains('.') => "a file",
            () if name.len() < value.len() => "a directory",
            () => GAP,
        }
    };
    while let Some(first) = rest.chars().next() {
        let after_first = &rest[first.len_utf8()..];
        let is_start = out.chars().next_back().is_none_or(|c| !c.is_alphanumeric());
        if let Some(close) = closing(first).filter(|_| is_start)
            && let Some(end) = end_of_quote(after_first, close)
        {
            // Quoted text may be any value; a plain word is a word.
            let inside = &after_first[..end - close.len_utf8()];
            let is_word = first == '"' && inside.bytes().all(|b| b.is_ascii_lowercase());
            match is_word || common == Some(inside) {
                true => out.push_str(&rest[..first.len_utf8() + end]),
                false => out.push_str(GAP),
            }
            rest = &after_first[end..];
            continue;
        }
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        let core = core_of(word);
        match is_value(core, MessageStyle::Finding) && common != Some(core) {
            true => {
                let shown = word.replacen(core, gap(core, &out), 1);
                out.push_str(&shown);
            }
            false => out.push_str(word),
        }
        let blank = after.len() - after.trim_start().len();
        if blank > 0 {
            out.push(' ');
        }
        rest = &after[blank..];
    }
    out
}

/// Returns a word without the punctuation around it. The dot of `.env` belongs to the word.
fn core_of(word: &str) -> &str {
    const AROUND: [char; 7] = [',', ';', ':', '!', '?', '(', ')'];
    let word = word.trim_start_matches(AROUND);
    word.trim_end_matches(|c| c == '.' || AROUND.contains(&c))
}

/// Returns the words of a template in the spelling of its original message.
#[must_use]
pub fn as_written(template: &str, message: &str) -> String {
    let lower = message.to_ascii_lowercase();
    let mut from = 0;
    let mut out = String::new();
    for token in template.split(' ').filter(|token| !token.is_empty()) {
        if !out.is_empty() {
            out.push(' ');
        }
        if token == MASK {
            out.push_str(GAP);
            continue;
        }
        let wanted = token.to_ascii_lowercase();
        match lower.get(from..).and_then(|rest| rest.find(&wanted)) {
            Some(at) if lower.len() == message.len() => {
                let (start, end) = (from + at, from + at + wanted.len());
                out.push_str(message.get(start..end).unwrap_or(token));
                let next = message.get(end..).and_then(|rest| rest.chars().next());
                if let Some(mark) = next.filter(|c| matches!(c, ',' | '.' | ')' | '?' | '!')) {
                    // A bracket is closed only where it is opened.
                    if mark != ')' {
                        out.push(mark);
                    }
                }
                from = end;
            }
            _ => out.push_str(token),
        }
    }
    out
}

/// Returns the first value of a message: a quote, a path, the name of a file.
#[must_use]
pub fn first_value(message: &str) -> Option<&str> {
    let quoted = message.find('`').and_then(|start| {
        let rest = &message[start + 1..];
        Some((start, &rest[..rest.find('`')?]))
    });
    let mut at = 0;
    let word = message.split(' ').find_map(|word| {
        let start = at;
        at += word.len() + 1;
        let core = core_of(word);
        // A time is not a name.
        let is_name = core.contains(['/', '.'])
            && core.contains(char::is_alphabetic)
            && is_value(core, MessageStyle::Finding);
        is_name.then_some((start, core))
    });
    [quoted, word].into_iter().flatten().min_by_key(|(start, _)| *start).map(|(_, value)| value)
}

fn closing(open: char) -> Option<char> {
    match open {
        '"' | '\'' | '`' => Some(open),
        '“' => Some('”'),
        '‘' => Some('’'),
        '«' => Some('»'),
        _ => None,
    }
}

/// Returns the end of a quote: its mark, with no letter after it.
fn end_of_quote(text: &str, close: char) -> Option<usize> {
    let mut at = 0;
    while let Some(found) = text.get(at..)?.find(close) {
        let end = at + found + close.len_utf8();
        let next = text[end..].chars().next();
        if next.is_none_or(|c| !c.is_alphanumeric() && c != close) {
            return Some(end);
        }
        at = end;
    }
    None
}

/// Whether a character cannot start a word.
fn is_separator(c: char) -> bool {
    matches!(c, '(' | '[' | '{' | ')' | ']' | '}' | ',' | ';' | '=' | '|' | '<' | '>' | ':' | '…')
        || matches!(c, '.' | '!' | '?' | '"' | '\'' | '`' | '“' | '”' | '’' | '^' | '#')
}

/// Whether the character at this position ends the word. A colon does if it is not part of an
/// address or of a path.
fn breaks_word(text: &str, at: usize, c: char) -> bool {
    match c {
        // `forward()` and `a[0]` are one identifier.
        '(' | '[' => text[at + 1..].chars().next().is_none_or(char::is_whitespace),
        ',' | ';' | '|' | '"' | '`' | '{' | '=' => true,
        ':' => text[at + 1..].chars().next().is_none_or(|next| next.is_whitespace()),
        _ => false,
    }
}

/// Words of a message, with consecutive values combined to one mask.
#[derive(Default)]
struct MessageTokens {
    text: String,
    count: usize,
}

impl MessageTokens {
    fn is_full(&self) -> bool {
        self.count >= MAX_TOKENS
    }

    fn is_empty(&self) -> bool {
        self.count == 0
    }

    fn end_word(&mut self, by: char) {
        // A label keeps its colon: `fatal:` is not `fatal`.
        if by == ':' && !self.text.is_empty() && !self.text.ends_with([':', '*']) {
            self.text.push(':');
        }
    }

    fn push(&mut self, token: &str) {
        if token == MASK && (self.text.ends_with(MASK)) {
            return;
        }
        if !self.text.is_empty() {
            self.text.push(' ');
        }
        self.text.push_str(token);
        self.count += 1;
    }

    fn push_word(&mut self, word: &str, is_label: bool, is_first: bool, style: MessageStyle) {
        let word = word.trim_start_matches(['"', '\'', '`']);
        if word.is_empty() {
            return;
        }
        let is_exception = is_first && is_label && crate::salient::is_exception_name(word);
        if is_exception {
            // The module of an exception may be an implementation of it.
            self.push(word.rsplit(['.', ':']).next().unwrap_or(word));
        } else if is_value(word, style) {
            self.push(MASK);
        } else {
            self.push(&word.to_lowercase());
        }
        if is_label {
            self.end_word(':');
        }
    }
}

/// Whether the word is a value and not a word of the message.
fn is_value(word: &str, style: MessageStyle) -> bool {
    if word == MASK || word.contains(MASK) || word.contains(['/', '\\', '$', '@', '~']) {
        return true;
    }
    if word.len() > 1 && word.starts_with(['-', '+', '.']) || word.contains("::") {
        return true;
    }
    let bytes = word.as_bytes();
    if bytes.iter().any(u8::is_ascii_digit) {
        return true;
    }
    // A name with an extension or a module: a dot within it.
    let has_inner_dot = bytes
        .windows(3)
        .any(|w| w[1] == b'.' && w[0].is_ascii_alphanumeric() && w[2].is_ascii_alphanumeric());
    if has_inner_dot && !matches!(word, "e.g" | "i.e") {
        return true;
    }
    if style == MessageStyle::Finding {
        return false;
    }
    let has_lower = word.chars().any(char::is_lowercase);
    let has_inner_upper = word.chars().skip(1).any(char::is_uppercase);
    word.contains('_') || word.ends_with("()") || (has_lower && has_inner_upper)
}

/// Values of a call, which its error may repeat.
#[derive(Debug, Default)]
pub struct Echoes<'v> {
    values: Vec<&'v str>,
}

impl<'v> Echoes<'v> {
    /// Collects the texts among the arguments, and the words of the command that are not plain
    /// words.
    #[must_use]
    pub fn new(args: Option<&'v Value>, command: Option<&'v str>) -> Self {
        let mut values = Vec::new();
        let mut left: Vec<&Value> = args.into_iter().collect();
        while let Some(value) = left.pop() {
            if values.len() >= MAX_ECHOES {
                break;
            }
            match value {
                Value::String(text) => values.extend(echo(text)),
                Value::Array(all) => left.extend(all.iter().take(MAX_ECHOES)),
                Value::Object(all) => left.extend(all.values().take(MAX_ECHOES)),
                _ => {}
            }
        }
        let words =
            command.into_iter().flat_map(|command| cut(command, 4 << 10).split_whitespace());
        let words = words.map(|word| word.trim_matches(['"', '\'', '`', ';', '(', ')']));
        let is_special = |word: &&str| word.bytes().any(|b| !b.is_ascii_lowercase());
        let most = 2 * MAX_ECHOES;
        values
            .extend(words.filter(is_special).filter_map(echo).take(most - values.len().min(most)));
        values.sort_unstable_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        values.dedup();
        Self { values }
    }

    fn mask(&self, text: &str) -> String {
        let mut out = text.to_owned();
        for value in &self.values {
            let mut from = 0;
            while let Some(found) = out.get(from..).and_then(|rest| rest.find(value)) {
                let (start, end) = (from + found, from + found + value.len());
                let is_part = |c: char| c.is_alphanumeric() || c == '_';
                let is_whole = !out[..start].chars().next_back().is_some_and(is_part)
                    && !out[end..].chars().next().is_some_and(is_part);
                if is_whole {
                    out.replace_range(start..end, MASK);
                    from = start + MASK.len();
                } else {
                    from = end;
                }
            }
        }
        out
    }
}

fn echo(text: &str) -> Option<&str> {
    let text = text.trim();
    let is_one_line = !text.contains('\n');
    ((MIN_ECHO..=MAX_ECHO).contains(&text.len()) && is_one_line).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn masked(text: &str) -> String {
        mask(text, &Echoes::default(), MessageStyle::Error)
    }

    #[test]
    fn values_are_masked_and_words_stay() {
        for (text, want) in [
            (
                "fatal: 'main' is already used by worktree at '/w/a'",
                "fatal: * is already used by worktree at *",
            ),
            ("error: unknown flag: --disable-all", "error: unknown flag: *"),
            (
                "TypeError: Tool.forward() got an unexpected keyword argument 'x'",
                "TypeError: * got an unexpected keyword argument *",
            ),
            (
                "django.core.exceptions.ImproperlyConfigured: no settings",
                "ImproperlyConfigured: no settings",
            ),
            ("Command timed out after 2m 0.0s", "command timed out after *"),
            ("could not apply 9d754fb... more fixes", "could not apply * more fixes"),
            ("don't panic", "don't panic"),
            ("https://a.b/c?d=1 returned 404", "* returned *"),
            (
                "FileNotFoundError: [Errno 2] No such file or directory: 'a'",
                "FileNotFoundError: errno * no such file or directory: *",
            ),
            ("", ""),
            ("日本 12 “x”", "日本 *"),
        ] {
            assert_eq!(masked(text), want, "{text}");
        }
    }

    #[test]
    fn what_the_call_says_is_a_value() {
        let args = json!({"name": "red panda", "deep": [{"id": "main"}]});
        let echoes = Echoes::new(Some(&args), Some("gh pr diff OPTS --stat"));
        let text = "no red panda on main, mainly OPTS and --stat";
        assert_eq!(mask(text, &echoes, MessageStyle::Error), "no * on * mainly * and *");
    }

    #[test]
    fn identifiers_are_words_of_a_finding() {
        let text = "Bash reads a.rs where Read is there, 3 times: camelCase";
        let want = "bash reads * where read is there * times: camelcase";
        assert_eq!(mask(text, &Echoes::default(), MessageStyle::Finding), want);
    }

    #[test]
    fn people_read_messages_with_gaps() {
        for (text, common, want, value) in [
            (
                "`grep` searches text; the tool for it is Grep",
                Some("grep"),
                "`grep` searches text; the tool for it is Grep",
                Some("grep"),
            ),
            ("`grep` searches text", None, "… searches text", Some("grep")),
            (
                "src/a.rs was read again, 3 times",
                None,
                "a file was read again, … times",
                Some("src/a.rs"),
            ),
            (".env is not there", Some(".env"), ".env is not there", Some(".env")),
            ("src/a is in b/c, not d", None, "a directory is in …, not d", Some("src/a")),
            ("at 15:30:09.459 it failed", None, "at … it failed", None),
            ("b is gone; it is src/b", None, "b is gone; it is …", Some("src/b")),
            ("the end of `a.Warn\"` is", None, "the end of … is", Some("a.Warn\"")),
            ("Bash goes on", None, "Bash goes on", None),
        ] {
            assert_eq!((with_gaps(text, common).as_str(), first_value(text)), (want, value));
        }
    }

    #[test]
    fn a_template_is_written_as_its_message() {
        let message = "GraphQL: Could not resolve to a Repository, named 'a/b'. (repository)";
        let template = masked(message);
        assert_eq!(
            as_written(&template, message),
            "… Could not resolve to a Repository, named … repository"
        );
        assert_eq!(as_written("a * b", ""), "a … b");
    }

    #[test]
    fn long_messages_are_bounded() {
        let long = "word ".repeat(10_000);
        assert_eq!(masked(&long).split(' ').count(), MAX_TOKENS);
        assert!(masked(&"'".repeat(5_000)).len() <= MASK.len());
    }
}
