//! Fallback for text that was not parsed: commands that can be recognized by their words are
//! analyzed, so that nesting does not hide them.

use crate::analyze::{Analyzer, CommandContext};

/// Characters that end a command in any context.
const ENDS: &[char] = &['\n', ';', '|', '&', '(', ')', '`', '{', '}'];

/// Maximum number of pieces analyzed.
const MAX_PIECES: usize = 200;

/// Analyzes every piece of text between operators.
pub(crate) fn scan(text: &str, analyzer: &mut Analyzer<'_>) {
    let mut seen = 0;
    for piece in text.split(ENDS) {
        let piece = piece.trim().trim_matches(['"', '\'', '$']);
        if piece.is_empty() || !piece.contains(' ') {
            continue;
        }
        seen += 1;
        if seen > MAX_PIECES {
            return;
        }
        analyzer.text(piece, &CommandContext::default());
    }
}
