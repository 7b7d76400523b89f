//! Effects of methods by receiver: a path, files, a command, text.

use super::decode;
use super::functions::{self, Deed};
use super::read::{MAX_DEEDS, Reader};
use super::tables::{DELETES_ITSELF, DROPS, STATEMENTS};
use super::value::{Known, Value};

impl Reader<'_> {
    pub(super) fn method(
        &mut self,
        receiver: &Value,
        name: &str,
        args: &[Value],
        named: &[(String, Value)],
    ) -> Value {
        let is_path = matches!(
            receiver,
            Value::Path(_) | Value::Files(_) | Value::OneOf(_) | Value::Temporary
        );
        if let Some((method, tree)) = DELETES_ITSELF.iter().find(|(method, _)| *method == name) {
            // A method on an unknown receiver deletes a file if its name implies one.
            let says_file = matches!(*method, "unlink" | "rmdir" | "rmtree" | "deleteDir");
            if is_path || (says_file && *receiver == Value::Unknown && args.is_empty()) {
                self.perform(Deed::Delete { what: receiver.clone(), tree: *tree });
                return Value::Unknown;
            }
        }
        let first = args.first().cloned().unwrap_or(Value::Unknown);
        match (name, receiver) {
            // `open(x, "w").close()`
            ("close", Value::Opened(known)) => {
                if let Some(deed) = functions::empty(&Value::Text(known.clone())).deed {
                    self.perform(deed);
                }
            }
            ("write_text" | "write_bytes", Value::Path(_) | Value::Files(_) | Value::OneOf(_))
                if first.certain() == Some("") =>
            {
                if let Some(deed) = functions::empty(receiver).deed {
                    self.perform(deed);
                }
            }
            ("write_text" | "write_bytes" | "write", Value::Path(_)) => {
                self.perform(Deed::Write { path: receiver.clone(), appends: false });
            }
            ("open", Value::Path(_)) => {
                let mode = first.certain().unwrap_or("");
                let writes = mode.starts_with(['w', 'a', 'x']);
                self.perform(match writes {
                    true => Deed::Write { path: receiver.clone(), appends: mode.starts_with('a') },
                    false => Deed::Read(receiver.clone()),
                });
            }
            ("read_text" | "read_bytes" | "read" | "getText" | "readText", Value::Path(_)) => {
                self.perform(Deed::Read(receiver.clone()));
            }
            ("rename" | "replace" | "renameTo", Value::Path(_)) => {
                let mut words = Value::text("mv").args();
                words.extend(receiver.args());
                words.extend(first.args());
                self.perform(Deed::Run(words));
            }
            ("glob" | "rglob", Value::Path(_)) => {
                let pattern = if first == Value::Unknown { Value::text("*") } else { first };
                let Some(known) = receiver.join(&pattern).known().cloned() else {
                    return Value::Unknown;
                };
                return self.list_files(known);
            }
            ("iterdir" | "walk" | "children" | "each_child" | "listFiles", Value::Path(_)) => {
                let Some(known) = receiver.join(&Value::text("*")).known().cloned() else {
                    return Value::Unknown;
                };
                return self.list_files(known);
            }
            ("forEach" | "map" | "each", _) => {
                if let Value::Name(function) = &first {
                    let function = function.clone();
                    return self.call(&function, &[receiver.element()], named);
                }
                return receiver.clone();
            }
            ("arg" | "args", Value::Command(words)) => {
                let mut words = words.clone();
                for arg in args {
                    match arg {
                        Value::List(values) => words.extend(values.iter().cloned()),
                        value => words.push(value.clone()),
                    }
                }
                return Value::Command(words);
            }
            (_, Value::Command(_)) => return receiver.clone(),
            ("execute", Value::Text(known)) => {
                self.perform(Deed::Shell(known.clone()));
            }
            ("execute", Value::List(values)) => {
                if let Some(deed) = functions::command(values) {
                    self.perform(deed);
                }
            }
            ("joinpath", Value::Path(_)) => {
                return args.iter().fold(receiver.clone(), |all, part| all.join(part));
            }
            ("extractall" | "unpack_archive" | "extract", _) => {
                let target =
                    args.iter().chain(named.iter().map(|(_, value)| value)).next().cloned();
                if let Some(path) = target.filter(|path| path.known().is_some()) {
                    self.perform(Deed::Write { path, appends: false });
                }
            }
            // `ctypes.CDLL(None).system(b"…")`
            ("system", Value::Unknown) if first.known().is_some() => {
                if let Some(known) = first.known() {
                    self.perform(Deed::Shell(known.clone()));
                }
            }
            ("append" | "push" | "extend", _) => {}
            (name, _)
                if STATEMENTS.contains(&name) && args.iter().any(|arg| arg.known().is_some()) =>
            {
                // `dbExecute(connection, "…")`
                let text = args.iter().find_map(Value::known);
                let text = text.map(|known| known.text.clone()).unwrap_or_default();
                self.perform(Deed::Statement(text));
            }
            (name, _) if DROPS.contains(&name) || self.drops_all(name, args) => {
                self.perform(Deed::Drop(name.to_owned()));
            }
            _ => return decode::method(receiver, name, args).unwrap_or(Value::Unknown),
        }
        Value::Unknown
    }

    fn list_files(&mut self, known: Known) -> Value {
        let files = Value::Files(known);
        if self.found.listed.len() < MAX_DEEDS {
            self.found.listed.push(files.clone());
        }
        self.element = files.clone();
        files
    }

    /// Whether a call deletes everything: `deleteMany({})`.
    fn drops_all(&self, name: &str, args: &[Value]) -> bool {
        matches!(name, "deleteMany" | "delete_many" | "remove")
            && matches!(args, [Value::Map(pairs)] if pairs.is_empty())
    }
}
