//! Detects whether an action was announced in words: before it, afterwards, or not at all.
//! Only the text is read, sentence by sentence.
//!
//! A sentence announces an action if it contains a verb for such an action, or the program,
//! or its target. A sentence that negates the action ("without deleting anything") does not
//! announce it. The required evidence grows with the distance from the call: in the response
//! that makes the call a verb is sufficient, and further away the sentence must also name the
//! target.

use toolmark_hosts::toolset::ToolRole;
use toolmark_outcome::{Evidence, EvidenceRole};
use toolmark_session::session::{Session, SessionCall};
use toolmark_session::text::head;
use toolmark_shell::{Effect, EffectKind, EffectScope};
use toolmark_trace::{Event, EventKind};

/// Maximum number of messages to read before and after a call.
const MESSAGES: usize = 6;
/// Maximum number of earlier prompts to read, besides the last.
const PROMPTS: usize = 4;
/// Maximum number of earlier calls to search for questions and plans.
const CALLS: usize = 60;
/// Maximum length of a message to read, in bytes.
const LONGEST: usize = 16 << 10;

/// Place where an action was announced: the first one found, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Announcement {
    /// By the agent, in the response that makes the call.
    InResponse,
    /// By the agent, earlier in the user's turn.
    InTurn,
    /// By the user, who requested it.
    ByUser,
    /// By the agent, before the user's last message.
    TurnBefore,
    /// By the agent, but only afterwards.
    Afterwards,
}

/// Announcement of an action.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Naming {
    pub(crate) said: Announcement,
    /// Whether the sentence contains a verb for the action and, if the target has a name, the
    /// target.
    pub(crate) is_plain: bool,
    /// The sentence.
    pub(crate) evidence: Evidence,
}

/// Returns the stems of the verbs for an action. Verbs that fit any step ("update", "run",
/// "create") are not included.
fn stems(kind: EffectKind) -> &'static [&'static str] {
    match kind {
        EffectKind::Delete => &[
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
        EffectKind::Overwrite => &[
            "overwrit", "replac", "truncat", "rewrit", "empty", "clear", "reset", "restor",
            "flash", "format", "wip",
        ],
        EffectKind::DiscardVcs => &[
            "revert", "discard", "reset", "restor", "undo", "checkout", "stash", "clean", "drop",
            "rollback", "throw", "abandon", "remov",
        ],
        EffectKind::RewriteHistory => &[
            "rewrit", "squash", "rebas", "amend", "forc", "expir", "prun", "histor", "push",
            "delet", "remov", "reset", "renam",
        ],
        EffectKind::RemoteState => &[
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
        EffectKind::StopService => &["stop", "kill", "restart", "shut", "terminat", "reboot"],
        EffectKind::Spend => &["publish", "releas", "upload", "push"],
        EffectKind::Privilege => &["permission", "sudo", "owner", "privileg"],
        EffectKind::Persist => &["hook", "setting", "config", "install"],
        EffectKind::ExecuteUntrusted | EffectKind::ReadSecret | EffectKind::SendOut => {
            &["download", "install", "execut", "read", "show", "upload", "send"]
        }
    }
}

/// Programs with only one purpose, so that their name announces the action.
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

/// Words that negate a sentence.
const DENIALS: &[&str] =
    &["not", "don't", "never", "without", "avoid", "won't", "can't", "cannot", "instead"];

/// A sentence that announces an effect, and whether it names both the action and the target.
struct Sentence<'t> {
    text: &'t str,
    is_plain: bool,
}

/// Returns the sentence that announces an effect, if there is one.
fn naming<'t>(text: &'t str, effect: &Effect) -> Option<Sentence<'t>> {
    let text = head(text, LONGEST);
    let name = effect.target.trim_end_matches('/').rsplit(['/', ' ']).next().unwrap_or("");
    let name = name.trim_matches(['*', '.', '"', '\'']).to_lowercase();
    // Branches and tables are named for many reasons, but a file is named because of its
    // deletion.
    let by_target =
        matches!(effect.kind, EffectKind::Delete | EffectKind::Overwrite | EffectKind::Persist)
            && effect.scope != EffectScope::Remote;
    let program = Some(effect.program.as_str()).filter(|program| SPEAKING.contains(program));
    // A deployment changes files on another machine.
    let there = match (effect.kind, effect.scope) {
        (EffectKind::Overwrite, EffectScope::Remote) => stems(EffectKind::RemoteState),
        _ => &[],
    };
    let has_name = name.len() >= 3;
    // A commit is not called HEAD in prose.
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
                let is_verb = stems(effect.kind).iter().chain(there).any(|stem| match *stem {
                    "rm" | "rid" => word == *stem,
                    stem => word.starts_with(stem),
                });
                is_verb || Some(word) == program
            });
        let is_named = (verb || target) && !denied;
        is_named.then(|| {
            // The target may be in another sentence of the same message.
            let is_plain = verb && (!can_be_said || has_target(&text.to_lowercase()));
            Sentence { text: sentence, is_plain }
        })
    })
}

