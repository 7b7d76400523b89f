//! Three-valued answers about one call.

use toolmark_trace::Fact;

/// What a trace does not say, so that a question about a call stays open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lack {
    /// The arguments of calls.
    Arguments,
    /// The results of calls.
    Results,
    /// Whether a call failed.
    Status,
    /// How long a call took.
    Duration,
    /// Which model response a call belongs to.
    Step,
    /// A pattern took too many steps on this text.
    Pattern,
}

impl Lack {
    /// In words that fit behind "because".
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Arguments => "the trace does not record arguments",
            Self::Results => "the trace does not record results",
            Self::Status => "the trace does not say whether the call failed",
            Self::Duration => "the trace does not record how long the call took",
            Self::Step => "the trace does not record model responses",
            Self::Pattern => "a pattern took too many steps",
        }
    }

    /// The fact of the trace that is missing.
    #[must_use]
    pub fn fact(self) -> Option<Fact> {
        Some(match self {
            Self::Arguments => Fact::Arguments,
            Self::Results => Fact::Results,
            Self::Status => Fact::Status,
            Self::Duration => Fact::Durations,
            Self::Step => Fact::Steps,
            Self::Pattern => return None,
        })
    }
}

/// Yes, no, or it cannot be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Truth {
    /// It is so.
    Yes,
    /// It is not.
    No,
    /// It cannot be told without this.
    Unknown(Lack),
}

impl Truth {
    /// Yes where it holds.
    #[must_use]
    pub fn of(holds: bool) -> Self {
        if holds { Self::Yes } else { Self::No }
    }

    /// Both: a no decides, then what is unknown.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::No, _) | (_, Self::No) => Self::No,
            (unknown @ Self::Unknown(_), _) | (_, unknown @ Self::Unknown(_)) => unknown,
            _ => Self::Yes,
        }
    }

    /// The opposite; what is unknown stays so.
    #[must_use]
    pub fn negated(self) -> Self {
        match self {
            Self::Yes => Self::No,
            Self::No => Self::Yes,
            unknown @ Self::Unknown(_) => unknown,
        }
    }

    /// All of them; the first no ends it.
    pub fn all(truths: impl IntoIterator<Item = Self>) -> Self {
        let mut sum = Self::Yes;
        for truth in truths {
            sum = sum.and(truth);
            if sum == Self::No {
                break;
            }
        }
        sum
    }
}
