//! Compares tool names with expected names.

use crate::Mention;
use smallvec::{SmallVec, smallvec};
use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::{BTreeSet, HashMap};
use std::fmt;
use toolmark_config::CompactString;
use toolmark_hosts::toolset::{CLASS_PREFIX, ToolClass};
use toolmark_pattern::{Pattern, is_wildcard_match};
use toolmark_trace::{Canonical, ToolName};

/// Pattern for the name of a tool.
#[derive(Debug, Clone)]
pub enum NamePattern {
    /// An exact name.
    Exact(CompactString),
    /// A name in which `*` matches any characters and `?` matches one.
    Glob(CompactString),
    /// A regular expression that must match anywhere in the name.
    Regex(Pattern),
    /// All tools of a class. Which calls are of the class follows from their tools and arguments.
    Class(ToolClass),
    /// Any of these. The calls are those of the parts.
    AnyOf(Box<[NamePattern]>),
}

/// Whether server prefixes may be omitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prefixes {
    /// `search` also matches `mcp__web__search` if no other server has a `search`.
    MayBeLeftOut,
    /// The server is always required, as in `web/search`.
    AreNeeded,
}

impl NamePattern {
    /// Creates a pattern for an exact name or a glob.
    #[must_use]
    pub fn word(word: &str) -> Self {
        match word.bytes().any(|byte| matches!(byte, b'*' | b'?')) {
            true => Self::Glob(word.into()),
            false => Self::Exact(word.into()),
        }
    }

    /// Returns the tools that the pattern mentions.
    #[must_use]
    pub fn mention(&self) -> Mention {
        match self {
            Self::Exact(word) => {
                let own = word.clone();
                // `server/tool` is the tool of that server.
                Mention::new(word.as_str(), move |tool| {
                    own == tool || own.rsplit('/').next() == Some(tool)
                })
            }
            Self::Glob(glob) => {
                let own = glob.clone();
                Mention::new(glob.as_str(), move |tool| is_wildcard_match(&own, tool))
            }
            Self::Regex(pattern) => Mention::pattern(pattern),
            Self::Class(class) => {
                let class = *class;
                Mention::new(format!("{CLASS_PREFIX}{class}"), move |tool| class.has(tool))
            }
            Self::AnyOf(parts) => {
                let all: Vec<Mention> = parts.iter().map(Self::mention).collect();
                let words: Vec<&str> = all.iter().map(|one| one.word.as_str()).collect();
                let word = words.join(" or ");
                Mention::new(word, move |tool| all.iter().any(|one| one.means(tool)))
            }
        }
    }

    /// Appends the displayed pattern to a text.
    pub(super) fn add_to(&self, out: &mut String) {
        match self {
            Self::Exact(name) | Self::Glob(name) => {
                out.push('`');
                out.push_str(name);
                out.push('`');
            }
            _ => out.push_str(&self.to_string()),
        }
    }

    /// Whether both patterns are the same.
    #[must_use]
    pub fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Exact(a), Self::Exact(b)) | (Self::Glob(a), Self::Glob(b)) => a == b,
            (Self::Regex(a), Self::Regex(b)) => a.source() == b.source(),
            (Self::Class(a), Self::Class(b)) => a == b,
            _ => false,
        }
    }
}

impl fmt::Display for NamePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exact(name) | Self::Glob(name) => write!(f, "`{name}`"),
            Self::Regex(pattern) => write!(f, "`/{pattern}/`"),
            Self::Class(class) => write!(f, "`{CLASS_PREFIX}{class}`"),
            Self::AnyOf(parts) => {
                for (at, part) in parts.iter().enumerate() {
                    if at > 0 {
                        f.write_str(" or ")?;
                    }
                    write!(f, "{part}")?;
                }
                Ok(())
            }
        }
    }
}

/// Distinct names of the called tools.
#[derive(Debug, Default)]
pub struct ToolNames {
    names: Vec<ToolName>,
    /// Names as recorded in the trace.
    full: Vec<CompactString>,
    /// A digest of each name; digests rarely collide.
    digests: Vec<u64>,
    /// Numbers of the names, once there are many.
    by_name: HashMap<String, u32>,
    /// Tools that were available.
    offered: Vec<ToolName>,
    apart: OnceCell<Apart>,
}