/// Splits a text into sentences: up to a full stop before a blank, or a line end.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.split('\n')
        .flat_map(|line| line.split_inclusive(['.', '!', '?', ';']))
        .map(str::trim)
        .filter(|sentence| !sentence.is_empty())
}

/// Returns the announcement of the effect of a call, if there is one.
#[must_use]
pub(crate) fn named(
    session: &Session<'_>,
    call: &SessionCall<'_>,
    effect: &Effect,
) -> Option<Naming> {
    let text_of = |event: &Event| event.text.as_ref().map(|text| text.plain().into_owned());
    let found = |event: &Event, said: Announcement, words: &'static str, is_near: bool| {
        let text = text_of(event)?;
        let sentence = naming(&text, effect).filter(|sentence| is_near || sentence.is_plain)?;
        let evidence = Evidence::words(EvidenceRole::Context, words).at(session.place(&event.at));
        let evidence = evidence.with_excerpt(sentence.text);
        Some(Naming { said, is_plain: sentence.is_plain, evidence })
    };
    let in_call =
        |other: &SessionCall<'_>, text: Option<&str>, said: Announcement, words: &'static str| {
            let sentence = naming(text?, effect)?;
            let evidence =
                session.evidence(EvidenceRole::Context, words, other).with_excerpt(sentence.text);
            Some(Naming { said, is_plain: sentence.is_plain, evidence })
        };
    let described = call.args().and_then(|args| args.get("description")?.as_str());
    let same_response = session.said_before(call).take(MESSAGES);
    let before = in_call(call, described, Announcement::InResponse, "named in its description")
        .or_else(|| {
            let named = "named in the same response";
            same_response
                .filter_map(|event| found(event, Announcement::InResponse, named, true))
                .next()
        })
        .or_else(|| {
            let said = session.said_in_turn(call).take(MESSAGES).enumerate();
            let found = |(n, event)| match is_next_to(session, call, event) {
                true => found(event, Announcement::InResponse, "named before", true),
                // The last message is about the calls since then.
                false => found(event, Announcement::InTurn, "named before", n == 0),
            };
            said.filter_map(found).next()
        })
        .or_else(|| {
            let events = session.events().get(..call.event).unwrap_or_default();
            let mut prompts = session.given_before(call.event).filter(|event| event.starts_turn());
            let asked = prompts.next()?;
            found(asked, Announcement::ByUser, "the user asked for it", true)
                .or_else(|| {
                    // A confirmation such as "yes, do it" refers to the previous message.
                    if !text_of(asked).is_some_and(|text| approves(&text)) {
                        return None;
                    }
                    let said = events.iter().rev().skip_while(|event| !std::ptr::eq(*event, asked));
                    let mut said = said.filter(|event| event.kind == EventKind::Message).take(1);
                    found(said.next()?, Announcement::TurnBefore, "the user approved it", true)
                })
                .or_else(|| {
                    let words = "the user asked for it before";
                    prompts.take(PROMPTS).find_map(|e| found(e, Announcement::ByUser, words, false))
                })
        })
        .or_else(|| {
            // Questions that the user answered, and plans that they approved.
            let is_asked = |other: &&SessionCall<'_>| {
                matches!(other.role, ToolRole::AsksUser | ToolRole::Plans)
            };
            session.before(call).take(CALLS).filter(is_asked).find_map(|other| {
                let args = other.call.args.as_ref().map(|args| args.raw().into_owned());
                let answer = other.result();
                let words = "asked before, or part of the plan";
                in_call(other, args.as_deref(), Announcement::ByUser, words)
                    .or_else(|| in_call(other, answer.as_deref(), Announcement::ByUser, words))
            })
        });
    let before = before.or_else(|| given(session, call, effect));
    let after = || {
        let after = session.said_after(call).take(MESSAGES);
        let words = "acknowledged afterwards";
        let acknowledged = |event| found(event, Announcement::Afterwards, words, false);
        after.filter_map(acknowledged).next()
    };
    before.or_else(after)
}

