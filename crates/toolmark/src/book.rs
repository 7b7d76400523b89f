//! The pages of the book that are compiled into the program.
//!
//! Pages of rules, graders, formats and the command line are omitted: the program generates those.

/// A page of the book.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct BookPage {
    /// Path in `docs/`, without the extension.
    pub(crate) name: &'static str,
    /// Text, in Markdown.
    pub(crate) text: &'static str,
}

macro_rules! pages {
    ($($name:literal)*) => {
        &[$(BookPage {
            name: $name,
            text: include_str!(concat!("../../../docs/", $name, ".md")),
        }),*]
    };
}

/// Table of contents of the book.
const SUMMARY: &str = include_str!("../../../docs/SUMMARY.md");

/// The pages, in the order of the book.
pub(crate) const PAGES: &[BookPage] = pages! {
    "quick-start"
    "install"
    "tutorial"
    "commands/check"
    "rules" "agents"
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
    "guard-programs"
    "guard-mcp"
    "guard-log"
    "exit-codes"
    "commands/help"
    "commands/completions"
    "commands/man"
    "input"
    "formats"
    "formats/toolmark"
    "commands/formats"
    "commands/convert"
    "trajectory"
    "stability"
    "speed"
    "library"
    "architecture"
};

/// A part of the book: its title, and its pages with their titles.
pub(crate) type BookPart = (&'static str, Vec<(&'static str, &'static BookPage)>);

/// The parts of the book.
pub(crate) fn parts() -> Vec<BookPart> {
    let mut parts: Vec<BookPart> = Vec::new();
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

/// Parses an entry of the table of contents: its title and the name of its page.
fn entry(line: &'static str) -> Option<(&'static str, &'static str)> {
    let (title, rest) = line.trim_start().strip_prefix("- [")?.split_once("](")?;
    Some((title, rest.strip_suffix(".md)")?))
}

/// Returns the page with this name.
pub(crate) fn page(name: &str) -> Option<&'static BookPage> {
    PAGES.iter().find(|page| page.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;
    use clap::CommandFactory;
    use toolmark_report::terminal::markdown::lines;
    use toolmark_report::terminal::text::width;

    #[test]
    fn every_page_of_the_book_can_be_printed() {
        let known = ["rules/", "graders/", "formats/", "command-line"];
        let is_known = |name: &str| {
            known.iter().any(|known| name.starts_with(known)) && name != "formats/toolmark"
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

    /// Returns the words of the first command of a line, as a shell would split them. The pages of
    /// the book use only quotes and command separators.
    fn words(line: &str) -> Vec<String> {
        let (mut words, mut word, mut quote) = (Vec::new(), String::new(), None);
        // Variables are replaced by 1: commands whose result depends on a variable use numbers.
        let mut parts = line.split('$');
        let first = parts.next().unwrap_or_default().to_owned();
        let name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let line = parts.fold(first, |line, part| line + "1" + part.trim_start_matches(name));
        for c in line.chars() {
            match (quote, c) {
                (Some(open), c) if c == open => quote = None,
                (None, '\'' | '"') => quote = Some(c),
                (None, '|' | '>' | '<' | ';' | '&' | ')') => break,
                (None, '#') if word.is_empty() => break,
                (None, ' ') => words.push(std::mem::take(&mut word)),
                (_, c) => word.push(c),
            }
        }
        words.push(word);
        words.retain(|word| !word.is_empty());
        words
    }

    /// Returns the command blocks of a page, with continued lines joined.
    fn commands(text: &str) -> Vec<String> {
        let mut kind: Option<String> = None;
        let mut lines = Vec::new();
        for line in text.replace("\\\n", " ").lines() {
            if let Some(word) = line.trim_start().strip_prefix("```") {
                kind = kind.is_none().then(|| word.to_owned());
                continue;
            }
            match kind.as_deref() {
                Some("sh") => lines.push(line.trim().to_owned()),
                Some("console") => lines.extend(line.strip_prefix("$ ").map(str::to_owned)),
                _ => {}
            }
        }
        lines.retain(|line| line.starts_with("toolmark "));
        lines
    }

    #[test]
    fn every_command_of_the_book_is_one() {
        let readme = BookPage { name: "README", text: include_str!("../../../README.md") };
        let (mut seen, mut wrong) = (0, Vec::new());
        for page in PAGES.iter().chain([&readme]) {
            for line in commands(page.text) {
                seen += 1;
                let parsed = Cli::command().try_get_matches_from(words(&line));
                let is_help = |error: &clap::Error| error.exit_code() == 0;
                let error = parsed.err().filter(|error| !is_help(error));
                wrong.extend(error.map(|error| format!("{}: {line}\n{error}", page.name)));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        assert!(seen > 150, "{seen}");
    }

    #[test]
    fn every_page_begins_with_its_title() {
        for page in PAGES {
            assert!(page.text.starts_with("# "), "{}", page.name);
        }
    }

    fn plain(text: &str, width: usize) -> String {
        let mut out = String::new();
        for line in lines(text, width) {
            line.write_plain(&mut out);
            out.push('\n');
        }
        out
    }

    #[test]
    fn no_terminal_is_too_narrow() {
        for page in PAGES {
            let words = |text: &str| text.split_whitespace().count();
            assert!(
                words(&plain(page.text, 1)) >= words(&plain(page.text, 80)) / 2,
                "{}",
                page.name
            );
        }
    }

    #[test]
    fn every_page_fits_but_for_code_and_long_words() {
        for page in PAGES {
            let longest = |line: &str| line.split_whitespace().map(width).max().unwrap_or(0) > 40;
            let is_code = |line: &str| page.text.contains(line.trim());
            for line in plain(page.text, 80).lines() {
                assert!(
                    width(line) <= 80 || longest(line) || is_code(line),
                    "{}: {line}",
                    page.name
                );
            }
        }
    }
}
