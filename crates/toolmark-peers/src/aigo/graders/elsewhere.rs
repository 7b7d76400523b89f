//! A scorer that only a judge or AI GO! itself can run.

use schemars::JsonSchema;
use serde::Deserialize;
use std::sync::Arc;
use toolmark_grade::{
    AnswerCost, Determinism, GradeScope, Grader, GraderInfo, Reference, Taxonomy, schema_of,
};
use toolmark_outcome::Profile;
use toolmark_outcome::Subject;
use toolmark_outcome::{Cause, Outcome};

/// A scorer of AI GO! that is not run here.
#[derive(Debug, Deserialize, JsonSchema)]
struct UnsupportedScorerConfig {
    /// Type of the scorer.
    scorer: Scorer,
}

/// Scorers that need more than a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(clippy::enum_variant_names, reason = "these are AI GO!'s own words")]
enum Scorer {
    /// A model selects a label that counts as right or wrong.
    ModelAsAJudgeClassifier,
    /// A model returns a number.
    ModelAsAJudgeScorer,
    /// A model selects a label.
    LabelerViaModel,
    /// A model evaluates retrieved passages and the answer.
    RagChecker,
    /// A Python function scores a sample.
    Python,
    /// A Python function scores all samples.
    PythonAllSamples,
    /// The overlap of the answer with a reference.
    Bleu,
}

pub(crate) static SCORER_ELSEWHERE: GraderInfo = GraderInfo {
    id: "aigo_scorer",
    aliases: &[],
    origin: "aigo",
    summary: "stands for a scorer that only a judge or AI GO! itself can run",
    docs: "\
A placeholder for a scorer of an AI GO! task that toolmark knows but does not run: those that ask a model \
(`model_as_a_judge_classifier`, `model_as_a_judge_scorer`, `labeler_via_model`, `rag_checker`), run \
Python inside the platform (`python`, `python_all_samples`) or are made of its own code (`bleu`). \
It always answers unknown and says what it would need.",
    example: "\
type: aigo_scorer
config:
  scorer: model_as_a_judge_scorer",
    taxonomy: Taxonomy {
        determinism: Determinism::Judge,
        cost: AnswerCost::High,
        reference: Reference::Free,
        scope: GradeScope::Trajectory,
    },
    profiles: &[Profile::AiGo],
    schema: schema_of::<UnsupportedScorerConfig>,
    build: |building| {
        let config = building.read::<UnsupportedScorerConfig>()?;
        Some(Arc::new(Elsewhere(config.scorer)))
    },
};

struct Elsewhere(Scorer);

impl Grader for Elsewhere {
    fn grade(&self, _: &Subject<'_>) -> Outcome {
        match self.0 {
            Scorer::ModelAsAJudgeClassifier
            | Scorer::ModelAsAJudgeScorer
            | Scorer::LabelerViaModel
            | Scorer::RagChecker => {
                Outcome::unknown(Cause::NeedsJudge, "a model decides here, and none was asked")
            }
            Scorer::Python | Scorer::PythonAllSamples => Outcome::unknown(
                Cause::Program,
                "the scorer is Python that runs inside AI GO!, and was not run",
            ),
            Scorer::Bleu => {
                Outcome::unknown(Cause::Program, "the scorer is part of AI GO!, and was not run")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::aigo::graders::testing::responses;
    use crate::testing::grade;
    use serde_json::json;
    use toolmark_outcome::{Cause, Verdict};

    #[test]
    fn always_unknown() {
        for (scorer, cause) in [
            ("model_as_a_judge_classifier", Cause::NeedsJudge),
            ("labeler_via_model", Cause::NeedsJudge),
            ("rag_checker", Cause::NeedsJudge),
            ("python", Cause::Program),
            ("python_all_samples", Cause::Program),
            ("bleu", Cause::Program),
        ] {
            let outcome = grade("aigo_scorer", json!({"scorer": scorer}), &responses(&[]));
            assert_eq!(
                (outcome.verdict, outcome.score),
                (Verdict::Unknown(cause), None),
                "{scorer}"
            );
        }
    }
}
