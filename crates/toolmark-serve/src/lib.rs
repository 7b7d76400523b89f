//! The server of toolmark: watches session folders, receives telemetry, and shows sessions as they
//! happen, with one store, an HTTP API and a web page.
//!
//! The readers of `toolmark-trace` read the sessions, the rules of `toolmark-check` check them and
//! `toolmark-feed` groups the issues; this crate makes no verdicts of its own. A session file takes
//! precedence over telemetry of the same session.
//!
//! ```no_run
//! use toolmark_serve::{ServerOptions, serve};
//! # struct Mine;
//! # impl toolmark_serve::Commands for Mine {}
//! let options = ServerOptions::new("serve.db".into(), std::sync::Arc::new(Mine));
//! serve(options, |ready| drop(ready.ui))?;
//! # Ok::<(), toolmark_serve::ServeError>(())
//! ```

#![forbid(unsafe_code)]

mod access;
mod api;
pub mod config;
mod evaluate;
mod evaluators;
mod export;
mod housekeeping;
mod issues;
mod library;
mod listen;
mod live;
mod mcp;
mod model;
mod otlp;
mod pace;
mod page;
mod places;
mod server;
mod sessions;
mod store;
mod view;
mod watch;

pub use access::{AccessTokens, IngestKey};
pub use api::{HostStatus, duration};
pub use evaluators::{
    Answers, CallEvaluator, Evaluated, EvaluatedStore, EvaluationSubject, Tag, evaluate_store,
    version_of,
};
pub use export::{ExportError, export_parquet};
pub use mcp::{McpOptions, mcp};
pub use otlp::OtlpLimits;
pub use server::{
    CommandError, Commands, Listen, Ready, ServeError, ServerOptions, Tls, serve, state_beside,
};
pub use store::StoreError;
pub use watch::Folder;
