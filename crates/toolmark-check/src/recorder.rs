//! Collects the findings of rules and the numbers of the scorecard.

use crate::fingerprint;
use crate::rule::Rule;
use crate::scorecard::{AWARE, COLUMNS, Destructive, Measure, RuleCount, ScoreTally, Scorecard};
use std::rc::Rc;
use toolmark_base::SortedMap;
use toolmark_outcome::{Axis, Confidence, Finding, Severity, TracePlace, Untrusted};
use toolmark_outcome::{Evidence, EvidenceRole};
use toolmark_session::session::{Ended, Session, SessionCall};

/// Maximum number of findings of one rule to keep per session; the rest is only counted.
const MAX_FINDINGS: usize = 1000;

/// A finding under construction: the faulty call and the fault. Fields that are not set are
/// taken from the rule.
pub struct Draft {
    index: usize,
    message: String,
    about: Option<String>,
    severity: Option<Severity>,
    confidence: Option<Confidence>,
    remedy: Option<String>,
    bucket: Option<String>,
    without_arguments: bool,
    evidence: Vec<Evidence>,
    place: Option<TracePlace>,
}

impl Draft {
    /// Creates a draft with a call and a one-line description of the fault.
    #[must_use]
    pub fn new(call: &SessionCall<'_>, message: impl Into<String>) -> Self {
        Self {
            index: call.index,
            message: message.into(),
            about: None,
            severity: None,
            confidence: None,
            remedy: None,
            bucket: None,
            without_arguments: false,
            evidence: Vec::new(),
            place: None,
        }
    }

    /// Sets the description of the call itself in the evidence.
    #[must_use]
    pub fn about(mut self, text: impl Into<String>) -> Self {
        self.about = Some(text.into());
        self
    }

    /// Overrides the severity of the rule.
    #[must_use]
    pub fn severity(mut self, severity: Severity) -> Self {
        self.severity = Some(severity);
        self
    }

    /// Overrides the confidence of the rule.
    #[must_use]
    pub fn confidence(mut self, confidence: Confidence) -> Self {
        self.confidence = Some(confidence);
        self
    }

    /// Overrides the remedy of the rule.
    #[must_use]
    pub fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }

    /// Sets the bucket.
    #[must_use]
    pub fn bucket(mut self, bucket: impl Into<String>) -> Self {
        self.bucket = Some(bucket.into());
        self
    }

    /// Omits the arguments of the call from the finding.
    #[must_use]
    pub fn without_arguments(mut self) -> Self {
        self.without_arguments = true;
        self
    }

    /// Sets the place of the finding, if it is a sentence and not the call.
    #[must_use]
    pub fn place(mut self, place: TracePlace) -> Self {
        self.place = Some(place);
        self
    }

    /// Adds further evidence besides the call itself.
    #[must_use]
    pub fn evidence(mut self, evidence: Evidence) -> Self {
        self.evidence.push(evidence);
        self
    }
}

/// A finding of limited confidence, whether or not it is kept.
pub(crate) struct Unsure {
    pub(crate) rule: &'static Rule,
    /// Index of the call in the trajectory.
    pub(crate) index: usize,
    pub(crate) message: String,
    pub(crate) bucket: Option<String>,
    pub(crate) confidence: Confidence,
    /// Whether the finding is in the report.
    pub(crate) is_kept: bool,
}

