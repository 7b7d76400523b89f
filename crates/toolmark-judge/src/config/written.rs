//! Reads the `judge:` part, and reports all errors in it with positions.

use super::{
    Auth, BudgetLimits, CACHE, Floor, JudgeSettings, KeySource, Model, Price, ProviderKind,
    Structured, TokenLimit,
};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;
use toolmark_config::{Node, Problem, Spanned, did_you_mean, quoted, read};
use toolmark_outcome::judging::Effort;

/// A model and its settings.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "JudgeModel")]
struct WrittenModel {
    /// Provider; derived from the name of the model if unset.
    #[serde(default)]
    provider: Option<ProviderKind>,
    /// Name of the model at the provider.
    #[serde(default)]
    #[schemars(length(min = 1))]
    model: Option<Spanned<String>>,
    /// Address, including the version: `http://localhost:11434/v1`.
    #[serde(default)]
    #[schemars(regex(pattern = "^https?://"))]
    base_url: Option<Spanned<String>>,
    /// Query parameters added to the address.
    #[serde(default)]
    query: BTreeMap<String, String>,
    /// Environment variable that holds the key.
    #[serde(default)]
    key_env: Option<Spanned<String>>,
    /// A program that prints the key as its first line.
    #[serde(default)]
    #[schemars(length(min = 1))]
    key_command: Option<Spanned<Vec<String>>>,
    /// Method of sending the key.
    #[serde(default)]
    auth: Option<Auth>,
    /// A program that judges: it reads the prompt on stdin and writes JSON to stdout.
    #[serde(default)]
    #[schemars(length(min = 1))]
    command: Option<Spanned<Vec<String>>>,
    /// Reasoning effort.
    #[serde(default)]
    effort: Option<Effort>,
    /// Temperature.
    #[serde(default)]
    temperature: Option<Spanned<f64>>,
    /// Maximum number of tokens of an answer; 4096 by default.
    #[serde(default)]
    #[schemars(range(min = 1))]
    max_tokens: Option<Spanned<u32>>,
    /// Parameter of Chat Completions that limits the tokens: `max_tokens` or
    /// `max_completion_tokens`; by default the one that the model needs, judging by its name.
    #[serde(default)]
    token_limit: Option<TokenLimit>,
    /// Method of requesting a structured answer: `tool` (the default) or `schema`.
    #[serde(default)]
    structured: Option<Structured>,
    /// Whether the answer is streamed; false by default.
    #[serde(default)]
    stream: Option<bool>,
    /// Timeout of one attempt, with a unit; 60s by default.
    #[serde(default)]
    timeout: Option<Spanned<String>>,
    /// US dollars per million tokens.
    #[serde(default)]
    price: Option<Spanned<JudgePrice>>,
}

/// US dollars per million tokens.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "JudgePrice")]
struct JudgePrice {
    /// Input tokens.
    #[schemars(range(min = 0))]
    input: f64,
    /// Output tokens.
    #[schemars(range(min = 0))]
    output: f64,
}

/// Spending limits.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "JudgeBudget")]
struct WrittenBudget {
    /// Maximum number of input and output tokens.
    #[serde(default)]
    tokens: Option<u64>,
    /// Maximum cost in US dollars.
    #[serde(default)]
    #[schemars(range(min = 0))]
    usd: Option<f64>,
}

/// Settings shared by all judges.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WrittenSettings {
    /// Other models, by the names used in panels and graders.
    #[serde(default)]
    models: BTreeMap<String, Spanned<WrittenModel>>,
    /// Maximum number of retries of a failed attempt; 4 by default.
    #[serde(default)]
    #[schemars(range(max = MAX_RETRIES))]
    retries: Option<Spanned<u32>>,
    /// Maximum number of concurrent questions; 4 by default.
    #[serde(default)]
    #[schemars(range(min = 1, max = MAX_CONCURRENCY))]
    concurrency: Option<Spanned<u32>>,
    /// Spending limits of one run.
    #[serde(default)]
    budget: Option<Spanned<WrittenBudget>>,
    /// Directory of cached answers, or `false`; `.toolmark/judge` by default.
    #[serde(default)]
    #[schemars(schema_with = "cache_schema")]
    cache: Option<Node>,
    /// File written by `toolmark judge calibrate`.
    #[serde(default)]
    calibration: Option<Spanned<String>>,
    /// Minimum agreement of a judge with people for its answers to count.
    #[serde(default)]
    floor: Option<Spanned<Floor>>,
}

