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

/// Whose wire format a model speaks.
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
    /// A program: the prompt on its stdin, JSON on its stdout.
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

    /// Where it is, unless something else is said.
    #[must_use]
    pub fn base_url(self) -> &'static str {
        match self {
            Self::Anthropic => "https://api.anthropic.com/v1",
            Self::Openai | Self::OpenaiChat => "https://api.openai.com/v1",
            Self::Command => "",
        }
    }

    /// The variable its key is in, unless something else is said.
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
    /// Not at all: a local server.
    None,
}

/// Where a key comes from. It is never in a file of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeySource {
    /// An environment variable.
    Env(String),
    /// The first line a program prints.
    Command(Vec<String>),
    /// None is needed.
    None,
}

/// How an answer in a given shape is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "JudgeStructured")]
pub enum Structured {
    /// By a tool the model must call.
    #[default]
    Tool,
    /// By a JSON Schema for what it says.
    Schema,
}

/// What tokens cost, in millionths of a US dollar per million of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Price {
    /// Those that are read.
    pub input: u64,
    /// Those that are written.
    pub output: u64,
}

/// A model, and everything that is needed to ask it.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// What specs and reports call it.
    pub name: String,
    /// Whose wire format it speaks.
    pub kind: Kind,
    /// What its provider calls it.
    pub model: String,
    /// Where it is: everything before `/messages`, `/responses` or
    /// `/chat/completions`.
    pub base_url: String,
    /// More to be put behind the address, such as Azure's `api-version`.
    pub query: BTreeMap<String, String>,
    /// Where its key comes from.
    pub key: KeySource,
    /// How the key is sent.
    pub auth: Auth,
    /// The program, for [`Kind::Command`].
    pub command: Vec<String>,
    /// Where the program runs.
    pub directory: PathBuf,
    /// How hard it thinks.
    pub effort: Option<Effort>,
    /// How freely it chooses its words; the provider's own way where unset.
    pub temperature: Option<f64>,
    /// How many tokens an answer may have.
    pub max_tokens: u32,
    /// How its answer gets its shape.
    pub structured: Structured,
    /// Is the answer to be sent bit by bit?
    pub stream: bool,
    /// How long one attempt may take.
    pub timeout: Duration,
    /// What it costs.
    pub price: Option<Price>,
}

/// What may be spent; nothing is limited where nothing is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Budget {
    /// Tokens, read and written.
    pub tokens: Option<u64>,
    /// Millionths of a US dollar.
    pub micro_usd: Option<u64>,
}

/// How well a judge must agree with people before anything hangs on it.
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

/// Everything a file says about judges.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// The model that is asked where no other is named.
    pub usual: Option<Model>,
    /// Others, by name.
    pub models: BTreeMap<String, Model>,
    /// How often an attempt is repeated.
    pub retries: u32,
    /// How many questions are asked at once.
    pub concurrency: usize,
    /// What may be spent.
    pub budget: Budget,
    /// Where answers are kept; `None` where they are not.
    pub cache: Option<PathBuf>,
    /// What `toolmark judge calibrate` wrote.
    pub calibration: Option<PathBuf>,
    /// How well a judge must agree with people.
    pub floor: Option<Floor>,
}

/// Where answers are kept unless something else is said.
pub const CACHE: &str = ".toolmark/judge";

impl Default for Settings {
    fn default() -> Self {
        Self {
            usual: None,
            models: BTreeMap::new(),
            retries: 4,
            concurrency: 4,
            budget: Budget::default(),
            cache: Some(PathBuf::from(CACHE)),
            calibration: None,
            floor: None,
        }
    }
}

impl Settings {
    /// The model a spec or a command line names: one of `models`, the usual one,
    /// `provider:model`, or a name that is put in place of the usual model's.
    pub fn model(&self, word: &str) -> Result<Model, String> {
        if let Some(model) = self.models.get(word) {
            return Ok(model.clone());
        }
        if let Some(usual) = &self.usual
            && (usual.name == word || usual.model == word)
        {
            return Ok(usual.clone());
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
                return Ok(self.like_usual(kind, model));
            }
        }
        match (kind_of(word), &self.usual) {
            (Some(kind), _) => Ok(self.like_usual(kind, word)),
            (None, Some(usual)) => {
                Ok(Model { name: word.to_owned(), model: word.to_owned(), ..usual.clone() })
            }
            (None, None) => Err(format!(
                "the provider of {} is not known: write anthropic:{word}, openai:{word} or \
                 openai-chat:{word}, or name it under judge: models:",
                quoted(word)
            )),
        }
    }

    /// A model of a provider: at the usual place where that is of the same kind
    /// or not the provider's own.
    fn like_usual(&self, kind: Kind, model: &str) -> Model {
        if let Some(usual) = &self.usual
            && usual.kind != Kind::Command
            && (usual.kind == kind || usual.base_url != usual.kind.base_url())
        {
            let price = if usual.model == model { usual.price } else { None };
            return Model { name: model.into(), model: model.into(), price, ..usual.clone() };
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
