//! # What it does
//!
//! Finds a search for file names followed by reading at least six of the files
//! it returned, one after another and as a whole, when a tool for searching
//! text was available. Between them, the agent only looks at things, it does
//! not change the files, and it makes no text search in the same turn. The
//! finding is at the search for file names.
//!
//! # Why
//!
//! Reading file after file to find a text puts all of them into the context. A
//! text search returns the few lines that matter.
//!
//! # What to do
//!
//! Search for the text, then read the lines around the matches.
//!
//! # Examples
//!
//! ```fires
//! user: find the function that handles login
//! Glob {"pattern":"src/*.rs"} -> "/w/src/a.rs\n/w/src/b.rs\n/w/src/c.rs\n/w/src/d.rs\n/w/src/e.rs\n/w/src/f.rs"
//! Read {"file_path":"/w/src/a.rs"} -> "1\tx"
//! Read {"file_path":"/w/src/b.rs"} -> "1\tx"
//! Read {"file_path":"/w/src/c.rs"} -> "1\tx"
//! Read {"file_path":"/w/src/d.rs"} -> "1\tx"
//! Read {"file_path":"/w/src/e.rs"} -> "1\tx"
//! Read {"file_path":"/w/src/f.rs"} -> "1\tfn login()"
//! ```
//!
//! ```fires
//! host: gemini-cli
//! user: where is the port set?
//! glob {"pattern":"*.toml"} -> "a.toml\nb.toml\nc.toml\nd.toml\ne.toml\nf.toml"
//! read_file {"file_path":"a.toml"} -> "x"
//! read_file {"file_path":"b.toml"} -> "x"
//! read_file {"file_path":"c.toml"} -> "x"
//! read_file {"file_path":"d.toml"} -> "x"
//! read_file {"file_path":"e.toml"} -> "x"
//! read_file {"file_path":"f.toml"} -> "port = 1"
//! ```
//!
//! ```fires
//! user: which test covers parsing?
//! Glob {"pattern":"tests/*"} -> "tests/a\ntests/b\ntests/c\ntests/d\ntests/e\ntests/f"
//! Read {"file_path":"/w/tests/a"} -> "1\tx"
//! & Read {"file_path":"/w/tests/b"} -> "1\tx"
//! & Read {"file_path":"/w/tests/c"} -> "1\tx"
//! & Read {"file_path":"/w/tests/d"} -> "1\tx"
//! & Read {"file_path":"/w/tests/e"} -> "1\tx"
//! & Read {"file_path":"/w/tests/f"} -> "1\tx"
//! assistant: None does.
//! ```
//!
//! Only a few files, read to understand them:
//!
//! ```quiet
//! user: explain the parser
//! Glob {"pattern":"src/*.rs"} -> "/w/src/a.rs\n/w/src/b.rs"
//! Read {"file_path":"/w/src/a.rs"} -> "1\tx"
//! Read {"file_path":"/w/src/b.rs"} -> "1\tx"
//! ```
//!
//! The files are read to be changed:
//!
//! ```quiet
//! user: rename it everywhere
//! Glob {"pattern":"src/*.rs"} -> "/w/src/a.rs\n/w/src/b.rs\n/w/src/c.rs\n/w/src/d.rs\n/w/src/e.rs\n/w/src/f.rs"
//! Read {"file_path":"/w/src/a.rs"} -> "1\tx"
//! Read {"file_path":"/w/src/b.rs"} -> "1\tx"
//! Read {"file_path":"/w/src/c.rs"} -> "1\tx"
//! Read {"file_path":"/w/src/d.rs"} -> "1\tx"
//! Read {"file_path":"/w/src/e.rs"} -> "1\tx"
//! Read {"file_path":"/w/src/f.rs"} -> "1\tx"
//! Edit {"file_path":"/w/src/a.rs","old_string":"x","new_string":"y"} -> "ok"
//! ```
//!
//! The user did not ask to find anything:
//!
//! ```quiet
//! user: review these modules
//! Glob {"pattern":"src/*.rs"} -> "/w/src/a.rs\n/w/src/b.rs\n/w/src/c.rs\n/w/src/d.rs\n/w/src/e.rs\n/w/src/f.rs"
//! Read {"file_path":"/w/src/a.rs"} -> "1\tx"
//! Read {"file_path":"/w/src/b.rs"} -> "1\tx"
//! Read {"file_path":"/w/src/c.rs"} -> "1\tx"
//! Read {"file_path":"/w/src/d.rs"} -> "1\tx"
//! Read {"file_path":"/w/src/e.rs"} -> "1\tx"
//! Read {"file_path":"/w/src/f.rs"} -> "1\tx"
//! ```

