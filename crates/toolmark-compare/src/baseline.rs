//! Baseline: an earlier report of `toolmark check --format json`.
//!
//! It contains the known findings and the numbers, in total and per trajectory. Runs of the
//! same sessions are compared finding by finding, and runs of different sessions by the
//! frequency of each kind of finding per opportunity.

use serde::Deserialize;
use toolmark_base::{SortedMap, SortedSet};
use toolmark_check::changes::{Changes, FindingTrend, KindChange, RuleCounts};
use toolmark_check::gate::{self, Cells, Earlier, TrajectoryCells};
use toolmark_check::{CheckedTraces, RuleCount};
use toolmark_outcome::{Finding, Untrusted, statistics};

/// Relevant parts of a report.
#[derive(Deserialize)]
struct BaselineReport {
    findings: Vec<KnownFindings>,
    trajectories: Vec<TrajectoryCells<String>>,
    #[serde(default)]
    scorecard: Option<Card>,
}

#[derive(Deserialize)]
struct KnownFindings {
    fingerprint: String,
    #[serde(default)]
    session: Option<String>,
    #[serde(default)]
    code: String,
    #[serde(default)]
    tool: String,
    #[serde(default)]
    bucket: Option<String>,
}

#[derive(Default, Deserialize)]
struct Card {
    #[serde(default)]
    rules: Vec<RuleRow>,
    #[serde(default)]
    tools: SortedMap<String, ToolRow>,
    #[serde(default)]
    measures: Vec<MeasureRow>,
}

#[derive(Deserialize)]
struct RuleRow {
    code: String,
    tool: String,
    of: u64,
}

#[derive(Deserialize)]
struct ToolRow {
    #[serde(default)]
    calls: u64,
}

#[derive(Deserialize)]
struct MeasureRow {
    axis: String,
    name: String,
    tool: String,
    #[serde(default)]
    bucket: Option<String>,
    tally: TallyRow,
}

#[derive(Deserialize)]
struct TallyRow {
    of: u64,
    points: f64,
}

/// Key of findings of the same kind in different sessions: the rule, the tool and the bucket.
/// The file and the message of the finding are ignored.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct KindKey {
    code: String,
    tool: String,
    bucket: Option<String>,
}

impl KindKey {
    fn of(finding: &Finding) -> Self {
        let bucket = finding.bucket.as_ref().map(|bucket| bucket.raw().to_owned());
        Self { code: finding.code.to_owned(), tool: finding.tool.raw().to_owned(), bucket }
    }
}

/// A finding in the form used for comparing runs.
#[derive(Debug)]
struct KnownFinding {
    fingerprint: String,
    session: Option<Untrusted>,
    kind: KindKey,
}

impl KnownFinding {
    fn key(&self) -> (&str, Option<&Untrusted>, KindKey) {
        (self.fingerprint.as_str(), self.session.as_ref(), self.kind.clone())
    }
}

/// An earlier run.
#[derive(Debug, Default)]
pub struct Baseline {
    /// Findings, in the order of the report.
    findings: Vec<KnownFinding>,
    /// Number of opportunities, by rule and tool.
    opportunities: SortedMap<(String, String), u64>,
    /// Number of calls by tool, for reports without opportunities.
    calls: SortedMap<String, u64>,
    all: Cells,
    each: SortedMap<Untrusted, Cells>,
}

/// Comparison of the findings of two reports.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReportChanges {
    /// Indexes of the findings that only the later report has.
    pub new: Vec<usize>,
    /// Indexes of the findings that only the earlier report has.
    pub gone: Vec<usize>,
    /// Frequency of each kind of finding, if the reports have different sessions.
    pub kinds: Vec<KindChange>,
}

