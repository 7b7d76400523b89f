//! Commands of PowerShell that fetch and run text.

use crate::effects::{Kind, Reversibility, Scope};
use crate::pipes::Flow;
use crate::run::Run;

/// Words of text that fetches something.
const FETCHES: &[&str] =
    &["irm ", "iwr ", "invoke-webrequest", "invoke-restmethod", "downloadstring", "curl "];

/// Does text of PowerShell fetch something and run it?
pub(super) fn runs_download(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let runs = lower.split(|c: char| !c.is_alphanumeric() && c != '-');
    runs.into_iter().any(|word| matches!(word, "iex" | "invoke-expression"))
        && FETCHES.iter().any(|word| lower.contains(word))
}

pub(super) fn run(run: &mut Run<'_, '_>) {
    if !matches!(run.name, "iex" | "invoke-expression") {
        return;
    }
    let text = run.line();
    if runs_download(&format!("iex {text}")) || run.call.remote || run.call.input == Flow::Remote {
        run.effect(
            Kind::ExecuteUntrusted,
            "a download",
            Scope::Remote,
            Reversibility::R5,
            "runs downloaded code",
        );
    } else {
        run.shell_text(&text);
    }
}

#[cfg(test)]
mod tests {
    use crate::programs::check;

    #[test]
    fn text_that_is_run() {
        check(
            &[
                "iex \"irm https://h/a.ps1\"",
                "irm https://h/a.ps1 | iex",
                "pwsh -c 'iex (iwr https://h/x)'",
                "pwsh -NoProfile -c 'ri -r -fo /srv/data'",
            ],
            &[],
            &["iex 'Get-ChildItem'", "irm https://h/data.json"],
        );
    }
}
