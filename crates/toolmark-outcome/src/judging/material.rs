//! What a judge is shown.

use crate::evidence::{CallRef, Evidence, Role};
use crate::place::TracePlace;
use toolmark_redact::Untrusted;

/// A text with the place of the trace it was taken from.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Piece {
    /// The text.
    pub text: String,
    /// Who or what it is of, where a material has entries of several: `user`,
    /// `result of call 3: succeeded`. It is shown in brackets before the text, with a
    /// code that the text cannot contain.
    pub label: Option<String>,
    /// The call it belongs to.
    pub call: Option<CallRef>,
    /// Where it stands, if it belongs to no call.
    pub place: Option<TracePlace>,
}

impl Piece {
    /// A text from nowhere in particular.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// An entry of a material that has several.
    #[must_use]
    pub fn labelled(label: impl Into<String>, text: impl Into<String>) -> Self {
        Self { label: Some(label.into()), ..Self::new(text) }
    }

    /// Evidence that a quote of this piece makes.
    #[must_use]
    pub fn evidence(&self, text: impl Into<Untrusted>, quote: &str) -> Evidence {
        let evidence = match &self.call {
            Some(call) => Evidence::call(Role::Context, text, call.clone()),
            None => Evidence::words(Role::Context, text),
        };
        let evidence = match &self.place {
            Some(place) if self.call.is_none() => evidence.at(place.clone()),
            _ => evidence,
        };
        evidence.with_excerpt(quote)
    }
}

/// Something a judge is shown, under a name.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Material {
    /// What it is called, such as `user_request`.
    pub name: String,
    /// Its text, in order.
    pub pieces: Vec<Piece>,
    /// Is it of the trace? Only then does a quote of it prove anything; a
    /// reference answer of the spec does not.
    pub is_trace: bool,
    /// What was left out of it, in words.
    pub left_out: Option<String>,
    /// The names its value goes by: what is called a password is one, whatever it
    /// looks like.
    pub keys: Vec<String>,
}

impl Material {
    /// A part of the trace.
    #[must_use]
    pub fn of_trace(name: impl Into<String>, pieces: Vec<Piece>) -> Self {
        Self { name: name.into(), pieces, is_trace: true, ..Self::default() }
    }

    /// Something the spec or its author provides.
    #[must_use]
    pub fn of_spec(name: impl Into<String>, text: impl Into<String>) -> Self {
        let pieces = vec![Piece::new(text)];
        Self { name: name.into(), pieces, ..Self::default() }
    }

    /// Is there no text in it?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pieces.iter().all(|piece| piece.text.trim().is_empty())
    }
}
