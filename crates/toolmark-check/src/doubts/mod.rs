//! Where the rules are not sure: the calls a judge is asked about, and what the
//! rules say about them.
//!
//! Each of the built-in rubrics refines what some rules say. It has a file here
//! that tells which calls are in doubt, from the signals of those rules alone,
//! and one line in [`KINDS`]. Calls the rules are sure about are never asked
//! about, and a rubric is not asked at all where none of its rules is.
//!
//! Doubts are bounded: so many of a rubric in a session, those with a finding
//! first, then in the order of the calls, and so much text in all. What is left
//! out is counted.

mod claims;
mod edit_scope;
mod irreversible;
mod read_slice;
mod recovery;
mod selection;

use crate::recorder::Unsure;
use crate::rule::Rule;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use toolmark_outcome::judging::{
    BuiltIn, Focus, Material, Panel, Question, Rubric, built_in, material_of,
};
use toolmark_outcome::{Axis, Finding};
use toolmark_outcome::{CallRef, Context, Environment, Seen, Subject, TracePlace, View};
use toolmark_session::session::{Session, SessionCall};

/// So many doubts of one rubric are kept per session.
pub const MOST: usize = 20;
/// So much text the questions of one session may hold.
const TEXT: usize = 4 << 20;

/// A call that the rules are not sure about.
#[derive(Debug)]
pub struct Doubt {
    /// What is asked about it.
    pub rubric: &'static BuiltIn,
    /// What the answer is an answer to.
    pub axis: Axis,
    /// What the answer is counted as.
    pub measure: &'static str,
    /// The call.
    pub call: CallRef,
    /// The tool, as reports name it.
    pub tool: String,
    /// Where the call stands.
    pub place: TracePlace,
    /// The session's id.
    pub session: Option<String>,
    /// The id of the run it is a part of: that of the session, or of the session
    /// whose sub-agent this is.
    pub run: Option<String>,
    /// What kind of call it is, where its measure has kinds.
    pub bucket: Option<String>,
    /// The score the rules give, from 0 to 1; none where they cannot tell.
    pub rules_say: Option<f64>,
    /// What the rules saw, and why they are not sure.
    pub why: String,
    /// The rule that has a finding on the call.
    pub finding: Option<&'static str>,
    /// What to ask, or why nothing can be asked.
    pub question: Result<Question, String>,
}

impl Doubt {
    /// By rubric and place: the order of every report.
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

/// A rubric, and the calls it is asked about.
struct Kind {
    /// The name of the rubric.
    rubric: &'static str,
    /// What its answers are counted as.
    measure: &'static str,
    /// What they are an answer to.
    axis: Axis,
    /// The rules it refines: codes, or what codes start with.
    rules: &'static [&'static str],
    /// What is shown where the trace lacks what the rubric names: the check
    /// knows more of a call than its status.
    instead: &'static [(&'static str, &'static str)],
    /// The calls in doubt.
    find: fn(&Scene<'_, '_>, &mut Vec<Candidate>),
}

/// Every rubric, in the order of reports.
static KINDS: &[&Kind] = &[
    &selection::KIND,
    &edit_scope::KIND,
    &read_slice::KIND,
    &irreversible::KIND,
    &recovery::KIND,
    &claims::KIND,
];

/// What there is to tell doubts from.
struct Scene<'r, 's> {
    session: &'r Session<'s>,
    unsure: &'r [Unsure],
    /// The call and the code of every finding that is kept.
    found: BTreeSet<(usize, &'static str)>,
}

impl Scene<'_, '_> {
    /// The code, where the rule has a finding on the call.
    fn finding(&self, call: &SessionCall<'_>, code: &'static str) -> Option<&'static str> {
        self.found.contains(&(call.index, code)).then_some(code)
    }
}

/// A call in doubt, before it is known whether it will be asked about.
struct Candidate {
    /// Its place in the trajectory.
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

/// The doubts of a session, and how many of each rubric were left out.
pub(crate) fn collect(
    session: &Session<'_>,
    rules: &[&'static Rule],
    unsure: &[Unsure],
    findings: &[Finding],
) -> (Vec<Doubt>, BTreeMap<&'static str, u64>) {
    let at_fault =
        |finding: &Finding| Some((finding.evidence.first()?.call.as_ref()?.index, finding.code));
    let found = findings.iter().filter_map(at_fault).collect();
    let scene = Scene { session, unsure, found };
    let (mut doubts, mut left_out) = (Vec::new(), BTreeMap::new());
    let (context, environment) = (Context::default(), Environment::default());
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
                view: View::whole(session.trajectory()),
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

/// Keeps the candidates that are asked about; how many are not.
fn choose(candidates: &mut Vec<Candidate>) -> u64 {
    candidates.sort_by_key(|one| one.index);
    candidates.dedup_by_key(|one| one.index);
    candidates.sort_by_key(|one| (one.finding.is_none(), one.index));
    let left = candidates.len().saturating_sub(MOST);
    candidates.truncate(MOST);
    candidates.sort_by_key(|one| one.index);
    left as u64
}

fn question(
    kind: &Kind,
    built_in: &BuiltIn,
    rubric: &Arc<Rubric>,
    subject: &Subject<'_>,
    call: &SessionCall<'_>,
) -> Result<Question, String> {
    let focus = Focus { subject, call: Some(Seen { index: call.index, call: call.call }) };
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
            Err(missing) => return Err(missing.0),
        }
    }
    let (panel, threshold) = (Panel::default(), built_in.threshold);
    Ok(Question { rubric: Arc::clone(rubric), materials, panel, threshold })
}

fn size(question: &Question) -> usize {
    let of_material = |material: &Material| -> usize {
        material.pieces.iter().map(|piece| piece.text.len()).sum()
    };
    question.materials.iter().map(of_material).sum()
}

fn doubt(
    session: &Session<'_>,
    kind: &Kind,
    rubric: &'static BuiltIn,
    call: &SessionCall<'_>,
    candidate: Candidate,
    question: Result<Question, String>,
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
