//! How a call ended, and how we know.

use toolmark_base::word_enum;

word_enum! {
    /// How a call ended.
    pub enum Status {
        /// The source says or implies that it worked.
        Succeeded = "succeeded",
        /// The tool reported an error.
        Failed = "failed",
        /// A person, a hook or a policy refused it.
        Denied = "denied",
        /// It was started and cut off.
        Interrupted = "interrupted",
        /// The trace has no result for it.
        Unanswered = "unanswered",
        /// There is a result, but nothing says whether it is an error.
        Unknown = "unknown",
    }
}

impl Status {
    /// Did the call end in something other than success, as far as is known?
    #[must_use]
    pub fn is_error(self) -> bool {
        matches!(self, Self::Failed | Self::Denied | Self::Interrupted)
    }
}

word_enum! {
    /// What a [`Status`] was read from, strongest first.
    pub enum Level {
        /// A field made for it: `is_error`, `success`, a span status.
        Protocol = "protocol",
        /// An exit code in the text of the result.
        ExitCode = "exit_code",
        /// A refusal or cancellation.
        Denial = "denial",
        /// Words in the result.
        Prose = "prose",
        /// Nothing: the format has no mark, or there is no result.
        Absent = "absent",
    }
}
