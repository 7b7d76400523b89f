//! `call-counts`: checks the number of calls per tool and in total.

use super::calls::made;
use super::question::{build, reading, warn_of_idle_keys};
use crate::futureagi::graders::platform;
use crate::pydantic_evals::graders::counts as counts_for_pydantic;
use crate::reading::{ReadingQuestion, count};
use crate::uipath::graders::count_of;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use toolmark_base::SortedMap;
use toolmark_config::{Node, NodeKind, Problem, quoted};
use toolmark_grade::{GraderInfo, Taxonomy, schema_of};
use toolmark_match::{Building, Mention};
use toolmark_outcome::{Outcome, OutcomePart, Profile, Subject, Verdict};

const PROFILES: &[Profile] = &[Profile::UiPath, Profile::PydanticEvals, Profile::FutureAgi];

/// Required numbers of calls.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "CallCountsConfig")]
struct CallCountsConfig {
    /// Required number of calls per tool: a number, a comparison such as
    /// `\">= 2\"`, or the same as a list (`[\">=\", 2]`).
    #[serde(default)]
    #[schemars(schema_with = "counts_schema")]
    counts: Option<Node>,
    /// Exact total number of calls.
    #[serde(default, alias = "expected_steps")]
    exact: Option<u64>,
    /// Minimum total number of calls.
    #[serde(default, alias = "min_steps")]
    min: Option<u64>,
    /// Maximum total number of calls.
    #[serde(default, alias = "max_steps", alias = "max_calls")]
    max: Option<u64>,
    /// Whether failed calls count. True by default.
    #[serde(default)]
    include_failed: Option<bool>,
    /// `uipath`: whether the score is 0 if any count is wrong.
    #[serde(default)]
    strict: Option<bool>,
}

fn counts_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "additionalProperties": {
            "anyOf": [
                {"type": "integer", "minimum": 0},
                {"type": "string", "pattern": "^\\s*(=|==|!=|<|<=|>|>=)\\s*[0-9]+\\s*$"},
                {"type": "array", "prefixItems": [{"enum": ["=", "==", "!=", "<", "<=", ">", ">="]}, {"type": "integer"}], "minItems": 2, "maxItems": 2},
            ]
        },
    })
}

pub(crate) static INFO: GraderInfo = GraderInfo {
    id: "call-counts",
    aliases: &["call_counts"],
    origin: "toolmark",
    summary: "checks how often each tool was called",
    docs: "Checks whether tools were called the expected number of times. `counts` says how often each tool must be called: a number, or a comparison \
(`= != < <= > >=`). `exact`, `min` and `max` are about all calls together. Calls that failed count, unless \
`include_failed: false`.

The score is the share of conditions that hold; it passes where all do.

| profile | version | what is particular |
|---|---|---|
| `uipath` | 2.14.44, tool call count | `counts` only; no calls at all are 0; with `strict` one wrong count makes the score 0 |
| `pydantic-evals` | 2.62.0, MaxToolCalls | `max` and `include_failed` only |
| `futureagi` | platform, step_count | `exact` goes before `min` and `max`; nothing set is 0; a row's list is counted as it stands |",
    example: "type: call-counts\nconfig:\n  counts: {search: \">= 1\", delete: 0}\n  max: 20",
    taxonomy: Taxonomy::TRAJECTORY,
    profiles: PROFILES,
    schema: schema_of::<CallCountsConfig>,
    build: |building| {
        let question = read(building)?;
        build(building, PROFILES, question)
    },
};

/// A comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CountComparison {
    Equal,
    Unequal,
    Less,
    AtMost,
    More,
    AtLeast,
}

impl CountComparison {
    const WORDS: [(&str, Self); 7] = [
        ("==", Self::Equal),
        ("!=", Self::Unequal),
        ("<=", Self::AtMost),
        (">=", Self::AtLeast),
        ("=", Self::Equal),
        ("<", Self::Less),
        (">", Self::More),
    ];

    fn from_word(word: &str) -> Option<Self> {
        Self::WORDS.iter().find(|(known, _)| *known == word).map(|(_, comparison)| *comparison)
    }

    fn word(self) -> &'static str {
        let words = Self::WORDS.iter().rev();
        words.clone().find(|(_, comparison)| *comparison == self).map_or("", |(word, _)| word)
    }

    fn holds(self, had: u64, wanted: u64) -> bool {
        match self {
            Self::Equal => had == wanted,
            Self::Unequal => had != wanted,
            Self::Less => had < wanted,
            Self::AtMost => had <= wanted,
            Self::More => had > wanted,
            Self::AtLeast => had >= wanted,
        }
    }
}

