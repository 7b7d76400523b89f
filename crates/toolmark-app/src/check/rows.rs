//! Findings and calls of a check: few are kept in memory, many in a temporary file.
//!
//! Findings are sorted in batches of some thousand before they are written, and the batches are
//! merged when they are read. Memory therefore does not grow with the number of findings.

use crate::spool::Spool;
use std::cell::RefCell;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::io;
use toolmark_check::stored::Stored;
use toolmark_check::{CallRow, FindingGroup, RowStore, StoredRows};
use toolmark_outcome::{Finding, Printable};

/// Maximum number of findings in memory before they are sorted and written.
const MAX_IN_MEMORY: usize = 2048;

/// Number of bytes of a batch that are read at once.
const BLOCK: usize = 16 << 10;

/// Rows collected so far.
#[derive(Default)]
pub struct Collected {
    findings: Vec<Finding<Printable>>,
    parts: Vec<RowBatch>,
    found: Spool,
    /// Number of findings of each kind.
    groups: Vec<FindingGroup>,
    calls: Spool,
    /// Write buffer.
    bytes: Vec<u8>,
}

/// Rows in a spool, each preceded by its length.
#[derive(Debug, Clone, Copy)]
struct RowBatch {
    start: u64,
    end: u64,
}

impl Collected {
    /// Adds findings in read order.
    pub fn add_findings(&mut self, findings: Vec<Finding<Printable>>) -> io::Result<()> {
        for finding in findings {
            let group = match self.groups.iter().position(|group| group.takes(&finding)) {
                Some(at) => self.groups.get_mut(at),
                None => {
                    self.groups.push(FindingGroup::of(&finding));
                    self.groups.last_mut()
                }
            };
            group.into_iter().for_each(|group| group.count += 1);
            self.findings.push(finding);
            if self.findings.len() == MAX_IN_MEMORY {
                self.end_part()?;
            }
        }
        Ok(())
    }

    /// Adds calls in read order.
    pub fn add_calls(&mut self, calls: &[CallRow<Printable>]) -> io::Result<()> {
        calls.iter().try_for_each(|call| add(call, &mut self.calls, &mut self.bytes))
    }

    /// Sorts the rows in memory and writes them.
    fn end_part(&mut self) -> io::Result<()> {
        // Stable, as the merge is: what is alike stays in the order it was read.
        self.findings.sort_by(Finding::order);
        let start = self.found.len();
        for finding in self.findings.drain(..) {
            add(&finding, &mut self.found, &mut self.bytes)?;
        }
        self.parts.push(RowBatch { start, end: self.found.len() });
        Ok(())
    }

    /// Finishes collecting and returns the rows for reading.
    pub fn finish(mut self) -> io::Result<SortedRows> {
        if self.parts.is_empty() {
            self.findings.sort_by(Finding::order);
        } else {
            self.end_part()?;
            self.findings = Vec::new();
        }
        let order =
            |group: &FindingGroup| (Reverse(group.severity), Reverse(group.confidence), group.code);
        self.groups.sort_by_key(order);
        Ok(SortedRows {
            findings: self.findings,
            parts: self.parts,
            found: RefCell::new(self.found),
            groups: self.groups,
            calls: RefCell::new(self.calls),
        })
    }
}

/// Writes a row with its length before it.
fn add(row: &impl Stored, spool: &mut Spool, bytes: &mut Vec<u8>) -> io::Result<()> {
    bytes.clear();
    bytes.extend_from_slice(&[0; LENGTH]);
    row.write(bytes);
    let length = u32::try_from(bytes.len() - LENGTH).map_err(|_| io::ErrorKind::FileTooLarge)?;
    bytes.iter_mut().zip(length.to_le_bytes()).for_each(|(to, from)| *to = from);
    spool.add(bytes)?;
    Ok(())
}

/// Size of a length, in bytes.
const LENGTH: usize = 4;

/// Findings in report order, and calls in read order.
pub struct SortedRows {
    /// All findings, if few.
    findings: Vec<Finding<Printable>>,
    parts: Vec<RowBatch>,
    found: RefCell<Spool>,
    groups: Vec<FindingGroup>,
    calls: RefCell<Spool>,
}

impl RowStore for SortedRows {
    fn groups(&self) -> &[FindingGroup] {
        &self.groups
    }

    fn findings(&self) -> io::Result<StoredRows<'_, Finding<Printable>>> {
        if self.parts.is_empty() {
            return Ok(Box::new(self.findings.iter().cloned().map(Ok)));
        }
        let mut merge = BatchMerge { parts: Vec::new(), heads: BinaryHeap::new() };
        for (at, part) in self.parts.iter().enumerate() {
            merge.parts.push(RowCursor::new(&self.found, *part));
            merge.advance(at)?;
        }
        Ok(Box::new(merge))
    }

    fn calls(&self) -> io::Result<StoredRows<'_, CallRow<Printable>>> {
        let all = RowBatch { start: 0, end: self.calls.borrow().len() };
        let mut cursor = RowCursor::new(&self.calls, all);
        Ok(Box::new(std::iter::from_fn(move || cursor.next().transpose())))
    }
}

/// Reads the rows of a batch.
struct RowCursor<'s> {
    spool: &'s RefCell<Spool>,
    rest: RowBatch,
    block: Vec<u8>,
    /// Number of consumed bytes of the block.
    taken: usize,
}

impl<'s> RowCursor<'s> {
    fn new(spool: &'s RefCell<Spool>, rest: RowBatch) -> Self {
        Self { spool, rest, block: Vec::new(), taken: 0 }
    }

