//! The map: chunks of entries, searched by halving.

use super::{IntoIter, Iter, MAX_CHUNK};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, Serializer};
use std::borrow::Borrow;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::ops::Index;

/// Map whose entries are in the order of their keys.
#[derive(Clone)]
pub struct SortedMap<K, V> {
    /// Entries in order; no chunk is empty.
    chunks: Vec<Vec<(K, V)>>,
    len: usize,
}

/// Position of an entry, or the position at which it would be inserted.
#[derive(Clone, Copy)]
pub(super) struct MapPosition {
    chunk: usize,
    entry: usize,
}

impl<K, V> SortedMap<K, V> {
    /// Returns an empty map.
    #[must_use]
    pub const fn new() -> Self {
        Self { chunks: Vec::new(), len: 0 }
    }

    /// Number of entries.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether the map has no entry.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Removes all entries.
    pub fn clear(&mut self) {
        self.chunks.clear();
        self.len = 0;
    }

    /// Iterates over the entries.
    #[must_use]
    pub fn iter(&self) -> Iter<'_, K, V> {
        let (front, back) = ([].iter(), [].iter());
        Iter { chunks: self.chunks.iter(), front, back, left: self.len }
    }

    /// Iterates over the entries with values that can be changed.
    pub fn iter_mut(&mut self) -> impl DoubleEndedIterator<Item = (&K, &mut V)> {
        self.chunks.iter_mut().flatten().map(|(key, value)| (&*key, value))
    }

    /// Iterates over the keys.
    #[must_use]
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &K> + ExactSizeIterator + Clone {
        self.iter().map(|(key, _)| key)
    }

    /// Iterates over the values, in the order of the keys.
    #[must_use]
    pub fn values(&self) -> impl DoubleEndedIterator<Item = &V> + ExactSizeIterator + Clone {
        self.iter().map(|(_, value)| value)
    }

    /// Iterates over the values, in the order of the keys, to change them.
    pub fn values_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut V> {
        self.iter_mut().map(|(_, value)| value)
    }

    /// Returns the keys.
    pub fn into_keys(self) -> impl DoubleEndedIterator<Item = K> + ExactSizeIterator {
        self.into_iter().map(|(key, _)| key)
    }

    /// Returns the values in the order of the keys.
    pub fn into_values(self) -> impl DoubleEndedIterator<Item = V> + ExactSizeIterator {
        self.into_iter().map(|(_, value)| value)
    }

    /// Returns the entry with the least key.
    #[must_use]
    pub fn first_key_value(&self) -> Option<(&K, &V)> {
        self.chunks.first()?.first().map(|(key, value)| (key, value))
    }

    /// Returns the entry with the greatest key.
    #[must_use]
    pub fn last_key_value(&self) -> Option<(&K, &V)> {
        self.chunks.last()?.last().map(|(key, value)| (key, value))
    }

    /// Removes the entries for which the function returns false.
    pub fn retain(&mut self, mut keep: impl FnMut(&K, &mut V) -> bool) {
        for chunk in &mut self.chunks {
            chunk.retain_mut(|(key, value)| keep(key, value));
        }
        self.chunks.retain(|chunk| !chunk.is_empty());
        self.len = self.chunks.iter().map(Vec::len).sum();
    }

    fn insert_at(&mut self, mut at: MapPosition, key: K, value: V) -> MapPosition {
        match self.chunks.get(at.chunk).map(Vec::len) {
            None => self.chunks.push(Vec::new()),
            Some(MAX_CHUNK) => at = self.split(at),
            Some(_) => {}
        }
        self.chunks[at.chunk].insert(at.entry, (key, value));
        self.len += 1;
        at
    }

    /// Splits a full chunk and returns the position in its parts.
    #[cold]
    fn split(&mut self, at: MapPosition) -> MapPosition {
        // Keys that arrive in order fill chunks; others leave halves.
        let half = if at.entry == MAX_CHUNK { MAX_CHUNK } else { MAX_CHUNK / 2 };
        let rest = self.chunks[at.chunk].split_off(half);
        self.chunks.insert(at.chunk + 1, rest);
        match at.entry.checked_sub(half) {
            Some(entry) => MapPosition { chunk: at.chunk + 1, entry },
            None => at,
        }
    }

    fn remove_at(&mut self, at: MapPosition) -> (K, V) {
        self.len -= 1;
        let removed = self.chunks[at.chunk].remove(at.entry);
        if self.chunks[at.chunk].is_empty() {
            self.chunks.remove(at.chunk);
        }
        removed
    }

    fn value_at(&self, at: MapPosition) -> &V {
        &self.chunks[at.chunk][at.entry].1
    }

    fn value_at_mut(&mut self, at: MapPosition) -> &mut V {
        &mut self.chunks[at.chunk][at.entry].1
    }

    /// Finds a key, or the position at which it would be inserted.
    fn find<Q: Ord + ?Sized>(&self, key: &Q) -> Result<MapPosition, MapPosition>
    where
        K: Borrow<Q>,
    {
        // `chunk` begins before the key or is the first; the chunks from `end` on begin after it.
        let (mut chunk, mut end) = (0, self.chunks.len());
        while end - chunk > 1 {
            let middle = chunk.midpoint(end);
            if self.chunks[middle][0].0.borrow() <= key {
                chunk = middle;
            } else {
                end = middle;
            }
        }
        let (mut entry, mut end) = (0, self.chunks.get(chunk).map_or(0, Vec::len));
        // Keys that arrive in order are looked for at the end first.
        let mut middle = end.saturating_sub(1);
        while entry < end {
            match self.chunks[chunk][middle].0.borrow().cmp(key) {
                Ordering::Less => entry = middle + 1,
                Ordering::Equal => return Ok(MapPosition { chunk, entry: middle }),
                Ordering::Greater => end = middle,
            }
            middle = entry.midpoint(end);
        }
        Err(MapPosition { chunk, entry })
    }

    /// Returns the value of a key.
    pub fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        self.find(key).ok().map(|at| self.value_at(at))
    }

    /// Returns the value of a key, to change it.
    pub fn get_mut<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        let at = self.find(key).ok()?;
        Some(self.value_at_mut(at))
    }

    /// Returns the key of the map that is equal to the given one, and its value.
    pub fn get_key_value<Q: Ord + ?Sized>(&self, key: &Q) -> Option<(&K, &V)>
    where
        K: Borrow<Q>,
    {
        let at = self.find(key).ok()?;
        let (key, value) = &self.chunks[at.chunk][at.entry];
        Some((key, value))
    }

    /// Whether the map has the key.
    pub fn contains_key<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.find(key).is_ok()
    }

    /// Iterates over the entries whose keys are not less than the given one.
    pub fn iter_from<Q: Ord + ?Sized>(&self, key: &Q) -> Iter<'_, K, V>
    where
        K: Borrow<Q>,
    {
        let (Ok(at) | Err(at)) = self.find(key);
        let first = self.chunks.get(at.chunk).and_then(|chunk| chunk.get(at.entry..));
        let chunks = self.chunks.get(at.chunk + 1..).unwrap_or_default().iter();
        let front = first.unwrap_or_default().iter();
        let left = front.len() + chunks.clone().map(Vec::len).sum::<usize>();
        Iter { chunks, front, back: [].iter(), left }
    }

    /// Removes a key and returns its value.
    pub fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        let at = self.find(key).ok()?;
        Some(self.remove_at(at).1)
    }
}

