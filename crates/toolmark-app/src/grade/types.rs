//! Grader types of plugins of other systems, as declared by the user.

use crate::Failure;
use std::path::{Path, PathBuf};
use toolmark_config::{Node, SourceText, parse};

/// Name of the file that may declare grader types.
const FILE: &str = "toolmark.yaml";

/// Returns the types named by the user, and those under `grader_types:` in the `toolmark.yaml`
/// beside a spec or in the current directory.
pub fn declared(spec: &Path, named: &[String]) -> Result<Vec<String>, Failure> {
    let mut all = named.to_vec();
    let beside = if spec.is_dir() { spec.join(FILE) } else { spec.with_file_name(FILE) };
    let mut files = vec![beside, PathBuf::from(FILE)];
    files.dedup();
    for path in files.iter().filter(|path| path.is_file()) {
        let failed = |words: &str| Failure::usage(format!("{}: {words}", path.display()));
        let Ok(source) = SourceText::open(path) else { continue };
        let parsed = parse(&source);
        let Some(list) = parsed.node.as_ref().and_then(|root| root.get("grader_types")) else {
            continue;
        };
        let words: Option<Vec<&str>> =
            list.as_list().and_then(|items| items.iter().map(Node::as_str).collect());
        let words = words.ok_or_else(|| failed("grader_types is a list of words"))?;
        all.extend(words.into_iter().map(str::to_owned));
    }
    all.sort();
    all.dedup();
    Ok(all)
}
