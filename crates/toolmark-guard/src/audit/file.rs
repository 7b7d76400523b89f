//! The log file: opened for appending, written once per record, rotated when it is large.
//!
//! A writer holds the advisory lock of the file and has checked that it is still the file at the
//! path; rotation holds the same lock. If the lock is not available in time, writing proceeds
//! without it: appending alone keeps lines whole, and a record matters more than the size of the
//! log.

use super::AuditLimits;
use super::chain::Chain;
use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, Metadata, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

/// Maximum wait for the lock. A writer holds it for microseconds; one that was stopped holds it
/// indefinitely.
const LOCK_TIMEOUT: Duration = Duration::from_millis(50);
const PAUSE: Duration = Duration::from_micros(100);

/// Maximum number of attempts to open the log, which may be rotated while it is opened.
const TRIES: usize = 32;

pub(super) fn append(path: &Path, limits: AuditLimits, line: &[u8]) -> io::Result<()> {
    for _ in 0..TRIES {
        let file = open(path)?;
        if !file.metadata()?.is_file() {
            return write(&file, line);
        }
        let is_held = lock(&file);
        let Some(found) = at_its_place(path, &file)? else { continue };
        let is_full = found.len() > 0 && found.len() + line.len() as u64 > limits.size;
        if is_full && is_held && put_aside(path, limits.kept).is_ok() {
            continue;
        }
        within_limit(found.len())?;
        // Without the lock, another record may be linked at the same time.
        let chain = is_held.then(|| Chain::of(path));
        let linked = chain.as_ref().and_then(|chain| chain.link(line, found.len() == 0));
        let (line, head) = linked.map_or((line.to_vec(), None), |(line, head)| (line, Some(head)));
        if ends_torn(&file, found.len())? {
            write(&file, &[b"\n", line.as_slice()].concat())?;
        } else {
            write(&file, &line)?;
        }
        if let (Some(chain), Some(head)) = (chain, head) {
            chain.store(&head)?;
        }
        if is_held || !is_gone(&file)? {
            return Ok(());
        }
    }
    Err(io::Error::other("the log is put aside again and again"))
}

/// Fails if the system does not allow a file of this length: the attempt would end the program by a
/// signal, and the host would get no decision.
#[cfg(unix)]
fn within_limit(length: u64) -> io::Result<()> {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Fsize).current;
    match limit.is_some_and(|limit| length >= limit) {
        true => Err(io::Error::other("no file may be larger (`ulimit -f`)")),
        false => Ok(()),
    }
}

#[cfg(not(unix))]
fn within_limit(_: u64) -> io::Result<()> {
    Ok(())
}

/// Opens the log, creates it and its directory if they are missing, and refuses files that an
/// attacker may have put in its place.
fn open(path: &Path) -> io::Result<File> {
    match fs::symlink_metadata(path) {
        Ok(found) => is_log(&found)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let mut options = OpenOptions::new();
    options.read(true).append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let Some(parent) = path.parent() else { return Err(error) };
            let mut directory = DirBuilder::new();
            directory.recursive(true);
            #[cfg(unix)]
            std::os::unix::fs::DirBuilderExt::mode(&mut directory, 0o700);
            directory.create(parent)?;
            options.open(path)
        }
        opened => opened,
    }
}

/// Checks that the log is a file or a character device. Opening a pipe may block forever.
fn is_log(found: &Metadata) -> io::Result<()> {
    let kind = found.file_type();
    #[cfg(unix)]
    let is_device = std::os::unix::fs::FileTypeExt::is_char_device(&kind);
    #[cfg(not(unix))]
    let is_device = false;
    let words = match () {
        () if kind.is_symlink() => "the log is a symbolic link",
        () if !kind.is_file() && !is_device => "the log is not a file",
        () => return Ok(()),
    };
    Err(io::Error::new(io::ErrorKind::InvalidInput, words))
}

/// Takes the lock; returns whether it was available.
fn lock(file: &File) -> bool {
    let until = Instant::now() + LOCK_TIMEOUT;
    loop {
        match file.try_lock() {
            Ok(()) => return true,
            Err(fs::TryLockError::WouldBlock) if Instant::now() < until => thread::sleep(PAUSE),
            Err(_) => return false,
        }
    }
}

/// Returns the metadata of an open file if it is still the one at the path.
fn at_its_place(path: &Path, file: &File) -> io::Result<Option<Metadata>> {
    let found = match fs::symlink_metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    is_log(&found)?;
    let open = file.metadata()?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        if (open.dev(), open.ino()) != (found.dev(), found.ino()) {
            return Ok(None);
        }
    }
    Ok(Some(open))
}

/// Whether the file was removed while it was written without the lock.
fn is_gone(file: &File) -> io::Result<bool> {
    #[cfg(unix)]
    return Ok(std::os::unix::fs::MetadataExt::nlink(&file.metadata()?) == 0);
    #[cfg(not(unix))]
    return file.metadata().map(|_| false);
}

