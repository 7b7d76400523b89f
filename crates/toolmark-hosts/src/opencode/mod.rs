//! OpenCode: its tools. It has no hooks that the guard could answer.

mod toolset;

use crate::{Host, plain};

pub(crate) static HOST: Host = Host {
    id: "opencode",
    title: "OpenCode",
    protocol: &plain::Plain,
    paths: None,
    toolset: Some(&toolset::TOOLSET),
    installer: None,
};
