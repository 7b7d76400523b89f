//! Compact JSON, written directly into a buffer: the same output as `serde_json`, with fewer steps
//! per key and string.

use serde::ser::{self, Serialize};
use serde_json::Error;

/// Writes compact JSON to a buffer.
pub(super) struct JsonWriter<'b>(pub(super) &'b mut Vec<u8>);

/// An open list or object.
pub(super) struct Compound<'b> {
    out: &'b mut Vec<u8>,
    is_first: bool,
    /// Closing bracket.
    end: u8,
    /// Whether the value belongs to an enum variant, which is itself an object.
    is_variant: bool,
}

/// Reserves space for `bytes` bytes. There nearly always is enough, so the fast path is inlined.
#[inline(always)]
fn make_room(out: &mut Vec<u8>, bytes: usize) {
    if out.capacity() - out.len() < bytes {
        grow(out, bytes);
    }
}

#[cold]
fn grow(out: &mut Vec<u8>, bytes: usize) {
    out.reserve(bytes);
}

fn put_number(out: &mut Vec<u8>, mut number: u64) {
    let mut digits = [0_u8; 20];
    let mut at = digits.len();
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
        at -= 1;
        if number == 0 {
            break;
        }
    }
    out.extend_from_slice(digits.get(at..).unwrap_or_default());
}

fn put_string(out: &mut Vec<u8>, text: &str) {
    let bytes = text.as_bytes();
    make_room(out, bytes.len() + 2);
    out.push(b'"');
    if is_plain(bytes) {
        out.extend_from_slice(bytes);
    } else {
        toolmark_scan::escape(text, out);
    }
    out.push(b'"');
}

/// Whether no byte needs escaping. Most strings are short words.
#[inline]
fn is_plain(bytes: &[u8]) -> bool {
    let is_special = |word: u64| has_control(word) | has_quote(word);
    if let Some(last) = bytes.last_chunk::<8>() {
        let mut eights = bytes.as_chunks::<8>().0.iter();
        !is_special(u64::from_le_bytes(*last))
            && !eights.any(|eight| is_special(u64::from_le_bytes(*eight)))
    } else if let (Some(first), Some(last)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        let [first, last] = [first, last].map(|four| u64::from(u32::from_le_bytes(*four)));
        !is_special(first | last << 32)
    } else {
        bytes.iter().all(|byte| !matches!(byte, 0..0x20 | b'"' | b'\\'))
    }
}

/// A one in each of eight bytes.
const ONES: u64 = u64::from_le_bytes([1; 8]);

/// Whether one of eight bytes is a control character.
#[inline]
fn has_control(word: u64) -> bool {
    word.wrapping_sub(ONES * 0x20) & !word & (ONES << 7) != 0
}

/// Whether one of eight bytes is a quote or a backslash.
#[inline]
fn has_quote(word: u64) -> bool {
    let zero = |word: u64| word.wrapping_sub(ONES) & !word;
    let quote = zero(word ^ (ONES * b'"' as u64));
    let slash = zero(word ^ (ONES * b'\\' as u64));
    (quote | slash) & (ONES << 7) != 0
}

impl<'b> JsonWriter<'b> {
    #[inline]
    fn compound(self, start: u8, end: u8) -> Compound<'b> {
        self.0.push(start);
        Compound { out: self.0, is_first: true, end, is_variant: false }
    }

    /// Writes `{"variant":`.
    fn variant(&mut self, variant: &str) {
        self.0.push(b'{');
        put_string(self.0, variant);
        self.0.push(b':');
    }
}

