//! Converts readings to an outcome.

use super::Expect;
use super::explain::Explained;
use super::reading::{CallFacts, ExpectReading, Mood};
use crate::facts::facts;
use crate::grader::Grader;
use serde_json::{Map, Value};
use std::cell::RefCell;
use std::rc::Rc;
use toolmark_match::Mention;
use toolmark_match::call_match::{Agents, CallTable};
use toolmark_match::engine::Extras;
use toolmark_outcome::Subject;
use toolmark_outcome::TrajectoryView;
use toolmark_outcome::rounded;
use toolmark_outcome::{Cause, GraderMetrics, Outcome, OutcomePart, Verdict};
use toolmark_outcome::{Evidence, EvidenceRole};

/// Maximum amount of evidence shown.
const EVIDENCE: usize = 20;

/// Maximum number of items of a kind named in a sentence.
const NAMED: usize = 3;

impl Grader for Expect {
    fn grade(&self, subject: &Subject<'_>) -> Outcome {
        let table = self.table(&subject.view);
        let too_large = |_| {
            let reason = format!(
                "{} calls against {} expectations are too much to align in good time",
                table.len(),
                self.patterns.len()
            );
            Outcome::unknown(Cause::Limit, reason)
        };
        self.answer(&subject.view, &table).unwrap_or_else(too_large)
    }

    fn forbids(&self) -> bool {
        self.is_none
            || self.forbids_calls()
            || self.extras != Extras::Allowed
            || self.links.has_exclusions()
            || self.calls.iter().any(|wanted| wanted.max.is_some())
    }

    /// Returns the tools that must be called, and those that other keys mention.
    fn mentions(&self) -> Vec<Mention> {
        let leaves = self.leaves.iter().map(|leaf| leaf.item.id);
        let wanted = leaves.chain(self.calls.iter().map(|want| want.pattern));
        let wanted = wanted.map(|pattern| self.patterns[pattern].name().mention());
        let prohibited = self.prohibited().map(|p| self.patterns[p].name().mention().prohibited());
        let others = self.links.others().flat_map(|pattern| self.links.parts(pattern));
        let others = others.map(|p| self.patterns[p].name().mention().prohibited());
        wanted.chain(prohibited).chain(others).collect()
    }
}

/// Descriptions of patterns, with a cache of the first few: a missing call is named in the
/// reason, in a part and in the explanation.
pub(super) struct PatternWords<'e> {
    expect: &'e Expect,
    kept: RefCell<Vec<(usize, Rc<str>)>>,
}

impl<'e> PatternWords<'e> {
    /// Number of cached descriptions.
    const MAX_CACHED: usize = 8;

    fn new(expect: &'e Expect) -> Self {
        Self { expect, kept: RefCell::default() }
    }

    /// Returns the description of a pattern.
    pub(super) fn of(&self, pattern: usize) -> Rc<str> {
        let mut kept = self.kept.borrow_mut();
        if let Some((_, words)) = kept.iter().find(|(known, _)| *known == pattern) {
            return Rc::clone(words);
        }
        let words: Rc<str> = self.expect.patterns[pattern].to_string().into();
        if kept.len() < Self::MAX_CACHED {
            kept.push((pattern, Rc::clone(&words)));
        }
        words
    }
}

/// The decisive reading.
struct ReadingAnswer<'r> {
    mood: Mood,
    reading: &'r ExpectReading,
    checks: &'r [ReadingCheck],
    verdict: Verdict,
}

/// One check of a reading (a key of the configuration or an entry of one): its
/// description, the number of its aspects, and how many of them hold.
#[derive(Debug, Clone)]
struct ReadingCheck {
    text: String,
    asked: usize,
    held: usize,
    /// Errors, one entry each; empty if they are only counted.
    wrong: Vec<String>,
    /// Whether the errors are clear without the description of the check.
    is_list: bool,
}

impl ReadingCheck {
    fn rule(text: String, wrong: Option<String>) -> Self {
        let wrong: Vec<String> = wrong.into_iter().collect();
        Self { text, asked: 1, held: usize::from(wrong.is_empty()), wrong, is_list: false }
    }

    fn holds(&self) -> bool {
        self.held == self.asked
    }
}