/// Renames the log to `….1`, and each rotated log to the next number. A file that cannot be moved
/// is not overwritten.
fn put_aside(path: &Path, kept: u32) -> io::Result<()> {
    let numbered = |number: u32| {
        let mut name = OsString::from(path);
        name.push(format!(".{number}"));
        PathBuf::from(name)
    };
    for number in (1..kept).rev() {
        match fs::rename(numbered(number), numbered(number + 1)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    fs::rename(path, numbered(1))
}

/// Whether the last record was truncated.
fn ends_torn(file: &File, length: u64) -> io::Result<bool> {
    let Some(last) = length.checked_sub(1) else { return Ok(false) };
    let mut byte = [b'\n'];
    #[cfg(unix)]
    std::os::unix::fs::FileExt::read_at(file, &mut byte, last)?;
    #[cfg(windows)]
    std::os::windows::fs::FileExt::seek_read(file, &mut byte, last)?;
    Ok(byte != *b"\n")
}

/// Makes exactly one `write`: a second one could follow the record of another writer.
fn write(mut file: &File, line: &[u8]) -> io::Result<()> {
    loop {
        match file.write(line) {
            Ok(written) if written == line.len() => return Ok(()),
            Ok(written) => {
                let words = format!("only {written} of {} bytes were written", line.len());
                return Err(io::Error::new(io::ErrorKind::WriteZero, words));
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    const LIMITS: AuditLimits = AuditLimits { size: 100, kept: 2 };

    #[test]
    fn a_log_is_private_and_grows() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("a/b/guard.jsonl");
        append(&path, LIMITS, b"1\n").unwrap();
        append(&path, LIMITS, b"2\n").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "1\n2\n");
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
    }

    #[test]
    fn a_large_log_is_put_aside() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("log");
        for number in 0..9 {
            append(&path, LIMITS, format!("{number}{}\n", "x".repeat(38)).as_bytes()).unwrap();
        }
        let lines = |name: &str| {
            let text = fs::read_to_string(home.path().join(name)).unwrap();
            text.lines().map(|line| line[..1].to_owned()).collect::<String>()
        };
        assert_eq!(
            (lines("log"), lines("log.1"), lines("log.2")),
            ("8".into(), "67".into(), "45".into())
        );
        assert!(!home.path().join("log.3").exists());
        // A record that is larger than the log may be is still a record.
        append(&path, LIMITS, format!("{}\n", "y".repeat(300)).as_bytes()).unwrap();
        assert_eq!(lines("log"), "y");
    }

    #[test]
    fn what_cannot_be_put_aside_grows_on() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("log");
        fs::create_dir_all(home.path().join("log.1/in the way")).unwrap();
        fs::create_dir_all(home.path().join("log.2/in the way")).unwrap();
        for _ in 0..5 {
            append(&path, LIMITS, &[b'x'; 60]).unwrap();
        }
        // Every record began on a line of its own.
        assert_eq!(fs::read(&path).unwrap().len(), 5 * 60 + 4);
    }

    #[test]
    fn a_record_after_a_torn_one_has_its_own_line() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("log");
        fs::write(&path, "{\"torn").unwrap();
        append(&path, LIMITS, b"{}\n").unwrap();
        append(&path, LIMITS, b"{}\n").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "{\"torn\n{}\n{}\n");
    }

    #[test]
    fn what_is_in_its_place_is_refused() {
        let home = tempfile::tempdir().unwrap();
        let (path, victim) = (home.path().join("log"), home.path().join("victim"));
        fs::write(&victim, "mine\n").unwrap();
        for target in [&victim, &home.path().join("missing")] {
            std::os::unix::fs::symlink(target, &path).unwrap();
            let error = append(&path, LIMITS, b"{}\n").unwrap_err();
            assert_eq!(error.to_string(), "the log is a symbolic link");
            fs::remove_file(&path).unwrap();
        }
        assert_eq!(fs::read_to_string(&victim).unwrap(), "mine\n");
        assert!(!home.path().join("missing").exists());
        assert_eq!(
            append(home.path(), LIMITS, b"{}\n").unwrap_err().to_string(),
            "the log is not a file"
        );
        let status = std::process::Command::new("mkfifo").arg(&path).status();
        if status.is_ok_and(|status| status.success()) {
            assert_eq!(
                append(&path, LIMITS, b"{}\n").unwrap_err().to_string(),
                "the log is not a file"
            );
        }
    }

    #[test]
    fn a_lock_that_is_never_given_back_is_done_without() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("log");
        append(&path, LIMITS, b"1\n").unwrap();
        let stuck = File::open(&path).unwrap();
        stuck.lock().unwrap();
        append(&path, LIMITS, b"2\n").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "1\n2\n");
    }

    #[test]
    fn nothing_is_lost_or_torn_by_many_writers_that_put_aside() {
        const WRITERS: usize = 8;
        const RECORDS: usize = 60;
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("log");
        let limits = AuditLimits { size: 2_000, kept: 1_000 };
        thread::scope(|scope| {
            for writer in 0..WRITERS {
                let path = &path;
                scope.spawn(move || {
                    for record in 0..RECORDS {
                        let line = format!("<{writer}.{record} {}>\n", "x".repeat(record * 3));
                        append(path, limits, line.as_bytes()).unwrap();
                    }
                });
            }
        });
        let mut seen = std::collections::BTreeSet::new();
        let mut logs = 0;
        for file in fs::read_dir(home.path()).unwrap() {
            let text = fs::read_to_string(file.unwrap().path()).unwrap();
            assert!(text.len() as u64 <= limits.size && text.ends_with('\n'));
            logs += 1;
            for line in text.lines() {
                assert!(line.starts_with('<') && line.ends_with('>'), "{line}");
                assert!(seen.insert(line.split(' ').next().unwrap().to_owned()), "{line} twice");
            }
        }
        assert_eq!(seen.len(), WRITERS * RECORDS);
        assert!(logs > 10, "{logs}");
    }
}
