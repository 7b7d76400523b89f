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

use super::{ResultKind, ResultProgram};

/// Shells and hosts, then programs that are not known by name.
pub(super) static PACK: &[ResultProgram] = &[
    ResultProgram { lines: LINES, ..ResultProgram::NONE },
    ResultProgram { lines: OTHERS, ..ResultProgram::NONE },
];

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
            "exec: \"*\": executable file not found in $PATH",
            "*executable file not found in $PATH*",
            "*: cannot execute binary file*",
            "Command '*' not found, but can be installed with:",
            "Command '*' not found, did you mean:",
            "No command '*' found*",
            "fish: Unknown command: *",
            "nohup: failed to run command '*': No such file or directory",
            "timeout: failed to run command *: No such file or directory",
            "env: *: No such file or directory",
            "xargs: *: No such file or directory",
            "watch: *: command not found",
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
            "*: A parameter cannot be found that matches parameter name '*",
            "*: A positional parameter cannot be found that accepts argument *",
            "*: Missing an argument for parameter '*",
            "*: Cannot bind argument to parameter '*",
            "*: Cannot bind parameter '*",
            "*: Cannot validate argument on parameter '*",
            "*Parameter set cannot be resolved using the specified named parameters*",
            "The string is missing the terminator: *",
            "*The string is missing the terminator: *",
            "The token '*' is not a valid statement separator in this version.",
            "+ CategoryInfo *: InvalidArgument: *",
            "+ CategoryInfo *: ParserError: *",
            "The syntax of the command is incorrect.",
            "The filename, directory name, or volume label syntax is incorrect.",
            "* was unexpected at this time.",
            "*sh: *: unbound variable",
            "*sh: *: bad option*",
            "*sh: *: numeric argument required",
            "*bash: *: unary operator expected",
            "*bash: *: binary operator expected",
            "*bash: *: integer expression expected",
            "fish: *",
            "*bash: *: not a valid identifier",
            "(eval):#: bad pattern: *",
            "zsh:#: bad pattern: *",
            "zsh:#: unknown file attribute: *",
            "(eval):#: unknown file attribute: *",
            "(eval):#: *not an identifier*",
            "zsh:#: read-only variable: *",
            "(eval):#: read-only variable: *",
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
            "*Cannot find path '*' because it does not exist.",
            "*: Cannot find drive. A drive with the name *",
            "*Could not find a part of the path *",
            "*Could not find file '*",
            "+ CategoryInfo *: ObjectNotFound: *",
            "The system cannot find the file specified.",
            "The system cannot find the path specified.",
        ],
    ),
    (ResultKind::NothingMatched, &["zsh:*: no matches found: *", "(eval):*: no matches found: *"]),
    (
        ResultKind::Refused,
        &[
            "*sh: *: Permission denied",
            "zsh:*: permission denied: *",
            "(eval):*: permission denied: *",
            "*: Access to the path '*' is denied.",
            "*cannot be loaded because running scripts is disabled on this system*",
            "*The requested operation requires elevation*",
            "+ CategoryInfo *: PermissionDenied: *",
            "*bash: *: restricted*",
            "sudo: sorry, you must have a tty to run sudo",
            "*is not in the sudoers file*",
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
            "You cannot call a method on a null-valued expression.",
            "Exception calling \"*\" with *",
            "*No space left on device",
            "*Too many open files*",
            "*Cannot allocate memory",
            "*JavaScript heap out of memory",
            "*: Bus error*",
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
