//! Helpers for graders of names: required and disallowed names.

use schemars::JsonSchema;
use serde::Deserialize;
use toolmark_base::SortedMap;
use toolmark_config::{Problem, Spanned};
use toolmark_match::Building;
use toolmark_outcome::{Evidence, EvidenceRole};
use toolmark_outcome::{Outcome, OutcomePart, Verdict};

/// Required and disallowed names; at least one list.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Lists {
    /// Names that must each occur at least once. Exact and case-sensitive; `*` matches any.
    #[serde(default)]
    required: Option<Spanned<Vec<Spanned<String>>>>,
    /// Names that must not occur. Exact and case-sensitive; `*` matches any.
    #[serde(default)]
    disallowed: Option<Spanned<Vec<Spanned<String>>>>,
}

/// Returns the occurrences of a name; `*` matches any name.
fn lookup(seen: &SortedMap<String, Vec<Evidence>>, name: &str) -> Option<Vec<Evidence>> {
    match name {
        "*" if seen.is_empty() => None,
        "*" => Some(seen.values().flatten().cloned().collect()),
        name => seen.get(name).cloned(),
    }
}

/// Maximum amount of evidence per name.
const SHOWN: usize = 5;

pub(super) struct VallyNames {
    required: Vec<String>,
    disallowed: Vec<String>,
}

impl VallyNames {
    /// Reads the lists of a configuration. `what` is the kind of name: `skill`.
    pub(super) fn build(building: &mut Building<'_>, what: &str) -> Option<Self> {
        let lists = building.read::<Lists>()?;
        if lists.required.is_none() && lists.disallowed.is_none() {
            let message = format!("the config is empty: add a {what} to required or disallowed");
            building.reject(building.config.span, "nothing-asked", message);
            return None;
        }
        let mut good = true;
        for list in [&lists.required, &lists.disallowed].into_iter().flatten() {
            if list.is_empty() {
                building.reject(list.span, "empty-list", format!("the list names no {what}"));
                good = false;
            }
        }
        let required = lists.required.map(|list| list.value).unwrap_or_default();
        let disallowed = lists.disallowed.map(|list| list.value).unwrap_or_default();
        for name in &disallowed {
            if let Some(wanted) = required.iter().find(|wanted| wanted.value == name.value) {
                let message = format!("\"{}\" is both required and disallowed", name.value);
                let problem = Problem::error("contradiction", message).at(name.span);
                building.problems.push(problem.note(wanted.span, "required here"));
                good = false;
            }
        }
        let plain = |list: Vec<Spanned<String>>| list.into_iter().map(|name| name.value).collect();
        good.then(|| Self { required: plain(required), disallowed: plain(disallowed) })
    }

    /// Returns the outcome for the observed names with their evidence. `what` is the
    /// kind of name, `verb` the event: `activated`.
    pub(super) fn judge(
        &self,
        seen: &SortedMap<String, Vec<Evidence>>,
        what: &str,
        verb: &str,
    ) -> Outcome {
        let mut parts = Vec::new();
        let mut evidence = Vec::new();
        for name in &self.required {
            let found = lookup(seen, name);
            let reason = match &found {
                Some(found) => format!("{what} {name} was {verb}{}", times(found.len())),
                None => format!("{what} {name} was not {verb}"),
            };
            let is_found = found.is_some();
            match found {
                Some(found) => evidence.extend(shown(&found, EvidenceRole::Matched)),
                None => evidence.push(Evidence::absence(reason.clone())),
            }
            parts.push(OutcomePart {
                reason: Some(reason.into()),
                ..OutcomePart::new(format!("required: {name}"), Verdict::of(is_found))
            });
        }
        for name in &self.disallowed {
            let found = lookup(seen, name);
            let reason = match &found {
                Some(found) => format!("{what} {name} was {verb}{}", times(found.len())),
                None => format!("{what} {name} was not {verb}"),
            };
            let is_absent = found.is_none();
            if let Some(found) = found {
                evidence.extend(shown(&found, EvidenceRole::Violation));
            }
            parts.push(OutcomePart {
                reason: Some(reason.into()),
                ..OutcomePart::new(format!("disallowed: {name}"), Verdict::of(is_absent))
            });
        }
        let failed: Vec<&str> = parts
            .iter()
            .filter(|part| part.verdict == Verdict::Fail)
            .filter_map(|part| part.reason.as_ref().map(|text| text.raw()))
            .collect();
        let reason = match failed.is_empty() {
            true => format!("all {} checks hold", parts.len()),
            false => failed.join("; "),
        };
        let mut outcome = Outcome::binary(failed.is_empty(), reason).with_evidence(evidence);
        for (key, list) in [("required", &self.required), ("disallowed", &self.disallowed)] {
            if !list.is_empty() {
                outcome = outcome.with_metric(key, list.clone());
            }
        }
        let names: Vec<String> = seen.keys().take(100).cloned().collect();
        outcome = outcome.with_metric(verb, names);
        outcome.parts = parts;
        outcome
    }
}

fn times(n: usize) -> String {
    if n == 1 { String::new() } else { format!(" {n} times") }
}

fn shown(found: &[Evidence], role: EvidenceRole) -> impl Iterator<Item = Evidence> {
    found.iter().take(SHOWN).map(move |evidence| Evidence { role, ..evidence.clone() })
}
