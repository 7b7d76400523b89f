//! Specs: what was expected, in whosever words.
//!
//! A file is read into a tree that knows where everything stands
//! ([`parse`]), its dialect is told from its content, and the dialect makes a
//! [`Plan`](toolmark_grade::Plan) of it ([`load`]). All mistakes are found in
//! one go, and [`render`] shows them in the text they stand in.

#![forbid(unsafe_code)]

mod dataset;
mod dialect;
pub mod dialects;
pub mod json;
mod load;
mod loading;
mod parse;
mod render;
mod scalar;
mod source;
mod syntax;
pub mod yaml;

pub use dialect::{Dialect, DialectInfo};
pub use load::{Loaded, load, load_source};
pub use loading::{Entry, Included, LoadOptions, Loading};
pub use parse::{Parsed, parse};
pub use render::{Style, problems_json, render};
pub use source::{Place, Source};