/// Maximum number of retries that can be configured.
const MAX_RETRIES: u32 = 20;

/// Maximum number of concurrent questions that can be configured.
const MAX_CONCURRENCY: u32 = 256;

/// Keys of [`WrittenSettings`].
const SETTINGS_KEYS: &[&str] =
    &["models", "retries", "concurrency", "budget", "cache", "calibration", "floor"];

/// Keys of [`WrittenModel`].
const MODEL_KEYS: &[&str] = &[
    "provider",
    "model",
    "base_url",
    "query",
    "key_env",
    "key_command",
    "auth",
    "command",
    "effort",
    "temperature",
    "max_tokens",
    "token_limit",
    "structured",
    "stream",
    "timeout",
    "price",
];

/// Returns the JSON Schema of the part: the keys of the default model, and the settings shared by
/// all models.
pub fn schema(generator: &mut SchemaGenerator) -> Schema {
    let keys = |mut schema: Schema| match schema.remove("properties") {
        Some(Value::Object(keys)) => keys,
        _ => Map::new(),
    };
    let mut all = keys(WrittenModel::json_schema(generator));
    all.extend(keys(WrittenSettings::json_schema(generator)));
    json_schema!({
        "description": "The models that decide what no rule can, and how they are asked.",
        "type": "object",
        "additionalProperties": false,
        "minProperties": 1,
        "properties": all,
    })
}

fn cache_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"anyOf": [{"type": "string", "minLength": 1}, {"const": false}, {"type": "null"}]})
}

/// Reads the part, and reports all errors in it. Paths are relative to `directory`.
#[must_use]
pub fn read_settings(node: &Node, directory: &Path, problems: &mut Vec<Problem>) -> JudgeSettings {
    let mut settings = JudgeSettings::default();
    let Some(entries) = node.as_map() else {
        let message = format!("expected a map with a model, found {}", node.word());
        problems.push(Problem::error("wrong-type", message).at(node.span));
        return settings;
    };
    if entries.is_empty() {
        let problem = Problem::error("empty-config", "the judge section is empty").at(node.span);
        problems.push(problem.help("add `provider` and `model`, or remove the section"));
        return settings;
    }
    let known = || MODEL_KEYS.iter().chain(SETTINGS_KEYS).copied();
    let mut unknown = Vec::new();
    for entry in entries.iter().filter(|entry| known().all(|key| entry.key != key)) {
        let message = format!("unknown key {}", quoted(&entry.key));
        let problem = Problem::error("unknown-key", message).at(entry.key_span);
        problems.push(match did_you_mean(&entry.key, known()) {
            Some(near) => problem.help(format!("did you mean {}?", quoted(near))),
            None => problem.help(format!("known keys: {}", known().collect::<Vec<_>>().join(", "))),
        });
        unknown.push(entry.key.as_str());
    }
    let of_settings = node.without(MODEL_KEYS).without(&unknown);
    let of_model = node.without(SETTINGS_KEYS).without(&unknown);
    if of_model.entries().len() > 0
        && let Some(value) = read::<WrittenModel>(&of_model, problems)
    {
        let written = Spanned { value, span: of_model.span };
        settings.default_model = model(None, &written, directory, problems);
    }
    let Some(written) = read::<WrittenSettings>(&of_settings, problems) else {
        return settings;
    };
    for (name, of_name) in written.models {
        if let Some(model) = model(Some(&name), &of_name, directory, problems) {
            settings.models.insert(name, model);
        }
    }
    let mut wrong = |span, message: String| {
        problems.push(Problem::error("out-of-range", message).at(span));
    };
    if let Some(retries) = written.retries {
        match retries.value {
            0..=MAX_RETRIES => settings.retries = retries.value,
            _ => wrong(
                retries.span,
                format!("expected at most {MAX_RETRIES} retries, found {}", retries.value),
            ),
        }
    }
    if let Some(concurrency) = written.concurrency {
        match concurrency.value {
            1..=MAX_CONCURRENCY => settings.concurrency = concurrency.value as usize,
            _ => wrong(
                concurrency.span,
                format!("expected 1 to {MAX_CONCURRENCY}, found {}", concurrency.value),
            ),
        }
    }
    if let Some(budget) = written.budget {
        let usd = budget.value.usd;
        if usd.is_some_and(|usd| !usd.is_finite() || usd < 0.0) {
            wrong(budget.span, "expected a budget of 0 or more".to_owned());
        }
        let micro_usd = usd.map(micro);
        settings.budget = BudgetLimits { tokens: budget.value.tokens, micro_usd };
        let all = settings.default_model.iter().chain(settings.models.values());
        if let Some(unpriced) = all.clone().find(|model| model.price.is_none())
            && micro_usd.is_some()
        {
            let message =
                format!("a budget in dollars needs the price of {}", quoted(&unpriced.name));
            let problem = Problem::error("missing-price", message).at(budget.span);
            problems.push(problem.help("add `price: {input: …, output: …}`, per million tokens"));
        }
    }
    if let Some(cache) = &written.cache {
        match (cache.as_bool(), cache.as_str()) {
            (Some(false), _) => settings.cache = None,
            (_, Some(path)) if !path.is_empty() => settings.cache = Some(directory.join(path)),
            _ => {
                let message = format!("expected a directory or false, found {}", cache.word());
                problems.push(Problem::error("wrong-type", message).at(cache.span));
            }
        }
    } else {
        settings.cache = Some(directory.join(CACHE));
    }
    settings.calibration = written.calibration.as_ref().map(|path| directory.join(&path.value));
    if let Some(floor) = written.floor {
        let share = |value: Option<f64>, low: f64| value.is_none_or(|v| (low..=1.0).contains(&v));
        let shares = [floor.value.accuracy, floor.value.consistency, floor.value.steering];
        if !shares.iter().all(|value| share(*value, 0.0)) || !share(floor.value.kappa, -1.0) {
            let message = "expected shares from 0 to 1, and a kappa from -1 to 1";
            problems.push(Problem::error("out-of-range", message).at(floor.span));
        }
        if floor.value == Floor::default() {
            let problem = Problem::error("empty-config", "the floor is empty").at(floor.span);
            problems.push(problem.help("add `accuracy`, `kappa`, `consistency` or `steering`"));
        } else if settings.calibration.is_none() {
            let message = "a floor needs a calibration";
            let problem = Problem::error("missing-key", message).at(floor.span);
            problems.push(
                problem.help("add `calibration: FILE`; `toolmark judge calibrate` writes the file"),
            );
        }
        settings.floor = Some(floor.value);
    }
    settings
}

