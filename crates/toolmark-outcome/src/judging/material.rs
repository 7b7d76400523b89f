//! Material shown to a judge.

use crate::evidence::{CallRef, Evidence, EvidenceRole};
use crate::place::TracePlace;
use toolmark_redact::Untrusted;

/// A text with its position in the trace.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TextPiece {
    /// The text.
    pub text: String,
    /// Author or origin of the text, in material with several entries, such as `user` or
    /// `result of call 3: succeeded`. It is shown in brackets before the text, with a code
    /// that the text cannot contain.
    pub label: Option<String>,
    /// The call to which the text belongs.
    pub call: Option<CallRef>,
    /// Position in the trace, if the text belongs to no call.
    pub place: Option<TracePlace>,
}

impl TextPiece {
    /// Creates a text without a position.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// Creates a labelled entry of material with several entries.
    #[must_use]
    pub fn labelled(label: impl Into<String>, text: impl Into<String>) -> Self {
        Self { label: Some(label.into()), ..Self::new(text) }
    }

    /// Creates evidence from a quote of this piece.
    #[must_use]
    pub fn evidence(&self, text: impl Into<Untrusted>, quote: &str) -> Evidence {
        let evidence = match &self.call {
            Some(call) => Evidence::call(EvidenceRole::Context, text, call.clone()),
            None => Evidence::words(EvidenceRole::Context, text),
        };
        let evidence = match &self.place {
            Some(place) if self.call.is_none() => evidence.at(place.clone()),
            _ => evidence,
        };
        evidence.with_excerpt(quote)
    }
}

/// Named material that is shown to a judge.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Material {
    /// Name, such as `user_request`.
    pub name: String,
    /// Pieces of text, in order.
    pub pieces: Vec<TextPiece>,
    /// Whether the material comes from the trace. Only quotes of the trace are proof; quotes
    /// of a reference answer in the spec are not.
    pub is_trace: bool,
    /// Description of the omitted part.
    pub left_out: Option<String>,
    /// Keys under which the value is stored: the value of a key named password is redacted
    /// whatever it looks like.
    pub keys: Vec<String>,
}

impl Material {
    /// Creates material from the trace.
    #[must_use]
    pub fn of_trace(name: impl Into<String>, pieces: Vec<TextPiece>) -> Self {
        Self { name: name.into(), pieces, is_trace: true, ..Self::default() }
    }

    /// Creates material from the spec or its author.
    #[must_use]
    pub fn of_spec(name: impl Into<String>, text: impl Into<String>) -> Self {
        let pieces = vec![TextPiece::new(text)];
        Self { name: name.into(), pieces, ..Self::default() }
    }

    /// Whether the material has no text.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pieces.iter().all(|piece| piece.text.trim().is_empty())
    }
}
