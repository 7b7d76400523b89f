//! Conditions on one argument of a call: its value, or a pattern that stays the same
//! when machines, IDs and dates change.

use crate::mine::generalize::{RunDirectories, escaped, path_parts, programs, shape};
use serde_json::{Map, Value};
use toolmark_match::call_match::{PathStep, written_path};
use toolmark_redact::Redactor;

/// Maximum nesting depth of inspected arguments.
const MAX_DEPTH: usize = 3;

/// Maximum number of inspected values per call.
const MAX_VALUES: usize = 24;

/// Maximum length of inspected lists: longer lists are data; only in short ones does the position
/// of an element have a meaning.
const MAX_ITEMS: usize = 4;

/// Maximum length of inspected texts: longer texts (code, messages, patches) are specific to one
/// run.
const MAX_TEXT: usize = 300;

/// A condition that an argument meets.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Atom {
    /// Path of the argument, as in `where`.
    pub(crate) path: String,
    /// Top-level key of the argument, if it is not nested.
    pub(crate) key: Option<String>,
    /// The condition.
    pub(crate) test: ValueTest,
}

/// A condition on a value, from the least to the most specific.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ValueTest {
    /// A command line runs this program.
    Program(String),
    /// Last component of a path.
    FileName(String),
    /// Last components of a path: those below the working directory.
    Tail(String),
    /// The text, with gaps for IDs, dates and numbers.
    Shape(String),
    /// The value, as JSON.
    Equals(String),
}

impl ValueTest {
    /// Returns the condition as written in `where`.
    pub(crate) fn condition(&self) -> Value {
        match self {
            Self::Program(regex)
            | Self::FileName(regex)
            | Self::Tail(regex)
            | Self::Shape(regex) => serde_json::json!({ "regex": regex }),
            Self::Equals(json) => match value_of(json) {
                value @ (Value::Null | Value::Object(_)) => serde_json::json!({ "equals": value }),
                value if reads_as_pattern(&value) => serde_json::json!({ "equals": value }),
                value => value,
            },
        }
    }
}

/// Whether a spec has a regular expression where this value, or one inside it, stands.
fn reads_as_pattern(value: &Value) -> bool {
    match value {
        Value::String(text) => text.len() > 2 && text.starts_with('/') && text.ends_with('/'),
        Value::Array(items) => items.iter().any(reads_as_pattern),
        Value::Object(fields) => fields.values().any(reads_as_pattern),
        _ => false,
    }
}

fn value_of(json: &str) -> Value {
    serde_json::from_str(json).unwrap_or_default()
}

/// Returns the expectation for a tool with conditions on its arguments. If an argument has
/// several tests, the most specific one is written.
pub(crate) fn call_config(tool: &str, atoms: &[Atom]) -> Value {
    let name = tool_config(tool);
    if atoms.is_empty() && name.is_string() {
        return name;
    }
    let (mut args, mut conditions) = (Map::new(), Map::new());
    for atom in atoms {
        match (&atom.key, &atom.test) {
            (Some(key), ValueTest::Equals(json)) if !reads_as_pattern(&value_of(json)) => {
                args.insert(key.clone(), value_of(json));
            }
            _ => {
                conditions.insert(atom.path.clone(), atom.test.condition());
            }
        }
    }
    let mut config = Map::from_iter([("tool".to_owned(), name)]);
    if !args.is_empty() {
        config.insert("args".into(), args.into());
    }
    if !conditions.is_empty() {
        config.insert("where".into(), conditions.into());
    }
    config.into()
}

/// Returns the expectation for a tool name. A name that looks like a pattern is written as a
/// pattern that matches exactly this name.
pub(crate) fn tool_config(tool: &str) -> Value {
    match tool.contains(['*', '?']) || tool.starts_with('/') {
        true => serde_json::json!({ "regex": format!("^{}$", escaped(tool)) }),
        false => tool.into(),
    }
}

/// Returns the conditions that the arguments of a call meet. Values that contain a secret are
/// skipped: they are not written, and a redacted value would match no call.
pub(crate) fn atoms_of(args: &Value, places: &RunDirectories, redactor: Redactor) -> Vec<Atom> {
    let mut walk = AtomWalk { places, redactor, atoms: Vec::new(), values: 0 };
    if let Value::Object(fields) = args {
        for (key, value) in fields {
            walk.value(value, &mut vec![PathStep::Key(key)]);
        }
    }
    walk.atoms.sort();
    walk.atoms.dedup();
    walk.atoms
}

struct AtomWalk<'p> {
    places: &'p RunDirectories,
    redactor: Redactor,
    atoms: Vec<Atom>,
    values: usize,
}

