//! How a host is started without anybody at the terminal, where its session lies, and
//! how its stream says that it ended.

use serde_json::Value;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// How a host is run for a trial.
pub struct Launch {
    /// Its program.
    pub program: &'static str,
    /// The version this was tried with.
    pub tried: &'static str,
    /// Its arguments. The prompt comes on stdin: arguments end at 128 kB.
    pub args: fn(&LaunchRequest<'_>) -> Vec<OsString>,
    /// Its variables besides those of whoever runs it.
    pub env: fn(&LaunchRequest<'_>) -> Vec<(&'static str, OsString)>,
    /// Files it needs in a fresh home: paths from the home, and their text.
    pub files: fn(&LaunchRequest<'_>) -> Vec<(&'static str, String)>,
    /// Variables with keys and addresses that are passed on where they are set.
    pub passes: &'static [&'static str],
    /// Where the trace is.
    pub session: SessionTrace,
    /// Reads how a run ended from what it printed.
    pub end: fn(&Printed<'_>) -> End,
    /// Can it go on with a session, so that a case may have several turns?
    pub resumes: bool,
    /// What a person should know: what it hides, what it does not enforce.
    pub remarks: &'static str,
}

/// What a host is asked to do.
#[derive(Debug)]
pub struct LaunchRequest<'a> {
    /// The model.
    pub model: Option<&'a str>,
    /// What it may do.
    pub permissions: Allowed,
    /// Its home directory, where it has one of its own.
    pub home: Option<&'a Path>,
    /// An id for the session, a UUID.
    pub session: &'a str,
    /// The session to go on with.
    pub resume: Option<&'a str>,
    /// How many model responses it may take.
    pub turns: Option<u64>,
    /// How many US dollars it may spend.
    pub usd: Option<f64>,
}

/// What a host may do without being asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Allowed {
    /// Read and answer.
    Read,
    /// Work in its workspace.
    Workspace,
    /// Everything.
    Full,
}

/// Where the trace of a run is.
#[derive(Debug, Clone, Copy)]
pub enum SessionTrace {
    /// A file below its directory: does a path name one? Sub-agents have others.
    File {
        /// The directory, from the home.
        folder: &'static str,
        /// Is it the file of a session?
        is_session: fn(&Path) -> bool,
    },
    /// What it prints.
    Stream,
}

/// What a host printed.
#[derive(Debug, Clone, Copy)]
pub struct Printed<'a> {
    /// Its standard output.
    pub stdout: &'a str,
    /// Its standard error.
    pub stderr: &'a str,
    /// Its exit code.
    pub code: Option<i32>,
}

/// How a run ended, as its host says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// It came to its end.
    Completed {
        /// How many calls its permissions denied, where it says so.
        denied: u64,
    },
    /// A limit of its own ended it.
    Limit(String),
    /// It could not do its work.
    Trouble(Trouble, String),
    /// It does not say.
    Unmarked,
}

/// What kept a host from its work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// No key, or one that is not taken.
    Credentials,
    /// No such model.
    Model,
    /// Too many requests.
    RateLimit,
    /// The provider is out of order.
    Server,
    /// The provider cannot be reached.
    Network,
    /// It did not begin: an option it does not know, a file that is wrong.
    Start,
}

impl End {
    /// A run that came to its end, and of which nothing was denied.
    pub(crate) const COMPLETED: Self = Self::Completed { denied: 0 };

    /// What a message about an error means.
    #[must_use]
    pub fn trouble(message: &str, status: Option<u64>) -> Self {
        let message = message.trim();
        Self::Trouble(classify(message, status), message.to_owned())
    }
}

/// What an error is about: by the status of HTTP where it is known, else by its words.
fn classify(message: &str, status: Option<u64>) -> Trouble {
    let status = status.or_else(|| status_in(message));
    match status {
        Some(401 | 403) => return Trouble::Credentials,
        Some(404) => return Trouble::Model,
        Some(429) => return Trouble::RateLimit,
        Some(500..=599) => return Trouble::Server,
        _ => {}
    }
    let lower = message.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    if has(&["rate limit", "rate_limit", "too many requests", "quota", "resource_exhausted"]) {
        Trouble::RateLimit
    } else if has(&[
        "unauthorized",
        "authenticat",
        "api key",
        "api_key",
        "credential",
        "logged in",
        "log in",
        "login",
    ]) {
        Trouble::Credentials
    } else if has(&["model"]) && has(&["not found", "does not exist", "not supported", "unknown"]) {
        Trouble::Model
    } else if has(&[
        "connect",
        "network",
        "dns",
        "resolve",
        "enotfound",
        "econnrefused",
        "timed out",
        "timeout",
        "tls",
        "certificate",
    ]) {
        Trouble::Network
    } else {
        Trouble::Server
    }
}

