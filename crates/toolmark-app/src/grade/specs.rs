//! Expands the arguments of the command line into the specs to load.

use crate::Failure;
use std::path::{Path, PathBuf};
use toolmark_spec::is_spec;
use walkdir::{DirEntry, WalkDir};

/// Returns the specs behind the arguments, in the order of the arguments; the specs of a directory
/// are sorted by name. Other files of a directory are skipped.
pub fn find(named: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut specs = Vec::new();
    for path in named {
        if !path.is_dir() {
            specs.push(path.clone());
            continue;
        }
        let before = specs.len();
        specs.extend(walk(path));
        if specs.len() == before {
            let message = format!("no specs in {}", path.display());
            let hint = "a spec is a YAML file with graders, or a file named *.eval.json";
            return Err(Failure::usage(message).hint(hint));
        }
    }
    Ok(specs)
}

fn walk(directory: &Path) -> impl Iterator<Item = PathBuf> {
    WalkDir::new(directory)
        .follow_links(true)
        .sort_by_file_name()
        .into_iter()
        .filter_entry(|entry| entry.depth() == 0 || !is_left_out(entry))
        // What cannot be entered holds no spec that could be read.
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_file() && may_be_spec(entry.path()))
        .map(DirEntry::into_path)
        .filter(|path| is_spec(path))
}

/// Whether an entry is skipped: hidden folders contain settings, not specs.
fn is_left_out(entry: &DirEntry) -> bool {
    let name = entry.file_name().to_string_lossy();
    name.starts_with('.') || name == "node_modules"
}

/// Whether a file of a directory may be a spec. JSON files are excluded: they are mostly results,
/// which resemble specs.
fn may_be_spec(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    [".yaml", ".yml", ".eval.json"].iter().any(|end| name.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_directory_holds_specs_and_other_files() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        for (name, text) in [
            ("b/eval.yaml", "stimuli: []"),
            ("a.yaml", "cases: []"),
            ("broken.yaml", "stimuli:\n  - {name: [\n"),
            ("compose.yaml", "services: {}"),
            ("results.json", "{\"cases\": []}"),
            ("x.eval.json", "{\"tests\": []}"),
            (".agentv/targets.yaml", "cases: []"),
            ("node_modules/p/eval.yaml", "stimuli: []"),
            ("notes.txt", "stimuli: []"),
        ] {
            fs::create_dir_all(at(name).parent().unwrap()).unwrap();
            fs::write(at(name), text).unwrap();
        }
        let found = find(&[dir.path().to_owned(), at("none.yaml")]).unwrap();
        let names: Vec<String> = found
            .iter()
            .map(|path| path.strip_prefix(dir.path()).unwrap().to_string_lossy().into_owned())
            .collect();
        assert_eq!(names, ["a.yaml", "b/eval.yaml", "broken.yaml", "x.eval.json", "none.yaml"]);
        assert!(find(&[at(".agentv").join("empty")]).is_ok());
        fs::create_dir(at("empty")).unwrap();
        assert!(find(&[at("empty")]).is_err());
    }
}
