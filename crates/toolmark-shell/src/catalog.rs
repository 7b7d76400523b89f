//! Facts of the guard about programs: one family per file, with its names, the options and
//! effects that are data, and the examples of its page, which a test executes.

use crate::decision::Decision;
use crate::program::Program;
use crate::programs;

/// Programs that are described in one file.
#[derive(Debug)]
pub struct ProgramFamily {
    /// Identifier: the name of the file.
    pub id: &'static str,
    /// Doc comment of the file, without its examples.
    pub summary: String,
    /// Names of the programs.
    pub names: Vec<&'static str>,
    /// Programs and subcommands whose options are listed.
    pub commands: Vec<KnownCommand>,
    /// Examples with their decisions.
    pub examples: Vec<KnownExample>,
}

/// A program or subcommand whose options are listed.
#[derive(Debug, PartialEq, Eq)]
pub struct KnownCommand {
    /// Name, with its subcommand.
    pub name: &'static str,
    /// Conventions of its option parser.
    pub syntax: &'static str,
    /// Whether options that are not listed are accepted.
    pub is_open: bool,
    /// Its options.
    pub options: Vec<KnownOption>,
    /// Its effects that are data: the condition and the reason.
    pub effects: Vec<(String, &'static str)>,
}

/// An option of a command.
#[derive(Debug, PartialEq, Eq)]
pub struct KnownOption {
    /// Long name, or the short one of an option that has no other.
    pub name: &'static str,
    /// Short name.
    pub short: Option<&'static str>,
    /// Whether the option takes a value.
    pub takes_value: bool,
}

/// A command line and the decision about it.
#[derive(Debug, PartialEq, Eq)]
pub struct KnownExample {
    /// Expected decision.
    pub decision: Decision,
    /// Command line.
    pub command: String,
    /// Comment before it.
    pub note: Option<String>,
}

/// The source of a family.
pub(crate) struct FamilySource {
    pub(crate) id: &'static str,
    pub(crate) page: &'static str,
    pub(crate) programs: &'static [Program],
}

/// Returns the length of the doc comment at the start of a file.
pub(crate) const fn page_len(source: &str) -> usize {
    let bytes = source.as_bytes();
    let mut at = 0;
    while at + 2 < bytes.len()
        && bytes[at] == b'/'
        && bytes[at + 1] == b'/'
        && bytes[at + 2] == b'!'
    {
        while at < bytes.len() && bytes[at] != b'\n' {
            at += 1;
        }
        at += 1;
    }
    if at > bytes.len() { bytes.len() } else { at }
}

/// Returns the doc comment alone, so that the rest of the file is not part of the binary.
pub(crate) const fn page_bytes<const LEN: usize>(source: &str) -> [u8; LEN] {
    let bytes = source.as_bytes();
    let mut page = [0; LEN];
    let mut at = 0;
    while at < LEN && at < bytes.len() {
        page[at] = bytes[at];
        at += 1;
    }
    page
}

/// Makes the source of a family from the name of its file and the list of its programs.
macro_rules! source {
    ($id:literal, $programs:expr) => {{
        const FILE: &str = include_str!(concat!($id, ".rs"));
        const LEN: usize = $crate::catalog::page_len(FILE);
        static PAGE: [u8; LEN] = $crate::catalog::page_bytes(FILE);
        $crate::catalog::FamilySource {
            id: $id,
            page: match core::str::from_utf8(&PAGE) {
                Ok(page) => page,
                Err(_) => "",
            },
            programs: $programs,
        }
    }};
}
pub(crate) use source;

/// Returns all families.
#[must_use]
pub fn families() -> Vec<ProgramFamily> {
    programs::sources().into_iter().map(family).collect()
}

fn family(source: FamilySource) -> ProgramFamily {
    let (summary, examples) = read_page(source.page);
    let commands = source.programs.iter().flat_map(|program| {
        let names = program.names.split('|').filter(|name| !name.is_empty());
        names.map(|name| known_command(name, program))
    });
    let commands: Vec<KnownCommand> = commands.collect();
    let mut names = programs::names_of(source.id);
    names.extend(commands.iter().map(|known| known.name).filter(|name| !name.contains(' ')));
    names.sort_unstable();
    names.dedup();
    ProgramFamily { id: source.id, summary, names, commands, examples }
}

fn known_command(name: &'static str, program: &Program) -> KnownCommand {
    let options = program.choices().map(|choice| KnownOption {
        name: choice.name,
        short: choice.short.filter(|short| *short != choice.name),
        takes_value: choice.takes_value,
    });
    let effects = program.effects.iter().map(|does| (does.condition(), does.why));
    KnownCommand {
        name,
        syntax: program.syntax.name(),
        is_open: program.is_open,
        options: options.collect(),
        effects: effects.collect(),
    }
}

/// Separates the prose of a page from its examples. A line that begins with a bar continues the
/// command before it.
fn read_page(page: &str) -> (String, Vec<KnownExample>) {
    let mut summary: Vec<&str> = Vec::new();
    let mut examples: Vec<KnownExample> = Vec::new();
    let mut block: Option<Decision> = None;
    let mut note = None;
    for line in page.lines() {
        let line = line.strip_prefix("//!").unwrap_or(line);
        let line = line.strip_prefix(' ').unwrap_or(line);
        match (line, block) {
            ("```denied", _) => block = Some(Decision::Deny),
            ("```asked", _) => block = Some(Decision::Ask),
            ("```allowed", _) => block = Some(Decision::Allow),
            (line, None) if !line.starts_with("```") => summary.push(line),
            (line, _) if line.starts_with("```") => block = None,
            (line, Some(decision)) => {
                if let Some(text) = line.strip_prefix("# ") {
                    note = Some(text.to_owned());
                } else if let Some(text) = line.strip_prefix("| ")
                    && let Some(example) = examples.last_mut()
                {
                    example.command.push('\n');
                    example.command.push_str(text);
                } else {
                    let (command, note) = (line.to_owned(), note.take());
                    examples.push(KnownExample { decision, command, note });
                }
            }
            _ => {}
        }
    }
    (summary.join("\n").trim().to_owned(), examples)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ShellContext, analyze};

