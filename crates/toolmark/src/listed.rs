//! Lists of traces and shards of them, for more files than fit on a command line or on one machine.

use crate::exit::Failure;
use clap::Args;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use toolmark_app::inputs::Input;
use toolmark_base::{ReadFileError, read_file};

/// Maximum size of a list, in bytes.
const MAX_BYTES: u64 = 4 << 30;

/// Options for a list of traces, and the shard to read.
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Read the names of traces from this file, one per line or NUL-separated; - for stdin
    #[arg(long, value_name = "FILE")]
    pub(crate) files_from: Option<PathBuf>,
    /// Read part I of N of the files
    #[arg(long, value_name = "I/N", value_parser = shard)]
    shard: Option<Shard>,
}

/// One of N parts of the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Shard {
    index: usize,
    of: usize,
}

fn shard(text: &str) -> Result<Shard, String> {
    let wrong = || "write I/N, such as 1/4".to_owned();
    let (index, of) = text.split_once('/').ok_or_else(wrong)?;
    let (index, of) = (index.parse().map_err(|_| wrong())?, of.parse().map_err(|_| wrong())?);
    if index < 1 || index > of {
        return Err(format!("the part must be between 1 and {of}"));
    }
    Ok(Shard { index, of })
}

impl ListArgs {
    /// Returns the names in the list, if there is a list. An empty list is an error: it must not
    /// select all sessions of this machine.
    pub(crate) fn names(&self) -> Result<Option<Vec<PathBuf>>, Failure> {
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
    pub(crate) fn is_part(&self) -> bool {
        self.shard.is_some()
    }

    /// Keeps the selected shard: every Nth file, so that the shards of a directory that grew over
    /// time are about equally large.
    pub(crate) fn keep_part(&self, inputs: &mut Vec<Input>) {
        let Some(Shard { index, of }) = self.shard else { return };
        let mut at = 0;
        inputs.retain(|_| {
            at += 1;
            (at - 1) % of == index - 1
        });
    }
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
        let all: Vec<Input> =
            (0..7).map(|n| Input::named(Path::new(&format!("{n}.jsonl")))).collect();
        let mut seen: Vec<String> = Vec::new();
        for part in ["1/3", "2/3", "3/3"] {
            let args = ListArgs { files_from: None, shard: shard(part).ok() };
            let mut inputs = all.clone();
            args.keep_part(&mut inputs);
            assert!((2..=3).contains(&inputs.len()), "{part}");
            seen.extend(inputs.iter().map(Input::name));
        }
        seen.sort();
        assert_eq!(seen, all.iter().map(Input::name).collect::<Vec<_>>());
        for wrong in ["0/2", "3/2", "x", "1", "1/0"] {
            assert!(shard(wrong).is_err(), "{wrong}");
        }
    }
}
