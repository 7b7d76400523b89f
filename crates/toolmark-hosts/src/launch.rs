//! Headless launch of a host, the location of its session, and the exit status in its output
//! stream.

use serde_json::Value;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Launch settings of a host for a trial.
pub struct Launch {
    /// Program name.
    pub program: &'static str,
    /// Version with which the settings were tested.
    pub tried: &'static str,
    /// Returns the arguments. The prompt is passed on stdin because arguments are limited to
    /// 128 kB.
    pub args: fn(&LaunchRequest<'_>) -> Vec<OsString>,
    /// Returns the environment variables to set in addition to the caller's.
    pub env: fn(&LaunchRequest<'_>) -> Vec<(&'static str, OsString)>,
    /// Returns the files to create in a fresh home: paths relative to the home, and their
    /// text.
    pub files: fn(&LaunchRequest<'_>) -> Vec<(&'static str, String)>,
    /// Variables with keys and addresses that are passed on if they are set.
    pub passes: &'static [&'static str],
    /// Location of the trace.
    pub session: SessionTrace,
    /// Determines from the output how a run ended.
    pub end: fn(&Printed<'_>) -> End,
    /// Whether a session can be resumed, so that a case may have several turns.
    pub resumes: bool,
    /// Remarks for the user: what the host hides, and which settings it does not enforce.
    pub remarks: &'static str,
}

/// Options of a single launch.
#[derive(Debug)]
pub struct LaunchRequest<'a> {
    /// Model.
    pub model: Option<&'a str>,
    /// Permissions.
    pub permissions: Allowed,
    /// Home directory, if the launch has its own.
    pub home: Option<&'a Path>,
    /// Session id, a UUID.
    pub session: &'a str,
    /// Session to resume.
    pub resume: Option<&'a str>,
    /// Maximum number of model responses.
    pub turns: Option<u64>,
    /// Maximum cost in US dollars.
    pub usd: Option<f64>,
}

/// Actions that a host may take without asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Allowed {
    /// Read files and answer.
    Read,
    /// Modify files in the workspace.
    Workspace,
    /// Any action.
    Full,
}

/// Location of the trace of a run.
#[derive(Debug, Clone, Copy)]
pub enum SessionTrace {
    /// A file below the directory of the host. Sub-agents have separate files.
    File {
        /// The directory, relative to the home.
        folder: &'static str,
        /// Whether a path is the file of a session.
        is_session: fn(&Path) -> bool,
    },
    /// The output of the host.
    Stream,
}

/// Output of a host.
#[derive(Debug, Clone, Copy)]
pub struct Printed<'a> {
    /// Standard output.
    pub stdout: &'a str,
    /// Standard error.
    pub stderr: &'a str,
    /// Exit code.
    pub code: Option<i32>,
}

/// End of a run, as reported by the host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// The run completed.
    Completed {
        /// Number of calls denied by permissions, if reported.
        denied: u64,
    },
    /// The host stopped at one of its own limits.
    Limit(String),
    /// The host could not do its work.
    Trouble(Trouble, String),
    /// The output has no end marker.
    Unmarked,
}

/// Reason why a host could not do its work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// Missing or rejected API key.
    Credentials,
    /// Unknown model.
    Model,
    /// Rate limit of the provider.
    RateLimit,
    /// Server error of the provider.
    Server,
    /// Provider not reachable.
    Network,
    /// Start failed: an unknown option, an invalid file.
    Start,
}

impl End {
    /// A completed run without denied calls.
    pub(crate) const COMPLETED: Self = Self::Completed { denied: 0 };

    /// Classifies an error message.
    #[must_use]
    pub fn trouble(message: &str, status: Option<u64>) -> Self {
        let message = message.trim();
        Self::Trouble(classify(message, status), message.to_owned())
    }
}

/// Classifies an error by its HTTP status if known, otherwise by its words.
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

/// Returns the HTTP status in a message: a word of three digits that is an error status.
fn status_in(message: &str) -> Option<u64> {
    let words = message.split(|c: char| !c.is_ascii_alphanumeric());
    words
        .filter(|word| word.len() == 3)
        .find_map(|word| word.parse::<u64>().ok().filter(|status| (400..600).contains(status)))
}

/// Returns the records of a stream, last first. Lines that are not JSON are skipped.
pub(crate) fn records_from_end(stdout: &str) -> impl Iterator<Item = Value> + '_ {
    /// Maximum number of inspected records; end markers are near the end.
    const MAX_RECORDS: usize = 500;
    let lines = stdout.lines().rev().filter(|line| line.trim_start().starts_with('{'));
    lines.take(MAX_RECORDS).filter_map(|line| serde_json::from_str(line).ok())
}

/// Whether the record has this type.
pub(crate) fn is_type(record: &Value, kind: &str) -> bool {
    record.get("type").and_then(Value::as_str) == Some(kind)
}

/// Returns the text at a JSON pointer in a record.
pub(crate) fn text_at<'v>(record: &'v Value, pointer: &str) -> Option<&'v str> {
    record.pointer(pointer).and_then(Value::as_str)
}

/// Returns the last complaint of a host that printed no stream at all, as the reason for its
/// exit.
pub(crate) fn complaint(printed: &Printed<'_>) -> End {
    let last = printed.stderr.lines().rev().find(|line| !line.trim().is_empty());
    match (printed.code, last) {
        (Some(0) | None, _) => End::Unmarked,
        (Some(code), None) => {
            End::Trouble(Trouble::Start, format!("it ended with exit code {code}"))
        }
        (Some(_), Some(line)) => {
            let trouble = match classify(line, None) {
                // A meaningless message comes from a program that did not start.
                Trouble::Server if status_in(line).is_none() => Trouble::Start,
                trouble => trouble,
            };
            End::Trouble(trouble, line.trim().to_owned())
        }
    }
}

impl Launch {
    /// Returns the session files below a home, newest last.
    #[must_use]
    pub fn session_files(&self, home: &Path) -> Vec<PathBuf> {
        let SessionTrace::File { folder, is_session } = self.session else { return Vec::new() };
        let mut found = Vec::new();
        let mut todo = vec![(home.join(folder), 0)];
        while let Some((directory, depth)) = todo.pop() {
            /// Maximum depth of session files: `sessions/2026/03/14/rollout-….jsonl`.
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
