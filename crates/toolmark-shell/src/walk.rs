//! API for other crates: every simple command of a script with its position, whether a failure is
//! hidden, and a key that identifies equivalent command lines.

use crate::ir::{
    CompoundKind, IrNode, Operator, Redirection, RedirectionKind, Script, Simple, Word, scripts_of,
};
use std::borrow::Cow;

/// A simple command and its position.
#[derive(Debug, Clone, Copy)]
pub struct Visit<'s> {
    /// The command.
    pub command: &'s Simple,
    /// Position of the command.
    pub position: CommandPosition,
}

/// The position of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommandPosition {
    /// Stage in the pipeline.
    pub stage: usize,
    /// Number of stages of the pipeline.
    pub stages: usize,
    /// Operator after the pipeline.
    pub after: Operator,
    /// Operator before the pipeline.
    pub before: Option<Operator>,
    /// Whether the command is inside a substitution, a loop, a branch or a function.
    pub nested: bool,
}

/// Returns every simple command of a script, nested ones included, in order.
pub fn commands(script: &Script) -> Vec<Visit<'_>> {
    let mut out = Vec::new();
    visit(script, false, &mut out);
    out
}

fn visit<'s>(script: &'s Script, nested: bool, out: &mut Vec<Visit<'s>>) {
    let mut before = None;
    for item in &script.items {
        let stages = item.pipeline.stages.len();
        for (stage, node) in item.pipeline.stages.iter().enumerate() {
            let position = CommandPosition { stage, stages, after: item.after, before, nested };
            node_commands(node, position, out);
        }
        before = Some(item.after);
    }
}

fn node_commands<'s>(node: &'s IrNode, position: CommandPosition, out: &mut Vec<Visit<'s>>) {
    match node {
        IrNode::Simple(command) => {
            out.push(Visit { command, position });
            let mut inner = Vec::new();
            for word in &command.words {
                scripts_of(&word.parts, &mut inner);
            }
            for assignment in &command.assignments {
                for word in &assignment.values {
                    scripts_of(&word.parts, &mut inner);
                }
            }
            redirected(&command.redirections, &mut inner);
            for script in inner {
                visit(script, true, out);
            }
        }
        IrNode::Compound(compound) => {
            match &compound.kind {
                CompoundKind::Subshell(script) | CompoundKind::Group(script) => {
                    visit(script, true, out)
                }
                CompoundKind::Branches(scripts) | CompoundKind::Loop { parts: scripts, .. } => {
                    scripts.iter().for_each(|script| visit(script, true, out));
                }
                CompoundKind::Case { word, arms } => {
                    in_words(std::slice::from_ref(word), out);
                    arms.iter().for_each(|script| visit(script, true, out));
                }
                CompoundKind::For { body, words, .. } => {
                    in_words(words, out);
                    visit(body, true, out);
                }
                CompoundKind::Function { body, .. } => {
                    node_commands(body, CommandPosition { nested: true, ..position }, out);
                }
                CompoundKind::Test(words) => in_words(words, out),
            }
            let mut inner = Vec::new();
            redirected(&compound.redirections, &mut inner);
            for script in inner {
                visit(script, true, out);
            }
        }
    }
}

fn in_words<'s>(words: &'s [Word], out: &mut Vec<Visit<'s>>) {
    for word in words {
        for script in word.scripts() {
            visit(script, true, out);
        }
    }
}

fn redirected<'s>(redirections: &'s [Redirection], out: &mut Vec<&'s Script>) {
    for redirection in redirections {
        scripts_of(&redirection.target.parts, out);
        if let Some(body) = &redirection.body {
            scripts_of(&body.parts, out);
        }
    }
}

/// Whether a program only shortens or reorders the output of another.
pub(crate) fn is_filter(program: &str) -> bool {
    matches!(
        program,
        "head"
            | "tail"
            | "grep"
            | "egrep"
            | "rg"
            | "sed"
            | "awk"
            | "tee"
            | "cat"
            | "sort"
            | "uniq"
            | "wc"
            | "cut"
            | "tr"
            | "less"
            | "more"
            | "column"
            | "jq"
            | "nl"
            | "fold"
            | "tac"
            | "Select-String"
            | "Select-Object"
            | "Sort-Object"
            | "Where-Object"
            | "ForEach-Object"
            | "Measure-Object"
            | "Out-String"
            | "Format-Table"
            | "Format-List"
    )
}

fn program(simple: &Simple) -> Cow<'_, str> {
    simple.words.first().and_then(Word::fixed).unwrap_or_default()
}

