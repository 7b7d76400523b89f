//! Workspace files that are kept with the result, even if the workspace is removed.

use super::snapshot::list;
use crate::mask::Mask;
use crate::trace::keep_file;
use std::fs;
use std::io;
use std::path::Path;
use toolmark_grade::run_plan::ArtifactRules;
use toolmark_pattern::Glob;

/// Maximum number of kept files.
const MAX_FILES: usize = 1000;

/// Maximum number of kept bytes.
const MAX_BYTES: u64 = 256 << 20;

/// Copies the requested files with the values of variables masked. Returns a note about skipped
/// files. Links are skipped: they may point outside the workspace.
pub(crate) fn keep(
    rules: &ArtifactRules,
    workspace: &Path,
    to: &Path,
    mask: &Mask,
) -> io::Result<Option<String>> {
    let globs = |patterns: &[String]| -> Vec<Glob> {
        patterns.iter().filter_map(|pattern| Glob::new(pattern).ok()).collect()
    };
    let (include, exclude) = (globs(&rules.include), globs(&rules.exclude));
    // What an earlier attempt left is not this one's.
    if to.exists() {
        fs::remove_dir_all(to)?;
    }
    fs::create_dir_all(to)?;
    let (mut files, mut bytes, mut left_out) = (0, 0, 0_u64);
    for relative in list(workspace)? {
        let name = relative.to_string_lossy().replace('\\', "/");
        let covers = |globs: &[Glob]| globs.iter().any(|glob| glob.covers(&name));
        if !covers(&include) || covers(&exclude) {
            continue;
        }
        let from = workspace.join(&relative);
        let size = fs::symlink_metadata(&from).ok().filter(fs::Metadata::is_file);
        let size = size.map(|about| about.len());
        match size {
            Some(size) if files < MAX_FILES && bytes + size <= MAX_BYTES => {
                keep_file(&from, &to.join(&relative), mask)?;
                files += 1;
                bytes += size;
            }
            _ => left_out += 1,
        }
    }
    Ok((left_out > 0).then(|| {
        let most = MAX_BYTES >> 20;
        format!(
            "artifacts that are links, or more than {MAX_FILES} files or {most} MB, were not kept: {left_out}"
        )
    }))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for_is_kept_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let (workspace, to) = (dir.path().join("ws"), dir.path().join("artifacts"));
        for name in ["dist/a.js", "dist/deep/b.js", "dist/b.map", "src/c.js", "report.html"] {
            let path = workspace.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "the-key-of-somebody").unwrap();
        }
        std::os::unix::fs::symlink("/etc/passwd", workspace.join("dist/link.js")).unwrap();
        let rules = ArtifactRules {
            include: vec!["dist".into(), "*.html".into()],
            exclude: vec!["**/*.map".into()],
        };
        let mask = Mask::new(["the-key-of-somebody"]);
        let note = keep(&rules, &workspace, &to, &mask).unwrap().unwrap();
        assert!(note.ends_with("not kept: 1"), "{note}");
        let kept: Vec<String> =
            list(&to).unwrap().iter().map(|path| path.to_string_lossy().into_owned()).collect();
        assert_eq!(kept, ["dist/a.js", "dist/deep/b.js", "report.html"]);
        assert_eq!(fs::read_to_string(to.join("dist/a.js")).unwrap(), "[redacted]");
        // Another attempt starts from nothing.
        let none = ArtifactRules { include: vec!["*.png".into()], exclude: Vec::new() };
        assert_eq!(keep(&none, &workspace, &to, &mask).unwrap(), None);
        assert_eq!(fs::read_dir(&to).unwrap().count(), 0);
    }
}
