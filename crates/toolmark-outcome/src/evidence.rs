//! Pointers into the trace: what decided a verdict.

use serde::Serialize;
use std::fmt;
use toolmark_trace::{Call, Location};

/// How many characters of arguments or text an excerpt keeps.
const EXCERPT: usize = 160;

/// What a piece of evidence says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// It is what was asked for.
    Matched,
    /// It should be there and is not.
    Missing,
    /// It should not be there.
    Violation,
    /// It was not asked for.
    Extra,
    /// It is nearly what was asked for.
    Mismatch,
    /// It helps to understand the verdict.
    Context,
}

impl Role {
    /// The word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Matched => "matched",
            Self::Missing => "missing",
            Self::Violation => "violation",
            Self::Extra => "extra",
            Self::Mismatch => "mismatch",
            Self::Context => "context",
        }
    }
}

/// A call as evidence names it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CallRef {
    /// Its place among the calls of the trajectory, from 0. Texts count from 1:
    /// [`Self::number`].
    pub index: usize,
    /// The step it belongs to, from 0. Texts count from 1: [`Self::step_number`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<u32>,
    /// Its id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The tool.
    pub tool: String,
    /// The beginning of its arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub args: Option<String>,
    /// How it ended.
    pub status: &'static str,
    /// Where it stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<Location>,
}

/// One pointer into the trace with what it shows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Evidence {
    /// What it says.
    pub role: Role,
    /// In words.
    pub text: String,
    /// The call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<CallRef>,
    /// The place, where it is no call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<Location>,
    /// The words of the trace it points at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub excerpt: Option<String>,
}

/// The beginning of a text on one line.
#[must_use]
pub fn excerpt(text: &str) -> String {
    let text = text.trim();
    if text.len() <= EXCERPT && is_plain(text) {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut chars = text.chars();
    let mut space = false;
    for (n, c) in chars.by_ref().enumerate() {
        if n == EXCERPT {
            out.push('…');
            return out;
        }
        if c.is_whitespace() {
            if !space {
                out.push(' ');
            }
            space = true;
        } else {
            out.push(c);
            space = false;
        }
    }
    out
}

/// Is the text one line of ASCII without runs of spaces?
fn is_plain(text: &str) -> bool {
    let mut last = 0;
    text.bytes().all(|b| {
        let runs_on = b == b' ' && last == b' ';
        last = b;
        b.is_ascii() && (b == b' ' || !b.is_ascii_control()) && !runs_on
    })
}

impl CallRef {
    /// A call by its index, and the place it stands at.
    #[must_use]
    pub fn new(index: usize, call: &Call, place: Option<Location>) -> Self {
        Self {
            index,
            step: call.step,
            id: call.id.as_ref().map(|id| id.get().into_owned()),
            tool: call.name.full().into_owned(),
            args: call.args.as_ref().map(|args| excerpt(&args.raw())),
            status: call.status.word(),
            place,
        }
    }
}

impl CallRef {
    /// The number that texts give it: calls are counted from 1.
    #[must_use]
    pub fn number(&self) -> usize {
        self.index + 1
    }

    /// The number that texts give its step: steps are counted from 1.
    #[must_use]
    pub fn step_number(&self) -> Option<u32> {
        self.step.map(|step| step + 1)
    }

    /// The call on one line: `#3 Bash [failed] {"command":"make"}`.
    #[must_use]
    pub fn summary(&self) -> String {
        let mut words = format!("#{} {}", self.number(), self.tool);
        if !matches!(self.status, "succeeded" | "unknown") {
            words.push_str(&format!(" [{}]", self.status));
        }
        if let Some(args) = &self.args {
            words.push(' ');
            words.push_str(args);
        }
        words
    }
}

impl Evidence {
    /// Where it points.
    #[must_use]
    pub fn location(&self) -> Option<&Location> {
        self.place.as_ref().or_else(|| self.call.as_ref()?.place.as_ref())
    }

    /// It in words, on one line.
    #[must_use]
    pub fn summary(&self) -> String {
        let mut words = self.text.clone();
        if let Some(made) = &self.call {
            words.push_str(if words.is_empty() { "" } else { ": " });
            words.push_str(&made.summary());
        }
        if let Some(excerpt) = &self.excerpt {
            words.push_str(&format!(" \u{201c}{excerpt}\u{201d}"));
        }
        words
    }
}

impl fmt::Display for CallRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "call {}", self.number())?;
        if let Some(step) = self.step_number() {
            write!(f, " (step {step})")?;
        }
        write!(f, " {}", self.tool)?;
        if let Some(args) = &self.args {
            write!(f, " {args}")?;
        }
        Ok(())
    }
}

impl Evidence {
    /// About a call.
    #[must_use]
    pub fn call(role: Role, text: impl Into<String>, call: CallRef) -> Self {
        Self { role, text: text.into(), call: Some(call), place: None, excerpt: None }
    }

    /// About something that is not in the trace.
    #[must_use]
    pub fn absence(text: impl Into<String>) -> Self {
        Self { role: Role::Missing, text: text.into(), call: None, place: None, excerpt: None }
    }

    /// About something that is no call: a budget, a file, a text.
    #[must_use]
    pub fn words(role: Role, text: impl Into<String>) -> Self {
        Self { role, text: text.into(), call: None, place: None, excerpt: None }
    }

    /// With the place it points at.
    #[must_use]
    pub fn at(mut self, place: Location) -> Self {
        self.place = Some(place);
        self
    }

    /// With the words it points at.
    #[must_use]
    pub fn with_excerpt(mut self, text: &str) -> Self {
        self.excerpt = Some(excerpt(text));
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excerpts_are_one_short_line() {
        assert_eq!(excerpt("  a\n\t b "), "a b");
        assert_eq!(excerpt(" a b  c "), "a b c");
        assert_eq!(excerpt(" a b c "), "a b c");
        let long = excerpt(&"é".repeat(400));
        assert_eq!(long.chars().count(), EXCERPT + 1);
    }
}
