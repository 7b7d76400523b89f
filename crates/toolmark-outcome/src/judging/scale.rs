//! Scales: the marks that a judge may give.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Marks that a judge may give, and their values between 0 and 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum Scale {
    /// 0 or 1.
    Binary,
    /// 0, 0.5 or 1.
    Half,
    /// 1 to 5.
    #[default]
    OneToFive,
    /// 1 to 10.
    OneToTen,
    /// 0 to 10.
    ZeroToTen,
    /// Any number from 0 to 1.
    Unit,
}

impl Scale {
    /// All scales.
    pub const ALL: &[Self] =
        &[Self::Binary, Self::Half, Self::Unit, Self::OneToFive, Self::OneToTen, Self::ZeroToTen];

    /// Returns the word used in every output.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Binary => "0/1",
            Self::Half => "0/0.5/1",
            Self::OneToFive => "1-5",
            Self::OneToTen => "1-10",
            Self::ZeroToTen => "0-10",
            Self::Unit => "0-1",
        }
    }

    /// Returns the scale with this word or with its name in another system.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        let word = word.trim().replace('–', "-");
        let other = match word.as_str() {
            "binary" => Self::Binary,
            "half" => Self::Half,
            "scale_1_5" => Self::OneToFive,
            "scale_1_10" => Self::OneToTen,
            "scale_0_10" => Self::ZeroToTen,
            "continuous" | "scale_0_1" | "0.0-1.0" => Self::Unit,
            _ => return Self::ALL.iter().copied().find(|scale| scale.word() == word),
        };
        Some(other)
    }

    /// Returns the marks, from worst to best; for a continuous scale, both ends.
    #[must_use]
    pub fn points(self) -> &'static [f64] {
        match self {
            Self::Binary | Self::Unit => &[0.0, 1.0],
            Self::Half => &[0.0, 0.5, 1.0],
            Self::OneToFive => &[1.0, 2.0, 3.0, 4.0, 5.0],
            Self::OneToTen => &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0],
            Self::ZeroToTen => &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0],
        }
    }

    /// Whether the scale is continuous.
    #[must_use]
    pub fn is_continuous(self) -> bool {
        self == Self::Unit
    }

    /// Whether the scale has this mark.
    #[must_use]
    pub fn has(self, mark: f64) -> bool {
        match self {
            Self::Unit => (0.0..=1.0).contains(&mark),
            _ => self.points().contains(&mark),
        }
    }

    /// Returns the value of a mark, from 0 to 1.
    #[must_use]
    pub fn share(self, mark: f64) -> f64 {
        let (low, high) = match self {
            Self::Binary | Self::Half | Self::Unit => (0.0, 1.0),
            Self::OneToFive => (1.0, 5.0),
            Self::OneToTen => (1.0, 10.0),
            Self::ZeroToTen => (0.0, 10.0),
        };
        ((mark - low) / (high - low)).clamp(0.0, 1.0)
    }
}

impl Serialize for Scale {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

impl<'de> Deserialize<'de> for Scale {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = String::deserialize(deserializer)?;
        Self::from_word(&word).ok_or_else(|| {
            let words: Vec<&str> = Self::ALL.iter().map(|scale| scale.word()).collect();
            serde::de::Error::custom(format!(
                "unknown scale {word:?}: expected one of {}",
                words.join(", ")
            ))
        })
    }
}

impl schemars::JsonSchema for Scale {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Scale".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let own = Self::ALL.iter().map(|scale| scale.word());
        let others = [
            "binary",
            "half",
            "continuous",
            "0.0-1.0",
            "scale_0_1",
            "scale_1_5",
            "scale_1_10",
            "scale_0_10",
        ];
        let words: Vec<&str> = own.chain(others).collect();
        schemars::json_schema!({ "type": "string", "enum": words })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_become_shares() {
        for (scale, mark, share) in [
            (Scale::Binary, 1.0, 1.0),
            (Scale::Half, 0.5, 0.5),
            (Scale::OneToFive, 3.0, 0.5),
            (Scale::OneToFive, 1.0, 0.0),
            (Scale::OneToTen, 10.0, 1.0),
            (Scale::OneToTen, 1.0, 0.0),
            (Scale::ZeroToTen, 7.0, 0.7),
            (Scale::Unit, 0.85, 0.85),
        ] {
            assert_eq!(scale.share(mark), share, "{scale:?} {mark}");
            assert!(scale.has(mark));
        }
        assert!(!Scale::OneToFive.has(3.5));
        assert!(!Scale::OneToFive.has(0.0));
        assert!(!Scale::Unit.has(1.5) && !Scale::Unit.has(-0.1));
    }

    #[test]
    fn words_of_all_systems() {
        for scale in Scale::ALL {
            assert_eq!(Scale::from_word(scale.word()), Some(*scale));
        }
        assert_eq!(Scale::from_word("1–5"), Some(Scale::OneToFive));
        assert_eq!(Scale::from_word("scale_1_10"), Some(Scale::OneToTen));
        assert_eq!(Scale::from_word("1-3"), None);
    }
}