struct CallCounts {
    counts: Vec<(String, CountComparison, u64)>,
    exact: Option<u64>,
    min: Option<u64>,
    max: Option<u64>,
    include_failed: bool,
    strict: bool,
}

fn whole(node: &Node) -> Option<u64> {
    let number = node.as_f64()?;
    (number >= 0.0 && number.fract() == 0.0).then_some(number as u64)
}

fn condition(node: &Node) -> Option<(CountComparison, u64)> {
    match &node.kind {
        NodeKind::Text(words) => {
            let words = words.trim();
            let find = |(word, comparison): &(&str, CountComparison)| {
                Some((*comparison, words.strip_prefix(word)?.trim().parse().ok()?))
            };
            CountComparison::WORDS.iter().find_map(find)
        }
        NodeKind::List(items) => match items.as_slice() {
            [word, number] => Some((CountComparison::from_word(word.as_str()?)?, whole(number)?)),
            _ => None,
        },
        _ => Some((CountComparison::Equal, whole(node)?)),
    }
}

fn read(building: &mut Building<'_>) -> Option<CallCounts> {
    let config = building.read::<CallCountsConfig>()?;
    let profile = reading(building.profile, PROFILES);
    let mut good = true;
    let mut counts = Vec::new();
    for entry in config.counts.iter().flat_map(Node::entries) {
        match condition(&entry.value) {
            Some((comparison, wanted)) => counts.push((entry.key.to_string(), comparison, wanted)),
            None => {
                let message = format!(
                    "the count of {} is not a comparison such as \">= 2\"",
                    quoted(&entry.key)
                );
                building
                    .problems
                    .push(Problem::error("invalid-value", message).at(entry.value.span));
                good = false;
            }
        }
    }
    let used: &[&str] = match profile {
        Profile::UiPath => &["counts", "strict"],
        Profile::PydanticEvals => &["max", "max_calls", "max_steps", "include_failed"],
        Profile::FutureAgi => {
            &["exact", "expected_steps", "min", "min_steps", "max", "max_steps", "max_calls"]
        }
        _ => &[
            "counts",
            "exact",
            "expected_steps",
            "min",
            "min_steps",
            "max",
            "max_steps",
            "max_calls",
            "include_failed",
        ],
    };
    warn_of_idle_keys(building, profile, |key| !used.contains(&key));
    let nothing = counts.is_empty() && config.exact.or(config.min).or(config.max).is_none();
    if profile == Profile::Toolmark && nothing && good {
        building.reject(building.config.span, "missing-key", "nothing is counted");
        return None;
    }
    good.then(|| CallCounts {
        counts,
        exact: config.exact,
        min: config.min,
        max: config.max,
        include_failed: config.include_failed.unwrap_or(true),
        strict: config.strict.unwrap_or(false),
    })
}

impl CallCounts {
    /// Returns the conditions on the total number of calls.
    fn totals(&self) -> Vec<(CountComparison, u64)> {
        let all = [
            (CountComparison::Equal, self.exact),
            (CountComparison::AtLeast, self.min),
            (CountComparison::AtMost, self.max),
        ];
        all.into_iter().filter_map(|(comparison, wanted)| Some((comparison, wanted?))).collect()
    }
}

