//! Labelled samples: the materials for a judge, and the label assigned by a person.

use super::labels::{Label, LabelTarget};
use std::sync::Arc;
use toolmark_outcome::judging::{
    BuiltIn, Field, Focus, JudgeQuestion, Material, Panel, Rubric, TextPiece, drop_repeats,
    materials, usual_inputs,
};
use toolmark_outcome::{CaseContext, Environment, IndexedCall, Missing, Subject, TrajectoryView};
use toolmark_trace::{Actor, Trajectory};

/// Fields with the agent's own text.
const OWN_WORDS: &[&str] = &["pre_tool_call_turn", "post_tool_call_turn", "output", TRANSCRIPT];
/// Field in which the agent's text is mixed with everything else.
pub(super) const TRANSCRIPT: &str = "transcript";
/// Label of a transcript entry written by the agent.
pub(super) const SAID: &str = "assistant";

/// The question asked about every sample.
#[derive(Debug, Clone)]
pub struct RubricTask {
    /// Rubric.
    pub rubric: Arc<Rubric>,
    /// Inputs of the judge: a name and a field, which is optional if it ends in `?`. If empty,
    /// samples provide all their texts, and a trace gives the call or the whole run.
    pub inputs: Vec<(String, String)>,
    /// Minimum score to pass.
    pub threshold: f64,
}

/// A labelled sample.
#[derive(Debug, Clone)]
pub struct LabelledSample {
    /// Name in every output.
    pub id: String,
    /// The label.
    pub label: Label,
    /// Materials for the judge.
    pub materials: Vec<Material>,
}

/// Reason why a sample has no materials.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SampleError {
    /// The trace lacks evidence.
    #[error("{}", .0.0)]
    Missing(Missing),
    /// The rubric has no input with this name.
    #[error("the rubric has no input {0}, only {1}")]
    UnknownInput(String, String),
    /// An input of the rubric is missing.
    #[error("the rubric needs the input {0}")]
    NoInput(String),
    /// The trace lacks the named run.
    #[error("the trace has no run {0}")]
    UnknownRun(String),
    /// The trace has no run.
    #[error("the trace has no run")]
    NoRun,
    /// Several runs are possible.
    #[error("the trace has {0} candidate runs: name one with run")]
    SeveralRuns(usize),
    /// The call was made by the user.
    #[error("call {0} is the user's, not the agent's")]
    UserCall(String),
    /// The run lacks the call.
    #[error("the run has no call {0}: it has {1}, counted from 0")]
    UnknownCall(String, usize),
    /// The trace cannot be read.
    #[error("{0}")]
    Unread(String),
    /// The trace at a path is not suitable.
    #[error("{0}: {1}")]
    At(String, Box<Self>),
    /// The row names neither a trace nor texts.
    #[error("has nothing to show")]
    Nothing,
}

impl RubricTask {
    /// Creates the task of a built-in rubric.
    #[must_use]
    pub fn built_in(rubric: &BuiltIn) -> Self {
        Self {
            rubric: Arc::new(rubric.rubric()),
            inputs: pairs(rubric.inputs),
            threshold: rubric.threshold,
        }
    }

    /// Builds the materials of one call or of a whole run, from the runs of a file.
    pub fn of_trace(
        &self,
        runs: &[Trajectory],
        run: Option<&LabelTarget>,
        call: Option<&LabelTarget>,
    ) -> Result<Vec<Material>, SampleError> {
        let run = find_run(runs, run, call)?;
        let call = call.map(|call| find_call(run, call)).transpose()?;
        let (context, environment) = (CaseContext::default(), Environment::default());
        let subject = Subject {
            view: TrajectoryView::whole(run),
            context: &context,
            environment: &environment,
        };
        let focus = Focus { subject: &subject, call };
        let found = match (self.inputs.as_slice(), call) {
            ([], call) => materials(&usual_inputs(call.is_some()), focus).map(|mut found| {
                drop_repeats(&mut found);
                found
            }),
            (inputs, _) => materials(inputs, focus),
        };
        found.map_err(SampleError::Missing)
    }

    /// Builds the materials of a sample with its own texts. If the rubric names its inputs, the
    /// texts may have the names of inputs or of fields.
    pub fn of_inputs(&self, texts: &[(String, String)]) -> Result<Vec<Material>, SampleError> {
        if self.inputs.is_empty() {
            return Ok(texts.iter().map(|(name, text)| text_material(name, name, text)).collect());
        }
        let is_it = |name: &str, (input, path): &(String, String)| {
            let field = whole_field(path.trim_end_matches('?'));
            name == input || (field.is_some() && field == whole_field(name))
        };
        if let Some((name, _)) =
            texts.iter().find(|(name, _)| !self.inputs.iter().any(|input| is_it(name, input)))
        {
            let names: Vec<&str> = self.inputs.iter().map(|(name, _)| name.as_str()).collect();
            return Err(SampleError::UnknownInput(name.clone(), names.join(", ")));
        }
        let mut found = Vec::with_capacity(self.inputs.len());
        for input in &self.inputs {
            let (name, path) = input;
            match texts.iter().find(|(given, _)| is_it(given, input)) {
                Some((_, text)) => found.push(text_material(name, path, text)),
                None if path.ends_with('?') => {}
                None => return Err(SampleError::NoInput(name.clone())),
            }
        }
        Ok(found)
    }

