//! What is done with text that was not read: the commands that can be told
//! from its words are judged, so that depth does not hide them.

use crate::judge::{Call, Judge};

/// Characters that end a command whatever surrounds them.
const ENDS: &[char] = &['\n', ';', '|', '&', '(', ')', '`', '{', '}'];

/// How many pieces are looked at.
const PIECES: usize = 200;

/// Judges the pieces of a text between operators, wherever they stand.
pub(crate) fn scan(text: &str, judge: &mut Judge<'_>) {
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
        judge.text(piece, &Call::default());
    }
}
