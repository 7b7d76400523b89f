//! `tool-permission`: checks that only permitted tools were called.

use super::calls::{ActualCall, made};
use super::question::{build, check_share};
use crate::reading::{ReadingQuestion, count};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use toolmark_config::Spanned;
use toolmark_grade::{GraderInfo, Taxonomy, schema_of};
use toolmark_match::Mention;
use toolmark_outcome::{EvidenceRole, Outcome, Profile, Subject, Verdict};

const PROFILES: &[Profile] = &[Profile::DeepEval, Profile::Mastra];

/// Maximum number of listed calls; the rest are only counted.
const MAX_SHOWN: usize = 20;

/// Tools that may be called.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "ToolPermissionConfig")]
struct ToolPermissionConfig {
    /// The only tools that may be called.
    #[serde(default)]
    allowed_tools: Option<Vec<String>>,
    /// Tools that must not be called, even if they are in `allowed_tools`.
    #[serde(default, alias = "blacklistedTools")]
    denied_tools: Option<Vec<String>>,
    /// Tools that must not be called one right after the other.
    #[serde(default, alias = "blacklistedSequences")]
    denied_sequences: Option<Vec<Vec<String>>>,
    /// Minimum share of permitted calls; 1 by default.
    #[serde(default)]
    threshold: Option<Spanned<f64>>,
}

pub(crate) static INFO: GraderInfo = GraderInfo {
    id: "tool-permission",
    aliases: &["tool_permission"],
    origin: "toolmark",
    summary: "fails if a tool was called that is not permitted",
    docs: "Passes if only permitted tools were called. `allowed_tools` is a list of the only tools that may be called, \
`denied_tools` of those that must not be, even if they are allowed; `denied_sequences` are lists of tools that must \
not be called one right after the other. Names are compared as they are. A call that failed was made all the same.

The score is the share of calls that are permitted, 1 where there are none, 0 where a denied sequence was called. It \
passes where every call is permitted, or from `threshold` on.

| profile | version | what is particular |
|---|---|---|
| `deepeval` | 4.3.1, ToolPermissionMetric | the same share; no sequences |
| `mastra` | 1.10.2, blacklist | any denied tool or sequence makes the score 0; `allowed_tools` is not known |",
    example: "type: tool-permission\nconfig:\n  allowed_tools: [Read, Grep, Edit]\n  denied_tools: [WebFetch]",
    taxonomy: Taxonomy::TRAJECTORY,
    profiles: PROFILES,
    schema: schema_of::<ToolPermissionConfig>,
    build: |building| {
        let config = building.read::<ToolPermissionConfig>()?;
        let good = check_share(building, "threshold", config.threshold.as_ref());
        let is_empty = config.allowed_tools.is_none()
            && config.denied_tools.is_none()
            && config.denied_sequences.is_none();
        if is_empty {
            let message = "nothing is allowed or denied";
            building.reject(building.config.span, "missing-key", message);
        }
        if !good || is_empty {
            return None;
        }
        build(
            building,
            PROFILES,
            ToolPermission {
                allowed: config.allowed_tools,
                denied: config.denied_tools.unwrap_or_default(),
                sequences: config.denied_sequences.unwrap_or_default(),
                threshold: config.threshold.map_or(1.0, |threshold| threshold.value),
            },
        )
    },
};

struct ToolPermission {
    allowed: Option<Vec<String>>,
    denied: Vec<String>,
    sequences: Vec<Vec<String>>,
    threshold: f64,
}

impl ToolPermission {
    fn is_denied(&self, name: &str, profile: Profile) -> bool {
        let is_allowed =
            self.allowed.as_ref().is_none_or(|all| all.iter().any(|tool| tool == name));
        self.denied.iter().any(|tool| tool == name) || !is_allowed && profile != Profile::Mastra
    }

