//! The `judge:` part of `toolmark.yaml`.
//!
//! ```yaml
//! judge:
//!   provider: anthropic          # or openai, openai-chat, azure, bedrock, vertex, ollama, command
//!   model: claude-sonnet-4-6
//!   key_env: ANTHROPIC_API_KEY   # or key_command: [pass, show, anthropic]
//!   timeout: 60s
//!   concurrency: 4
//!   retries: 4
//!   budget: { tokens: 2000000, usd: 5 }
//!   price: { input: 3.00, output: 15.00 }   # US dollars per million tokens
//!   cache: .toolmark/judge
//!   models:                      # others, for panels
//!     local:
//!       provider: openai-chat
//!       base_url: http://localhost:11434/v1
//!       model: qwen3
//! ```

mod written;

pub use written::{read_settings, schema};

use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;
use toolmark_config::quoted;
use toolmark_outcome::judging::Effort;
use written::kind_of;

/// A provider, by its wire format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "JudgeProvider")]
pub enum ProviderKind {
    /// Anthropic's Messages API.
    Anthropic,
    /// OpenAI's Responses API.
    Openai,
    /// OpenAI's Chat Completions API, and everything compatible with it.
    OpenaiChat,
    /// Chat Completions API of a deployment on Azure.
    Azure,
    /// Anthropic's Messages API through `InvokeModel` of Amazon Bedrock.
    Bedrock,
    /// Anthropic's Messages API through `rawPredict` of Google's Vertex AI.
    Vertex,
    /// Chat Completions API of an Ollama server, by default on this machine.
    Ollama,
    /// A program that reads the prompt on stdin and writes JSON to stdout.
    Command,
}

impl ProviderKind {
    /// Returns the name used in every output.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::Openai => "openai",
            Self::OpenaiChat => "openai-chat",
            Self::Azure => "azure",
            Self::Bedrock => "bedrock",
            Self::Vertex => "vertex",
            Self::Ollama => "ollama",
            Self::Command => "command",
        }
    }

    /// Returns the default address; empty if every customer has another.
    #[must_use]
    pub fn base_url(self) -> &'static str {
        match self {
            Self::Anthropic => "https://api.anthropic.com/v1",
            Self::Openai | Self::OpenaiChat => "https://api.openai.com/v1",
            Self::Ollama => "http://localhost:11434/v1",
            Self::Azure | Self::Bedrock | Self::Vertex | Self::Command => "",
        }
    }

    /// Returns the environment variable that holds the key by default.
    #[must_use]
    pub fn key_env(self) -> Option<&'static str> {
        match self {
            Self::Anthropic => Some("ANTHROPIC_API_KEY"),
            Self::Openai | Self::OpenaiChat => Some("OPENAI_API_KEY"),
            Self::Azure => Some("AZURE_OPENAI_API_KEY"),
            Self::Bedrock => Some("AWS_BEARER_TOKEN_BEDROCK"),
            Self::Vertex | Self::Ollama | Self::Command => None,
        }
    }

    /// Returns the way in which the provider expects the key.
    #[must_use]
    pub fn auth(self) -> Auth {
        match self {
            Self::Anthropic => Auth::XApiKey,
            Self::Azure => Auth::ApiKey,
            _ => Auth::Bearer,
        }
    }
}

/// Method of sending a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "JudgeAuth")]
pub enum Auth {
    /// `Authorization: Bearer`, required by OpenAI.
    Bearer,
    /// `x-api-key`, required by Anthropic.
    XApiKey,
    /// `api-key`, required by Azure.
    ApiKey,
    /// No key, for a local server.
    None,
}

/// Source of a key. Configuration files never contain one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeySource {
    /// An environment variable.
    Env(String),
    /// The first line printed by a program.
    Command(Vec<String>),
    /// No key is needed.
    None,
}

/// Method of requesting a structured answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "JudgeStructured")]
pub enum Structured {
    /// A tool that the model must call.
    #[default]
    Tool,
    /// A JSON Schema for the output.
    Schema,
}

/// The parameter that limits the tokens of an answer of Chat Completions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "JudgeTokenLimit")]
pub enum TokenLimit {
    /// The parameter that most servers accept.
    MaxTokens,
    /// The parameter that reasoning models of OpenAI require.
    MaxCompletionTokens,
}