impl AtomWalk<'_> {
    fn value<'v>(&mut self, value: &'v Value, path: &mut Vec<PathStep<'v>>) {
        if self.values >= MAX_VALUES || path.len() > MAX_DEPTH {
            return;
        }
        match value {
            Value::Object(fields) => {
                for (key, value) in fields {
                    path.push(PathStep::Key(key));
                    self.value(value, path);
                    path.pop();
                }
            }
            Value::Array(items) if items.len() <= MAX_ITEMS => {
                for (at, value) in items.iter().enumerate() {
                    path.push(PathStep::Index(at));
                    self.value(value, path);
                    path.pop();
                }
            }
            Value::Array(_) => {}
            Value::String(text) => self.text(text, path),
            other => self.add(path, ValueTest::Equals(other.to_string())),
        }
    }

    fn text(&mut self, text: &str, path: &[PathStep<'_>]) {
        let key = path.iter().rev().find_map(|step| match step {
            PathStep::Key(key) => Some(*key),
            PathStep::Index(_) => None,
        });
        let key = key.unwrap_or_default();
        let shown = self.redactor.apply_named(key, text.to_owned());
        if *shown != *text {
            return;
        }
        if matches!(key, "command" | "cmd" | "script" | "shell_command") {
            let programs = programs(text);
            // Exploring calls differ in their words.
            if programs.is_empty() {
                return;
            }
            for regex in programs {
                self.add(path, ValueTest::Program(regex));
            }
        }
        if text.len() > MAX_TEXT || text.contains('\n') {
            return;
        }
        let shape = shape(text, self.places);
        let parts = path_parts(text, self.places);
        // How a path ends says it shorter.
        if shape.has_gaps && !(shape.is_of_machine && parts.is_some()) {
            self.add(path, ValueTest::Shape(shape.regex));
        }
        if let Some(parts) = parts {
            self.add(path, ValueTest::FileName(parts.name));
            if let Some(tail) = parts.tail {
                self.add(path, ValueTest::Tail(tail));
            }
        }
        if !shape.is_of_machine {
            self.add(path, ValueTest::Equals(Value::from(text).to_string()));
        }
    }

    fn add(&mut self, path: &[PathStep<'_>], test: ValueTest) {
        self.values += 1;
        let key = match path {
            [PathStep::Key(key)] => Some((*key).to_owned()),
            _ => None,
        };
        self.atoms.push(Atom { path: written_path(path), key, test });
    }
}

/// Returns the most specific test of every argument.
pub(crate) fn most_telling<'a>(atoms: impl IntoIterator<Item = &'a Atom>) -> Vec<Atom> {
    let mut best: Vec<Atom> = Vec::new();
    for atom in atoms {
        match best.iter_mut().find(|other| other.path == atom.path) {
            // Of two programs the longer name says more.
            Some(other) => {
                let weight = |atom: &Atom| (rank(&atom.test), length(&atom.test));
                if weight(atom) > weight(other) {
                    *other = atom.clone();
                }
            }
            None => best.push(atom.clone()),
        }
    }
    best
}

/// Returns the rank of a test by how specific it is.
pub(crate) fn rank(test: &ValueTest) -> usize {
    match test {
        ValueTest::Program(_) => 1,
        ValueTest::FileName(_) => 2,
        ValueTest::Tail(_) => 3,
        ValueTest::Shape(_) => 4,
        ValueTest::Equals(_) => 5,
    }
}

fn length(test: &ValueTest) -> usize {
    match test {
        ValueTest::Program(text)
        | ValueTest::FileName(text)
        | ValueTest::Tail(text)
        | ValueTest::Shape(text)
        | ValueTest::Equals(text) => text.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn atoms(args: Value) -> Vec<String> {
        let places = RunDirectories::new(Some("/home/mira/shop"));
        let all = atoms_of(&args, &places, Redactor::new(true));
        all.iter().map(|atom| format!("{} {:?}", atom.path, atom.test)).collect()
    }

    #[test]
    fn values_are_said_at_their_place() {
        assert_eq!(
            atoms(json!({"n": 1, "deep": {"list": ["a", true]}, "no": null})),
            [
                r#"deep.list[0] Equals("\"a\"")"#,
                r#"deep.list[1] Equals("true")"#,
                r#"n Equals("1")"#,
                r#"no Equals("null")"#,
            ]
        );
        assert_eq!(atoms(json!({"a.b": 1})), [r#""a.b" Equals("1")"#]);
    }

    #[test]
    fn what_is_of_one_machine_is_not_written() {
        let all = atoms(json!({"path": "/home/mira/shop/src/a.rs"}));
        assert_eq!(all, [r#"path FileName("(^|/)a\\.rs$")"#, r#"path Tail("(^|/)src/a\\.rs$")"#]);
    }

    #[test]
    fn secrets_and_long_texts_are_not_written() {
        assert_eq!(atoms(json!({"password": "hunter2hunter2"})), [] as [&str; 0]);
        assert_eq!(atoms(json!({"text": "x".repeat(MAX_TEXT + 1)})), [] as [&str; 0]);
        assert_eq!(atoms(json!({"text": "a\nb"})), [] as [&str; 0]);
        assert_eq!(atoms(json!({"command": "cat a.txt | head"})), [] as [&str; 0]);
        assert_eq!(atoms(json!({"command": "npm test"})).len(), 3);
    }

    #[test]
    fn a_call_is_written_as_short_as_it_can_be() {
        let places = RunDirectories::new(None);
        let all = |args: Value| most_telling(&atoms_of(&args, &places, Redactor::new(true)));
        assert_eq!(call_config("book", &[]), json!("book"));
        assert_eq!(
            call_config("book", &all(json!({"city": "Paris", "to": {"n": null}}))),
            json!({"tool": "book", "args": {"city": "Paris"}, "where": {"to.n": {"equals": null}}})
        );
        assert_eq!(call_config("a*", &[]), json!({"tool": {"regex": "^a\\*$"}}));
        // A spec would read it as a pattern.
        assert_eq!(
            call_config("book", &all(json!({"note": "/urgent/"}))),
            json!({"tool": "book", "where": {"note": {"equals": "/urgent/"}}})
        );
    }
}