impl ReportChanges {
    fn new(before: &BaselineSide<'_>, now: &BaselineSide<'_>) -> Self {
        let places = |is_new: Vec<bool>| {
            let places = is_new.into_iter().enumerate().filter(|(_, is_new)| *is_new);
            places.map(|(at, _)| at).collect()
        };
        let forth = BaselineComparison::new(before, now);
        // Findings that are new in the reverse comparison are gone, so both directions agree.
        let back = BaselineComparison::new(now, before);
        let has_others = forth.has_others || back.has_others;
        let kinds = if has_others { forth.kinds } else { Vec::new() };
        Self { new: places(forth.is_new), gone: places(back.is_new), kinds }
    }
}

/// Returns the change of a kind of finding.
fn change(key: &KindKey, before: RuleCounts, now: RuleCounts) -> KindChange {
    let p = statistics::fisher((before.of, before.found), (now.of, now.found));
    let rates = before.rate().zip(now.rate());
    let difference = rates.map(|(before, now)| now - before);
    let interval = rates
        .and_then(|(first, second)| statistics::difference((before.of, first), (now.of, second)));
    let is_real = p.is_some_and(gate::is_significant);
    let trend = match (before.found, now.found) {
        (0, _) => FindingTrend::New,
        (_, 0) => FindingTrend::Gone,
        _ if !is_real => FindingTrend::Same,
        _ if difference > Some(0.0) => FindingTrend::More,
        _ => FindingTrend::Fewer,
    };
    let bucket = key.bucket.as_deref().map(Into::into);
    let (code, tool) = (key.code.as_str().into(), key.tool.as_str().into());
    KindChange { trend, code, tool, bucket, before, now, difference, interval, p }
}

/// One of two runs whose findings are compared.
struct BaselineSide<'a> {
    /// Ids of the sessions that have one.
    sessions: SortedSet<&'a Untrusted>,
    /// Fingerprint, session and kind of each finding.
    findings: Vec<(&'a str, Option<&'a Untrusted>, KindKey)>,
    /// Returns the number of opportunities of a kind.
    opportunities: Box<dyn Fn(&KindKey) -> u64 + 'a>,
}

impl<'a> BaselineSide<'a> {
    fn of(checked: &'a CheckedTraces) -> Self {
        let key = |finding: &'a Finding| {
            (finding.fingerprint.as_str(), finding.session.as_ref(), KindKey::of(finding))
        };
        let rules = &checked.scorecard.rules;
        let opportunities = |key: &KindKey| {
            let of_rule = |((code, tool), _): &(&(&str, Untrusted), &RuleCount)| {
                *code == key.code && *tool == *key.tool.as_str()
            };
            rules.iter().find(of_rule).map_or(0, |(_, count)| count.of)
        };
        Self {
            sessions: checked.sessions.iter().filter_map(|session| session.id.as_ref()).collect(),
            findings: checked.findings.iter().map(key).collect(),
            opportunities: Box::new(opportunities),
        }
    }

    /// Counts the findings by kind.
    fn kinds(&self) -> SortedMap<&KindKey, u64> {
        let mut kinds = SortedMap::new();
        for (_, _, kind) in &self.findings {
            *kinds.entry(kind).or_default() += 1;
        }
        kinds
    }
}

/// Result of comparing the findings of two runs.
struct BaselineComparison {
    /// For each finding of the second run, whether it is missing from the first run or of a
    /// kind that is now more frequent.
    is_new: Vec<bool>,
    /// Number of findings of the first run that are not in the second.
    gone: u64,
    /// Frequency of each kind of finding.
    kinds: Vec<KindChange>,
    /// Whether the second run has sessions that the first did not include.
    has_others: bool,
}

