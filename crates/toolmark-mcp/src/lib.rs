//! A guard between an MCP client and an MCP server.
//!
//! The client starts the proxy in place of the server. Every message passes in
//! both directions as it was written; only lists of tools, calls of tools and
//! their results are looked at. [`Proxy`] is the whole of that logic, without
//! any input or output: lines go in, [`Step`]s come out. [`serve_stdio`] and
//! [`serve_http`] carry the lines.
//!
//! Messages are not read into the types of `rmcp` and written again: those types
//! hold what their version of the protocol knows, so fields of a tool, of
//! capabilities or of a notification that are not known would be gone, a request
//! with positional parameters, a batch or an id that is a fraction refused, and
//! large numbers rounded. The types are used for the answers the proxy writes.

#![forbid(unsafe_code)]

mod arguments;
mod carrier;
mod definition;
mod guarded;
mod headers;
mod http;
mod lines;
mod message;
mod pins;
mod proxy;
mod rate;
mod result;
mod serve;
mod stdio;
mod strings;
pub mod suspicion;
mod warden;

pub use guarded::Guarded;
pub use http::Remote;
pub use message::LONGEST_LINE;
pub use pins::{Pins, PinsError};
pub use proxy::{OnAsk, Proxy, Settings, Step};
pub use result::Limits;
pub use serve::{Ending, ServeError, serve_http, serve_stdio};
pub use warden::{Call, Finding, Journal, NoJournal, Occasion, Record, Ruling, Warden};
