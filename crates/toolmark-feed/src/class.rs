//! What kind of failure a failed call is. The classes of `toolmark-check` say how to
//! recover; these say which failures have one cause: who refused, why an edit was
//! refused, whether a build, a linter or the tests failed.

use crate::checks::{self, Check, Shown};
use crate::language::Language;
use crate::role::Role;
use crate::salient::{self, Salient};
use serde_json::Value;
use toolmark_base::word_enum;
use toolmark_hosts::toolset::ToolRole;
use toolmark_session::errand;
use toolmark_session::error_class::{ErrorClass, of_failure};
use toolmark_session::shell::CommandLine;

word_enum! {
    /// The kind of a failure.
    pub enum FailureClass {
        /// It was cut off because of another call, or by the user.
        Cancelled = "cancelled",
        /// A person refused it.
        RefusedByUser = "refused-by-user",
        /// A hook, a policy or a sandbox refused it.
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
        /// The file or directory is not there.
        MissingPath = "missing-path",
        /// The file is too large to read at once.
        TooLarge = "too-large",
        /// The arguments, the options or the name were refused.
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
        /// Another command that failed.
        Exit = "exit",
        /// Any other error of a tool.
        Error = "error",
    }
}

impl FailureClass {
    /// Does it say everything, so that the message tells nothing apart?
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

    /// Is the language of the project what tells failures of it apart?
    #[must_use]
    pub fn is_by_language(self) -> bool {
        matches!(self, Self::Dependency | Self::Build | Self::Lint | Self::Tests)
    }
}

/// A call that failed: everything its key is made of.
#[derive(Debug, Clone, Copy)]
pub struct FailedCall<'c> {
    /// What its tool is for.
    pub role: ToolRole,
    /// What its tool is called.
    pub tool: &'c str,
    /// Its arguments, where they are JSON.
    pub args: Option<&'c Value>,
    /// The command it runs.
    pub command: Option<&'c str>,
    /// The exit code that the trace records.
    pub exit_code: Option<i64>,
    /// Does the trace say that it was refused?
    pub is_denied: bool,
    /// Does the trace say that it was cut off?
    pub is_interrupted: bool,
    /// The class that the session found already, of the same role and text.
    pub error: Option<ErrorClass>,
    /// What came back.
    pub text: &'c str,
}

impl FailedCall<'_> {
    /// What its command is sent for.
    pub(crate) fn errand(&self) -> Option<String> {
        errand(&CommandLine::new(self.command?))
    }
}

/// What a failure is.
#[derive(Debug, Clone, Copy)]
pub struct Classified<'c> {
    /// Its class.
    pub class: FailureClass,
    /// The language of what failed, where the class is told apart by it.
    pub language: Language,
    /// The line that says what is wrong.
    pub salient: Option<Salient<'c>>,
}

/// The class of a failed call.
#[must_use]
pub fn classify<'c>(failed: &FailedCall<'c>) -> Classified<'c> {
    let text = failed.text;
    let command = failed.command.unwrap_or_default();
    let is_shell = Role::of(failed.role, failed.tool) == Role::Shell;
    let is_plain = !failed.is_denied && !failed.is_interrupted && !is_by_user(text);
    let shown = if is_shell && is_plain { checks::shown(text) } else { Shown::default() };
    // What the output shows decides before what the command is run for: tests that do
    // not compile are a build that failed.
    let known = match (shown.missing, shown.check) {
        (Some(language), _) => Some((FailureClass::Dependency, language)),
        (_, Some((Check::Build, language))) => Some((FailureClass::Build, language)),
        (_, Some((Check::Tests, language))) => Some((FailureClass::Tests, language)),
        (_, Some((Check::Lint, language))) => Some((FailureClass::Lint, language)),
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
        ErrorClass::Denied if is_by_user(text) => return done(FailureClass::RefusedByUser),
        ErrorClass::Denied => return done(FailureClass::RefusedByPolicy),
        ErrorClass::NothingFound => return done(FailureClass::NothingFound),
        _ => {}
    }
    match Role::of(failed.role, failed.tool) {
        Role::Shell => of_shell(failed, error),
        role => of_tool(&role, failed, error),
    }
}

/// Did a person refuse, and not a hook or a rule?
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

/// Hardly any error speaks of a user.
fn is_about_user(text: &str) -> bool {
    text.contains("user") || text.contains("User")
}

fn of_tool<'c>(role: &Role, failed: &FailedCall<'c>, error: ErrorClass) -> Classified<'c> {
    let salient = salient::find(failed.text);
    let class = match error {
        ErrorClass::EditNoMatch => FailureClass::EditNoMatch,
        ErrorClass::EditAmbiguous => FailureClass::EditAmbiguous,
        ErrorClass::EditStale if failed.text.contains("has not been read") => {
            FailureClass::EditNotRead
        }
        ErrorClass::EditStale => FailureClass::EditChanged,
        ErrorClass::EditNoop => FailureClass::EditNoChange,
        ErrorClass::Missing if !matches!(role, Role::Tool(_)) => FailureClass::MissingPath,
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
