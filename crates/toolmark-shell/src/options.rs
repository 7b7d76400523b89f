//! The words of a command line, sorted into options and operands by [`crate::program`].

use crate::expand::Arg;

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
pub(crate) struct ParsedOptions<'a> {
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

/// Whether `given` is `name` or an abbreviation of it.
fn means(given: &str, name: &str) -> bool {
    given == name || (given.len() > 2 && name.starts_with(given))
}

impl<'a> ParsedOptions<'a> {
    /// Returns the last option with this short letter or long name.
    pub(crate) fn last(&self, short: &str, long: &str) -> Option<&Given<'a>> {
        if self.is_exact {
            let is_it =
                |given: &&Given<'_>| given.name == long && !long.is_empty() || given.name == short;
            let found = self.options.iter().rev().find(is_it);
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
