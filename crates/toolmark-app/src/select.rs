//! Selection of traces: named files and lists of them, shards, or the sessions of this machine.

use crate::inputs::{InputFile, expand, expand_listed};
use crate::reading::{Continuation, FileReader, ReadSummary, Runs};
use crate::{ActionEvents, Failure, Stop, Verbosity, human, sessions};
use std::io::{self, Read as _};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::SystemTime;
use toolmark_base::{ReadFileError, read_file};

/// Maximum size of a list, in bytes.
const MAX_BYTES: u64 = 4 << 30;

/// Default limit of sessions.
const DEFAULT_SESSIONS: usize = 50;

/// The traces that a user names.
#[derive(Debug, Clone, Default)]
pub struct NamedTraces {
    /// Files, directories and patterns; `-` for stdin.
    pub traces: Vec<PathBuf>,
    /// File with further names, one per line or NUL-separated; `-` for stdin.
    pub files_from: Option<PathBuf>,
    /// Part of the files to read.
    pub shard: Option<Shard>,
}

/// One of N parts of the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    index: usize,
    of: usize,
}

/// Reason why a text is not a [`Shard`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ShardError {
    /// The text is not two numbers.
    #[error("write I/N, such as 1/4")]
    Syntax,
    /// There is no such part.
    #[error("the part must be between 1 and {0}")]
    Range(usize),
}

impl FromStr for Shard {
    type Err = ShardError;

    fn from_str(text: &str) -> Result<Self, ShardError> {
        let (index, of) = text.split_once('/').ok_or(ShardError::Syntax)?;
        let number = |text: &str| text.parse().map_err(|_| ShardError::Syntax);
        let (index, of) = (number(index)?, number(of)?);
        if index < 1 || index > of {
            return Err(ShardError::Range(of));
        }
        Ok(Self { index, of })
    }
}

impl NamedTraces {
    /// Returns the files behind the names, or the requested shard of them; `None` without names and
    /// list.
    ///
    /// # Errors
    ///
    /// If the list cannot be read or is empty.
    pub fn inputs(&self) -> Result<Option<Vec<InputFile>>, Failure> {
        let listed = self.listed()?;
        if self.traces.is_empty() && listed.is_none() {
            return Ok(None);
        }
        let mut inputs = expand(&self.traces);
        inputs.extend(expand_listed(&listed.unwrap_or_default()));
        self.keep_part(&mut inputs);
        Ok(Some(inputs))
    }

    /// The names given by the user, for messages.
    #[must_use]
    pub fn names(&self) -> Vec<PathBuf> {
        self.traces.iter().chain(&self.files_from).cloned().collect()
    }

    /// Returns the names in the list, if there is a list. An empty list is an error: it must not
    /// select all sessions of this machine.
    fn listed(&self) -> Result<Option<Vec<PathBuf>>, Failure> {
        let Some(list) = &self.files_from else { return Ok(None) };
        let text = if list == Path::new("-") {
            let mut text = Vec::new();
            let read = io::stdin().read_to_end(&mut text);
            read.map_err(|error| ReadFileError::io(list, error))?;
            text
        } else {
            read_file::read(list, MAX_BYTES)?
        };
        let names = names_in(&text)
            .ok_or_else(|| Failure::unread(format!("a name in {} is not UTF-8", list.display())))?;
        if names.is_empty() {
            return Err(Failure::usage(format!("{} names no trace", list.display())));
        }
        Ok(Some(names))
    }

    /// Whether only a shard of the files is read. A shard may be empty.
    pub fn is_part(&self) -> bool {
        self.shard.is_some()
    }

    /// Keeps the selected shard: every Nth file, so that the shards of a directory that grew over
    /// time are about equally large.
    pub fn keep_part(&self, inputs: &mut Vec<InputFile>) {
        let Some(Shard { index, of }) = self.shard else { return };
        let mut at = 0;
        inputs.retain(|_| {
            at += 1;
            (at - 1) % of == index - 1
        });
    }
}

