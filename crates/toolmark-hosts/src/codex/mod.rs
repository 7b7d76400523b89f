//! OpenAI Codex.

mod install;
mod paths;
mod protocol;

use crate::{Host, toolset};
use std::sync::LazyLock;

pub(crate) const ID: &str = "codex";

pub(crate) static HOST: Host = Host {
    id: ID,
    title: "Codex",
    protocol: &protocol::Codex,
    paths: Some(&paths::PATHS),
    toolset: Some((include_str!("toolset.yaml"), &TOOLSET)),
    installer: Some(&install::INSTALLER),
};

static TOOLSET: LazyLock<toolset::Toolset> =
    LazyLock::new(|| toolset::parse(include_str!("toolset.yaml")).unwrap_or_default());
