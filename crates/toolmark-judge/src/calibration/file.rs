//! The file of calibrations: one entry per model, model settings, rubric and threshold, in a fixed
//! order.

use super::report::Calibration;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use toolmark_base::{ReadFileError, read_file};

/// Version of the file format.
pub const VERSION: u32 = 2;
/// Maximum size of the file, in bytes.
const MAX_FILE_BYTES: u64 = 256 << 20;

/// Contents of the file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CalibrationFile {
    /// Version of the format.
    pub version: u32,
    /// Calibrations, one per model, model settings, rubric and threshold.
    pub calibrations: Vec<Calibration>,
}

/// Reason why a file of calibrations cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The file cannot be read.
    #[error(transparent)]
    Read(#[from] ReadFileError),
    /// The file cannot be written.
    #[error("failed to write {}: {source}", path.display())]
    Write {
        /// Path of the file.
        path: PathBuf,
        /// System error.
        source: io::Error,
    },
    /// The contents are invalid.
    #[error("{} is not a file of calibrations: {problem}", path.display())]
    Content {
        /// Path of the file.
        path: PathBuf,
        /// Description of the problem.
        problem: String,
    },
}

/// Reads a file.
pub fn read_file(path: &Path) -> Result<Vec<Calibration>, FileError> {
    let wrong = |problem: String| FileError::Content { path: path.to_owned(), problem };
    let text = read_file::read_text(path, MAX_FILE_BYTES)?;
    /// The version only, since the rest may be in another format.
    #[derive(Deserialize)]
    struct FileVersion {
        version: u32,
    }
    let of_json = |error: serde_json::Error| wrong(error.to_string());
    let FileVersion { version } = serde_json::from_str(&text).map_err(of_json)?;
    if version != VERSION {
        return Err(wrong(format!("version {version} is not supported, only {VERSION}")));
    }
    let file: CalibrationFile = serde_json::from_str(&text).map_err(of_json)?;
    Ok(file.calibrations)
}

/// Adds calibrations to a file. Each replaces the one for the same model, model settings, rubric
/// and threshold. The file is replaced atomically.
pub fn write_file(path: &Path, new: &[Calibration]) -> Result<(), FileError> {
    let refused = |source| FileError::Write { path: path.to_owned(), source };
    let mut all = match read_file(path) {
        Ok(all) => all,
        Err(FileError::Read(error)) if error.is_missing() => Vec::new(),
        Err(error) => return Err(error),
    };
    let is_same = |old: &Calibration, new: &Calibration| {
        old.setup() == new.setup()
            && old.rubric_digest == new.rubric_digest
            && old.threshold == new.threshold
    };
    for one in new {
        all.retain(|old| !is_same(old, one));
        all.push(one.clone());
    }
    all.sort_by_key(|one| (one.model.clone(), one.rubric.clone(), one.rubric_digest.clone()));
    let file = CalibrationFile { version: VERSION, calibrations: all };
    let json = serde_json::to_string_pretty(&file).map_err(io::Error::other).map_err(refused)?;
    replace(path, &(json + "\n")).map_err(refused)
}

fn replace(path: &Path, text: &str) -> io::Result<()> {
    // A symbolic link is kept, and its target replaced.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if let Some(folder) = target.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        fs::create_dir_all(folder)?;
    }
    toolmark_base::file::write_whole(&target, text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::super::report::tests::calibration;
    use super::*;

    #[test]
    fn one_per_model_and_rubric() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("deep/calibration.json");
        write_file(&path, &[calibration("b", 5, 5), calibration("a", 4, 4)]).unwrap();
        let first = fs::read(&path).unwrap();
        write_file(&path, &[calibration("a", 4, 4)]).unwrap();
        assert_eq!(fs::read(&path).unwrap(), first, "the same again is the same file");
        write_file(&path, &[calibration("a", 9, 1)]).unwrap();
        let all = read_file(&path).unwrap();
        assert_eq!(all, [calibration("a", 9, 1), calibration("b", 5, 5)]);
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "no drafts are left");
    }

    #[test]
    fn what_is_no_such_file_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.json");
        for (text, want) in [
            ("{", "EOF"),
            ("[]", "is not a file of calibrations"),
            ("{\"version\":1,\"calibrations\":[]}", "version 1"),
            ("{\"version\":2,\"calibrations\":[{}]}", "missing field"),
        ] {
            fs::write(&path, text).unwrap();
            let error = write_file(&path, &[calibration("a", 1, 1)]).unwrap_err().to_string();
            assert!(error.contains(want) && error.contains("x.json"), "{error}");
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
        assert!(read_file(&dir.path().join("none")).is_err());
    }
}