/// Conditions on sessions.
#[derive(Debug, Clone, Default)]
pub struct SessionFilter {
    /// Start of the period of the last modification.
    pub since: Option<SystemTime>,
    /// End of the period of the last modification.
    pub until: Option<SystemTime>,
    /// Directory that the working directory of a session must be in.
    pub project: Option<PathBuf>,
    /// Maximum number of sessions.
    pub limit: Option<NonZeroUsize>,
}

/// The selected inputs.
pub struct Selected {
    /// The files to read.
    pub inputs: Vec<InputFile>,
    /// Maximum number of files with a session.
    pub limit: Option<u64>,
    /// Directory of the sessions, in the form in which sessions record it.
    pub project: Option<PathBuf>,
    /// Notes to print about the selection.
    pub notes: Vec<String>,
    /// Number of files outside the period.
    out_of_period: u64,
    /// Options that set the period.
    period: &'static str,
}

impl Selected {
    /// Reads the sessions, and takes the result of `work` for each file that has one, in the order
    /// of the files and up to the limit. Returns the number of these files.
    ///
    /// # Errors
    ///
    /// If no file has a result, unless only a shard of the files is read.
    pub fn each<T: Send>(
        &self,
        (reader, named): (&FileReader, &NamedTraces),
        events: &mut dyn ActionEvents,
        work: impl Fn(&mut Runs<'_>) -> Option<T> + Sync,
        mut take: impl FnMut(T),
    ) -> Result<(u64, ReadSummary), Stop> {
        let mut files = 0;
        let summary = reader.each(&self.inputs, events, work, |made| {
            if let Ok(made) = made {
                files += 1;
                take(made);
            }
            Ok(if self.limit == Some(files) { Continuation::Enough } else { Continuation::More })
        })?;
        if files == 0 && named.shard.is_none() {
            return Err(self.nothing_left(reader, &summary, &named.names()).into());
        }
        Ok((files, summary))
    }

    /// Failure for an empty selection: which filter skipped how many files, or that nothing could
    /// be read.
    pub fn nothing_left(
        &self,
        reader: &FileReader,
        walked: &ReadSummary,
        named: &[PathBuf],
    ) -> Failure {
        let elsewhere = self.project.as_ref().map_or(0, |_| reader.elsewhere());
        let mut left_out = Vec::new();
        if self.out_of_period > 0 {
            let files = human::things(self.out_of_period, "file");
            left_out.push(format!("{} left out {files}", self.period));
        }
        if let Some(project) = self.project.as_ref().filter(|_| elsewhere > 0) {
            let sessions = human::things(elsewhere, "session");
            left_out.push(format!("--project {} left out {sessions}", project.display()));
        }
        if left_out.is_empty() {
            return walked.nothing_read(named);
        }
        let failure = Failure::unread(format!("no session is left: {}", left_out.join(", ")));
        failure.hints(walked.note(Verbosity::Normal))
    }
}

impl SessionFilter {
    /// Returns the named traces, or the newest sessions of this machine.
    pub fn select(&self, input: &NamedTraces) -> Result<Selected, Failure> {
        self.select_at_most(input, Some(DEFAULT_SESSIONS))
    }

