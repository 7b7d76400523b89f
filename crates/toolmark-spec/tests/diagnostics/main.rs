//! What is said about broken specs, in every dialect: one snapshot each.
//!
//! A message has the file, the line and the column, shows the text it is about, and
//! says what to write instead.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should say so")]

mod agentv;
mod aigo;
mod futureagi;
mod toolmark;
mod vally;

use std::fmt::Write;
use std::path::Path;
use toolmark_config::{Source, Style, render};
use toolmark_grade::LoadOptions;
use toolmark_spec::load_source;

/// A spec that is broken: what is wrong with it, and its text.
type Broken = (&'static str, &'static str);

/// Everything that is said about these specs. Each is broken, so none is silent.
fn said(file: &str, specs: &[Broken]) -> String {
    // Files the specs refer to are looked for in a directory that has none.
    let directory = tempfile::tempdir().unwrap();
    let mut all = String::new();
    for (title, text) in specs {
        let shown = said_of(file, text, directory.path());
        assert!(shown.contains(&format!("--> {file}:")), "{title}: no place\n{shown}");
        write!(all, "# {title}\n{shown}\n").unwrap();
    }
    all.replace(directory.path().to_str().unwrap(), "DIR")
}

fn said_of(file: &str, text: &str, directory: &Path) -> String {
    let loaded = load_source(Source::new(file, text), directory, &LoadOptions::default());
    assert!(!loaded.problems.is_empty(), "nothing is said about\n{text}");
    render(&loaded.source, &loaded.problems, Style::default())
}
