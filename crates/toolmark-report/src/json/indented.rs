//! Indented JSON with the layout of `serde_json`.
//!
//! The formatter of `serde_json` writes every two spaces of indentation separately; this one writes
//! the comma, the line break and all spaces at once.

use serde_json::ser::Formatter;
use std::io::{self, Write};

/// Formats objects and lists with two spaces per level.
#[derive(Default)]
pub(super) struct Indented {
    depth: usize,
    /// Whether the innermost open object or list has a value.
    has_value: bool,
}

/// Longest separator before a value: a comma, a line break, and the spaces of 32 levels.
const BREAK: &[u8; 66] = b",\n                                                                ";

impl Indented {
    /// Begins a line, with or without a comma before it.
    #[inline]
    fn break_line<W: ?Sized + Write>(&self, out: &mut W, after_comma: bool) -> io::Result<()> {
        let start = usize::from(!after_comma);
        let length = 2 + 2 * self.depth;
        match BREAK.get(start..length) {
            Some(line) => out.write_all(line),
            None => {
                out.write_all(BREAK.get(start..).unwrap_or_default())?;
                (BREAK.len()..length).try_for_each(|_| out.write_all(b" "))
            }
        }
    }

    fn begin<W: ?Sized + Write>(&mut self, out: &mut W, sign: &[u8]) -> io::Result<()> {
        self.depth += 1;
        self.has_value = false;
        out.write_all(sign)
    }

    fn end<W: ?Sized + Write>(&mut self, out: &mut W, sign: &[u8]) -> io::Result<()> {
        self.depth -= 1;
        if self.has_value {
            self.break_line(out, false)?;
        }
        out.write_all(sign)
    }
}

impl Formatter for Indented {
    fn begin_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.begin(out, b"[")
    }

    fn end_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.end(out, b"]")
    }

    #[inline]
    fn begin_array_value<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.break_line(out, !first)
    }

    #[inline]
    fn end_array_value<W: ?Sized + Write>(&mut self, _out: &mut W) -> io::Result<()> {
        self.has_value = true;
        Ok(())
    }

    fn begin_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.begin(out, b"{")
    }

    fn end_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.end(out, b"}")
    }

    #[inline]
    fn begin_object_key<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.break_line(out, !first)
    }

    #[inline]
    fn begin_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        out.write_all(b": ")
    }

    #[inline]
    fn end_object_value<W: ?Sized + Write>(&mut self, _out: &mut W) -> io::Result<()> {
        self.has_value = true;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Serialize;
    use serde_json::{Serializer, json};

    #[test]
    fn it_is_laid_out_as_by_serde_json() {
        let mut deep =
            json!({"a": [], "b": {}, "c": [1, [2, {"d": null}], "x\ny"], "e": {"f": {}}});
        for _ in 0..20 {
            deep = json!({"in": [deep, true]});
        }
        for value in [json!(1), json!([]), json!({}), json!([[], {}]), deep] {
            let mut out = Vec::new();
            let mut serializer = Serializer::with_formatter(&mut out, Indented::default());
            value.serialize(&mut serializer).unwrap();
            assert_eq!(
                String::from_utf8(out).unwrap(),
                serde_json::to_string_pretty(&value).unwrap()
            );
        }
    }
}