    /// Builds the question about these materials.
    pub(super) fn question(&self, materials: Vec<Material>, votes: u32) -> JudgeQuestion {
        let panel = Panel { votes, ..Panel::default() };
        let (rubric, threshold) = (Arc::clone(&self.rubric), self.threshold);
        JudgeQuestion { rubric, materials, panel, threshold }
    }

    /// Returns the field of a material that holds the agent's own text.
    pub(super) fn own_words(&self, material: &Material) -> Option<&'static str> {
        let input = self.inputs.iter().find(|(name, _)| *name == material.name);
        let path = input.map_or(material.name.as_str(), |(_, path)| path.trim_end_matches('?'));
        let field = Field::of(path).filter(|field| OWN_WORDS.contains(&field.name))?;
        (material.is_trace && !material.is_empty()).then_some(field.name)
    }
}

/// Returns the field with this name, unless only a part of it is named.
fn whole_field(path: &str) -> Option<&'static str> {
    let is_whole = |field: &&Field| field.name == path || field.aliases.contains(&path);
    Field::of(path).filter(is_whole).map(|field| field.name)
}

fn pairs(inputs: &[(&str, &str)]) -> Vec<(String, String)> {
    inputs.iter().map(|(name, path)| ((*name).to_owned(), (*path).to_owned())).collect()
}

/// Builds the material of a text of the row: part of the recording, unless only a spec has such a
/// field.
fn text_material(name: &str, path: &str, text: &str) -> Material {
    let field = Field::of(path.trim_end_matches('?'));
    let material = match field.is_some_and(|field| field.name.starts_with("case.")) {
        true => Material::of_spec(name, text),
        false => Material::of_trace(name, vec![TextPiece::new(text)]),
    };
    let keys = path.trim_end_matches('?').split('.').chain([name]);
    Material { keys: keys.map(str::to_owned).collect(), ..material }
}

/// Finds the run with this id or index, the run that has the call, or the only run.
fn find_run<'r>(
    runs: &'r [Trajectory],
    run: Option<&LabelTarget>,
    call: Option<&LabelTarget>,
) -> Result<&'r Trajectory, SampleError> {
    let all = || runs.iter().flat_map(Trajectory::flatten);
    let found: Vec<&Trajectory> = match (run, call) {
        (Some(LabelTarget::Index(index)), _) => runs.get(*index).into_iter().collect(),
        (Some(LabelTarget::Id(id)), _) => {
            let is_it = |run: &&Trajectory| {
                [&run.id, &run.name].into_iter().flatten().any(|text| text.get() == *id)
            };
            let named: Vec<_> = all().filter(is_it).collect();
            match (named.is_empty(), id.parse::<usize>()) {
                (true, Ok(index)) => runs.get(index).into_iter().collect(),
                _ => named,
            }
        }
        (None, Some(LabelTarget::Id(id))) if all().any(|run| has_call(run, id)) => {
            all().filter(|run| has_call(run, id)).collect()
        }
        (None, _) => runs.iter().collect(),
    };
    match (found.as_slice(), run) {
        ([one], _) => Ok(one),
        ([], Some(run)) => Err(SampleError::UnknownRun(run.to_string())),
        ([], None) => Err(SampleError::NoRun),
        (several, _) => Err(SampleError::SeveralRuns(several.len())),
    }
}

fn has_call(run: &Trajectory, id: &str) -> bool {
    run.calls.iter().any(|call| call.id.as_ref().is_some_and(|text| text.get() == id))
}

