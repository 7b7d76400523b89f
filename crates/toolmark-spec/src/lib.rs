//! Specs: what was expected, in whosever words.
//!
//! A file is read into a tree that knows where everything stands, its dialect
//! is told from its content, and the dialect makes a
//! [`Plan`](toolmark_grade::Plan) of it. All mistakes are found in one go.
//!
//! A [`Source`] is parsed into a tree of [`Node`](toolmark_config::Node)s
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

pub mod dialects;
mod load;

pub use load::{load, load_source};
