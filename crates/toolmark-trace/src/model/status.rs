//! Status of a call and the evidence for it.

use toolmark_base::word_enum;

word_enum! {
    /// Status of a call.
    pub enum Status {
        /// The source states or implies that the call succeeded.
        Succeeded = "succeeded",
        /// The tool reported an error.
        Failed = "failed",
        /// A person, a hook or a policy denied the call.
        Denied = "denied",
        /// The call was started and then interrupted.
        Interrupted = "interrupted",
        /// The trace has no result of the call.
        Unanswered = "unanswered",
        /// There is a result, but it is unknown whether it is an error.
        Unknown = "unknown",
    }
}

impl Status {
    /// Returns whether the call is known to have ended without success.
    #[must_use]
    pub fn is_error(self) -> bool {
        matches!(self, Self::Failed | Self::Denied | Self::Interrupted)
    }
}

word_enum! {
    /// Evidence for a [`Status`], strongest first.
    pub enum StatusLevel {
        /// A dedicated field: `is_error`, `success`, a span status.
        Protocol = "protocol",
        /// An exit code in the text of the result.
        ExitCode = "exit_code",
        /// A refusal or cancellation.
        Denial = "denial",
        /// The wording of the result.
        Prose = "prose",
        /// No evidence: the format has no status field, or there is no result.
        Absent = "absent",
    }
}
