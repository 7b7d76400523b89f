//! Calls that follow an instruction from the result of an earlier call.

use super::Past;
use crate::text::head;
use crate::tool_effect::{ToolEffect, own_words};
use serde_json::Value;

/// A call that follows an instruction from a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Foreign {
    /// Value that came with the instruction.
    pub value: String,
    /// Earlier call whose result contains the instruction.
    pub earlier: usize,
    /// Start of the instruction.
    pub passage: String,
}

/// Phrases of text that addresses an agent and not a reader.
const ADDRESSES: &[&str] = &[
    "ignore your previous",
    "ignore all previous",
    "ignore the previous",
    "ignore previous",
    "ignore all prior",
    "ignore prior",
    "ignore your instructions",
    "ignore all instructions",
    "ignore any previous",
    "disregard all",
    "disregard the above",
    "disregard previous",
    "disregard your",
    "forget your instructions",
    "forget all previous",
    "override your instructions",
    "important message from me",
    "<information>",
    "before you can solve",
    "system_message",
    "<system>",
    "</system>",
    "[system]",
    "### system",
    "system:",
    "system prompt",
    "system override",
    "new instruction",
    "updated instruction",
    "important!!!",
    "instructions for the assistant",
    "instructions for the agent",
    "instruction to the assistant",
    "note to the assistant",
    "note to the agent",
    "note to ai",
    "the assistant must",
    "the assistant should",
    "the agent must",
    "ai assistant",
    "ai agent",
    "language model",
    "as an ai",
    "dear assistant",
    "hey assistant",
    "<|im_start|>",
];
/// Phrases that also occur in notes for people.
const NOTES: &[&str] = &["todo:", "to-do:", "action required:"];
/// Words of a request to follow a text.
const DELEGATES: &[&str] = &[
    "todo",
    "to-do",
    "to do list",
    "instructions",
    "the tasks",
    "all tasks",
    "my tasks",
    "the actions",
    "follow the",
    "what it says",
];
/// Length of an instruction, in bytes.
const PASSAGE: usize = 1500;
/// Length of the part of an instruction that is shown.
const SHOWN: usize = 160;
/// Maximum length of a result to search, in bytes.
const MAX_RESULT: usize = 1 << 20;
/// Maximum number of values of a call to look up.
const MAX_VALUES: usize = 64;
/// Minimum length of a value, and of a word that names what a tool does.
const MIN_VALUE: usize = 2;
const MIN_STEM: usize = 4;

/// Returns the instruction that a call follows, if a value of the call came with it.
#[must_use]
pub fn foreign_instruction(tool: &str, args: &Value, past: &dyn Past) -> Option<Foreign> {
    let effect = ToolEffect::of_name(tool);
    let values = values(args, effect == Some(ToolEffect::Read));
    if values.is_empty() {
        return None;
    }
    let delegates = DELEGATES.iter().any(|word| past.user_wrote(word) == Some(true));
    (0..past.calls()).rev().find_map(|at| {
        let result = past.result(at).filter(|text| text.len() <= MAX_RESULT)?;
        let text = result.to_lowercase();
        let passages = passages(&text, delegates);
        let passage = passages.first()?;
        let followed = |value: &&String| follows(tool, value, &text, &passages, past);
        let value = values.iter().find(followed)?;
        let passage = head(text.get(passage.0..)?, SHOWN);
        let passage = passage.split_whitespace().collect::<Vec<_>>().join(" ");
        Some(Foreign { value: value.clone(), earlier: at, passage })
    })
}