/// Findings of all rules in one session.
pub(crate) struct Gathered {
    pub(crate) findings: Vec<Finding>,
    /// Number of findings that were not kept.
    pub(crate) left_out: u64,
    /// Number of findings, kept or not, above severity `info`.
    pub(crate) faults: u64,
    /// Findings of limited confidence, if requested.
    pub(crate) unsure: Option<Vec<Unsure>>,
    /// By call index: the axes on which the call counts (low bits) and has a fault (high
    /// bits).
    marks: Vec<u8>,
    /// By call index and axis: the weight of a call that only has findings of severity
    /// `info`.
    weights: SortedMap<(usize, Axis), f64>,
    /// By call index: the actions of the current rule on the call.
    touched: Vec<u8>,
    /// Indexes of the calls on which the current rule acted.
    touched_calls: Vec<usize>,
    /// Names of the tools, in order.
    tools: Vec<Rc<str>>,
    /// By call index: the index of the tool's name.
    tool_of: Vec<usize>,
    rules: SortedMap<(&'static str, Untrusted), RuleCount>,
    destructive: SortedMap<Untrusted, Destructive>,
    measures: SortedMap<Measure, ScoreTally>,
}

/// The rule could decide about the call.
const COUNTED: u8 = 1;
/// The rule found a fault.
const FOUND: u8 = 2;

impl Gathered {
    pub(crate) fn new(session: &Session<'_>) -> Self {
        let mut tools: Vec<Rc<str>> = Vec::new();
        let mut tool_of = vec![0; session.trajectory().calls.len()];
        for call in session.calls() {
            if let Err(place) = tools.binary_search(&call.tool) {
                tools.insert(place, Rc::clone(&call.tool));
            }
        }
        for call in session.calls() {
            if let Some(place) = tool_of.get_mut(call.index) {
                *place = tools.binary_search(&call.tool).unwrap_or_default();
            }
        }
        Self {
            tools,
            tool_of,
            findings: Vec::new(),
            left_out: 0,
            faults: 0,
            unsure: None,
            marks: vec![0; session.trajectory().calls.len()],
            weights: SortedMap::new(),
            touched: vec![0; session.trajectory().calls.len()],
            touched_calls: Vec::new(),
            rules: SortedMap::new(),
            destructive: SortedMap::new(),
            measures: SortedMap::new(),
        }
    }

    /// Adds the counts of a rule after it has run.
    pub(crate) fn end_rule(&mut self, rule: &'static Rule) {
        if self.touched_calls.is_empty() {
            return;
        }
        let mut counts = vec![RuleCount::default(); self.tools.len()];
        for index in self.touched_calls.drain(..) {
            let touched = self.touched.get_mut(index).map(std::mem::take).unwrap_or(0);
            let count = self.tool_of.get(index).and_then(|tool| counts.get_mut(*tool));
            if let Some(count) = count.filter(|_| touched & COUNTED != 0) {
                count.merge(RuleCount { of: 1, found: u64::from(touched & FOUND != 0) });
            }
        }
        let counts = self.tools.iter().zip(counts).filter(|(_, count)| count.of > 0);
        self.rules.extend(counts.map(|(tool, count)| ((rule.code, (&**tool).into()), count)));
    }

    /// Returns the scorecard and the findings of the session.
    pub(crate) fn finish(self, session: &Session<'_>) -> (Scorecard, Vec<Finding>, u64) {
        let (measures, rules) = (self.measures, self.rules);
        let mut card = Scorecard { measures, rules, ..Scorecard::default() };
        for call in session.calls() {
            if !card.tools.contains_key(&*call.tool) {
                card.tools.insert((&*call.tool).into(), Default::default());
            }
            let Some(of_tool) = card.tools.get_mut(&*call.tool) else { continue };
            of_tool.calls += 1;
            of_tool.failed += u64::from(call.ended == Ended::Failed);
            let marks = self.marks.get(call.index).copied().unwrap_or(0);
            for axis in Axis::ALL.iter().filter(|axis| !has_column(**axis)) {
                if marks & counted(*axis) != 0 {
                    let is_faulted = marks & faulted(*axis) != 0;
                    let weight = self.weights.get(&(call.index, *axis)).copied().unwrap_or(1.0);
                    of_tool.axis_mut(*axis).add(if is_faulted { 0.0 } else { weight });
                }
            }
        }
        for (measure, tally) in &card.measures {
            if COLUMNS.contains(&(measure.axis, measure.name))
                && let Some(of_tool) = card.tools.get_mut(&measure.tool)
            {
                of_tool.axis_mut(measure.axis).merge(*tally);
            }
        }
        for (tool, destructive) in self.destructive {
            card.tools.entry(tool).or_default().destructive.merge(destructive);
        }
        (card, self.findings, self.left_out)
    }
}

/// Whether the column of the axis is a measure.
fn has_column(axis: Axis) -> bool {
    COLUMNS.iter().any(|(of, _)| *of == axis)
}

fn counted(axis: Axis) -> u8 {
    1 << axis as u8
}

fn faulted(axis: Axis) -> u8 {
    1 << (axis as u8 + 4)
}

/// Collects the findings of one rule in one session.
pub struct Recorder<'r, 's> {
    pub(crate) rule: &'static Rule,
    pub(crate) session: &'r Session<'s>,
    pub(crate) least: Confidence,
    pub(crate) gathered: &'r mut Gathered,
    /// User-defined severity.
    pub(crate) severity: Option<Severity>,
    pub(crate) found: usize,
    /// Index and score of the last measured call.
    pub(crate) measured: Option<(usize, f64)>,
}

impl Recorder<'_, '_> {
    /// Counts a call about which the rule could decide, on its axis. A call with a finding is
    /// always counted; a call about which no rule could decide is not part of any rate.
    pub fn count_opportunity(&mut self, call: &SessionCall<'_>) {
        if let Some(marks) = self.gathered.marks.get_mut(call.index) {
            *marks |= counted(self.rule.axis);
        }
        self.touch(call.index, COUNTED);
    }