impl Compound<'_> {
    #[inline]
    fn comma(&mut self) {
        if !std::mem::take(&mut self.is_first) {
            self.out.push(b',');
        }
    }

    fn item(&mut self, value: &(impl Serialize + ?Sized)) -> Result<(), Error> {
        self.comma();
        value.serialize(JsonWriter(self.out))
    }

    /// Writes a field. Always inlined: the length of the key is known at the call site.
    #[inline(always)]
    fn field(&mut self, key: &'static str, value: &(impl Serialize + ?Sized)) -> Result<(), Error> {
        // Names of fields hold nothing that is escaped.
        make_room(self.out, key.len() + 4);
        self.comma();
        self.out.push(b'"');
        self.out.extend_from_slice(key.as_bytes());
        self.out.extend_from_slice(b"\":");
        value.serialize(JsonWriter(self.out))
    }

    #[inline]
    fn close(self) {
        self.out.push(self.end);
        if self.is_variant {
            self.out.push(b'}');
        }
    }
}

/// Implements integers.
macro_rules! whole {
    ($($unsigned:ident $signed:ident $un:ty, $si:ty;)*) => {
        $(
            fn $unsigned(self, number: $un) -> Result<(), Error> {
                put_number(self.0, u64::from(number));
                Ok(())
            }

            fn $signed(self, number: $si) -> Result<(), Error> {
                if number < 0 {
                    self.0.push(b'-');
                }
                put_number(self.0, u64::from(number.unsigned_abs()));
                Ok(())
            }
        )*
    };
}

impl<'b> ser::Serializer for JsonWriter<'b> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Compound<'b>;
    type SerializeTuple = Compound<'b>;
    type SerializeTupleStruct = Compound<'b>;
    type SerializeTupleVariant = Compound<'b>;
    type SerializeMap = Compound<'b>;
    type SerializeStruct = Compound<'b>;
    type SerializeStructVariant = Compound<'b>;

    whole! {
        serialize_u8 serialize_i8 u8, i8;
        serialize_u16 serialize_i16 u16, i16;
        serialize_u32 serialize_i32 u32, i32;
        serialize_u64 serialize_i64 u64, i64;
    }

    fn serialize_bool(self, value: bool) -> Result<(), Error> {
        self.0.extend_from_slice(if value { b"true" } else { b"false" });
        Ok(())
    }

    fn serialize_f32(self, number: f32) -> Result<(), Error> {
        serde_json::to_writer(self.0, &number)
    }

    fn serialize_f64(self, number: f64) -> Result<(), Error> {
        // Most scores and weights are one of these.
        if number == 1.0 {
            self.0.extend_from_slice(b"1.0");
            return Ok(());
        }
        if number == 0.0 && number.is_sign_positive() {
            self.0.extend_from_slice(b"0.0");
            return Ok(());
        }
        serde_json::to_writer(self.0, &number)
    }

    fn serialize_char(self, c: char) -> Result<(), Error> {
        self.serialize_str(c.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, text: &str) -> Result<(), Error> {
        put_string(self.0, text);
        Ok(())
    }

    fn serialize_bytes(self, bytes: &[u8]) -> Result<(), Error> {
        serde_json::to_writer(self.0, bytes)
    }

    fn serialize_none(self) -> Result<(), Error> {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Error> {
        self.0.extend_from_slice(b"null");
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Error> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<(), Error> {
        // As the names of fields are.
        make_room(self.0, variant.len() + 2);
        self.0.push(b'"');
        self.0.extend_from_slice(variant.as_bytes());
        self.0.push(b'"');
        Ok(())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        mut self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        self.variant(variant);
        value.serialize(JsonWriter(self.0))?;
        self.0.push(b'}');
        Ok(())
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Compound<'b>, Error> {
        Ok(self.compound(b'[', b']'))
    }

    fn serialize_tuple(self, _: usize) -> Result<Compound<'b>, Error> {
        Ok(self.compound(b'[', b']'))
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Compound<'b>, Error> {
        Ok(self.compound(b'[', b']'))
    }

    fn serialize_tuple_variant(
        mut self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Compound<'b>, Error> {
        self.variant(variant);
        Ok(Compound { is_variant: true, ..self.compound(b'[', b']') })
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Compound<'b>, Error> {
        Ok(self.compound(b'{', b'}'))
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Compound<'b>, Error> {
        Ok(self.compound(b'{', b'}'))
    }

    fn serialize_struct_variant(
        mut self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Compound<'b>, Error> {
        self.variant(variant);
        Ok(Compound { is_variant: true, ..self.compound(b'{', b'}') })
    }
}

/// Lists of any kind.
macro_rules! list {
    ($($kind:ident $add:ident;)*) => {
        $(impl ser::$kind for Compound<'_> {
            type Ok = ();
            type Error = Error;

            fn $add<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
                self.item(value)
            }

            fn end(self) -> Result<(), Error> {
                self.close();
                Ok(())
            }
        })*
    };
}

