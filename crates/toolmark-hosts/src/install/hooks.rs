//! Hooks in a JSON settings file: finds the guard's hooks, and adds or removes them in the
//! text.
//!
//! All hosts have an object `hooks` that maps events to arrays. An element of an array is a
//! hook, or a group with its own array `hooks`.

use super::edit::{EditStyle, add_item, add_member, splice, take};
use super::jsonc::{self, JsoncKind, JsoncNode};
use super::{HOOK, HookEntry, SettingsFault};
use serde_json::{Value, json};

/// Keys for the command of a hook, by host and operating system.
const COMMAND_KEYS: [&str; 3] = ["command", "bash", "powershell"];

/// State of the guard's hooks in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum HookState {
    None,
    All,
    /// Some hooks are missing or have a different command.
    Others(Vec<String>),
}

/// Settings as text, and the host that reads them.
pub(super) struct Hooks<'a> {
    pub(super) host: &'static str,
    pub(super) entries: &'a [HookEntry],
    /// Required `version` of the file.
    pub(super) version: Option<u32>,
}

impl Hooks<'_> {
    /// Returns the text with the guard's hooks.
    pub(super) fn installed(&self, text: Option<&str>) -> Result<String, SettingsFault> {
        let empty = text.is_none_or(|text| text.trim_start_matches('\u{feff}').trim().is_empty());
        let mut text = if empty { "{}\n".to_owned() } else { text.unwrap_or_default().to_owned() };
        if let Some(version) = self.version {
            let root = parsed(&text)?;
            if root.get("version").is_none() {
                let style = EditStyle::of(&text, &root);
                text = add_member(&text, &style, &root, "version", &json!(version));
            }
        }
        for entry in self.entries {
            text = self.with(text, entry)?;
        }
        Ok(text)
    }

    fn with(&self, text: String, entry: &HookEntry) -> Result<String, SettingsFault> {
        let root = parsed(&text)?;
        let style = EditStyle::of(&text, &root);
        let Some(hooks) = root.get("hooks") else {
            let hooks = json!({entry.event: [entry.item]});
            return Ok(add_member(&text, &style, &root, "hooks", &hooks));
        };
        let Some(groups) = groups(&text, hooks, entry.event)? else {
            return Ok(add_member(&text, &style, hooks, entry.event, &json!([entry.item])));
        };
        let Some(ours) = self.commands(groups).into_iter().next() else {
            return Ok(add_item(&text, &style, groups, &entry.item));
        };
        if ours.text() == Some(&entry.command) {
            return Ok(text);
        }
        let command = Value::from(entry.command.as_str()).to_string();
        Ok(splice(&text, ours.span.clone(), &command))
    }

    /// Returns the text without the guard's hooks, and without containers that become empty.
    pub(super) fn uninstalled(&self, text: &str) -> Result<String, SettingsFault> {
        let mut text = text.to_owned();
        // Each round removes one hook, so the loop terminates.
        while let Some(less) = self.less(&text)? {
            text = less;
        }
        Ok(text)
    }

    /// Removes one of the guard's hooks from the text, if there is one.
    fn less(&self, text: &str) -> Result<Option<String>, SettingsFault> {
        let root = parsed(text)?;
        let Some(hooks) = root.get("hooks") else { return Ok(None) };
        for (event, member) in hooks.members().iter().enumerate() {
            let groups = &member.value;
            for (index, group) in groups.items().iter().enumerate() {
                if self.command(group).is_some() {
                    return Ok(Some(self.pruned(take(text, groups, index), event)?));
                }
                let Some(inner) = group.get("hooks") else { continue };
                let ours = inner.items().iter().position(|hook| self.command(hook).is_some());
                if let Some(hook) = ours {
                    let alone = inner.items().len() == 1;
                    let less =
                        if alone { take(text, groups, index) } else { take(text, inner, hook) };
                    return Ok(Some(self.pruned(less, event)?));
                }
            }
        }
        Ok(None)
    }

    /// Removes the event and `hooks` if they are empty.
    fn pruned(&self, text: String, event: usize) -> Result<String, SettingsFault> {
        let root = parsed(&text)?;
        let Some(hooks) = root.get("hooks") else { return Ok(text) };
        let empty = hooks.members().get(event).is_some_and(|m| m.value.items().is_empty());
        if !empty {
            return Ok(text);
        }
        if hooks.members().len() > 1 {
            return Ok(take(&text, hooks, event));
        }
        let index = root.members().iter().rposition(|member| member.key == "hooks");
        Ok(index.map_or(text.clone(), |index| take(&text, &root, index)))
    }

    /// Returns the state of the guard's hooks in a text.
    pub(super) fn found(&self, text: &str) -> Result<HookState, SettingsFault> {
        let root = parsed(text)?;
        let mut all = true;
        let mut any = Vec::new();
        for entry in self.entries {
            let hooks = root.get("hooks");
            let groups = hooks.map(|hooks| groups(text, hooks, entry.event)).transpose()?.flatten();
            let ours = groups.map(|groups| self.commands(groups)).unwrap_or_default();
            let ours: Vec<_> = ours.iter().filter_map(|node| node.text()).collect();
            all &= ours.contains(&entry.command.as_str());
            any.extend(ours.into_iter().map(str::to_owned));
        }
        any.sort();
        any.dedup();
        Ok(match (all, any.is_empty()) {
            (true, _) => HookState::All,
            (false, true) => HookState::None,
            (false, false) => HookState::Others(any),
        })
    }

    /// Returns the guard's commands in the array of an event.
    fn commands<'n>(&self, groups: &'n JsoncNode) -> Vec<&'n JsoncNode> {
        let inner = |group: &'n JsoncNode| group.get("hooks").map_or(&[][..], JsoncNode::items);
        let hooks = groups.items().iter().flat_map(|group| [group].into_iter().chain(inner(group)));
        hooks.filter_map(|hook| self.command(hook)).collect()
    }

    /// Returns the command of a hook, if it belongs to the guard.
    fn command<'n>(&self, hook: &'n JsoncNode) -> Option<&'n JsoncNode> {
        let command = COMMAND_KEYS.iter().find_map(|key| hook.get(key))?;
        is_ours(command.text()?, self.host).then_some(command)
    }
}

