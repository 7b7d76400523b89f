//! `--report FORMAT=FILE`, for every command that writes reports.

use std::path::PathBuf;

/// A format among `ids`, and the file it goes to.
pub(crate) fn parse(
    text: &str,
    ids: impl Iterator<Item = &'static str>,
    example: &str,
) -> Result<(&'static str, PathBuf), String> {
    let (wanted, file) =
        text.split_once('=').ok_or_else(|| format!("write FORMAT=FILE, such as {example}"))?;
    let ids: Vec<&'static str> = ids.collect();
    let id = ids
        .iter()
        .find(|id| **id == wanted)
        .ok_or_else(|| format!("there is no report {wanted}; there are {}", ids.join(", ")))?;
    if file.is_empty() {
        return Err("the name of the file is missing".to_owned());
    }
    Ok((id, PathBuf::from(file)))
}
