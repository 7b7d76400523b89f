//! Gold labels: the right tools for prompts, compared with the calls of agents.
//!
//! A [`Gold`] is created from rows, and [`Gold::pair`] finds the rows about a trajectory: by
//! its id, its name or the name of its file, or by the text of one of its prompts. The choice
//! of the agent is the first call after the prompt (a call that maintains a plan is not a
//! choice, unless there is no other call). Pairs are small and can be collected from any
//! number of files; [`Gold::score`] converts them to a [`SelectionScore`].

mod row;
mod score;
mod template;

pub use row::{GoldRow, GoldRowError};
pub use score::{
    Confusable, F1, NoTool, OfTool, ScoreRate, SelectionScore, ToolChoice, Unpaired, UnscoredGold,
};
pub use template::{TemplateRow, template};

use std::borrow::Cow;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::Path;
use toolmark_base::SortedMap;
use toolmark_hosts::toolset::{ToolRole, Toolsets};
use toolmark_session::session::Session;
use toolmark_trace::{EventKind, ToolName, Trajectory};

/// Rows with indexes for pairing.
#[derive(Debug, Default)]
pub struct Gold {
    rows: Vec<GoldRow>,
    /// Rows by id.
    by_id: HashMap<String, Vec<usize>>,
    /// Rows by prompt.
    by_prompt: HashMap<String, Vec<usize>>,
    /// Maximum length of the prompts of all rows.
    longest: usize,
}

/// Choice of a trajectory for which a row defines the right one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GoldPair {
    /// Index of the row.
    pub row: usize,
    /// Choice of the agent.
    pub choice: GoldChoice,
    /// Whether the row names the trajectory. Otherwise only the text of a prompt is the same,
    /// which counts if no trajectory has the row's id.
    pub is_by_name: bool,
    /// Id of the host's toolset.
    pub host: &'static str,
}

/// Choice for a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GoldChoice {
    /// A tool, under the name used in the row if the row names it.
    Tool(String),
    /// No tool: the prompt was answered directly.
    NoTool,
    /// The trace shows neither a call nor an answer.
    Unknown,
}