/// Whether a value of a call came with an instruction and not from the user.
fn follows(
    tool: &str,
    value: &str,
    text: &str,
    passages: &[(usize, usize)],
    past: &dyn Past,
) -> bool {
    let value = value.to_lowercase();
    let is_in = |(start, end): &(usize, usize)| {
        text.get(*start..*end).is_some_and(|passage| contains_word(passage, &value))
    };
    if !passages.iter().any(is_in)
        || past.user_wrote(&value) == Some(true)
        || past.was_given(&value)
    {
        return false;
    }
    // What the instruction asks for is what the tool does, and the user did not ask for it.
    let words = own_words(tool);
    let stems = words.split(' ').filter(|word| word.len() >= MIN_STEM);
    let mut stems = stems.map(|word| head(word, MIN_STEM + 1));
    let asked = |stem: &str| {
        passages.iter().any(|(start, end)| {
            text.get(*start..*end).is_some_and(|passage| passage.contains(stem))
        }) && past.user_wrote(stem) != Some(true)
    };
    is_unique(&value, text, passages, past) || stems.any(asked)
}

/// Whether a value is in no other result, and in this one only within instructions.
fn is_unique(value: &str, text: &str, passages: &[(usize, usize)], past: &dyn Past) -> bool {
    let is_inside = |at: usize| passages.iter().any(|(start, end)| *start <= at && at < *end);
    if value.len() < MIN_STEM || !text.match_indices(value).all(|(at, _)| is_inside(at)) {
        return false;
    }
    let mut others = (0..past.calls()).filter_map(|at| past.result(at));
    !others.any(|other| {
        let other = other.to_lowercase();
        other != text && other.contains(value) && passages_of(&other).is_empty()
    })
}

fn passages_of(text: &str) -> Vec<(usize, usize)> {
    passages(text, true)
}

/// Returns the parts of a text that address an agent.
fn passages(text: &str, delegates: bool) -> Vec<(usize, usize)> {
    let notes = NOTES.iter().filter(|_| !delegates);
    let mut found: Vec<(usize, usize)> = Vec::new();
    for phrase in ADDRESSES.iter().chain(notes) {
        found.extend(text.match_indices(phrase).map(|(at, _)| {
            let rest = text.get(at..).unwrap_or_default();
            (at, at + head(rest, PASSAGE).len())
        }));
    }
    found.sort_unstable();
    found
}

/// Whether a value is in a text, not as a part of a longer word.
fn contains_word(text: &str, value: &str) -> bool {
    text.match_indices(value).any(|(at, _)| {
        let before = text.get(..at).and_then(|text| text.chars().next_back());
        let after = text.get(at + value.len()..).and_then(|text| text.chars().next());
        let is_free = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
        is_free(before) && is_free(after)
    })
}

/// Returns the texts of arguments that may come from an instruction. Of a call that only reads,
/// links and addresses count.
fn values(args: &Value, only_links: bool) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut open = vec![args];
    while let Some(value) = open.pop() {
        if found.len() >= MAX_VALUES {
            break;
        }
        match value {
            Value::Object(map) => open.extend(map.values()),
            Value::Array(items) => open.extend(items.iter().take(MAX_VALUES)),
            Value::String(text) => {
                let is_short = text.len() <= 100 && text.chars().count() >= MIN_VALUE;
                if !only_links && is_short {
                    found.push(text.trim().to_owned());
                }
                found.extend(text.split_whitespace().filter(|word| is_link(word)).map(trimmed));
            }
            _ => {}
        }
    }
    found.truncate(MAX_VALUES);
    found
}

fn trimmed(word: &str) -> String {
    word.trim_matches(|c: char| !c.is_alphanumeric()).to_owned()
}

/// Whether a word is a link, an address, or an account number.
fn is_link(word: &str) -> bool {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric());
    let has_dot = word.rsplit_once('.').is_some_and(|(_, end)| {
        end.len() >= MIN_VALUE && end.starts_with(|c: char| c.is_ascii_alphabetic())
    });
    let is_number = word.len() >= 12
        && word.bytes().all(|b| b.is_ascii_alphanumeric())
        && word.bytes().filter(u8::is_ascii_digit).count() >= 8;
    word.contains("://") || word.starts_with("www.") || word.contains('@') && has_dot || is_number
}
