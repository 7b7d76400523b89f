//! Path patterns with wildcards, as specs use them for the files of a workspace.
//!
//! `*` and `?` match characters of one name, `[a-z]` and `[!a-z]` match one character
//! of a class, `{a,b}` matches one of several texts, `**` matches any number of
//! directories, and `\` escapes the next character. Names that begin with a dot are not
//! treated specially.

/// Maximum number of alternatives from braces.
const ALTERNATIVES: usize = 1000;

/// Maximum number of segments of all alternatives together.
const SEGMENTS: usize = 2000;

/// Maximum number of characters of a pattern.
const LONGEST: usize = 1024;

/// A pattern for relative paths.
#[derive(Debug, Clone)]
pub struct Glob {
    alternatives: Vec<Vec<Segment>>,
}

/// A segment of a path between slashes.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Segment {
    /// Any number of directories.
    Any,
    /// One name.
    Name(Vec<GlobPiece>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum GlobPiece {
    Char(char),
    One,
    Many,
    Class { negated: bool, ranges: Vec<(char, char)> },
}

/// Progress of a directory through the alternatives of a pattern: the alternative and the
/// number of its segments that have been matched.
pub(crate) type Progress = Vec<(usize, usize)>;

/// Reason why a pattern or a path cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum GlobError {
    /// The pattern is too long.
    #[error("the pattern is longer than {LONGEST} characters")]
    TooLong,
    /// The braces have too many alternatives.
    #[error("the braces stand for more than {ALTERNATIVES} texts")]
    TooManyTexts,
    /// The alternatives have too many segments.
    #[error("the braces stand for more than {SEGMENTS} names")]
    TooManyNames,
    /// The path has no segment.
    #[error("the path names nothing")]
    Empty,
    /// The path is absolute.
    #[error("the path must be relative to the workspace")]
    Absolute,
    /// The path contains `..`.
    #[error("the path must not leave the workspace: \"..\" is not allowed")]
    Leaves,
    /// The path contains a zero byte.
    #[error("the path has a zero byte")]
    ZeroByte,
}

impl Glob {
    /// Parses a pattern.
    pub fn new(pattern: &str) -> Result<Self, GlobError> {
        if pattern.chars().nth(LONGEST).is_some() {
            return Err(GlobError::TooLong);
        }
        let mut alternatives = Vec::new();
        for alternative in expand(pattern)? {
            alternatives.push(segments(&alternative)?);
        }
        if alternatives.iter().map(Vec::len).sum::<usize>() > SEGMENTS {
            return Err(GlobError::TooManyNames);
        }
        Ok(Self { alternatives })
    }

    /// Returns whether a pattern has no wildcards, braces or escapes.
    pub fn is_plain(pattern: &str) -> bool {
        !pattern.contains(['*', '?', '[', '{', '\\'])
    }

    /// Returns the progress of the directory that paths are relative to.
    pub fn start(&self) -> Progress {
        let starts = (0..self.alternatives.len()).map(|alternative| (alternative, 0));
        self.closed(starts.collect())
    }

    /// Returns the progress of an entry of a directory; empty if no alternative matches it.
    pub fn enter(&self, progress: &Progress, name: &str) -> Progress {
        let name: Vec<char> = name.chars().collect();
        let mut next = Progress::new();
        for &(alternative, used) in progress {
            match self.alternatives.get(alternative).and_then(|segments| segments.get(used)) {
                Some(Segment::Any) => next.push((alternative, used)),
                Some(Segment::Name(pieces)) if name_matches(pieces, &name) => {
                    next.push((alternative, used + 1));
                }
                _ => {}
            }
        }
        self.closed(next)
    }

    /// Returns whether the entry with this progress matches.
    pub fn is_match(&self, progress: &Progress) -> bool {
        progress.iter().any(|&(alternative, used)| {
            self.alternatives.get(alternative).is_some_and(|segments| segments.len() == used)
        })
    }

    /// Returns whether the pattern matches this relative path or one of its parent directories.
    #[must_use]
    pub fn covers(&self, path: &str) -> bool {
        let mut progress = self.start();
        for name in path.split('/').filter(|name| !name.is_empty()) {
            progress = self.enter(&progress, name);
            if progress.is_empty() || self.is_match(&progress) {
                break;
            }
        }
        self.is_match(&progress)
    }

    /// Adds the progress that results from skipping segments that may match nothing.
    fn closed(&self, mut progress: Progress) -> Progress {
        let mut at = 0;
        while let Some(&(alternative, used)) = progress.get(at) {
            let segments = self.alternatives.get(alternative);
            if segments.and_then(|s| s.get(used)) == Some(&Segment::Any) {
                progress.push((alternative, used + 1));
            }
            at += 1;
        }
        progress.sort_unstable();
        progress.dedup();
        progress
    }
}

