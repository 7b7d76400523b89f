//! Generalizes argument texts by replacing the parts specific to one machine, day or run.

/// Directories of a run; paths below them are specific to one machine.
#[derive(Debug, Clone, Default)]
pub(crate) struct RunDirectories {
    /// Working directory, without a trailing slash.
    workspace: Option<String>,
}

impl RunDirectories {
    /// Creates the places of a run with this working directory.
    pub(crate) fn new(workspace: Option<&str>) -> Self {
        let workspace = workspace.map(|path| path.trim_end_matches('/'));
        // The root directory is not specific to a machine.
        Self { workspace: workspace.filter(|path| path.len() > 1).map(str::to_owned) }
    }
}

/// A text as a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Shaped {
    /// Regular expression that matches the whole text.
    pub(crate) regex: String,
    /// Whether the pattern matches more than this text.
    pub(crate) has_gaps: bool,
    /// Whether the text contains a directory of one machine.
    pub(crate) is_of_machine: bool,
}

/// Converts a text to a pattern with gaps for machine-specific directories, IDs, dates and long
/// numbers.
pub(crate) fn shape(text: &str, places: &RunDirectories) -> Shaped {
    let mut out = Shaped { regex: "^".into(), has_gaps: false, is_of_machine: false };
    let mut rest = text;
    let mut before = ' ';
    while let Some(first) = rest.chars().next() {
        let starts_word = !is_word(before);
        let found = starts_word
            .then(|| directory(rest, places).map(|gap| (gap, true)))
            .flatten()
            .or_else(|| starts_word.then(|| value(rest).map(|gap| (gap, false))).flatten());
        match found {
            Some(((length, regex), is_of_machine)) => {
                out.regex.push_str(&regex);
                out.has_gaps = true;
                out.is_of_machine |= is_of_machine;
                before = rest[..length].chars().next_back().unwrap_or(' ');
                rest = &rest[length..];
            }
            None => {
                let end = match is_word(first) {
                    true => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
                    false => first.len_utf8(),
                };
                let (word, after) = rest.split_at(end);
                out.regex.push_str(&escaped(word));
                before = word.chars().next_back().unwrap_or(' ');
                rest = after;
            }
        }
    }
    out.regex.push('$');
    out
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Returns the length and the pattern of a machine-specific directory at the start of a text.
fn directory(text: &str, places: &RunDirectories) -> Option<(usize, String)> {
    let ends =
        |rest: &str| rest.chars().next().is_none_or(|c| !is_word(c) && !matches!(c, '-' | '.'));
    if let Some(workspace) = &places.workspace
        && let Some(rest) = text.strip_prefix(workspace.as_str())
        && ends(rest)
    {
        return Some((workspace.len(), r"[^\s'\x22]*".into()));
    }
    for temporary in ["/private/tmp/", "/tmp/", "/var/tmp/", "/var/folders/"] {
        if let Some(rest) = text.strip_prefix(temporary) {
            // Up to the name of the file.
            let end = rest.find(|c: char| c.is_whitespace() || matches!(c, '\'' | '"'));
            let inside = &rest[..end.unwrap_or(rest.len())];
            let length = temporary.len() - 1 + inside.rfind('/').map_or(0, |at| at + 1);
            return Some((length, r"[^\s'\x22]*".into()));
        }
    }
    for (homes, has_name) in [("/home/", true), ("/Users/", true), ("/root", false)] {
        let Some(rest) = text.strip_prefix(homes) else { continue };
        let name = if has_name { rest.find(['/', ' ']).unwrap_or(rest.len()) } else { 0 };
        if ends(&rest[name..]) && (name > 0 || !has_name) {
            return Some((homes.len() + name, r"(~|/root|/(home|Users)/[^/\s]+)".into()));
        }
    }
    None
}

/// Returns the length and the pattern of an ID, date, time or long number at the start of
/// a text.
fn value(text: &str) -> Option<(usize, String)> {
    if let Some(length) = digits(text, &[4, 2, 2], '-') {
        let mut length = length;
        let mut regex = String::from(r"\d{4}-\d{2}-\d{2}");
        let after = &text[length..];
        if after.starts_with(['T', ' '])
            && let Some(time) = digits(&after[1..], &[2, 2, 2], ':')
        {
            let fraction = &after[1 + time..];
            let end = fraction.find(|c: char| !c.is_ascii_digit() && c != '.');
            let end = end.unwrap_or(fraction.len());
            length += 1 + time + end;
            regex.push_str(r"[T ][\d:.]+");
        }
        if is_over(&text[length..]) {
            return Some((length, regex));
        }
    }
    let end = text.find(|c: char| !is_word(c) && c != '-').unwrap_or(text.len());
    let word = text[..end].trim_end_matches('-');
    let bytes = word.as_bytes();
    if bytes.len() == 36 && [8, 13, 18, 23].iter().all(|at| bytes[*at] == b'-') {
        let is_id = bytes.iter().all(|b| *b == b'-' || b.is_ascii_hexdigit());
        return is_id.then_some((36, "[0-9a-fA-F-]{36}".into()));
    }
    let plain = &text[..text.find(|c: char| !is_word(c)).unwrap_or(text.len())];
    let count = |test: fn(&u8) -> bool| plain.as_bytes().iter().filter(|b| test(b)).count();
    let (numbers, letters) = (count(u8::is_ascii_digit), count(u8::is_ascii_alphabetic));
    if plain.is_ascii() && numbers == plain.len() && numbers >= 3 {
        return Some((plain.len(), r"\d+".into()));
    }
    let is_hex = plain.bytes().all(|b| b.is_ascii_hexdigit());
    if is_hex && plain.len() >= 7 && numbers > 0 && letters > 0 {
        return Some((plain.len(), "[0-9a-fA-F]+".into()));
    }
    // Words with a number behind them are names; ids mix both.
    let is_mixed = plain.len() >= 12 && numbers >= 3 && letters >= 3;
    let turns =
        plain.as_bytes().windows(2).filter(|w| w[0].is_ascii_digit() != w[1].is_ascii_digit());
    if plain.is_ascii() && is_mixed && turns.count() >= 3 {
        return Some((plain.len(), r"\w+".into()));
    }
    None
}

fn is_over(rest: &str) -> bool {
    rest.chars().next().is_none_or(|c| !c.is_ascii_digit())
}

/// Returns the length of digit groups of these sizes, separated by `between`.
fn digits(text: &str, groups: &[usize], between: char) -> Option<usize> {
    let mut at = 0;
    for (n, group) in groups.iter().enumerate() {
        if n > 0 {
            at += text.get(at..)?.strip_prefix(between).map(|_| between.len_utf8())?;
        }
        let part = text.get(at..at + group)?;
        if !part.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        at += group;
    }
    Some(at)
}

/// Patterns for the end of a path.
pub(crate) struct PathParts {
    /// Last component.
    pub(crate) name: String,
    /// Components below the working directory, or the last two components.
    pub(crate) tail: Option<String>,
}

/// Returns patterns for the end of a text that is a path.
pub(crate) fn path_parts(text: &str, places: &RunDirectories) -> Option<PathParts> {
    let is_path = text.contains('/')
        && !text.contains("://")
        && !text.contains(|c: char| c.is_whitespace() || matches!(c, '*' | '$' | '|' | ';' | '`'));
    if !is_path {
        return None;
    }
    let below = places.workspace.as_deref().and_then(|workspace| {
        text.strip_prefix(workspace)?.strip_prefix('/').filter(|rest| !rest.is_empty())
    });
    let relative = match (below, text.starts_with('/')) {
        (Some(below), _) => Some(below),
        (None, false) if !text.starts_with(['~', '.']) => Some(text),
        (None, false) => text.strip_prefix("./").filter(|rest| !rest.starts_with('.')),
        (None, true) => None,
    };
    let trimmed = text.trim_end_matches('/');
    let name = trimmed.rsplit('/').next().filter(|name| !name.is_empty() && *name != "..")?;
    let is_stable = |part: &str| !shape(part, &RunDirectories::default()).has_gaps;
    if !is_stable(name) {
        return None;
    }
    let ending = |part: &str| format!("(^|/){}$", escaped(part));
    let last_two = || {
        let start = trimmed.rmatch_indices('/').nth(1).map(|(at, _)| at + 1)?;
        trimmed.get(start..)
    };
    let tail = relative.or_else(last_two).map(|tail| tail.trim_end_matches('/'));
    let tail = tail.filter(|tail| tail.contains('/') && is_stable(tail));
    Some(PathParts { name: ending(name), tail: tail.map(ending) })
}

/// Programs for inspection or for starting other programs, which every agent runs all the time.
const USUAL: &[&str] = &[
    "awk", "cat", "cd", "command", "cut", "date", "echo", "env", "exit", "export", "false", "file",
    "find", "for", "grep", "head", "if", "less", "ls", "mkdir", "printf", "pwd", "rg", "sed",
    "set", "sleep", "sort", "source", "stat", "tail", "tee", "test", "time", "timeout", "touch",
    "tr", "tree", "true", "type", "uniq", "wc", "which", "while", "xargs",
];

/// Returns patterns for the programs that the first line of a command runs, with and without
/// their first argument.
pub(crate) fn programs(command: &str) -> Vec<String> {
    let line = command.trim_start().lines().next().unwrap_or_default();
    let mut all = Vec::new();
    // Nothing behind a quote or a here-document is surely a command.
    let end = line.find(['\'', '"', '`', '<', '#']).unwrap_or(line.len());
    for part in line[..end].split([';', '&', '|', '(']) {
        let mut words = part.split_whitespace();
        let Some(program) = words.next().filter(|word| is_plain(word)) else { continue };
        if USUAL.contains(&program) {
            continue;
        }
        all.push(runs(program));
        if let Some(first) = words.next().filter(|word| is_plain(word)) {
            all.push(runs(&format!("{program} {first}")));
        }
    }
    all.sort();
    all.dedup();
    all
}

/// Whether a word is the name of a program or a subcommand, or a file name without a directory.
fn is_plain(word: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ':');
    word.starts_with(|c: char| c.is_ascii_alphabetic())
        && word.ends_with(|c: char| c.is_ascii_alphanumeric())
        && word.chars().all(is_part)
        && !shape(word, &RunDirectories::default()).has_gaps
}