impl Expect {
    /// Whether calls are forbidden, also those of sub-agents.
    pub(super) fn forbids_calls(&self) -> bool {
        !self.only.is_empty()
            || !self.forbidden.is_empty()
            || !self.sequences.is_empty()
            || !self.never.is_empty()
    }

    /// Returns the calls to compare with: those of sub-agents too if calls are forbidden.
    fn table<'a>(&self, view: &TrajectoryView<'a>) -> CallTable<'a> {
        let has_others = || {
            !view.trajectory().children.is_empty()
                || view.calls().iter().any(|seen| seen.call.agent.is_some())
        };
        let table = match self.agents {
            Some(agents) => CallTable::of(view, agents, self.parallel),
            None if self.forbids_calls() && has_others() => {
                CallTable::with_prohibited(view, self.parallel)
            }
            None => CallTable::of(view, Agents::Main, self.parallel),
        };
        table.with_facts(facts)
    }

    fn answer(
        &self,
        view: &TrajectoryView<'_>,
        table: &CallTable<'_>,
    ) -> Result<Outcome, toolmark_match::engine::TooLarge> {
        let known = CallFacts::new(self, table)?;
        let words = PatternWords::new(self);
        let bound = self.bound(&known, Mood::Worst)?;
        let worst = self.read(&bound, Mood::Worst)?;
        let worst_checks = self.checks(table, &worst, &words);
        let passes = worst_checks.iter().all(ReadingCheck::holds);
        if passes || known.is_certain() && bound.is_certain() {
            let verdict = Verdict::of(passes);
            let answer = ReadingAnswer {
                mood: Mood::Worst,
                reading: &worst,
                checks: &worst_checks,
                verdict,
            };
            let parts = parts(&worst_checks, &worst_checks);
            return Ok(self.outcome(view, &bound, &answer, parts, &words));
        }
        let bound = self.bound(&known, Mood::Best)?;
        let best = self.read(&bound, Mood::Best)?;
        let best_checks = self.checks(table, &best, &words);
        let verdict = match best_checks.iter().all(ReadingCheck::holds) {
            true => Verdict::Unknown(Cause::MissingEvidence),
            false => Verdict::Fail,
        };
        let answer =
            ReadingAnswer { mood: Mood::Best, reading: &best, checks: &best_checks, verdict };
        let parts = parts(&best_checks, &worst_checks);
        Ok(self.outcome(view, &bound, &answer, parts, &words))
    }

    /// Returns every check of a reading, in the order of the configuration.
    fn checks(
        &self,
        table: &CallTable<'_>,
        reading: &ExpectReading,
        words: &PatternWords<'_>,
    ) -> Vec<ReadingCheck> {
        let mut all = Vec::new();
        if self.leaves.iter().any(|leaf| !leaf.item.optional) {
            let required = reading.alignment.places.iter().filter_map(|place| {
                let item = self.item(place.id).filter(|item| !item.optional)?;
                Some((place.id, item.count, place.missing))
            });
            all.push(made("in order", required, words));
        }
        if self.calls.iter().any(|want| want.min > 0) {
            let required = self.calls.iter().enumerate().map(|(at, want)| {
                let lacking = reading.covered.as_ref().map_or(0, |covered| covered.missing[at]);
                (want.pattern, want.min, lacking)
            });
            all.push(made("in any order", required, words));
        }
        for &(at, fitting) in &reading.counted {
            let want = &self.calls[at];
            let max = want.max.unwrap_or(usize::MAX);
            let text = format!("at most {max} × {}", self.patterns[want.pattern]);
            let wrong = (fitting > max).then(|| format!("{fitting} calls fit"));
            all.push(ReadingCheck::rule(text, wrong));
        }
        let titles = |calls: &[usize]| titles(table, calls);
        if self.is_none {
            let calls = &reading.unwanted;
            let wrong = (!calls.is_empty()).then(|| titles(calls));
            all.push(ReadingCheck::rule("no call at all".into(), wrong));
        }
        if !self.only.is_empty() {
            let names: Vec<String> = self.only.iter().map(ToString::to_string).collect();
            let wrong = (!reading.strays.is_empty()).then(|| titles(&reading.strays));
            all.push(ReadingCheck::rule(format!("only {}", names.join(", ")), wrong));
        }
        if self.extras == Extras::Forbidden {
            let extras = &reading.extras;
            let wrong = (!extras.is_empty()).then(|| titles(extras));
            let check = ReadingCheck::rule("no extra calls".into(), wrong);
            all.push(ReadingCheck { asked: extras.len(), held: 0, ..check });
        }
        for (&pattern, calls) in self.forbidden.iter().zip(&reading.forbidden) {
            let wrong = (!calls.is_empty()).then(|| titles(calls));
            all.push(ReadingCheck::rule(format!("never {}", self.patterns[pattern]), wrong));
        }
        for (follows, calls) in self.sequences.iter().zip(&reading.sequences) {
            let wrong = calls.as_ref().map(|calls| titles(calls));
            all.push(ReadingCheck::rule(self.followed(follows), wrong));
        }
        for (never, calls) in self.never.iter().zip(&reading.never) {
            let (call, other) = (&self.patterns[never.call], &self.patterns[never.other]);
            let wrong = (!calls.is_empty()).then(|| titles(calls));
            all.push(ReadingCheck::rule(format!("never {call} {} {other}", never.word()), wrong));
        }
        all
    }

    fn followed(&self, follows: &super::Follows) -> String {
        let names: Vec<String> =
            follows.patterns.iter().map(|p| self.patterns[*p].to_string()).collect();
        let how = if follows.is_contiguous { "directly followed by" } else { "followed by" };
        format!("never {}", names.join(&format!(" {how} ")))
    }

    fn outcome(
        &self,
        view: &TrajectoryView<'_>,
        known: &CallFacts<'_, '_>,
        answer: &ReadingAnswer<'_>,
        parts: Vec<OutcomePart>,
        words: &PatternWords<'_>,
    ) -> Outcome {
        let table = known.table;
        let ReadingAnswer { mood, reading, checks, verdict } = *answer;
        let asked: usize = checks.iter().map(|check| check.asked).sum();
        let held: usize = checks.iter().map(|check| check.held).sum();
        let score = match (verdict, asked) {
            (Verdict::Unknown(_), _) => None,
            (_, 0) => Some(1.0),
            _ => Some(held as f64 / asked as f64),
        };
        let reason = self.reason(table, known, answer);
        let mut outcome = Outcome::scored(verdict, 0.0, reason);
        outcome.score = score;
        outcome.metrics = self.metrics(table, reading, verdict);
        outcome.parts = parts;
        outcome.notes = self.notes(known, reading).into_iter().map(Into::into).collect();
        if verdict == Verdict::Pass {
            // What agrees needs no explanation beyond the calls themselves.
            outcome.evidence = self.agreeing(table, view, reading);
            return outcome;
        }
        let explained = Explained::new(self, view, known, mood, reading, words);
        let found = self.violations(table, view, reading);
        outcome.evidence = found.into_iter().chain(explained.evidence).take(EVIDENCE).collect();
        outcome.explanation = Some(explained.explanation);
        outcome
    }

    /// Returns evidence of the calls that meet expectations.
    fn agreeing(
        &self,
        table: &CallTable<'_>,
        view: &TrajectoryView<'_>,
        reading: &ExpectReading,
    ) -> Vec<Evidence> {
        let in_order = reading.alignment.places.iter().map(|place| (place.id, &place.calls));
        let covered = reading.covered.iter().flat_map(|covered| &covered.calls);
        let in_any = self.calls.iter().map(|want| want.pattern).zip(covered);
        let calls = in_order
            .chain(in_any)
            .flat_map(|(pattern, calls)| calls.iter().map(move |call| (pattern, *call)));
        let agreeing = calls.take(EVIDENCE).filter_map(|(pattern, call)| {
            let mut text = String::with_capacity(64);
            text.push_str("is ");
            self.patterns[pattern].add_title(&mut text);
            table.evidence(view, EvidenceRole::Matched, text, call)
        });
        let mut evidence = Vec::with_capacity(EVIDENCE.min(table.len()));
        evidence.extend(agreeing);
        evidence
    }

    fn violations(
        &self,
        table: &CallTable<'_>,
        view: &TrajectoryView<'_>,
        reading: &ExpectReading,
    ) -> Vec<Evidence> {
        let mut all = Vec::new();
        let mut add = |words: &str, calls: &[usize]| {
            let calls = calls.iter().take(EVIDENCE);
            all.extend(
                calls.filter_map(|c| table.evidence(view, EvidenceRole::Violation, words, *c)),
            );
        };
        add("no call was right", &reading.unwanted);
        for (&pattern, calls) in self.forbidden.iter().zip(&reading.forbidden) {
            add(&format!("{} is forbidden", self.patterns[pattern]), calls);
        }
        for (follows, calls) in self.sequences.iter().zip(&reading.sequences) {
            add(&self.followed(follows), calls.as_deref().unwrap_or_default());
        }
        for (never, calls) in self.never.iter().zip(&reading.never) {
            add(&format!("{} {}", never.word(), self.patterns[never.other]), calls);
        }
        add("not among the allowed tools", &reading.strays);
        if self.extras == Extras::Forbidden {
            add("not expected", &reading.extras);
        }
        for &(at, fitting) in &reading.counted {
            let want = &self.calls[at];
            if want.max.is_some_and(|max| fitting > max) {
                let over = reading.covered.as_ref().map(|covered| covered.calls[at].as_slice());
                let words = format!("one of {fitting} calls that fit");
                add(&words, over.unwrap_or_default());
            }
        }
        all
    }

    fn reason(
        &self,
        table: &CallTable<'_>,
        known: &CallFacts<'_, '_>,
        answer: &ReadingAnswer<'_>,
    ) -> String {
        let ReadingAnswer { reading, checks, verdict, .. } = *answer;
        if let Verdict::Unknown(_) = verdict {
            let open = known.fits.open.first().map(|&(pattern, call, lack)| {
                let (title, pattern) = (table.title(call), &self.patterns[pattern]);
                format!("whether {title} is {pattern}: {}", lack.words())
            });
            let open = open.unwrap_or_else(|| "a pattern took too many steps".into());
            return format!("cannot be told {open}");
        }
        let required = self.required(reading);
        let missing = self.missing(reading);
        let mut said = Vec::new();
        if self.expects_calls() {
            said.push(match missing {
                0 => format!("all {required} expected calls were made"),
                _ => format!("{} of {required} expected calls were made", required - missing),
            });
        }
        let count: usize = checks.iter().map(|check| check.wrong.len()).sum();
        let wrong = checks.iter().flat_map(|check| {
            let named = check.wrong.iter().filter(|wrong| !wrong.is_empty());
            named.map(move |wrong| match check.is_list {
                true => wrong.clone(),
                false => format!("{}: {wrong}", check.text),
            })
        });
        said.extend(wrong.take(NAMED));
        if count > NAMED {
            said.push(format!("{} more", count - NAMED));
        }
        if said.is_empty() {
            said.push("no forbidden calls".into());
        }
        said.join("; ")
    }

    fn required(&self, reading: &ExpectReading) -> usize {
        let items = reading.alignment.places.iter().filter_map(|place| self.item(place.id));
        let in_order: usize = items.filter(|item| !item.optional).map(|item| item.count).sum();
        in_order + self.calls.iter().map(|want| want.min).sum::<usize>()
    }

    fn missing(&self, reading: &ExpectReading) -> usize {
        let covered = reading.covered.iter().flat_map(|covered| &covered.missing);
        reading.alignment.missing() + covered.sum::<usize>()
    }

    fn metrics(
        &self,
        table: &CallTable<'_>,
        reading: &ExpectReading,
        verdict: Verdict,
    ) -> GraderMetrics {
        let counted = match table.uncounted() {
            None => table.len(),
            Some(uncounted) => table.len() - uncounted.count(),
        };
        // One allocation for all that may be in it.
        let mut metrics = GraderMetrics::from(Map::with_capacity(9));
        let mut put = |name: &str, value: Value| metrics.insert(name.to_owned(), value);
        let violations =
            [&reading.unwanted, &reading.strays].into_iter().map(Vec::len).sum::<usize>()
                + reading.forbidden.iter().chain(&reading.never).map(Vec::len).sum::<usize>()
                + reading.sequences.iter().flatten().count();
        if self.expects_calls() && !matches!(verdict, Verdict::Unknown(_)) {
            let (required, missing) = (self.required(reading), self.missing(reading));
            let (matched, extra) = (required - missing, reading.extras.len());
            put("required", required.into());
            put("matched", matched.into());
            put("missing", missing.into());
            put("extra", extra.into());
            put("forbidden", violations.into());
            put("calls", counted.into());
            let share = |part: usize, whole: usize| match whole {
                0 => 1.0,
                whole => part as f64 / whole as f64,
            };
            let (precision, recall) = (share(matched, matched + extra), share(matched, required));
            let f1 = match precision + recall {
                0.0 => 0.0,
                sum => 2.0 * precision * recall / sum,
            };
            put("precision", rounded(precision).into());
            put("recall", rounded(recall).into());
            put("f1", rounded(f1).into());
        } else {
            put("forbidden", violations.into());
            put("calls", counted.into());
        }
        metrics
    }

    fn notes(&self, known: &CallFacts<'_, '_>, reading: &ExpectReading) -> Vec<String> {
        let table = known.table;
        let missing = reading.alignment.places.iter().filter(|place| place.missing > 0);
        let missing = missing.map(|place| place.id);
        let covered = reading.covered.iter().flat_map(|covered| &covered.missing);
        let covered = self.calls.iter().zip(covered).filter(|(_, missing)| **missing > 0);
        let missing: Vec<usize> = missing.chain(covered.map(|(want, _)| want.pattern)).collect();
        let mut notes = self.hints(table, &missing);
        for (name, values) in &known.values {
            let value = values.first().map(toolmark_match::call_match::shown);
            notes.push(format!("`${name}` is {}", value.unwrap_or_default()));
        }
        if !reading.extras.is_empty() {
            let (count, titles) = (reading.extras.len(), titles(table, &reading.extras));
            let word = if count == 1 { "call was" } else { "calls were" };
            notes.push(format!("{count} {word} not expected: {titles}"));
        }
        let undone = table.undone().count();
        if undone > 0 && !self.counts_failed && self.expects_calls() {
            let word = if undone == 1 { "call that" } else { "calls that" };
            notes.push(format!("{undone} {word} did not succeed did not count as done"));
        }
        if table.left_out() > 0 {
            let count = table.left_out();
            let word =
                if count == 1 { "call of a sub-agent was" } else { "calls of sub-agents were" };
            notes.push(format!("{count} {word} not looked at; `agents: all` includes them"));
        }
        notes
    }
}