/// Whether the exit status of a script is unrelated to its work: the last pipeline ends in a
/// filter, or a command that always succeeds follows.
pub fn masks_failure(script: &Script) -> bool {
    let Some(last) = script.items.last() else { return false };
    let final_stage = match last.pipeline.stages.last() {
        Some(IrNode::Simple(simple)) => program(simple),
        Some(IrNode::Compound(_)) | None => Cow::Borrowed(""),
    };
    let strict = commands(script).iter().any(|visit| {
        program(visit.command) == "set"
            && visit
                .command
                .words
                .iter()
                .any(|word| word.fixed().is_some_and(|text| text.contains("pipefail")))
    });
    if last.pipeline.stages.len() > 1 && is_filter(&final_stage) && !strict {
        return true;
    }
    let before = script.items.len().checked_sub(2).and_then(|at| script.items.get(at));
    let trivial = matches!(&*final_stage, "true" | ":" | "echo" | "printf" | "exit");
    match before.map(|item| item.after) {
        Some(Operator::Or | Operator::Then) => trivial && !exits_with_failure(last),
        _ => last.after == Operator::Background,
    }
}

fn exits_with_failure(item: &crate::ir::PipelineItem) -> bool {
    match item.pipeline.stages.last() {
        Some(IrNode::Simple(simple)) => {
            program(simple) == "exit"
                && simple.words.get(1).and_then(Word::literal).is_some_and(|code| code != "0")
        }
        _ => false,
    }
}

/// Returns the key of a command line: equal for command lines that differ only in a leading `cd DIR
/// &&`, in filters after pipes, in redirections of output and in blanks.
pub fn key(text: &str, script: &Script) -> String {
    let mut out = String::new();
    let mut leading = true;
    for item in &script.items {
        let Some(first) = item.pipeline.stages.first() else { continue };
        if let IrNode::Simple(simple) = first
            && leading
            && program(simple) == "cd"
            && matches!(item.after, Operator::And | Operator::Then)
        {
            continue;
        }
        leading = false;
        let trivial = matches!(first, IrNode::Simple(simple) if matches!(&*program(simple), "true" | ":" | "echo"));
        if trivial && !out.is_empty() {
            continue;
        }
        for (stage, node) in item.pipeline.stages.iter().enumerate() {
            match node {
                IrNode::Simple(simple) if stage > 0 && is_filter(&program(simple)) => {}
                IrNode::Simple(simple) => {
                    push(&mut out, if stage > 0 { "|" } else { ";" });
                    for assignment in &simple.assignments {
                        out.push_str(&assignment.name);
                        out.push('=');
                        for word in &assignment.values {
                            word_text(text, word, &mut out);
                        }
                        out.push(' ');
                    }
                    for (index, word) in simple.words.iter().enumerate() {
                        if index > 0 {
                            out.push(' ');
                        }
                        word_text(text, word, &mut out);
                    }
                    for redirection in &simple.redirections {
                        if matches!(
                            redirection.kind,
                            RedirectionKind::Read | RedirectionKind::HereString
                        ) {
                            out.push_str(" < ");
                            word_text(text, &redirection.target, &mut out);
                        }
                        if let Some(body) = &redirection.body {
                            out.push_str(" << ");
                            out.push_str(&body.text);
                        }
                    }
                }
                IrNode::Compound(compound) => {
                    push(&mut out, ";");
                    out.push_str(text.get(compound.span.clone()).unwrap_or(""));
                }
            }
        }
    }
    out
}

fn push(out: &mut String, sign: &str) {
    if !out.is_empty() {
        out.push(' ');
        out.push_str(sign);
        out.push(' ');
    }
}

fn word_text(text: &str, word: &Word, out: &mut String) {
    match word.fixed() {
        Some(fixed) => out.push_str(&fixed),
        None => out.push_str(text.get(word.span.clone()).unwrap_or("")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;

    #[test]
    fn every_command_is_visited() {
        let script =
            parse("a $(b) | c && { d; } || if e; then f < <(g); fi; h=$(i) j <<E\n$(k)\nE");
        let names: Vec<_> = commands(&script).iter().map(|visit| program(visit.command)).collect();
        assert_eq!(names, ["a", "b", "c", "d", "e", "f", "g", "j", "i", "k"]);
    }

    #[test]
    fn masked_failures() {
        for text in ["x || true", "x | tail -5", "x; echo done", "x || :", "x 2>&1 | grep y", "x &"]
        {
            assert!(masks_failure(&parse(text)), "{text}");
        }
        for text in ["x", "x && echo ok", "set -o pipefail; x | tail", "x || exit 1", "x | y"] {
            assert!(!masks_failure(&parse(text)), "{text}");
        }
    }

    #[test]
    fn keys() {
        let key = |text: &str| key(text, &parse(text));
        for (a, b) in [
            ("cd /a/b && cargo  test", "cargo test 2>&1 | tail -20"),
            ("pytest 'a b'", "pytest \"a b\" > out.txt"),
            ("make || true", "make"),
        ] {
            assert_eq!(key(a), key(b));
        }
        assert_ne!(key("cargo test"), key("cargo test a"));
        assert_ne!(key("A=1 make"), key("make"));
    }
}