/// Converts dollars to millionths of a dollar.
fn micro(usd: f64) -> u64 {
    (usd.max(0.0) * 1e6).round() as u64
}

fn model(
    name: Option<&str>,
    Spanned { value: written, span }: &Spanned<WrittenModel>,
    directory: &Path,
    problems: &mut Vec<Problem>,
) -> Option<Model> {
    let before = problems.len();
    let mut wrong = |span, code, message: String, help: Option<&str>| {
        let problem = Problem::error(code, message).at(span);
        problems.push(match help {
            Some(help) => problem.help(help),
            None => problem,
        });
    };
    let called = written.model.as_ref().map(|model| model.value.as_str());
    let kind = match (written.provider, called) {
        (Some(kind), _) => kind,
        (None, _) if written.command.is_some() => ProviderKind::Command,
        (None, Some(called)) if written.base_url.is_some() && kind_of(called).is_none() => {
            ProviderKind::OpenaiChat
        }
        (None, Some(called)) => match kind_of(called) {
            Some(kind) => kind,
            None => {
                let message = format!("the provider of {} is unknown", quoted(called));
                let help = "add `provider`: anthropic, openai, openai-chat, azure, bedrock, vertex, \
                            ollama or command";
                let place = written.model.as_ref().map_or(*span, |model| model.span);
                wrong(place, "missing-key", message, Some(help));
                return None;
            }
        },
        (None, None) => {
            wrong(*span, "missing-key", "a judge needs a model".into(), Some("add `model: NAME`"));
            return None;
        }
    };
    match (&written.command, kind) {
        (Some(command), ProviderKind::Command) if command.value.is_empty() => {
            wrong(command.span, "empty-list", "the command is empty".into(), None);
        }
        (None, ProviderKind::Command) => {
            let help = "add `command: [PROGRAM, ARGUMENT, …]`";
            wrong(*span, "missing-key", "this judge needs a command".into(), Some(help));
        }
        (Some(command), kind) if kind != ProviderKind::Command => {
            let message = format!("a judge of {} does not run a command", kind.word());
            wrong(
                command.span,
                "unknown-key",
                message,
                Some("remove it, or write `provider: command`"),
            );
        }
        _ => {}
    }
    let command = written.command.as_ref().map(|command| command.value.clone()).unwrap_or_default();
    let model = match (called, command.first()) {
        (Some(model), _) if !model.trim().is_empty() => model.to_owned(),
        (None, Some(program)) if kind == ProviderKind::Command => program.clone(),
        _ => {
            wrong(*span, "missing-key", "a judge needs a model".into(), Some("add `model: NAME`"));
            return None;
        }
    };
    if let Some(url) = &written.base_url
        && !url.value.starts_with("http://")
        && !url.value.starts_with("https://")
    {
        let message = format!("{} is not an address", quoted(&url.value));
        wrong(url.span, "invalid-url", message, Some("start it with http:// or https://"));
    }
    let base_url = written.base_url.as_ref().map_or(kind.base_url(), |url| url.value.as_str());
    if base_url.is_empty() && kind != ProviderKind::Command {
        let message = format!("a judge of {} needs its address", kind.word());
        let help = match kind {
            ProviderKind::Azure => "add `base_url: https://RESOURCE.openai.azure.com`",
            ProviderKind::Bedrock => "add `base_url: https://bedrock-runtime.REGION.amazonaws.com`",
            _ => {
                "add `base_url: \
                 https://REGION-aiplatform.googleapis.com/v1/projects/PROJECT/locations/REGION`"
            }
        };
        wrong(*span, "missing-key", message, Some(help));
    }
    if kind == ProviderKind::Bedrock && written.stream == Some(true) {
        let message = "Bedrock streams in a format of its own, which is not supported".to_owned();
        wrong(*span, "unsupported-value", message, Some("remove `stream`"));
    }
    let is_chat =
        matches!(kind, ProviderKind::OpenaiChat | ProviderKind::Azure | ProviderKind::Ollama);
    if written.token_limit.is_some() && !is_chat {
        let message = format!("`token_limit` does not apply to {}", kind.word());
        wrong(*span, "unknown-key", message, Some("it is for Chat Completions"));
    }
    let timeout = match &written.timeout {
        None => Duration::from_secs(60),
        Some(text) => match duration(&text.value) {
            Some(timeout) => timeout,
            None => {
                let message = format!("{} is not a duration", quoted(&text.value));
                let help = "write a number and a unit, such as 60s or 2m";
                wrong(text.span, "invalid-duration", message, Some(help));
                Duration::ZERO
            }
        },
    };
    let max_tokens = match &written.max_tokens {
        Some(most) if most.value == 0 => {
            wrong(most.span, "out-of-range", "expected at least 1 token, found 0".into(), None);
            1
        }
        Some(most) => most.value,
        None => 4096,
    };
    if let Some(price) = &written.price
        && [price.value.input, price.value.output].iter().any(|p| !p.is_finite() || *p < 0.0)
    {
        wrong(price.span, "out-of-range", "expected prices of 0 or more".into(), None);
    }
    let key = key(written, kind, &mut wrong);
    let auth = written.auth.unwrap_or(kind.auth());
    if kind == ProviderKind::Vertex && key == KeySource::None && auth != Auth::None {
        let message = "a judge of vertex needs an access token".to_owned();
        let help = "add `key_command: [gcloud, auth, print-access-token]`";
        wrong(*span, "missing-key", message, Some(help));
    }
    let is_good = problems[before..].iter().all(|problem| !problem.is_error());
    if let Some(url) = written.base_url.as_ref().filter(|url| is_in_clear(&url.value))
        && key != KeySource::None
        && auth != Auth::None
    {
        let message = "the key is sent to another machine without encryption";
        let problem = Problem::warning("key-in-clear", message).at(url.span);
        problems.push(problem.help("use https://"));
    }
    is_good.then(|| Model {
        name: name.map_or_else(|| model.clone(), str::to_owned),
        kind,
        token_limit: written
            .token_limit
            .unwrap_or_else(|| TokenLimit::of(kind, base_url.trim_end_matches('/'), &model)),
        model,
        base_url: base_url.trim_end_matches('/').to_owned(),
        query: written.query.clone(),
        key: if auth == Auth::None { KeySource::None } else { key },
        auth,
        command,
        directory: directory.to_owned(),
        effort: written.effort,
        temperature: written.temperature.as_ref().map(|t| t.value),
        max_tokens,
        structured: written.structured.unwrap_or_default(),
        stream: written.stream.unwrap_or(false),
        timeout,
        price: written.price.as_ref().map(|price| Price {
            input: micro(price.value.input),
            output: micro(price.value.output),
        }),
    })
}

