//! Three-valued answers about one call.

use toolmark_trace::Fact;

/// A fact missing from a trace that leaves a question about a call open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lack {
    /// The arguments of calls.
    Arguments,
    /// The results of calls.
    Results,
    /// The status of a call.
    Status,
    /// The duration of a call.
    Duration,
    /// The model response to which a call belongs.
    Step,
    /// A pattern exceeded its step limit on this text.
    Pattern,
    /// A description of the tool.
    Class,
    /// Whether a name that looks like another one is that one.
    Name,
    /// The exit code of a command.
    ExitCode,
    /// The meaning of a result.
    ResultKind,
}

impl Lack {
    /// Returns a description that fits after "because".
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Arguments => "the trace does not record arguments",
            Self::Results => "the trace does not record results",
            Self::Status => "the trace does not say whether the call failed",
            Self::Duration => "the trace does not record how long the call took",
            Self::Step => "the trace does not record model responses",
            Self::Pattern => "a pattern took too many steps",
            Self::Class => "no toolset describes the tool",
            Self::Name => "the name of the tool only looks like it",
            Self::ExitCode => "the trace does not record an exit code",
            Self::ResultKind => "the result does not show it",
        }
    }

    /// Returns the missing fact of the trace.
    #[must_use]
    pub fn fact(self) -> Option<Fact> {
        Some(match self {
            Self::Arguments => Fact::Arguments,
            Self::Results => Fact::Results,
            Self::Status => Fact::Status,
            Self::Duration => Fact::Durations,
            Self::Step => Fact::Steps,
            Self::ExitCode => Fact::ExitCodes,
            Self::Pattern | Self::Class | Self::Name | Self::ResultKind => return None,
        })
    }
}

/// Three-valued answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Truth {
    /// True.
    Yes,
    /// False.
    No,
    /// Undecidable because of a missing fact.
    Unknown(Lack),
}

impl Truth {
    /// Converts a boolean.
    #[must_use]
    pub fn of(holds: bool) -> Self {
        if holds { Self::Yes } else { Self::No }
    }

    /// Returns the conjunction: a no takes precedence, then an unknown.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::No, _) | (_, Self::No) => Self::No,
            (unknown @ Self::Unknown(_), _) | (_, unknown @ Self::Unknown(_)) => unknown,
            _ => Self::Yes,
        }
    }

    /// Returns the negation; unknown stays unknown.
    #[must_use]
    pub fn negated(self) -> Self {
        match self {
            Self::Yes => Self::No,
            Self::No => Self::Yes,
            unknown @ Self::Unknown(_) => unknown,
        }
    }

    /// Returns the disjunction of all answers; the first yes ends the evaluation.
    pub fn any(truths: impl IntoIterator<Item = Self>) -> Self {
        let mut sum = Self::No;
        for truth in truths {
            match truth {
                Self::Yes => return Self::Yes,
                Self::Unknown(_) if sum == Self::No => sum = truth,
                _ => {}
            }
        }
        sum
    }

    /// Returns the conjunction of all answers; the first no ends the evaluation.
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
