//! What a grader is, and what it says about itself.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use std::sync::Arc;
use toolmark_match::{Building, Mention};
use toolmark_outcome::{Cause, Evidence, Outcome, Profile, Role, Subject, Verdict};
use toolmark_trace::Recorded;

/// One question about a trajectory.
pub trait Grader: Send + Sync {
    /// Answers it.
    fn grade(&self, subject: &Subject<'_>) -> Outcome;

    /// May a call that is made besides turn a pass into a fail? If not, a pass
    /// holds although the trace does not record every call.
    fn forbids(&self) -> bool {
        true
    }

    /// Does it ask a judge, though not every grader of its type does?
    fn asks_judge(&self) -> bool {
        false
    }

    /// The tools it speaks of, so that a name no trace has can be pointed out.
    fn mentions(&self) -> Vec<Mention> {
        Vec::new()
    }
}

/// Asks a grader, and takes back what it concludes from calls that the trace does
/// not record: a call that is not seen may have been made.
#[must_use]
pub fn ask(grader: &dyn Grader, subject: &Subject<'_>) -> Outcome {
    let (outcome, looked) = subject.view.watch(|| grader.grade(subject));
    if !looked || matches!(outcome.verdict, Verdict::Unknown(_)) {
        return outcome;
    }
    let is_made = |evidence: &Evidence| evidence.role == Role::Violation && evidence.call.is_some();
    let (holds, why) = match subject.view.trajectory().calls_recorded() {
        Recorded::Fully => return outcome,
        Recorded::Not => (false, "the calls are not recorded"),
        Recorded::Partly => match outcome.verdict {
            Verdict::Pass => (!grader.forbids(), "not all calls are recorded"),
            // What was made and must not be made stays wrong.
            _ => (outcome.evidence.iter().any(is_made), "not all calls are recorded"),
        },
    };
    if holds {
        return outcome;
    }
    let seen = format!("{why}; by those that are: {}", outcome.reason.raw());
    let reason = if outcome.reason.raw().is_empty() { why.to_owned() } else { seen };
    let mut unknown = Outcome::unknown(Cause::MissingEvidence, reason);
    unknown.evidence = outcome.evidence;
    unknown.parts = outcome.parts;
    unknown
}

/// The graders that are known, to look them up.
#[derive(Clone, Copy)]
pub struct Graders(pub &'static [&'static GraderInfo]);

impl Graders {
    /// The grader with this type, or one of its other names.
    #[must_use]
    pub fn by_id(self, id: &str) -> Option<&'static GraderInfo> {
        self.0.iter().copied().find(|info| info.id == id || info.aliases.contains(&id))
    }

    /// Every word for a type.
    pub fn words(self) -> impl Iterator<Item = &'static str> {
        self.0.iter().flat_map(|info| std::iter::once(info.id).chain(info.aliases.iter().copied()))
    }
}

/// How far the same trajectory always gets the same answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Determinism {
    /// The answer follows from the trajectory alone.
    Static,
    /// It depends on files or programs besides.
    Environment,
    /// A model is asked.
    Judge,
}

/// What an answer costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cost {
    /// Reads what is there.
    Free,
    /// Reads files.
    Low,
    /// Runs a program.
    Medium,
    /// Asks a model.
    High,
}

/// Is there something to compare with?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reference {
    /// No.
    Free,
    /// A reference answer or expected calls.
    Based,
}

/// What is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// The final answer or state.
    End,
    /// The whole way there.
    Trajectory,
}

/// Where a grader stands among others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Taxonomy {
    /// How far it always gives the same answer.
    pub determinism: Determinism,
    /// What an answer costs.
    pub cost: Cost,
    /// Is there something to compare with?
    pub reference: Reference,
    /// What is looked at.
    pub scope: Scope,
}

/// The words Vally's pages have for where a grader stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct TaxonomyWords {
    /// `static`, `complex-static` or `llm`.
    pub determinism: &'static str,
    /// `free`, `low`, `medium` or `high`.
    pub cost: &'static str,
    /// `t1-universal`, where it asks for nothing but a trajectory.
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
    /// The words with what they are about, as the pages list them.
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
    /// In the words of Vally's pages.
    #[must_use]
    pub fn words(self) -> TaxonomyWords {
        TaxonomyWords {
            determinism: match self.determinism {
                Determinism::Static => "static",
                Determinism::Environment => "complex-static",
                Determinism::Judge => "llm",
            },
            cost: match self.cost {
                Cost::Free => "free",
                Cost::Low => "low",
                Cost::Medium => "medium",
                Cost::High => "high",
            },
            portability: (self.determinism == Determinism::Static).then_some("t1-universal"),
            reference: match self.reference {
                Reference::Free => "reference-free",
                Reference::Based => "reference-based",
            },
            temporal_scope: match self.scope {
                Scope::End => "point-in-time",
                Scope::Trajectory => "trajectory-level",
            },
            score_kind: match self.determinism {
                Determinism::Judge => "llm",
                _ => "code",
            },
        }
    }

    /// Follows from the trajectory alone, at no cost, with nothing to compare with.
    pub const TRAJECTORY: Self = Self {
        determinism: Determinism::Static,
        cost: Cost::Free,
        reference: Reference::Free,
        scope: Scope::Trajectory,
    };
    /// The same over the final answer.
    pub const OUTPUT: Self = Self { scope: Scope::End, ..Self::TRAJECTORY };
    /// Compares the trajectory with expected calls.
    pub const EXPECTED: Self = Self { reference: Reference::Based, ..Self::TRAJECTORY };
}

/// What a grader says about itself: its entry in the list of graders, from
/// which reference pages and schemas are made.
pub struct GraderInfo {
    /// The word after `type:`.
    pub id: &'static str,
    /// Other words for it, such as those of older versions.
    pub aliases: &'static [&'static str],
    /// The system it comes from: `toolmark`, `vally`, `agentv`, `aigo` or `futureagi`.
    pub origin: &'static str,
    /// One line: what it asks.
    pub summary: &'static str,
    /// The reference page, in Markdown.
    pub docs: &'static str,
    /// A `graders:` entry that works, in YAML. A test builds it.
    pub example: &'static str,
    /// Where it stands among others.
    pub taxonomy: Taxonomy,
    /// The readings it knows besides toolmark's own.
    pub profiles: &'static [Profile],
    /// The JSON Schema of its configuration.
    pub schema: fn(&mut SchemaGenerator) -> Schema,
    /// Builds it; `None` where the configuration is wrong.
    pub build: fn(&mut Building<'_>) -> Option<Arc<dyn Grader>>,
}

/// The schema of a configuration type, for [`GraderInfo::schema`].
pub fn schema_of<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}
