//! The definitions of tools as they were first seen or last accepted, in a file
//! that several proxies share.
//!
//! A server can describe a tool harmlessly on the day it is approved and
//! otherwise a week later. The first definition seen is pinned with its hash;
//! one that differs is kept beside it until a person accepts it.

use crate::definition::Definition;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Why the pins cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PinsError {
    /// The file cannot be read or written.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The file holds something else.
    #[error("{path} is no file of pins: {why}")]
    Shape {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// There is nothing to accept.
    #[error("nothing of {0:?} waits to be accepted")]
    Nothing(String),
}

/// The file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Book {
    version: u32,
    servers: BTreeMap<String, BTreeMap<String, Pin>>,
}

/// A tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Pin {
    sha256: String,
    definition: Value,
    /// What the server says now, if that is something else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    changed: Option<Seen>,
}

impl Pin {
    fn of(seen: &Seen) -> Self {
        let Seen { sha256, definition } = seen.clone();
        Self { sha256, definition, changed: None }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Seen {
    sha256: String,
    definition: Value,
}

/// The version of the file this writes.
const VERSION: u32 = 1;

/// How a definition stands to its pin.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Standing {
    /// Never seen before; pinned now.
    New,
    /// As it was pinned.
    Same,
    /// Another one is pinned: this.
    Changed(Value),
}

/// One change to the file.
#[derive(Debug, Clone)]
enum Edit {
    /// Unless another proxy was first.
    Pin(String, String, Seen),
    Replace(String, String, Seen),
    Changed(String, String, Option<Seen>),
}

/// The pins.
#[derive(Debug)]
pub struct Pins {
    path: Option<PathBuf>,
    book: Book,
    edits: Vec<Edit>,
}

impl Pins {
    /// Pins that live as long as the proxy.
    #[must_use]
    pub fn in_memory() -> Self {
        let book = Book { version: VERSION, ..Book::default() };
        Self { path: None, book, edits: Vec::new() }
    }

    /// Pins of a file, which need not exist yet.
    ///
    /// # Errors
    ///
    /// Where the file cannot be read: taking it for empty would accept whatever
    /// the servers say today.
    pub fn open(path: &Path) -> Result<Self, PinsError> {
        Ok(Self { path: Some(path.to_owned()), book: read(path)?, edits: Vec::new() })
    }

    /// How a definition stands to its pin, which is made if there is none.
    pub(crate) fn standing(&mut self, server: &str, tool: &Definition) -> Standing {
        let pin = self.book.servers.get(server).and_then(|tools| tools.get(&tool.name));
        let seen = || Seen { sha256: tool.hash.clone(), definition: tool.value.clone() };
        let name = || (server.to_owned(), tool.name.clone());
        match pin {
            None => {
                let (server, tool) = name();
                self.edit(Edit::Pin(server, tool, seen()));
                Standing::New
            }
            Some(pin) if pin.sha256 == tool.hash => {
                if pin.changed.is_some() {
                    let (server, tool) = name();
                    self.edit(Edit::Changed(server, tool, None));
                }
                Standing::Same
            }
            Some(pin) => {
                let pinned = pin.definition.clone();
                if pin.changed.as_ref().is_none_or(|known| known.sha256 != tool.hash) {
                    let (server, tool) = name();
                    self.edit(Edit::Changed(server, tool, Some(seen())));
                }
                Standing::Changed(pinned)
            }
        }
    }

    /// Pins a definition in place of another one.
    pub(crate) fn replace(&mut self, server: &str, tool: &Definition) {
        let seen = Seen { sha256: tool.hash.clone(), definition: tool.value.clone() };
        self.edit(Edit::Replace(server.to_owned(), tool.name.clone(), seen));
    }

    fn edit(&mut self, edit: Edit) {
        apply(&mut self.book, &edit);
        self.edits.push(edit);
    }

    /// Reads the file again: somebody may have accepted a change.
    pub(crate) fn refresh(&mut self) -> Result<(), PinsError> {
        if let Some(path) = &self.path {
            self.book = read(path)?;
        }
        Ok(())
    }

    /// Writes down what is new. Other proxies may have written meanwhile.
    pub(crate) fn save(&mut self) -> Result<(), PinsError> {
        let edits = std::mem::take(&mut self.edits);
        match &self.path {
            Some(path) if !edits.is_empty() => change(path, |book| {
                edits.iter().for_each(|edit| apply(book, edit));
                Ok(())
            }),
            _ => Ok(()),
        }
    }

