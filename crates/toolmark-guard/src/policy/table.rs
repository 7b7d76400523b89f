//! Decisions about effects: the entries of a policy that precede the table used by `toolmark
//! check`.

use super::words::{OneOrMany, WordRead};
use schemars::JsonSchema;
use serde::Deserialize;
use toolmark_config::{Problem, Spanned};
use toolmark_shell::decision::decide_effect;
use toolmark_shell::{Certainty, Decision, Effect, EffectKind, EffectScope, Reversibility};

/// The decision about some effects; an omitted key matches all.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "GuardEffect")]
pub(super) struct EffectEntry {
    /// Kinds of the effect.
    #[serde(default)]
    kind: Option<OneOrMany<WordRead<EffectKind>>>,
    /// Scopes of the target.
    #[serde(default)]
    scope: Option<OneOrMany<WordRead<EffectScope>>>,
    /// Difficulty of undoing the effect, from `r0` (nothing is lost) to `r5`.
    #[serde(default)]
    reversibility: Option<OneOrMany<WordRead<Reversibility>>>,
    /// Certainty of the effect.
    #[serde(default)]
    certainty: Option<OneOrMany<WordRead<Certainty>>>,
    /// Decision about the effects.
    decision: WordRead<Decision>,
}

/// The decision about some effects. A missing list matches all.
#[derive(Debug, Clone)]
pub(super) struct PolicyTableEntry {
    kind: Option<Vec<EffectKind>>,
    scope: Option<Vec<EffectScope>>,
    reversibility: Option<Vec<Reversibility>>,
    certainty: Option<Vec<Certainty>>,
    pub(super) decision: Decision,
    pub(super) span: toolmark_config::NodeSpan,
}

/// All entries of a policy, in order: the first matching one decides.
#[derive(Debug, Clone, Default)]
pub(super) struct PolicyTable(pub(super) Vec<PolicyTableEntry>);

fn listed<T>(words: Option<OneOrMany<WordRead<T>>>) -> Option<Vec<T>> {
    words.map(|words| words.0.into_iter().map(|word| word.0).collect())
}

fn takes<T: PartialEq>(list: &Option<Vec<T>>, one: &T) -> bool {
    list.as_ref().is_none_or(|list| list.contains(one))
}

impl PolicyTable {
    pub(super) fn read(written: Vec<Spanned<EffectEntry>>, problems: &mut Vec<Problem>) -> Self {
        let mut table = Self::default();
        for entry in written {
            let span = entry.span;
            let EffectEntry { kind, scope, reversibility, certainty, decision } = entry.value;
            let entry = PolicyTableEntry {
                kind: listed(kind),
                scope: listed(scope),
                reversibility: listed(reversibility),
                certainty: listed(certainty),
                decision: decision.0,
                span,
            };
            if entry.is_empty() {
                problems.push(
                    Problem::error(
                        "empty-list",
                        "the entry matches no effect, because a list of it is empty",
                    )
                    .at(span),
                );
            }
            table.0.push(entry);
        }
        table
    }

    /// Reports the entries without any effect of their own, because earlier entries match
    /// everything they match or because they only match effects that disarm the guard.
    pub(super) fn check(&self) -> impl Iterator<Item = Problem> {
        let decides = |at: usize| {
            effects().any(|effect| self.of(&effect).is_some_and(|(first, _)| first == at))
        };
        // No policy decides about what would disarm it.
        let is_void = |entry: &PolicyTableEntry| effects().all(|e| !entry.fits(&e) || e.disarms());
        let entries = self.0.iter().enumerate().filter(|(_, entry)| !entry.is_empty());
        entries.filter_map(move |(at, entry)| {
            let message = match (is_void(entry), decides(at)) {
                (true, _) => "no policy lifts the denial of what disarms the guard",
                (_, false) => "the entries before it match every effect it matches",
                _ => return None,
            };
            Some(Problem::warning("never-applies", message).at(entry.span))
        })
    }

    /// Returns the index of the entry that decides about an effect, with its decision.
    pub(super) fn of(&self, effect: &Effect) -> Option<(usize, Decision)> {
        let at = self.0.iter().position(|entry| entry.fits(effect))?;
        Some((at, self.0.get(at)?.decision))
    }

    /// Returns the entries that are laxer than `than` about some effect they decide.
    pub(super) fn laxer<'t>(
        &'t self,
        than: &'t Self,
    ) -> impl Iterator<Item = &'t PolicyTableEntry> {
        let strict = |effect: &Effect| than.of(effect).map_or(decide_effect(effect), |(_, d)| d);
        self.0.iter().enumerate().filter_map(move |(at, entry)| {
            let decides = |effect: &Effect| self.of(effect).is_some_and(|(first, _)| first == at);
            effects()
                .any(|effect| decides(&effect) && strict(&effect) > entry.decision)
                .then_some(entry)
        })
    }
}

