//! The `serve:` section of `toolmark.yaml`: the evaluators of arriving sessions.
//!
//! ```yaml
//! serve:
//!   evaluate:
//!     - on: {tool: [Bash, "mcp__*"], status: failed}
//!       run: [rules]
//!     - on: {tool: Edit}
//!       run:
//!         - {type: judge, name: minimal, config: {rubric: edit-minimal-scope}}
//!       sample: 0.1
//! ```

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;
use serde_json::Value;
use toolmark_config::{Node, Problem, Spanned, did_you_mean, quoted, read};
use toolmark_pattern::is_wildcard_match;
use toolmark_trace::Status;

/// Settings of the section.
#[derive(Debug, Default)]
pub struct ServeSettings {
    /// Evaluation rules.
    pub evaluate: Vec<TagSettings>,
}

/// An evaluation rule: its calls or sessions, its evaluators, and its sampling rate.
#[derive(Debug)]
pub struct TagSettings {
    /// Filter of calls or sessions.
    pub on: On,
    /// Rules and graders, as written in the file.
    pub run: Vec<Node>,
    /// Sampling rate.
    pub sample: f64,
}

/// Unit of evaluation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "Unit")]
pub enum EvaluationUnit {
    /// Each call.
    #[default]
    Call,
    /// The whole session.
    Session,
}

/// Filter of calls or sessions; a list matches any of its entries, and `*` matches anything.
#[derive(Debug, Clone, Default)]
pub struct On {
    /// Calls, or the session.
    pub kind: EvaluationUnit,
    /// Name of the tool.
    pub tool: Vec<String>,
    /// Status of the call.
    pub status: Vec<String>,
    /// Name of the agent, or of the service of the telemetry.
    pub service: Vec<String>,
    /// Name of the model.
    pub model: Vec<String>,
    /// Version of the agent.
    pub version: Vec<String>,
    /// Working directory.
    pub project: Vec<String>,
    /// Data source: `file` or `otlp`.
    pub source: Vec<String>,
}

impl On {
    /// Whether one of the patterns matches the name. An empty list matches everything.
    pub(crate) fn is_any(words: &[String], name: Option<&str>) -> bool {
        words.is_empty()
            || name.is_some_and(|name| words.iter().any(|word| is_wildcard_match(word, name)))
    }
}

#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Serve")]
struct ServeSection {
    /// Evaluation rules for arriving sessions.
    evaluate: Vec<WrittenTag>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Evaluate")]
struct WrittenTag {
    /// Filter of calls; all if it is missing.
    #[serde(default)]
    on: WrittenOn,
    /// `rules`, codes of rules, and graders as in `graders:`.
    #[schemars(with = "Vec<Value>")]
    run: Spanned<Vec<Node>>,
    /// Sampling rate; the same calls are sampled every time.
    sample: Option<Spanned<f64>>,
}

/// One string, or several.
#[derive(Default)]
struct StringOrList(Vec<(String, toolmark_config::NodeSpan)>);

impl<'de> Deserialize<'de> for StringOrList {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let node = Node::deserialize(deserializer)?;
        let one = |node: &Node| (node.as_str().unwrap_or_default().to_owned(), node.span);
        Ok(match node.as_list() {
            Some(list) => Self(list.iter().map(one).collect()),
            None => Self(vec![one(&node)]),
        })
    }
}

impl JsonSchema for StringOrList {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Words".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({"type": ["string", "array"], "items": {"type": "string"}})
    }
}

#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "EvaluateOn")]
struct WrittenOn {
    /// `call` or `session`.
    kind: EvaluationUnit,
    /// Names of tools.
    tool: StringOrList,
    /// Statuses of calls: `failed`, `succeeded`, `denied` …
    status: StringOrList,
    /// Names of agents, or of services of the telemetry.
    service: StringOrList,
    /// Names of models.
    model: StringOrList,
    /// Versions of the agent.
    version: StringOrList,
    /// Working directories.
    project: StringOrList,
    /// `file` or `otlp`.
    source: StringOrList,
}

/// The JSON Schema of the section.
pub fn schema(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<ServeSection>()
}

