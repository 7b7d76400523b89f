//! Aligns expected calls with the calls that were made, and builds the outcome of a
//! metric.

use super::MAX_EVIDENCE;
use super::keys::{KeyNumbers, Keyed, same_value};
use super::material::Material;
use super::settings::ComparisonSettings;
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use toolmark_base::SortedMap;
use toolmark_match::engine::{Grid, TooLarge, align};
use toolmark_outcome::{Cause, Outcome, OutcomePart, Verdict};
use toolmark_outcome::{Evidence, EvidenceRole, excerpt};
use toolmark_outcome::{Explanation, ExplanationRow, RowState};
use toolmark_outcome::{IndexedCall, TrajectoryView};
use toolmark_trace::{Fact, LooseCall};

/// Maximum number of compared arguments.
const MAX_WORK: usize = 20_000_000;
/// Maximum number of pairs of calls whose order is compared.
const MAX_PAIRS: usize = 1 << 26;
/// Maximum number of listed extra calls, differences and repairs; the rest are only counted.
const MAX_EXTRA_ROWS: usize = 50;
const MAX_DIFFERENCES: usize = 5;
const MAX_REPAIRS: usize = 10;
const MAX_TOOLS: usize = 50;

/// A call that was made.
pub(super) struct AlignmentCall<'a> {
    pub(super) seen: IndexedCall<'a>,
    pub(super) name: Cow<'a, str>,
    pub(super) args: Option<Cow<'a, Value>>,
    pub(super) key: Keyed,
}

/// An expected call.
pub(super) struct AlignmentExpectation {
    pub(super) call: LooseCall,
    pub(super) key: Keyed,
}

/// Expected calls and actual calls.
pub(super) struct Sides<'a> {
    view: &'a TrajectoryView<'a>,
    pub(super) gold: Vec<AlignmentExpectation>,
    pub(super) made: Vec<AlignmentCall<'a>>,
}

/// The calls of one tool on both sides, by index.
#[derive(Default)]
pub(super) struct ToolGroup {
    pub(super) gold: Vec<usize>,
    pub(super) made: Vec<usize>,
}

/// An expected call and the call assigned to it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct AlignedPair {
    /// Index of the call.
    pub(super) call: usize,
    /// Value of the pair, from 0 to 1; 1 is a full match.
    pub(super) score: f64,
}

/// Returns the arguments of a call; text that is not JSON is returned as text.
pub(super) fn args_of<'a>(seen: IndexedCall<'a>) -> Option<Cow<'a, Value>> {
    let args = seen.call.args.as_ref()?;
    Some(args.parsed().map_or_else(|| Cow::Owned(args.to_value()), Cow::Borrowed))
}

impl<'a> Sides<'a> {
    /// Collects expected calls and actual calls, or returns the outcome if that is impossible.
    pub(super) fn of(
        settings: &ComparisonSettings,
        material: &Material<'a>,
        with_arguments: bool,
    ) -> Result<Self, Box<Outcome>> {
        let expected = material.expected()?;
        let view = material.view;
        let lacks = view.trajectory().fidelity.lacks(Fact::Arguments);
        if with_arguments && lacks && !view.calls().is_empty() {
            let reason = "the trace does not record the arguments of calls";
            return Err(Box::new(Outcome::unknown(Cause::MissingEvidence, reason)));
        }
        let mut keys = KeyNumbers::new(settings.strict_type_check);
        let gold = expected
            .into_iter()
            .map(|call| AlignmentExpectation {
                key: keys.call(&call.name, call.args.as_ref()),
                call,
            })
            .collect();
        let made = view
            .calls()
            .iter()
            .map(|seen| {
                let name = seen.call.name.full();
                let args = if with_arguments { args_of(*seen) } else { None };
                let key = keys.call(&name, args.as_deref());
                AlignmentCall { seen: *seen, name, args, key }
            })
            .collect();
        Ok(Self { view, gold, made })
    }

    /// Groups the calls by tool.
    pub(super) fn groups(&self) -> SortedMap<u32, ToolGroup> {
        let mut groups: SortedMap<u32, ToolGroup> = SortedMap::new();
        for (index, gold) in self.gold.iter().enumerate() {
            groups.entry(gold.key.name).or_default().gold.push(index);
        }
        for (index, made) in self.made.iter().enumerate() {
            groups.entry(made.key.name).or_default().made.push(index);
        }
        groups
    }

