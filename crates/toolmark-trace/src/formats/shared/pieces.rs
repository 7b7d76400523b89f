//! Words that a stream delivers in pieces.

use crate::model::{At, Payload, Text};
use jiff::Timestamp;

/// A message whose pieces are still coming. A message of one piece stays where
/// it is in the file; only one of several pieces is copied.
#[derive(Debug)]
pub(crate) struct Pieces {
    first: Payload,
    joined: Option<String>,
    time: Option<Timestamp>,
    at: At,
}

/// Adds a piece to the message in `slot`, or begins one.
pub(crate) fn add(slot: &mut Option<Pieces>, piece: Payload, time: Option<Timestamp>, at: At) {
    match slot {
        None => *slot = Some(Pieces { first: piece, joined: None, time, at }),
        Some(pieces) => {
            let joined = pieces.joined.get_or_insert_with(|| pieces.first.plain().into_owned());
            joined.push_str(&piece.plain());
        }
    }
}

impl Pieces {
    /// Is `text` the whole message so far, once more?
    pub(crate) fn is(&self, text: &str) -> bool {
        match &self.joined {
            Some(joined) => joined == text,
            None => self.first.plain() == text,
        }
    }

    /// The message, its first time and its place.
    pub(crate) fn close(self) -> (Payload, Option<Timestamp>, At) {
        let text = match self.joined {
            Some(joined) => Payload::text(Text::owned(joined)),
            None => self.first,
        };
        (text, self.time, self.at)
    }
}
