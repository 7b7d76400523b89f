//! Enumerated values of a policy: presets, decisions, and lists that may be a single word.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::value::{SeqAccessDeserializer, StrDeserializer};
use serde::de::{Deserializer, Error, SeqAccess, Visitor};
use std::any::type_name;
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use toolmark_shell::{Certainty, Decision, EffectKind, EffectScope, Reversibility};

/// Strictness of a policy. Later presets are stricter.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "GuardPreset")]
pub enum Preset {
    /// Allows everything and logs the verdict of `standard`.
    Observe,
    /// Decides as `toolmark check` does.
    #[default]
    Standard,
    /// Asks if something is unknown or leaves the work tree, and denies proven effects that
    /// `standard` asks about.
    Strict,
}

impl Preset {
    /// All presets, the strictest last.
    pub const ALL: &'static [Self] = &[Self::Observe, Self::Standard, Self::Strict];

    /// Returns the name used in output.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Observe => "observe",
            Self::Standard => "standard",
            Self::Strict => "strict",
        }
    }
}

/// A value that a policy file names with a word.
pub(super) trait Word: Copy + 'static {
    /// Values of the words.
    const ALL: &'static [Self];
    /// Words, in the same order as the values.
    const WORDS: &'static [&'static str];
}

macro_rules! word {
    ($($name:ty),*) => {
        $(impl Word for $name {
            const ALL: &'static [Self] = Self::ALL;
            const WORDS: &'static [&'static str] = {
                const LENGTH: usize = <$name>::ALL.len();
                const WORDS: [&str; LENGTH] = {
                    let mut words = [""; LENGTH];
                    let mut n = 0;
                    while n < LENGTH {
                        words[n] = <$name>::ALL[n].word();
                        n += 1;
                    }
                    words
                };
                &WORDS
            };
        })*
    };
}

word!(Preset, Decision, EffectKind, EffectScope, Reversibility, Certainty);

/// A word read from a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct WordRead<T>(pub(super) T);

impl<'de, T: Word> Deserialize<'de> for WordRead<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct PolicyWords<T>(PhantomData<T>);
        impl<T: Word> Visitor<'_> for PolicyWords<T> {
            type Value = WordRead<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "one of {}", T::WORDS.join(", "))
            }
            fn visit_str<E: Error>(self, word: &str) -> Result<WordRead<T>, E> {
                let found = T::WORDS.iter().position(|one| *one == word);
                let found = found.and_then(|at| T::ALL.get(at).copied());
                found.map(WordRead).ok_or_else(|| E::unknown_variant(word, T::WORDS))
            }
        }
        deserializer.deserialize_str(PolicyWords(PhantomData))
    }
}

impl<T: Word> JsonSchema for WordRead<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        type_name::<T>().into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "enum": T::WORDS })
    }
}

/// One word, or a list of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OneOrMany<T>(pub(super) Vec<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for OneOrMany<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Either<T> {
            type Value = OneOrMany<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a word or a list of words")
            }
            fn visit_str<E: Error>(self, word: &str) -> Result<OneOrMany<T>, E> {
                T::deserialize(StrDeserializer::new(word)).map(|one| OneOrMany(vec![one]))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<OneOrMany<T>, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(seq)).map(OneOrMany)
            }
        }
        deserializer.deserialize_any(Either(PhantomData))
    }
}

impl<T: JsonSchema> JsonSchema for OneOrMany<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        type_name::<Self>().into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let one = generator.subschema_for::<T>();
        json_schema!({ "anyOf": [one.clone(), { "type": "array", "items": one, "minItems": 1 }] })
    }
}
