//! Commands as rows: the words and options by which a command is recognized, and its effect. A
//! program whose commands need nothing else is a few rows of data in a file of this folder.
//!
//! # Notation of a row
//!
//! Words of the command in order, options in any order:
//!
//! - `pm clear|uninstall` – alternatives; `delete*` – a beginning; `*` – any word
//! - `--replicas=0` – an option with this value, attached or behind it; `*` stands for any text
//! - `-f|--force` – one of these options
//! - `!-n|--dry-run` – none of these options

mod access;
mod clusters;
mod data;
mod exposure;
mod hosting;
mod machines;
mod mobile;
mod registries;

use crate::effects::{EffectKind, EffectScope, Reversibility};
use crate::expand::Arg;
use crate::lookup::NameLookup;
use crate::run::CommandRun;
use Reversibility::{R1, R3, R4, R5};

/// Programs whose commands are rows.
pub(super) struct Tool {
    /// Names of the programs.
    pub(super) names: &'static [&'static str],
    /// Options with values that may precede or follow the words, separated by blanks.
    pub(super) values: &'static str,
    /// Rows. The first that fits counts.
    pub(super) rows: &'static [(&'static str, Act)],
}

/// Effect of a command.
#[derive(Clone, Copy)]
pub(super) struct Act {
    kind: EffectKind,
    scope: EffectScope,
    level: Reversibility,
    pub(super) why: &'static str,
}

const fn act(kind: EffectKind, scope: EffectScope, level: Reversibility, why: &'static str) -> Act {
    Act { kind, scope, level, why }
}

const DELETES: Act =
    act(EffectKind::RemoteState, EffectScope::Remote, R5, "deletes from a service");
const REPLACES: Act =
    act(EffectKind::RemoteState, EffectScope::Remote, R5, "replaces what a service holds");
const CHANGES: Act =
    act(EffectKind::RemoteState, EffectScope::Remote, R3, "changes what a service holds");
const WEAKENS: Act =
    act(EffectKind::RemoteState, EffectScope::Remote, R3, "weakens what protects a service");
const GRANTS: Act = act(EffectKind::RemoteState, EffectScope::Remote, R3, "gives access to others");
const DROPS: Act =
    act(EffectKind::Delete, EffectScope::Outside, R4, "deletes data that is not kept elsewhere");
const REMOVES: Act =
    act(EffectKind::Delete, EffectScope::Outside, R3, "removes data from this machine");
const STOPS: Act = act(EffectKind::StopService, EffectScope::Outside, R3, "stops what runs");
const EXPOSES: Act =
    act(EffectKind::SendOut, EffectScope::Remote, R3, "opens a way into this machine");
const LISTENS: Act =
    act(EffectKind::ReadSecret, EffectScope::System, R1, "records what others send or type");
const PROBES: Act = act(EffectKind::RemoteState, EffectScope::Remote, R3, "probes other machines");
const SHOWS_SECRET: Act = act(EffectKind::ReadSecret, EffectScope::Remote, R1, "prints a secret");
const LETS_IN: Act =
    act(EffectKind::Persist, EffectScope::Remote, R1, "lets a key into another machine");
const WEAKENS_HERE: Act = act(EffectKind::Persist, EffectScope::System, R1, "weakens a protection");
const SETS_UP: Act =
    act(EffectKind::Persist, EffectScope::System, R3, "changes this machine for good");
const PUBLISHES: Act = act(EffectKind::Spend, EffectScope::Remote, R3, "publishes to others");
const RUNS_FOREIGN: Act =
    act(EffectKind::ExecuteUntrusted, EffectScope::Remote, R1, "runs foreign code");
const REWRITES: Act =
    act(EffectKind::RewriteHistory, EffectScope::VcsMetadata, R3, "rewrites recorded history");
const PUBLISHES_FOREVER: Act =
    act(EffectKind::Spend, EffectScope::Remote, R5, "publishes permanently");
const UNPUBLISHES: Act =
    act(EffectKind::RemoteState, EffectScope::Remote, R5, "unpublishes a package");
const CHANGES_PACKAGE: Act =
    act(EffectKind::RemoteState, EffectScope::Remote, R3, "changes a published package");
const REMOVES_PACKAGES: Act = act(EffectKind::Delete, EffectScope::System, R3, "removes packages");
const REGENERABLE: Act = act(
    EffectKind::Delete,
    EffectScope::TreeArtefact,
    Reversibility::R2,
    "deletes regenerable files",
);
const SPENDS: Act =
    act(EffectKind::Spend, EffectScope::Remote, R3, "starts machines that cost money");
const MOVES_MONEY: Act = act(EffectKind::Spend, EffectScope::Remote, R3, "moves money");
const SENDS: Act = act(EffectKind::SendOut, EffectScope::Remote, R1, "sends a message");
const ENTERS: Act =
    act(EffectKind::Privilege, EffectScope::Remote, R1, "opens a shell on another machine");
const NOTHING: Act = act(EffectKind::Delete, EffectScope::Unknown, Reversibility::R0, "");

/// All programs with rows, by file.
const FILES: [&[Tool]; 8] = [
    access::TOOLS,
    clusters::TOOLS,
    data::TOOLS,
    exposure::TOOLS,
    hosting::TOOLS,
    machines::TOOLS,
    mobile::TOOLS,
    registries::TOOLS,
];

const COUNT: usize = {
    let (mut count, mut at) = (0, 0);
    while at < FILES.len() {
        count += FILES[at].len();
        at += 1;
    }
    count
};