/// Names split into server and tool: needed only if a spec does not
/// write them as the trace does.
#[derive(Debug, Default)]
struct Apart {
    /// `server/tool`, by number of the name.
    canonical: Vec<Option<String>>,
    by_canonical: HashMap<String, Vec<u32>>,
    by_tool: HashMap<String, Vec<u32>>,
    /// Servers that have a tool of this name, called or only available.
    servers: HashMap<String, BTreeSet<String>>,
}

/// Names by their numbers; mostly it is one.
pub(super) type NameNumbers = SmallVec<[u32; 4]>;

/// Initial capacity for names.
const USUAL: usize = 16;

/// Up to this number, names are compared one by one.
const FEW: usize = 32;

/// Names that match a pattern, and names for which the match is undecided.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Fitting {
    /// Numbers of the matching names.
    pub yes: NameNumbers,
    /// Names on which a pattern exceeded its step limit.
    pub unknown: NameNumbers,
}

impl ToolNames {
    /// Returns the number of a name; a new name gets a new number.
    pub fn add(&mut self, name: &ToolName) -> u32 {
        let full = name.full();
        if let Some(number) = self.number(&full) {
            return number;
        }
        if self.names.is_empty() {
            // One allocation for as many as most trajectories have.
            self.names.reserve(USUAL);
            self.full.reserve(USUAL);
            self.digests.reserve(USUAL);
        }
        let number = self.names.len() as u32;
        self.digests.push(digest(&full));
        self.full.push(full.into());
        if self.full.len() > FEW {
            let known = self.by_name.len()..self.full.len();
            let numbered = known.map(|at| (self.full[at].to_string(), at as u32));
            self.by_name.extend(numbered);
        }
        self.names.push(name.clone());
        self.apart.take();
        number
    }

    /// Returns the number of a name as recorded in the trace.
    fn number(&self, full: &str) -> Option<u32> {
        if self.full.len() > FEW {
            return self.by_name.get(full).copied();
        }
        let wanted = digest(full);
        let mut alike = self.digests.iter().enumerate().filter(|(_, digest)| **digest == wanted);
        alike.find(|(at, _)| self.full[*at] == full).map(|(at, _)| at as u32)
    }

    /// Adds an available tool.
    pub fn offer(&mut self, name: ToolName) {
        self.offered.push(name);
        self.apart.take();
    }

    fn apart(&self) -> &Apart {
        self.apart.get_or_init(|| {
            let mut apart = Apart::default();
            for (number, name) in self.names.iter().enumerate() {
                let number = number as u32;
                let Canonical { server, tool } = name.canonical();
                let canonical = server.as_ref().map(|server| format!("{server}/{tool}"));
                if let Some(canonical) = &canonical {
                    apart.by_canonical.entry(canonical.clone()).or_default().push(number);
                }
                apart.canonical.push(canonical);
                apart.by_tool.entry(tool.clone()).or_default().push(number);
                apart.offer(server, tool);
            }
            for name in &self.offered {
                let Canonical { server, tool } = name.canonical();
                apart.offer(server, tool);
            }
            apart
        })
    }

