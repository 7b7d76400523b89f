//! # Files and text
//!
//! Programs that print, search, list, copy and remove files. What they print is content: only their
//! own messages, which begin with their name, are read.
//!
//! ```result not-found
//! $ cat a.txt 2>&1 | head -5
//! cat: a.txt: No such file or directory
//! ```
//! ```result passed
//! $ cat ci.log | tail -3
//! 3 tests failed
//! error: build failed
//! ```
//! ```result nothing-matched
//! $ grep -rn frob src | head
//! ```
//! ```result usage-error
//! $ stat -f %m -t x a.txt; ls
//! stat: invalid option -- 'Q'
//! a.txt
//! ```
//! ```result usage-error
//! $ rg '(' src | head
//! rg: regex parse error:
//! ```
//! ```result unknown
//! $ wc -l src/a.rs || true
//! ```

use super::{Parser, Program, ResultKind, Work};

/// Messages of the system about a file, behind the name of the program.
const FILE_ERRORS: &[(ResultKind, &[&str])] = &[
    (
        ResultKind::NotFound,
        &[
            "{}: *: No such file or directory",
            "{}: cannot *: No such file or directory",
            "{}: *: IO error for operation on *",
            "{}: *No such file or directory (os error 2)",
            "\"*\": No such file or directory (os error 2)",
            "ugrep: warning: *: No such file or directory",
            "{}: can't read *: No such file or directory",
            "{}: *: Not a directory",
            "{}: cannot open *",
        ],
    ),
    (
        ResultKind::Refused,
        &["{}: *: Permission denied", "{}: *: Operation not permitted", "{}: *ermission denied*"],
    ),
    (
        ResultKind::UsageError,
        &[
            "{}: *: Is a directory",
            "{}: *s a directory",
            "{}: -r not specified; omitting directory *",
            "{}: * are the same file",
            "{}: missing *",
            "{}: regex parse error:",
            "{}: unrecognized file type: *",
            "{}: unrecognized flag *",
            "{}: *parentheses not balanced*",
            "{}: *nmatched *",
            "{}: *nvalid regular expression*",
            "{}: *repetition-operator operand invalid*",
            "{}: *invalid context length argument*",
            "{}: *: unterminated *",
            "{}: -e expression *",
            "{}: #: *: *",
            "{}: bad flag *",
            "{}: syntax error *",
            "{}: cmd. line:*",
            "{}: invalid *",
            "usage: {} *",
            "Usage: {} *",
        ],
    ),
    (
        ResultKind::Failed,
        &["{}: *: File exists", "{}: *: Directory not empty", "{}: *No space left on device"],
    ),
];

pub(in crate::results) static PACK: &[Program] = &[
    Program {
        names: &[
            "cat",
            "head",
            "tail",
            "nl",
            "bat",
            "less",
            "more",
            "tac",
            "ls",
            "tree",
            "exa",
            "eza",
            "stat",
            "file",
            "du",
            "df",
            "wc",
            "sed",
            "awk",
            "gawk",
            "cut",
            "sort",
            "uniq",
            "tr",
            "xxd",
            "hexdump",
            "od",
            "strings",
            "column",
            "fold",
            "diff",
            "cmp",
            "comm",
            "jq",
            "yq",
            "realpath",
            "readlink",
            "basename",
            "dirname",
            "md5sum",
            "sha256sum",
            "shasum",
            "env",
            "printenv",
            "date",
            "uname",
            "whoami",
            "id",
            "hostname",
            "ps",
            "lsof",
            "type",
            "Get-Content",
            "Get-ChildItem",
            "Get-Item",
            "Get-Process",
            "dir",
            "test-path",
        ],
        work: Work::Shows,
        parser: Parser::Getopt,
        lines: FILE_ERRORS,
    },
    Program {
        names: &[
            "grep",
            "egrep",
            "fgrep",
            "rg",
            "ag",
            "ack",
            "find",
            "fd",
            "pgrep",
            "which",
            "whereis",
            "locate",
            "Select-String",
            "mdfind",
            "ast-grep",
            "sg",
        ],
        work: Work::Searches,
        parser: Parser::Getopt,
        lines: FILE_ERRORS,
    },
    Program {
        names: &[
            "cp", "mv", "rm", "mkdir", "rmdir", "touch", "ln", "chmod", "chown", "install", "tee",
            "tar", "zip", "unzip", "gzip", "gunzip", "truncate", "dd", "rsync", "mktemp", "patch",
        ],
        work: Work::Acts,
        parser: Parser::Getopt,
        lines: FILE_ERRORS,
    },
    Program {
        names: &[
            "echo", "printf", "true", ":", "exit", "set", "export", "sleep", "wait", "test", "[",
            "cd", "pushd", "popd", "source", ".", "unset", "local", "read", "trap", "shopt",
            "ulimit", "return", "false", "pwd", "alias", "declare", "umask", "break", "continue",
            "clear",
        ],
        work: Work::Nothing,
        ..Program::NONE
    },
];
