//! The pages of the book, as the program carries them.
//!
//! Pages of rules, graders and the command line are left out: the program prints those
//! from what it knows itself.

pub(crate) mod markdown;

/// A page.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Page {
    /// Its path in `docs/`, without its ending.
    pub(crate) name: &'static str,
    /// Its text, in Markdown.
    pub(crate) text: &'static str,
}

macro_rules! pages {
    ($($name:literal)*) => {
        &[$(Page {
            name: $name,
            text: include_str!(concat!("../../../../docs/", $name, ".md")),
        }),*]
    };
}

/// The navigation of the book.
const SUMMARY: &str = include_str!("../../../../docs/SUMMARY.md");

/// The pages, in the order of the book.
pub(crate) const PAGES: &[Page] = pages! {
    "quick-start"
    "install"
    "tutorial"
    "commands/check"
    "rules"
    "commands/feed"
    "feed"
    "commands/show"
    "commands/stats"
    "commands/prices"
    "commands/trend"
    "commands/serve"
    "serve"
    "commands/mcp"
    "grading"
    "commands/grade"
    "commands/lint"
    "commands/mine"
    "commands/compare"
    "graders"
    "specs/toolmark"
    "commands/init"
    "commands/schema"
    "specs/vally"
    "specs/agentv"
    "specs/aigo"
    "specs/futureagi"
    "running"
    "judge"
    "commands/judge"
    "ci"
    "python"
    "node"
    "tables"
    "scale"
    "commands/guard"
    "guard-hosts"
    "guard-policy"
    "guard-mcp"
    "guard-log"
    "exit-codes"
    "commands/help"
    "commands/completions"
    "commands/man"
    "input"
    "formats"
    "commands/formats"
    "commands/convert"
    "formats/toolmark"
    "trajectory"
    "stability"
    "speed"
    "library"
    "architecture"
};

/// A part of the book: its title, and its pages with theirs.
pub(crate) type Part = (&'static str, Vec<(&'static str, &'static Page)>);

/// The book, part by part.
pub(crate) fn parts() -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for line in SUMMARY.lines() {
        if let Some(title) = line.strip_prefix("# ") {
            parts.push((title, Vec::new()));
        } else if let Some((title, name)) = entry(line)
            && let Some(page) = page(name)
            && let Some((_, pages)) = parts.last_mut()
        {
            pages.push((title, page));
        }
    }
    parts.retain(|(_, pages)| !pages.is_empty());
    parts
}

/// An entry of the navigation: its title, and the name of its page.
fn entry(line: &'static str) -> Option<(&'static str, &'static str)> {
    let (title, rest) = line.trim_start().strip_prefix("- [")?.split_once("](")?;
    Some((title, rest.strip_suffix(".md)")?))
}

/// The page of this name.
pub(crate) fn page(name: &str) -> Option<&'static Page> {
    PAGES.iter().find(|page| page.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_of_the_book_can_be_printed() {
        let is_known = |name: &str| {
            name.starts_with("rules/") || name.starts_with("graders/") || name == "command-line"
        };
        let wanted: Vec<&str> = SUMMARY
            .lines()
            .filter_map(entry)
            .map(|(_, name)| name)
            .filter(|name| !is_known(name))
            .collect();
        let found: Vec<&str> = PAGES.iter().map(|page| page.name).collect();
        assert_eq!(found, wanted);
        let listed: usize = parts().iter().map(|(_, pages)| pages.len()).sum();
        assert_eq!(listed, wanted.len(), "a page that is in no part");
    }

    #[test]
    fn every_page_begins_with_its_title() {
        for page in PAGES {
            assert!(page.text.starts_with("# "), "{}", page.name);
        }
    }
}
