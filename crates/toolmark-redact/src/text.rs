//! Text types by trust: [`Untrusted`] is text of a trace, a spec or a program, and
//! [`Printable`] is text that a [`Redactor`](crate::Redactor) has processed.
//!
//! Results are generic over the text type: `Untrusted` while they are computed and
//! `Printable` once they are reported. Types that contain text ([`SharedName`], [`Json`]) have the
//! same parameter, so that no text is missed. Short texts, such as the names and ids of
//! calls, need no allocation.

use crate::redactor::{Hide, is_clean};
use crate::{redact, sanitize};
use compact_str::CompactString;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};
use std::borrow::{Borrow, Cow};
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// Text that has not been redacted or sanitized: it may contain secrets and control sequences
/// for a terminal or a page. Serialization redacts it; there is no other way to an output.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Untrusted(pub(crate) CompactString);

impl Untrusted {
    /// Returns the raw text, for grading, matching or creating another `Untrusted`. Never
    /// print it, log it or write it to a file.
    #[must_use]
    pub fn raw(&self) -> &str {
        &self.0
    }
}

/// Debug output and failing tests do not reveal secrets either.
impl fmt::Debug for Untrusted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&redact(&self.0), f)
    }
}

impl From<String> for Untrusted {
    fn from(text: String) -> Self {
        Self(text.into())
    }
}

impl From<&str> for Untrusted {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl From<&String> for Untrusted {
    fn from(text: &String) -> Self {
        Self(text.as_str().into())
    }
}

impl From<Cow<'_, str>> for Untrusted {
    fn from(text: Cow<'_, str>) -> Self {
        Self(text.into())
    }
}

impl Serialize for Untrusted {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&redact(&self.0))
    }
}

/// Allows maps with such keys to be looked up by plain text.
impl Borrow<str> for Untrusted {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl PartialEq<str> for Untrusted {
    fn eq(&self, other: &str) -> bool {
        self.0 == other
    }
}

impl PartialEq<&str> for Untrusted {
    fn eq(&self, other: &&str) -> bool {
        self.0 == *other
    }
}

/// Text without secrets. `Display` also sanitizes it; outputs that escape text themselves
/// (JSON, XML, a page) use it unchanged.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Printable(pub(crate) CompactString);

impl Printable {
    /// Creates text that consists only of printable parts. [`printable!`](crate::printable)
    /// checks that it does.
    #[doc(hidden)]
    #[must_use]
    pub fn compose(words: fmt::Arguments<'_>) -> Self {
        Self(words.to_string().into())
    }

    /// Changes the layout of the text: cuts, wraps or joins its lines. The result must
    /// consist of the original text.
    #[must_use]
    pub fn reshape<'s, S: Into<String>>(&'s self, layout: impl FnOnce(&'s str) -> S) -> Self {
        Self(CompactString::from(layout(&self.0).into()))
    }

    /// Joins texts with a separator.
    #[must_use]
    pub fn join<'p>(texts: impl IntoIterator<Item = &'p Self>, between: &'static str) -> Self {
        let mut out = CompactString::default();
        for (at, text) in texts.into_iter().enumerate() {
            out.push_str(if at == 0 { "" } else { between });
            out.push_str(text);
        }
        Self(out)
    }
}

impl fmt::Debug for Printable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl fmt::Display for Printable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&sanitize(&self.0))
    }
}

