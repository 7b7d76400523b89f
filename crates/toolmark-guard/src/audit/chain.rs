//! The chain of the log: each record has the hash of the one before it. The hash of the last record
//! is stored, signed, in another directory, so that a log without its end is noticed too.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fs::{self, File, OpenOptions};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// Name of the key with which heads are signed.
const KEY: &str = "log.key";
/// Number of digits of a hash.
const DIGITS: usize = 32;
/// Maximum size of a head, in bytes.
const MAX_HEAD: u64 = 1 << 10;

/// The place of the head of one log.
#[derive(Debug)]
pub(super) struct Chain {
    head: PathBuf,
    key: PathBuf,
    log: String,
}

/// The last record of a log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Head {
    n: u64,
    hash: String,
    mac: String,
}

/// The part of a record that links it to the one before.
#[derive(Debug, Clone, Deserialize)]
struct Link {
    #[serde(default)]
    n: Option<u64>,
    #[serde(default)]
    prev: Option<String>,
}

/// Result of verifying a log.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Verified {
    /// Number of records in the chain.
    pub linked: u64,
    /// Number of records before the chain begins.
    pub before: u64,
    /// Number of the first record in the chain; records before it were rotated away.
    pub first: u64,
    /// Faults, with the file and the line.
    pub faults: Vec<String>,
}

impl Chain {
    /// Returns the chain of a log: the head of the user's usual log is beside the policy, any other
    /// is beside its log.
    pub(super) fn of(log: &Path) -> Self {
        let is_usual = crate::files::log_of_system().is_some_and(|usual| usual == log);
        let policy = is_usual.then(crate::files::policy_directory).flatten();
        let policy = policy.filter(|directory| directory.is_dir());
        let beside = || log.parent().unwrap_or(Path::new(".")).to_owned();
        Self::within(log, &policy.unwrap_or_else(beside))
    }

    fn within(log: &Path, directory: &Path) -> Self {
        let log = std::path::absolute(log).unwrap_or_else(|_| log.to_owned());
        let log = log.to_string_lossy().into_owned();
        let name = format!("log-{}.head", hash(log.as_bytes()).get(..16).unwrap_or_default());
        Self { head: directory.join(name), key: directory.join(KEY), log }
    }

    /// Returns a record with its link, and the head after it.
    pub(super) fn link(&self, line: &[u8], is_first: bool) -> Option<(Vec<u8>, String)> {
        let body = line.strip_suffix(b"}\n").filter(|body| body.len() > 1)?;
        let key = self.key()?;
        let head = match self.head(&key) {
            // A log that was removed begins anew; the head says that there was one.
            Some(head) => Some(head),
            None if is_first || !self.head.exists() => None,
            None => return None,
        };
        let (n, prev) = head.map_or((0, String::new()), |head| (head.n, head.hash));
        let link = format!(",\"n\":{},\"prev\":\"{prev}\"}}", n + 1);
        let mut linked = [body, link.as_bytes()].concat();
        let hash = hash(&linked);
        let mac = self.mac(&key, n + 1, &hash);
        linked.push(b'\n');
        let head = serde_json::to_string(&Head { n: n + 1, hash, mac }).ok()?;
        Some((linked, head + "\n"))
    }

    /// Stores the head.
    pub(super) fn store(&self, head: &str) -> io::Result<()> {
        let mut file = private().open(&self.head)?;
        file.write_all(head.as_bytes())?;
        file.set_len(head.len() as u64)
    }

    fn head(&self, key: &[u8]) -> Option<Head> {
        let mut text = String::new();
        File::open(&self.head).ok()?.take(MAX_HEAD).read_to_string(&mut text).ok()?;
        let head: Head = serde_json::from_str(&text).ok()?;
        (self.mac(key, head.n, &head.hash) == head.mac).then_some(head)
    }

    /// Returns the key, which is made when it is first needed.
    fn key(&self) -> Option<Vec<u8>> {
        match fs::read(&self.key) {
            Ok(key) if key.len() >= DIGITS => return Some(key),
            Ok(_) => return None,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(_) => return None,
        }
        let key: String = (0..4).map(|_| random()).collect();
        private().create_new(true).open(&self.key).ok()?.write_all(key.as_bytes()).ok()?;
        Some(key.into_bytes())
    }