fn find_call<'r>(run: &'r Trajectory, place: &LabelTarget) -> Result<IndexedCall<'r>, SampleError> {
    let index = match place {
        LabelTarget::Index(index) => Some(*index),
        LabelTarget::Id(id) => run
            .calls
            .iter()
            .position(|call| call.id.as_ref().is_some_and(|text| text.get() == *id))
            .or_else(|| id.parse().ok()),
    };
    let found = index.and_then(|index| Some(IndexedCall { index, call: run.calls.get(index)? }));
    match found {
        Some(seen) if seen.call.actor == Actor::User => {
            Err(SampleError::UserCall(place.to_string()))
        }
        Some(seen) => Ok(seen),
        None => Err(SampleError::UnknownCall(place.to_string(), run.calls.len())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolmark_outcome::judging::built_in;
    use toolmark_trace::{ReadOptions, read};

    const CHAT: &str = r#"{"role":"user","content":"Fix the typo"}
{"role":"assistant","content":"I edit it.","tool_calls":[{"id":"c1","function":{"name":"Edit","arguments":"{\"file_path\":\"a\"}"}}]}
{"role":"tool","tool_call_id":"c1","content":"done"}
{"role":"assistant","content":"Fixed."}"#;

    fn runs(text: &str) -> Vec<Trajectory> {
        let stream = std::io::Cursor::new(text.as_bytes().to_vec());
        read(stream, "chat.jsonl", &ReadOptions::default()).unwrap().collect()
    }

    fn task(name: &str) -> RubricTask {
        RubricTask::built_in(built_in(name).unwrap())
    }

    #[test]
    fn a_call_of_a_trace() {
        let (task, runs) = (task("edit-minimal-scope"), runs(CHAT));
        let id = |id: &str| LabelTarget::Id(id.to_owned());
        for (place, want) in [
            (Some(LabelTarget::Index(0)), Ok(3)),
            (Some(id("c1")), Ok(3)),
            (Some(id("0")), Ok(3)),
            (Some(id("c9")), Err("no call c9")),
            (Some(LabelTarget::Index(1)), Err("no call 1: it has 1, counted from 0")),
            (None, Err("tool_input needs a selected call")),
        ] {
            let got = task.of_trace(&runs, None, place.as_ref());
            match (got, want) {
                (Ok(materials), Ok(count)) => assert_eq!(materials.len(), count, "{place:?}"),
                (Err(why), Err(part)) => assert!(why.to_string().contains(part), "{why}"),
                (got, _) => panic!("{place:?}: {got:?}"),
            }
        }
        let materials = task.of_trace(&runs, None, Some(&id("c1"))).unwrap();
        let own: Vec<&str> = materials
            .iter()
            .filter(|m| task.own_words(m).is_some())
            .map(|m| m.name.as_str())
            .collect();
        assert_eq!(own, ["said_before"]);
    }

    #[test]
    fn a_run_among_several() {
        let task = task("edit-minimal-scope");
        let (first, second) = (runs(CHAT), runs(&CHAT.replace("c1", "c2")));
        let both: Vec<Trajectory> = first.into_iter().chain(second).collect();
        let call = LabelTarget::Index(0);
        let why = task.of_trace(&both, None, Some(&call)).unwrap_err();
        assert!(why.to_string().contains("2 candidate runs"), "{why}");
        assert!(task.of_trace(&both, Some(&LabelTarget::Index(1)), Some(&call)).is_ok());
        assert!(task.of_trace(&both, None, Some(&LabelTarget::Id("c2".into()))).is_ok());
        let why =
            task.of_trace(&both, Some(&LabelTarget::Id("x".into())), Some(&call)).unwrap_err();
        assert!(why.to_string().contains("no run x"), "{why}");
    }

    #[test]
    fn texts_of_the_row() {
        let task = task("error-recovery");
        let texts = |names: &[&str]| -> Vec<(String, String)> {
            names.iter().map(|name| ((*name).to_owned(), format!("the {name}"))).collect()
        };
        let all = ["error", "tool_name", "next_calls", "tool_input", "said_after"];
        let found = task.of_inputs(&texts(&all)).unwrap();
        let names: Vec<&str> = found.iter().map(|material| material.name.as_str()).collect();
        // In the rubric's order and under its names.
        assert_eq!(names, ["tool_name", "tool_input", "error_message", "said_after", "next_calls"]);
        assert_eq!(found[2].pieces[0].text, "the error");
        let own = |task: &RubricTask| -> Vec<bool> {
            found.iter().map(|material| task.own_words(material).is_some()).collect()
        };
        assert_eq!(own(&task), [false, false, false, true, false]);
        assert_eq!(task.of_inputs(&texts(&all[..4])).unwrap().len(), 4);
        assert!(
            task.of_inputs(&texts(&all[..3]))
                .unwrap_err()
                .to_string()
                .contains("needs the input tool_input")
        );
        assert!(
            task.of_inputs(&texts(&["nonsense"])).unwrap_err().to_string().contains("nonsense")
        );
        let part = |path: &str| (path.replace('.', " "), path.to_owned());
        let inputs = vec![part("tool_input.old"), part("tool_input.new")];
        let parts = RubricTask { inputs, ..task.clone() };
        assert!(parts.of_inputs(&texts(&["tool_input"])).is_err(), "a part is not the whole");
        let free = RubricTask { inputs: Vec::new(), ..task };
        let names = |call: Option<LabelTarget>| -> Vec<String> {
            let shown = free.of_trace(&runs(CHAT), None, call.as_ref()).unwrap();
            shown.into_iter().map(|material| material.name).collect()
        };
        assert_eq!(names(None), ["transcript"], "which has the request and the answer");
        assert_eq!(names(Some(LabelTarget::Index(0))).len(), 6);
        let found = free.of_inputs(&texts(&["answer", "expected_output", "x"])).unwrap();
        let of_trace: Vec<bool> = found.iter().map(|material| material.is_trace).collect();
        assert_eq!(of_trace, [true, false, true]);
        assert_eq!(free.own_words(&found[0]), Some("output"));
        assert_eq!(free.own_words(&found[2]), None);
    }
}
