//! Values of expressions, as far as the code proves them.

use crate::expand::Arg;

/// Maximum number of values that one name may have.
const MAX_VALUES: usize = 32;
/// Maximum length of a tracked text, in bytes.
const MAX_TEXT: usize = 16 << 10;

/// Text with parts that may be known only at run time; these are written as shell variables.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct PartialText {
    pub(super) text: String,
    pub(super) dynamic: bool,
}

impl PartialText {
    pub(super) fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), dynamic: false }
    }

    fn unknown() -> Self {
        Self { text: "${UNKNOWN}".into(), dynamic: true }
    }

    fn with(mut self, more: &Self) -> Self {
        if self.text.len() + more.text.len() > MAX_TEXT {
            return Self::unknown();
        }
        self.text.push_str(&more.text);
        self.dynamic |= more.dynamic;
        self
    }
}

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum InlineValue {
    Text(PartialText),
    /// A path object.
    Path(PartialText),
    List(Vec<Self>),
    Map(Vec<(String, Self)>),
    /// One of several values.
    OneOf(Vec<Self>),
    /// Files that a pattern matches.
    Files(PartialText),
    /// A file or directory just made for temporary use.
    Temporary,
    /// A module or a function, by full name.
    Name(String),
    /// A file just opened for writing.
    Opened(PartialText),
    /// A program built word by word.
    Command(Vec<Self>),
    Number(String),
    Unknown,
}

impl InlineValue {
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self::Text(PartialText::plain(text))
    }

    /// Returns the text, unless it is too long to be tracked.
    pub(super) fn followed(text: &str) -> Self {
        Self::Text(if text.len() > MAX_TEXT {
            PartialText::unknown()
        } else {
            PartialText::plain(text)
        })
    }

    /// Returns the approximate size in bytes.
    pub(super) fn weight(&self) -> usize {
        let own = match self {
            Self::Text(known) | Self::Path(known) | Self::Files(known) | Self::Opened(known) => {
                known.text.len()
            }
            Self::Name(text) | Self::Number(text) => text.len(),
            Self::List(values) | Self::OneOf(values) | Self::Command(values) => {
                values.iter().map(Self::weight).sum()
            }
            Self::Map(pairs) => pairs.iter().map(|(key, value)| key.len() + value.weight()).sum(),
            Self::Temporary | Self::Unknown => 0,
        };
        own + 32
    }

    /// Returns the text of a string or a path.
    pub(super) fn known(&self) -> Option<&PartialText> {
        match self {
            Self::Text(known) | Self::Path(known) => Some(known),
            _ => None,
        }
    }

    /// Returns the text if it is certain.
    pub(super) fn certain(&self) -> Option<&str> {
        self.known().filter(|known| !known.dynamic).map(|known| known.text.as_str())
    }

    /// Returns the value as words of a command.
    pub(super) fn args(&self) -> Vec<Arg> {
        match self {
            Self::Text(known) | Self::Path(known) => {
                vec![Arg { dynamic: known.dynamic, ..Arg::plain(&known.text) }]
            }
            Self::Files(known) => {
                vec![Arg { dynamic: known.dynamic, glob: true, ..Arg::plain(&known.text) }]
            }
            Self::List(values) | Self::OneOf(values) => {
                values.iter().take(MAX_VALUES * 2).flat_map(Self::args).collect()
            }
            Self::Temporary => vec![Arg { temporary: true, ..Arg::plain("$TEMPORARY") }],
            Self::Number(text) => vec![Arg::plain(text)],
            Self::Map(_) => Vec::new(),
            Self::Name(_) | Self::Command(_) | Self::Opened(_) | Self::Unknown => {
                vec![Arg { dynamic: true, ..Arg::plain("$UNKNOWN") }]
            }
        }
    }

    /// Returns the element that a loop over the value visits.
    pub(super) fn element(&self) -> Self {
        match self {
            Self::List(values) => Self::OneOf(values.iter().take(MAX_VALUES).cloned().collect()),
            other => other.clone(),
        }
    }

    /// Concatenates two values as text.
    pub(super) fn concat(&self, more: &Self) -> Self {
        self.combine(more, |one, more| one.with(more))
    }

    /// Joins two values as a path.
    pub(super) fn join(&self, more: &Self) -> Self {
        let joined = self.combine(more, |one, more| {
            if more.text.starts_with('/') || more.text.starts_with('~') || one.text.is_empty() {
                return more.clone();
            }
            let slash = if one.text.ends_with('/') { "" } else { "/" };
            one.with(&PartialText::plain(slash)).with(more)
        });
        match (self, joined) {
            (Self::Path(_), Self::Text(known)) => Self::Path(known),
            (_, joined) => joined,
        }
    }

    fn combine(
        &self,
        more: &Self,
        both: impl Fn(PartialText, &PartialText) -> PartialText + Copy,
    ) -> Self {
        match (self, more) {
            // Files are named with their directory already.
            (_, Self::Files(_)) => more.clone(),
            (Self::OneOf(one), Self::OneOf(more)) if one.len() * more.len() > MAX_VALUES => {
                Self::Unknown
            }
            (Self::Files(_) | Self::Temporary, _) => self.clone(),
            (Self::OneOf(values), more) => {
                Self::OneOf(values.iter().map(|one| one.combine(more, both)).collect())
            }
            (one, Self::OneOf(values)) => {
                Self::OneOf(values.iter().map(|more| one.combine(more, both)).collect())
            }
            (Self::List(one), Self::List(more)) => {
                Self::List(one.iter().chain(more).take(MAX_VALUES * 2).cloned().collect())
            }
            (Self::Unknown, Self::Unknown) => Self::Unknown,
            (one, more) => {
                let known = |value: &Self| match value {
                    Self::Number(text) => PartialText::plain(text.clone()),
                    value => value.known().cloned().unwrap_or_else(PartialText::unknown),
                };
                let all = both(known(one), &known(more));
                if matches!(one, Self::Path(_)) { Self::Path(all) } else { Self::Text(all) }
            }
        }
    }

    /// Concatenates all texts of a list.
    pub(super) fn concat_all(values: &[Self], between: &str) -> Self {
        let mut texts = Vec::new();
        for value in values {
            match value {
                Self::OneOf(values) | Self::List(values) => texts.extend(values.iter()),
                value => texts.push(value),
            }
        }
        let between = Self::text(between);
        let mut texts = texts.into_iter();
        let Some(first) = texts.next() else { return Self::text("") };
        texts.take(MAX_TEXT).fold(first.clone(), |all, one| all.concat(&between).concat(one))
    }

    /// Applies the same change to every text.
    pub(super) fn map_text(&self, change: impl Fn(&str) -> Option<String> + Copy) -> Self {
        match self {
            Self::Text(known) | Self::Path(known) if !known.dynamic => {
                change(&known.text).map_or(Self::Unknown, Self::text)
            }
            Self::OneOf(values) => {
                Self::OneOf(values.iter().map(|value| value.map_text(change)).collect())
            }
            Self::Number(text) => change(text).map_or(Self::Unknown, Self::text),
            _ => Self::Unknown,
        }
    }
}