/// The status of HTTP that a message names: three digits of an error, as a word.
fn status_in(message: &str) -> Option<u64> {
    let words = message.split(|c: char| !c.is_ascii_alphanumeric());
    words
        .filter(|word| word.len() == 3)
        .find_map(|word| word.parse::<u64>().ok().filter(|status| (400..600).contains(status)))
}

/// The records of a stream, the last first. What is not JSON is skipped.
pub(crate) fn records_from_end(stdout: &str) -> impl Iterator<Item = Value> + '_ {
    /// Records that are looked at: marks of the end are near it.
    const MAX_RECORDS: usize = 500;
    let lines = stdout.lines().rev().filter(|line| line.trim_start().starts_with('{'));
    lines.take(MAX_RECORDS).filter_map(|line| serde_json::from_str(line).ok())
}

/// Is this the type of a record?
pub(crate) fn is_type(record: &Value, kind: &str) -> bool {
    record.get("type").and_then(Value::as_str) == Some(kind)
}

/// A text somewhere in a record.
pub(crate) fn text_at<'v>(record: &'v Value, pointer: &str) -> Option<&'v str> {
    record.pointer(pointer).and_then(Value::as_str)
}

/// Why a host that printed no stream at all gave up: the last thing it complained of.
pub(crate) fn complaint(printed: &Printed<'_>) -> End {
    let last = printed.stderr.lines().rev().find(|line| !line.trim().is_empty());
    match (printed.code, last) {
        (Some(0) | None, _) => End::Unmarked,
        (Some(code), None) => {
            End::Trouble(Trouble::Start, format!("it ended with exit code {code}"))
        }
        (Some(_), Some(line)) => {
            let trouble = match classify(line, None) {
                // Words that say nothing are of a program that did not begin.
                Trouble::Server if status_in(line).is_none() => Trouble::Start,
                trouble => trouble,
            };
            End::Trouble(trouble, line.trim().to_owned())
        }
    }
}

impl Launch {
    /// The session files below a home, the newest last.
    #[must_use]
    pub fn session_files(&self, home: &Path) -> Vec<PathBuf> {
        let SessionTrace::File { folder, is_session } = self.session else { return Vec::new() };
        let mut found = Vec::new();
        let mut todo = vec![(home.join(folder), 0)];
        while let Some((directory, depth)) = todo.pop() {
            /// Sessions lie at most this deep: `sessions/2026/03/14/rollout-….jsonl`.
            const MAX_DEPTH: usize = 6;
            for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
                let path = entry.path();
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() && depth < MAX_DEPTH => todo.push((path, depth + 1)),
                    Ok(kind) if kind.is_file() && is_session(&path) => {
                        let modified = entry.metadata().and_then(|about| about.modified()).ok();
                        found.push((modified, path));
                    }
                    _ => {}
                }
            }
        }
        found.sort();
        found.into_iter().map(|(_, path)| path).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_told_apart() {
        use Trouble::{Credentials, Model, Network, RateLimit, Server};
        for (message, status, trouble) in [
            ("unexpected status 401 Unauthorized: bad key", None, Credentials),
            ("401 bad key", None, Credentials),
            ("slow down", Some(429), RateLimit),
            ("exceeded retry limit, last status: 429 Too Many Requests", None, RateLimit),
            ("500 stand-in broke", None, Server),
            ("We’re currently experiencing high demand", None, Server),
            ("model claude-x not found", None, Model),
            ("connect ECONNREFUSED 127.0.0.1:1", None, Network),
            ("{\"type\":\"authentication_error\"}", None, Credentials),
            ("Please run /login", None, Credentials),
        ] {
            assert_eq!(classify(message, status), trouble, "{message}");
        }
    }

    #[test]
    fn a_host_that_did_not_begin_says_so_on_stderr() {
        let printed = |stderr, code| complaint(&Printed { stdout: "", stderr, code });
        let unknown = "error: unknown option '--nonsense'";
        assert_eq!(printed(unknown, Some(1)), End::Trouble(Trouble::Start, unknown.into()));
        assert!(matches!(printed("no API key\n", Some(1)), End::Trouble(Trouble::Credentials, _)));
        assert!(matches!(printed("", Some(2)), End::Trouble(Trouble::Start, _)));
        assert_eq!(printed("warning", Some(0)), End::Unmarked);
    }
}
