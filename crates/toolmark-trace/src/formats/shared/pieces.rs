//! Text that a stream delivers in pieces.

use crate::model::{At, Payload, Text};
use jiff::Timestamp;

/// A message whose pieces are still being read. A message of one piece is not copied; only a
/// message of several pieces is.
#[derive(Debug)]
pub(crate) struct MessagePieces {
    first: Payload,
    joined: Option<String>,
    time: Option<Timestamp>,
    at: At,
}

/// Adds a piece to the message in `slot`, or starts a new one.
pub(crate) fn add(
    slot: &mut Option<MessagePieces>,
    piece: Payload,
    time: Option<Timestamp>,
    at: At,
) {
    match slot {
        None => *slot = Some(MessagePieces { first: piece, joined: None, time, at }),
        Some(pieces) => {
            let joined = pieces.joined.get_or_insert_with(|| pieces.first.plain().into_owned());
            joined.push_str(&piece.plain());
        }
    }
}

impl MessagePieces {
    /// Returns whether `text` repeats the whole message so far.
    pub(crate) fn is(&self, text: &str) -> bool {
        match &self.joined {
            Some(joined) => joined == text,
            None => self.first.plain() == text,
        }
    }

    /// Returns the message, its first time and its position.
    pub(crate) fn close(self) -> (Payload, Option<Timestamp>, At) {
        let text = match self.joined {
            Some(joined) => Payload::text(Text::owned(joined)),
            None => self.first,
        };
        (text, self.time, self.at)
    }
}