impl BaselineComparison {
    /// Compares two runs. Findings of a session in both runs are matched by fingerprint: if
    /// the first run had as many, none is new. Findings of other sessions are compared by
    /// kind: they are new if the earlier run has none of the kind, or if the kind is now more
    /// frequent per opportunity.
    fn new(before: &BaselineSide<'_>, now: &BaselineSide<'_>) -> Self {
        let sessions = SessionIds { before: &before.sessions, now: &now.sessions };
        let (of_before, of_now) = (before.kinds(), now.kinds());
        let keys: SortedSet<&KindKey> = of_before.keys().chain(of_now.keys()).copied().collect();
        let kind = |key: &KindKey| {
            let counted = |counts: &SortedMap<&KindKey, u64>| counts.get(key).copied().unwrap_or(0);
            let before = RuleCounts::new(counted(&of_before), (before.opportunities)(key));
            change(key, before, RuleCounts::new(counted(&of_now), (now.opportunities)(key)))
        };
        let kinds: SortedMap<&KindKey, KindChange> =
            keys.into_iter().map(|key| (key, kind(key))).collect();
        let is_other: Vec<bool> =
            now.findings.iter().map(|(_, session, _)| sessions.is_other(*session)).collect();
        let has_others = is_other.contains(&true)
            || now.sessions.iter().any(|id| !before.sessions.contains(id))
            || sessions.are_all_other();
        let (known, mut gone) = known(before, now, &sessions, &is_other);
        let is_worse = |kind: &KindKey| {
            kinds
                .get(kind)
                .is_some_and(|kind| matches!(kind.trend, FindingTrend::New | FindingTrend::More))
        };
        let is_new = now.findings.iter().enumerate().map(|(at, (_, _, kind))| match is_other[at] {
            true => is_worse(kind),
            false => !known[at],
        });
        let is_new = is_new.collect();
        let kinds: Vec<KindChange> = kinds.into_values().collect();
        if sessions.are_all_other() {
            let left = kinds.iter().filter(|kind| kind.trend == FindingTrend::Gone);
            gone = left.map(|kind| kind.before.found).sum();
        }
        Self { is_new, gone, kinds, has_others }
    }
}

/// Returns which findings of sessions in both runs are known by their fingerprints, matching
/// the same session first, and the number of findings that are gone.
fn known(
    before: &BaselineSide<'_>,
    now: &BaselineSide<'_>,
    sessions: &SessionIds<'_>,
    is_other: &[bool],
) -> (Vec<bool>, u64) {
    let mut left: SortedMap<&str, SortedMap<Option<&Untrusted>, u64>> = SortedMap::new();
    for (fingerprint, session, _) in &before.findings {
        if !sessions.is_past(*session) {
            *left.entry(fingerprint).or_default().entry(*session).or_default() += 1;
        }
    }
    let mut known = vec![false; now.findings.len()];
    for any_session in [false, true] {
        for (at, (fingerprint, session, _)) in now.findings.iter().enumerate() {
            if known[at] || is_other[at] {
                continue;
            }
            let Some(by_session) = left.get_mut(fingerprint) else { continue };
            let count = if any_session {
                by_session.values_mut().find(|count| **count > 0)
            } else {
                by_session.get_mut(session).filter(|count| **count > 0)
            };
            known[at] = count.map(|count| *count -= 1).is_some();
        }
    }
    (known, left.values().flat_map(SortedMap::values).sum())
}

/// Ids of the sessions of both runs.
struct SessionIds<'a> {
    before: &'a SortedSet<&'a Untrusted>,
    now: &'a SortedSet<&'a Untrusted>,
}

impl SessionIds<'_> {
    /// Whether a session of this run was not in the earlier run. Sessions without an id and
    /// sub-agents are treated like those with an id.
    fn is_other(&self, session: Option<&Untrusted>) -> bool {
        match session.filter(|id| self.now.contains(id)) {
            Some(id) => !self.before.contains(id),
            None => self.are_all_other(),
        }
    }

    /// Whether a session was only in the earlier run.
    fn is_past(&self, session: Option<&Untrusted>) -> bool {
        match session.filter(|id| self.before.contains(id)) {
            Some(id) => !self.now.contains(id),
            None => self.are_all_other(),
        }
    }

    /// Whether the runs have no session in common. If no session has an id, the runs are
    /// assumed to have the same sessions.
    fn are_all_other(&self) -> bool {
        let has_ids = !self.before.is_empty() || !self.now.is_empty();
        has_ids && self.before.is_disjoint(self.now)
    }
}

