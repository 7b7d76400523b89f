//! Pinned definitions of tools: as first seen or last accepted, in a file shared by several
//! proxies.
//!
//! A server can describe a tool harmlessly on the day it is approved and differently a week later.
//! The first definition is pinned with its hash; a different one is stored beside it until the user
//! accepts it.

use crate::definition::Definition;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;
use toolmark_base::{ReadFileError, read_file};

/// Maximum size of the file, in bytes.
const MAX_BYTES: u64 = 256 << 20;

/// Reason why the pins cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PinsError {
    /// The file cannot be read.
    #[error(transparent)]
    Read(#[from] ReadFileError),
    /// The file cannot be written.
    #[error("{path}: {source}")]
    File {
        /// Path of the file.
        path: PathBuf,
        /// System error.
        source: io::Error,
    },
    /// The contents are invalid.
    #[error("{path} is not a file of pins: {why}")]
    Shape {
        /// Path of the file.
        path: PathBuf,
        /// Description of the problem.
        why: String,
    },
    /// No changes to accept.
    #[error("{0:?} has no changes to accept")]
    Nothing(String),
}

/// The contents of the file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PinFile {
    version: u32,
    servers: BTreeMap<String, BTreeMap<String, Pin>>,
}

/// The pin of a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Pin {
    sha256: String,
    definition: Value,
    /// Current definition, if it differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    changed: Option<PinSnapshot>,
    /// Reason why the user should review the tool before it is called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    doubt: Option<String>,
}

impl Pin {
    fn of(snapshot: &PinSnapshot, doubt: Option<String>) -> Self {
        let PinSnapshot { sha256, definition } = snapshot.clone();
        Self { sha256, definition, changed: None, doubt }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PinSnapshot {
    sha256: String,
    definition: Value,
}

/// Version of the file format.
const VERSION: u32 = 1;

/// Comparison of a definition with its pin.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum PinStatus {
    /// The definition was not pinned before, and is now.
    New,
    /// The definition equals the pinned one.
    Same,
    /// The definition differs from the pinned one, which is contained.
    Changed(Value),
}

/// One change to the file.
#[derive(Debug, Clone)]
enum PinEdit {
    /// Pins a definition with an optional doubt, unless another proxy was first.
    Pin(String, String, PinSnapshot, Option<String>),
    Replace(String, String, PinSnapshot),
    Changed(String, String, Option<PinSnapshot>),
}

/// The pinned definitions of tools.
#[derive(Debug)]
pub struct Pins {
    path: Option<PathBuf>,
    file: PinFile,
    edits: Vec<PinEdit>,
}

impl Pins {
    /// Creates pins that are not stored.
    #[must_use]
    pub fn in_memory() -> Self {
        let file = PinFile { version: VERSION, ..PinFile::default() };
        Self { path: None, file, edits: Vec::new() }
    }

    /// Opens the pins of a file, which need not exist yet.
    ///
    /// # Errors
    ///
    /// The file cannot be read: treating it as empty would accept all current definitions.
    pub fn open(path: &Path) -> Result<Self, PinsError> {
        Ok(Self { path: Some(path.to_owned()), file: read(path)?, edits: Vec::new() })
    }

    /// Compares a definition with its pin, which is created if there is none. A tool listed later
    /// than the others of its server is pinned with a doubt, as is one with the same name as a tool
    /// of another server.
    pub(crate) fn check(&mut self, server: &str, tool: &Definition, comes_late: bool) -> PinStatus {
        let pin = self.file.servers.get(server).and_then(|tools| tools.get(&tool.name));
        let snapshot = || PinSnapshot { sha256: tool.hash.clone(), definition: tool.value.clone() };
        let name = || (server.to_owned(), tool.name.clone());
        match pin {
            None => {
                let doubt = match self.namesake(server, &tool.name) {
                    Some(other) => Some(format!("{other} has a tool of the same name")),
                    None => comes_late.then(|| "it was added during a session".to_owned()),
                };
                let (server, tool) = name();
                self.edit(PinEdit::Pin(server, tool, snapshot(), doubt));
                PinStatus::New
            }
            Some(pin) if pin.sha256 == tool.hash => {
                if pin.changed.is_some() {
                    let (server, tool) = name();
                    self.edit(PinEdit::Changed(server, tool, None));
                }
                PinStatus::Same
            }
            Some(pin) => {
                let pinned = pin.definition.clone();
                if pin.changed.as_ref().is_none_or(|known| known.sha256 != tool.hash) {
                    let (server, tool) = name();
                    self.edit(PinEdit::Changed(server, tool, Some(snapshot())));
                }
                PinStatus::Changed(pinned)
            }
        }
    }

