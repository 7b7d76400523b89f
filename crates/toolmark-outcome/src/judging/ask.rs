//! Asks the judge: collects the material of a question and sends it.

use super::{Focus, JudgeQuestion, Material, answered, material_of, unanswered};
use crate::outcome::Outcome;
use crate::subject::Subject;
use crate::view::Missing;

/// Returns the default inputs for a call or a whole run, for rubrics that do not name any.
#[must_use]
pub fn usual_inputs(of_call: bool) -> Vec<(String, String)> {
    let inputs: &[(&str, &str)] = match of_call {
        true => &[
            ("user_request", "user_request?"),
            ("pre_tool_call_turn", "pre_tool_call_turn?"),
            ("tool_name", "tool_name"),
            ("tool_input", "tool_input?"),
            ("tool_output", "tool_output?"),
            ("post_tool_call_turn", "post_tool_call_turn?"),
        ],
        false => &[
            ("user_request", "user_request?"),
            ("transcript", "transcript"),
            ("output", "output?"),
            ("expected_output", "case.expected_output?"),
        ],
    };
    inputs.iter().map(|(name, path)| ((*name).to_owned(), (*path).to_owned())).collect()
}

/// Resolves a mapping of names to fields. A field that ends in `?` is omitted if the trace
/// does not have it; if any other field is missing, the question cannot be asked.
pub fn materials(inputs: &[(String, String)], focus: Focus<'_>) -> Result<Vec<Material>, Missing> {
    let mut all = Vec::with_capacity(inputs.len());
    for (name, path) in inputs {
        match path.strip_suffix('?') {
            Some(path) => all.extend(material_of(name, path, focus).ok()),
            None => all.push(material_of(name, path, focus)?),
        }
    }
    Ok(all)
}

/// Removes the request and the answer if the transcript contains them word for word.
pub fn drop_repeats(materials: &mut Vec<Material>) {
    let Some(whole) = materials.iter().position(|material| material.name == "transcript") else {
        return;
    };
    let entries: Vec<String> =
        materials[whole].pieces.iter().map(|piece| piece.text.trim().to_owned()).collect();
    let is_repeat = |material: &Material| match material.pieces.as_slice() {
        [only] => {
            material.is_trace
                && ["user_request", "output"].contains(&material.name.as_str())
                && entries.iter().any(|entry| entry == only.text.trim())
        }
        _ => false,
    };
    materials.retain(|material| !is_repeat(material));
}

/// Asks one question. The outcome is unknown if there is no judge.
#[must_use]
pub fn ask(subject: &Subject<'_>, question: JudgeQuestion) -> Outcome {
    let Some(judge) = &subject.environment.judge else {
        return unanswered(&asked(&question));
    };
    let questions = [question];
    let rulings = judge.judge(&questions);
    let [question] = questions;
    match rulings.first() {
        Some(ruling) => answered(&question, ruling),
        None => unanswered(&asked(&question)),
    }
}

/// Summarizes a question on one line.
fn asked(question: &JudgeQuestion) -> String {
    let criteria = &question.rubric.criteria;
    match (question.rubric.name.as_deref(), criteria.first()) {
        (Some(name), _) => name.to_owned(),
        (None, Some(first)) if criteria.len() > 1 => {
            let more = criteria.len() - 1;
            format!("{} (and {more} more)", crate::excerpt(&first.text))
        }
        (None, Some(first)) => crate::excerpt(&first.text),
        (None, None) => "a rubric without criteria".to_owned(),
    }
}