    /// Returns the denied sequences that were called, each with the index of its first call.
    fn sequences(&self, made: &[ActualCall<'_>]) -> Vec<(&[String], usize)> {
        let called = |sequence: &Vec<String>| {
            made.windows(sequence.len().max(1))
                .position(|calls| calls.iter().zip(sequence).all(|(call, tool)| call.name == *tool))
        };
        let some = self.sequences.iter().filter(|sequence| !sequence.is_empty());
        some.filter_map(|sequence| Some((sequence.as_slice(), called(sequence)?))).collect()
    }
}

impl ReadingQuestion for ToolPermission {
    fn answer(&self, subject: &Subject<'_>, profile: Profile) -> Outcome {
        let view = &subject.view;
        let made = made(view);
        let wrong: Vec<usize> =
            (0..made.len()).filter(|at| self.is_denied(&made[*at].name, profile)).collect();
        let sequences = match profile {
            Profile::DeepEval => Vec::new(),
            _ => self.sequences(&made),
        };
        let all_or_nothing = profile == Profile::Mastra || !sequences.is_empty();
        let score = match (made.len(), wrong.len()) {
            _ if all_or_nothing => f64::from(u8::from(wrong.is_empty() && sequences.is_empty())),
            (0, _) => 1.0,
            (all, wrong) => (all - wrong) as f64 / all as f64,
        };
        let mut reason =
            format!("{} of {} permitted", made.len() - wrong.len(), count(made.len(), "call"));
        if !sequences.is_empty() {
            reason.push_str(&format!(", {} called", count(sequences.len(), "denied sequence")));
        }
        let verdict = Verdict::of(score >= self.threshold);
        let mut outcome =
            Outcome::scored(verdict, score, reason).with_metric("denied", wrong.len());
        if profile == Profile::Mastra {
            let is_called = |tool: &&String| made.iter().any(|call| call.name == **tool);
            let tools: Vec<&String> = self.denied.iter().filter(is_called).collect();
            let sequences: Vec<&[String]> = sequences.iter().map(|(words, _)| *words).collect();
            outcome = outcome
                .with_metric("violatedTools", json!(tools))
                .with_metric("violatedSequences", json!(sequences));
        }
        for at in wrong.iter().take(MAX_SHOWN) {
            let text = format!("{} is not permitted", made[*at].name);
            outcome.evidence.push(view.evidence(EvidenceRole::Violation, text, made[*at].seen));
        }
        for (words, at) in sequences.iter().take(MAX_SHOWN) {
            let text = format!("starts {}", words.join(", "));
            outcome.evidence.push(view.evidence(EvidenceRole::Violation, text, made[*at].seen));
        }
        outcome
    }

    fn mentions(&self) -> Vec<Mention> {
        self.allowed.iter().flatten().map(|tool| Mention::exact(tool)).collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::scores::testing::{names, own, theirs};
    use crate::testing::complaints;
    use serde_json::json;
    use toolmark_outcome::Profile::{DeepEval, Mastra};

    const ID: &str = "tool-permission";

    #[test]
    fn shares() {
        for (config, made, ours, deepeval, mastra) in [
            (json!({"allowed_tools": ["a", "b"]}), "ab", 1.0, 1.0, 1.0),
            (json!({"allowed_tools": ["a"]}), "abab", 0.5, 0.5, 1.0),
            (json!({"allowed_tools": ["a"], "denied_tools": ["a"]}), "a", 0.0, 0.0, 0.0),
            (json!({"denied_tools": ["x"]}), "abcx", 0.75, 0.75, 0.0),
            (json!({"denied_tools": ["x"]}), "", 1.0, 1.0, 1.0),
            (json!({"denied_sequences": [["a", "b"]]}), "xab", 0.0, 1.0, 0.0),
            (json!({"denied_sequences": [["a", "b"], []]}), "axb", 1.0, 1.0, 1.0),
        ] {
            let made = names(made);
            assert_eq!(own(ID, config.clone(), &made).score, Some(ours), "{config}");
            assert_eq!(
                theirs(ID, DeepEval, config.clone(), &made).score,
                Some(deepeval),
                "{config}"
            );
            assert_eq!(theirs(ID, Mastra, config.clone(), &made).score, Some(mastra), "{config}");
        }
        assert!(complaints(ID, &json!({})).join("").contains("nothing is allowed"));
    }
}
