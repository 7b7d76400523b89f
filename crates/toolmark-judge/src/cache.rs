//! Cached answers on disk, named by the hash of everything that affects them.
//!
//! Every answer is a file, written under another name and renamed, so that a run that is killed
//! loses no answer it has paid for, and concurrent runs do not disturb each other. A file that
//! cannot be read counts as missing, and is overwritten.

use crate::answer::Submission;
use crate::fence::hex;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fs;
use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use toolmark_outcome::judging::AnswerUsage;

/// Cache key of an answer: a hash in hexadecimal.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct CacheKey(String);

impl CacheKey {
    /// Returns the key for content that depends on exactly these parts, in this order.
    pub(crate) fn of<'t>(parts: impl IntoIterator<Item = &'t str>) -> Self {
        let mut hash = Sha256::new();
        for part in parts {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part.as_bytes());
        }
        Self(hex(&hash.finalize()))
    }

    pub(crate) fn word(&self) -> &str {
        &self.0
    }
}

/// Version of the file format.
const VERSION: u32 = 1;

/// A cached answer. It contains neither the prompt nor an API key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CachedAnswer {
    version: u32,
    key: String,
    /// Model that answered.
    pub model: String,
    /// Provider whose wire format was used.
    pub provider: String,
    /// Name of the rubric, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rubric: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) answer: Option<Submission>,
    /// Text of a refusal, in place of an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) refusal: Option<String>,
    /// Cost of the answer.
    pub spent: AnswerUsage,
}

/// Text with which a model refused to answer.
#[derive(Debug)]
pub(crate) struct Refusal(pub(crate) String);

impl CachedAnswer {
    pub(crate) fn new(
        key: &CacheKey,
        model: &crate::config::Model,
        rubric: Option<String>,
        said: Result<Submission, Refusal>,
        spent: AnswerUsage,
    ) -> Self {
        let (answer, refusal) = match said {
            Ok(answer) => (Some(answer), None),
            Err(Refusal(refusal)) => (None, Some(refusal)),
        };
        Self {
            version: VERSION,
            key: key.word().to_owned(),
            model: model.name.clone(),
            provider: model.kind.word().to_owned(),
            rubric,
            answer,
            refusal,
            spent,
        }
    }

    fn is_valid(&self, key: &str) -> bool {
        self.version == VERSION
            && self.key == key
            && self.answer.is_some() != self.refusal.is_some()
    }
}

/// A directory of answers.
#[derive(Debug, Clone)]
pub struct Cache {
    directory: PathBuf,
}

static NUMBER: AtomicU64 = AtomicU64::new(0);

