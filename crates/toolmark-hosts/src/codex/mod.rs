//! OpenAI Codex.

mod install;
mod launch;
mod paths;
mod protocol;
mod toolset;

use crate::Host;

pub(crate) const ID: &str = "codex";

pub(crate) static HOST: Host = Host {
    id: ID,
    title: "Codex",
    protocol: &protocol::Codex,
    paths: Some(&paths::PATHS),
    toolset: Some(&toolset::TOOLSET),
    launch: Some(&launch::LAUNCH),
    installer: Some(&install::INSTALLER),
};
