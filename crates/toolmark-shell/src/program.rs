//! A program as data: the conventions of its option parser, the complete list of its options, and
//! what they do. One engine reads the command lines of all of them.
//!
//! # Lists of options
//!
//! One word per option, as in `q/quiet e/exclude= U/unified=? hard! d`: an optional short name and
//! a slash, then the long name, or a short name alone. `=` is behind an option with a value, `=?`
//! behind one whose value is optional and therefore attached, `!` behind one that has no `--no-`
//! form where options have one.

use crate::effects::{Certainty, EffectKind, EffectScope, Reversibility};
use crate::expand::Arg;
use crate::ir::Partial;
use crate::options::{Given, ParsedOptions};
use crate::run::CommandRun;

/// Conventions by which a program reads its options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Syntax {
    /// getopt_long of GNU: unique beginnings of long options, clusters, operands anywhere.
    Gnu,
    /// getopt: the first operand ends the options.
    Posix,
    /// parse-options of git: as GNU, with `--no-NAME`; `-h` prints the usage.
    Git,
    /// Scripts of git: the same, but the first operand ends the options.
    GitScript,
    /// argparse: unique beginnings, operands anywhere.
    Argparse,
    /// cobra, pflag, clap and commander: no beginnings, `--flag=false`.
    Plain,
    /// The package flag of Go: one dash or two, no clusters; the first operand ends the options.
    Go,
    /// PowerShell: one dash, unique beginnings, `-Name:value`, upper or lower case.
    PowerShell,
}

impl Syntax {
    /// Whether a unique beginning of a long option stands for it.
    fn takes_beginnings(self) -> bool {
        !matches!(self, Self::Plain | Self::Go)
    }

    /// Whether long options begin with one dash too.
    fn takes_one_dash(self) -> bool {
        matches!(self, Self::Go | Self::PowerShell)
    }

    /// Whether the first operand ends the options.
    fn ends_at_operand(self) -> bool {
        matches!(self, Self::Posix | Self::GitScript | Self::Go)
    }

    /// Display name of the convention.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Gnu => "getopt_long",
            Self::Posix => "getopt",
            Self::Git | Self::GitScript => "parse-options of git",
            Self::Argparse => "argparse",
            Self::Plain => "exact long options",
            Self::Go => "flag of Go",
            Self::PowerShell => "PowerShell",
        }
    }
}

/// A program or a subcommand.
#[derive(Debug)]
pub(crate) struct Program {
    /// Names, without directory and separated by `|`; a name with blanks is a subcommand.
    pub(crate) names: &'static str,
    /// Conventions of its option parser.
    pub(crate) syntax: Syntax,
    /// Its options.
    pub(crate) options: &'static str,
    /// Whether options that are not listed exist and change nothing.
    pub(crate) is_open: bool,
    /// Its effects. The first that applies counts.
    pub(crate) effects: &'static [Does],
    /// The part that is not data.
    pub(crate) code: Option<fn(&mut CommandRun<'_, '_>, &ParsedOptions<'_>)>,
}

/// An effect of a program, and the options on which it depends.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Does {
    /// Options one of which must be on; empty for none.
    pub(crate) on: &'static str,
    /// Another option that must be on; empty for none.
    pub(crate) with: &'static str,
    /// Options that must all be off.
    pub(crate) unless: &'static str,
    kind: EffectKind,
    target: EffectTarget,
    scope: EffectScope,
    level: Reversibility,
    pub(crate) why: &'static str,
}

/// Subject of an effect.
#[derive(Debug, Clone, Copy)]
pub(crate) enum EffectTarget {
    /// The operands.
    Operands,
    /// These words.
    Words(&'static str),
}

/// An effect that depends on one of these options.
pub(crate) const fn on(options: &'static str) -> Does {
    Does {
        on: options,
        with: "",
        unless: "",
        kind: EffectKind::DiscardVcs,
        target: EffectTarget::Operands,
        scope: EffectScope::TreeTracked,
        level: Reversibility::R4,
        why: "",
    }
}

/// An effect that does not depend on an option.
pub(crate) const fn always() -> Does {
    on("")
}

impl Does {
    /// The effect needs this option as well.
    pub(crate) const fn with(self, with: &'static str) -> Self {
        Self { with, ..self }
    }

