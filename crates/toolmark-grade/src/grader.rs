//! The grader trait and the description of graders.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use std::sync::Arc;
use toolmark_match::{Building, Mention};
use toolmark_outcome::{
    Cause, Evidence, EvidenceRole, Outcome, Profile, Subject, TrajectoryView, Verdict,
};
use toolmark_trace::{Gap, RecordedCalls, Trajectory};

/// A check of a trajectory.
pub trait Grader: Send + Sync {
    /// Grades a trajectory.
    fn grade(&self, subject: &Subject<'_>) -> Outcome;

    /// Whether an additional call may turn a pass into a fail. If not, a pass
    /// holds although the trace does not record every call.
    fn forbids(&self) -> bool {
        true
    }

    /// Whether a fail means that an upper limit was exceeded: what else a run did, or
    /// would have done, cannot undo it.
    fn is_upper_limit(&self) -> bool {
        false
    }

    /// Whether it sums up steps, time or tokens, so that what calls without a result led to is
    /// missing from the sum.
    fn sums_up_steps(&self) -> bool {
        self.is_upper_limit()
    }

    /// Whether the answer follows from the trace, and not only from files or programs
    /// besides it.
    fn reads_trace(&self) -> bool {
        true
    }

    /// Whether this grader calls a judge although not every grader of its type does.
    fn asks_judge(&self) -> bool {
        false
    }

    /// Returns the tools that the configuration mentions, so that names missing from all traces can
    /// be reported.
    fn mentions(&self) -> Vec<Mention> {
        Vec::new()
    }
}

/// Asks a grader, and takes back what it concludes from what the trace does not show.
///
/// This is the one place that asks whether a trace is complete: a call that is not in it
/// may have been made where calls are not recorded or a record is lost, and would have
/// been made where the run ended with an error. Graders and readers do not ask.
#[must_use]
pub fn ask(grader: &dyn Grader, subject: &Subject<'_>) -> Outcome {
    ask_as(grader, subject, Profile::Toolmark, false)
}

/// Asks a grader under a profile; `negate` inverts its answer.
///
/// The number of another system stays what it is where that system would have answered from
/// the same calls; a note then says what is missing.
pub(crate) fn ask_as(
    grader: &dyn Grader,
    subject: &Subject<'_>,
    profile: Profile,
    negate: bool,
) -> Outcome {
    let (mut outcome, looked) = subject.view.watch(|| grader.grade(subject));
    let asked = Inquiry { grader, view: &subject.view, looked, negate };
    if !matches!(outcome.verdict, Verdict::Unknown(_)) {
        if let Some(why) = asked.doubt(&outcome) {
            outcome = withdrawn(outcome, why);
        } else if let Some(gap) = asked.doubt_of_calls(&outcome) {
            if profile == Profile::Toolmark {
                outcome = withdrawn(outcome, gap.to_string());
            } else {
                let note = format!("{gap}: toolmark's own answer is unknown");
                outcome = outcome.with_note(note);
            }
        }
    }
    if negate { outcome.negated() } else { outcome }
}

/// Returns the unknown outcome that remains of one that does not follow from the trace.
fn withdrawn(outcome: Outcome, why: String) -> Outcome {
    let seen = format!("{why}; by what is there: {}", outcome.reason.raw());
    let reason = if outcome.reason.raw().is_empty() { why } else { seen };
    let mut unknown = Outcome::unknown(Cause::MissingEvidence, reason);
    unknown.evidence = outcome.evidence;
    unknown.parts = outcome.parts;
    unknown
}

/// A grader that was asked about a view.
struct Inquiry<'a> {
    grader: &'a dyn Grader,
    view: &'a TrajectoryView<'a>,
    /// Whether the grader read the calls.
    looked: bool,
    /// Whether its answer will be inverted.
    negate: bool,
}

