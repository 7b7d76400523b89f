//! Diagnostics of broken specs, with one snapshot per dialect.
//!
//! Each message has a file, a line and a column, shows the affected text, and
//! suggests a fix.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should say so")]

mod agentv;
mod aigo;
mod futureagi;
mod toolmark;
mod vally;

use std::fmt::Write;
use std::path::Path;
use toolmark_config::{RenderStyle, SourceText, render};
use toolmark_grade::LoadOptions;
use toolmark_spec::load_source;

/// A broken spec: a description of the error, and the text of the spec.
type Broken = (&'static str, &'static str);

/// Renders all diagnostics of these specs. Each spec is broken, so each has at least one.
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
    let loaded = load_source(SourceText::new(file, text), directory, &LoadOptions::default());
    assert!(!loaded.problems.is_empty(), "nothing is said about\n{text}");
    render(&loaded.source, &loaded.problems, RenderStyle::default())
}
