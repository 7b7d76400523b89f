//! Permission rules as the `guard:` part of a `toolmark.yaml`.

use super::syntax::Spec;
use super::{PermissionRule, PermissionRules};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use toolmark_shell::Decision;

impl PermissionRules {
    /// Converts the rules into a `guard:` part. Tools denied as a whole become a list of tools,
    /// denied files protected paths, everything else a rule.
    #[must_use]
    pub fn translated(&self) -> Value {
        let mut denied = Vec::new();
        let (mut protected, mut protected_reads) = (Vec::new(), Vec::new());
        let mut rules = Vec::new();
        let mut names = BTreeSet::new();
        for rule in &self.rules {
            match (&rule.spec, rule.decision, rule.tool.as_str()) {
                (Spec::Whole, Decision::Deny, tool) => denied.push(tool.to_owned()),
                (Spec::Path { pattern, .. }, Decision::Deny, "Edit") => {
                    protected.push(pattern.clone());
                }
                (Spec::Path { pattern, .. }, Decision::Deny, _) => {
                    protected_reads.push(pattern.clone());
                }
                _ => rules.push(rule.translated(&mut names)),
            }
        }
        let mut guard = Map::new();
        let mut list = |key: &str, mut items: Vec<String>| {
            items.sort();
            items.dedup();
            if !items.is_empty() {
                guard.insert(key.to_owned(), json!(items));
            }
        };
        list("protected", protected);
        list("protected_reads", protected_reads);
        denied.sort();
        denied.dedup();
        if !denied.is_empty() {
            guard.insert("tools".to_owned(), json!({ "deny": denied }));
        }
        if !rules.is_empty() {
            guard.insert("rules".to_owned(), Value::Array(rules));
        }
        Value::Object(guard)
    }
}

impl PermissionRule {
    fn translated(&self, names: &mut BTreeSet<String>) -> Value {
        let mut rule = Map::from_iter([("name".to_owned(), json!(self.name(names)))]);
        let example = match &self.spec {
            Spec::Whole => {
                rule.insert("tool".to_owned(), json!(self.tool));
                json!({ "tool": self.tool.replace('*', "x") })
            }
            Spec::Command(words) => {
                rule.insert("command".to_owned(), json!(words));
                json!(words.strip_suffix(" *").unwrap_or(words).replace('*', "x"))
            }
            Spec::Path { pattern, .. } => {
                let tool = if self.tool == "Edit" { "Edit" } else { "Read" };
                rule.insert("tool".to_owned(), json!(tool));
                rule.insert("path".to_owned(), json!(pattern));
                let path = pattern.replace("**", "x").replace(['*', '?'], "x");
                json!({"tool": tool, "args": {"file_path": path}})
            }
            Spec::Domain(domain) => {
                let host = domain.replace('.', "\\.").replace('*', "[^/]*");
                rule.insert("tool".to_owned(), json!("WebFetch"));
                let regex = format!("^https?://([^/@]*@)?{host}([:/?#]|$)");
                rule.insert("where".to_owned(), json!({"url": {"regex": regex}}));
                let url = format!("https://{}/", domain.replace('*', "x"));
                json!({"tool": "WebFetch", "args": {"url": url}})
            }
        };
        rule.insert("decision".to_owned(), json!(self.decision.word()));
        rule.insert("reason".to_owned(), json!(format!("{} in {}", self.text, self.file)));
        rule.insert("examples".to_owned(), json!({ "match": [example] }));
        Value::Object(rule)
    }

    /// Returns a unique name: `ask-bash-git-push`.
    fn name(&self, names: &mut BTreeSet<String>) -> String {
        let text = format!("{} {}", self.decision.word(), self.text).to_lowercase();
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        let name = words.take(6).collect::<Vec<_>>().join("-");
        let mut own = name.clone();
        let mut number = 2;
        while !names.insert(own.clone()) {
            own = format!("{name}-{number}");
            number += 1;
        }
        own
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::read;
    use super::*;
    use crate::policy::{Layer, PolicyOrigin};
    use toolmark_config::Node;
    use toolmark_match::call_match::compile_schema;

    #[test]
    fn what_comes_out_is_a_policy() {
        let permissions = read(json!({"permissions": {
            "allow": ["Bash(npm run *)", "Bash(npm run test)", "Edit(/src/**)", "Read(docs/*.md)",
                "WebFetch(domain:*.example.org)", "mcp__fs__read", "Glob", "Bash(git * main)",
                "mcp__web"],
            "ask": ["Bash(git push:*)", "Bash(git push)", "Read(~/notes/**)", "WebFetch"],
            "deny": ["Bash(curl:*)", "Read(./.env)", "Edit(//etc/**)", "mcp__db", "WebSearch"]
        }}));
        let guard = permissions.translated();
        assert_eq!(guard["tools"]["deny"], json!(["WebSearch", "mcp__db__*"]));
        assert_eq!(guard["protected"], json!(["/etc/**"]));
        assert_eq!(guard["protected_reads"], json!(["./.env"]));
        assert_eq!(guard["rules"].as_array().unwrap().len(), permissions.len() - 4);
        let mut problems = Vec::new();
        let layer = Layer::read(
            &Node::from_json(&guard).unwrap(),
            PolicyOrigin::default(),
            compile_schema,
            &mut problems,
        );
        problems.extend(layer.check());
        assert_eq!(problems, []);
    }
}
