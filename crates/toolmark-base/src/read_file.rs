//! Reads files that the user named, with one wording for each reason why a file cannot be read.

use std::fs::{self, File, Metadata};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

/// Maximum time to wait until another program opens a named pipe for writing.
#[cfg(unix)]
const WRITER_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(3);

/// Error when a file cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("failed to read {}: {kind}", path.display())]
pub struct ReadFileError {
    /// Path as given by the user.
    pub path: PathBuf,
    /// Reason.
    pub kind: ReadFileErrorKind,
}

/// Reason why a file cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadFileErrorKind {
    /// The file does not exist.
    #[error("no such file")]
    Missing,
    /// The path is a directory.
    #[error("it is a directory")]
    Directory,
    /// The user may not read the file.
    #[error("permission denied")]
    Denied,
    /// The file has no content.
    #[error("it is empty")]
    Empty,
    /// The file contains bytes that no text contains.
    #[error("it is a binary file")]
    Binary,
    /// The file is a text in another encoding.
    #[error("it is not UTF-8 from line {line} on")]
    NotUtf8 {
        /// First line with an invalid byte, counted from 1.
        line: usize,
    },
    /// The path is a socket or a disk.
    #[error("it is not a regular file")]
    NotRegular,
    /// The path is a named pipe without a writer.
    #[error("it is a named pipe, and no program writes to it")]
    NoWriter,
    /// The file is larger than the limit.
    #[error("it is larger than {} MB", max_bytes >> 20)]
    TooLarge {
        /// Maximum size in bytes.
        max_bytes: u64,
    },
    /// Any other error of the system.
    #[error("{}", without_number(.0))]
    Io(#[source] io::Error),
}

/// Formats an error of the system without its number.
fn without_number(error: &io::Error) -> String {
    let words = error.to_string();
    words.split(" (os error").next().unwrap_or_default().to_owned()
}

impl ReadFileError {
    /// Creates an error.
    #[must_use]
    pub fn new(path: &Path, kind: ReadFileErrorKind) -> Self {
        Self { path: path.to_owned(), kind }
    }

    /// Creates an error from an error of the system.
    #[must_use]
    pub fn io(path: &Path, error: io::Error) -> Self {
        Self::new(path, error.into())
    }

    /// Whether the file does not exist.
    #[must_use]
    pub fn is_missing(&self) -> bool {
        matches!(self.kind, ReadFileErrorKind::Missing)
    }

    /// Whether the file has no content.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        matches!(self.kind, ReadFileErrorKind::Empty)
    }

    /// Returns what the user can do.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        use ReadFileErrorKind as Kind;
        match self.kind {
            Kind::Missing if self.path.is_absolute() => Some("check the path"),
            Kind::Missing => Some("check the path; it is relative to the current directory"),
            Kind::Directory => Some("name a file in it"),
            Kind::Denied => Some("check the permissions of the file and of its directory"),
            Kind::Empty => Some("check that the program that writes it has finished"),
            Kind::NotUtf8 { .. } => Some("save the file as UTF-8"),
            Kind::Binary | Kind::NotRegular => Some("name a text file"),
            Kind::NoWriter => Some("start the program that writes to it first"),
            Kind::TooLarge { .. } | Kind::Io(_) => None,
        }
    }
}

impl From<io::Error> for ReadFileErrorKind {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Self::Missing,
            io::ErrorKind::IsADirectory => Self::Directory,
            io::ErrorKind::PermissionDenied => Self::Denied,
            _ => Self::Io(error),
        }
    }
}

/// Opens a file. Does not wait for long if it is a named pipe without a writer.
pub fn open(path: &Path) -> Result<File, ReadFileError> {
    try_open(path).map_err(|kind| ReadFileError::new(path, kind))
}

fn try_open(path: &Path) -> Result<File, ReadFileErrorKind> {
    let metadata = fs::metadata(path)?;
    if metadata.is_dir() {
        return Err(ReadFileErrorKind::Directory);
    }
    if metadata.is_file() { Ok(File::open(path)?) } else { open_special(path, &metadata) }
}

/// Opens a file that is not a regular one. Pipes and terminals can be read: a shell passes them
/// for `<(command)` and `/dev/stdin`.
#[cfg(unix)]
fn open_special(path: &Path, metadata: &Metadata) -> Result<File, ReadFileErrorKind> {
    use std::os::unix::fs::FileTypeExt as _;
    use std::sync::mpsc;

    let kind = metadata.file_type();
    if kind.is_socket() || kind.is_block_device() {
        return Err(ReadFileErrorKind::NotRegular);
    }
    if !kind.is_fifo() {
        return Ok(File::open(path)?);
    }
    // Opening a named pipe waits for a writer. Without one, the thread waits until the process
    // ends.
    let (sender, receiver) = mpsc::channel();
    let named = path.to_owned();
    std::thread::Builder::new().spawn(move || {
        let _ = sender.send(File::open(named));
    })?;
    let opened = receiver.recv_timeout(WRITER_TIMEOUT);
    Ok(opened.map_err(|_| ReadFileErrorKind::NoWriter)??)
}