impl TokenLimit {
    /// Returns the name of the parameter.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::MaxTokens => "max_tokens",
            Self::MaxCompletionTokens => "max_completion_tokens",
        }
    }

    /// Returns the parameter that a model at an address requires, judging by their names.
    #[must_use]
    pub fn of(kind: ProviderKind, base_url: &str, model: &str) -> Self {
        let is_own = kind == ProviderKind::Azure || base_url == ProviderKind::OpenaiChat.base_url();
        // Gateways put the name of the provider before that of the model.
        let name = model.rsplit('/').next().unwrap_or(model);
        let numbered = |rest: &str| rest.starts_with(|c: char| c.is_ascii_digit());
        let digits = |rest: &str| rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok();
        let generation: Option<u32> = name.strip_prefix("gpt-").and_then(digits);
        let is_reasoning = name.strip_prefix('o').is_some_and(numbered)
            || generation.is_some_and(|generation| generation >= 5);
        if is_own || is_reasoning { Self::MaxCompletionTokens } else { Self::MaxTokens }
    }
}

/// The price of tokens, in millionths of a US dollar per million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Price {
    /// Input tokens.
    pub input: u64,
    /// Output tokens.
    pub output: u64,
}

/// A model, with everything needed to ask it.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// Name in specs and reports.
    pub name: String,
    /// Provider.
    pub kind: ProviderKind,
    /// Name at the provider.
    pub model: String,
    /// Base URL: the part before `/messages`, `/responses` or `/chat/completions`.
    pub base_url: String,
    /// Query parameters added to the address, such as Azure's `api-version`.
    pub query: BTreeMap<String, String>,
    /// Source of the key.
    pub key: KeySource,
    /// Method of sending the key.
    pub auth: Auth,
    /// Program and its arguments, for [`ProviderKind::Command`].
    pub command: Vec<String>,
    /// Working directory of the program.
    pub directory: PathBuf,
    /// Reasoning effort.
    pub effort: Option<Effort>,
    /// Temperature; the provider's default if unset.
    pub temperature: Option<f64>,
    /// Maximum number of tokens of an answer.
    pub max_tokens: u32,
    /// Parameter with this maximum, for Chat Completions.
    pub token_limit: TokenLimit,
    /// Method of requesting a structured answer.
    pub structured: Structured,
    /// Whether the answer is streamed.
    pub stream: bool,
    /// Timeout of one attempt.
    pub timeout: Duration,
    /// Price of the tokens.
    pub price: Option<Price>,
}

/// Limits on the spending of one run; unlimited if unset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BudgetLimits {
    /// Maximum number of input and output tokens.
    pub tokens: Option<u64>,
    /// Maximum cost in millionths of a US dollar.
    pub micro_usd: Option<u64>,
}

/// Minimum agreement of a judge with people and with itself, and maximum steering, for its answers
/// to count.
#[derive(Debug, Clone, Copy, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "JudgeFloor", extend("minProperties" = 1))]
pub struct Floor {
    /// Minimum accuracy, from 0 to 1.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1))]
    pub accuracy: Option<f64>,
    /// Minimum κ, from -1 to 1.
    #[serde(default)]
    #[schemars(range(min = -1, max = 1))]
    pub kappa: Option<f64>,
    /// Minimum number of labels of the measurement.
    #[serde(default)]
    pub labels: Option<u64>,
    /// Minimum share of samples with the same answer every time, from 0 to 1.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1))]
    pub consistency: Option<f64>,
    /// Maximum share of verdicts that instructions in the recording may steer, from 0 to 1, for
    /// every probe.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1))]
    pub steering: Option<f64>,
}

/// The settings of judges.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgeSettings {
    /// Model to ask if a grader names none.
    pub default_model: Option<Model>,
    /// Other models, by name.
    pub models: BTreeMap<String, Model>,
    /// Maximum number of retries of a failed attempt.
    pub retries: u32,
    /// Maximum number of concurrent questions.
    pub concurrency: usize,
    /// Spending limits.
    pub budget: BudgetLimits,
    /// Directory of cached answers; `None` disables the cache.
    pub cache: Option<PathBuf>,
    /// File written by `toolmark judge calibrate`.
    pub calibration: Option<PathBuf>,
    /// Minimum agreement of a judge with people.
    pub floor: Option<Floor>,
}

/// Default directory of cached answers.
pub const CACHE: &str = ".toolmark/judge";

impl Default for JudgeSettings {
    fn default() -> Self {
        Self {
            default_model: None,
            models: BTreeMap::new(),
            retries: 4,
            concurrency: 4,
            budget: BudgetLimits::default(),
            cache: Some(PathBuf::from(CACHE)),
            calibration: None,
            floor: None,
        }
    }
}

