//! # Shells and hosts
//!
//! Messages about a command line as a whole. They are looked for in the output of every command.
//!
//! ```result missing-program
//! $ frob x || true
//! bash: line 1: frob: command not found
//! ```
//! ```result usage-error
//! $ eval "$(x" ; echo done
//! bash: eval: line 30: syntax error near unexpected token `('
//! done
//! ```
//! ```result wrong-directory
//! $ cd src && ls !1
//! bash: line 1: cd: src: No such file or directory
//! ```
//! ```result missing-program
//! $ Get-Frob | Select-Object -First 3
//! Get-Frob : The term 'Get-Frob' is not recognized as the name of a cmdlet, function, script file, or operable program.
//! ```
//! ```result still-running
//! $ npm start
//! Command running in background with ID: b1. Output is being written to: /tmp/b1.output
//! ```

use super::{Program, ResultKind};

/// Shells and hosts, then programs that are not known by name.
pub(super) static PACK: &[Program] =
    &[Program { lines: LINES, ..Program::NONE }, Program { lines: OTHERS, ..Program::NONE }];

const OTHERS: &[(ResultKind, &[&str])] = &[
    (ResultKind::UsageError, &["usage: *", "Usage: *", "USAGE: *", "Usage:", "USAGE:", "usage:"]),
    (
        ResultKind::Failed,
        &[
            "Error: *",
            "error: *",
            "ERROR: *",
            "Fatal: *",
            "fatal: *",
            "FATAL: *",
            "Fatal error: *",
            "panic: *",
            "{}: error: *",
            "{}: fatal: *",
            "Traceback (most recent call last):",
            "Unhandled exception*",
            "thread '*' panicked at *",
            "Exception in thread *",
        ],
    ),
];

const LINES: &[(ResultKind, &[&str])] = &[
    (
        ResultKind::MissingProgram,
        &[
            "*: command not found",
            "*: command not found: *",
            "*sh: #: *: not found",
            "*sh: *: not found",
            "* is not recognized as an internal or external command,*",
            "* is not recognized as the name of a cmdlet*",
            "* is not recognized as a name of a cmdlet*",
            "*env: *: No such file or directory",
            "*: cannot execute: required file not found",
            "*: bad interpreter: *",
            "No such command: *",
        ],
    ),
    (
        ResultKind::UsageError,
        &[
            "*bash: *: syntax error near unexpected token *",
            "*sh: *yntax error*",
            "*bash: *unexpected EOF while looking for matching *",
            "*bash: *: bad substitution",
            "(eval):*: parse error near *",
            "zsh:*: parse error near *",
            "(eval):*: unmatched *",
            "zsh:*: unmatched *",
            "zsh:*: bad substitution",
            "(eval):*: bad substitution",
            "*bash: *: ambiguous redirect",
            "*: event not found",
            "* : FullyQualifiedErrorId : *Parameter*",
            "*ParserError: *",
            "Missing closing '*' in *",
            "* : Unexpected token '*' in expression or statement.",
        ],
    ),
    (
        ResultKind::WrongDirectory,
        &[
            "*sh: *cd: *: No such file or directory",
            "*line #: cd: *: No such file or directory",
            "*sh: cd: can't cd to *",
            "*sh: #: cd: can't cd to *",
            "cd:cd:#: no such file or directory: *",
            "(eval):cd:#: no such file or directory: *",
            "zsh:cd:#: no such file or directory: *",
            "*cd: no such file or directory: *",
            "*cd: not a directory: *",
            "*: cd: *: Not a directory",
            "Set-Location*: Cannot find path *",
        ],
    ),
    (
        ResultKind::NotFound,
        &[
            "*sh: *line #: *: No such file or directory",
            "*bash: *: No such file or directory",
            "*sh: can't open input file: *",
            "*sh: can't open *",
            "*sh: #: cannot open *: No such file*",
            "*sh: #: .: *: not found",
            "*(eval):#: no such file or directory: *",
            "zsh:#: no such file or directory: *",
            "*: Cannot find path '*' because it does not exist.",
        ],
    ),
    (ResultKind::NothingMatched, &["zsh:*: no matches found: *", "(eval):*: no matches found: *"]),
    (
        ResultKind::Refused,
        &[
            "*sh: *: Permission denied",
            "zsh:*: permission denied: *",
            "(eval):*: permission denied: *",
            "sudo: a password is required",
            "sudo: a terminal is required to read the password*",
            "*Operation not permitted",
        ],
    ),
    (ResultKind::CutOff, &["Command timed out after *", "command timed out after *"]),
    (
        ResultKind::StillRunning,
        &[
            "Command running in background with ID: *",
            "Command was manually backgrounded by user with ID: *",
            "Process running with session ID #*",
        ],
    ),
    (
        ResultKind::Failed,
        &[
            "*: Segmentation fault*",
            "Segmentation fault*",
            "Killed",
            "*EADDRINUSE*",
            "*ddress already in use*",
            "*Port # is not available",
            "*ort # is already in use",
            "Aborted (core dumped)",
        ],
    ),
];