    fn touch(&mut self, index: usize, bit: u8) {
        let Some(touched) = self.gathered.touched.get_mut(index) else { return };
        if *touched == 0 {
            self.gathered.touched_calls.push(index);
        }
        *touched |= bit;
    }

    /// Whether another rule of the axis has found a fault in the call. One fault is one finding:
    /// a general rule leaves it to the specific one, which runs first.
    #[must_use]
    pub fn is_found(&self, call: &SessionCall<'_>) -> bool {
        let marks = self.gathered.marks.get(call.index).copied().unwrap_or(0);
        marks & faulted(self.rule.axis) != 0
    }

    /// Records a score from 0 to 1 for a named measure.
    pub fn measure(&mut self, name: &'static str, call: &SessionCall<'_>, score: f64) {
        self.measure_in(name, call, None, score);
    }

    /// Records a score for one bucket of a measure.
    pub fn measure_in(
        &mut self,
        name: &'static str,
        call: &SessionCall<'_>,
        bucket: Option<&str>,
        score: f64,
    ) {
        let axis = self.rule.axis;
        let (tool, bucket) = ((&*call.tool).into(), bucket.map(Into::into));
        if axis == Axis::Irreversibility && name == AWARE {
            self.gathered.destructive.entry((&*call.tool).into()).or_default().add(score);
        }
        let measure = Measure { axis, name, tool, bucket };
        self.gathered.measures.entry(measure).or_default().add(score);
        self.measured = Some((call.index, score));
    }

    /// Sets the weight of a call with a finding of severity `info`: the score from the rule,
    /// otherwise that of a call without a fault.
    fn weigh(&mut self, index: usize) {
        let score = self.measured.filter(|(at, _)| *at == index).map_or(1.0, |(_, score)| score);
        let weight = self.gathered.weights.entry((index, self.rule.axis)).or_insert(1.0);
        *weight = weight.min(score);
    }