    /// The effect is switched off by one of these options.
    pub(crate) const fn unless(self, unless: &'static str) -> Self {
        Self { unless, ..self }
    }

    /// The effect is about this, and not about the operands.
    pub(crate) const fn to(self, target: EffectTarget) -> Self {
        Self { target, ..self }
    }

    /// The effect is the loss of work in a repository.
    pub(crate) const fn discards(self, level: Reversibility, why: &'static str) -> Self {
        self.is(EffectKind::DiscardVcs, EffectScope::TreeTracked, level, why)
    }

    /// The effect of this kind.
    pub(crate) const fn is(
        self,
        kind: EffectKind,
        scope: EffectScope,
        level: Reversibility,
        why: &'static str,
    ) -> Self {
        Self { kind, scope, level, why, ..self }
    }

    /// Returns the options on which it depends, in words.
    pub(crate) fn condition(&self) -> String {
        let list = |names: &str, joint: &str| {
            let dashes = |name: &str| format!("{}{name}", if name.len() > 1 { "--" } else { "-" });
            names.split(' ').map(dashes).collect::<Vec<_>>().join(joint)
        };
        let mut words = Vec::new();
        if !self.on.is_empty() {
            words.push(format!("with {}", list(self.on, " or ")));
        }
        if !self.with.is_empty() {
            words.push(format!("and {}", list(self.with, " or ")));
        }
        if !self.unless.is_empty() {
            words.push(format!("without {}", list(self.unless, " or ")));
        }
        if words.is_empty() { "always".to_owned() } else { words.join(" ") }
    }

    fn applies(&self, parsed: &ParsedOptions<'_>) -> bool {
        (self.on.is_empty() || parsed.any(self.on))
            && (self.with.is_empty() || parsed.any(self.with))
            && (self.unless.is_empty() || !parsed.any(self.unless))
    }

    fn report(&self, run: &mut CommandRun<'_, '_>, parsed: &ParsedOptions<'_>) {
        let operands = || parsed.words().join(" ");
        let target = match self.target {
            EffectTarget::Operands => operands(),
            EffectTarget::Words(words) => words.to_owned(),
        };
        // A repository in a temp directory goes with it.
        let passes = self.kind == EffectKind::DiscardVcs && self.level >= Reversibility::R3;
        let level = if passes && run.is_in_temp() { Reversibility::R2 } else { self.level };
        let (kind, scope, why) = (self.kind, self.scope, self.why);
        run.sure(kind, &target, scope, level, Certainty::Proven, why);
    }
}

/// One option of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OptionChoice {
    pub(crate) short: Option<&'static str>,
    /// Long name, or the short one of an option that has no other.
    pub(crate) name: &'static str,
    pub(crate) takes_value: bool,
    /// Whether the value is attached or missing.
    pub(crate) is_optional: bool,
    is_negatable: bool,
}

impl OptionChoice {
    fn read(word: &'static str) -> Self {
        let (word, is_negatable) = match word.strip_suffix('!') {
            Some(word) => (word, false),
            None => (word, true),
        };
        let (word, is_optional) = match word.strip_suffix('?') {
            Some(word) => (word, true),
            None => (word, false),
        };
        let (word, takes_value) = match word.strip_suffix('=') {
            Some(word) => (word, true),
            None => (word, false),
        };
        let (short, name) = match word.split_once('/') {
            Some((short, name)) => (Some(short), name),
            None if word.len() == 1 => (Some(word), word),
            None => (None, word),
        };
        Self { short, name, takes_value, is_optional, is_negatable }
    }

    /// Whether the value may be the next word.
    fn takes_next(&self) -> bool {
        self.takes_value && !self.is_optional
    }

