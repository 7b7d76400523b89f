//! All packs as one table: programs by name, and the patterns that can occur in a text.

use super::message::kind_of_message;
use super::packs;
use super::program::{CommandLineParser, ProgramPurpose, ResultProgram};
use super::{ResultKind, line};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;

/// A pattern, what it shows, and its longest literal part.
struct ResultPattern {
    kind: ResultKind,
    pattern: &'static str,
    literal: &'static str,
    /// Hashes of the first and the last three bytes of the literal.
    ends: [u16; 2],
}

struct ResultTable {
    entries: Vec<ResultPattern>,
    programs: Vec<(&'static ResultProgram, Range<usize>)>,
    parsers: Vec<(CommandLineParser, Range<usize>)>,
    by_name: HashMap<&'static str, usize>,
}

static TABLE: LazyLock<ResultTable> = LazyLock::new(|| {
    let mut table = ResultTable {
        entries: Vec::new(),
        programs: Vec::new(),
        parsers: Vec::new(),
        by_name: HashMap::new(),
    };
    for program in packs::ALL.iter().copied().flatten() {
        let start = table.entries.len();
        for (kind, patterns) in program.lines {
            table.add(*kind, patterns);
        }
        for name in program.names {
            table.by_name.entry(name).or_insert(table.programs.len());
        }
        table.programs.push((program, start..table.entries.len()));
    }
    for parser in CommandLineParser::ALL {
        let start = table.entries.len();
        table.add(ResultKind::UsageError, parser.rejections());
        table.parsers.push((*parser, start..table.entries.len()));
    }
    table
});

impl ResultTable {
    fn add(&mut self, kind: ResultKind, patterns: &[&'static str]) {
        self.entries.extend(patterns.iter().map(|pattern| {
            let parts = pattern.split(['*', '#', '{', '}']);
            let literal = parts.max_by_key(|part| part.len()).unwrap_or_default();
            ResultPattern { kind, pattern, literal, ends: ends(literal) }
        }));
    }
}

/// Returns the program with a name.
pub(super) fn by_name(name: &str) -> Option<ProgramId> {
    TABLE.by_name.get(name).copied().map(ProgramId)
}

/// Index of a program in the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ProgramId(usize);

impl ProgramId {
    /// Shells and hosts, whose messages any command can have.
    pub(super) const SHELL: Self = Self(0);

    /// Programs that are not known by name.
    pub(super) const OTHER: Self = Self(1);

    /// Purpose of the program.
    pub(super) fn work(self) -> ProgramPurpose {
        TABLE.programs.get(self.0).map_or(ProgramPurpose::Acts, |(program, _)| program.work)
    }

    /// Whether the program is one of those that read, search and change files.
    pub(super) fn is_about_files(self) -> bool {
        let own = TABLE.programs.get(self.0).map(|(program, _)| *program);
        own.is_some_and(|own| packs::FILES.iter().any(|program| program.names == own.names))
    }

