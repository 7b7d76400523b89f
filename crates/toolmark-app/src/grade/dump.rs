//! `--dump-traces`: writes every graded trajectory to its own file.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;
use toolmark_outcome::CaseResult;

/// Writes the traces of the outcomes below `directory`, named after case and trial. Returns the
/// number of traces.
pub fn write(outcomes: &[CaseResult], directory: &Path) -> io::Result<usize> {
    fs::create_dir_all(directory)?;
    let mut used: BTreeMap<String, u32> = BTreeMap::new();
    let mut written = 0;
    for outcome in outcomes {
        let Some(trace) = &outcome.trace else { continue };
        let name = file_name(outcome.case.raw());
        // Different ids may come to the same file name.
        let number = used.entry(name.clone()).or_default();
        *number += 1;
        let name =
            if *number > 1 { format!("{name}.{number}.json") } else { format!("{name}.json") };
        let mut text = serde_json::to_string_pretty(&***trace)?;
        text.push('\n');
        fs::write(directory.join(name), text)?;
        written += 1;
    }
    Ok(written)
}

/// Converts an ID to a file name that stays inside its directory on every system.
fn file_name(id: &str) -> String {
    let safe = |c: char| if c.is_alphanumeric() || matches!(c, '-' | '_') { c } else { '_' };
    let name: String = id.chars().map(safe).take(100).collect();
    if name.is_empty() { "case".to_owned() } else { name }
}

#[cfg(test)]
mod tests {
    use super::file_name;

    #[test]
    fn ids_become_harmless_names() {
        assert_eq!(file_name("../etc/passwd"), "___etc_passwd");
        assert_eq!(file_name(""), "case");
        assert_eq!(file_name("eval-001"), "eval-001");
    }
}