impl<K: Ord, V> SortedMap<K, V> {
    /// Inserts a value and returns the one that the key had before.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        match self.find(&key) {
            Ok(at) => Some(std::mem::replace(self.value_at_mut(at), value)),
            Err(at) => {
                self.insert_at(at, key, value);
                None
            }
        }
    }

    /// Returns the place of a key, to read, change or insert its value.
    pub fn entry(&mut self, key: K) -> MapEntry<'_, K, V> {
        match self.find(&key) {
            Ok(at) => MapEntry::Occupied(OccupiedEntry { map: self, at }),
            Err(at) => MapEntry::Vacant(VacantEntry { map: self, at, key }),
        }
    }
}

/// Place of a key in a map.
pub enum MapEntry<'a, K, V> {
    /// The key has a value.
    Occupied(OccupiedEntry<'a, K, V>),
    /// The key has no value.
    Vacant(VacantEntry<'a, K, V>),
}

/// Place of a key that has a value.
pub struct OccupiedEntry<'a, K, V> {
    map: &'a mut SortedMap<K, V>,
    at: MapPosition,
}

/// Place of a key that has no value.
pub struct VacantEntry<'a, K, V> {
    map: &'a mut SortedMap<K, V>,
    at: MapPosition,
    key: K,
}

impl<'a, K, V> MapEntry<'a, K, V> {
    /// Returns the value, inserting the given one if there is none.
    pub fn or_insert(self, value: V) -> &'a mut V {
        match self {
            Self::Occupied(entry) => entry.into_mut(),
            Self::Vacant(entry) => entry.insert(value),
        }
    }

    /// Returns the value, inserting the result of the function if there is none.
    pub fn or_insert_with(self, value: impl FnOnce() -> V) -> &'a mut V {
        match self {
            Self::Occupied(entry) => entry.into_mut(),
            Self::Vacant(entry) => entry.insert(value()),
        }
    }

    /// Returns the value, inserting the default if there is none.
    pub fn or_default(self) -> &'a mut V
    where
        V: Default,
    {
        match self {
            Self::Occupied(entry) => entry.into_mut(),
            Self::Vacant(entry) => entry.insert(V::default()),
        }
    }

    /// Changes the value if there is one.
    #[must_use]
    pub fn and_modify(mut self, change: impl FnOnce(&mut V)) -> Self {
        if let Self::Occupied(entry) = &mut self {
            change(entry.get_mut());
        }
        self
    }
}