/// Reads the section; all problems are reported with their source positions.
#[must_use]
pub fn read_settings(node: &Node, problems: &mut Vec<Problem>) -> ServeSettings {
    let Some(written) = read::<ServeSection>(node, problems) else {
        return ServeSettings::default();
    };
    let evaluate = written.evaluate.into_iter().map(|tag| read_tag(tag, problems)).collect();
    ServeSettings { evaluate }
}

fn read_tag(tag: WrittenTag, problems: &mut Vec<Problem>) -> TagSettings {
    let sample = tag.sample.as_ref().map_or(1.0, |sample| sample.value);
    if let Some(given) = tag.sample.filter(|_| !(0.0..=1.0).contains(&sample)) {
        let problem = Problem::error("out-of-range", "expected a share from 0 to 1");
        problems.push(problem.at(given.span));
    }
    if tag.run.value.is_empty() {
        let problem = Problem::error("empty-config", "nothing is run").at(tag.run.span);
        problems.push(problem.help("write `rules`, codes of rules, or graders"));
    }
    let on = tag.on;
    let statuses: Vec<&str> = Status::ALL.iter().map(|status| status.word()).collect();
    for (key, words, known) in
        [("status", &on.status, &statuses[..]), ("source", &on.source, &["file", "otlp"][..])]
    {
        for (word, span) in &words.0 {
            if known.contains(&word.as_str()) {
                continue;
            }
            let message = format!("unknown {key} {}", quoted(word));
            let problem = Problem::error("unknown-word", message).at(*span);
            problems.push(match did_you_mean(word, known.iter().copied()) {
                Some(near) => problem.help(format!("did you mean {}?", quoted(near))),
                None => problem.help(format!("one of {}", known.join(", "))),
            });
        }
    }
    let has_call_words = !on.tool.0.is_empty() || !on.status.0.is_empty();
    if let (EvaluationUnit::Session, true) = (on.kind, has_call_words) {
        let span = on.tool.0.iter().chain(&on.status.0).map(|(_, span)| *span).next();
        let message = "`tool` and `status` are of calls, not of sessions";
        let problem = Problem::error("conflicting-keys", message);
        problems.push(problem.at(span.unwrap_or_default()));
    }
    let texts = |words: StringOrList| words.0.into_iter().map(|(word, _)| word).collect();
    let on = On {
        kind: on.kind,
        tool: texts(on.tool),
        status: texts(on.status),
        service: texts(on.service),
        model: texts(on.model),
        version: texts(on.version),
        project: texts(on.project),
        source: texts(on.source),
    };
    TagSettings { on, run: tag.run.value, sample }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolmark_config::{SourceText, yaml};

    fn settings(text: &str) -> (ServeSettings, Vec<String>) {
        let mut problems = Vec::new();
        let node = yaml::parse(&SourceText::new("t.yaml", text), &mut problems).unwrap();
        let settings = read_settings(&node, &mut problems);
        (settings, problems.into_iter().map(|problem| problem.message).collect())
    }

    #[test]
    fn one_word_is_a_list_of_one() {
        let (settings, problems) = settings(
            "evaluate:\n  - on: {tool: 'mcp__*', status: [failed, denied]}\n    run: [rules, R401]\n    sample: 0.5\n",
        );
        assert!(problems.is_empty(), "{problems:?}");
        let [tag] = &settings.evaluate[..] else { panic!("{settings:?}") };
        assert_eq!((tag.on.tool.len(), tag.on.status.len(), tag.run.len()), (1, 2, 2));
        assert!(On::is_any(&tag.on.tool, Some("mcp__git__log")) && tag.sample == 0.5);
        assert!(!On::is_any(&tag.on.tool, Some("Bash")) && !On::is_any(&tag.on.tool, None));
    }

    #[test]
    fn mistakes_are_named() {
        for (text, want) in [
            ("evaluate: [{on: {status: broken}, run: [rules]}]", "unknown status \"broken\""),
            ("evaluate: [{on: {kind: session, tool: Bash}, run: [rules]}]", "are of calls"),
            ("evaluate: [{run: []}]", "nothing is run"),
            ("evaluate: [{run: [rules], sample: 2}]", "expected a share"),
            ("evaluate: [{run: [rules], samples: 1}]", "samples"),
            ("evaluat: []", "evaluat"),
        ] {
            let (_, problems) = settings(text);
            assert!(problems.iter().any(|problem| problem.contains(want)), "{text}: {problems:?}");
        }
    }
}