/// Adds the check of required calls: pattern, count, and number of missing calls.
fn made(
    how: &str,
    required: impl Iterator<Item = (usize, usize, usize)>,
    words: &PatternWords<'_>,
) -> ReadingCheck {
    let (mut asked, mut lacking, mut wrong) = (0, 0, Vec::new());
    for (pattern, count, missing) in required {
        asked += count;
        lacking += missing;
        if missing == 0 {
            continue;
        }
        // What is not named is only counted.
        wrong.push(match (wrong.len() < NAMED, count) {
            (false, _) => String::new(),
            (true, 1) => format!("{}: not made", words.of(pattern)),
            (true, _) => {
                format!("{count} × {}: {missing} of {count} not made", words.of(pattern))
            }
        });
    }
    let calls = if asked == 1 { "call" } else { "calls" };
    let text = format!("{asked} {calls} {how}");
    ReadingCheck { text, asked, held: asked - lacking, wrong, is_list: true }
}

/// Returns the titles of the first of these calls, and the number of further calls.
fn titles(table: &CallTable<'_>, calls: &[usize]) -> String {
    let named: Vec<String> = calls.iter().take(NAMED).map(|call| table.title(*call)).collect();
    match calls.len().saturating_sub(NAMED) {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}

/// Returns the checks of the best reading; those that fail in the worst reading are open. Both
/// readings make the same checks in the same order.
fn parts(best: &[ReadingCheck], worst: &[ReadingCheck]) -> Vec<OutcomePart> {
    let part = |(check, worst): (&ReadingCheck, &ReadingCheck)| {
        let verdict = match (check.holds(), worst.holds()) {
            (true, false) => Verdict::Unknown(Cause::MissingEvidence),
            (holds, _) => Verdict::of(holds),
        };
        let score = match check.asked {
            0 | 1 => None,
            asked => Some(check.held as f64 / asked as f64),
        };
        let named: Vec<&str> =
            check.wrong.iter().map(String::as_str).filter(|wrong| !wrong.is_empty()).collect();
        let reason = match check.wrong.len() - named.len() {
            _ if named.is_empty() => None,
            0 => Some(named.join("; ").into()),
            more => Some(format!("{}; {more} more", named.join("; ")).into()),
        };
        OutcomePart { text: check.text.clone().into(), verdict, score, reason }
    };
    best.iter().zip(worst).map(part).collect()
}