impl Gold {
    /// Indexes rows.
    ///
    /// # Errors
    ///
    /// Fails if two rows have the same prompt, with the line of the second row and a message.
    pub fn new(rows: Vec<GoldRow>) -> Result<Self, Vec<(u64, GoldRowError)>> {
        let mut gold = Self::default();
        let mut seen: HashMap<(Option<&str>, Option<String>), u64> = HashMap::new();
        let mut errors = Vec::new();
        for row in &rows {
            let prompt = row.prompt.as_deref().map(plain);
            if let Some(first) = seen.insert((row.id.as_deref(), prompt), row.line) {
                errors.push((row.line, GoldRowError::Repeats(first)));
            }
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        for (at, row) in rows.iter().enumerate() {
            if let Some(id) = &row.id {
                gold.by_id.entry(id.clone()).or_default().push(at);
            }
            if let Some(prompt) = &row.prompt {
                gold.longest = gold.longest.max(prompt.len());
                gold.by_prompt.entry(plain(prompt)).or_default().push(at);
            }
        }
        gold.rows = rows;
        Ok(gold)
    }

    /// Returns the rows.
    #[must_use]
    pub fn rows(&self) -> &[GoldRow] {
        &self.rows
    }

    /// Returns the choices of a trajectory, for every row about it.
    #[must_use]
    pub fn pair(&self, run: &Trajectory, toolsets: &Toolsets) -> Vec<GoldPair> {
        let named = self.named(run);
        let turns = Turns::new(run);
        let mut prompted: SortedMap<usize, usize> = SortedMap::new();
        for (turn, prompt) in turns.prompts(run, self.longest) {
            for row in self.by_prompt.get(&prompt).into_iter().flatten() {
                prompted.entry(*row).or_insert(turn);
            }
        }
        let mut found: Vec<(usize, Option<usize>, bool)> = Vec::new();
        for row in named {
            // The prompt identifies the turn of the session.
            let turn = prompted.remove(&row);
            let has_prompt = self.rows.get(row).is_some_and(|row| row.prompt.is_some());
            // In a session with one turn, the prompt may differ from that of the row.
            if turn.is_some() || !has_prompt || turns.starts.len() <= 1 {
                found.push((row, turn, true));
            }
        }
        found.extend(prompted.into_iter().map(|(row, turn)| (row, Some(turn), false)));
        if found.is_empty() {
            return Vec::new();
        }
        found.sort_unstable();
        let session = Session::new(run, toolsets);
        let host = &*session.host().id;
        let pairs = found.into_iter().filter_map(|(row, turn, is_by_name)| {
            let tools = &self.rows.get(row)?.tools;
            Some(GoldPair { row, choice: turns.choice(&session, turn, tools), is_by_name, host })
        });
        pairs.collect()
    }

    /// Returns the rows whose id is the trajectory's id, its name, or the name of its file.
    fn named(&self, run: &Trajectory) -> Vec<usize> {
        let file = Path::new(&*run.file);
        let names = [
            run.id.as_ref().map(|id| id.get()),
            run.name.as_ref().map(|name| name.get()),
            file.file_stem().and_then(OsStr::to_str).map(Cow::from),
            file.file_name().and_then(OsStr::to_str).map(Cow::from),
        ];
        let mut rows: Vec<usize> = names
            .iter()
            .flatten()
            .filter_map(|name| self.by_id.get(&**name))
            .flatten()
            .copied()
            .collect();
        rows.sort_unstable();
        rows.dedup();
        rows
    }
}

/// Returns a text with single blanks.
fn plain(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Starts of the turns of a trajectory, as indexes of its events.
struct Turns {
    starts: Vec<usize>,
}

impl Turns {
    fn new(run: &Trajectory) -> Self {
        let turns = run.events.iter().enumerate().filter(|(_, event)| event.starts_turn());
        Self { starts: turns.map(|(at, _)| at).collect() }
    }

    /// Returns the text of each turn's prompt.
    fn prompts<'r>(
        &'r self,
        run: &'r Trajectory,
        longest: usize,
    ) -> impl Iterator<Item = (usize, String)> + 'r {
        // White space may make the prompt longer, within limits.
        let most = longest.saturating_mul(4).saturating_add(64);
        self.starts.iter().enumerate().filter_map(move |(turn, at)| {
            let text = run.events.get(*at)?.text.as_ref()?.plain();
            (longest > 0 && text.len() <= most).then(|| (turn, plain(&text)))
        })
    }

    /// Returns the choice in a turn, or in the whole session.
    fn choice(&self, session: &Session<'_>, turn: Option<usize>, gold: &[String]) -> GoldChoice {
        let start = |turn: usize| self.starts.get(turn).copied();
        let from = turn.and_then(start).unwrap_or(0);
        let to = turn.and_then(|turn| start(turn + 1)).unwrap_or(session.events().len());
        let calls = || session.calls().iter().filter(|call| (from..to).contains(&call.event));
        let first = calls().find(|call| {
            call.role != ToolRole::Plans || gold.iter().any(|name| **name == *call.tool)
        });
        if let Some(call) = first.or_else(|| calls().next()) {
            // Names of one tool in several versions are equivalent.
            let is_it = |name: &&String| {
                let described = session.describe(&ToolName::new(name.as_str()));
                matches!((described, call.spec), (Some(a), Some(b)) if std::ptr::eq(a, b))
            };
            let alias = gold.iter().find(|name| **name == *call.tool).or(gold.iter().find(is_it));
            return GoldChoice::Tool(alias.map_or_else(|| call.tool.to_string(), String::clone));
        }
        let events = session.events().get(from..to).unwrap_or_default();
        let is_answered = events.iter().any(|event| event.kind == EventKind::Message)
            || (turn.is_none() && session.trajectory().stated.output.is_some());
        if is_answered { GoldChoice::NoTool } else { GoldChoice::Unknown }
    }
}

#[cfg(test)]
mod tests;
