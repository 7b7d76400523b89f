//! Rows of gold labels to start from: what agents chose, for people to correct.

use super::{Choice, Turns, plain};
use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::Path;
use toolmark_hosts::toolset::Toolsets;
use toolmark_outcome::Untrusted;
use toolmark_session::session::Session;
use toolmark_trace::Trajectory;

/// A longer prompt is not repeated.
const MAX_PROMPT: usize = 2000;

/// A row to start from.
#[derive(Debug, Clone, PartialEq)]
pub struct TemplateRow {
    /// The session.
    pub id: Option<Untrusted>,
    /// The prompt; `None` where it is too long to repeat.
    pub prompt: Option<Untrusted>,
    /// The tool that was called first; `None` where it was answered without.
    pub tool: Option<Untrusted>,
}

/// A row for every prompt of a trajectory, with the tool that was called for it. A prompt
/// that neither a call nor an answer follows has none.
#[must_use]
pub fn template(run: &Trajectory, toolsets: &Toolsets) -> Vec<TemplateRow> {
    let turns = Turns::new(run);
    let session = Session::new(run, toolsets);
    let stem = Path::new(&*run.file).file_stem().and_then(OsStr::to_str);
    let id = run.id.as_ref().map(|id| id.get().into_owned()).or_else(|| stem.map(str::to_owned));
    let mut seen = HashSet::new();
    let mut rows = Vec::new();
    for (turn, at) in turns.starts.iter().enumerate() {
        let text = run.events.get(*at).and_then(|event| event.text.as_ref());
        let prompt = text.map(|text| plain(&text.plain()));
        let prompt = prompt.filter(|prompt| !prompt.is_empty() && prompt.len() <= MAX_PROMPT);
        // Without its words only the first prompt of a session can be named: by the session.
        if (prompt.is_none() && (turn > 0 || id.is_none())) || !seen.insert(prompt.clone()) {
            continue;
        }
        let tool = match turns.choice(&session, Some(turn), &[]) {
            Choice::Tool(tool) => Some(tool.into()),
            Choice::NoTool => None,
            Choice::Unknown => continue,
        };
        let (id, prompt) = (id.clone().map(Into::into), prompt.map(Into::into));
        rows.push(TemplateRow { id, prompt, tool });
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolmark_session::notation;

    #[test]
    fn a_row_for_every_prompt() {
        let run = notation::parse(
            "user: what is in a.rs?\n\
             Read {\"file_path\":\"/w/a.rs\"} -> \"1\\tone\"\n\
             user: thanks, what is 1 + 1?\n\
             assistant: 2\n\
             user: what is in a.rs?\n\
             Bash {\"command\":\"cat a.rs\"} -> \"one\"\n",
        );
        let rows = template(&run.unwrap(), &Toolsets::default());
        let rows: Vec<(&str, Option<&str>)> = rows
            .iter()
            .map(|row| (row.prompt.as_ref().unwrap().raw(), row.tool.as_ref().map(|t| t.raw())))
            .collect();
        // A prompt that is repeated cannot be told apart: its first time counts.
        assert_eq!(rows, [("what is in a.rs?", Some("Read")), ("thanks, what is 1 + 1?", None)]);
    }
}