impl Cache {
    /// Creates the cache of a directory, which need not exist yet.
    #[must_use]
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self { directory: directory.into() }
    }

    /// Returns the directory of the cache.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    fn place(&self, key: &str) -> PathBuf {
        let folder = key.get(..2).unwrap_or("00");
        self.directory.join(folder).join(format!("{key}.json"))
    }

    pub(crate) fn get(&self, key: &CacheKey) -> Option<CachedAnswer> {
        let bytes = fs::read(self.place(key.word())).ok()?;
        let kept: CachedAnswer = serde_json::from_slice(&bytes).ok()?;
        kept.is_valid(key.word()).then_some(kept)
    }

    /// Writes an answer.
    pub(crate) fn put(&self, kept: &CachedAnswer) -> io::Result<()> {
        let place = self.place(&kept.key);
        let folder = place.parent().unwrap_or(&self.directory);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let temporary = folder.join(format!(".{}.{}.{number}", kept.key, std::process::id()));
        let written = (|| {
            let mut file = match fs::File::create_new(&temporary) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    fs::create_dir_all(folder)?;
                    self.ignore_in_git();
                    fs::File::create_new(&temporary)?
                }
                file => file?,
            };
            file.write_all(&serde_json::to_vec(kept)?)?;
            drop(file);
            fs::rename(&temporary, &place)
        })();
        if written.is_err() {
            let _ = fs::remove_file(&temporary);
        }
        written
    }

    /// Excludes a new cache from git. To commit the cache, delete the ignore file, which is not
    /// written again.
    fn ignore_in_git(&self) {
        let path = self.directory.join(".gitignore");
        if fs::read_dir(&self.directory).is_ok_and(|mut entries| entries.nth(1).is_none()) {
            let _ = fs::File::create_new(path).and_then(|mut file| file.write_all(b"*\n"));
        }
    }

    /// Returns all answers, sorted by key.
    pub fn all(&self) -> io::Result<Vec<CachedAnswer>> {
        let mut all = Vec::new();
        let folders = match fs::read_dir(&self.directory) {
            Ok(folders) => folders,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(all),
            Err(error) => return Err(error),
        };
        for folder in folders {
            let folder = folder?.path();
            if !folder.is_dir() {
                continue;
            }
            for file in fs::read_dir(folder)? {
                let path = file?.path();
                let Some(key) = path.file_stem().and_then(|stem| stem.to_str()) else { continue };
                let is_answer = path.extension().is_some_and(|e| e == "json") && key.len() == 64;
                if is_answer && let Some(kept) = self.get(&CacheKey(key.to_owned())) {
                    all.push(kept);
                }
            }
        }
        all.sort_by(|a, b| a.key.cmp(&b.key));
        Ok(all)
    }

    /// Writes answers as lines of JSON.
    pub fn export(answers: &[CachedAnswer], out: &mut dyn Write) -> io::Result<()> {
        for kept in answers {
            serde_json::to_writer(&mut *out, kept)?;
            out.write_all(b"\n")?;
        }
        Ok(())
    }

    /// Reads answers from lines of JSON, and returns their number. The error names the first
    /// invalid line.
    pub fn import(&self, lines: &mut dyn BufRead) -> io::Result<usize> {
        let mut count = 0;
        for (n, line) in lines.lines().enumerate() {
            let line = line?;
            if line.trim().is_empty() {
                continue;
            }
            let kept = serde_json::from_str::<CachedAnswer>(&line).ok();
            let is_name = |key: &str| key.len() == 64 && key.bytes().all(|b| b.is_ascii_hexdigit());
            let kept = kept.filter(|kept| kept.is_valid(&kept.key) && is_name(&kept.key));
            let Some(kept) = kept else {
                let message = format!("line {} is not an answer of a judge", n + 1);
                return Err(io::Error::new(io::ErrorKind::InvalidData, message));
            };
            self.put(&kept)?;
            count += 1;
        }
        Ok(count)
    }

    /// Deletes all answers, and returns their number.
    pub fn clear(&self) -> io::Result<usize> {
        let all = self.all()?;
        for kept in &all {
            fs::remove_file(self.place(&kept.key))?;
        }
        Ok(all.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::AnswerEntry;
    use crate::config::JudgeSettings;

    fn kept(key: &CacheKey) -> CachedAnswer {
        let model = JudgeSettings::default().model("claude-x").unwrap();
        let entry =
            AnswerEntry { id: "c".into(), quotes: vec![], reason: "r".into(), mark: Some(1.0) };
        let answer = Submission { criteria: vec![entry], summary: String::new() };
        CachedAnswer::new(key, &model, None, Ok(answer), AnswerUsage::default())
    }

    #[test]
    fn what_is_put_is_found_and_nothing_else() {
        let directory = tempfile::tempdir().unwrap();
        let cache = Cache::new(directory.path().join("a"));
        let (one, other) = (CacheKey::of(["a", "b"]), CacheKey::of(["ab", ""]));
        assert_ne!(one, other);
        assert_eq!(cache.get(&one), None);
        cache.put(&kept(&one)).unwrap();
        cache.put(&kept(&one)).unwrap();
        assert_eq!(cache.get(&one), Some(kept(&one)));
        assert_eq!(cache.get(&other), None);
        // An answer under another key is invalid.
        fs::create_dir_all(cache.place(other.word()).parent().unwrap()).unwrap();
        fs::copy(cache.place(one.word()), cache.place(other.word())).unwrap();
        assert_eq!(cache.get(&other), None);
        for broken in ["", "{", "[]", "{\"version\":9}"] {
            fs::write(cache.place(one.word()), broken).unwrap();
            assert_eq!(cache.get(&one), None, "{broken}");
        }
    }

    #[test]
    fn answers_travel_as_lines() {
        let directory = tempfile::tempdir().unwrap();
        let (from, to) =
            (Cache::new(directory.path().join("a")), Cache::new(directory.path().join("b")));
        for word in ["x", "y", "z"] {
            from.put(&kept(&CacheKey::of([word]))).unwrap();
        }
        let mut lines = Vec::new();
        Cache::export(&from.all().unwrap(), &mut lines).unwrap();
        assert_eq!(to.import(&mut lines.as_slice()).unwrap(), 3);
        assert_eq!(to.all().unwrap(), from.all().unwrap());
        assert_eq!(to.clear().unwrap(), 3);
        assert!(to.all().unwrap().is_empty());
        let error = to.import(&mut "{}\n".as_bytes()).unwrap_err();
        assert!(error.to_string().contains("line 1"));
    }

    #[test]
    fn many_writers_leave_whole_answers() {
        let directory = tempfile::tempdir().unwrap();
        let cache = Cache::new(directory.path());
        let keys: Vec<CacheKey> = (0..20).map(|n| CacheKey::of([n.to_string().as_str()])).collect();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| keys.iter().for_each(|key| cache.put(&kept(key)).unwrap()));
            }
        });
        assert_eq!(cache.all().unwrap().len(), 20);
        let left = walk(directory.path()).into_iter().filter(|name| name.contains(".json"));
        assert_eq!(left.count(), 20);
    }

    fn walk(path: &Path) -> Vec<String> {
        let mut names = Vec::new();
        for entry in fs::read_dir(path).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                names.extend(walk(&path));
            } else {
                names.push(path.display().to_string());
            }
        }
        names
    }
}
