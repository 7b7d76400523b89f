//! Classes of failed calls. The classes of `toolmark-check` determine how to recover; these
//! determine which failures have the same cause: who refused a call, why an edit was rejected,
//! whether a build, a linter or the tests failed.

use crate::checks::{self, CheckKind, OutputChecks};
use crate::language::Language;
use crate::role::KeyRole;
use crate::salient::{self, Salient};
use serde_json::Value;
use toolmark_base::word_enum;
use toolmark_hosts::toolset::ToolRole;
use toolmark_session::errand;
use toolmark_session::error_class::{ErrorClass, of_failure};
use toolmark_session::shell::CommandLine;
use toolmark_trace::{DeniedBy, denial};

word_enum! {
    /// Class of a failure.
    pub enum FailureClass {
        /// The call was interrupted because of another call, or by the user.
        Cancelled = "cancelled",
        /// The user refused the call.
        RefusedByUser = "refused-by-user",
        /// A hook, a policy, a classifier or a sandbox refused it.
        RefusedByPolicy = "refused-by-policy",
        /// The text to be replaced is not in the file.
        EditNoMatch = "edit-no-match",
        /// The text to be replaced is in the file more than once.
        EditAmbiguous = "edit-ambiguous",
        /// The file was not read before.
        EditNotRead = "edit-not-read",
        /// The file has changed since it was read.
        EditChanged = "edit-changed",
        /// The edit would change nothing.
        EditNoChange = "edit-no-change",
        /// The file or directory does not exist.
        MissingPath = "missing-path",
        /// The file is too large to read at once.
        TooLarge = "too-large",
        /// The arguments, the options or the name were rejected.
        BadArguments = "bad-arguments",
        /// A search or a comparison that found nothing.
        NothingFound = "nothing-found",
        /// A program or a library is not installed.
        Dependency = "dependency",
        /// A build or a type check failed.
        Build = "build",
        /// A linter or a formatter found something.
        Lint = "lint",
        /// Tests failed.
        Tests = "tests",
        /// Another command failed.
        Exit = "exit",
        /// Any other error of a tool.
        Error = "error",
    }
}

impl FailureClass {
    /// Whether the class is sufficient, so that messages do not distinguish failures.
    #[must_use]
    pub fn is_closed(self) -> bool {
        matches!(
            self,
            Self::Cancelled
                | Self::RefusedByUser
                | Self::RefusedByPolicy
                | Self::EditNoMatch
                | Self::EditAmbiguous
                | Self::EditNotRead
                | Self::EditChanged
                | Self::EditNoChange
                | Self::MissingPath
                | Self::TooLarge
                | Self::NothingFound
        )
    }

    /// Whether the language of the project distinguishes failures of the class.
    #[must_use]
    pub fn is_by_language(self) -> bool {
        matches!(self, Self::Dependency | Self::Build | Self::Lint | Self::Tests)
    }
}

/// A failed call, with everything its key is built from.
#[derive(Debug, Clone, Copy)]
pub struct FailedCall<'c> {
    /// Role of the tool.
    pub role: ToolRole,
    /// Name of the tool.
    pub tool: &'c str,
    /// Arguments, if they are JSON.
    pub args: Option<&'c Value>,
    /// Command that the call runs.
    pub command: Option<&'c str>,
    /// Exit code in the trace.
    pub exit_code: Option<i64>,
    /// Whether the trace records that the call was refused.
    pub is_denied: bool,
    /// Whether the trace records that the call was interrupted.
    pub is_interrupted: bool,
    /// Class that the session has already determined for the same role and text.
    pub error: Option<ErrorClass>,
    /// Text of the result.
    pub text: &'c str,
}

impl FailedCall<'_> {
    /// Returns the errand of the command.
    pub(crate) fn errand(&self) -> Option<String> {
        errand(&CommandLine::new(self.command?))
    }
}

/// Classification of a failure.
#[derive(Debug, Clone, Copy)]
pub struct Classified<'c> {
    /// Class.
    pub class: FailureClass,
    /// Language of the failed check, if the class is distinguished by it.
    pub language: Language,
    /// Line that describes the error.
    pub salient: Option<Salient<'c>>,
}

