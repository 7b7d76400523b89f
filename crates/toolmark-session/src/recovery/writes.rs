//! How a shell command writes a file whose edit failed: some of it again, more at
//! its end, or all of it anew.

use super::{effects, risk::same_file};
use crate::session::{Session, SessionCall};
use toolmark_shell::Kind;
use toolmark_shell::ir::{RedirectionKind, Simple, Word};

/// How a command writes a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileWrite {
    /// All of it anew: `cat > FILE`.
    Whole,
    /// By the numbers of its lines, whatever they hold: `sed -i 12d FILE`.
    ByLineNumber,
    /// A replacement by a script: `sed -i s/a/b/ FILE`.
    Script,
    /// More at its end.
    Append,
}

/// How a command writes this file; `None` where it does not.
pub(super) fn write_of(
    session: &Session<'_>,
    call: &SessionCall<'_>,
    path: &str,
) -> Option<FileWrite> {
    let is_changed = |kind| {
        effects(session, call)
            .iter()
            .any(|effect| effect.kind == kind && same_file(session, &effect.target, path))
    };
    for visit in toolmark_shell::commands(call.line()?.script()) {
        for redirection in &visit.command.redirections {
            let is_it =
                redirection.target.fixed().is_some_and(|name| same_file(session, &name, path));
            match redirection.kind {
                RedirectionKind::Write if is_it => return Some(FileWrite::Whole),
                RedirectionKind::Append if is_it => return Some(FileWrite::Append),
                _ => {}
            }
        }
        if numbers_lines(visit.command) && is_changed(Kind::Overwrite) {
            return Some(FileWrite::ByLineNumber);
        }
    }
    is_changed(Kind::Overwrite).then_some(FileWrite::Script)
}

/// Is it a `sed -i` whose script names lines by their numbers?
fn numbers_lines(command: &Simple) -> bool {
    let words: Vec<String> = command.words.iter().filter_map(Word::literal).collect();
    let is_sed = words.first().is_some_and(|name| name == "sed" || name == "gsed");
    is_sed
        && words.iter().skip(1).any(|word| word.starts_with("-i"))
        && words.iter().skip(1).filter(|word| !word.starts_with('-')).any(|word| {
            word.split(['\n', ';']).any(|line| {
                let line = line.trim_start();
                let rest = line.trim_start_matches(|c: char| c.is_ascii_digit() || c == ',');
                rest.len() < line.len() && rest.starts_with(['d', 's', 'c', 'i', 'a', '{', '!'])
            })
        })
}