    fn patterns(self) -> impl Iterator<Item = usize> {
        let own = TABLE.programs.get(self.0);
        let parser = own.map_or(CommandLineParser::Unknown, |(program, _)| program.parser);
        // The parser of a program that is not known may be any.
        let is_any = self == Self::OTHER;
        let of_parser = TABLE.parsers.iter().filter(move |(known, _)| is_any || *known == parser);
        let own = own.into_iter().map(|(_, range)| range);
        own.chain(of_parser.map(|(_, range)| range)).cloned().flatten()
    }
}

/// Returns the programs that test or build, whose lines a carrier prints.
fn carried() -> impl Iterator<Item = usize> {
    let is_carried = |work| matches!(work, ProgramPurpose::Tests | ProgramPurpose::Builds);
    let all = TABLE.programs.iter().filter(move |(program, _)| is_carried(program.work));
    let patterns = all.flat_map(|(_, range)| range.clone());
    patterns.filter(|at| {
        let entry = TABLE.entries.get(*at);
        entry.is_some_and(|entry| !is_common(entry.pattern) && has_word(entry.pattern))
    })
}

/// Whether a pattern has a word, and not only the place of a message: `*:#:#: *`.
fn has_word(pattern: &str) -> bool {
    !pattern.starts_with('*') || pattern.chars().any(char::is_alphabetic)
}

/// Whether a pattern has the number of something: `# errors`, not the number of a line.
fn counts(pattern: &str) -> bool {
    pattern.contains("# ") || pattern.contains(" #")
}

/// Whether many programs begin lines so: `error: *`.
fn is_common(pattern: &str) -> bool {
    pattern.strip_suffix(": *").is_some_and(|word| !word.contains([' ', '*']))
}

/// Patterns that can occur in a text, for one command.
pub(super) struct Candidates {
    entries: Vec<&'static ResultPattern>,
    /// Whether the words of an error say more than that it is one.
    has_words: bool,
}

/// Meaning of a line.
#[derive(Debug, Clone, Copy)]
pub(super) struct Match {
    pub(super) kind: ResultKind,
    /// Whether the line has a number of failures, as summaries do.
    pub(super) is_count: bool,
}

/// A text, and the triples of bytes in it, which rule out most of the literals without a search.
pub(super) struct FoundLiterals<'t> {
    text: [&'t str; 2],
    grams: Box<[u64; GRAMS / 64]>,
}

/// Number of hashes of three bytes.
const GRAMS: usize = 1 << 16;

/// Hash of three bytes.
fn gram(bytes: [u8; 3]) -> u16 {
    let [a, b, c] = bytes.map(u32::from);
    let hash = (a | (b << 8) | (c << 16)).wrapping_mul(0x9E37_79B1) >> 16;
    u16::try_from(hash).unwrap_or_default()
}

/// Returns the hashes of the first and the last three bytes of a literal.
fn ends(literal: &str) -> [u16; 2] {
    let bytes = literal.as_bytes();
    let (first, last) = (bytes.first_chunk::<3>(), bytes.last_chunk::<3>());
    [first, last].map(|end| end.copied().map(gram).unwrap_or_default())
}

impl<'t> FoundLiterals<'t> {
    /// Looks at a text once.
    pub(super) fn new(text: [&'t str; 2]) -> Self {
        let mut grams = Box::new([0; GRAMS / 64]);
        for part in text {
            for window in part.as_bytes().windows(3) {
                let Ok(bytes) = <[u8; 3]>::try_from(window) else { continue };
                let hash = usize::from(gram(bytes));
                if let Some(word) = grams.get_mut(hash / 64) {
                    *word |= 1 << (hash % 64);
                }
            }
        }
        Self { text, grams }
    }

    fn has(&self, entry: &ResultPattern) -> bool {
        let is_set = |hash: u16| {
            let hash = usize::from(hash);
            self.grams.get(hash / 64).is_some_and(|word| word >> (hash % 64) & 1 == 1)
        };
        let may_be_in = entry.literal.len() < 3 || entry.ends.into_iter().all(is_set);
        may_be_in && self.text.iter().any(|part| part.contains(entry.literal))
    }

    /// Returns the patterns of a program that the text can have.
    pub(super) fn of(&self, program: ProgramId, parent: Option<ProgramId>) -> Candidates {
        let entry = |at: usize| TABLE.entries.get(at).filter(|entry| self.has(entry));
        let programs = std::iter::once(program).chain(parent);
        let mut entries: Vec<_> =
            programs.flat_map(ProgramId::patterns).filter_map(entry).collect();
        if program.work() == ProgramPurpose::Carries {
            entries.extend(carried().filter_map(entry));
        }
        let has_words = !matches!(
            program.work(),
            ProgramPurpose::Tests | ProgramPurpose::Builds | ProgramPurpose::Carries
        );
        Candidates { entries, has_words }
    }
}

impl Candidates {
    /// Returns what a line shows of a program with this name.
    pub(super) fn find(&self, name: &str, line: &str) -> Option<Match> {
        let has = |entry: &&ResultPattern| match entry.pattern.contains("{}") {
            true => line.contains(name) && line::matches(&entry.pattern.replace("{}", name), line),
            false => line::matches(entry.pattern, line),
        };
        let found = self.entries.iter().copied().filter(has).min_by_key(|entry| entry.kind)?;
        // Lines that begin as those of many programs do say more in their words.
        let more = match found.kind {
            ResultKind::Failed if self.has_words && is_common(found.pattern) => {
                kind_of_message(line)
            }
            _ => None,
        };
        Some(Match { kind: more.unwrap_or(found.kind), is_count: counts(found.pattern) })
    }

    /// Whether no line can match.
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

/// Number of programs known by name.
#[cfg(test)]
pub(super) fn names() -> usize {
    TABLE.by_name.len()
}
