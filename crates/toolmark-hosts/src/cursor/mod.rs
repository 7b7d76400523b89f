//! Cursor's agent.

mod install;
mod paths;
mod protocol;

use crate::{Host, toolset};
use std::sync::LazyLock;

pub(crate) const ID: &str = "cursor";

pub(crate) static HOST: Host = Host {
    id: ID,
    title: "Cursor",
    protocol: &protocol::Cursor,
    paths: Some(&paths::PATHS),
    toolset: Some((include_str!("toolset.yaml"), &TOOLSET)),
    installer: Some(&install::INSTALLER),
};

static TOOLSET: LazyLock<toolset::Toolset> =
    LazyLock::new(|| toolset::parse(include_str!("toolset.yaml")).unwrap_or_default());
