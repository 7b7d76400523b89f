//! What a grader is, and what it says about itself.

use crate::call_match::SchemaCompiler;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use std::path::Path;
use std::sync::Arc;
use toolmark_config::{Node, Problem, Span, Spanned};
use toolmark_outcome::Profile;
use toolmark_outcome::Subject;
use toolmark_outcome::{Cause, Evidence, Outcome, Role, Verdict};
use toolmark_pattern::Pattern;
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

/// A tool a grader speaks of.
#[derive(Clone)]
pub struct Mention {
    /// The word of the spec: a name or a pattern.
    pub word: String,
    is_named: Arc<dyn Fn(&str) -> bool + Send + Sync>,
}

impl Mention {
    /// A word, and which names it stands for.
    pub fn new(
        word: impl Into<String>,
        is_named: impl Fn(&str) -> bool + Send + Sync + 'static,
    ) -> Self {
        Self { word: word.into(), is_named: Arc::new(is_named) }
    }

    /// A name that stands for itself.
    #[must_use]
    pub fn exact(name: &str) -> Self {
        let own = name.to_owned();
        Self::new(name, move |tool| tool == own)
    }

    /// A regular expression.
    #[must_use]
    pub fn pattern(pattern: &Pattern) -> Self {
        let own = pattern.clone();
        // A pattern that takes too many steps may well mean the tool.
        Self::new(pattern.source(), move |tool| own.is_match(tool).unwrap_or(true))
    }

    /// Does it speak of this tool?
    #[must_use]
    pub fn means(&self, tool: &str) -> bool {
        (self.is_named)(tool)
    }
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

/// What a grader is built from.
pub struct Building<'a> {
    /// Its configuration as the spec has it.
    pub config: &'a Node,
    /// Whose reading it follows.
    pub profile: Profile,
    /// Another reading to compare the answer with, and to mention where it differs.
    pub contrast: Option<Profile>,
    /// The directory of the spec.
    pub directory: &'a Path,
    /// Compiles the JSON Schemas of conditions.
    pub schemas: SchemaCompiler,
    /// What is wrong with the configuration.
    pub problems: &'a mut Vec<Problem>,
}

impl Building<'_> {
    /// The configuration as a type; what is wrong with it goes to `problems`.
    pub fn read<T: serde::de::DeserializeOwned>(&mut self) -> Option<T> {
        toolmark_config::read(self.config, self.problems)
    }

    /// Something is wrong at this place of the configuration.
    pub fn reject(&mut self, span: Span, code: &'static str, message: impl Into<String>) {
        self.problems.push(Problem::error(code, message).at(span));
    }

    /// A regular expression of the configuration.
    pub fn pattern(&mut self, source: &Spanned<String>) -> Option<Pattern> {
        match Pattern::new(&source.value) {
            Ok(pattern) => Some(pattern),
            Err(error) => {
                let message = format!("not a regular expression: {}", error.message);
                let problem = Problem::error("invalid-pattern", message).at(source.span);
                self.problems.push(match error.hint {
                    Some(hint) => problem.help(hint),
                    None => problem,
                });
                None
            }
        }
    }

    /// Regular expressions of the configuration; `None` where one is wrong.
    pub fn patterns(&mut self, sources: &[Spanned<String>]) -> Option<Vec<Pattern>> {
        // All of them are looked at, so that all mistakes are reported.
        let patterns: Vec<_> = sources.iter().map(|source| self.pattern(source)).collect();
        patterns.into_iter().collect()
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
