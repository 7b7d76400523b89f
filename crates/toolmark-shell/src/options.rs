//! The words of a command line, sorted into options and operands. [`crate::program`] does it with
//! the complete list of a program; [`Grammar`] is for programs that do not have one yet.

use crate::expand::Arg;

/// Options of a program that take a value.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Grammar {
    /// Short options with a value, attached or as the next word.
    pub(crate) short: &'static str,
    /// Long options with a value, attached with `=` or as the next word.
    pub(crate) long: &'static [&'static str],
    /// Whether options begin with one dash even when long (`terraform -auto-approve`, `find`).
    pub(crate) single_dash: bool,
}

/// One option of a command line.
#[derive(Debug, Clone)]
pub(crate) struct Given<'a> {
    /// Name: one letter, or the long name without dashes.
    pub(crate) name: &'a str,
    /// Whether the option is long.
    pub(crate) long: bool,
    /// Value, if any.
    pub(crate) value: Option<&'a str>,
    /// Whether the value is known only at run time.
    pub(crate) dynamic: bool,
    /// Whether the option is switched off: `--no-force`, `--force=false`.
    pub(crate) negated: bool,
}

/// The words of a command sorted into options and operands.
#[derive(Debug, Default)]
pub(crate) struct Parsed<'a> {
    /// Options in order.
    pub(crate) options: Vec<Given<'a>>,
    /// Operands in order.
    pub(crate) operands: Vec<&'a Arg>,
    /// Number of operands before `--`, if present.
    pub(crate) before_dashes: Option<usize>,
    /// Whether the names are those of a complete list, so that none is an abbreviation.
    pub(crate) is_exact: bool,
    /// Whether an option is not in that list or could be several of it.
    pub(crate) is_incomplete: bool,
    /// Whether the usage is printed, and nothing else happens.
    pub(crate) prints_usage: bool,
}

impl Grammar {
    /// Sorts the words after the program's name.
    pub(crate) fn parse<'a>(&self, args: &'a [Arg]) -> Parsed<'a> {
        self.parse_until(args, false).0
    }

    /// Parses like [`Self::parse`], but optionally ends at the first operand; also returns
    /// the number of words read.
    pub(crate) fn parse_until<'a>(
        &self,
        args: &'a [Arg],
        stop_at_operand: bool,
    ) -> (Parsed<'a>, usize) {
        let mut parsed = Parsed::default();
        let mut at = 0;
        while let Some(arg) = args.get(at) {
            at += 1;
            let text = arg.text.as_str();
            if text == "--" {
                parsed.before_dashes = Some(parsed.operands.len());
                if stop_at_operand {
                    return (parsed, at);
                }
                parsed.operands.extend(args.get(at..).unwrap_or_default());
                return (parsed, args.len());
            }
            let long = text.strip_prefix("--").or_else(|| {
                text.strip_prefix('-').filter(|rest| self.single_dash && rest.len() > 1)
            });
            if let Some(body) = long {
                let (name, value) = match body.split_once('=') {
                    Some((name, value)) => (name, Some(value)),
                    None => (body, None),
                };
                let takes = value.is_none() && self.takes_value(name);
                let next = if takes { args.get(at) } else { None };
                at += usize::from(next.is_some());
                parsed.options.push(Given {
                    name,
                    long: true,
                    value: value.or(next.map(|next| next.text.as_str())),
                    dynamic: arg.dynamic || next.is_some_and(|next| next.dynamic),
                    negated: false,
                });
            } else if text.len() > 1 && text.starts_with('-') {
                let body = text.get(1..).unwrap_or("");
                for (index, letter) in body.char_indices() {
                    let end = index + letter.len_utf8();
                    let name = body.get(index..end).unwrap_or("");
                    if self.short.contains(letter) {
                        let rest = body.get(end..).unwrap_or("");
                        let next = if rest.is_empty() { args.get(at) } else { None };
                        at += usize::from(next.is_some());
                        let value = if rest.is_empty() {
                            next.map(|n| n.text.as_str())
                        } else {
                            Some(rest)
                        };
                        let dynamic = arg.dynamic || next.is_some_and(|next| next.dynamic);
                        parsed.options.push(Given {
                            name,
                            long: false,
                            value,
                            dynamic,
                            negated: false,
                        });
                        break;
                    }
                    parsed.options.push(Given {
                        name,
                        long: false,
                        value: None,
                        dynamic: arg.dynamic,
                        negated: false,
                    });
                }
            } else {
                if stop_at_operand {
                    return (parsed, at - 1);
                }
                parsed.operands.push(arg);
            }
        }
        (parsed, args.len())
    }

    fn takes_value(&self, name: &str) -> bool {
        self.long.iter().any(|long| *long == name || (name.len() > 3 && long.starts_with(name)))
    }
}

