//! Macro for enums whose variants are words in files, options and outputs.

/// Defines an enum in which each variant has one word that is used for writing, parsing
/// and printing.
///
/// The enum is `Copy`, is ordered like its variants, and has `ALL`, `word()` and
/// `from_word()`; `Display` and `Serialize` produce the word. A variant may have
/// aliases that are only parsed. Doc comments, `#[derive(…)]` and `#[default]` are
/// passed on.
///
/// ```
/// toolmark_base::word_enum! {
///     /// How loud it is.
///     #[derive(Default)]
///     pub enum Loudness {
///         /// As quiet as it gets.
///         #[default]
///         Quiet = "quiet" | "silent",
///         /// Everything is said.
///         Verbose = "verbose",
///     }
/// }
///
/// assert_eq!(Loudness::default().word(), "quiet");
/// assert_eq!(Loudness::from_word("silent"), Some(Loudness::Quiet));
/// assert_eq!(Loudness::ALL.len(), 2);
/// assert_eq!(Loudness::Verbose.to_string(), "verbose");
/// ```
#[macro_export]
macro_rules! word_enum {
    (
        $(#[$attribute:meta])*
        $visibility:vis enum $name:ident {
            $(
                $(#[$variant_attribute:meta])*
                $variant:ident = $word:literal $(| $alias:literal)*,
            )*
        }
    ) => {
        $(#[$attribute])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $visibility enum $name { $($(#[$variant_attribute])* $variant,)* }

        #[allow(dead_code, reason = "not every enum is also listed or read")]
        impl $name {
            /// All variants, in order.
            $visibility const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// Returns the word used in every output.
            #[must_use]
            $visibility const fn word(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }

            /// Returns the variant with this word.
            #[must_use]
            $visibility fn from_word(word: &str) -> Option<Self> {
                match word {
                    $($word $(| $alias)* => Some(Self::$variant),)*
                    _ => None,
                }
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                // Not `write_str`: a column may ask for a width.
                f.pad(self.word())
            }
        }

        impl $crate::__serde::Serialize for $name {
            fn serialize<S: $crate::__serde::Serializer>(
                &self,
                serializer: S,
            ) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.word())
            }
        }
    };
}
