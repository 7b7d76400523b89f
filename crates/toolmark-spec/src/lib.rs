//! Specs: what was expected, in whosever words.
//!
//! A file is read into a tree that knows where everything stands, its dialect
//! is told from its content, and the dialect makes a
//! [`Plan`](toolmark_grade::Plan) of it. All mistakes are found in one go.
//!
//! A [`Source`] is parsed into a tree of [`Node`](toolmark_grade::config::Node)s
//! that know their places ([`parse()`]), its dialect is told from its content,
//! and the dialect makes a [`Plan`](toolmark_grade::Plan) of it ([`load()`]). All
//! mistakes are found in one go, and shown with the text underlined
//! ([`render()`]) or as JSON ([`problems_json`]).
//!
//! ```
//! use toolmark_spec::{Source, Style, parse, render};
//!
//! let source = Source::new("evals/x.yaml", "max: 3\nmax: 4\n");
//! let parsed = parse(&source);
//! let shown = render(&source, &parsed.problems, Style::default());
//! assert!(shown.contains("evals/x.yaml:2:1"));
//! ```

#![forbid(unsafe_code)]

pub mod dataset;
mod dialect;
pub mod dialects;
pub mod json;
mod load;
mod loading;
mod parse;
mod render;
mod scalar;
pub mod schema;
mod source;
mod syntax;
pub mod template;
pub mod yaml;

pub use dialect::{Dialect, DialectInfo};
pub use load::{Loaded, load, load_source};
pub use loading::{Entry, Included, LoadOptions, Loading};
pub use parse::{Parsed, parse};
pub use render::{Style, problems_json, render};
pub use source::{Place, Source};