impl Inquiry<'_> {
    /// Returns why an answer does not follow from what the trace shows.
    fn doubt(&self, outcome: &Outcome) -> Option<String> {
        let Self { grader, view, looked, negate } = *self;
        let run = view.trajectory();
        let recorded = if looked { run.calls_recorded() } else { RecordedCalls::Fully };
        // One call is asked about by itself, whatever became of the run.
        let gap = self.gap().filter(|_| !view.is_call() && (looked || grader.reads_trace()));
        let is_lost = gap.as_ref().is_some_and(Gap::loses_records);
        // What was made and must not be made stays wrong.
        let is_made = |evidence: &Evidence| {
            evidence.role == EvidenceRole::Violation && (evidence.call.is_some() || !looked)
        };
        let holds = match (recorded, outcome.verdict) {
            (RecordedCalls::Not, _) => false,
            (RecordedCalls::Fully, Verdict::Pass) => gap.is_none() || !grader.forbids(),
            (RecordedCalls::Partly, Verdict::Pass) => !grader.forbids(),
            (RecordedCalls::Fully, _) if gap.is_none() || !is_lost && !negate => true,
            _ => grader.is_upper_limit() || outcome.evidence.iter().any(is_made),
        };
        let unrecorded = match recorded {
            RecordedCalls::Not => "the calls are not recorded",
            _ => "not all calls are recorded",
        };
        (!holds).then(|| gap.map_or_else(|| unrecorded.to_owned(), |gap| gap.to_string()))
    }

    /// Returns why the calls do not say enough for an answer that would be a pass.
    fn doubt_of_calls(&self, outcome: &Outcome) -> Option<Gap> {
        let concludes = match (outcome.verdict, self.negate) {
            (Verdict::Pass, false) => self.grader.forbids(),
            // A call that was not found is not there for certain.
            (Verdict::Fail, true) => !self.grader.is_upper_limit(),
            _ => false,
        };
        let asks = self.looked || self.grader.sums_up_steps() && self.grader.reads_trace();
        if !concludes || self.view.is_call() || !asks {
            return None;
        }
        let gap = self.view.trajectory().gap_of_calls();
        gap.filter(|gap| self.looked || gap.hides_steps())
    }

    fn gap(&self) -> Option<Gap> {
        let run = self.view.trajectory();
        let of_children = || {
            let mut gaps = run.flatten().into_iter().skip(1).filter_map(Trajectory::gap);
            gaps.find(Gap::loses_records)
        };
        run.gap().or_else(|| if run.children.is_empty() { None } else { of_children() })
    }
}

/// Known graders, for lookup.
#[derive(Clone, Copy)]
pub struct Graders(pub &'static [&'static GraderInfo]);

impl Graders {
    /// Returns the grader with this type or alias.
    #[must_use]
    pub fn by_id(self, id: &str) -> Option<&'static GraderInfo> {
        self.0.iter().copied().find(|info| info.id == id || info.aliases.contains(&id))
    }

    /// Iterates over all type names and aliases.
    pub fn words(self) -> impl Iterator<Item = &'static str> {
        self.0.iter().flat_map(|info| std::iter::once(info.id).chain(info.aliases.iter().copied()))
    }
}

/// Whether the same trajectory always gets the same answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Determinism {
    /// The answer depends only on the trajectory.
    Static,
    /// The answer also depends on files or programs.
    Environment,
    /// The answer comes from a model.
    Judge,
}

/// Cost of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerCost {
    /// Reads the trajectory only.
    Free,
    /// Reads files.
    Low,
    /// Runs a program.
    Medium,
    /// Calls a model.
    High,
}

/// Whether the grader compares with a reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reference {
    /// No reference.
    Free,
    /// A reference answer or expected calls.
    Based,
}

/// Part of the run that is graded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GradeScope {
    /// The final answer or state.
    End,
    /// The whole trajectory.
    Trajectory,
}

/// Classification of a grader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Taxonomy {
    /// Whether it always gives the same answer.
    pub determinism: Determinism,
    /// Cost of an answer.
    pub cost: AnswerCost,
    /// Whether it compares with a reference.
    pub reference: Reference,
    /// Part of the run that is graded.
    pub scope: GradeScope,
}

/// Classification of a grader in the terms of Vally's documentation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct TaxonomyWords {
    /// `static`, `complex-static` or `llm`.
    pub determinism: &'static str,
    /// `free`, `low`, `medium` or `high`.
    pub cost: &'static str,
    /// `t1-universal` for graders that need only a trajectory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub portability: Option<&'static str>,
    /// `reference-free` or `reference-based`.
    pub reference: &'static str,
    /// `point-in-time` or `trajectory-level`.
    pub temporal_scope: &'static str,
    /// `code` or `llm`.
    pub score_kind: &'static str,
}

