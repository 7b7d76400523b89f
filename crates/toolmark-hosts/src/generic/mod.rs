//! Agents and MCP servers that are not known: the names that many of them give
//! to the same kinds of tools.

use crate::{Host, plain, toolset};
use std::sync::LazyLock;

pub(crate) const ID: &str = "generic";

pub(crate) static HOST: Host = Host {
    id: ID,
    title: "other agents and MCP servers",
    protocol: &plain::Plain,
    paths: None,
    toolset: Some((include_str!("toolset.yaml"), &TOOLSET)),
    installer: None,
};

pub(crate) static TOOLSET: LazyLock<toolset::Toolset> =
    LazyLock::new(|| toolset::parse(include_str!("toolset.yaml")).unwrap_or_default());
