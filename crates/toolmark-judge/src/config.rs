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
pub enum Kind {
    /// Anthropic's Messages.
    Anthropic,
    /// OpenAI's Responses.
    Openai,
    /// OpenAI's Chat Completions, and everything compatible with it.
    OpenaiChat,
    /// Chat Completions of a deployment on Azure.
    Azure,
    /// Anthropic's Messages through `InvokeModel` of Amazon Bedrock.
    Bedrock,
    /// Anthropic's Messages through `rawPredict` of Google's Vertex AI.
    Vertex,
    /// Chat Completions of an Ollama server, by default on this machine.
    Ollama,
    /// A program that reads the prompt on stdin and writes JSON to stdout.
    Command,
}

impl Kind {
    /// The word used in every output.
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

    /// Its default address; empty if every customer has another.
    #[must_use]
    pub fn base_url(self) -> &'static str {
        match self {
            Self::Anthropic => "https://api.anthropic.com/v1",
            Self::Openai | Self::OpenaiChat => "https://api.openai.com/v1",
            Self::Ollama => "http://localhost:11434/v1",
            Self::Azure | Self::Bedrock | Self::Vertex | Self::Command => "",
        }
    }

    /// The environment variable that holds its key by default.
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

    /// How it wants the key.
    #[must_use]
    pub fn auth(self) -> Auth {
        match self {
            Self::Anthropic => Auth::XApiKey,
            Self::Azure => Auth::ApiKey,
            _ => Auth::Bearer,
        }
    }
}

/// How a key is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "JudgeAuth")]
pub enum Auth {
    /// `Authorization: Bearer`, as OpenAI wants it.
    Bearer,
    /// `x-api-key`, as Anthropic wants it.
    XApiKey,
    /// `api-key`, as Azure wants it.
    ApiKey,
    /// Not at all, for a local server.
    None,
}

/// Where a key comes from. Configuration files never contain one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeySource {
    /// An environment variable.
    Env(String),
    /// The first line a program prints.
    Command(Vec<String>),
    /// No key is needed.
    None,
}

/// How a structured answer is requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "JudgeStructured")]
pub enum Structured {
    /// With a tool the model must call.
    #[default]
    Tool,
    /// With a JSON Schema for its output.
    Schema,
}

/// The parameter that limits the tokens of an answer of Chat Completions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "JudgeTokenLimit")]
pub enum TokenLimit {
    /// As most servers know it.
    MaxTokens,
    /// As reasoning models of OpenAI require it.
    MaxCompletionTokens,
}

impl TokenLimit {
    /// The name of the parameter.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::MaxTokens => "max_tokens",
            Self::MaxCompletionTokens => "max_completion_tokens",
        }
    }

    /// What a model at an address requires, as far as their names tell.
    #[must_use]
    pub fn of(kind: Kind, base_url: &str, model: &str) -> Self {
        let is_own = kind == Kind::Azure || base_url == Kind::OpenaiChat.base_url();
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

/// A model, and everything needed to ask it.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// Its name in specs and reports.
    pub name: String,
    /// Its provider.
    pub kind: Kind,
    /// Its name at the provider.
    pub model: String,
    /// Its address: everything before `/messages`, `/responses` or
    /// `/chat/completions`.
    pub base_url: String,
    /// Query parameters to add to the address, such as Azure's `api-version`.
    pub query: BTreeMap<String, String>,
    /// Where its key comes from.
    pub key: KeySource,
    /// How the key is sent.
    pub auth: Auth,
    /// The program, for [`Kind::Command`].
    pub command: Vec<String>,
    /// The working directory of the program.
    pub directory: PathBuf,
    /// Its reasoning effort.
    pub effort: Option<Effort>,
    /// The temperature; the provider's default if unset.
    pub temperature: Option<f64>,
    /// How many tokens an answer may have.
    pub max_tokens: u32,
    /// The parameter that says so, for Chat Completions.
    pub token_limit: TokenLimit,
    /// How a structured answer is requested.
    pub structured: Structured,
    /// Whether the answer is streamed.
    pub stream: bool,
    /// How long one attempt may take.
    pub timeout: Duration,
    /// The price of its tokens.
    pub price: Option<Price>,
}

/// What may be spent in one run; unlimited if unset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BudgetLimits {
    /// Input and output tokens.
    pub tokens: Option<u64>,
    /// Millionths of a US dollar.
    pub micro_usd: Option<u64>,
}

