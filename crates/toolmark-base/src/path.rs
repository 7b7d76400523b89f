//! Paths as text, compared without a file system.

/// Whether a path is a directory or lies below it.
///
/// ```
/// use toolmark_base::path::is_below;
///
/// assert!(is_below("/a/b", "/a") && is_below("/a", "/a/") && !is_below("/ab", "/a"));
/// ```
#[must_use]
pub fn is_below(path: &str, directory: &str) -> bool {
    let directory = directory.trim_end_matches('/');
    path.strip_prefix(directory).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
