//! What is done with text that was not read: the commands that can be told
//! from its words are analyzed, so that depth does not hide them.

use crate::analyze::{Analyzer, Call};

/// Characters that end a command whatever surrounds them.
const ENDS: &[char] = &['\n', ';', '|', '&', '(', ')', '`', '{', '}'];

/// How many pieces are looked at.
const PIECES: usize = 200;

/// Analyzes every piece of a text between operators.
pub(crate) fn scan(text: &str, analyzer: &mut Analyzer<'_>) {
    let mut seen = 0;
    for piece in text.split(ENDS) {
        let piece = piece.trim().trim_matches(['"', '\'', '$']);
        if piece.is_empty() || !piece.contains(' ') {
            continue;
        }
        seen += 1;
        if seen > PIECES {
            return;
        }
        analyzer.text(piece, &Call::default());
    }
}
