//! Cursor's agent.

mod install;
mod paths;
mod protocol;
mod toolset;

use crate::Host;

pub(crate) const ID: &str = "cursor";

pub(crate) static HOST: Host = Host {
    id: ID,
    title: "Cursor",
    protocol: &protocol::CursorProtocol,
    paths: Some(&paths::PATHS),
    toolset: Some(&toolset::TOOLSET),
    launch: None,
    installer: Some(&install::INSTALLER),
};