impl TaxonomyWords {
    /// Iterates over the terms with their categories, as listed on the reference pages.
    pub fn rows(self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let all = [
            ("determinism", Some(self.determinism)),
            ("cost", Some(self.cost)),
            ("portability", self.portability),
            ("reference", Some(self.reference)),
            ("temporal scope", Some(self.temporal_scope)),
            ("score kind", Some(self.score_kind)),
        ];
        all.into_iter().filter_map(|(name, word)| Some((name, word?)))
    }
}

impl Taxonomy {
    /// Returns the classification in the terms of Vally's documentation.
    #[must_use]
    pub fn words(self) -> TaxonomyWords {
        TaxonomyWords {
            determinism: match self.determinism {
                Determinism::Static => "static",
                Determinism::Environment => "complex-static",
                Determinism::Judge => "llm",
            },
            cost: match self.cost {
                AnswerCost::Free => "free",
                AnswerCost::Low => "low",
                AnswerCost::Medium => "medium",
                AnswerCost::High => "high",
            },
            portability: (self.determinism == Determinism::Static).then_some("t1-universal"),
            reference: match self.reference {
                Reference::Free => "reference-free",
                Reference::Based => "reference-based",
            },
            temporal_scope: match self.scope {
                GradeScope::End => "point-in-time",
                GradeScope::Trajectory => "trajectory-level",
            },
            score_kind: match self.determinism {
                Determinism::Judge => "llm",
                _ => "code",
            },
        }
    }

    /// Depends only on the trajectory, free, without a reference.
    pub const TRAJECTORY: Self = Self {
        determinism: Determinism::Static,
        cost: AnswerCost::Free,
        reference: Reference::Free,
        scope: GradeScope::Trajectory,
    };
    /// Like [`Self::TRAJECTORY`], but for the final answer.
    pub const OUTPUT: Self = Self { scope: GradeScope::End, ..Self::TRAJECTORY };
    /// Compares the trajectory with expected calls.
    pub const EXPECTED: Self = Self { reference: Reference::Based, ..Self::TRAJECTORY };
}

/// Description of a grader: its entry in the list of graders, from
/// which reference pages and schemas are generated.
pub struct GraderInfo {
    /// Value of `type:`.
    pub id: &'static str,
    /// Aliases of the type, such as names from older versions.
    pub aliases: &'static [&'static str],
    /// System of origin: `toolmark`, `vally`, `agentv`, `aigo` or `futureagi`.
    pub origin: &'static str,
    /// One-line summary of the check.
    pub summary: &'static str,
    /// Reference page, in Markdown.
    pub docs: &'static str,
    /// A valid `graders:` entry in YAML. A test builds it.
    pub example: &'static str,
    /// Classification.
    pub taxonomy: Taxonomy,
    /// Profiles it supports in addition to toolmark's own.
    pub profiles: &'static [Profile],
    /// Returns the JSON Schema of its configuration.
    pub schema: fn(&mut SchemaGenerator) -> Schema,
    /// Builds the grader; `None` if the configuration is invalid.
    pub build: fn(&mut Building<'_>) -> Option<Arc<dyn Grader>>,
}

/// Returns the schema of a configuration type, for [`GraderInfo::schema`].
pub fn schema_of<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

#[cfg(test)]
mod tests {
    use super::{Inquiry, ask};
    use crate::testing::OWN;
    use serde_json::{Value, json};
    use toolmark_outcome::testing::runs;
    use toolmark_outcome::{
        CaseContext, Environment, Outcome, Profile, Subject, TrajectoryView, Verdict,
    };

    const ASKED: &str = r#"{"role":"user","content":"tidy up"}"#;
    const LISTED: &str = r#"{"role":"assistant","tool_calls":[{"id":"1","function":{"name":"ls","arguments":"{}"}}]}
{"role":"tool","tool_call_id":"1","content":"a b"}"#;
    const CUT: &str = r#"{"role":"assistant","tool_calls":[{"id":"2","function":{"name":"del"#;

    fn answer(config: &Value, run: &toolmark_trace::Trajectory) -> Outcome {
        let grader = OWN.build("expect", Profile::Toolmark, config).unwrap();
        ask(
            &*grader,
            &Subject {
                view: TrajectoryView::whole(run),
                context: &CaseContext::default(),
                environment: &Environment::default(),
            },
        )
    }

