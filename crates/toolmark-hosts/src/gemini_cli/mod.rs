//! Gemini CLI and its fork Qwen Code.

mod install;
mod paths;
mod protocol;

use crate::{Host, toolset};
use std::sync::LazyLock;

pub(crate) const ID: &str = "gemini-cli";

pub(crate) static HOST: Host = Host {
    id: ID,
    title: "Gemini CLI",
    protocol: &protocol::GeminiCli,
    paths: Some(&paths::PATHS),
    toolset: Some((include_str!("toolset.yaml"), &TOOLSET)),
    installer: Some(&install::INSTALLER),
};

static TOOLSET: LazyLock<toolset::Toolset> =
    LazyLock::new(|| toolset::parse(include_str!("toolset.yaml")).unwrap_or_default());
