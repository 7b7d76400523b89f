//! Questions for a judge: the calls about which the rules are unsure, and the results of the
//! rules.
//!
//! Each built-in rubric refines the results of some rules. It has one file in this module
//! that selects its calls from the signals of those rules alone, and one line in [`KINDS`].
//! Calls about which the rules are sure are never sent to a judge, and a rubric is skipped if
//! none of its rules is selected.
//!
//! The number of doubts is limited, per rubric and session and in total text size. Doubts
//! with a finding come first, followed by the others in the order of the calls. Omitted
//! doubts are counted.

mod claims;
mod edit_scope;
mod irreversible;
mod read_slice;
mod recovery;
mod selection;

use crate::recorder::Unsure;
use crate::rule::Rule;
use std::cmp::Ordering;
use std::sync::Arc;
use toolmark_base::{SortedMap, SortedSet};
use toolmark_outcome::judging::{
    BuiltIn, Focus, JudgeQuestion, Material, Panel, Rubric, built_in, material_of,
};
use toolmark_outcome::{Axis, Finding, Missing};
use toolmark_outcome::{
    CallRef, CaseContext, Environment, IndexedCall, Subject, TracePlace, TrajectoryView,
};
use toolmark_session::session::{Session, SessionCall};

/// Maximum number of doubts of one rubric to keep per session.
pub const MAX_DOUBTS: usize = 20;
/// Maximum total size of the questions of one session.
const TEXT: usize = 4 << 20;

/// A call about which the rules are unsure.
#[derive(Debug)]
pub struct Doubt {
    /// Rubric of the question.
    pub rubric: &'static BuiltIn,
    /// Axis of the question.
    pub axis: Axis,
    /// Measure to which the answer is added.
    pub measure: &'static str,
    /// The call.
    pub call: CallRef,
    /// Name of the tool in reports.
    pub tool: String,
    /// Position of the call.
    pub place: TracePlace,
    /// Id of the session.
    pub session: Option<String>,
    /// Id of the run: that of the session, or of the session whose sub-agent this is.
    pub run: Option<String>,
    /// Bucket of the call, if its measure has buckets.
    pub bucket: Option<String>,
    /// Score from the rules, from 0 to 1; `None` if they cannot decide.
    pub rules_say: Option<f64>,
    /// Observations of the rules, and the reason for their doubt.
    pub why: String,
    /// Code of the rule that reports the call.
    pub finding: Option<&'static str>,
    /// The question, or the reason why nothing can be asked.
    pub question: Result<JudgeQuestion, Missing>,
}

impl Doubt {
    /// Compares by rubric and position: the order of every report.
    #[must_use]
    pub fn order(&self, other: &Self) -> Ordering {
        let rank = |doubt: &Self| KINDS.iter().position(|kind| kind.measure == doubt.measure);
        rank(self)
            .cmp(&rank(other))
            .then_with(|| self.place.file.cmp(&other.place.file))
            .then_with(|| self.place.byte.cmp(&other.place.byte))
            .then_with(|| self.call.index.cmp(&other.call.index))
            .then_with(|| self.session.cmp(&other.session))
            .then_with(|| self.why.cmp(&other.why))
    }
}

/// A rubric with the selection of its calls.
struct DoubtKind {
    /// Name of the rubric.
    rubric: &'static str,
    /// Measure to which its answers are added.
    measure: &'static str,
    /// Axis of its answers.
    axis: Axis,
    /// Rules that it refines: codes, or prefixes of codes.
    rules: &'static [&'static str],
    /// Replacements for inputs of the rubric that the trace lacks: checking knows more about
    /// a call than its status.
    instead: &'static [(&'static str, &'static str)],
    /// Finds the calls in doubt.
    find: fn(&Scene<'_, '_>, &mut Vec<Candidate>),
}

/// All rubrics, in the order of reports.
static KINDS: &[&DoubtKind] = &[
    &selection::KIND,
    &edit_scope::KIND,
    &read_slice::KIND,
    &irreversible::KIND,
    &recovery::KIND,
    &claims::KIND,
];

/// Input for finding doubts.
struct Scene<'r, 's> {
    session: &'r Session<'s>,
    unsure: &'r [Unsure],
    /// Call and code of every finding that is kept.
    found: SortedSet<(usize, &'static str)>,
}

impl Scene<'_, '_> {
    /// Returns the code if the rule has a finding on the call.
    fn finding(&self, call: &SessionCall<'_>, code: &'static str) -> Option<&'static str> {
        self.found.contains(&(call.index, code)).then_some(code)
    }
}

/// A call in doubt that has not yet been selected.
struct Candidate {
    /// Index in the trajectory.
    index: usize,
    rules_say: Option<f64>,
    why: String,
    bucket: Option<String>,
    finding: Option<&'static str>,
}

