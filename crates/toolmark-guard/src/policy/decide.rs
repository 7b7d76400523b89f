//! The decision about one call: the lists of tools, protected paths, the user's own rules, and the
//! effects of the call. The strictest decision counts; an allowing rule may lift a question about
//! effects, but never a denial.

use super::call::PolicySubject;
use super::kept::keeps_guard_part;
use super::layer::{Layer, Whose};
use super::rule::Suggest;
use super::suggest::suggestion;
use super::tools::{ListResult, Tools};
use super::words::Preset;
use super::{Policy, Surroundings, strict};
use std::borrow::Cow;
use std::path::Path;
use toolmark_hosts::GuardAnswer;
use toolmark_hosts::HookEvent;
use toolmark_hosts::protected;
use toolmark_hosts::toolset::ToolRole;
use toolmark_match::call_match::Truth;
use toolmark_pattern::is_wildcard_match;
use toolmark_session::effects::ToolInput;
use toolmark_session::past::left_by;
use toolmark_shell::decision::decide_effect;
use toolmark_shell::{
    Analysis, Certainty, Coverage, Decision, Effect, EffectKind, FileFacts, Protected, Protection,
    Reversibility, ShellContext, analyze_write,
};

/// One argument for a decision.
struct DecisionReason {
    decision: Decision,
    rule: String,
    reason: String,
    suggestion: Option<String>,
    /// Decision for headless use.
    unattended: Decision,
}

impl DecisionReason {
    fn new(decision: Decision, rule: impl Into<String>, reason: impl Into<String>) -> Self {
        let (rule, reason) = (rule.into(), reason.into());
        Self { decision, rule, reason, suggestion: None, unattended: Decision::Deny }
    }

    /// Sets the decision for headless use, if a rule has one.
    fn unattended(mut self, decision: Option<Decision>) -> Self {
        self.unattended = decision.unwrap_or(Decision::Deny);
        self
    }

    fn suggest(mut self, suggestion: Option<String>) -> Self {
        self.suggestion = suggestion;
        self
    }
}

impl From<DecisionReason> for GuardAnswer {
    fn from(ruling: DecisionReason) -> Self {
        let mut verdict = Self::new(ruling.decision, ruling.rule, ruling.reason);
        verdict.suggestion = ruling.suggestion;
        verdict.unattended = ruling.unattended;
        verdict
    }
}

impl Policy {
    /// Returns the verdict about a call that is about to run.
    #[must_use]
    pub fn verdict(
        &self,
        event: &HookEvent<'_>,
        input: &ToolInput<'_>,
        facts: Option<&dyn FileFacts>,
    ) -> GuardAnswer {
        let Surroundings { writable, temp, wrappers } = self.surroundings(event.cwd.as_deref());
        let more = self.protected.iter();
        let more = more.map(|(path, because)| Protected { path, because: *because });
        let mut protected: Vec<Protected<'_>> = protected().iter().copied().chain(more).collect();
        // Only of a session on this machine the files are known.
        let is_here = facts.is_some_and(FileFacts::is_here);
        let keeps_policy = is_here && keeps_guard_part(input);
        if keeps_policy {
            protected.retain(|known| known.because != Protection::ProjectPolicy);
        }
        let context = ShellContext {
            protected: &protected,
            writable: &texts(&writable),
            temp: &texts(&temp),
            wrappers: &texts(&wrappers),
            facts,
            ..ShellContext::default()
        };
        let mut analysis = input.analyze(&context);
        if is_here {
            follow_links(input, &context, &mut analysis);
        }
        let call =
            PolicySubject::new(event, input.tool, analysis.as_ref()).with_roots(writable.clone());
        let call = if keeps_policy { call.keeping_policy() } else { call };
        let mut verdict = self.decide(&call);
        if let (Some(effects), Some(analysis)) = (&mut verdict.analysis, &analysis) {
            effects.left = left_by(input, analysis);
        }
        verdict
    }

    /// Decides about a call from the known properties of its tool and its effects.
    fn decide(&self, call: &PolicySubject<'_>) -> GuardAnswer {
        let analysis = call.analysis;
        let mut verdict: GuardAnswer = self.ruled(call).into();
        if self.preset() == Preset::Observe {
            verdict.observed = Some(verdict.decision);
            verdict.decision = Decision::Allow;
        }
        verdict.approves = verdict.decision == Decision::Allow
            && self.approve()
            && analysis.is_some_and(is_harmless);
        verdict.analysis = analysis.cloned().map(Into::into);
        verdict
    }