list! {
    SerializeSeq serialize_element;
    SerializeTuple serialize_element;
    SerializeTupleStruct serialize_field;
    SerializeTupleVariant serialize_field;
}

impl ser::SerializeMap for Compound<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Error> {
        self.comma();
        let start = self.out.len();
        key.serialize(JsonWriter(self.out))?;
        // Keys are texts, whatever they were.
        if self.out.get(start) != Some(&b'"') {
            self.out.insert(start, b'"');
            self.out.push(b'"');
        }
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.out.push(b':');
        value.serialize(JsonWriter(self.out))
    }

    fn end(self) -> Result<(), Error> {
        self.close();
        Ok(())
    }
}

/// Implements objects with named fields.
macro_rules! object {
    ($($kind:ident;)*) => {
        $(impl ser::$kind for Compound<'_> {
            type Ok = ();
            type Error = Error;

            #[inline(always)]
            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                key: &'static str,
                value: &T,
            ) -> Result<(), Error> {
                self.field(key, value)
            }

            fn end(self) -> Result<(), Error> {
                self.close();
                Ok(())
            }
        })*
    };
}

object! {
    SerializeStruct;
    SerializeStructVariant;
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};
    use toolmark_base::SortedMap;

    #[derive(serde::Serialize)]
    enum WriterKind {
        Unit,
        New(u8),
        Pair(i8, char),
        Named { a: Option<u16>, b: () },
    }

    #[derive(serde::Serialize)]
    struct All<'a> {
        kinds: Vec<WriterKind>,
        numbers: (u64, i64, f64, f32, f64, i32),
        floats: [f64; 5],
        text: &'a str,
        none: Option<u8>,
        by_number: SortedMap<u8, bool>,
        empty: SortedMap<String, u8>,
        list: [u8; 0],
        any: Value,
    }

    #[test]
    fn it_writes_what_serde_json_writes() {
        let controls: String = (0..0x21_u8).map(char::from).collect();
        let texts = [
            "",
            "plain",
            "a \"quoted\" \\ and é \u{7f} \u{202e} 日本",
            "exactly8",
            "\"2345678\"",
            "123456\n89",
            "\u{80}\u{a2}\u{dc} bytes that look like others\u{1ff}",
            &controls,
        ];
        for text in texts {
            let all = All {
                kinds: vec![
                    WriterKind::Unit,
                    WriterKind::New(3),
                    WriterKind::Pair(-4, '\t'),
                    WriterKind::Named { a: Some(5), b: () },
                    WriterKind::Named { a: None, b: () },
                ],
                numbers: (u64::MAX, i64::MIN, 1.0, 0.1, f64::NAN, -70),
                floats: [0.0, -0.0, -1.0, 0.95, 1e300],
                text,
                none: None,
                by_number: SortedMap::from([(0, true), (7, false)]),
                empty: SortedMap::new(),
                list: [],
                any: json!({"a": [1, -1, 2.5, null, {"": text}], text: []}),
            };
            let mut out = b"before ".to_vec();
            all.serialize(JsonWriter(&mut out)).unwrap();
            let written = format!("before {}", serde_json::to_string(&all).unwrap());
            assert_eq!(String::from_utf8(out).unwrap(), written);
        }
    }
}
