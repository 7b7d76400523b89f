//! Specs: what was expected, in whosever words.
//!
//! A [`Source`](toolmark_config::Source) is parsed into a tree of
//! [`Node`](toolmark_config::Node)s that know their places, its dialect is
//! detected from its content, and the dialect makes a
//! [`Plan`](toolmark_grade::Plan) of it ([`load()`]). All errors are found in
//! one pass.
//!
//! ```
//! use toolmark_config::{Source, Style, parse, render};
//!
//! let source = Source::new("evals/x.yaml", "max: 3\nmax: 4\n");
//! let parsed = parse(&source);
//! let shown = render(&source, &parsed.problems, Style::default());
//! assert!(shown.contains("evals/x.yaml:2:1"));
//! ```

#![forbid(unsafe_code)]

pub mod dialects;
mod load;

pub use load::{load, load_source};