/// Classifies a failed call.
#[must_use]
pub fn classify<'c>(failed: &FailedCall<'c>) -> Classified<'c> {
    let text = failed.text;
    let command = failed.command.unwrap_or_default();
    let is_shell = KeyRole::of(failed.role, failed.tool) == KeyRole::Shell;
    let is_plain = !failed.is_denied && !failed.is_interrupted && !is_by_user(text);
    let shown = if is_shell && is_plain { checks::shown(text) } else { OutputChecks::default() };
    // The output takes precedence over the purpose of the command: tests that do
    // not compile are a build that failed.
    let known = match (shown.missing, shown.check) {
        (Some(language), _) => Some((FailureClass::Dependency, language)),
        (_, Some((CheckKind::Build, language))) => Some((FailureClass::Build, language)),
        (_, Some((CheckKind::Tests, language))) => Some((FailureClass::Tests, language)),
        (_, Some((CheckKind::Lint, language))) => Some((FailureClass::Lint, language)),
        _ => None,
    };
    if let Some((class, language)) = known {
        return Classified { class, language, salient: salient::find_for(text, command) };
    }
    let error = match (failed.is_denied, failed.is_interrupted) {
        (true, _) => ErrorClass::Denied,
        (_, true) => ErrorClass::Cancelled,
        _ => failed.error.unwrap_or_else(|| {
            of_failure(failed.role, &CommandLine::new(command), failed.exit_code, text)
        }),
    };
    let done = |class| Classified { class, language: Language::None, salient: None };
    match error {
        ErrorClass::Cancelled => return done(FailureClass::Cancelled),
        ErrorClass::Denied if is_without_verdict(text) => return done(FailureClass::Cancelled),
        ErrorClass::Denied if is_by_user(text) => return done(FailureClass::RefusedByUser),
        ErrorClass::Denied => return done(FailureClass::RefusedByPolicy),
        ErrorClass::NothingFound => return done(FailureClass::NothingFound),
        _ => {}
    }
    match KeyRole::of(failed.role, failed.tool) {
        KeyRole::Shell => of_shell(failed, error),
        role => of_tool(&role, failed, error),
    }
}

/// Whether the user refused, rather than a hook or a rule.
fn is_by_user(text: &str) -> bool {
    const WORDS: &[&str] = &[
        "The user doesn't want",
        "user doesn't want to",
        "rejected by user",
        "rejected by the user",
        "denied by user",
        "denied by the user",
        "declined by user",
        "User rejected",
        "User declined",
        "user refused",
        "User denied",
        "user chose not to",
        "the user said",
    ];
    let start = crate::template::cut(text, 600);
    text.trim().is_empty()
        || is_about_user(start) && WORDS.iter().any(|words| start.contains(words))
}

/// Returns whether a call did not run because its classifier gave no verdict.
fn is_without_verdict(text: &str) -> bool {
    denial(text).is_some_and(|denial| denial.by == DeniedBy::NoVerdict)
}

/// Whether a text mentions a user; hardly any error does.
fn is_about_user(text: &str) -> bool {
    text.contains("user") || text.contains("User")
}

fn of_tool<'c>(role: &KeyRole, failed: &FailedCall<'c>, error: ErrorClass) -> Classified<'c> {
    let salient = salient::find(failed.text);
    let class = match error {
        ErrorClass::EditNoMatch => FailureClass::EditNoMatch,
        ErrorClass::EditAmbiguous => FailureClass::EditAmbiguous,
        ErrorClass::EditStale if failed.text.contains("has not been read") => {
            FailureClass::EditNotRead
        }
        ErrorClass::EditStale => FailureClass::EditChanged,
        ErrorClass::EditNoop => FailureClass::EditNoChange,
        ErrorClass::Missing if !matches!(role, KeyRole::Tool(_)) => FailureClass::MissingPath,
        ErrorClass::TooLarge => FailureClass::TooLarge,
        ErrorClass::BadArguments => FailureClass::BadArguments,
        _ => FailureClass::Error,
    };
    Classified { class, language: Language::None, salient }
}

fn of_shell<'c>(failed: &FailedCall<'c>, error: ErrorClass) -> Classified<'c> {
    let command = failed.command.unwrap_or_default();
    let salient = salient::find_for(failed.text, command);
    let line = salient.map_or("", |salient| salient.line);
    let with = |class, language| Classified { class, language, salient };
    if checks::is_missing_program(failed.text, error) {
        return with(FailureClass::Dependency, Language::Program);
    }
    if checks::is_usage(line) {
        return with(FailureClass::BadArguments, Language::None);
    }
    // The recipe of a make file is a part of the build, whatever it says.
    if checks::is_make(failed.text) {
        return with(FailureClass::Build, Language::C);
    }
    if checks::is_missing_path(line) {
        return with(FailureClass::MissingPath, Language::None);
    }
    let class = match error {
        // Git has its own words for what it cannot do, before or after a build.
        _ if line.starts_with("fatal: ") => FailureClass::Exit,
        ErrorClass::Tests => FailureClass::Tests,
        ErrorClass::Build if checks::is_linter(command) => FailureClass::Lint,
        ErrorClass::Build => FailureClass::Build,
        _ => FailureClass::Exit,
    };
    let language = match class.is_by_language() {
        true => Language::of(command, failed.text),
        false => Language::None,
    };
    with(class, language)
}