    /// Returns an error if comparing every expected call of a tool with every call of it
    /// would take too long.
    pub(super) fn check_work(&self) -> Result<(), TooLarge> {
        let mut work = 0usize;
        for group in self.groups().values() {
            let gold: usize = group.gold.iter().map(|g| self.gold[*g].key.size()).sum();
            let made: usize = group.made.iter().map(|m| self.made[*m].key.size()).sum();
            work = work
                .saturating_add(gold.saturating_mul(group.made.len()))
                .saturating_add(made.saturating_mul(group.gold.len()));
        }
        if work > MAX_WORK { Err(TooLarge) } else { Ok(()) }
    }

    /// Returns as many pairs as possible with the calls in the expected order.
    pub(super) fn in_order(
        &self,
        fits: impl Fn(&AlignmentExpectation, &AlignmentCall<'_>) -> bool,
    ) -> Result<Vec<Option<usize>>, TooLarge> {
        if self.gold.len().saturating_mul(self.made.len()) > MAX_PAIRS {
            return Err(TooLarge);
        }
        align(&Grid::from_fn(self.made.len(), self.gold.len(), |call, item| {
            let (gold, made) = (&self.gold[item], &self.made[call]);
            gold.key.name == made.key.name && fits(gold, made)
        }))
    }

    /// Returns the size of the larger side, the denominator of a score.
    pub(super) fn most(&self) -> usize {
        self.gold.len().max(self.made.len())
    }

    /// Returns `sum` divided by the size of the larger side; 1 if both sides are empty.
    pub(super) fn share(&self, sum: f64) -> f64 {
        match self.most() {
            0 => 1.0,
            most => (sum / most as f64).clamp(0.0, 1.0),
        }
    }
}

/// Returns the outcome for an input that is too large.
pub(super) fn too_large(sides: &Sides<'_>) -> Outcome {
    let reason = format!(
        "{} expected calls and {} calls made are too many to compare",
        sides.gold.len(),
        sides.made.len()
    );
    Outcome::unknown(Cause::Limit, reason)
}

/// Describes an expected call.
fn describe(call: &LooseCall) -> String {
    match &call.args {
        Some(args) if !args.is_null() => excerpt(&format!("{} {args}", call.name)),
        _ => call.name.clone(),
    }
}

fn short(value: &Value) -> String {
    excerpt(&value.to_string())
}

/// Describes the differences between the arguments of a call and the expected ones.
fn differences(
    gold: &AlignmentExpectation,
    made: &AlignmentCall<'_>,
    settings: &ComparisonSettings,
) -> String {
    let empty = Map::new();
    let named = |args: Option<&'_ Value>| match args {
        None | Some(Value::Null) => true,
        Some(Value::Object(_)) => true,
        Some(_) => false,
    };
    let (want, have) = (gold.call.args.as_ref(), made.args.as_deref());
    if !named(want) || !named(have) {
        let show = |args: Option<&Value>| args.map_or_else(|| "none".to_owned(), short);
        return format!("the arguments are {} instead of {}", show(have), show(want));
    }
    let want = want.and_then(Value::as_object).unwrap_or(&empty);
    let have = have.and_then(Value::as_object).unwrap_or(&empty);
    let mut found = Vec::new();
    let mut more = 0usize;
    let mut say = |words: &dyn Fn() -> String| {
        if found.len() < MAX_DIFFERENCES { found.push(words()) } else { more += 1 }
    };
    for (param, value) in want {
        match have.get(param) {
            None => say(&|| format!("{param} is missing")),
            Some(other) if !same_value(value, other, settings.strict_type_check) => {
                say(&|| format!("{param} is {} instead of {}", short(other), short(value)));
            }
            Some(_) => {}
        }
    }
    if !settings.ignore_extra_params {
        for (param, value) in have.iter().filter(|(param, _)| !want.contains_key(*param)) {
            say(&|| format!("{param} ({}) was not expected", short(value)));
        }
    }
    if more > 0 {
        found.push(format!("and {more} more"));
    }
    found.join("; ")
}

