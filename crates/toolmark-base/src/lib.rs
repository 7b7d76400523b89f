//! Helpers for every crate: enums whose variants are words, text cuts at character boundaries,
//! lexical paths, and atomic writes.

#![forbid(unsafe_code)]

pub mod file;
pub mod path;
pub mod sanitize;
mod sync;
pub mod text;
mod word_enum;

pub use sync::lock;

#[doc(hidden)]
pub use serde as __serde;
