//! Exit codes that a command line prints itself: `; echo "exit: $?"`.

use crate::ir::{IrNode, Script, Simple, WordPart};
use crate::walk::is_filter;

/// Returns the exit code that the command line prints at its end. The code of a pipeline is that of its
/// last stage, and tells nothing.
pub(super) fn printed_code(script: &Script, text: [&str; 2]) -> Option<i64> {
    let [.., before, last] = &script.items[..] else { return None };
    let [IrNode::Simple(echo)] = &last.pipeline.stages[..] else { return None };
    let (label, end) = label(echo)?;
    let ends_in_filter = match &before.pipeline.stages[..] {
        [] | [_] => false,
        [.., IrNode::Simple(last)] => {
            last.words.first().and_then(crate::ir::Word::fixed).is_none_or(|name| is_filter(&name))
        }
        [.., IrNode::Compound(_)] => true,
    };
    if ends_in_filter || prints_several(script) {
        return None;
    }
    let [first, second] = text;
    let text = if second.is_empty() { first } else { second };
    let text = text.trim_end();
    let printed = match label.as_str() {
        "" => text.lines().last()?,
        label => text.rsplit_once(label)?.1,
    };
    let digits = printed.trim_start().split(|c: char| !c.is_ascii_digit()).next()?;
    let rest = printed.trim_start().strip_prefix(digits)?;
    let is_whole = rest.lines().next().unwrap_or_default().trim() == end.trim();
    digits.parse().ok().filter(|code| is_whole && (0..256).contains(code))
}

/// Whether more than one command prints an exit code: each of them answers a question of its own.
fn prints_several(script: &Script) -> bool {
    let is_print = |node: &IrNode| matches!(node, IrNode::Simple(echo) if label(echo).is_some());
    script.items.iter().flat_map(|item| &item.pipeline.stages).filter(|n| is_print(n)).count() > 1
}

/// Returns the text that a command prints before and after the exit code.
fn label(echo: &Simple) -> Option<(String, String)> {
    let (program, words) = echo.words.split_first()?;
    if !matches!(program.fixed()?.as_ref(), "echo" | "printf" | "Write-Host" | "Write-Output") {
        return None;
    }
    let (mut before, mut after, mut is_after) = (String::new(), String::new(), false);
    for (at, word) in words.iter().enumerate() {
        if at > 0 {
            if is_after { &mut after } else { &mut before }.push(' ');
        }
        for part in &word.parts {
            match part {
                WordPart::Text { text, .. } if is_after => after.push_str(text),
                WordPart::Text { text, .. } => before.push_str(text),
                WordPart::Parameter { name, .. } if is_code(name) => is_after = true,
                // Other values are not known.
                _ => return None,
            }
        }
    }
    is_after.then_some((before, after))
}

fn is_code(name: &str) -> bool {
    matches!(name, "?" | "LASTEXITCODE")
}

#[cfg(test)]
mod tests {
    use super::printed_code;
    use crate::parse;

    #[test]
    fn codes() {
        for (command, text, want) in [
            ("./x; echo \"exit: $?\"", "text\nexit: 2", Some(2)),
            ("./x\necho \"--exit:$?--\"", "a line--exit:0--\n", Some(0)),
            ("./x; echo $?", "3\n", Some(3)),
            ("./x; echo code $? end", "code 3 end\n", Some(3)),
            ("./x | tail; echo $?", "0", None),
            ("cat a | ./x; echo $?", "0", Some(0)),
            ("test -d a; echo a=$?; test -d b; echo b=$?", "a=0\nb=1", None),
            ("./x; echo done", "done", None),
        ] {
            assert_eq!(printed_code(&parse(command), [text, ""]), want, "{command}");
        }
    }
}
