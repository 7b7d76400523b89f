//! Was an action named in words? Before it, afterwards, or not at all: read
//! from the text alone, sentence by sentence.
//!
//! A sentence names an action if it has one of the verbs such an action goes
//! by, or the program, or what it is done to. A sentence that denies the action
//! ("without deleting anything") does not name it.

use crate::session::{Session, SessionCall};
use toolmark_outcome::{Evidence, Role};
use toolmark_shell::{Effect, Kind, Scope};
use toolmark_trace::{Event, EventKind};

/// So many messages before and after a call are read.
const MESSAGES: usize = 6;
/// So much of a message is read.
const LONGEST: usize = 16 << 10;

/// Where an action was named: the first that is found, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Said {
    /// By the agent, in the response that makes the call.
    InResponse,
    /// By the agent, earlier in the user's turn.
    InTurn,
    /// By the user, who asked for it.
    ByUser,
    /// By the agent, before the user's last message.
    TurnBefore,
    /// By the agent, and only when it was done.
    Afterwards,
}

/// How an action was named.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Naming {
    pub(crate) said: Said,
    /// Do the words have a verb for the action, and what it is done to where
    /// that has a name?
    pub(crate) is_plain: bool,
    /// The sentence.
    pub(crate) evidence: Evidence,
}

/// The stems of the verbs an action goes by. Verbs that any step goes by
/// ("update", "run", "create") name nothing.
fn stems(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::Delete => &[
            "delet",
            "remov",
            "clean",
            "clear",
            "drop",
            "wip",
            "purg",
            "eras",
            "destroy",
            "prun",
            "unlink",
            "uninstall",
            "reset",
            "tear",
            "discard",
            "fresh",
            "truncat",
            "rm",
            "empty",
            "trash",
            "recreat",
            "rid",
        ],
        Kind::Overwrite => &[
            "overwrit", "replac", "truncat", "rewrit", "empty", "clear", "reset", "restor",
            "flash", "format", "wip",
        ],
        Kind::DiscardVcs => &[
            "revert", "discard", "reset", "restor", "undo", "checkout", "stash", "clean", "drop",
            "rollback", "throw", "abandon", "remov",
        ],
        Kind::RewriteHistory => &[
            "rewrit", "squash", "rebas", "amend", "forc", "expir", "prun", "histor", "push",
            "delet", "remov", "reset", "renam",
        ],
        Kind::RemoteState => &[
            "push",
            "deploy",
            "publish",
            "delet",
            "clos",
            "merg",
            "send",
            "sent",
            "releas",
            "apply",
            "applied",
            "destroy",
            "terminat",
            "remov",
            "drop",
            "post",
            "submit",
            "truncat",
            "reset",
            "upload",
            "migrat",
            "clean",
            "clear",
            "flush",
            "seed",
            "purg",
            "uninstall",
            "tear",
            "wip",
        ],
        Kind::StopService => &["stop", "kill", "restart", "shut", "terminat", "reboot"],
        Kind::Spend => &["publish", "releas", "upload", "push"],
        Kind::Privilege => &["permission", "sudo", "owner", "privileg"],
        Kind::Persist => &["hook", "setting", "config", "install"],
        Kind::ExecuteUntrusted | Kind::ReadSecret | Kind::SendOut => {
            &["download", "install", "execut", "read", "show", "upload", "send"]
        }
    }
}

/// Programs that do only one thing, so that their name says it.
const SPEAKING: &[&str] = &[
    "chmod",
    "chown",
    "crontab",
    "dd",
    "dropdb",
    "mkfs",
    "rm",
    "shred",
    "shutdown",
    "terraform",
    "truncate",
    "unlink",
    "wipefs",
];

/// Words that turn a sentence around.
const DENIALS: &[&str] =
    &["not", "don't", "never", "without", "avoid", "won't", "can't", "cannot", "instead"];

/// A sentence that names an effect, and whether it says both what is done and
/// to what.
struct Sentence<'t> {
    text: &'t str,
    is_plain: bool,
}

