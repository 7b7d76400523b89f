//! Template of gold labels: the choices of agents, to be corrected by hand.

use super::{GoldChoice, Turns, plain};
use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::Path;
use toolmark_hosts::toolset::Toolsets;
use toolmark_outcome::Untrusted;
use toolmark_session::session::Session;
use toolmark_trace::Trajectory;

/// Maximum length of a prompt to include.
const MAX_PROMPT: usize = 2000;

/// A row of the template.
#[derive(Debug, Clone, PartialEq)]
pub struct TemplateRow {
    /// Id of the session.
    pub id: Option<Untrusted>,
    /// Prompt; `None` if it is too long to include.
    pub prompt: Option<Untrusted>,
    /// First tool that was called; `None` if the prompt was answered without a tool.
    pub tool: Option<Untrusted>,
}

/// Returns a row for every prompt of a trajectory, with the tool that was called for it. A
/// prompt without a subsequent call or answer is omitted.
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
        // Without a prompt, a row can only refer to the first turn of a session, by its id.
        if (prompt.is_none() && (turn > 0 || id.is_none())) || !seen.insert(prompt.clone()) {
            continue;
        }
        let tool = match turns.choice(&session, Some(turn), &[]) {
            GoldChoice::Tool(tool) => Some(tool.into()),
            GoldChoice::NoTool => None,
            GoldChoice::Unknown => continue,
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
        // Repeated prompts cannot be distinguished, so the first one counts.
        assert_eq!(rows, [("what is in a.rs?", Some("Read")), ("thanks, what is 1 + 1?", None)]);
    }
}
