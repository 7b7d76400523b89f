//! Claude Code and the Claude Agent SDK.

mod install;
mod paths;
mod protocol;

use crate::{Host, toolset};
pub(crate) use protocol::Payload;
use std::sync::LazyLock;

pub(crate) const ID: &str = "claude-code";

pub(crate) static HOST: Host = Host {
    id: ID,
    title: "Claude Code",
    protocol: &protocol::ClaudeCode,
    paths: Some(&paths::PATHS),
    toolset: Some((include_str!("toolset.yaml"), &TOOLSET)),
    installer: Some(&install::INSTALLER),
};

static TOOLSET: LazyLock<toolset::Toolset> =
    LazyLock::new(|| toolset::parse(include_str!("toolset.yaml")).unwrap_or_default());
