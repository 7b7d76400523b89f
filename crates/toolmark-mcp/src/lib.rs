//! A guard between an MCP client and an MCP server.
//!
//! The client starts the proxy instead of the server. Every message is forwarded as it was written;
//! only lists of tools, calls and their results are inspected. [`Proxy`] contains all of this
//! logic, without input or output: it takes lines and returns [`ProxyStep`]s. [`serve_stdio`] and
//! [`serve_http`] transport the lines.
//!
//! Messages are not parsed into the types of `rmcp` and written again, because those types only
//! hold what their version of the protocol defines: unknown fields would be lost, requests with
//! positional parameters, batches and fractional IDs refused, and large numbers rounded. The types
//! are used for the answers that the proxy writes.

#![forbid(unsafe_code)]

mod arguments;
mod definition;
mod guard_policy;
mod headers;
mod http;
mod lines;
mod message;
mod pins;
mod policy;
mod proxy;
mod rate;
mod result;
mod serve;
mod stdio;
mod strings;
pub mod suspicion;
mod transport;

pub use guard_policy::GuardPolicy;
pub use http::Remote;
pub use message::MAX_LINE;
pub use pins::{Pins, PinsError};
pub use policy::{
    AuditSink, CallPolicy, DecisionRecord, McpCall, McpRuling, McpSuspicion, NoAudit, Occasion,
};
pub use proxy::{OnAsk, Proxy, ProxySettings, ProxyStep};
pub use result::ResultLimits;
pub use serve::{Ending, ServeError, serve_http, serve_stdio};