/// Error: the text is not a report of `toolmark check`.
#[derive(Debug, thiserror::Error)]
#[error("not a JSON report of `toolmark check`: {0}")]
pub struct NotACheckReport(#[from] serde_json::Error);

impl Baseline {
    /// Parses a report.
    ///
    /// # Errors
    ///
    /// If the text is not a report of `toolmark check`.
    pub fn parse(text: &str) -> Result<Self, NotACheckReport> {
        let report: BaselineReport = serde_json::from_str(text)?;
        let mut baseline = Self::default();
        let findings = report.findings.into_iter().map(|known| KnownFinding {
            fingerprint: known.fingerprint,
            session: known.session.map(Into::into),
            kind: KindKey { code: known.code, tool: known.tool, bucket: known.bucket },
        });
        baseline.findings = findings.collect();
        for trajectory in report.trajectories {
            let (id, cells) = trajectory.read();
            baseline.all.merge(&cells);
            if let Some(id) = id {
                baseline.each.entry(id).or_default().merge(&cells);
            }
        }
        baseline.take_card(report.scorecard.unwrap_or_default());
        Ok(baseline)
    }

    /// Adds values that are only in the scorecard of all sessions: opportunities, and numbers
    /// that no single session has, such as F1.
    fn take_card(&mut self, card: Card) {
        for RuleRow { code, tool, of } in card.rules {
            *self.opportunities.entry((code, tool)).or_default() += of;
        }
        self.calls = card.tools.into_iter().map(|(tool, row)| (tool, row.calls)).collect();
        let mut whole = Cells::default();
        for MeasureRow { axis, name, tool, bucket, tally } in card.measures {
            let bucket = bucket.map(Into::into);
            let (cell, tally) =
                gate::measured(&axis, &name, tool.into(), bucket, (tally.of, tally.points));
            if !self.all.has(&cell.name) {
                whole.add(cell, tally);
            }
        }
        self.all.merge(&whole);
    }

    /// Marks the findings that are not in the baseline, and returns the changes.
    pub fn mark(&self, checked: &mut CheckedTraces) -> Changes {
        let compared = BaselineComparison::new(&self.side(), &BaselineSide::of(checked));
        let BaselineComparison { is_new, gone, mut kinds, has_others } = compared;
        if !has_others {
            kinds.clear();
        }
        let new = is_new.iter().filter(|is_new| **is_new).count() as u64;
        for (finding, is_new) in checked.findings.iter_mut().zip(is_new) {
            finding.new = Some(is_new);
        }
        Changes { new, known: checked.findings.len() as u64 - new, gone, kinds }
    }

    /// Compares the findings of a later report with those of this one, in both directions and
    /// by kind.
    #[must_use]
    pub fn compare(&self, now: &Self) -> ReportChanges {
        ReportChanges::new(&self.side(), &now.side())
    }

    /// Compares by fingerprint alone, for reports that do not name their sessions.
    #[must_use]
    pub fn compare_fingerprints(&self, now: &Self) -> ReportChanges {
        let side = |run| BaselineSide { sessions: SortedSet::new(), ..Self::side(run) };
        ReportChanges::new(&side(self), &side(now))
    }

    fn side(&self) -> BaselineSide<'_> {
        BaselineSide {
            sessions: self.each.keys().collect(),
            findings: self.findings.iter().map(KnownFinding::key).collect(),
            opportunities: Box::new(|key| self.opportunities(key)),
        }
    }

    /// Returns the number of opportunities in the earlier run.
    fn opportunities(&self, key: &KindKey) -> u64 {
        let of_rule = self.opportunities.get(&(key.code.clone(), key.tool.clone()));
        // Reports of earlier versions only know the calls of the tool.
        let of_tool = || self.calls.get(&key.tool).filter(|_| self.opportunities.is_empty());
        of_rule.or_else(of_tool).copied().unwrap_or(0)
    }

    /// Returns the numbers of the earlier run, for gates.
    #[must_use]
    pub fn earlier<'a>(&'a self, now_each: &'a SortedMap<Untrusted, Cells>) -> Earlier<'a> {
        Earlier { before: &self.all, before_each: &self.each, now_each }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use toolmark_check::{Checker, rule_by_code};
    use toolmark_hosts::toolset::Toolsets;
    use toolmark_outcome::{Confidence, Redactor};
    use toolmark_session::notation;

    fn checked(trace: &str) -> CheckedTraces {
        let rules = rule_by_code("S101").into_iter().collect();
        let checker = Checker::new(rules, Confidence::Medium, Toolsets::default());
        checker.keep_sessions().check(&notation::parse(trace).unwrap())
    }

    /// Checks a trace as a session with this id.
    fn session(id: usize, trace: &str) -> CheckedTraces {
        let rules = rule_by_code("S101").into_iter().collect();
        let checker = Checker::new(rules, Confidence::Medium, Toolsets::default());
        let mut run = notation::parse(trace).unwrap();
        run.id = Some(format!("session-{id}").as_str().into());
        checker.keep_sessions().check(&run)
    }

    fn sum(all: impl IntoIterator<Item = CheckedTraces>) -> CheckedTraces {
        all.into_iter().fold(CheckedTraces::default(), |mut sum, one| {
            sum.merge(one);
            sum
        })
    }

    fn report(checked: &CheckedTraces) -> String {
        let redact = |finding: &Finding| finding.clone().redact(Redactor::new(true));
        let findings: Vec<_> = checked.findings.iter().map(redact).collect();
        let shares = gate::shares(&checked.scorecard);
        let each = checked.sessions.iter().map(|session| {
            let session = session.clone().redact(Redactor::new(true));
            TrajectoryCells::new(session.id.clone(), &session.cells(&shares))
        });
        let each: Vec<_> = each.collect();
        let card = checked.scorecard.clone().redact(Redactor::new(true));
        json!({"findings": findings, "trajectories": each, "scorecard": card, "files": 1})
            .to_string()
    }

    const READ: &str = "Read {\"file_path\":\"/w/a.rs\"} -> \"1\\tone\"\n";
    const OTHER: &str = "Read {\"file_path\":\"/w/b.rs\"} -> \"1\\tone\"\n";

    #[test]
    fn findings_are_new_gone_or_known() {
        let none = checked("user: hello\n");
        let (twice, thrice) = (checked(&READ.repeat(2)), checked(&READ.repeat(3)));
        let other = checked(&OTHER.repeat(2));
        let counts = [&twice, &thrice, &other].map(|checked| checked.findings.len());
        assert_eq!(counts, [1, 2, 1]);
        for (before, now, want) in [
            (&twice, &twice, (0, 1, 0)),
            (&twice, &thrice, (1, 1, 0)),
            (&thrice, &twice, (0, 1, 1)),
            (&twice, &other, (1, 0, 1)),
            (&none, &other, (1, 0, 0)),
        ] {
            let baseline = Baseline::parse(&report(before)).unwrap();
            let mut again = sum([]);
            again.findings.clone_from(&now.findings);
            again.sessions.clone_from(&now.sessions);
            let changes = baseline.mark(&mut again);
            assert_eq!((changes.new, changes.known, changes.gone), want);
            assert!(changes.kinds.is_empty(), "the sessions are the same");
            let new = again.findings.iter().filter(|finding| finding.is_new()).count() as u64;
            assert_eq!(new, want.0);
        }
    }

    #[test]
    fn other_sessions_are_compared_by_kind_and_rate() {
        let clean = "Read {\"file_path\":\"/w/c.rs\"} -> \"1\\tone\"\n";
        // `faults` of thirty sessions have the fault, each in a separate file.
        let sessions = |from: usize, faults: usize| {
            let one = move |n: usize| {
                let again = READ.replace("a.rs", &format!("{from}-{n}.rs")).repeat(2);
                session(from + n, if n < faults { &again } else { clean })
            };
            sum((0..30).map(one))
        };
        let baseline = Baseline::parse(&report(&sessions(0, 3))).unwrap();
        for (faults, trend, new) in
            [(2, FindingTrend::Same, 0), (0, FindingTrend::Gone, 0), (30, FindingTrend::More, 30)]
        {
            let mut now = sessions(100, faults);
            let changes = baseline.mark(&mut now);
            let [kind] = &changes.kinds[..] else { panic!("{changes:?}") };
            assert_eq!((kind.trend, changes.new), (trend, new), "{kind:?}");
            assert_eq!((kind.before.found, kind.now.found), (3, faults as u64), "{kind:?}");
            // Reads that could be repetitions: one per session and fault.
            assert_eq!(kind.before.of, 33, "{kind:?}");
            assert_eq!(changes.gone, if faults == 0 { 3 } else { 0 });
        }
        // A kind without earlier findings is new in any file.
        let empty = Baseline::parse(&report(&sessions(0, 0))).unwrap();
        let changes = empty.mark(&mut sessions(100, 1));
        assert_eq!((changes.new, changes.kinds[0].trend), (1, FindingTrend::New));
        // Shared sessions are compared by fingerprint, the others by kind.
        let both = sum([sessions(0, 3), sessions(100, 2)]);
        let changes = baseline.mark(&mut sum([both]));
        assert_eq!((changes.new, changes.known, changes.gone), (0, 5, 0));
        assert_eq!(changes.kinds.len(), 1);
    }

    #[test]
    fn reports_are_compared_both_ways() {
        let of = |checked: &CheckedTraces| Baseline::parse(&report(checked)).unwrap();
        let (twice, other) = (of(&checked(&READ.repeat(2))), of(&checked(&OTHER.repeat(3))));
        let (last_week, this_week) = (of(&session(1, &READ.repeat(3))), of(&session(2, READ)));
        for (a, b, new, gone, kinds) in [
            (&twice, &twice, &[][..], &[][..], 0),
            (&twice, &other, &[0, 1], &[0], 0),
            (&last_week, &this_week, &[], &[0, 1], 1),
        ] {
            let changes = a.compare(b);
            assert_eq!((&changes.new[..], &changes.gone[..]), (new, gone));
            assert_eq!(changes.kinds.len(), kinds);
            let back = b.compare(a);
            assert_eq!((back.new, back.gone), (changes.gone, changes.new));
        }
        // If the sessions are unknown, fingerprints decide.
        let [a, b] = [1, 2].map(|id| of(&session(id, &READ.repeat(2))));
        assert_eq!(a.compare(&b).kinds.len(), 1);
        assert_eq!(a.compare_fingerprints(&b), ReportChanges::default());
    }

    #[test]
    fn reports_without_opportunities_have_calls() {
        let mut old: serde_json::Value =
            serde_json::from_str(&report(&session(1, &READ.repeat(2)))).unwrap();
        old["scorecard"].as_object_mut().unwrap().remove("rules");
        let baseline = Baseline::parse(&old.to_string()).unwrap();
        let changes = baseline.mark(&mut session(2, &OTHER.repeat(2)));
        assert_eq!((changes.kinds[0].before.of, changes.kinds[0].trend), (2, FindingTrend::Same));
    }

    #[test]
    fn anything_else_is_no_baseline() {
        for text in ["", "[]", "{}", r#"{"findings": [{}], "trajectories": []}"#] {
            assert!(Baseline::parse(text).is_err(), "{text}");
        }
    }
}