    /// Returns the named traces, or the sessions of this machine, newest first, with `most` as the
    /// limit if the user sets none.
    pub fn select_at_most(
        &self,
        input: &NamedTraces,
        most: Option<usize>,
    ) -> Result<Selected, Failure> {
        let project = self.project.as_deref().map(project).transpose()?;
        let limit = self.limit.map(NonZeroUsize::get);
        let period = match (self.since, self.until) {
            (_, None) => "--since",
            (None, Some(_)) => "--until",
            (Some(_), Some(_)) => "--since and --until",
        };
        if let Some(mut inputs) = input.inputs()? {
            let given = inputs.len();
            if self.since.is_some() || self.until.is_some() {
                inputs.retain(|input| {
                    let metadata = input.path().and_then(|path| path.metadata().ok());
                    let modified = metadata.and_then(|metadata| metadata.modified().ok());
                    modified.is_none_or(|time| self.is_in_period(time))
                });
            }
            let out_of_period = (given - inputs.len()) as u64;
            let limit = limit.map(|limit| limit as u64);
            return Ok(Selected {
                inputs,
                limit,
                project,
                notes: Vec::new(),
                out_of_period,
                period,
            });
        }
        let mut all = sessions::find();
        let found = all.len();
        all.retain(|session| self.is_in_period(session.modified));
        let out_of_period = (found - all.len()) as u64;
        if all.is_empty() && out_of_period > 0 {
            let sessions = human::things(out_of_period, "session");
            return Err(Failure::unread(format!(
                "no session is left: {period} left out {sessions}"
            )));
        }
        if all.is_empty() {
            return Err(Failure::unread("found no sessions").hint(format!(
                "looked in {}; a trace can be given as an argument instead",
                sessions::looked_in()
            )));
        }
        let is_whole = self.since.is_none() && self.until.is_none();
        let limit = limit.or(most.filter(|_| is_whole));
        let mut notes = Vec::new();
        // With a project, how many there are is known only when they are read.
        if let Some(limit) = limit.filter(|limit| project.is_none() && all.len() > *limit) {
            notes.push(format!(
                "the newest {limit} of {} sessions; --limit changes this",
                all.len()
            ));
            all.truncate(limit);
        }
        let mut inputs = all.iter().map(|session| InputFile::named(&session.path)).collect();
        input.keep_part(&mut inputs);
        let limit = limit.map(|limit| limit as u64);
        Ok(Selected { inputs, limit, project, notes, out_of_period, period })
    }

    fn is_in_period(&self, time: SystemTime) -> bool {
        self.since.is_none_or(|since| time >= since) && self.until.is_none_or(|until| time < until)
    }
}

/// Returns a directory in the form in which sessions record it.
fn project(named: &Path) -> Result<PathBuf, Failure> {
    // The sessions may be of a directory that is no longer there.
    std::path::absolute(named)
        .map(|path| path.canonicalize().unwrap_or(path))
        .map_err(|error| Failure::usage(format!("--project {}", named.display())).because(&error))
}

/// Returns the names in a list; `None` if this system does not support such names.
fn names_in(text: &[u8]) -> Option<Vec<PathBuf>> {
    let names: Vec<&[u8]> = if text.contains(&0) {
        text.split(|byte| *byte == 0).collect()
    } else {
        text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).collect()
    };
    names.into_iter().filter(|name| !name.is_empty()).map(path_of).collect()
}

/// Converts a name as `find -print0` prints it: bytes that need not be UTF-8.
#[cfg(unix)]
fn path_of(name: &[u8]) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt as _;
    Some(std::ffi::OsStr::from_bytes(name).into())
}

#[cfg(not(unix))]
fn path_of(name: &[u8]) -> Option<PathBuf> {
    std::str::from_utf8(name).ok().map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists() {
        let names = |text: &str| -> Vec<String> {
            let names = names_in(text.as_bytes()).unwrap();
            names.iter().map(|path| path.to_string_lossy().into_owned()).collect()
        };
        assert_eq!(names("a\n\n  b c \r\n"), ["a", "b c"]);
        assert_eq!(names("a\nb\0 c\0"), ["a\nb", " c"]);
        assert!(names(" \n").is_empty());
    }

    #[test]
    fn parts_have_every_file_once() {
        let all: Vec<InputFile> =
            (0..7).map(|n| InputFile::named(Path::new(&format!("{n}.jsonl")))).collect();
        let mut seen: Vec<String> = Vec::new();
        for part in ["1/3", "2/3", "3/3"] {
            let args = NamedTraces { shard: part.parse().ok(), ..NamedTraces::default() };
            let mut inputs = all.clone();
            args.keep_part(&mut inputs);
            assert!((2..=3).contains(&inputs.len()), "{part}");
            seen.extend(inputs.iter().map(InputFile::name));
        }
        seen.sort();
        assert_eq!(seen, all.iter().map(InputFile::name).collect::<Vec<_>>());
        for wrong in ["0/2", "3/2", "x", "1", "1/0"] {
            assert!(wrong.parse::<Shard>().is_err(), "{wrong}");
        }
    }
}