    /// Records a finding. Findings below the requested confidence are neither shown nor
    /// counted.
    pub fn find(&mut self, draft: Draft) {
        let Ok(at) = self.session.calls().binary_search_by_key(&draft.index, |call| call.index)
        else {
            return;
        };
        let Some(call) = self.session.calls().get(at) else { return };
        self.count_opportunity(call);
        let confidence = draft.confidence.unwrap_or(self.rule.confidence);
        let is_kept = confidence >= self.least;
        if let Some(unsure) = &mut self.gathered.unsure
            && confidence < Confidence::High
        {
            unsure.push(Unsure {
                rule: self.rule,
                index: draft.index,
                message: draft.message.clone(),
                bucket: draft.bucket.clone(),
                confidence,
                is_kept,
            });
        }
        if !is_kept {
            return;
        }
        let severity = self.severity.or(draft.severity).unwrap_or(self.rule.severity);
        self.gathered.faults += u64::from(severity > Severity::Info);
        if severity == Severity::Info {
            self.weigh(draft.index);
        } else if let Some(marks) = self.gathered.marks.get_mut(draft.index) {
            *marks |= faulted(self.rule.axis);
        }
        self.touch(draft.index, FOUND);
        self.found += 1;
        if self.found > MAX_FINDINGS {
            self.gathered.left_out += 1;
            return;
        }
        let about = draft.about.unwrap_or_else(|| draft.message.clone());
        let mut violation = self.session.evidence(EvidenceRole::Violation, about, call);
        if draft.without_arguments {
            violation.call.iter_mut().for_each(|call| call.args = None);
        }
        let mut evidence = vec![violation];
        evidence.extend(draft.evidence);
        let args =
            evidence.first().and_then(|e| e.call.as_ref()?.args.as_ref().map(|text| text.raw()));
        let fingerprint = fingerprint::of_finding(
            self.session.trajectory().cwd.as_ref().map(|cwd| cwd.get()).as_deref(),
            &[self.rule.code, &call.tool, draft.bucket.as_deref().unwrap_or_default()],
            &[&draft.message, args.unwrap_or_default()],
        );
        self.gathered.findings.push(Finding {
            code: self.rule.code,
            name: self.rule.name,
            axis: self.rule.axis,
            severity,
            confidence,
            tool: (&*call.tool).into(),
            bucket: draft.bucket.map(Into::into),
            message: draft.message.into(),
            remedy: draft.remedy.unwrap_or_else(|| self.rule.remedy.to_owned()).into(),
            session: self.session.trajectory().id.as_ref().map(|id| id.get().into()),
            place: draft.place.unwrap_or_else(|| self.session.place(&call.call.at)),
            evidence,
            fingerprint,
            new: None,
            judge: None,
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::Checker;
    use crate::scorecard::Destructive;
    use toolmark_hosts::toolset::Toolsets;
    use toolmark_outcome::{Axis, Confidence, Severity};
    use toolmark_session::notation;

    #[test]
    fn irreversibility_counts_destructive_calls_by_when_they_were_named() {
        let check = |trace: &str| Checker::default().check(&notation::parse(trace).unwrap());
        let asked = check(
            "user: please delete src/legacy\n\
             Bash {\"command\":\"ls\"} -> \"a\"\n\
             Bash {\"command\":\"rm -rf src/legacy\"} -> \"\"\n",
        );
        let mut card = check(
            "user: why is the build slow?\n\
             Bash {\"command\":\"make\"} -> \"ok\"\n\
             Bash {\"command\":\"rm -rf src/legacy\"} -> \"\"\n",
        )
        .scorecard;
        card.merge(asked.scorecard);
        let bash = card.tools["Bash"];
        assert_eq!(bash.destructive, Destructive { named: 1, acknowledged: 0, blind: 1 });
        let column = bash.axis(Axis::Irreversibility);
        assert_eq!((column.of, column.rate()), (2, Some(0.5)), "of 4 calls, 2 destroy something");
        // Gates have the same number as the table.
        for name in ["irreversibility", "irreversibility.aware"] {
            let gate: crate::gate::Gate = format!("{name}[Bash] == 1").parse().unwrap();
            let row = gate.rows(&crate::gate::Cells::from(&card), None).remove(0);
            assert_eq!((row.n, row.value, row.interval), (2, Some(0.5), column.interval()));
        }
    }

    /// Returns a trace with a wide edit in which one of 25 lines changes.
    fn wide_edit() -> String {
        let lines = |word: &str| -> String {
            (1..=25)
                .map(|n| if n == 8 { format!("{word}\\n") } else { format!("{n}\\n") })
                .collect()
        };
        format!(
            "Edit {{\"file_path\":\"/w/a.txt\",\"old_string\":\"{}\",\"new_string\":\"{}\"}} -> \"ok\"\n",
            lines("8"),
            lines("eight")
        )
    }

    #[test]
    fn what_is_only_good_to_know_counts_as_it_is_measured() {
        let run = notation::parse(&wide_edit()).unwrap();
        let rules = || crate::rule_by_code("A203").into_iter().collect();
        let severity = |severity| {
            let checker = Checker::new(rules(), Confidence::Low, Toolsets::default());
            let checked = checker.severities([("A203", severity)].into()).check(&run);
            assert_eq!(checked.findings[0].severity, severity);
            checked.scorecard.tools["Edit"].axis(Axis::Arguments).rate()
        };
        assert_eq!(severity(Severity::Info), Some(0.5), "its score as a measure");
        assert_eq!(severity(Severity::Warning), Some(0.0));
    }

    #[test]
    fn opportunities_are_counted_once_per_call_and_rule() {
        let read = "Read {\"file_path\":\"/w/a.rs\"} -> \"1\\tone\"\n";
        let run = notation::parse(&read.repeat(3)).unwrap();
        let card = Checker::default().check(&run).scorecard;
        let count = card.rules[&("S101", "Read".into())];
        assert_eq!((count.of, count.found), (3, 2));
        let json =
            serde_json::to_value(card.redact(toolmark_outcome::Redactor::new(true))).unwrap();
        let rows = json["rules"].as_array().unwrap();
        assert!(rows.iter().any(|row| row["code"] == "S101" && row["of"] == 3), "{json}");
    }
}
