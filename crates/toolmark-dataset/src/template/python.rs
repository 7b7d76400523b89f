//! Values in Python notation, as Jinja renders them into text.

use minijinja::value::{Value, ValueKind};
use minijinja::{Error, Output, State};
use std::fmt::Write as _;
use toolmark_base::text::push_python;

/// Maximum nesting depth of lists and maps; deeper values are cut.
const MAX_DEPTH: usize = 64;

/// Formats a value for the template environment.
pub(super) fn write_value(
    out: &mut Output<'_>,
    _: &mut State<'_, '_>,
    value: &Value,
) -> Result<(), Error> {
    out.write_str(&text(value)).map_err(Error::from)
}

/// Formats a value like `str()`.
pub(super) fn text(value: &Value) -> String {
    match value.as_str() {
        Some(text) => text.to_owned(),
        None => {
            let mut out = String::new();
            repr(value, MAX_DEPTH, &mut out);
            out
        }
    }
}

/// Formats a value like `repr()`.
fn repr(value: &Value, depth: usize, out: &mut String) {
    let Some(depth) = depth.checked_sub(1) else {
        out.push('…');
        return;
    };
    match value.kind() {
        ValueKind::Undefined => {}
        ValueKind::None => out.push_str("None"),
        ValueKind::Bool => out.push_str(if value.is_true() { "True" } else { "False" }),
        ValueKind::String => push_python(value.as_str().unwrap_or_default(), out),
        ValueKind::Seq | ValueKind::Iterable => {
            out.push('[');
            for (n, item) in value.try_iter().into_iter().flatten().enumerate() {
                if n > 0 {
                    out.push_str(", ");
                }
                repr(&item, depth, out);
            }
            out.push(']');
        }
        ValueKind::Map => {
            out.push('{');
            for (n, key) in value.try_iter().into_iter().flatten().enumerate() {
                if n > 0 {
                    out.push_str(", ");
                }
                repr(&key, depth, out);
                out.push_str(": ");
                match value.get_item(&key) {
                    Ok(item) => repr(&item, depth, out),
                    Err(_) => out.push_str("None"),
                }
            }
            out.push('}');
        }
        _ => {
            let _ = write!(out, "{value}");
        }
    }
}