    /// Every example of every program's file, in one go.
    #[test]
    fn examples_hold() {
        let families = families();
        let mut wrong = Vec::new();
        for family in &families {
            assert!(!family.summary.is_empty(), "{}", family.id);
            for example in &family.examples {
                let analysis = analyze(&example.command, &ShellContext::default());
                if analysis.decision != example.decision {
                    wrong.push(format!(
                        "{}: {}\n    {:?} ({}), not {:?}",
                        family.id,
                        example.command,
                        analysis.decision,
                        analysis.reason,
                        example.decision
                    ));
                }
            }
        }
        assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
        let count: usize = families.iter().map(|family| family.examples.len()).sum();
        assert!(count > 1000, "{count}");
    }

    /// A file without a source would not be executed.
    #[test]
    fn every_file_with_examples_is_a_source() {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/src/programs");
        let known: Vec<&str> = families().iter().map(|family| family.id).collect();
        let mut folders = vec![std::path::PathBuf::from(root)];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                let text = std::fs::read_to_string(&path).unwrap();
                let id = path.strip_prefix(root).unwrap().with_extension("");
                let has = ["```denied", "```asked", "```allowed"].iter().any(|b| text.contains(b));
                assert!(!has || known.contains(&id.to_str().unwrap()), "{}", id.display());
            }
        }
    }

    #[test]
    fn a_page() {
        let page =
            "//! Sample.\n//!\n//! ```asked\n//! # why\n//! cat <<E\n//! | x\n//! | E\n//! ```";
        let (summary, examples) = read_page(page);
        assert_eq!(summary, "Sample.");
        let [only] = &examples[..] else { panic!("{examples:?}") };
        assert_eq!((only.command.as_str(), only.note.as_deref()), ("cat <<E\nx\nE", Some("why")));
    }
}
