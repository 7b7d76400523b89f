//! Cases that stay in their file: only the ID and position of each case are kept, and it is
//! read again when a trajectory belongs to it. Memory does not grow with the size of
//! the cases, and hardly with their number.

use crate::pairing::folded;
use crate::plan::Case;
use simdutf8::basic::from_utf8;
use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Number of bytes read at once.
const BLOCK: usize = 128 << 10;

/// Maximum size of a file that is kept in memory.
const MAX_KEPT_BYTES: u64 = 4 << 20;

/// Maximum length of a line.
const MAX_LINE: usize = 64 << 20;

/// Maximum number of recently read cases that are cached, for further trials.
const RECENT: usize = 64;

/// Facts about a case that are needed before it is read for grading.
pub struct CaseFacts<'l> {
    /// Case ID.
    pub id: Cow<'l, str>,
    /// First prompt of its trajectories.
    pub prompt: Option<String>,
    /// Trace files that it names.
    pub traces: Vec<PathBuf>,
    /// Whether any of its graders may call a judge.
    pub asks_judge: bool,
}

/// Reads cases from lines.
pub trait CaseReader: Send + Sync {
    /// Returns the facts of the case on this line. `None` if there is any problem, even a
    /// warning.
    fn facts<'l>(&self, line: &'l str, number: u32) -> Option<CaseFacts<'l>>;

    /// Reads the case on a line.
    fn case(&self, line: &Arc<str>, number: u32) -> Option<Case>;
}

/// The cases of a file of lines.
pub struct StoredCases {
    lines: Vec<CaseLine>,
    ids: Ids,
    /// Cases by hash of their prompt.
    prompts: HashMap<u64, Vec<usize>>,
    hasher: RandomState,
    traces: Vec<PathBuf>,
    asks_judge: bool,
    reader: Box<dyn CaseReader>,
    block: Mutex<FileBlock>,
    recent: Mutex<Vec<Recent>>,
}

/// A recently read case and its index.
type Recent = Option<(usize, Arc<Case>)>;

/// Position of a case in the file.
#[derive(Clone, Copy)]
struct CaseLine {
    start: u64,
    length: u32,
    number: u32,
}

impl StoredCases {
    /// Indexes every line of a file. `None` if the file cannot be read, or if
    /// there is any problem with a line or an ID: then the file has to be loaded
    /// as a whole, so that the problem is reported.
    #[must_use]
    pub fn open(path: &Path, reader: Box<dyn CaseReader>) -> Option<Self> {
        let mut file = FileLines::open(path).ok()?;
        let mut all = Self {
            lines: Vec::new(),
            ids: Ids::default(),
            prompts: HashMap::new(),
            hasher: RandomState::new(),
            traces: Vec::new(),
            asks_judge: false,
            reader,
            block: Mutex::default(),
            recent: Mutex::new(vec![None; RECENT]),
        };
        let mut number = 0_u32;
        while let Some((start, bytes)) = file.next().ok()? {
            number = number.checked_add(1)?;
            let line = from_utf8(bytes).ok()?;
            if line.chars().all(char::is_whitespace) {
                continue;
            }
            let facts = all.reader.facts(line, number)?;
            let index = all.lines.len();
            all.ids.add(&facts.id, all.hasher.hash_one(&*facts.id))?;
            if let Some(prompt) = facts.prompt {
                let hash = all.hasher.hash_one(folded(&prompt));
                all.prompts.entry(hash).or_default().push(index);
            }
            all.traces.extend(facts.traces);
            all.asks_judge |= facts.asks_judge;
            all.lines.push(CaseLine { start, length: u32::try_from(bytes.len()).ok()?, number });
        }
        all.block = Mutex::new(file.into_block());
        Some(all)
    }

    /// Returns the number of cases.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// Whether there are no cases.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Returns the ID of a case.
    #[must_use]
    pub fn id(&self, index: usize) -> &str {
        self.ids.get(index)
    }

    /// Returns the index of the case with this ID.
    #[must_use]
    pub fn find(&self, id: &str) -> Option<usize> {
        self.ids.find(id, self.hasher.hash_one(id))
    }

    /// Whether cases can be matched by prompt.
    #[must_use]
    pub fn has_prompts(&self) -> bool {
        !self.prompts.is_empty()
    }

    /// Returns the cases with this prompt, which must be normalized.
    pub(crate) fn asked(&self, prompt: &str) -> Vec<usize> {
        let same = self.prompts.get(&self.hasher.hash_one(prompt));
        let is_asked = |index: &usize| {
            let case = self.case(*index);
            case.is_some_and(|case| case.matches.prompts.iter().any(|one| folded(one) == prompt))
        };
        same.into_iter().flatten().copied().filter(is_asked).collect()
    }