    fn ruled(&self, call: &PolicySubject<'_>) -> DecisionReason {
        let mut strictest: Option<DecisionReason> = None;
        let mut consider = |ruling: DecisionReason| match &mut strictest {
            Some(known) if ruling.decision < known.decision => {}
            Some(known) if ruling.decision == known.decision => {
                known.unattended = known.unattended.max(ruling.unattended);
            }
            _ => strictest = Some(ruling),
        };
        for layer in self.layers() {
            layer.by_lists(call, &mut consider);
            layer.by_paths(call, &mut consider);
            self.by_rules(layer, call, &mut consider);
        }
        let by_effects = self.by_effects(call);
        match strictest {
            Some(known) if known.decision >= by_effects.decision => known,
            _ => by_effects,
        }
    }

    /// Considers rules that ask or deny, and imported permissions.
    fn by_rules(
        &self,
        layer: &Layer,
        call: &PolicySubject<'_>,
        consider: &mut impl FnMut(DecisionReason),
    ) {
        let base = &layer.origin.base;
        for rule in layer.rules.iter().filter(|rule| rule.decision != Decision::Allow) {
            let id = format!("rules.{}", rule.name);
            let applies = rule.applies(call, base);
            match applies {
                Ok(Truth::No) => {}
                Ok(Truth::Unknown(lack)) => {
                    let reason = format!("unknown whether the rule matches: {}", lack.words());
                    consider(DecisionReason::new(Decision::Ask, id, reason));
                }
                Ok(Truth::Yes) if !rule.examples.check(rule, base).is_empty() => {
                    let reason = format!("the rule {} contradicts its examples", rule.name);
                    consider(DecisionReason::new(self.on_error(), id, reason));
                }
                Ok(Truth::Yes) => {
                    let usual = || format!("the policy has the rule {}", rule.name);
                    let reason = rule.reason.clone().unwrap_or_else(usual);
                    let suggest = rule.suggest.as_ref().map(Suggest::words);
                    let by_user = layer.origin.whose == Whose::User;
                    let unattended = rule.unattended.as_ref().filter(|_| by_user);
                    let ruling = DecisionReason::new(rule.decision, id, reason).suggest(suggest);
                    consider(ruling.unattended(unattended.map(|word| word.value)));
                }
                Err(broken) => {
                    consider(DecisionReason::new(self.on_error(), id, broken.to_string()))
                }
            }
        }
        if let Some((decision, rule)) = layer.permissions.of(call)
            && decision != Decision::Allow
        {
            let reason = format!("the permission rule {rule} matches");
            consider(DecisionReason::new(decision, "permissions", reason));
        }
    }

    /// Returns the decision by the effects of a call.
    fn by_effects(&self, call: &PolicySubject<'_>) -> DecisionReason {
        let mut ruling = match call.analysis {
            None => {
                let GuardAnswer { decision, rule, reason, .. } = GuardAnswer::allow();
                DecisionReason::new(decision, rule, reason)
            }
            Some(analysis) => self.worst(call, analysis),
        };
        if ruling.decision == Decision::Ask
            && let Some((rule, reason)) = self.lifts(call)
        {
            return DecisionReason::new(Decision::Allow, rule, reason);
        }
        if self.preset() != Preset::Strict {
            return ruling;
        }
        if ruling.decision == Decision::Allow
            && let Some(doubt) = strict::doubt(call).filter(|_| !self.is_listed(call))
        {
            return match self.lifts(call) {
                Some((rule, reason)) => DecisionReason::new(Decision::Allow, rule, reason),
                None => DecisionReason::new(Decision::Ask, "strict", doubt),
            };
        }
        if ruling.decision == Decision::Ask
            && let Some(analysis) = call.analysis
        {
            let raised = analysis.effects.iter().find(|effect| {
                strict::raised(effect, self.decide_effect(call, effect).0) == Decision::Deny
            });
            if let Some(effect) = raised {
                ruling = DecisionReason::new(Decision::Deny, "strict", words(effect))
                    .suggest(suggestion(effect).map(Cow::into_owned));
            }
        }
        ruling
    }

