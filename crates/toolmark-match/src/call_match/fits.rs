//! Matches many patterns against many calls.
//!
//! Names are compared once per name, not once per call. If many patterns match
//! a name, patterns that require an argument to have a plain value are looked up by that
//! value. Only the remaining patterns are compared call by call.

use super::name::{NamePattern, Prefixes};
use super::{CallPattern, CallTable, Lack, TableCall, Truth};
use crate::engine::{CallColumn, TooLarge};
use serde_json::Value;
use smallvec::SmallVec;
use std::collections::{BTreeMap, HashMap};
use toolmark_trace::Fact;

/// Maximum number of pairs of pattern and call that are stored: 256 MB of bits.
const MAX_PAIRS: usize = 1 << 31;

/// Maximum amount of work, in calls; long arguments and results count for more.
const MAX_WORK: usize = 1 << 24;

/// Number of payload bytes that cost as much as a call.
const BYTES: usize = 256;

/// Up to this number of patterns of one name, patterns are compared one by one, which is cheaper
/// than sorting.
const FEW: usize = 8;

/// Number of open questions kept for the explanation.
const MAX_OPEN: usize = 20;

/// The calls that match each pattern.
#[derive(Debug, Clone)]
pub struct Fits {
    /// Calls that match, per pattern.
    pub sure: Vec<CallColumn>,
    /// Calls that match or may match; only for patterns with undecided calls.
    possible: BTreeMap<usize, CallColumn>,
    /// Some of the open questions: pattern, call, and what is missing.
    pub open: Vec<(usize, usize, Lack)>,
}

impl Fits {
    /// Returns the calls that match a pattern or may match it.
    #[must_use]
    pub fn possible(&self, pattern: usize) -> &CallColumn {
        self.possible.get(&pattern).unwrap_or(&self.sure[pattern])
    }

    /// Whether every question is decided.
    #[must_use]
    pub fn is_certain(&self) -> bool {
        self.possible.is_empty()
    }

    /// Sets the calls that match a pattern, and those that match or may match it.
    pub fn set(&mut self, pattern: usize, sure: CallColumn, possible: CallColumn) {
        match possible == sure {
            true => self.possible.remove(&pattern),
            false => self.possible.insert(pattern, possible),
        };
        self.sure[pattern] = sure;
    }

    /// Leaves open whether a call matches a pattern.
    pub fn suspect(&mut self, pattern: usize, call: usize, lack: Lack) {
        let sure = &self.sure[pattern];
        let possible = self.possible.entry(pattern).or_insert_with(|| sure.clone());
        possible.set(call);
        if self.open.len() < MAX_OPEN {
            self.open.push((pattern, call, lack));
        }
    }

    /// Removes calls from those of a pattern.
    pub fn exclude(&mut self, pattern: usize, calls: &CallColumn) {
        self.sure[pattern].exclude(calls);
        if let Some(possible) = self.possible.get_mut(&pattern) {
            possible.exclude(calls);
            if *possible == self.sure[pattern] {
                self.possible.remove(&pattern);
            }
        }
        self.open.retain(|(at, call, _)| *at != pattern || !calls.get(*call));
    }
}

/// Compares every pattern with every call.
pub fn fits(
    patterns: &[&CallPattern],
    table: &CallTable<'_>,
    prefixes: Prefixes,
) -> Result<Fits, TooLarge> {
    let calls = table.len();
    let searched = patterns.iter().filter(|p| !matches!(p.name(), NamePattern::Exact(_))).count();
    if patterns.len().saturating_mul(calls) > MAX_PAIRS
        || searched.saturating_mul(table.names().len()) > MAX_WORK
    {
        return Err(TooLarge);
    }
    let mut all = Filling {
        patterns,
        table,
        fits: Fits {
            sure: patterns.iter().map(|_| CallColumn::new(calls)).collect(),
            possible: BTreeMap::new(),
            open: Vec::new(),
        },
        work: 0,
    };
    let buckets = buckets(patterns, table, prefixes);
    for (call, made) in table.calls().iter().enumerate() {
        if let Some(bucket) = buckets.get(made.name as usize) {
            all.call(call, bucket)?;
        }
    }
    Ok(all.fits)
}

/// Patterns that match a name.
#[derive(Default)]
struct PatternBucket {
    /// Patterns that only check the name.
    named: SmallVec<[u32; 4]>,
    /// Patterns that are compared call by call.
    asked: SmallVec<[u32; 4]>,
    /// Patterns that require an argument to have a plain value.
    keyed: Option<Box<Keyed>>,
    /// Patterns whose name match could not be decided.
    open: Vec<u32>,
}

/// Patterns by argument name, then by required value.
type Keyed = BTreeMap<String, HashMap<PlainKey, Vec<u32>>>;

/// Key of a value that may equal another value with the same key.
#[derive(PartialEq, Eq, Hash)]
enum PlainKey {
    Null,
    Bool(bool),
    Number(u64),
    Text(String),
}

