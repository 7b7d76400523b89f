//! Claude Code and the Claude Agent SDK.

mod install;
mod launch;
mod paths;
mod protocol;
mod toolset;

use crate::Host;
pub(crate) use protocol::ClaudeCodePayload;

pub(crate) const ID: &str = "claude-code";

pub(crate) static HOST: Host = Host {
    id: ID,
    title: "Claude Code",
    protocol: &protocol::ClaudeCode,
    paths: Some(&paths::PATHS),
    toolset: Some(&toolset::TOOLSET),
    launch: Some(&launch::LAUNCH),
    installer: Some(&install::INSTALLER),
};
