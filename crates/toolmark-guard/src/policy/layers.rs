//! Combination of two files: settings with which a project's file would loosen the policy have no
//! effect and are reported.

use super::examples::{usual_command, with_call, with_tool};
use super::layer::Layer;
use super::rule::{PolicyRule, Suggest};
use super::{Policy, Preset};
use toolmark_config::{NodeSpan, Problem, quoted};
use toolmark_hosts::HookEvent;
use toolmark_match::call_match::Truth;
use toolmark_shell::Decision;

/// Problems of the rules of the files.
#[derive(Debug, Clone, Default)]
pub struct LayerProblems {
    /// Problems in the user's file.
    pub user: Vec<Problem>,
    /// Problems in the project's file.
    pub project: Vec<Problem>,
}

impl Policy {
    /// Returns the settings of the project's file without effect, because they would make things
    /// laxer than the user's file, or than the preset `standard` if there is none.
    #[must_use]
    pub fn loosened(&self) -> Vec<Problem> {
        let Some(project) = &self.project else { return Vec::new() };
        let mut found = Vec::new();
        let mut loosens = |span: NodeSpan, what: String| {
            let problem = Problem::warning(
                "loosens",
                format!("{what} has no effect in the file of a project"),
            );
            let help = "a project may only make the policy stricter; move it to the user's file";
            found.push(problem.at(span).help(help));
        };
        let key = |name: &str| project.keys.get(name).copied().unwrap_or_default();
        let preset = self.user.preset.unwrap_or_default();
        if let Some(own) = project.preset.filter(|own| *own < preset) {
            let words = format!("preset {}, which is laxer than {},", own.word(), preset.word());
            loosens(key("preset"), words);
        }
        let on_error = self.user.on_error.unwrap_or(Decision::Ask);
        if let Some(own) = project.on_error.filter(|own| *own < on_error) {
            let words =
                format!("on_error {}, which is laxer than {},", own.word(), on_error.word());
            loosens(key("on_error"), words);
        }
        if project.approve == Some(true) && self.user.approve != Some(true) {
            loosens(key("approve"), "approve".to_owned());
        }
        if project.keep == Some(false) && self.keeps() {
            loosens(key("keep"), "`keep: false`".to_owned());
        }
        if project
            .timeout_ms
            .is_some_and(|own| own > self.user.timeout_ms.unwrap_or(super::TIMEOUT_MS))
        {
            loosens(key("timeout_ms"), "a longer timeout_ms".to_owned());
        }
        let lists = [
            ("writable", !project.writable.is_empty()),
            ("delete_roots", !project.delete_roots.is_empty()),
            ("temp", !project.temp.is_empty()),
            ("wrappers", !project.wrappers.is_empty()),
            ("log", project.log != super::LogLocation::default()),
        ];
        for (name, _) in lists.into_iter().filter(|(_, given)| *given) {
            loosens(key(name), name.to_owned());
        }
        for rule in project.rules.iter().filter(|rule| rule.decision == Decision::Allow) {
            loosens(rule.span, format!("the rule {}, which allows,", quoted(&rule.name)));
        }
        for word in project.rules.iter().filter_map(|rule| rule.unattended.as_ref()) {
            if word.value != Decision::Deny {
                loosens(word.span, format!("`unattended: {}`", word.value.word()));
            }
        }
        for entry in project.table.laxer(&self.user.table) {
            let words = format!(
                "`{}` for effects that are otherwise decided more strictly",
                entry.decision.word()
            );
            loosens(entry.span, words);
        }
        if project.permissions.allows() {
            loosens(key("import"), "the `allow` list of imported settings".to_owned());
        }
        let mcp = self.mcp();
        if project.mcp.changed.is_some_and(|own| own < mcp.changed.unwrap_or(Decision::Ask)) {
            loosens(key("mcp"), "a laxer mcp.changed".to_owned());
        }
        let rate = |own: &super::McpLimits| own.rate;
        let tools = project.mcp.tools.iter();
        let laxer = tools.filter(|(tool, rate)| mcp.tools.get(*tool) != Some(rate));
        if project.mcp.rate.is_some() && rate(&project.mcp) != rate(&mcp) || laxer.count() > 0 {
            loosens(key("mcp"), "a larger mcp rate".to_owned());
        }
        found
    }

    /// Returns the problems of the rules that can only be found by trying them: conditions,
    /// examples, and suggestions that would be denied themselves.
    #[must_use]
    pub fn check_all(&self) -> LayerProblems {
        let mut all: Vec<Vec<Problem>> = self.layers().map(Layer::check).collect();
        for (layer, problems) in self.layers().zip(&mut all) {
            for rule in &layer.rules {
                let Some(Suggest::Command(command)) = &rule.suggest else { continue };
                let event = usual_command(command, &layer.origin.base);
                let verdict = with_tool(&event, |input| self.verdict(&event, input, None));
                let denied = verdict.observed.unwrap_or(verdict.decision) == Decision::Deny;
                let own = rule.decision != Decision::Allow
                    && with_call(&event, |call| rule.applies(call, &layer.origin.base))
                        == Ok(Truth::Yes);
                if denied || own {
                    let message = format!(
                        "the rule {} suggests `{command}`, which {}",
                        quoted(&rule.name),
                        if own { "the rule itself matches" } else { "is denied" }
                    );
                    let problem = Problem::error("denied-suggestion", message).at(rule.span);
                    problems.push(problem.help(match own {
                        true => "suggest a command that the rule does not match".to_owned(),
                        false => format!("{} denies it: {}", verdict.rule, verdict.reason),
                    }));
                }
            }
        }
        if let Some(problems) = all.first_mut() {
            problems.extend(self.user.rules.iter().filter_map(|rule| self.in_vain(rule)));
        }
        all.iter_mut().for_each(|problems| problems.sort_by_key(|problem| problem.span));
        let project = if all.len() > 1 { all.pop() } else { None };
        LayerProblems { user: all.pop().unwrap_or_default(), project: project.unwrap_or_default() }
    }

    /// Reports a rule that allows something that stays denied; such a rule lifts questions only.
    fn in_vain(&self, rule: &PolicyRule) -> Option<Problem> {
        if rule.decision != Decision::Allow {
            return None;
        }
        let events = rule.examples.fitting(rule);
        let verdict = |event: &HookEvent<'_>| {
            let verdict = with_tool(event, |input| self.verdict(event, input, None));
            let said = verdict.observed.unwrap_or(verdict.decision);
            (said == Decision::Deny).then_some((verdict.rule, verdict.reason))
        };
        let denied: Option<Vec<(String, String)>> = events.iter().map(verdict).collect();
        let (by, why) = denied?.into_iter().next()?;
        let message = format!(
            "the rule {} has no effect: all its examples are denied all the same",
            quoted(&rule.name)
        );
        let help = format!("rules lift questions, not denials; {by} denies it: {why}");
        Some(Problem::warning("never-applies", message).at(rule.span).help(help))
    }

    /// Returns the preset named by the environment.
    #[must_use]
    pub fn preset_named(word: &str) -> Option<Preset> {
        Preset::ALL.iter().copied().find(|preset| preset.word() == word.trim())
    }
}
