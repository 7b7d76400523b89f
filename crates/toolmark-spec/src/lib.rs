//! Specs: what was expected, in any of the dialects that are known.
//!
//! A file is read into a tree that knows where everything stands, its dialect is
//! told from its content, and the dialect makes a [`Plan`](toolmark_grade::Plan)
//! of it ([`load()`]). All mistakes are found in one go.
//!
//! ```
//! use std::path::Path;
//! use toolmark_config::Source;
//! use toolmark_grade::LoadOptions;
//!
//! let source = Source::new("x.yaml", "cases:\n  - id: build\n    expect: {calls: [Bash]}\n");
//! let loaded = toolmark_spec::load_source(source, Path::new("."), &LoadOptions::default());
//! assert_eq!(loaded.plan.unwrap().cases[0].id, "build");
//! ```

#![forbid(unsafe_code)]

pub mod dialects;
mod load;

pub use load::{load, load_source};