/// Expands braces into all alternatives.
fn expand(pattern: &str) -> Result<Vec<String>, GlobError> {
    let mut todo = vec![pattern.to_owned()];
    let mut done = Vec::new();
    while let Some(text) = todo.pop() {
        match first_braces(&text) {
            None => done.push(text),
            Some((before, parts, after)) => {
                // Pushed in reverse, so that they are popped in order.
                todo.extend(parts.iter().rev().map(|part| format!("{before}{part}{after}")));
            }
        }
        if todo.len() + done.len() > ALTERNATIVES {
            return Err(GlobError::TooManyTexts);
        }
    }
    Ok(done)
}

/// Returns the first outermost braces that contain a comma. Other braces are literal.
fn first_braces(text: &str) -> Option<(&str, Vec<&str>, &str)> {
    let mut from = 0;
    while let Some(open) = unescaped_brace(text, from) {
        let mut depth = 0_usize;
        let mut cuts = vec![open];
        let mut escaped = false;
        for (at, c) in text.char_indices().skip_while(|(at, _)| *at < open) {
            match c {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '{' => depth += 1,
                ',' if depth == 1 => cuts.push(at),
                '}' => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 && cuts.len() > 1 {
                        cuts.push(at);
                        let parts = cuts.windows(2).filter_map(|cut| text.get(cut[0] + 1..cut[1]));
                        return Some((text.get(..open)?, parts.collect(), text.get(at + 1..)?));
                    }
                    if depth == 0 {
                        break;
                    }
                }
                _ => {}
            }
        }
        from = open + 1;
    }
    None
}

fn unescaped_brace(text: &str, from: usize) -> Option<usize> {
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '{' if at >= from => return Some(at),
            _ => {}
        }
    }
    None
}

/// Parses the segments of a pattern without braces, which must stay below the directory it
/// starts from.
fn segments(pattern: &str) -> Result<Vec<Segment>, GlobError> {
    stays_inside(pattern)?;
    let mut segments = Vec::new();
    for part in pattern.split('/') {
        match part {
            "" | "." => {}
            "**" => {
                if segments.last() != Some(&Segment::Any) {
                    segments.push(Segment::Any);
                }
            }
            name => segments.push(Segment::Name(pieces(name))),
        }
    }
    if segments.is_empty() {
        return Err(GlobError::Empty);
    }
    Ok(segments)
}

/// Checks that a path is relative and has no `..`.
pub fn stays_inside(path: &str) -> Result<(), GlobError> {
    let drive = path.as_bytes().get(1) == Some(&b':')
        && path.bytes().next().is_some_and(|b| b.is_ascii_alphabetic());
    if path.starts_with(['/', '\\', '~']) || drive {
        return Err(GlobError::Absolute);
    }
    if path.split(['/', '\\']).any(|part| part == "..") {
        return Err(GlobError::Leaves);
    }
    if path.contains('\0') {
        return Err(GlobError::ZeroByte);
    }
    Ok(())
}

fn pieces(name: &str) -> Vec<GlobPiece> {
    let chars: Vec<char> = name.chars().collect();
    let mut pieces = Vec::new();
    let mut at = 0;
    while let Some(&c) = chars.get(at) {
        at += 1;
        match c {
            '*' if pieces.last() != Some(&GlobPiece::Many) => pieces.push(GlobPiece::Many),
            '*' => {}
            '?' => pieces.push(GlobPiece::One),
            '[' => match class(&chars, at) {
                Some((piece, end)) => {
                    pieces.push(piece);
                    at = end;
                }
                None => pieces.push(GlobPiece::Char('[')),
            },
            '\\' => match chars.get(at) {
                Some(&next) => {
                    pieces.push(GlobPiece::Char(next));
                    at += 1;
                }
                None => pieces.push(GlobPiece::Char('\\')),
            },
            c => pieces.push(GlobPiece::Char(c)),
        }
    }
    pieces
}

/// Parses the class that starts at `from`, and returns its end. `None` if it is never
/// closed and the bracket is a literal character.
fn class(chars: &[char], from: usize) -> Option<(GlobPiece, usize)> {
    let negated = matches!(chars.get(from), Some('!' | '^'));
    let mut at = from + usize::from(negated);
    let first = at;
    let mut ranges = Vec::new();
    loop {
        let &c = chars.get(at)?;
        if c == ']' && at > first {
            return Some((GlobPiece::Class { negated, ranges }, at + 1));
        }
        let (low, after) = if c == '\\' { (*chars.get(at + 1)?, at + 2) } else { (c, at + 1) };
        match (chars.get(after), chars.get(after + 1)) {
            (Some('-'), Some(&high)) if high != ']' => {
                ranges.push((low, high));
                at = after + 2;
            }
            _ => {
                ranges.push((low, low));
                at = after;
            }
        }
    }
}