    /// The name and whether it switches the option off: `n/no-verify` is one of `verify`.
    fn meaning(&self, negated: bool) -> (&'static str, bool) {
        match self.name.strip_prefix("no-") {
            Some(name) => (name, !negated),
            None => (self.name, negated),
        }
    }
}

impl Program {
    /// A program without options and effects.
    pub(crate) const NONE: Self = Self {
        names: "",
        syntax: Syntax::Gnu,
        options: "",
        is_open: false,
        effects: &[],
        code: None,
    };

    /// A program of which only the options with values are listed.
    pub(crate) const fn open(options: &'static str) -> Self {
        Self { options, is_open: true, ..Self::NONE }
    }

    /// Whether this is one of its names.
    pub(crate) fn is_named(&self, name: &str) -> bool {
        self.names.split('|').any(|own| own == name)
    }

    /// Returns the options of the list.
    pub(crate) fn choices(&self) -> impl Iterator<Item = OptionChoice> {
        self.options.split(' ').filter(|word| !word.is_empty()).map(OptionChoice::read)
    }

    /// Sorts the words after the program's name.
    pub(crate) fn parse<'a>(&self, args: &'a [Arg]) -> ParsedOptions<'a> {
        self.parse_until(args, self.syntax.ends_at_operand()).0
    }

    /// Parses like [`Self::parse`], but optionally ends at the first operand; also returns the
    /// number of words read.
    pub(crate) fn parse_until<'a>(
        &self,
        args: &'a [Arg],
        stops: bool,
    ) -> (ParsedOptions<'a>, usize) {
        let mut parsed = ParsedOptions { is_exact: !self.is_open, ..ParsedOptions::default() };
        let mut at = 0;
        while let Some(arg) = args.get(at) {
            at += 1;
            let text = arg.text.as_str();
            if text == "--" {
                parsed.before_dashes = Some(parsed.operands.len());
                if !stops {
                    parsed.operands.extend(args.get(at..).unwrap_or_default());
                    at = args.len();
                }
                return (parsed, at);
            }
            if let Some(body) = self.long_body(text) {
                at += self.long(body, arg, args.get(at), &mut parsed);
            } else if text.len() > 1 && text.starts_with('-') {
                at += self.cluster(arg, args.get(at), &mut parsed);
            } else if stops {
                if self.syntax.ends_at_operand() {
                    parsed.operands.extend(args.get(at - 1..).unwrap_or_default());
                }
                return (parsed, at - 1);
            } else {
                parsed.operands.push(arg);
            }
        }
        (parsed, at)
    }

    /// The text of a long option behind its dashes.
    fn long_body<'a>(&self, text: &'a str) -> Option<&'a str> {
        let one = || text.strip_prefix('-').filter(|rest| !rest.is_empty());
        text.strip_prefix("--").or_else(|| self.syntax.takes_one_dash().then(one)?)
    }

    /// Reads a long option; returns the number of further words that it takes.
    fn long<'a>(
        &self,
        body: &'a str,
        arg: &'a Arg,
        next: Option<&'a Arg>,
        parsed: &mut ParsedOptions<'a>,
    ) -> usize {
        let marks: &[char] = if self.syntax == Syntax::PowerShell { &[':', '='] } else { &['='] };
        let (name, value) = match body.split_once(marks) {
            Some((name, value)) => (name, Some(value)),
            None => (body, None),
        };
        let Some((choice, negated)) = self.resolve(name, parsed) else {
            parsed.prints_usage |= name == "help" || name == "version" && !self.is_git();
            parsed.is_incomplete |= !self.is_open && !matches!(name, "help" | "version");
            let dynamic = arg.dynamic;
            parsed.options.push(Given { name, long: true, value, dynamic, negated: false });
            return 0;
        };
        let next = if !negated && choice.takes_next() && value.is_none() { next } else { None };
        let is_off = !choice.takes_value && matches!(value, Some("false" | "0" | "$false"));
        let (name, negated) = choice.meaning(negated || is_off);
        let value = value.filter(|_| !is_off);
        parsed.options.push(Given {
            name,
            long: true,
            value: value.or(next.map(|next| next.text.as_str())),
            dynamic: arg.dynamic || next.is_some_and(|next| next.dynamic),
            negated,
        });
        usize::from(next.is_some())
    }

    /// Reads a cluster of short options; returns the number of further words that it takes.
    fn cluster<'a>(
        &self,
        arg: &'a Arg,
        next: Option<&'a Arg>,
        parsed: &mut ParsedOptions<'a>,
    ) -> usize {
        let body = arg.text.get(1..).unwrap_or("");
        for (index, letter) in body.char_indices() {
            let end = index + letter.len_utf8();
            let own = body.get(index..end).unwrap_or("");
            let rest = body.get(end..).unwrap_or("");
            let Some(choice) = self.choices().find(|choice| choice.short == Some(own)) else {
                parsed.prints_usage |= own == "h" && self.is_git();
                parsed.is_incomplete |= !self.is_open && !letter.is_ascii_digit();
                let dynamic = arg.dynamic;
                let given = Given { name: own, long: false, value: None, dynamic, negated: false };
                parsed.options.push(given);
                continue;
            };
            let (name, negated) = choice.meaning(false);
            let long = choice.name.len() > 1;
            if !choice.takes_value {
                let dynamic = arg.dynamic;
                parsed.options.push(Given { name, long, value: None, dynamic, negated });
                continue;
            }
            let next = if rest.is_empty() && choice.takes_next() { next } else { None };
            // pflag and clap take `-o=value` too.
            let rest = match self.syntax {
                Syntax::Plain | Syntax::Argparse => rest.strip_prefix('=').unwrap_or(rest),
                _ => rest,
            };
            let attached = (!rest.is_empty()).then_some(rest);
            let dynamic = arg.dynamic || next.is_some_and(|next| next.dynamic);
            let value = attached.or(next.map(|next| next.text.as_str()));
            parsed.options.push(Given { name, long, value, dynamic, negated });
            return usize::from(next.is_some());
        }
        0
    }

    fn is_git(&self) -> bool {
        matches!(self.syntax, Syntax::Git | Syntax::GitScript)
    }

    /// Returns the option that a long name means, and whether it switches that off. Of several that
    /// begin so, which the program rejects, it is the first; an unknown name that goes on behind a
    /// known one is taken for that.
    fn resolve(&self, name: &str, parsed: &mut ParsedOptions<'_>) -> Option<(OptionChoice, bool)> {
        let mut found: Option<(OptionChoice, bool)> = None;
        let mut longer = None;
        for choice in self.choices() {
            let is_short = choice.short == Some(choice.name);
            if is_short && !self.syntax.takes_one_dash() {
                continue;
            }
            let negative = self.is_git() && choice.is_negatable && !is_short;
            let rest = name.strip_prefix("no-").or("no-".starts_with(name).then_some(""));
            for (part, negated) in [(Some(name), false), (rest.filter(|_| negative), true)] {
                let Some(part) = part else { continue };
                if self.is_same(choice.name, part) && (!negated || name.len() > 3) {
                    return Some((choice, negated));
                }
                let goes_on = part.strip_prefix(choice.name).is_some_and(|on| on.starts_with('-'));
                longer = longer.or((goes_on && !is_short).then_some((choice, negated)));
                let is_beginning = self.syntax.takes_beginnings() && !self.is_open;
                if is_beginning && self.begins(choice.name, part) {
                    let own = choice.meaning(negated);
                    parsed.is_incomplete |=
                        found.is_some_and(|(other, off)| other.meaning(off) != own);
                    found = found.or(Some((choice, negated)));
                }
            }
        }
        parsed.is_incomplete |= found.is_none() && longer.is_some() && !self.is_open;
        found.or(longer.filter(|_| !self.is_open))
    }

    fn begins(&self, full: &str, name: &str) -> bool {
        let start = full.get(..name.len());
        start.is_some_and(|start| self.is_same(start, name))
    }

    fn is_same(&self, one: &str, other: &str) -> bool {
        match self.syntax {
            Syntax::PowerShell => one.eq_ignore_ascii_case(other),
            _ => one == other,
        }
    }

    /// Whether a command line of it is read and has no effect: it prints its usage.
    pub(crate) fn read<'a>(
        &self,
        run: &mut CommandRun<'_, '_>,
        args: &'a [Arg],
    ) -> Option<ParsedOptions<'a>> {
        let parsed = self.parse(args);
        if parsed.informs() {
            return None;
        }
        if parsed.is_incomplete {
            run.analyzer.note(Some(Partial::Syntax));
        }
        Some(parsed)
    }

    /// Applies its effects and its code.
    pub(crate) fn apply(&self, run: &mut CommandRun<'_, '_>, parsed: &ParsedOptions<'_>) {
        if let Some(does) = self.effects.iter().find(|does| does.applies(parsed)) {
            does.report(run, parsed);
        }
        if let Some(code) = self.code {
            code(run, parsed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLE: Program = Program {
        options: "n/number= C r/recursive f/force follow U/unified=? m/message= n2! quiet!",
        ..Program::NONE
    };

    fn parsed(syntax: Syntax, words: &str) -> (String, String, bool) {
        let args: Vec<Arg> = words.split_whitespace().map(Arg::plain).collect();
        let program = Program { syntax, ..SAMPLE };
        let parsed = program.parse(&args);
        let given = parsed.options.iter().map(|given| {
            let off = if given.negated { "!" } else { "" };
            let value = given.value.map(|value| format!("={value}")).unwrap_or_default();
            format!("{off}{}{value}", given.name)
        });
        let given = given.collect::<Vec<_>>().join(" ");
        (given, parsed.words().join(" "), parsed.is_incomplete)
    }

    #[test]
    fn conventions() {
        use Syntax::{Argparse, Git, Gnu, Plain, Posix, PowerShell};
        for (syntax, words, given, operands, is_incomplete) in [
            (Gnu, "-rfn5 a -- -f", "recursive force number=5", "a -f", false),
            (Gnu, "--rec --mess x --n 5", "recursive message=x number=5", "", true),
            (Gnu, "--numb=5 --fo --fol", "number=5 force follow", "", true),
            (Gnu, "--force-more", "force", "", true),
            (Gnu, "--no-force a", "no-force", "a", true),
            (Gnu, "-U5 -U 5", "unified=5 unified", "5", false),
            (Gnu, "--message --help --force", "message=--help force", "", false),
            (Posix, "-r a -f", "recursive", "a -f", false),
            (Git, "--force --no-force", "force !force", "", false),
            (Git, "--forc --no-forc", "force !force", "", false),
            (Git, "--no-q --no-quiet --no-f", "no-q no-quiet !force", "", true),
            (Plain, "--rec --force=false -n=5", "rec !force number=5", "", true),
            (Argparse, "--recu --message=x y", "recursive message=x", "y", false),
            (Syntax::Go, "-force -message x y --force", "force message=x", "y --force", false),
            (PowerShell, "-Rec -FORCE -message:x y", "recursive force message=x", "y", false),
        ] {
            let want = (given.to_owned(), operands.to_owned(), is_incomplete);
            assert_eq!(parsed(syntax, words), want, "{syntax:?} {words}");
        }
    }

    #[test]
    fn usage() {
        for (syntax, words, prints) in [
            (Syntax::Git, "a -h", true),
            (Syntax::Git, "-fh", true),
            (Syntax::Git, "--message --help", false),
            (Syntax::Git, "-- --help", false),
            (Syntax::Gnu, "-h", false),
            (Syntax::Gnu, "--version", true),
        ] {
            let args: Vec<Arg> = words.split_whitespace().map(Arg::plain).collect();
            let program = Program { syntax, ..SAMPLE };
            assert_eq!(program.parse(&args).informs(), prints, "{syntax:?} {words}");
        }
    }
}
