//! Scripts that start copies of themselves until the machine is overloaded.

use crate::ir::{CompoundKind, IrNode, Operator, Script, Simple, Word, WordPart};

/// Whether a function's body starts the function at least twice in one pipeline.
pub(crate) fn multiplies(body: &IrNode, name: &str) -> bool {
    let script = match body {
        IrNode::Compound(compound) => match &compound.kind {
            CompoundKind::Group(script) | CompoundKind::Subshell(script) => script,
            _ => return false,
        },
        IrNode::Simple(_) => return false,
    };
    script.items.iter().any(|item| {
        let own = item.pipeline.stages.iter().filter(|stage| match stage {
            IrNode::Simple(simple) => literal(simple).as_deref() == Some(name),
            IrNode::Compound(_) => false,
        });
        own.count() > 1
    })
}

/// Whether a script starts its own file more than once without waiting for it.
pub(crate) fn starts_itself_twice(script: &Script) -> bool {
    let is_own = |word: &Word| matches!(word.parts.as_slice(), [WordPart::Parameter { name, .. }] if name == "0");
    let mut count = 0;
    let mut is_parallel = false;
    for item in &script.items {
        let own = item.pipeline.stages.iter().filter(|stage| match stage {
            IrNode::Simple(simple) => simple.words.iter().take(2).any(is_own),
            IrNode::Compound(_) => false,
        });
        let own = own.count();
        count += own;
        is_parallel |= own > 1 || (own == 1 && item.after == Operator::Background);
    }
    count > 1 && is_parallel
}

/// Whether the condition of a loop never ends it.
pub(crate) fn is_endless(condition: &Script, until: bool) -> bool {
    let [item] = condition.items.as_slice() else { return false };
    let [stage] = item.pipeline.stages.as_slice() else { return false };
    let holds = match stage {
        IrNode::Simple(simple) => match base(simple).as_deref() {
            Some("true" | ":" | "yes") => true,
            Some("false") => false,
            Some("[" | "test") => {
                let second = simple.words.get(1).and_then(Word::literal);
                match second.as_deref() {
                    Some("1" | "true" | ":") => simple.words.len() < 4,
                    _ => return false,
                }
            }
            _ => return false,
        },
        IrNode::Compound(compound) => match &compound.kind {
            CompoundKind::Test(words) => {
                let text: String = words.iter().filter_map(Word::literal).collect();
                match text.trim() {
                    "1" => true,
                    "0" => false,
                    _ => return false,
                }
            }
            _ => return false,
        },
    };
    holds != (until ^ item.pipeline.negated)
}

/// Whether the words are those of `for ((;;))`.
pub(crate) fn is_endless_for(words: &[Word]) -> bool {
    let [word] = words else { return false };
    word.fixed().is_some_and(|text| {
        let mut parts = text.split(';');
        let condition = parts.nth(1).unwrap_or("x").trim().to_owned();
        parts.next().is_some() && matches!(condition.as_str(), "" | "1")
    })
}

/// Whether the body of a loop only starts commands in the background and waits for nothing.
pub(crate) fn only_starts(body: &Script) -> bool {
    starts(body) && !waits(body)
}

fn starts(script: &Script) -> bool {
    script.items.iter().any(|item| {
        item.after == Operator::Background || item.pipeline.stages.iter().any(|s| inner(s, starts))
    })
}

fn waits(script: &Script) -> bool {
    let is_waiting = |simple: &Simple| {
        matches!(
            base(simple).unwrap_or_default().as_str(),
            "wait"
                | "sleep"
                | "read"
                | "inotifywait"
                | "break"
                | "exit"
                | "return"
                | "nc"
                | "fswatch"
        )
    };
    let foreground = script.items.iter().filter(|item| item.after != Operator::Background);
    foreground.flat_map(|item| &item.pipeline.stages).any(|stage| match stage {
        IrNode::Simple(simple) => is_waiting(simple),
        // `wait` in a shell of its own waits for nothing.
        IrNode::Compound(compound) => match &compound.kind {
            CompoundKind::Subshell(script) => waits(script) && !only_waits(script),
            _ => inner(stage, waits),
        },
    })
}

/// Whether a script is nothing but `wait`.
fn only_waits(script: &Script) -> bool {
    let stages = || script.items.iter().flat_map(|item| &item.pipeline.stages);
    stages().all(
        |stage| matches!(stage, IrNode::Simple(simple) if base(simple).as_deref() == Some("wait")),
    )
}

/// Returns the program of a command without its directory.
fn base(simple: &Simple) -> Option<String> {
    let name = literal(simple)?;
    Some(name.rsplit('/').next().unwrap_or("").to_owned())
}

/// Applies a check to the scripts of a compound command.
fn inner(node: &IrNode, look: fn(&Script) -> bool) -> bool {
    let IrNode::Compound(compound) = node else { return false };
    match &compound.kind {
        CompoundKind::Group(script) | CompoundKind::Subshell(script) => look(script),
        CompoundKind::Branches(scripts) | CompoundKind::Loop { parts: scripts, .. } => {
            scripts.iter().any(look)
        }
        CompoundKind::For { body, .. } => look(body),
        _ => false,
    }
}

fn literal(simple: &Simple) -> Option<String> {
    simple.words.first().and_then(Word::literal).map(|text| text.to_string())
}

#[cfg(test)]
mod tests {
    use crate::{Decision, ShellContext, analyze};

    #[test]
    fn loops_that_only_start() {
        let decide = |command| analyze(command, &ShellContext::default()).decision;
        for command in [
            ":(){ :|:& };:",
            "bomb() { bomb | bomb & }; bomb",
            "while true; do ./x & done",
            "while :; do (sleep 99 &); done",
            "until false; do ./x & done",
            "until /usr/bin/false; do ./x & done",
            "while true; do ./x & (wait); done",
            "while [ 1 ]; do ./x & done",
            "while ((1)); do ./x & done",
            "for ((;;)); do ./x & done",
            "sh -c '$0 & $0'",
            "$0 | $0 &",
        ] {
            assert_eq!(decide(command), Decision::Deny, "{command}");
        }
        for command in [
            "while true; do ./x & sleep 1; done",
            "while true; do ./x & wait; done",
            "while read f; do gzip $f & done",
            "while ! curl -s h; do sleep 1; done",
            "for i in 1 2 3; do ./x & done",
            "for ((i=0;i<4;i++)); do ./x & done",
            "until curl -s h; do ./x & done",
            "until true; do ./x & done",
            "exec $0",
        ] {
            assert_eq!(decide(command), Decision::Allow, "{command}");
        }
    }
}
