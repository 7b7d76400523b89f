//! The words of a person or a model as lines of a terminal.

use crate::redact::Veil;
use crate::text::{head, sanitize, wrap_item};

/// At most so much is looked at where only a few lines are shown.
const GLANCE: usize = 8 << 10;

/// Text as lines of at most `room` columns. Where only the first `most` are
/// wanted, empty lines go, and the last says that there is more.
pub(super) fn lines(text: &str, room: usize, most: usize, veil: Veil) -> Vec<String> {
    if most == usize::MAX {
        let shown = veil.shown(text);
        return shown.trim().lines().flat_map(|line| wrap_item(&sanitize(line), room)).collect();
    }
    let glance = head(text, GLANCE);
    let shown = veil.shown(glance);
    let mut lines: Vec<String> = Vec::new();
    let mut more = glance.len() < text.len();
    for line in shown.lines().map(str::trim_end).filter(|l| !l.is_empty()) {
        lines.extend(wrap_item(&sanitize(line), room));
        if lines.len() > most {
            lines.truncate(most);
            more = true;
            break;
        }
    }
    if let Some(last) = lines.last_mut().filter(|_| more) {
        let mut cut = crate::text::cut(last, room.saturating_sub(2)).into_owned();
        if !cut.ends_with('\u{2026}') {
            cut.push_str(" \u{2026}");
        }
        *last = cut;
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_cut_says_so() {
        let veil = Veil::new(true);
        assert_eq!(lines("one\n\ntwo\n", 20, 3, veil), ["one", "two"]);
        assert_eq!(lines("one\n\ntwo\nthree", 20, 2, veil), ["one", "two \u{2026}"]);
        assert_eq!(lines("one\n\ntwo", 20, usize::MAX, veil), ["one", "", "two"]);
        assert_eq!(lines("aaaa bbbb cccc dddd", 9, 1, veil), ["aaaa b\u{2026}"]);
        assert_eq!(lines("password=hunter2", 30, 3, veil), ["password=[redacted]"]);
    }
}
