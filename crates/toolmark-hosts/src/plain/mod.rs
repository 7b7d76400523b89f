//! Any other caller of the guard: plain JSON in and out.

mod protocol;

use crate::Host;

pub(crate) use protocol::PlainProtocol;

pub(crate) static HOST: Host = Host {
    id: "plain",
    title: "plain JSON",
    protocol: &PlainProtocol,
    paths: None,
    toolset: None,
    launch: None,
    installer: None,
};