    fn verdicts(run: &toolmark_trace::Trajectory) -> Vec<&'static str> {
        let word = |config: Value| answer(&config, run).verdict.word();
        [
            json!({"forbidden": ["delete"]}),
            json!({"none": true}),
            json!({"only": ["ls"]}),
            json!({"calls": [{"tool": "ls", "count": {"max": 3}}]}),
            json!({"forbidden": ["ls"]}),
            json!({"calls": ["ls"]}),
            json!({"calls": ["make"]}),
        ]
        .map(word)
        .to_vec()
    }

    #[test]
    fn absence_from_a_trace_that_is_cut_off_proves_nothing() {
        let whole = &runs(&format!("{ASKED}\n{LISTED}"))[0];
        let all = ["pass", "fail", "pass", "pass", "fail", "pass", "fail"];
        assert_eq!(verdicts(whole), all);
        // What was called was called, what was not may have been.
        let partly = ["unknown", "fail", "unknown", "unknown", "fail", "pass", "unknown"];
        let cut = &runs(&format!("{ASKED}\n{LISTED}\n{CUT}"))[0];
        assert_eq!(verdicts(cut), partly);
        let torn = &runs(&format!("{ASKED}\n{CUT}\n{LISTED}"))[0];
        assert_eq!(verdicts(torn), partly);
        let reason = answer(&json!({"forbidden": ["delete"]}), cut).reason;
        assert!(reason.raw().starts_with("the trace is cut off: "), "{}", reason.raw());
        let reason = answer(&json!({"forbidden": ["delete"]}), torn).reason;
        assert!(reason.raw().starts_with("1 record of the trace cannot be read"));
    }

    #[test]
    fn a_run_that_did_not_come_to_its_end_has_not_kept_to_anything() {
        let mut failed = runs(&format!("{ASKED}\n{LISTED}")).remove(0);
        failed.completeness.declared_error = Some("exit code 1".into());
        let all = ["unknown", "fail", "unknown", "unknown", "fail", "pass", "fail"];
        assert_eq!(verdicts(&failed), all);
        let reason = answer(&json!({"forbidden": ["delete"]}), &failed).reason;
        assert!(reason.raw().starts_with("the run ended with an error: exit code 1; "));
        // Nobody asked whether the model would call anything.
        let silent = &runs(ASKED)[0];
        let none = ["unknown", "unknown", "unknown", "unknown", "unknown", "fail", "fail"];
        assert_eq!(verdicts(silent), none);
        // One call is judged by itself.
        let view = TrajectoryView::call(&failed, 0).unwrap();
        let grader = OWN.build("expect", Profile::Toolmark, &json!({"forbidden": ["rm"]})).unwrap();
        let passed = Outcome::binary(true, "");
        assert_eq!(passed.verdict, Verdict::Pass);
        let asked = Inquiry { grader: &*grader, view: &view, looked: true, negate: false };
        assert_eq!(asked.doubt(&passed), None);
    }

    #[test]
    fn a_session_that_ends_in_an_unanswered_call_has_not_made_it() {
        let asked = r#"{"type":"user","uuid":"u","parentUuid":null,"sessionId":"s","message":{"content":"go"}}"#;
        let call = r#"{"type":"assistant","uuid":"a","parentUuid":"u","sessionId":"s","message":{"id":"m","content":[{"type":"tool_use","id":"t","name":"Write","input":{}}]}}"#;
        let result = r#"{"type":"user","uuid":"r","parentUuid":"a","sessionId":"s","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"ok"}]}}"#;
        let verdict = |lines: &[&str], config: Value| {
            answer(&config, &runs(&lines.join("\n"))[0]).verdict.word()
        };
        let (open, done) = ([asked, call], [asked, call, result]);
        let wanted = json!({"calls": ["Write"]});
        assert_eq!(verdict(&done, wanted.clone()), "pass");
        assert_eq!(verdict(&open, wanted), "fail");
        let unanswered = json!({"calls": [{"tool": "Write", "status": "unanswered"}]});
        assert_eq!(verdict(&open, unanswered), "pass");
        // It may have been done.
        assert_eq!(verdict(&open, json!({"forbidden": ["Write"]})), "fail");
        assert_eq!(verdict(&open, json!({"none": true})), "fail");
    }
}
