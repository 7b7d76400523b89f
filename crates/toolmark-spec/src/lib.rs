//! Reads specs, the expectations for runs, in all supported dialects.
//!
//! [`load()`] parses a file into a tree of [`Node`](toolmark_config::Node)s,
//! recognizes its dialect by its content, and turns it into a
//! [`Plan`](toolmark_grade::Plan). All problems are reported at once, with their
//! source positions.
//!
//! ```
//! use std::path::Path;
//! use toolmark_config::{SourceText, RenderStyle, render};
//! use toolmark_grade::LoadOptions;
//! use toolmark_spec::load_source;
//!
//! let spec = "cases:\n  - {id: a, expect: {sequence: [Read]}}\n  - {id: a, expekt: {}}\n";
//! let source = SourceText::new("toolmark.yaml", spec);
//! let loaded = load_source(source, Path::new("."), &LoadOptions::default());
//! assert!(loaded.plan.is_none());
//! let shown = render(&loaded.source, &loaded.problems, RenderStyle::default());
//! assert!(shown.contains("toolmark.yaml:3:"));
//! ```

#![forbid(unsafe_code)]

pub mod dialects;
pub mod graders;
mod load;
pub mod mine;
pub mod mine_policy;

pub use graders::{GRADERS, grader_by_id};
pub use load::{is_spec, load, load_source};