/// Whether `given` is `name` or an abbreviation of it.
fn means(given: &str, name: &str) -> bool {
    given == name || (given.len() > 2 && name.starts_with(given))
}

impl<'a> Parsed<'a> {
    /// Returns the last option with this short letter or long name.
    pub(crate) fn last(&self, short: &str, long: &str) -> Option<&Given<'a>> {
        if self.is_exact {
            let name = if long.is_empty() { short } else { long };
            let found = self.options.iter().rev().find(|given| given.name == name);
            return found.filter(|given| !given.negated);
        }
        self.options.iter().rev().find(|given| {
            if given.long {
                !long.is_empty() && means(given.name, long)
            } else {
                given.name == short && !short.is_empty()
            }
        })
    }

    /// Whether one of these options was given.
    pub(crate) fn has(&self, short: &str, long: &str) -> bool {
        self.last(short, long).is_some()
    }

    /// Whether the long option was given in full.
    pub(crate) fn exact(&self, long: &str) -> bool {
        self.options.iter().any(|given| given.long && given.name == long && !given.negated)
    }

    /// Whether `--no-NAME` was given, with no `--NAME` after it.
    pub(crate) fn off(&self, name: &str) -> bool {
        self.options
            .iter()
            .rev()
            .find(|given| given.name == name)
            .is_some_and(|given| given.negated)
    }

    /// Whether one of these options, separated by blanks, is on.
    pub(crate) fn any(&self, names: &str) -> bool {
        names.split(' ').any(|name| self.last("", name).is_some())
    }

    /// Returns the operands that are not known only at run time.
    pub(crate) fn words(&self) -> Vec<&'a str> {
        self.operands.iter().map(|arg| arg.text.as_str()).collect()
    }

    /// Returns the value of one of these options.
    pub(crate) fn value(&self, short: &str, long: &str) -> Option<&'a str> {
        self.last(short, long).and_then(|given| given.value)
    }

    /// Whether `--NAME` was given, with no `--no-NAME` after it.
    pub(crate) fn on(&self, short: &str, long: &str) -> bool {
        if self.is_exact {
            return self.has(short, long);
        }
        let mut on = false;
        for given in &self.options {
            if given.long && given.name.strip_prefix("no-").is_some_and(|rest| means(rest, long)) {
                on = false;
            } else if (given.long && means(given.name, long))
                || (!given.long && given.name == short)
            {
                on = true;
            }
        }
        on
    }

    /// Whether help or the version was requested.
    pub(crate) fn informs(&self) -> bool {
        self.prints_usage || self.exact("help") || self.exact("version")
    }

    /// Whether a dry run was requested.
    pub(crate) fn rehearses(&self) -> bool {
        self.options.iter().any(|given| {
            given.long
                && matches!(
                    given.name,
                    "dry-run"
                        | "dryrun"
                        | "dry_run"
                        | "just-print"
                        | "no-act"
                        | "simulate"
                        | "whatif"
                        | "what-if"
                        | "check"
                )
                && !matches!(given.value, Some("none" | "false"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(text: &str) -> Vec<Arg> {
        text.split_whitespace().map(Arg::plain).collect()
    }

    #[test]
    fn clusters_values_abbreviations_and_dashes() {
        let grammar = Grammar { short: "nC", long: &["message"], single_dash: false };
        let words = args("-rfn5 --rec --message x --force --no-force a -- -f");
        let parsed = grammar.parse(&words);
        assert!(parsed.has("r", "recursive") && parsed.has("", "recursive"));
        assert_eq!(parsed.value("n", "number"), Some("5"));
        assert_eq!(parsed.value("", "message"), Some("x"));
        assert!(!parsed.on("F", "force") && parsed.has("", "force"));
        let operands: Vec<_> = parsed.operands.iter().map(|arg| arg.text.as_str()).collect();
        assert_eq!(operands, ["a", "-f"]);
        assert_eq!(parsed.before_dashes, Some(1));
        assert!(!parsed.informs());
    }
}