    /// Returns another server that has a tool of this name.
    fn namesake(&self, server: &str, tool: &str) -> Option<&str> {
        let mut others = self.file.servers.iter().filter(|(name, _)| *name != server);
        others.find(|(_, tools)| tools.contains_key(tool)).map(|(name, _)| name.as_str())
    }

    /// Returns why the user should review a tool before it is called.
    pub(crate) fn doubt(&self, server: &str, tool: &str) -> Option<&str> {
        self.file.servers.get(server)?.get(tool)?.doubt.as_deref()
    }

    /// Replaces a pin.
    pub(crate) fn replace(&mut self, server: &str, tool: &Definition) {
        let snapshot = PinSnapshot { sha256: tool.hash.clone(), definition: tool.value.clone() };
        self.edit(PinEdit::Replace(server.to_owned(), tool.name.clone(), snapshot));
    }

    fn edit(&mut self, edit: PinEdit) {
        apply(&mut self.file, &edit);
        self.edits.push(edit);
    }

    /// Reads the file again, since a change may have been accepted.
    pub(crate) fn refresh(&mut self) -> Result<(), PinsError> {
        if let Some(path) = &self.path {
            self.file = read(path)?;
        }
        Ok(())
    }

    /// Writes new pins and changes on top of those written by other proxies.
    pub(crate) fn save(&mut self) -> Result<(), PinsError> {
        let edits = std::mem::take(&mut self.edits);
        match &self.path {
            Some(path) if !edits.is_empty() => change(path, |file| {
                edits.iter().for_each(|edit| apply(file, edit));
                Ok(())
            }),
            _ => Ok(()),
        }
    }