/// Converts an alignment to an outcome: parts, evidence, metrics and the rows.
///
/// A pair with a score of 1 is matched, any other pair is mismatched.
pub(super) fn outcome(
    sides: &Sides<'_>,
    settings: &ComparisonSettings,
    pairs: &[Option<AlignedPair>],
    verdict: Verdict,
    score: f64,
) -> Outcome {
    let mut taken = vec![false; sides.made.len()];
    let mut matched = vec![false; sides.made.len()];
    for pair in pairs.iter().flatten() {
        taken[pair.call] = true;
        matched[pair.call] = is_whole(pair.score);
    }
    let hits = matched.iter().filter(|hit| **hit).count();
    let missing = pairs.iter().filter(|pair| pair.is_none()).count();
    let extra = taken.iter().filter(|taken| !**taken).count();
    let mismatched = pairs.len() - missing - hits;
    let mut outcome = Outcome::scored(verdict, score, String::new());
    outcome.reason = reason(sides, hits, mismatched, missing, extra).into();
    let mut writer = AlignmentWriter::new(sides, settings);
    let mut next_extra = 0;
    for (gold, pair) in sides.gold.iter().zip(pairs) {
        if let Some(pair) = pair {
            while next_extra < pair.call {
                writer.extra(next_extra, &taken);
                next_extra += 1;
            }
        }
        outcome.parts.push(writer.gold(gold, pair.as_ref()));
    }
    for index in next_extra..sides.made.len() {
        writer.extra(index, &taken);
    }
    writer.finish(&mut outcome);
    for (name, value) in [
        ("expected", sides.gold.len()),
        ("made", sides.made.len()),
        ("matched", hits),
        ("mismatched", mismatched),
        ("missing", missing),
        ("extra", extra),
    ] {
        outcome.metrics.insert(name.to_owned(), value.into());
    }
    per_tool(sides, pairs, &mut outcome);
    outcome
}

/// Whether a pair is a full match. Scores are sums of fractions, so nearly 1 counts as 1.
pub(super) fn is_whole(score: f64) -> bool {
    score >= 1.0 - 1e-9
}

fn reason(
    sides: &Sides<'_>,
    hits: usize,
    mismatched: usize,
    missing: usize,
    extra: usize,
) -> String {
    match (sides.gold.len(), sides.made.len()) {
        (0, 0) => return "no call was expected and none was made".to_owned(),
        (0, 1) => return "no call was expected, one was made".to_owned(),
        (0, made) => return format!("no call was expected, {made} were made"),
        (1, 0) => return "one call was expected, none was made".to_owned(),
        (gold, 0) => return format!("{gold} calls were expected, none was made"),
        _ => {}
    }
    let mut words = format!("{hits} of {} expected calls were made", sides.gold.len());
    for (count, what) in
        [(mismatched, "made with other arguments"), (missing, "missing"), (extra, "extra")]
    {
        if count > 0 {
            words.push_str(&format!(", {count} {what}"));
        }
    }
    words
}

/// Adds the number of expected, actual and matched calls per tool.
fn per_tool(sides: &Sides<'_>, pairs: &[Option<AlignedPair>], outcome: &mut Outcome) {
    let mut tools: SortedMap<&str, [usize; 3]> = SortedMap::new();
    for (gold, pair) in sides.gold.iter().zip(pairs) {
        let counts = tools.entry(&gold.call.name).or_default();
        counts[0] += 1;
        counts[2] += usize::from(pair.as_ref().is_some_and(|pair| is_whole(pair.score)));
    }
    for made in &sides.made {
        tools.entry(&made.name).or_default()[1] += 1;
    }
    if tools.len() > MAX_TOOLS {
        outcome.notes.push(format!("{} tools are not listed one by one", tools.len()).into());
        return;
    }
    let tools: Map<String, Value> = tools
        .into_iter()
        .map(|(tool, [expected, made, matched])| {
            (tool.to_owned(), json!({"expected": expected, "made": made, "matched": matched}))
        })
        .collect();
    outcome.metrics.insert("tools".to_owned(), Value::Object(tools));
}

