//! promptfoo's F1 of tool calls.

use crate::scores::matching::{f1, share};
use toolmark_base::SortedSet;
use toolmark_outcome::{Cause, Outcome, TrajectoryView};

/// Computes precision, recall and F1 over the sets of names in the last response of the model.
pub(crate) fn tool_call_f1(
    tools: &[String],
    view: &TrajectoryView<'_>,
) -> Result<(f64, f64, f64), Box<Outcome>> {
    if tools.is_empty() {
        let why = "promptfoo raises an error: at least one tool must be expected";
        return Err(Box::new(Outcome::unknown(Cause::Configuration, why)));
    }
    let last = view.steps().last().copied();
    let expected: SortedSet<&str> = tools.iter().map(String::as_str).collect();
    let of_last = view.calls().iter().filter(|seen| seen.call.step == last);
    let names: Vec<_> = of_last.map(|seen| seen.call.name.full()).collect();
    let made: SortedSet<&str> = names.iter().map(|name| &**name).collect();
    let common = made.intersection(&expected).count();
    let (precision, recall) = (share(common, made.len()), share(common, expected.len()));
    Ok((precision, recall, f1(precision, recall)))
}