    /// Returns the number of names.
    #[must_use]
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether no tool was called.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Returns a name by number.
    #[must_use]
    pub fn get(&self, number: u32) -> Cow<'_, str> {
        self.names.get(number as usize).map(ToolName::full).unwrap_or_default()
    }

    /// Returns the names that match a pattern.
    #[must_use]
    pub fn fitting(&self, pattern: &NamePattern, prefixes: Prefixes) -> Fitting {
        let mut found = Fitting::default();
        match pattern {
            // Each call is asked.
            NamePattern::Class(_) => found.yes = (0..self.names.len() as u32).collect(),
            NamePattern::AnyOf(_) => {}
            NamePattern::Exact(word) => found.yes = self.called(word, prefixes),
            NamePattern::Glob(glob) => {
                for (number, name) in self.names.iter().enumerate() {
                    let canonical = self.apart().canonical.get(number).and_then(Option::as_ref);
                    if is_wildcard_match(glob, &name.full())
                        || canonical.is_some_and(|name| is_wildcard_match(glob, name))
                    {
                        found.yes.push(number as u32);
                    }
                }
            }
            NamePattern::Regex(pattern) => {
                for (number, name) in self.names.iter().enumerate() {
                    match pattern.is_match(&name.full()) {
                        Ok(true) => found.yes.push(number as u32),
                        Ok(false) => {}
                        Err(_) => found.unknown.push(number as u32),
                    }
                }
            }
        }
        found
    }

    fn called(&self, word: &str, prefixes: Prefixes) -> NameNumbers {
        if let Some(number) = self.number(word) {
            return smallvec![number];
        }
        let apart = self.apart();
        if let Some(numbers) = apart.by_canonical.get(word) {
            return numbers.iter().copied().collect();
        }
        let is_one_server = apart.servers.get(word).is_none_or(|servers| servers.len() == 1);
        match (apart.by_tool.get(word).map(Vec::as_slice), prefixes) {
            (Some([number]), Prefixes::MayBeLeftOut) if is_one_server => smallvec![*number],
            _ => NameNumbers::new(),
        }
    }
}

/// Returns a digest of the length and both ends of a name, which differ in most names.
fn digest(name: &str) -> u64 {
    let bytes = name.as_bytes();
    let (first, last) = match (bytes.first_chunk(), bytes.last_chunk()) {
        (Some(first), Some(last)) => (u32::from_le_bytes(*first), u32::from_le_bytes(*last)),
        _ => (bytes.iter().fold(0, |sum, byte| sum << 8 | u32::from(*byte)), 0),
    };
    (u64::from(first) << 32 | u64::from(last)).rotate_left(8) ^ bytes.len() as u64
}

impl Apart {
    fn offer(&mut self, server: Option<String>, tool: String) {
        if let Some(server) = server {
            self.servers.entry(tool).or_default().insert(server);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_however_many_there_are() {
        let mut names = ToolNames::default();
        for round in 0..2 {
            for n in 0..3 * FEW {
                let name = format!("tool_{n}");
                assert_eq!(names.add(&ToolName::new(name.as_str())), n as u32, "{round}");
                let found = names.fitting(&NamePattern::word(&name), Prefixes::AreNeeded);
                assert_eq!(found.yes.as_slice(), [n as u32]);
            }
        }
        assert_eq!(names.len(), 3 * FEW);
    }

    #[test]
    fn servers_may_be_left_out_where_there_is_one() {
        let mut names = ToolNames::default();
        for name in ["mcp__web__search", "mcp__a__read", "mcp__b__read", "Bash", "mcp__x__Bash"] {
            names.add(&ToolName::new(name));
        }
        names.offer(ToolName::new("mcp__c__fetch"));
        names.offer(ToolName::new("mcp__d__fetch"));
        names.add(&ToolName::new("mcp__c__fetch"));
        let exact = |word: &str, prefixes| {
            let found = names.fitting(&NamePattern::word(word), prefixes).yes;
            found.into_iter().map(|n| names.get(n).into_owned()).collect::<Vec<_>>()
        };
        let loose = |word: &str| exact(word, Prefixes::MayBeLeftOut);
        assert_eq!(loose("search"), ["mcp__web__search"]);
        assert_eq!(loose("web/search"), ["mcp__web__search"]);
        assert_eq!(loose("read"), [] as [&str; 0], "two servers have it");
        assert_eq!(loose("fetch"), [] as [&str; 0], "two servers offer it");
        assert_eq!(loose("b/read"), ["mcp__b__read"]);
        assert_eq!(loose("Bash"), ["Bash"], "a name that is there means itself");
        assert_eq!(loose("*/read"), ["mcp__a__read", "mcp__b__read"]);
        assert_eq!(loose("mcp__a__*"), ["mcp__a__read"]);
        assert_eq!(exact("search", Prefixes::AreNeeded), [] as [&str; 0]);
        assert_eq!(exact("web/search", Prefixes::AreNeeded), ["mcp__web__search"]);
        let regex = NamePattern::Regex(Pattern::new("^mcp__.*read$").unwrap());
        assert_eq!(names.fitting(&regex, Prefixes::AreNeeded).yes.as_slice(), [1, 2]);
    }
}
