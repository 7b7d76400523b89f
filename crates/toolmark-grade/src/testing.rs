//! Helpers for the tests of graders.
#![allow(clippy::expect_used, clippy::must_use_candidate, reason = "tests say what they expect")]

use crate::grader::Grader;
use crate::grader::Graders;
use crate::plan::{Case, Match};
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;
use toolmark_base::SortedMap;
use toolmark_config::{Node, Problem};
use toolmark_match::Building;
use toolmark_outcome::Profile;
use toolmark_outcome::TrajectoryView;
use toolmark_outcome::judging::{
    AnswerUsage, CriterionMark, Judge, JudgeAnswer, JudgeQuestion, JudgeRuling, Quote, Unanswered,
    Vote,
};
use toolmark_outcome::testing::runs;
use toolmark_outcome::{CaseContext, CaseScoring, Environment, GateRule, SpecPlace, Subject};
use toolmark_outcome::{Cause, Outcome};
use toolmark_trace::Trajectory;

/// Creates a case without graders.
pub fn case(id: &str) -> Case {
    Case {
        id: id.to_owned(),
        tags: SortedMap::new(),
        matches: Match::default(),
        context: Arc::new(CaseContext::default()),
        graders: Vec::new(),
        scoring: CaseScoring { rule: GateRule::All, profile: Profile::Toolmark },
        trials: None,
        run: crate::run_plan::RunSettings::default(),
        target: None,
        place: SpecPlace::default(),
    }
}

/// Graders to build and run by type.
#[derive(Clone, Copy)]
pub struct Kit(pub Graders);

impl Kit {
    /// Builds a grader of this type; the error lists the problems of the configuration.
    pub fn build(
        self,
        id: &str,
        profile: Profile,
        config: &Value,
    ) -> Result<Arc<dyn Grader>, Vec<Problem>> {
        match self.build_with_problems(id, profile, config) {
            (Some(grader), problems) if !problems.iter().any(Problem::is_error) => Ok(grader),
            (_, problems) => Err(problems),
        }
    }

    /// Returns the warnings about a valid configuration.
    pub fn warnings(self, id: &str, config: &Value) -> Vec<String> {
        let (grader, problems) = self.build_with_problems(id, Profile::Toolmark, config);
        assert!(grader.is_some(), "{problems:?}");
        problems.into_iter().map(|problem| problem.message).collect()
    }

    fn build_with_problems(
        self,
        id: &str,
        profile: Profile,
        config: &Value,
    ) -> (Option<Arc<dyn Grader>>, Vec<Problem>) {
        let info = self.0.by_id(id).expect("a grader with this type");
        let mut problems = Vec::new();
        let config = Node::from_json(config).expect("a configuration");
        let grader = (info.build)(&mut Building {
            config: &config,
            profile,
            contrast: None,
            directory: Path::new("."),
            schemas: toolmark_match::call_match::compile_schema,
            problems: &mut problems,
        });
        (grader, problems)
    }

    /// Returns the messages about an invalid configuration.
    pub fn complaints(self, id: &str, config: &Value) -> Vec<String> {
        match self.build(id, Profile::Toolmark, config) {
            Ok(_) => Vec::new(),
            Err(problems) => problems.into_iter().map(|problem| problem.message).collect(),
        }
    }

    /// Builds a grader and grades the first trajectory of a trace.
    pub fn grade(self, id: &str, config: Value, trace: &str) -> Outcome {
        let grader = self.build(id, Profile::Toolmark, &config).expect("a good configuration");
        ask(&*grader, &runs(trace)[0])
    }

    /// Builds a grader with a profile and grades the first trajectory of a trace.
    pub fn grade_as(self, id: &str, profile: Profile, config: Value, trace: &str) -> Outcome {
        let grader = self.build(id, profile, &config).expect("a good configuration");
        ask(&*grader, &runs(trace)[0])
    }

    /// Builds a grader and grades a case with a judge.
    pub fn judged(
        self,
        id: &str,
        config: Value,
        trace: &str,
        context: &CaseContext,
        judge: fn(&JudgeQuestion) -> Option<f64>,
    ) -> Outcome {
        let grader = self.build(id, Profile::Toolmark, &config).expect("a good configuration");
        let judge: Arc<dyn Judge> = Arc::new(FakeJudge(judge));
        let environment = Environment { judge: Some(judge), ..Environment::default() };
        let runs = runs(trace);
        grader.grade(&Subject {
            view: TrajectoryView::whole(&runs[0]),
            context,
            environment: &environment,
        })
    }
}

/// Runs a grader on one trajectory.
pub fn ask(grader: &dyn Grader, run: &Trajectory) -> Outcome {
    grader.grade(&Subject {
        view: TrajectoryView::whole(run),
        context: &CaseContext::default(),
        environment: &Environment::default(),
    })
}

/// A judge that gives every criterion the mark returned by its function, and quotes the
/// first eight or more letters of the first material of the trace.
pub struct FakeJudge(pub fn(&JudgeQuestion) -> Option<f64>);

impl std::fmt::Debug for FakeJudge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("FakeJudge")
    }
}

impl Judge for FakeJudge {
    fn judge(&self, questions: &[JudgeQuestion]) -> Vec<JudgeRuling> {
        let vote = |question: &JudgeQuestion, model: String| Vote {
            model,
            answer: match (self.0)(question) {
                Some(mark) => {
                    let text = question.materials[0].pieces[0].text.clone();
                    let quotes = vec![Quote { text, material: 0, piece: 0 }];
                    let mark = CriterionMark {
                        mark: Some(mark),
                        quotes,
                        reason: "r".into(),
                        discarded: None,
                    };
                    let marks = question.rubric.criteria.iter().map(|_| mark.clone()).collect();
                    Ok(JudgeAnswer { marks, summary: None, spent: AnswerUsage::default() })
                }
                None => Err(Unanswered { cause: Cause::Judge, reason: "it timed out".into() }),
            },
        };
        let ruling = |question: &JudgeQuestion| {
            let models = match question.panel.models.as_slice() {
                [] => vec!["usual".to_owned()],
                models => models.to_vec(),
            };
            JudgeRuling { votes: models.into_iter().map(|model| vote(question, model)).collect() }
        };
        questions.iter().map(ruling).collect()
    }
}

/// The graders of this crate.
#[cfg(test)]
pub(crate) const OWN: Kit = Kit(Graders(&[&crate::graders::EXPECT, &crate::graders::JUDGE]));
