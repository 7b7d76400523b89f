//! OpenCode: its tools. It has no hooks for the guard.

mod launch;
mod toolset;

use crate::{Host, plain};

pub(crate) static HOST: Host = Host {
    id: "opencode",
    title: "OpenCode",
    protocol: &plain::PlainProtocol,
    paths: None,
    toolset: Some(&toolset::TOOLSET),
    launch: Some(&launch::LAUNCH),
    installer: None,
};
