//! Writes JSON to a stream directly, without building a tree.

use crate::model::{Form, Payload};
use jiff::Timestamp;
use serde::Serialize;
use std::borrow::Cow;
use std::io::{self, Write};

/// The members of an object that is being written.
pub(super) struct JsonMembers<'w> {
    out: &'w mut dyn Write,
    empty: bool,
}

impl<'w> JsonMembers<'w> {
    /// Writes one object and a line feed.
    pub(super) fn line(
        out: &'w mut dyn Write,
        members: impl FnOnce(&mut JsonMembers<'_>) -> io::Result<()>,
    ) -> io::Result<()> {
        Self::braces(out, members)?;
        out.write_all(b"\n")
    }

    /// Returns an array of objects as text, for targets that store JSON in strings.
    pub(super) fn text_of_array<T>(
        items: impl IntoIterator<Item = T>,
        mut each: impl FnMut(&mut JsonMembers<'_>, T) -> io::Result<()>,
    ) -> io::Result<String> {
        let mut bytes = Vec::new();
        Self::brackets(&mut bytes, items, &mut each)?;
        String::from_utf8(bytes).map_err(io::Error::other)
    }

    fn braces(
        out: &mut dyn Write,
        members: impl FnOnce(&mut JsonMembers<'_>) -> io::Result<()>,
    ) -> io::Result<()> {
        out.write_all(b"{")?;
        members(&mut JsonMembers { out, empty: true })?;
        out.write_all(b"}")
    }

    fn brackets<T>(
        out: &mut dyn Write,
        items: impl IntoIterator<Item = T>,
        each: &mut impl FnMut(&mut JsonMembers<'_>, T) -> io::Result<()>,
    ) -> io::Result<()> {
        out.write_all(b"[")?;
        for (i, item) in items.into_iter().enumerate() {
            if i > 0 {
                out.write_all(b",")?;
            }
            Self::braces(out, |w| each(w, item))?;
        }
        out.write_all(b"]")
    }

    fn key(&mut self, key: &str) -> io::Result<()> {
        if !std::mem::replace(&mut self.empty, false) {
            self.out.write_all(b",")?;
        }
        serde_json::to_writer(&mut *self.out, key)?;
        self.out.write_all(b":")
    }

    /// Writes a member.
    pub(super) fn put<T: Serialize + ?Sized>(&mut self, key: &str, value: &T) -> io::Result<()> {
        self.key(key)?;
        Ok(serde_json::to_writer(&mut *self.out, value)?)
    }

    /// Writes a member if it has a value.
    pub(super) fn opt<T: Serialize>(&mut self, key: &str, value: Option<T>) -> io::Result<()> {
        value.map_or(Ok(()), |value| self.put(key, &value))
    }

    /// Writes a time in the format of [`iso`].
    pub(super) fn time(&mut self, key: &str, time: Option<Timestamp>) -> io::Result<()> {
        self.opt(key, time.map(iso))
    }

    /// Writes a member whose value is already JSON text.
    pub(super) fn raw(&mut self, key: &str, json: &str) -> io::Result<()> {
        self.key(key)?;
        self.out.write_all(json.as_bytes())
    }

    /// Writes a payload unchanged: JSON as a value, text as a string.
    pub(super) fn payload(&mut self, key: &str, payload: &Payload) -> io::Result<()> {
        let raw = payload.raw();
        match (payload.form(), portable(&raw)) {
            (Form::Json, Some(json)) => self.raw(key, &json),
            _ => self.put(key, &raw),
        }
    }

    /// Writes a member that is an object.
    pub(super) fn object(
        &mut self,
        key: &str,
        members: impl FnOnce(&mut JsonMembers<'_>) -> io::Result<()>,
    ) -> io::Result<()> {
        self.key(key)?;
        Self::braces(self.out, members)
    }

    /// Writes a member that is an array of objects.
    pub(super) fn array<T>(
        &mut self,
        key: &str,
        items: impl IntoIterator<Item = T>,
        mut each: impl FnMut(&mut JsonMembers<'_>, T) -> io::Result<()>,
    ) -> io::Result<()> {
        self.key(key)?;
        Self::brackets(self.out, items, &mut each)
    }
}

/// Formats a time in UTC with three, six or nine fractional digits: the format that
/// JavaScript writes and older Python reads.
pub(super) fn iso(time: Timestamp) -> String {
    match time.subsec_nanosecond() {
        n if n % 1_000_000 == 0 => format!("{time:.3}"),
        n if n % 1_000 == 0 => format!("{time:.6}"),
        _ => format!("{time:.9}"),
    }
}

/// Returns JSON on one line that common parsers accept; `None` for JSON that only lenient
/// parsers accept (`NaN`, half a surrogate pair, very deep nesting). White space between
/// tokens is removed if it contains a line break.
pub(super) fn portable(json: &str) -> Option<Cow<'_, str>> {
    strict::check(json).ok()?;
    Some(if json.contains(['\n', '\r']) {
        Cow::Owned(without_space(json))
    } else {
        Cow::Borrowed(json)
    })
}

fn without_space(json: &str) -> String {
    let mut in_string = false;
    let mut escaped = false;
    let keep = |c: &char| {
        if in_string {
            in_string = escaped || *c != '"';
            escaped = !escaped && *c == '\\';
            return true;
        }
        in_string = *c == '"';
        !matches!(c, ' ' | '\t' | '\n' | '\r')
    };
    json.chars().filter(keep).collect()
}

/// Validates JSON without building values.
mod strict {
    use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
    use std::fmt;

    /// Maximum depth of portable values. Deeper values are left to lenient parsers: a payload
    /// is already nested some levels deep in its line, and many parsers stop at 128.
    const MAX_DEPTH: u8 = 64;

    pub(super) fn check(json: &str) -> serde_json::Result<()> {
        let mut parser = serde_json::Deserializer::from_str(json);
        Strict { room: MAX_DEPTH }.deserialize(&mut parser)?;
        parser.end()
    }

    #[derive(Clone, Copy)]
    struct Strict {
        room: u8,
    }

    impl Strict {
        fn inside<E: Error>(self) -> Result<Self, E> {
            let room = self.room.checked_sub(1);
            room.map(|room| Self { room }).ok_or_else(|| E::custom("nested too deep"))
        }
    }

    impl<'de> DeserializeSeed<'de> for Strict {
        type Value = ();

        fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
            from.deserialize_any(self)
        }
    }

    impl<'de> Visitor<'de> for Strict {
        type Value = ();

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a JSON value")
        }

        fn visit_bool<E>(self, _: bool) -> Result<(), E> {
            Ok(())
        }

        fn visit_i64<E>(self, _: i64) -> Result<(), E> {
            Ok(())
        }

        fn visit_u64<E>(self, _: u64) -> Result<(), E> {
            Ok(())
        }

        fn visit_f64<E>(self, _: f64) -> Result<(), E> {
            Ok(())
        }

        fn visit_str<E>(self, _: &str) -> Result<(), E> {
            Ok(())
        }

        fn visit_unit<E>(self) -> Result<(), E> {
            Ok(())
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
            let inside = self.inside()?;
            while items.next_element_seed(inside)?.is_some() {}
            Ok(())
        }

        fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
            let inside = self.inside()?;
            while members.next_entry_seed(inside, inside)?.is_some() {}
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_every_parser_takes_stays_as_it_is() {
        for json in [
            r#"{"a": 1.0, "b":[1e3,"\ud83d\ude00"]}"#,
            "null",
            "\"x\"",
            "123456789012345678901234567890",
        ] {
            assert_eq!(portable(json).as_deref(), Some(json));
        }
        assert_eq!(
            portable("{\n  \"a b\": [ 1,\r\n 2 ], \"c\\\"\\\\\": \" d\\n\" }").as_deref(),
            Some(r#"{"a b":[1,2],"c\"\\":" d\n"}"#)
        );
    }

    #[test]
    fn what_some_parsers_refuse_is_not_portable() {
        let deep = format!("{}{}", "[".repeat(65), "]".repeat(65));
        for json in ["NaN", "[1,]", r#""\ud83d""#, "\"a\nb\"", "1e999", "", &deep] {
            assert_eq!(portable(json), None, "{json}");
        }
        let less = format!("{}{}", "[".repeat(64), "]".repeat(64));
        assert!(portable(&less).is_some());
    }

    #[test]
    fn times_have_three_six_or_nine_digits() {
        for (time, want) in [
            ("2026-01-31T23:59:59Z", "2026-01-31T23:59:59.000Z"),
            ("2026-01-31T23:59:59.5Z", "2026-01-31T23:59:59.500Z"),
            ("2026-01-31T23:59:59.000001Z", "2026-01-31T23:59:59.000001Z"),
            ("2026-01-31T23:59:59.000000001Z", "2026-01-31T23:59:59.000000001Z"),
        ] {
            assert_eq!(iso(time.parse().unwrap()), want);
        }
    }
}