    /// Accepts what has changed of a server, or of one tool of it
    /// (`server/tool`), and returns the tools.
    ///
    /// # Errors
    ///
    /// Where nothing waits to be accepted, or the file cannot be changed.
    pub fn accept(path: &Path, name: &str) -> Result<Vec<String>, PinsError> {
        let mut tools = Vec::new();
        change(path, |book| {
            let (server, tool) = match name.split_once('/') {
                Some((server, tool)) if !book.servers.contains_key(name) => (server, Some(tool)),
                _ => (name, None),
            };
            tools = accepted(book, server, tool);
            match tools.is_empty() {
                true => Err(PinsError::Nothing(name.to_owned())),
                false => Ok(()),
            }
        })?;
        Ok(tools)
    }
}

/// Makes what a server's tools are now what is pinned; the tools it changed.
fn accepted(book: &mut Book, server: &str, tool: Option<&str>) -> Vec<String> {
    let mut tools = Vec::new();
    for (name, pin) in book.servers.get_mut(server).into_iter().flatten() {
        if tool.is_none_or(|tool| tool == name)
            && let Some(seen) = pin.changed.take()
        {
            *pin = Pin::of(&seen);
            tools.push(name.clone());
        }
    }
    tools
}

fn apply(book: &mut Book, edit: &Edit) {
    match edit {
        Edit::Pin(server, tool, seen) => {
            let tools = book.servers.entry(server.clone()).or_default();
            tools.entry(tool.clone()).or_insert_with(|| Pin::of(seen));
        }
        Edit::Replace(server, tool, seen) => {
            let tools = book.servers.entry(server.clone()).or_default();
            tools.insert(tool.clone(), Pin::of(seen));
        }
        Edit::Changed(server, tool, seen) => {
            let pin = book.servers.get_mut(server).and_then(|tools| tools.get_mut(tool));
            if let Some(pin) = pin {
                pin.changed.clone_from(seen);
            }
        }
    }
}

fn read(path: &Path) -> Result<Book, PinsError> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(Book { version: VERSION, ..Book::default() });
        }
        Err(source) => return Err(PinsError::File { path: path.to_owned(), source }),
    };
    let shape = |why: String| PinsError::Shape { path: path.to_owned(), why };
    let book: Book = serde_json::from_str(&text).map_err(|error| shape(error.to_string()))?;
    match book.version {
        VERSION => Ok(book),
        other => Err(shape(format!("version {other} is not known"))),
    }
}

/// Changes the file while nobody else does, whole or not at all.
fn change(
    path: &Path,
    change: impl FnOnce(&mut Book) -> Result<(), PinsError>,
) -> Result<(), PinsError> {
    let file = |source| PinsError::File { path: path.to_owned(), source };
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        fs::create_dir_all(folder).map_err(file)?;
    }
    let beside = |end: &str| {
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(end);
        path.with_file_name(name)
    };
    let lock = File::create(beside(".lock")).map_err(file)?;
    locked(&lock).map_err(file)?;
    let mut book = read(path)?;
    change(&mut book)?;
    let json = serde_json::to_string_pretty(&book).map_err(io::Error::other).map_err(file)?;
    let draft = beside(".new");
    fs::write(&draft, json + "\n").map_err(file)?;
    fs::rename(&draft, path).map_err(file)
}

/// Waits for a lock, but not for ever.
fn locked(file: &File) -> io::Result<()> {
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
        assert_eq!(pins.standing("s", &tool("a", "old")), Standing::New);
        assert_eq!(pins.standing("s", &tool("a", "old")), Standing::Same);
        assert_eq!(pins.standing("other", &tool("a", "new")), Standing::New);
        pins.save().unwrap();
        assert!(matches!(Pins::accept(&path, "s"), Err(PinsError::Nothing(_))));

        let mut pins = Pins::open(&path).unwrap();
        let pinned = Standing::Changed(tool("a", "old").value);
        assert_eq!(pins.standing("s", &tool("a", "new")), pinned);
        pins.save().unwrap();
        assert_eq!(Pins::accept(&path, "s/a").unwrap(), ["a"]);
        pins.refresh().unwrap();
        assert_eq!(pins.standing("s", &tool("a", "new")), Standing::Same);
        assert!(matches!(pins.standing("s", &tool("a", "old")), Standing::Changed(_)));
    }

    #[test]
    fn a_change_taken_back_waits_no_more() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pins.json");
        let mut pins = Pins::open(&path).unwrap();
        for description in ["old", "new", "old"] {
            pins.standing("s", &tool("a", description));
            pins.save().unwrap();
        }
        assert!(matches!(Pins::accept(&path, "s"), Err(PinsError::Nothing(_))));
    }

    #[test]
    fn two_proxies_keep_each_others_pins() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pins.json");
        let (mut one, mut two) = (Pins::open(&path).unwrap(), Pins::open(&path).unwrap());
        one.standing("one", &tool("a", "x"));
        two.standing("two", &tool("b", "y"));
        one.save().unwrap();
        two.save().unwrap();
        let mut both = Pins::open(&path).unwrap();
        assert_eq!(both.standing("one", &tool("a", "x")), Standing::Same);
        assert_eq!(both.standing("two", &tool("b", "y")), Standing::Same);
    }

    #[test]
    fn a_file_that_is_something_else_is_not_taken_for_empty() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pins.json");
        for text in [
            "",
            "{}",
            "[1]",
            r#"{"version":2,"servers":{}}"#,
            r#"{"version":1,"servers":{},"x":1}"#,
        ] {
            fs::write(&path, text).unwrap();
            assert!(matches!(Pins::open(&path), Err(PinsError::Shape { .. })), "{text}");
        }
    }
}
