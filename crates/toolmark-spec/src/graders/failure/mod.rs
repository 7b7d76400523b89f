//! `failure`: checks that no call fails in a way known from `toolmark feed`.
//!
//! The key of the issue is the expectation: whatever the arguments are, a
//! call that fails for the same cause has the same key.

#[cfg(test)]
mod tests;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use std::sync::Arc;
use toolmark_check::Toolsets;
use toolmark_config::{Problem, Spanned};
use toolmark_feed::{FailureClass, IssueKey, KeyRole as ToolKind, failure_keys};
use toolmark_grade::{Grader, GraderInfo, Taxonomy, schema_of};
use toolmark_outcome::{CallRef, Evidence, EvidenceRole, Outcome, Subject, excerpt};
use toolmark_trace::Trajectory;

/// Maximum number of failures shown as evidence.
const MAX_SHOWN: usize = 10;

/// A failure that must not recur.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "FailureConfig")]
struct FailureConfig {
    /// The kind of failure, as named by `toolmark feed`.
    #[schemars(schema_with = "class_schema")]
    class: Spanned<String>,
    /// Only calls of tools with this role.
    #[serde(default)]
    role: Option<RoleName>,
    /// Only calls of this tool.
    #[serde(default)]
    tool: Option<String>,
    /// Only failures with this message, with masked values, as shown by `toolmark feed`.
    #[serde(default)]
    template: Option<String>,
}

/// Roles of tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum RoleName {
    /// Tools that edit, patch or write files.
    Edit,
    /// Tools that read files.
    Read,
    /// Tools that search for files, or for text in them.
    Search,
    /// Tools that run commands.
    Shell,
}

impl RoleName {
    fn is(self, role: &ToolKind) -> bool {
        matches!(
            (self, role),
            (Self::Edit, ToolKind::Edit)
                | (Self::Read, ToolKind::Read)
                | (Self::Search, ToolKind::Search)
                | (Self::Shell, ToolKind::Shell)
        )
    }
}

fn class_schema(_: &mut SchemaGenerator) -> Schema {
    let words: Vec<&str> = FailureClass::ALL.iter().map(|class| class.word()).collect();
    json_schema!({ "enum": words })
}

/// The `failure` grader.
pub static FAILURE: GraderInfo = GraderInfo {
    id: "failure",
    aliases: &[],
    origin: "toolmark",
    summary: "fails if a call repeats a known issue of `toolmark feed`",
    docs: "Passes if no call fails in this way.

`class` is the kind of failure, as `toolmark feed` calls it: `missing-path`, `edit-no-match`, `dependency` and so on. \
`role` (`edit`, `read`, `search`, `shell`), `tool` and `template` restrict it to what an issue is recognised by: the \
kind of tool or the tool, and the message without its values. For `dependency`, `build`, `lint` and `tests` the \
template is the language.

Every failure is evidence. The calls of sub-agents count too. A trace that does not record its calls is unknown.

`toolmark feed promote` writes cases with this grader: they fail whenever the issue comes back, whatever the values \
are.",
    example: "type: failure\nconfig:\n  class: missing-path\n  role: read",
    taxonomy: Taxonomy::TRAJECTORY,
    profiles: &[],
    schema: schema_of::<FailureConfig>,
    build: |building| {
        let config = building.read::<FailureConfig>()?;
        let Some(class) = FailureClass::from_word(&config.class.value) else {
            let words: Vec<&str> = FailureClass::ALL.iter().map(|class| class.word()).collect();
            let message = format!("unknown class {}", toolmark_config::quoted(&config.class.value));
            let problem = Problem::error("unknown-class", message).at(config.class.span);
            let help = format!("the classes are {}", words.join(", "));
            building.problems.push(problem.help(help));
            return None;
        };
        Some(Arc::new(NoFailure { class, config }))
    },
};

struct NoFailure {
    class: FailureClass,
    config: FailureConfig,
}

impl NoFailure {
    fn counts(&self, key: &IssueKey) -> bool {
        let IssueKey::Failure { role, class, template } = key else { return false };
        *class == self.class
            && self.config.role.is_none_or(|wanted| wanted.is(role))
            && self.config.tool.as_ref().is_none_or(|tool| *role == ToolKind::Tool(tool.clone()))
            && self.config.template.as_ref().is_none_or(|wanted| wanted == template)
    }

    fn find(&self, run: &Trajectory) -> Vec<usize> {
        let keys = failure_keys(run, &Toolsets::default());
        keys.into_iter().filter(|(_, key)| self.counts(key)).map(|(index, _)| index).collect()
    }
}

impl Grader for NoFailure {
    fn grade(&self, subject: &Subject<'_>) -> Outcome {
        let view = &subject.view;
        // What is not recorded cannot be found: the calls are what is looked at.
        let calls = view.calls();
        let run = view.trajectory();
        let mut found: Vec<(&Trajectory, usize)> =
            self.find(run).into_iter().map(|index| (run, index)).collect();
        if view.turn_index().is_some() {
            found.retain(|(_, index)| calls.iter().any(|call| call.index == *index));
        } else {
            let children = run.flatten().into_iter().skip(1);
            found.extend(
                children.flat_map(|child| {
                    self.find(child).into_iter().map(move |index| (child, index))
                }),
            );
        }
        let class = self.class.word();
        let reason = match found.len() {
            0 => format!("no call fails with {class}"),
            1 => format!("a call fails with {class}"),
            count => format!("{count} calls fail with {class}"),
        };
        let count = found.len();
        let evidence = found.into_iter().take(MAX_SHOWN).filter_map(|(run, index)| {
            let call = run.calls.get(index)?;
            let at = CallRef::new(index, call, Some(call.at.location().into()));
            let evidence = Evidence::call(EvidenceRole::Violation, "fails in this way", at);
            let text = call.result.as_ref()?.payload.as_ref()?.plain();
            Some(evidence.with_excerpt(&excerpt(&text)))
        });
        Outcome::binary(count == 0, reason).with_evidence(evidence).with_metric("failures", count)
    }
}
