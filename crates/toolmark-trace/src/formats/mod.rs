//! The formats, one file each. Adding one is a file, its `mod` line and its
//! line in [`FORMATS`].

mod claude_code;
pub(crate) mod shared;
mod toolmark;

use crate::format::Format;

pub(crate) use toolmark::SCHEMA as TOOLMARK_SCHEMA;

/// Every format, in the order detection asks them: the most frequent first,
/// and a special shape before the general one it could be mistaken for.
#[rustfmt::skip]
pub const FORMATS: &[&dyn Format] = &[
    &toolmark::Toolmark,
    &claude_code::ClaudeCode,
];