impl GlobPiece {
    fn takes(&self, c: char) -> bool {
        match self {
            Self::Char(own) => *own == c,
            Self::One => true,
            Self::Class { negated, ranges } => {
                ranges.iter().any(|(low, high)| (*low..=*high).contains(&c)) != *negated
            }
            Self::Many => false,
        }
    }
}

/// Returns whether a name matches. When a piece does not fit, the last `*` takes one more
/// character: the number of steps is at most pieces times characters.
fn name_matches(pieces: &[GlobPiece], name: &[char]) -> bool {
    let (mut piece, mut at) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while at < name.len() {
        match (pieces.get(piece), name.get(at)) {
            (Some(GlobPiece::Many), _) => {
                star = Some((piece + 1, at));
                piece += 1;
            }
            (Some(other), Some(&c)) if other.takes(c) => {
                piece += 1;
                at += 1;
            }
            _ => match star {
                Some((after, from)) => {
                    star = Some((after, from + 1));
                    piece = after;
                    at = from + 1;
                }
                None => return false,
            },
        }
    }
    pieces.get(piece..).is_some_and(|rest| rest.iter().all(|piece| *piece == GlobPiece::Many))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, path: &str) -> bool {
        let glob = Glob::new(pattern).unwrap();
        let end = path.split('/').fold(glob.start(), |progress, name| glob.enter(&progress, name));
        glob.is_match(&end)
    }

    #[test]
    fn patterns() {
        for (pattern, path, expected) in [
            ("a.txt", "a.txt", true),
            ("./a.txt", "a.txt", true),
            ("a.txt", "b/a.txt", false),
            ("*.txt", "a.txt", true),
            ("*.txt", ".txt", true),
            ("*", ".env", true),
            ("*.txt", "b/a.txt", false),
            ("**/*.txt", "a.txt", true),
            ("**/*.txt", "b/.c/a.txt", true),
            ("src/**", "src/a/b.rs", true),
            ("src/**/b.rs", "src/b.rs", true),
            ("src/**/**/b.rs", "src/x/y/b.rs", true),
            ("src/**/b.rs", "src/x/c.rs", false),
            ("a**b", "axxb", true),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("a?c", "aéc", true),
            ("[a-c]x", "bx", true),
            ("[!a-c]x", "bx", false),
            ("[^a-c]x", "dx", true),
            ("[]]", "]", true),
            ("[a-]", "-", true),
            ("[a", "[a", true),
            ("{a,b}.txt", "b.txt", true),
            ("{a,b{1,2}}.txt", "b2.txt", true),
            ("{a,b{1,2}}.txt", "b.txt", false),
            ("{src,test}/**/*.{ts,tsx}", "test/x/y.tsx", true),
            ("{a}", "{a}", true),
            ("a\\*", "a*", true),
            ("a\\*", "ab", false),
            ("x{,.bak}", "x", true),
            ("x{,.bak}", "x.bak", true),
            ("*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaac", false),
        ] {
            assert_eq!(matches(pattern, path), expected, "{pattern} {path}");
        }
    }

    #[test]
    fn what_lies_below_is_covered() {
        for (pattern, path, expected) in [
            ("a", "a/b/c", true),
            ("a/*", "a/b/c", true),
            ("a/*", "a", false),
            ("**/.env", "a/b/.env", true),
            ("**/.env", "a/b/.env/c", true),
            ("**/.env", "a/env", false),
            ("a/**", "a", true),
            ("a/b", "a", false),
        ] {
            assert_eq!(Glob::new(pattern).unwrap().covers(path), expected, "{pattern} {path}");
        }
    }

    #[test]
    fn mistakes() {
        for (pattern, complaint) in [
            ("", "names nothing"),
            ("./", "names nothing"),
            ("/etc/passwd", "relative"),
            ("C:/x", "relative"),
            ("~/x", "relative"),
            ("a/../b", "leave the workspace"),
            ("{a,..}/b", "leave the workspace"),
            ("{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}", "more than"),
            (
                "a/b/c/{1,2,3,4,5,6,7,8,9,0}{1,2,3,4,5,6,7,8,9,0}{1,2,3,4,5,6}",
                "more than 2000 names",
            ),
            ("a\0", "zero byte"),
        ] {
            let said = Glob::new(pattern).unwrap_err().to_string();
            assert!(said.contains(complaint), "{pattern}: {said}");
        }
    }
}
