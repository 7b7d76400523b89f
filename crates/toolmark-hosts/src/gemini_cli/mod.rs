//! Gemini CLI and its fork Qwen Code.

mod install;
mod paths;
mod protocol;
mod toolset;

use crate::Host;

pub(crate) const ID: &str = "gemini-cli";

pub(crate) static HOST: Host = Host {
    id: ID,
    title: "Gemini CLI",
    protocol: &protocol::GeminiCli,
    paths: Some(&paths::PATHS),
    toolset: Some(&toolset::TOOLSET),
    installer: Some(&install::INSTALLER),
};
