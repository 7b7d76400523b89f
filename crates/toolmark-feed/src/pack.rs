//! A compact encoding of numbers and texts: numbers in as many bytes as needed, each text once.

use std::collections::HashMap;
use std::sync::Arc;

/// A writer of numbers and texts.
#[derive(Default)]
pub(crate) struct Packer<'t> {
    table: Vec<&'t str>,
    ids: HashMap<&'t str, u64>,
    body: Vec<u8>,
}

fn push_number(bytes: &mut Vec<u8>, mut number: u64) {
    while number > 0x7f {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

impl<'t> Packer<'t> {
    pub(crate) fn number(&mut self, number: u64) {
        push_number(&mut self.body, number);
    }

    pub(crate) fn text(&mut self, text: &'t str) {
        let next = self.table.len() as u64;
        let id = *self.ids.entry(text).or_insert(next);
        if id == next {
            self.table.push(text);
        }
        self.number(id);
    }

    pub(crate) fn numbers(&mut self, numbers: impl IntoIterator<Item = u64>) {
        numbers.into_iter().for_each(|number| self.number(number));
    }

    pub(crate) fn texts(&mut self, texts: impl IntoIterator<Item = &'t str>) {
        texts.into_iter().for_each(|text| self.text(text));
    }

    /// Writes an optional value: whether it is present, and the value.
    pub(crate) fn maybe<V>(&mut self, value: Option<V>, put: impl FnOnce(&mut Self, V)) {
        self.number(u64::from(value.is_some()));
        if let Some(value) = value {
            put(self, value);
        }
    }

    /// Writes the length of a list, and each element.
    pub(crate) fn list<V>(
        &mut self,
        values: impl ExactSizeIterator<Item = V>,
        mut put: impl FnMut(&mut Self, V),
    ) {
        self.number(values.len() as u64);
        values.for_each(|value| put(self, value));
    }

    /// Writes a signed number: milliseconds before or after 1970.
    pub(crate) fn signed(&mut self, number: i64) {
        self.number((number << 1 ^ number >> 63).cast_unsigned());
    }

    /// Returns the version of the content, the texts, and the data that refers to them.
    pub(crate) fn finish(self, version: u64) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.body.len() + 64 * self.table.len());
        push_number(&mut bytes, version);
        push_number(&mut bytes, self.table.len() as u64);
        for text in self.table {
            push_number(&mut bytes, text.len() as u64);
            bytes.extend_from_slice(text.as_bytes());
        }
        bytes.extend_from_slice(&self.body);
        bytes
    }
}

/// A reader of the output of a [`Packer`]; returns `None` for other data.
pub(crate) struct Unpacker<'b> {
    bytes: &'b [u8],
    texts: Vec<&'b str>,
    /// Shared copies of the texts used so far.
    shared: Vec<Option<Arc<str>>>,
}

impl<'b> Unpacker<'b> {
    /// Returns the version of the content, and a reader of the rest.
    pub(crate) fn new(bytes: &'b [u8]) -> Option<(u64, Self)> {
        let mut all = Self { bytes, texts: Vec::new(), shared: Vec::new() };
        let version = all.number()?;
        let count = all.number()?;
        for _ in 0..count {
            let length = usize::try_from(all.number()?).ok()?;
            let (text, rest) = all.bytes.split_at_checked(length)?;
            all.texts.push(std::str::from_utf8(text).ok()?);
            all.bytes = rest;
        }
        all.shared = vec![None; all.texts.len()];
        Some((version, all))
    }

    pub(crate) fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let (byte, rest) = self.bytes.split_first()?;
            self.bytes = rest;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    pub(crate) fn signed(&mut self) -> Option<i64> {
        let number = self.number()?;
        Some((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
    }

    /// Reads a number that fits the type.
    pub(crate) fn small<N: TryFrom<u64>>(&mut self) -> Option<N> {
        N::try_from(self.number()?).ok()
    }

    pub(crate) fn text(&mut self) -> Option<&'b str> {
        let at: usize = self.small()?;
        self.texts.get(at).copied()
    }

    pub(crate) fn shared(&mut self) -> Option<Arc<str>> {
        let at: usize = self.small()?;
        let text = *self.texts.get(at)?;
        Some(self.shared.get_mut(at)?.get_or_insert_with(|| text.into()).clone())
    }

    pub(crate) fn maybe<V>(
        &mut self,
        get: impl FnOnce(&mut Self) -> Option<V>,
    ) -> Option<Option<V>> {
        match self.number()? {
            0 => Some(None),
            _ => Some(Some(get(self)?)),
        }
    }

    pub(crate) fn list<V>(&mut self, get: impl Fn(&mut Self) -> Option<V>) -> Option<Vec<V>> {
        // A number that is wrong asks for no more room than the bytes could fill.
        let count: usize = self.small()?;
        let mut values = Vec::with_capacity(count.min(self.bytes.len()));
        for _ in 0..count {
            values.push(get(self)?);
        }
        Some(values)
    }

    /// Whether everything was read.
    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_packed_is_unpacked() {
        let (numbers, times) = ([0, 127, 128, u64::MAX], [0, -1, 1, i64::MIN, i64::MAX]);
        let mut packer = Packer::default();
        packer.list(numbers.iter(), |packer, number| packer.number(*number));
        packer.list(times.iter(), |packer, time| packer.signed(*time));
        packer.list(["a", "", "a", "é"].iter(), |packer, text| packer.text(text));
        packer.maybe(None::<u64>, Packer::number);
        packer.maybe(Some(7), Packer::number);
        let bytes = packer.finish(3);
        let (version, mut all) = Unpacker::new(&bytes).unwrap();
        assert_eq!(version, 3);
        assert_eq!(all.list(Unpacker::number).unwrap(), numbers);
        assert_eq!(all.list(Unpacker::signed).unwrap(), times);
        assert_eq!(all.list(Unpacker::text).unwrap(), ["a", "", "a", "é"]);
        assert_eq!(all.maybe(Unpacker::number), Some(None));
        assert_eq!(all.maybe(Unpacker::number), Some(Some(7)));
        assert!(all.is_empty());
    }
}
