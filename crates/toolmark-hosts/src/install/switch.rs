//! Switches by which hosts turn off all hooks. An installed guard that is never called is
//! worse than a missing one.

use super::{SettingsScope, file, jsonc};
use std::path::Path;
use toml_edit::DocumentMut;

/// A key of a settings file that turns hooks off.
pub(crate) struct Switch {
    /// Scope of the file.
    pub(crate) scope: SettingsScope,
    /// Path of the file, relative to the directory of the host or of the project.
    pub(crate) file: &'static str,
    pub(crate) keys: &'static [&'static str],
    /// Value that turns hooks off.
    pub(crate) off: bool,
}

impl Switch {
    /// Describes the switch in a file, if it is set to off.
    pub(super) fn thrown(&self, file: &Path) -> Option<String> {
        let text = file::read(file).ok()??;
        let is_toml = file.extension().is_some_and(|extension| extension == "toml");
        let value = if is_toml { self.in_toml(&text) } else { self.in_json(&text) }?;
        let (key, file) = (self.keys.join("."), file.display());
        (value == self.off).then(|| format!("`{key} = {value}` in {file} switches all hooks off"))
    }

    fn in_json(&self, text: &str) -> Option<bool> {
        let root = jsonc::parse(text).ok()?;
        let node = self.keys.iter().try_fold(&root, |node, key| node.get(key))?;
        text[node.span.clone()].parse().ok()
    }

    fn in_toml(&self, text: &str) -> Option<bool> {
        let document: DocumentMut = text.parse().ok()?;
        let item = self.keys.iter().try_fold(document.as_item(), |item, key| item.get(key))?;
        item.as_bool()
    }
}
