//! pi: its tools and its launch settings. It has no hooks for the guard.

mod launch;
mod toolset;

use crate::{Host, plain};

pub(crate) static HOST: Host = Host {
    id: "pi",
    title: "pi",
    protocol: &plain::PlainProtocol,
    paths: None,
    toolset: Some(&toolset::TOOLSET),
    launch: Some(&launch::LAUNCH),
    installer: None,
};