impl Deref for Printable {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for Printable {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl From<&'static str> for Printable {
    fn from(words: &'static str) -> Self {
        Self(words.into())
    }
}

impl From<Printable> for String {
    fn from(text: Printable) -> Self {
        text.0.into_string()
    }
}

impl PartialEq<str> for Printable {
    fn eq(&self, other: &str) -> bool {
        self.0 == other
    }
}

impl PartialEq<&str> for Printable {
    fn eq(&self, other: &&str) -> bool {
        self.0 == *other
    }
}

impl Serialize for Printable {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

/// Values that may be part of an output line: fixed words, numbers and text that a
/// [`Redactor`](crate::Redactor) has made printable.
pub trait Harmless: fmt::Display {
    /// Formats the value as part of a longer text, which is sanitized when it is displayed.
    #[doc(hidden)]
    fn part(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Harmless for &'static str {}
impl Harmless for Printable {
    fn part(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}
impl Harmless for SharedName<Printable> {
    fn part(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.name)
    }
}
impl<T: Harmless> Harmless for &T {
    fn part(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        T::part(self, f)
    }
}
macro_rules! harmless {
    ($($number:ty)*) => { $(impl Harmless for $number {})* };
}
harmless!(bool char u8 u16 u32 u64 usize i32 i64 f64);

/// A part of a text that is created with [`printable!`](crate::printable).
#[doc(hidden)]
pub struct TextPart<'p, T>(pub &'p T);

impl<T: Harmless> fmt::Display for TextPart<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.part(f)
    }
}

/// `format!` for text that people read: accepts only printable arguments and returns a
/// [`Printable`].
///
/// ```
/// use toolmark_redact::{Redactor, printable};
///
/// let name = Redactor::new(true).apply("ghp_x1Y2z3A4b5C6d7E8f9G0h1I2j3K4l5M6n7O8");
/// assert_eq!(printable!("{} of {}", 1, name), "1 of ghp_[redacted]");
/// ```
///
/// ```compile_fail
/// let name = String::from("from a trace");
/// toolmark_redact::printable!("{}", name.as_str());
/// ```
#[macro_export]
macro_rules! printable {
    // `concat!` keeps variables out that are named within the braces.
    ($words:literal $(, $part:expr)* $(,)?) => {
        $crate::Printable::compose(format_args!(concat!($words) $(, $crate::TextPart(&$part))*))
    };
}

/// A name shared by many results, such as a file name.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SharedName<T = Untrusted> {
    pub(crate) name: Arc<str>,
    /// Whether a [`Redactor`](crate::Redactor) has processed the name.
    pub(crate) passed: Passed,
    pub(crate) text: PhantomData<T>,
}

impl<T> SharedName<T> {
    pub(crate) fn new(name: Arc<str>, passed: Passed) -> Self {
        Self { name, passed, text: PhantomData }
    }
}

/// Marker for text that may be written unchanged; it does not affect equality.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Passed(pub(crate) bool);

impl PartialEq for Passed {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Passed {}

impl PartialOrd for Passed {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Passed {
    fn cmp(&self, _: &Self) -> Ordering {
        Ordering::Equal
    }
}

impl Hash for Passed {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

impl SharedName {
    /// Returns the raw name, like [`Untrusted::raw`].
    #[must_use]
    pub fn raw(&self) -> &Arc<str> {
        &self.name
    }
}

impl<T> Default for SharedName<T> {
    fn default() -> Self {
        Self::new(Arc::from(""), Passed(true))
    }
}

impl<S: Into<Arc<str>>> From<S> for SharedName {
    fn from(name: S) -> Self {
        Self::new(name.into(), Passed(false))
    }
}

impl From<&'static str> for SharedName<Printable> {
    fn from(name: &'static str) -> Self {
        Self::new(name.into(), Passed(true))
    }
}

impl From<Printable> for SharedName<Printable> {
    fn from(name: Printable) -> Self {
        Self::new(name.0.into(), Passed(true))
    }
}

impl<T> fmt::Debug for SharedName<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&redact(&self.name), f)
    }
}

impl fmt::Display for SharedName<Printable> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&sanitize(&self.name))
    }
}

impl Deref for SharedName<Printable> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.name
    }
}

impl<T: Serialize> Serialize for SharedName<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.passed.0 || is_clean(&self.name) {
            return serializer.serialize_str(&self.name);
        }
        serializer.serialize_str(&redact(&self.name))
    }
}

/// JSON whose strings and keys are text of a trace or of a program.
#[derive(Debug, Clone, PartialEq)]
pub struct Json<V, T = Untrusted> {
    pub(crate) value: V,
    /// Whether a [`Redactor`](crate::Redactor) has processed the value.
    pub(crate) passed: Passed,
    pub(crate) text: PhantomData<T>,
}

impl<T> Json<Map<String, Value>, T> {
    /// Creates an empty object.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

impl Json<Map<String, Value>, Printable> {
    /// Returns names and values for display: strings without their quotes.
    pub fn entries(&self) -> impl Iterator<Item = (Printable, Printable)> {
        self.value.iter().map(|(name, value)| {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            (Printable(name.into()), Printable(value.into()))
        })
    }
}

impl<V: Default, T> Default for Json<V, T> {
    fn default() -> Self {
        Self { value: V::default(), passed: Passed(false), text: PhantomData }
    }
}

impl<V> From<V> for Json<V> {
    fn from(value: V) -> Self {
        Self { value, passed: Passed(false), text: PhantomData }
    }
}

impl<V, T> Deref for Json<V, T> {
    type Target = V;

    fn deref(&self) -> &V {
        &self.value
    }
}

impl<V> DerefMut for Json<V> {
    fn deref_mut(&mut self) -> &mut V {
        &mut self.value
    }
}

impl<V: Serialize + Hide, T> Serialize for Json<V, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let hidden = if self.passed.0 { None } else { self.value.hidden() };
        hidden.as_ref().unwrap_or(&self.value).serialize(serializer)
    }
}