/// Reason why a word names no model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// No model is configured.
    #[error("no model is configured to judge")]
    None,
    /// The provider has no default address.
    #[error(
        "{} has no address of its own: name {} with its base_url under judge: models:",
        .0.word(), quoted(.1)
    )]
    NoAddress(ProviderKind, String),
    /// The provider of the model is unknown.
    #[error(
        "the provider of {name} is unknown: write anthropic:{0}, openai:{0} or \
         openai-chat:{0}, or name it under judge: models:",
        name = quoted(.0)
    )]
    UnknownProvider(String),
}

impl JudgeSettings {
    /// Returns the model that a spec names: one of `models`, the default one, `provider:model`, or
    /// another model with the settings of the default one. A custom default address, such as a
    /// gateway, serves every name without a provider.
    pub fn model(&self, word: &str) -> Result<Model, ModelError> {
        if let Some(found) = self.find(word) {
            return found;
        }
        match (kind_of(word), &self.default_model) {
            (_, Some(default))
                if default.kind != ProviderKind::Command
                    && default.base_url != default.kind.base_url() =>
            {
                Ok(renamed(default, word))
            }
            (Some(kind), _) => self.like_default(kind, word),
            (None, Some(default)) => Ok(renamed(default, word)),
            (None, None) => Err(ModelError::UnknownProvider(word.to_owned())),
        }
    }

    /// Returns the model that a command line names. As [`Self::model`], but a model whose name
    /// identifies its provider uses the address of that provider, independent of the server
    /// configured for others.
    pub fn model_on_command_line(&self, word: &str) -> Result<Model, ModelError> {
        match (self.find(word), kind_of(word)) {
            (Some(found), _) => found,
            (None, Some(kind)) => self.like_default(kind, word),
            (None, None) => self.model(word),
        }
    }

    /// Finds a model that is configured, or named with its provider.
    fn find(&self, word: &str) -> Option<Result<Model, ModelError>> {
        if let Some(model) = self.models.get(word) {
            return Some(Ok(model.clone()));
        }
        if let Some(default) = &self.default_model
            && (default.name == word || default.model == word)
        {
            return Some(Ok(default.clone()));
        }
        let prefixes = [
            ("anthropic:messages:", ProviderKind::Anthropic),
            ("anthropic:", ProviderKind::Anthropic),
            ("openai:responses:", ProviderKind::Openai),
            ("openai:chat:", ProviderKind::OpenaiChat),
            ("openai-chat:", ProviderKind::OpenaiChat),
            ("openai:", ProviderKind::Openai),
            ("azure:", ProviderKind::Azure),
            ("bedrock:", ProviderKind::Bedrock),
            ("vertex:", ProviderKind::Vertex),
            ("ollama:chat:", ProviderKind::Ollama),
            ("ollama:", ProviderKind::Ollama),
        ];
        prefixes.into_iter().find_map(|(prefix, kind)| {
            let model = word.strip_prefix(prefix).filter(|model| !model.is_empty())?;
            Some(self.like_default(kind, model))
        })
    }

    /// Returns a model of a provider, with the settings of the default model if that has the same
    /// provider.
    fn like_default(&self, kind: ProviderKind, model: &str) -> Result<Model, ModelError> {
        if let Some(default) = self.default_model.as_ref().filter(|default| default.kind == kind) {
            return Ok(renamed(default, model));
        }
        let base_url = kind.base_url().to_owned();
        if base_url.is_empty() {
            return Err(ModelError::NoAddress(kind, model.to_owned()));
        }
        Ok(Model {
            name: model.to_owned(),
            kind,
            model: model.to_owned(),
            token_limit: TokenLimit::of(kind, &base_url, model),
            base_url,
            query: BTreeMap::new(),
            key: kind.key_env().map_or(KeySource::None, |env| KeySource::Env(env.to_owned())),
            auth: kind.auth(),
            command: Vec::new(),
            directory: PathBuf::from("."),
            effort: None,
            temperature: None,
            max_tokens: 4096,
            structured: Structured::default(),
            stream: false,
            timeout: Duration::from_secs(60),
            price: None,
        })
    }
}

/// Returns another model with the settings of one, including its price.
fn renamed(default: &Model, model: &str) -> Model {
    let price = if default.model == model { default.price } else { None };
    let token_limit = match default.token_limit == default_limit(default) {
        true => TokenLimit::of(default.kind, &default.base_url, model),
        false => default.token_limit,
    };
    Model { name: model.into(), model: model.into(), price, token_limit, ..default.clone() }
}

fn default_limit(model: &Model) -> TokenLimit {
    TokenLimit::of(model.kind, &model.base_url, &model.model)
}

#[cfg(test)]
mod tests;