impl<'a, K, V> OccupiedEntry<'a, K, V> {
    /// Returns the value.
    #[must_use]
    pub fn get(&self) -> &V {
        self.map.value_at(self.at)
    }

    /// Returns the value, to change it.
    pub fn get_mut(&mut self) -> &mut V {
        self.map.value_at_mut(self.at)
    }

    /// Returns the value for as long as the map is borrowed.
    #[must_use]
    pub fn into_mut(self) -> &'a mut V {
        self.map.value_at_mut(self.at)
    }

    /// Replaces the value and returns the one before.
    pub fn insert(&mut self, value: V) -> V {
        std::mem::replace(self.get_mut(), value)
    }

    /// Removes the entry and returns its value.
    pub fn remove(self) -> V {
        self.map.remove_at(self.at).1
    }
}

impl<'a, K, V> VacantEntry<'a, K, V> {
    /// Inserts a value.
    pub fn insert(self, value: V) -> &'a mut V {
        let at = self.map.insert_at(self.at, self.key, value);
        self.map.value_at_mut(at)
    }
}

impl<K, V> Default for SortedMap<K, V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: fmt::Debug, V: fmt::Debug> fmt::Debug for SortedMap<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self).finish()
    }
}

impl<K: PartialEq, V: PartialEq> PartialEq for SortedMap<K, V> {
    fn eq(&self, other: &Self) -> bool {
        self.len == other.len && self.iter().eq(other.iter())
    }
}

impl<K: Eq, V: Eq> Eq for SortedMap<K, V> {}

impl<K: PartialOrd, V: PartialOrd> PartialOrd for SortedMap<K, V> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.iter().partial_cmp(other.iter())
    }
}

impl<K: Ord, V: Ord> Ord for SortedMap<K, V> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.iter().cmp(other.iter())
    }
}

impl<K: Hash, V: Hash> Hash for SortedMap<K, V> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.len.hash(state);
        for entry in self {
            entry.hash(state);
        }
    }
}

impl<K: Borrow<Q>, V, Q: Ord + ?Sized> Index<&Q> for SortedMap<K, V> {
    type Output = V;

    fn index(&self, key: &Q) -> &V {
        match self.find(key) {
            Ok(at) => self.value_at(at),
            Err(_) => panic!("no entry of that key"),
        }
    }
}

impl<'a, K, V> IntoIterator for &'a SortedMap<K, V> {
    type Item = (&'a K, &'a V);
    type IntoIter = Iter<'a, K, V>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<K, V> IntoIterator for SortedMap<K, V> {
    type Item = (K, V);
    type IntoIter = IntoIter<K, V>;

    fn into_iter(self) -> Self::IntoIter {
        let (front, back) = (Vec::new().into_iter(), Vec::new().into_iter());
        IntoIter { chunks: self.chunks.into_iter(), front, back, left: self.len }
    }
}

impl<K: Ord, V> Extend<(K, V)> for SortedMap<K, V> {
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, entries: I) {
        for (key, value) in entries {
            self.insert(key, value);
        }
    }
}

impl<K: Ord, V> FromIterator<(K, V)> for SortedMap<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        let mut map = Self::new();
        map.extend(entries);
        map
    }
}

impl<K: Ord, V, const N: usize> From<[(K, V); N]> for SortedMap<K, V> {
    fn from(entries: [(K, V); N]) -> Self {
        entries.into_iter().collect()
    }
}

impl<K: Serialize, V: Serialize> Serialize for SortedMap<K, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self)
    }
}

impl<'de, K: Deserialize<'de> + Ord, V: Deserialize<'de>> Deserialize<'de> for SortedMap<K, V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MapVisitor(PhantomData))
    }
}

struct MapVisitor<K, V>(PhantomData<(K, V)>);

impl<'de, K: Deserialize<'de> + Ord, V: Deserialize<'de>> Visitor<'de> for MapVisitor<K, V> {
    type Value = SortedMap<K, V>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
        let mut map = SortedMap::new();
        while let Some((key, value)) = access.next_entry()? {
            map.insert(key, value);
        }
        Ok(map)
    }
}