    /// Returns the strictest decision over all effects, and the effect that led to it.
    fn worst(&self, call: &PolicySubject<'_>, analysis: &Analysis) -> DecisionReason {
        let mut worst: Option<(Decision, Option<String>, &Effect)> = None;
        for effect in &analysis.effects {
            let (decision, entry) = self.decide_effect(call, effect);
            let is_worse = |(known, _, other): &(Decision, Option<String>, &Effect)| {
                (decision, effect.weight()) > (*known, other.weight())
            };
            if worst.as_ref().is_none_or(is_worse) {
                worst = Some((decision, entry, effect));
            }
        }
        let decision = worst.as_ref().map_or(Decision::Allow, |(decision, ..)| *decision);
        // Something besides the effects speaks against it: it is too long or
        // too deep to be followed.
        let effects = analysis.effects.iter().map(decide_effect).max().unwrap_or(Decision::Allow);
        if analysis.decision > effects && analysis.decision > decision {
            return DecisionReason::new(analysis.decision, "effect", analysis.reason.clone());
        }
        let Some((_, entry, effect)) = worst.filter(|_| decision != Decision::Allow) else {
            let nothing = "no rule or effect against it".to_owned();
            let calm = analysis.decision == Decision::Allow;
            let reason = if calm { analysis.reason.clone() } else { nothing };
            return DecisionReason::new(Decision::Allow, "default", reason);
        };
        let rule = entry.unwrap_or_else(|| "effect".to_owned());
        DecisionReason::new(decision, rule, words(effect))
            .suggest(suggestion(effect).map(Cow::into_owned))
    }

    /// Returns the decision about one effect, and the entry that made it.
    fn decide_effect(
        &self,
        call: &PolicySubject<'_>,
        effect: &Effect,
    ) -> (Decision, Option<String>) {
        let entry = |(at, decision): (usize, Decision)| (decision, Some(format!("effects[{at}]")));
        let user = match self.user.table.of(effect).filter(|_| !effect.disarms()) {
            Some(found) => entry(found),
            None if self.user.may_delete(call, effect) => {
                (Decision::Allow, Some("delete_roots".to_owned()))
            }
            None => (decide_effect(effect), None),
        };
        let project = self.project.as_ref().and_then(|project| project.table.of(effect)).map(entry);
        match project {
            Some(project) if project.0 > user.0 => project,
            _ => user,
        }
    }

    /// Returns the user's rule that allows a call which would otherwise need approval.
    fn lifts(&self, call: &PolicySubject<'_>) -> Option<(String, String)> {
        let base = &self.user.origin.base;
        let allows = self.user.rules.iter().filter(|rule| rule.decision == Decision::Allow);
        for rule in allows {
            if rule.applies(call, base) == Ok(Truth::Yes)
                && rule.examples.check(rule, base).is_empty()
            {
                let usual = || format!("the rule {} of the policy allows it", rule.name);
                let reason = rule.reason.clone().unwrap_or_else(usual);
                return Some((format!("rules.{}", rule.name), reason));
            }
        }
        match self.user.permissions.of(call) {
            Some((Decision::Allow, rule)) => {
                Some(("permissions".to_owned(), format!("the permission rule {rule} allows it")))
            }
            _ => None,
        }
    }

    /// Whether one of the user's lists names the tool as allowed.
    fn is_listed(&self, call: &PolicySubject<'_>) -> bool {
        call.tool.is_none()
            && self.user.lists(call).any(|(_, tools)| tools.of(call) == ListResult::Allowed)
    }
}

