//! Insertion of a fix into a file.

use super::{Fix, FixTarget};
use toolmark_hosts::install::{ListError, add_to_list};
use toolmark_outcome::Printable;

/// Heading of the lines for the agent.
const HEADING: &str = "## Known problems";

/// Reason why a fix cannot be inserted.
#[derive(Debug, thiserror::Error)]
pub enum ApplyError {
    /// The fix is not a list of texts.
    #[error(transparent)]
    Items(#[from] serde_json::Error),
    /// The file cannot be changed.
    #[error(transparent)]
    List(#[from] ListError),
}

impl Fix<Printable> {
    /// Returns the text of the file with the fix in it; the unchanged text if it is already there.
    pub fn apply_to(&self, text: &str) -> Result<String, ApplyError> {
        match (self.target, self.key) {
            (FixTarget::Permission | FixTarget::Setting, Some(keys)) => {
                let keys: Vec<&str> = keys.split('.').collect();
                let items: Vec<String> = serde_json::from_str(&format!("[{}]", &*self.text))?;
                let items: Vec<&str> = items.iter().map(String::as_str).collect();
                Ok(add_to_list(text, &keys, &items)?)
            }
            _ => Ok(with_line(text, &self.text)),
        }
    }
}

/// Returns the text with a line under the heading for such lines, which is added if it is missing.
fn with_line(text: &str, line: &str) -> String {
    if text.lines().any(|one| one.trim() == line.trim()) {
        return text.to_owned();
    }
    let mut lines: Vec<&str> = text.lines().collect();
    match lines.iter().position(|one| one.trim() == HEADING) {
        Some(heading) => {
            let section = &lines[heading + 1..];
            let end = section.iter().position(|one| one.starts_with('#')).unwrap_or(section.len());
            let last = section[..end].iter().rposition(|one| !one.trim().is_empty());
            match last {
                Some(last) => lines.insert(heading + 2 + last, line),
                None => lines.splice(heading + 1..heading + 1, ["", line]).for_each(drop),
            }
        }
        None => {
            while lines.last().is_some_and(|one| one.trim().is_empty()) {
                lines.pop();
            }
            if !lines.is_empty() {
                lines.push("");
            }
            lines.extend([HEADING, "", line]);
        }
    }
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::with_line;

    #[test]
    fn a_line_goes_under_its_heading_once() {
        for (text, want) in [
            ("", "## Known problems\n\n- x\n"),
            ("# A\ntext\n", "# A\ntext\n\n## Known problems\n\n- x\n"),
            ("## Known problems\n\n- a\n\n## B\n", "## Known problems\n\n- a\n- x\n\n## B\n"),
            ("## Known problems\n## B\n", "## Known problems\n\n- x\n## B\n"),
            ("a\n- x\nb\n", "a\n- x\nb\n"),
        ] {
            assert_eq!(with_line(text, "- x"), want, "{text:?}");
        }
    }
}
