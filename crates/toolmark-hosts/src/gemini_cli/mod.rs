//! Gemini CLI and its fork Qwen Code.

mod install;
mod launch;
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
    launch: Some(&launch::LAUNCH),
    installer: Some(&install::INSTALLER),
};
