//! The changes made by an agent, as a unified diff in git format.

use super::snapshot::{Before, MAX_TEXT, Stamp, WorkspaceSnapshot, list};
use similar::TextDiff;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

/// Maximum size of a diff; further files are only named.
const MAX_DIFF: usize = 16 << 20;

/// Time limit for finding the minimal diff of one file.
const DIFF_TIME: Duration = Duration::from_secs(2);

/// Text of a file, or why it is not shown.
enum Content {
    Absent,
    Text(String),
    Opaque,
}

/// Returns the changes since the snapshot.
pub(super) fn diff(snapshot: &WorkspaceSnapshot, workspace: &Path) -> io::Result<String> {
    let now: BTreeSet<_> = list(workspace)?.into_iter().collect();
    let mut out = String::new();
    let all: BTreeSet<_> = snapshot.files.keys().chain(&now).collect();
    for relative in all {
        let path = workspace.join(relative);
        let before = snapshot.files.get(relative);
        let stamp = Stamp::of(&path).filter(|_| now.contains(relative));
        if let (Some((old, _)), Some(new)) = (before, &stamp)
            && old == new
        {
            continue;
        }
        let old = match before {
            None => Content::Absent,
            Some((_, Before::File(file))) => read(file),
            Some((_, Before::Link(link))) => Content::Text(link.to_string_lossy().into_owned()),
            Some((_, Before::Unkept)) => Content::Opaque,
        };
        let new = match &stamp {
            None => Content::Absent,
            Some(_) if path.is_symlink() => match fs::read_link(&path) {
                Ok(link) => Content::Text(link.to_string_lossy().into_owned()),
                Err(_) => Content::Opaque,
            },
            Some(_) => read(&path),
        };
        let name = name(relative);
        let modes = (before.map(|(stamp, _)| stamp.mode), stamp.map(|stamp| stamp.mode));
        write(&mut out, &name, &old, &new, modes);
    }
    Ok(out)
}

fn write(
    out: &mut String,
    name: &str,
    old: &Content,
    new: &Content,
    modes: (Option<u32>, Option<u32>),
) {
    let mut head = format!("diff --git a/{name} b/{name}\n");
    let git_mode = |mode: u32| match mode & 0o170_000 {
        0o120_000 => "120000",
        _ if mode & 0o111 != 0 => "100755",
        _ => "100644",
    };
    match modes {
        (None, Some(new)) => head.push_str(&format!("new file mode {}\n", git_mode(new))),
        (Some(old), None) => head.push_str(&format!("deleted file mode {}\n", git_mode(old))),
        (Some(old), Some(new)) if git_mode(old) != git_mode(new) => {
            head.push_str(&format!("old mode {}\nnew mode {}\n", git_mode(old), git_mode(new)));
        }
        _ => {}
    }
    let is_mode_changed = head.lines().count() > 1;
    let (from, to) = match (old, new) {
        (Content::Absent, _) => ("/dev/null".to_owned(), format!("b/{name}")),
        (_, Content::Absent) => (format!("a/{name}"), "/dev/null".to_owned()),
        _ => (format!("a/{name}"), format!("b/{name}")),
    };
    let text = |content: &Content| match content {
        Content::Absent => Some(String::new()),
        Content::Text(text) => Some(text.clone()),
        Content::Opaque => None,
    };
    match (text(old), text(new)) {
        (Some(before), Some(after)) if out.len() < MAX_DIFF => {
            if before == after && !is_mode_changed {
                return;
            }
            out.push_str(&head);
            if before != after {
                let diff = TextDiff::configure().timeout(DIFF_TIME).diff_lines(&before, &after);
                out.push_str(&diff.unified_diff().context_radius(3).header(&from, &to).to_string());
            }
        }
        _ => {
            out.push_str(&head);
            out.push_str(&format!("Binary files {from} and {to} differ\n"));
        }
    }
}

