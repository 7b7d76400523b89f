//! Normalization of paths in traces, without access to a file system.

use toolmark_shell::has_plain_parts;

/// Resolves a path relative to a directory, removing `.`, `..` and repeated slashes. Windows
/// paths get forward slashes; `~` and variables are left unchanged.
#[must_use]
pub fn resolve(cwd: Option<&str>, path: &str) -> String {
    let path = path.strip_prefix("file://").unwrap_or(path);
    let windows = |path: &str| {
        let mut start = path.chars();
        start.next().is_some_and(|c| c.is_ascii_alphabetic()) && start.next() == Some(':')
    };
    let is_absolute = |path: &str| path.starts_with(['/', '~', '$']) || windows(path);
    // Most paths are as they should be.
    let may_be_drive = cwd.is_some_and(windows);
    if !may_be_drive && path.starts_with('/') && has_plain_parts(&path[1..]) {
        return path.to_owned();
    }
    if let Some(cwd) = cwd
        && cwd.starts_with('/')
        && !is_absolute(path)
        && has_plain_parts(&cwd[1..])
        && has_plain_parts(path)
    {
        return format!("{cwd}/{path}");
    }
    let joined = match cwd {
        Some(cwd) if !is_absolute(path) => format!("{cwd}/{path}"),
        Some(cwd) if windows(cwd) => on_drive(path).unwrap_or_else(|| path.to_owned()),
        _ => path.to_owned(),
    };
    let joined = if windows(&joined) { joined.replace('\\', "/") } else { joined };
    let mut parts: Vec<&str> = Vec::new();
    for part in joined.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            ".." if joined.starts_with('/') => {}
            part => parts.push(part),
        }
    }
    let root = if joined.starts_with('/') { "/" } else { "" };
    format!("{root}{}", parts.join("/"))
}

/// The path that a shell of Windows means by `/d/x`: `D:/x`.
fn on_drive(path: &str) -> Option<String> {
    let mut parts = path.strip_prefix('/')?.splitn(2, '/');
    let (drive, rest) = (parts.next()?, parts.next().unwrap_or_default());
    let is_drive = drive.len() == 1 && drive.starts_with(|c: char| c.is_ascii_alphabetic());
    is_drive.then(|| format!("{}:/{rest}", drive.to_ascii_uppercase()))
}

#[cfg(test)]
mod tests {
    use super::resolve;

    #[test]
    fn one_form_of_each_path() {
        for (cwd, path, want) in [
            (Some("/w"), "a.rs", "/w/a.rs"),
            (Some("/w/"), "./src//a.rs", "/w/src/a.rs"),
            (Some("/w"), "/w/src/../a.rs", "/w/a.rs"),
            (Some("/w"), "../../../x", "/x"),
            (None, "../x", "../x"),
            (None, "a/../../x", "../x"),
            (Some("C:\\w"), "src\\a.rs", "C:/w/src/a.rs"),
            (Some("/w"), "C:\\w\\a.rs", "C:/w/a.rs"),
            (Some("C:\\w"), "/d/x/a.rs", "D:/x/a.rs"),
            (Some("C:\\w"), "/tmp/a", "/tmp/a"),
            (Some("/w"), "/d/x", "/d/x"),
            (Some("/w"), "~/x", "~/x"),
            (Some("/w"), "file:///w/a", "/w/a"),
            (Some("/w"), "", "/w"),
        ] {
            assert_eq!(resolve(cwd, path), want, "{cwd:?} {path}");
        }
    }
}
