//! The `judge:` part of `toolmark.yaml`.
//!
//! ```yaml
//! judge:
//!   provider: anthropic          # anthropic, openai, openai-chat or command
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
            Self::Command => "command",
        }
    }

    /// Its default address.
    #[must_use]
    pub fn base_url(self) -> &'static str {
        match self {
            Self::Anthropic => "https://api.anthropic.com/v1",
            Self::Openai | Self::OpenaiChat => "https://api.openai.com/v1",
            Self::Command => "",
        }
    }

    /// The environment variable that holds its key by default.
    #[must_use]
    pub fn key_env(self) -> Option<&'static str> {
        match self {
            Self::Anthropic => Some("ANTHROPIC_API_KEY"),
            Self::Openai | Self::OpenaiChat => Some("OPENAI_API_KEY"),
            Self::Command => None,
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

/// How well a judge must agree with people for its answers to count.
#[derive(Debug, Clone, Copy, PartialEq, Default, Deserialize, JsonSchema)]
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
    /// The model a spec or a command line names: one of `models`, the default one,
    /// `provider:model`, or another model with the settings of the default one.
    pub fn model(&self, word: &str) -> Result<Model, String> {
        if let Some(model) = self.models.get(word) {
            return Ok(model.clone());
        }
        if let Some(default) = &self.default_model
            && (default.name == word || default.model == word)
        {
            return Ok(default.clone());
        }
        for (prefix, kind) in [
            ("anthropic:messages:", Kind::Anthropic),
            ("anthropic:", Kind::Anthropic),
            ("openai:responses:", Kind::Openai),
            ("openai:chat:", Kind::OpenaiChat),
            ("openai-chat:", Kind::OpenaiChat),
            ("openai:", Kind::Openai),
        ] {
            if let Some(model) = word.strip_prefix(prefix).filter(|model| !model.is_empty()) {
                return Ok(self.like_default(kind, model));
            }
        }
        match (kind_of(word), &self.default_model) {
            (Some(kind), _) => Ok(self.like_default(kind, word)),
            (None, Some(default)) => {
                Ok(Model { name: word.to_owned(), model: word.to_owned(), ..default.clone() })
            }
            (None, None) => Err(format!(
                "the provider of {} is unknown: write anthropic:{word}, openai:{word} or \
                 openai-chat:{word}, or name it under judge: models:",
                quoted(word)
            )),
        }
    }

    /// A model of a provider, with the settings of the default model if that has the
    /// same provider or an address of its own, such as a gateway.
    fn like_default(&self, kind: Kind, model: &str) -> Model {
        if let Some(default) = &self.default_model
            && default.kind != Kind::Command
            && (default.kind == kind || default.base_url != default.kind.base_url())
        {
            let price = if default.model == model { default.price } else { None };
            return Model { name: model.into(), model: model.into(), price, ..default.clone() };
        }
        Model {
            name: model.to_owned(),
            kind,
            model: model.to_owned(),
            base_url: kind.base_url().to_owned(),
            query: BTreeMap::new(),
            key: kind.key_env().map_or(KeySource::None, |env| KeySource::Env(env.to_owned())),
            auth: if kind == Kind::Anthropic { Auth::XApiKey } else { Auth::Bearer },
            command: Vec::new(),
            directory: PathBuf::from("."),
            effort: None,
            temperature: None,
            max_tokens: 4096,
            structured: Structured::default(),
            stream: false,
            timeout: Duration::from_secs(60),
            price: None,
        }
    }
}

#[cfg(test)]
mod tests;