/// How well a judge must agree with people and with itself, and how little it may be
/// steered, for its answers to count.
#[derive(Debug, Clone, Copy, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "JudgeFloor", extend("minProperties" = 1))]
pub struct Floor {
    /// The least accuracy, from 0 to 1.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1))]
    pub accuracy: Option<f64>,
    /// The least κ, from -1 to 1.
    #[serde(default)]
    #[schemars(range(min = -1, max = 1))]
    pub kappa: Option<f64>,
    /// The least number of labels it was measured on.
    #[serde(default)]
    pub labels: Option<u64>,
    /// The least share of samples on which it says the same every time, from 0 to 1.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1))]
    pub consistency: Option<f64>,
    /// The largest share of verdicts that instructions in the recording may steer,
    /// from 0 to 1, whichever probe it is.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1))]
    pub steering: Option<f64>,
}

/// The settings of judges.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// The model to ask if a grader names none.
    pub default_model: Option<Model>,
    /// Other models, by name.
    pub models: BTreeMap<String, Model>,
    /// How often a failed attempt is retried.
    pub retries: u32,
    /// How many questions are asked at once.
    pub concurrency: usize,
    /// What may be spent.
    pub budget: BudgetLimits,
    /// The directory of cached answers; `None` disables the cache.
    pub cache: Option<PathBuf>,
    /// The file `toolmark judge calibrate` wrote.
    pub calibration: Option<PathBuf>,
    /// How well a judge must agree with people.
    pub floor: Option<Floor>,
}

/// The default directory of cached answers.
pub const CACHE: &str = ".toolmark/judge";

impl Default for Settings {
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

impl Settings {
    /// The model a spec names: one of `models`, the default one, `provider:model`, or
    /// another model with the settings of the default one. A default address of one's
    /// own, such as a gateway, serves every name that does not name its provider.
    pub fn model(&self, word: &str) -> Result<Model, String> {
        if let Some(found) = self.find(word) {
            return found;
        }
        match (kind_of(word), &self.default_model) {
            (_, Some(default))
                if default.kind != Kind::Command && default.base_url != default.kind.base_url() =>
            {
                Ok(renamed(default, word))
            }
            (Some(kind), _) => self.like_default(kind, word),
            (None, Some(default)) => Ok(renamed(default, word)),
            (None, None) => Err(unknown_provider(word)),
        }
    }

    /// The model a command line names. The same, but a model whose name tells its
    /// provider goes to the address of that provider, whatever server is configured
    /// for others.
    pub fn model_on_command_line(&self, word: &str) -> Result<Model, String> {
        match (self.find(word), kind_of(word)) {
            (Some(found), _) => found,
            (None, Some(kind)) => self.like_default(kind, word),
            (None, None) => self.model(word),
        }
    }

    /// A model that is configured, or named with its provider.
    fn find(&self, word: &str) -> Option<Result<Model, String>> {
        if let Some(model) = self.models.get(word) {
            return Some(Ok(model.clone()));
        }
        if let Some(default) = &self.default_model
            && (default.name == word || default.model == word)
        {
            return Some(Ok(default.clone()));
        }
        let prefixes = [
            ("anthropic:messages:", Kind::Anthropic),
            ("anthropic:", Kind::Anthropic),
            ("openai:responses:", Kind::Openai),
            ("openai:chat:", Kind::OpenaiChat),
            ("openai-chat:", Kind::OpenaiChat),
            ("openai:", Kind::Openai),
            ("azure:", Kind::Azure),
            ("bedrock:", Kind::Bedrock),
            ("vertex:", Kind::Vertex),
            ("ollama:chat:", Kind::Ollama),
            ("ollama:", Kind::Ollama),
        ];
        prefixes.into_iter().find_map(|(prefix, kind)| {
            let model = word.strip_prefix(prefix).filter(|model| !model.is_empty())?;
            Some(self.like_default(kind, model))
        })
    }

    /// A model of a provider, with the settings of the default model if that has the
    /// same provider.
    fn like_default(&self, kind: Kind, model: &str) -> Result<Model, String> {
        if let Some(default) = self.default_model.as_ref().filter(|default| default.kind == kind) {
            return Ok(renamed(default, model));
        }
        let base_url = kind.base_url().to_owned();
        if base_url.is_empty() {
            return Err(format!(
                "{} has no address of its own: name {} with its base_url under judge: models:",
                kind.word(),
                quoted(model)
            ));
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

/// Another model with the settings of one; the price is that of the one.
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

fn unknown_provider(word: &str) -> String {
    format!(
        "the provider of {} is unknown: write anthropic:{word}, openai:{word} or \
         openai-chat:{word}, or name it under judge: models:",
        quoted(word)
    )
}

#[cfg(test)]
mod tests;
