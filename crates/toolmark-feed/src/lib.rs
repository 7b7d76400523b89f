//! What keeps going wrong across sessions: failures and findings grouped into issues.

#![forbid(unsafe_code)]

pub mod checks;
pub mod class;
pub mod key;
pub mod language;
pub mod role;
pub mod salient;
pub mod template;
