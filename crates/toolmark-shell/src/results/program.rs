//! A program as data: the lines by which its output shows what became of it.

use super::ResultKind;

/// A program and what its output means.
#[derive(Debug)]
pub(crate) struct ResultProgram {
    /// Names, without directory and extension; a name with a blank is a subcommand.
    pub(crate) names: &'static [&'static str],
    /// Purpose of the program.
    pub(crate) work: ProgramPurpose,
    /// Parser of its command line, which decides how it rejects one.
    pub(crate) parser: CommandLineParser,
    /// Patterns of whole lines, by what they show.
    pub(crate) lines: &'static [(ResultKind, &'static [&'static str])],
}

impl ResultProgram {
    /// A program that is known by name only.
    pub(crate) const NONE: Self = Self {
        names: &[],
        work: ProgramPurpose::Acts,
        parser: CommandLineParser::Unknown,
        lines: &[],
    };
}

/// Purpose of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProgramPurpose {
    /// To print what there is; anything printed is an answer.
    Shows,
    /// To print the answer of a service; an object with an error is an answer of failure.
    Fetches,
    /// To find something; nothing printed means that nothing was found.
    Searches,
    /// To test.
    Tests,
    /// To build, check types, lint or format.
    Builds,
    /// To run other programs, whose lines it prints.
    Carries,
    /// To change something.
    Acts,
    /// Nothing that a result could depend on.
    Nothing,
}

/// Parsers of command lines, by the way they reject one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CommandLineParser {
    /// getopt and getopt_long.
    Getopt,
    /// parse-options of git.
    Git,
    /// cobra and pflag.
    Cobra,
    /// clap.
    Clap,
    /// argparse.
    Argparse,
    /// click and typer.
    Click,
    /// commander, yargs and other parsers of JavaScript.
    Commander,
    /// The package flag of Go.
    GoFlag,
    /// Another parser.
    Unknown,
}

impl CommandLineParser {
    /// All parsers.
    pub(crate) const ALL: &'static [Self] = &[
        Self::Getopt,
        Self::Git,
        Self::Cobra,
        Self::Clap,
        Self::Argparse,
        Self::Click,
        Self::Commander,
        Self::GoFlag,
    ];

    /// Returns the lines with which the parser rejects a command line.
    pub(crate) fn rejections(self) -> &'static [&'static str] {
        match self {
            Self::Getopt => &[
                "*: invalid option -- *",
                "*: illegal option -- *",
                "*: unrecognized option *",
                "*: unrecognized option",
                "*: unknown option -- *",
                "*: option requires an argument -- *",
                "*: option * requires an argument",
                "*: missing operand*",
                "*: extra operand *",
                "*: invalid argument *",
                "*: unknown predicate *",
                "*: paths must precede expression*",
            ],
            Self::Git => &[
                "error: unknown option `*",
                "error: unknown switch `*",
                "error: switch `* requires a value",
                "error: option `* requires a value",
                "error: option `* takes no value",
                "error: ambiguous option: *",
                "fatal: option '*' must come before *",
                "fatal: unrecognized argument: *",
                "fatal: unrecognized option *",
                "fatal: options '*' and '*' cannot be used together",
                "fatal: invalid option *",
                "fatal: bad flag *",
                "git: '*' is not a git command*",
                "usage: git *",
            ],
            Self::Cobra => &[
                "unknown flag: *",
                "Error: unknown flag: *",
                "error: unknown flag: *",
                "unknown shorthand flag: *",
                "Error: unknown shorthand flag: *",
                "error: unknown shorthand flag: *",
                "unknown command *",
                "Error: unknown command *",
                "error: unknown command *",
                "flag needs an argument: *",
                "Error: flag needs an argument: *",
                "Error: required flag(s) *",
                "required flag(s) *",
                "invalid argument * for *",
                "Error: invalid argument * for *",
                "accepts * arg(s), received #",
                "accepts * arg(s), received 0",
                "Error: accepts * arg(s), received *",
                "requires at least # arg(s), *",
                "Error: requires at least # arg(s), *",
            ],
            Self::Clap => &[
                "error: unexpected argument * found",
                "error: unrecognized subcommand *",
                "error: invalid value * for *",
                "error: a value is required for *",
                "error: the following required arguments were not provided:",
                "error: the argument * cannot be used with *",
                "error: the argument * cannot be used multiple times*",
                "error: no such command: *",
                "error: unexpected value * for *",
                "error: * requires a subcommand but one was not provided",
            ],
            Self::Argparse => &[
                "*: error: unrecognized arguments: *",
                "*: error: argument *",
                "*: error: the following arguments are required: *",
                "*: error: ambiguous option: *",
                "*: error: no such option: *",
                "*: error: unrecognized arguments*",
                "Unknown option: *",
                "no such option: *",
            ],
            Self::Click => &[
                "Error: No such option: *",
                "Error: No such option '*",
                "Error: No such command '*",
                "Error: Missing argument *",
                "Error: Missing option *",
                "Error: Got unexpected extra argument*",
                "Error: Invalid value for *",
                "Error: Option '*' requires an argument.",
                "* Got unexpected extra argument* *",
            ],
            Self::Commander => &[
                "error: unknown option '*",
                "error: unknown command '*",
                "error: missing required argument '*",
                "error: option '*' argument missing",
                "error: too many arguments*",
                "Unknown argument: *",
                "Unknown arguments: *",
                "Unknown option: *",
                "Unknown option '*",
                "Not enough non-option arguments: *",
                "Invalid option '*",
                "error TS5023: Unknown compiler option *",
                "CACError: Unknown option *",
            ],
            Self::GoFlag => &[
                "flag provided but not defined: *",
                "flag needs an argument: *",
                "invalid value \"*\" for flag *",
                "invalid boolean value \"*\" for *",
            ],
            Self::Unknown => &[],
        }
    }
}
