//! pi: how it is run. It has no hooks that the guard could answer.

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
