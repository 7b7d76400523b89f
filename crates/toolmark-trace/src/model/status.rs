//! How a call ended, and how we know.

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// The source says or implies that it worked.
    Succeeded,
    /// The tool reported an error.
    Failed,
    /// A person, a hook or a policy refused it.
    Denied,
    /// It was started and cut off.
    Interrupted,
    /// The trace has no result for it.
    Unanswered,
    /// There is a result, but nothing says whether it is an error.
    Unknown,
}

impl Status {
    /// Every status.
    pub const ALL: &[Self] = &[
        Self::Succeeded,
        Self::Failed,
        Self::Denied,
        Self::Interrupted,
        Self::Unanswered,
        Self::Unknown,
    ];

    /// Did the call end in something other than success, as far as is known?
    #[must_use]
    pub fn is_error(self) -> bool {
        matches!(self, Self::Failed | Self::Denied | Self::Interrupted)
    }

    /// The word used in every output.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Denied => "denied",
            Self::Interrupted => "interrupted",
            Self::Unanswered => "unanswered",
            Self::Unknown => "unknown",
        }
    }
}

/// What a [`Status`] was read from, strongest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// A field made for it: `is_error`, `success`, a span status.
    Protocol,
    /// An exit code in the text of the result.
    ExitCode,
    /// A refusal or cancellation.
    Denial,
    /// Words in the result.
    Prose,
    /// Nothing: the format has no mark, or there is no result.
    Absent,
}

impl Level {
    /// Every level, strongest first.
    pub const ALL: &[Self] =
        &[Self::Protocol, Self::ExitCode, Self::Denial, Self::Prose, Self::Absent];

    /// The word used in every output.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Protocol => "protocol",
            Self::ExitCode => "exit_code",
            Self::Denial => "denial",
            Self::Prose => "prose",
            Self::Absent => "absent",
        }
    }
}