use crate::offered_tools::offered;
use crate::recorder::{Draft, Recorder};
use crate::rule::{Rule, page};
use toolmark_base::SortedSet;
use toolmark_hosts::toolset::ToolRole;
use toolmark_outcome::EvidenceRole;
use toolmark_outcome::{Axis, Confidence, Severity};
use toolmark_session::session::{Ended, Session, SessionCall};
use toolmark_trace::Event;

pub(crate) static RULE: Rule = Rule {
    code: "S103",
    name: "read-to-search",
    axis: Axis::Selection,
    severity: Severity::Warning,
    confidence: Confidence::Low,
    summary: "reads many files one by one to find a text",
    remedy: "search for the text, then read around the matches",
    source: page!("s103_read_to_search.rs"),
    check,
};

/// Minimum number of files that counts as many.
const MANY: usize = 6;
/// Number of calls after the search to examine.
const LOOKED_AHEAD: usize = 40;
/// Words of prompts that ask to find something.
const ASKS: &[&str] = &["find", "where", "which", "search", "look for", "locate", "who calls"];

fn check(session: &Session<'_>, recorder: &mut Recorder<'_, '_>) {
    let mut tool = None;
    for (at, call) in session.calls().iter().enumerate() {
        if call.role != ToolRole::SearchesNames || call.ended != Ended::Ok {
            continue;
        }
        let tool = tool.get_or_insert_with(|| offered(session, &[ToolRole::SearchesContent]));
        let Some(tool) = tool else { return };
        recorder.count_opportunity(call);
        let end = (at + 1 + LOOKED_AHEAD).min(session.calls().len());
        let after = session.calls().get(at + 1..end).unwrap_or_default();
        let after = after.iter().take_while(|next| next.turn == call.turn);
        let Some(reads) = reads_of(call, after) else { continue };
        let (Some(first), Some(last)) = (reads.first(), reads.last()) else { continue };
        // Without a question, the purpose of the reads is unknown.
        let asks = asked(session, call);
        let confidence = if asks { Confidence::Medium } else { Confidence::Low };
        let message = format!("{} files of a name search were read one by one", reads.len());
        let draft = Draft::new(call, message)
            .confidence(confidence)
            .remedy(format!("call {} for the text, then read around what was found", tool.name))
            .evidence(session.evidence(EvidenceRole::Context, "the first that was read", first))
            .evidence(session.evidence(EvidenceRole::Context, "the last", last));
        recorder.find(draft);
    }
}

/// Returns the reads of whole files from a search's result, if they are many and nothing else
/// was done with the files.
fn reads_of<'s, 'a: 's>(
    search: &SessionCall<'_>,
    after: impl Iterator<Item = &'s SessionCall<'a>>,
) -> Option<Vec<&'s SessionCall<'a>>> {
    let mut reads: Vec<&SessionCall<'_>> = Vec::new();
    for call in after {
        match call.role {
            ToolRole::Reads if call.ended == Ended::Ok && call.lines().is_whole() => {
                reads.push(call);
            }
            ToolRole::Reads | ToolRole::Plans | ToolRole::SearchesNames | ToolRole::Lists => {}
            // The text was searched for after all, or the files were the subject.
            _ => return None,
        }
    }
    if reads.len() < MANY {
        return None;
    }
    let result = search.result()?;
    let mut names: SortedSet<&str> = SortedSet::new();
    reads.retain(|call| {
        let name = call.path.as_deref().and_then(|path| path.rsplit('/').next());
        name.is_some_and(|name| result.contains(name) && names.insert(name))
    });
    (reads.len() >= MANY).then_some(reads)
}

/// Whether the prompt of the turn asks to find something.
fn asked(session: &Session<'_>, call: &SessionCall<'_>) -> bool {
    /// Maximum length of a prompt to examine; questions are at the start.
    const MAX_EXAMINED: usize = 400;
    let before = session.events().get(..call.event).unwrap_or_default();
    let Some(prompt) = before.iter().rev().find(|event| Event::starts_turn(event)) else {
        return false;
    };
    let Some(text) = prompt.text.as_ref().map(|text| text.plain()) else { return false };
    let start: String = text.chars().take(MAX_EXAMINED).collect::<String>().to_lowercase();
    ASKS.iter().any(|word| {
        start.match_indices(word).any(|(at, _)| {
            let is_edge = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
            is_edge(start.get(..at).and_then(|s| s.chars().next_back()))
                && is_edge(start.get(at + word.len()..).and_then(|s| s.chars().next()))
        })
    })
}
