//! Names that no call has, although another name may be meant.

use super::Expect;
use std::cell::OnceCell;
use toolmark_config::did_you_mean;
use toolmark_hosts::toolset::{CLASS_PREFIX, ToolClass};
use toolmark_match::call_match::{CallTable, Fits, Lack, NamePattern, Truth};
use toolmark_match::looks_alike;

/// Maximum number of hints.
const SHOWN: usize = 3;

impl Expect {
    /// Returns the patterns of what must not be made.
    pub(super) fn prohibited(&self) -> impl Iterator<Item = usize> {
        let sequences = self.sequences.iter().flat_map(|follows| follows.patterns.iter().copied());
        let all = self.forbidden.iter().copied().chain(sequences);
        let all = all.chain(self.never.iter().map(|never| never.call));
        all.flat_map(|pattern| self.links.parts(pattern))
    }

    /// Leaves open whether a call is a forbidden one if its name only looks like it.
    pub(super) fn suspect(&self, fits: &mut Fits, table: &CallTable<'_>) {
        for pattern in self.prohibited() {
            let own = &self.patterns[pattern];
            let NamePattern::Exact(word) = own.name() else { continue };
            let count = table.names().len() as u32;
            let alike: Vec<u32> =
                (0..count).filter(|name| looks_alike(word, &table.names().get(*name))).collect();
            if alike.is_empty() {
                continue;
            }
            for (call, made) in table.calls().iter().enumerate() {
                if alike.contains(&made.name) && own.fits(table, call) != Truth::No {
                    fits.suspect(pattern, call, Lack::Name);
                }
            }
        }
    }

    /// Returns hints about names that no call has, for the tools that may be meant. The spelling of
    /// other names is only compared for calls that are missing.
    pub(super) fn hints(&self, table: &CallTable<'_>, missing: &[usize]) -> Vec<String> {
        let mut hints: Vec<String> = Vec::new();
        let prohibited = self.prohibited().map(|pattern| (pattern, false));
        let missing = missing.iter().map(|pattern| (*pattern, true));
        let names = OnceCell::new();
        let all = || (0..table.names().len() as u32).map(|name| table.names().get(name));
        for (pattern, is_missing) in prohibited.chain(missing) {
            if hints.len() == SHOWN {
                break;
            }
            let NamePattern::Exact(word) = self.patterns[pattern].name() else { continue };
            let names = names.get_or_init(|| all().collect::<Vec<_>>());
            if let Some(hint) = hint(word, names.iter().map(AsRef::as_ref), is_missing)
                && !hints.contains(&hint)
            {
                hints.push(hint);
            }
        }
        hints
    }
}

/// Returns a hint if no call has this name, but another one that may be meant.
fn hint<'n>(
    word: &str,
    names: impl Iterator<Item = &'n str> + Clone,
    is_missing: bool,
) -> Option<String> {
    let is_it = |name: &str| {
        let server = name.strip_suffix(word).is_some_and(|rest| rest.ends_with(['_', '/', '.']));
        name == word || server
    };
    if names.clone().any(is_it) {
        return None;
    }
    let alike = names.clone().find(|name| looks_alike(word, name));
    let near = || if is_missing { did_you_mean(word, names.clone()) } else { None };
    if let Some(near) = alike.or_else(near) {
        return Some(format!("`{word}` was not called: did you mean `{near}`?"));
    }
    let class = ToolClass::of_name(word)?;
    let meant = names.clone().find(|name| class.has(name))?;
    let both = format!("`{CLASS_PREFIX}{class}` is both");
    Some(format!("`{word}` was not called: did you mean `{meant}` ({both})?"))
}