    /// Returns the keyed hash of a head (HMAC).
    fn mac(&self, key: &[u8], n: u64, hash: &str) -> String {
        let pad = |byte: u8| {
            let mut block = [byte; 64];
            block.iter_mut().zip(key).for_each(|(at, key)| *at ^= key);
            block
        };
        let inner = Sha256::new().chain_update(pad(0x36));
        let inner = inner.chain_update(format!("{n}\n{hash}\n{}", self.log)).finalize();
        let outer = Sha256::new().chain_update(pad(0x5c)).chain_update(inner).finalize();
        hex(&outer)
    }
}

fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Returns digits from the random source of the system's hash maps.
fn random() -> String {
    format!("{:016x}", RandomState::new().build_hasher().finish())
}

fn hash(bytes: &[u8]) -> String {
    let mut text = hex(&Sha256::digest(bytes));
    text.truncate(DIGITS);
    text
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the files of a log, the oldest first.
#[must_use]
pub fn files(log: &Path) -> Vec<PathBuf> {
    /// Maximum number of rotated files.
    const MAX_ROTATED: u32 = 1_000;
    let numbered = |number: u32| {
        let mut name = log.as_os_str().to_owned();
        name.push(format!(".{number}"));
        PathBuf::from(name)
    };
    let mut files: Vec<PathBuf> =
        (1..MAX_ROTATED).map(numbered).take_while(|path| path.is_file()).collect();
    files.reverse();
    files.push(log.to_owned());
    files
}

/// Verifies the chain of a log with its rotated files.
///
/// # Errors
///
/// A file cannot be read.
pub fn verify(log: &Path) -> io::Result<Verified> {
    verify_with(log, &Chain::of(log))
}

fn verify_with(log: &Path, chain: &Chain) -> io::Result<Verified> {
    // No record is written meanwhile.
    let open = File::open(log)?;
    let _ = open.lock_shared();
    let mut found = Verified::default();
    let mut last: Option<(u64, String)> = None;
    for path in files(log) {
        let text = fs::read(&path)?;
        let lines = text.split(|byte| *byte == b'\n').enumerate();
        for (number, line) in lines.filter(|(_, line)| !line.is_empty()) {
            let at = || format!("{}:{}", path.display(), number + 1);
            let Ok(link) = serde_json::from_slice::<Link>(line) else {
                found.faults.push(format!("{}: the record is not complete", at()));
                continue;
            };
            let (Some(n), Some(prev)) = (link.n, link.prev) else {
                match last {
                    None => found.before += 1,
                    Some(_) => found.faults.push(format!("{}: the record has no link", at())),
                }
                continue;
            };
            match &last {
                None => found.first = n,
                Some((known, hash)) if *known + 1 == n && *hash == prev => {}
                Some((known, _)) => found.faults.push(format!(
                    "{}: record {n} does not follow record {known} as it is: a record was \
                     changed, added or removed",
                    at()
                )),
            }
            found.linked += 1;
            last = Some((n, hash(line)));
        }
    }
    let head = chain.key().and_then(|key| chain.head(&key));
    match (head, last) {
        (Some(head), Some((n, hash))) if head.n == n && head.hash == hash => {}
        (Some(head), Some((n, _))) => found.faults.push(format!(
            "the last record is {n}, and the signed head is of record {}: the end was changed",
            head.n
        )),
        (Some(head), None) => {
            found.faults.push(format!("the signed head is of record {}, which is missing", head.n));
        }
        (None, Some(_)) => found.faults.push(format!(
            "{} is missing or not signed by this machine: the end of the log is not proven",
            chain.head.display()
        )),
        (None, None) => {}
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes a chained log and returns its path and chain.
    fn log(directory: &Path, records: usize) -> (PathBuf, Chain) {
        let path = directory.join("guard.jsonl");
        fs::create_dir_all(directory.join("head")).unwrap();
        let chain = Chain::within(&path, &directory.join("head"));
        let mut text = Vec::new();
        for record in 0..records {
            let line = format!("{{\"tool\":\"{record}\"}}\n");
            let (line, head) = chain.link(line.as_bytes(), record == 0).unwrap();
            text.extend(line);
            chain.store(&head).unwrap();
        }
        fs::write(&path, text).unwrap();
        (path, chain)
    }

    #[test]
    fn tampering_is_noticed() {
        type Change = fn(Vec<String>) -> Vec<String>;
        let changes: &[(&str, Change, bool)] = &[
            ("nothing", |lines| lines, true),
            (
                "a word",
                |mut lines| {
                    lines[2] = lines[2].replace("\"2\"", "\"x\"");
                    lines
                },
                false,
            ),
            (
                "a removed record",
                |mut lines| {
                    lines.remove(2);
                    lines
                },
                false,
            ),
            (
                "the first record",
                |mut lines| {
                    lines.remove(0);
                    lines
                },
                true,
            ),
            (
                "the last record",
                |mut lines| {
                    lines.pop();
                    lines
                },
                false,
            ),
            (
                "a word of the last",
                |mut lines| {
                    lines[4] = lines[4].replace("\"4\"", "\"x\"");
                    lines
                },
                false,
            ),
            (
                "an added record",
                |mut lines| {
                    lines.push("{\"tool\":\"x\"}".into());
                    lines
                },
                false,
            ),
            (
                "a repeated record",
                |mut lines| {
                    let last = lines[4].clone();
                    lines.push(last);
                    lines
                },
                false,
            ),
            (
                "swapped records",
                |mut lines| {
                    lines.swap(1, 2);
                    lines
                },
                false,
            ),
            ("all records", |_| Vec::new(), false),
            (
                "part of a record",
                |mut lines| {
                    lines[1].truncate(5);
                    lines
                },
                false,
            ),
        ];
        for (what, change, is_fine) in changes {
            let dir = tempfile::tempdir().unwrap();
            let (path, chain) = log(dir.path(), 5);
            let lines = fs::read_to_string(&path).unwrap().lines().map(str::to_owned).collect();
            let mut text = change(lines).join("\n");
            text.push('\n');
            fs::write(&path, text).unwrap();
            let found = verify_with(&path, &chain).unwrap();
            assert_eq!(found.faults.is_empty(), *is_fine, "{what}: {found:?}");
        }
    }

    #[test]
    fn a_head_is_signed() {
        let dir = tempfile::tempdir().unwrap();
        let (path, chain) = log(dir.path(), 3);
        let text = fs::read_to_string(&chain.head).unwrap();
        let mut lines: Vec<String> =
            fs::read_to_string(&path).unwrap().lines().map(str::to_owned).collect();
        lines.pop();
        fs::write(&path, lines.join("\n") + "\n").unwrap();
        let head: Head = serde_json::from_str(&text).unwrap();
        let forged = Head { n: 2, hash: hash(lines[1].as_bytes()), ..head };
        fs::write(&chain.head, serde_json::to_string(&forged).unwrap()).unwrap();
        assert!(!verify_with(&path, &chain).unwrap().faults.is_empty());
        fs::remove_file(&chain.head).unwrap();
        assert!(!verify_with(&path, &chain).unwrap().faults.is_empty());
    }

    #[test]
    fn rotated_and_older_records_belong_to_the_log() {
        let dir = tempfile::tempdir().unwrap();
        let (path, chain) = log(dir.path(), 4);
        let text = fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let old = format!("{{\"tool\":\"old\"}}\n{}\n{}\n", lines[0], lines[1]);
        fs::write(dir.path().join("guard.jsonl.1"), old).unwrap();
        fs::write(&path, format!("{}\n{}\n", lines[2], lines[3])).unwrap();
        let found = verify_with(&path, &chain).unwrap();
        let want = Verified { linked: 4, before: 1, first: 1, faults: Vec::new() };
        assert_eq!(found, want);
    }
}