    /// Returns the trace files that cases name.
    #[must_use]
    pub fn traces(&self) -> &[PathBuf] {
        &self.traces
    }

    /// Whether any grader may call a judge.
    #[must_use]
    pub fn asks_judge(&self) -> bool {
        self.asks_judge
    }

    /// Returns a case. `None` if its file has changed in the meantime.
    #[must_use]
    pub fn case(&self, index: usize) -> Option<Arc<Case>> {
        let slot = index % RECENT;
        let recent = || self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(Some((at, case))) = recent().get(slot)
            && *at == index
        {
            return Some(Arc::clone(case));
        }
        let case = Arc::new(self.read(index)?);
        if let Some(kept) = recent().get_mut(slot) {
            *kept = Some((index, Arc::clone(&case)));
        }
        Some(case)
    }

    fn read(&self, index: usize) -> Option<Case> {
        let line = *self.lines.get(index)?;
        let text: Arc<str> = {
            let mut block = self.block.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::from(from_utf8(block.get(line.start, line.length as usize).ok()?).ok()?)
        };
        self.reader.case(&text, line.number).filter(|case| case.id == self.id(index))
    }
}

/// IDs in one buffer, and a table of their hashes.
#[derive(Default)]
struct Ids {
    text: String,
    /// End of each ID.
    ends: Vec<usize>,
    by_hash: HashMap<u64, usize>,
    /// IDs whose hash collides with another.
    clashes: Vec<usize>,
}

impl Ids {
    fn get(&self, index: usize) -> &str {
        let start = index.checked_sub(1).and_then(|before| self.ends.get(before)).copied();
        let end = self.ends.get(index).copied();
        end.and_then(|end| self.text.get(start.unwrap_or(0)..end)).unwrap_or_default()
    }

    fn find(&self, id: &str, hash: u64) -> Option<usize> {
        let first = *self.by_hash.get(&hash)?;
        let mut all = std::iter::once(first).chain(self.clashes.iter().copied());
        all.find(|index| self.get(*index) == id)
    }

    /// Adds an ID; `None` if it is a duplicate.
    fn add(&mut self, id: &str, hash: u64) -> Option<()> {
        let index = self.ends.len();
        if self.find(id, hash).is_some() {
            return None;
        }
        match self.by_hash.entry(hash) {
            Entry::Occupied(_) => self.clashes.push(index),
            Entry::Vacant(place) => {
                place.insert(index);
            }
        }
        self.text.push_str(id);
        self.ends.push(self.text.len());
        Some(())
    }
}

/// The most recently read part of a file. Cases are mostly requested in file order.
#[derive(Default)]
struct FileBlock {
    file: Option<File>,
    start: u64,
    bytes: Vec<u8>,
}

impl FileBlock {
    fn get(&mut self, start: u64, length: usize) -> io::Result<&[u8]> {
        let within = |block: &Self| {
            let from = usize::try_from(start.checked_sub(block.start)?).ok()?;
            let to = from.checked_add(length)?;
            (to <= block.bytes.len()).then_some(from..to)
        };
        if within(self).is_none() {
            let file = self.file.as_mut().ok_or(io::ErrorKind::UnexpectedEof)?;
            file.seek(SeekFrom::Start(start))?;
            self.start = start;
            self.bytes.clear();
            file.take(length.max(BLOCK) as u64).read_to_end(&mut self.bytes)?;
        }
        let range = within(self).ok_or(io::ErrorKind::UnexpectedEof)?;
        self.bytes.get(range).ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }
}

/// The lines of a file, read in blocks.
struct FileLines {
    file: File,
    bytes: Vec<u8>,
    /// Number of bytes already returned.
    shown: usize,
    /// Number of bytes already searched for a line end.
    searched: usize,
    /// Position of the block in the file.
    start: u64,
    is_over: bool,
}

impl FileLines {
    fn open(path: &Path) -> io::Result<Self> {
        let mut file = File::open(path)?;
        let (length, is_file) = file.metadata().map(|data| (data.len(), data.is_file()))?;
        let is_kept = is_file && length <= MAX_KEPT_BYTES;
        let room = if is_kept { usize::try_from(length).unwrap_or(BLOCK) } else { BLOCK };
        let mut bytes = Vec::with_capacity(room);
        if is_kept {
            let read = (&mut file).take(MAX_KEPT_BYTES + 1).read_to_end(&mut bytes)?;
            // It grew meanwhile.
            if read as u64 > MAX_KEPT_BYTES {
                return Err(io::ErrorKind::InvalidData.into());
            }
        }
        Ok(Self { file, bytes, shown: 0, searched: 0, start: 0, is_over: is_kept })
    }

