//! JSON of the log: secrets masked, long texts cut, size limited to that of a record. Written
//! directly into the line.

use serde_json::Value;
use toolmark_base::text::head;
use toolmark_redact::{MASK, moved, redact, redact_named};

/// Number of bytes after a cut that are searched for a secret across the cut.
const OVERLAP: usize = 1 << 10;
/// Minimum number of bytes kept of a text, regardless of other fields.
const MIN_TEXT: usize = 256;
/// Size assumed for quotes, commas, brackets and numbers.
const BARE: usize = 4;
/// Maximum nesting depth; deeper values are omitted.
const DEPTH: usize = 32;

/// Writes one object, field by field.
pub(super) struct Object<'o> {
    out: &'o mut Vec<u8>,
    begun: bool,
}

impl<'o> Object<'o> {
    pub(super) fn begin(out: &'o mut Vec<u8>) -> Self {
        out.push(b'{');
        Self { out, begun: false }
    }

    pub(super) fn end(self) {
        self.out.push(b'}');
    }

    /// Starts the next field; its value has to follow.
    pub(super) fn key(&mut self, key: &str) -> &mut Vec<u8> {
        if self.begun {
            self.out.push(b',');
        }
        self.begun = true;
        quoted(self.out, key);
        self.out.push(b':');
        self.out
    }

    /// Writes a text, masked and cut.
    pub(super) fn text(&mut self, key: &str, value: &str, most: usize) {
        text(self.key(key), value, most);
    }

    /// Writes an optional text.
    pub(super) fn maybe(&mut self, key: &str, value: Option<&str>, most: usize) {
        if let Some(value) = value {
            self.text(key, value, most);
        }
    }

    /// Writes a fixed word, without masking.
    pub(super) fn word(&mut self, key: &str, word: &str) {
        quoted(self.key(key), word);
    }

    pub(super) fn number(&mut self, key: &str, number: u64) {
        self.key(key).extend_from_slice(number.to_string().as_bytes());
    }
}

fn quoted(out: &mut Vec<u8>, text: &str) {
    // A vector takes whatever is written to it.
    let _ = serde_json::to_writer(out, text);
}

/// Writes a text with its secrets masked; for a long one, the first `most` bytes and a mark with
/// the number of missing bytes.
pub(super) fn text(out: &mut Vec<u8>, text: &str, most: usize) {
    if text.len() <= most {
        return quoted(out, &redact(text));
    }
    let seen = head(text, most.saturating_add(OVERLAP));
    let kept = head(text, most).len();
    let shown = redact(seen);
    let shown = head(&shown, moved(seen, kept));
    quoted(out, &format!("{shown}… [{} bytes cut]", text.len() - kept));
}

/// Writes a value in at most `most` bytes. Long texts are cut first; if that is not enough, the
/// last parts are omitted.
pub(super) fn value(out: &mut Vec<u8>, value: &Value, most: usize) {
    let excess = size(value).saturating_sub(most);
    AuditValues { out, excess, left: Some(most) }.value(None, value, DEPTH);
}

/// Returns the approximate number of bytes of a value, without escapes.
fn size(value: &Value) -> usize {
    let mut size = 0;
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        match value {
            Value::String(text) => size += text.len(),
            Value::Array(items) => open.extend(items),
            Value::Object(map) => {
                open.extend(map.values());
                size += map.keys().map(|key| key.len() + BARE).sum::<usize>();
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
        size += BARE;
    }
    size
}

struct AuditValues<'o> {
    out: &'o mut Vec<u8>,
    /// Number of bytes that still have to be cut from texts.
    excess: usize,
    /// Number of bytes that may still be written; `None` when the limit is reached.
    left: Option<usize>,
}

impl AuditValues<'_> {
    fn is_full(&self, depth: usize) -> bool {
        self.left.is_none() || depth == 0
    }

    fn spend(&mut self, bytes: usize) {
        self.left = self.left.and_then(|left| left.checked_sub(bytes + BARE));
    }

    fn value(&mut self, name: Option<&str>, value: &Value, depth: usize) {
        if !value.is_string() {
            self.spend(0);
        }
        match value {
            Value::String(text) => self.string(name, text),
            Value::Array(items) => {
                self.out.push(b'[');
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        self.out.push(b',');
                    }
                    if self.is_full(depth) {
                        quoted(self.out, &format!("… [{} cut]", items.len() - index));
                        break;
                    }
                    self.value(name, item, depth - 1);
                }
                self.out.push(b']');
            }
            Value::Object(map) => {
                self.out.push(b'{');
                for (index, (key, item)) in map.iter().enumerate() {
                    if index > 0 {
                        self.out.push(b',');
                    }
                    if self.is_full(depth) {
                        quoted(self.out, "…");
                        self.out.push(b':');
                        quoted(self.out, &format!("[{} cut]", map.len() - index));
                        break;
                    }
                    text(self.out, key, MIN_TEXT);
                    self.spend(key.len().min(MIN_TEXT));
                    self.out.push(b':');
                    self.value(Some(key), item, depth - 1);
                }
                self.out.push(b'}');
            }
            Value::Number(number) => {
                let plain = number.to_string();
                match name.map(|name| redact_named(name, &plain)) {
                    Some(masked) if masked != plain => quoted(self.out, &masked),
                    _ => self.out.extend_from_slice(plain.as_bytes()),
                }
            }
            Value::Null | Value::Bool(_) => {
                self.out.extend_from_slice(value.to_string().as_bytes())
            }
        }
    }

    fn string(&mut self, name: Option<&str>, string: &str) {
        if name.is_some_and(|name| redact_named(name, head(string, MIN_TEXT)) == MASK) {
            self.excess = self.excess.saturating_sub(string.len());
            return quoted(self.out, MASK);
        }
        let cut = self.excess.min(string.len().saturating_sub(MIN_TEXT));
        self.excess -= cut;
        self.spend(string.len() - cut);
        text(self.out, string, string.len() - cut);
    }
}
