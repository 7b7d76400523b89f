//! Specs: what was expected, in whosever words.
//!
//! A file is read into a tree that knows where everything stands, its dialect
//! is told from its content, and the dialect makes a
//! [`Plan`](toolmark_grade::Plan) of it. All mistakes are found in one go.

#![forbid(unsafe_code)]

mod dialect;
pub mod dialects;
mod loading;

pub use dialect::{Dialect, DialectInfo};
pub use loading::{Entry, LoadOptions, Loading};
