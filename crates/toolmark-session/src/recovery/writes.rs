//! Shell writes to a file whose edit failed: replacing a part, appending, or rewriting the
//! whole file.

use super::{effects, risk::same_file};
use crate::session::{Session, SessionCall};
use toolmark_shell::EffectKind;
use toolmark_shell::ir::{RedirectionKind, Simple, Word};

/// Kind of write to a file by a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileWrite {
    /// Rewrite of the whole file: `cat > FILE`.
    Whole,
    /// Change by line numbers, regardless of the content: `sed -i 12d FILE`.
    ByLineNumber,
    /// Replacement by a script: `sed -i s/a/b/ FILE`.
    Script,
    /// Append.
    Append,
}

/// Returns how a command writes this file; `None` if it does not.
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
        if numbers_lines(visit.command) && is_changed(EffectKind::Overwrite) {
            return Some(FileWrite::ByLineNumber);
        }
    }
    is_changed(EffectKind::Overwrite).then_some(FileWrite::Script)
}

/// Whether the command is a `sed -i` whose script addresses lines by their numbers.
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
