//! Text that a command line prints by itself.

use crate::ir::Simple;

/// Whether a command prints its arguments.
pub(super) fn is_echo(simple: &Simple) -> bool {
    let program = simple.words.first().and_then(crate::ir::Word::fixed);
    program.is_some_and(|name| {
        matches!(name.as_ref(), "echo" | "printf" | "Write-Host" | "Write-Output")
    })
}

/// Returns what the command prints, if that depends on nothing.
pub(super) fn text(echo: &Simple) -> Option<String> {
    let mut out = String::new();
    for word in echo.words.iter().skip(1) {
        let text = word.literal()?;
        if out.is_empty() && matches!(text.as_str(), "-n" | "-e" | "-en" | "-ne") {
            continue;
        }
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(&text.replace("\\n", "\n"));
    }
    Some(out)
}