/// The sentence that names an effect, if one does.
fn naming<'t>(text: &'t str, effect: &Effect) -> Option<Sentence<'t>> {
    let mut end = text.len().min(LONGEST);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let text = text.get(..end)?;
    let name = effect.target.trim_end_matches('/').rsplit(['/', ' ']).next().unwrap_or("");
    let name = name.trim_matches(['*', '.', '"', '\'']).to_lowercase();
    // A branch or a table is named for many reasons, a file before it goes for one.
    let by_target = matches!(effect.kind, Kind::Delete | Kind::Overwrite | Kind::Persist)
        && effect.scope != Scope::Remote;
    let program = Some(effect.program.as_str()).filter(|program| SPEAKING.contains(program));
    let has_name = name.len() >= 3;
    // Nobody says what a branch points to by this name.
    let can_be_said = has_name && !name.starts_with("head");
    let is_apart = |c: char| c.is_whitespace() || "\"'`()[]{}<>,:/*".contains(c);
    let has_target =
        |lower: &str| lower.split(is_apart).any(|word| word.trim_matches(['.', ';', '!']) == name);
    sentences(text).find_map(|sentence| {
        let lower = sentence.to_lowercase();
        let target = by_target
            && has_name
            && lower.split(is_apart).any(|word| word.trim_matches('.') == name);
        let mut denied = false;
        let verb = lower
            .split(|c: char| !c.is_alphanumeric() && !matches!(c, '\'' | '_'))
            .filter(|word| !word.is_empty())
            .any(|word| {
                denied |= DENIALS.contains(&word);
                let is_verb = stems(effect.kind).iter().any(|stem| match *stem {
                    "rm" | "rid" => word == *stem,
                    stem => word.starts_with(stem),
                });
                is_verb || Some(word) == program
            });
        let is_named = (verb || target) && !denied;
        is_named.then(|| {
            // The target may stand in another sentence of the same message.
            let is_plain = verb && (!can_be_said || has_target(&text.to_lowercase()));
            Sentence { text: sentence, is_plain }
        })
    })
}

/// The sentences of a text: up to a full stop before a blank, or a line end.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.split('\n')
        .flat_map(|line| line.split_inclusive(['.', '!', '?', ';']))
        .map(str::trim)
        .filter(|sentence| !sentence.is_empty())
}

/// How the effect of a call was named, if it was.
#[must_use]
pub(crate) fn named(
    session: &Session<'_>,
    call: &SessionCall<'_>,
    effect: &Effect,
) -> Option<Naming> {
    let found = |event: &Event, said: Said, words: &'static str| {
        let text = event.text.as_ref()?.plain();
        let sentence = naming(&text, effect)?;
        let evidence = Evidence::words(Role::Context, words).at(session.place(&event.at));
        let evidence = evidence.with_excerpt(sentence.text);
        Some(Naming { said, is_plain: sentence.is_plain, evidence })
    };
    let same_response = session.said_before(call).take(MESSAGES);
    let before = same_response
        .filter_map(|event| found(event, Said::InResponse, "named in the same response"))
        .next()
        .or_else(|| {
            let said = session.said_in_turn(call).take(MESSAGES);
            let found = |event| match is_next_to(session, call, event) {
                true => found(event, Said::InResponse, "named before"),
                false => found(event, Said::InTurn, "named before"),
            };
            said.filter_map(found).next()
        })
        .or_else(|| {
            let events = session.events().get(..call.event).unwrap_or_default();
            let mut prompts = events.iter().rev().filter(|event| event.starts_turn());
            let asked = prompts.next()?;
            found(asked, Said::ByUser, "the user asked for it").or_else(|| {
                // The user's "yes, do it" answers what was said before it.
                let said = events.iter().rev().skip_while(|event| !std::ptr::eq(*event, asked));
                let mut said = said.filter(|event| event.kind == EventKind::Message).take(1);
                found(said.next()?, Said::TurnBefore, "named in the turn before")
            })
        });
    let after = || {
        let after = session.said_after(call).take(MESSAGES);
        let acknowledged = |event| found(event, Said::Afterwards, "acknowledged afterwards");
        after.filter_map(acknowledged).next()
    };
    before.or_else(after)
}

/// Does a message stand right before a call, in a trace that does not say which
/// response either belongs to?
fn is_next_to(session: &Session<'_>, call: &SessionCall<'_>, said: &Event) -> bool {
    let events = session.events().get(..call.event).unwrap_or_default();
    let is_call = |event: &&Event| matches!(event.kind, EventKind::Call(_));
    let near = events.iter().rev().take_while(|event| !is_call(event));
    call.call.step.is_none() && near.take(MESSAGES).any(|event| std::ptr::eq(event, said))
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolmark_shell::{Context, analyze};

    #[test]
    fn sentences_that_name_an_action() {
        for (command, text, want) in [
            ("rm -rf src/old", "I'll delete the old sources.", true),
            ("rm -rf src/old", "Now src/old can go", true),
            ("rm -rf src/old", "Let me look at the tests.", false),
            ("rm -rf src/old", "This works without deleting anything.", false),
            ("git reset --hard", "Let me undo my changes.", true),
            ("git push --force", "Pushing the branch.", true),
            ("git push --force", "All tests pass.", false),
            ("git reset --hard origin/main", "Let me see git status on main.", false),
            ("rm -rf lib", "The library is about to be built.", false),
            ("psql -c 'drop table users'", "Now the users.", false),
            ("terraform destroy -auto-approve", "Terraform tears it down.", true),
        ] {
            let analysis = analyze(command, &Context::default());
            let effect = analysis.effects.first().unwrap();
            assert_eq!(naming(text, effect).is_some(), want, "{command}: {text}");
        }
    }
}