    /// Returns the last block, for reading lines again.
    fn into_block(self) -> FileBlock {
        FileBlock { file: Some(self.file), start: self.start, bytes: self.bytes }
    }

    /// Returns the next line including its line end, and its position.
    fn next(&mut self) -> io::Result<Option<(u64, &[u8])>> {
        loop {
            let rest = self.bytes.get(self.searched..).unwrap_or_default();
            let end = match memchr::memchr(b'\n', rest) {
                Some(at) => self.searched + at + 1,
                None if self.is_over && self.shown == self.bytes.len() => return Ok(None),
                None if self.is_over => self.bytes.len(),
                None => {
                    self.fill()?;
                    continue;
                }
            };
            let (from, at) = (self.shown, self.start + self.shown as u64);
            (self.shown, self.searched) = (end, end);
            let line = self.bytes.get(from..end).unwrap_or_default();
            // A mark of the byte order is for those who read all of it.
            if at == 0 && line.starts_with(b"\xef\xbb\xbf") {
                return Err(io::ErrorKind::InvalidData.into());
            }
            return Ok(Some((at, line)));
        }
    }

    fn fill(&mut self) -> io::Result<()> {
        self.bytes.drain(..self.shown);
        self.start += self.shown as u64;
        (self.shown, self.searched) = (0, self.bytes.len());
        if self.bytes.len() > MAX_LINE {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let read = (&mut self.file).take(BLOCK as u64).read_to_end(&mut self.bytes)?;
        self.is_over = read < BLOCK;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// A reader for tests: one case per line, whose ID is the line.
    struct TestCaseReader;

    impl CaseReader for TestCaseReader {
        fn facts<'l>(&self, line: &'l str, _: u32) -> Option<CaseFacts<'l>> {
            let id = Cow::Borrowed(line.trim());
            let prompt = id.strip_prefix("ask ").map(|rest| format!(" {rest}\n"));
            (id != "wrong").then_some(CaseFacts {
                id,
                prompt,
                traces: Vec::new(),
                asks_judge: false,
            })
        }

        fn case(&self, line: &Arc<str>, number: u32) -> Option<Case> {
            let mut case = crate::testing::case(line.trim());
            case.matches.prompts.extend(line.trim().strip_prefix("ask ").map(str::to_owned));
            case.place.line = number;
            Some(case)
        }
    }

    fn open(text: &str) -> (tempfile::TempDir, Option<StoredCases>) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("cases.jsonl");
        fs::write(&path, text).unwrap();
        let stored = StoredCases::open(&path, Box::new(TestCaseReader));
        (dir, stored)
    }

    #[test]
    fn cases_are_found_and_read_again() {
        let long = "x".repeat(3 * BLOCK);
        let (_dir, stored) = open(&format!("a\n\n  b\r\n{long}\nask it\nask  it\nc"));
        let stored = stored.unwrap();
        assert_eq!(stored.len(), 6);
        for (index, id) in ["a", "b", &*long, "ask it", "ask  it", "c"].into_iter().enumerate() {
            assert_eq!(stored.find(id), Some(index));
            assert_eq!(stored.id(index), id);
        }
        // Not in their order, and some of them twice.
        for index in [5, 0, 2, 2, 1, 4, 3, 0] {
            let case = stored.case(index).unwrap();
            assert_eq!(case.id, stored.id(index));
            assert_eq!(stored.find(&case.id), Some(index));
        }
        assert_eq!(stored.case(3).unwrap().place.line, 5);
        assert_eq!(stored.find("d"), None);
        assert!(stored.case(6).is_none());
        assert!(stored.has_prompts());
        assert_eq!(stored.asked("it"), [3, 4]);
        assert_eq!(stored.asked("that"), [] as [usize; 0]);
    }

    #[test]
    fn whatever_is_worth_a_word_is_left_to_others() {
        for text in ["a\nwrong\n", "a\nb\na\n", "\u{feff}a\n"] {
            assert!(open(text).1.is_none(), "{text:?}");
        }
        assert!(StoredCases::open(Path::new("no/such/file"), Box::new(TestCaseReader)).is_none());
        assert!(open("").1.unwrap().is_empty());
    }

    #[test]
    fn a_file_that_changed_has_no_such_case() {
        let long = "z".repeat(MAX_KEPT_BYTES as usize);
        for (text, is_kept) in [("a\nb\n".to_owned(), true), (format!("a\nb\n{long}\n"), false)] {
            let (dir, stored) = open(&text);
            let stored = stored.unwrap();
            fs::write(dir.path().join("cases.jsonl"), "x\ny\n").unwrap();
            assert_eq!(stored.case(1).is_some(), is_kept);
        }
    }
}
