//! Checks that the crates depend on each other as docs/architecture.md states.

use crate::{metadata, root};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// A workspace crate and the workspace crates that it uses.
type Arrows = BTreeMap<String, Vec<String>>;

/// The dependencies in the table of docs/architecture.md.
fn drawn() -> Arrows {
    let text = fs::read_to_string(root().join("docs/architecture.md")).unwrap();
    let row = |line: &str| {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let [_, name, _, uses, _] = cells[..] else { return None };
        let name = name.strip_prefix('`')?.strip_suffix('`')?.to_owned();
        let uses = uses.split(", ").filter(|u| *u != "–").map(|u| format!("toolmark-{u}"));
        Some((name, uses.collect()))
    };
    text.lines().filter_map(row).collect()
}

/// The dependencies known to cargo, including those of tests. The dependency of tests on
/// `toolmark-testing` is omitted, because every crate may have it.
fn built() -> Arrows {
    let metadata = metadata();
    let mut arrows = Arrows::new();
    for package in metadata["packages"].as_array().unwrap() {
        let uses = package["dependencies"].as_array().unwrap().iter();
        let uses = uses.filter(|d| d["name"] != "toolmark-testing" || d["kind"] != "dev");
        let uses = uses.map(|d| d["name"].as_str().unwrap().to_owned());
        let mut uses: Vec<String> = uses.filter(|name| name.starts_with("toolmark")).collect();
        uses.sort();
        uses.dedup();
        arrows.insert(package["name"].as_str().unwrap().to_owned(), uses);
    }
    arrows
}

/// The crates that each crate uses, directly or through others.
fn reachable(arrows: &Arrows) -> BTreeMap<&str, BTreeSet<&str>> {
    fn collect<'a>(name: &str, arrows: &'a Arrows, all: &mut BTreeSet<&'a str>) {
        for used in arrows[name].iter().filter(|used| *used != name) {
            if all.insert(used) {
                collect(used, arrows, all);
            }
        }
    }
    let of = |name: &str| {
        let mut all = BTreeSet::new();
        collect(name, arrows, &mut all);
        all
    };
    arrows.keys().map(|name| (name.as_str(), of(name))).collect()
}

/// The dependencies that no other dependency of the same crate implies.
fn reduced(arrows: &Arrows) -> Arrows {
    let below = reachable(arrows);
    let keep = |(name, uses): (&String, &Vec<String>)| {
        let implies = |one: &String, used: &String| {
            one != used && one != name && below[one.as_str()].contains(used.as_str())
        };
        let is_implied = |used: &String| used == name || uses.iter().any(|one| implies(one, used));
        let left = uses.iter().filter(|used| !is_implied(used)).cloned().collect();
        (name.clone(), left)
    };
    arrows.iter().map(keep).collect()
}

#[test]
fn the_arrows_are_the_ones_on_the_page() {
    let built = built();
    let words = "as built, without implied ones, and as docs/architecture.md draws them";
    assert_eq!(reduced(&built), drawn(), "{words}");
    assert_eq!(built["toolmark-scan"], [""; 0]);
    assert_eq!(built["toolmark-testing"], [""; 0]);
    assert_eq!(built["toolmark-base"], [""; 0]);
    assert_eq!(built["toolmark-trace"], ["toolmark-base", "toolmark-scan"]);
}

#[test]
fn only_the_scanner_may_be_unsafe() {
    for name in built().keys().filter(|name| *name != "toolmark-scan") {
        let src = root().join("crates").join(name).join("src");
        let roots: Vec<_> = ["lib.rs", "main.rs"].iter().map(|f| src.join(f)).collect();
        let mut found = roots.iter().filter_map(|file| fs::read_to_string(file).ok()).peekable();
        assert!(found.peek().is_some(), "{name} has no root");
        for text in found {
            assert!(text.contains("\n#![forbid(unsafe_code)]\n"), "{name} must forbid it");
        }
    }
}

/// Maximum number of crates on a path from the binary down.
const MAX_DEPTH: usize = 9;

#[test]
fn the_house_has_no_more_floors_than_planned() {
    fn depth(name: &str, arrows: &Arrows, known: &mut BTreeMap<String, usize>) -> usize {
        if let Some(depth) = known.get(name) {
            return *depth;
        }
        // A crate may name itself for the features of its tests.
        let below = arrows[name].iter().filter(|used| *used != name);
        let deepest = below.map(|used| depth(used, arrows, known)).max().unwrap_or(0);
        known.insert(name.to_owned(), deepest + 1);
        deepest + 1
    }
    let arrows = built();
    let depth = depth("toolmark", &arrows, &mut BTreeMap::new());
    assert!(depth <= MAX_DEPTH, "{depth} levels of crates, at most {MAX_DEPTH}");
    let guard = &arrows["toolmark-guard"];
    for above in ["toolmark-feed", "toolmark-grade", "toolmark-schema"] {
        assert!(!guard.contains(&above.to_owned()), "the guard must not depend on {above}");
    }
}

/// Maximum number of lines of code of the binary, without tests, comments and blank lines.
const MAX_BINARY_LINES: usize = 8000;

#[test]
fn the_binary_is_thin() {
    fn count(directory: &Path) -> usize {
        let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
        entries.map(|path| if path.is_dir() { count(&path) } else { lines_of_code(&path) }).sum()
    }
    fn lines_of_code(file: &Path) -> usize {
        let text = fs::read_to_string(file).unwrap();
        let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
        let is_code = |line: &&str| !line.is_empty() && !line.starts_with("//");
        code.lines().map(str::trim).filter(is_code).count()
    }
    let lines = count(&root().join("crates/toolmark/src"));
    assert!(
        lines <= MAX_BINARY_LINES,
        "{lines} lines, at most {MAX_BINARY_LINES}: use toolmark-app"
    );
}