impl Layer {
    /// Returns the lists of tools that apply to a call: the general one, and those of its agent or
    /// host.
    fn lists<'l>(&'l self, call: &PolicySubject<'_>) -> impl Iterator<Item = (String, &'l Tools)> {
        let names = [call.event.agent.as_deref(), Some(call.event.host.as_ref())];
        let names = names.map(|name| name.map(str::to_owned));
        let own = self.agents.iter().filter(move |(pattern, _)| {
            names.iter().flatten().any(|name| is_wildcard_match(pattern, name))
        });
        let own = own.map(|(name, tools)| (format!("agents.{name}.tools"), tools));
        std::iter::once(("tools".to_owned(), &self.tools)).chain(own)
    }

    fn by_lists(&self, call: &PolicySubject<'_>, consider: &mut impl FnMut(DecisionReason)) {
        let tool = &call.event.tool;
        for (list, tools) in self.lists(call) {
            match tools.of(call) {
                ListResult::No | ListResult::Allowed => {}
                ListResult::Denied(pattern) => {
                    let reason = match pattern == tool {
                        true => format!("the policy denies {tool}"),
                        false => format!("the policy denies {tool} ({pattern})"),
                    };
                    consider(DecisionReason::new(Decision::Deny, format!("{list}.deny"), reason));
                }
                ListResult::Missing => {
                    let reason = format!("{tool} is not in the list of allowed tools");
                    let allowed = tools.allow.iter().flatten().take(12).cloned();
                    let allowed = allowed.collect::<Vec<_>>().join(", ");
                    let suggestion = match allowed.is_empty() {
                        true => None,
                        false => Some(format!("use one of the allowed tools: {allowed}")),
                    };
                    let ruling =
                        DecisionReason::new(Decision::Deny, format!("{list}.allow"), reason);
                    consider(ruling.suggest(suggestion));
                }
            }
        }
    }

    fn by_paths(&self, call: &PolicySubject<'_>, consider: &mut impl FnMut(DecisionReason)) {
        let (base, session) = (&self.origin.base, call.event.cwd.as_deref());
        let in_the_way = |key: &str, verb: &str, path: &str, pattern: &str| {
            let reason = format!("{path} may not be {verb}: {pattern} is protected");
            let suggestion = match self.origin.whose {
                Whose::User => format!("leave it as it is; the user's policy names it in `{key}`"),
                Whose::Project => {
                    format!("leave it as it is; the project's policy names it in `{key}`")
                }
            };
            DecisionReason::new(Decision::Deny, key, reason).suggest(Some(suggestion))
        };
        let is_kept = self.origin.whose == Whose::Project && call.keeps_policy;
        let guards_itself = !self.origin.file.is_empty() && !is_kept;
        if !self.protected.is_empty() || guards_itself {
            for touched in call.written() {
                if let Some(pattern) = self.protected.stop(&touched, base, session) {
                    consider(in_the_way("protected", "changed", &touched.path, pattern));
                }
                let own = self.origin.file.as_str();
                if guards_itself && base.is_at_or_above(&touched, own) {
                    let reason = format!("{own} is the policy itself");
                    let suggestion = "let a person change what the guard lets through".to_owned();
                    let decision = match self.origin.whose {
                        Whose::User => Decision::Deny,
                        Whose::Project => Decision::Ask,
                    };
                    let ruling = DecisionReason::new(decision, "policy", reason);
                    consider(ruling.suggest(Some(suggestion)));
                }
            }
        }
        if !self.protected_reads.is_empty() {
            for path in call.read() {
                if let Some(pattern) = self.protected_reads.hold(&path, base, session) {
                    consider(in_the_way("protected_reads", "read", &path, pattern));
                }
            }
        }
    }

    /// Whether the effect is a deletion in a directory where deleting is allowed.
    fn may_delete(&self, call: &PolicySubject<'_>, effect: &Effect) -> bool {
        let proven = effect.certainty == Certainty::Proven;
        if effect.kind != EffectKind::Delete || !proven || self.delete_roots.is_empty() {
            return false;
        }
        let (base, session) = (&self.origin.base, call.event.cwd.as_deref());
        let targets = call.targets(effect);
        let holds = |path: &String| self.delete_roots.hold(path, base, session);
        !targets.is_empty() && targets.iter().all(holds)
    }
}

/// Adds the effects on link targets: a write through a link changes the target of the link.
fn follow_links(
    input: &ToolInput<'_>,
    context: &ShellContext<'_>,
    analysis: &mut Option<Analysis>,
) {
    let Some(analysis) = analysis else { return };
    if !matches!(input.role(), ToolRole::Writes | ToolRole::Edits) {
        return;
    }
    for path in input.paths() {
        let real = std::fs::canonicalize(&path).ok();
        let Some(real) = real.as_deref().and_then(Path::to_str).filter(|real| *real != path) else {
            continue;
        };
        let behind = analyze_write(real, context).effects;
        behind.into_iter().filter(Effect::disarms).for_each(|effect| analysis.add(effect));
    }
}

fn texts(all: &[String]) -> Vec<&str> {
    all.iter().map(String::as_str).collect()
}

fn words(effect: &Effect) -> String {
    format!("{}: {}: {}", effect.program, effect.why, effect.target)
}

/// Whether everything about a call is known, and all its effects can be regenerated.
fn is_harmless(analysis: &Analysis) -> bool {
    analysis.coverage == Coverage::Complete
        && analysis.effects.iter().all(|effect| effect.reversibility <= Reversibility::R2)
}