/// Every program with rows.
const ALL: [&Tool; COUNT] = {
    let mut all = [&FILES[0][0]; COUNT];
    let (mut count, mut file) = (0, 0);
    while file < FILES.len() {
        let mut at = 0;
        while at < FILES[file].len() {
            all[count] = &FILES[file][at];
            count += 1;
            at += 1;
        }
        file += 1;
    }
    all
};

const NAMES: [&[&str]; COUNT] = {
    let mut names = [&[] as &[&str]; COUNT];
    let mut at = 0;
    while at < COUNT {
        names[at] = ALL[at].names;
        at += 1;
    }
    names
};
static KNOWN: NameLookup<1024> = NameLookup::new(&NAMES);

/// Returns the names of the programs of a file.
pub(super) fn names_of(id: &str) -> impl Iterator<Item = &'static str> {
    let ids =
        ["access", "clusters", "data", "exposure", "hosting", "machines", "mobile", "registries"];
    let at = ids.iter().position(|own| id.strip_prefix("rows/") == Some(own));
    let tools = at.and_then(|at| FILES.get(at)).copied().unwrap_or_default();
    tools.iter().flat_map(|tool| tool.names).copied()
}

/// Reports the effect of a command that has a row; returns whether it has one.
pub(super) fn run(run: &mut CommandRun<'_, '_>) -> bool {
    let Some(tool) = KNOWN.find(run.name).and_then(|at| ALL.get(at)) else { return false };
    if super::only_informs(run.args) || super::cloud::is_emulated(run.args) {
        return false;
    }
    let words = tool.words(run.args);
    let row = tool.rows.iter().find(|(row, _)| fits(row, &words, run.args));
    let Some((_, act)) = row else { return false };
    if act.level > Reversibility::R0 {
        let target = if words.is_empty() { run.line() } else { words.join(" ") };
        run.effect(act.kind, &target, act.scope, act.level, act.why);
    }
    true
}

impl Tool {
    /// Returns the words that are neither options nor their values.
    fn words<'a>(&self, args: &'a [Arg]) -> Vec<&'a str> {
        let takes_value = |text: &str| self.values.split(' ').any(|known| known == text);
        let mut words = Vec::new();
        let mut is_value = false;
        for text in args.iter().map(|arg| arg.text.as_str()) {
            let is_option = text.len() > 1 && text.starts_with('-');
            if !std::mem::take(&mut is_value) && !is_option {
                words.push(text);
            } else if is_option {
                is_value = takes_value(text);
            }
        }
        words
    }
}

/// Whether a command line has the words and options of a row.
fn fits(row: &str, words: &[&str], args: &[Arg]) -> bool {
    let mut words = words.iter();
    row.split(' ').filter(|part| !part.is_empty()).all(|part| {
        let has = |options: &str| options.split('|').any(|option| has_option(option, args));
        match part.strip_prefix('!') {
            Some(options) => !has(options),
            None if part.starts_with('-') => has(part),
            None => {
                words.next().is_some_and(|word| part.split('|').any(|known| is_like(known, word)))
            }
        }
    })
}

/// Whether an option is given: `--name`, or `--name=VALUE` with the value attached or behind it.
fn has_option(option: &str, args: &[Arg]) -> bool {
    let (name, wanted) = match option.split_once('=') {
        Some((name, wanted)) => (name, Some(wanted)),
        None => (option, None),
    };
    args.iter().enumerate().any(|(at, arg)| {
        let (given, attached) = match arg.text.split_once('=') {
            Some((given, value)) => (given, Some(value)),
            None => (arg.text.as_str(), None),
        };
        let next = || args.get(at + 1).map(|next| next.text.as_str());
        is_like(name, given)
            && wanted.is_none_or(|wanted| {
                attached.or_else(next).is_some_and(|value| is_like(wanted, value))
            })
    })
}

/// Whether a text is like a pattern, in which `*` stands for any text.
fn is_like(pattern: &str, text: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut text) = text.strip_prefix(start) else { return false };
    let (middle, end) = rest.rsplit_once('*').unwrap_or(("", rest));
    for piece in middle.split('*').filter(|piece| !piece.is_empty()) {
        let Some((_, behind)) = text.split_once(piece) else { return false };
        text = behind;
    }
    text.ends_with(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_fit_words_and_options() {
        for (row, line, want) in [
            ("pm clear|uninstall", "pm clear x", true),
            ("pm clear|uninstall", "pm list", false),
            ("delete*", "deleteSite", true),
            ("", "x", true),
            ("scale --replicas=0", "scale x --replicas 0", true),
            ("scale --replicas=0", "scale x --replicas=0", true),
            ("scale --replicas=0", "scale x --replicas=3", false),
            ("rm -f|--force", "rm x --force", true),
            ("rm -f|--force", "rm x", false),
            ("rm !-n|--dry-run", "rm x -n", false),
            ("open --range=*0.0.0.0/0*", "open --range 10.0.0.0/8,0.0.0.0/0", true),
        ] {
            let args: Vec<Arg> = line.split(' ').map(Arg::plain).collect();
            let words: Vec<&str> = line.split(' ').filter(|word| !word.starts_with('-')).collect();
            assert_eq!(fits(row, &words, &args), want, "{row} / {line}");
        }
    }

    /// A name in two files would have the rows of the first only.
    #[test]
    fn every_program_is_in_one_place() {
        for (at, tool) in ALL.iter().enumerate() {
            for name in tool.names {
                assert_eq!(KNOWN.find(name), Some(at), "{name}");
            }
        }
    }
}
