//! # What it does
//!
//! Finds text that was escaped once too often before it was written: the
//! content of a file or of a notebook cell contains a literal `\n` where line
//! breaks belong, and no real line break at all.
//!
//! # Why
//!
//! The call succeeds, but the file is one long line that no program can read.
//! This is noticed late, when the file is opened.
//!
//! # What to do
//!
//! Pass the text exactly as it should appear in the file, and look at the file
//! after the first such write.
//!
//! # Examples
//!
//! ```fires
//! NotebookEdit {"notebook_path":"/w/a.ipynb","cell_number":1,"new_source":"# Title\\n\\nSome words about it.\\n- one\\n- two\\n- three"} -> "Updated cell 1"
//! ```
//!
//! ```fires
//! Write {"file_path":"/w/a.py","content":"import os\\nimport sys\\n\\ndef main():\\n    print(1)\\n\\nmain()\\n"} -> "ok"
//! ```
//!
//! ```fires
//! host: copilot-cli
//! create {"path":"/w/a.md","file_text":"# A\\n\\nwords and more words\\n\\n## B\\n\\nwords and more words"} -> "ok"
//! ```
//!
//! ```quiet
//! Write {"file_path":"/w/a.py","content":"import os\nprint('a\\nb\\nc\\nd')\n"} -> "ok"
//! ```
//!
//! ```quiet
//! Write {"file_path":"/w/a.json","content":"{\"text\":\"a\\nb\\nc\\nd\\ne and some more words here\"}"} -> "ok"
//! ```
//!
//! ```quiet
//! Write {"file_path":"/w/a.txt","content":"one line"} -> "ok"
//! ```
//!
//! One line with a quoted string:
//!
//! ```quiet
//! Write {"file_path":"/w/.env","content":"KEY=\"-----BEGIN-----\\na\\nb\\nc\\n-----END-----\\n\""} -> "ok"
//! Write {"file_path":"/w/a.js","content":"module.exports = 'one\\ntwo\\nthree\\nfour\\nfive';"} -> "ok"
//! ```
//!
//! ```fires
//! Write {"file_path":"/w/a.md","content":"It's a title\\n\\nand it's a \"text\"\\n\\nof lines"} -> "ok"
//! ```

use crate::recorder::{Draft, Recorder};
use crate::rule::{Rule, page};
use toolmark_outcome::{Axis, Confidence, Severity};
use toolmark_session::session::{Session, SessionCall};

pub(crate) static RULE: Rule = Rule {
    code: "A213",
    name: "escaped-content",
    axis: Axis::Arguments,
    severity: Severity::Error,
    confidence: Confidence::High,
    summary: "content contains a literal `\\n` instead of line breaks",
    remedy: "pass the text exactly as it should appear in the file",
    source: page!("a213_escaped_content.rs"),
    check,
};

/// Minimum number of escaped line breaks that is a mistake.
const MANY: usize = 4;

fn check(session: &Session<'_>, recorder: &mut Recorder<'_, '_>) {
    for call in session.calls() {
        let Some(content) = content(call) else { continue };
        recorder.count_opportunity(call);
        if is_escaped(content) {
            let path = call.path.as_deref().map_or("the file", |path| session.shown(path));
            let message = format!("{path} gets one line with its line breaks spelled out");
            recorder.find(Draft::new(call, message));
        }
    }
}

/// Returns the text that a call writes as the whole content of a file.
fn content<'a>(call: &SessionCall<'a>) -> Option<&'a str> {
    call.content().or_else(|| call.args()?.get("new_source")?.as_str())
}

fn is_escaped(content: &str) -> bool {
    let text = content.trim();
    // Formats that store text in one line escape it themselves.
    let is_data = text.starts_with(['{', '[', '"']);
    !is_data && !text.contains('\n') && text.matches("\\n").count() >= MANY && !is_in_string(text)
}

/// Whether all escaped line breaks are in one quoted text, which ends after the last one.
fn is_in_string(text: &str) -> bool {
    let (Some(first), Some(last)) = (text.find("\\n"), text.rfind("\\n")) else { return false };
    let (Some(before), Some(after)) = (text.get(..first), text.get(last..)) else { return false };
    let mut open: Option<char> = None;
    let mut previous = ' ';
    for c in before.chars() {
        match open {
            Some(quote) if c == quote && previous != '\\' => open = None,
            // An apostrophe inside a word is not a quote.
            None if matches!(c, '"' | '\'' | '`') && !previous.is_alphanumeric() => open = Some(c),
            _ => {}
        }
        previous = c;
    }
    open.is_some_and(|quote| after.contains(quote))
}