/// Returns the announcement if the user, a skill or the host gave the agent the exact
/// command.
fn given(session: &Session<'_>, call: &SessionCall<'_>, effect: &Effect) -> Option<Naming> {
    /// Maximum number of messages to read.
    const GIVEN: usize = 64;
    /// Minimum length of a text; a shorter one occurs anywhere.
    const SHORTEST: usize = 12;
    let command = call.command()?;
    let part = command.get(effect.span.0..effect.span.1)?.trim();
    if part.len() < SHORTEST {
        return None;
    }
    let events = session.given_before(call.event).take(GIVEN);
    let mut given = events.filter(|event| {
        event.text.as_ref().is_some_and(|text| head(&text.plain(), LONGEST).contains(part))
    });
    let place = session.place(&given.next()?.at);
    let evidence =
        Evidence::words(EvidenceRole::Context, "the agent was given the command").at(place);
    Some(Naming {
        said: Announcement::ByUser,
        is_plain: true,
        evidence: evidence.with_excerpt(part),
    })
}

/// Whether the user approves the previous message.
fn approves(text: &str) -> bool {
    /// Maximum length of an approval.
    const SHORT: usize = 200;
    const WORDS: &[&str] = &[
        "yes",
        "yeah",
        "yep",
        "y",
        "ok",
        "okay",
        "sure",
        "go",
        "do",
        "please",
        "proceed",
        "continue",
        "right",
        "correct",
        "fine",
        "sounds",
        "lgtm",
        "confirmed",
        "agreed",
        "perfect",
        "great",
        "1",
    ];
    let lower = text.trim().to_lowercase();
    let first = lower.split(|c: char| !c.is_alphanumeric()).find(|word| !word.is_empty());
    lower.len() <= SHORT && first.is_some_and(|first| WORDS.contains(&first))
}

/// Whether the text around a call is in an unsupported language.
pub(crate) fn is_in_another_language(session: &Session<'_>, call: &SessionCall<'_>) -> bool {
    /// Words that occur in every English text.
    const ENGLISH: &[&str] = &[
        "the", "to", "and", "is", "it", "in", "of", "this", "that", "for", "let", "now", "i", "we",
        "you", "me", "a", "please",
    ];
    let prompt = session.given_before(call.event).find(|event| event.starts_turn());
    let said = session.said_in_turn(call).take(1);
    said.chain(prompt).filter_map(|event| event.text.as_ref()).any(|text| {
        let text = text.plain();
        let text = head(&text, LONGEST).to_lowercase();
        let words: Vec<&str> = text.split_whitespace().collect();
        let letters = text.chars().filter(|c| c.is_alphabetic());
        let (all, foreign) = letters.fold((0_usize, 0_usize), |(all, foreign), c| {
            (all + 1, foreign + usize::from(!c.is_ascii()))
        });
        let is_english = words.iter().any(|word| ENGLISH.contains(word));
        foreign * 5 > all || (words.len() >= 6 && !is_english)
    })
}

/// Whether a message is among the last events before a call, without another call in between,
/// in a trace that does not record the response of the call.
fn is_next_to(session: &Session<'_>, call: &SessionCall<'_>, said: &Event) -> bool {
    let events = session.events().get(..call.event).unwrap_or_default();
    let is_call = |event: &&Event| matches!(event.kind, EventKind::Call(_));
    let near = events.iter().rev().take_while(|event| !is_call(event));
    call.call.step.is_none() && near.take(MESSAGES).any(|event| std::ptr::eq(event, said))
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolmark_shell::{ShellContext, analyze};

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
            let analysis = analyze(command, &ShellContext::default());
            let effect = analysis.effects.first().unwrap();
            assert_eq!(naming(text, effect).is_some(), want, "{command}: {text}");
        }
    }
}
