//! Tests that the pages are up to date.
//!
//! The program generates the lists of what it supports, and output blocks are the output of the
//! command above them. If one of them differs, the test fails; with `UPDATE_DOCS=1` it writes the
//! page instead.

mod catalog;
mod coverage;
#[cfg(unix)]
mod examples;
mod formats;
mod hosts;
mod library;
mod publishing;
pub(crate) mod reference;

use crate::root;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

/// Compares a page with its expected text, or writes it.
fn keep(page: &str, wanted: &str) {
    let path = root().join(page);
    let found = fs::read_to_string(&path).unwrap_or_default();
    if found == wanted {
        return;
    }
    if updates() {
        fs::write(path, wanted).unwrap();
        return;
    }
    let same = found.lines().zip(wanted.lines()).take_while(|(a, b)| a == b).count();
    let line = |text: &str| text.lines().nth(same).unwrap_or("(its end)").to_owned();
    panic!(
        "{page} is out of date in line {}:\n  it says   {}\n  should be {}\n\
         run UPDATE_DOCS=1 cargo test -p toolmark --test cli docs",
        same + 1,
        line(&found),
        line(wanted)
    );
}

/// Whether pages are written instead of compared.
fn updates() -> bool {
    std::env::var_os("UPDATE_DOCS").is_some()
}

/// Compares the pages of a folder with their expected texts, or writes them and removes obsolete
/// pages.
fn keep_all(folder: &str, wanted: &BTreeMap<String, String>) {
    let path = root().join(folder);
    fs::create_dir_all(&path).unwrap();
    for entry in fs::read_dir(&path).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if wanted.contains_key(&name) {
            continue;
        }
        assert!(updates(), "{folder}/{name} is a page of nothing");
        fs::remove_file(path.join(&name)).unwrap();
    }
    for (name, text) in wanted {
        keep(&format!("{folder}/{name}"), text);
    }
}

/// The text of a page.
fn page(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap()
}

/// The names of all pages: those at the root and everything below `docs/`.
fn pages() -> Vec<String> {
    let at_root =
        ["README.md", "AGENTS.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "STYLE.md"];
    let mut found: Vec<String> = at_root.map(str::to_owned).into();
    let mut dirs = vec![PathBuf::from("docs")];
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(root().join(&dir)).unwrap() {
            let path = dir.join(entry.unwrap().file_name());
            if root().join(&path).is_dir() {
                dirs.push(path);
            } else if path.extension().is_some_and(|e| e == "md") {
                found.push(path.to_str().unwrap().to_owned());
            }
        }
    }
    found.sort();
    found
}
