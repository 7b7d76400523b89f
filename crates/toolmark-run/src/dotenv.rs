//! Environment variables from `.env` files.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::path::PathBuf;

/// Maximum size of a file.
const MAX_FILE: u64 = 1 << 20;

/// Variables of several files; the first file that defines a variable wins.
#[derive(Debug, Default)]
pub struct EnvFiles(BTreeMap<String, String>);

impl EnvFiles {
    /// Reads files. An unreadable file defines no variables: missing ones are reported when they
    /// are looked up.
    #[must_use]
    pub fn read(files: &[PathBuf]) -> Self {
        let mut all = BTreeMap::new();
        for path in files {
            let mut bytes = Vec::new();
            let read =
                File::open(path).and_then(|file| file.take(MAX_FILE).read_to_end(&mut bytes));
            if read.is_err() {
                continue;
            }
            for (name, value) in String::from_utf8_lossy(&bytes).lines().filter_map(variable) {
                all.entry(name).or_insert(value);
            }
        }
        Self(all)
    }

    /// Returns the value of a variable.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<OsString> {
        self.0.get(name).map(OsString::from)
    }
}

/// Parses a line of a file.
fn variable(line: &str) -> Option<(String, String)> {
    let line = line.trim();
    let line = line.strip_prefix("export ").unwrap_or(line);
    let (name, value) = line.split_once('=')?;
    let (name, value) = (name.trim(), value.trim());
    let is_name = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    if !is_name {
        return None;
    }
    let quoted = ['"', '\''].into_iter().find_map(|quote| {
        let rest = value.strip_prefix(quote)?;
        rest.find(quote).and_then(|end| rest.get(..end))
    });
    // Without quotes a comment may follow.
    let plain = || value.split(" #").next().unwrap_or(value).trim_end();
    Some((name.to_owned(), quoted.unwrap_or_else(plain).to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_file() {
        for (line, expected) in [
            ("A=b", Some(("A", "b"))),
            ("export A = b # why", Some(("A", "b"))),
            ("A=\"b # c\"", Some(("A", "b # c"))),
            ("A='x=y'", Some(("A", "x=y"))),
            ("A=", Some(("A", ""))),
            ("# A=b", None),
            ("A b=c", None),
            ("", None),
        ] {
            let found = variable(line);
            let found = found.as_ref().map(|(name, value)| (name.as_str(), value.as_str()));
            assert_eq!(found, expected, "{line}");
        }
    }
}
