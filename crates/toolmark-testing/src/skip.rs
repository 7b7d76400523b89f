//! Skipped tests, and how they are reported.

use std::fs::OpenOptions;
use std::io::Write;
use std::panic::Location;
use std::path::Path;
use std::thread;

/// Reports that the test is skipped, and why. The test must return afterwards.
#[track_caller]
pub fn skip(why: &str) {
    let list = std::env::var_os("TOOLMARK_SKIPPED").filter(|path| !path.is_empty());
    let line = line(thread::current().name(), Location::caller(), why);
    // Unlike what the macros print, this is not captured.
    let _ = std::io::stderr().write_all(line.as_bytes());
    if let Some(list) = list {
        append(Path::new(&list), &line);
    }
}

/// Formats the report. Test threads are named after their test, except if one thread runs all
/// tests.
fn line(thread: Option<&str>, place: &Location<'_>, why: &str) -> String {
    let why = why.trim().replace('\n', " ");
    match thread {
        Some(test) if test != "main" => format!("SKIPPED: {test}: {why}\n"),
        _ => format!("SKIPPED: {}:{}: {why}\n", place.file(), place.line()),
    }
}

/// Appends a line with a single write, because tests of several processes use the same file.
fn append(list: &Path, line: &str) {
    let mut file = OpenOptions::new().create(true).append(true).open(list).unwrap();
    file.write_all(line.as_bytes()).unwrap();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_skip_is_a_line_of_the_list() {
        let dir = tempfile::tempdir().unwrap();
        let list = dir.path().join("skipped.txt");
        let place = Location::caller();
        append(&list, &line(Some("module::a_test"), place, "no data\nanywhere\n"));
        append(&list, &line(Some("main"), place, "no data"));
        let expected = format!(
            "SKIPPED: module::a_test: no data anywhere\nSKIPPED: {}:{}: no data\n",
            place.file(),
            place.line()
        );
        assert_eq!(std::fs::read_to_string(list).unwrap(), expected);
    }
}
