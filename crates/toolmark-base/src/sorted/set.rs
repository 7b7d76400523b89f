//! The set: a map without values.

use super::SortedMap;
use serde::de::{Deserialize, Deserializer, SeqAccess, Visitor};
use serde::ser::{Serialize, Serializer};
use std::borrow::Borrow;
use std::fmt;
use std::marker::PhantomData;

/// Set whose values are in order.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SortedSet<T>(SortedMap<T, ()>);

impl<T> SortedSet<T> {
    /// Returns an empty set.
    #[must_use]
    pub const fn new() -> Self {
        Self(SortedMap::new())
    }

    /// Number of values.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether the set has no value.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Removes all values.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Iterates over the values.
    #[must_use]
    pub fn iter(&self) -> SetValues<'_, T> {
        SetValues(self.0.iter())
    }

    /// Returns the least value.
    #[must_use]
    pub fn first(&self) -> Option<&T> {
        self.0.first_key_value().map(|(value, ())| value)
    }

    /// Returns the greatest value.
    #[must_use]
    pub fn last(&self) -> Option<&T> {
        self.0.last_key_value().map(|(value, ())| value)
    }

    /// Removes the values for which the function returns false.
    pub fn retain(&mut self, mut keep: impl FnMut(&T) -> bool) {
        self.0.retain(|value, ()| keep(value));
    }

    /// Whether the set has the value.
    pub fn contains<Q: Ord + ?Sized>(&self, value: &Q) -> bool
    where
        T: Borrow<Q>,
    {
        self.0.contains_key(value)
    }

    /// Returns the value of the set that is equal to the given one.
    pub fn get<Q: Ord + ?Sized>(&self, value: &Q) -> Option<&T>
    where
        T: Borrow<Q>,
    {
        self.0.get_key_value(value).map(|(value, ())| value)
    }

    /// Iterates over the values that are not less than the given one.
    pub fn iter_from<Q: Ord + ?Sized>(&self, value: &Q) -> SetValues<'_, T>
    where
        T: Borrow<Q>,
    {
        SetValues(self.0.iter_from(value))
    }

    /// Removes a value and returns whether the set had it.
    pub fn remove<Q: Ord + ?Sized>(&mut self, value: &Q) -> bool
    where
        T: Borrow<Q>,
    {
        self.0.remove(value).is_some()
    }
}

impl<T: Ord> SortedSet<T> {
    /// Inserts a value and returns whether it is new.
    pub fn insert(&mut self, value: T) -> bool {
        self.0.insert(value, ()).is_none()
    }

    /// Iterates over the values that the other set has too.
    pub fn intersection<'a>(
        &'a self,
        other: &'a Self,
    ) -> impl DoubleEndedIterator<Item = &'a T> + Clone {
        self.iter().filter(|value| other.contains(*value))
    }

    /// Iterates over the values that the other set lacks.
    pub fn difference<'a>(
        &'a self,
        other: &'a Self,
    ) -> impl DoubleEndedIterator<Item = &'a T> + Clone {
        self.iter().filter(|value| !other.contains(*value))
    }

    /// Iterates over the values of both sets, in order.
    pub fn union<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = &'a T> + Clone {
        let (mut left, mut right) = (self.iter().peekable(), other.iter().peekable());
        std::iter::from_fn(move || match (left.peek(), right.peek()) {
            (Some(one), Some(two)) if one == two => {
                right.next();
                left.next()
            }
            (Some(one), Some(two)) if one > two => right.next(),
            (Some(_), _) => left.next(),
            (None, _) => right.next(),
        })
    }

    /// Whether the other set has all values.
    #[must_use]
    pub fn is_subset(&self, other: &Self) -> bool {
        self.len() <= other.len() && self.iter().all(|value| other.contains(value))
    }

    /// Whether the other set has none of the values.
    #[must_use]
    pub fn is_disjoint(&self, other: &Self) -> bool {
        !self.iter().any(|value| other.contains(value))
    }
}

/// Borrowed values of a set.
#[derive(Debug)]
pub struct SetValues<'a, T>(super::Iter<'a, T, ()>);

impl<T> Clone for SetValues<'_, T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<'a, T> Iterator for SetValues<'a, T> {
    type Item = &'a T;

    fn next(&mut self) -> Option<&'a T> {
        self.0.next().map(|(value, ())| value)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl<T> DoubleEndedIterator for SetValues<'_, T> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.0.next_back().map(|(value, ())| value)
    }
}

impl<T> ExactSizeIterator for SetValues<'_, T> {}

/// Owned values of a set.
#[derive(Debug)]
pub struct IntoValues<T>(super::IntoIter<T, ()>);

impl<T> Iterator for IntoValues<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.0.next().map(|(value, ())| value)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl<T> DoubleEndedIterator for IntoValues<T> {
    fn next_back(&mut self) -> Option<T> {
        self.0.next_back().map(|(value, ())| value)
    }
}

impl<T> ExactSizeIterator for IntoValues<T> {}

impl<T> Default for SortedSet<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: fmt::Debug> fmt::Debug for SortedSet<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self).finish()
    }
}

impl<'a, T> IntoIterator for &'a SortedSet<T> {
    type Item = &'a T;
    type IntoIter = SetValues<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<T> IntoIterator for SortedSet<T> {
    type Item = T;
    type IntoIter = IntoValues<T>;

    fn into_iter(self) -> Self::IntoIter {
        IntoValues(self.0.into_iter())
    }
}

impl<T: Ord> Extend<T> for SortedSet<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, values: I) {
        for value in values {
            self.insert(value);
        }
    }
}

impl<T: Ord> FromIterator<T> for SortedSet<T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        let mut set = Self::new();
        set.extend(values);
        set
    }
}

impl<T: Ord, const N: usize> From<[T; N]> for SortedSet<T> {
    fn from(values: [T; N]) -> Self {
        values.into_iter().collect()
    }
}

impl<T: Serialize> Serialize for SortedSet<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self)
    }
}

impl<'de, T: Deserialize<'de> + Ord> Deserialize<'de> for SortedSet<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(SetVisitor(PhantomData))
    }
}

struct SetVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de> + Ord> Visitor<'de> for SetVisitor<T> {
    type Value = SortedSet<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a sequence")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
        let mut set = SortedSet::new();
        while let Some(value) = access.next_element()? {
            set.insert(value);
        }
        Ok(set)
    }
}
