//! GitHub Copilot CLI, and the tools of Copilot in VS Code.

mod install;
mod launch;
mod paths;
mod protocol;
mod toolset;

use crate::Host;

pub(crate) const ID: &str = "copilot-cli";

pub(crate) static HOST: Host = Host {
    id: ID,
    title: "Copilot CLI",
    protocol: &protocol::CopilotCli,
    paths: Some(&paths::PATHS),
    toolset: Some(&toolset::TOOLSET),
    launch: Some(&launch::LAUNCH),
    installer: Some(&install::INSTALLER),
};
