//! Parser for patches in the `apply_patch` format: the files they touch, and the new content
//! of a file whose content is known.

/// First line of a patch.
pub const BEGIN: &str = "*** Begin Patch";

/// Change of one file by a patch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePatch<'p> {
    /// Path of the file in the patch.
    pub path: &'p str,
    /// Change of the file.
    pub change: FileChange<'p>,
}

impl<'p> FilePatch<'p> {
    /// Returns the path of the file and its new path.
    pub fn paths(&self) -> impl Iterator<Item = &'p str> {
        let to = match self.change {
            FileChange::Update { to, .. } => to,
            FileChange::Add(_) | FileChange::Delete => None,
        };
        std::iter::once(self.path).chain(to)
    }
}

/// Change of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileChange<'p> {
    /// The file is created with this content.
    Add(String),
    /// The file is deleted.
    Delete,
    /// Parts of the file are replaced, and it may be renamed.
    Update {
        /// New path.
        to: Option<&'p str>,
        /// Replaced parts, in order.
        hunks: Vec<Hunk<'p>>,
    },
}

/// A replaced part of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hunk<'p> {
    /// Preceding line that locates the part, if any.
    pub anchor: Option<&'p str>,
    /// Expected lines.
    pub old: Vec<&'p str>,
    /// Replacement lines.
    pub new: Vec<&'p str>,
}

/// Returns the files of a patch, or an empty list if the text is not a patch.
#[must_use]
pub fn parse(text: &str) -> Vec<FilePatch<'_>> {
    let mut files: Vec<FilePatch<'_>> = Vec::new();
    let Some((_, body)) = text.split_once(BEGIN) else { return files };
    for line in body.lines().skip(1) {
        if line.starts_with("*** End Patch") {
            break;
        }
        let named = |mark: &str| line.strip_prefix(mark).map(str::trim);
        if let Some(path) = named("*** Add File: ") {
            files.push(FilePatch { path, change: FileChange::Add(String::new()) });
        } else if let Some(path) = named("*** Delete File: ") {
            files.push(FilePatch { path, change: FileChange::Delete });
        } else if let Some(path) = named("*** Update File: ") {
            files.push(FilePatch {
                path,
                change: FileChange::Update { to: None, hunks: Vec::new() },
            });
        } else if let Some(file) = files.last_mut() {
            add_line(&mut file.change, line);
        }
    }
    files
}

fn add_line<'p>(change: &mut FileChange<'p>, line: &'p str) {
    match change {
        FileChange::Delete => {}
        FileChange::Add(content) => {
            if let Some(added) = line.strip_prefix('+') {
                content.push_str(added);
                content.push('\n');
            }
        }
        FileChange::Update { to, hunks } => {
            if let Some(name) = line.strip_prefix("*** Move to: ") {
                *to = Some(name.trim());
                return;
            }
            if let Some(anchor) = line.strip_prefix("@@") {
                let anchor = Some(anchor.trim()).filter(|anchor| !anchor.is_empty());
                hunks.push(Hunk { anchor, ..Hunk::default() });
                return;
            }
            if hunks.is_empty() {
                hunks.push(Hunk::default());
            }
            let Some(hunk) = hunks.last_mut() else { return };
            match line.split_at_checked(1) {
                Some(("+", text)) => hunk.new.push(text),
                Some(("-", text)) => hunk.old.push(text),
                Some((" ", text)) => {
                    hunk.old.push(text);
                    hunk.new.push(text);
                }
                None => {
                    hunk.old.push("");
                    hunk.new.push("");
                }
                Some(_) => {}
            }
        }
    }
}

/// Returns the content after applying these hunks; `None` if one of them does not match.
#[must_use]
pub fn apply(content: &str, hunks: &[Hunk<'_>]) -> Option<String> {
    /// Maximum product of lines and hunks; a larger patch is not worth the effort.
    const MAX_WORK: usize = 20_000_000;
    let mut lines: Vec<&str> = content.lines().collect();
    if lines.len().saturating_mul(hunks.len()) > MAX_WORK {
        return None;
    }
    let mut from = 0;
    for hunk in hunks {
        if let Some(anchor) = hunk.anchor
            && let Some(found) = lines.iter().skip(from).position(|line| line.trim() == anchor)
        {
            from += found + 1;
        }
        let at =
            if hunk.old.is_empty() { Some(lines.len()) } else { find(&lines, &hunk.old, from) };
        let at = at?;
        lines.splice(at..at + hunk.old.len(), hunk.new.iter().copied());
        from = at + hunk.new.len();
    }
    let mut out = lines.join("\n");
    if !out.is_empty() {
        out.push('\n');
    }
    Some(out)
}

/// Returns the position of these lines at or after `from`, exactly or ignoring white space at
/// their ends.
fn find(lines: &[&str], wanted: &[&str], from: usize) -> Option<usize> {
    let rest = lines.get(from..)?;
    let exact = rest.windows(wanted.len()).position(|window| window == wanted);
    let loose = || {
        let same = |window: &[&str]| {
            window.iter().zip(wanted).all(|(line, wanted)| line.trim_end() == wanted.trim_end())
        };
        rest.windows(wanted.len()).position(same)
    };
    exact.or_else(loose).map(|at| from + at)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATCH: &str = "*** Begin Patch\n*** Update File: a.rs\n*** Move to: b.rs\n@@ fn main() {\n-    old();\n+    new();\n }\n\
                         *** Add File: c.rs\n+one\n+two\n*** Delete File: d.rs\n*** End Patch\n";

    #[test]
    fn files_and_changes() {
        let files = parse(PATCH);
        assert_eq!(files.iter().map(|f| f.path).collect::<Vec<_>>(), ["a.rs", "c.rs", "d.rs"]);
        let FileChange::Update { to, hunks } = &files[0].change else { panic!() };
        assert_eq!((*to, hunks[0].anchor), (Some("b.rs"), Some("fn main() {")));
        assert_eq!(hunks[0].old, ["    old();", "}"]);
        assert_eq!(files[1].change, FileChange::Add("one\ntwo\n".into()));
        let after = apply("fn a() {\n    old();\n}\nfn main() {\n    old();\n}\n", hunks);
        assert_eq!(after.unwrap(), "fn a() {\n    old();\n}\nfn main() {\n    new();\n}\n");
        assert_eq!(apply("nothing\n", hunks), None);
        assert!(parse("diff --git").is_empty());
    }
}
