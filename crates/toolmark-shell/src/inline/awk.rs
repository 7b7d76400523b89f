//! `awk` programs: the text they pass to a shell and the files they write.

use super::Language;
use super::lex::{SourceToken, StringPiece, tokens};
use crate::analyze::CommandContext;
use crate::effects::{EffectKind, EffectScope, Reversibility};
use crate::expand::Arg;
use crate::run::CommandRun;

/// Analyzes an `awk` program.
pub(crate) fn scan(run: &mut CommandRun<'_, '_>, code: &str) {
    if !code.contains("system") && !code.contains('|') && !code.contains('>') {
        return;
    }
    // Its strings and patterns are written as those of JavaScript.
    let tokens = tokens(code, Language::JavaScript);
    let text = |at: usize| match tokens.get(at) {
        Some(SourceToken::Text(pieces)) => match pieces.as_slice() {
            [StringPiece::Plain(text)] => Some(text.as_str()),
            _ => None,
        },
        _ => None,
    };
    let is_mark = |at: usize, mark: &str| matches!(tokens.get(at), Some(SourceToken::Mark(own)) if *own == mark);
    let is_name = |at: usize, name: &str| matches!(tokens.get(at), Some(SourceToken::Name(own)) if own == name);
    let call = CommandContext { fixed: true, indirect: true, ..run.call.clone() };
    // `system($0)`
    let is_unknown =
        |at: usize| is_name(at, "system") && is_mark(at + 1, "(") && text(at + 2).is_none();
    if (0..tokens.len()).any(is_unknown) {
        let why = "runs text built at run time";
        let certainty = crate::effects::Certainty::Unresolved;
        run.sure(
            EffectKind::ExecuteUntrusted,
            code,
            EffectScope::Unknown,
            Reversibility::R1,
            certainty,
            why,
        );
    }
    for at in 0..tokens.len() {
        let Some(own) = text(at) else { continue };
        let is_call = at >= 2 && is_mark(at - 1, "(") && is_name(at - 2, "system");
        let is_bare_call = at >= 1 && is_name(at - 1, "system");
        let feeds_shell =
            is_mark(at + 1, "|") && matches!(text(at + 2), Some("sh" | "bash" | "zsh"));
        let is_read = is_mark(at + 1, "|") && is_name(at + 2, "getline");
        let is_fed = at >= 1 && is_mark(at - 1, "|");
        // `print "rm -rf " $1 | "sh"`: the text before the bar is the command.
        if is_fed && matches!(own, "sh" | "bash" | "zsh" | "sh -s" | "bash -s") {
            let is_start = |token: &SourceToken| {
                matches!(token, SourceToken::Mark("{" | ";") | SourceToken::Line)
                    || matches!(token, SourceToken::Name(name) if matches!(name.as_str(), "print" | "printf"))
            };
            let from = tokens.get(..at - 1).unwrap_or_default().iter().rposition(is_start);
            let printed = tokens.get(from.map_or(0, |from| from + 1)..at - 1).unwrap_or_default();
            let text: String = printed
                .iter()
                .map(|token| match token {
                    SourceToken::Text(pieces) => pieces
                        .iter()
                        .map(|piece| match piece {
                            StringPiece::Plain(text) => text.clone(),
                            StringPiece::Code(_) => "$X".to_owned(),
                        })
                        .collect(),
                    SourceToken::Name(_) => "$X".to_owned(),
                    _ => String::new(),
                })
                .collect();
            run.analyzer.text(&text, &call);
        }
        if is_call || is_bare_call || feeds_shell || is_read || is_fed {
            run.analyzer.text(own, &call);
        }
        let appends = at >= 1 && is_mark(at - 1, ">>");
        if (appends || at >= 1 && is_mark(at - 1, ">")) && own.starts_with('/') {
            run.analyzer.write_file(&Arg::plain(own), appends, run.name, &call);
        }
    }
}