impl Candidate {
    fn new(call: &SessionCall<'_>, rules_say: Option<f64>, why: impl Into<String>) -> Self {
        let why = why.into();
        Self { index: call.index, rules_say, why, bucket: None, finding: None }
    }
}

/// Returns the doubts of a session, and the number of omitted doubts of each rubric.
pub(crate) fn collect(
    session: &Session<'_>,
    rules: &[&'static Rule],
    unsure: &[Unsure],
    findings: &[Finding],
) -> (Vec<Doubt>, SortedMap<&'static str, u64>) {
    let at_fault =
        |finding: &Finding| Some((finding.evidence.first()?.call.as_ref()?.index, finding.code));
    let found = findings.iter().filter_map(at_fault).collect();
    let scene = Scene { session, unsure, found };
    let (mut doubts, mut left_out) = (Vec::new(), SortedMap::new());
    let (context, environment) = (CaseContext::default(), Environment::default());
    let mut subject = None;
    let mut room = TEXT;
    for kind in KINDS {
        let is_asked = |rule: &&Rule| kind.rules.iter().any(|start| rule.code.starts_with(start));
        let Some(built_in) = built_in(kind.rubric).filter(|_| rules.iter().any(is_asked)) else {
            continue;
        };
        let mut candidates = Vec::new();
        (kind.find)(&scene, &mut candidates);
        let mut left = choose(&mut candidates);
        let rubric = Arc::new(built_in.rubric());
        for candidate in candidates {
            let Some(call) = session.call_at(candidate.index) else { continue };
            let subject = subject.get_or_insert_with(|| Subject {
                view: TrajectoryView::whole(session.trajectory()),
                context: &context,
                environment: &environment,
            });
            let question = question(kind, built_in, &rubric, subject, call);
            let size = question.as_ref().map_or(0, size);
            match room.checked_sub(size) {
                Some(rest) => room = rest,
                None => {
                    left += 1;
                    continue;
                }
            }
            doubts.push(doubt(session, kind, built_in, call, candidate, question));
        }
        if left > 0 {
            left_out.insert(kind.rubric, left);
        }
    }
    (doubts, left_out)
}

/// Keeps the candidates within the limit and returns the number of omitted ones.
fn choose(candidates: &mut Vec<Candidate>) -> u64 {
    candidates.sort_by_key(|one| one.index);
    candidates.dedup_by_key(|one| one.index);
    candidates.sort_by_key(|one| (one.finding.is_none(), one.index));
    let left = candidates.len().saturating_sub(MAX_DOUBTS);
    candidates.truncate(MAX_DOUBTS);
    candidates.sort_by_key(|one| one.index);
    left as u64
}

fn question(
    kind: &DoubtKind,
    built_in: &BuiltIn,
    rubric: &Arc<Rubric>,
    subject: &Subject<'_>,
    call: &SessionCall<'_>,
) -> Result<JudgeQuestion, Missing> {
    let focus = Focus { subject, call: Some(IndexedCall { index: call.index, call: call.call }) };
    let mut materials = Vec::new();
    for (name, path) in built_in.inputs {
        let (path, may_be_missing) = match path.strip_suffix('?') {
            Some(path) => (path, true),
            None => (*path, false),
        };
        let other = kind.instead.iter().find(|(of, _)| *of == path);
        let material = material_of(name, path, focus).or_else(|missing| match other {
            Some((_, other)) => material_of(name, other, focus),
            None => Err(missing),
        });
        match material {
            Ok(material) => materials.push(material),
            Err(_) if may_be_missing => {}
            Err(missing) => return Err(missing),
        }
    }
    let (panel, threshold) = (Panel::default(), built_in.threshold);
    Ok(JudgeQuestion { rubric: Arc::clone(rubric), materials, panel, threshold })
}

fn size(question: &JudgeQuestion) -> usize {
    let of_material = |material: &Material| -> usize {
        material.pieces.iter().map(|piece| piece.text.len()).sum()
    };
    question.materials.iter().map(of_material).sum()
}

fn doubt(
    session: &Session<'_>,
    kind: &DoubtKind,
    rubric: &'static BuiltIn,
    call: &SessionCall<'_>,
    candidate: Candidate,
    question: Result<JudgeQuestion, Missing>,
) -> Doubt {
    let id = session.trajectory().id.as_ref().map(|id| id.get().into_owned());
    Doubt {
        rubric,
        axis: kind.axis,
        measure: kind.measure,
        call: session.call_ref(call),
        tool: call.tool.to_string(),
        place: session.place(&call.call.at),
        run: id.clone(),
        session: id,
        bucket: candidate.bucket,
        rules_say: candidate.rules_say,
        why: candidate.why,
        finding: candidate.finding,
        question,
    }
}

#[cfg(test)]
mod tests;