#[cfg(not(unix))]
fn open_special(path: &Path, _: &Metadata) -> Result<File, ReadFileErrorKind> {
    Ok(File::open(path)?)
}

/// Checks that a file is a regular one: a hook must not wait for the writer of a pipe.
pub fn check_regular(path: &Path) -> Result<(), ReadFileError> {
    let metadata = fs::metadata(path).map_err(|error| ReadFileError::io(path, error))?;
    match metadata.file_type() {
        kind if kind.is_file() => Ok(()),
        kind if kind.is_dir() => Err(ReadFileError::new(path, ReadFileErrorKind::Directory)),
        _ => Err(ReadFileError::new(path, ReadFileErrorKind::NotRegular)),
    }
}

/// Reads a file of at most `max_bytes`, which must not be empty.
pub fn read(path: &Path, max_bytes: u64) -> Result<Vec<u8>, ReadFileError> {
    let failed = |kind| ReadFileError::new(path, kind);
    let mut bytes = Vec::new();
    // One byte more than allowed tells a file of the limit from a larger one, also where the size
    // is not known beforehand.
    let limit = max_bytes.saturating_add(1);
    let read = open(path)?.take(limit).read_to_end(&mut bytes);
    read.map_err(|error| ReadFileError::io(path, error))?;
    if bytes.len() as u64 > max_bytes {
        return Err(failed(ReadFileErrorKind::TooLarge { max_bytes }));
    }
    if bytes.is_empty() {
        return Err(failed(ReadFileErrorKind::Empty));
    }
    Ok(bytes)
}

/// Reads a text of at most `max_bytes`, which must not be empty.
pub fn read_text(path: &Path, max_bytes: u64) -> Result<String, ReadFileError> {
    decode(read(path, max_bytes)?).map_err(|kind| ReadFileError::new(path, kind))
}

/// Decodes a text that must not be empty.
pub fn decode(bytes: Vec<u8>) -> Result<String, ReadFileErrorKind> {
    let content = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    if content.iter().all(u8::is_ascii_whitespace) {
        return Err(ReadFileErrorKind::Empty);
    }
    // A text in UTF-16 contains zeros, too.
    let is_utf16 = bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]);
    if is_utf16 {
        return Err(ReadFileErrorKind::NotUtf8 { line: 1 });
    }
    if memchr::memchr(0, &bytes).is_some() {
        return Err(ReadFileErrorKind::Binary);
    }
    String::from_utf8(bytes).map_err(|error| {
        let valid = error.as_bytes().get(..error.utf8_error().valid_up_to()).unwrap_or_default();
        ReadFileErrorKind::NotUtf8 { line: 1 + memchr::memchr_iter(b'\n', valid).count() }
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn words(path: &Path) -> String {
        let error = read_text(path, 64).unwrap_err();
        let words = error.to_string();
        let prefix = format!("failed to read {}: ", path.display());
        words.strip_prefix(&prefix).unwrap().to_owned()
    }

    #[test]
    fn every_reason_has_its_words() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.txt");
        assert_eq!(words(&path), "no such file");
        assert_eq!(words(dir.path()), "it is a directory");
        for (bytes, want) in [
            (&b""[..], "it is empty"),
            (b"\xef\xbb\xbf \n", "it is empty"),
            (b"a\0b", "it is a binary file"),
            (b"a\nb\n\xff", "it is not UTF-8 from line 3 on"),
            (b"\xff\xfea\0", "it is not UTF-8 from line 1 on"),
            (&[b'a'; 65], "it is larger than 0 MB"),
        ] {
            fs::write(&path, bytes).unwrap();
            assert_eq!(words(&path), want);
        }
        assert_eq!(words(&path.join("below")), "no such file", "below a file");
        fs::write(&path, [b'a'; 64]).unwrap();
        assert_eq!(read_text(&path, 64).unwrap().len(), 64);
    }

    #[test]
    fn errors_of_the_system_have_no_number() {
        let error = ReadFileError::io(Path::new("a"), io::Error::from_raw_os_error(5));
        assert!(!error.to_string().contains("os error"), "{error}");
        let denied = io::Error::from(io::ErrorKind::PermissionDenied);
        let denied = ReadFileError::io(Path::new("a"), denied);
        assert_eq!(denied.to_string(), "failed to read a: permission denied");
        assert!(denied.hint().unwrap().contains("permissions"));
    }

    #[cfg(unix)]
    #[test]
    fn a_named_pipe_needs_a_writer() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
        assert!(made.success());
        assert_eq!(words(&path), "it is a named pipe, and no program writes to it");
        // The thread of the first attempt still waits and takes the first writer.
        let other = dir.path().join("other");
        assert!(std::process::Command::new("mkfifo").arg(&other).status().unwrap().success());
        let writer = other.clone();
        let writer = std::thread::spawn(move || fs::write(writer, "late").unwrap());
        assert_eq!(read_text(&other, 64).unwrap(), "late");
        writer.join().unwrap();
        let socket = dir.path().join("socket");
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        assert_eq!(words(&socket), "it is not a regular file");
    }
}
