//! pi: its launch settings. It has no hooks for the guard.

mod launch;

use crate::{Host, plain};

pub(crate) static HOST: Host = Host {
    id: "pi",
    title: "pi",
    protocol: &plain::Plain,
    paths: None,
    toolset: None,
    launch: Some(&launch::LAUNCH),
    installer: None,
};
