//! Effects of methods by receiver: a path, files, a command, text.

use super::decode;
use super::functions::{self, Deed};
use super::read::{InlineReader, MAX_DEEDS};
use super::tables::{DELETES_ITSELF, DROPS, STATEMENTS};
use super::value::{InlineValue, PartialText};

impl InlineReader<'_> {
    pub(super) fn method(
        &mut self,
        receiver: &InlineValue,
        name: &str,
        args: &[InlineValue],
        named: &[(String, InlineValue)],
    ) -> InlineValue {
        let is_path = matches!(
            receiver,
            InlineValue::Path(_)
                | InlineValue::Files(_)
                | InlineValue::OneOf(_)
                | InlineValue::Temporary
        );
        if let Some((method, tree)) = DELETES_ITSELF.iter().find(|(method, _)| *method == name) {
            // A method on an unknown receiver deletes a file if its name implies one.
            let says_file = matches!(*method, "unlink" | "rmdir" | "rmtree" | "deleteDir");
            if is_path || (says_file && *receiver == InlineValue::Unknown && args.is_empty()) {
                self.perform(Deed::Delete { what: receiver.clone(), tree: *tree });
                return InlineValue::Unknown;
            }
        }
        let first = args.first().cloned().unwrap_or(InlineValue::Unknown);
        match (name, receiver) {
            // `open(x, "w").close()`
            ("close", InlineValue::Opened(known)) => {
                if let Some(deed) = functions::empty(&InlineValue::Text(known.clone())).deed {
                    self.perform(deed);
                }
            }
            (
                "write_text" | "write_bytes",
                InlineValue::Path(_) | InlineValue::Files(_) | InlineValue::OneOf(_),
            ) if first.certain() == Some("") => {
                if let Some(deed) = functions::empty(receiver).deed {
                    self.perform(deed);
                }
            }
            ("write_text" | "write_bytes" | "write", InlineValue::Path(_)) => {
                self.perform(Deed::Write { path: receiver.clone(), appends: false });
            }
            ("open", InlineValue::Path(_)) => {
                let mode = first.certain().unwrap_or("");
                let writes = mode.starts_with(['w', 'a', 'x']);
                self.perform(match writes {
                    true => Deed::Write { path: receiver.clone(), appends: mode.starts_with('a') },
                    false => Deed::Read(receiver.clone()),
                });
            }
            (
                "read_text" | "read_bytes" | "read" | "getText" | "readText",
                InlineValue::Path(_),
            ) => {
                self.perform(Deed::Read(receiver.clone()));
            }
            ("rename" | "replace" | "renameTo", InlineValue::Path(_)) => {
                let mut words = InlineValue::text("mv").args();
                words.extend(receiver.args());
                words.extend(first.args());
                self.perform(Deed::Run(words));
            }
            ("glob" | "rglob", InlineValue::Path(_)) => {
                let pattern =
                    if first == InlineValue::Unknown { InlineValue::text("*") } else { first };
                let Some(known) = receiver.join(&pattern).known().cloned() else {
                    return InlineValue::Unknown;
                };
                return self.list_files(known);
            }
            (
                "iterdir" | "walk" | "children" | "each_child" | "listFiles",
                InlineValue::Path(_),
            ) => {
                let Some(known) = receiver.join(&InlineValue::text("*")).known().cloned() else {
                    return InlineValue::Unknown;
                };
                return self.list_files(known);
            }
            ("forEach" | "map" | "each", _) => {
                if let InlineValue::Name(function) = &first {
                    let function = function.clone();
                    return self.call(&function, &[receiver.element()], named);
                }
                return receiver.clone();
            }
            ("arg" | "args", InlineValue::Command(words)) => {
                let mut words = words.clone();
                for arg in args {
                    match arg {
                        InlineValue::List(values) => words.extend(values.iter().cloned()),
                        value => words.push(value.clone()),
                    }
                }
                return InlineValue::Command(words);
            }
            (_, InlineValue::Command(_)) => return receiver.clone(),
            ("execute", InlineValue::Text(known)) => {
                self.perform(Deed::Shell(known.clone()));
            }
            ("execute", InlineValue::List(values)) => {
                if let Some(deed) = functions::command(values) {
                    self.perform(deed);
                }
            }
            ("joinpath", InlineValue::Path(_)) => {
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
            ("system", InlineValue::Unknown) if first.known().is_some() => {
                if let Some(known) = first.known() {
                    self.perform(Deed::Shell(known.clone()));
                }
            }
            ("append" | "push" | "extend", _) => {}
            (name, _)
                if STATEMENTS.contains(&name) && args.iter().any(|arg| arg.known().is_some()) =>
            {
                // `dbExecute(connection, "…")`
                let text = args.iter().find_map(InlineValue::known);
                let text = text.map(|known| known.text.clone()).unwrap_or_default();
                self.perform(Deed::Statement(text));
            }
            (name, _) if DROPS.contains(&name) || self.drops_all(name, args) => {
                self.perform(Deed::Drop(name.to_owned()));
            }
            _ => return decode::method(receiver, name, args).unwrap_or(InlineValue::Unknown),
        }
        InlineValue::Unknown
    }

    fn list_files(&mut self, known: PartialText) -> InlineValue {
        let files = InlineValue::Files(known);
        if self.found.listed.len() < MAX_DEEDS {
            self.found.listed.push(files.clone());
        }
        self.element = files.clone();
        files
    }

    /// Whether a call deletes everything: `deleteMany({})`.
    fn drops_all(&self, name: &str, args: &[InlineValue]) -> bool {
        matches!(name, "deleteMany" | "delete_many" | "remove")
            && matches!(args, [InlineValue::Map(pairs)] if pairs.is_empty())
    }
}
