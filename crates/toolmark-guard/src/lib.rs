//! The rules of `toolmark check` for live calls: decides whether a call that is about
//! to run is allowed, denied or needs approval.
//!
//! A [`Host`](toolmark_hosts::Host) reads the payload its agent hands to a hook
//! into an [`HookEvent`] and writes the [`GuardAnswer`] back in the agent's own protocol.
//! In between, [`Guard`] runs the same analysis that `toolmark check` runs on
//! recorded calls, and a [`Policy`](policy::Policy) turns the effects of the call
//! into a decision.
//!
//! ```
//! use toolmark_guard::Guard;
//! use toolmark_shell::Decision;
//!
//! let payload = br#"{"tool": "Bash", "args": {"command": "git push --force"}}"#;
//! let host = toolmark_hosts::detect(payload);
//! let event = host.read(payload)?;
//! assert_eq!(Guard::default().decide(&event, None).decision, Decision::Deny);
//! # Ok::<(), toolmark_hosts::PayloadError>(())
//! ```
//!
//! [`hook::run`] performs all these steps for one payload on the standard input; nothing
//! else in this crate prints, and nothing is prepared at start-up.

#![forbid(unsafe_code)]

mod after;
pub mod allowed;
pub mod audit;
pub mod facts;
pub mod files;
mod git_index;
mod guard;
mod history;
pub mod hook;
pub mod kept;
pub mod permissions;
pub mod policy;
pub mod replay;
pub mod repository;
pub mod session;
mod transcript;

pub use guard::{Guard, TranscriptReader};
pub use toolmark_hosts::{Args, GuardAnswer, HookEvent, Moment};