    /// Accepts the changes of a server, or of one of its tools (`server/tool`), and returns the
    /// tools.
    ///
    /// # Errors
    ///
    /// There are no changes to accept, or the file cannot be changed.
    pub fn accept(path: &Path, name: &str) -> Result<Vec<String>, PinsError> {
        let mut tools = Vec::new();
        change(path, |file| {
            let (server, tool) = match name.split_once('/') {
                Some((server, tool)) if !file.servers.contains_key(name) => (server, Some(tool)),
                _ => (name, None),
            };
            tools = accept_changes(file, server, tool);
            match tools.is_empty() {
                true => Err(PinsError::Nothing(name.to_owned())),
                false => Ok(()),
            }
        })?;
        Ok(tools)
    }
}

/// Pins the current definitions of a server's tools, and returns those that changed or
/// were in doubt.
fn accept_changes(file: &mut PinFile, server: &str, tool: Option<&str>) -> Vec<String> {
    let mut tools = Vec::new();
    for (name, pin) in file.servers.get_mut(server).into_iter().flatten() {
        if tool.is_some_and(|tool| tool != name) {
            continue;
        }
        let doubted = pin.doubt.take().is_some();
        let changed = pin.changed.take();
        if let Some(snapshot) = &changed {
            *pin = Pin::of(snapshot, None);
        }
        if doubted || changed.is_some() {
            tools.push(name.clone());
        }
    }
    tools
}

fn apply(file: &mut PinFile, edit: &PinEdit) {
    match edit {
        PinEdit::Pin(server, tool, snapshot, doubt) => {
            let tools = file.servers.entry(server.clone()).or_default();
            tools.entry(tool.clone()).or_insert_with(|| Pin::of(snapshot, doubt.clone()));
        }
        PinEdit::Replace(server, tool, snapshot) => {
            let tools = file.servers.entry(server.clone()).or_default();
            tools.insert(tool.clone(), Pin::of(snapshot, None));
        }
        PinEdit::Changed(server, tool, snapshot) => {
            let pin = file.servers.get_mut(server).and_then(|tools| tools.get_mut(tool));
            if let Some(pin) = pin {
                pin.changed.clone_from(snapshot);
            }
        }
    }
}

fn read(path: &Path) -> Result<PinFile, PinsError> {
    let text = match read_file::read_text(path, MAX_BYTES) {
        Err(error) if error.is_missing() => {
            return Ok(PinFile { version: VERSION, ..PinFile::default() });
        }
        text => text?,
    };
    let shape = |why: String| PinsError::Shape { path: path.to_owned(), why };
    let file: PinFile = serde_json::from_str(&text).map_err(|error| shape(error.to_string()))?;
    match file.version {
        VERSION => Ok(file),
        other => Err(shape(format!("version {other} is not supported"))),
    }
}

/// Changes the file under a lock, atomically.
fn change(
    path: &Path,
    change: impl FnOnce(&mut PinFile) -> Result<(), PinsError>,
) -> Result<(), PinsError> {
    let failed = |source| PinsError::File { path: path.to_owned(), source };
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    let beside = |end: &str| {
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(end);
        path.with_file_name(name)
    };
    let lock = File::create(beside(".lock")).map_err(failed)?;
    acquire_lock(&lock).map_err(failed)?;
    let mut file = read(path)?;
    change(&mut file)?;
    let json = serde_json::to_string_pretty(&file).map_err(io::Error::other).map_err(failed)?;
    toolmark_base::file::write_whole(path, (json + "\n").as_bytes()).map_err(failed)
}

/// Waits for a lock, with a timeout.
fn acquire_lock(file: &File) -> io::Result<()> {
    for _ in 0..100 {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(20)),
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
    Err(io::Error::new(io::ErrorKind::TimedOut, "another process holds the lock"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(name: &str, description: &str) -> Definition {
        let json = serde_json::json!({"name": name, "description": description});
        Definition::read(&json.to_string()).unwrap()
    }

    #[test]
    fn a_definition_is_pinned_changed_and_accepted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/pins.json");
        let mut pins = Pins::open(&path).unwrap();
        assert_eq!(pins.check("s", &tool("a", "old"), false), PinStatus::New);
        assert_eq!(pins.check("s", &tool("a", "old"), false), PinStatus::Same);
        assert_eq!(pins.check("other", &tool("a", "new"), false), PinStatus::New);
        pins.save().unwrap();
        assert!(matches!(Pins::accept(&path, "s"), Err(PinsError::Nothing(_))));

        let mut pins = Pins::open(&path).unwrap();
        let pinned = PinStatus::Changed(tool("a", "old").value);
        assert_eq!(pins.check("s", &tool("a", "new"), false), pinned);
        pins.save().unwrap();
        assert_eq!(Pins::accept(&path, "s/a").unwrap(), ["a"]);
        pins.refresh().unwrap();
        assert_eq!(pins.check("s", &tool("a", "new"), false), PinStatus::Same);
        assert!(matches!(pins.check("s", &tool("a", "old"), false), PinStatus::Changed(_)));
    }

    #[test]
    fn a_change_taken_back_waits_no_more() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pins.json");
        let mut pins = Pins::open(&path).unwrap();
        for description in ["old", "new", "old"] {
            pins.check("s", &tool("a", description), false);
            pins.save().unwrap();
        }
        assert!(matches!(Pins::accept(&path, "s"), Err(PinsError::Nothing(_))));
    }

    #[test]
    fn two_proxies_keep_each_others_pins() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pins.json");
        let (mut one, mut two) = (Pins::open(&path).unwrap(), Pins::open(&path).unwrap());
        one.check("one", &tool("a", "x"), false);
        two.check("two", &tool("b", "y"), false);
        one.save().unwrap();
        two.save().unwrap();
        let mut both = Pins::open(&path).unwrap();
        assert_eq!(both.check("one", &tool("a", "x"), false), PinStatus::Same);
        assert_eq!(both.check("two", &tool("b", "y"), false), PinStatus::Same);
    }

    #[test]
    fn a_file_that_is_something_else_is_not_taken_for_empty() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pins.json");
        fs::write(&path, "").unwrap();
        assert!(matches!(Pins::open(&path), Err(PinsError::Read(error)) if error.is_empty()));
        for text in
            ["{}", "[1]", r#"{"version":2,"servers":{}}"#, r#"{"version":1,"servers":{},"x":1}"#]
        {
            fs::write(&path, text).unwrap();
            assert!(matches!(Pins::open(&path), Err(PinsError::Shape { .. })), "{text}");
        }
    }
}