impl PolicyTableEntry {
    /// Whether one of its lists is empty, so that nothing matches.
    fn is_empty(&self) -> bool {
        self.kind.as_ref().is_some_and(Vec::is_empty)
            || self.scope.as_ref().is_some_and(Vec::is_empty)
            || self.reversibility.as_ref().is_some_and(Vec::is_empty)
            || self.certainty.as_ref().is_some_and(Vec::is_empty)
    }

    fn fits(&self, effect: &Effect) -> bool {
        takes(&self.kind, &effect.kind)
            && takes(&self.scope, &effect.scope)
            && takes(&self.reversibility, &effect.reversibility)
            && takes(&self.certainty, &effect.certainty)
    }
}

/// Returns one effect of every combination.
fn effects() -> impl Iterator<Item = Effect> {
    let each = |kind, scope, reversibility, certainty| Effect {
        kind,
        target: String::new(),
        scope,
        reversibility,
        certainty,
        span: (0, 0),
        program: String::new(),
        why: "",
    };
    EffectKind::ALL.iter().flat_map(move |kind| {
        EffectScope::ALL.iter().flat_map(move |scope| {
            Reversibility::ALL.iter().flat_map(move |reversibility| {
                Certainty::ALL
                    .iter()
                    .map(move |certainty| each(*kind, *scope, *reversibility, *certainty))
            })
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn table(json: serde_json::Value) -> (PolicyTable, Vec<String>) {
        let mut problems = Vec::new();
        let node = toolmark_config::Node::from_json(&json).unwrap();
        let written = toolmark_config::read(&node, &mut problems).unwrap_or_default();
        let table = PolicyTable::read(written, &mut problems);
        problems.extend(table.check());
        (table, problems.iter().map(|p| format!("{}: {}", p.code, p.message)).collect())
    }

    fn effect(kind: EffectKind, scope: EffectScope, reversibility: Reversibility) -> Effect {
        let mut all = effects();
        all.find(|e| e.kind == kind && e.scope == scope && e.reversibility == reversibility)
            .unwrap()
    }

    #[test]
    fn the_first_entry_that_fits_decides() {
        let (table, problems) = table(json!([
            {"kind": "delete", "scope": ["temp", "tree-artefact"], "decision": "allow"},
            {"kind": ["delete", "overwrite"], "decision": "deny"},
        ]));
        assert_eq!(problems, [""; 0]);
        let at = |kind, scope| table.of(&effect(kind, scope, Reversibility::R2));
        assert_eq!(at(EffectKind::Delete, EffectScope::Temp), Some((0, Decision::Allow)));
        assert_eq!(at(EffectKind::Delete, EffectScope::Home), Some((1, Decision::Deny)));
        assert_eq!(at(EffectKind::Overwrite, EffectScope::Temp), Some((1, Decision::Deny)));
        assert_eq!(at(EffectKind::SendOut, EffectScope::Temp), None);
    }

    #[test]
    fn entries_that_loosen() {
        let (user, _) = table(json!([{"kind": "spend", "decision": "deny"}]));
        for (entry, loosens) in [
            (json!({"kind": "delete", "decision": "allow"}), true),
            (json!({"kind": "delete", "reversibility": "r2", "decision": "allow"}), false),
            (json!({"kind": "delete", "reversibility": "r2", "decision": "ask"}), false),
            (json!({"kind": "delete", "reversibility": "r5", "decision": "ask"}), true),
            (json!({"kind": "spend", "decision": "ask"}), true),
            (json!({"decision": "deny"}), false),
        ] {
            let (project, _) = table(json!([entry]));
            assert_eq!(project.laxer(&user).count(), usize::from(loosens), "{entry}");
        }
    }

    #[test]
    fn mistakes() {
        for (entries, want) in [
            (json!([{"kind": "delet", "decision": "ask"}]), "unknown value \"delet\""),
            (json!([{"kind": "delete"}]), "missing key"),
            (json!([{"kind": [], "decision": "ask"}]), "matches no effect"),
            (json!([{"decision": "ask"}, {"decision": "deny"}]), "the entries before it"),
            (json!([{"kind": "persist", "reversibility": "r4", "decision": "ask"}]), "disarms"),
            (json!([{"knd": "delete", "decision": "ask"}]), "unknown key"),
            (json!([{"decision": "block"}]), "unknown value \"block\""),
        ] {
            let (_, problems) = table(entries.clone());
            assert!(problems.iter().any(|p| p.contains(want)), "{entries} {problems:?}");
        }
    }
}