impl ReadingQuestion for CallCounts {
    fn answer(&self, subject: &Subject<'_>, profile: Profile) -> Outcome {
        let view = &subject.view;
        let made = made(view);
        let counted = || made.iter().filter(|call| counts_for_pydantic(call, self.include_failed));
        let mut total = counted().count();
        let mut per_tool: SortedMap<&str, usize> = SortedMap::new();
        for call in counted() {
            *per_tool.entry(&call.name).or_default() += 1;
        }
        let row = view.trajectory().stated.row.as_ref().and_then(|row| row.parsed());
        if let (Profile::FutureAgi, Some(output)) = (profile, row.and_then(|row| row.get("output")))
        {
            total = platform::steps(output);
        }
        let mut conditions: Vec<(String, u64, CountComparison, u64)> = Vec::new();
        if matches!(profile, Profile::Toolmark | Profile::UiPath) {
            for (tool, comparison, wanted) in &self.counts {
                let had = match profile {
                    Profile::UiPath => count_of(&per_tool, tool),
                    _ => per_tool.get(tool.as_str()).copied().unwrap_or(0),
                };
                conditions.push((tool.clone(), had as u64, *comparison, *wanted));
            }
        }
        if profile != Profile::UiPath {
            let totals = self.totals();
            let kept = totals.iter().filter(|(comparison, _)| match profile {
                Profile::PydanticEvals => *comparison == CountComparison::AtMost,
                Profile::FutureAgi => self.exact.is_none() || *comparison == CountComparison::Equal,
                _ => true,
            });
            let all = kept.map(|(comparison, wanted)| {
                ("calls".to_owned(), total as u64, *comparison, *wanted)
            });
            conditions.extend(all);
        }
        let holds = |(_, had, comparison, wanted): &(String, u64, CountComparison, u64)| {
            comparison.holds(*had, *wanted)
        };
        let right = conditions.iter().filter(|condition| holds(condition)).count();
        let all_right = right == conditions.len();
        let score = match profile {
            Profile::UiPath if self.counts.is_empty() || made.is_empty() => {
                f64::from(u8::from(self.counts.is_empty() && made.is_empty()))
            }
            Profile::UiPath if self.strict && !all_right => 0.0,
            Profile::FutureAgi if conditions.is_empty() => 0.0,
            Profile::FutureAgi | Profile::PydanticEvals => f64::from(u8::from(all_right)),
            _ => right as f64 / conditions.len().max(1) as f64,
        };
        let verdict = match profile {
            Profile::FutureAgi => Verdict::of(score >= 0.5),
            _ => Verdict::of(score >= 1.0),
        };
        let reason = format!("{right} of {} met", count(conditions.len(), "condition"));
        let mut outcome = Outcome::scored(verdict, score, reason).with_metric("calls", total);
        for condition in &conditions {
            let (what, had, comparison, wanted) = condition;
            let text = format!("{what}: {had}, {} {wanted} asked for", comparison.word());
            outcome.parts.push(OutcomePart::new(text, Verdict::of(holds(condition))));
        }
        outcome
    }

    fn mentions(&self) -> Vec<Mention> {
        self.counts.iter().map(|(tool, ..)| Mention::exact(tool)).collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::scores::testing::{names, own, theirs};
    use crate::testing::{complaints, grade_as};
    use serde_json::json;
    use toolmark_outcome::Profile::{FutureAgi, PydanticEvals, UiPath};

    const ID: &str = "call-counts";

    #[test]
    fn conditions() {
        for (config, made, score) in [
            (json!({"counts": {"a": 2, "b": ">= 2"}}), "aab", 0.5),
            (json!({"counts": {"a": ["=", 2], "b": "!=0"}}), "aab", 1.0),
            (json!({"counts": {"x": 0}, "max": 2}), "aab", 0.5),
            (json!({"exact": 3, "min": 1}), "aab", 1.0),
        ] {
            assert_eq!(own(ID, config.clone(), &names(made)).score, Some(score), "{config}");
        }
        for (config, complaint) in [
            (json!({}), "nothing is counted"),
            (json!({"counts": {"a": "about 2"}}), "not a comparison"),
        ] {
            assert!(complaints(ID, &config).join("").contains(complaint), "{config}");
        }
    }

    #[test]
    fn other_systems() {
        let counts = json!({"a": ["=", 2], "b": [">=", 2]});
        for (strict, made, score) in [(false, "aab", 0.5), (true, "aab", 0.0), (false, "", 0.0)] {
            let config = json!({"counts": counts, "strict": strict});
            assert_eq!(theirs(ID, UiPath, config, &names(made)).score, Some(score), "{made}");
        }
        let failed = json!([{"tool": "a", "status": "error"}, {"tool": "a", "output": "1"}]);
        for (include_failed, score) in [(true, 0.0), (false, 1.0)] {
            let config = json!({"max_calls": 1, "include_failed": include_failed});
            assert_eq!(theirs(ID, PydanticEvals, config, &failed).score, Some(score));
        }
        for (config, score) in [
            (json!({"min_steps": 1, "max_steps": 2}), 1.0),
            (json!({"expected_steps": 2, "max_steps": 1}), 1.0),
            (json!({"max_steps": 1}), 0.0),
            (json!({}), 0.0),
        ] {
            let row = json!({"id": "r", "output": "a, b", "expected": null}).to_string();
            assert_eq!(
                grade_as(ID, FutureAgi, config.clone(), &row).score,
                Some(score),
                "{config}"
            );
        }
    }
}
