//! Unknown agents and MCP servers: common names for the same kinds of tools.

mod toolset;

use crate::{Host, plain};

pub(crate) use toolset::TOOLSET;

pub(crate) const ID: &str = "generic";

pub(crate) static HOST: Host = Host {
    id: ID,
    title: "other agents and MCP servers",
    protocol: &plain::PlainProtocol,
    paths: None,
    toolset: Some(&TOOLSET),
    launch: None,
    installer: None,
};
