//! Version control other than git.

use super::git::discard;
use crate::effects::{Kind, Reversibility};
use crate::options::Grammar;
use crate::run::Run;
use Reversibility::{R3, R4};

pub(super) fn run(run: &mut Run<'_, '_>) {
    let words = super::plain_words(run.args);
    let Some(verb) = words.first().copied() else { return };
    let parsed = Grammar::default().parse(run.args);
    if parsed.informs() || parsed.has("n", "dry-run") {
        return;
    }
    let target = words.join(" ");
    match (run.name, verb) {
        ("hg", "strip") => discard(run, &target, R4, "removes commits"),
        ("hg", "purge" | "clean") => discard(run, &target, R4, "deletes untracked files"),
        ("hg", "update" | "up" | "checkout" | "co") if parsed.has("C", "clean") => {
            discard(run, &target, R4, "discards local changes");
        }
        ("hg", "revert") => discard(run, &target, R3, "discards local changes"),
        ("hg", "rollback") => discard(run, &target, R3, "removes the last commit"),
        ("hg", "push") if parsed.on("f", "force") => {
            run.remote(&target, "overwrites the history of a remote");
        }
        ("svn", "revert") => discard(run, &target, R3, "discards local changes"),
        ("svn", "cleanup") if parsed.exact("remove-unversioned") => {
            discard(run, &target, R4, "deletes untracked files");
        }
        ("svn", "delete" | "del" | "rm" | "remove") if words.iter().any(|w| w.contains("://")) => {
            run.ask(Kind::RemoteState, &target, crate::Scope::Remote, "deletes in the repository");
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use crate::programs::check;

    #[test]
    fn other_version_control() {
        check(
            &["hg strip -r 0 --no-backup", "hg update -C tip", "hg purge --all"],
            &["hg revert --all", "svn revert -R .", "svn delete https://h/repo/trunk"],
            &["hg status", "hg pull -u", "svn rm old.txt", "svn update", "hg strip --help"],
        );
    }
}