fn key(
    written: &WrittenModel,
    kind: ProviderKind,
    wrong: &mut impl FnMut(toolmark_config::NodeSpan, &'static str, String, Option<&str>),
) -> KeySource {
    match (&written.key_env, &written.key_command) {
        (Some(env), Some(_)) => {
            let message = "only one of key_env and key_command is allowed".to_owned();
            wrong(env.span, "conflicting-keys", message, None);
            KeySource::None
        }
        (Some(env), None) => {
            if !is_variable(&env.value) {
                // The value is most likely the key itself, so neither the message nor
                // an excerpt of the file may repeat it.
                let message = "`key_env` takes the name of an environment variable, such as \
                               ANTHROPIC_API_KEY, and what it has is none"
                    .to_owned();
                wrong(
                    toolmark_config::NodeSpan::default(),
                    "invalid-name",
                    message,
                    Some("put the key into the environment, and its name here"),
                );
                return KeySource::None;
            }
            KeySource::Env(env.value.clone())
        }
        (None, Some(command)) => {
            if command.value.is_empty() {
                wrong(command.span, "empty-list", "the command is empty".into(), None);
            }
            KeySource::Command(command.value.clone())
        }
        (None, None) => match kind.key_env() {
            // Self-hosted servers often need no key: one is sent only if configured.
            Some(env) if written.base_url.is_none() || kind.base_url().is_empty() => {
                KeySource::Env(env.to_owned())
            }
            _ => KeySource::None,
        },
    }
}

/// Whether a text is the name of a variable rather than a key: keys are long and mix letters of
/// both cases with digits, or begin with a known prefix.
fn is_variable(name: &str) -> bool {
    let is_name = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        && !name.starts_with(|c: char| c.is_ascii_digit());
    let has = |is: fn(&u8) -> bool| name.as_bytes().iter().any(is);
    let digits = name.bytes().filter(u8::is_ascii_digit).count();
    let is_mixed = has(u8::is_ascii_lowercase) && digits >= 2 && name.len() >= 12;
    let is_random = digits * 4 >= name.len() && name.len() >= 16;
    let is_known = toolmark_redact::redact(name) != name
        || ["sk_", "pk_", "rk_", "ghp_", "gho_", "xai_", "AIza", "AKIA", "eyJ"]
            .iter()
            .any(|start| name.starts_with(start));
    is_name && (1..=64).contains(&name.len()) && !is_mixed && !is_random && !is_known
}

/// Whether an address is on another machine and not encrypted.
fn is_in_clear(url: &str) -> bool {
    let Some(rest) = url.strip_prefix("http://") else { return false };
    let host = rest.split(['/', '?']).next().unwrap_or_default();
    let is_here = ["localhost", "127.", "[::1]"].iter().any(|here| host.starts_with(here));
    !is_here
}

/// Returns the provider of a model, if its name identifies one.
pub(super) fn kind_of(model: &str) -> Option<ProviderKind> {
    let numbered = |rest: &str| rest.starts_with(|c: char| c.is_ascii_digit());
    if model.starts_with("claude") {
        Some(ProviderKind::Anthropic)
    } else if model.starts_with("gpt-")
        || model.starts_with("chatgpt")
        || model.strip_prefix('o').is_some_and(numbered)
    {
        Some(ProviderKind::Openai)
    } else {
        None
    }
}

/// Parses a duration with a unit.
fn duration(text: &str) -> Option<Duration> {
    let at = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, unit) = text.split_at(at);
    let number: f64 = number.parse().ok()?;
    let seconds = match unit.trim() {
        "ms" => number / 1000.0,
        "s" => number,
        "m" => number * 60.0,
        _ => return None,
    };
    (seconds > 0.0).then(|| Duration::try_from_secs_f64(seconds).ok()).flatten()
}
