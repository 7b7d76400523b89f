//! The formats, one file each. Adding one is a file and a line here.

mod claude_code;
pub(crate) mod shared;

use crate::format::Format;

/// Every format, in the order detection asks them: the most frequent first,
/// and a special shape before the general one it could be mistaken for.
pub const FORMATS: &[&dyn Format] = &[&claude_code::ClaudeCode];
