//! The ledger of one agent session: what its calls are for, what they did, and what
//! followed from them.
//!
//! A [`Session`] is built once from a trajectory. It knows the purpose of each call, the
//! files as the trace proves them, the effects of commands and writes, the class of each
//! error, and how each failure was recovered. The rules of `toolmark-check`, the guard, the
//! feed and the server query it.
//!
//! Nothing here reads files or prints.

#![forbid(unsafe_code)]

pub mod call_key;
pub mod claims;
pub mod effects;
mod ended;
pub mod error_class;
pub mod files;
pub mod hidden_failure;
pub mod notation;
pub mod own;
pub mod past;
pub mod patch;
pub mod path;
pub mod project;
pub mod purpose;
pub mod recovery;
pub mod result_kind;
pub mod session;
pub mod shell;
pub mod text;
pub mod tool_rules;
pub mod words;

pub mod addresses;

pub use call_key::errand;
pub use session::Session;
pub use toolmark_hosts::tool_effect;
