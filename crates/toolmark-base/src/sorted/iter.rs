//! Iterators over the entries of a map, in the order of its keys.

use std::{slice, vec};

/// Borrowed entries of a map.
#[derive(Debug)]
pub struct Iter<'a, K, V> {
    pub(super) chunks: slice::Iter<'a, Vec<(K, V)>>,
    pub(super) front: slice::Iter<'a, (K, V)>,
    pub(super) back: slice::Iter<'a, (K, V)>,
    pub(super) left: usize,
}

impl<K, V> Clone for Iter<'_, K, V> {
    fn clone(&self) -> Self {
        let (chunks, front, back) = (self.chunks.clone(), self.front.clone(), self.back.clone());
        Self { chunks, front, back, left: self.left }
    }
}

impl<'a, K, V> Iterator for Iter<'a, K, V> {
    type Item = (&'a K, &'a V);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some((key, value)) = self.front.next() {
                self.left -= 1;
                return Some((key, value));
            }
            match self.chunks.next() {
                Some(chunk) => self.front = chunk.iter(),
                None => std::mem::swap(&mut self.front, &mut self.back),
            }
            if self.front.len() == 0 {
                return None;
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<K, V> DoubleEndedIterator for Iter<'_, K, V> {
    fn next_back(&mut self) -> Option<Self::Item> {
        loop {
            if let Some((key, value)) = self.back.next_back() {
                self.left -= 1;
                return Some((key, value));
            }
            match self.chunks.next_back() {
                Some(chunk) => self.back = chunk.iter(),
                None => std::mem::swap(&mut self.front, &mut self.back),
            }
            if self.back.len() == 0 {
                return None;
            }
        }
    }
}

impl<K, V> ExactSizeIterator for Iter<'_, K, V> {}

/// Owned entries of a map.
#[derive(Debug)]
pub struct IntoIter<K, V> {
    pub(super) chunks: vec::IntoIter<Vec<(K, V)>>,
    pub(super) front: vec::IntoIter<(K, V)>,
    pub(super) back: vec::IntoIter<(K, V)>,
    pub(super) left: usize,
}

impl<K, V> Iterator for IntoIter<K, V> {
    type Item = (K, V);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(entry) = self.front.next() {
                self.left -= 1;
                return Some(entry);
            }
            match self.chunks.next() {
                Some(chunk) => self.front = chunk.into_iter(),
                None => std::mem::swap(&mut self.front, &mut self.back),
            }
            if self.front.len() == 0 {
                return None;
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<K, V> DoubleEndedIterator for IntoIter<K, V> {
    fn next_back(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(entry) = self.back.next_back() {
                self.left -= 1;
                return Some(entry);
            }
            match self.chunks.next_back() {
                Some(chunk) => self.back = chunk.into_iter(),
                None => std::mem::swap(&mut self.front, &mut self.back),
            }
            if self.back.len() == 0 {
                return None;
            }
        }
    }
}

impl<K, V> ExactSizeIterator for IntoIter<K, V> {}