/// Reads the text of a file, if it is text and not too long.
fn read(path: &Path) -> Content {
    match fs::metadata(path) {
        Ok(about) if about.len() > MAX_TEXT => return Content::Opaque,
        Ok(_) => {}
        Err(_) => return Content::Opaque,
    }
    match fs::read(path).map(String::from_utf8) {
        Ok(Ok(text)) if !text.contains('\0') => Content::Text(text),
        _ => Content::Opaque,
    }
}

/// Formats a path with slashes.
fn name(relative: &Path) -> String {
    let parts: Vec<_> =
        relative.components().map(|part| part.as_os_str().to_string_lossy()).collect();
    parts.join("/")
}

#[cfg(all(test, unix))]
mod tests {
    use super::super::{copy_tree, fill};
    use super::*;
    use std::os::unix::fs::PermissionsExt;
    use toolmark_grade::run_plan::{FileSource, WorkspaceFile, WorkspacePlan};

    #[test]
    fn a_diff_shows_what_the_agent_did_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let source = dir.path().join("source");
        fs::create_dir_all(source.join("src")).unwrap();
        for (name, text) in [
            ("src/a.txt", "one\ntwo\n"),
            ("gone.txt", "bye\n"),
            ("same.txt", "same\n"),
            ("touched.txt", "same\n"),
            ("run.sh", "#!/bin/sh\n"),
        ] {
            fs::write(source.join(name), text).unwrap();
        }
        fs::write(source.join("image"), [0, 1, 2]).unwrap();
        let plan = WorkspacePlan {
            from: Some(source.clone()),
            files: vec![WorkspaceFile {
                source: FileSource::Text("given\n".into()),
                dest: "given.txt".into(),
            }],
            ..WorkspacePlan::default()
        };
        let workspace = dir.path().join("ws");
        fs::create_dir(&workspace).unwrap();
        let mut snapshot = fill(&plan, None, &workspace).unwrap();
        // Changes by setup hooks are not the agent's work.
        fs::write(workspace.join("prepared.txt"), "before\n").unwrap();
        snapshot.take(&workspace, &dir.path().join("beside")).unwrap();
        assert_eq!(snapshot.diff(&workspace).unwrap(), "");
        let at = |name: &str| workspace.join(name);
        fs::write(at("src/a.txt"), "one\n2\n").unwrap();
        fs::remove_file(at("gone.txt")).unwrap();
        fs::write(at("touched.txt"), "same\n").unwrap();
        fs::write(at("new file.txt"), "new\n").unwrap();
        fs::write(at("given.txt"), "taken\n").unwrap();
        fs::write(at("prepared.txt"), "after\n").unwrap();
        fs::write(at("image"), [0, 9]).unwrap();
        fs::set_permissions(at("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
        // A repository without a commit, which `git add` would refuse.
        fs::create_dir_all(at("nested/.git/objects")).unwrap();
        fs::write(at("nested/.git/HEAD"), "ref: refs/heads/main\n").unwrap();
        let expected = "\
diff --git a/given.txt b/given.txt
--- a/given.txt
+++ b/given.txt
@@ -1 +1 @@
-given
+taken
diff --git a/gone.txt b/gone.txt
deleted file mode 100644
--- a/gone.txt
+++ /dev/null
@@ -1 +0,0 @@
-bye
diff --git a/image b/image
Binary files a/image and b/image differ
diff --git a/new file.txt b/new file.txt
new file mode 100644
--- /dev/null
+++ b/new file.txt
@@ -0,0 +1 @@
+new
diff --git a/prepared.txt b/prepared.txt
--- a/prepared.txt
+++ b/prepared.txt
@@ -1 +1 @@
-before
+after
diff --git a/run.sh b/run.sh
old mode 100644
new mode 100755
diff --git a/src/a.txt b/src/a.txt
--- a/src/a.txt
+++ b/src/a.txt
@@ -1,2 +1,2 @@
 one
-two
+2
";
        assert_eq!(snapshot.diff(&workspace).unwrap(), expected);
        // The source is as it was.
        let again = dir.path().join("again");
        copy_tree(&source, &again, &mut WorkspaceSnapshot::default()).unwrap();
        assert_eq!(fs::read_to_string(again.join("src/a.txt")).unwrap(), "one\ntwo\n");
    }
}