impl PlainKey {
    fn of(value: &Value) -> Option<Self> {
        Some(match value {
            Value::Null => Self::Null,
            Value::Bool(value) => Self::Bool(*value),
            // 1 and 1.0 are one number, and so are 0 and -0.
            Value::Number(number) => Self::Number((number.as_f64()? + 0.0).to_bits()),
            Value::String(text) => Self::Text(text.clone()),
            _ => return None,
        })
    }
}

fn buckets(
    patterns: &[&CallPattern],
    table: &CallTable<'_>,
    prefixes: Prefixes,
) -> Vec<PatternBucket> {
    let mut buckets: Vec<PatternBucket> = Vec::new();
    buckets.resize_with(table.names().len(), PatternBucket::default);
    for (number, pattern) in patterns.iter().enumerate() {
        let number = number as u32;
        let fitting = table.names().fitting(pattern.name(), prefixes);
        for name in fitting.yes {
            let bucket = &mut buckets[name as usize];
            match pattern.is_name_only() {
                true => bucket.named.push(number),
                false => bucket.asked.push(number),
            }
        }
        for name in fitting.unknown {
            buckets[name as usize].open.push(number);
        }
    }
    buckets.iter_mut().filter(|bucket| bucket.asked.len() > FEW).for_each(|b| b.sort(patterns));
    buckets
}

impl PatternBucket {
    /// Sorts the patterns by a required argument value.
    fn sort(&mut self, patterns: &[&CallPattern]) {
        for number in std::mem::take(&mut self.asked) {
            let key = patterns[number as usize].key();
            match key.and_then(|(key, value)| Some((key, PlainKey::of(value)?))) {
                None => self.asked.push(number),
                Some((key, value)) => {
                    let keyed = self.keyed.get_or_insert_default();
                    let values = keyed.entry(key.to_owned()).or_default();
                    values.entry(value).or_default().push(number);
                }
            }
        }
    }
}

struct Filling<'a, 't> {
    patterns: &'a [&'a CallPattern],
    table: &'a CallTable<'t>,
    fits: Fits,
    work: usize,
}

impl Filling<'_, '_> {
    fn call(&mut self, call: usize, bucket: &PatternBucket) -> Result<(), TooLarge> {
        for &pattern in &bucket.named {
            self.fits.sure[pattern as usize].set(call);
        }
        for &pattern in &bucket.asked {
            self.ask(pattern, call, Truth::Yes)?;
        }
        for &pattern in &bucket.open {
            self.ask(pattern, call, Truth::Unknown(Lack::Pattern))?;
        }
        let Some(keyed) = &bucket.keyed else { return Ok(()) };
        let made = &self.table.calls()[call];
        if made.seen.call.args.is_none() && made.fidelity.lacks(Fact::Arguments) {
            for pattern in keyed.values().flat_map(HashMap::values).flatten() {
                self.ask(*pattern, call, Truth::Yes)?;
            }
            return Ok(());
        }
        let args = made.seen.call.args.as_ref().and_then(|args| args.parsed());
        for (key, values) in keyed.iter() {
            let value = args.and_then(|args| args.get(key)).and_then(PlainKey::of);
            for &pattern in value.and_then(|value| values.get(&value)).into_iter().flatten() {
                self.ask(pattern, call, Truth::Yes)?;
            }
        }
        Ok(())
    }

    fn ask(&mut self, number: u32, call: usize, name: Truth) -> Result<(), TooLarge> {
        let pattern = self.patterns[number as usize];
        let number = number as usize;
        self.work += cost(pattern, &self.table.calls()[call]);
        if self.work > MAX_WORK {
            return Err(TooLarge);
        }
        match name.and(pattern.fits(self.table, call)) {
            Truth::Yes => {
                self.fits.sure[number].set(call);
                if let Some(possible) = self.fits.possible.get_mut(&number) {
                    possible.set(call);
                }
            }
            Truth::No => {}
            Truth::Unknown(lack) => {
                let sure = &self.fits.sure[number];
                let possible = self.fits.possible.entry(number).or_insert_with(|| sure.clone());
                possible.set(call);
                if self.fits.open.len() < MAX_OPEN {
                    self.fits.open.push((number, call, lack));
                }
            }
        }
        Ok(())
    }
}

/// Returns the cost of comparing a pattern with a call.
fn cost(pattern: &CallPattern, made: &TableCall<'_>) -> usize {
    let call = made.seen.call;
    let args = match (made.args, &call.args) {
        (Some(text), _) => text.len(),
        (None, Some(args)) => args.source().raw().len(),
        (None, None) => 0,
    };
    let result = match pattern.result() {
        None => 0,
        Some(_) => {
            let payload = call.result.as_ref().and_then(|result| result.payload.as_ref());
            payload.map_or(0, |payload| payload.source().raw().len())
        }
    };
    1 + (args + result) / BYTES
}