/// Whether the installer writes such a command for this host.
pub(super) fn is_ours(command: &str, host: &str) -> bool {
    let command = command.trim();
    let command = command.strip_prefix("& ").unwrap_or(command);
    let command = command.split_once(" --policy ").map_or(command, |(command, _)| command);
    let asked = command.strip_suffix(host).and_then(|rest| rest.strip_suffix(" --host "));
    let asked = asked.unwrap_or(command);
    let (program, own_name) = match asked.strip_suffix(" guard") {
        Some(program) => (program, "toolmark"),
        None => (asked, HOOK),
    };
    let program = program.trim_matches(['\'', '"']);
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    // Another program with additional arguments does not match.
    let quoted = command.starts_with(['\'', '"']);
    name.strip_suffix(".exe").unwrap_or(name) == own_name && (quoted || !program.contains(' '))
}

/// Parses a text and checks that its hooks are an object.
fn parsed(text: &str) -> Result<JsoncNode, SettingsFault> {
    let root =
        jsonc::parse(text).map_err(|broken| SettingsFault::at(text, broken.at, broken.why))?;
    if !matches!(root.kind, JsoncKind::Object(_)) {
        return Err(fault(text, &root, "the settings are not an object"));
    }
    let Some(hooks) = root.get("hooks") else { return Ok(root) };
    if !matches!(hooks.kind, JsoncKind::Object(_)) {
        return Err(fault(text, hooks, "`hooks` is not an object"));
    }
    Ok(root)
}

/// Returns the array of an event, if the event exists.
fn groups<'n>(
    text: &str,
    hooks: &'n JsoncNode,
    event: &str,
) -> Result<Option<&'n JsoncNode>, SettingsFault> {
    match hooks.get(event) {
        Some(groups) if !matches!(groups.kind, JsoncKind::Array(_)) => {
            Err(fault(text, groups, &format!("`hooks.{event}` is not an array")))
        }
        groups => Ok(groups),
    }
}

fn fault(text: &str, node: &JsoncNode, why: &str) -> SettingsFault {
    SettingsFault::at(text, node.span.start, why)
}
