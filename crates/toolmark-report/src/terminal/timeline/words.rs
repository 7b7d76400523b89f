//! Formats text of a user or a model as terminal lines.

use crate::terminal::text::{TextLayout, head};
use toolmark_redact::{Printable, Redactor, printable};

/// Maximum number of bytes processed if only a few lines are printed.
const GLANCE: usize = 8 << 10;

/// Wraps text into lines of at most `room` columns. If only the first `most` lines are requested,
/// empty lines are removed and the last line indicates that there is more.
pub(super) fn lines(text: &str, room: usize, most: usize, redactor: Redactor) -> Vec<Printable> {
    if most == usize::MAX {
        let shown = redactor.apply(text).reshape(str::trim);
        return shown.each_line().iter().flat_map(|line| line.wrap_item(room)).collect();
    }
    let glance = head(text, GLANCE);
    let mut lines: Vec<Printable> = Vec::new();
    let mut more = glance.len() < text.len();
    let shown = redactor.apply(glance).each_line();
    for line in shown.iter().map(|line| line.reshape(str::trim_end)).filter(|l| !l.is_empty()) {
        lines.extend(line.wrap_item(room));
        if lines.len() > most {
            lines.truncate(most);
            more = true;
            break;
        }
    }
    if let Some(last) = lines.last_mut().filter(|_| more) {
        let cut = last.cut(room.saturating_sub(2));
        let mark = if cut.ends_with('\u{2026}') { "" } else { " \u{2026}" };
        *last = printable!("{}{}", cut, mark);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_cut_says_so() {
        let redactor = Redactor::new(true);
        assert_eq!(lines("one\n\ntwo\n", 20, 3, redactor), ["one", "two"]);
        assert_eq!(lines("one\n\ntwo\nthree", 20, 2, redactor), ["one", "two \u{2026}"]);
        assert_eq!(lines("one\n\ntwo", 20, usize::MAX, redactor), ["one", "", "two"]);
        assert_eq!(lines("aaaa bbbb cccc dddd", 9, 1, redactor), ["aaaa b\u{2026}"]);
        assert_eq!(lines("password=hunter2", 30, 3, redactor), ["password=[redacted]"]);
    }
}