fn runs(words: &str) -> String {
    format!(r"(^|[;&|(]) *{}\b", escaped(words))
}

/// Escapes text for use in a regular expression.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if r"\^$.*+?()[]{}|".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shaped(text: &str) -> String {
        shape(text, &RunDirectories::new(Some("/home/mira/shop"))).regex
    }

    #[test]
    fn values_are_gaps_and_words_stay() {
        for (text, want) in [
            ("plain words", "^plain words$"),
            ("a+b (c)", r"^a\+b \(c\)$"),
            ("/home/mira/shop/src/a.rs", r"^[^\s'\x22]*/src/a\.rs$"),
            ("/home/mira/shopping", r"^(~|/root|/(home|Users)/[^/\s]+)/shopping$"),
            ("/Users/li/x", r"^(~|/root|/(home|Users)/[^/\s]+)/x$"),
            ("/root", r"^(~|/root|/(home|Users)/[^/\s]+)$"),
            ("/rooted", "^/rooted$"),
            ("cat /tmp/tmpab12/out.txt", r"^cat [^\s'\x22]*/out\.txt$"),
            ("on 2026-03-14T09:00:01.5Z", r"^on \d{4}-\d{2}-\d{2}[T ][\d:.]+Z$"),
            ("2026-03-14", r"^\d{4}-\d{2}-\d{2}$"),
            ("2026-03-145", r"^\d+-03-\d+$"),
            ("top 10 of 2500", r"^top 10 of \d+$"),
            ("9d754fb0 is", "^[0-9a-fA-F]+ is$"),
            ("defaced", "^defaced$"),
            ("123e4567-e89b-12d3-a456-426614174000", "^[0-9a-fA-F-]{36}$"),
            ("toolu_01A9bC77xYz12", r"^\w+$"),
            ("version2", "^version2$"),
            ("日本 123", r"^日本 \d+$"),
            ("", "^$"),
        ] {
            assert_eq!(shaped(text), want, "{text}");
        }
    }

    #[test]
    fn paths_end_the_same_on_every_machine() {
        let places = RunDirectories::new(Some("/w/shop/"));
        for (text, name, tail) in [
            ("/w/shop/src/a.rs", r"(^|/)a\.rs$", Some(r"(^|/)src/a\.rs$")),
            ("src/a.rs", r"(^|/)a\.rs$", Some(r"(^|/)src/a\.rs$")),
            ("./src/a.rs", r"(^|/)a\.rs$", Some(r"(^|/)src/a\.rs$")),
            ("/usr/lib/x.so", r"(^|/)x\.so$", Some(r"(^|/)lib/x\.so$")),
            ("/w/shop/a.rs", r"(^|/)a\.rs$", None),
            ("/x", "(^|/)x$", None),
        ] {
            let parts = path_parts(text, &places).unwrap();
            assert_eq!((parts.name.as_str(), parts.tail.as_deref()), (name, tail), "{text}");
        }
        for text in ["a.rs", "https://x/y", "a b/c", "/", "a/9d754fb0", "src/*.rs"] {
            assert!(path_parts(text, &places).is_none(), "{text}");
        }
    }

    #[test]
    fn commands_are_known_by_their_programs() {
        let found = |text| programs(text).join("  ");
        assert_eq!(
            found("cd x && npm run build | tail"),
            r"(^|[;&|(]) *npm run\b  (^|[;&|(]) *npm\b"
        );
        assert_eq!(found("ls -la"), "");
        assert_eq!(found("python -c 'git push'"), r"(^|[;&|(]) *python\b");
        assert_eq!(found("pytest tests/a.py"), r"(^|[;&|(]) *pytest\b");
        assert_eq!(found("git add a\ngit push"), r"(^|[;&|(]) *git add\b  (^|[;&|(]) *git\b");
    }
}