struct AlignmentWriter<'s, 'a> {
    sides: &'s Sides<'a>,
    settings: &'s ComparisonSettings,
    explanation: Explanation,
    /// Evidence against the run; listed first, because it is decisive.
    against: Vec<Evidence>,
    matched: Vec<Evidence>,
    /// Total amount of evidence, listed or not.
    pieces: usize,
    extras: usize,
}

impl<'s, 'a> AlignmentWriter<'s, 'a> {
    fn new(sides: &'s Sides<'a>, settings: &'s ComparisonSettings) -> Self {
        Self {
            sides,
            settings,
            explanation: Explanation::default(),
            against: Vec::new(),
            matched: Vec::new(),
            pieces: 0,
            extras: 0,
        }
    }

    fn finish(mut self, outcome: &mut Outcome) {
        let rows = &self.explanation.rows;
        self.explanation.divergence = rows.iter().position(|row| row.state != RowState::Matched);
        outcome.explanation = Some(self.explanation);
        outcome.evidence = self.against;
        outcome.evidence.append(&mut self.matched);
        outcome.evidence.truncate(MAX_EVIDENCE);
        let left = self.pieces - outcome.evidence.len();
        if left > 0 {
            outcome.notes.push(format!("{left} more pieces of evidence are not listed").into());
        }
    }

    fn evidence(&mut self, matched: bool, evidence: impl FnOnce() -> Evidence) {
        self.pieces += 1;
        let list = if matched { &mut self.matched } else { &mut self.against };
        if list.len() < MAX_EVIDENCE {
            list.push(evidence());
        }
    }

    fn repair(&mut self, words: String) {
        if self.explanation.repair.len() < MAX_REPAIRS {
            self.explanation.repair.push(words.into());
        }
    }

    /// Returns the part of an expected call and its result.
    fn gold(&mut self, gold: &AlignmentExpectation, pair: Option<&AlignedPair>) -> OutcomePart {
        let sides = self.sides;
        let text = describe(&gold.call);
        let Some((pair, made)) = pair.and_then(|pair| Some((pair, sides.made.get(pair.call)?)))
        else {
            self.evidence(false, || {
                Evidence::absence(format!("{text} was expected and not called"))
            });
            self.repair(format!("call {text}"));
            let row = ExplanationRow {
                expected: Some(text.clone().into()),
                call: None,
                state: RowState::Missing,
                why: None,
            };
            self.explanation.rows.push(row);
            let mut part = OutcomePart::new(text, Verdict::Fail);
            part.reason = Some("not called".into());
            return part;
        };
        let hit = is_whole(pair.score);
        let why = (!hit).then(|| differences(gold, made, self.settings));
        let (role, words) = match &why {
            None => (EvidenceRole::Matched, "as expected".to_owned()),
            Some(why) => (EvidenceRole::Mismatch, why.clone()),
        };
        self.evidence(hit, || sides.view.evidence(role, words, made.seen));
        if let Some(why) = &why {
            self.repair(format!("{text}: {why}"));
        }
        let state = if hit { RowState::Matched } else { RowState::Mismatched };
        let call = Some(sides.view.call_ref(made.seen));
        self.explanation.rows.push(ExplanationRow {
            expected: Some(text.clone().into()),
            call,
            state,
            why: why.clone().map(Into::into),
        });
        let mut part = OutcomePart::new(text, Verdict::of(hit));
        part.score = Some(pair.score).filter(|score| *score != 0.0 && !hit);
        part.reason = why.map(Into::into);
        part
    }

    /// Adds an unexpected call, unless it is used.
    fn extra(&mut self, index: usize, taken: &[bool]) {
        let sides = self.sides;
        let (Some(made), Some(false)) = (sides.made.get(index), taken.get(index)) else { return };
        self.evidence(false, || {
            sides.view.evidence(EvidenceRole::Extra, "not expected", made.seen)
        });
        self.repair(format!("do not call {}", made.name));
        self.extras += 1;
        if self.extras <= MAX_EXTRA_ROWS {
            let call = Some(sides.view.call_ref(made.seen));
            self.explanation.rows.push(ExplanationRow {
                expected: None,
                call,
                state: RowState::Extra,
                why: None,
            });
        } else {
            self.explanation.elided += 1;
        }
    }
}