    fn next<T: Stored>(&mut self) -> io::Result<Option<T>> {
        if self.taken == self.block.len() && self.rest.start == self.rest.end {
            return Ok(None);
        }
        let broken = || io::Error::from(io::ErrorKind::InvalidData);
        self.fill(LENGTH)?;
        let length = self.block.get(self.taken..self.taken + LENGTH);
        let length = length.and_then(|bytes| bytes.try_into().ok()).ok_or_else(broken)?;
        let length = u32::from_le_bytes(length) as usize;
        self.taken += LENGTH;
        self.fill(length)?;
        let mut row = self.block.get(self.taken..self.taken + length).ok_or_else(broken)?;
        self.taken += length;
        T::read(&mut row).map(Some).ok_or_else(broken)
    }

    /// Reads until the block has `wanted` unconsumed bytes.
    fn fill(&mut self, wanted: usize) -> io::Result<()> {
        let has = self.block.len() - self.taken;
        if has >= wanted {
            return Ok(());
        }
        self.block.drain(..self.taken);
        self.taken = 0;
        let left = usize::try_from(self.rest.end - self.rest.start).unwrap_or(usize::MAX);
        let more = BLOCK.max(wanted - has).min(left);
        self.spool.borrow_mut().read_block(self.rest.start, more, &mut self.block)?;
        self.rest.start += more as u64;
        Ok(())
    }
}

/// Merges sorted batches.
struct BatchMerge<'s> {
    parts: Vec<RowCursor<'s>>,
    heads: BinaryHeap<Head>,
}

impl BatchMerge<'_> {
    /// Reads the next finding of a batch.
    fn advance(&mut self, part: usize) -> io::Result<()> {
        let Some(cursor) = self.parts.get_mut(part) else { return Ok(()) };
        let next = cursor.next()?.map(|finding| Head { finding: Box::new(finding), part });
        self.heads.extend(next);
        Ok(())
    }
}

impl Iterator for BatchMerge<'_> {
    type Item = io::Result<Finding<Printable>>;

    fn next(&mut self) -> Option<Self::Item> {
        let Head { finding, part } = self.heads.pop()?;
        Some(self.advance(part).map(|()| *finding))
    }
}

/// The next finding of a batch. The greatest one comes first in the report.
struct Head {
    finding: Box<Finding<Printable>>,
    part: usize,
}

impl Ord for Head {
    fn cmp(&self, other: &Self) -> Ordering {
        other.finding.order(&self.finding).then_with(|| other.part.cmp(&self.part))
    }
}

impl PartialOrd for Head {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Head {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Head {}

#[cfg(test)]
mod tests {
    use super::*;
    use toolmark_check::{CheckedTraces, Checker};
    use toolmark_outcome::{Redactor, Severity};
    use toolmark_session::notation;

    fn checked() -> CheckedTraces<Printable> {
        let run = notation::parse(
            "Read {\"file_path\":\"/w/a.rs\"} -> \"1\\tone\"\n\
             Read {\"file_path\":\"/w/a.rs\"} -> \"1\\tone\"\n\
             Bash {\"command\":\"rm -rf src/legacy\"} -> \"\"\n",
        );
        let checked = Checker::default().keep_calls().check(&run.unwrap());
        checked.redact(Redactor::new(true))
    }

    /// Returns `count` findings in no particular order, many of them alike.
    fn many(count: usize) -> Vec<Finding<Printable>> {
        let some = checked().findings;
        assert!(some.len() > 1);
        let one = |n: usize| {
            let mut finding = some[n % some.len()].clone();
            finding.severity = Severity::ALL[n * 7 % 3];
            finding.place.byte = (n * 7919 % 97) as u64;
            // Tells those apart that are alike in the order of reports.
            finding.fingerprint = n.to_string();
            finding
        };
        (0..count).map(one).collect()
    }

    #[test]
    fn many_findings_have_the_order_of_few() {
        for count in [0, 1, 100, MAX_IN_MEMORY - 1, MAX_IN_MEMORY, 5 * MAX_IN_MEMORY + 17] {
            let mut expected = many(count);
            let mut collected = Collected::default();
            for some in expected.chunks(1000) {
                collected.add_findings(some.to_vec()).unwrap();
            }
            expected.sort_by(Finding::order);
            let rows = collected.finish().unwrap();
            assert_eq!(rows.parts.is_empty(), count < MAX_IN_MEMORY);
            for _ in 0..2 {
                let read: Vec<_> = rows.findings().unwrap().map(Result::unwrap).collect();
                assert!(read == expected, "{count} findings");
            }
            let mut at = 0;
            for group in rows.groups() {
                let alike = &expected[at..at + group.count];
                assert!(alike.iter().all(|finding| group.takes(finding)));
                at += group.count;
            }
            assert_eq!(at, count);
        }
    }

    #[test]
    fn calls_have_the_order_they_were_read_in() {
        let calls = checked().calls;
        assert_eq!(calls.len(), 3);
        let mut collected = Collected::default();
        let times = 2 * BLOCK / 100;
        (0..times).for_each(|_| collected.add_calls(&calls).unwrap());
        let rows = collected.finish().unwrap();
        let read: Vec<_> = rows.calls().unwrap().map(Result::unwrap).collect();
        assert_eq!(read.len(), times * calls.len());
        assert!(read.chunks(calls.len()).all(|part| *part == *calls));
    }
}
